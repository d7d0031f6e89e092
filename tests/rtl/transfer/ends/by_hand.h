// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tests/rtl/transfer/ends/fixture.h"

/// A pair whose wires also carry frames and slices that are made by hand.
class LinkByHand : public Link {
 protected:
  using Link::Link;

  static constexpr unsigned long_silence = 0xffff'ffff;

  /// A good frame, whose slices 2 to 6 are zero.
  static Frame frame(std::uint64_t header, std::uint64_t slice_1 = 0);
  /// Puts the first slices of a frame on the wire.
  static void insert(LinkWire& wire, const Frame& frame, unsigned count = 8);
  static void insert(LinkWire& wire, unsigned kind, std::uint64_t data);
  /// Puts idle slices on the wire until the next one is this one of a clock.
  static void align(LinkWire& wire, unsigned lane);
  /// A slice 0 as the reflection of it comes over the wire.
  static std::uint64_t exchanged(std::uint64_t head) { return head << 32 | head >> 32; }

  using Link::limit_silence;
  void limit_silence(LinkEnd& end, unsigned slices);
  /// Loses these frames of the wire, counted from now on.
  static void lose(LinkWire& wire, unsigned first, unsigned end);
  void begin(LinkEnd& end) { put(end, OAE_LINK_CONTROL, 1); }
  void end(LinkEnd& end) { put(end, OAE_LINK_CONTROL, 0); }
  /// Cuts both wires, takes both sides down, and makes the wires whole again.
  void take_down();
  void lose_power(LinkEnd& end);
  /// Lets A join. B does not know it, and sends nothing more for the present.
  void join_a_alone();
  /// Lets A come up, after it has joined, by a sign of life from B. Silence has no limit.
  void come_up_after_joining();
  unsigned reason(LinkEnd& end) { return state(end, OAE_LINK_STATE_REASON_SHIFT); }
  std::uint64_t slices_reported(LinkEnd& end) { return get(end, OAE_LINK_SENT) >> 16 & 0xffff; }
};
