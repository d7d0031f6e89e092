// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>

#include "vp/snapshot/child.h"
#include "vp/time/time.h"

namespace vp {

/// What a child reports to its parent, in memory that both share. The note remains if the child
/// crashes.
struct ChildNote {
  Picoseconds time = 0;  ///< the simulated time that the child has reached
  int guest_code = 0;    ///< the exit code of its guest
};

/// A child that has ended.
struct ChildResult {
  std::size_t number = 0;  ///< counted from 0 in the order of forking
  Ending ending;
  ChildNote note;
  std::chrono::nanoseconds fork_time{};  ///< the time of fork() in the parent
  std::chrono::nanoseconds wall_time{};  ///< from its fork to its end
};

/// Forks this process once for each of many tasks, several at once.
class Children {
 public:
  struct Calls {
    /// The task of child `number`, which runs in the child and returns its exit code. See Child.
    std::function<int(std::size_t number, ChildNote& note)> body;
    /// Called in the parent whenever a child has ended, in the order of their ends. May be empty.
    std::function<void(const ChildResult& result)> ended;
    /// Called in the parent some tens of times a second and after a signal. Returns whether to
    /// continue. May be empty.
    std::function<bool()> go_on;
  };

  /// Runs `count` children, at most `jobs` (1 or more) at once, and returns when all have ended.
  /// Returns true if all were run. If it must not continue, it starts no more children, sends
  /// SIGTERM to those that run, and kills those that still run after two seconds. Throws the
  /// exceptions of Child after it has killed those that run.
  static bool run(std::size_t count, unsigned jobs, const Calls& calls);

  /// The number of processor cores on which this process may run.
  static unsigned cores();
};

}  // namespace vp
