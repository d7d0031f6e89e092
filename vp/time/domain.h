// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "vp/time/time.h"

namespace vp {

class Domain;

/// An appointment that a model owns and keeps for its whole life: making, moving and cancelling
/// it costs no allocation.
///
/// The action runs in the SystemC kernel's method context at exactly the appointed time, and must
/// not wait. Appointments of one domain at the same time are kept in the order they were made.
class Event {
 public:
  using Action = std::function<void()>;

  Event(Domain& domain, Action action) : domain_(domain), action_(std::move(action)) {}
  ~Event() { cancel(); }
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;

  /// Makes the appointment, or moves the one that stands. `when` is absolute and not in the past.
  void at(Picoseconds when);
  void after(Picoseconds delay) { at(now() + delay); }
  void cancel();

  bool pending() const { return when_ != never; }
  /// The appointed time, or `never`.
  Picoseconds when() const { return when_; }

 private:
  friend class Domain;
  Domain& domain_;
  Action action_;
  Picoseconds when_ = never;
  std::uint64_t order_ = 0;
  std::size_t slot_ = 0;  // place in the domain's heap
};

/// Something that acts of its own accord and may be ahead of the kernel's time: an embedded QEMU.
class Actor {
 public:
  virtual ~Actor() = default;
  /// The earliest time at which it can act without being acted on, or `never` while it sleeps.
  virtual Picoseconds floor() const = 0;
};

/// A part of the machine whose models and processors interact without a known minimum delay: a
/// host, or an IPU. Between domains stands a link, and its latency is the lookahead that lets
/// processors run ahead of the kernel's time without ever seeing an effect late.
///
/// Every model of a domain makes its appointments here, so that the domain knows its own future.
class Domain : public sc_core::sc_module {
 public:
  explicit Domain(const sc_core::sc_module_name& name);

  /// Nothing that `peer` does at time t reaches this domain before t + `lookahead`, which is
  /// positive. Only before the end of elaboration; later it throws std::logic_error.
  void add_peer(const Domain& peer, Picoseconds lookahead);
  void add_actor(const Actor& actor) { actors_.push_back(&actor); }

  /// The next appointment, or `never`.
  Picoseconds next_event() const { return heap_.empty() ? never : heap_.front()->when_; }
  /// The earliest time at which anything in this domain can act.
  Picoseconds floor() const;
  /// The time up to which a processor of this domain may run ahead: nothing reaches it earlier.
  Picoseconds horizon() const;

  /// Takes every appointment that is due. A processor calls it before it steps, since at any
  /// instant arrivals come before processors.
  void run_due();

 private:
  friend class Event;
  struct Peer {
    const Domain* domain;
    Picoseconds lookahead;
  };

  void end_of_elaboration() override;
  void insert(Event& event);
  void remove(Event& event);
  void sift_up(std::size_t slot);
  void sift_down(std::size_t slot);
  void place(std::size_t slot, Event* event) {
    heap_[slot] = event;
    event->slot_ = slot;
  }
  void arm();

  std::vector<Event*> heap_;  // binary heap by (when, order)
  std::uint64_t orders_ = 0;
  std::vector<Peer> peers_;  // after elaboration, all domains that can act on this one
  std::vector<const Actor*> actors_;
  sc_core::sc_event wake_;
  Picoseconds armed_ = never;  // when wake_ is notified
};

}  // namespace vp
