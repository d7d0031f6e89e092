// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ucontext.h>

#include <functional>
#include <memory>

/// A fiber of software within the thread of the test. It runs until it waits. A fiber that is
/// abandoned never runs again, so its code must not own anything at that time.
class Fiber {
 public:
  explicit Fiber(std::function<void()> body);
  Fiber(const Fiber&) = delete;

  /// Runs the fiber until it waits or ends.
  void resume();
  bool over() const { return over_; }

  /// Called by the running fiber: returns to the caller of resume().
  static void wait();
  static Fiber* running() { return running_; }

 private:
  static constexpr std::size_t stack_bytes = 256 * 1024;
  static void enter();

  static Fiber* running_;
  std::function<void()> body_;
  std::unique_ptr<char[]> stack_;
  ucontext_t context_{};
  ucontext_t resumer_{};
  bool over_ = false;
};
