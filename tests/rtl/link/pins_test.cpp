// SPDX-License-Identifier: Apache-2.0
// The pins of bridge, relay and reset, without a bridge or a relay.
#include <random>
#include <vector>

#include "tests/rtl/link/pair.h"

namespace window {
namespace {

class Pins : public Pair {
 protected:
  /// A bridge offers a slot, whose groups come in successive clocks.
  void pass(End& end, const Slot& slot) {
    for (unsigned slice = 0; slice < 8; slice += slices) {
      end.top.send_offer_i = slice == 0;
      end.top.send_write_i = 1;
      end.top.send_slice_i = slice;
      for (unsigned i = 0; i < slices; ++i) {
        const std::uint64_t word = slice + i < 7 ? slot[slice + i] : 0;
        end.top.send_data_i[2 * i] = static_cast<std::uint32_t>(word);
        end.top.send_data_i[2 * i + 1] = static_cast<std::uint32_t>(word >> 32);
      }
      clock();
    }
    end.top.send_offer_i = end.top.send_write_i = 0;
    clock(2);  // until it is seen whether there is a place for another one
  }

  /// A bridge takes a slot.
  Slot bring(End& end) {
    Slot slot{};
    for (unsigned slice = 0; slice < 8; slice += slices) {
      end.top.receive_read_i = 1;
      end.top.receive_slice_i = slice;
      clock();
      for (unsigned i = 0; i < slices && slice + i < 7; ++i) {
        slot[slice + i] =
            end.top.receive_data_o[2 * i] | std::uint64_t{end.top.receive_data_o[2 * i + 1]} << 32;
      }
    }
    end.top.receive_read_i = 0;
    end.top.receive_take_i = 1;
    clock();
    end.top.receive_take_i = 0;
    slot[0] &= ~std::uint64_t{0xffffff};
    return slot;
  }

  bool refused(End& end) {
    const bool was = (get(end, OAE_WINDOW_EVENT) & OAE_WINDOW_EVENT_REFUSED_MASK) != 0;
    put(end, OAE_WINDOW_EVENT, OAE_WINDOW_EVENT_REFUSED_MASK);
    return was;
  }

  void short_silence(End& end) { set_limits(end, 300, 4); }
};

TEST_F(Pins, ABridgeHasTheRings) {
  for (End* end : {a.get(), b.get()}) {
    put(*end, OAE_WINDOW_CONTROL, OAE_WINDOW_CONTROL_BRIDGED_MASK);
  }
  for (unsigned n = 1; n < ring; ++n) {
    ASSERT_EQ(a->top.send_room_o, 1) << n;
    pass(*a, slot(n));
  }
  EXPECT_EQ(a->top.send_room_o, 0);
  put(*a, OAE_WINDOW_OFFERED, 1);
  EXPECT_TRUE(refused(*a));
  EXPECT_EQ(offered(*a), ring - 1);
  bring_up();
  EXPECT_EQ(settled(*a), ring - 1);
  put(*b, OAE_WINDOW_TAKEN, 1);
  EXPECT_TRUE(refused(*b));
  for (unsigned n = 1; n < ring; ++n) {
    ASSERT_EQ(b->top.receive_valid_o, 1);
    ASSERT_EQ(bring(*b), slot(n));
  }
  EXPECT_EQ(b->top.receive_valid_o, 0);
}

// They change at random in every clock.
TEST_F(Pins, TheRelaysMeanNothingToAnEndOfItsFirmware) {
  std::mt19937 random{1};
  watch = [&] {
    for (End* end : {a.get(), b.get()}) {
      Voae_link_end& top = end->top;
      top.hold_i = random() & 7;
      for (unsigned i = 0; i < 4; ++i) top.onward_i[i] = random();
      for (unsigned i = 0; i < 3; ++i) top.outward_i[i] = random() & (i == 2 ? 1 : ~0u);
      top.opening_i = random() & 63;
      top.eval();
    }
  };
  bring_up();
  short_silence(*a);
  unsigned frames = 0;
  to_b.tamper = [&frames](std::vector<Group>& unit, bool frame) {
    if (frame && ++frames == 3) Wire::damage(unit, 200);
  };
  offer(*a, 10, 1);
  offer(*b, 4, 101);
  rest();
  EXPECT_EQ(take(*b).size(), 10u);
  EXPECT_EQ(take(*a).size(), 4u);
  EXPECT_EQ(get(*b, OAE_WINDOW_COUNT_DAMAGED), 1u);
  EXPECT_EQ(get(*b, OAE_WINDOW_COUNT_JAMMED), 1u);
  EXPECT_EQ(get(*a, OAE_WINDOW_COUNT_DAMAGED), 0u);
  // What is in doubt is settled by the other side's journal.
  offer(*a, 3, 11);
  until([this] { return done(*b) == 13; });
  to_a.cut();
  until([this] { return a->phase() == OAE_WINDOW_PHASE_DOWN; });
  EXPECT_EQ(settled(*a), 10u);
  EXPECT_EQ(state(*a, OAE_WINDOW_STATE_IN_DOUBT_SHIFT, 1), 1u);
  to_a.join();
  until([this] { return b->phase() == OAE_WINDOW_PHASE_DOWN; });
  bring_up();
  EXPECT_EQ(get(*a, OAE_WINDOW_COUNT_COMMITTED), 13u);
  EXPECT_EQ(get(*a, OAE_WINDOW_COUNT_LOST), 0u);
  const std::vector<Slot> taken = take(*b);
  ASSERT_EQ(taken.size(), 3u);
  EXPECT_EQ(taken[2], slot(13));
}

// The power comes on while the end is in any state, such as that of the clock in which it joins.
TEST_F(Pins, AResetLeavesNothingOfWhatWasBefore) {
  bring_up();
  offer(*b, 3, 1);
  rest();
  unsigned joined = 0;
  for (unsigned clocks = 0; clocks < 8 * cable.delay(); ++clocks) {
    put(*b, OAE_WINDOW_CONTROL, 0);
    lose_power(a);
    now += hold_off;
    clock();
    for (End* end : {a.get(), b.get()})
      end->post_put(OAE_WINDOW_CONTROL, OAE_WINDOW_CONTROL_UP_MASK);
    clock(clocks);
    until([this] { return a->idle(); });
    a->top.rst_i = 1;
    clock();
    a->top.rst_i = 0;
    to_a.cut();
    clock(8);
    if (b->phase() == OAE_WINDOW_PHASE_UP) ++joined;
    EXPECT_EQ(a->phase(), unsigned{OAE_WINDOW_PHASE_DOWN});
    for (const unsigned address : {OAE_WINDOW_JOURNAL, OAE_WINDOW_HISTORY, OAE_WINDOW_SESSION}) {
      ASSERT_EQ(get(*a, address), 0u) << std::hex << address << " after " << std::dec << clocks;
    }
    to_a.join();
  }
  EXPECT_GT(joined, 0u);
}

}  // namespace
}  // namespace window
