// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <vector>

#include "firmware/scheduling/policy.h"

/// The scheduling policies once more, as plainly as firmware/scheduling/README.md states them. The
/// tests compare the firmware's policies with it.
class PolicyReference {
 public:
  explicit PolicyReference(const policy_config& config);

  policy_reception receive(const ghost_message& message, unsigned length, std::uint64_t time);
  policy_reception outcome(unsigned cpu, std::uint64_t gtid, ghost_state state, std::uint64_t time);
  decision decide(std::uint64_t now);
  std::uint64_t deadline() const;

  /// Whether the task is set aside.
  bool aside(std::uint64_t gtid) const;
  /// The sequence number of the last message used about the task, if it is known.
  std::optional<std::uint32_t> barrier(std::uint64_t gtid) const;
  /// Whether the CPU has a decision without an outcome that waits for what the CPU runs.
  bool has_prestaged(unsigned cpu) const {
    return cpus_[cpu].undecided && cpus_[cpu].undecided->kind != DECISION_PREEMPT;
  }

 private:
  enum class Place { blocked, queued, chosen, running, aside };
  struct Task {
    std::uint64_t gtid;
    std::uint64_t cpus;
    std::uint64_t refused = 0;  // CPUs that said INVALID_TARGET since its last message
    std::uint64_t runtime;      // as its messages reported last
    std::uint64_t age;
    std::uint32_t barrier;
    unsigned home = 0;
    Place place = Place::blocked;
    unsigned cpu = 0;         // where it is chosen or running
    std::uint64_t since = 0;  // when it began to run
    std::optional<unsigned> ran_on;
  };
  struct Undecided {  // a decision without an outcome
    decision_kind kind;
    std::uint64_t gtid;
    std::uint32_t barrier;
    std::uint64_t time;
    bool still_chosen = true;
    bool withdrawing = false;
    bool preempting = false;    // the prestaged task
    bool heard_of_cpu = false;  // a message about the CPU was used since
  };
  enum class State { busy, idle, running };
  struct Cpu {
    State state = State::busy;
    std::uint64_t gtid = 0;   // of the task that runs
    std::uint64_t begun = 0;  // tasks, by the last ON_CPU that was used
    std::optional<std::uint32_t> sequence;
    std::optional<Undecided> undecided;
    bool passed_over = false;  // for the share's sake, since its last decision
  };
  struct Held {
    ghost_message message;
    std::uint64_t time;
  };
  using Queue = std::deque<std::uint64_t>;
  using Choice = std::optional<std::pair<unsigned, std::uint64_t>>;  // CPU and task

  policy_reception receive_about_cpu(const ghost_message& message, std::uint64_t time);
  policy_reception receive_about_task(const ghost_message& message, std::uint64_t time);
  policy_reception hold(const ghost_message& message, std::uint64_t time);
  void use(const ghost_message& message, std::uint64_t time);
  void use_new(const ghost_new& message, std::uint32_t sequence);
  void use_affinity(Task& task, std::uint64_t cpus);
  void use_outcome(unsigned cpu, ghost_state state, std::uint64_t time, bool by_latch_failure);
  std::optional<Held> take_held(std::uint64_t gtid, std::uint32_t sequence);

  void leave(Task& task);
  void block(Task& task) { leave(task); }
  void queue(Task& task, bool at_front);
  void run(Task& task, unsigned cpu, std::uint64_t time);
  void stop_whatever_runs(unsigned cpu);
  void report_runtime(Task& task, std::uint64_t runtime);
  void wake(Task& task);
  void give_home(Task& task);
  bool home_is_forbidden(const Task& task) const;

  static bool may_run(const Task& task, unsigned cpu) {
    return (task.cpus & ~task.refused) >> cpu & 1;
  }
  bool has_slices() const;
  bool queue_for_each_cpu() const { return config_.kind == POLICY_FIFO_PER_CPU; }
  std::uint64_t slice() const;
  bool prestaged(unsigned cpu) const;
  std::uint64_t since(unsigned cpu) const { return tasks_.at(cpus_[cpu].gtid).since; }
  Queue& queue_of(const Task& task) { return queues_[queue_for_each_cpu() ? task.home : 0]; }
  const Queue& one_queue() const;
  std::size_t waiting() const;
  std::vector<unsigned> free_cpus(State state) const;
  Choice first_of_each_queue(const std::vector<unsigned>& cpus) const;
  std::vector<unsigned> allowed(std::uint64_t gtid, const std::vector<unsigned>& cpus) const;
  std::optional<unsigned> longest(const std::vector<unsigned>& cpus) const;
  Choice first_for_longest(const std::vector<unsigned>& cpus) const;

  Choice find_run() const;
  Choice find_prestage() const;
  bool belongs_to_share();
  std::optional<unsigned> find_withdrawal() const;
  decision choose(decision_kind kind, const Choice& choice, std::uint64_t now);
  decision again(decision_kind kind, unsigned cpu) const;

  policy_config config_;
  std::vector<unsigned> configured_;  // CPUs
  std::map<std::uint64_t, Task> tasks_;
  std::array<Cpu, POLICY_CPUS> cpus_;
  std::map<unsigned, Queue> queues_;  // by home, or the one queue as 0
  std::vector<Held> held_;
  std::uint64_t newest_ = 0;
  std::uint64_t floor_ = 0;
  std::uint64_t could_prestage_ = 0;  // decisions so far
  std::optional<unsigned> last_home_;
};
