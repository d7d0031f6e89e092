// SPDX-License-Identifier: Apache-2.0
#include "tests/firmware/scheduling/simulated_kernel.h"

#include "tests/firmware/scheduling/ghost_messages.h"

namespace {

/// Whether a sequence number comes before another; they wrap around.
bool is_before(std::uint32_t sequence, std::uint32_t other) {
  return sequence - other >= 0x8000'0000u;
}

}  // namespace

SimulatedKernel::SimulatedKernel(std::uint64_t configured, std::uint64_t seed)
    : configured_(configured), random_(seed) {
  for (unsigned cpu = 0; cpu < POLICY_CPUS; ++cpu)
    if (configured >> cpu & 1) numbers_.push_back(cpu);
  for (unsigned cpu : numbers_) {
    cpus_[cpu].barrier = chance(2) ? 0 : 0u - chance(20);
    if (chance(4)) give_back(cpu);
  }
}

unsigned SimulatedKernel::any_cpu() {
  return numbers_[chance(static_cast<unsigned>(numbers_.size()))];
}

std::uint64_t SimulatedKernel::any_set() {
  switch (chance(8)) {
    case 0:
      return std::uint64_t{1} << any_cpu();
    case 1:
      return random_() & configured_;
    case 2:
      return random_();
    case 3:
      return random_() & ~configured_;
    default:
      return ~std::uint64_t{0};
  }
}

SimulatedKernel::Task* SimulatedKernel::any_task(State state) {
  if (tasks_.empty()) return nullptr;
  auto task = tasks_.lower_bound(1 + random_() % last_gtid_);
  for (std::size_t i = 0; i < tasks_.size(); ++i) {
    if (task == tasks_.end()) task = tasks_.begin();
    if (task->second.state == state) return &task->second;
    ++task;
  }
  return nullptr;
}

// What the kernel says.

void SimulatedKernel::send_message(unsigned cpu, const ghost_message& message) {
  cpus_[cpu].messages.push_back({true, message, cpu, message.gtid, GHOST_READY});
}

void SimulatedKernel::send_begins(unsigned by, Task& task) {
  const std::uint64_t n = ++cpus_[task.cpu].switches;
  send_message(by, begins(task.gtid, ++task.barrier, task.cpu, n));
}

void SimulatedKernel::send_about_cpu(unsigned type, unsigned cpu) {
  send_message(cpu, about_cpu(type, cpu, ++cpus_[cpu].barrier));
}

bool SimulatedKernel::has_message_on_its_way(std::uint64_t gtid, bool only_new) const {
  for (unsigned cpu : numbers_)
    for (const Delivery& delivery : cpus_[cpu].messages)
      if (delivery.is_message && delivery.message.header.type < GHOST_TICK &&
          delivery.gtid == gtid && (!only_new || delivery.message.header.type == GHOST_NEW))
        return true;
  return false;
}

/// Some refusals are told by LATCH_FAILURE instead. It is a message about the task that the
/// decision was made for, and not about one that has left and come back since.
void SimulatedKernel::send_outcome(const decision& decision, ghost_state state) {
  const auto task = tasks_.find(decision.gtid);
  Cpu& cpu = cpus_[decision.cpu];
  if (state != GHOST_COMPLETE && task != tasks_.end() && chance(4) == 0 &&
      !is_before(decision.barrier, task->second.came) &&
      !(cpu.taken && has_message_on_its_way(decision.gtid)))
    return send_message(decision.cpu,
                        latch_failure(decision.gtid, ++task->second.barrier, decision.cpu, state));
  auto& channel = cpu.taken ? cpu.messages : cpu.outcomes;
  channel.push_back({false, {}, decision.cpu, decision.gtid, state});
}

std::optional<SimulatedKernel::Delivery> SimulatedKernel::deliver() {
  const std::size_t first = random_();
  const bool outcomes_first = chance(2);
  for (std::size_t i = 0; i < 2 * numbers_.size(); ++i) {
    Cpu& cpu = cpus_[numbers_[(first + i / 2) % numbers_.size()]];
    auto& channel = outcomes_first == (i % 2 == 0) ? cpu.outcomes : cpu.messages;
    if (channel.empty()) continue;
    const Delivery delivery = channel.front();
    channel.pop_front();
    return delivery;
  }
  return std::nullopt;
}

// What happens.

void SimulatedKernel::happen() {
  Task* task = nullptr;
  switch (chance(16)) {
    case 0:
    case 1:
      if (tasks_.size() < 4 + 2 * numbers_.size()) create();
      break;
    case 2:
    case 3:
    case 4:
    case 5:
      wake();
      break;
    case 6:
      if ((task = any_task(static_cast<State>(chance(3))))) change_affinity(*task, any_set());
      break;
    case 7:
      if ((task = any_task(static_cast<State>(chance(3))))) change_priority(*task);
      break;
    case 8:
      if (chance(2) == 0 && (task = any_task(static_cast<State>(chance(3))))) end(*task);
      break;
    case 9:
      take(any_cpu());
      break;
    case 10:
      give_back(any_cpu());
      break;
    case 11: {
      static const unsigned types[] = {GHOST_TICK, GHOST_TIMER_EXPIRED, GHOST_NOT_IDLE,
                                       GHOST_AGENT_BLOCKED, GHOST_AGENT_WAKEUP};
      send_about_cpu(types[chance(5)], any_cpu());
      break;
    }
    default:
      if ((task = any_task(State::running))) happen_to_running(*task);
  }
}

void SimulatedKernel::happen_to_running(Task& task) {
  const unsigned cpu = task.cpu;
  switch (chance(6)) {
    case 0:
      stop(task, GHOST_YIELD);
      break;
    case 1:
      return hand_over(task);
    case 2:
      return end(task);
    default:
      stop(task, GHOST_BLOCKED);
  }
  use_prestaged(cpu);
}

void SimulatedKernel::create() {
  const std::uint64_t gtid = ++last_gtid_;
  const bool runnable = chance(3) != 0;
  Task& task = tasks_[gtid];
  task.gtid = gtid;
  task.barrier = task.came = chance(2) ? 0u - chance(8) : chance(1000);
  task.cpus = any_set();
  task.state = runnable ? State::runnable : State::blocked;
  task.runtime = chance(2) ? 0 : random_() % 1'000'000'000;
  send_message(any_cpu(), new_task(gtid, task.barrier, runnable, task.cpus, task.runtime));
}

/// A running task leaves its CPU.
void SimulatedKernel::stop(Task& task, unsigned type) {
  const bool blocks = type == GHOST_BLOCKED || type == GHOST_SWITCHTO;
  task.state = blocks ? State::blocked : State::runnable;
  task.runtime += now - task.since;
  cpus_[task.cpu].running = 0;
  if (!blocks && task.cpus >> task.cpu & 1 && chance(8) == 0) task.pinned = task.cpu;
  send_message(task.cpu, on_cpu(type, task.gtid, ++task.barrier, task.cpu, task.runtime));
}

/// The kernel runs the other task without a decision, even if the agent has chosen it.
void SimulatedKernel::hand_over(Task& task) {
  Task* next = any_task(chance(2) ? State::blocked : State::runnable);
  if (!next || !(next->cpus >> task.cpu & 1)) return;
  stop(task, GHOST_SWITCHTO);
  start(*next, task.cpu);
}

void SimulatedKernel::wake() {
  Task* task = any_task(State::blocked);
  if (!task) return;
  task->state = State::runnable;
  send_message(any_cpu(), about_task(GHOST_WAKEUP, task->gtid, ++task->barrier));
}

/// A task that departs may come back at once, of which another CPU may tell. It does not if the
/// agent has still to be told that it came the last time: that message could come after the next
/// NEW.
void SimulatedKernel::end(Task& task) {
  const bool running = task.state == State::running;
  const unsigned cpu = running ? task.cpu : any_cpu();
  const bool departs = chance(2) == 0;
  if (departs)
    send_message(cpu, on_cpu(GHOST_DEPARTED, task.gtid, ++task.barrier, cpu));
  else
    send_message(cpu, about_task(GHOST_DEAD, task.gtid, ++task.barrier));
  if (running) cpus_[cpu].running = 0;
  if (departs && !has_message_on_its_way(task.gtid, true) && chance(3) == 0)
    come_back(task);
  else
    tasks_.erase(task.gtid);
  if (running) use_prestaged(cpu);
}

void SimulatedKernel::come_back(Task& task) {
  const bool runnable = chance(3) != 0;
  task.state = runnable ? State::runnable : State::blocked;
  task.pinned.reset();
  task.came = ++task.barrier;
  send_message(any_cpu(), new_task(task.gtid, task.came, runnable, task.cpus, task.runtime));
}

void SimulatedKernel::change_affinity(Task& task, std::uint64_t cpus) {
  task.cpus = cpus;
  task.pinned.reset();
  send_message(any_cpu(), affinity_changed(task.gtid, ++task.barrier, cpus));
  if (task.state != State::running || cpus >> task.cpu & 1) return;
  stop(task, GHOST_PREEMPT);
  use_prestaged(task.cpu);
}

/// The CPU that changes a running task also says that it runs again.
void SimulatedKernel::change_priority(Task& task) {
  const unsigned by = any_cpu();
  send_message(by, about_task(GHOST_PRIORITY_CHANGED, task.gtid, ++task.barrier));
  if (task.state == State::running) send_begins(by, task);
}

void SimulatedKernel::take(unsigned number) {
  Cpu& cpu = cpus_[number];
  if (cpu.taken) return;
  cpu.taken = true;
  if (cpu.running) stop(tasks_.at(cpu.running), GHOST_PREEMPT);
  send_about_cpu(GHOST_BUSY, number);
  use_prestaged(number);
}

void SimulatedKernel::give_back(unsigned cpu) {
  if (!cpus_[cpu].taken) return;
  cpus_[cpu].taken = false;
  send_about_cpu(GHOST_AVAILABLE, cpu);
}

void SimulatedKernel::settle() {
  settling_ = true;
  for (unsigned cpu : numbers_) give_back(cpu);
  for (auto& [gtid, task] : tasks_)
    if (!(task.cpus & configured_)) change_affinity(task, any_set() | configured_);
}

bool SimulatedKernel::finish() {
  Task* task = any_task(State::running);
  if (!task) return false;
  const unsigned cpu = task->cpu;
  stop(*task, GHOST_BLOCKED);
  use_prestaged(cpu);
  return true;
}

unsigned SimulatedKernel::waiting() const {
  unsigned count = 0;
  for (const auto& [gtid, task] : tasks_) count += task.state == State::runnable;
  return count;
}

// What decisions do.

bool SimulatedKernel::carry_out() {
  const std::size_t first = random_();
  for (std::size_t i = 0; i < numbers_.size(); ++i) {
    Cpu& cpu = cpus_[numbers_[(first + i) % numbers_.size()]];
    if (cpu.decisions.empty()) continue;
    const Sent sent = cpu.decisions.front();
    cpu.decisions.pop_front();
    if (sent.about_prestaged && !cpu.prestaged) {  // the outcome is on its way
      if (sent.decision.kind == DECISION_WITHDRAW) ++withdrawn_too_late_;
    } else if (sent.decision.kind == DECISION_WITHDRAW) {
      ++withdrawn_;
      cpu.prestaged.reset();
      send_outcome(sent.decision, GHOST_ABORTED);
    } else if (sent.decision.kind != DECISION_PREEMPT && !cpu.taken && cpu.running) {
      cpu.prestaged = sent.decision;  // The CPU is interrupted for a preemption alone.
    } else {
      cpu.prestaged.reset();
      run(sent.decision);
    }
    return true;
  }
  return false;
}

/// Why the kernel refuses a decision, if it does.
std::optional<ghost_state> SimulatedKernel::refusal(const decision& decision) {
  static const ghost_state unusable[] = {
      GHOST_CPU_UNAVAIL,         GHOST_CPU_OFFLINE, GHOST_NO_AGENT,
      GHOST_INVALID_FLAGS,       GHOST_INVALID_CPU, GHOST_NOT_PERMITTED,
      GHOST_UNSUPPORTED_VERSION, GHOST_POISONED};
  if (cpus_[decision.cpu].taken) return unusable[chance(8)];
  const auto found = tasks_.find(decision.gtid);
  if (found == tasks_.end()) return GHOST_TARGET_NOT_FOUND;
  const Task& task = found->second;
  if (task.barrier != decision.barrier) {
    if (task.state == State::running && chance(2)) return GHOST_TARGET_ONCPU;
    if (task.state == State::blocked && chance(2)) return GHOST_TARGET_NOT_RUNNABLE;
    return GHOST_TARGET_STALE;
  }
  if (!settling_ && chance(16) == 0) return chance(2) ? GHOST_AGENT_STALE : GHOST_ABORTED;
  if (task.state == State::running) wrong_ = "A task shall run on two CPUs.";
  if (task.state == State::blocked) wrong_ = "A blocked task shall run.";
  if (!(task.cpus >> decision.cpu & 1)) wrong_ = "A task shall run on a CPU that it may not use.";
  if (task.pinned && *task.pinned != decision.cpu) {
    ++refused_by_pin_;
    return GHOST_INVALID_TARGET;
  }
  return std::nullopt;
}

void SimulatedKernel::run(const decision& decision) {
  const auto refused = refusal(decision);
  if (refused) return send_outcome(decision, *refused);
  if (wrong_) return;
  const std::uint64_t running = cpus_[decision.cpu].running;
  if (running) stop(tasks_.at(running), GHOST_PREEMPT);
  start(tasks_.at(decision.gtid), decision.cpu);
  send_outcome(decision, GHOST_COMPLETE);
}

void SimulatedKernel::start(Task& task, unsigned cpu) {
  task.state = State::running;
  task.cpu = cpu;
  task.since = now;
  task.pinned.reset();
  cpus_[cpu].running = task.gtid;
  send_begins(cpu, task);
}

void SimulatedKernel::use_prestaged(unsigned cpu) {
  if (!cpus_[cpu].prestaged) return;
  const decision prestaged = *cpus_[cpu].prestaged;
  cpus_[cpu].prestaged.reset();
  ++used_prestaged_;
  run(prestaged);
}
