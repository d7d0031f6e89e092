// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include "oae_registers.h"
#include "tests/rtl/block/fixture.h"

// BARs
inline constexpr unsigned registers = 0;
inline constexpr unsigned pages = 2;
inline constexpr unsigned streams = 4;
inline constexpr std::uint64_t all = ~std::uint64_t{0};

/// Makes the first swap of port 0 up to its answer. Its confirmation is asked for after `limit`
/// clocks, by vector 5.
inline void swap_to_be_confirmed(Fixture& fixture, std::uint64_t limit) {
  fixture.write(registers, OAE_HOST_PORT_ANSWER_ADDRESS_AT(0), 0x40);
  fixture.write(registers, OAE_HOST_PORT_CONTROL_AT(0), 1);
  fixture.write(registers, OAE_HOST_PORT_TENTATIVE_LIMIT_AT(0), limit);
  fixture.write(registers, OAE_HOST_PORT_EVENT_AT(0), OAE_HOST_PORT_EVENT_CONFIRM_ENABLE_MASK | 5);
  Header header;
  header.epoch = 1;
  header.sequence = 1;
  fixture.publish(0, make_slot(header, 10));
  fixture.write_slot(0, make_slot(header, 20));
  fixture.answer(0);
}

/// A block of eight ports, and common actions of tests at one of them.
class Block : public testing::Test {
 protected:
  static constexpr unsigned port = 3;
  static constexpr std::uint64_t buffer = 0x89ab'cdef'0123'4540;

  void open(unsigned number = port) {
    fixture.write(registers, OAE_HOST_PORT_ANSWER_ADDRESS_AT(number), buffer);
    fixture.write(registers, OAE_HOST_PORT_CONTROL_AT(number), 1);
  }
  void close() { fixture.write(registers, OAE_HOST_PORT_CONTROL_AT(port), 0); }

  static Slot slot(std::uint32_t sequence, std::uint64_t seed, std::uint8_t flags = 0,
                   std::uint8_t epoch = 1) {
    Header header;
    header.epoch = epoch;
    header.sequence = sequence;
    header.flags = flags;
    return make_slot(header, seed);
  }
  /// Makes one swap up to its answer.
  void swap(std::uint32_t sequence, std::uint8_t flags = 0) {
    fixture.publish(port, slot(sequence, 100 + sequence));
    fixture.write_slot(port, slot(sequence, 200 + sequence, flags));
    EXPECT_EQ(fixture.answer(port), slot(sequence, 100 + sequence)[0]);
  }
  std::uint64_t state() {
    return fixture.read(pages, port * OAE_PORT_SIZE + OAE_PORT_STATUS) & 0xff;
  }
  std::uint64_t status() { return fixture.get(OAE_FIRMWARE_STATUS_AT(port)); }
  std::uint64_t event() { return fixture.get(OAE_FIRMWARE_EVENT_AT(port)); }
  void take() { fixture.put(OAE_FIRMWARE_COMMAND_AT(port), OAE_FIRMWARE_COMMAND_TAKE_MASK); }
  Slot committed() { return slots(OAE_FIRMWARE_COMMITTED_AT(port)); }
  Slot tentative() { return slots(OAE_FIRMWARE_TENTATIVE_AT(port)); }
  Slot slots(unsigned address) {
    Slot slot;
    for (unsigned i = 0; i < 8; ++i) slot[i] = fixture.get(address + 8 * i);
    return slot;
  }
  std::uint64_t counter(unsigned address) { return fixture.read(registers, address); }

  Fixture fixture{8};
};
