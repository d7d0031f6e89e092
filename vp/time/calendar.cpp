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

unsigned Calendar::run_due(unsigned most) {
  const Picoseconds present = now();
  if (next_event() > present) return 0;
  Agenda& agenda = Agenda::get();
  const Calendar*& keeping = agenda.keeping_;
  struct Keeping {
    const Calendar*& now;
    const Calendar* outer;
    ~Keeping() { now = outer; }
  } guard{keeping, std::exchange(keeping, this)};
  unsigned kept = 0;
  for (; kept < most && !heap_.empty() && heap_.front()->when_ <= present; ++kept) {
    Event& event = *heap_.front();
    remove(event);
    event.when_ = never;
    event.action_();
    if (agenda.keeps_appointments_) agenda.forget_others();
  }
  return kept;
}

namespace {

bool earlier(Picoseconds when_a, std::uint64_t order_a, Picoseconds when_b, std::uint64_t order_b) {
  return when_a != when_b ? when_a < when_b : order_a < order_b;
}

}  // namespace

std::uint64_t Calendar::order_of(std::uint32_t rank) {
  constexpr std::uint64_t ranked = std::uint64_t{1} << 62, unranked = ranked * 2;
  if (rank == Event::before_ranks) return orders_++;
  return rank == Event::no_rank ? unranked + orders_++ : ranked + rank;
}

void Calendar::insert(Event& event) {
  event.order_ = order_of(event.rank_);
  heap_.push_back(&event);
  sift_up(heap_.size() - 1);
  if (heap_.front() == &event) Agenda::get().arm(event.when_);
}

void Calendar::move(Event& event) {
  event.order_ = order_of(event.rank_);
  sift_up(event.slot_);
  sift_down(event.slot_);
  if (heap_.front() == &event) Agenda::get().arm(event.when_);
}

void Calendar::remove(Event& event) {
  const std::size_t slot = event.slot_;
  Event* last = heap_.back();
  heap_.pop_back();
  if (last == &event) return;
  place(slot, last);
  sift_up(slot);
  sift_down(last->slot_);
}

void Calendar::sift_up(std::size_t slot) {
  Event* event = heap_[slot];
  while (slot > 0) {
    const std::size_t parent = (slot - 1) / 2;
    Event* above = heap_[parent];
    if (!earlier(event->when_, event->order_, above->when_, above->order_)) break;
    place(slot, above);
    slot = parent;
  }
  place(slot, event);
}

void Calendar::sift_down(std::size_t slot) {
  Event* event = heap_[slot];
  for (;;) {
    std::size_t child = 2 * slot + 1;
    if (child >= heap_.size()) break;
    if (child + 1 < heap_.size() && earlier(heap_[child + 1]->when_, heap_[child + 1]->order_,
                                            heap_[child]->when_, heap_[child]->order_)) {
      ++child;
    }
    Event* below = heap_[child];
    if (!earlier(below->when_, below->order_, event->when_, event->order_)) break;
    place(slot, below);
    slot = child;
  }
  place(slot, event);
}

}  // namespace vp
