// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <unordered_map>

#include "guest/scheduling/trace/trace.h"

/// What CPUs have found when they looked for a decision. README.md defines the figures.
class Looks {
 public:
  /// The trace must be one in which the checker finds no mistake.
  explicit Looks(const Trace& trace);

  std::uint64_t in_vain() const { return in_vain_; }
  /// Of these, those while a task waited that the CPU could have run.
  std::uint64_t missed() const { return missed_; }

  /// The first looks of CPUs whose task has stopped, by what they have found.
  struct First {
    std::uint64_t prestaged = 0;  // a decision made before that, which is carried out
    std::uint64_t in_time = 0;    // one made after that, which is carried out
    std::uint64_t refused = 0;    // one that is not
    std::uint64_t late = 0;       // none, while a task waited that the CPU could have run
    std::uint64_t nothing = 0;    // none, while no such task waited
    std::uint64_t all() const { return prestaged + in_time + refused + late + nothing; }
  };
  const First& first() const { return first_; }

 private:
  struct Task {
    bool waiting = false;
    std::uint64_t cpus = 0;
    std::optional<unsigned> home;  // with a queue for each CPU, if it is known
  };
  struct Cpu {
    std::optional<std::uint64_t> stop;  // when its task has stopped; it has not looked since then
    std::uint64_t newest = 0;           // of the decision that it has found
    std::optional<std::uint64_t> found_at_first;  // the same stop, if its first look has found it
  };

  void sent(std::size_t at);
  void looked(std::size_t at);
  void ended(std::size_t at);
  bool waits_for(unsigned cpu) const;

  const Trace& trace_;
  std::unordered_map<std::size_t, unsigned> homes_;  // by the records that gave them
  std::map<std::uint64_t, Task> tasks_;
  std::array<Cpu, POLICY_CPUS> cpus_;
  bool has_agent_ = true;  // otherwise tasks take turns, and CPUs look for nothing
  std::uint64_t in_vain_ = 0, missed_ = 0;
  First first_;
};
