// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <random>

#include "models/oae/rtl.h"
#include "oae_registers.h"
#include "tests/rtl/slot.h"

/// A host and a firmware at the pins of the verilated block. Mostly they swap on all ports, by the
/// states that the block traces. In between they do at random what is possible: accesses of any
/// register, wrong headers, damaged slots, reversals, resets of the function. The same seed does
/// the same to blocks that do the same.
class RtlTraffic {
 public:
  static constexpr unsigned ports = 4;

  RtlTraffic(oae::BlockRtl& block, unsigned seed) : block_(block), random_(seed) {}

  /// Puts inputs on the pins for the next edge, and settles the outputs.
  void drive();
  void rise();
  /// Runs clocks without new inputs until the block has nothing to do.
  void finish();

  std::uint64_t now() const { return now_; }
  void skip_to(std::uint64_t now) { now_ = now; }

  // Changes of a journal's state so far
  unsigned exchanged = 0;
  unsigned committed = 0;
  unsigned reversed = 0;

 private:
  /// What is known of a port.
  struct Port {
    std::uint64_t state = OAE_PORT_STATE_HISTORY_LOST;
    std::uint8_t epoch = 0;
    std::uint32_t sequence = 0;
    unsigned attempt = 0;  // of the host's next offer
    bool offered = false;  // the firmware has made an offer, or is about to
  };
  struct Request {
    bool write;
    unsigned bar;
    unsigned line;
    Slot data;
    std::uint64_t enable;
  };
  struct Access {
    bool write;
    std::uint64_t address;
    std::uint64_t data;
  };

  unsigned one_of(unsigned count) { return static_cast<unsigned>(random_() % count); }
  Header header(Port& port);

  Request write(unsigned bar, std::uint64_t address, std::uint64_t value) const;
  Request read(unsigned bar, std::uint64_t address, unsigned words) const;
  Request any_request();
  void plan_requests();
  void put_request();

  Access any_access();
  void plan_accesses();
  void put_access();

  void observe();

  oae::BlockRtl& block_;
  std::mt19937_64 random_;
  std::uint64_t now_ = 0;
  std::array<Port, ports> ports_{};
  std::deque<Request> requests_;
  std::deque<Access> accesses_;
};
