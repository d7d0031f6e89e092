// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "guest/scheduling/trace/trace.h"

/// A way to damage a trace. Each has to be found by the checker.
struct TraceDamage {
  std::string name;
  /// Damages a record, and perhaps others that go with it. Returns false if it cannot be done
  /// there, and then leaves the trace as it is.
  std::function<bool(Trace&, std::size_t at)> apply;
  /// Whether the counts in the head are then made to agree, so that they do not reveal the damage.
  bool hidden = true;
  /// Whether the trace has to be one in which an agent was given up.
  bool of_fallbacks = false;
};

const std::vector<TraceDamage>& trace_damages();

/// Makes the counts in the head agree with the records. Withdrawn decisions of the last agent stay
/// as they were.
void count_again(Trace& trace);

/// What damaging a trace everywhere (but at most `most` times in each way) has shown.
struct DamageResult {
  unsigned done = 0;
  std::vector<std::string> missed;
  std::vector<std::string> unused;  // ways for which the trace has no place
};
DamageResult damage_everywhere(const Trace& trace, unsigned most, std::uint64_t limit);
