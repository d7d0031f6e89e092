// SPDX-License-Identifier: Apache-2.0
#include "vp/time/kernel.h"

#include <functional>

namespace vp {
namespace {

using Context = sc_core::sc_simcontext;
using Notification = sc_core::sc_event_timed;
using Queue = sc_core::sc_ppq<Notification*>;

// The standard lets an explicit instantiation name private members (C++17, 17.7.2, paragraph 12).
// If SystemC renames one of them, this does not compile.
template <void (Context::*step)(const sc_core::sc_time&), bool Context::*paused,
          bool Context::*stopped>
struct Members {
  friend void advance_context(Context& context, const sc_core::sc_time& to) { (context.*step)(to); }
  friend bool context_returns(const Context& context) {
    return context.*paused || context.*stopped;
  }
};
void advance_context(Context& context, const sc_core::sc_time& to);
bool context_returns(const Context& context);

template struct Members<&Context::do_timestep, &Context::m_paused, &Context::m_forced_stop>;

template <Queue* Context::*queue, void** sc_core::sc_ppq_base::*heap,
          sc_core::sc_event* Notification::*event, sc_core::sc_time Notification::*time>
struct QueueMembers {
  friend const Queue& queue_of(const Context& context) { return *(context.*queue); }
  friend Notification* const* heap_of(const Queue& of) {
    return reinterpret_cast<Notification* const*>(of.*heap);
  }
  friend const sc_core::sc_event* event_of(const Notification& notification) {
    return notification.*event;
  }
  friend sc_dt::uint64 time_of(const Notification& notification) {
    return (notification.*time).value();
  }
};
const Queue& queue_of(const Context& context);
Notification* const* heap_of(const Queue& queue);
const sc_core::sc_event* event_of(const Notification& notification);
sc_dt::uint64 time_of(const Notification& notification);

template struct QueueMembers<&Context::m_timed_events, &sc_core::sc_ppq_base::m_heap,
                             &Notification::m_event, &Notification::m_notify_time>;

template <sc_core::sc_time::value_type sc_core::sc_time::*value>
struct TimeMembers {
  friend void set_value(sc_core::sc_time& time, sc_core::sc_time::value_type to) {
    time.*value = to;
  }
};
void set_value(sc_core::sc_time& time, sc_core::sc_time::value_type to);

template struct TimeMembers<&sc_core::sc_time::m_value>;

/// Looks for the next notification in SystemC's binary heap, whose first place is 1. Below a
/// notification there is none that is earlier, so that only those are visited which come before the
/// one that is found.
struct Search {
  Notification* const* heap;
  int size;
  const void* begin;  // of the events that do not count
  const void* end;
  const Notification* next = nullptr;
  sc_dt::uint64 found = static_cast<sc_dt::uint64>(never);

  bool counts(const sc_core::sc_event* event) const {
    const std::less<const void*> before;
    return event != nullptr && (before(event, begin) || !before(event, end));  // not cancelled
  }
  void visit(int place) {
    if (place > size || time_of(*heap[place]) >= found) return;
    if (counts(event_of(*heap[place]))) {
      next = heap[place];
      found = time_of(*next);
    } else {
      visit(2 * place);
      visit(2 * place + 1);
    }
  }
};

/// What the last search of a process found. In the evaluation phase of that process, notifications
/// leave the queue before a search only, and the delta count grows at the end of the phase. So what
/// was found holds until another notification comes, or the one that was found is cancelled.
/// Outside of processes, the delta count names no phase.
struct Found {
  sc_dt::uint64 delta_count = 0;
  int size = -1;  // of the queue; -1: nothing is known
  const void* begin = nullptr;
  const void* end = nullptr;
  const Notification* next = nullptr;  // or nullptr: there was none
  const sc_core::sc_event* event = nullptr;
  sc_dt::uint64 time = 0;

  bool holds(const Context& context, const void* first, const void* last) const {
    return size == queue_of(context).size() && delta_count == sc_core::sc_delta_count() &&
           begin == first && end == last && (next == nullptr || event_of(*next) == event);
  }
};
Found found;

}  // namespace

sc_core::sc_time to_sc_time(Picoseconds span) {
  sc_core::sc_time time;
  set_value(time, static_cast<sc_core::sc_time::value_type>(span));
  return time;
}

void Kernel::advance(Picoseconds when) {
  advance_context(*sc_core::sc_get_curr_simcontext(), to_sc_time(when));
}

bool Kernel::is_to_return() {
  return context_returns(*sc_core::sc_get_curr_simcontext());
}

Picoseconds Kernel::next_notification(const void* begin, const void* end) {
  const Context& context = *sc_core::sc_get_curr_simcontext();
  if (found.holds(context, begin, end)) return static_cast<Picoseconds>(found.time);
  const Queue& queue = queue_of(context);
  if (!queue.empty() && event_of(*queue.top()) == nullptr) {
    // SystemC drops cancelled notifications that are in front only when it is asked for the next
    // one.
    sc_core::sc_time ignored;
    context.next_time(ignored);
  }
  Search search{heap_of(queue), queue.size(), begin, end};
  search.visit(1);
  found = {sc_core::sc_delta_count(),
           sc_core::sc_get_current_process_b() != nullptr ? queue.size() : -1,
           begin,
           end,
           search.next,
           search.next != nullptr ? event_of(*search.next) : nullptr,
           search.found};
  return static_cast<Picoseconds>(found.time);
}

}  // namespace vp
