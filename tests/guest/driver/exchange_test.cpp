// SPDX-License-Identifier: Apache-2.0
// Swaps of a host with a block, and what they take.
#include "tests/guest/driver/exchange.h"

namespace guest_test {
namespace {

const std::vector<unsigned> eight_stores_one_read_confirm = {0x00, 0x08, 0x10, 0x18, 0x20,
                                                             0x28, 0x30, 0x38, 0x40, 0x48};

TEST_F(Exchange, EightStoresOneReadOneConfirmation) {
  EXPECT_EQ(swap(5), OAE_COMMITTED);
  EXPECT_EQ(accesses(), eight_stores_one_read_confirm);
  EXPECT_EQ(answer.reads, 0u);
  EXPECT_EQ(status(), unsigned{OAE_STATUS_OK});
  EXPECT_EQ(block.committed, (Pairs{{5, 1001}}));
  EXPECT_EQ(host, block.committed);
}

TEST_F(Exchange, AnswerIsTheFirmwaresSlot) {
  swap(5);
  EXPECT_EQ(answer.slot[1], 1001u);
  EXPECT_EQ(answer.slot[2], 1u);
  EXPECT_EQ(OAE_GET(answer.slot[0], OAE_SLOT_HEADER_EPOCH), block.epoch);
  EXPECT_EQ(OAE_GET(answer.slot[0], OAE_SLOT_HEADER_SEQUENCE), 1u);
}

TEST_F(Exchange, TimesAreTakenAroundStoresAndRead) {
  swap(5);
  // The clock ticks only when it is read: four times, in this order.
  EXPECT_EQ(answer.issued, answer.stored + 1);
  EXPECT_EQ(answer.answered, answer.stored + 2);
  EXPECT_EQ(answer.committed, answer.stored + 3);
}

TEST_F(Exchange, MoreLeavesTheConfirmationToTheNextOffer) {
  EXPECT_EQ(swap(1, OAE_FLAG_MORE), OAE_COMMITTED);
  EXPECT_EQ(accesses().size(), 9u);
  EXPECT_TRUE(block.committed.empty());
  EXPECT_EQ(swap(2), OAE_COMMITTED);
  EXPECT_EQ(block.committed, host);
  EXPECT_EQ(host.size(), 2u);
}

TEST_F(Exchange, CloseConfirmsWhatMoreHasLeft) {
  swap(1, OAE_FLAG_MORE);
  oae_exchange_confirm(&exchange);
  EXPECT_EQ(block.committed, host);
}

TEST_F(Exchange, NothingToConfirmBeforeTheFirstSwap) {
  oae_exchange_confirm(&exchange);
  EXPECT_TRUE(accesses().empty());
}

TEST_F(Exchange, NotReadyChangesNothingAndReportsTheAge) {
  block.firmware_offers = false;
  EXPECT_EQ(swap(1), OAE_NOT_TAKEN);
  EXPECT_EQ(status(), unsigned{OAE_STATUS_NOT_READY});
  EXPECT_EQ(answer.slot[1], 77u);
  EXPECT_EQ(answer.reads, 0u);
  EXPECT_FALSE(exchange.doubt);
  block.firmware_offers = true;
  EXPECT_EQ(swap(2), OAE_COMMITTED);
  EXPECT_EQ(block.committed, (Pairs{{2, 1001}}));
}

TEST_F(Exchange, NotReadyConfirmsTheSwapBeforeAgain) {
  block.fault = [](unsigned n) { return n == 9 ? Fault::LOST : Fault::NONE; };
  EXPECT_EQ(swap(1), OAE_COMMITTED);
  EXPECT_TRUE(block.committed.empty()) << "the confirmation was to be lost";
  EXPECT_EQ(swap(2), OAE_NOT_TAKEN) << "no room beside an unconfirmed swap";
  EXPECT_EQ(block.committed, host);
  EXPECT_EQ(swap(3), OAE_COMMITTED);
}

TEST_F(Exchange, WithoutBusMasterNothingTakesPlace) {
  block.bus_master = false;
  EXPECT_EQ(swap(1), OAE_NOT_TAKEN);
  EXPECT_EQ(answer.slot[1], 0u) << "nothing was pushed";
  block.bus_master = true;
  EXPECT_EQ(swap(2), OAE_COMMITTED);
  EXPECT_EQ(block.committed, host);
}

TEST_F(Exchange, ARefusedPushProvesNothingOfAnEarlierRead) {
  // The swap takes place and its answer is lost. Then the function may no longer write.
  block.fault = [](unsigned n) { return n == 8 ? Fault::COMPLETION_LOST : Fault::NONE; };
  EXPECT_EQ(swap(1, 0, 0), OAE_IN_DOUBT);
  block.bus_master = false;
  EXPECT_EQ(settle(1), OAE_IN_DOUBT);
  block.bus_master = true;
  EXPECT_EQ(settle(1), OAE_COMMITTED);
  EXPECT_EQ(block.committed, host);
}

TEST_F(Exchange, SequenceGoesRoundPastZero) {
  block.sequence = 0xfffffffe;
  begin();
  EXPECT_EQ(swap(1), OAE_COMMITTED);
  EXPECT_EQ(exchange.sequence, 0xffffffffu);
  EXPECT_EQ(swap(2), OAE_COMMITTED);
  EXPECT_EQ(exchange.sequence, 1u);
  EXPECT_EQ(swap(3), OAE_COMMITTED);
  EXPECT_EQ(block.committed, host);
}

}  // namespace
}  // namespace guest_test
