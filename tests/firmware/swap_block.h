// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "oae_registers.h"
#include "tests/firmware/crc64_reference.h"

using Slot = std::array<std::uint64_t, 8>;

inline std::uint64_t header(std::uint8_t epoch, std::uint32_t sequence,
                            std::uint8_t verb = OAE_VERB_SWAP) {
  return OAE_PUT(OAE_SLOT_HEADER_VERB, verb) | OAE_PUT(OAE_SLOT_HEADER_EPOCH, epoch) |
         OAE_PUT(OAE_SLOT_HEADER_SEQUENCE, sequence);
}

/// The block as its firmware sees it. Functions play the host's side.
class SwapBlock {
 public:
  struct Port {
    bool open = false;
    std::uint8_t epoch = 0;
    std::uint32_t next = 1;
    Slot written{};
    std::vector<Slot> published;
    bool offered = false, tentative = false, committed = false;
    Slot tentative_slot{}, committed_slot{};
    std::uint64_t events = 0;
    unsigned taken = 0;
    std::uint64_t words = 0;  ///< the range of words that the firmware grants
    bool refuse = false;
  };
  std::array<Port, 64> ports;
  unsigned count;
  std::uint64_t magic = OAE_GET(OAE_FIRMWARE_ID_RESET, OAE_FIRMWARE_ID_MAGIC);
  std::uint64_t irq_enable = 0;
  std::vector<std::uint32_t> liveness;
  /// Called once, before the next access to a status register is answered.
  std::function<void()> meanwhile;

  explicit SwapBlock(unsigned number) : count(number) {}

  void open(unsigned n) {
    Port& port = ports[n];
    port.open = true;
    ++port.epoch;
    port.next = 1;
    port.offered = port.tentative = false;
    port.events |= OAE_FIRMWARE_EVENT_OPENED_MASK;
  }
  void close(unsigned n) {
    ports[n].open = ports[n].offered = false;
    ports[n].events |= OAE_FIRMWARE_EVENT_CLOSED_MASK;
  }
  void exchange(unsigned n, std::uint64_t host_word) {
    Port& port = ports[n];
    ASSERT_TRUE(port.offered && !port.tentative);
    port.offered = false;
    port.tentative = true;
    port.tentative_slot = {header(port.epoch, port.next++), host_word};
    port.events |= OAE_FIRMWARE_EVENT_EXCHANGED_MASK;
  }
  /// The host uses SEND, which needs no offer and makes a standing offer void.
  void send(unsigned n, std::uint64_t host_word) {
    Port& port = ports[n];
    ASSERT_TRUE(port.open && !port.tentative);
    if (std::exchange(port.offered, false)) port.events |= OAE_FIRMWARE_EVENT_PASSED_MASK;
    port.tentative = true;
    port.tentative_slot = {header(port.epoch, port.next++, OAE_VERB_SEND), host_word};
    port.events |= OAE_FIRMWARE_EVENT_EXCHANGED_MASK;
  }
  /// The host uses a verb for words, which needs no offer and has no slot for the firmware.
  void use_words(unsigned n) {
    Port& port = ports[n];
    ASSERT_TRUE(port.open && !port.tentative);
    if (std::exchange(port.offered, false)) port.events |= OAE_FIRMWARE_EVENT_PASSED_MASK;
    port.tentative = true;
    port.tentative_slot = {header(port.epoch, port.next++, OAE_VERB_FETCH_ADD)};
  }
  /// The confirmation of such a swap is no event.
  void confirm_words(unsigned n) {
    ASSERT_TRUE(ports[n].tentative);
    ports[n].tentative = false;
  }
  void confirm(unsigned n) {
    Port& port = ports[n];
    ASSERT_TRUE(port.tentative && !port.committed);
    port.tentative = false;
    port.committed = true;
    port.committed_slot = port.tentative_slot;
    port.events |= OAE_FIRMWARE_EVENT_COMMITTED_MASK;
  }
  void reverse(unsigned n) {
    ports[n].tentative = false;
    ports[n].events |= OAE_FIRMWARE_EVENT_REVERSED_MASK;
  }
  std::uint64_t irq_status() const {
    std::uint64_t bits = 0;
    for (unsigned n = 0; n < count; ++n) bits |= std::uint64_t{ports[n].events != 0} << n;
    return bits & irq_enable;
  }

  std::uint64_t read(std::uintptr_t offset) {
    switch (offset) {
      case OAE_FIRMWARE_ID:
        return magic | OAE_PUT(OAE_FIRMWARE_ID_VERSION, 1) | OAE_PUT(OAE_FIRMWARE_ID_PORTS, count);
      case OAE_FIRMWARE_IRQ_STATUS:
        return irq_status();
    }
    if (offset < 0x10000) {
      ADD_FAILURE() << "read of " << std::hex << offset;
      return 0;
    }
    Port& port = at(offset);
    const std::uintptr_t within = offset % 0x100;
    if (within == 0x50) return port.events;
    if (within == 0x48) {
      const std::uint64_t seen = status(port);
      if (auto action = std::exchange(meanwhile, nullptr)) action();
      return seen;
    }
    if (within >= 0xc0) return port.committed ? port.committed_slot[within / 8 % 8] : 0;
    if (within >= 0x80) return port.tentative ? port.tentative_slot[within / 8 % 8] : 0;
    ADD_FAILURE() << "read of " << std::hex << offset;
    return 0;
  }
  void write(std::uintptr_t offset, std::uint64_t value) {
    if (offset == OAE_FIRMWARE_LIVENESS) {
      liveness.push_back(static_cast<std::uint32_t>(value));
      return;
    }
    if (offset == OAE_FIRMWARE_IRQ_ENABLE) {
      irq_enable = value;
      return;
    }
    ASSERT_GE(offset, 0x10000u);
    Port& port = at(offset);
    const std::uintptr_t within = offset % 0x100;
    if (within < 0x40) {
      if (!port.offered) port.written[within / 8] = value;
    } else if (within == 0x50) {
      port.events &= ~value;
    } else if (within == OAE_FIRMWARE_WORDS % 0x100) {
      port.words = value;
    } else {
      ASSERT_EQ(within, 0x40u);
      port.events &= ~OAE_GET(value, OAE_FIRMWARE_COMMAND_ACKNOWLEDGE);
      if (value & OAE_FIRMWARE_COMMAND_TAKE_MASK) {
        port.taken += port.committed;
        port.committed = false;
      }
      if (value & OAE_FIRMWARE_COMMAND_PUBLISH_MASK) publish(port);
    }
  }

 private:
  void publish(Port& port) {
    if (port.offered) return;
    const Slot& slot = port.written;
    if (!port.open || port.refuse || slot[0] != header(port.epoch, port.next) ||
        slot[7] != crc64_reference(slot.data(), 56)) {
      port.events |= OAE_FIRMWARE_EVENT_BAD_OFFER_MASK;
      return;
    }
    port.offered = true;
    port.published.push_back(slot);
  }
  static std::uint64_t status(const Port& port) {
    return OAE_PUT(OAE_FIRMWARE_STATUS_OFFERED, port.offered) |
           OAE_PUT(OAE_FIRMWARE_STATUS_TENTATIVE, port.tentative) |
           OAE_PUT(OAE_FIRMWARE_STATUS_COMMITTED, port.committed) |
           OAE_PUT(OAE_FIRMWARE_STATUS_OPEN, port.open) |
           OAE_PUT(OAE_FIRMWARE_STATUS_EPOCH, port.epoch) |
           OAE_PUT(OAE_FIRMWARE_STATUS_EVENTS, port.events) |
           OAE_PUT(OAE_FIRMWARE_STATUS_NEXT_SEQUENCE, port.next);
  }
  Port& at(std::uintptr_t offset) {
    const std::uintptr_t n = (offset - 0x10000) / 0x100;
    EXPECT_LT(n, count) << "no such port";
    return ports[n % 64];
  }
};
