// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>

#include "models/pcie/protocol/tlp.h"
#include "vp/ring.h"
#include "vp/time/domain.h"

namespace pcie {

/// How a completer answers reads of memory (PCIe 5.0, 2.3.1.1). PCIe lets it choose.
struct CompletionConfig {
  /// Whether each completion ends at the next read completion boundary (RCB). Otherwise a read has
  /// as few completions as the payload permits.
  bool at_boundaries = false;
  /// Each completion is late by a random time, at most this. So completions of different requests
  /// leave in any order and mixed with each other, as the parts of a memory answer. Those of one
  /// request keep their order. With 0, all completions leave in the order of their requests.
  vp::Picoseconds spread = 0;
  std::uint64_t seed = 1;  ///< of these times
};

/// The completions that a completer will send.
class CompletionQueue {
 public:
  /// Throws ConfigurationError if the spread is negative. `send` sends a completion at once.
  CompletionQueue(const CompletionConfig& config, vp::Domain& domain,
                  std::function<void(TlpPtr)> send);

  /// Sends a completion after `delay`, or later because of the order or the spread.
  void send_after(vp::Picoseconds delay, TlpPtr completion);
  /// Sends all that wait, without delay.
  void flush();
  /// Drops all that wait.
  void clear();

 private:
  struct Waiting {
    vp::Picoseconds when = 0;
    TlpPtr completion;
  };

  vp::Picoseconds draw();
  void send_due(vp::Picoseconds until);

  const CompletionConfig config_;
  const std::function<void(TlpPtr)> send_;
  std::uint64_t random_;
  vp::Ring<Waiting> waiting_;  // in the order in which they leave
  vp::Event departure_;
};

}  // namespace pcie
