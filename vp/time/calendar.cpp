// SPDX-License-Identifier: Apache-2.0
#include "vp/time/calendar.h"

#include <algorithm>
#include <array>
#include <cassert>

namespace vp {

/// The process that keeps the appointments of all calendars. It lives as long as the kernel.
class Agenda {
 public:
  static Agenda& get() {
    static auto* agenda = new Agenda;
    return *agenda;
  }

  void arm(Picoseconds next);

  std::vector<Calendar*> calendars;
  Calendar processors{Calendar::Last{}};

 private:
  struct Alarm {
    sc_core::sc_event rings;
    Picoseconds when = never;
  };

  Agenda();
  void run();

  // The kernel keeps a notification that is moved until its old time has come, and searches among
  // all it keeps. So an alarm that has become too late stays, and an earlier one is set before it.
  std::array<Alarm, 32> alarms_;  // those that are set come first, each earlier than the last
  std::size_t set_ = 0;
};

Agenda::Agenda() {
  sc_core::sc_spawn_options options;
  options.spawn_method();
  options.dont_initialize();
  for (Alarm& alarm : alarms_) options.set_sensitivity(&alarm.rings);
  sc_core::sc_spawn([this] { run(); }, sc_core::sc_gen_unique_name("agenda"), &options);
}

void Agenda::run() {
  const Picoseconds present = now();
  while (set_ > 0 && alarms_[set_ - 1].when <= present) --set_;
  for (std::size_t i = 0; i < calendars.size();) {
    if (calendars[i]->next_event() <= present) {
      calendars[i]->run_due();
      i = 0;  // it may have made others due
    } else {
      ++i;
    }
  }
  processors.run_due();
  Picoseconds next = processors.next_event();
  for (const Calendar* calendar : calendars) next = std::min(next, calendar->next_event());
  arm(next);
}

// One that rings too early finds nothing due.
void Agenda::arm(Picoseconds next) {
  if (next == never || (set_ > 0 && next >= alarms_[set_ - 1].when)) return;
  if (set_ < alarms_.size()) ++set_;
  Alarm& alarm = alarms_[set_ - 1];
  alarm.when = next;
  alarm.rings.notify(to_sc_time(next - now()));
}

void Event::at(Picoseconds when) {
  assert(when >= now() && when < never);
  if (pending()) calendar_.remove(*this);
  when_ = when;
  calendar_.insert(*this);
}

void Event::cancel() {
  if (!pending()) return;
  calendar_.remove(*this);
  when_ = never;
}

Calendar::Calendar() {
  Agenda::get().calendars.push_back(this);
}

Calendar::~Calendar() {
  auto& calendars = Agenda::get().calendars;
  calendars.erase(std::remove(calendars.begin(), calendars.end(), this), calendars.end());
}

Calendar& Calendar::processors() {
  return Agenda::get().processors;
}

void Calendar::run_due() {
  const Picoseconds present = now();
  while (!heap_.empty() && heap_.front()->when_ <= present) {
    Event& event = *heap_.front();
    remove(event);
    event.when_ = never;
    event.action_();
  }
}

namespace {

bool earlier(Picoseconds when_a, std::uint64_t order_a, Picoseconds when_b, std::uint64_t order_b) {
  return when_a != when_b ? when_a < when_b : order_a < order_b;
}

}  // namespace

void Calendar::insert(Event& event) {
  if (event.rank_ == Event::no_rank) event.order_ = orders_++;
  heap_.push_back(nullptr);
  place(heap_.size() - 1, &event);
  sift_up(heap_.size() - 1);
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
