// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "tests/rtl/block/reference/port.h"

/// The registers of both sides of the block, with reference ports. Requests and accesses of the RTL
/// are compared with it. It knows the time only from its caller.
class ReferenceBlock {
 public:
  ReferenceBlock(unsigned ports, std::uint32_t clock_khz);

  /// The address of a request for one line of 64 bytes.
  struct Line {
    unsigned bar;                                ///< BAR 0, 2 or 4
    unsigned line;                               ///< address / 64
    unsigned port() const { return line / 64; }  ///< for BAR 2 and 4
  };
  struct Read {
    Slot data{};                                  ///< the requested words
    bool aged = false;                            ///< word 3 holds an age, which is not compared
    std::optional<ReferencePort::Answer> answer;  ///< the answer of an interaction
    bool streamed = false;                        ///< whether it is streamed
    std::uint64_t answer_address = 0;             ///< its address if it is pushed
  };
  void host_write(const Line& line, const Slot& data, std::uint64_t enable);
  Read host_read(const Line& line, std::uint64_t enable, bool refused);
  void function_reset();
  /// All is as at the start, but for what has been recorded.
  void power_up();
  /// What the port's swap holds is held for too long. Returns whether it holds anything.
  bool expire(unsigned port);
  std::uint64_t hold_limit() const { return hold_limit_; }

  /// Returns nothing if the address has no register.
  std::optional<std::uint64_t> firmware_read(unsigned address);
  bool firmware_write(unsigned address, std::uint64_t data, unsigned strobe);

  bool irq() const { return (pending() & irq_enable_) != 0; }
  std::uint64_t pending() const;

  ReferenceWords words;
  std::vector<ReferencePort> ports;
  std::vector<unsigned> signals;  ///< MSI-X vectors since the start
  std::vector<Transition> transitions;

 private:
  struct Settings {
    std::uint64_t event = 0;  // the event register without offer_armed
    std::uint64_t limit = 0xffff'ffff;
  };
  std::uint64_t id() const;
  void gather(ReferencePort& port);
  std::uint64_t host_word(unsigned port, unsigned word);

  const std::uint32_t clock_khz_;
  std::vector<Settings> settings_;
  std::uint64_t liveness_ = 0;
  std::uint64_t liveness_limit_ = 0xffff'ffff;
  std::uint64_t irq_enable_ = 0;
  std::uint64_t hold_limit_ = OAE_FIRMWARE_HOLD_LIMIT_RESET;
};

/// Returns the bits of the bytes that `enable` names.
std::uint64_t byte_mask(unsigned enable);
