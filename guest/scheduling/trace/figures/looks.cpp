// SPDX-License-Identifier: Apache-2.0
#include "guest/scheduling/trace/figures/looks.h"

#include "guest/scheduling/trace/homes.h"

Looks::Looks(const Trace& trace) : trace_(trace), homes_(homes_of(trace)) {
  for (std::size_t at = 0; at < trace.records.size(); ++at) {
    const oae_sched_record& record = trace.records[at];
    if (record.time >= trace.head.detached) break;  // the kernel runs tasks by itself
    switch (record.kind) {
      case OAE_SCHED_SENT:
        sent(at);
        break;
      case OAE_SCHED_CLAIMED:
        looked(at);
        break;
      case OAE_SCHED_ENDED:
        ended(at);
        break;
      case OAE_SCHED_STOPPING:
        cpus_[record.task_cpu].stop = record.time;
        break;
      case OAE_SCHED_GIVEN_UP:
      case OAE_SCHED_RESUMED:
        has_agent_ = record.kind == OAE_SCHED_RESUMED;
        for (Cpu& cpu : cpus_) cpu.stop.reset();
        break;
      default:
        break;
    }
  }
}

void Looks::sent(std::size_t at) {
  const ghost_message message = message_of(trace_.records[at]);
  if (!is_about_task(message)) return;
  Task& task = tasks_[message.gtid];
  switch (message.header.type) {
    case GHOST_NEW:
      task.cpus = message.task_new.cpus;
      task.waiting = message.task_new.runnable != 0;
      break;
    case GHOST_AFFINITY_CHANGED:
      task.cpus = message.affinity.cpus;
      break;
    case GHOST_WAKEUP:
    case GHOST_YIELD:
    case GHOST_PREEMPT:
      task.waiting = true;
      break;
    case GHOST_ON_CPU:
      cpus_[message.on_cpu.cpu].stop.reset();
      [[fallthrough]];
    case GHOST_BLOCKED:
    case GHOST_SWITCHTO:
      task.waiting = false;
      break;
    case GHOST_DEAD:
    case GHOST_DEPARTED:
      tasks_.erase(message.gtid);
      return;
    default:
      break;
  }
  const auto home = homes_.find(at);
  if (home != homes_.end()) task.home = home->second;
}

bool Looks::waits_for(unsigned cpu) const {
  for (const auto& [gtid, task] : tasks_) {
    if (!task.waiting || !(task.cpus >> cpu & 1)) continue;
    if (trace_.head.policy != POLICY_FIFO_PER_CPU || task.home == cpu) return true;
  }
  return false;
}

void Looks::looked(std::size_t at) {
  const oae_sched_record& record = trace_.records[at];
  Cpu& cpu = cpus_[record.cpu];
  cpu.found_at_first.reset();
  if (record.state) {
    cpu.newest = record.newest;
    cpu.found_at_first = cpu.stop;
  } else if (has_agent_) {
    const bool missed = waits_for(record.cpu);
    ++in_vain_;
    missed_ += missed;
    if (cpu.stop) ++(missed ? first_.late : first_.nothing);
  }
  cpu.stop.reset();
}

void Looks::ended(std::size_t at) {
  const oae_sched_record& record = trace_.records[at];
  const Cpu& cpu = cpus_[record.cpu];
  if (cpu.found_at_first) {
    if (record.state != GHOST_COMPLETE)
      ++first_.refused;
    else
      ++(cpu.newest < *cpu.found_at_first ? first_.prestaged : first_.in_time);
  }
  if (record.state == GHOST_COMPLETE) tasks_[record.gtid].waiting = false;
}
