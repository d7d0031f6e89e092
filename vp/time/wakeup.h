// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "vp/time/agenda.h"

namespace vp {

/// Lets a process wait until another one has what it waits for. A processor that waits keeps the
/// appointments meanwhile.
///
/// Those that are woken at one instant go on in the order in which they were woken, after all
/// appointments of that instant and before the processors whose turn it is.
class Wakeup {
 public:
  Wakeup()
      : turn_(
            Calendar::processors(),
            [this] {
              woken_ = true;
              event_.notify();
            },
            Event::before_ranks) {}

  /// Waits until wake() is called. The caller looks again whether it has what it waits for, since
  /// an earlier call may still be due. An SC_THREAD must call this.
  void wait() {
    Agenda& agenda = Agenda::get();
    woken_ = false;
    agenda.forget_others();  // the caller has run
    agenda.keep_until(woken_);
    agenda.rearm();
    while (!woken_) sc_core::wait(event_);
  }
  void wake() { turn_.at(now()); }

 private:
  bool woken_ = false;
  sc_core::sc_event event_;
  Event turn_;
};

}  // namespace vp
