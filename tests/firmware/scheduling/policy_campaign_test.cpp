// SPDX-License-Identifier: Apache-2.0
// Long random sequences of calls, to which the firmware's policies and the reference give the same
// answers. Other seeds are tried by --gtest_random_seed=N.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <map>
#include <random>

#include "tests/firmware/scheduling/ghost_messages.h"
#include "tests/firmware/scheduling/policy_pair.h"
#include "tests/firmware/scheduling/simulated_kernel.h"

namespace {

/// How often interesting things were reached.
struct Reached {
  std::array<unsigned, DECISION_WITHDRAW + 1> decisions{};
  std::array<unsigned, POLICY_FULL + 1> receptions{};
  std::map<unsigned, unsigned> types;      // of messages that were used
  std::map<ghost_state, unsigned> states;  // of outcomes that were used
  unsigned aside = 0;
  unsigned preempted_for_prestaged = 0;
  unsigned used_prestaged = 0;
  unsigned withdrawn = 0;
  unsigned withdrawn_too_late = 0;
  unsigned refused_by_pin = 0;
};

constexpr unsigned message_types[] = {GHOST_DEAD,
                                      GHOST_BLOCKED,
                                      GHOST_WAKEUP,
                                      GHOST_NEW,
                                      GHOST_PREEMPT,
                                      GHOST_YIELD,
                                      GHOST_DEPARTED,
                                      GHOST_SWITCHTO,
                                      GHOST_ON_CPU,
                                      GHOST_AFFINITY_CHANGED,
                                      GHOST_PRIORITY_CHANGED,
                                      GHOST_LATCH_FAILURE,
                                      GHOST_TICK,
                                      GHOST_TIMER_EXPIRED,
                                      GHOST_NOT_IDLE,
                                      GHOST_AVAILABLE,
                                      GHOST_BUSY,
                                      GHOST_AGENT_BLOCKED,
                                      GHOST_AGENT_WAKEUP};

constexpr ghost_state final_states[] = {
    GHOST_COMPLETE,      GHOST_ABORTED,          GHOST_TARGET_ONCPU,
    GHOST_TARGET_STALE,  GHOST_TARGET_NOT_FOUND, GHOST_TARGET_NOT_RUNNABLE,
    GHOST_AGENT_STALE,   GHOST_CPU_OFFLINE,      GHOST_CPU_UNAVAIL,
    GHOST_INVALID_FLAGS, GHOST_INVALID_TARGET,   GHOST_NOT_PERMITTED,
    GHOST_INVALID_CPU,   GHOST_NO_AGENT,         GHOST_UNSUPPORTED_VERSION,
    GHOST_POISONED};

struct Machine {
  std::uint64_t cpus;
  unsigned seeds;
};

constexpr Machine machines[] = {
    {0x8, 40}, {0x8000'0000'0000'0001, 40}, {0x4000'0000'0000'012e, 36}, {~std::uint64_t{0}, 6}};
constexpr unsigned steps = 300;
constexpr unsigned shares[] = {0, 100, 0, 37};  // of decisions that are prestaged, in percent

policy_config config_of(policy_kind kind, std::uint64_t cpus, unsigned prestage_percent) {
  return {kind, cpus, kind == POLICY_VM ? 10'000'000u : 30'000u, prestage_percent};
}

std::uint64_t seed_of(unsigned number) {
  return std::uint64_t{static_cast<unsigned>(GTEST_FLAG_GET(random_seed))} << 32 | number;
}

/// An honest kernel and its agent.
class Agency {
 public:
  Agency(const policy_config& config, std::uint64_t seed, Reached& reached)
      : config_(config),
        pair_(config),
        kernel_(config.cpus, seed),
        random_(~seed),
        reached_(reached) {}
  ~Agency() {
    reached_.used_prestaged += kernel_.used_prestaged();
    reached_.withdrawn += kernel_.withdrawn();
    reached_.withdrawn_too_late += kernel_.withdrawn_too_late();
    reached_.refused_by_pin += kernel_.refused_by_pin();
  }

  void work() {
    for (unsigned i = 0; i < steps && good(); ++i) {
      kernel_.now += chance(8) ? chance(3000) : chance(static_cast<unsigned>(config_.time_slice));
      if (chance(8) == 0 && pair_.deadline() != UINT64_MAX)
        kernel_.now = std::max(kernel_.now, pair_.deadline());
      for (unsigned n = chance(4); n > 0; --n) kernel_.happen();
      for (unsigned n = chance(8); n > 0; --n) receive();
      for (unsigned n = chance(4); n > 0 && decide(); --n) continue;
      for (unsigned n = chance(3); n > 0; --n) kernel_.carry_out();
    }
  }

  /// After the events, each task that can run does so in the end.
  void settle() {
    kernel_.settle();
    for (unsigned i = 0; good(); ++i) {
      ASSERT_LT(i, 10'000u) << "never settles";
      const bool received = receive();
      const bool decided = decide();
      const bool carried_out = kernel_.carry_out();
      if (received || decided || carried_out) continue;
      kernel_.now += chance(1000);
      if (!kernel_.finish()) break;
    }
    EXPECT_EQ(kernel_.waiting(), 0u) << "tasks are lost";
  }

  bool good() const {
    if (kernel_.wrong()) ADD_FAILURE() << kernel_.wrong();
    return pair_.agrees() && !kernel_.wrong() && !testing::Test::HasFailure();
  }

 private:
  unsigned chance(unsigned below) { return static_cast<unsigned>(random_() % below); }

  bool receive() {
    const auto delivery = kernel_.deliver();
    if (!delivery) return false;
    policy_reception reception;
    if (delivery->is_message) {
      reception = pair_.receive(delivery->message, kernel_.now);
      ++reached_.types[delivery->message.header.type];
    } else {
      reception = pair_.outcome(delivery->cpu, delivery->gtid, delivery->state, kernel_.now);
      ++reached_.states[delivery->state];
      reached_.aside += pair_.aside(delivery->gtid);
    }
    EXPECT_TRUE(reception == POLICY_USED || (reception == POLICY_HELD && delivery->is_message))
        << reception;
    ++reached_.receptions[reception];
    return true;
  }

  bool decide() {
    const decision decision = pair_.decide(kernel_.now);
    ++reached_.decisions[decision.kind];
    if (decision.kind == DECISION_NONE) return false;
    const bool about_prestaged =
        (decision.kind == DECISION_PREEMPT || decision.kind == DECISION_WITHDRAW) &&
        pair_.has_prestaged(decision.cpu);
    if (decision.kind == DECISION_PREEMPT && about_prestaged) ++reached_.preempted_for_prestaged;
    kernel_.send(decision, about_prestaged);
    return true;
  }

  policy_config config_;
  PolicyPair pair_;
  SimulatedKernel kernel_;
  std::mt19937_64 random_;
  Reached& reached_;
};

/// Messages and outcomes that no kernel would send.
class Attack {
 public:
  Attack(const policy_config& config, std::uint64_t seed, Reached& reached)
      : config_(config), pair_(config), random_(seed), reached_(reached) {}

  void work() {
    for (unsigned i = 0; i < steps && pair_.agrees(); ++i) {
      now_ += chance(16) ? chance(1000) : chance(static_cast<unsigned>(config_.time_slice));
      if (chance(80) == 0 && pair_.deadline() != UINT64_MAX)
        now_ = std::max(now_, pair_.deadline());
      const policy_reception reception = chance(4) ? receive() : outcome();
      ++reached_.receptions[reception];
      if (reception == POLICY_FULL) return;  // the policy has to start again
      for (unsigned n = chance(3); n > 0; --n) decide();
    }
  }

 private:
  unsigned chance(unsigned below) { return static_cast<unsigned>(random_() % below); }
  bool rarely() { return chance(40) == 0; }
  std::uint64_t any_number() {
    const std::uint64_t number = random_();
    return number >> chance(64);
  }
  /// Runtimes of up to three days, whose sums do not overflow.
  std::uint64_t any_runtime() { return any_number() >> 16; }
  unsigned any_cpu() {
    if (rarely()) return static_cast<unsigned>(any_number());
    unsigned cpu = chance(POLICY_CPUS);
    while (!(config_.cpus >> cpu & 1) && !rarely()) cpu = (cpu + 1) % POLICY_CPUS;
    return cpu;
  }
  ghost_state any_state() {
    if (rarely()) return static_cast<ghost_state>(random_());
    return chance(3) ? final_states[chance(16)] : GHOST_COMPLETE;
  }

  ghost_message any_message() {
    unsigned type = message_types[chance(19)];
    if (chance(4) == 0) type = chance(3) ? GHOST_WAKEUP : GHOST_AVAILABLE;
    const std::uint64_t gtid = 1 + chance(16);
    const auto barrier = pair_.barrier(gtid);
    if (type < GHOST_TICK && !barrier && !rarely()) type = GHOST_NEW;
    if (type == GHOST_NEW && barrier && !rarely()) type = GHOST_WAKEUP;
    ghost_message message = make_message(type, 0);
    for (std::uint64_t& word : message.payload) word = any_number();
    const unsigned cpu = any_cpu();
    if (type >= GHOST_TICK) {
      message.cpu.cpu = cpu;
      message.header.sequence = ++cpu_sequences_[cpu];
    } else {
      if (type == GHOST_LATCH_FAILURE)
        message = latch_failure(gtid, 0, cpu, any_state());
      else if (type != GHOST_NEW && type != GHOST_AFFINITY_CHANGED)
        message = on_cpu(type, gtid, 0, cpu, any_runtime());
      else if (chance(2))
        (type == GHOST_NEW ? message.task_new.cpus : message.affinity.cpus) |= config_.cpus;
      if (type == GHOST_NEW) message.task_new.runtime = any_runtime();
      // Some come late, or are wrong.
      if (type == GHOST_ON_CPU)
        message.on_cpu.cpu_sequence = rarely() ? any_number() : switches_[cpu]++ + chance(4);
      message.gtid = gtid;
      message.header.sequence = barrier.value_or(static_cast<std::uint32_t>(any_number())) + 1;
    }
    if (chance(10) == 0)
      message.header.sequence += rarely() ? static_cast<std::uint32_t>(random_()) : chance(5) - 2;
    return message;
  }

  policy_reception receive() {
    ghost_message message = any_message();
    unsigned length = message.header.length;
    if (rarely()) message.header.type = static_cast<std::uint16_t>(any_number());
    if (rarely()) message.header.length = static_cast<std::uint16_t>(any_number());
    if (rarely()) length = chance(64);
    const policy_reception reception = pair_.receive(message, length, now_);
    if (reception == POLICY_USED) ++reached_.types[message.header.type];
    return reception;
  }

  policy_reception outcome() {
    std::uint64_t gtid = chance(20);
    unsigned cpu = any_cpu();
    if (!decided_.empty() && !rarely()) {
      const std::size_t number = chance(static_cast<unsigned>(decided_.size()));
      cpu = decided_[number].cpu;
      gtid = decided_[number].gtid;
      decided_.erase(decided_.begin() + static_cast<std::ptrdiff_t>(number));
    }
    const ghost_state state = any_state();
    const policy_reception reception = pair_.outcome(cpu, gtid, state, now_);
    if (reception == POLICY_USED) ++reached_.states[state];
    reached_.aside += pair_.aside(gtid);
    return reception;
  }

  void decide() {
    const decision decision = pair_.decide(now_);
    ++reached_.decisions[decision.kind];
    if (decision.kind == DECISION_RUN || decision.kind == DECISION_PRESTAGE || rarely())
      decided_.push_back(decision);
    else if (decision.kind == DECISION_PREEMPT && !pair_.has_prestaged(decision.cpu))
      decided_.push_back(decision);
  }

  policy_config config_;
  PolicyPair pair_;
  std::mt19937_64 random_;
  Reached& reached_;
  std::uint64_t now_ = 0;
  std::map<unsigned, std::uint32_t> cpu_sequences_;
  std::map<unsigned, std::uint64_t> switches_;
  std::vector<decision> decided_;  // and perhaps without an outcome
};

struct PolicyCampaignTest : testing::TestWithParam<policy_kind> {
  Reached reached;

  template <typename Function>
  void run(Function function) {
    unsigned number = 0;
    for (const Machine& machine : machines) {
      for (unsigned i = 0; i < 3 * machine.seeds && !HasFailure(); ++i) {
        const policy_config config = config_of(GetParam(), machine.cpus, shares[i % 4]);
        SCOPED_TRACE(testing::Message() << "campaign " << number);
        function(config, seed_of(number++));
      }
    }
  }
  void expect_all_reached() {
    const bool one_queue = GetParam() != POLICY_FIFO_PER_CPU;
    const bool slices = GetParam() == POLICY_SHINJUKU || GetParam() == POLICY_VM;
    for (unsigned type : message_types) EXPECT_GT(reached.types[type], 0u) << type;
    for (ghost_state state : final_states) EXPECT_GT(reached.states[state], 0u) << state;
    EXPECT_GT(reached.decisions[DECISION_NONE], 0u);
    EXPECT_GT(reached.decisions[DECISION_RUN], 0u);
    EXPECT_GT(reached.decisions[DECISION_PRESTAGE], 0u);
    EXPECT_EQ(reached.decisions[DECISION_PREEMPT] > 0, slices);
    EXPECT_EQ(reached.decisions[DECISION_WITHDRAW] > 0, one_queue);
    EXPECT_GT(reached.receptions[POLICY_HELD], 0u);
    EXPECT_GT(reached.aside, 0u);
  }
};

TEST_P(PolicyCampaignTest, ServesAnHonestKernelAsTheReferenceDoesAndLosesNoTask) {
  run([&](const policy_config& config, std::uint64_t seed) {
    Agency agency(config, seed, reached);
    agency.work();
    agency.settle();
  });
  expect_all_reached();
  EXPECT_GT(reached.used_prestaged, 0u);
  EXPECT_GT(reached.refused_by_pin, 0u);
  if (GetParam() == POLICY_FIFO_PER_CPU) return;
  EXPECT_GT(reached.withdrawn, 0u);
  EXPECT_GT(reached.withdrawn_too_late, 0u);
  if (GetParam() == POLICY_FIFO_CENTRAL) return;
  EXPECT_GT(reached.preempted_for_prestaged, 0u);
}

TEST_P(PolicyCampaignTest, AnswersAHostileKernelAsTheReferenceDoes) {
  run([&](const policy_config& config, std::uint64_t seed) {
    Attack(config, seed, reached).work();
  });
  expect_all_reached();
  EXPECT_GT(reached.receptions[POLICY_SUPERSEDED], 0u);
  EXPECT_GT(reached.receptions[POLICY_MALFORMED], 0u);
}

INSTANTIATE_TEST_SUITE_P(AllPolicies, PolicyCampaignTest,
                         testing::Values(POLICY_FIFO_PER_CPU, POLICY_FIFO_CENTRAL, POLICY_SHINJUKU,
                                         POLICY_VM),
                         [](const auto& info) { return name_of(info.param); });

}  // namespace
