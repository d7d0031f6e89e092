// SPDX-License-Identifier: Apache-2.0
#include "vp/time/calendar.h"

#include <fmt/format.h>

#include <stdexcept>
#include <utility>

#include "vp/time/agenda.h"

namespace vp {

void Event::at(Picoseconds when) {
  if (when < now() || when == never) impossible(when);
  const bool stands = pending();
  when_ = when;
  if (stands) {
    calendar_.move(*this);
  } else {
    calendar_.insert(*this);
  }
}

void Event::cancel() {
  if (!pending()) return;
  calendar_.remove(*this);
  when_ = never;
  Agenda::get().on_cancelled();
}

void Event::impossible(Picoseconds when) const {
  const std::string actor = Agenda::get().actor();
  throw BrokenPromise(fmt::format("{} makes an appointment of {} for {} at {} ps",
                                  actor.empty() ? "something outside" : actor,
                                  calendar_.owner().empty() ? "a calendar" : calendar_.owner(),
                                  when == never ? "no time" : fmt::format("{} ps", when), now()));
}

Calendar::Calendar(std::string owner) : owner_(std::move(owner)) {
  Agenda::get().add(*this);
}

Calendar::~Calendar() {
  Agenda::get().remove(*this);
}

Calendar& Calendar::processors() {
  return Agenda::get().processors();
}

unsigned Calendar::keep_due(unsigned most) {
  const Picoseconds present = now();
  Agenda& agenda = Agenda::get();
  struct Keeping {
    const Calendar*& now;
    const Calendar* outer;
    ~Keeping() { now = outer; }
  } guard{agenda.keeping_, std::exchange(agenda.keeping_, this)};
  unsigned kept = 0;
  for (; kept < most && next_event() <= present; ++kept) {
    take_next().action_();
    if (agenda.keeps_appointments_) agenda.forget_others();
  }
  return kept;
}

std::uint64_t Calendar::order_of(std::uint32_t rank) {
  constexpr std::uint64_t ranked = std::uint64_t{1} << 62, unranked = ranked * 2;
  if (rank == Event::before_ranks) return orders_++;
  return rank == Event::no_rank ? unranked + orders_++ : ranked + rank;
}

void Calendar::insert(Event& event) {
  const Appointment appointment{event.when_, order_of(event.rank_), &event};
  heap_.push_back(appointment);
  sift_up(heap_.size() - 1, appointment);
  if (event.slot_ == 0) Agenda::get().arm(event.when_);
}

void Calendar::move(Event& event) {
  const Appointment appointment{event.when_, order_of(event.rank_), &event};
  sift_up(event.slot_, appointment);
  sift_down(event.slot_, appointment);
  if (event.slot_ == 0) Agenda::get().arm(event.when_);
}

void Calendar::remove(Event& event) {
  const std::size_t slot = event.slot_;
  const Appointment last = heap_.back();
  heap_.pop_back();
  if (last.event == &event) return;
  sift_up(slot, last);
  sift_down(last.event->slot_, last);
}

Event& Calendar::take_next() {
  Event& event = *heap_.front().event;
  const Appointment last = heap_.back();
  heap_.pop_back();
  if (!heap_.empty()) sift_down(0, last);
  event.when_ = never;
  return event;
}

void Calendar::sift_up(std::size_t slot, Appointment appointment) {
  while (slot > 0) {
    const std::size_t parent = (slot - 1) / 2;
    if (!appointment.before(heap_[parent])) break;
    place(slot, heap_[parent]);
    slot = parent;
  }
  place(slot, appointment);
}

void Calendar::sift_down(std::size_t slot, Appointment appointment) {
  for (;;) {
    std::size_t child = 2 * slot + 1;
    if (child >= heap_.size()) break;
    if (child + 1 < heap_.size() && heap_[child + 1].before(heap_[child])) ++child;
    if (!heap_[child].before(appointment)) break;
    place(slot, heap_[child]);
    slot = child;
  }
  place(slot, appointment);
}

}  // namespace vp
