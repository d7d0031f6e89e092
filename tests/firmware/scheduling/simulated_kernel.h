// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <random>
#include <vector>

#include "firmware/scheduling/policy.h"

/// A small honest kernel: tasks on CPUs, and events that happen to them by chance. Each CPU has a
/// queue of messages, a channel for outcomes and one for decisions on their way to it. Each of them
/// keeps its order, and they overtake one another.
///
/// An outcome which says that the CPU cannot be used travels with the CPU's messages, so that the
/// next AVAILABLE cannot overtake it.
class SimulatedKernel {
 public:
  struct Delivery {
    bool is_message;
    ghost_message message;
    unsigned cpu;  // of an outcome
    std::uint64_t gtid;
    ghost_state state;
  };

  SimulatedKernel(std::uint64_t configured, std::uint64_t seed);

  /// Something happens by chance.
  void happen();
  /// A decision sets out for its CPU. It can be about a task that is prestaged there already.
  void send(const decision& decision, bool about_prestaged) {
    cpus_[decision.cpu].decisions.push_back({decision, about_prestaged});
  }
  /// The next decision of any CPU arrives. Returns false if there is none.
  bool carry_out();
  /// The next message or outcome of any CPU.
  std::optional<Delivery> deliver();

  /// Events cease: each CPU is given back, and each task may run on a CPU of the configuration.
  void settle();
  /// One running task blocks for good. Returns false if none runs.
  bool finish();
  /// The tasks that could run and do not.
  unsigned waiting() const;

  /// What a decision did that it should not have done, or nullptr.
  const char* wrong() const { return wrong_; }
  /// How many prestaged decisions CPUs used when they became free.
  unsigned used_prestaged() const { return used_prestaged_; }
  /// How many withdrawals came in time, and too late.
  unsigned withdrawn() const { return withdrawn_; }
  unsigned withdrawn_too_late() const { return withdrawn_too_late_; }
  /// How many decisions another CPU than the task's refused.
  unsigned refused_by_pin() const { return refused_by_pin_; }

  std::uint64_t now = 0;  // ns

 private:
  enum class State { blocked, runnable, running };
  struct Task {
    std::uint64_t gtid;
    std::uint32_t barrier;
    std::uint32_t came;  // sequence number of its last NEW
    std::uint64_t cpus;
    State state = State::blocked;
    unsigned cpu = 0;  // where it runs or ran last
    std::uint64_t runtime = 0;
    std::uint64_t since = 0;
    std::optional<unsigned> pinned;  // to a CPU, of which no message tells
  };
  struct Sent {
    struct decision decision;
    bool about_prestaged;
  };
  struct Cpu {
    std::uint32_t barrier = 0;
    bool taken = true;  // by a higher class
    std::uint64_t switches = 0;
    std::uint64_t running = 0;  // the task, or 0
    std::optional<decision> prestaged;
    std::deque<Delivery> messages;
    std::deque<Delivery> outcomes;
    std::deque<Sent> decisions;
  };

  unsigned chance(unsigned below) { return static_cast<unsigned>(random_() % below); }
  unsigned any_cpu();
  std::uint64_t any_set();
  Task* any_task(State state);
  void send_message(unsigned cpu, const ghost_message& message);
  void send_begins(unsigned by, Task& task);
  void send_about_cpu(unsigned type, unsigned cpu);
  void send_outcome(const decision& decision, ghost_state state);
  bool has_message_on_its_way(std::uint64_t gtid, bool only_new = false) const;

  void happen_to_running(Task& task);
  void create();
  void come_back(Task& task);
  void stop(Task& task, unsigned type);
  void hand_over(Task& task);
  void wake();
  void end(Task& task);
  void change_affinity(Task& task, std::uint64_t cpus);
  void change_priority(Task& task);
  void take(unsigned cpu);
  void give_back(unsigned cpu);

  void run(const decision& decision);
  void start(Task& task, unsigned cpu);
  void use_prestaged(unsigned cpu);
  std::optional<ghost_state> refusal(const decision& decision);

  std::uint64_t configured_;
  std::mt19937_64 random_;
  std::vector<unsigned> numbers_;  // of the CPUs of the configuration
  std::map<std::uint64_t, Task> tasks_;
  std::array<Cpu, POLICY_CPUS> cpus_;
  std::uint64_t last_gtid_ = 0;
  bool settling_ = false;
  const char* wrong_ = nullptr;
  unsigned used_prestaged_ = 0;
  unsigned withdrawn_ = 0;
  unsigned withdrawn_too_late_ = 0;
  unsigned refused_by_pin_ = 0;
};
