// SPDX-License-Identifier: Apache-2.0
#include "vp/time/agenda.h"

#include <algorithm>
#include <utility>

#include "vp/time/kernel.h"

namespace vp {
namespace {

// The most appointments of one instant that are kept in one run. A model that makes appointments
// without end must not keep SystemC from its delta cycles, in which it can be paused.
constexpr unsigned most_at_once = 4096;

}  // namespace

Agenda* Agenda::agenda_ = nullptr;

Agenda& Agenda::make() {
  agenda_ = new Agenda;
  return *agenda_;
}

Agenda::Agenda() {
  sc_core::sc_spawn_options options;
  options.spawn_method();
  options.dont_initialize();
  for (Alarm& alarm : alarms_) options.set_sensitivity(&alarm.rings);
  sc_core::sc_spawn([this] { run(); }, sc_core::sc_gen_unique_name("agenda"), &options);
}

void Agenda::remove(const Calendar& calendar) {
  calendars_.erase(std::remove(calendars_.begin(), calendars_.end(), &calendar), calendars_.end());
}

void Agenda::run() {
  const Picoseconds present = now();
  while (set_ > 0 && alarms_[set_ - 1].when <= present) --set_;
  if (failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
  looked_ = false;
  unarmed_ = true;
  keep_appointments();
  // Everything else that happens at this instant comes before each turn of a processor, however
  // many delta cycles it takes.
  if (processors_.next_event() <= present && next_appointment() > present &&
      kernel_before(present + 1) > present) {
    processors_.run_due(1);
  }
  rearm();
}

void Agenda::admit() {
  admitted_.push_back(sc_core::sc_get_current_process_b());
}

void Agenda::dismiss() {
  const auto* const process = sc_core::sc_get_current_process_b();
  admitted_.erase(std::remove(admitted_.begin(), admitted_.end(), process), admitted_.end());
  asked_ = nullptr;
  rearm();
}

bool Agenda::may_keep() {
  if (until_ == 0 || keeping_ != nullptr || failure_) return false;
  const auto* const process = sc_core::sc_get_current_process_b();
  if (process == asked_) return process != nullptr;
  const bool admitted = std::find(admitted_.begin(), admitted_.end(), process) != admitted_.end();
  if (admitted) asked_ = process;
  return admitted;
}

// An exception belongs to the appointment, and not to the process that happens to keep it.
void Agenda::keep_until(const bool& done) {
  if (done || !may_keep()) return;
  if (std::exchange(doubted_, false)) looked_ = false;
  unarmed_ = true;
  try {
    keep();
  } catch (const sc_core::sc_unwind_exception&) {
    throw;  // the process is killed
  } catch (...) {
    failure_ = std::current_exception();
    keeps_appointments_ = false;
    unarmed_ = false;
    arm(now());
  }
}

// As in run(), all appointments of an instant come before whatever they make ready to run.
void Agenda::keep() {
  bool begun = false;
  for (unsigned left = most_at_once; left > 0;) {
    Calendar& calendar = next_calendar();
    const Picoseconds next = calendar.next_event();
    const bool turn = &calendar == &processors_;
    if (!begun || next > now() || turn) {
      if (!move_on_to(next)) return;
      left = most_at_once;
    }
    if (turn) {
      processors_.run_due(1);
      return;
    }
    keeps_appointments_ = true;
    left -= calendar.run_due(left);
    keeps_appointments_ = false;
    begun = true;
  }
}

bool Agenda::skip_to(Picoseconds when) {
  if (processors_.next_event() <= when) return false;  // soon known
  if (!may_keep() || next_calendar().next_event() <= when) return false;
  looked_ = false;
  const bool armed = !std::exchange(unarmed_, true);
  const bool moved = move_on_to(when);  // which may have cancelled an alarm
  if (armed) rearm();
  return moved;
}

// Returns the calendar with the next appointment. At one instant processors come last.
Calendar& Agenda::next_calendar() {
  Calendar* found = &processors_;
  Picoseconds next = processors_.next_event();
  for (std::size_t i = calendars_.size(); i > 0; --i) {
    Calendar* const calendar = calendars_[i - 1];
    if (calendar->next_event() > next) continue;
    next = calendar->next_event();
    found = calendar;
  }
  return *found;
}

// Makes `when` the present, unless the kernel has something to do before.
bool Agenda::move_on_to(Picoseconds when) {
  if (when >= until_ || Kernel::is_to_return()) return false;
  while (set_ > 0 && alarms_[set_ - 1].when <= when) alarms_[--set_].rings.cancel();
  if (kernel_before(when + 1) <= when) return false;
  if (when > now()) Kernel::advance(when);
  return true;
}

void Agenda::rearm() {
  if (!unarmed_) return;
  unarmed_ = false;
  const Picoseconds next = std::min(next_appointment(), processors_.next_event());
  if (next == never) on_cancelled();
  arm(next);
}

void Agenda::keep_appointments() {
  const Picoseconds present = now();
  keeps_appointments_ = true;
  unsigned left = most_at_once;
  for (std::size_t i = 0; i < calendars_.size() && left > 0;) {
    if (calendars_[i]->next_event() <= present) {
      left -= calendars_[i]->run_due(left);
      i = 0;  // the actions may have made appointments of other calendars due
    } else {
      ++i;
    }
  }
  keeps_appointments_ = false;
}

Picoseconds Agenda::next_appointment() const {
  Picoseconds next = never;
  for (const Calendar* calendar : calendars_) next = std::min(next, calendar->next_event());
  return next;
}

// An alarm that rings too early finds nothing due.
void Agenda::arm(Picoseconds next) {
  if (unarmed_ || next == never || (set_ > 0 && next >= alarms_[set_ - 1].when)) return;
  if (set_ < alarms_.size()) ++set_;
  Alarm& alarm = alarms_[set_ - 1];
  alarm.when = next;
  alarm.rings.notify(to_sc_time(std::max(next - now(), Picoseconds{0})));
}

// An alarm behind the event of another process stays until its time.
void Agenda::on_cancelled() {
  if (set_ == 0 || unarmed_ || processors_.next_event() != never || next_appointment() != never) {
    return;
  }
  const Picoseconds others = next_notification();
  while (set_ > 0 && alarms_[set_ - 1].when <= others) alarms_[--set_].rings.cancel();
}

Picoseconds Agenda::next_notification() const {
  return Kernel::next_notification(alarms_.data(), alarms_.data() + alarms_.size());
}

// An appointment of the present that has no alarm yet counts like a process that is about to run.
Picoseconds Agenda::others_before(Picoseconds limit) {
  if (unarmed_ && !looked_ && !keeps_appointments_ &&
      std::min(next_appointment(), processors_.next_event()) <= now()) {
    return std::min(limit, now());
  }
  return kernel_before(limit);
}

Picoseconds Agenda::kernel_before(Picoseconds limit) {
  if (end_ > now()) limit = std::min(limit, end_);
  if (!looked_) {
    if (sc_core::sc_pending_activity_at_current_time()) return std::min(limit, now());
    others_ = next_notification();
    looked_ = true;
  }
  return std::min(limit, others_);
}

void simulate(Picoseconds span, sc_core::sc_starvation_policy policy) {
  struct Until {
    explicit Until(Picoseconds when) { Agenda::get().until_ = when; }
    ~Until() { Agenda::get().until_ = 0; }
  } until(now() > never - span ? never : now() + span);
  sc_core::sc_start(to_sc_time(span), policy);
}

std::string Agenda::actor() const {
  const sc_core::sc_process_b* process = sc_core::sc_get_current_process_b();
  if (process == nullptr) return "";
  if (keeping_ == nullptr) return process->name();
  return keeping_->owner().empty() ? "an appointment" : "an appointment of " + keeping_->owner();
}

}  // namespace vp
