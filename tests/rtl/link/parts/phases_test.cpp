// SPDX-License-Identifier: Apache-2.0
// The phases of an end on their own: what they make of frames, carriers and times that two whole
// ends hardly bring about, and when their clock may stop.
#include <Voae_link_phases.h>

#include <cstdint>

#include "oae_registers.h"
#include "tests/rtl/link/parts/part.h"

namespace {

class Phases : public window::Part<Voae_link_phases> {
 protected:
  static constexpr std::uint32_t hold_off = 16;
  static constexpr std::uint32_t limit = 20;  // of silence
  static constexpr unsigned doubts = 3;       // that are tolerated, but for the last
  static constexpr std::uint32_t peer = 7;    // the other side's session

  /// The power comes on at 100.
  Phases() {
    top_.limit_i = limit;
    top_.trouble_limit_i = doubts;
    top_.rst_i = 1;
    clock();
    top_.rst_i = 0;
    settle();
  }

  /// The outputs become those of the present state and inputs. What has to leave is taken at once.
  void settle() {
    top_.now_i = now_ + 1;
    top_.clk_i = 0;
    top_.send_taken_i = 0;
    top_.eval();
    top_.send_taken_i = top_.send_valid_o;
    top_.eval();
  }
  /// Gives a clock, and takes back what the inputs say for one clock.
  void clock() {
    settle();
    joins_ = top_.joins_o;
    cuts_ = top_.cuts_o;
    rises_ = top_.rises_o;
    falls_ = top_.falls_o;
    counts_ = top_.up_o;
    sent_ += top_.send_taken_i;
    if (top_.send_taken_i) sent_at_ = now_ + 1;
    ++now_;
    top_.clk_i = 1;
    top_.eval();
    for (auto* const pin :
         {&top_.begins_i, &top_.ends_i, &top_.doubts_i, &top_.gains_i, &top_.defect_i, &top_.lost_i,
          &top_.frame_good_i, &top_.return_valid_i}) {
      *pin = 0;
    }
    settle();
  }
  void clocks(unsigned count) {
    for (unsigned i = 0; i < count; ++i) clock();
  }
  /// The clock stops until the next one is that of `time`.
  void sleep_until(std::uint32_t time) {
    EXPECT_FALSE(top_.busy_o);
    now_ = time - 1;
    settle();
  }

  /// The power comes on once more, at `time`.
  void power_up(std::uint32_t time) {
    now_ = time - 1;
    top_.rst_i = 1;
    clock();
    top_.rst_i = 0;
    settle();
  }

  void begin() {
    top_.begins_i = 1;
    clock();
  }
  void end() {
    top_.ends_i = 1;
    clock();
  }
  /// A good frame comes. Of one that is not a join frame, `peer_i` still says what the last join
  /// frame has said.
  void frame(unsigned protocol) {
    top_.frame_good_i = 1;
    top_.protocol_i = protocol;
    clock();
  }
  void say(std::uint32_t own, std::uint32_t other, bool agreed, bool met = false) {
    top_.peer_i[0] = own;
    top_.peer_i[1] = other;
    top_.peer_i[2] = (met ? 2 : 0) | (agreed ? 1 : 0);
  }
  void join_frame(std::uint32_t own, std::uint32_t other, bool agreed, bool met = false) {
    say(own, other, agreed, met);
    frame(OAE_WIRE_PROTOCOL_JOIN);
  }

  /// Brings the side to a phase, with a carrier and nothing that has to leave.
  void to_initialising() {
    clocks(hold_off + 2);
    top_.carrier_i = 1;
    begin();
    clocks(2);
    ASSERT_EQ(top_.phase_o, OAE_WINDOW_PHASE_INITIALISING);
  }
  void to_joined() {
    to_initialising();
    join_frame(peer, 1, false);
    clocks(2);
    ASSERT_EQ(top_.phase_o, OAE_WINDOW_PHASE_JOINED);
  }
  void to_up() {
    to_joined();
    join_frame(peer, 1, true, true);
    clocks(2);
    ASSERT_EQ(top_.phase_o, OAE_WINDOW_PHASE_UP);
  }

  /// A join frame leaves after each limit, and the clock may stop meanwhile.
  void expect_repetitions() {
    for (unsigned i = 0; i < 3; ++i) {
      const unsigned before = sent_;
      ASSERT_TRUE(top_.deadline_valid_o);
      ASSERT_EQ(top_.deadline_o, sent_at_ + limit);
      sleep_until(top_.deadline_o - 1);
      clock();
      EXPECT_FALSE(top_.busy_o);
      clock();
      EXPECT_EQ(sent_, before);
      EXPECT_TRUE(top_.busy_o);  // It is late,
      clock();
      EXPECT_EQ(sent_, before);
      EXPECT_TRUE(top_.busy_o);  // and has to leave.
      clock();
      EXPECT_EQ(sent_, before + 1);
      EXPECT_FALSE(top_.busy_o);
      clocks(2);
      EXPECT_EQ(sent_, before + 1);
    }
  }

  std::uint32_t now_ = 99;  // of the last clock
  // What the last clock has brought
  bool joins_ = false;
  bool cuts_ = false;
  bool rises_ = false;
  bool falls_ = false;
  bool counts_ = false;  // what came in it
  unsigned sent_ = 0;    // join frames
  std::uint32_t sent_at_ = 0;
};

// ---- The hold-off ----

TEST_F(Phases, TheClockStopsUntilTheHoldOffIsOver) {
  EXPECT_TRUE(top_.holds_off_o);
  begin();
  EXPECT_TRUE(top_.deadline_valid_o);
  ASSERT_EQ(top_.deadline_o, 100 + hold_off);
  sleep_until(100 + hold_off - 1);
  clock();
  EXPECT_TRUE(top_.holds_off_o);
  EXPECT_FALSE(top_.busy_o);
  clock();
  EXPECT_FALSE(top_.holds_off_o);
  EXPECT_TRUE(top_.busy_o);
  EXPECT_EQ(top_.phase_o, OAE_WINDOW_PHASE_DOWN);
  clock();
  EXPECT_EQ(top_.phase_o, OAE_WINDOW_PHASE_INITIALISING);
}

TEST_F(Phases, WithoutAWishOfTheFirmwareNothingHappensAfterTheHoldOff) {
  begin();
  end();
  clocks(hold_off + 2);
  EXPECT_FALSE(top_.holds_off_o);
  EXPECT_FALSE(top_.busy_o);
  EXPECT_FALSE(top_.deadline_valid_o);
  clocks(10);
  EXPECT_EQ(top_.phase_o, OAE_WINDOW_PHASE_DOWN);
}

// The firmware has wanted the link up once, and not a second time.
TEST_F(Phases, ASideThatGoesDownStaysDown) {
  begin();
  clocks(hold_off + 2);
  ASSERT_EQ(top_.phase_o, OAE_WINDOW_PHASE_INITIALISING);
  end();
  ASSERT_EQ(top_.phase_o, OAE_WINDOW_PHASE_DOWN);
  begin();
  ASSERT_EQ(top_.phase_o, OAE_WINDOW_PHASE_INITIALISING);
  top_.lost_i = 1;
  clock();
  clocks(10);
  EXPECT_EQ(top_.phase_o, OAE_WINDOW_PHASE_DOWN);
  EXPECT_FALSE(top_.busy_o);
}

TEST_F(Phases, TheTimeGoesAroundInTheHoldOff) {
  power_up(0xffff'fff8);
  begin();
  ASSERT_EQ(top_.deadline_o, hold_off - 8);
  sleep_until(hold_off - 8);
  EXPECT_TRUE(top_.holds_off_o);
  clock();
  EXPECT_FALSE(top_.holds_off_o);
  clock();
  EXPECT_EQ(top_.phase_o, OAE_WINDOW_PHASE_INITIALISING);
}

TEST_F(Phases, TheTimeGoesAroundBetweenJoinFrames) {
  power_up(0xffff'ffc8);
  to_initialising();
  ASSERT_GT(now_, 0xffff'ff00);
  expect_repetitions();
  EXPECT_LT(now_, 2 * limit);
}

TEST_F(Phases, TheTimeGoesAroundWithoutACarrier) {
  power_up(0xffff'ff00);
  to_up();
  sleep_until(0xffff'fff0);
  top_.carrier_i = 0;
  settle();
  clock();
  const std::uint32_t since = now_;
  clock();
  ASSERT_TRUE(top_.deadline_valid_o);
  ASSERT_EQ(top_.deadline_o, since + limit);
  ASSERT_LT(top_.deadline_o, since);
  sleep_until(since + limit - 1);
  clock();
  EXPECT_FALSE(top_.busy_o);
  clock();
  EXPECT_EQ(top_.phase_o, OAE_WINDOW_PHASE_UP);
  clock();
  EXPECT_EQ(top_.phase_o, OAE_WINDOW_PHASE_DOWN);
  EXPECT_EQ(top_.reason_o, OAE_WINDOW_DOWN_MISSING);
}

TEST_F(Phases, TheHoldOffDoesNotComeBackWhenTheTimeGoesAround) {
  clocks(hold_off + 2);
  sleep_until(100);
  clocks(4);
  EXPECT_FALSE(top_.holds_off_o);
}

// ---- Join frames that leave ----

TEST_F(Phases, AJoinFrameWaitsForTheCarrier) {
  clocks(hold_off + 2);
  begin();
  clocks(limit + 10);
  EXPECT_EQ(sent_, 0u);
  EXPECT_FALSE(top_.busy_o);
  EXPECT_FALSE(top_.deadline_valid_o);
  top_.carrier_i = 1;
  settle();
  EXPECT_TRUE(top_.busy_o);
  clock();
  EXPECT_EQ(sent_, 1u);
  EXPECT_FALSE(top_.busy_o);
}

TEST_F(Phases, AJoinFrameIsRepeatedUntilTheSideHasJoined) {
  to_initialising();
  expect_repetitions();
}

TEST_F(Phases, AJoinFrameIsRepeatedUntilTheOtherSideHasJoined) {
  to_joined();
  expect_repetitions();
}

TEST_F(Phases, ASideThatIsUpRepeatsNothing) {
  to_up();
  EXPECT_FALSE(top_.deadline_valid_o);
  const unsigned before = sent_;
  clocks(3 * limit);
  EXPECT_EQ(sent_, before);
  EXPECT_FALSE(top_.busy_o);
}

TEST_F(Phases, NothingIsRepeatedWithoutACarrier) {
  to_initialising();
  const unsigned before = sent_;
  top_.carrier_i = 0;
  clock();
  EXPECT_FALSE(top_.deadline_valid_o);
  for (unsigned i = 0; i < 3 * limit; ++i) {
    clock();
    EXPECT_FALSE(top_.busy_o);
  }
  EXPECT_EQ(sent_, before);
}

TEST_F(Phases, AJoinFrameThatHasToLeaveIsNotRepeatedAsWell) {
  to_initialising();
  // The other side's frame asks for an answer in the clock in which the last one becomes late.
  sleep_until(sent_at_ + limit);
  const unsigned before = sent_;
  join_frame(peer, 0, false);
  clocks(4);
  EXPECT_EQ(sent_, before + 1);
}

TEST_F(Phases, EveryJoinFrameThatWantsAReplyHasOne) {
  to_initialising();
  const auto replies = [this](std::uint32_t other, bool agreed, bool met) {
    const unsigned before = sent_;
    join_frame(peer, other, agreed, met);
    clocks(4);
    return sent_ - before;
  };
  EXPECT_EQ(replies(0, false, false), 1u);
  EXPECT_EQ(replies(0, true, true), 1u);  // of a session that this side knows nothing of
  ASSERT_EQ(top_.phase_o, OAE_WINDOW_PHASE_INITIALISING);
  EXPECT_EQ(replies(1, false, false), 1u);
  ASSERT_EQ(top_.phase_o, OAE_WINDOW_PHASE_JOINED);
  EXPECT_EQ(replies(1, false, false), 1u);
  EXPECT_EQ(replies(1, true, false), 1u);
  ASSERT_EQ(top_.phase_o, OAE_WINDOW_PHASE_UP);
  EXPECT_EQ(replies(1, true, false), 1u);
  EXPECT_EQ(replies(1, true, true), 0u);
}

TEST_F(Phases, OtherFramesHaveNoReply) {
  to_up();
  const unsigned before = sent_;
  say(peer + 1, 1, true);
  frame(OAE_WIRE_PROTOCOL_SLOT);
  clocks(4);
  EXPECT_EQ(sent_, before);
  EXPECT_EQ(top_.peer_session_o, peer);
}

TEST_F(Phases, ASideThatIsDownIgnoresFrames) {
  to_up();
  end();
  const unsigned before = sent_;
  join_frame(peer + 1, 1, true);
  EXPECT_FALSE(top_.busy_o);
  clocks(2);
  EXPECT_EQ(sent_, before);
  EXPECT_EQ(top_.phase_o, OAE_WINDOW_PHASE_DOWN);
  EXPECT_EQ(top_.peer_session_o, peer);
}

// ---- Join frames that come ----

TEST_F(Phases, OnlyAJoinFrameOfThisSessionIsJoined) {
  to_initialising();
  EXPECT_EQ(top_.session_o, 1u);
  say(peer, 1, true);
  clock();  // no frame at all
  frame(OAE_WIRE_PROTOCOL_SLOT);
  EXPECT_EQ(top_.phase_o, OAE_WINDOW_PHASE_INITIALISING);
  EXPECT_FALSE(counts_);
  EXPECT_EQ(top_.peer_session_o, 0u);
  join_frame(peer, 2, true);
  EXPECT_EQ(top_.phase_o, OAE_WINDOW_PHASE_INITIALISING);
  EXPECT_FALSE(joins_);
  EXPECT_FALSE(cuts_);
  EXPECT_EQ(top_.session_o, 1u);
  EXPECT_EQ(top_.peer_session_o, peer);  // The reply names it.
  join_frame(peer, 1, false);
  EXPECT_TRUE(joins_);
  EXPECT_FALSE(rises_);
  EXPECT_EQ(top_.phase_o, OAE_WINDOW_PHASE_JOINED);
}

TEST_F(Phases, AFrameOfASideThatHasJoinedTakesTheLinkUpAtOnce) {
  to_initialising();
  join_frame(peer, 1, true);
  EXPECT_TRUE(joins_);
  EXPECT_TRUE(rises_);
  EXPECT_EQ(top_.phase_o, OAE_WINDOW_PHASE_UP);
}

TEST_F(Phases, NothingTakesTheLinkUpThatDoesNotShowThatTheOtherSideHasJoined) {
  to_joined();
  join_frame(peer, 1, false);
  EXPECT_EQ(top_.phase_o, OAE_WINDOW_PHASE_JOINED);
  EXPECT_FALSE(counts_);
  say(peer, 1, true);  // a join frame that is damaged
  top_.protocol_i = OAE_WIRE_PROTOCOL_JOIN;
  clocks(2);
  EXPECT_EQ(top_.phase_o, OAE_WINDOW_PHASE_JOINED);
  say(peer, 1, false);
  top_.protocol_i = OAE_WIRE_PROTOCOL_SLOT;  // so is a slot
  clocks(2);
  EXPECT_EQ(top_.phase_o, OAE_WINDOW_PHASE_JOINED);
  EXPECT_FALSE(counts_);
}

TEST_F(Phases, AJoinFrameOfASideThatHasJoinedTakesTheLinkUp) {
  to_joined();
  join_frame(peer, 1, true);
  EXPECT_TRUE(rises_);
  EXPECT_FALSE(joins_);
  EXPECT_EQ(top_.phase_o, OAE_WINDOW_PHASE_UP);
}

TEST_F(Phases, AFrameOfAnotherKindTakesTheLinkUp) {
  to_joined();
  frame(OAE_WIRE_PROTOCOL_ALIVE);
  EXPECT_TRUE(rises_);
  EXPECT_TRUE(counts_);
  EXPECT_EQ(top_.phase_o, OAE_WINDOW_PHASE_UP);
}

TEST_F(Phases, AReturnTakesTheLinkUp) {
  to_joined();
  top_.return_valid_i = 1;
  clock();
  EXPECT_TRUE(rises_);
  EXPECT_TRUE(counts_);
  EXPECT_EQ(top_.phase_o, OAE_WINDOW_PHASE_UP);
  clock();
  EXPECT_TRUE(counts_);
}

TEST_F(Phases, AFrameOfOtherSessionsBeginsAnew) {
  for (const bool other_side : {false, true}) {
    for (const bool up : {false, true}) {
      SCOPED_TRACE(2 * other_side + up);
      const std::uint32_t session = top_.session_o + 1;
      clocks(hold_off + 2);
      top_.carrier_i = 1;
      begin();
      join_frame(peer, session, up);
      ASSERT_EQ(top_.phase_o, up ? OAE_WINDOW_PHASE_UP : OAE_WINDOW_PHASE_JOINED);
      // What the last join frame says does not matter with other frames, or without any.
      say(peer + 1, session + 1, false);
      clock();
      frame(OAE_WIRE_PROTOCOL_RESTART);
      ASSERT_EQ(top_.phase_o, OAE_WINDOW_PHASE_UP);
      join_frame(peer, session, true);
      EXPECT_FALSE(cuts_);
      EXPECT_FALSE(rises_);
      ASSERT_EQ(top_.phase_o, OAE_WINDOW_PHASE_UP);
      if (other_side) {
        join_frame(peer + 1, session, true);
      } else {
        join_frame(peer, session - 1, true);
      }
      EXPECT_TRUE(cuts_);
      EXPECT_FALSE(falls_);
      EXPECT_EQ(top_.phase_o, OAE_WINDOW_PHASE_INITIALISING);
      EXPECT_EQ(top_.session_o, session + 1);
      EXPECT_EQ(top_.peer_session_o,
                other_side ? peer + 1 : peer);  // The next join frame names it.
      end();
    }
  }
}

TEST_F(Phases, EveryBitOfASessionCounts) {
  to_initialising();
  for (unsigned bit = 0; bit < 32; ++bit) {
    const std::uint32_t other = peer ^ std::uint32_t{1} << bit;
    join_frame(peer, top_.session_o ^ std::uint32_t{1} << bit, false);
    ASSERT_EQ(top_.phase_o, OAE_WINDOW_PHASE_INITIALISING) << bit;
    join_frame(peer, top_.session_o, false);
    ASSERT_EQ(top_.phase_o, OAE_WINDOW_PHASE_JOINED) << bit;
    join_frame(other, top_.session_o, false);
    EXPECT_TRUE(cuts_) << bit;
    ASSERT_EQ(top_.phase_o, OAE_WINDOW_PHASE_INITIALISING) << bit;
    EXPECT_EQ(top_.peer_session_o, other);
  }
}

TEST_F(Phases, ASideThatBeginsKnowsNoOtherSession) {
  to_up();
  EXPECT_EQ(top_.peer_session_o, peer);
  end();
  begin();
  EXPECT_EQ(top_.peer_session_o, 0u);
  EXPECT_EQ(top_.session_o, 2u);
}

// ---- The carrier ----

TEST_F(Phases, ALossOfTheCarrierIsToleratedUntilTheLimit) {
  to_up();
  sleep_until(now_ + 10 * limit);
  top_.carrier_i = 0;
  settle();
  clock();
  const std::uint32_t since = now_;
  clock();
  EXPECT_TRUE(top_.deadline_valid_o);
  ASSERT_EQ(top_.deadline_o, since + limit);
  sleep_until(since + limit - 1);
  clock();
  EXPECT_FALSE(top_.busy_o);
  clock();
  EXPECT_EQ(top_.phase_o, OAE_WINDOW_PHASE_UP);
  EXPECT_TRUE(top_.busy_o);
  clock();
  EXPECT_TRUE(falls_);
  EXPECT_TRUE(cuts_);
  EXPECT_EQ(top_.phase_o, OAE_WINDOW_PHASE_DOWN);
  EXPECT_EQ(top_.reason_o, OAE_WINDOW_DOWN_MISSING);
  EXPECT_FALSE(top_.busy_o);
  EXPECT_FALSE(top_.deadline_valid_o);
  begin();  // The carrier is still away.
  EXPECT_EQ(top_.phase_o, OAE_WINDOW_PHASE_INITIALISING);
}

TEST_F(Phases, ACarrierThatComesAtTheLastMomentIsSeen) {
  to_up();
  for (unsigned late = 0; late < 2; ++late) {
    for (unsigned length = 1; length < 3; ++length) {
      SCOPED_TRACE(10 * late + length);
      top_.carrier_i = 0;
      clocks(limit + late);
      top_.carrier_i = 1;
      clocks(length);
      top_.carrier_i = 0;
      clocks(limit + 1);
      EXPECT_EQ(top_.phase_o, OAE_WINDOW_PHASE_UP);
      top_.carrier_i = 1;
      clocks(2);
    }
  }
}

TEST_F(Phases, ASideThatHasJoinedWatchesTheCarrier) {
  to_joined();
  top_.carrier_i = 0;
  clocks(limit + 1);
  EXPECT_EQ(top_.phase_o, OAE_WINDOW_PHASE_JOINED);
  clock();
  EXPECT_EQ(top_.phase_o, OAE_WINDOW_PHASE_DOWN);
}

TEST_F(Phases, ASideThatInitialisesWaitsForACarrierForever) {
  to_initialising();
  top_.carrier_i = 0;
  clocks(5 * limit);
  EXPECT_EQ(top_.phase_o, OAE_WINDOW_PHASE_INITIALISING);
}

// ---- Going down ----

TEST_F(Phases, DoubtsWithoutAGainTakeTheLinkDown) {
  to_up();
  const auto doubt = [this] {
    top_.doubts_i = 1;
    clock();
    clock();
  };
  for (unsigned i = 1; i < doubts; ++i) {
    doubt();
    EXPECT_EQ(top_.trouble_o, i);
  }
  top_.gains_i = 1;
  clock();
  EXPECT_EQ(top_.trouble_o, 0);
  for (unsigned i = 1; i < doubts; ++i) doubt();
  EXPECT_EQ(top_.phase_o, OAE_WINDOW_PHASE_UP);
  EXPECT_FALSE(top_.busy_o);
  top_.doubts_i = 1;
  clock();
  EXPECT_TRUE(top_.busy_o);
  EXPECT_EQ(top_.phase_o, OAE_WINDOW_PHASE_UP);
  clock();
  EXPECT_TRUE(falls_);
  EXPECT_EQ(top_.phase_o, OAE_WINDOW_PHASE_DOWN);
  EXPECT_EQ(top_.reason_o, OAE_WINDOW_DOWN_TROUBLE);
  EXPECT_FALSE(top_.busy_o);
  begin();
  EXPECT_EQ(top_.phase_o, OAE_WINDOW_PHASE_INITIALISING);
  EXPECT_EQ(top_.trouble_o, 0);
  EXPECT_EQ(top_.reason_o, OAE_WINDOW_DOWN_NONE);
}

TEST_F(Phases, TheFirmwareTakesTheLinkDown) {
  to_up();
  end();
  EXPECT_TRUE(falls_);
  EXPECT_TRUE(cuts_);
  EXPECT_EQ(top_.phase_o, OAE_WINDOW_PHASE_DOWN);
  EXPECT_EQ(top_.reason_o, OAE_WINDOW_DOWN_FIRMWARE);
  end();
  EXPECT_FALSE(falls_);
}

TEST_F(Phases, ADefectTakesALinkDownThatIsUp) {
  to_up();
  top_.defect_i = 1;
  clock();
  EXPECT_TRUE(falls_);
  EXPECT_EQ(top_.phase_o, OAE_WINDOW_PHASE_DOWN);
  EXPECT_EQ(top_.reason_o, OAE_WINDOW_DOWN_DEFECT);
}

// The defect is one of a session that has ended in the same clock.
TEST_F(Phases, ADefectOfTheSessionBeforeIsForgotten) {
  to_initialising();
  top_.defect_i = 1;
  clock();
  EXPECT_EQ(top_.phase_o, OAE_WINDOW_PHASE_INITIALISING);
  end();
  top_.defect_i = 1;
  begin();
  EXPECT_EQ(top_.phase_o, OAE_WINDOW_PHASE_INITIALISING);
}

TEST_F(Phases, ALostHistoryTakesASideDownUnlessItIsDown) {
  to_initialising();
  top_.lost_i = 1;
  clock();
  EXPECT_TRUE(falls_);
  EXPECT_FALSE(cuts_);
  EXPECT_EQ(top_.phase_o, OAE_WINDOW_PHASE_DOWN);
  EXPECT_EQ(top_.reason_o, OAE_WINDOW_DOWN_DEFECT);
  top_.lost_i = 1;
  begin();
  EXPECT_EQ(top_.phase_o, OAE_WINDOW_PHASE_INITIALISING);
}

// A side that is joined says so still, since the other one may read the frame once more.
TEST_F(Phases, ASideIsAnewUntilItIsUp) {
  EXPECT_TRUE(top_.anew_o);
  to_joined();
  EXPECT_TRUE(top_.anew_o);
  join_frame(peer, 1, true, true);
  EXPECT_TRUE(rises_);
  EXPECT_FALSE(top_.anew_o);
  end();
  EXPECT_FALSE(top_.anew_o);
  begin();
  clocks(4);
  EXPECT_FALSE(top_.anew_o);
}

TEST_F(Phases, ASideIsAnewOnceMoreWhenItsHistoryIsLost) {
  to_up();
  top_.lost_i = 1;
  clock();
  EXPECT_TRUE(top_.anew_o);
  begin();
  join_frame(peer + 1, 2, false);
  clocks(2);
  ASSERT_EQ(top_.phase_o, OAE_WINDOW_PHASE_JOINED);
  EXPECT_TRUE(top_.anew_o);
  join_frame(peer + 1, 2, true, true);
  ASSERT_EQ(top_.phase_o, OAE_WINDOW_PHASE_UP);
  EXPECT_FALSE(top_.anew_o);
  end();
  ASSERT_EQ(top_.phase_o, OAE_WINDOW_PHASE_DOWN);
  top_.lost_i = 1;
  clock();
  EXPECT_TRUE(top_.anew_o) << "whatever the phase";
}

// The history is lost in the clock in which the link would rise.
TEST_F(Phases, ALostHistoryComesBeforeTheRise) {
  to_joined();
  top_.lost_i = 1;
  join_frame(peer, 1, true, true);
  EXPECT_FALSE(rises_);
  EXPECT_TRUE(top_.anew_o);
}

}  // namespace
