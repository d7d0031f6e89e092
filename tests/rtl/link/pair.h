// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "oae_registers.h"
#include "tests/rtl/link/cable.h"
#include "tests/rtl/link/end.h"

namespace window {

/// Two ends, the wires between them, and the actions of firmware.
class Pair : public testing::Test {
 protected:
  static constexpr unsigned patience = 200'000;
  static constexpr unsigned ring = WINDOW_SLOTS;
  static constexpr unsigned longest_silence = (1u << WINDOW_LIMIT_BITS) - 1;  // that is tolerated
  static constexpr unsigned hold_off = 2u << WINDOW_LIMIT_BITS;               // after power-up

  /// `delay` is the delay of each wire in clocks, at least 1.
  explicit Pair(unsigned delay = 12);

  void clock(unsigned clocks = 1);
  /// Runs until `done`, and fails if that takes too long.
  template <typename Predicate>
  void until(Predicate done) {
    for (unsigned i = 0; !done(); ++i) {
      if (i == patience) FAIL() << "nothing more happens";
      clock();
    }
  }
  /// Runs until nothing moves, except for waits of a fixed time.
  void rest();

  void put(End& end, unsigned address, std::uint64_t data, unsigned strobe = 0xff);
  std::uint64_t get(End& end, unsigned address);
  void command(End& end, unsigned verb) { put(end, OAE_WINDOW_COMMAND, verb); }
  /// Clocks of a silence, and how many troubles are tolerated
  void set_limits(End& end, unsigned silence, unsigned trouble);
  void bring_up(bool again = true);
  void up(End& end, bool again = true);

  static Slot slot(std::uint64_t seed);
  /// Writes slots to the ring behind the last one that is offered, and offers them.
  void offer(End& end, const std::vector<Slot>& slots);
  void offer(End& end, unsigned count, std::uint64_t first_seed);
  /// Reads and releases all slots that have been committed.
  std::vector<Slot> take(End& end);

  unsigned offered(End& end) { return static_cast<unsigned>(get(end, OAE_WINDOW_OFFERED)); }
  unsigned settled(End& end) { return end.top.settled_o; }
  unsigned done(End& end) { return end.top.done_o; }
  unsigned state(End& end, unsigned field_shift, unsigned mask) {
    return get(end, OAE_WINDOW_STATE) >> field_shift & mask;
  }
  bool is_up() { return a->phase() == OAE_WINDOW_PHASE_UP && b->phase() == OAE_WINDOW_PHASE_UP; }
  /// Replaces ends and wires by new ones of the same delay.
  void begin_anew();
  /// Replaces an end by one that has lost its power, which is back at once.
  void lose_power(std::unique_ptr<End>& end);
  /// Runs until the hold-off after the last loss of power is over. The time in which nothing moves,
  /// and the clocks may stop, is skipped.
  void pass_hold_off();

  std::unique_ptr<End> a = std::make_unique<End>(0);
  std::unique_ptr<End> b = std::make_unique<End>(0);
  Cable cable;
  Wire& to_a = cable.back;
  Wire& to_b = cable.forth;
  std::uint64_t now = hold_off;  // since both ends have had power
  std::function<void()> watch;   ///< called before the edge of each clock

 private:
  std::uint64_t powered_ = 0;  // when the power came back
};

}  // namespace window
