// SPDX-License-Identifier: Apache-2.0
#include "vp/time/wall_clock.h"

#include <signal.h>
#include <sys/time.h>

#include <systemc>

namespace vp {
namespace {

constexpr sig_atomic_t enough = 2;  // ticks after which the kernel pauses

volatile sig_atomic_t ticks = 0;  // since the last look
sig_atomic_t ticks_at_look = 0;

// Called in the middle of anything: it only sets variables, as sc_pause() does.
void on_tick(int) {
  if (ticks < enough) ticks = ticks + 1;
  if (ticks == enough) sc_core::sc_pause();
}

void tick_every(std::chrono::milliseconds interval) {
  itimerval timer{};
  timer.it_interval.tv_sec = interval.count() / 1000;
  timer.it_interval.tv_usec = interval.count() % 1000 * 1000;
  timer.it_value = timer.it_interval;
  ::setitimer(ITIMER_REAL, &timer, nullptr);
}

}  // namespace

void WallClock::start(std::chrono::milliseconds interval) {
  struct sigaction action {};
  action.sa_handler = on_tick;
  action.sa_flags = SA_RESTART | SA_ONSTACK;
  ::sigaction(SIGALRM, &action, nullptr);
  ticks_at_look = interval.count() == 0 ? enough : 0;
  ticks = ticks_at_look;
  tick_every(interval);
}

void WallClock::stop() {
  tick_every(std::chrono::milliseconds(0));
  ::signal(SIGALRM, SIG_DFL);
  ticks_at_look = 0;
  ticks = 0;
}

void WallClock::look() {
  ticks = ticks_at_look;
}

bool WallClock::pausing() {
  return ticks == enough;
}

}  // namespace vp
