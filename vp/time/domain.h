// SPDX-License-Identifier: Apache-2.0
#pragma once

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

  std::vector<Peer>
      peers_;  // after elaboration, all domains that can act on this one, nearest first
  std::vector<const Actor*> actors_;
};

}  // namespace vp
