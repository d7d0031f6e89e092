// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "firmware/scheduling/port_layout.h"
#include "tests/firmware/mmio_mock.h"
#include "tests/rtl/block/fixture.h"

/// The verilated block, with its firmware's registers where the firmware looks for them, and a host
/// that makes each step of a swap when it is told to.
class PortHost : public MmioDevice {
 public:
  static constexpr std::uintptr_t base = 0x0c00'0000;
  static constexpr unsigned ports = 8;
  using Payload = std::array<std::uint64_t, PORT_WORDS>;

  PortHost();

  std::uint64_t read(std::uintptr_t offset) override;
  void write(std::uintptr_t offset, std::uint64_t value) override;

  /// Begins a new epoch.
  void open(unsigned port);
  void close(unsigned port);
  /// Offers a slot and reads the answer: its payload, or nothing if the block was not ready. The
  /// swap is not confirmed.
  std::optional<Payload> ask(unsigned port, std::uint8_t verb, const Payload& payload);
  void confirm(unsigned port);
  /// Reverses the swap that was made last, or the next one.
  void reverse_last(unsigned port);
  void reverse_next(unsigned port);

  /// A confirmed swap, or a confirmed SEND of an event.
  std::optional<port_offer> swap(unsigned port, const Payload& given = {});
  bool send(unsigned port, const queue_entry& entry, std::uint64_t time);

  Fixture block{ports};

 private:
  struct Port {
    std::uint8_t epoch = 0;
    std::uint8_t attempt = 0;
    std::uint32_t sequence = 0;  ///< of the last swap
  };
  std::array<Port, ports> port_{};
};
