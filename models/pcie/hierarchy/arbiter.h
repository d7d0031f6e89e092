// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <vector>

#include "models/pcie/protocol/flow_control.h"

namespace pcie {

/// The arbitration among the entries of a component: the ports in whose receive buffers packets
/// wait until they can leave by one of its exits.
///
/// Each exit gives each class of packets to the entries in turns, one packet at a time. So a packet
/// at the head of its entry waits for at most one packet of each other entry that has the same exit
/// and class, whatever the other exits and classes do.
class Arbiter {
 public:
  Arbiter(std::size_t entries, std::size_t exits)
      : entries_(entries), turns_(exits * credit_classes, 0) {}

  /// Lets packets go until none can. `open(exit, of)` says whether an exit takes packets of that
  /// class now. `pass(entry, exit, of)` lets one go, and returns whether there was one.
  template <typename Open, typename Pass>
  void serve(Open open, Pass pass) {
    for (bool any = true; any;) {
      any = false;
      for (std::size_t turn = 0; turn < turns_.size(); ++turn) {
        const std::size_t exit = turn / credit_classes;
        const auto of = static_cast<CreditClass>(turn % credit_classes);
        if (open(exit, of)) any |= serve_one(turn, exit, of, pass);
      }
    }
  }

 private:
  template <typename Pass>
  bool serve_one(std::size_t turn, std::size_t exit, CreditClass of, Pass pass) {
    const std::size_t first = turns_[turn];
    for (std::size_t i = 0; i < entries_; ++i) {
      const std::size_t entry = (first + i) % entries_;
      if (!pass(entry, exit, of)) continue;
      turns_[turn] = (entry + 1) % entries_;
      return true;
    }
    return false;
  }

  const std::size_t entries_;
  std::vector<std::size_t> turns_;  // the entry that is first, for each exit and class
};

}  // namespace pcie
