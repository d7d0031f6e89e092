// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Voae_link.h>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <utility>
#include <vector>

#include "tests/rtl/context.h"
#include "tests/rtl/slot.h"

/// One side of a link: the pins of the verilated model, and a firmware that accesses its registers.
/// Every change of a state machine is compared with the table.
class LinkEnd {
 public:
  using Done = std::function<void(std::uint64_t)>;

  /// A transfer from the receive buffer.
  struct Received {
    bool flow;
    std::uint32_t number;
    std::vector<Slot> slots;
  };

  LinkEnd();
  ~LinkEnd();

  void post_put(unsigned address, std::uint64_t data, unsigned strobe = 0xff, Done done = {});
  void post_get(unsigned address, Done done);
  bool idle() const { return accesses_.empty(); }

  /// The low phase of a clock. The outputs must be sampled before its end.
  void settle(std::uint64_t now);
  void rise();

  unsigned phase() const { return top.trace_phase; }
  unsigned sender() const { return top.trace_sender; }
  unsigned receiver() const { return top.trace_receiver; }

  rtl::Context context;
  Voae_link top{&context};
  bool error = false;  ///< whether the last access failed
  std::uint64_t now = 0;
  /// Whether an access is on the pins while the response to the one before it is still due.
  bool hasty = false;

 private:
  struct Access {
    bool write;
    unsigned address;
    std::uint64_t data;
    unsigned strobe;
    Done done;
  };
  struct States {
    unsigned phase;
    unsigned sender;
    unsigned receiver;
  };

  States states() const { return {phase(), sender(), receiver()}; }
  static void check(const States& from, const States& to);

  std::deque<Access> accesses_;
  std::size_t taken_ = 0;  // accesses whose responses are due
};
