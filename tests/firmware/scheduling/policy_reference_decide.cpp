// SPDX-License-Identifier: Apache-2.0
// The part of the reference that makes decisions.
#include <algorithm>

#include "tests/firmware/scheduling/policy_reference.h"

bool PolicyReference::has_slices() const {
  return config_.kind == POLICY_SHINJUKU || config_.kind == POLICY_VM;
}

/// Tasks that are queued, or chosen for a CPU that does not idle.
std::size_t PolicyReference::waiting() const {
  return std::count_if(tasks_.begin(), tasks_.end(), [this](const auto& entry) {
    const Task& task = entry.second;
    return task.place == Place::queued ||
           (task.place == Place::chosen && cpus_[task.cpu].state != State::idle);
  });
}

std::uint64_t PolicyReference::slice() const {
  if (config_.kind == POLICY_VM && waiting() > configured_.size()) return config_.time_slice / 2;
  return config_.time_slice;
}

/// Whether the CPU runs a task, and has one that waits for that to stop and can still be preempted
/// for or withdrawn: it is prestaged, or was to run before the CPU was known to run something else.
bool PolicyReference::prestaged(unsigned cpu) const {
  const auto& undecided = cpus_[cpu].undecided;
  return cpus_[cpu].state == State::running && undecided && undecided->kind != DECISION_PREEMPT &&
         undecided->still_chosen && !undecided->withdrawing && !undecided->preempting;
}

const PolicyReference::Queue& PolicyReference::one_queue() const {
  static const Queue empty;
  const auto queue = queues_.find(0);
  return queue == queues_.end() ? empty : queue->second;
}

std::vector<unsigned> PolicyReference::free_cpus(State state) const {
  std::vector<unsigned> result;
  for (unsigned cpu : configured_)
    if (!cpus_[cpu].undecided && cpus_[cpu].state == state) result.push_back(cpu);
  return result;
}

std::vector<unsigned> PolicyReference::allowed(std::uint64_t gtid,
                                               const std::vector<unsigned>& cpus) const {
  std::vector<unsigned> result;
  const Task& task = tasks_.at(gtid);
  for (unsigned cpu : cpus)
    if (may_run(task, cpu)) result.push_back(cpu);
  return result;
}

/// The running CPU whose task has run longest, and of equal ones the lowest.
std::optional<unsigned> PolicyReference::longest(const std::vector<unsigned>& cpus) const {
  std::optional<unsigned> result;
  for (unsigned cpu : cpus)
    if (!result || since(cpu) < since(*result)) result = cpu;
  return result;
}

PolicyReference::Choice PolicyReference::first_of_each_queue(
    const std::vector<unsigned>& cpus) const {
  for (unsigned cpu : cpus) {
    const auto queue = queues_.find(cpu);
    if (queue == queues_.end()) continue;
    for (std::uint64_t gtid : queue->second)
      if (may_run(tasks_.at(gtid), cpu)) return std::make_pair(cpu, gtid);
  }
  return std::nullopt;
}

PolicyReference::Choice PolicyReference::first_for_longest(
    const std::vector<unsigned>& cpus) const {
  if (cpus.empty()) return std::nullopt;
  for (std::uint64_t gtid : one_queue())
    if (const auto cpu = longest(allowed(gtid, cpus))) return std::make_pair(*cpu, gtid);
  return std::nullopt;
}

PolicyReference::Choice PolicyReference::find_run() const {
  const auto idle = free_cpus(State::idle);
  if (idle.empty()) return std::nullopt;
  if (queue_for_each_cpu()) return first_of_each_queue(idle);
  for (std::uint64_t gtid : one_queue()) {
    const auto cpus = allowed(gtid, idle);
    if (cpus.empty()) continue;
    const auto ran_on = tasks_.at(gtid).ran_on;
    if (config_.kind == POLICY_VM && ran_on &&
        std::find(cpus.begin(), cpus.end(), *ran_on) != cpus.end())
      return std::make_pair(*ran_on, gtid);
    return std::make_pair(cpus.front(), gtid);
  }
  return std::nullopt;
}

PolicyReference::Choice PolicyReference::find_prestage() const {
  if (!config_.prestage_percent) return std::nullopt;
  std::vector<unsigned> running;
  for (unsigned cpu : free_cpus(State::running))
    if (!cpus_[cpu].passed_over) running.push_back(cpu);
  return queue_for_each_cpu() ? first_of_each_queue(running) : first_for_longest(running);
}

bool PolicyReference::belongs_to_share() {
  const std::uint64_t n = ++could_prestage_;
  return n * config_.prestage_percent / 100 > (n - 1) * config_.prestage_percent / 100;
}

std::optional<unsigned> PolicyReference::find_withdrawal() const {
  if (queue_for_each_cpu()) return std::nullopt;
  const auto idle = free_cpus(State::idle);
  std::size_t withdrawing = 0;
  std::optional<unsigned> result;
  for (unsigned cpu : configured_) {
    const auto& undecided = cpus_[cpu].undecided;
    if (undecided && undecided->withdrawing) ++withdrawing;
    if (prestaged(cpu) && !allowed(undecided->gtid, idle).empty() &&
        (!result || undecided->time < cpus_[*result].undecided->time))
      result = cpu;
  }
  return withdrawing < idle.size() ? result : std::nullopt;
}

decision PolicyReference::choose(decision_kind kind, const Choice& choice, std::uint64_t now) {
  const auto [cpu, gtid] = *choice;
  Task& task = tasks_.at(gtid);
  leave(task);
  task.place = Place::chosen;
  task.cpu = cpu;
  floor_ = std::max(floor_, task.age);
  cpus_[cpu].undecided = Undecided{kind, gtid, task.barrier, now};
  cpus_[cpu].passed_over = false;
  return {kind, cpu, gtid, task.barrier, newest_};
}

/// A further decision for a task that is prestaged already. It belongs to the decision that
/// prestaged the task and keeps its barrier: messages used since can forbid the task this CPU.
decision PolicyReference::again(decision_kind kind, unsigned cpu) const {
  const Undecided& undecided = *cpus_[cpu].undecided;
  return {kind, cpu, undecided.gtid, undecided.barrier, newest_};
}

decision PolicyReference::decide(std::uint64_t now) {
  if (const auto choice = find_run()) return choose(DECISION_RUN, choice, now);
  if (has_slices()) {
    std::vector<unsigned> with_prestaged, others;
    for (unsigned cpu : configured_) {
      if (cpus_[cpu].state != State::running || now - since(cpu) < slice()) continue;
      if (prestaged(cpu)) with_prestaged.push_back(cpu);
      if (!cpus_[cpu].undecided) others.push_back(cpu);
    }
    if (const auto cpu = longest(with_prestaged)) {
      cpus_[*cpu].undecided->preempting = true;
      return again(DECISION_PREEMPT, *cpu);
    }
    if (const auto choice = first_for_longest(others)) return choose(DECISION_PREEMPT, choice, now);
  }
  while (const auto choice = find_prestage()) {
    if (belongs_to_share()) return choose(DECISION_PRESTAGE, choice, now);
    cpus_[choice->first].passed_over = true;
  }
  if (const auto cpu = find_withdrawal()) {
    cpus_[*cpu].undecided->withdrawing = true;
    return again(DECISION_WITHDRAW, *cpu);
  }
  return {DECISION_NONE, 0, 0, 0, newest_};
}

std::uint64_t PolicyReference::deadline() const {
  std::uint64_t result = UINT64_MAX;
  if (!has_slices()) return result;
  for (unsigned cpu : configured_) {
    if (cpus_[cpu].state != State::running) continue;
    bool wanted = prestaged(cpu);
    if (!cpus_[cpu].undecided)
      for (std::uint64_t gtid : one_queue()) wanted |= may_run(tasks_.at(gtid), cpu);
    if (wanted) result = std::min(result, since(cpu) + slice());
  }
  return result;
}
