// SPDX-License-Identifier: Apache-2.0
// A reset of the function, or the loss of its link, does not change the journal.
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "tests/rtl/block/block_fixture.h"

namespace {

TEST_F(Block, AResetDiscardsOffersThatWereNotExchanged) {
  open();
  fixture.publish(port, slot(1, 10));
  fixture.write_slot(port, slot(1, 20));
  fixture.function_reset();
  EXPECT_EQ(Header::of(fixture.stream(port)[0]).status, OAE_STATUS_NOT_READY);
  EXPECT_EQ(tentative(), Slot{});
  EXPECT_TRUE(status() & OAE_FIRMWARE_STATUS_OFFERED_MASK) << "the firmware's stands";
  EXPECT_TRUE(status() & OAE_FIRMWARE_STATUS_OPEN_MASK);
  fixture.write_slot(port, again(slot(1, 21)));
  EXPECT_EQ(fixture.stream(port), slot(1, 10));
}

// The host learns that nothing took place. No copy of the discarded offer may therefore take place
// later, whatever happens in between.
TEST_F(Block, NoCopyOfAnOfferThatAResetDiscardedTakesPlace) {
  open();
  swap(1);
  fixture.confirm(port, 1, 1);
  take();
  enum Step { reset, read, half_an_offer };
  std::vector<Step> order{reset, read, read, half_an_offer};
  std::uint32_t sequence = 2;
  do {
    SCOPED_TRACE(sequence);
    fixture.publish(port, slot(sequence, 10 + sequence));
    const Slot offer = slot(sequence, 20);
    fixture.write_slot(port, offer);
    fixture.function_reset();
    for (const Step step : order) {
      if (step == reset) fixture.function_reset();
      if (step == read) {
        EXPECT_NE(fixture.stream(port), slot(sequence, 10 + sequence));
      }
      if (step == half_an_offer) {
        fixture.post_write(pages, port * OAE_PORT_SIZE, again(offer).data(), 32);
        fixture.drain();
      }
    }
    fixture.write_slot(port, offer);  // a late copy
    EXPECT_NE(fixture.stream(port), slot(sequence, 10 + sequence)) << "the copy took place";
    EXPECT_EQ(tentative(), Slot{});
    fixture.write_slot(port, again(offer));
    EXPECT_EQ(fixture.stream(port), slot(sequence, 10 + sequence)) << "the next attempt";
    fixture.confirm(port, 1, sequence);
    take();
    ++sequence;
  } while (std::next_permutation(order.begin(), order.end()));
}

// A denial names the first attempt that the block accepts. A host can thus distinguish a denial of
// its last offer from one of an earlier offer.
TEST_F(Block, ADenialNamesTheFirstAttemptThatIsStillTaken) {
  open();
  const auto denial = [&] { return Header::of(fixture.stream(port)[0]); };
  EXPECT_EQ(denial().attempt, 0) << "no offer has come";
  Slot offer = slot(1, 20);
  Slot damaged = offer;
  damaged[3] ^= 1;
  fixture.write_slot(port, damaged);
  EXPECT_EQ(denial().attempt, 0) << "nothing is known of a damaged one";
  fixture.write_slot(port, offer);
  EXPECT_EQ(denial().attempt, 1);
  EXPECT_EQ(denial().attempt, 1) << "the same denial again";
  fixture.write_slot(port, again(again(offer)));
  fixture.write(registers, OAE_HOST_PORT_ANSWER_ADDRESS_AT(port), 0);
  EXPECT_EQ(Header::of(fixture.answer(port)).attempt, 3) << "it could not be pushed";
  Header unknown = Header::of(again(again(again(offer)))[0]);
  unknown.verb = 77;
  fixture.write_slot(port, make_slot(unknown, 1));
  EXPECT_EQ(denial().attempt, 4) << "a verb that the block does not know";
  fixture.write_slot(port, make_slot(unknown, 1));
  EXPECT_EQ(denial().attempt, 4) << "a copy of it";
  fixture.write_slot(port, again(again(offer)));
  EXPECT_EQ(denial().attempt, 4) << "an older attempt changes nothing";
}

TEST_F(Block, AnOpenWithoutHistoryFollowsTheEpochThatTheHostRemembers) {
  fixture.write(registers, OAE_HOST_PORT_CONTROL_AT(port),
                OAE_PUT(OAE_HOST_PORT_CONTROL_EPOCH, 9) | OAE_HOST_PORT_CONTROL_OPEN_MASK);
  fixture.publish(port, slot(1, 10, 0, 10));
  fixture.write_slot(port, slot(1, 20, 0, 10));
  EXPECT_EQ(fixture.stream(port), slot(1, 10, 0, 10));
  EXPECT_EQ(counter(OAE_HOST_PORT_CONTROL_AT(port)), OAE_HOST_PORT_CONTROL_OPEN_MASK);
  close();
  fixture.write(registers, OAE_HOST_PORT_CONTROL_AT(port),
                OAE_PUT(OAE_HOST_PORT_CONTROL_EPOCH, 77) | OAE_HOST_PORT_CONTROL_OPEN_MASK);
  EXPECT_EQ(OAE_GET(counter(OAE_HOST_PORT_STATE_AT(port)), OAE_HOST_PORT_STATE_EPOCH), 11u)
      << "the block's own history counts";
}

TEST_F(Block, AResetDiscardsPartsOfAnOffer) {
  open();
  const Slot offer = slot(1, 20);
  fixture.publish(port, slot(1, 10));
  fixture.post_write(pages, port * OAE_PORT_SIZE, offer.data(), 32);
  fixture.post_reset();
  fixture.post_write(pages, port * OAE_PORT_SIZE + 32, &offer[4], 32);
  EXPECT_EQ(Header::of(fixture.stream(port)[0]).status, OAE_STATUS_NOT_READY);
}

TEST_F(Block, TheJournalSurvivesAReset) {
  open();
  swap(1);
  fixture.function_reset();
  EXPECT_EQ(state(), OAE_PORT_STATE_TENTATIVE);
  EXPECT_EQ(fixture.stream(port), slot(1, 101)) << "a host in doubt gets the retained answer";
  EXPECT_EQ(tentative(), slot(1, 201));
  fixture.confirm(port, 1, 1);
  EXPECT_EQ(committed(), slot(1, 201));
  EXPECT_EQ(counter(OAE_HOST_PORT_COMMITTED_AT(port)), 1u);
}

TEST_F(Block, AResetTakesTheSettingsOfAllPorts) {
  for (const unsigned number : {0u, 3u, 7u}) {
    open(number);
    fixture.write(
        registers, OAE_HOST_PORT_EVENT_AT(number),
        OAE_HOST_PORT_EVENT_OFFER_ARMED_MASK | OAE_HOST_PORT_EVENT_CONFIRM_ENABLE_MASK | 9);
    fixture.write(registers, OAE_HOST_PORT_TENTATIVE_LIMIT_AT(number), 77);
  }
  fixture.write(registers, OAE_HOST_LIVENESS_LIMIT, 5);
  fixture.function_reset();
  for (const unsigned number : {0u, 3u, 7u}) {
    EXPECT_EQ(counter(OAE_HOST_PORT_ANSWER_ADDRESS_AT(number)), 0u) << number;
    EXPECT_EQ(counter(OAE_HOST_PORT_EVENT_AT(number)), 0u) << number;
    EXPECT_EQ(counter(OAE_HOST_PORT_TENTATIVE_LIMIT_AT(number)), 0xffff'ffffu) << number;
    EXPECT_EQ(counter(OAE_HOST_PORT_CONTROL_AT(number)), 1u) << number;
    fixture.publish(number, slot(1, 10));
  }
  EXPECT_EQ(counter(OAE_HOST_LIVENESS_LIMIT), 0xffff'ffffu);
  EXPECT_TRUE(fixture.signals.empty()) << "nobody waits any more";
}

// The reset keeps its place among the requests.
TEST_F(Block, AResetKeepsItsPlaceAmongRequests) {
  open();
  for (unsigned n = 1; n < 40; ++n) {
    fixture.publish(port, slot(n, 100 + n));
    Slot offer = slot(n, 200 + n);
    const std::uint64_t confirms = confirmation(offer[0]);
    fixture.post_write(pages, port * OAE_PORT_SIZE, offer.data(), 64);
    if (n % 2) fixture.post_reset();
    if (n % 2) offer = again(offer);
    fixture.post_write(pages, port * OAE_PORT_SIZE, offer.data(), 64);
    fixture.post_read(pages, port * OAE_PORT_SIZE, 64);
    if (n % 3) fixture.post_reset();
    fixture.post_write(pages, port * OAE_PORT_SIZE + OAE_PORT_CONFIRM, &confirms, 8);
    fixture.stall = n;
    fixture.drain();
    EXPECT_EQ(fixture.line, slot(n, 100 + n)) << n;
    EXPECT_EQ(committed(), offer);
    take();
  }
}

TEST_F(Block, PowerUpClearsEverySlot) {
  open();
  for (const std::uint32_t sequence : {1u, 2u}) {
    swap(sequence);
    fixture.confirm(port, 1, sequence);
  }
  fixture.lose_power();
  EXPECT_EQ(slots(OAE_FIRMWARE_OFFER_AT(port)), Slot{});
  open();
  swap(1);
  EXPECT_EQ(slots(OAE_FIRMWARE_OFFER_AT(port)), Slot{}) << "of the other bank";
}

TEST_F(Block, PowerUpKnowsNothingOfWhatWasBefore) {
  EXPECT_EQ(state(), OAE_PORT_STATE_HISTORY_LOST);
  const Header header = Header::of(fixture.stream(port)[0]);
  EXPECT_EQ(header.status, OAE_STATUS_HISTORY_LOST);
  EXPECT_EQ(header.sequence, 0u);
  EXPECT_EQ(counter(OAE_HOST_PORT_NOT_READY_AT(port)), 0u);
  open();
  EXPECT_EQ(state(), OAE_PORT_STATE_IDLE);
  EXPECT_EQ(Header::of(fixture.stream(port)[0]).status, OAE_STATUS_NOT_READY);
}

}  // namespace
