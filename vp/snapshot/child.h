// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <chrono>
#include <functional>
#include <stdexcept>

namespace vp {

/// The operating system makes no child; the text says why.
struct ForkError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// How a child has ended.
struct Ending {
  int exit_code = 0;
  int signal = 0;  ///< that killed it, or 0

  bool operator==(const Ending& other) const {
    return exit_code == other.exit_code && signal == other.signal;
  }
};

/// A copy of this process, made by fork(): whatever is simulated goes on in it from the present
/// moment, and nothing it does is seen here but what it writes to files and shared memory.
///
/// The kernel may be running or paused; QEMU, SystemC's processes and the models come along as they
/// are, since they have no thread. What the two share is what they had open: a child must not go on
/// in files and terminals of its parent.
class Child {
 public:
  /// Forks. The child calls `body` and ends with the exit code that it returns, from 0 to 255; an
  /// exception is told on stderr and ends it with ExitCode::broken_promise. Destructors and
  /// functions of atexit() are left to the parent. The child does not outlive its parent.
  ///
  /// Throws ForkError, and std::logic_error if the process has threads, which fork() would lose.
  explicit Child(const std::function<int()>& body);
  /// Kills it if it still runs.
  ~Child();
  Child(Child&& other) noexcept;
  Child& operator=(Child&&) = delete;

  pid_t process() const { return process_; }
  /// A file descriptor that is readable, for poll(), once the child has ended.
  int descriptor() const { return descriptor_; }
  /// Wall time that fork() took here.
  std::chrono::nanoseconds fork_time() const { return fork_time_; }

  /// Sends a signal, unless wait() has been called.
  void signal(int number) const;
  /// Waits for its end; once.
  Ending wait();

 private:
  pid_t process_ = -1;  // -1: none, or waited for
  int descriptor_ = -1;
  std::chrono::nanoseconds fork_time_{};
};

}  // namespace vp
