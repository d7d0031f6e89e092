// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "guest/scheduling/trace/checker.h"
#include "guest/scheduling/trace/oracle.h"
#include "guest/scheduling/trace/trace.h"

/// What became of each decision of a trace, and which interactions of host and agent were wasted.
struct Account {
  /// Names and numbers, in the order in which they are printed. README.md explains them.
  std::vector<std::pair<std::string, std::uint64_t>> lines;
  std::uint64_t decisions = 0;  // that the agent has made
  std::uint64_t ends = 0;       // of these, those of which it is known what became of them
};

/// The checker must have found no mistake.
Account account_of(const Trace& trace, const Accounts& accounts, const Oracle& oracle);

/// Figures of the oracle, in the same form.
std::vector<std::pair<std::string, std::uint64_t>> figures_of(const Oracle& oracle);
