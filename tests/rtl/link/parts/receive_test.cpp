// SPDX-License-Identifier: Apache-2.0
// From the wire to frames and returns, on its own: groups that stand where the other end hardly
// puts them, data that look like what they are not, and groups on their way when the link goes
// down.
#include <Voae_link_receive.h>

#include <array>
#include <cstdint>
#include <vector>

#include "oae_registers.h"
#include "tests/rtl/link/formats.h"
#include "tests/rtl/link/parts/part.h"

namespace window {
namespace {

class Receive : public Part<Voae_link_receive> {
 protected:
  static constexpr std::uint32_t own = 3;  // sessions
  static constexpr std::uint32_t peer = 5;
  static constexpr std::uint32_t expected = 0x12345678;
  static constexpr unsigned parts = 8 / slices;
  static constexpr unsigned latency = 3;  // clocks

  Receive() {
    top_.own_session_i = own;
    top_.peer_session_i = peer;
    top_.expected_i = expected;
    top_.rst_i = 1;
    clock();
    top_.rst_i = 0;
  }

  void clock(const Group& group = {}) {
    top_.kind_i = group.kind;
    for (unsigned i = 0; i < slices; ++i) {
      top_.data_i[2 * i] = static_cast<std::uint32_t>(group.data[i]);
      top_.data_i[2 * i + 1] = static_cast<std::uint32_t>(group.data[i] >> 32);
    }
    top_.clk_i = 0;
    top_.eval();
    good_ += top_.frame_good_o;
    damaged_ += top_.damaged_o;
    returns_ += top_.return_valid_o;
    if (top_.frame_good_o) {
      protocol_ = top_.protocol_o;
      head_ = top_.head_o;
      operand_ = top_.operand_o;
      for (unsigned i = 0; i < join_.size(); ++i) join_[i] = top_.join_o[i];
    }
    top_.clk_i = 1;
    top_.eval();
  }
  void clocks(const std::vector<Group>& groups) {
    for (const Group& each : groups) clock(each);
  }
  /// Until what has come has its verdict
  void wait() {
    for (unsigned i = 0; i < latency; ++i) clock();
  }

  static std::vector<Group> groups_of(Frame frame, std::uint32_t number = expected) {
    frame[7] = frame_check(frame, number, peer, own);
    std::vector<Group> groups(parts);
    write(groups, frame);
    for (Group& each : groups) each.kind = OAE_WIRE_KIND_BODY;
    groups[0].kind = OAE_WIRE_KIND_HEAD;
    return groups;
  }
  static Frame slot() {
    return {OAE_WIRE_PROTOCOL_SLOT | OAE_PUT(OAE_WIRE_HEAD_NUMBER, expected & 0xfff) |
                OAE_PUT(OAE_WIRE_HEAD_GENERATION, 0x9a) |
                OAE_PUT(OAE_WIRE_HEAD_OPERAND, 0x11223344),
            0x0123456789abcdef,
            2,
            3,
            4,
            5,
            6};
  }
  static Frame join() {
    return {OAE_WIRE_PROTOCOL_JOIN, std::uint64_t{0x1a2b3c4d} << 32 | 0x5e6f7081,
            std::uint64_t{0x92a3b4c5} << 32 | 0xd6e7f809,
            std::uint64_t{0x0badcafe} << 32 | 0xfeedbabe,
            OAE_WIRE_FLAGS_MET_MASK | OAE_WIRE_FLAGS_KNOWN_MASK | OAE_WIRE_FLAGS_ANEW_MASK |
                OAE_PUT(OAE_WIRE_FLAGS_PENDING, 0x4321)};
  }
  static Group make_return() {
    Return sent{0x1111222233334444, 0x55667788};
    sent[1] |= std::uint64_t{return_check(sent, peer, own)} << 32;
    Group group;
    group.kind = OAE_WIRE_KIND_RETURN;
    group.data[0] = sent[0];
    group.data[1] = sent[1];
    return group;
  }
  /// Nothing, with data that nobody has made to be read
  static Group noise() {
    Group group;
    group.data.fill(0xdeadbeef0badf00d);
    return group;
  }

  std::uint64_t join_bits(unsigned low, unsigned count) const {
    std::uint64_t value = 0;
    for (unsigned i = 0; i < count; ++i) {
      value |= std::uint64_t{join_[(low + i) / 32] >> (low + i) % 32 & 1} << i;
    }
    return value;
  }
  void expect_join() const {
    EXPECT_EQ(protocol_, OAE_WIRE_PROTOCOL_JOIN);
    EXPECT_EQ(join_bits(0, 32), 0xfeedbabe);    // done
    EXPECT_EQ(join_bits(32, 32), 0x0badcafe);   // first
    EXPECT_EQ(join_bits(64, 18), 0x34321);      // pending, known, anew
    EXPECT_EQ(join_bits(82, 32), 0xd6e7f809);   // settled
    EXPECT_EQ(join_bits(114, 32), 0x92a3b4c5);  // confirmed
    EXPECT_EQ(join_bits(146, 32), 0x5e6f7081);  // own
    EXPECT_EQ(join_bits(178, 32), 0x1a2b3c4d);  // other
    EXPECT_EQ(join_bits(210, 2), 2u);           // met, and not agreed
  }
  void expect_head(unsigned generation, std::uint32_t number, unsigned digest) const {
    EXPECT_EQ(head_ >> 48, generation);
    EXPECT_EQ(head_ >> 16 & 0xffffffff, number);
    EXPECT_EQ(head_ & 0xffff, digest);
  }

  unsigned good_ = 0;
  unsigned damaged_ = 0;
  unsigned returns_ = 0;
  // What the last good frame has said
  unsigned protocol_ = 0;
  std::uint64_t head_ = 0;
  std::uint32_t operand_ = 0;
  std::array<std::uint32_t, 7> join_{};
};

TEST_F(Receive, AUnitIsOnItsWayForThreeClocks) {
  EXPECT_FALSE(top_.busy_o);
  clock(make_return());
  for (unsigned i = 0; i < latency; ++i) {
    EXPECT_TRUE(top_.busy_o);
    EXPECT_EQ(returns_, 0u);
    clock();
  }
  EXPECT_EQ(returns_, 1u);
  EXPECT_FALSE(top_.busy_o);
}

TEST_F(Receive, IdleGroupsAndReturnsMayStandBetweenTheGroupsOfAFrame) {
  for (const Group& between : {Group{}, noise(), make_return()}) {
    const auto apart = [&](const std::vector<Group>& groups) {
      for (const Group& each : groups) {
        clock(between);
        clock(each);
      }
      clock(between);
      wait();
    };
    good_ = returns_ = 0;
    apart(groups_of(join()));
    EXPECT_EQ(good_, 1u);
    expect_join();
    apart(groups_of(slot()));
    EXPECT_EQ(good_, 2u);
    EXPECT_EQ(protocol_, OAE_WIRE_PROTOCOL_SLOT);
    EXPECT_EQ(operand_, 0x11223344u);
    expect_head(0x9a, expected, groups_of(slot()).back().data[slices - 1] & 0xffff);
    Frame restart{OAE_WIRE_PROTOCOL_RESTART | OAE_PUT(OAE_WIRE_HEAD_GENERATION, 0x17)};
    restart[5] =
        OAE_PUT(OAE_WIRE_START_NUMBER, 0x87654321) | OAE_PUT(OAE_WIRE_START_DIGEST, 0xfedc);
    apart(groups_of(restart));
    EXPECT_EQ(good_, 3u);
    EXPECT_EQ(protocol_, OAE_WIRE_PROTOCOL_RESTART);
    expect_head(0x17, 0x87654321, 0xfedc);
    Frame alive{OAE_WIRE_PROTOCOL_ALIVE | OAE_PUT(OAE_WIRE_HEAD_OPERAND, 0xa5a51234)};
    apart(groups_of(alive));
    EXPECT_EQ(good_, 4u);
    EXPECT_EQ(protocol_, OAE_WIRE_PROTOCOL_ALIVE);
    EXPECT_EQ(operand_, 0xa5a51234);
    EXPECT_EQ(damaged_, 0u);
    const unsigned gaps = 4 * (parts + 1);
    EXPECT_EQ(returns_, between.kind == OAE_WIRE_KIND_RETURN ? gaps : 0);
  }
}

TEST_F(Receive, WhatIsOnItsWayWhenTheLinkGoesDownHasNoVerdict) {
  for (unsigned clears = 0; clears <= latency; ++clears) {
    for (const std::vector<Group>& unit : {std::vector<Group>{make_return()}, groups_of(join())}) {
      SCOPED_TRACE(clears);
      clocks({unit.begin(), unit.end() - 1});
      for (unsigned i = 0; i < latency; ++i) {
        top_.clear_i = clears == i;
        clock(i == 0 ? unit.back() : Group{});
      }
      top_.clear_i = 0;
      clock();
    }
  }
  // Without a clear, each has come once.
  EXPECT_EQ(returns_, 1u);
  EXPECT_EQ(good_, 1u);
}

TEST_F(Receive, AFrameThatTheEndOfALinkHasCutIsNotMissedLater) {
  clock(groups_of(slot())[0]);
  top_.clear_i = 1;
  clock();
  top_.clear_i = 0;
  clocks(groups_of(slot()));
  wait();
  EXPECT_EQ(damaged_, 0u);
  EXPECT_EQ(good_, 1u);
}

TEST_F(Receive, AFrameWithoutItsEndIsDamaged) {
  const std::vector<Group> groups = groups_of(slot());
  for (unsigned some = 1; some < parts; ++some) {
    damaged_ = good_ = 0;
    clocks({groups.begin(), groups.begin() + some});
    clocks(groups);
    wait();
    EXPECT_EQ(damaged_, 1u);
    EXPECT_EQ(good_, 1u);  // the second one
  }
}

TEST_F(Receive, AFrameWithoutItsHeadIsDamaged) {
  const std::vector<Group> groups = groups_of(slot());
  clocks({groups.begin() + 1, groups.end()});
  wait();
  EXPECT_EQ(damaged_, parts - 1);
  clocks(groups);
  wait();
  EXPECT_EQ(damaged_, parts - 1);
  EXPECT_EQ(good_, 1u);
}

// The frame has the low bits of a slot's number, and its check the others.
TEST_F(Receive, ANumberIsTheOneNextToWhatIsExpected) {
  std::uint32_t wanted = 1;
  for (unsigned n = 0; n < 40; ++n, wanted = wanted * 3 + (n % 2 == 0 ? 0xffff'f000 : 1)) {
    top_.expected_i = wanted;
    for (const std::int32_t distance : {-2048, -1, 0, 1, 2047}) {
      const std::uint32_t number = wanted + static_cast<std::uint32_t>(distance);
      Frame frame{OAE_WIRE_PROTOCOL_SLOT | OAE_PUT(OAE_WIRE_HEAD_NUMBER, number & 0xfff), n};
      good_ = damaged_ = 0;
      clocks(groups_of(frame, number));
      wait();
      ASSERT_EQ(good_, 1u) << wanted << ' ' << distance;
      ASSERT_EQ(head_ >> 16 & 0xffffffff, number);
      clocks(groups_of(frame, number + 4096));
      clocks(groups_of(frame, number - 4096));
      wait();
      ASSERT_EQ(good_, 1u) << wanted << ' ' << distance;
      ASSERT_EQ(damaged_, 2u);
    }
  }
}

// Of the sessions, the low 16 bits
TEST_F(Receive, AUnitOfOtherSessionsIsDamaged) {
  for (unsigned bit = 0; bit < 16; ++bit) {
    for (const bool others : {false, true}) {
      good_ = damaged_ = returns_ = 0;
      top_.own_session_i = own ^ (others ? 0 : 1u << bit);
      top_.peer_session_i = peer ^ (others ? 1u << bit : 0);
      clocks(groups_of(slot()));
      clock(make_return());
      wait();
      EXPECT_EQ(damaged_, 2u) << bit;
      clocks(groups_of(join()));  // It names its sessions.
      wait();
      EXPECT_EQ(good_, 1u) << bit;
      EXPECT_EQ(returns_, 0u) << bit;
    }
  }
}

// The firmware may put into a slot what is a check of all that stands before it.
TEST_F(Receive, AFrameEndsOnlyWithItsLastGroup) {
  for (unsigned last = slices - 1; last < 7; last += slices) {
    Frame frame = slot();
    frame[last] = check_at(frame, last, expected, peer, own);
    clocks(groups_of(frame));
    wait();
    EXPECT_EQ(good_, 1u) << last;
    EXPECT_EQ(damaged_, 0u);
    good_ = 0;
  }
}

// Or what would be a return.
TEST_F(Receive, AReturnInASlotIsNone) {
  for (unsigned first = 0; first < 8; first += slices) {
    Frame frame = slot();
    if (first + 1 < 7) {
      const std::uint32_t low = 0x1234;
      frame[first + 1] = low | std::uint64_t{return_check({frame[first], low}, peer, own)} << 32;
    }
    clocks(groups_of(frame));
    wait();
    EXPECT_EQ(returns_, 0u) << first;
  }
  EXPECT_EQ(good_, parts);
}

TEST_F(Receive, ADamagedFrameIsNone) {
  for (unsigned bit = 0; bit < 512; ++bit) {
    std::vector<Group> groups = groups_of(slot());
    groups[bit / 64 / slices].data[bit / 64 % slices] ^= std::uint64_t{1} << bit % 64;
    clocks(groups);
  }
  wait();
  EXPECT_EQ(damaged_, 512u);
  EXPECT_EQ(good_, 0u);
}

TEST_F(Receive, ADamagedReturnIsNone) {
  for (unsigned bit = 0; bit < 128; ++bit) {
    Group group = make_return();
    group.data[bit / 64] ^= std::uint64_t{1} << bit % 64;
    clock(group);
  }
  wait();
  EXPECT_EQ(damaged_, 128u);
  EXPECT_EQ(returns_, 0u);
}

}  // namespace
}  // namespace window
