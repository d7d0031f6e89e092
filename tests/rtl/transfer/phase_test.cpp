// SPDX-License-Identifier: Apache-2.0
// How a link comes up and goes down: which journals it sends, when, and what it does before the
// other side has joined.
#include <gtest/gtest.h>

#include "tests/rtl/transfer/ends/by_hand.h"

namespace {

class LinkPhase : public LinkByHand {
 protected:
  void until_both_are_up() {
    until([this] { return a.phase() == OAE_LINK_STATE_IDLE && b.phase() == OAE_LINK_STATE_IDLE; });
  }
  /// Runs until A is up, and returns whether A has joined before it was up.
  bool joins_first() {
    bool joined = false;
    for (unsigned i = 0; i < patience && a.phase() != OAE_LINK_STATE_IDLE; ++i) {
      clock();
      joined = joined || a.phase() == OAE_LINK_STATE_JOINED;
    }
    return joined;
  }
  /// The first journal of this session of A.
  Frame first_journal(unsigned session) {
    for (const Frame& each : to_b.frames) {
      if (OAE_GET(each[0], OAE_FRAME_HEADER_PROTOCOL) == OAE_PROTOCOL_INITIALISE &&
          OAE_GET(each[1], OAE_FRAME_SESSION_OWN) == session) {
        return each;
      }
    }
    ADD_FAILURE() << "no journal of session " << session;
    return {};
  }
};

TEST_F(LinkPhase, ASideThatIsDownWaitsForItsFirmware) {
  bring_up();
  end(a);
  clock(200);
  EXPECT_EQ(a.phase(), unsigned{OAE_LINK_STATE_DOWN});
  EXPECT_FALSE(a.top.tx_valid);
  EXPECT_FALSE(a.top.busy);
}

TEST_F(LinkPhase, MissingSlicesTakeASideDownThatHasJoined) {
  limit_silence(a, 400);
  limit_silence(b, long_silence);
  join_a_alone();
  to_a.cut();
  clock();
  const std::uint64_t begun = now;
  clock();
  ASSERT_EQ(a.phase(), unsigned{OAE_LINK_STATE_JOINED});
  ASSERT_TRUE(a.top.deadline_valid);
  EXPECT_EQ(a.top.deadline, begun + 400 / slices + 1);
  until([this] { return a.phase() == OAE_LINK_STATE_DOWN; });
  EXPECT_EQ(now, begun + 400 / slices + 1);
  EXPECT_EQ(reason(a), unsigned{OAE_LINK_DOWN_MISSING});
}

TEST_F(LinkPhase, SlicesThatComeBackAtTheDeadlineAreNotMissed) {
  bring_up();
  to_a.cut();
  clock(2);
  ASSERT_TRUE(a.top.deadline_valid);
  to_a.join();
  now = a.top.deadline - 1;
  clock(3);
  EXPECT_EQ(a.phase(), unsigned{OAE_LINK_STATE_IDLE});
  EXPECT_EQ(get(a, OAE_LINK_COUNT_DOWN), 0u);
}

// Nobody hears a journal while no slices arrive. It is not prepared then, either, so that it does
// not matter whether the clock stands still.
TEST_F(LinkPhase, AJournalIsNotRepeatedToNobody) {
  limit_silence(a, 400);
  limit_silence(b, long_silence);
  lose(to_b, 0, 100);
  begin(a);
  begin(b);
  clock(100);
  ASSERT_EQ(a.phase(), unsigned{OAE_LINK_STATE_INITIALISING});
  to_a.cut();
  clock(1000);
  EXPECT_FALSE(a.top.busy);
  EXPECT_FALSE(a.top.deadline_valid);
  to_a.join();
  settle(++now);
  ASSERT_TRUE(a.top.rx_valid);
  EXPECT_FALSE(a.top.busy) << "the journal is overdue only now";
  rise();
  EXPECT_TRUE(a.top.busy);
}

TEST_F(LinkPhase, TheJournalOfASideThatHasJoinedIsEnough) {
  lose(to_a, 1, 2);
  begin(a);
  begin(b);
  EXPECT_FALSE(joins_first());
  until_both_are_up();
}

// The wait of a doubt for the link is no silence.
TEST_F(LinkPhase, ADoubtFromBeforeIsNoSilence) {
  bring_up();
  limit_silence(400);
  fill(a, slots(1, 1));
  command(a, OAE_LINK_COMMAND_FLOW);
  until([this] { return a.sender() == OAE_LINK_STATE_COMMITTING; });
  take_down();
  ASSERT_EQ(a.sender(), unsigned{OAE_LINK_STATE_IN_DOUBT});
  clock(1000);
  EXPECT_FALSE(a.top.busy);
  EXPECT_FALSE(a.top.deadline_valid);
  lose(to_a, 1, 2);
  begin(a);
  begin(b);
  EXPECT_FALSE(joins_first());
  until_both_are_up();
  EXPECT_NE(settled(a), unsigned{OAE_OUTCOME_NONE});
  EXPECT_EQ(get(a, OAE_LINK_COUNT_SILENT), 0u);
}

TEST_F(LinkPhase, ASignOfLifeWaitsUntilTheOtherSideHasJoined) {
  limit_silence(long_silence);
  join_a_alone();
  put(a, OAE_LINK_LIVENESS, 5);
  clock(200);
  ASSERT_EQ(a.phase(), unsigned{OAE_LINK_STATE_JOINED});
  for (const Frame& each : to_b.frames) {
    EXPECT_EQ(OAE_GET(each[0], OAE_FRAME_HEADER_PROTOCOL), unsigned{OAE_PROTOCOL_INITIALISE});
  }
}

// The journal that answers a restart waits for the frames that leave before it.
TEST_F(LinkPhase, NoJournalGetsLostAmongOtherFrames) {
  stall = 60;
  bring_up();
  limit_silence(long_silence);
  for (unsigned round = 0; round < 8; ++round) {
    fill(a, slots(64, round));
    command(a, OAE_LINK_COMMAND_PACKET, OAE_BEATS_OF_64);
    b.post_put(OAE_LINK_CONTROL, 0);
    b.post_put(OAE_LINK_CONTROL, 1);
    until([this] { return b.idle(); });
    until_both_are_up();
    settled(a);
    while (transfers(b) != 0) take(b);
  }
}

// A's journals that say that it has joined are lost, and A would wait long before it repeats one.
TEST_F(LinkPhase, ASideThatHasJoinedAnswersAtOnce) {
  limit_silence(a, long_silence);
  limit_silence(b, 400);
  lose(to_b, 1, 3);
  begin(a);
  begin(b);
  until_both_are_up();
}

TEST_F(LinkPhase, TheAnswerToARestartNamesTheNewSession) {
  bring_up();
  forget();
  end(b);
  begin(b);
  until([this] { return OAE_GET(get(a, OAE_LINK_SESSION), OAE_LINK_SESSION_OWN) == 2; });
  until_both_are_up();
  EXPECT_EQ(OAE_GET(first_journal(2)[1], OAE_FRAME_SESSION_OTHER), 2u);
}

TEST_F(LinkPhase, ASideThatBeginsNamesNoSessionFromBefore) {
  bring_up();
  forget();
  end(a);
  begin(a);
  until_both_are_up();
  EXPECT_EQ(OAE_GET(first_journal(2)[1], OAE_FRAME_SESSION_OTHER), 0u);
}

TEST_F(LinkPhase, TheFirstReasonForBeingDownIsKept) {
  bring_up();
  to_a.cut();
  until([this] { return a.phase() == OAE_LINK_STATE_DOWN; });
  EXPECT_EQ(reason(a), unsigned{OAE_LINK_DOWN_MISSING});
  end(a);
  EXPECT_EQ(reason(a), unsigned{OAE_LINK_DOWN_MISSING});
  to_a.join();
  end(b);
  bring_up();
  EXPECT_EQ(reason(a), unsigned{OAE_LINK_DOWN_NONE});
  end(a);
  EXPECT_EQ(reason(a), unsigned{OAE_LINK_DOWN_FIRMWARE});
}

// A restarts while B, which has not noticed it, still sends frames of the session before.
TEST_F(LinkPhase, NothingOfTheSessionBeforeCounts) {
  bring_up();
  limit_silence(long_silence);
  fill(a, slots(1, 1));
  command(a, OAE_LINK_COMMAND_FLOW);
  until([this] { return a.sender() == OAE_LINK_STATE_COMMITTING; });
  take_down();
  ASSERT_EQ(a.sender(), unsigned{OAE_LINK_STATE_IN_DOUBT});
  lose(to_b, 0, 100);
  begin(a);
  begin(b);
  clock(100);
  ASSERT_EQ(a.phase(), unsigned{OAE_LINK_STATE_INITIALISING});
  forget();
  // Their payload might be taken for a journal of the present session.
  const std::uint64_t session = OAE_GET(get(a, OAE_LINK_SESSION), OAE_LINK_SESSION_OWN);
  for (const std::uint64_t each :
       {header(OAE_PROTOCOL_FLOW, 1), header(OAE_PROTOCOL_PACKET, 1),
        header(OAE_PROTOCOL_CONFIRM, 0), header(OAE_PROTOCOL_CONFIRM, 1, true),
        header(OAE_PROTOCOL_DONE, 1), header(OAE_PROTOCOL_ANSWER, 1, true)}) {
    align(to_a, slices - 1);
    insert(to_a, frame(each, session << 32));
    for (unsigned i = 0; i < 100; ++i) {
      clock();
      ASSERT_EQ(a.receiver(), unsigned{OAE_LINK_STATE_IDLE}) << std::hex << each;
    }
    EXPECT_EQ(a.phase(), unsigned{OAE_LINK_STATE_INITIALISING}) << std::hex << each;
    EXPECT_EQ(a.sender(), unsigned{OAE_LINK_STATE_IN_DOUBT}) << std::hex << each;
    EXPECT_EQ(transfers(a), 0u);
    EXPECT_EQ(get(a, OAE_LINK_JOURNAL), 0u);
    EXPECT_TRUE(to_b.reflections.empty());
    EXPECT_TRUE(to_b.frames.empty());
  }
  to_b.forgive();
}

TEST_F(LinkPhase, ARestartKeepsTheJournal) {
  bring_up();
  EXPECT_EQ(send(a, slots(1, 1)), unsigned{OAE_OUTCOME_COMMITTED});
  take(b);
  for (unsigned i = 0; i < 2; ++i) {
    take_down();
    bring_up();
    EXPECT_EQ(get(b, OAE_LINK_JOURNAL), std::uint64_t{1} << 32 | OAE_OUTCOME_COMMITTED);
  }
}

// B's history begins with frame 65, until A has lost its power and counts from 1 again.
TEST_F(LinkPhase, HistoryBeginsAnewWithTheOtherSide) {
  bring_up();
  EXPECT_EQ(send(a, slots(64, 1), true), unsigned{OAE_OUTCOME_COMMITTED});
  lose_power(b);
  take_down();
  bring_up();
  EXPECT_EQ(get(b, OAE_LINK_HISTORY), std::uint64_t{65} << 32 | OAE_LINK_HISTORY_KNOWN_MASK);
  lose_power(a);
  take_down();
  bring_up();
  EXPECT_EQ(get(b, OAE_LINK_HISTORY), std::uint64_t{1} << 32 | OAE_LINK_HISTORY_KNOWN_MASK);
}

}  // namespace
