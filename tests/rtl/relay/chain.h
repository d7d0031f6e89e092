// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "oae_registers.h"
#include "tests/rtl/link/cable.h"
#include "tests/rtl/relay/cell.h"

namespace relay {

using window::Cable;

constexpr double clock_ns = 1.28;
constexpr unsigned metre = 4;  // clocks

/// A chain of cells. The firmware of the first and of the last one offers and takes slots, which
/// pass the cells between them. The label of a slot is the number of cells that it still has to
/// pass.
class Chain : public testing::Test {
 protected:
  static constexpr unsigned patience = 400'000;
  static constexpr unsigned ring = WINDOW_SLOTS;                 // of the outer cells
  static constexpr unsigned hold_off = 2u << WINDOW_LIMIT_BITS;  // after power-up

  /// Builds a chain of `hops` links of `delay` clocks.
  void build(unsigned hops, unsigned delay = metre);
  unsigned hops() const { return static_cast<unsigned>(links.size()); }
  Side& first() { return cells.front()->right; }
  Side& last() { return cells.back()->left; }

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

  void put(Side& side, unsigned address, std::uint64_t data);
  std::uint64_t get(Side& side, unsigned address);

  /// Writes routes and limits of all ends of a cell, and takes its links up. `again`: what is
  /// reversed at an end of the chain is offered again.
  void configure(Cell& cell, bool again = true);
  /// The same for all cells, until all links are up.
  void bring_up(bool again = true);
  bool is_up() const;
  /// After a fault: takes all links up again and again, until they are.
  void come_up(bool again = true);

  /// Offers slots with successive identities, which are in their slices 1, 3 and 6.
  void offer(Side& side, unsigned count, std::uint64_t identity) {
    offer(side, count, identity, hops() - 1);
  }
  void offer(Side& side, unsigned count, std::uint64_t identity, unsigned label);
  /// Takes all slots that have been committed, and checks their contents.
  std::vector<std::uint64_t> take(Side& side);
  unsigned room(Side& side);
  std::uint32_t confirmed(Side& side) {
    return static_cast<std::uint32_t>(get(side, OAE_WINDOW_SETTLED) >> 32);
  }

  /// Loses all returns on a wire.
  static void silence_returns(window::Wire& wire);

  /// Replaces a cell by one that has lost its power, which is back at once.
  void lose_power(unsigned cell);
  /// Runs until the hold-off of that cell is over.
  void pass_hold_off();

  std::vector<std::unique_ptr<Cell>> cells;
  std::vector<std::unique_ptr<Cable>> links;  ///< forth is to the cell behind
  std::uint64_t now = hold_off;               // since all cells have had power
  unsigned silence = 2000;

 private:
  std::uint64_t powered_ = 0;
};

}  // namespace relay
