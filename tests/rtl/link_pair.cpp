// SPDX-License-Identifier: Apache-2.0
#include "tests/rtl/link_pair.h"

#include <cstring>

namespace {

template <typename Word>
const void* bytes(const Word& word) {
  return &word;
}
template <std::size_t words>
const void* bytes(const VlWide<words>& wide) {
  return wide.data();
}

}  // namespace

LinkPair::LinkPair(unsigned delay) : slices(0), to_b(delay), to_a(delay) {
  slices = OAE_GET(get(a, OAE_LINK_ID), OAE_LINK_ID_SLICES);
}

void LinkPair::carry(LinkEnd& from, LinkWire& wire) const {
  std::uint64_t data[8];
  std::memcpy(data, bytes(from.top.tx_data), sizeof data[0] * slices);
  for (unsigned i = 0; i < slices; ++i) {
    const unsigned kind = from.top.tx_kind >> 2 * i & 3;
    EXPECT_TRUE(kind != OAE_KIND_IDLE || data[i] == 0) << "an idle slice says something";
    wire.push({static_cast<std::uint8_t>(kind), data[i]});
  }
}

void LinkPair::deliver(LinkWire& wire, LinkEnd& to, bool carrier) const {
  std::uint64_t data[8] = {};
  unsigned kinds = 0;
  for (unsigned i = 0; i < slices; ++i) {
    const Slice slice = wire.pop();
    kinds |= slice.kind << 2 * i;
    data[i] = slice.data;
  }
  to.top.rx_valid = carrier && wire.whole();
  to.top.rx_kind = kinds;
  std::memcpy(const_cast<void*>(bytes(to.top.rx_data)), data, sizeof data[0] * slices);
}

void LinkPair::clock(unsigned clocks) {
  for (unsigned n = 0; n < clocks; ++n) {
    ++now;
    if (slices != 0) {
      deliver(to_a, a, b_sends_);
      deliver(to_b, b, a_sends_);
      a.top.tx_ready = random() % 100 >= stall;
      b.top.tx_ready = random() % 100 >= stall;
    }
    a.settle(now);
    b.settle(now);
    if (slices != 0) {
      for (auto [end, wire] : {std::pair{&a, &to_b}, std::pair{&b, &to_a}}) {
        if (end->top.tx_ready) {
          carry(*end, *wire);
        } else {
          for (unsigned i = 0; i < slices; ++i) wire->push({});
        }
      }
      a_sends_ = a.top.tx_valid;
      b_sends_ = b.top.tx_valid;
    }
    a.rise();
    b.rise();
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
  until([this] { return !a.top.busy && !b.top.busy; });
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
