// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <string>
#include <vector>

#include "vp/time/calendar.h"

namespace vp {

/// The SystemC process that keeps the appointments of all calendars. It also tells processors how
/// far they may run ahead of SystemC's other processes, which belong to no calendar and may act on
/// any model whenever they run. The agenda lives as long as the kernel.
class Agenda {
 public:
  static Agenda& get();

  void add(Calendar& calendar) { calendars_.push_back(&calendar); }
  void remove(const Calendar& calendar);
  Calendar& processors() { return processors_; }

  /// Makes sure that the kernel wakes the agenda at `next`.
  void arm(Picoseconds next);
  /// Called when an appointment was cancelled. Without any, the kernel is not woken any more.
  void on_cancelled();

  /// Returns the earliest time before `limit` at which another process of SystemC may run or the
  /// run ends, or else `limit`. That time is the present while such a process is about to run.
  Picoseconds others_before(Picoseconds limit);
  /// Returns whether, according to the last answer, one of these happens at `when`.
  bool others_at(Picoseconds when) const {
    return when == end_ || (looked_ && !hidden_ && others_ == when);
  }
  /// Ends the run at `when`, beyond which no processor runs ahead.
  void end_at(Picoseconds when) { end_ = when; }
  /// Forgets the last answer, because other code has run, which may have notified events.
  void forget_others() { looked_ = false; }

  /// Returns the name of what acts at present, for messages: the calendar whose appointment is
  /// being kept, or the SystemC process. The name is empty while the kernel does not run.
  std::string actor() const;

 private:
  struct Alarm {
    sc_core::sc_event rings;
    Picoseconds when = never;
  };

  friend class Calendar;

  Agenda();
  void run();
  void keep_appointments();
  Picoseconds next_appointment() const;
  void look();
  /// Removes the alarms that hide what other processes do before `limit`.
  void uncover(Picoseconds limit);

  std::vector<Calendar*> calendars_;
  Calendar processors_{Calendar::Last{}};
  const Calendar* keeping_ = nullptr;  // the calendar whose appointment is being kept
  bool running_ = false;               // run() arms the next alarm at its end
  bool keeps_appointments_ = false;    // run() has not come to the processors' turns

  // SystemC keeps a cancelled notification until its time has come, unless it is the next one. So
  // an alarm that has become too late stays, and an earlier one is set in front of it.
  std::array<Alarm, 32> alarms_;  // the first `set_` are set, each one earlier than the one before
  std::size_t set_ = 0;

  // SystemC's next event that is no alarm is at `others_`, or later if an alarm at that time hides
  // it.
  bool looked_ = false;
  bool hidden_ = false;
  Picoseconds others_ = never;

  Picoseconds end_ = never;
};

}  // namespace vp
