// SPDX-License-Identifier: Apache-2.0
// What the intake has committed, what is taken of it, and what a cut and a join leave
#include "tests/rtl/link/parts/intake.h"

namespace window {
namespace {

TEST_F(OwnRing, ConfirmedSlotsAreCommitted) {
  slots_to(4);
  leave();
  confirm(3);
  EXPECT_EQ(commits, 3u);
  EXPECT_EQ(top_.done_o, 3u);
  EXPECT_EQ(top_.received_o, 3u);
  EXPECT_EQ(top_.due_o, 1u);
  leave();
  confirm(3);  // once more
  confirm(1);  // one from before
  EXPECT_EQ(commits, 0u);
  EXPECT_EQ(top_.due_o, 0u);
  EXPECT_EQ(top_.done_o, 3u);
  EXPECT_EQ(top_.defect_o, 0u);
  confirm(4);
  EXPECT_EQ(top_.received_o, 4u);
  EXPECT_EQ(top_.defect_o, 0u);
  confirm(5);  // which it does not hold
  EXPECT_EQ(top_.defect_o, 1u);
  EXPECT_EQ(top_.done_o, 4u);
  EXPECT_EQ(credit(), 4 + slots - 4);
}

TEST_F(OwnRing, AReturnThatAsksMakesOneDue) {
  set_return(0, true);
  top_.return_valid_i = 0;
  clock();
  EXPECT_EQ(top_.due_o, 0u);
  set_return(0, false);
  clock();
  EXPECT_EQ(top_.due_o, 0u);
  set_return(0, true);
  clock();
  EXPECT_EQ(top_.due_o, 1u);
}

// Its number would be taken for one of the numbers after them.
TEST_F(OwnRing, AReturnDoesNotCountInTheClockOfACutOrAJoin) {
  slots_to(3);
  top_.cut_i = 1;
  set_return(2);
  clock();
  top_.up_i = 0;
  clock();
  EXPECT_EQ(top_.done_o, 0u);
  EXPECT_EQ(top_.received_o, 0u);
  EXPECT_EQ(top_.expected_o, 1u);
  top_.up_i = 1;
  set_join(7, 7);
  set_return(9);
  clock();
  clock();
  EXPECT_EQ(top_.defect_o, 0u);
  EXPECT_EQ(top_.done_o, 7u);
  EXPECT_EQ(top_.received_o, 0u);
}

TEST_F(OwnRing, OnlyWhatIsCommittedIsTaken) {
  slots_to(4);
  confirm(3);
  leave();
  take(4);
  EXPECT_TRUE(refused);
  EXPECT_EQ(top_.taken_o, 0u);
  EXPECT_EQ(top_.due_o, 0u);
  take(2);
  EXPECT_FALSE(refused);
  EXPECT_EQ(top_.taken_o, 2u);
  EXPECT_EQ(top_.due_o, 1u);
  EXPECT_EQ(credit(), 3 + slots - 1);
  take(1);
  EXPECT_TRUE(refused);
  EXPECT_EQ(top_.taken_o, 2u);
  top_.take_index_i = 4;
  clock();
  EXPECT_FALSE(refused);
  leave();
  top_.take_next_i = 1;
  clock();
  EXPECT_EQ(top_.taken_o, 3u);
  EXPECT_EQ(top_.due_o, 1u);
  clock();
  EXPECT_EQ(top_.taken_o, 3u);
}

TEST_F(OwnRing, ACutDiscardsWhatIsNotCommitted) {
  slots_to(4);
  confirm(2);
  damage();
  top_.cut_i = 1;
  clock();
  top_.up_i = 0;
  EXPECT_EQ(top_.due_o, 0u);
  EXPECT_EQ(top_.urgent_o, 0u);
  EXPECT_EQ(top_.busy_o, 1u);
  clock();
  EXPECT_EQ(top_.busy_o, 0u);
  EXPECT_EQ(top_.expected_o, 3u);
  EXPECT_EQ(top_.row_o, 2u);
  EXPECT_EQ(top_.done_o, 2u);
  EXPECT_EQ(top_.received_o, 2u);
}

TEST_F(OwnRing, ItIsBusyWhileSomethingFollows) {
  slots_to(2);
  EXPECT_EQ(top_.busy_o, 0u);
  set_return(1);
  clock();
  EXPECT_EQ(top_.busy_o, 1u);
  clock();
  EXPECT_EQ(top_.busy_o, 0u);
  restart(9, 1);
  EXPECT_EQ(top_.busy_o, 1u);  // The link notices the defect at the next edge.
  clock();
  EXPECT_EQ(top_.busy_o, 0u);
}

// The journal that an end has of its other side's slots stays if that one has slots in doubt which
// it covers, or if it is not there.
TEST_F(OwnRing, AJoinKeepsTheJournalThatCoversADoubt) {
  join(0, 0);
  EXPECT_EQ(top_.known_o, 1u);
  EXPECT_EQ(top_.first_o, 1u);
  EXPECT_EQ(top_.due_o, 1u);
  slots_to(4);
  confirm(3);
  cut();
  join(2, 4);  // 3 and 4 are in doubt
  EXPECT_EQ(top_.first_o, 1u);
  EXPECT_EQ(top_.done_o, 3u);
  EXPECT_EQ(top_.expected_o, 4u);
  top_.up_i = 1;
  slot(4);
  EXPECT_TRUE(held);
  cut();
  join(0, 4);  // from the first one on
  EXPECT_EQ(top_.done_o, 3u);
  join(3, 3);  // nothing is in doubt
  EXPECT_EQ(top_.first_o, 4u);
  EXPECT_EQ(top_.done_o, 3u);
  join(3, 5);
  EXPECT_EQ(top_.first_o, 4u);
  EXPECT_EQ(top_.done_o, 3u);
  join(2, 5);  // The journal began after slot 3.
  EXPECT_EQ(top_.first_o, 6u);
  EXPECT_EQ(top_.done_o, 5u);
  EXPECT_EQ(top_.expected_o, 6u);
  EXPECT_EQ(top_.received_o, 3u);
  EXPECT_EQ(top_.row_o, 3u);
}

TEST_F(OwnRing, AJoinWithoutAJournalBeginsOne) {
  EXPECT_EQ(top_.known_o, 0u);
  join(2, 4);
  EXPECT_EQ(top_.known_o, 1u);
  EXPECT_EQ(top_.first_o, 5u);
  EXPECT_EQ(top_.done_o, 4u);
}

TEST_F(OwnRing, NumbersGoAround) {
  join(0xffff'fffd, 0xffff'fffd);
  EXPECT_EQ(top_.first_o, 0xffff'fffeu);
  EXPECT_EQ(top_.done_o, 0xffff'fffdu);
  for (std::uint32_t number = 0xffff'fffe; number != 3; ++number) {
    slot(number + 0x10000);
    ASSERT_FALSE(held) << "of other upper bits";
    restart(number - 1, generation() + 1);
    slot(number, generation());
    ASSERT_TRUE(held) << number;
  }
  EXPECT_EQ(top_.expected_o, 3u);
  EXPECT_EQ(answered(), 2u);
  confirm(0xffff);
  EXPECT_EQ(top_.done_o, 0xffff'ffffu);
  EXPECT_EQ(top_.received_o, 2u);
  EXPECT_EQ(commits, 2u);
  confirm(1);
  EXPECT_EQ(top_.done_o, 1u);
  EXPECT_EQ(top_.received_o, 4u);
  confirm(0xffff);  // one from before
  EXPECT_EQ(top_.done_o, 1u);
  restart(0xffff'ffff, generation() + 1);  // which takes back what is committed
  EXPECT_EQ(top_.defect_o, 1u);
  cut();
  join(0xffff'ffff, 2);  // The journal covers 0, 1 and 2.
  EXPECT_EQ(top_.first_o, 0xffff'fffeu);
  EXPECT_EQ(top_.done_o, 1u);
  EXPECT_EQ(top_.expected_o, 2u);
  join(0xffff'fffc, 2);  // It began after the first of them.
  EXPECT_EQ(top_.first_o, 3u);
  EXPECT_EQ(top_.done_o, 2u);
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
  EXPECT_EQ(top_.jammed_o, 0u);
}

TEST_F(OwnRing, TheRelaysPinsMeanNothing) {
  join(0, 0);
  top_.hold_i = 7;
  for (unsigned i = 0; i < 4; ++i) top_.relay_i[i] = 3 + i;
  clock();
  slot(1);
  EXPECT_TRUE(held);
  top_.hold_i = 3;
  slot(2);
  EXPECT_TRUE(held);
  slots_to(4);
  confirm(2);
  EXPECT_EQ(top_.done_o, 2u);
  EXPECT_EQ(top_.received_o, 2u);
  EXPECT_EQ(top_.taken_o, 0u);
  EXPECT_EQ(done(), 2u);
  EXPECT_EQ(answered(), 4u);
  EXPECT_EQ(top_.known_o, 1u);
  leave();
  clock();
  EXPECT_EQ(top_.due_o, 0u);
  EXPECT_EQ(top_.busy_o, 0u);
  slot(9);
  EXPECT_TRUE(jams);
  EXPECT_EQ(top_.defect_o, 0u);
}

}  // namespace
}  // namespace window
