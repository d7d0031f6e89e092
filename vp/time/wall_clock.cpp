// SPDX-License-Identifier: Apache-2.0
#include "vp/time/wall_clock.h"

#include <signal.h>
#include <sys/time.h>

#include <systemc>

namespace vp {
namespace {

volatile sig_atomic_t ticks = 0;  // since the last look

// Called in the middle of anything: it only sets variables, as sc_pause() does.
void on_tick(int) {
  if (ticks < 2) ticks = ticks + 1;
  if (ticks == 2) sc_core::sc_pause();
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
  ticks = 0;
  tick_every(interval);
}

void WallClock::stop() {
  tick_every(std::chrono::milliseconds(0));
  ::signal(SIGALRM, SIG_DFL);
  ticks = 0;
}

void WallClock::look() {
  ticks = 0;
}

bool WallClock::pausing() {
  return ticks == 2;
}

}  // namespace vp
