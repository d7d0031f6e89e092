// SPDX-License-Identifier: Apache-2.0
// Reflections: which ones an end sends, how it compares those that come back, and what it calls
// damage.
#include <gtest/gtest.h>

#include "tests/rtl/transfer/ends/by_hand.h"

namespace {

using Words = std::vector<std::uint64_t>;

constexpr std::uint64_t jam = OAE_FRAME_HEADER_JAM_MASK;
constexpr unsigned whole = 3;  // all 8 slices

/// B's reflections are held back while the frames for it arrive, so that they meet.
class LinkReflections : public LinkByHand {
 protected:
  using LinkByHand::LinkByHand;

  void SetUp() override {
    bring_up();
    forget();
  }
  /// Slice 0 of a packet that is an old copy, which the receiver ignores but reflects.
  static std::uint64_t old_packet(unsigned number, unsigned asks = 0) {
    return header(OAE_PROTOCOL_PACKET, number) | asks;
  }
  /// What B reflects of the slices that are on the wire.
  Words held_reflections() {
    hold_to_a = true;
    clock(60);
    EXPECT_TRUE(to_a.reflections.empty());
    hold_to_a = false;
    clock(20);
    const Words reflected = to_a.reflections;
    forget();
    return reflected;
  }
  std::uint64_t damaged() {
    const std::uint64_t all = get(b, OAE_LINK_COUNT_DAMAGED);
    const std::uint64_t more = all - damaged_before_;
    damaged_before_ = all;
    return more;
  }
  /// Clocks in which nothing arrives.
  void pause() {
    for (unsigned i = 0; i < 2 * slices; ++i) insert(to_b, OAE_KIND_IDLE, 0);
  }

 private:
  std::uint64_t damaged_before_ = 0;
};

TEST_F(LinkReflections, AFlowIsReflected) {
  EXPECT_EQ(send(a, slots(1, 1), true), unsigned{OAE_OUTCOME_COMMITTED});
  EXPECT_EQ(to_a.reflections, Words{to_b.frames.at(0)[0]});
}

TEST_F(LinkReflections, ADamagedFrameIsReportedInsteadOfReflected) {
  Frame bad = frame(old_packet(200));
  bad[3] ^= 1;
  insert(to_b, bad);
  EXPECT_EQ(held_reflections(), Words{bad[0] | jam});
  EXPECT_EQ(damaged(), 1u);
}

TEST_F(LinkReflections, AFrameThatEndsEarlyIsDamaged) {
  const std::uint64_t head = old_packet(200);
  insert(to_b, frame(head), 4);
  insert(to_b, frame(old_packet(201)));
  EXPECT_EQ(held_reflections(), (Words{head | jam, old_packet(201)}));
  EXPECT_EQ(damaged(), 1u);
  insert(to_b, frame(head), 2);  // before idle slices
  EXPECT_EQ(held_reflections(), Words{head | jam});
  EXPECT_EQ(damaged(), 1u);
}

TEST_F(LinkReflections, AFrameWithAGapIsDamaged) {
  const Frame gap = frame(header(OAE_PROTOCOL_FLOW, 1));
  insert(to_b, gap, 4);
  insert(to_b, OAE_KIND_IDLE, 0);
  for (unsigned i = 4; i < 8; ++i) insert(to_b, OAE_KIND_PAYLOAD, gap[i]);
  held_reflections();
  EXPECT_GE(damaged(), 1u);
  EXPECT_EQ(transfers(b), 0u);
}

TEST_F(LinkReflections, StraySlicesAreOneDamageUntilTheWireIsIdle) {
  for (unsigned i = 0; i < 20; ++i) insert(to_b, OAE_KIND_PAYLOAD, i);
  EXPECT_EQ(held_reflections(), Words{jam});
  EXPECT_EQ(damaged(), 1u);
  insert(to_b, OAE_KIND_PAYLOAD, 1);
  EXPECT_EQ(held_reflections(), Words{jam});
  EXPECT_EQ(damaged(), 1u);
}

TEST_F(LinkReflections, AReportOfDamageReplacesTheReflectionThatWaits) {
  insert(to_b, frame(old_packet(200)));
  pause();
  insert(to_b, OAE_KIND_PAYLOAD, 1);
  EXPECT_EQ(held_reflections(), Words{jam});
}

TEST_F(LinkReflections, TheNextFrameDoesNotReplaceTheReflectionOfAWholeOne) {
  insert(to_b, frame(old_packet(200, whole)));
  insert(to_b, frame(old_packet(201)));
  EXPECT_EQ(held_reflections(), (Words{old_packet(200, whole), old_packet(201)}));
}

// The end of a good frame and a frame of a single slice arrive in one clock, if it has 8 slices.
TEST_F(LinkReflections, AReportOfDamageNamesTheDamagedFrame) {
  align(to_b, 4);
  insert(to_b, frame(old_packet(200)));
  insert(to_b, frame(old_packet(201)), 1);
  EXPECT_EQ(held_reflections(), Words{old_packet(201) | jam});
}

// A sender acts on every bit of a reflection but its level, which says how much has arrived.
TEST_F(LinkReflections, EveryBitIsCompared) {
  for (unsigned bit = 0; bit < 64; ++bit) {
    SCOPED_TRACE(bit);
    const std::uint64_t before = get(a, OAE_LINK_COUNT_MISMATCHED);
    const bool level = bit == 32 || bit == 33;  // of the exchanged halves
    to_a.corrupt_reflection(bit);
    EXPECT_EQ(send(a, slots(1, bit)),
              level ? unsigned{OAE_OUTCOME_COMMITTED} : unsigned{OAE_OUTCOME_REVERSED});
    EXPECT_EQ(get(a, OAE_LINK_COUNT_MISMATCHED), before + !level);
    EXPECT_EQ(slices_reported(a), level ? 1u << (1u << (bit - 32)) : 0u) << "what it reports";
    while (transfers(b) != 0) take(b);
    EXPECT_EQ(send(a, slots(1, bit)), unsigned{OAE_OUTCOME_COMMITTED});  // which ends the trouble
    take(b);
  }
}

// A's next transfer has not left yet, so that its memory of the last one still has that slice 0.
TEST_F(LinkReflections, AReflectionOfTheLastTransferIsNotOfThisOne) {
  EXPECT_EQ(send(a, slots(64, 1), true), unsigned{OAE_OUTCOME_COMMITTED});
  take(b);
  const std::uint64_t old = to_b.frames.at(40)[0];
  fill(a, slots(64, 2));
  hold_to_b = true;
  a.post_put(OAE_LINK_COMMAND,
             OAE_LINK_COMMAND_PACKET | OAE_PUT(OAE_LINK_COMMAND_BEATS, OAE_BEATS_OF_64));
  clock(10);
  ASSERT_EQ(a.sender(), unsigned{OAE_LINK_STATE_TENTATIVE});
  insert(to_a, OAE_KIND_REFLECTION, exchanged(old));
  clock(60);
  hold_to_b = false;
  EXPECT_EQ(get(a, OAE_LINK_COUNT_MISMATCHED), 1u);
  EXPECT_EQ(settled(a), unsigned{OAE_OUTCOME_REVERSED});
}

TEST_F(LinkReflections, AReflectionIsLookedAtWithinTheClockGate) {
  insert(to_a, OAE_KIND_REFLECTION, exchanged(old_packet(1)));
  until([this] { return a.top.rx_kind != 0; });
  EXPECT_TRUE(a.top.busy);
  clock();
  EXPECT_FALSE(a.top.busy);
}

/// A wire on which more frames than those of a transfer have room.
class LinkFarApart : public LinkReflections {
 protected:
  LinkFarApart() : LinkReflections(1024) {}
};

TEST_F(LinkFarApart, AllFramesLeaveBeforeTheFirstReflection) {
  limit_silence(0x10'0000);
  fill(a, slots(64, 1));
  command(a, OAE_LINK_COMMAND_PACKET, OAE_BEATS_OF_64);
  until([this] { return to_b.frames.size() == 64; });
  EXPECT_TRUE(to_a.reflections.empty());
  EXPECT_EQ(settled(a), unsigned{OAE_OUTCOME_COMMITTED});
  EXPECT_EQ(get(a, OAE_LINK_COUNT_MISMATCHED), 0u);
}

TEST_F(LinkFarApart, AWithdrawalDisturbsNoReflection) {
  limit_silence(0x10'0000);
  fill(a, slots(64, 1));
  command(a, OAE_LINK_COMMAND_PACKET, OAE_BEATS_OF_64);
  until([this] { return to_b.frames.size() == 64; });
  command(a, OAE_LINK_COMMAND_WITHDRAW);
  EXPECT_TRUE(to_a.reflections.empty());
  EXPECT_EQ(settled(a), unsigned{OAE_OUTCOME_REVERSED});
  EXPECT_EQ(get(a, OAE_LINK_COUNT_MISMATCHED), 0u);
}

}  // namespace
