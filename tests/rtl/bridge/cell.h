// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Voae_cell.h>

#include <array>
#include <cstdint>
#include <deque>
#include <functional>

#include "tests/rtl/context.h"
#include "tests/rtl/link/side.h"
#include "tests/rtl/slot.h"

namespace bridge {

using window::Group;
using window::Side;

constexpr unsigned links = BRIDGE_LINKS;  // of a cell

/// A cell: the pins of the verilated model, a host that sends requests, and a firmware that
/// accesses the registers of block and links. Its clock stops whenever it may.
class Cell {
 public:
  using Done = std::function<void(std::uint64_t)>;
  using Line = std::function<void(const Slot&)>;
  enum class Of { block, left, right };  // whose registers

  /// Power comes on at `now`, in clocks.
  explicit Cell(std::uint64_t now);
  ~Cell();

  void post_write(unsigned bar, unsigned address, const void* data, unsigned bytes);
  void post_reset();  ///< of the function
  void post_read(unsigned bar, unsigned address, Line done);
  void post_put(Of of, unsigned address, std::uint64_t data);
  void post_get(Of of, unsigned address, Done done);
  bool idle() const;

  /// The low phase of a clock. The outputs must be sampled before its end.
  void settle(std::uint64_t now);
  void rise();

  bool sleeps() const { return sleeps_; }  ///< whether the clock is stopped
  unsigned interrupts = 0;                 ///< of the host
  Side left{};
  Side right{};  ///< nothing comes and goes by it if there is one link

  rtl::Context context;
  Voae_cell top{&context};

 private:
  struct Request {
    bool write;
    unsigned bar;
    unsigned line;
    Slot data;
    std::uint64_t enable;
    Line done;
    bool reset = false;
  };
  struct Access {
    bool write;
    unsigned address;
    std::uint64_t data;
    Done done;
  };
  struct Registers {
    std::deque<Access> accesses;
    bool taken = false;  // the first access waits for its response
  };

  void drive_registers();
  bool wires_rest() const;
  Side& side(Of of) { return of == Of::left ? left : right; }

  std::deque<Request> requests_;
  std::deque<Line> reads_;  // accepted and not completed
  Registers block_;
  bool sleeps_ = false;
  bool left_carrier_ = false;  // in the clock before
  bool right_carrier_ = false;
};

}  // namespace bridge
