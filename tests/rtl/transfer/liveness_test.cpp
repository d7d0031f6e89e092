// SPDX-License-Identifier: Apache-2.0
// The firmware's sign of life: when the link sends it, and when it counts on the other side.
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/rtl/transfer/ends/by_hand.h"

namespace {

class LinkLiveness : public LinkByHand {
 protected:
  /// How many signs of life the wire has carried.
  static long signs(const LinkWire& wire) {
    return std::count_if(wire.frames.begin(), wire.frames.end(), [](const Frame& each) {
      return OAE_GET(each[0], OAE_FRAME_HEADER_PROTOCOL) == OAE_PROTOCOL_ALIVE;
    });
  }
  std::uint32_t count_seen(LinkEnd& end) {
    return OAE_GET(get(end, OAE_LINK_ALIVE), OAE_LINK_ALIVE_COUNT);
  }
  /// A wire to B that takes nothing, and on which A has two signs of life to send. A third waits.
  void hold_signs() {
    hold_to_b = true;
    for (const unsigned count : {1u, 2u, 3u}) put(a, OAE_LINK_LIVENESS, count);
  }
};

TEST_F(LinkLiveness, ASignWaitsForTheWire) {
  bring_up();
  limit_silence(long_silence);
  hold_signs();
  clock(20);
  hold_to_b = false;
  rest();
  EXPECT_EQ(count_seen(b), 3u);
}

TEST_F(LinkLiveness, ASignWaitsForAReply) {
  bring_up();
  limit_silence(long_silence);
  hold_signs();
  insert(to_a, frame(header(OAE_PROTOCOL_CONFIRM, 1, true)));
  clock(80);
  forget();
  hold_to_b = false;
  rest();
  ASSERT_EQ(to_b.frames.size(), 4u);
  EXPECT_EQ(to_b.frames[2][0], header(OAE_PROTOCOL_ANSWER, 1, true));
  EXPECT_EQ(count_seen(b), 3u);
}

TEST_F(LinkLiveness, ASignWaitsForATransfer) {
  bring_up();
  limit_silence(long_silence);
  fill(a, slots(1, 1));
  forget();
  hold_signs();
  command(a, packet);
  hold_to_b = false;
  EXPECT_EQ(settled(a), unsigned{OAE_OUTCOME_COMMITTED});
  rest();
  ASSERT_EQ(to_b.frames.size(), 5u);
  EXPECT_EQ(OAE_GET(to_b.frames[2][0], OAE_FRAME_HEADER_PROTOCOL), unsigned{OAE_PROTOCOL_PACKET});
  EXPECT_EQ(count_seen(b), 3u);
}

// The journal by which a side comes up asks for an answer, which leaves first.
TEST_F(LinkLiveness, ASignWaitsForAJournal) {
  lose(to_a, 1, 2);
  lose(to_b, 1, 2);
  begin(a);
  begin(b);
  until([this] { return a.phase() == OAE_LINK_STATE_IDLE && b.phase() == OAE_LINK_STATE_IDLE; });
  rest();
  EXPECT_GT(signs(to_a), 0);
  EXPECT_GT(signs(to_b), 0);
}

// It is sent for itself, and once more because the link comes up.
TEST_F(LinkLiveness, ASignFromBeforeTheLinkCameUpIsSent) {
  put(a, OAE_LINK_LIVENESS, 5);
  come_up_after_joining();
  rest();
  EXPECT_EQ(signs(to_b), 2);
}

TEST_F(LinkLiveness, ASignDoesNotOutliveTheLink) {
  bring_up();
  limit_silence(long_silence);
  hold_signs();
  take_down();
  hold_to_b = false;
  come_up_after_joining();
  rest();
  EXPECT_EQ(signs(to_b), 1) << "that of a link that comes up";
}

TEST_F(LinkLiveness, ASignCountsOnlyWhenTheLinkIsUp) {
  limit_silence(long_silence);
  lose(to_a, 0, 200);
  begin(a);
  begin(b);
  clock(100);
  insert(to_a, frame(header(OAE_PROTOCOL_ALIVE, 7)));
  clock(100);
  ASSERT_EQ(a.phase(), unsigned{OAE_LINK_STATE_INITIALISING});
  EXPECT_EQ(event(a), 0u);
  EXPECT_EQ(count_seen(a), 0u);
}

TEST_F(LinkLiveness, OnlyAWriteOfItsCountIsASign) {
  bring_up();
  forget();
  put(a, OAE_LINK_LIVENESS, 0x1122'3344'5566'7788, 0xf0);
  put(a, OAE_LINK_IRQ_ENABLE, 0);
  get(a, OAE_LINK_LIVENESS);
  rest();
  EXPECT_EQ(signs(to_b), 0);
  for (unsigned byte = 0; byte < 4; ++byte) {
    put(a, OAE_LINK_LIVENESS, 0x5566'7788, 1u << byte);
    rest();
  }
  EXPECT_EQ(signs(to_b), 4);
  EXPECT_EQ(count_seen(b), 0x5566'7788u);
}

}  // namespace
