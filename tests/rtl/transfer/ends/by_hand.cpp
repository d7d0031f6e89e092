// SPDX-License-Identifier: Apache-2.0
#include "tests/rtl/transfer/ends/by_hand.h"

Frame LinkByHand::frame(std::uint64_t header, std::uint64_t slice_1) {
  Frame made{};
  made[0] = header;
  made[1] = slice_1;
  made[7] = crc64(made.data(), 56);
  return made;
}

void LinkByHand::insert(LinkWire& wire, unsigned kind, std::uint64_t data) {
  wire.insert({static_cast<std::uint8_t>(kind), data});
}

void LinkByHand::align(LinkWire& wire, unsigned lane) {
  while (wire.length() % slices != lane % slices) insert(wire, OAE_KIND_IDLE, 0);
}

void LinkByHand::insert(LinkWire& wire, const Frame& frame, unsigned count) {
  for (unsigned i = 0; i < count; ++i) {
    insert(wire, i == 0 ? OAE_KIND_SLICE_0 : OAE_KIND_PAYLOAD, frame[i]);
  }
}

void LinkByHand::limit_silence(LinkEnd& end, unsigned slices) {
  put(end, OAE_LINK_LIMITS,
      OAE_PUT(OAE_LINK_LIMITS_SILENCE, slices) | OAE_PUT(OAE_LINK_LIMITS_TROUBLE, 8));
}

void LinkByHand::lose(LinkWire& wire, unsigned first, unsigned end) {
  for (unsigned i = first; i < end; ++i) wire.fault(LinkWire::Fault::lose, i);
}

void LinkByHand::take_down() {
  to_a.cut();
  to_b.cut();
  end(a);
  end(b);
  until([this] { return a.phase() == OAE_LINK_STATE_DOWN && b.phase() == OAE_LINK_STATE_DOWN; });
  to_a.join();
  to_b.join();
}

void LinkByHand::lose_power(LinkEnd& end) {
  end.top.reset = 1;
  clock(40);
  end.top.reset = 0;
}

void LinkByHand::join_a_alone() {
  lose(to_b, 1, 200);
  begin(a);
  begin(b);
  until([this] { return a.phase() == OAE_LINK_STATE_JOINED; });
}

void LinkByHand::come_up_after_joining() {
  limit_silence(long_silence);
  join_a_alone();
  rest();
  forget();
  insert(to_a, frame(header(OAE_PROTOCOL_ALIVE, 0)));
  until([this] { return a.phase() == OAE_LINK_STATE_IDLE; });
}
