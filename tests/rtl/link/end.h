// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Voae_link_end.h>

#include <array>
#include <cstdint>
#include <deque>
#include <functional>

#include "tests/rtl/context.h"
#include "tests/rtl/link/wire.h"

namespace window {

using Slot = std::array<std::uint64_t, 7>;

/// One end of a link: the pins of the verilated model, and a firmware that accesses its registers.
class End {
 public:
  using Done = std::function<void(std::uint64_t)>;

  /// Power comes on at `now`, in clocks.
  explicit End(std::uint64_t now);
  ~End();

  void post_put(unsigned address, std::uint64_t data, unsigned strobe = 0xff, Done done = {});
  void post_get(unsigned address, Done done);
  bool idle() const { return accesses_.empty(); }

  /// The low phase of a clock. The outputs must be sampled before its end.
  void settle(std::uint64_t now);
  void rise();

  bool carrier() const { return top.carrier_o; }
  Group sent() const;
  void receive(const Group& group, bool carrier);

  unsigned phase() const { return top.phase_o; }
  bool error = false;         ///< whether the last access failed
  bool sleeps = false;        ///< The clock stops whenever it may.
  std::uint64_t stopped = 0;  ///< It has stopped for so many clocks so far.

  rtl::Context context;
  Voae_link_end top{&context};

 private:
  bool may_sleep() const;

  struct Access {
    bool write;
    unsigned address;
    std::uint64_t data;
    unsigned strobe;
    Done done;
  };

  std::deque<Access> accesses_;
  bool taken_ = false;    // the first access waits for its response
  bool carrier_ = false;  // in the clock before
  bool stops_ = false;    // the clock is stopped
};

}  // namespace window
