// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <unordered_set>

#include "guest/scheduling/trace/trace.h"

/// The records by which a task begins on a CPU since its turn has come, and not by a decision.
/// Tasks take turns while there is no agent. One that still waits for its turn when an agent begins
/// anew has it nevertheless.
std::unordered_set<std::size_t> turns_of(const Trace& trace);
