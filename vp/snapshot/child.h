// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <chrono>
#include <functional>
#include <stdexcept>

namespace vp {

/// The operating system refuses to create a child. The text says why.
struct ForkError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// The process has threads, which fork() would lose. The text names them, and the libraries that
/// have started them.
struct ThreadsRemain : std::logic_error {
  using std::logic_error::logic_error;
};

/// The way in which a child has ended.
struct Ending {
  int exit_code = 0;
  int signal = 0;  ///< the signal that killed it, or 0

  bool operator==(const Ending& other) const {
    return exit_code == other.exit_code && signal == other.signal;
  }
};

/// A copy of this process made by fork(). The simulation continues in it from the present moment.
/// Only files and shared memory that the child writes affect the parent.
///
/// The SystemC kernel may be running or paused. The copy includes QEMU, SystemC's processes and the
/// models, since none of them has a thread. Parent and child share their open files, so the child
/// must not use the files and terminals of its parent.
class Child {
 public:
  /// Forks. The child calls `body` and ends with the exit code that it returns, 0 to 255. An
  /// exception is printed to stderr and ends the child with ExitCode::broken_promise. The child
  /// calls no destructors and no functions of atexit(), and it does not outlive its parent.
  ///
  /// Throws ForkError. Throws ThreadsRemain if the process has threads.
  explicit Child(const std::function<int()>& body);
  /// Kills the child if it still runs.
  ~Child();
  Child(Child&& other) noexcept;
  Child& operator=(Child&&) = delete;

  pid_t process() const { return process_; }
  /// A file descriptor for poll(), which is readable when the child has ended.
  int descriptor() const { return descriptor_; }
  /// The wall time that fork() has taken in the parent.
  std::chrono::nanoseconds fork_time() const { return fork_time_; }

  /// Sends a signal to the child, unless wait() has returned.
  void signal(int number) const;
  /// Waits for the end of the child. May be called once.
  Ending wait();

 private:
  pid_t process_ = -1;  // -1 after wait()
  int descriptor_ = -1;
  std::chrono::nanoseconds fork_time_{};
};

}  // namespace vp
