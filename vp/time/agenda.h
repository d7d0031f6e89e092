// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <exception>
#include <string>
#include <vector>

#include "vp/time/calendar.h"

namespace vp {

/// The SystemC process that keeps the appointments of all calendars. It also tells processors how
/// far they may run ahead of SystemC's other processes, which belong to no calendar and may act on
/// any model whenever they run. The agenda lives as long as the kernel.
///
/// A processor that waits can keep the appointments in its own process instead. As long as nothing
/// but appointments is to come, the kernel need not run.
class Agenda {
 public:
  static Agenda& get() { return agenda_ != nullptr ? *agenda_ : make(); }

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
  bool others_at(Picoseconds when) const { return when == end_ || (looked_ && others_ == when); }
  /// Ends the run at `when`, beyond which no processor runs ahead.
  void end_at(Picoseconds when) { end_ = when; }
  /// Forgets the last answer, because other code has run, which may have notified events.
  void forget_others() { looked_ = false; }
  /// The last answer may hold no longer when a processor keeps appointments after its turn.
  void doubt_others() { doubted_ = true; }

  /// The process that calls this has a large stack and may keep appointments while it waits. Before
  /// it waits for anything of SystemC's it calls rearm().
  void admit();
  /// Takes that back. The process may end then.
  void dismiss();
  /// Keeps appointments in the place of the agenda's process until `done`, which the turn of a
  /// processor sets. The last answer of others_before() is taken to hold if nobody has forgotten or
  /// doubted it. Returns before that when something else is to run first: another process of
  /// SystemC, or the kernel's caller. Then the process has to wait for an event, after rearm().
  void keep_until(const bool& done);
  /// Moves on to `when` if nothing at all is to happen until then, that instant included, and the
  /// process goes on without a wait. Returns whether that was possible.
  bool skip_to(Picoseconds when);
  /// Sets no alarms until rearm(), which the process must call before it waits.
  void defer_alarms() { unarmed_ = true; }
  /// Makes sure that the kernel wakes the agenda for the earliest appointment of all calendars.
  void rearm();
  /// Returns whether an appointment is being kept, in whatever process. Its action must not wait.
  bool keeping() const { return keeping_ != nullptr; }

  /// Returns the name of what acts at present, for messages: the calendar whose appointment is
  /// being kept, or the SystemC process. The name is empty while the kernel does not run.
  std::string actor() const;

 private:
  struct Alarm {
    sc_core::sc_event rings;
    Picoseconds when = never;
  };

  friend class Calendar;
  friend void simulate(Picoseconds span, sc_core::sc_starvation_policy policy);

  Agenda();
  static Agenda& make();
  void run();
  void keep_appointments();
  void keep();
  Calendar& next_calendar();
  bool move_on_to(Picoseconds when);
  bool may_keep();
  /// What others_before() returns if no appointment is due.
  Picoseconds kernel_before(Picoseconds limit);
  Picoseconds next_appointment() const;
  /// The kernel's next notification of an event that is no alarm.
  Picoseconds next_notification() const;

  std::vector<Calendar*> calendars_;
  Calendar processors_{Calendar::Last{}};
  const Calendar* keeping_ = nullptr;  // the calendar whose appointment is being kept
  bool unarmed_ = false;               // alarms are set later, by rearm()
  bool keeps_appointments_ = false;    // other than the turns of processors

  // SystemC keeps a cancelled notification until its time has come, unless it is the next one. So
  // an alarm that has become too late stays, and an earlier one is set in front of it.
  std::array<Alarm, 32> alarms_;  // the first `set_` are set, each one earlier than the one before
  std::size_t set_ = 0;

  bool looked_ = false;  // also while a processor has its turn, though a sibling's is due as well
  bool doubted_ = false;
  Picoseconds others_ = never;  // SystemC's next event that is no alarm

  Picoseconds end_ = never;

  std::vector<const sc_core::sc_process_b*> admitted_;
  const sc_core::sc_process_b* asked_ = nullptr;  // the last of them that asked may_keep()
  Picoseconds until_ = 0;  // when the kernel returns to its caller; nobody may act then or later
  std::exception_ptr failure_;

  static Agenda* agenda_;
};

/// Runs the kernel for `span`. Unlike after sc_start(), processors may keep appointments.
void simulate(Picoseconds span, sc_core::sc_starvation_policy policy = sc_core::SC_RUN_TO_TIME);

}  // namespace vp
