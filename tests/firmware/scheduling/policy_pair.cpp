// SPDX-License-Identifier: Apache-2.0
#include "tests/firmware/scheduling/policy_pair.h"

#include <gtest/gtest.h>

#include <ostream>
#include <sstream>

const char* name_of(policy_kind kind) {
  static const char* const names[] = {"FifoPerCpu", "FifoCentral", "Shinjuku", "Vm"};
  return names[kind];
}

bool operator==(const PolicyPair::Answer& a, const PolicyPair::Answer& b) {
  if (a.reception != b.reception || a.deadline != b.deadline || a.decided.kind != b.decided.kind)
    return false;
  return a.decided.kind == DECISION_NONE ||
         (a.decided.cpu == b.decided.cpu && a.decided.gtid == b.decided.gtid &&
          a.decided.barrier == b.decided.barrier && a.decided.newest == b.decided.newest);
}

std::ostream& operator<<(std::ostream& stream, const PolicyPair::Answer& answer) {
  const decision& decided = answer.decided;
  return stream << "reception " << answer.reception << ", decision " << decided.kind << " of task "
                << decided.gtid << " at barrier " << decided.barrier << " for CPU " << decided.cpu
                << ", newest " << decided.newest << ", deadline " << answer.deadline;
}

std::ostream& operator<<(std::ostream& stream, const PolicyPair::Call& call) {
  stream << call.time << " ns: ";
  if (call.function == PolicyPair::Call::decide) return stream << "decide";
  if (call.function == PolicyPair::Call::outcome)
    return stream << "outcome for CPU " << call.cpu << " and task " << call.gtid << ": "
                  << static_cast<std::int64_t>(call.state) - INT32_MIN << " above COMPLETE";
  stream << "receive " << call.length << " bytes: type " << call.message.header.type << ", length "
         << call.message.header.length << ", sequence " << call.message.header.sequence;
  for (std::uint64_t word : call.message.payload) stream << ' ' << std::hex << word << std::dec;
  return stream;
}

PolicyPair::PolicyPair(const policy_config& config) : config_(config) {
  init();
}

void PolicyPair::init() {
  EXPECT_TRUE(policy_init(policy_.get(), &config_));
  reference_ = std::make_unique<PolicyReference>(config_);
}

policy_reception PolicyPair::receive(const ghost_message& message, std::uint64_t time) {
  return receive(message, message.header.length, time);
}

policy_reception PolicyPair::receive(const ghost_message& message, unsigned length,
                                     std::uint64_t time) {
  const Call call{Call::receive, time, message, length, 0, 0, GHOST_READY};
  return static_cast<policy_reception>(make(call).reception);
}

policy_reception PolicyPair::outcome(unsigned cpu, std::uint64_t gtid, ghost_state state,
                                     std::uint64_t time) {
  const Call call{Call::outcome, time, {}, 0, cpu, gtid, state};
  return static_cast<policy_reception>(make(call).reception);
}

decision PolicyPair::decide(std::uint64_t now) {
  return make({Call::decide, now, {}, 0, 0, 0, GHOST_READY}).decided;
}

PolicyPair::Answer PolicyPair::make(const Call& call) {
  calls_.push_back(call);
  const Answer actual = call_firmware(*policy_, call);
  const Answer expected = call_reference(*reference_, call);
  if (agrees_ && !(actual == expected)) {
    agrees_ = false;
    fail();
  }
  return actual;
}

PolicyPair::Answer PolicyPair::call_firmware(policy& policy, const Call& call) {
  Answer answer{};
  if (call.function == Call::receive)
    answer.reception = policy_receive(&policy, &call.message, call.length, call.time);
  else if (call.function == Call::outcome)
    answer.reception = policy_outcome(&policy, call.cpu, call.gtid, call.state, call.time);
  else
    answer.decided = policy_decide(&policy, call.time);
  answer.deadline = policy_deadline(&policy);
  return answer;
}

PolicyPair::Answer PolicyPair::call_reference(PolicyReference& reference, const Call& call) {
  Answer answer{};
  if (call.function == Call::receive)
    answer.reception = reference.receive(call.message, call.length, call.time);
  else if (call.function == Call::outcome)
    answer.reception = reference.outcome(call.cpu, call.gtid, call.state, call.time);
  else
    answer.decided = reference.decide(call.time);
  answer.deadline = reference.deadline();
  return answer;
}

bool PolicyPair::differs(const policy_config& config, const std::vector<Call>& calls) {
  auto policy = std::make_unique<struct policy>();
  policy_init(policy.get(), &config);
  PolicyReference reference(config);
  for (const Call& call : calls)
    if (!(call_firmware(*policy, call) == call_reference(reference, call))) return true;
  return false;
}

/// Leaves out calls as long as the answers still differ without them: first all about one task,
/// then many at once, then fewer and fewer, until none can be left out.
std::vector<PolicyPair::Call> PolicyPair::shorten() const {
  std::vector<Call> calls = calls_;
  const auto try_without = [&](const auto& unwanted) {
    std::vector<Call> fewer;
    for (std::size_t i = 0; i < calls.size(); ++i)
      if (!unwanted(i)) fewer.push_back(calls[i]);
    if (fewer.size() == calls.size() || !differs(config_, fewer)) return false;
    calls = fewer;
    return true;
  };
  for (const Call& one : calls_)
    if (one.function == Call::receive && one.message.header.type < GHOST_TICK)
      try_without([&](std::size_t i) {
        return calls[i].function == Call::receive && calls[i].message.gtid == one.message.gtid;
      });
  for (bool again = true; again;) {
    again = false;
    for (std::size_t part = (calls.size() + 1) / 2; part > 0; part /= 2)
      for (std::size_t first = 0; first + part <= calls.size();) {
        if (try_without([&](std::size_t i) { return i >= first && i < first + part; }))
          again = true;
        else
          ++first;
      }
  }
  return calls;
}

void PolicyPair::fail() const {
  const std::vector<Call> calls = shorten();
  std::ostringstream text;
  text << name_of(config_.kind) << ", CPUs " << std::hex << config_.cpus << std::dec << ", slice "
       << config_.time_slice << ", prestage " << config_.prestage_percent << '\n';
  auto policy = std::make_unique<struct policy>();
  policy_init(policy.get(), &config_);
  PolicyReference reference(config_);
  for (const Call& call : calls) {
    const Answer actual = call_firmware(*policy, call);
    const Answer expected = call_reference(reference, call);
    text << call << "\n    -> " << actual << '\n';
    if (!(actual == expected)) text << "    -- " << expected << " is expected\n";
  }
  ADD_FAILURE() << text.str();
}
