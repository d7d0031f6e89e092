// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

#include "vp/time/time.h"

namespace vp {

class Calendar;

/// A model has done what it had declared never to do: a defect of that model.
struct BrokenPromise : std::logic_error {
  using std::logic_error::logic_error;
};

/// An appointment that a model owns and keeps for its whole life: making, moving and cancelling
/// it costs no allocation.
///
/// The action runs at exactly the appointed time, in the agenda's process or in that of a processor
/// that waits, and must not wait. Appointments of one calendar at the same time are kept in the
/// order of their ranks; those without a rank come after all that have one, or before them, in the
/// order they were made.
class Event {
 public:
  using Action = std::function<void()>;
  static constexpr std::uint32_t no_rank = 0xffff'ffff;
  static constexpr std::uint32_t before_ranks = no_rank - 1;  ///< has none, and comes before

  Event(Calendar& calendar, Action action, std::uint32_t rank = no_rank)
      : calendar_(calendar), action_(std::move(action)), rank_(rank) {}
  ~Event() { cancel(); }
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;

  /// Makes the appointment, or moves the one that stands. `when` is absolute; throws BrokenPromise
  /// if it is in the past.
  void at(Picoseconds when);
  void after(Picoseconds delay) { at(now() + delay); }
  void cancel();

  bool pending() const { return when_ != never; }
  /// The appointed time, or `never`.
  Picoseconds when() const { return when_; }

 private:
  friend class Calendar;
  [[noreturn]] void impossible(Picoseconds when) const;

  Calendar& calendar_;
  Action action_;
  const std::uint32_t rank_;
  Picoseconds when_ = never;
  std::size_t slot_ = 0;  // place in the calendar's heap
};

/// Appointments, ordered by their times.
///
/// SystemC keeps no order among equal times, and what has no order of its own would take one from
/// how far processors happen to run ahead. So one process keeps the appointments of all calendars:
/// at each instant calendar after calendar, in the order they were made, and Calendar::processors()
/// last, after all other processes of SystemC.
class Calendar {
 public:
  /// `owner` names it in messages.
  explicit Calendar(std::string owner = "");
  ~Calendar();
  Calendar(const Calendar&) = delete;
  Calendar& operator=(const Calendar&) = delete;

  /// When processors go on: at any instant after everything that arrives.
  static Calendar& processors();

  /// The next appointment, or `never`.
  Picoseconds next_event() const { return heap_.empty() ? never : heap_.front().when; }

  /// Keeps the appointments that are due, but at most so many, and returns how many they were. A
  /// processor calls it before it steps, since at any instant arrivals come before processors.
  unsigned run_due(unsigned most = 4096) { return next_event() > now() ? 0 : keep_due(most); }

  const std::string& owner() const { return owner_; }

  /// A rank for an event of this calendar, higher than those given before.
  std::uint32_t new_rank() { return ranks_++; }

 private:
  friend class Agenda;
  friend class Event;
  struct Last {};

  struct Appointment {
    Picoseconds when;
    std::uint64_t order;
    Event* event;

    bool before(const Appointment& other) const {
      return when != other.when ? when < other.when : order < other.order;
    }
  };

  explicit Calendar(Last) : owner_("processors") {}
  unsigned keep_due(unsigned most);
  std::uint64_t order_of(std::uint32_t rank);
  void insert(Event& event);
  /// Puts an event of the heap into the order of its new time.
  void move(Event& event);
  void remove(Event& event);
  /// Removes the next event, which is due.
  Event& take_next();
  /// Puts an appointment into `slot`, or above it if it comes before what is there.
  void sift_up(std::size_t slot, Appointment appointment);
  /// Puts an appointment into `slot`, or below it if it comes after what is there.
  void sift_down(std::size_t slot, Appointment appointment);
  void place(std::size_t slot, const Appointment& appointment) {
    heap_[slot] = appointment;
    appointment.event->slot_ = slot;
  }

  const std::string owner_;
  std::vector<Appointment> heap_;  // binary heap
  std::uint64_t orders_ = 0;
  std::uint32_t ranks_ = 0;
};

}  // namespace vp
