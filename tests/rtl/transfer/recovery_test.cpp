// SPDX-License-Identifier: Apache-2.0
// A link that goes down comes up again: both sides settle their doubts by the journals.
#include <gtest/gtest.h>

#include <vector>

#include "tests/rtl/transfer/ends/fixture.h"

namespace {

// The link is cut after so many clocks of a transfer, and comes back.
class Cut : public Link, public testing::WithParamInterface<bool> {};

TEST_P(Cut, IsReconciledWhenTheLinkComesBack) {
  const bool once = GetParam();
  unsigned doubts = 0;
  unsigned committed = 0;
  for (unsigned moment = 1; moment < 60 * 8 / slices; moment += 1 + 3 / slices) {
    bring_up();
    limit_silence(400);
    const std::vector<Slot> sent = slots(4, moment);
    fill(a, sent);
    a.post_put(OAE_LINK_COMMAND,
               (once ? flow : packet) | OAE_PUT(OAE_LINK_COMMAND_BEATS, OAE_BEATS_OF_4));
    clock(moment);
    to_a.cut();
    to_b.cut();
    until([this] {
      return a.phase() == OAE_LINK_STATE_DOWN && b.phase() == OAE_LINK_STATE_DOWN && a.idle();
    });
    if (a.sender() == OAE_LINK_STATE_IN_DOUBT) ++doubts;
    to_a.join();
    to_b.join();
    bring_up();
    const unsigned result = settled(a);
    EXPECT_EQ(transfers(b), result == OAE_OUTCOME_COMMITTED ? 1u : 0u) << moment;
    if (result == OAE_OUTCOME_COMMITTED) {
      ++committed;
      EXPECT_EQ(take(b).slots, sent);
    }
    put(a, OAE_LINK_CONTROL, 0);
    put(b, OAE_LINK_CONTROL, 0);
    clock(100);
  }
  EXPECT_GT(doubts, 5u);
  EXPECT_GT(committed, 5u);
}

INSTANTIATE_TEST_SUITE_P(Link, Cut, testing::Bool());

TEST_F(Link, OneSideThatBeginsAnewTakesTheOtherAlong) {
  bring_up();
  fill(a, slots(1, 1));
  to_a.fault(LinkWire::Fault::lose);
  command(a, packet);
  until([this] { return b.receiver() == OAE_LINK_STATE_TENTATIVE; });
  put(a, OAE_LINK_CONTROL, 0);
  EXPECT_EQ(outcome(a), unsigned{OAE_OUTCOME_REVERSED});
  put(a, OAE_LINK_CONTROL, 1);
  EXPECT_EQ(b.receiver(), unsigned{OAE_LINK_STATE_TENTATIVE});
  until([this] { return a.phase() == OAE_LINK_STATE_IDLE && b.phase() == OAE_LINK_STATE_IDLE; });
  EXPECT_EQ(b.receiver(), unsigned{OAE_LINK_STATE_IDLE});
  EXPECT_EQ(get(b, OAE_LINK_JOURNAL), std::uint64_t{1} << 32 | OAE_OUTCOME_REVERSED);
  EXPECT_EQ(transfers(b), 0u);
  EXPECT_EQ(send(a, slots(1, 2)), unsigned{OAE_OUTCOME_COMMITTED});
}

TEST_F(Link, LostInitialisationIsRepeated) {
  limit_silence(400);
  for (unsigned i = 0; i < 5; ++i) {
    to_a.fault(LinkWire::Fault::lose, i);
    to_b.fault(LinkWire::Fault::lose, i);
  }
  bring_up();
  EXPECT_EQ(send(a, slots(1, 1)), unsigned{OAE_OUTCOME_COMMITTED});
  EXPECT_EQ(send(b, slots(1, 1)), unsigned{OAE_OUTCOME_COMMITTED});
}

TEST_F(Link, DoubtCanBeSettledByHearsayWhileTheLinkIsDown) {
  bring_up();
  limit_silence(400);
  for (const bool committed : {true, false}) {
    fill(a, slots(1, 1));
    to_b.fault(LinkWire::Fault::lose, committed ? 5 : 1);
    to_a.fault(LinkWire::Fault::lose, 1);
    command(a, packet);
    until([this] { return a.sender() == OAE_LINK_STATE_COMMITTING; });
    clock(120 / slices + 20);
    to_a.cut();
    to_b.cut();
    until([this] { return b.phase() == OAE_LINK_STATE_DOWN && a.phase() == OAE_LINK_STATE_DOWN; });
    ASSERT_EQ(a.sender(), unsigned{OAE_LINK_STATE_IN_DOUBT});
    EXPECT_TRUE(event(a) & OAE_LINK_EVENT_IN_DOUBT_MASK);
    // The other side's journal, read by another route.
    const std::uint64_t journal = get(b, OAE_LINK_JOURNAL);
    EXPECT_EQ(journal >> 32, get(a, OAE_LINK_SENT) >> 32);
    EXPECT_EQ((journal & 0xff) == OAE_OUTCOME_COMMITTED, committed);
    command(a, committed ? OAE_LINK_COMMAND_SETTLE_COMMITTED : OAE_LINK_COMMAND_SETTLE_REVERSED);
    EXPECT_EQ(settled(a), journal & 0xff);
    if (committed) take(b);
    to_a.join();
    to_b.join();
    bring_up();
    rest();
    EXPECT_EQ(outcome(a), journal & 0xff);
    EXPECT_EQ(send(a, slots(1, 2)), unsigned{OAE_OUTCOME_COMMITTED});
    take(b);
    while (to_b.faulty()) send(b, slots(1, 2)), take(a);
  }
}

// While the link is up, only the other side itself may be asked.
TEST_F(Link, DoubtIsNotSettledByHearsayWhileTheLinkIsUp) {
  bring_up();
  limit_silence(400);
  fill(a, slots(1, 1));
  for (unsigned i = 1; i < 4; ++i) to_b.fault(LinkWire::Fault::lose, i);
  command(a, packet);
  until([this] { return a.sender() == OAE_LINK_STATE_IN_DOUBT; });
  event(a);
  for (const unsigned verb : {OAE_LINK_COMMAND_SETTLE_COMMITTED, OAE_LINK_COMMAND_SETTLE_REVERSED,
                              OAE_LINK_COMMAND_SETTLE_LOST}) {
    command(a, verb);
    EXPECT_EQ(a.sender(), unsigned{OAE_LINK_STATE_IN_DOUBT});
    EXPECT_TRUE(event(a) & OAE_LINK_EVENT_REFUSED_MASK);
  }
  EXPECT_EQ(settled(a), unsigned{OAE_OUTCOME_REVERSED});
  EXPECT_EQ(transfers(b), 0u);
}

// A transfer of unknown fate can be settled as lost, and is not settled again then.
TEST_F(Link, DoubtCanBeSettledAsLost) {
  bring_up();
  fill(a, slots(1, 1));
  command(a, flow);
  until([this] { return a.sender() == OAE_LINK_STATE_COMMITTING; });
  to_a.cut();
  to_b.cut();
  put(a, OAE_LINK_CONTROL, 0);
  put(b, OAE_LINK_CONTROL, 0);
  until([this] { return a.phase() == OAE_LINK_STATE_DOWN && b.phase() == OAE_LINK_STATE_DOWN; });
  command(a, OAE_LINK_COMMAND_SETTLE_LOST);
  EXPECT_EQ(settled(a), unsigned{OAE_OUTCOME_LOST});
  to_a.join();
  to_b.join();
  bring_up();
  EXPECT_EQ(outcome(a), unsigned{OAE_OUTCOME_LOST});
  EXPECT_EQ(get(a, OAE_LINK_COUNT_REVERSED), 0u);
  EXPECT_EQ(send(a, slots(1, 2)), unsigned{OAE_OUTCOME_COMMITTED});
}

// The other side has lost its power, and with it the fate of the transfer in doubt.
TEST_F(Link, ALostJournalIsReported) {
  for (const bool once : {true, false}) {
    bring_up();
    limit_silence(400);
    fill(a, slots(1, 1));
    command(a, once ? flow : packet);
    until([this] { return a.sender() == OAE_LINK_STATE_COMMITTING; });
    to_a.cut();
    to_b.cut();
    until([this] { return a.phase() == OAE_LINK_STATE_DOWN && b.phase() == OAE_LINK_STATE_DOWN; });
    ASSERT_EQ(a.sender(), unsigned{OAE_LINK_STATE_IN_DOUBT});
    b.top.reset = 1;
    clock();
    b.top.reset = 0;
    to_a.join();
    to_b.join();
    bring_up();
    EXPECT_EQ(settled(a), unsigned{OAE_OUTCOME_LOST});
    EXPECT_EQ(transfers(b), 0u);
    EXPECT_EQ(send(a, slots(1, 2)), unsigned{OAE_OUTCOME_COMMITTED});
    EXPECT_EQ(take(b).slots, slots(1, 2));
  }
}

/// A has a transfer in doubt that B has committed. B then loses its power, and with it its journal.
class AfterPowerLoss : public Link {
 protected:
  void set_up_doubt() {
    bring_up();
    limit_silence(400);
    fill(a, slots(1, 1));
    command(a, flow);
    until([this] { return b.top.trace_received == OAE_OUTCOME_COMMITTED; });
    cut();
    ASSERT_EQ(a.sender(), unsigned{OAE_LINK_STATE_IN_DOUBT});
    EXPECT_EQ(take(b).slots, slots(1, 1));
    b.top.reset = 1;
    clock(20);
    b.top.reset = 0;
    limit_silence(400);
  }
  void cut() {
    to_a.cut();
    to_b.cut();
    put(a, OAE_LINK_CONTROL, 0);
    put(b, OAE_LINK_CONTROL, 0);
    until([this] { return a.phase() == OAE_LINK_STATE_DOWN && b.phase() == OAE_LINK_STATE_DOWN; });
  }
  void begin() {
    to_a.join();
    to_b.join();
    put(a, OAE_LINK_CONTROL, 1);
    put(b, OAE_LINK_CONTROL, 1);
  }
  bool has_joined(const LinkEnd& end) {
    return end.phase() == OAE_LINK_STATE_JOINED || end.phase() == OAE_LINK_STATE_IDLE;
  }
};

// B joins, and the link is cut before A knows it. The journal that B sends next time must not count
// as history of the time before.
TEST_F(AfterPowerLoss, HistoryDoesNotBeginBeforeItBegan) {
  set_up_doubt();
  for (unsigned i = 1; i < 20; ++i) to_a.fault(LinkWire::Fault::lose, i);
  begin();
  until([this] { return has_joined(b); });
  EXPECT_EQ(a.phase(), unsigned{OAE_LINK_STATE_INITIALISING});
  EXPECT_EQ(get(b, OAE_LINK_HISTORY), std::uint64_t{2} << 32 | OAE_LINK_HISTORY_KNOWN_MASK);
  cut();
  to_a.forgive();
  begin();
  EXPECT_EQ(settled(a), unsigned{OAE_OUTCOME_LOST});
  bring_up();
  EXPECT_EQ(send(a, slots(1, 2)), unsigned{OAE_OUTCOME_COMMITTED});
  EXPECT_EQ(take(b).slots, slots(1, 2));
}

// The same holds whatever is lost at any time, and however often either side begins anew.
class AfterPowerLossAtRandom : public AfterPowerLoss,
                               public testing::WithParamInterface<unsigned> {};

TEST_P(AfterPowerLossAtRandom, NobodyKnowsTheFate) {
  random.seed(GetParam());
  set_up_doubt();
  while (a.sender() == OAE_LINK_STATE_IN_DOUBT) {
    begin();
    for (unsigned i = 0; i < 8 && a.sender() == OAE_LINK_STATE_IN_DOUBT; ++i) {
      LinkEnd& end = random() % 2 == 0 ? a : b;
      LinkWire& wire = random() % 2 == 0 ? to_a : to_b;
      switch (random() % 4) {
        case 0:
          put(end, OAE_LINK_CONTROL, random() % 2);
          break;
        case 1:
          if (!wire.faulty()) wire.fault(LinkWire::Fault::lose, random() % 3);
          break;
        default:
          clock(random() % 40);
      }
    }
    if (random() % 2 == 0 && a.sender() == OAE_LINK_STATE_IN_DOUBT) cut();
  }
  EXPECT_EQ(outcome(a), unsigned{OAE_OUTCOME_LOST});
}

INSTANTIATE_TEST_SUITE_P(Link, AfterPowerLossAtRandom, testing::Range(1u, 101u));

// A has lost its power and counts from 1 again. B has committed a transfer of that number before. A
// begins, and the link is cut before B has joined. None of A's old numbers may count as new.
TEST_F(Link, NumbersOfAnotherLifeAreNotMistaken) {
  for (unsigned lost = 0; lost < 6; ++lost) {
    bring_up();
    limit_silence(400);
    EXPECT_EQ(send(a, slots(1, 1), true), unsigned{OAE_OUTCOME_COMMITTED});
    take(b);
    a.top.reset = 1;
    clock(40);
    a.top.reset = 0;
    limit_silence(400);
    until([this] { return b.phase() != OAE_LINK_STATE_IDLE; });
    put(b, OAE_LINK_CONTROL, 0);
    put(b, OAE_LINK_CONTROL, 1);
    for (unsigned i = lost; i < 6; ++i) to_b.fault(LinkWire::Fault::lose, i);
    put(a, OAE_LINK_CONTROL, 1);
    fill(a, slots(1, 2));
    command(a, flow);
    clock(60);
    to_a.cut();
    to_b.cut();
    put(a, OAE_LINK_CONTROL, 0);
    put(b, OAE_LINK_CONTROL, 0);
    clock(600);
    to_a.join();
    to_b.join();
    bring_up();
    EXPECT_EQ(outcome(a) == OAE_OUTCOME_COMMITTED, transfers(b) == 1) << lost;
    while (to_b.faulty()) send(a, slots(1, 3), true);
    while (transfers(b) != 0) take(b);
    EXPECT_EQ(send(a, slots(1, 4)), unsigned{OAE_OUTCOME_COMMITTED});
    take(b);
    for (LinkEnd* end : {&a, &b}) {
      end->top.reset = 1;
      clock(40);
      end->top.reset = 0;
    }
  }
}

TEST_F(Link, OldJournalsAreNotBelieved) {
  bring_up();
  const Frame old = to_a.frames.front();
  ASSERT_EQ(OAE_GET(old[0], OAE_FRAME_HEADER_PROTOCOL), unsigned{OAE_PROTOCOL_INITIALISE});
  to_a.fault(LinkWire::Fault::lose);
  fill(a, slots(1, 1));
  command(a, flow);
  until([this] { return b.top.trace_received == OAE_OUTCOME_COMMITTED; });
  put(a, OAE_LINK_CONTROL, 0);
  until([this] { return a.phase() == OAE_LINK_STATE_DOWN; });
  ASSERT_EQ(a.sender(), unsigned{OAE_LINK_STATE_IN_DOUBT});
  put(a, OAE_LINK_CONTROL, 1);
  // It has been on the wire all the time, and says that nothing has arrived.
  for (unsigned i = 0; i < 8; ++i) {
    to_a.push({static_cast<std::uint8_t>(i == 0 ? OAE_KIND_SLICE_0 : OAE_KIND_PAYLOAD), old[i]});
  }
  until([this] { return a.phase() == OAE_LINK_STATE_IDLE; });
  EXPECT_EQ(settled(a), unsigned{OAE_OUTCOME_COMMITTED});
  EXPECT_EQ(take(b).slots, slots(1, 1));
}

// A has joined, but B does not know it. A waits however often B repeats its journal.
TEST_F(Link, NothingIsSentBeforeTheOtherSideHasJoined) {
  limit_silence(400);
  for (unsigned i = 1; i < 60; ++i) to_b.fault(LinkWire::Fault::lose, i);
  put(a, OAE_LINK_CONTROL, 1);
  put(b, OAE_LINK_CONTROL, 1);
  until([this] { return a.phase() == OAE_LINK_STATE_JOINED; });
  clock(2000);
  EXPECT_EQ(a.phase(), unsigned{OAE_LINK_STATE_JOINED});
  // B begins anew, and so does A, which had joined the session before.
  const std::uint64_t session = get(a, OAE_LINK_SESSION) & 0xffff'ffff;
  put(b, OAE_LINK_CONTROL, 0);
  put(b, OAE_LINK_CONTROL, 1);
  until([&] { return a.phase() == OAE_LINK_STATE_JOINED && b.top.tx_valid; });
  clock(500);
  EXPECT_GT(get(a, OAE_LINK_SESSION) & 0xffff'ffff, session);
  EXPECT_EQ(b.phase(), unsigned{OAE_LINK_STATE_INITIALISING});
  EXPECT_FALSE(event(a) & OAE_LINK_EVENT_UP_MASK);
  fill(a, slots(1, 1));
  command(a, flow);
  EXPECT_TRUE(event(a) & OAE_LINK_EVENT_REFUSED_MASK);
  to_b.forgive();
  until([this] { return a.phase() == OAE_LINK_STATE_IDLE && b.phase() == OAE_LINK_STATE_IDLE; });
  EXPECT_TRUE(event(a) & OAE_LINK_EVENT_UP_MASK);
  EXPECT_EQ(send(a, slots(1, 2)), unsigned{OAE_OUTCOME_COMMITTED});
}

// The frame by which a side learns that the other one has joined may be lost. The first transfer
// shows it as well.
TEST_F(Link, ATransferShowsThatTheOtherSideHasJoined) {
  unsigned times = 0;
  for (unsigned lost = 1; lost < 6; ++lost) {
    for (unsigned i = lost; i < 20; ++i) to_b.fault(LinkWire::Fault::lose, i);
    put(a, OAE_LINK_CONTROL, 1);
    put(b, OAE_LINK_CONTROL, 1);
    clock(200);
    to_b.forgive();
    if (a.phase() == OAE_LINK_STATE_IDLE && b.phase() == OAE_LINK_STATE_JOINED) {
      ++times;
      EXPECT_EQ(send(a, slots(1, lost)), unsigned{OAE_OUTCOME_COMMITTED});
      EXPECT_EQ(take(b).slots, slots(1, lost));
      EXPECT_EQ(get(a, OAE_LINK_COUNT_SILENT), 0u);
    }
    put(a, OAE_LINK_CONTROL, 0);
    put(b, OAE_LINK_CONTROL, 0);
    clock(100);
  }
  EXPECT_GT(times, 0u);
}

// A side that has joined repeats that until it knows that the other one has joined.
TEST_F(Link, ASideThatHasJoinedRepeatsItself) {
  limit_silence(400);
  for (unsigned i = 2; i < 12; ++i) to_a.fault(LinkWire::Fault::lose, i);
  bring_up();
  EXPECT_EQ(send(b, slots(1, 2)), unsigned{OAE_OUTCOME_COMMITTED});
  EXPECT_EQ(send(a, slots(1, 2)), unsigned{OAE_OUTCOME_COMMITTED});
}

// A journal that names another session of either side begins a new session. A journal of both
// present sessions does not.
TEST_F(Link, AnotherSessionOfEitherSideBeginsAnew) {
  for (const unsigned other : {0u, 1u, 2u}) {
    bring_up();
    const std::uint64_t session = get(a, OAE_LINK_SESSION);
    Frame frame{};
    frame[0] = header(OAE_PROTOCOL_INITIALISE, 0);
    frame[1] = OAE_PUT(OAE_FRAME_SESSION_OWN, (session >> 32) + (other == 1)) |
               OAE_PUT(OAE_FRAME_SESSION_OTHER, (session & 0xffff'ffff) + (other == 2));
    frame[2] = OAE_PUT(OAE_FRAME_JOURNAL_NEXT, 1) | OAE_PUT(OAE_FRAME_JOURNAL_EXPECTED, 1);
    frame[3] = OAE_FRAME_HISTORY_AGREED_MASK | OAE_FRAME_HISTORY_MET_MASK;
    frame[7] = crc64(frame.data(), 56);
    for (unsigned i = 0; i < 8; ++i) {
      to_a.push(
          {static_cast<std::uint8_t>(i == 0 ? OAE_KIND_SLICE_0 : OAE_KIND_PAYLOAD), frame[i]});
    }
    bool left = false;
    for (unsigned i = 0; i < 200; ++i) {
      clock();
      left = left || a.phase() != OAE_LINK_STATE_IDLE;
    }
    EXPECT_EQ(left, other != 0) << other;
    until([this] { return a.phase() == OAE_LINK_STATE_IDLE && b.phase() == OAE_LINK_STATE_IDLE; });
    EXPECT_EQ(send(a, slots(1, 2)), unsigned{OAE_OUTCOME_COMMITTED});
    take(b);
  }
}

}  // namespace
