// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "guest/scheduling/trace/figures/spread.h"
#include "guest/scheduling/trace/figures/stamps.h"
#include "guest/scheduling/trace/trace.h"

/// A part of a context switch. Means are rounded so that those of the parts add up to the whole's.
struct SwitchPart {
  std::string name;
  std::uint64_t mean;  // ns, as all others
  Spread spread;
};

/// All context switches of one kind, by parts; the last one is the whole.
struct SwitchKind {
  std::string name;
  std::uint64_t count = 0;
  std::vector<SwitchPart> parts;
};

/// The context switches of a trace. README.md defines what counts, and the parts.
class Switches {
 public:
  /// The trace must be one in which the checker finds no mistake. With stamps, switches between two
  /// tasks that have stamped them are of a kind of their own.
  Switches(const Trace& trace, const Stamps* stamps);

  std::vector<SwitchKind> kinds() const;

  /// Of the times that a task began on a CPU, those that are no context switch.
  std::uint64_t resumed() const { return resumed_; }      // by no decision, or after itself
  std::uint64_t disturbed() const { return disturbed_; }  // other things came between
  std::uint64_t awaited() const { return awaited_; }      // it came after the other had stopped
  std::uint64_t turns() const { return turns_; }          // its turn had come, without an agent

 private:
  using Marks = std::vector<std::uint64_t>;  // the times that part the parts
  enum Kind { stamped, stopped_first, decided_first, kinds_ };

  /// The decision that a CPU has found last.
  struct Found {
    std::uint64_t claim = 0, claimed = 0, end = 0, reported = 0;
    bool first = false;  // before the task stopped
  };
  /// Since its task began to run.
  struct Cpu {
    std::uint64_t began = 0;
    std::uint64_t gtid = 0;               // the task that stopped last
    std::optional<std::uint64_t> stop;    // when; none: it runs, or none has run yet
    std::optional<std::uint64_t> before;  // when that task was about to block
    std::optional<std::uint64_t> look;    // when the CPU has looked first since the task stopped
    Found found;
    std::optional<Found> carried_out;
    bool blocked = false;
    bool disturbed = false;
    std::optional<Marks> unfinished;  // the last switch, whose task has not been seen to go on
  };

  void sent(std::size_t at);
  void note(std::size_t at);
  void stopping(std::size_t at);
  void begin(std::size_t at, const ghost_message& message);
  std::optional<Marks> switch_to(std::uint64_t gtid, std::uint64_t on_cpu, const Cpu& cpu);

  const Trace& trace_;
  const Stamps* stamps_;
  std::array<Cpu, POLICY_CPUS> cpus_;
  std::array<std::uint64_t, POLICY_CPUS> begun_{};          // the number of a CPU's last task
  std::unordered_map<std::uint64_t, std::uint64_t> ready_;  // by task: since when it can run
  std::array<std::vector<Marks>, kinds_> switches_;
  std::unordered_set<std::size_t> turns_of_tasks_;  // records
  std::uint64_t resumed_ = 0, disturbed_ = 0, awaited_ = 0, turns_ = 0;
};
