// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>

#include "vp/snapshot/child.h"
#include "vp/time/time.h"

namespace vp {

/// What a child leaves to its parent, in memory that both share: also one that crashes has left
/// what it wrote before.
struct ChildNote {
  Picoseconds time = 0;  ///< simulated, as far as the child has come
  int guest_code = 0;    ///< with which its guest ended
};

/// A child that has ended.
struct ChildResult {
  std::size_t number = 0;  ///< from 0, in the order of forking
  Ending ending;
  ChildNote note;
  std::chrono::nanoseconds fork_time{};  ///< that fork() took the parent
  std::chrono::nanoseconds wall_time{};  ///< from its fork to its end
};

/// Forks this process once for each of many tasks, several at once.
class Children {
 public:
  struct Calls {
    /// The task of child `number`, called in the child; returns its exit code. See Child.
    std::function<int(std::size_t number, ChildNote& note)> body;
    /// A child has ended; called in the parent, in the order of ending. May be empty.
    std::function<void(const ChildResult& result)> ended;
    /// Called in the parent some tens of times a second and after a signal: whether to go on. May
    /// be empty.
    std::function<bool()> go_on;
  };

  /// Runs `count` children, at most `jobs` (>= 1) at once, and returns when all have ended: true if
  /// all were run. Told not to go on it starts no other, sends SIGTERM to those that run, and kills
  /// those that still run after two seconds. Throws what Child throws; then those that run are
  /// killed.
  static bool run(std::size_t count, unsigned jobs, const Calls& calls);

  /// The processor cores on which this process may run.
  static unsigned cores();
};

}  // namespace vp
