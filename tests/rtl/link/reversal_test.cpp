// SPDX-License-Identifier: Apache-2.0
// Damage, silence and the firmware's wish reverse what is not answered.
#include <string>

#include "tests/rtl/link/formats.h"
#include "tests/rtl/link/pair.h"

namespace window {
namespace {

class Reversal : public Pair {
 protected:
  /// Damages the n-th frame with this protocol from now on, 0 being the next.
  static void damage(Wire& wire, unsigned protocol, unsigned n, unsigned count = 1) {
    wire.tamper = [=, seen = 0u](std::vector<Group>& unit, bool frame) mutable {
      if (!frame || (unit[0].data[0] & OAE_WIRE_HEAD_PROTOCOL_MASK) != protocol) return;
      if (seen >= n && seen < n + count) unit.back().data[0] ^= 0x10;
      ++seen;
    };
  }
  void short_silence() {
    for (End* end : {a.get(), b.get()}) {
      put(*end, OAE_WINDOW_LIMITS,
          OAE_PUT(OAE_WINDOW_LIMITS_SILENCE, 300) | OAE_PUT(OAE_WINDOW_LIMITS_TROUBLE, 9));
    }
  }
  bool flag(End& end, unsigned shift) { return (get(end, OAE_WINDOW_STATE) >> shift & 1) != 0; }
  bool event(End& end, std::uint64_t mask) { return (get(end, OAE_WINDOW_EVENT) & mask) != 0; }
};

TEST_F(Reversal, ADamagedSlotAndAllAfterItAreOfferedAgain) {
  bring_up();
  damage(to_b, OAE_WIRE_PROTOCOL_SLOT, 3);
  offer(*a, 10, 1);
  rest();
  EXPECT_EQ(get(*b, OAE_WINDOW_COUNT_DAMAGED), 1u);
  EXPECT_EQ(get(*b, OAE_WINDOW_COUNT_JAMMED), 1u);
  EXPECT_EQ(get(*a, OAE_WINDOW_COUNT_REVERSED), 7u);
  EXPECT_EQ(get(*a, OAE_WINDOW_COUNT_COMMITTED), 10u);
  const std::vector<Slot> taken = take(*b);
  ASSERT_EQ(taken.size(), 10u);
  for (unsigned i = 0; i < 10; ++i) EXPECT_EQ(taken[i], slot(1 + i));
}

TEST_F(Reversal, WithoutAgainTheFirmwareDecides) {
  bring_up(false);
  damage(to_b, OAE_WIRE_PROTOCOL_SLOT, 3);
  offer(*a, 10, 1);
  rest();
  EXPECT_EQ(settled(*a), 3u);
  EXPECT_TRUE(flag(*a, OAE_WINDOW_STATE_HELD_SHIFT));
  EXPECT_TRUE(event(*a, OAE_WINDOW_EVENT_REVERSED_MASK));
  offer(*a, 1, 11);  // waits behind them
  clock(20'000);
  EXPECT_EQ(settled(*a), 3u);
  EXPECT_EQ(a->phase(), unsigned{OAE_WINDOW_PHASE_UP});
  command(*a, OAE_WINDOW_COMMAND_RESUME);
  rest();
  EXPECT_EQ(settled(*a), 11u);
  EXPECT_EQ(take(*b).back(), slot(11));
}

TEST_F(Reversal, DroppedSlotsNeverArrive) {
  bring_up(false);
  damage(to_b, OAE_WIRE_PROTOCOL_SLOT, 3);
  offer(*a, 10, 1);
  rest();
  command(*a, OAE_WINDOW_COMMAND_DROP);
  EXPECT_EQ(offered(*a), 3u);
  EXPECT_FALSE(flag(*a, OAE_WINDOW_STATE_HELD_SHIFT));
  offer(*a, 2, 21);
  rest();
  const std::vector<Slot> taken = take(*b);
  ASSERT_EQ(taken.size(), 5u);
  EXPECT_EQ(taken[2], slot(3));
  EXPECT_EQ(taken[3], slot(21));
}

TEST_F(Reversal, ALostRestartIsNoticedByTheSlotsAfterIt) {
  bring_up();
  damage(to_b, OAE_WIRE_PROTOCOL_SLOT, 1);
  const auto first = to_b.tamper;
  unsigned restarts = 0;
  to_b.tamper = [&, first](std::vector<Group>& unit, bool frame) mutable {
    if (frame && (unit[0].data[0] & 3) == OAE_WIRE_PROTOCOL_RESTART && restarts++ == 0) {
      for (Group& group : unit) group = {};
      return;
    }
    first(unit, frame);
  };
  offer(*a, 6, 1);
  rest();
  EXPECT_EQ(restarts, 2u);
  EXPECT_EQ(get(*b, OAE_WINDOW_COUNT_JAMMED), 2u);
  EXPECT_EQ(settled(*a), 6u);
  EXPECT_EQ(take(*b).size(), 6u);
}

TEST_F(Reversal, ALostRestartWithoutSlotsIsRepeated) {
  short_silence();
  bring_up(false);
  damage(to_b, OAE_WIRE_PROTOCOL_SLOT, 1);
  const auto first = to_b.tamper;
  unsigned restarts = 0;
  to_b.tamper = [&, first](std::vector<Group>& unit, bool frame) mutable {
    if (frame && (unit[0].data[0] & 3) == OAE_WIRE_PROTOCOL_RESTART && restarts++ < 2) {
      for (Group& group : unit) group = {};
      return;
    }
    first(unit, frame);
  };
  offer(*a, 3, 1);
  until([this] { return flag(*a, OAE_WINDOW_STATE_HELD_SHIFT); });
  EXPECT_TRUE(flag(*a, OAE_WINDOW_STATE_RESTARTING_SHIFT));
  until([this] { return !flag(*a, OAE_WINDOW_STATE_RESTARTING_SHIFT); });
  EXPECT_EQ(restarts, 3u);
  command(*a, OAE_WINDOW_COMMAND_RESUME);
  rest();
  EXPECT_EQ(settled(*a), 3u);
}

// The first restart and all slots after it vanish, while the other side holds the slots before it.
TEST_F(Reversal, ARepeatedRestartKeepsNothingThatWasReversed) {
  short_silence();
  bring_up(false);
  bool vanish = false;
  to_a.tamper = [](std::vector<Group>& unit, bool frame) {
    if (!frame) unit[0] = {};
  };
  to_b.tamper = [&vanish](std::vector<Group>& unit, bool frame) {
    if (!frame || !vanish) return;
    for (Group& group : unit) group = {};
  };
  offer(*a, 3, 1);
  until([this] { return b->top.expected_o == 4; });
  vanish = true;
  until([this] { return flag(*a, OAE_WINDOW_STATE_HELD_SHIFT); });
  command(*a, OAE_WINDOW_COMMAND_DROP);
  offer(*a, 3, 11);
  until([this] { return a->top.sent_o == 3; });
  clock(10);
  ASSERT_TRUE(flag(*a, OAE_WINDOW_STATE_RESTARTING_SHIFT));
  to_a.tamper = to_b.tamper = nullptr;
  until([this] { return settled(*a) == 3 || flag(*a, OAE_WINDOW_STATE_HELD_SHIFT); });
  EXPECT_EQ(done(*b), 0u);
  command(*a, OAE_WINDOW_COMMAND_RESUME);
  rest();
  EXPECT_EQ(settled(*a), 3u);
  EXPECT_EQ(take(*b), (std::vector<Slot>{slot(11), slot(12), slot(13)}));
}

TEST_F(Reversal, WhatNeverArrivedIsReversedAfterTwoSilences) {
  short_silence();
  bring_up();
  unsigned lost = 0;
  to_b.tamper = [&lost](std::vector<Group>& unit, bool frame) {
    if (frame && lost++ < 2) {
      for (Group& group : unit) group = {};
    }
  };
  offer(*a, 2, 1);
  until([this] { return settled(*a) == 2; });
  EXPECT_EQ(get(*a, OAE_WINDOW_COUNT_REVERSED), 2u);
  EXPECT_EQ(get(*a, OAE_WINDOW_COUNT_SILENT), 2u);
  EXPECT_EQ(get(*b, OAE_WINDOW_COUNT_DAMAGED), 0u);
  EXPECT_EQ(take(*b).size(), 2u);
}

// The return is asked for, and nothing is reversed.
TEST_F(Reversal, ALostReturnCostsOneSilence) {
  short_silence();
  bring_up();
  unsigned lost = 0;
  to_a.tamper = [&lost](std::vector<Group>& unit, bool frame) {
    if (!frame && lost++ < 1) unit[0] = {};
  };
  offer(*a, 1, 1);
  until([this] { return settled(*a) == 1; });
  EXPECT_EQ(get(*a, OAE_WINDOW_COUNT_SILENT), 1u);
  EXPECT_EQ(get(*a, OAE_WINDOW_COUNT_REVERSED), 0u);
}

TEST_F(Reversal, TheFirmwareMayWithdrawWhatIsNotAnswered) {
  bring_up(false);
  offer(*a, ring - 1, 1);
  until([this] { return a->top.sent_o >= 8; });
  command(*a, OAE_WINDOW_COMMAND_WITHDRAW);
  rest();
  const unsigned kept = settled(*a);
  EXPECT_LT(kept, ring - 1);
  EXPECT_EQ(get(*a, OAE_WINDOW_COUNT_REVERSED) > 0, true);
  EXPECT_EQ(get(*b, OAE_WINDOW_COUNT_JAMMED), 0u);
  EXPECT_TRUE(flag(*a, OAE_WINDOW_STATE_HELD_SHIFT));
  EXPECT_EQ(take(*b).size(), kept);
  command(*a, OAE_WINDOW_COMMAND_DROP);
  EXPECT_EQ(offered(*a), kept);
  offer(*a, 1, 500);
  rest();
  EXPECT_EQ(take(*b), std::vector<Slot>{slot(500)});
}

TEST_F(Reversal, GenerationsGoAroundWithoutHarm) {
  bring_up();
  to_a.record = to_b.record = false;
  std::uint64_t seed = 1;
  for (unsigned round = 0; round < 300; ++round) {
    damage(to_b, OAE_WIRE_PROTOCOL_SLOT, round % 3);
    offer(*a, 3, seed);
    rest();
    const std::vector<Slot> taken = take(*b);
    ASSERT_EQ(taken.size(), 3u) << "round " << round;
    for (const Slot& each : taken) ASSERT_EQ(each, slot(seed++));
  }
  EXPECT_EQ(get(*b, OAE_WINDOW_COUNT_JAMMED), 300u);
}

TEST_F(Reversal, NumbersGoAroundTheirSixteenBits) {
  bring_up();
  to_a.record = to_b.record = false;
  // The ring holds the same slots all the time.
  for (unsigned i = 0; i < ring; ++i) a->post_put(OAE_WINDOW_SEND_AT(i) + 8, 1000 + i);
  until([this] { return a->idle(); });
  std::uint32_t number = 0;
  while (number < 70'000) {
    number = settled(*a) + ring - 1;
    put(*a, OAE_WINDOW_OFFERED, number);
    until([this, number] { return settled(*a) == number; });
    ASSERT_EQ(get(*b, OAE_WINDOW_RECEIVE_AT((number - 1) % ring) + 8), 1000 + number % ring);
    put(*b, OAE_WINDOW_TAKEN, number);
  }
  EXPECT_EQ(get(*a, OAE_WINDOW_COUNT_REVERSED), 0u);
  EXPECT_EQ(get(*a, OAE_WINDOW_COUNT_COMMITTED), number);
}

}  // namespace
}  // namespace window
