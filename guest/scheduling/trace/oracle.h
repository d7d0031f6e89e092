// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

#include "guest/scheduling/trace/trace.h"

/// A decision that a CPU has taken although an agent without latency would have made another.
struct Stale {
  std::size_t at;            // record: its end
  std::uint64_t better = 0;  // the task that should have run; 0: none
  std::uint64_t waited = 0;  // by that task, from then until a CPU took a decision for it; ns
};

/// What an agent without latency would have decided. README.md defines it exactly.
class Oracle {
 public:
  /// The trace must be one in which the checker finds no mistake.
  explicit Oracle(const Trace& trace);

  std::uint64_t right() const { return right_; }
  const std::vector<Stale>& stale() const { return stale_; }

  /// Of each decision that a CPU took, the time of its end less that of the newest message that it
  /// rests on, in ns; sorted.
  const std::vector<std::uint64_t>& ages() const { return ages_; }

  /// How long a CPU idled while a task waited that it could have run, in ns.
  std::uint64_t idle_while_waiting() const { return idle_while_waiting_; }

 private:
  struct Decision {
    std::size_t made;  // record: the newest message that it rests on
    std::size_t end;   // record
    std::uint64_t gtid;
    std::uint32_t barrier;
  };

  bool begin();
  void find_decisions();
  void note_owner(const ghost_message& message);
  void receive(std::size_t at);
  void compare(std::size_t at);
  void complete(std::size_t at);
  void refuse(std::size_t at);
  std::optional<std::uint64_t> choice(std::size_t at);
  void set_home(std::uint64_t gtid, unsigned home);
  std::uint64_t waiting(std::uint64_t gtid, std::size_t at) const;
  bool could_run() const;

  const Trace& trace_;
  std::unique_ptr<policy> now_;  // what it knows
  std::unique_ptr<policy> what_if_;
  bool has_agent_ = true;  // it was not given up
  std::uint64_t clock_ = 0;
  std::array<std::vector<Decision>, POLICY_CPUS> decisions_;  // of each CPU, in order
  std::array<std::size_t, POLICY_CPUS> next_{};               // of these, the first without an end
  std::unordered_map<std::size_t, unsigned> homes_;  // by record: that the task gets by its message
  std::unordered_map<std::uint64_t, std::vector<std::size_t>> served_;  // by task: records
  // By task: the number of the message since which it waits, or waited last.
  std::unordered_map<std::uint64_t, std::uint32_t> owned_from_;
  std::uint64_t right_ = 0;
  std::uint64_t idle_while_waiting_ = 0;
  std::vector<Stale> stale_;
  std::vector<std::uint64_t> ages_;
};
