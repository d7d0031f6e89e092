// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "tests/rtl/transfer/ends/pair.h"

// Commands that send a transfer
inline constexpr unsigned packet = OAE_LINK_COMMAND_PACKET;
inline constexpr unsigned flow = OAE_LINK_COMMAND_FLOW;

/// Slice 0 of a frame.
inline std::uint64_t header(unsigned protocol, unsigned number, bool jam = false) {
  return OAE_PUT(OAE_FRAME_HEADER_PROTOCOL, protocol) | OAE_PUT(OAE_FRAME_HEADER_JAM, jam) |
         OAE_PUT(OAE_FRAME_HEADER_LIVENESS, number & 0xff) |
         OAE_PUT(OAE_FRAME_HEADER_OPERAND, number);
}

/// Two ends of a link, and what tests of single steps do with them.
class Link : public LinkPair {
 protected:
  using LinkPair::LinkPair;

  /// Forgets the slices that the wires have carried.
  void forget() {
    to_a.frames.clear();
    to_b.frames.clear();
    to_a.reflections.clear();
    to_b.reflections.clear();
  }
  std::uint64_t event(LinkEnd& end) {
    const std::uint64_t events = get(end, OAE_LINK_EVENT);
    put(end, OAE_LINK_EVENT, events);
    return events;
  }
  unsigned state(LinkEnd& end, unsigned shift) { return get(end, OAE_LINK_STATE) >> shift & 0xff; }
  void limit_silence(unsigned slices, unsigned trouble = 8) {
    for (LinkEnd* end : {&a, &b}) {
      put(*end, OAE_LINK_LIMITS,
          OAE_PUT(OAE_LINK_LIMITS_SILENCE, slices) | OAE_PUT(OAE_LINK_LIMITS_TROUBLE, trouble));
    }
  }
};
