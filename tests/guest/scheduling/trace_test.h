// SPDX-License-Identifier: Apache-2.0
// What the tests of traces made by hand have in common.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <string>

#include "guest/scheduling/trace/checker.h"
#include "guest/scheduling/trace/figures/account.h"
#include "tests/guest/scheduling/trace_builder.h"
#include "tests/guest/scheduling/trace_damage.h"

/// The tasks of most traces.
inline constexpr std::uint64_t a = 11, b = 12;

/// The trace as `schedule` writes it to a file.
inline std::string bytes_of(const Trace& trace) {
  std::string bytes(reinterpret_cast<const char*>(&trace.head), sizeof(trace.head));
  return bytes.append(reinterpret_cast<const char*>(trace.records.data()),
                      trace.records.size() * sizeof(oae_sched_record));
}

/// Expects a damage to leave the trace as it is at each record at which it cannot be done.
inline void expect_refusals_to_change_nothing(const Trace& trace) {
  const std::string before = bytes_of(trace);
  for (const TraceDamage& damage : trace_damages()) {
    for (std::size_t at = 0; at < trace.records.size(); ++at) {
      Trace damaged = trace;
      if (!damage.apply(damaged, at)) {
        EXPECT_EQ(bytes_of(damaged), before) << damage.name << ": record " << at;
      }
    }
  }
}

/// What became of each decision of a trace without a mistake, in which a task may wait for as long
/// as the limit while a CPU idles.
inline std::map<std::string, std::uint64_t> account(const Trace& trace, std::uint64_t limit) {
  const Checker checker(trace, limit);
  EXPECT_THAT(checker.mistakes(), testing::IsEmpty());
  const Account found = account_of(trace, checker.accounts(), Oracle(trace));
  EXPECT_EQ(found.decisions, found.ends);
  return {found.lines.begin(), found.lines.end()};
}
