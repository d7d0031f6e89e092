// SPDX-License-Identifier: Apache-2.0
#include "guest/scheduling/trace/checker.h"

#include <algorithm>

#include "guest/scheduling/trace/homes.h"
#include "guest/scheduling/trace/turns.h"

namespace {

constexpr std::size_t mistakes_max = 20;

bool is_zero(const unsigned char* bytes, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i)
    if (bytes[i]) return false;
  return true;
}

bool well_formed(const ghost_message& message) {
  const unsigned length = ghost_length(message.header.type);
  const auto* bytes = reinterpret_cast<const unsigned char*>(&message);
  return length && message.header.length == length && cpu_of(message).value_or(0) < POLICY_CPUS &&
         is_zero(bytes + length, sizeof(message) - length);
}

bool well_formed(const oae_sched_record& record) {
  switch (record.kind) {
    case OAE_SCHED_SENT:
      return record.state >= OAE_SCHED_ON_ITS_WAY && record.state <= OAE_SCHED_WITHHELD &&
             well_formed(message_of(record));
    case OAE_SCHED_CLAIMED:
      if (record.cpu_sequence || record.task_cpu || record.undelivered || record.end < record.time)
        return false;
      return record.state == 1 || (record.state == 0 && !record.gtid && !record.number &&
                                   !record.newest && !record.task_barrier);
    case OAE_SCHED_ENDED:
      return ghost_outcome_index(record.state) < GHOST_OUTCOMES && record.end >= record.time &&
             !record.newest && !record.task_barrier && !record.task_cpu && !record.undelivered;
    case OAE_SCHED_STOPPING:
      return !record.state && !record.end && !record.number && !record.newest &&
             !record.cpu_sequence && !record.task_barrier && !record.undelivered &&
             record.task_cpu < POLICY_CPUS;
    case OAE_SCHED_GIVEN_UP:
      return record.state >= 0 && record.state < OAE_SCHED_SIGNS && record.end &&
             record.end <= record.time && !record.gtid && !record.number && !record.newest &&
             !record.cpu_sequence && !record.task_barrier && !record.task_cpu &&
             !record.undelivered;
    case OAE_SCHED_LEFT:
      if (record.end || record.cpu_sequence || record.task_cpu >= POLICY_CPUS) return false;
      return record.state == OAE_SCHED_ONE_STOOD ||
             ((record.state == OAE_SCHED_NONE_STOOD || record.state == OAE_SCHED_UNKNOWN) &&
              !record.gtid && !record.newest && !record.task_barrier);
    case OAE_SCHED_RESUMED:
      return !record.state && record.end >= record.time && !record.gtid && !record.number &&
             !record.newest && !record.cpu_sequence && !record.task_barrier && !record.task_cpu;
    default:
      return false;
  }
}

}  // namespace

Checker::Checker(const Trace& trace, std::uint64_t limit)
    : trace_(trace), limit_(limit), homes_(homes_of(trace)), turns_(turns_of(trace)) {
  for (std::size_t at = 0; at < trace.records.size(); ++at) {
    if (trace.records[at].kind == OAE_SCHED_GIVEN_UP) fallbacks_.push_back(at);
    if (trace.records[at].kind == OAE_SCHED_RESUMED) resumptions_.push_back(at);
  }
  for (std::size_t at = 0; at < trace.records.size(); ++at) {
    const oae_sched_record& record = trace.records[at];
    if (record.cpu >= POLICY_CPUS || !well_formed(record)) {
      wrong(at, "it makes no sense");
      continue;
    }
    Cpu& cpu = cpus_[record.cpu];
    if (record.time < cpu.time) wrong(at, "it began before the record before it was over");
    cpu.time = record.kind == OAE_SCHED_CLAIMED || record.kind == OAE_SCHED_ENDED ? record.end
                                                                                  : record.time;
    measure_waiting(at);
    if (agent_.untold_until && record.time > agent_.untold_until) check_all_told(at);
    replay(at);
    note_waiting(at);
  }
  check_refusals();
  check_end();
  check_sums();
  check_fallbacks();
}

void Checker::wrong(std::size_t at, const std::string& what) {
  if (mistakes_.size() >= mistakes_max) return;
  mistakes_.push_back(at < trace_.records.size() ? "record " + std::to_string(at) + " (" +
                                                       text_of(trace_.records[at]) + "): " + what
                                                 : what);
}

void Checker::replay(std::size_t at) {
  const oae_sched_record& record = trace_.records[at];
  switch (record.kind) {
    case OAE_SCHED_SENT:
      sent(at, message_of(record));
      break;
    case OAE_SCHED_CLAIMED:
      claimed(at);
      break;
    case OAE_SCHED_ENDED:
      ended(at);
      break;
    case OAE_SCHED_STOPPING:
      stopping(at);
      break;
    case OAE_SCHED_GIVEN_UP:
      given_up(at);
      break;
    case OAE_SCHED_LEFT:
      left_behind(at);
      break;
    default:
      resumed(at);
      break;
  }
}

// From then on, the kernel runs tasks by itself, which it does not ask the scheduler about.
bool Checker::is_over(std::size_t at) const {
  return trace_.records[at].time >= trace_.head.detached;
}

void Checker::sent(std::size_t at, const ghost_message& message) {
  const oae_sched_record& record = trace_.records[at];
  check_sending(at);
  if (record.state == OAE_SCHED_WITHHELD) {
    ++accounts_.withheld;
  } else if (record.state == OAE_SCHED_LOST) {
    ++accounts_.lost;
    ++agent_.lost[record.cpu];
  } else {
    ++sent_[ghost_type_index(message.header.type)];
    ++agent_.sent[ghost_type_index(message.header.type)];
    agent_.events[record.cpu].push_back(record.time);
  }
  if (record.state != OAE_SCHED_WITHHELD) ++agent_.times[record.time];
  if (is_about_task(message))
    about_task(at, message);
  else
    about_cpu(at, message);
}

// Another CPU may say that this one is busy, so that two messages can be sent at once.
void Checker::about_cpu(std::size_t at, const ghost_message& message) {
  const unsigned n = message.cpu.cpu;
  Cpu& cpu = cpus_[n];
  const std::uint32_t sequence = message.header.sequence;
  if (sequence <= cpu.sequence || !cpu.early.emplace(sequence, at).second)
    wrong(at, "the CPU has had this sequence number");
  while (!cpu.early.empty() && cpu.early.begin()->first == cpu.sequence + 1) {
    ++cpu.sequence;
    cpu.early.erase(cpu.early.begin());
  }
  if (trace_.records[at].cpu == n && sequence > cpu.sequence + 1)
    wrong(at, "the CPU has skipped a sequence number");
  if (message.header.type == GHOST_AVAILABLE) {
    if (cpu.place == Place::running) wrong(at, "the CPU runs a task");
    // An agent that begins anew may learn it twice: from the CPU, and from who tells it of all.
    const bool again = cpu.idle && agent_.untold_until;
    if (!cpu.looked && !again && !is_over(at) && has_agent() && !is_withheld(trace_.records[at]))
      wrong(at, "the CPU has not looked for a decision");
    if (cpu.idle && cpu.told && !again) wrong(at, "the CPU idles already");
    cpu.told = !is_withheld(trace_.records[at]);
    cpu.looked = false;
  }
  if (message.header.type == GHOST_BUSY && cpu.place == Place::running)
    wrong(at, "the CPU runs a task");
  cpu.idle = message.header.type == GHOST_AVAILABLE;
}

void Checker::check_switches(std::size_t at, unsigned cpu, std::uint64_t switches) {
  if (cpus_[cpu].switches != switches)
    wrong(at, "CPU " + std::to_string(cpu) + " has switched " +
                  std::to_string(cpus_[cpu].switches) + " times");
}

void Checker::claimed(std::size_t at) {
  const oae_sched_record& record = trace_.records[at];
  Cpu& cpu = cpus_[record.cpu];
  if (cpu.decision.claim) wrong(at, "the decision before it has not ended");
  cpu.looked = true;
  if (!record.state) {
    accounts_.looks += has_agent();
    return;
  }
  ++agent_.claims[record.cpu];
  agent_.newest.insert(record.newest);
  if (record.number <= cpu.number) wrong(at, "its number does not rise");
  cpu.number = record.number;
  const auto task = tasks_.find(record.gtid);
  cpu.decision = {&record, at};
  if (!agent_.times.count(record.newest)) wrong(at, "the agent was sent no message at that time");
  if (record.newest > record.end) wrong(at, "it rests on the future");
  if (task == tasks_.end()) {
    wrong(at, "the agent has never heard of the task");
    return;
  }
  const auto seen = task->second.times.find(record.task_barrier);
  if (seen == task->second.times.end())
    wrong(at, "the agent was sent no message about the task with that number");
  else if (seen->second > record.newest)
    wrong(at, "it rests on a message that is newer");
  cpu.decision.waiting = task->second.place == Place::waiting;
  cpu.decision.sequence = task->second.sequence;
  cpu.decision.owned_from = task->second.owned_from;
  cpu.decision.cpus = task->second.cpus;
}

void Checker::ended(std::size_t at) {
  const oae_sched_record& record = trace_.records[at];
  Cpu& cpu = cpus_[record.cpu];
  const oae_sched_record* claim = cpu.decision.claim;
  if (!claim || claim->number != record.number || claim->gtid != record.gtid) {
    wrong(at, "the CPU has not claimed it");
    return;
  }
  cpu.decision.claim = nullptr;
  check_switches(at, record.cpu, record.cpu_sequence);
  ++accounts_.ended[ghost_outcome_index(record.state)];
  ++agent_.ended[ghost_outcome_index(record.state)];
  agent_.events[record.cpu].push_back(0);
  if (record.state != GHOST_CPU_UNAVAIL && !has_agent() &&
      is_late(cpu.decision.at, trace_.records[*agent_.given_up].time))
    wrong(at, "the agent was given up before the CPU took its decision");
  const auto task = tasks_.find(record.gtid);
  if (task == tasks_.end()) return;
  switch (record.state) {
    case GHOST_COMPLETE:
      cpu.looked = false;
      complete(at, cpu, task->second);
      break;
    case GHOST_TARGET_ONCPU:
    case GHOST_TARGET_STALE:
    case GHOST_TARGET_NOT_FOUND:
    case GHOST_TARGET_NOT_RUNNABLE:
      refusals_.push_back({at, record.gtid, claim->task_barrier, record.state});
      task->second.refused = record.end;
      if (record.state == GHOST_TARGET_ONCPU && task->second.place == Place::running)
        refusals_.pop_back();
      break;
    case GHOST_INVALID_TARGET:
      task->second.refused = record.end;
      break;
    case GHOST_AGENT_STALE:
      if (!is_taken_up(cpu.decision, task->second))
        wrong(at, "no other CPU had a decision for the task");
      break;
    case GHOST_CPU_UNAVAIL:
      break;
    default:
      wrong(at, "no agent makes such a decision");
      break;
  }
}

// Whether another CPU has had a decision for the task at this claim or since.
bool Checker::is_taken_up(const Decision& decision, const Task& task) const {
  const oae_sched_record& claim = trace_.records[decision.at];
  return !decision.waiting || is_claimed(claim.gtid) || task.refused >= claim.time ||
         task.latched_at >= claim.time;
}

// Whether a decision that is carried out still counts, as the rule has it. If not, a message that
// was sent since the claim has taken the task back.
bool Checker::still_counts(std::size_t at, const Decision& decision, const Task& task) {
  const oae_sched_record& record = trace_.records[at];
  const std::uint32_t barrier = trace_.records[decision.at].task_barrier;
  if (is_owned()) {
    if (barrier < decision.owned_from) wrong(at, "the task was not the agent's since");
    if (!((decision.cpus | task.cpus) >> record.cpu & 1)) wrong(at, "the task may not run there");
    return task.owned_from == decision.owned_from && task.place != Place::gone;
  }
  if (decision.sequence != barrier) wrong(at, "a message about the task came before it");
  if (!(task.cpus >> record.cpu & 1)) wrong(at, "the task may not run there");
  return task.sequence == decision.sequence;
}

void Checker::complete(std::size_t at, Cpu& cpu, Task& task) {
  const oae_sched_record& record = trace_.records[at];
  const Decision& decision = cpu.decision;
  if (!decision.waiting) wrong(at, "the task did not wait for a CPU");
  if (!still_counts(at, decision, task)) {
    ++accounts_.taken_back;
    return;
  }
  if (task.place != Place::waiting) wrong(at, "another CPU has the task");
  if (cpu.place == Place::latched) wrong(at, "the CPU has a task already");
  task.place = Place::latched;
  task.latched_at = record.end;
  task.cpu = record.cpu;
  if (cpu.place == Place::gone) {
    cpu.place = Place::latched;
    cpu.gtid = record.gtid;
  }
}

void Checker::stopping(std::size_t at) {
  const oae_sched_record& record = trace_.records[at];
  Cpu& cpu = cpus_[record.task_cpu];
  const auto task = tasks_.find(record.gtid);
  if (task == tasks_.end() || cpu.place != Place::running || cpu.gtid != record.gtid) {
    wrong(at, "the task does not run there");
    return;
  }
  cpu.place = Place::gone;
  task->second.place = Place::stopped;
  task->second.changed = true;
}

bool Checker::could_run(const Task& task, std::uint64_t idle) const {
  const std::uint64_t allowed = task.cpus & trace_.head.cpus;
  if (!has_agent()) return idle & allowed;
  if (trace_.head.policy != POLICY_FIFO_PER_CPU) return idle & allowed;
  if (task.home) return idle >> *task.home & 1;
  return allowed && !(allowed & ~idle);
}

// That an agent does not work is noticed after a while. Tasks wait until then.
bool Checker::is_excused(std::size_t at, std::uint64_t since) const {
  const auto next = std::lower_bound(fallbacks_.begin(), fallbacks_.end(), at);
  return next != fallbacks_.end() && trace_.records[*next].time <= since + 2 * trace_.head.patience;
}

// O(tasks) for each record, as is the next one. That is quick enough for some hundreds of tasks.
void Checker::measure_waiting(std::size_t at) {
  const std::uint64_t now = std::min<std::uint64_t>(trace_.records[at].time, trace_.head.detached);
  for (auto& [gtid, task] : tasks_) {
    const std::uint64_t waited = task.since && now > task.since ? now - task.since : 0;
    if (waited > accounts_.longest_wait) accounts_.longest_wait = waited;
    if (waited <= limit_ || is_excused(at, task.since)) continue;
    wrong(at, "task " + std::to_string(gtid) + " waits since " + std::to_string(task.since) +
                  ", and a CPU idles");
    task.since = now;
  }
}

void Checker::note_waiting(std::size_t at) {
  std::uint64_t idle = 0;
  for (unsigned n = 0; n < POLICY_CPUS; ++n)
    if (cpus_[n].idle && cpus_[n].place == Place::gone) idle |= std::uint64_t{1} << n;
  idle &= trace_.head.cpus;
  for (auto& [gtid, task] : tasks_) {
    if (task.place != Place::waiting || is_over(at) || !could_run(task, idle))
      task.since = 0;
    else if (!task.since)
      task.since = trace_.records[at].time;
  }
}
