// SPDX-License-Identifier: Apache-2.0
#include "vp/snapshot/child.h"

#include <fmt/format.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <exception>
#include <iostream>
#include <thread>
#include <utility>

#include "vp/exit_code.h"
#include "vp/snapshot/threads.h"

// The header of glibc 2.36 lacks this declaration.
extern "C" {
#include <sys/pidfd.h>
}

namespace vp {
namespace {

// A directory of /proc has two links, and one more for each directory in it.
bool shows_threads() {
  struct stat tasks {};
  return ::stat("/proc/self/task", &tasks) == 0 && tasks.st_nlink > 3;
}

// The kernel wakes whoever joins a thread before it removes that thread from /proc. A thread that
// stays there has not ended.
bool has_threads() {
  const auto patience = std::chrono::steady_clock::now() + std::chrono::seconds(1);
  while (shows_threads()) {
    if (std::chrono::steady_clock::now() > patience) return true;
    std::this_thread::sleep_for(std::chrono::microseconds(100));
  }
  return false;
}

// Otherwise both processes would write the rest of the buffers.
void flush_all() {
  std::fflush(nullptr);
  std::cout.flush();
  std::clog.flush();
}

[[noreturn]] void be_child(pid_t parent, const std::function<int()>& body) {
  // The parent may have ended before the call above, which makes this child end with its parent.
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(static_cast<int>(ExitCode::interrupted));
  int code = static_cast<int>(ExitCode::broken_promise);
  try {
    code = body();
  } catch (const std::exception& defect) {
    fmt::print(stderr, "oae-vp: defect of the simulator: {}\n", defect.what());
  } catch (...) {
    fmt::print(stderr, "oae-vp: defect of the simulator\n");
  }
  flush_all();
  ::_exit(code);
}

}  // namespace

Child::Child(const std::function<int()>& body) {
  if (has_threads())
    throw ThreadsRemain(
        fmt::format("a process with threads cannot be forked, and this one has: {}; a model must "
                    "have ended its threads before the mark, or do its work in SystemC's processes",
                    describe(other_threads())));
  flush_all();
  const pid_t parent = ::getpid();
  const auto begin = std::chrono::steady_clock::now();
  process_ = ::fork();
  if (process_ == 0) be_child(parent, body);
  fork_time_ = std::chrono::steady_clock::now() - begin;
  if (process_ < 0) throw ForkError(fmt::format("cannot fork: {}", strerror(errno)));
  descriptor_ = ::pidfd_open(process_, 0);
  if (descriptor_ < 0) {
    const int error = errno;
    signal(SIGKILL);
    wait();
    throw ForkError(fmt::format("cannot watch a child: {}", strerror(error)));
  }
}

Child::~Child() {
  if (process_ > 0) {
    signal(SIGKILL);
    wait();
  }
  if (descriptor_ >= 0) ::close(descriptor_);
}

Child::Child(Child&& other) noexcept
    : process_(std::exchange(other.process_, -1)),
      descriptor_(std::exchange(other.descriptor_, -1)),
      fork_time_(other.fork_time_) {}

void Child::signal(int number) const {
  if (process_ > 0) ::kill(process_, number);
}

Ending Child::wait() {
  int status = 0;
  while (::waitpid(process_, &status, 0) < 0 && errno == EINTR) {
  }
  process_ = -1;
  if (WIFSIGNALED(status)) return {0, WTERMSIG(status)};
  return {WEXITSTATUS(status), 0};
}

}  // namespace vp
