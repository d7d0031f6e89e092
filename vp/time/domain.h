// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <stdexcept>
#include <string>
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

/// A model has done what it had declared never to do: a defect of that model.
struct BrokenPromise : std::logic_error {
  using std::logic_error::logic_error;
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
  /// Something of another domain, sent by `sender`, is going to arrive at `when`. Throws
  /// BrokenPromise if a processor is past it: `sender` has declared too long a lookahead.
  void expect(Picoseconds when, const char* sender) const {
    if (when < reached_) broken_promise(when, sender);
  }

  /// The earliest time at which anything in this domain can act.
  Picoseconds floor() const;
  /// The time up to which a processor of this domain may run ahead: nothing reaches it earlier.
  Picoseconds horizon() const;
  /// The shortest lookahead, or `never` without peers. From the end of elaboration on.
  Picoseconds lookahead() const { return peers_.empty() ? never : peers_.front().lookahead; }

 private:
  struct Peer {
    const Domain* domain;
    Picoseconds lookahead;
  };

  void end_of_elaboration() override;
  [[noreturn]] void broken_promise(Picoseconds when, const char* sender) const;

  std::vector<Peer>
      peers_;  // after elaboration, all domains that can act on this one, nearest first
  std::vector<const Actor*> actors_;
  Picoseconds reached_ = 0;
};

}  // namespace vp
