// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstring>
#include <map>

#include "guest/scheduling/trace/trace.h"
#include "tests/guest/scheduling/trace_damage.h"

/// Makes traces by hand. It gives all numbers as the kernel and the agent would. Each record begins
/// where the function `at` has put the clock.
class TraceBuilder {
 public:
  explicit TraceBuilder(policy_kind policy = POLICY_FIFO_CENTRAL, std::uint64_t cpus = 0x6,
                        validity_rule rule = RULE_BARRIER) {
    std::memcpy(trace_.head.magic, TRACE_FILE_MAGIC, sizeof(trace_.head.magic));
    trace_.head.head_bytes = sizeof(trace_.head);
    trace_.head.record_bytes = sizeof(oae_sched_record);
    std::strcpy(trace_.head.transport, "memory");
    trace_.head.policy = policy;
    trace_.head.cpus = cpus;
    trace_.head.rule = rule;
    trace_.head.detached = ~std::uint64_t{0};
    trace_.head.time_slice = 1'000'000;
  }

  /// Swap ports lead to the agent. Of what crosses them, these come with something else.
  TraceBuilder& ports(std::uint64_t carried, std::uint64_t implied, std::uint64_t idle) {
    std::strcpy(trace_.head.transport, "port");
    trace_.head.ports.carried = carried;
    trace_.head.ports.implied = implied;
    trace_.head.ports.idle_taken = idle;
    return *this;
  }

  /// This leads to an agent elsewhere, which has a watchdog.
  TraceBuilder& watched(const char* transport, std::uint64_t patience) {
    std::strcpy(trace_.head.transport, transport);
    trace_.head.patience = patience;
    return *this;
  }

  TraceBuilder& at(std::uint64_t time) {
    time_ = time;
    return *this;
  }

  TraceBuilder& task_new(std::uint64_t gtid, std::uint64_t cpus = 0x6, unsigned by = 0) {
    ghost_message message{};
    message.task_new.gtid = gtid;
    message.task_new.cpus = cpus;
    return send(GHOST_NEW, message, by);
  }
  TraceBuilder& wakeup(std::uint64_t gtid, unsigned by = 0) {
    return about(GHOST_WAKEUP, gtid, by);
  }
  TraceBuilder& affinity(std::uint64_t gtid, std::uint64_t cpus, unsigned by = 0) {
    ghost_message message{};
    message.affinity.gtid = gtid;
    message.affinity.cpus = cpus;
    return send(GHOST_AFFINITY_CHANGED, message, by);
  }
  TraceBuilder& dead(std::uint64_t gtid, unsigned by = 0) { return about(GHOST_DEAD, gtid, by); }
  TraceBuilder& blocked(std::uint64_t gtid, unsigned cpu, std::uint64_t runtime = 0) {
    ghost_message message{};
    message.blocked.gtid = gtid;
    message.blocked.runtime = runtime;
    message.blocked.cpu = cpu;
    message.blocked.cpu_sequence = switches_[cpu];
    return stopping(gtid, cpu).send(GHOST_BLOCKED, message, cpu);
  }
  TraceBuilder& preempt(std::uint64_t gtid, unsigned cpu, std::uint64_t runtime = 0) {
    stopping(gtid, cpu);
    return left(gtid, cpu, runtime, false);
  }
  /// The task loses a CPU on which it has not run yet.
  TraceBuilder& left(std::uint64_t gtid, unsigned cpu, std::uint64_t runtime, bool was_latched) {
    ghost_message message{};
    message.preempt.gtid = gtid;
    message.preempt.runtime = runtime;
    message.preempt.cpu = cpu;
    message.preempt.cpu_sequence = switches_[cpu];
    message.preempt.was_latched = was_latched;
    return send(GHOST_PREEMPT, message, cpu);
  }
  TraceBuilder& on_cpu(std::uint64_t gtid, unsigned cpu) {
    ghost_message message{};
    message.on_cpu.gtid = gtid;
    message.on_cpu.cpu = cpu;
    message.on_cpu.cpu_sequence = ++switches_[cpu];
    message.on_cpu.commit_time = time_;
    return send(GHOST_ON_CPU, message, cpu);
  }
  TraceBuilder& busy(unsigned cpu) { return about_cpu(GHOST_BUSY, cpu); }
  /// The CPU looks for a decision, finds none, and idles.
  TraceBuilder& idle(unsigned cpu) { return look(cpu).about_cpu(GHOST_AVAILABLE, cpu); }
  TraceBuilder& look(unsigned cpu) {
    oae_sched_record& record = add(OAE_SCHED_CLAIMED, cpu);
    record.end = ++time_;
    return *this;
  }
  TraceBuilder& stopping(std::uint64_t gtid, unsigned cpu) {
    oae_sched_record& record = add(OAE_SCHED_STOPPING, cpu);
    record.gtid = gtid;
    record.task_cpu = cpu;
    return *this;
  }

  /// The CPU takes a decision that rests on the message of this time.
  TraceBuilder& claim(unsigned cpu, std::uint64_t gtid, std::uint64_t newest) {
    return claim(cpu, gtid, newest, sequences_[gtid]);
  }
  TraceBuilder& claim(unsigned cpu, std::uint64_t gtid, std::uint64_t newest,
                      std::uint32_t barrier) {
    oae_sched_record& record = add(OAE_SCHED_CLAIMED, cpu);
    record.state = 1;
    record.gtid = gtid;
    record.number = ++numbers_[cpu];
    record.newest = newest;
    record.task_barrier = barrier;
    record.end = ++time_;
    claimed_[cpu] = gtid;
    return *this;
  }
  TraceBuilder& end(unsigned cpu, ghost_state state = GHOST_COMPLETE) {
    oae_sched_record& record = add(OAE_SCHED_ENDED, cpu);
    record.state = state;
    record.gtid = claimed_[cpu];
    record.number = numbers_[cpu];
    record.cpu_sequence = switches_[cpu];
    record.end = ++time_;
    return *this;
  }
  /// All of it: the decision is taken and carried out, and the task runs.
  TraceBuilder& run(unsigned cpu, std::uint64_t gtid, std::uint64_t newest) {
    return claim(cpu, gtid, newest).end(cpu).on_cpu(gtid, cpu);
  }

  /// Messages are withheld from now on.
  TraceBuilder& given_up(oae_sched_sign sign = OAE_SCHED_WATCHDOG) {
    oae_sched_record& record = add(OAE_SCHED_GIVEN_UP, 0);
    record.state = sign;
    record.end = time_;
    has_agent_ = false;
    return *this;
  }
  /// Nothing stood for the CPU.
  TraceBuilder& left_nothing(unsigned cpu, std::uint64_t undelivered) {
    oae_sched_record& record = add(OAE_SCHED_LEFT, 0);
    record.state = OAE_SCHED_NONE_STOOD;
    record.number = numbers_[cpu];
    record.task_cpu = cpu;
    record.undelivered = undelivered;
    undelivered_ += undelivered;
    return *this;
  }
  /// A decision for this task stood, which rests on the message of this time.
  TraceBuilder& left_one(unsigned cpu, std::uint64_t undelivered, std::uint64_t gtid,
                         std::uint64_t newest, std::uint32_t barrier) {
    left_nothing(cpu, undelivered);
    oae_sched_record& record = trace_.records.back();
    record.state = OAE_SCHED_ONE_STOOD;
    record.gtid = gtid;
    record.number = numbers_[cpu] + 1;
    record.newest = newest;
    record.task_barrier = barrier;
    return *this;
  }
  /// An agent begins anew, and has been told of all tasks at this time.
  TraceBuilder& resumed(std::uint64_t until) {
    oae_sched_record& record = add(OAE_SCHED_RESUMED, 0);
    record.end = until;
    record.undelivered = undelivered_;
    undelivered_ = 0;
    numbers_ = {};
    has_agent_ = true;
    return *this;
  }
  /// It is told of a task, which runs on a CPU or not.
  TraceBuilder& told(std::uint64_t gtid, bool runnable, std::uint64_t cpus = 0x6) {
    ghost_message message{};
    message.task_new.gtid = gtid;
    message.task_new.cpus = cpus;
    message.task_new.runnable = runnable;
    return send(GHOST_NEW, message, 0);
  }
  TraceBuilder& told_on_cpu(std::uint64_t gtid, unsigned cpu) {
    --switches_[cpu];
    on_cpu(gtid, cpu);
    trace_.records.back().cpu = 0;
    return *this;
  }
  TraceBuilder& available(unsigned cpu) { return about_cpu(GHOST_AVAILABLE, cpu); }
  /// The last message was withheld, though an agent has begun anew since.
  TraceBuilder& withheld() {
    trace_.records.back().state = OAE_SCHED_WITHHELD;
    return *this;
  }

  Trace trace() const {
    Trace trace = trace_;
    trace.head.counted = has_agent_ || std::strcmp(trace.head.transport, "memory") == 0;
    count_again(trace);
    trace.head.records = trace.records.size();
    return trace;
  }

 private:
  oae_sched_record& add(oae_sched_record_kind kind, unsigned cpu) {
    oae_sched_record record{};
    record.time = time_;
    record.kind = static_cast<std::uint16_t>(kind);
    record.cpu = static_cast<std::uint16_t>(cpu);
    trace_.records.push_back(record);
    return trace_.records.back();
  }
  TraceBuilder& send(unsigned type, ghost_message& message, unsigned by) {
    message.header.sequence = ++sequences_[message.gtid];
    return put(type, message, by);
  }
  TraceBuilder& put(unsigned type, ghost_message& message, unsigned by) {
    message.header.type = static_cast<std::uint16_t>(type);
    message.header.length = static_cast<std::uint16_t>(ghost_length(type));
    oae_sched_record& record = add(OAE_SCHED_SENT, by);
    record.state = has_agent_ ? OAE_SCHED_ON_ITS_WAY : OAE_SCHED_WITHHELD;
    std::memcpy(record.message, &message, sizeof(message));
    return *this;
  }
  TraceBuilder& about(unsigned type, std::uint64_t gtid, unsigned by) {
    ghost_message message{};
    message.gtid = gtid;
    return send(type, message, by);
  }
  TraceBuilder& about_cpu(unsigned type, unsigned cpu) {
    ghost_message message{};
    message.cpu.cpu = cpu;
    message.header.sequence = ++cpu_sequences_[cpu];
    return put(type, message, cpu);
  }

  Trace trace_;
  std::uint64_t time_ = 1;
  bool has_agent_ = true;
  std::uint64_t undelivered_ = 0;
  std::map<std::uint64_t, std::uint32_t> sequences_;
  std::array<std::uint32_t, POLICY_CPUS> cpu_sequences_{};
  std::array<std::uint64_t, POLICY_CPUS> switches_{};
  std::array<std::uint64_t, POLICY_CPUS> numbers_{};
  std::array<std::uint64_t, POLICY_CPUS> claimed_{};
};
