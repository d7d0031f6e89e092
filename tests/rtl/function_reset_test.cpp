// SPDX-License-Identifier: Apache-2.0
// A reset of the function, or the loss of its link: the journal survives it.
#include <gtest/gtest.h>

#include "tests/rtl/block_fixture.h"

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
  fixture.write_slot(port, slot(1, 21));
  EXPECT_EQ(fixture.stream(port), slot(1, 10));
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
  EXPECT_EQ(fixture.stream(port), slot(1, 101)) << "who is in doubt gets the retained answer";
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
    EXPECT_EQ(counter(OAE_HOST_PORT_CELL_AT(number)), 0u) << number;
    EXPECT_EQ(counter(OAE_HOST_PORT_EVENT_AT(number)), 0u) << number;
    EXPECT_EQ(counter(OAE_HOST_PORT_TENTATIVE_LIMIT_AT(number)), 0xffff'ffffu) << number;
    EXPECT_EQ(counter(OAE_HOST_PORT_CONTROL_AT(number)), 1u) << number;
    fixture.publish(number, slot(1, 10));
  }
  EXPECT_EQ(counter(OAE_HOST_LIVENESS_LIMIT), 0xffff'ffffu);
  EXPECT_TRUE(fixture.signals.empty()) << "nobody waits any more";
}

// Requests before it are done before it, and those behind it afterwards.
TEST_F(Block, AResetKeepsItsPlaceAmongRequests) {
  open();
  for (unsigned n = 1; n < 40; ++n) {
    fixture.publish(port, slot(n, 100 + n));
    const Slot offer = slot(n, 200 + n);
    const std::uint64_t confirmation = offer[0];
    fixture.post_write(pages, port * OAE_PORT_SIZE, offer.data(), 64);
    if (n % 2) fixture.post_reset();
    fixture.post_write(pages, port * OAE_PORT_SIZE, offer.data(), 64);
    fixture.post_read(pages, port * OAE_PORT_SIZE, 64);
    if (n % 3) fixture.post_reset();
    fixture.post_write(pages, port * OAE_PORT_SIZE + OAE_PORT_CONFIRM, &confirmation, 8);
    fixture.stall = n;
    fixture.drain();
    EXPECT_EQ(fixture.line, slot(n, 100 + n)) << n;
    EXPECT_EQ(committed(), offer);
    take();
  }
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
