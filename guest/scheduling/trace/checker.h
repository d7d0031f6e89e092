// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "guest/scheduling/trace/trace.h"

/// What became of the decisions of a trace.
struct Accounts {
  std::array<std::uint64_t, GHOST_OUTCOMES> ended{};  // by how they ended in the kernel
  std::uint64_t ran = 0;                              // COMPLETE: the task ran
  std::uint64_t taken_back = 0;    // COMPLETE: the task or the CPU changed before it ran
  std::uint64_t withdrawn = 0;     // the kernel never saw them
  std::uint64_t lost = 0;          // messages
  std::uint64_t looks = 0;         // of CPUs that found no decision
  std::uint64_t longest_wait = 0;  // of a task, while a CPU that it may use idled; ns
  std::uint64_t decisions = 0;     // all that are known
  // Of agents that were given up.
  std::uint64_t resumed = 0;      // how often one has begun anew
  std::uint64_t discarded = 0;    // decisions that stood then, and that no CPU has got
  std::uint64_t undelivered = 0;  // messages and ends of decisions, at most
  std::uint64_t unknown = 0;      // agents of which that is not known
  std::uint64_t withheld = 0;     // messages, while there was no agent
  std::uint64_t turns = 0;        // of tasks, without a decision
  std::uint64_t alone = 0;        // how long there was no agent, ns
};

/// Replays a trace and notes what cannot be. README.md has the rules.
class Checker {
 public:
  /// `limit`: how long a task may wait while a CPU that it may use idles, in ns.
  Checker(const Trace& trace, std::uint64_t limit);

  /// The first mistakes, in words. Empty: the trace is right.
  const std::vector<std::string>& mistakes() const { return mistakes_; }
  const Accounts& accounts() const { return accounts_; }

 private:
  enum class Place { fresh, blocked, waiting, latched, running, stopped, gone };
  struct Task {
    Place place = Place::fresh;
    unsigned cpu = 0;  // LATCHED, RUNNING, STOPPED: where
    std::uint32_t sequence = 0;
    std::uint32_t owned_from = 0;  // number of the message since which it waits, or waited last
    std::uint64_t cpus = 0;
    std::optional<unsigned> home;  // with a queue for each CPU, if it is known
    std::uint64_t runtime = 0;
    std::uint64_t since = 0;       // since when it waits while a CPU idles; 0: it does not
    std::uint64_t latched_at = 0;  // when a decision for it was last carried out
    std::uint64_t refused = 0;     // when a decision for it was last refused for its sake
    bool changed = false;          // stopped, and then only changed: it goes on
    bool told = true;              // the agent has heard of it
    std::uint32_t told_by = 0;     // number of the message by which an agent was told of it anew
    std::optional<std::size_t> doubtful;  // that message, if the next one has to explain it
    std::map<std::uint32_t, std::uint64_t> times;  // of its messages
  };
  struct Decision {
    const oae_sched_record* claim = nullptr;
    std::size_t at = 0;            // index of the claim
    bool waiting = false;          // at the claim, the task could be run
    std::uint32_t sequence = 0;    // at the claim, of the last message about the task
    std::uint32_t owned_from = 0;  // at the claim, as the task's
    std::uint64_t cpus = 0;        // at the claim, as the task's
  };
  struct Cpu {
    std::uint64_t time = 0;  // until which its records reach
    std::uint64_t switches = 0;
    std::uint64_t number = 0;  // of the last decision that it claimed
    std::uint32_t sequence = 0;
    std::map<std::uint32_t, std::size_t> early;  // messages that others sent ahead
    std::uint64_t gtid = 0;                      // that runs there or is latched
    Place place = Place::gone;                   // RUNNING, LATCHED: that task's; GONE: none
    bool idle = false;
    bool looked = false;  // in vain, since it ran a task
    bool told = true;     // if it idles, the agent has heard of that
    Decision decision;
  };
  /// What was recorded since an agent began.
  struct Agent {
    std::array<std::uint64_t, GHOST_TYPES> sent{};
    std::array<std::uint64_t, GHOST_OUTCOMES> ended{};
    std::array<std::uint64_t, POLICY_CPUS> claims{};
    // By CPU: the times of what it has sent, which is 0 for ends of decisions.
    std::array<std::vector<std::uint64_t>, POLICY_CPUS> events;
    std::array<std::uint64_t, POLICY_CPUS> lost{};
    std::unordered_map<std::uint64_t, unsigned> times;         // of messages: how many
    std::unordered_set<std::uint64_t> newest;                  // of decisions
    std::optional<std::size_t> begun;                          // record, if it has begun anew
    std::optional<std::size_t> given_up;                       // record
    std::array<std::optional<std::size_t>, POLICY_CPUS> left;  // by CPU: record
    std::uint64_t undelivered = 0;                             // in all
    std::uint64_t untold_until = 0;  // it begins anew, and is still told of tasks
  };
  /// What has to be true at the end of the trace.
  struct Refusal {
    std::size_t at;
    std::uint64_t gtid;
    std::uint32_t barrier;
    int state;
  };

  void wrong(std::size_t at, const std::string& what);
  void replay(std::size_t at);
  bool is_over(std::size_t at) const;
  void sent(std::size_t at, const ghost_message& message);
  void about_cpu(std::size_t at, const ghost_message& message);
  void about_task(std::size_t at, const ghost_message& message);
  void begin_task(std::size_t at, const ghost_message& message);
  void check_sending(std::size_t at);
  void given_up(std::size_t at);
  void left_behind(std::size_t at);
  void check_undelivered(unsigned cpu);
  void resumed(std::size_t at);
  void tell_anew(std::size_t at, const ghost_message& message, Task& task);
  void take_turn(std::size_t at, unsigned cpu, Task& task);
  bool is_told_anew(const ghost_message& message, const Task& task) const;
  void check_all_told(std::size_t at);
  void end_agent();
  void check_fallbacks();
  void check_fallback(std::size_t number);
  std::uint64_t claims() const;
  bool has_agent() const { return !agent_.given_up; }
  bool is_late(std::size_t at, std::uint64_t since) const;
  void left(std::size_t at, const ghost_message& message, Task& task);
  void on_cpu(std::size_t at, const ghost_message& message, Task& task);
  void end_task(Task& task);
  bool is_claimed(std::uint64_t gtid) const;
  bool is_taken_up(const Decision& decision, const Task& task) const;
  void find_home(std::size_t at, Task& task) const;
  void take_back(Task& task);
  void note_runtime(std::size_t at, Task& task, std::uint64_t runtime);
  void check_switches(std::size_t at, unsigned cpu, std::uint64_t switches);
  void claimed(std::size_t at);
  void ended(std::size_t at);
  void complete(std::size_t at, Cpu& cpu, Task& task);
  bool still_counts(std::size_t at, const Decision& decision, const Task& task);
  void stopping(std::size_t at);
  bool could_run(const Task& task, std::uint64_t idle) const;
  bool is_excused(std::size_t at, std::uint64_t since) const;
  void measure_waiting(std::size_t at);
  void note_waiting(std::size_t at);
  void check_refusals();
  bool is_owned() const { return trace_.head.rule == RULE_OWNER; }
  void check_end();
  void check_sums();
  void check_agent();
  void check_ports();
  void check_sum(const char* what, const char* name, std::uint64_t trace, std::uint64_t kernel);

  const Trace& trace_;
  std::uint64_t limit_;
  std::unordered_map<std::size_t, unsigned> homes_;  // by the records that gave them
  std::unordered_set<std::size_t> turns_;            // records by which a task has its turn
  std::vector<std::size_t> fallbacks_;               // records: an agent was given up
  std::vector<std::size_t> resumptions_;             // records: one has begun anew
  std::unordered_map<std::uint64_t, Task> tasks_;
  std::array<Cpu, POLICY_CPUS> cpus_;
  Agent agent_;
  std::array<std::uint64_t, GHOST_TYPES> sent_{};
  std::vector<Refusal> refusals_;
  Accounts accounts_;
  std::vector<std::string> mistakes_;
};
