// SPDX-License-Identifier: Apache-2.0
#include "tests/firmware/scheduling/policy_reference.h"

#include <algorithm>

namespace {

/// Whether a sequence number comes after another; they wrap around.
bool after(std::uint32_t sequence, std::uint32_t other) {
  const std::uint32_t distance = sequence - other;
  return distance != 0 && distance < 0x8000'0000u;
}

/// The CPU in the payload of a message about a task, if it has one.
std::optional<unsigned> cpu_of(const ghost_message& message) {
  switch (message.header.type) {
    case GHOST_PREEMPT:
    case GHOST_YIELD:
      return message.preempt.cpu;
    case GHOST_BLOCKED:
    case GHOST_SWITCHTO:
      return message.blocked.cpu;
    case GHOST_ON_CPU:
      return message.on_cpu.cpu;
    case GHOST_DEPARTED:
      return message.departed.cpu;
    case GHOST_LATCH_FAILURE:
      return message.latch_failure.cpu;
    default:
      return std::nullopt;
  }
}

enum class Outcome { complete, target, pair, cpu, retry, none };

Outcome classify(ghost_state state) {
  switch (state) {
    case GHOST_COMPLETE:
      return Outcome::complete;
    case GHOST_TARGET_ONCPU:
    case GHOST_TARGET_STALE:
    case GHOST_TARGET_NOT_FOUND:
    case GHOST_TARGET_NOT_RUNNABLE:
      return Outcome::target;
    case GHOST_CPU_UNAVAIL:
    case GHOST_CPU_OFFLINE:
    case GHOST_NO_AGENT:
    case GHOST_INVALID_FLAGS:
    case GHOST_INVALID_CPU:
    case GHOST_NOT_PERMITTED:
    case GHOST_UNSUPPORTED_VERSION:
    case GHOST_POISONED:
      return Outcome::cpu;
    case GHOST_INVALID_TARGET:
      return Outcome::pair;
    case GHOST_ABORTED:
    case GHOST_AGENT_STALE:
      return Outcome::retry;
    default:
      return Outcome::none;
  }
}

}  // namespace

PolicyReference::PolicyReference(const policy_config& config) : config_(config) {
  for (unsigned cpu = 0; cpu < POLICY_CPUS; ++cpu)
    if (config.cpus >> cpu & 1) configured_.push_back(cpu);
}

std::optional<std::uint32_t> PolicyReference::barrier(std::uint64_t gtid) const {
  const auto task = tasks_.find(gtid);
  if (task == tasks_.end()) return std::nullopt;
  return task->second.barrier;
}

bool PolicyReference::aside(std::uint64_t gtid) const {
  const auto task = tasks_.find(gtid);
  return task != tasks_.end() && task->second.place == Place::aside;
}

// Messages.

policy_reception PolicyReference::receive(const ghost_message& message, unsigned length,
                                          std::uint64_t time) {
  if (length < sizeof message.header) return POLICY_MALFORMED;
  const unsigned expected = ghost_length(message.header.type);
  if (expected == 0 || length != expected || message.header.length != expected)
    return POLICY_MALFORMED;
  return message.header.type >= GHOST_TICK ? receive_about_cpu(message, time)
                                           : receive_about_task(message, time);
}

policy_reception PolicyReference::receive_about_cpu(const ghost_message& message,
                                                    std::uint64_t time) {
  const unsigned number = message.cpu.cpu;
  if (number >= POLICY_CPUS) return POLICY_MALFORMED;
  Cpu& cpu = cpus_[number];
  if (cpu.sequence && !after(message.header.sequence, *cpu.sequence)) return POLICY_SUPERSEDED;
  cpu.sequence = message.header.sequence;
  if (cpu.undecided) cpu.undecided->heard_of_cpu = true;
  newest_ = std::max(newest_, time);
  if (message.header.type == GHOST_AVAILABLE || message.header.type == GHOST_BUSY) {
    stop_whatever_runs(number);
    cpu.state = message.header.type == GHOST_AVAILABLE ? State::idle : State::busy;
  }
  return POLICY_USED;
}

policy_reception PolicyReference::receive_about_task(const ghost_message& message,
                                                     std::uint64_t time) {
  if (cpu_of(message).value_or(0) >= POLICY_CPUS) return POLICY_MALFORMED;
  const auto task = tasks_.find(message.gtid);
  const bool known = task != tasks_.end();
  if (known && !after(message.header.sequence, task->second.barrier)) return POLICY_SUPERSEDED;
  const bool is_next = known && message.header.sequence == task->second.barrier + 1;
  if (message.header.type == GHOST_NEW) {
    if (is_next) return POLICY_MALFORMED;
    if (known) return hold(message, time);
    if (tasks_.size() == TASKS_MAX) return POLICY_FULL;
  } else if (!is_next) {
    return hold(message, time);
  }
  use(message, time);
  for (std::uint32_t sequence = message.header.sequence + 1;; ++sequence) {
    const auto held = take_held(message.gtid, sequence);
    const bool exists = tasks_.count(message.gtid) != 0;
    if (!held || exists == (held->message.header.type == GHOST_NEW)) break;
    use(held->message, held->time);
  }
  return POLICY_USED;
}

policy_reception PolicyReference::hold(const ghost_message& message, std::uint64_t time) {
  for (const Held& held : held_)
    if (held.message.gtid == message.gtid &&
        held.message.header.sequence == message.header.sequence)
      return POLICY_HELD;
  if (held_.size() == MESSAGES_HELD_MAX) return POLICY_FULL;
  held_.push_back({message, time});
  return POLICY_HELD;
}

/// Also forgets the messages before it, which can no longer be used.
std::optional<PolicyReference::Held> PolicyReference::take_held(std::uint64_t gtid,
                                                                std::uint32_t sequence) {
  std::optional<Held> taken;
  for (auto held = held_.begin(); held != held_.end();) {
    const bool mine = held->message.gtid == gtid;
    const std::uint32_t its = held->message.header.sequence;
    if (mine && its == sequence) taken = *held;
    held = mine && !after(its, sequence) ? held_.erase(held) : held + 1;
  }
  return taken;
}

void PolicyReference::use(const ghost_message& message, std::uint64_t time) {
  newest_ = std::max(newest_, time);
  if (message.header.type == GHOST_NEW) return use_new(message.task_new, message.header.sequence);
  Task& task = tasks_.at(message.gtid);
  task.barrier = message.header.sequence;
  if (message.header.type != GHOST_LATCH_FAILURE) task.refused = 0;
  const bool was_aside = task.place == Place::aside;
  switch (message.header.type) {
    case GHOST_WAKEUP:
      if (task.place == Place::blocked || was_aside) {
        wake(task);
        queue(task, false);
      }
      return;
    case GHOST_BLOCKED:
    case GHOST_SWITCHTO:
      report_runtime(task, message.blocked.runtime);
      return block(task);
    case GHOST_PREEMPT:
      report_runtime(task, message.preempt.runtime);
      return queue(task, !has_slices());
    case GHOST_YIELD:
      report_runtime(task, message.preempt.runtime);
      return queue(task, false);
    case GHOST_ON_CPU: {
      Cpu& cpu = cpus_[message.on_cpu.cpu];
      const std::uint64_t ahead = message.on_cpu.cpu_sequence - cpu.begun;
      if (ahead >> 63) return block(task);
      cpu.begun = message.on_cpu.cpu_sequence;
      return run(task, message.on_cpu.cpu, time);
    }
    case GHOST_DEAD:
    case GHOST_DEPARTED:
      leave(task);
      tasks_.erase(message.gtid);
      return;
    case GHOST_AFFINITY_CHANGED:
      use_affinity(task, message.affinity.cpus);
      break;
    case GHOST_LATCH_FAILURE: {
      const unsigned cpu = message.latch_failure.cpu;
      const auto state = static_cast<ghost_state>(message.latch_failure.state);
      if (cpus_[cpu].undecided && cpus_[cpu].undecided->gtid == message.gtid &&
          classify(state) != Outcome::none)
        use_outcome(cpu, state, time, true);
      break;
    }
  }
  if (was_aside) queue(task, true);
}

void PolicyReference::use_new(const ghost_new& message, std::uint32_t sequence) {
  Task& task = tasks_[message.gtid];
  task.gtid = message.gtid;
  task.cpus = message.cpus;
  task.runtime = message.runtime;
  task.age = 0;
  task.barrier = sequence;
  give_home(task);
  wake(task);
  if (message.runnable) queue(task, false);
}

void PolicyReference::use_affinity(Task& task, std::uint64_t cpus) {
  task.cpus = cpus;
  if (!home_is_forbidden(task)) return;
  const bool queued = task.place == Place::queued;
  if (queued) leave(task);
  give_home(task);
  if (queued) queue(task, false);
}

bool PolicyReference::home_is_forbidden(const Task& task) const {
  return queue_for_each_cpu() && !may_run(task, task.home) &&
         !allowed(task.gtid, configured_).empty();
}

/// The next CPU after the home that was given last, or the lowest.
void PolicyReference::give_home(Task& task) {
  const auto homes = allowed(task.gtid, configured_);
  task.home = homes.empty() ? configured_.front() : homes.front();
  for (unsigned cpu : homes) {
    if (last_home_ && cpu <= *last_home_) continue;
    task.home = cpu;
    break;
  }
  if (!homes.empty()) last_home_ = task.home;
}

// Outcomes.

policy_reception PolicyReference::outcome(unsigned cpu, std::uint64_t gtid, ghost_state state,
                                          std::uint64_t time) {
  if (cpu >= POLICY_CPUS || !cpus_[cpu].undecided || cpus_[cpu].undecided->gtid != gtid ||
      classify(state) == Outcome::none)
    return POLICY_MALFORMED;
  use_outcome(cpu, state, time, false);
  return POLICY_USED;
}

void PolicyReference::use_outcome(unsigned number, ghost_state state, std::uint64_t time,
                                  bool by_latch_failure) {
  Cpu& cpu = cpus_[number];
  const Undecided undecided = *cpu.undecided;
  Task* task = undecided.still_chosen ? &tasks_.at(undecided.gtid) : nullptr;
  switch (classify(state)) {
    case Outcome::complete:
      if (task) run(*task, number, time);
      break;
    case Outcome::target:
      if (task && task->barrier == undecided.barrier) {
        leave(*task);
        task->place = Place::aside;
      } else if (task) {
        queue(*task, true);
      }
      break;
    case Outcome::cpu:
      if (task) queue(*task, true);
      if (cpu.state != State::running && !undecided.heard_of_cpu) cpu.state = State::busy;
      break;
    case Outcome::pair:
      if (task && task->barrier == undecided.barrier + (by_latch_failure ? 1 : 0)) {
        task->refused |= std::uint64_t{1} << number;
        if (home_is_forbidden(*task)) give_home(*task);
      }
      if (task) queue(*task, true);
      break;
    case Outcome::retry:
      if (task) queue(*task, true);
      break;
    case Outcome::none:
      break;
  }
  cpu.undecided.reset();
}

// Places of tasks.

/// Leaves a queue, a CPU or a decision.
void PolicyReference::leave(Task& task) {
  if (task.place == Place::queued) {
    Queue& queue = queue_of(task);
    queue.erase(std::find(queue.begin(), queue.end(), task.gtid));
  }
  if (task.place == Place::running) cpus_[task.cpu].state = State::idle;
  if (task.place == Place::chosen) cpus_[task.cpu].undecided->still_chosen = false;
  task.place = Place::blocked;
}

void PolicyReference::queue(Task& task, bool at_front) {
  leave(task);
  task.place = Place::queued;
  Queue& queue = queue_of(task);
  if (config_.kind == POLICY_VM) {
    auto place = queue.begin();
    while (place != queue.end() &&
           (at_front ? tasks_.at(*place).age < task.age : tasks_.at(*place).age <= task.age))
      ++place;
    queue.insert(place, task.gtid);
  } else if (at_front) {
    queue.push_front(task.gtid);
  } else {
    queue.push_back(task.gtid);
  }
}

void PolicyReference::stop_whatever_runs(unsigned cpu) {
  if (cpus_[cpu].state == State::running) block(tasks_.at(cpus_[cpu].gtid));
}

void PolicyReference::run(Task& task, unsigned cpu, std::uint64_t time) {
  leave(task);
  stop_whatever_runs(cpu);
  task.place = Place::running;
  task.cpu = cpu;
  task.ran_on = cpu;
  task.since = time;
  cpus_[cpu].state = State::running;
  cpus_[cpu].gtid = task.gtid;
}

/// The age never falls, whatever a kernel reports.
void PolicyReference::report_runtime(Task& task, std::uint64_t runtime) {
  if (runtime > task.runtime) task.age += std::min(runtime - task.runtime, ~task.age);
  task.runtime = runtime;
}

void PolicyReference::wake(Task& task) {
  task.age = std::max(task.age, floor_);
}
