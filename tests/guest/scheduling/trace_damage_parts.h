// SPDX-License-Identifier: Apache-2.0
// What damages of traces are made of.
#pragma once

#include <cstring>

#include "tests/guest/scheduling/trace_damage.h"

namespace trace_damage_parts {

inline constexpr std::uint64_t second = 1'000'000'000;
/// So long, a CPU may not have seen that an agent was given up, or has begun anew; ns.
inline constexpr std::uint64_t race = 5000;

inline bool is_sent(const oae_sched_record& record) {
  return record.kind == OAE_SCHED_SENT;
}
inline bool is_decision(const oae_sched_record& record) {
  return record.kind == OAE_SCHED_CLAIMED && record.state;
}
inline bool is_end(const oae_sched_record& record, int state) {
  return record.kind == OAE_SCHED_ENDED && record.state == state;
}
inline bool is_about_task(const oae_sched_record& record) {
  return is_sent(record) && is_about_task(message_of(record));
}
inline bool is_message(const oae_sched_record& record, unsigned type) {
  return is_sent(record) && message_of(record).header.type == type;
}

/// Changes a message.
template <class Change>
inline bool change(oae_sched_record& record, Change change) {
  ghost_message message = message_of(record);
  change(message);
  std::memcpy(record.message, &message, sizeof(message));
  return true;
}

inline void drop(Trace& trace, std::size_t at) {
  trace.records.erase(trace.records.begin() + static_cast<std::ptrdiff_t>(at));
}

inline void repeat(Trace& trace, std::size_t at) {
  const oae_sched_record record = trace.records[at];
  trace.records.insert(trace.records.begin() + static_cast<std::ptrdiff_t>(at), record);
}

/// The next record from `at` on for which `good` holds, or the number of records.
template <class Good>
inline std::size_t next(const Trace& trace, std::size_t at, Good good) {
  while (at < trace.records.size() && !good(trace.records[at])) ++at;
  return at;
}

/// The last record of this kind before that one, or that one itself if there is none.
inline std::size_t last_before(const Trace& trace, std::size_t at, oae_sched_record_kind kind) {
  for (std::size_t i = at; i-- > 0;)
    if (trace.records[i].kind == kind) return i;
  return at;
}

/// Whether the decision that is claimed there names the message by which the agent got its task.
inline bool names_a_beginning(const Trace& trace, std::size_t at) {
  const oae_sched_record& claim = trace.records[at];
  unsigned named = 0, before = 0;  // their types
  for (const auto& record : trace.records) {
    if (!is_about_task(record) || message_of(record).gtid != claim.gtid) continue;
    const ghost_header header = message_of(record).header;
    if (header.sequence == claim.task_barrier) named = header.type;
    if (header.sequence == claim.task_barrier - 1) before = header.type;
  }
  return named == GHOST_PREEMPT || named == GHOST_YIELD ||
         (named == GHOST_WAKEUP && (before == GHOST_BLOCKED || before == GHOST_NEW));
}

/// The end of the decision that is claimed there.
inline std::size_t end_of(const Trace& trace, std::size_t at) {
  const unsigned cpu = trace.records[at].cpu;
  return next(trace, at, [&](const auto& record) {
    return record.kind == OAE_SCHED_ENDED && record.cpu == cpu;
  });
}

inline std::uint64_t gtid_of(const oae_sched_record& record) {
  if (is_sent(record)) return is_about_task(record) ? message_of(record).gtid : 0;
  return record.gtid;
}

/// A task of the trace that is not this one, or 0.
inline std::uint64_t another_task(const Trace& trace, std::uint64_t gtid) {
  const std::size_t at = next(trace, 0, [&](const auto& record) {
    return is_about_task(record) && gtid_of(record) != gtid;
  });
  return at < trace.records.size() ? gtid_of(trace.records[at]) : 0;
}

using Apply = std::function<bool(Trace&, std::size_t)>;

/// Damages the record if it is of this sort.
template <class Good, class Then>
inline Apply where(Good good, Then then) {
  return [=](Trace& trace, std::size_t at) { return good(trace.records[at]) && then(trace, at); };
}

template <class Good, class Then>
inline Apply change_where(Good good, Then then) {
  return where(good, [=](Trace& trace, std::size_t at) {
    return change(trace.records[at], [&](ghost_message& message) { then(message); });
  });
}

inline Apply of_type(unsigned type, std::function<void(ghost_message&)> then) {
  return change_where([=](const auto& record) { return is_message(record, type); }, then);
}

inline bool drop_it(Trace& trace, std::size_t at) {
  drop(trace, at);
  return true;
}

inline bool repeat_it(Trace& trace, std::size_t at) {
  repeat(trace, at);
  return true;
}

inline bool any(const oae_sched_record&) {
  return true;
}

/// Exchanges a record with the next one about the same task.
inline bool exchange_with_next(Trace& trace, std::size_t at) {
  const std::uint64_t gtid = gtid_of(trace.records[at]);
  const std::size_t other = next(trace, at + 1, [&](const auto& record) {
    return is_about_task(record) && gtid_of(record) == gtid;
  });
  if (other == trace.records.size()) return false;
  std::swap(trace.records[at].message, trace.records[other].message);
  return true;
}

/// Lets all that comes from there on come a second later.
inline bool delay(Trace& trace, std::size_t from) {
  const std::uint64_t begin = trace.records[from].time;
  if (trace.head.detached < ~std::uint64_t{0}) trace.head.detached += second;
  for (std::size_t at = from; at < trace.records.size(); ++at) {
    oae_sched_record& record = trace.records[at];
    record.time += second;
    if (record.kind == OAE_SCHED_CLAIMED || record.kind == OAE_SCHED_ENDED) record.end += second;
    if (is_decision(record) && record.newest >= begin) record.newest += second;
  }
  return true;
}

/// Removes what happens to a task from there on.
inline bool forget_task(Trace& trace, std::size_t from) {
  const std::uint64_t gtid = gtid_of(trace.records[from]);
  for (std::size_t at = trace.records.size(); at-- > from;)
    if (gtid_of(trace.records[at]) == gtid) drop(trace, at);
  return true;
}

/// Changes the claim and the end of a decision alike.
template <class Then>
inline Apply whole_decision(Then then) {
  return where(is_decision, [=](Trace& trace, std::size_t at) {
    const std::size_t end = end_of(trace, at);
    if (end == trace.records.size()) return false;
    then(trace, trace.records[at], trace.records[end]);
    return true;
  });
}

inline Apply ends_as(int from, int to) {
  return where([=](const auto& record) { return is_end(record, from); },
               [=](Trace& trace, std::size_t at) {
                 trace.records[at].state = to;
                 return true;
               });
}

/// Whether the task of a message has stopped, and nothing was said about it since.
inline bool has_stopped(const Trace& trace, std::size_t at) {
  for (std::size_t i = at; i-- > 0;)
    if (trace.records[i].kind <= OAE_SCHED_STOPPING && gtid_of(trace.records[i]) &&
        gtid_of(trace.records[i]) == gtid_of(trace.records[at]))
      return trace.records[i].kind == OAE_SCHED_STOPPING;
  return false;
}

inline bool idles_at(const Trace& trace, std::size_t at) {
  const unsigned cpu = trace.records[at].cpu;
  bool idle = false;
  for (std::size_t i = 0; i < at; ++i) {
    const oae_sched_record& record = trace.records[i];
    if (!is_sent(record)) continue;
    const ghost_message message = message_of(record);
    if (message.header.type >= GHOST_AVAILABLE && message.cpu.cpu == cpu)
      idle = message.header.type == GHOST_AVAILABLE;
    if (message.header.type == GHOST_ON_CPU && message.on_cpu.cpu == cpu) idle = false;
  }
  return idle;
}

}  // namespace trace_damage_parts
