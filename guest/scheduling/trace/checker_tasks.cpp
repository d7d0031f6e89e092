// SPDX-License-Identifier: Apache-2.0
// The checker's rules for tasks, and for the end of a trace.
#include <cstring>
#include <numeric>

#include "guest/scheduling/trace/checker.h"

void Checker::begin_task(std::size_t at, const ghost_message& message) {
  const auto found = tasks_.find(message.gtid);
  Task task;
  if (found != tasks_.end() && found->second.place != Place::gone && !found->second.told &&
      !is_withheld(trace_.records[at]))
    return tell_anew(at, message, found->second);
  if (found != tasks_.end()) {
    if (found->second.place != Place::gone) wrong(at, "the task exists");
    if (message.header.sequence != found->second.sequence + 1)
      wrong(at, "the task's last message had number " + std::to_string(found->second.sequence));
    task.times = found->second.times;
  }
  task.sequence = task.owned_from = message.header.sequence;
  task.cpus = message.task_new.cpus;
  task.runtime = message.task_new.runtime;
  if (!is_withheld(trace_.records[at])) task.times[task.sequence] = trace_.records[at].time;
  if (message.task_new.runnable) task.place = Place::waiting;
  task.told = !is_withheld(trace_.records[at]);
  find_home(at, task);
  tasks_[message.gtid] = task;
}

void Checker::about_task(std::size_t at, const ghost_message& message) {
  if (message.header.type == GHOST_NEW) return begin_task(at, message);
  const auto found = tasks_.find(message.gtid);
  if (found == tasks_.end() || found->second.place == Place::gone)
    return wrong(at, "there is no such task");
  Task& task = found->second;
  if (message.header.sequence != task.sequence + 1)
    wrong(at, "the task's last message had number " + std::to_string(task.sequence));
  task.sequence = message.header.sequence;
  if (!is_withheld(trace_.records[at])) task.times[task.sequence] = trace_.records[at].time;
  if (task.doubtful && is_late(at, trace_.records[*task.doubtful].time))
    wrong(*task.doubtful, "the task was not so");
  task.doubtful.reset();
  switch (message.header.type) {
    case GHOST_WAKEUP:
      if (task.place == Place::running) wrong(at, "the task runs");
      if (task.place == Place::latched) take_back(task);
      // A task that waits is only changed.
      if (task.place != Place::waiting) task.owned_from = task.sequence;
      task.place = Place::waiting;
      break;
    case GHOST_PREEMPT:
    case GHOST_YIELD:
      left(at, message, task);
      break;
    case GHOST_BLOCKED:
    case GHOST_SWITCHTO:
      if (task.place != Place::stopped) wrong(at, "the task has not stopped");
      if (message.blocked.cpu != task.cpu) wrong(at, "the task ran elsewhere");
      check_switches(at, message.blocked.cpu, message.blocked.cpu_sequence);
      note_runtime(at, task, message.blocked.runtime);
      task.place = Place::blocked;
      task.changed = false;
      break;
    case GHOST_ON_CPU:
      on_cpu(at, message, task);
      break;
    case GHOST_AFFINITY_CHANGED:
      task.cpus = message.affinity.cpus;
      find_home(at, task);
      break;
    case GHOST_DEPARTED:
      check_switches(at, message.departed.cpu, message.departed.cpu_sequence);
      end_task(task);
      break;
    case GHOST_DEAD:
      end_task(task);
      break;
    default:
      break;
  }
}

void Checker::find_home(std::size_t at, Task& task) const {
  const auto home = homes_.find(at);
  task.home = home == homes_.end() ? std::nullopt : std::optional<unsigned>(home->second);
}

void Checker::take_back(Task& task) {
  ++accounts_.taken_back;
  if (cpus_[task.cpu].place == Place::latched) cpus_[task.cpu].place = Place::gone;
}

void Checker::end_task(Task& task) {
  if (task.place == Place::latched) take_back(task);
  if (task.place == Place::running) cpus_[task.cpu].place = Place::gone;
  task.place = Place::gone;
}

void Checker::note_runtime(std::size_t at, Task& task, std::uint64_t runtime) {
  if (runtime < task.runtime) wrong(at, "the task had run longer");
  task.runtime = runtime;
}

bool Checker::is_claimed(std::uint64_t gtid) const {
  for (const Cpu& cpu : cpus_)
    if (cpu.decision.claim && cpu.decision.claim->gtid == gtid) return true;
  return false;
}

void Checker::left(std::size_t at, const ghost_message& message, Task& task) {
  const bool was_latched = task.place == Place::latched || task.place == Place::waiting;
  if (!was_latched && task.place != Place::stopped) wrong(at, "the task has not stopped");
  if (was_latched != (message.preempt.was_latched != 0))
    wrong(at, was_latched ? "the task did not run" : "the task ran");
  if (task.place == Place::waiting && !is_claimed(message.gtid) && is_late(at, task.refused))
    wrong(at, "no CPU was about to run the task");
  if (task.place == Place::latched) take_back(task);
  if (task.place == Place::stopped && message.preempt.cpu != task.cpu)
    wrong(at, "the task ran elsewhere");
  check_switches(at, message.preempt.cpu, message.preempt.cpu_sequence);
  note_runtime(at, task, message.preempt.runtime);
  task.owned_from = task.sequence;
  task.place = Place::waiting;
  task.changed = false;
}

void Checker::on_cpu(std::size_t at, const ghost_message& message, Task& task) {
  const unsigned n = message.on_cpu.cpu;
  Cpu& cpu = cpus_[n];
  if (is_told_anew(message, task)) return;
  if (task.place == Place::latched && task.cpu == n) {
    ++accounts_.ran;
  } else if (turns_.count(at)) {
    take_turn(at, n, task);
  } else if (task.place == Place::running) {
    wrong(at, "the task runs on CPU " + std::to_string(task.cpu));
  } else if (task.place != Place::fresh && !is_over(at) && !(task.changed && task.cpu == n)) {
    wrong(at, "no decision has given the task this CPU");
  }
  if (cpu.place == Place::running) wrong(at, "the CPU runs a task");
  if (cpu.place == Place::latched && cpu.gtid != message.gtid)
    wrong(at, "the CPU was given another task");
  ++cpu.switches;
  check_switches(at, n, message.on_cpu.cpu_sequence);
  if (message.on_cpu.commit_time > trace_.records[at].time) wrong(at, "it began after the message");
  cpu.place = task.place = Place::running;
  cpu.gtid = message.gtid;
  cpu.idle = cpu.looked = false;
  task.cpu = n;
  task.changed = false;
}

// A refusal is right if a message about the task was sent since what the agent had seen, or if
// the task is gone. By the rule of the owner, a decision is stale only if the agent lost the task
// since.
void Checker::check_refusals() {
  for (const Refusal& refusal : refusals_) {
    const Task& task = tasks_.at(refusal.gtid);
    if (refusal.state == GHOST_TARGET_NOT_FOUND && task.place != Place::gone)
      wrong(refusal.at, "the task still exists at the end");
    if (refusal.state != GHOST_TARGET_NOT_RUNNABLE && task.sequence == refusal.barrier &&
        task.place != Place::gone)
      wrong(refusal.at, "nothing was said about the task since");
    if (is_owned() && refusal.state == GHOST_TARGET_STALE && task.place != Place::gone &&
        task.owned_from <= refusal.barrier)
      wrong(refusal.at, "the task was the agent's all the time");
  }
}

void Checker::check_end() {
  for (const auto& [gtid, task] : tasks_)
    if (task.place != Place::gone)
      wrong(trace_.records.size(), "task " + std::to_string(gtid) + " does not end");
  for (unsigned n = 0; n < POLICY_CPUS; ++n) {
    const Cpu& cpu = cpus_[n];
    if (cpu.decision.claim) wrong(cpu.decision.at, "the decision does not end");
    for (const auto& early : cpu.early) wrong(early.second, "the CPU has skipped a number");
  }
}

void Checker::check_sum(const char* what, const char* name, std::uint64_t trace,
                        std::uint64_t kernel) {
  if (trace != kernel)
    wrong(trace_.records.size(), std::string(what) + " " + name + ": " + std::to_string(trace) +
                                     " in the trace, but " + std::to_string(kernel) +
                                     " were counted");
}

void Checker::check_sums() {
  const counts& kernel = trace_.head.kernel;
  for (unsigned i = 0; i < GHOST_TYPES; ++i) {
    const unsigned type = i <= GHOST_LATCH_FAILURE - GHOST_DEAD
                              ? GHOST_DEAD + i
                              : GHOST_TICK + i - (GHOST_LATCH_FAILURE - GHOST_DEAD + 1);
    check_sum("messages sent:", name_of_message(type), sent_[i], kernel.sent[i]);
    if (trace_.head.counted)
      check_sum("messages received:", name_of_message(type), agent_.sent[i],
                trace_.head.agent.received[i]);
  }
  check_sum("messages", "lost", accounts_.lost, kernel.lost);
  for (unsigned i = 0; i < GHOST_OUTCOMES; ++i) {
    const char* name = name_of_end(GHOST_COMPLETE + static_cast<int>(i));
    check_sum("decisions in the kernel:", name, accounts_.ended[i], kernel.outcomes[i]);
  }
  check_sum("decisions", "COMPLETE that ran or were taken back",
            accounts_.ran + accounts_.taken_back,
            accounts_.ended[ghost_outcome_index(GHOST_COMPLETE)]);
  if (trace_.head.counted)
    check_agent();
  else if (fallbacks_.empty())
    wrong(trace_.records.size(), "the agent has not said what it has counted");
  else
    end_agent();
}

// The last agent has said what it has counted since it began.
void Checker::check_agent() {
  const agent_counts& agent = trace_.head.agent;
  const unsigned aborted = ghost_outcome_index(GHOST_ABORTED);
  std::uint64_t numbered = 0;
  for (unsigned i = 0; i < GHOST_OUTCOMES; ++i)
    if (i != aborted)
      check_sum("decisions at the agent:", name_of_end(GHOST_COMPLETE + static_cast<int>(i)),
                agent_.ended[i], agent.outcomes[i]);
  for (const Cpu& cpu : cpus_) numbered += cpu.number;
  if (agent.written < claims() || agent.written < numbered)
    return wrong(trace_.records.size(), "CPUs have claimed more than the agent has decided");
  const std::uint64_t withdrawn = agent.written - claims();
  accounts_.decisions += agent.written;
  accounts_.withdrawn += withdrawn;
  check_sum("decisions", "withdrawn", withdrawn, agent.outcomes[aborted] - agent_.ended[aborted]);
  check_ports();
}

std::uint64_t Checker::claims() const {
  return std::accumulate(agent_.claims.begin(), agent_.claims.end(), std::uint64_t{0});
}

// A swap hands out a decision or says that there is none, and every message and end of a decision
// crosses a port once. What was in doubt may be counted by one side alone.
void Checker::check_ports() {
  const port_counts& ports = trace_.head.ports;
  if (!has_ports(trace_)) {
    const port_counts none{};
    if (std::memcmp(&ports, &none, sizeof(none)) != 0)
      wrong(trace_.records.size(), "ports were counted, and there are none");
    return;
  }
  std::uint64_t messages = 0, lost = 0;
  for (const std::uint64_t sent : agent_.sent) messages += sent;
  for (const std::uint64_t of_cpu : agent_.lost) lost += of_cpu;
  check_sum("swaps", "that handed out a decision", claims() + ports.reversed, ports.taken);
  check_sum("decisions", "revoked or reversed",
            trace_.head.agent.outcomes[ghost_outcome_index(GHOST_ABORTED)],
            ports.revoked + ports.reversed);
  if (ports.doubts) return;
  check_sum("swaps", "with and without a decision", claims() + ports.idle_taken + ports.foreign,
            ports.swaps);
  if (lost) return;
  check_sum("events", "that crossed a port", messages + claims(),
            ports.sends + ports.carried + ports.implied);
}
