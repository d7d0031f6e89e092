// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <unordered_map>

#include "guest/scheduling/trace/trace.h"

/// With a queue for each CPU, a task's home depends on the order in which the agent has read of new
/// tasks. So the trace is asked: the home is the CPU of a decision that rests on the message (NEW
/// or AFFINITY_CHANGED) which gave it. By the record of that message; a message on which no
/// decision rests is left out.
std::unordered_map<std::size_t, unsigned> homes_of(const Trace& trace);
