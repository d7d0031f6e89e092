// SPDX-License-Identifier: Apache-2.0
#include "guest/scheduling/trace/figures/switches.h"

#include <algorithm>

#include "guest/scheduling/trace/turns.h"

namespace {

// In the order of the kinds. A part reaches from its mark to the next one.
struct Names {
  const char* kind;
  std::vector<const char*> parts;
};
const Names all_names[] = {
    {"stamped",
     {"until_stopping", "until_look", "until_claim", "claim", "insertion", "report", "until_on_cpu",
      "until_user"}},
    {"stopped_first",
     {"until_look", "until_claim", "claim", "insertion", "report", "until_on_cpu"}},
    {"decided_first", {"claim", "insertion", "report", "until_stopping", "until_on_cpu"}},
};

SwitchKind kind_of(const Names& names, const std::vector<std::vector<std::uint64_t>>& switches) {
  SwitchKind kind{names.kind, switches.size(), {}};
  if (switches.empty()) return kind;
  std::uint64_t before = 0;  // the mean time from the begin to the mark
  std::vector<std::uint64_t> part(switches.size());
  for (std::size_t i = 0; i < names.parts.size(); ++i) {
    std::uint64_t sum = 0;
    for (std::size_t n = 0; n < switches.size(); ++n) {
      part[n] = switches[n][i + 1] - switches[n][i];
      sum += switches[n][i + 1] - switches[n][0];
    }
    const std::uint64_t mean = rounded_mean(sum, switches.size());
    kind.parts.push_back({names.parts[i], mean - before, spread_of(part)});
    before = mean;
  }
  for (std::size_t n = 0; n < switches.size(); ++n)
    part[n] = switches[n].back() - switches[n].front();
  kind.parts.push_back({"whole", before, spread_of(part)});
  return kind;
}

}  // namespace

Switches::Switches(const Trace& trace, const Stamps* stamps)
    : trace_(trace), stamps_(stamps), turns_of_tasks_(turns_of(trace)) {
  for (std::size_t at = 0; at < trace.records.size(); ++at) {
    const oae_sched_record& record = trace.records[at];
    if (record.time >= trace.head.detached) break;  // the kernel runs tasks by itself
    switch (record.kind) {
      case OAE_SCHED_SENT:
        sent(at);
        break;
      case OAE_SCHED_STOPPING:
        stopping(at);
        break;
      case OAE_SCHED_CLAIMED:
      case OAE_SCHED_ENDED:
        note(at);
        break;
      default:
        break;
    }
  }
}

std::vector<SwitchKind> Switches::kinds() const {
  std::vector<SwitchKind> all;
  for (unsigned kind = 0; kind < kinds_; ++kind)
    all.push_back(kind_of(all_names[kind], switches_[kind]));
  return all;
}

void Switches::sent(std::size_t at) {
  const oae_sched_record& record = trace_.records[at];
  const ghost_message message = message_of(record);
  switch (message.header.type) {
    case GHOST_NEW:
    case GHOST_WAKEUP:
    case GHOST_YIELD:
    case GHOST_PREEMPT:
      ready_[message.gtid] = record.time;
      break;
    case GHOST_BLOCKED:
      if (cpus_[message.blocked.cpu].gtid == message.gtid)
        cpus_[message.blocked.cpu].blocked = true;
      break;
    case GHOST_BUSY:
      cpus_[message.cpu.cpu].disturbed = true;
      break;
    case GHOST_ON_CPU:
      begin(at, message);
      break;
    default:
      break;
  }
}

// A look for a decision, or the end of the one that it has found.
void Switches::note(std::size_t at) {
  const oae_sched_record& record = trace_.records[at];
  Cpu& cpu = cpus_[record.cpu];
  if (record.kind == OAE_SCHED_CLAIMED) {
    if (cpu.stop && !cpu.look) cpu.look = record.time;
    cpu.found = {record.time, record.end, 0, 0, !cpu.stop};
  } else if (record.state == GHOST_COMPLETE) {
    cpu.found.end = record.time;
    cpu.found.reported = record.end;
    cpu.carried_out = cpu.found;
  }
}

// Another CPU stops a task that it changes, but only this one can switch to another task.
void Switches::stopping(std::size_t at) {
  const oae_sched_record& record = trace_.records[at];
  Cpu& cpu = cpus_[record.task_cpu];
  if (stamps_) {
    cpu.before = stamps_->last_before(record.task_cpu, cpu.began, record.time);
    const auto after = stamps_->first_after(record.task_cpu, cpu.began, record.time);
    if (cpu.unfinished && after) {
      cpu.unfinished->push_back(*after);
      switches_[stamped].push_back(*cpu.unfinished);
    }
  }
  cpu.unfinished.reset();
  cpu.stop = record.time;
  cpu.gtid = record.gtid;
  cpu.blocked = false;
  cpu.look.reset();
}

void Switches::begin(std::size_t at, const ghost_message& message) {
  const oae_sched_record& record = trace_.records[at];
  Cpu& cpu = cpus_[message.on_cpu.cpu];
  std::uint64_t& last = begun_[message.on_cpu.cpu];
  if (message.on_cpu.cpu_sequence == last) return;  // an agent that begins anew is told of it
  last = message.on_cpu.cpu_sequence;
  Cpu next;
  next.began = record.time;
  if (turns_of_tasks_.count(at))
    ++turns_;
  else if (!cpu.stop || !cpu.carried_out || cpu.gtid == message.gtid)
    ++resumed_;
  else
    next.unfinished = switch_to(message.gtid, record.time, cpu);
  cpu = next;
}

// Returns the marks of a switch that may turn out to be stamped.
std::optional<Switches::Marks> Switches::switch_to(std::uint64_t gtid, std::uint64_t on_cpu,
                                                   const Cpu& cpu) {
  const Found& found = *cpu.carried_out;
  const Kind kind = found.first ? decided_first : stopped_first;
  Marks marks{found.claim, found.claimed, found.end, found.reported, on_cpu};
  if (found.first)
    marks.insert(marks.end() - 1, *cpu.stop);
  else
    marks.insert(marks.begin(), {*cpu.stop, cpu.look.value_or(0)});
  if (cpu.disturbed || !std::is_sorted(marks.begin(), marks.end())) {
    ++disturbed_;
    return std::nullopt;
  }
  const auto ready = ready_.find(gtid);
  if (!found.first && (ready == ready_.end() || ready->second > *cpu.stop)) {
    ++awaited_;
    return std::nullopt;
  }
  switches_[kind].push_back(marks);
  if (found.first || !cpu.blocked || !cpu.before) return std::nullopt;
  marks.insert(marks.begin(), *cpu.before);
  return marks;
}
