// SPDX-License-Identifier: Apache-2.0
#include "tests/campaign/fiber.h"

#include <utility>

Fiber* Fiber::running_ = nullptr;

Fiber::Fiber(std::function<void()> body) : body_(std::move(body)), stack_(new char[stack_bytes]) {
  getcontext(&context_);
  context_.uc_stack.ss_sp = stack_.get();
  context_.uc_stack.ss_size = stack_bytes;
  context_.uc_link = &resumer_;
  makecontext(&context_, &Fiber::enter, 0);
}

void Fiber::enter() {
  running_->body_();
  running_->over_ = true;
}

void Fiber::resume() {
  Fiber* const outer = std::exchange(running_, this);
  swapcontext(&resumer_, &context_);
  running_ = outer;
}

void Fiber::wait() {
  Fiber* const self = running_;
  swapcontext(&self->context_, &self->resumer_);
}
