// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>

#include "models/pcie/protocol/flow_control.h"
#include "vp/time/time.h"

namespace pcie {

/// When a receiver returns the credits of packets that have left its buffer (PCIe 5.0, 2.6.1.2).
///
/// The credits of one class wait for more of them until the limit of UpdateFC has passed, and then
/// return in one UpdateFC. They return at once if the sender has no header credit left, or less
/// data credit than its largest packet may need. Only whole units return; what is left waits for
/// more.
class CreditReturn {
 public:
  /// `granted` are the credits that the sender has at first.
  explicit CreditReturn(const CreditAccount& granted) : granted_(granted) {}

  /// The time that credits wait for more of them.
  void set_limit(vp::Picoseconds limit) { limit_ = limit; }

  /// A packet has entered the buffer at that time.
  void arrived(const Tlp& tlp, vp::Picoseconds when) {
    const CreditClass of = credit_class(tlp.header.type);
    if (granted_.infinite(of)) return;
    close(of, when);
    granted_.consume(tlp);
  }

  struct Update {
    vp::Picoseconds leaves;    ///< when the UpdateFC leaves, or `never` if there is none
    vp::Picoseconds replaces;  ///< when the one would have left that this one replaces, or `never`
    Credits credits;           ///< all credits that it returns
    bool urgent = false;       ///< it leaves at once, since the sender has none left
  };
  /// Credits of a class that is not infinite are free from that time on.
  Update freed(CreditClass of, Credits credits, vp::Picoseconds when) {
    close(of, when);
    Window& window = windows_[static_cast<unsigned>(of)];
    Update update{when, window.end, window.credits, starved(of)};
    add_whole(of, credits, update.credits);
    if (update.credits.headers == 0 && update.credits.data == 0) return {vp::never, vp::never, {}};
    if (!update.urgent) update.leaves = window.end != vp::never ? window.end : when + limit_;
    window = {update.leaves, update.credits};
    return update;
  }

 private:
  // The credits that wait for an UpdateFC.
  struct Window {
    vp::Picoseconds end = vp::never;  // `never` if there are none
    Credits credits;
  };

  // Adds the whole units of what is free, and keeps the rest.
  void add_whole(CreditClass of, Credits credits, Credits& whole) {
    const auto add = [](unsigned free, unsigned unit, unsigned& rest, unsigned& added) {
      if (unit == 0) return;  // infinite
      rest += free;
      added += rest & ~(unit - 1);
      rest &= unit - 1;
    };
    Credits& rest = rest_[static_cast<unsigned>(of)];
    const Credits unit = granted_.unit(of);
    add(credits.headers, unit.headers, rest.headers, whole.headers);
    add(credits.data, unit.data, rest.data, whole.data);
  }
  void close(CreditClass of, vp::Picoseconds now) {
    Window& window = windows_[static_cast<unsigned>(of)];
    if (window.end >= now) return;
    granted_.restore(of, window.credits);
    window = {};
  }
  bool starved(CreditClass of) const {
    const Credits left = granted_.available(of);
    return left.headers == 0 || left.data < granted_.largest(of).data;
  }

  CreditAccount granted_;  // what the sender can use if it has all that was sent to it
  vp::Picoseconds limit_ = 0;
  std::array<Window, credit_classes> windows_{};
  std::array<Credits, credit_classes> rest_{};
};

}  // namespace pcie
