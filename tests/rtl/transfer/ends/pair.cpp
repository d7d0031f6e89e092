// SPDX-License-Identifier: Apache-2.0
#include "tests/rtl/transfer/ends/pair.h"

LinkPair::LinkPair(unsigned delay) : LinkCable(delay), delay_(delay) {}

void LinkPair::clock(unsigned clocks) {
  for (unsigned n = 0; n < clocks; ++n) {
    const bool to_b_goes = random() % 100 >= stall;
    const bool to_a_goes = random() % 100 >= stall;
    settle(++now, to_b_goes && !hold_to_b, to_a_goes && !hold_to_a);
    rise();
  }
}

void LinkPair::put(LinkEnd& end, unsigned address, std::uint64_t data, unsigned strobe) {
  end.post_put(address, data, strobe);
  until([&end] { return end.idle(); });
}

std::uint64_t LinkPair::get(LinkEnd& end, unsigned address) {
  std::uint64_t result = 0;
  end.post_get(address, [&result](std::uint64_t value) { result = value; });
  until([&end] { return end.idle(); });
  return result;
}

void LinkPair::command(LinkEnd& end, unsigned verb, unsigned beats) {
  put(end, OAE_LINK_COMMAND, verb | OAE_PUT(OAE_LINK_COMMAND_BEATS, beats));
}

void LinkPair::bring_up() {
  put(a, OAE_LINK_CONTROL, 1);
  put(b, OAE_LINK_CONTROL, 1);
  until([this] { return a.phase() == OAE_LINK_STATE_IDLE && b.phase() == OAE_LINK_STATE_IDLE; });
  rest();
}

void LinkPair::rest() {
  for (unsigned i = 0; i < 2; ++i) {
    clock(2 * delay_ / slices + 8);
    until([this] { return !a.top.busy && !b.top.busy && a.idle() && b.idle(); });
  }
}

Slot LinkPair::slot(std::uint32_t sequence, std::uint64_t seed, std::uint8_t flags) {
  Header header;
  header.epoch = 7;
  header.sequence = sequence;
  header.flags = flags;
  return make_slot(header, seed);
}

std::vector<Slot> LinkPair::slots(unsigned count, std::uint64_t seed) {
  std::vector<Slot> made;
  for (unsigned i = 0; i < count; ++i) made.push_back(slot(i + 1, seed * 1000 + i, i % 4));
  return made;
}

void LinkPair::fill(LinkEnd& end, const std::vector<Slot>& slots) {
  for (unsigned n = 0; n < slots.size(); ++n) {
    for (unsigned i = 0; i < 8; ++i) end.post_put(OAE_LINK_SEND_AT(n) + 8 * i, slots[n][i]);
  }
  until([&end] { return end.idle(); });
}

unsigned LinkPair::send(LinkEnd& end, const std::vector<Slot>& slots, bool flow) {
  fill(end, slots);
  const unsigned beats = slots.size() == 1 ? 0 : slots.size() == 4 ? 1 : slots.size() == 16 ? 2 : 3;
  command(end, flow ? OAE_LINK_COMMAND_FLOW : OAE_LINK_COMMAND_PACKET, beats);
  return settled(end);
}

unsigned LinkPair::settled(LinkEnd& end) {
  until([&end] { return end.sender() == OAE_LINK_STATE_IDLE; });
  return outcome(end);
}

LinkEnd::Received LinkPair::take(LinkEnd& end) {
  const std::uint64_t word = get(end, OAE_LINK_RECEIVED);
  LinkEnd::Received received{};
  received.flow = OAE_GET(word, OAE_LINK_RECEIVED_FLOW);
  received.number = OAE_GET(word, OAE_LINK_RECEIVED_NUMBER);
  if (OAE_GET(word, OAE_LINK_RECEIVED_TRANSFERS) == 0) return received;
  received.slots.resize(std::size_t{1} << 2 * OAE_GET(word, OAE_LINK_RECEIVED_BEATS));
  for (unsigned n = 0; n < received.slots.size(); ++n) {
    for (unsigned i = 0; i < 8; ++i) {
      received.slots[n][i] = get(end, OAE_LINK_RECEIVE_AT(n) + 8 * i);
    }
  }
  command(end, OAE_LINK_COMMAND_TAKE);
  return received;
}
