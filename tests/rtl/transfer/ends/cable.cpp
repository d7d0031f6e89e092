// SPDX-License-Identifier: Apache-2.0
#include "tests/rtl/transfer/ends/cable.h"

#include <gtest/gtest.h>

#include <cstring>

#include "oae_registers.h"

namespace {

template <typename Word>
void* bytes(Word& word) {
  return &word;
}
template <std::size_t words>
void* bytes(VlWide<words>& wide) {
  return wide.data();
}

/// `sent` is whether the side was not down in the previous clock.
void carry(LinkEnd& from, bool sent, LinkWire& wire) {
  std::uint64_t data[LinkCable::slices];
  std::memcpy(data, bytes(from.top.tx_data), sizeof data);
  EXPECT_TRUE(from.top.tx_kind == 0 || from.top.tx_valid || sent)
      << "a side that is down says something";
  EXPECT_TRUE(from.top.tx_kind == 0 || from.top.busy) << "a side that sends needs its clock";
  for (unsigned i = 0; i < LinkCable::slices; ++i) {
    const unsigned kind = from.top.tx_kind >> 2 * i & 3;
    EXPECT_TRUE(kind != OAE_KIND_IDLE || data[i] == 0) << "an idle slice says something";
    wire.push({static_cast<std::uint8_t>(kind), data[i]});
  }
}

void deliver(LinkWire& wire, LinkEnd& to, bool carrier) {
  std::uint64_t data[LinkCable::slices];
  unsigned kinds = 0;
  for (unsigned i = 0; i < LinkCable::slices; ++i) {
    const Slice slice = wire.pop();
    kinds |= slice.kind << 2 * i;
    data[i] = slice.data;
  }
  to.top.rx_valid = carrier && wire.whole();
  to.top.rx_kind = kinds;
  std::memcpy(bytes(to.top.rx_data), data, sizeof data);
}

}  // namespace

void LinkCable::settle(std::uint64_t now, bool to_b_goes, bool to_a_goes) {
  a.top.tx_ready = to_b_goes;
  b.top.tx_ready = to_a_goes;
  a.top.rx_valid = 0;
  b.top.rx_valid = 0;
  if (to_a_goes) deliver(to_a, a, b_sends_);
  if (to_b_goes) deliver(to_b, b, a_sends_);
  a.settle(now);
  b.settle(now);
  if (to_b_goes) carry(a, a_sends_, to_b);
  if (to_a_goes) carry(b, b_sends_, to_a);
  a_sends_ = a.top.tx_valid;
  b_sends_ = b.top.tx_valid;
  a_hears_ = a.top.rx_valid;
  b_hears_ = b.top.rx_valid;
}

bool LinkCable::quiet(std::uint64_t now) const {
  const auto stands = [now](const LinkEnd& end) {
    return !end.top.reset && !end.top.busy && end.top.tx_kind == 0 && end.idle() &&
           !(end.top.deadline_valid && end.top.deadline <= now);
  };
  return stands(a) && stands(b) && to_a.idle() && to_b.idle() && a_sends_ == bool(a.top.tx_valid) &&
         b_sends_ == bool(b.top.tx_valid) && a_hears_ == (b_sends_ && to_a.whole()) &&
         b_hears_ == (a_sends_ && to_b.whole());
}

void LinkCable::rise() {
  a.rise();
  b.rise();
}
