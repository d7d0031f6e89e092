// SPDX-License-Identifier: Apache-2.0
// The intake on its own, without a relay and with one. What is on its pins need not be what a link
// brings there.
#include <Voae_link_intake.h>
#include <Voae_link_intake_relay.h>
#include <gtest/gtest.h>

#include <cstdint>

#include "oae_registers.h"
#include "tests/rtl/coverage.h"

namespace window {
namespace {

constexpr unsigned slots = 16;  // of its ring

/// The pins of an intake. What happens in a clock is set before it, and what it shows in that clock
/// is kept.
template <typename Top>
class Intake : public testing::Test {
 protected:
  Intake() {
    top.rst_i = 1;
    clock();
    top.rst_i = 0;
    top.up_i = 1;
  }
  ~Intake() override {
    write_coverage(context);
    top.final();
    Verilated::threadContextp(&context);
  }

  /// A clock, after which nothing happens any more
  void clock() {
    top.clk_i = 0;
    top.eval();
    jams = top.jams_o;
    refused = top.take_refused_o;
    commits = top.commits_o;
    held = (top.relay_o[2] >> 4 & 1) != 0;
    restarted = (top.relay_o[2] >> 3 & 1) != 0;
    // What the relay makes of it
    const bool gives = (top.relay_o[1] >> 1 & 1) != 0;
    const bool revokes = (top.relay_o[0] & 1) != 0;
    if (gives) granted = top.relay_o[1] << 31 | top.relay_o[0] >> 1;
    granted = revokes ? 0 : granted - top.relay_i[3];
    top.clk_i = 1;
    top.eval();
    top.frame_good_i = top.damaged_i = top.return_valid_i = top.return_taken_i = 0;
    top.cut_i = top.join_i = top.take_i = top.take_next_i = 0;
  }

  void set_frame(unsigned protocol, std::uint32_t number, unsigned generation,
                 std::uint16_t digest = 0) {
    top.frame_good_i = 1;
    top.protocol_i = protocol;
    top.head_i = std::uint64_t{generation & 0xff} << 48 | std::uint64_t{number} << 16 | digest;
  }
  void slot(std::uint32_t number, unsigned generation = 0, std::uint16_t digest = 0) {
    set_frame(OAE_WIRE_PROTOCOL_SLOT, number, generation, digest);
    clock();
  }
  void slots_to(std::uint32_t last) {
    for (std::uint32_t number = top.expected_o; number <= last; ++number) slot(number);
  }
  void restart(std::uint32_t kept, unsigned generation, std::uint16_t digest = 0) {
    set_frame(OAE_WIRE_PROTOCOL_RESTART, kept, generation, digest);
    clock();
  }
  void damage() {
    top.damaged_i = 1;
    clock();
  }
  void set_return(std::uint32_t confirmed, bool ask = false) {
    top.return_valid_i = 1;
    top.return_i = (confirmed & 0xffff) | (ask ? 1u << 16 : 0);
  }
  /// A return, and the clock in which it counts
  void confirm(std::uint32_t confirmed) {
    set_return(confirmed);
    clock();
    clock();
  }
  void set_join(std::uint32_t settled, std::uint32_t confirmed) {
    top.join_i = 1;
    top.peer_i = std::uint64_t{confirmed} << 32 | settled;
  }
  void join(std::uint32_t settled, std::uint32_t confirmed) {
    set_join(settled, confirmed);
    clock();
  }
  /// The link goes down; the next clock still belongs to it.
  void cut() {
    top.cut_i = 1;
    clock();
    top.up_i = 0;
    clock();
  }
  void take(std::uint32_t index) {
    top.take_i = 1;
    top.take_index_i = index;
    clock();
  }
  /// A return leaves.
  void leave() {
    top.return_taken_i = 1;
    clock();
  }

  unsigned said(unsigned low, unsigned width) const {
    const std::uint64_t pair =
        top.return_o[low / 32] | std::uint64_t{low / 32 < 2 ? top.return_o[low / 32 + 1] : 0} << 32;
    return static_cast<unsigned>(pair >> low % 32 & ((std::uint64_t{1} << width) - 1));
  }
  unsigned answered() const { return said(0, 16); }
  unsigned done() const { return said(16, 16); }
  unsigned credit() const { return said(32, 16); }
  unsigned generation() const { return said(48, 8); }
  unsigned wanted() const { return said(56, 7); }
  unsigned digest() const { return said(63, 16); }
  bool next() {
    top.eval();
    return (top.arrival_o >> 1 & 1) != 0;
  }

  struct Context : VerilatedContext {
    Context() { threads(1); }
  };
  Context context;
  Top top{&context};
  // In the last clock
  bool jams = false;
  std::uint32_t granted = 0;
  bool refused = false;
  bool held = false;       // a slot
  bool restarted = false;  // by a restart
  std::uint32_t commits = 0;
};

class OwnRing : public Intake<Voae_link_intake> {};

/// The digest of slots with these checks, in their order
std::uint16_t digest_of(std::initializer_list<std::uint16_t> checks) {
  std::uint16_t digest = 0;
  for (const std::uint16_t check : checks)
    digest = static_cast<std::uint16_t>((digest << 1 | digest >> 15) ^ check);
  return digest;
}

TEST_F(OwnRing, HoldsTheSlotThatIsExpected) {
  slot(1, 0, 0x9001);
  EXPECT_TRUE(held);
  EXPECT_EQ(top.expected_o, 2u);
  EXPECT_EQ(top.row_o, 1u);
  EXPECT_EQ(top.due_o, 1u);
  EXPECT_EQ(top.urgent_o, 0u);
  slot(2, 0, 0x1234);
  EXPECT_EQ(answered(), 2u);
  EXPECT_EQ(digest(), digest_of({0x9001, 0x1234}));
  EXPECT_EQ(done(), 0u);
  EXPECT_EQ(credit(), slots);
  EXPECT_EQ(top.received_o, 0u);
  EXPECT_EQ(top.jammed_o, 0u);
}

TEST_F(OwnRing, ADueReturnWaitsUntilItLeaves) {
  clock();
  EXPECT_EQ(top.due_o, 0u);
  slot(1);
  clock();
  EXPECT_EQ(top.due_o, 1u);
  leave();
  EXPECT_EQ(top.due_o, 0u);
  damage();
  clock();
  EXPECT_EQ(top.due_o, 1u);
  EXPECT_EQ(top.urgent_o, 1u);
  leave();
  EXPECT_EQ(top.due_o, 0u);
  EXPECT_EQ(top.urgent_o, 0u);
  clock();
  EXPECT_EQ(top.urgent_o, 0u);
}

TEST_F(OwnRing, OnlyGoodFramesWithAProtocolOfSlotsCount) {
  for (const unsigned protocol : {OAE_WIRE_PROTOCOL_JOIN, OAE_WIRE_PROTOCOL_ALIVE}) {
    set_frame(protocol, 1, 0);
    EXPECT_FALSE(next());
    clock();
    set_frame(protocol, 0, 1);
    clock();
    set_frame(protocol, 5, 1);
    clock();
  }
  for (const unsigned protocol : {OAE_WIRE_PROTOCOL_SLOT, OAE_WIRE_PROTOCOL_RESTART}) {
    for (const unsigned generation : {0, 1}) {
      for (const unsigned number : {0, 1, 2}) {
        set_frame(protocol, number, generation);
        top.frame_good_i = 0;
        clock();
        EXPECT_FALSE(held || restarted);
      }
    }
  }
  EXPECT_EQ(top.expected_o, 1u);
  EXPECT_EQ(generation(), 0u);
  EXPECT_EQ(top.jammed_o, 0u);
  EXPECT_EQ(top.defect_o, 0u);
  EXPECT_EQ(top.due_o, 0u);
}

TEST_F(OwnRing, NothingCountsOfALinkThatIsNotUp) {
  slots_to(2);
  leave();
  cut();
  slot(1);
  EXPECT_FALSE(held);
  slot(2);
  EXPECT_FALSE(jams);
  restart(0, 1);
  EXPECT_FALSE(restarted);
  restart(5, 1);
  EXPECT_EQ(top.defect_o, 0u);
  damage();
  EXPECT_FALSE(jams);
  confirm(1);
  EXPECT_EQ(top.defect_o, 0u);
  set_return(0, true);
  clock();
  EXPECT_EQ(top.busy_o, 0u);
  EXPECT_EQ(top.expected_o, 1u);
  EXPECT_EQ(top.jammed_o, 0u);
  EXPECT_EQ(top.due_o, 0u);
  EXPECT_EQ(generation(), 0u);
}

TEST_F(OwnRing, ASlotWithoutRoomIsNotHeld) {
  slots_to(slots);
  EXPECT_EQ(top.room_o, 0u);
  slot(slots + 1);
  EXPECT_FALSE(held);
  EXPECT_TRUE(jams);
  EXPECT_EQ(top.expected_o, slots + 1);
}

TEST_F(OwnRing, TheFirstMissingSlotJamsAndNoLaterOne) {
  slots_to(2);
  leave();
  slot(4);
  EXPECT_TRUE(jams);
  EXPECT_FALSE(held);
  EXPECT_EQ(top.jammed_o, 1u);
  EXPECT_EQ(wanted(), 1u);
  EXPECT_EQ(generation(), 0u);
  EXPECT_EQ(top.due_o, 1u);
  EXPECT_EQ(top.urgent_o, 1u);
  for (const unsigned number : {3, 5}) {
    slot(number);
    EXPECT_FALSE(held);
    EXPECT_FALSE(jams);
    EXPECT_FALSE(next());
  }
  damage();
  EXPECT_FALSE(jams);
  clock();
  EXPECT_FALSE(jams);
  EXPECT_EQ(wanted(), 1u);
  EXPECT_EQ(top.expected_o, 3u);
}

TEST_F(OwnRing, DamageJams) {
  damage();
  EXPECT_TRUE(jams);
  EXPECT_EQ(wanted(), 1u);
  slot(1);
  EXPECT_FALSE(held);
}

TEST_F(OwnRing, ASlotWhoseRestartIsMissingJams) {
  slots_to(2);
  slot(3, 1);
  EXPECT_TRUE(jams);
  EXPECT_FALSE(held);
  EXPECT_EQ(wanted(), 2u);
  slot(3, 1);  // of a generation that it no longer waits for
  EXPECT_FALSE(jams);
  EXPECT_EQ(wanted(), 2u);
  slot(3, 2);  // The restart of the one that it wants is missing as well.
  EXPECT_TRUE(jams);
  EXPECT_EQ(wanted(), 3u);
  restart(2, 3);
  EXPECT_EQ(top.jammed_o, 0u);
  slot(3, 2);  // of a generation before
  EXPECT_FALSE(jams || held);
  slot(3, 3);
  EXPECT_TRUE(held);
}

TEST_F(OwnRing, ARestartKeepsWhatItNames) {
  slot(1, 0, 0x1111);
  slot(2, 0, 0x2222);
  slot(3, 0, 0x3333);
  leave();
  restart(1, 1, 0x1111);
  EXPECT_TRUE(restarted);
  EXPECT_EQ(top.expected_o, 2u);
  EXPECT_EQ(top.row_o, 1u);
  EXPECT_EQ(generation(), 1u);
  EXPECT_EQ(wanted(), 1u);
  EXPECT_EQ(digest(), 0x1111u);
  EXPECT_EQ(top.due_o, 1u);
  EXPECT_EQ(top.defect_o, 0u);
  slot(2, 1, 0x4444);
  EXPECT_EQ(digest(), digest_of({0x1111, 0x4444}));
  confirm(1);
  restart(1, 2);  // nothing but what is committed
  EXPECT_EQ(top.expected_o, 2u);
  slot(2, 2);
  restart(2, 3);  // all of it
  EXPECT_EQ(top.expected_o, 3u);
  EXPECT_EQ(top.defect_o, 0u);
}

TEST_F(OwnRing, ARestartThatComesAgainIsIgnored) {
  restart(0, 2);
  slot(1, 2);
  leave();
  for (const unsigned generation : {2, 1}) {
    restart(0, generation);
    EXPECT_FALSE(restarted);
    EXPECT_EQ(top.expected_o, 2u);
    EXPECT_EQ(top.defect_o, 0u);
    EXPECT_EQ(top.due_o, 0u);
  }
}

TEST_F(OwnRing, ARestartThatKeepsWhatIsNotThereIsADefect) {
  slots_to(3);
  confirm(2);
  for (const unsigned number : {1, 4, 100}) {
    restart(number, 1);
    EXPECT_FALSE(restarted);
    EXPECT_EQ(top.defect_o, 1u) << number;
    EXPECT_EQ(top.expected_o, 4u);
    EXPECT_EQ(generation(), 0u);
    clock();
    EXPECT_EQ(top.defect_o, 0u);
  }
}

TEST_F(OwnRing, ConfirmedSlotsAreCommitted) {
  slots_to(4);
  leave();
  confirm(3);
  EXPECT_EQ(commits, 3u);
  EXPECT_EQ(top.done_o, 3u);
  EXPECT_EQ(top.received_o, 3u);
  EXPECT_EQ(top.due_o, 1u);
  leave();
  confirm(3);  // once more
  confirm(1);  // one from before
  EXPECT_EQ(commits, 0u);
  EXPECT_EQ(top.due_o, 0u);
  EXPECT_EQ(top.done_o, 3u);
  EXPECT_EQ(top.defect_o, 0u);
  confirm(4);
  EXPECT_EQ(top.received_o, 4u);
  EXPECT_EQ(top.defect_o, 0u);
  confirm(5);  // which it does not hold
  EXPECT_EQ(top.defect_o, 1u);
  EXPECT_EQ(top.done_o, 4u);
  EXPECT_EQ(credit(), 4 + slots - 4);
}

TEST_F(OwnRing, AReturnThatAsksMakesOneDue) {
  set_return(0, true);
  top.return_valid_i = 0;
  clock();
  EXPECT_EQ(top.due_o, 0u);
  set_return(0, false);
  clock();
  EXPECT_EQ(top.due_o, 0u);
  set_return(0, true);
  clock();
  EXPECT_EQ(top.due_o, 1u);
}

// Its number would be taken for one of the numbers after them.
TEST_F(OwnRing, AReturnDoesNotCountInTheClockOfACutOrAJoin) {
  slots_to(3);
  top.cut_i = 1;
  set_return(2);
  clock();
  top.up_i = 0;
  clock();
  EXPECT_EQ(top.done_o, 0u);
  EXPECT_EQ(top.received_o, 0u);
  EXPECT_EQ(top.expected_o, 1u);
  top.up_i = 1;
  set_join(7, 7);
  set_return(9);
  clock();
  clock();
  EXPECT_EQ(top.defect_o, 0u);
  EXPECT_EQ(top.done_o, 7u);
  EXPECT_EQ(top.received_o, 0u);
}

TEST_F(OwnRing, OnlyWhatIsCommittedIsTaken) {
  slots_to(4);
  confirm(3);
  leave();
  take(4);
  EXPECT_TRUE(refused);
  EXPECT_EQ(top.taken_o, 0u);
  EXPECT_EQ(top.due_o, 0u);
  take(2);
  EXPECT_FALSE(refused);
  EXPECT_EQ(top.taken_o, 2u);
  EXPECT_EQ(top.due_o, 1u);
  EXPECT_EQ(credit(), 3 + slots - 1);
  take(1);
  EXPECT_TRUE(refused);
  EXPECT_EQ(top.taken_o, 2u);
  top.take_index_i = 4;
  clock();
  EXPECT_FALSE(refused);
  leave();
  top.take_next_i = 1;
  clock();
  EXPECT_EQ(top.taken_o, 3u);
  EXPECT_EQ(top.due_o, 1u);
  clock();
  EXPECT_EQ(top.taken_o, 3u);
}

TEST_F(OwnRing, ACutDiscardsWhatIsNotCommitted) {
  slots_to(4);
  confirm(2);
  damage();
  top.cut_i = 1;
  clock();
  top.up_i = 0;
  EXPECT_EQ(top.due_o, 0u);
  EXPECT_EQ(top.urgent_o, 0u);
  EXPECT_EQ(top.busy_o, 1u);
  clock();
  EXPECT_EQ(top.busy_o, 0u);
  EXPECT_EQ(top.expected_o, 3u);
  EXPECT_EQ(top.row_o, 2u);
  EXPECT_EQ(top.done_o, 2u);
  EXPECT_EQ(top.received_o, 2u);
}

TEST_F(OwnRing, ItIsBusyWhileSomethingFollows) {
  slots_to(2);
  EXPECT_EQ(top.busy_o, 0u);
  set_return(1);
  clock();
  EXPECT_EQ(top.busy_o, 1u);
  clock();
  EXPECT_EQ(top.busy_o, 0u);
  restart(9, 1);
  EXPECT_EQ(top.busy_o, 1u);  // The link notices the defect at the next edge.
  clock();
  EXPECT_EQ(top.busy_o, 0u);
}

// The journal that an end has of its other side's slots stays if that one has slots in doubt which
// it covers, or if it is not there.
TEST_F(OwnRing, AJoinKeepsTheJournalThatCoversADoubt) {
  join(0, 0);
  EXPECT_EQ(top.known_o, 1u);
  EXPECT_EQ(top.first_o, 1u);
  EXPECT_EQ(top.due_o, 1u);
  slots_to(4);
  confirm(3);
  cut();
  join(2, 4);  // 3 and 4 are in doubt
  EXPECT_EQ(top.first_o, 1u);
  EXPECT_EQ(top.done_o, 3u);
  EXPECT_EQ(top.expected_o, 4u);
  top.up_i = 1;
  slot(4);
  EXPECT_TRUE(held);
  cut();
  join(0, 4);  // from the first one on
  EXPECT_EQ(top.done_o, 3u);
  join(3, 3);  // nothing is in doubt
  EXPECT_EQ(top.first_o, 4u);
  EXPECT_EQ(top.done_o, 3u);
  join(3, 5);
  EXPECT_EQ(top.first_o, 4u);
  EXPECT_EQ(top.done_o, 3u);
  join(2, 5);  // The journal began after slot 3.
  EXPECT_EQ(top.first_o, 6u);
  EXPECT_EQ(top.done_o, 5u);
  EXPECT_EQ(top.expected_o, 6u);
  EXPECT_EQ(top.received_o, 3u);
  EXPECT_EQ(top.row_o, 3u);
}

TEST_F(OwnRing, AJoinWithoutAJournalBeginsOne) {
  EXPECT_EQ(top.known_o, 0u);
  join(2, 4);
  EXPECT_EQ(top.known_o, 1u);
  EXPECT_EQ(top.first_o, 5u);
  EXPECT_EQ(top.done_o, 4u);
}

TEST_F(OwnRing, AJoinBeginsWithGenerationZero) {
  restart(0, 3);
  slot(1, 3, 0x1234);
  damage();
  cut();
  clock();
  EXPECT_EQ(generation(), 3u);
  EXPECT_EQ(digest(), 0x1234u);
  join(0, 0);
  EXPECT_EQ(generation(), 0u);
  EXPECT_EQ(wanted(), 0u);
  EXPECT_EQ(digest(), 0u);
  EXPECT_EQ(top.jammed_o, 0u);
}

TEST_F(OwnRing, TheRelaysPinsMeanNothing) {
  join(0, 0);
  top.hold_i = 7;
  for (unsigned i = 0; i < 4; ++i) top.relay_i[i] = 3 + i;
  clock();
  slot(1);
  EXPECT_TRUE(held);
  top.hold_i = 3;
  slot(2);
  EXPECT_TRUE(held);
  slots_to(4);
  confirm(2);
  EXPECT_EQ(top.done_o, 2u);
  EXPECT_EQ(top.received_o, 2u);
  EXPECT_EQ(top.taken_o, 0u);
  EXPECT_EQ(done(), 2u);
  EXPECT_EQ(answered(), 4u);
  EXPECT_EQ(top.known_o, 1u);
  leave();
  clock();
  EXPECT_EQ(top.due_o, 0u);
  EXPECT_EQ(top.busy_o, 0u);
  slot(9);
  EXPECT_TRUE(jams);
  EXPECT_EQ(top.defect_o, 0u);
}

/// With a relay. It says what has become of the slots that it has passed on.
class OfRelay : public Intake<Voae_link_intake_relay> {
 protected:
  static constexpr unsigned loses = 1, unrouted = 2, holds = 4;

  OfRelay() {
    top.hold_i = holds;
    onward(0, 0, slots - 1);
    clock();
    leave();
  }
  void onward(std::uint32_t answered, std::uint32_t unsettled, std::uint32_t room) {
    top.relay_i[0] = room;
    top.relay_i[1] = unsettled;
    top.relay_i[2] = answered;
    top.relay_i[3] = 0;
  }
  /// So many slots are confirmed onward in a clock.
  void confirm_onward(std::uint32_t count) {
    top.relay_i[3] = count;
    clock();
    top.relay_i[3] = 0;
  }
};

TEST_F(OfRelay, ASlotIsHeldThatIsOnItsWay) {
  slot(1);
  EXPECT_TRUE(held);
  top.hold_i = 0;
  slot(2);
  EXPECT_FALSE(held);
  EXPECT_TRUE(jams);
  EXPECT_EQ(top.defect_o, 0u);
}

TEST_F(OfRelay, OnlyTheSlotThatIsExpectedOpens) {
  slot(1);
  set_frame(OAE_WIRE_PROTOCOL_SLOT, 2, 0);
  EXPECT_TRUE(next());
  set_frame(OAE_WIRE_PROTOCOL_SLOT, 3, 0);
  EXPECT_FALSE(next());
  set_frame(OAE_WIRE_PROTOCOL_SLOT, 2, 1);
  EXPECT_FALSE(next());
  set_frame(OAE_WIRE_PROTOCOL_ALIVE, 2, 0);
  EXPECT_FALSE(next());
}

TEST_F(OfRelay, ASlotWithoutARouteIsADefect) {
  slot(1);
  top.hold_i = unrouted;
  slot(2);
  EXPECT_TRUE(jams);
  EXPECT_EQ(top.defect_o, 1u);
}

// The other side's own order does not matter to it, and a return follows only what the relay says.
TEST_F(OfRelay, ItAnswersWhatIsAnsweredOnward) {
  slot(1, 0, 0x1111);
  slot(2, 0, 0x2222);
  EXPECT_EQ(top.due_o, 0u);
  EXPECT_EQ(answered(), 0u);
  EXPECT_EQ(credit(), slots - 1);
  onward(1, 0, slots - 1);
  top.eval();
  EXPECT_EQ(top.busy_o, 1u);
  clock();
  EXPECT_EQ(top.busy_o, 0u);
  EXPECT_EQ(top.due_o, 1u);
  EXPECT_EQ(answered(), 1u);
  EXPECT_EQ(digest(), 0x1111u);
  leave();
  EXPECT_EQ(top.due_o, 0u);
  onward(2, 0, slots - 1);
  clock();
  EXPECT_EQ(digest(), digest_of({0x1111, 0x2222}));
}

TEST_F(OfRelay, ADueReturnIsStillDueAfterASlot) {
  set_return(0, true);
  clock();
  EXPECT_EQ(top.due_o, 1u);
  slot(1);
  EXPECT_EQ(top.due_o, 1u);
}

TEST_F(OfRelay, AConfirmationIsPassedOn) {
  slots_to(4);
  onward(4, 0, slots - 1);
  clock();
  confirm(3);
  EXPECT_EQ(granted, 3u);
  EXPECT_EQ(top.done_o, 0u);
  confirm(2);  // one from before
  EXPECT_EQ(granted, 3u);
  confirm(3);
  EXPECT_EQ(top.defect_o, 0u);
  onward(2, 2, slots - 3);
  confirm_onward(2);
  EXPECT_EQ(commits, 2u);
  EXPECT_EQ(top.done_o, 2u);
  EXPECT_EQ(top.received_o, 2u);
  EXPECT_EQ(top.taken_o, 2u);
  EXPECT_EQ(granted, 1u);
  EXPECT_EQ(done(), 0u);
  confirm(1);  // one from before what is committed
  EXPECT_EQ(top.defect_o, 0u);
  EXPECT_EQ(granted, 1u);
  confirm(5);
  EXPECT_EQ(top.defect_o, 1u);
  EXPECT_EQ(granted, 1u);
}

TEST_F(OfRelay, ARestartThatTakesBackAConfirmationIsADefect) {
  slots_to(3);
  confirm(2);
  restart(1, 1);
  EXPECT_EQ(top.defect_o, 1u);
  EXPECT_FALSE(restarted);
  restart(2, 1);
  EXPECT_EQ(top.defect_o, 0u);
  EXPECT_TRUE(restarted);
  EXPECT_EQ(top.expected_o, 3u);
}

TEST_F(OfRelay, ACutTakesBackWhatIsNotConfirmedOnward) {
  slots_to(3);
  confirm(2);
  top.cut_i = 1;
  clock();
  EXPECT_EQ(granted, 0u);
}

TEST_F(OfRelay, TheDigestAfterAJoinIsZero) {
  slot(1, 0, 0x1111);
  onward(1, 0, slots - 1);
  clock();
  confirm(1);
  onward(0, 1, slots - 2);
  confirm_onward(1);
  cut();
  EXPECT_EQ(digest(), 0x1111u);
  join(1, 1);
  EXPECT_EQ(answered(), 1u);
  EXPECT_EQ(digest(), 0u);
  top.up_i = 1;
  slot(2, 0, 0x2222);
  onward(1, 1, slots - 2);
  clock();
  EXPECT_EQ(digest(), 0x2222u);
}

TEST_F(OfRelay, WithALossTheJournalIsNoLongerKnown) {
  join(0, 0);
  clock();
  EXPECT_EQ(top.known_o, 1u);
  top.hold_i = loses;
  clock();
  EXPECT_EQ(top.known_o, 0u);
}

}  // namespace
}  // namespace window
