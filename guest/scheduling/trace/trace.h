// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "guest/scheduling/trace_file.h"

/// What `schedule --trace` has written. Records are in the order in which the CPUs have begun them.
struct Trace {
  trace_file_head head{};
  std::vector<oae_sched_record> records;
};

/// Reads a file. Returns what is wrong with it, or an empty text.
std::string read_trace(const std::string& file, Trace& trace);

/// The message of a record of the kind SENT.
ghost_message message_of(const oae_sched_record& record);

/// The CPU that a message names, if it names one on which something happened.
std::optional<unsigned> cpu_of(const ghost_message& message);

inline bool is_about_task(const ghost_message& message) {
  return message.header.type < GHOST_TICK;
}

/// A message of which nobody was told, since there was no agent.
inline bool is_withheld(const oae_sched_record& record) {
  return record.kind == OAE_SCHED_SENT && record.state == OAE_SCHED_WITHHELD;
}

/// Whether swap ports led to the agent.
bool has_ports(const Trace& trace);

/// A record as a line of text.
std::string text_of(const oae_sched_record& record);

const char* name_of_message(unsigned type);
const char* name_of_end(int state);
const char* name_of_sign(int sign);
