// SPDX-License-Identifier: Apache-2.0
// The checker's rules for agents that are given up, and for those that begin anew.
#include <algorithm>

#include "guest/scheduling/trace/checker.h"

// CPUs look whether there is an agent, or what a task does, before they take their place in the
// trace. They may also report that a decision is stale before the message that made it stale.
constexpr std::uint64_t race_ns = 5000;

constexpr std::uint64_t unknown = ~std::uint64_t{0};

bool Checker::is_late(std::size_t at, std::uint64_t since) const {
  return trace_.records[at].time > since + race_ns;
}

void Checker::check_sending(std::size_t at) {
  if (!is_withheld(trace_.records[at])) {
    if (!has_agent() && is_late(at, trace_.records[*agent_.given_up].time))
      wrong(at, "there was no agent to send it to");
  } else if (has_agent() && (!agent_.begun || is_late(at, trace_.records[*agent_.begun].time))) {
    wrong(at, "there was an agent to send it to");
  }
}

void Checker::given_up(std::size_t at) {
  if (!has_agent()) wrong(at, "there was no agent any more");
  if (!trace_.head.patience) wrong(at, "there is no watchdog");
  agent_.given_up = at;
  for (auto& [gtid, task] : tasks_) task.since = 0;
}

void Checker::left_behind(std::size_t at) {
  const oae_sched_record& record = trace_.records[at];
  const bool stood = record.state == OAE_SCHED_ONE_STOOD;
  const unsigned n = record.task_cpu;
  if (has_agent()) wrong(at, "no agent was given up");
  if (agent_.left[n]) wrong(at, "that was said already");
  agent_.left[n] = at;
  if (record.number < cpus_[n].number + stood) wrong(at, "the CPU has had that number");
  if (record.undelivered != unknown &&
      record.undelivered > agent_.events[n].size() + agent_.lost[n] + record.number)
    wrong(at, "the CPU has never sent so much");
  if (!stood) return;
  const auto task = tasks_.find(record.gtid);
  if (task == tasks_.end() || !task->second.times.count(record.task_barrier) ||
      !agent_.times.count(record.newest))
    wrong(at, "the agent was not sent what the decision rests on");
  agent_.newest.insert(record.newest);
}

// What a CPU has kept cannot have led to a decision. Only swap ports say exactly what that is.
void Checker::check_undelivered(unsigned cpu) {
  const oae_sched_record& left = trace_.records[*agent_.left[cpu]];
  const auto& events = agent_.events[cpu];
  if (!has_ports(trace_) || left.state == OAE_SCHED_UNKNOWN || agent_.lost[cpu]) return;
  for (std::size_t i = events.size() - std::min<std::size_t>(left.undelivered, events.size());
       i < events.size(); ++i)
    if (events[i] && agent_.times[events[i]] == 1 && agent_.newest.count(events[i]))
      return wrong(*agent_.left[cpu], "a decision rests on what the agent had not got");
}

// What is known of the decisions of an agent that has not said what it has counted: each had a
// number, and those up to the last one that a CPU has claimed or seen were made.
void Checker::end_agent() {
  std::uint64_t undelivered = 0;
  for (unsigned n = 0; n < POLICY_CPUS; ++n) {
    const auto& at = agent_.left[n];
    const bool stood = at && trace_.records[*at].state == OAE_SCHED_ONE_STOOD;
    const std::uint64_t known =
        at ? std::max<std::uint64_t>(cpus_[n].number, trace_.records[*at].number) : cpus_[n].number;
    const std::uint64_t claims = agent_.claims[n];
    accounts_.decisions += known;
    accounts_.discarded += stood;
    if (known < claims + stood)
      wrong(trace_.records.size(), "CPUs have claimed more than the agent has decided");
    else
      accounts_.withdrawn += known - claims - stood;
    if (at) check_undelivered(n);
    const bool silent = !at && trace_.head.cpus >> n & 1;
    if (silent || (at && trace_.records[*at].undelivered == unknown)) undelivered = unknown;
    if (at && undelivered != unknown) undelivered += trace_.records[*at].undelivered;
  }
  if (undelivered == unknown)
    ++accounts_.unknown;
  else
    accounts_.undelivered += undelivered;
  agent_.undelivered = undelivered;
}

void Checker::resumed(std::size_t at) {
  const oae_sched_record& record = trace_.records[at];
  if (has_agent()) return wrong(at, "no agent was given up");
  for (unsigned n = 0; n < POLICY_CPUS; ++n)
    if (trace_.head.cpus >> n & 1 && !agent_.left[n])
      wrong(at, "nobody has said what was left on CPU " + std::to_string(n));
  end_agent();
  if (record.undelivered != agent_.undelivered)
    wrong(at, "what was left on the CPUs has another sum");
  ++accounts_.resumed;
  accounts_.alone += record.time - std::min(record.time, trace_.records[*agent_.given_up].time);
  agent_ = {};
  agent_.begun = at;
  agent_.untold_until = record.end;
  for (Cpu& cpu : cpus_) {
    cpu.number = 0;
    cpu.looked = cpu.place != Place::running;
    cpu.told = !cpu.idle;
  }
  for (auto& [gtid, task] : tasks_) {
    task.told = task.place == Place::gone;
    task.times.clear();
    task.since = 0;
  }
}

// An agent that knows nothing learns of a task. What the task does from then on has later numbers.
void Checker::tell_anew(std::size_t at, const ghost_message& message, Task& task) {
  if (message.header.sequence != task.sequence + 1)
    wrong(at, "the task's last message had number " + std::to_string(task.sequence));
  task.sequence = task.told_by = message.header.sequence;
  task.times[task.sequence] = trace_.records[at].time;
  task.told = true;
  note_runtime(at, task, message.task_new.runtime);
  const bool runnable = task.place != Place::fresh && task.place != Place::blocked;
  const bool is_so = task.place == Place::stopped || runnable == (message.task_new.runnable != 0);
  if (!is_so || task.cpus != message.task_new.cpus) task.doubtful = at;
  task.cpus = message.task_new.cpus;
  find_home(at, task);
}

// Whether the message only tells an agent anew that the task runs.
bool Checker::is_told_anew(const ghost_message& message, const Task& task) const {
  const unsigned n = message.on_cpu.cpu;
  return task.told_by && message.header.sequence == task.told_by + 1 && task.cpu == n &&
         (task.place == Place::running || task.place == Place::stopped) &&
         cpus_[n].switches == message.on_cpu.cpu_sequence;
}

// A decision that is carried out gives a task a CPU for good, unless the turn comes at that moment.
void Checker::take_turn(std::size_t at, unsigned cpu, Task& task) {
  ++accounts_.turns;
  if (!(task.cpus >> cpu & 1)) wrong(at, "the task may not run there");
  if (task.place != Place::latched) return;
  if (has_agent() || trace_.records[*agent_.given_up].time > task.latched_at + race_ns)
    wrong(at, "a decision has given the task CPU " + std::to_string(task.cpu));
  take_back(task);
}

void Checker::check_all_told(std::size_t at) {
  agent_.untold_until = 0;
  for (const auto& [gtid, task] : tasks_) {
    if (task.place != Place::gone && !task.told)
      wrong(*agent_.begun, "the agent is not told of task " + std::to_string(gtid));
    if (task.doubtful && is_late(at, trace_.records[*task.doubtful].time))
      wrong(*task.doubtful, "the task was not so");
  }
  for (unsigned n = 0; n < POLICY_CPUS; ++n)
    if (trace_.head.cpus >> n & 1 && cpus_[n].idle && !cpus_[n].told)
      wrong(*agent_.begun, "the agent is not told that CPU " + std::to_string(n) + " idles");
}

void Checker::check_fallbacks() {
  const counts& kernel = trace_.head.kernel;
  check_sum("agents", "given up", fallbacks_.size(), kernel.fallbacks);
  if (!has_agent() && !trace_.records.empty()) {
    const std::uint64_t end =
        std::min<std::uint64_t>(trace_.records.back().time, trace_.head.detached);
    accounts_.alone += end - std::min<std::uint64_t>(end, trace_.records[*agent_.given_up].time);
  }
  if (fallbacks_.size() != kernel.fallbacks || resumptions_.size() > fallbacks_.size()) return;
  for (std::size_t i = 0; i < fallbacks_.size(); ++i)
    if (i + FALLBACKS_TOLD >= fallbacks_.size()) check_fallback(i);
}

// The scheduler says the same of a fallback as the trace.
void Checker::check_fallback(std::size_t number) {
  const fallback& said = trace_.head.kernel.fallback[number % FALLBACKS_TOLD];
  const std::size_t at = fallbacks_[number];
  const oae_sched_record& record = trace_.records[at];
  if (said.sign != static_cast<std::uint64_t>(record.state) || said.noticed != record.end ||
      said.begun < record.time || said.begun > record.time + race_ns)
    wrong(at, "the scheduler says another sign or time");
  if (number >= resumptions_.size()) {
    if (said.resumed || said.decided || said.undelivered)
      wrong(at, "the scheduler says that an agent has begun anew");
    return;
  }
  const std::size_t begun = resumptions_[number];
  const oae_sched_record& anew = trace_.records[begun];
  if (said.resumed < anew.time || said.resumed > anew.end || said.undelivered != anew.undelivered)
    wrong(begun, "the scheduler says another time or number");
  const std::size_t until =
      number + 1 < fallbacks_.size() ? fallbacks_[number + 1] : trace_.records.size();
  std::size_t first = begun;
  while (first < until && !(trace_.records[first].kind == OAE_SCHED_ENDED &&
                            trace_.records[first].state == GHOST_COMPLETE))
    ++first;
  if (first == until ? said.decided != 0 : said.decided < trace_.records[first].time)
    wrong(begun, "the scheduler says that the agent has decided at another time");
}
