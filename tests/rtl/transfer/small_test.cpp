// SPDX-License-Identifier: Apache-2.0
// A link whose buffers have room for 4 slots.
#include <gtest/gtest.h>

#include "tests/rtl/transfer/ends/by_hand.h"

namespace {

class SmallLink : public LinkByHand {
 protected:
  void SetUp() override {
    bring_up();
    event(a);
    event(b);
  }
};

TEST_F(SmallLink, SaysHowSmallItIs) {
  EXPECT_EQ(OAE_GET(get(a, OAE_LINK_ID), OAE_LINK_ID_FRAMES), 4u);
}

TEST_F(SmallLink, TransfersOfItsSizeGoOver) {
  for (const bool once : {false, true}) {
    for (const unsigned count : {4u, 1u}) {
      EXPECT_EQ(send(a, slots(count, count), once), unsigned{OAE_OUTCOME_COMMITTED});
      EXPECT_EQ(take(b).slots, slots(count, count));
    }
  }
}

TEST_F(SmallLink, SlotsBeyondItsSizeAreIgnored) {
  fill(a, slots(4, 1));
  for (const unsigned slot : {4u, 7u, 63u}) put(a, OAE_LINK_SEND_AT(slot), 0);
  command(a, OAE_LINK_COMMAND_FLOW, OAE_BEATS_OF_4);
  EXPECT_EQ(settled(a), unsigned{OAE_OUTCOME_COMMITTED});
  EXPECT_EQ(take(b).slots, slots(4, 1));
}

TEST_F(SmallLink, AGreaterTransferIsNotBegun) {
  for (const unsigned beats : {unsigned{OAE_BEATS_OF_16}, unsigned{OAE_BEATS_OF_64}}) {
    for (const unsigned verb : {OAE_LINK_COMMAND_PACKET, OAE_LINK_COMMAND_FLOW}) {
      command(a, verb, beats);
      EXPECT_EQ(event(a), unsigned{OAE_LINK_EVENT_REFUSED_MASK});
      EXPECT_EQ(a.sender(), unsigned{OAE_LINK_STATE_IDLE});
    }
  }
}

// The other side may have greater buffers.
TEST_F(SmallLink, AGreaterTransferFromTheOtherSideIsRefused) {
  forget();
  for (unsigned number = 1; number <= 16; ++number) {
    insert(to_b, frame(header(OAE_PROTOCOL_FLOW, number) |
                       OAE_PUT(OAE_FRAME_HEADER_BEATS, OAE_BEATS_OF_16)));
  }
  clock(200);
  EXPECT_EQ(transfers(b), 0u);
  EXPECT_EQ(get(b, OAE_LINK_JOURNAL), std::uint64_t{16} << 32 | OAE_OUTCOME_REVERSED);
  ASSERT_EQ(to_a.frames.size(), 1u);
  EXPECT_EQ(to_a.frames[0][0], header(OAE_PROTOCOL_ANSWER, 16, true));
}

}  // namespace
