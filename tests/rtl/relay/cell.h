// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Voae_link_end.h>
#include <Voae_relay_cell.h>

#include <cstdint>

#include "tests/rtl/context.h"
#include "tests/rtl/link/side.h"

namespace relay {

using window::Side;

/// A cell of a chain. It has power from its construction on.
class Cell {
 public:
  virtual ~Cell() = default;
  virtual void settle(std::uint64_t now) = 0;
  virtual void rise() = 0;
  virtual bool busy() const = 0;

  Side left{};   ///< towards the cell before this one,
  Side right{};  ///< and towards the one behind it; of an outer cell, both are the same

 protected:
  rtl::Context context;
};

/// The first or last cell of a chain, which has one end of a link and a firmware with its rings
class OuterCell : public Cell {
 public:
  /// `first`: its link is `right`, otherwise it is `left`.
  OuterCell(std::uint64_t now, bool first);
  ~OuterCell() override;
  void settle(std::uint64_t now) override;
  void rise() override;
  bool busy() const override { return top_.busy_o; }

 private:
  Side& side() { return first_ ? right : left; }

  Voae_link_end top_{&context};
  bool first_;
};

/// A cell in the middle, whose clock stops whenever it may
class MiddleCell : public Cell {
 public:
  explicit MiddleCell(std::uint64_t now);
  ~MiddleCell() override;
  void settle(std::uint64_t now) override;
  void rise() override;
  bool busy() const override { return top_.busy_o; }

 private:
  bool may_sleep(std::uint64_t now) const;

  Voae_relay_cell top_{&context};
  bool left_carrier_ = false;  // in the clock before
  bool right_carrier_ = false;
  bool sleeps_ = false;  // the clock is stopped
};

}  // namespace relay
