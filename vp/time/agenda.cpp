// SPDX-License-Identifier: Apache-2.0
#include "vp/time/agenda.h"

#include <algorithm>

namespace vp {
namespace {

// The most appointments of one instant that are kept in one run. A model that makes appointments
// without end must not keep SystemC from its delta cycles, in which it can be paused.
constexpr unsigned most_at_once = 4096;

}  // namespace

Agenda& Agenda::get() {
  static auto* agenda = new Agenda;
  return *agenda;
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
  looked_ = false;
  running_ = true;
  keeps_appointments_ = true;
  keep_appointments();
  keeps_appointments_ = false;
  // Everything else that happens at this instant comes before the processors' turns, however many
  // delta cycles it takes.
  if (processors_.next_event() <= present && next_appointment() > present &&
      others_before(present + 1) > present) {
    processors_.run_due(most_at_once);
  }
  running_ = false;
  const Picoseconds next = std::min(next_appointment(), processors_.next_event());
  if (next == never) on_cancelled();
  arm(next);
}

void Agenda::keep_appointments() {
  const Picoseconds present = now();
  unsigned left = most_at_once;
  for (std::size_t i = 0; i < calendars_.size() && left > 0;) {
    if (calendars_[i]->next_event() <= present) {
      left -= calendars_[i]->run_due(left);
      i = 0;  // the actions may have made appointments of other calendars due
    } else {
      ++i;
    }
  }
}

Picoseconds Agenda::next_appointment() const {
  Picoseconds next = never;
  for (const Calendar* calendar : calendars_) next = std::min(next, calendar->next_event());
  return next;
}

// An alarm that rings too early finds nothing due.
void Agenda::arm(Picoseconds next) {
  if (running_ || next == never || (set_ > 0 && next >= alarms_[set_ - 1].when)) return;
  if (set_ < alarms_.size()) ++set_;
  Alarm& alarm = alarms_[set_ - 1];
  alarm.when = next;
  alarm.rings.notify(to_sc_time(std::max(next - now(), Picoseconds{0})));
}

void Agenda::on_cancelled() {
  if (set_ == 0 || running_ || processors_.next_event() != never || next_appointment() != never) {
    return;
  }
  looked_ = false;
  uncover(never);
}

void Agenda::look() {
  sc_core::sc_time next;
  others_ = never;
  if (sc_core::sc_get_curr_simcontext()->next_time(next) &&
      next.value() < static_cast<sc_dt::uint64>(never)) {
    others_ = static_cast<Picoseconds>(next.value());
  }
  hidden_ = set_ > 0 && others_ == alarms_[set_ - 1].when;
  looked_ = true;
}

// SystemC names only its next event. It forgets an alarm that is cancelled while it is the next
// one.
void Agenda::uncover(Picoseconds limit) {
  for (look(); hidden_ && others_ < limit; look()) alarms_[--set_].rings.cancel();
}

Picoseconds Agenda::others_before(Picoseconds limit) {
  if (end_ > now()) limit = std::min(limit, end_);
  if (!looked_) {
    if (sc_core::sc_pending_activity_at_current_time()) return std::min(limit, now());
    look();
  }
  if (hidden_ && others_ < limit) {
    uncover(limit);
    arm(std::min(next_appointment(), processors_.next_event()));
  }
  return std::min(limit, others_);
}

std::string Agenda::actor() const {
  const sc_core::sc_process_b* process = sc_core::sc_get_current_process_b();
  if (process == nullptr) return "";
  if (keeping_ == nullptr) return process->name();
  return keeping_->owner().empty() ? "an appointment" : "an appointment of " + keeping_->owner();
}

}  // namespace vp
