// SPDX-License-Identifier: Apache-2.0
#include "tests/guest/scheduling/trace_damage.h"

#include <algorithm>

#include "guest/scheduling/trace/checker.h"
#include "tests/guest/scheduling/trace_damage_parts.h"

namespace {

using namespace trace_damage_parts;

std::vector<TraceDamage> messages() {
  return {
      {"a message is missing", where(is_sent, drop_it), false},
      {"a message about a task is missing",
       where([](const auto& r) { return is_about_task(r); }, drop_it)},
      {"a message is sent twice", where(is_sent, repeat_it)},
      {"messages about a task are exchanged",
       where([](const auto& r) { return is_about_task(r); }, exchange_with_next)},
      {"a sequence number is skipped", change_where(is_sent, [](auto& m) { ++m.header.sequence; })},
      {"a sequence number is repeated",
       change_where(is_sent, [](auto& m) { --m.header.sequence; })},
      {"a message is about an unknown task",
       change_where([](const auto& r) { return is_about_task(r); },
                    [](auto& m) { m.gtid += 1u << 30; })},
      {"a message is about another task",
       where([](const auto& r) { return is_about_task(r); },
             [](Trace& trace, std::size_t at) {
               const std::uint64_t gtid = another_task(trace, gtid_of(trace.records[at]));
               return gtid && change(trace.records[at], [&](auto& m) { m.gtid = gtid; });
             })},
      {"a message has an unknown type", change_where(is_sent, [](auto& m) { m.header.type = 77; })},
      {"a message has another length",
       change_where(is_sent, [](auto& m) { m.header.length += 8; })},
      {"a message is lost",
       where(is_sent,
             [](Trace& trace, std::size_t at) {
               trace.records[at].state = 1;
               return true;
             }),
       false},
      {"a task begins on another CPU", of_type(GHOST_ON_CPU, [](auto& m) { m.on_cpu.cpu ^= 1; })},
      {"a CPU skips a switch", of_type(GHOST_ON_CPU, [](auto& m) { ++m.on_cpu.cpu_sequence; })},
      {"a task blocks on another CPU", of_type(GHOST_BLOCKED, [](auto& m) { m.blocked.cpu ^= 1; })},
      {"a task blocks in another switch",
       of_type(GHOST_BLOCKED, [](auto& m) { --m.blocked.cpu_sequence; })},
      {"a task has run for ages before it begins",
       of_type(GHOST_NEW, [](auto& m) { m.task_new.runtime = ~std::uint64_t{0}; })},
      {"a task that ran was latched",
       of_type(GHOST_PREEMPT, [](auto& m) { m.preempt.was_latched ^= 1; })},
      {"a task that yields was latched",
       of_type(GHOST_YIELD, [](auto& m) { m.preempt.was_latched ^= 1; })},
      {"a busy CPU idles", of_type(GHOST_BUSY, [](auto& m) { m.header.type = GHOST_AVAILABLE; })},
      {"a task is forgotten",
       where([](const auto& r) { return is_message(r, GHOST_WAKEUP); }, forget_task)},
      {"a task does not end",
       where(
           [](const auto& r) { return is_message(r, GHOST_DEAD) || is_message(r, GHOST_DEPARTED); },
           drop_it)},
  };
}

std::vector<TraceDamage> decisions() {
  return {
      {"a claim is missing", where(is_decision, drop_it)},
      {"an end is missing",
       where([](const auto& r) { return r.kind == OAE_SCHED_ENDED; }, drop_it)},
      {"a claim happens twice", where(is_decision, repeat_it)},
      {"an end happens twice",
       where([](const auto& r) { return r.kind == OAE_SCHED_ENDED; }, repeat_it)},
      {"a task runs without a decision", where(is_decision,
                                               [](Trace& trace, std::size_t at) {
                                                 const std::size_t end = end_of(trace, at);
                                                 if (end == trace.records.size() ||
                                                     !is_end(trace.records[end], GHOST_COMPLETE))
                                                   return false;
                                                 drop(trace, end);
                                                 drop(trace, at);
                                                 return true;
                                               })},
      {"a decision is withdrawn",
       where(is_decision,
             [](Trace& trace, std::size_t) {
               if (!trace.head.counted) return false;
               ++trace.head.agent.written;
               return true;
             }),
       false},
      {"a number does not rise",
       whole_decision([](Trace&, auto& claim, auto& end) { claim.number = end.number = 0; })},
      {"another decision ends", where([](const auto& r) { return r.kind == OAE_SCHED_ENDED; },
                                      [](Trace& trace, std::size_t at) {
                                        ++trace.records[at].number;
                                        return true;
                                      })},
      {"it rests on the future", where(is_decision,
                                       [](Trace& trace, std::size_t at) {
                                         trace.records[at].newest = trace.records[at].end + second;
                                         return true;
                                       })},
      {"it rests on no message", where(is_decision,
                                       [](Trace& trace, std::size_t at) {
                                         trace.records[at].newest = 1;
                                         return true;
                                       })},
      {"it rests on too old a message",
       where(is_decision,
             [](Trace& trace, std::size_t at) {
               const std::size_t first = next(trace, 0, is_sent);
               const std::uint64_t time = trace.records[first].time;
               const std::size_t named = next(trace, first + 1, [&](const auto& record) {
                 return is_about_task(record) && gtid_of(record) == trace.records[at].gtid;
               });
               if (trace.records[at].newest == time || named >= at) return false;
               trace.records[at].newest = time;
               return true;
             })},
      {"a barrier is old",
       where(is_decision,
             [](Trace& trace, std::size_t at) {
               const std::size_t end = end_of(trace, at);
               if (end == trace.records.size() || !is_end(trace.records[end], GHOST_COMPLETE) ||
                   (trace.head.rule == RULE_OWNER && !names_a_beginning(trace, at)))
                 return false;
               --trace.records[at].task_barrier;
               return true;
             })},
      {"a barrier is of the future", where(is_decision,
                                           [](Trace& trace, std::size_t at) {
                                             trace.records[at].task_barrier += 1000000;
                                             return true;
                                           })},
      {"a decision is for an unknown task",
       whole_decision([](Trace&, auto& claim, auto& end) { claim.gtid = end.gtid = 1u << 30; })},
      {"a decision is for another task", where(is_decision,
                                               [](Trace& trace, std::size_t at) {
                                                 const std::size_t end = end_of(trace, at);
                                                 const std::uint64_t gtid =
                                                     another_task(trace, trace.records[at].gtid);
                                                 if (end == trace.records.size() || !gtid ||
                                                     !is_end(trace.records[end], GHOST_COMPLETE))
                                                   return false;
                                                 trace.records[at].gtid = trace.records[end].gtid =
                                                     gtid;
                                                 return true;
                                               })},
      {"a decision is for another CPU", where(is_decision,
                                              [](Trace& trace, std::size_t at) {
                                                const std::size_t end = end_of(trace, at);
                                                if (end == trace.records.size() ||
                                                    !is_end(trace.records[end], GHOST_COMPLETE))
                                                  return false;
                                                trace.records[at].cpu ^= 3;
                                                trace.records[end].cpu ^= 3;
                                                return true;
                                              })},
      {"a decision that was carried out is stale",
       where(is_decision,
             [](Trace& trace, std::size_t at) {
               const std::size_t end = end_of(trace, at);
               if (end == trace.records.size() || !is_end(trace.records[end], GHOST_COMPLETE))
                 return false;
               // It could have been stale if a message about its task came meanwhile.
               for (std::size_t i = at; i < end; ++i) {
                 if (is_about_task(trace.records[i]) &&
                     gtid_of(trace.records[i]) == trace.records[at].gtid)
                   return false;
               }
               trace.records[end].state = GHOST_TARGET_STALE;
               return true;
             })},
      {"a decision that was carried out has no task",
       ends_as(GHOST_COMPLETE, GHOST_TARGET_NOT_FOUND)},
      {"a decision that was carried out has a busy CPU",
       ends_as(GHOST_COMPLETE, GHOST_CPU_UNAVAIL)},
      {"a decision that was refused is carried out", ends_as(GHOST_CPU_UNAVAIL, GHOST_COMPLETE)},
      {"a stale decision is carried out", ends_as(GHOST_TARGET_STALE, GHOST_COMPLETE)},
      {"a decision ends as an error", ends_as(GHOST_COMPLETE, GHOST_INVALID_FLAGS)},
      {"an end has another switch", where([](const auto& r) { return r.kind == OAE_SCHED_ENDED; },
                                          [](Trace& trace, std::size_t at) {
                                            ++trace.records[at].cpu_sequence;
                                            return true;
                                          })},
      {"a decision comes late", where(is_decision,
                                      [](Trace& trace, std::size_t at) {
                                        const std::size_t end = end_of(trace, at);
                                        return end < trace.records.size() &&
                                               is_end(trace.records[end], GHOST_COMPLETE) &&
                                               idles_at(trace, at) && delay(trace, at);
                                      })},
      {"a CPU idles without a look",
       where([](const auto& r) { return r.kind == OAE_SCHED_CLAIMED && !r.state; },
             [](Trace& trace, std::size_t at) {
               const unsigned cpu = trace.records[at].cpu;
               // It is the only look between a task that stops and idleness.
               const auto here = [&](const auto& record) { return record.cpu == cpu; };
               const std::size_t after = next(trace, at + 1, here);
               std::size_t before = at;
               while (before-- > 0 && !here(trace.records[before])) {
               }
               if (before >= trace.records.size() || after == trace.records.size() ||
                   !is_message(trace.records[before], GHOST_BLOCKED) ||
                   !is_message(trace.records[after], GHOST_AVAILABLE))
                 return false;
               drop(trace, at);
               return true;
             })},
  };
}

/// Raises one of these counts.
template <class Counts>
Apply count_more(Counts counts) {
  return [=](Trace& trace, std::size_t at) {
    const std::vector<std::uint64_t*> all = counts(trace.head);
    if (all.empty()) return false;
    ++*all[at % all.size()];
    return true;
  };
}

/// The same, if the agent has said what it has counted.
template <class Counts>
Apply count_more_at_agent(Counts counts) {
  return [=](Trace& trace, std::size_t at) {
    return trace.head.counted && count_more(counts)(trace, at);
  };
}

std::vector<std::uint64_t*> some(std::uint64_t* first, std::size_t count) {
  std::vector<std::uint64_t*> all;
  for (std::size_t i = 0; i < count; ++i) all.push_back(first + i);
  return all;
}

std::vector<TraceDamage> heads() {
  return {
      {"the kernel has counted another message",
       count_more([](auto& head) { return some(head.kernel.sent, GHOST_TYPES); }), false},
      {"the agent has counted another message",
       count_more_at_agent([](auto& head) { return some(head.agent.received, GHOST_TYPES); }),
       false},
      {"the kernel has counted another decision",
       count_more([](auto& head) { return some(head.kernel.outcomes, GHOST_OUTCOMES); }), false},
      {"the agent has counted another decision",
       count_more_at_agent([](auto& head) { return some(head.agent.outcomes, GHOST_OUTCOMES); }),
       false},
      {"a decision is lost",
       count_more_at_agent([](auto& head) { return some(&head.agent.written, 1); }), false},
      {"another fallback was counted",
       count_more([](auto& head) { return some(&head.kernel.fallbacks, 1); }), false},
      {"a fallback was another one", count_more([](auto& head) {
         fallback& last = head.kernel.fallback[(head.kernel.fallbacks - 1) % FALLBACKS_TOLD];
         return head.kernel.fallbacks
                    ? std::vector<std::uint64_t*>{&last.sign, &last.noticed, &last.undelivered}
                    : std::vector<std::uint64_t*>{};
       }),
       false, true},
      {"another swap or event was counted", count_more_at_agent([](auto& head) {
         auto& ports = head.ports;
         return std::vector<std::uint64_t*>{&ports.swaps,    &ports.taken,   &ports.idle_taken,
                                            &ports.revoked,  &ports.sends,   &ports.carried,
                                            &ports.reversed, &ports.implied, &ports.foreign};
       }),
       false},
  };
}

std::vector<TraceDamage> others() {
  const auto stopping = [](const auto& record) { return record.kind == OAE_SCHED_STOPPING; };
  return {
      {"a task does not stop", where(stopping, drop_it)},
      {"a task stops twice", where(stopping, repeat_it)},
      {"a task stops elsewhere", where(stopping,
                                       [](Trace& trace, std::size_t at) {
                                         trace.records[at].task_cpu ^= 1;
                                         return true;
                                       })},
      {"another task stops", where(stopping,
                                   [](Trace& trace, std::size_t at) {
                                     trace.records[at].gtid += 1;
                                     return true;
                                   })},
      {"a record is a second early", where(any,
                                           [](Trace& trace, std::size_t at) {
                                             if (trace.records[at].time < second) return false;
                                             const std::size_t before =
                                                 next(trace, 0, [&](const auto& record) {
                                                   return record.cpu == trace.records[at].cpu;
                                                 });
                                             if (before >= at) return false;
                                             trace.records[at].time -= second;
                                             return true;
                                           })},
      {"a record is a second late", where(any,
                                          [](Trace& trace, std::size_t at) {
                                            const unsigned cpu = trace.records[at].cpu;
                                            if (next(trace, at + 1, [&](const auto& record) {
                                                  return record.cpu == cpu;
                                                }) == trace.records.size())
                                              return false;
                                            trace.records[at].time += second;
                                            return true;
                                          })},
      {"a record is of no kind",
       where(any,
             [](Trace& trace, std::size_t at) {
               trace.records[at].kind = OAE_SCHED_RESUMED + 1;
               return true;
             }),
       false},
      {"a CPU does not exist", where(any,
                                     [](Trace& trace, std::size_t at) {
                                       trace.records[at].cpu = 64;
                                       return true;
                                     })},
  };
}

std::vector<TraceDamage> fallbacks() {
  const auto is_kind = [](oae_sched_record_kind kind) {
    return [=](const oae_sched_record& record) { return record.kind == kind; };
  };
  const auto given_up = is_kind(OAE_SCHED_GIVEN_UP), left = is_kind(OAE_SCHED_LEFT),
             resumed = is_kind(OAE_SCHED_RESUMED);
  // A message that an agent gets when it begins anew.
  const auto is_told = [](const Trace& trace, std::size_t at, unsigned type) {
    const std::size_t begun = last_before(trace, at, OAE_SCHED_RESUMED);
    return is_message(trace.records[at], type) && begun < at &&
           trace.records[at].time <= trace.records[begun].end &&
           trace.records[at].cpu == trace.records[begun].cpu;
  };
  return {
      {"nobody says that an agent is given up", where(given_up, drop_it), true, true},
      {"an agent is given up twice", where(given_up, repeat_it), true, true},
      {"an agent is given up by another sign",
       where(given_up,
             [](Trace& trace, std::size_t at) {
               trace.records[at].state ^= 1;
               return true;
             }),
       false, true},
      {"nobody says that an agent begins anew", where(resumed, drop_it), true, true},
      {"an agent begins anew twice", where(resumed, repeat_it), true, true},
      {"nobody says what was left on a CPU",
       where(left,
             [=](Trace& trace, std::size_t at) {
               if (!(trace.head.cpus >> trace.records[at].task_cpu & 1) ||
                   next(trace, at, resumed) == trace.records.size())
                 return false;
               drop(trace, at);
               return true;
             }),
       true, true},
      {"an undelivered message is lost",
       where(left,
             [=](Trace& trace, std::size_t at) {
               if (!trace.records[at].undelivered || !~trace.records[at].undelivered ||
                   next(trace, at, resumed) == trace.records.size())
                 return false;
               --trace.records[at].undelivered;
               return true;
             }),
       true, true},
      {"another number of messages is undelivered",
       where(resumed,
             [](Trace& trace, std::size_t at) {
               ++trace.records[at].undelivered;
               return true;
             }),
       true, true},
      {"a decision that a CPU has had stood for it",
       where(left,
             [](Trace& trace, std::size_t at) {
               if (!trace.records[at].number) return false;
               --trace.records[at].number;
               return true;
             }),
       true, true},
      {"a message is sent to nobody",
       where(is_withheld,
             [](Trace& trace, std::size_t at) {
               const std::size_t begun = last_before(trace, at, OAE_SCHED_GIVEN_UP);
               if (trace.records[at].time <= trace.records[begun].time + race) return false;
               trace.records[at].state = OAE_SCHED_ON_ITS_WAY;
               return true;
             }),
       true, true},
      {"a message to an agent is withheld",
       where(is_sent,
             [](Trace& trace, std::size_t at) {
               const std::size_t begun = last_before(trace, at, OAE_SCHED_RESUMED);
               if (is_withheld(trace.records[at]) ||
                   (begun != at && trace.records[at].time <= trace.records[begun].time + race))
                 return false;
               trace.records[at].state = OAE_SCHED_WITHHELD;
               return true;
             })},
      {"an agent is not told of a task",
       [=](Trace& trace, std::size_t at) {
         return is_told(trace, at, GHOST_NEW) && change(trace.records[at], [](auto& m) {
                  const ghost_message told = m;
                  m = {};
                  m.header = told.header;
                  m.header.type = GHOST_PRIORITY_CHANGED;
                  m.header.length = static_cast<std::uint16_t>(ghost_length(m.header.type));
                  m.priority.gtid = told.task_new.gtid;
                });
       },
       true, true},
      {"an agent is told that a task sleeps, and it does not, or the other way round",
       [=](Trace& trace, std::size_t at) {
         const std::uint64_t gtid = gtid_of(trace.records[at]);
         const std::size_t after = next(trace, at + 1, [=](const auto& record) {
           return is_about_task(record) && gtid_of(record) == gtid;
         });
         return is_told(trace, at, GHOST_NEW) &&
                trace.records[after].time > trace.records[at].time + race &&
                !has_stopped(trace, at) &&
                change(trace.records[at], [](auto& m) { m.task_new.runnable ^= 1; });
       },
       true, true},
      {"a task runs twice when an agent begins anew",
       [=](Trace& trace, std::size_t at) {
         return is_told(trace, at, GHOST_ON_CPU) &&
                change(trace.records[at], [](auto& m) { m.on_cpu.cpu ^= 3; });
       },
       true, true},
      {"a decision rests on what the agent before was told",
       where(is_decision,
             [](Trace& trace, std::size_t at) {
               const std::size_t begun = last_before(trace, at, OAE_SCHED_RESUMED);
               if (begun == at) return false;
               trace.records[at].newest = trace.records[next(trace, 0, is_sent)].time;
               return true;
             }),
       true, true},
      {"a decision of an agent that was given up is carried out",
       where(given_up,
             [](Trace& trace, std::size_t at) {
               // The one that was carried out before comes too late.
               std::size_t end = at;
               while (end > 0 && !is_end(trace.records[end], GHOST_COMPLETE)) --end;
               std::size_t claim = end;
               while (claim > 0 && !(is_decision(trace.records[claim]) &&
                                     trace.records[claim].cpu == trace.records[end].cpu))
                 --claim;
               if (!claim) return false;
               auto& records = trace.records;
               records[at].time = records[at].end = records[claim].time - 2 * race;
               std::rotate(records.begin() + static_cast<std::ptrdiff_t>(claim),
                           records.begin() + static_cast<std::ptrdiff_t>(at),
                           records.begin() + static_cast<std::ptrdiff_t>(at) + 1);
               // What comes after that is not sent.
               for (std::size_t i = claim; i <= at; ++i)
                 if (is_sent(records[i])) records[i].state = OAE_SCHED_WITHHELD;
               return true;
             }),
       true, true},
  };
}

}  // namespace

const std::vector<TraceDamage>& trace_damages() {
  static const std::vector<TraceDamage> all = [] {
    std::vector<TraceDamage> found = messages();
    for (const auto& more : {decisions(), heads(), others(), fallbacks()})
      found.insert(found.end(), more.begin(), more.end());
    return found;
  }();
  return all;
}

namespace {

fallback* last_fallback(counts& kernel) {
  return kernel.fallbacks ? &kernel.fallback[(kernel.fallbacks - 1) % FALLBACKS_TOLD] : nullptr;
}

}  // namespace

void count_again(Trace& trace) {
  trace_file_head& head = trace.head;
  const unsigned aborted = ghost_outcome_index(GHOST_ABORTED);
  const std::uint64_t withdrawn = head.agent.outcomes[aborted] - head.kernel.outcomes[aborted];
  std::uint64_t claims = 0;  // as all that follows, of the last agent
  counts before = {};        // when it began
  head.kernel = {};
  head.agent = {};
  for (const oae_sched_record& record : trace.records) {
    if (trace_damage_parts::is_sent(record)) {
      const unsigned type = message_of(record).header.type;
      const unsigned index = type < GHOST_DEAD ? GHOST_TYPES : ghost_type_index(type);
      if (record.state == OAE_SCHED_LOST)
        ++head.kernel.lost;
      else if (record.state == OAE_SCHED_ON_ITS_WAY && index < GHOST_TYPES)
        ++head.kernel.sent[index];
    } else if (trace_damage_parts::is_decision(record)) {
      ++claims;
    } else if (record.kind == OAE_SCHED_ENDED) {
      ++head.kernel.outcomes[ghost_outcome_index(record.state)];
      fallback* last = last_fallback(head.kernel);
      if (record.state == GHOST_COMPLETE && last && last->resumed && !last->decided)
        last->decided = record.end;
    } else if (record.kind == OAE_SCHED_GIVEN_UP) {
      ++head.kernel.fallbacks;
      *last_fallback(head.kernel) = {
          static_cast<std::uint64_t>(record.state), record.end, record.time, 0, 0, 0, 0};
    } else if (record.kind == OAE_SCHED_RESUMED) {
      if (fallback* last = last_fallback(head.kernel)) {
        last->resumed = record.time;
        last->undelivered = record.undelivered;
      }
      before = head.kernel;
      claims = 0;
    }
  }
  if (!head.counted) return;
  for (unsigned i = 0; i < GHOST_TYPES; ++i)
    head.agent.received[i] = head.kernel.sent[i] - before.sent[i];
  for (unsigned i = 0; i < GHOST_OUTCOMES; ++i)
    head.agent.outcomes[i] = head.kernel.outcomes[i] - before.outcomes[i];
  head.agent.outcomes[aborted] += withdrawn;
  head.agent.written = claims + withdrawn;
  if (!has_ports(trace)) return;
  std::uint64_t messages = 0;
  for (const std::uint64_t received : head.agent.received) messages += received;
  port_counts& ports = head.ports;
  ports.taken = claims + ports.reversed;
  ports.revoked = head.agent.outcomes[aborted] - ports.reversed;
  ports.swaps = claims + ports.idle_taken + ports.foreign;
  ports.sends = messages + claims - ports.carried - ports.implied;
}

DamageResult damage_everywhere(const Trace& trace, unsigned most, std::uint64_t limit) {
  DamageResult result;
  Trace damaged = trace;
  for (const TraceDamage& damage : trace_damages()) {
    const std::size_t step = trace.records.size() / (4 * most) + 1;
    unsigned done = 0;
    for (std::size_t at = 0; at < trace.records.size() && done < most; at += done ? step : 1) {
      if (!damage.apply(damaged, at)) continue;
      if (damage.hidden) count_again(damaged);
      damaged.head.records = damaged.records.size();
      ++done;
      if (Checker(damaged, limit).mistakes().empty())
        result.missed.push_back(damage.name + ": record " + std::to_string(at) + ": " +
                                text_of(trace.records[at]));
      damaged = trace;
    }
    result.done += done;
    if (!done) result.unused.push_back(damage.name);
  }
  return result;
}
