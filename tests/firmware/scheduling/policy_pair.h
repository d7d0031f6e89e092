// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <iosfwd>
#include <memory>
#include <string>
#include <vector>

#include "tests/firmware/scheduling/policy_reference.h"

/// The names of the policies, as tests show them.
const char* name_of(policy_kind kind);

/// The firmware's policy and the reference, which receive the same calls. If their answers differ,
/// the test fails once and shows the shortest sequence of calls it can find that makes them differ.
class PolicyPair {
 public:
  explicit PolicyPair(const policy_config& config);

  policy_reception receive(const ghost_message& message, std::uint64_t time);
  policy_reception receive(const ghost_message& message, unsigned length, std::uint64_t time);
  policy_reception outcome(unsigned cpu, std::uint64_t gtid, ghost_state state, std::uint64_t time);
  decision decide(std::uint64_t now);
  std::uint64_t deadline() const { return reference_->deadline(); }
  bool aside(std::uint64_t gtid) const { return reference_->aside(gtid); }
  std::optional<std::uint32_t> barrier(std::uint64_t gtid) const {
    return reference_->barrier(gtid);
  }
  bool has_prestaged(unsigned cpu) const { return reference_->has_prestaged(cpu); }

  /// Whether all answers were equal so far.
  bool agrees() const { return agrees_; }

 private:
  struct Call {
    enum { receive, outcome, decide } function;
    std::uint64_t time;
    ghost_message message;  // receive
    unsigned length;
    unsigned cpu;  // outcome
    std::uint64_t gtid;
    ghost_state state;
  };
  /// What a call returned, and the deadline after it.
  struct Answer {
    int reception;
    decision decided;
    std::uint64_t deadline;
  };
  friend bool operator==(const Answer& a, const Answer& b);
  friend std::ostream& operator<<(std::ostream& stream, const Answer& answer);
  friend std::ostream& operator<<(std::ostream& stream, const Call& call);

  Answer make(const Call& call);
  void init();
  void fail() const;
  std::vector<Call> shorten() const;
  static bool differs(const policy_config& config, const std::vector<Call>& calls);
  static Answer call_firmware(policy& policy, const Call& call);
  static Answer call_reference(PolicyReference& reference, const Call& call);

  policy_config config_;
  std::unique_ptr<policy> policy_ = std::make_unique<policy>();
  std::unique_ptr<PolicyReference> reference_;
  std::vector<Call> calls_;
  bool agrees_ = true;
};
