// SPDX-License-Identifier: Apache-2.0
// Faults of single frames, silence and trouble.
#include <gtest/gtest.h>

#include <vector>

#include "tests/rtl/transfer/ends/fixture.h"

namespace {

// The effects of one fault of one frame, in any place.
struct FrameFault {
  LinkWire::Fault fault;
  unsigned frame;
  bool backward;  // on the wire opposite to the transfer
  bool once;      // one phase
};

std::vector<FrameFault> frame_faults() {
  std::vector<FrameFault> all;
  for (const auto fault :
       {LinkWire::Fault::lose, LinkWire::Fault::corrupt, LinkWire::Fault::duplicate}) {
    for (const bool once : {false, true}) {
      for (unsigned i = 0; i < (once ? 4 : 5); ++i) all.push_back({fault, i, false, once});
      for (unsigned i = 0; i < (once ? 1 : 2); ++i) all.push_back({fault, i, true, once});
    }
  }
  return all;
}

class OneFault : public Link, public testing::WithParamInterface<FrameFault> {};

TEST_P(OneFault, IsAgreedUponByBoth) {
  const auto [fault, frame, backward, once] = GetParam();
  bring_up();
  LinkWire& wire = backward ? to_a : to_b;
  for (unsigned bit = 0; bit < 512; bit += fault == LinkWire::Fault::corrupt ? 37 : 193) {
    wire.fault(fault, frame, bit);
    const std::vector<Slot> sent = slots(4, bit + 1);
    const unsigned result = send(a, sent, once);
    rest();
    if (result == OAE_OUTCOME_COMMITTED) {
      EXPECT_EQ(take(b).slots, sent);
    } else {
      EXPECT_EQ(result, unsigned{OAE_OUTCOME_REVERSED});
    }
    EXPECT_EQ(transfers(b), 0u);
    if (fault == LinkWire::Fault::duplicate) {
      EXPECT_EQ(result, unsigned{OAE_OUTCOME_COMMITTED});
    }
    // The loss of the third phase reverses the transfer, the loss of the fourth does not.
    if (fault == LinkWire::Fault::lose) {
      EXPECT_EQ(result == OAE_OUTCOME_COMMITTED, backward && frame == (once ? 0 : 1));
    }
    EXPECT_FALSE(wire.faulty());
    EXPECT_EQ(a.phase(), unsigned{OAE_LINK_STATE_IDLE});
    // The transfer leaves nothing behind.
    EXPECT_EQ(send(a, slots(1, 3)), unsigned{OAE_OUTCOME_COMMITTED});
    EXPECT_EQ(take(b).slots, slots(1, 3));
  }
}

INSTANTIATE_TEST_SUITE_P(Link, OneFault, testing::ValuesIn(frame_faults()));

TEST_F(Link, ADamagedReflectionReversesAtOnce) {
  bring_up();
  put(a, OAE_LINK_CONTROL, 1);
  forget();
  to_a.corrupt_reflection(40);
  fill(a, slots(64, 1));
  command(a, packet, OAE_BEATS_OF_64);
  EXPECT_EQ(settled(a), unsigned{OAE_OUTCOME_REVERSED});
  // Most frames were not sent, none was sent after the reversal, and no silence was awaited.
  EXPECT_LT(to_b.frames.size(), 40u);
  EXPECT_EQ(to_b.frames.back()[0], header(OAE_PROTOCOL_CONFIRM, 64, true));
  EXPECT_EQ(get(a, OAE_LINK_COUNT_MISMATCHED), 1u);
  EXPECT_EQ(get(a, OAE_LINK_COUNT_SILENT), 0u);
  EXPECT_EQ(transfers(b), 0u);
}

TEST_F(Link, SilenceIsCountedInSlices) {
  bring_up();
  for (const unsigned limit : {800u, 2400u}) {
    limit_silence(limit);
    to_b.fault(LinkWire::Fault::lose);
    fill(a, slots(1, 1));
    a.post_put(OAE_LINK_COMMAND, packet);
    until([this] { return a.sender() == OAE_LINK_STATE_TENTATIVE; });
    const std::uint64_t begun = now;
    until([this] { return a.sender() == OAE_LINK_STATE_REVERSING; });
    EXPECT_NEAR((now - begun) * slices, limit, 4 * slices);
    EXPECT_EQ(settled(a), unsigned{OAE_OUTCOME_REVERSED});
  }
  EXPECT_EQ(get(a, OAE_LINK_COUNT_SILENT), 2u);
}

TEST_F(Link, SilenceNeedsNoClock) {
  bring_up();
  to_b.fault(LinkWire::Fault::lose);
  fill(a, slots(1, 1));
  command(a, packet);
  until([this] { return !a.top.busy; });
  ASSERT_TRUE(a.top.deadline_valid);
  EXPECT_GT(a.top.deadline, now + 100);
  now = a.top.deadline - 1;
  clock(2);
  EXPECT_EQ(a.sender(), unsigned{OAE_LINK_STATE_REVERSING});
}

TEST_F(Link, RepeatedTroubleTakesTheLinkDown) {
  bring_up();
  limit_silence(400, 3);
  for (unsigned i = 0; i < 3; ++i) to_b.fault(LinkWire::Fault::lose, i);
  fill(a, slots(1, 1));
  command(a, packet);
  until([this] { return a.phase() == OAE_LINK_STATE_DOWN; });
  EXPECT_EQ(outcome(a), unsigned{OAE_OUTCOME_REVERSED});
  EXPECT_EQ(state(a, OAE_LINK_STATE_REASON_SHIFT), unsigned{OAE_LINK_DOWN_TROUBLE});
  // Slices are missing at the other side.
  until([this] { return b.phase() == OAE_LINK_STATE_DOWN; });
  EXPECT_EQ(state(b, OAE_LINK_STATE_REASON_SHIFT), unsigned{OAE_LINK_DOWN_MISSING});
  EXPECT_EQ(get(b, OAE_LINK_COUNT_DOWN), 1u);
  bring_up();
  EXPECT_EQ(send(a, slots(1, 2)), unsigned{OAE_OUTCOME_COMMITTED});
}

TEST_F(Link, CommittedTransfersEndTrouble) {
  bring_up();
  limit_silence(400, 3);
  for (unsigned i = 0; i < 6; ++i) {
    to_b.fault(LinkWire::Fault::lose);
    EXPECT_EQ(send(a, slots(1, 1)), unsigned{OAE_OUTCOME_REVERSED});
    EXPECT_EQ(send(a, slots(1, 2)), unsigned{OAE_OUTCOME_COMMITTED});
    take(b);
  }
  EXPECT_EQ(a.phase(), unsigned{OAE_LINK_STATE_IDLE});
}

}  // namespace
