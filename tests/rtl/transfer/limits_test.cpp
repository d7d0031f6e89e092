// SPDX-License-Identifier: Apache-2.0
// States that a link reaches only after a long time: times after years, frames by the hundred
// thousand, and slots of any content.
#include <gtest/gtest.h>

#include <vector>

#include "tests/rtl/transfer/ends/pair.h"

namespace {

constexpr unsigned all_beats = 3;  // 64

class LinkLimits : public LinkPair {
 protected:
  /// A good slot of random content.
  Slot any_slot() {
    Header header;
    header.verb = 1 + random() % 15;
    header.epoch = static_cast<std::uint8_t>(random());
    header.sequence = static_cast<std::uint32_t>(random());
    header.flags = random() % 4;
    Slot made = make_slot(header, random());
    for (unsigned i = 1; i < 7; ++i) made[i] = random();
    seal(made);
    return made;
  }
};

TEST_F(LinkLimits, AnySlotGoesOver) {
  bring_up();
  for (unsigned i = 0; i < 20; ++i) {
    std::vector<Slot> sent;
    for (unsigned n = 0; n < (i % 2 == 0 ? 1 : 16); ++n) sent.push_back(any_slot());
    LinkEnd& from = i % 3 == 0 ? b : a;
    EXPECT_EQ(send(from, sent, i % 4 == 0), unsigned{OAE_OUTCOME_COMMITTED});
    EXPECT_EQ(take(i % 3 == 0 ? a : b).slots, sent);
    put(from, OAE_LINK_LIVENESS, random());
  }
}

// The link goes down after exactly as many doubts as the limit says.
TEST_F(LinkLimits, TroubleUpTo255) {
  bring_up();
  put(a, OAE_LINK_LIMITS,
      OAE_PUT(OAE_LINK_LIMITS_SILENCE, 200) | OAE_PUT(OAE_LINK_LIMITS_TROUBLE, 255));
  for (unsigned i = 0; i < 256; ++i) to_b.fault(LinkWire::Fault::lose, i);
  fill(a, slots(1, 1));
  command(a, OAE_LINK_COMMAND_PACKET);
  until([this] { return a.phase() == OAE_LINK_STATE_DOWN; });
  EXPECT_EQ(get(a, OAE_LINK_COUNT_SILENT), 255u);
  EXPECT_EQ(get(a, OAE_LINK_STATE) >> OAE_LINK_STATE_REASON_SHIFT & 0xff,
            unsigned{OAE_LINK_DOWN_TROUBLE});
}

TEST_F(LinkLimits, FramesGoOnByTheHundredThousand) {
  bring_up();
  fill(a, slots(64, 1));
  fill(b, slots(64, 2));
  constexpr unsigned times = 0x1'0040 / 64;
  for (unsigned i = 0; i < times; ++i) {
    for (LinkEnd* end : {&a, &b}) {
      end->post_put(OAE_LINK_COMMAND,
                    OAE_LINK_COMMAND_FLOW | OAE_PUT(OAE_LINK_COMMAND_BEATS, all_beats));
    }
    until([this] { return a.idle() && b.idle(); });
    ASSERT_EQ(settled(a), unsigned{OAE_OUTCOME_COMMITTED}) << i;
    ASSERT_EQ(settled(b), unsigned{OAE_OUTCOME_COMMITTED}) << i;
    if (i + 1 == times) break;
    command(a, OAE_LINK_COMMAND_TAKE);
    command(b, OAE_LINK_COMMAND_TAKE);
  }
  for (LinkEnd* end : {&a, &b}) EXPECT_EQ(get(*end, OAE_LINK_JOURNAL) >> 32, 64 * times);
  EXPECT_EQ(take(a).slots, slots(64, 2));
  EXPECT_EQ(take(b).slots, slots(64, 1));
  // The journals show it as well.
  put(a, OAE_LINK_CONTROL, 0);
  until([this] { return b.phase() != OAE_LINK_STATE_IDLE; });
  bring_up();
  EXPECT_EQ(send(a, slots(4, 3)), unsigned{OAE_OUTCOME_COMMITTED});
  EXPECT_EQ(take(b).number, 64 * times + 4);
}

/// The parameter is the clocks since power-up, until which the clock is stopped.
class LinkAfterALongTime : public LinkLimits, public testing::WithParamInterface<std::uint64_t> {};

TEST_P(LinkAfterALongTime, SilenceAndAgesAreRight) {
  now = GetParam();
  bring_up();
  for (const std::uint64_t limit : {0x5555'5555ull, 0xaaaa'aaaaull}) {
    put(a, OAE_LINK_LIMITS,
        OAE_PUT(OAE_LINK_LIMITS_SILENCE, limit) | OAE_PUT(OAE_LINK_LIMITS_TROUBLE, 8));
    to_b.fault(LinkWire::Fault::lose);
    fill(a, slots(1, 1));
    command(a, OAE_LINK_COMMAND_PACKET);
    until([this] { return !a.top.busy && !b.top.busy; });
    ASSERT_TRUE(a.top.deadline_valid);
    EXPECT_NEAR(static_cast<double>((a.top.deadline - now) * slices), static_cast<double>(limit),
                40 * slices);
    now = a.top.deadline - 1;
    clock(2);
    EXPECT_EQ(settled(a), unsigned{OAE_OUTCOME_REVERSED});
  }
  EXPECT_EQ(get(a, OAE_LINK_COUNT_SILENT), 2u);
  put(a, OAE_LINK_LIVENESS, 0xa5a5'5a5a);
  rest();
  now += 0x5a5a'0000;
  EXPECT_NEAR(static_cast<double>(get(b, OAE_LINK_ALIVE) >> 32), 0x5a5a'0000, 200);
  now += 0x1'0000'0000;
  EXPECT_EQ(get(b, OAE_LINK_ALIVE) >> 32, 0xffff'ffffu) << "it saturates";
}

INSTANTIATE_TEST_SUITE_P(Clocks, LinkAfterALongTime,
                         testing::Values(0xffff'ff00, 0x1234'5678'9abc, 0x5555'5555'5555'5555,
                                         0x7fff'ffff'ffff'ff00, 0xaaaa'aaaa'aaaa'aaaa));

}  // namespace
