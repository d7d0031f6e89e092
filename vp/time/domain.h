// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <vector>

#include "vp/time/calendar.h"

namespace vp {

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
class Domain : public sc_core::sc_module, public Calendar {
 public:
  explicit Domain(const sc_core::sc_module_name& name);

  /// Nothing that `peer` does at time t reaches this domain before t + `lookahead`, which is
  /// positive. Only before the end of elaboration; later it throws std::logic_error.
  void add_peer(const Domain& peer, Picoseconds lookahead);
  void add_actor(const Actor& actor) { actors_.push_back(&actor); }

  /// A processor has executed up to `when`, in the belief that nothing would arrive before.
  void reach(Picoseconds when) { reached_ = std::max(reached_, when); }
  Picoseconds reached() const { return reached_; }
  /// A processor acts at `when`, and another one of its machine may have executed past it already:
  /// what follows from the act arrives late there, and is no broken promise.
  void act(Picoseconds when) { reached_ = std::min(reached_, when); }
  /// Something of another domain, sent by `sender`, is going to arrive at `when`. Throws
  /// BrokenPromise if a processor is past it: `sender` has declared too long a lookahead.
  void expect(Picoseconds when, const char* sender) const {
    if (when < reached_) broken_promise(when, sender);
  }
  /// Something enters this domain now, or at `when`. Throws BrokenPromise if a processor is past
  /// it, and names the model that does it. Whatever comes from outside of the simulation, while the
  /// kernel does not run, may enter at any time.
  void enter(Picoseconds when = now()) const {
    if (when < reached_) entered_late(when);
  }

  /// The earliest time at which anything in this domain can act.
  Picoseconds floor() const;
  /// The time up to which a processor of this domain may run ahead, at most `limit`: nothing
  /// reaches it earlier, be it from a peer, from the domain itself or from any other process of
  /// SystemC.
  Picoseconds horizon(Picoseconds limit = never) const;
  /// Whether something is known to happen here at `when`, as of the last call of horizon().
  bool happens_at(Picoseconds when) const;
  /// How long after an act of `peer` its effect may reach this domain at the earliest, or `never`.
  /// From the end of elaboration on.
  Picoseconds lookahead_from(const Domain& peer) const;
  /// The shortest lookahead, or `never` without peers. From the end of elaboration on.
  Picoseconds lookahead() const { return peers_.empty() ? never : peers_.front().lookahead; }

 private:
  struct Peer {
    const Domain* domain;
    Picoseconds lookahead;
  };

  void end_of_elaboration() override;
  [[noreturn]] void broken_promise(Picoseconds when, const char* sender) const;
  void entered_late(Picoseconds when) const;

  std::vector<Peer>
      peers_;  // after elaboration, all domains that can act on this one, nearest first
  std::vector<const Actor*> actors_;
  Picoseconds reached_ = 0;
};

}  // namespace vp
