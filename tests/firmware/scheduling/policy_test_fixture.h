// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <initializer_list>
#include <map>
#include <optional>
#include <vector>

#include "tests/firmware/scheduling/ghost_messages.h"
#include "tests/firmware/scheduling/policy_pair.h"

/// A policy of CPUs 0 to 3 without prestage, to which a test says what happens. Each task has the
/// sequence numbers from 1 on..
struct PolicyTest : testing::Test {
  static constexpr std::uint64_t every = ~std::uint64_t{0};  // CPU
  static constexpr std::uint64_t slice = 30'000;             // ns

  policy_config config{POLICY_FIFO_CENTRAL, 0xf, slice, 0};
  std::optional<PolicyPair> pair;
  std::uint64_t now = 1000;  // ns
  std::map<std::uint64_t, std::uint32_t> sequences;
  std::map<unsigned, std::uint32_t> cpu_sequences;

  void start(policy_kind kind, bool prestage = false, std::uint64_t cpus = 0xf) {
    start_with_share(kind, prestage ? 100 : 0, cpus);
  }
  void start_with_share(policy_kind kind, unsigned prestage_percent, std::uint64_t cpus) {
    config.kind = kind;
    config.cpus = cpus;
    config.prestage_percent = prestage_percent;
    pair.emplace(config);
    sequences.clear();
    cpu_sequences.clear();
  }

  policy_reception receive(const ghost_message& message) { return pair->receive(message, now); }
  void use(const ghost_message& message) { EXPECT_EQ(receive(message), POLICY_USED); }

  void create(std::uint64_t gtid, std::uint64_t cpus = every, bool runnable = true,
              std::uint64_t runtime = 0) {
    use(new_task(gtid, sequences[gtid] = 1, runnable, cpus, runtime));
  }
  /// A message about a task. The CPU and the runtime matter only to some types.
  void tell(unsigned type, std::uint64_t gtid, unsigned cpu = 0, std::uint64_t runtime = 0) {
    use(on_cpu(type, gtid, ++sequences[gtid], cpu, runtime));
  }
  void allow(std::uint64_t gtid, std::uint64_t cpus) {
    use(affinity_changed(gtid, ++sequences[gtid], cpus));
  }
  void fail_latch(std::uint64_t gtid, unsigned cpu, ghost_state state) {
    use(latch_failure(gtid, ++sequences[gtid], cpu, state));
  }
  void available(unsigned cpu) { use(about_cpu(GHOST_AVAILABLE, cpu, ++cpu_sequences[cpu])); }
  void busy(unsigned cpu) { use(about_cpu(GHOST_BUSY, cpu, ++cpu_sequences[cpu])); }
  void end(unsigned cpu, std::uint64_t gtid, ghost_state state) {
    EXPECT_EQ(pair->outcome(cpu, gtid, state, now), POLICY_USED);
  }

  void expect_decision(decision_kind kind, unsigned cpu, std::uint64_t gtid) {
    const decision decision = pair->decide(now);
    EXPECT_EQ(decision.kind, kind);
    if (kind == DECISION_NONE || decision.kind == DECISION_NONE) return;
    EXPECT_EQ(decision.cpu, cpu);
    EXPECT_EQ(decision.gtid, gtid);
    EXPECT_EQ(decision.barrier, sequences[gtid]);
  }
  void expect_run(unsigned cpu, std::uint64_t gtid) { expect_decision(DECISION_RUN, cpu, gtid); }
  void expect_nothing() { expect_decision(DECISION_NONE, 0, 0); }
  /// The tasks that the CPU, which is idle and free, runs one after the other if each blocks.
  void expect_order(unsigned cpu, std::initializer_list<std::uint64_t> gtids) {
    for (std::uint64_t gtid : gtids) {
      expect_run(cpu, gtid);
      end(cpu, gtid, GHOST_COMPLETE);
      tell(GHOST_BLOCKED, gtid, cpu);
    }
    expect_nothing();
  }
  /// The task runs on the CPU by a message.
  void put(std::uint64_t gtid, unsigned cpu) { tell(GHOST_ON_CPU, gtid, cpu); }
};
