// SPDX-License-Identifier: Apache-2.0
#include "guest/scheduling/trace/oracle.h"

#include <algorithm>

#include "guest/scheduling/trace/homes.h"

extern "C" {
#include "firmware/scheduling/policy_state.h"
}

Oracle::Oracle(const Trace& trace)
    : trace_(trace), now_(std::make_unique<policy>()), what_if_(std::make_unique<policy>()) {
  if (!begin()) return;
  find_decisions();
  if (trace.head.policy == POLICY_FIFO_PER_CPU) homes_ = homes_of(trace);
  for (std::size_t at = 0; at < trace.records.size(); ++at) {
    const oae_sched_record& record = trace.records[at];
    // CPUs read the clock after they have taken their place in the trace.
    const std::uint64_t time = std::max<std::uint64_t>(clock_, record.time);
    if (has_agent_ && could_run() && time < trace.head.detached)
      idle_while_waiting_ += time - clock_;
    clock_ = time;
    if (record.kind == OAE_SCHED_SENT && !is_withheld(record)) receive(at);
    if (record.kind == OAE_SCHED_GIVEN_UP) has_agent_ = false;
    if (record.kind == OAE_SCHED_RESUMED) begin();
    if (record.kind != OAE_SCHED_ENDED) continue;
    if (record.state == GHOST_COMPLETE) {
      compare(at);
      complete(at);
    } else {
      refuse(at);
    }
    ++next_[record.cpu];
  }
  std::sort(ages_.begin(), ages_.end());
}

// Returns false if the policy cannot be as the trace says.
bool Oracle::begin() {
  policy_config config{};
  config.kind = static_cast<policy_kind>(trace_.head.policy);
  config.cpus = trace_.head.cpus;
  config.time_slice = trace_.head.time_slice;
  config.prestage_percent = trace_.head.prestage;
  owned_from_.clear();
  has_agent_ = true;
  return policy_init(now_.get(), &config);
}

void Oracle::find_decisions() {
  std::unordered_map<std::uint64_t, std::size_t> sent;  // by time: the record
  std::array<std::size_t, POLICY_CPUS> claims{};
  for (std::size_t at = 0; at < trace_.records.size(); ++at) {
    const oae_sched_record& record = trace_.records[at];
    if (record.kind == OAE_SCHED_SENT) {
      sent.emplace(record.time, at);
      const ghost_message message = message_of(record);
      if (is_about_task(message) && message.header.type != GHOST_WAKEUP)
        served_[message.gtid].push_back(at);
    } else if (record.kind == OAE_SCHED_CLAIMED && record.state) {
      claims[record.cpu] = at;
    } else if (record.kind == OAE_SCHED_ENDED) {
      const oae_sched_record& claim = trace_.records[claims[record.cpu]];
      decisions_[record.cpu].push_back({sent[claim.newest], at, claim.gtid, claim.task_barrier});
      ages_.push_back(record.time > claim.newest ? record.time - claim.newest : 0);
      if (record.state == GHOST_COMPLETE) served_[record.gtid].push_back(at);
    }
  }
}

void Oracle::set_home(std::uint64_t gtid, unsigned home) {
  const std::uint16_t index = task_table_find(&now_->tasks, gtid);
  if (index == TASK_NONE || now_->tasks.task[index].home == home) return;
  const bool queued = now_->tasks.task[index].state == TASK_QUEUED;
  if (queued) state_leave(now_.get(), index);
  now_->tasks.task[index].home = static_cast<std::uint8_t>(home);
  if (queued) state_queue_at_back(now_.get(), index);
}

void Oracle::note_owner(const ghost_message& message) {
  const unsigned type = message.header.type;
  if (type == GHOST_WAKEUP) {
    const std::uint16_t index = task_table_find(&now_->tasks, message.gtid);
    if (index != TASK_NONE && now_->tasks.task[index].state == TASK_QUEUED) return;  // only changed
  } else if (type != GHOST_PREEMPT && type != GHOST_YIELD) {
    return;
  }
  owned_from_[message.gtid] = message.header.sequence;
}

void Oracle::receive(std::size_t at) {
  const ghost_message message = message_of(trace_.records[at]);
  note_owner(message);
  policy_receive(now_.get(), &message, message.header.length, clock_);
  const auto home = homes_.find(at);
  if (home != homes_.end()) set_home(message.gtid, home->second);
}

// The task that it would give the CPU whose decision ends there.
std::optional<std::uint64_t> Oracle::choice(std::size_t at) {
  const unsigned cpu = trace_.records[at].cpu;
  policy* state = what_if_.get();
  *state = *now_;
  // Decisions that rest on nothing newer were made already.
  for (unsigned other = 0; other < POLICY_CPUS; ++other) {
    if (other == cpu || next_[other] == decisions_[other].size()) continue;
    const Decision& decision = decisions_[other][next_[other]];
    const std::uint16_t index = task_table_find(&state->tasks, decision.gtid);
    if (decision.made < at && index != TASK_NONE && state->tasks.task[index].state == TASK_QUEUED)
      state_choose(state, index, other, clock_);
  }
  state->config.cpus = CPU_BIT(cpu);
  state->config.prestage_percent = 100;  // a task that still runs there is leaving
  if (state->cpu[cpu].state == CPU_BUSY) state_set_cpu(state, cpu, CPU_IDLE);
  const decision chosen = policy_decide(state, clock_);
  if (chosen.kind == DECISION_NONE) return std::nullopt;
  return chosen.gtid;
}

void Oracle::compare(std::size_t at) {
  const std::uint64_t gtid = trace_.records[at].gtid;
  const std::uint16_t index = task_table_find(&now_->tasks, gtid);
  std::optional<std::uint64_t> best;
  if (now_->queued == 1 && index != TASK_NONE && now_->tasks.task[index].state == TASK_QUEUED)
    best = gtid;  // there is no other
  else
    best = choice(at);
  if (best == gtid) {
    ++right_;
    return;
  }
  stale_.push_back({at, best.value_or(0), best ? waiting(*best, at) : 0});
}

void Oracle::complete(std::size_t at) {
  const oae_sched_record& record = trace_.records[at];
  const std::uint16_t index = task_table_find(&now_->tasks, record.gtid);
  if (index == TASK_NONE || now_->tasks.task[index].state != TASK_QUEUED) return;
  state_choose(now_.get(), index, record.cpu, clock_);
  policy_outcome(now_.get(), record.cpu, record.gtid, GHOST_COMPLETE, clock_);
}

// As the policies have it, the task comes first then. If it was refused for its own sake, or
// changed meanwhile, its messages say where it comes. What does not end that the agent owns it
// changes nothing if the decision counted until then.
void Oracle::refuse(std::size_t at) {
  const oae_sched_record& record = trace_.records[at];
  const std::uint16_t index = task_table_find(&now_->tasks, record.gtid);
  if (record.state >= GHOST_TARGET_ONCPU && record.state <= GHOST_TARGET_NOT_RUNNABLE) return;
  if (index == TASK_NONE || now_->tasks.task[index].state != TASK_QUEUED) return;
  const std::uint32_t barrier = decisions_[record.cpu][next_[record.cpu]].barrier;
  if (trace_.head.rule == RULE_OWNER ? barrier < owned_from_[record.gtid]
                                     : barrier != now_->tasks.task[index].barrier)
    return;
  state_leave(now_.get(), index);
  state_queue_at_front(now_.get(), index);
}

std::uint64_t Oracle::waiting(std::uint64_t gtid, std::size_t at) const {
  const auto& served = served_.at(gtid);
  const auto next = std::upper_bound(served.begin(), served.end(), at);
  const std::size_t until = next == served.end() ? trace_.records.size() - 1 : *next;
  const std::uint64_t end = trace_.records[until].time;
  return end > trace_.records[at].time ? end - trace_.records[at].time : 0;
}

bool Oracle::could_run() const {
  const std::uint64_t idle = now_->idle & now_->config.cpus;
  if (!now_->queued || !idle) return false;
  for (unsigned queue = 0; queue < POLICY_CPUS; ++queue) {
    const std::uint64_t cpus = now_->config.kind == POLICY_FIFO_PER_CPU ? idle & CPU_BIT(queue)
                               : queue                                  ? 0
                                                                        : idle;
    if (!cpus) continue;
    for (std::uint16_t task = now_->queue[queue].first; task != TASK_NONE;
         task = now_->tasks.task[task].next)
      if (now_->tasks.task[task].cpus & cpus) return true;
  }
  return false;
}
