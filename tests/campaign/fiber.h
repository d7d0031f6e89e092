// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ucontext.h>

#include <functional>
#include <memory>

/// A thread of software within the test's own, which runs until it waits. One that is given up
/// never runs again; what it runs must not own anything then.
class Fiber {
 public:
  explicit Fiber(std::function<void()> body);
  Fiber(const Fiber&) = delete;

  /// Runs it until it waits or ends.
  void resume();
  bool over() const { return over_; }

  /// Of the running one: back to who has resumed it.
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
