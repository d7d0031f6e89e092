// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <string>
#include <vector>

#include "vp/time/calendar.h"

namespace vp {

/// The process that keeps the appointments of all calendars, and what the rest of SystemC means for
/// those who run ahead: the kernel's other processes, which belong to no calendar, may act on
/// anything whenever they run. The agenda lives as long as the kernel.
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

  /// The earliest time before `limit` at which a process of the kernel that is not ours may run or
  /// the run ends, or `limit`. It is the present while such a process is about to run.
  Picoseconds others_before(Picoseconds limit);
  /// Whether one of these is known to happen at `when`, as of the last answer.
  bool others_at(Picoseconds when) const {
    return when == end_ || (looked_ && !hidden_ && others_ == when);
  }
  /// The run ends at `when`: nobody runs ahead past it.
  void end_at(Picoseconds when) { end_ = when; }
  /// Other code has run, which may have notified events.
  void forget_others() { looked_ = false; }

  /// Who acts at present, for messages: the calendar whose appointment is being kept, or the
  /// SystemC process. Empty while the kernel does not run.
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
  /// Takes the alarms away that hide what others do before `limit`.
  void uncover(Picoseconds limit);

  std::vector<Calendar*> calendars_;
  Calendar processors_{Calendar::Last{}};
  const Calendar* keeping_ = nullptr;  // whose appointment is being kept
  bool running_ = false;               // it arms itself when it is through

  // The kernel holds on to a notification that was cancelled until its time has come, unless it is
  // the next of all. So an alarm that has become too late stays, and an earlier one is set before
  // it.
  std::array<Alarm, 32> alarms_;  // those that are set come first, each earlier than the last
  std::size_t set_ = 0;

  // The next event of the kernel that is not an alarm is at `others_` or, while an alarm at that
  // time hides it, not before.
  bool looked_ = false;
  bool hidden_ = false;
  Picoseconds others_ = never;

  Picoseconds end_ = never;
};

}  // namespace vp
