// SPDX-License-Identifier: Apache-2.0
// Every step of a swap whose answer is pushed. The fixture also compares each result with the
// reference block.
#include <gtest/gtest.h>

#include "tests/rtl/block/block_fixture.h"

namespace {

TEST_F(Block, SwapsOnce) {
  EXPECT_EQ(state(), OAE_PORT_STATE_HISTORY_LOST) << "of what was before power-up";
  open();
  EXPECT_EQ(state(), OAE_PORT_STATE_IDLE);
  EXPECT_EQ(event(), OAE_FIRMWARE_EVENT_OPENED_MASK);
  fixture.put(OAE_FIRMWARE_EVENT_AT(port), all);

  fixture.publish(port, slot(1, 10));
  EXPECT_TRUE(status() & OAE_FIRMWARE_STATUS_OFFERED_MASK);
  EXPECT_EQ(OAE_GET(status(), OAE_FIRMWARE_STATUS_NEXT_SEQUENCE), 1u);
  fixture.write_slot(port, slot(1, 20));
  EXPECT_EQ(state(), OAE_PORT_STATE_IDLE) << "writing is not swapping";

  EXPECT_EQ(fixture.answer(port), slot(1, 10)[0]);
  EXPECT_EQ(fixture.pushed_slot, slot(1, 10));
  EXPECT_EQ(fixture.pushed_address, buffer);
  EXPECT_EQ(fixture.latency, 5u);
  EXPECT_EQ(state(), OAE_PORT_STATE_TENTATIVE);
  EXPECT_EQ(event(), OAE_FIRMWARE_EVENT_EXCHANGED_MASK);
  EXPECT_EQ(tentative(), slot(1, 20));
  EXPECT_EQ(committed(), Slot{});
  EXPECT_FALSE(status() & OAE_FIRMWARE_STATUS_OFFERED_MASK);
  EXPECT_EQ(OAE_GET(status(), OAE_FIRMWARE_STATUS_NEXT_SEQUENCE), 2u);

  fixture.confirm(port, 1, 1);
  EXPECT_EQ(state(), OAE_PORT_STATE_COMMITTED);
  EXPECT_EQ(event(), OAE_FIRMWARE_EVENT_EXCHANGED_MASK | OAE_FIRMWARE_EVENT_COMMITTED_MASK);
  EXPECT_EQ(committed(), slot(1, 20));
  EXPECT_EQ(tentative(), Slot{});
  EXPECT_EQ(counter(OAE_HOST_PORT_COMMITTED_AT(port)), 1u);
  take();
  EXPECT_EQ(committed(), Slot{});
}

TEST_F(Block, RepeatingTheReadChangesNothing) {
  open();
  swap(1);
  const Slot answer = fixture.pushed_slot;
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(fixture.answer(port), answer[0]);
    EXPECT_EQ(fixture.pushed_slot, answer);
  }
  fixture.publish(port, slot(2, 11));
  fixture.write_slot(port, slot(1, 20));
  EXPECT_EQ(fixture.answer(port), answer[0]) << "an offer of the same swap is none";
  fixture.confirm(port, 1, 1);
  EXPECT_EQ(fixture.answer(port), answer[0]) << "also when committed";
  close();
  EXPECT_EQ(fixture.answer(port), answer[0]) << "also when closed";
  EXPECT_EQ(counter(OAE_HOST_PORT_COMMITTED_AT(port)), 1u);
  EXPECT_EQ(counter(OAE_HOST_PORT_REJECTED_AT(port)), 0u);
  EXPECT_EQ(counter(OAE_HOST_PORT_NOT_READY_AT(port)), 0u);
}

TEST_F(Block, DamagedRepetitionDoesNotDenyTheSwap) {
  open();
  swap(1);
  fixture.publish(port, slot(2, 12));
  std::uint64_t rejected = 0;
  for (unsigned bit = 0; bit < 512; ++bit) {
    Slot damaged = slot(1, 20);
    damaged[bit / 64] ^= std::uint64_t{1} << bit % 64;
    fixture.write_slot(port, damaged);
    EXPECT_EQ(fixture.answer(port), slot(1, 101)[0]) << "it did take place; bit " << bit;
    EXPECT_EQ(counter(OAE_HOST_PORT_REJECTED_AT(port)), ++rejected);
  }
  Slot damaged = slot(3, 20);  // it could be a repetition of the first
  fixture.write_slot(port, damaged);
  EXPECT_EQ(fixture.answer(port), slot(1, 101)[0]);
  EXPECT_EQ(state(), OAE_PORT_STATE_TENTATIVE);
}

TEST_F(Block, NotReadyWithoutTheOtherSide) {
  open();
  fixture.put(OAE_FIRMWARE_LIVENESS, 1);
  fixture.sleep(1000);
  fixture.write_slot(port, slot(1, 20));
  const Header answer = Header::of(fixture.answer(port));
  EXPECT_EQ(answer.status, OAE_STATUS_NOT_READY);
  EXPECT_EQ(answer.sequence, 1u);
  EXPECT_EQ(answer.verb, OAE_VERB_SWAP);
  EXPECT_EQ(Header::of(fixture.pushed_slot[0]).word(), answer.word());
  EXPECT_GE(fixture.pushed_slot[1], 1000u);
  EXPECT_TRUE(sealed(fixture.pushed_slot));
  EXPECT_EQ(fixture.latency, 7u);
  EXPECT_EQ(counter(OAE_HOST_PORT_NOT_READY_AT(port)), 1u);
}

TEST_F(Block, NotReadyIsRetainedUntilTheOfferIsMadeAnew) {
  for (const bool streamed : {false, true}) {
    SCOPED_TRACE(streamed ? "streamed" : "pushed");
    open();
    const std::uint8_t epoch = OAE_GET(status(), OAE_FIRMWARE_STATUS_EPOCH);
    fixture.write_slot(port, slot(1, 20, 0, epoch));
    const auto ask = [&] {
      if (streamed) return fixture.stream(port);
      fixture.answer(port);
      return fixture.pushed_slot;
    };
    const Slot refusal = ask();
    EXPECT_EQ(Header::of(refusal[0]).status, OAE_STATUS_NOT_READY);
    fixture.publish(port, slot(1, 10, 0, epoch));
    fixture.sleep(1000);
    fixture.put(OAE_FIRMWARE_LIVENESS, 1);
    // The host has learned that the swap does not take place. No later read may make it take place.
    EXPECT_EQ(fixture.stream(port), refusal) << "the age is that of the answer";
    fixture.answer(port);
    EXPECT_EQ(fixture.pushed_slot, refusal);
    EXPECT_EQ(state(), OAE_PORT_STATE_IDLE);
    EXPECT_EQ(counter(OAE_HOST_PORT_NOT_READY_AT(port)), 1u + streamed) << "it is one answer";
    const Slot next = again(slot(1, 21, 0, epoch));
    fixture.write_slot(port, next);
    EXPECT_EQ(ask(), slot(1, 10, 0, epoch));
    EXPECT_EQ(tentative(), next);
    fixture.confirm(port, epoch, 1);
    take();
    close();
  }
}

TEST_F(Block, NotReadyWithoutAHostOffer) {
  open();
  fixture.publish(port, slot(1, 10));
  const Header answer = Header::of(fixture.answer(port));
  EXPECT_EQ(answer.status, OAE_STATUS_NOT_READY);
  EXPECT_EQ(answer.sequence, 0u);
  EXPECT_EQ(answer.verb, OAE_VERB_NONE);
  EXPECT_EQ(answer.epoch, 1);
  EXPECT_TRUE(status() & OAE_FIRMWARE_STATUS_OFFERED_MASK) << "it stays";
}

TEST_F(Block, NotReadyWithoutRoom) {
  open();
  swap(1);
  fixture.publish(port, slot(2, 12));
  fixture.write_slot(port, slot(2, 22));
  EXPECT_EQ(Header::of(fixture.answer(port)).status, OAE_STATUS_NOT_READY) << "one is tentative";
  fixture.confirm(port, 1, 1);
  fixture.write_slot(port, again(slot(2, 22)));
  EXPECT_EQ(fixture.answer(port), slot(2, 12)[0]) << "committed one, tentative one";
  fixture.confirm(port, 1, 2);
  EXPECT_EQ(committed(), slot(1, 201)) << "not yet taken";
  EXPECT_EQ(tentative(), again(slot(2, 22))) << "confirmed, and waits";
  EXPECT_EQ(counter(OAE_HOST_PORT_COMMITTED_AT(port)), 2u);
  fixture.publish(port, slot(3, 13));
  fixture.write_slot(port, slot(3, 23));
  EXPECT_EQ(Header::of(fixture.answer(port)).status, OAE_STATUS_NOT_READY);
  fixture.put(OAE_FIRMWARE_EVENT_AT(port), all);
  take();
  EXPECT_EQ(event(), OAE_FIRMWARE_EVENT_COMMITTED_MASK) << "the next has moved up";
  EXPECT_EQ(committed(), again(slot(2, 22)));
  fixture.write_slot(port, again(slot(3, 23)));
  EXPECT_EQ(fixture.answer(port), slot(3, 13)[0]);
}

TEST_F(Block, OffersArriveInAnyOrderAndSize) {
  open();
  const char* bytes;
  for (const unsigned size : {1u, 2u, 4u, 8u, 16u, 32u, 64u}) {
    const std::uint32_t sequence = fixture.reference.ports[port].next();
    const Slot offer = slot(sequence, 20 + size);
    bytes = reinterpret_cast<const char*>(offer.data());
    fixture.publish(port, slot(sequence, 10 + size));
    for (unsigned at = 64; at > 0; at -= size) {
      fixture.post_write(pages, port * OAE_PORT_SIZE + at - size, bytes + at - size, size);
      if (at == 64) {  // a repetition does no harm
        fixture.post_write(pages, port * OAE_PORT_SIZE + at - size, bytes + at - size, size);
      }
    }
    fixture.drain();
    EXPECT_EQ(OAE_GET(fixture.answer(port), OAE_SLOT_HEADER_SEQUENCE), sequence) << size;
    EXPECT_EQ(tentative(), offer);
    fixture.confirm(port, 1, sequence);
    take();
  }
}

TEST_F(Block, ARepeatedPartOfAGoodOfferLeavesItGood) {
  open();
  fixture.publish(port, slot(1, 10));
  const Slot offer = slot(1, 20);
  fixture.write_slot(port, offer);
  const Slot pins{7, 7, 7, 7, 7, 7, 7, 7};
  fixture.write_slot(0, pins);  // of a closed port, so that the other bytes differ
  fixture.write(pages, port * OAE_PORT_SIZE + 24, offer[3]);
  EXPECT_EQ(fixture.answer(port), slot(1, 10)[0]);
  EXPECT_EQ(tentative(), offer);
}

TEST_F(Block, AnOfferBegunAnewIsANewOne) {
  open();
  fixture.publish(port, slot(1, 10));
  fixture.write_slot(port, slot(1, 20));
  const Slot other = slot(1, 21);
  fixture.write(pages, port * OAE_PORT_SIZE + 8, other[1]);
  EXPECT_EQ(OAE_GET(fixture.answer(port), OAE_SLOT_HEADER_SEQUENCE), 0u)
      << "seven slices are missing";
  for (const unsigned i : {0u, 2u, 3u, 4u, 5u, 6u, 7u}) {
    fixture.write(pages, port * OAE_PORT_SIZE + 8 * i, other[i]);
  }
  EXPECT_EQ(OAE_GET(fixture.answer(port), OAE_SLOT_HEADER_SEQUENCE), 0u) << "and one was lost";
  for (unsigned i = 0; i < 8; ++i) fixture.write(pages, port * OAE_PORT_SIZE + 8 * i, other[i]);
  fixture.answer(port);
  EXPECT_EQ(tentative(), other);
}

// Leaves out each slice in turn. Slices that arrive after the read are lost, so that two offers
// never mix.
TEST_F(Block, AnOfferOfWhichASliceWasLostIsMadeGoodByTheNext) {
  open();
  for (unsigned lost = 0; lost < 8; ++lost) {
    for (const bool ready : {false, true}) {
      const std::uint32_t sequence = fixture.reference.ports[port].next();
      Slot offer = slot(sequence, 20 + lost);
      const auto write = [&](unsigned but) {
        for (unsigned i = 0; i < 8; ++i) {
          if (i != but) fixture.write(pages, port * OAE_PORT_SIZE + 8 * i, offer[i]);
        }
        offer = again(offer);
      };
      if (ready) fixture.publish(port, slot(sequence, 10 + lost));
      write(lost);
      EXPECT_NE(OAE_GET(fixture.answer(port), OAE_SLOT_HEADER_SEQUENCE), sequence) << "incomplete";
      write(8);
      if (!ready) {
        EXPECT_EQ(Header::of(fixture.answer(port)).status, OAE_STATUS_NOT_READY) << lost;
        fixture.publish(port, slot(sequence, 10 + lost));
        EXPECT_EQ(Header::of(fixture.answer(port)).status, OAE_STATUS_NOT_READY) << "and stays so";
        write(8);
      }
      EXPECT_EQ(fixture.answer(port), slot(sequence, 10 + lost)[0]) << lost;
      EXPECT_EQ(again(tentative()), offer);
      fixture.confirm(port, 1, sequence);
      take();
    }
  }
}

// A packet that arrives twice or late does not belong to the host's present attempt.
TEST_F(Block, AnOldAttemptIsNoNewOffer) {
  open();
  for (unsigned n = 1; n < 200; ++n) {
    Slot offer = slot(n, 1000 * n);
    Slot copy = offer;
    const unsigned tries = n % 70;
    for (unsigned i = 0; i < tries; ++i) {
      fixture.write_slot(port, offer);
      EXPECT_EQ(Header::of(fixture.answer(port)).status, OAE_STATUS_NOT_READY);
      if (i % 31 == 0) copy = offer;
      offer = again(offer);
    }
    fixture.publish(port, slot(n, 10));
    if (tries > 0) {
      const std::uint64_t rejected = counter(OAE_HOST_PORT_REJECTED_AT(port));
      fixture.write_slot(port, copy);
      EXPECT_NE(fixture.stream(port), slot(n, 10)) << tries << ": the swap was denied";
      EXPECT_EQ(counter(OAE_HOST_PORT_REJECTED_AT(port)), rejected + 1);
      fixture.write_slot(port, offer);
      fixture.write_slot(port, copy);
      EXPECT_NE(fixture.stream(port), slot(n, 10)) << tries << ": it is not what was offered last";
      offer = again(offer);
    }
    fixture.write_slot(port, offer);
    EXPECT_EQ(fixture.stream(port), slot(n, 10));
    EXPECT_EQ(tentative(), offer);
    fixture.confirm(port, 1, n);
    take();
  }
}

TEST_F(Block, AttemptsAreOrderedIfTheyDifferByLessThan32) {
  open();
  fixture.publish(port, slot(1, 10));
  Header header = Header::of(slot(1, 20)[0]);
  for (const unsigned bad : {0u, 1u, 31u, 40u}) {
    header.attempt = static_cast<std::uint8_t>(bad);
    header.verb = 77;
    fixture.write_slot(port, make_slot(header, 1));
    EXPECT_EQ(Header::of(fixture.stream(port)[0]).attempt, bad + 1);
  }
  header.verb = OAE_VERB_SWAP;
  for (const unsigned ignored : {40u, 9u}) {
    header.attempt = static_cast<std::uint8_t>(ignored);
    fixture.write_slot(port, make_slot(header, 1));
    EXPECT_EQ(Header::of(fixture.stream(port)[0]).sequence, 0u) << ignored;
  }
  header.attempt = 8;  // 31 after 41, modulo 64
  fixture.write_slot(port, make_slot(header, 1));
  EXPECT_EQ(fixture.stream(port), slot(1, 10));
}

TEST_F(Block, BadOffersAreCountedAndAnswered) {
  open();
  fixture.publish(port, slot(1, 10));
  Header header = Header::of(slot(1, 20)[0]);
  std::uint64_t rejected = 0;
  const auto offer = [&](const Slot& slot) {
    fixture.write_slot(port, slot);
    EXPECT_EQ(counter(OAE_HOST_PORT_REJECTED_AT(port)), ++rejected);
    return Header::of(fixture.answer(port));
  };
  Slot damaged = slot(1, 20);
  damaged[7] ^= 1;
  EXPECT_EQ(offer(damaged).status, OAE_STATUS_NOT_READY);
  EXPECT_EQ(offer(slot(2, 20)).sequence, 0u) << "not the next: no new offer";
  EXPECT_EQ(offer(slot(0, 20)).sequence, 0u);
  EXPECT_EQ(offer(slot(1, 20, 0, 2)).epoch, 1) << "the port's epoch, not the offer's";
  header.status = OAE_STATUS_BUSY;
  EXPECT_EQ(offer(make_slot(header, 1)).status, OAE_STATUS_NOT_READY);
  header.status = 0;
  const std::uint64_t not_ready = counter(OAE_HOST_PORT_NOT_READY_AT(port));
  EXPECT_EQ(not_ready, rejected);
  header.verb = OAE_VERB_CAS;
  const Header bad_verb = offer(make_slot(header, 1));
  EXPECT_EQ(bad_verb.status, OAE_STATUS_BAD_VERB);
  EXPECT_EQ(bad_verb.sequence, 1u);
  EXPECT_EQ(counter(OAE_HOST_PORT_NOT_READY_AT(port)), not_ready);
  EXPECT_EQ(state(), OAE_PORT_STATE_IDLE);
  fixture.write_slot(port, again(slot(1, 20)));
  EXPECT_EQ(fixture.answer(port), slot(1, 10)[0]) << "and a good one is good";
}

TEST_F(Block, OnlyTheRightConfirmationCommits) {
  open();
  fixture.confirm(port, 1, 0);
  swap(1);
  const unsigned page = port * OAE_PORT_SIZE;
  const std::uint64_t right = confirmation(slot(1, 0)[0]);
  fixture.confirm(port, 1, 2);
  fixture.confirm(port, 1, 0);
  fixture.confirm(port, 2, 1);
  fixture.confirm(port, 0, 1);
  fixture.write(pages, page + OAE_PORT_CONFIRM, right, 4);
  fixture.write(pages, page + OAE_PORT_CONFIRM + 4, right >> 32, 4);
  fixture.confirm(port + 1, 1, 1);
  EXPECT_EQ(state(), OAE_PORT_STATE_TENTATIVE);
  for (unsigned bit = 0; bit < 64; ++bit) {
    fixture.write(pages, page + OAE_PORT_CONFIRM, right ^ std::uint64_t{1} << bit);
    ASSERT_EQ(state(), OAE_PORT_STATE_TENTATIVE) << "bit " << bit << " is wrong";
  }
  fixture.write(pages, page + OAE_PORT_CONFIRM, reversal(slot(1, 0)[0]));
  EXPECT_EQ(state(), OAE_PORT_STATE_TENTATIVE) << "it is of the other register";
  fixture.write(pages, page + OAE_PORT_CONFIRM, right);
  EXPECT_EQ(state(), OAE_PORT_STATE_COMMITTED);
  fixture.confirm(port, 1, 1);
  EXPECT_EQ(counter(OAE_HOST_PORT_COMMITTED_AT(port)), 1u) << "once";
}

TEST_F(Block, TheNextOfferConfirmsWhereMoreWasSaid) {
  open();
  swap(1, OAE_FLAG_MORE);
  Slot damaged = slot(2, 22);
  damaged[2] ^= 1;
  fixture.write_slot(port, damaged);
  fixture.write_slot(port, slot(3, 22));
  fixture.write_slot(port, slot(1, 22));
  EXPECT_EQ(state(), OAE_PORT_STATE_TENTATIVE) << "no valid next offer yet";
  const Slot next = slot(2, 22);
  fixture.post_write(pages, port * OAE_PORT_SIZE, next.data(), 56);
  fixture.drain();
  EXPECT_EQ(state(), OAE_PORT_STATE_TENTATIVE) << "its last slice is missing";
  fixture.post_write(pages, port * OAE_PORT_SIZE + 56, &next[7], 8);
  fixture.drain();
  EXPECT_EQ(state(), OAE_PORT_STATE_COMMITTED);
  EXPECT_EQ(committed(), slot(1, 201, OAE_FLAG_MORE));
  EXPECT_EQ(Header::of(fixture.answer(port)).status, OAE_STATUS_NOT_READY);
  EXPECT_EQ(counter(OAE_HOST_PORT_COMMITTED_AT(port)), 1u) << "also when it is not ready itself";
}

TEST_F(Block, TheNextOfferAloneDoesNot) {
  open();
  swap(1, OAE_FLAG_EARLY);
  fixture.write_slot(port, slot(2, 22));
  EXPECT_EQ(state(), OAE_PORT_STATE_TENTATIVE);
}

// ---- Open and close ----

TEST_F(Block, CloseRollsForwardAndOpenBeginsAnEpoch) {
  open();
  swap(1);
  fixture.write(registers, OAE_HOST_PORT_CONTROL_AT(port), 1);
  EXPECT_EQ(state(), OAE_PORT_STATE_TENTATIVE) << "open already";
  fixture.publish(port, slot(2, 12));
  fixture.put(OAE_FIRMWARE_EVENT_AT(port), all);
  close();
  EXPECT_EQ(state(), OAE_PORT_STATE_CLOSED);
  EXPECT_EQ(counter(OAE_HOST_PORT_COMMITTED_AT(port)), 1u);
  EXPECT_EQ(committed(), slot(1, 201)) << "rolled forward";
  EXPECT_EQ(event(), OAE_FIRMWARE_EVENT_CLOSED_MASK | OAE_FIRMWARE_EVENT_COMMITTED_MASK);
  EXPECT_FALSE(status() & OAE_FIRMWARE_STATUS_OFFERED_MASK) << "the offer is discarded";
  EXPECT_FALSE(status() & OAE_FIRMWARE_STATUS_OPEN_MASK);
  open();
  EXPECT_EQ(state(), OAE_PORT_STATE_IDLE);
  EXPECT_EQ(committed(), slot(1, 201));
  EXPECT_EQ(event(), OAE_FIRMWARE_EVENT_CLOSED_MASK | OAE_FIRMWARE_EVENT_OPENED_MASK |
                         OAE_FIRMWARE_EVENT_COMMITTED_MASK);
  EXPECT_EQ(OAE_GET(status(), OAE_FIRMWARE_STATUS_EPOCH), 2u);
  EXPECT_EQ(OAE_GET(status(), OAE_FIRMWARE_STATUS_NEXT_SEQUENCE), 1u);
  EXPECT_EQ(OAE_GET(fixture.answer(port), OAE_SLOT_HEADER_SEQUENCE), 0u) << "nothing is retained";
  fixture.publish(port, slot(1, 13, 0, 2));
  fixture.write_slot(port, slot(1, 23, 0, 2));
  EXPECT_EQ(fixture.answer(port), slot(1, 13, 0, 2)[0]);
}

// A host that is still in doubt learns that its swap took place, and that it is too late to reverse
// it.
TEST_F(Block, AClosedPortRetainsItsLastAnswer) {
  open();
  swap(1);
  close();
  for (const bool reversed : {false, true}) {
    if (reversed) fixture.reverse(port, 1, 1);
    EXPECT_EQ(fixture.answer(port), slot(1, 101)[0]);
    EXPECT_EQ(fixture.pushed_slot, slot(1, 101));
    EXPECT_EQ(fixture.stream(port), slot(1, 101));
    EXPECT_EQ(state(), OAE_PORT_STATE_CLOSED);
  }
  EXPECT_EQ(committed(), slot(1, 201));
}

TEST_F(Block, ASecondCloseCommitsNothingMore) {
  open();
  swap(1);
  fixture.confirm(port, 1, 1);
  swap(2);
  close();
  close();
  EXPECT_EQ(counter(OAE_HOST_PORT_COMMITTED_AT(port)), 2u);
  EXPECT_EQ(committed(), slot(1, 201)) << "which the firmware has not taken";
  EXPECT_EQ(tentative(), slot(2, 202));
  take();
  EXPECT_EQ(committed(), slot(2, 202));
}

TEST_F(Block, ClosedPortTakesNoOffer) {
  fixture.publish(port, slot(1, 10, 0, 0));
  EXPECT_EQ(event(), OAE_FIRMWARE_EVENT_BAD_OFFER_MASK);
  fixture.write_slot(port, slot(1, 20, 0, 0));
  EXPECT_EQ(counter(OAE_HOST_PORT_REJECTED_AT(port)), 0u) << "it is not even looked at";
  open();
  fixture.write(pages, port * OAE_PORT_SIZE, 1);
  close();
  open();
  const Slot rest = slot(1, 20, 0, 2);
  fixture.post_write(pages, port * OAE_PORT_SIZE + 8, &rest[1], 56);
  fixture.drain();
  EXPECT_EQ(fixture.reference.ports[port].rejected_count, 0u);
  EXPECT_EQ(OAE_GET(fixture.answer(port), OAE_SLOT_HEADER_SEQUENCE), 0u) << "a slice was discarded";
}

TEST_F(Block, EpochGoesAround) {
  for (unsigned i = 1; i <= 257; ++i) {
    open();
    EXPECT_EQ(OAE_GET(status(), OAE_FIRMWARE_STATUS_EPOCH), i % 256);
    close();
  }
}

// ---- Commands of the firmware ----

TEST_F(Block, PublishChecksTheOffer) {
  open();
  fixture.put(OAE_FIRMWARE_EVENT_AT(port), all);
  const auto refused = [&](const Slot& slot) {
    fixture.publish(port, slot);
    const bool bad = event() == OAE_FIRMWARE_EVENT_BAD_OFFER_MASK &&
                     !(status() & OAE_FIRMWARE_STATUS_OFFERED_MASK);
    fixture.put(OAE_FIRMWARE_EVENT_AT(port), all);
    return bad;
  };
  Slot damaged = slot(1, 10);
  damaged[0] ^= 1ull << 24;
  EXPECT_TRUE(refused(damaged));
  EXPECT_TRUE(refused(slot(2, 10)));
  EXPECT_TRUE(refused(slot(0, 10)));
  EXPECT_TRUE(refused(slot(1, 10, 0, 0)));
  Header header = Header::of(slot(1, 10)[0]);
  header.status = OAE_STATUS_NOT_READY;
  EXPECT_TRUE(refused(make_slot(header, 1)));
  header.status = 0;
  header.verb = OAE_VERB_SEND;
  EXPECT_TRUE(refused(make_slot(header, 1)));
  EXPECT_FALSE(refused(slot(1, 10)));
}

TEST_F(Block, AStandingOfferIsNotWrittenOver) {
  open();
  fixture.publish(port, slot(1, 10));
  fixture.publish(port, slot(1, 11));
  EXPECT_FALSE(event() & OAE_FIRMWARE_EVENT_BAD_OFFER_MASK) << "ignored";
  EXPECT_EQ(slots(OAE_FIRMWARE_OFFER_AT(port)), slot(1, 10));
  fixture.put(OAE_FIRMWARE_COMMAND_AT(port), OAE_FIRMWARE_COMMAND_WITHDRAW_MASK, 0xfe);
  EXPECT_TRUE(status() & OAE_FIRMWARE_STATUS_OFFERED_MASK) << "its byte was not written";
  fixture.put(OAE_FIRMWARE_COMMAND_AT(port), OAE_FIRMWARE_COMMAND_WITHDRAW_MASK);
  EXPECT_FALSE(status() & OAE_FIRMWARE_STATUS_OFFERED_MASK);
  fixture.write_slot(port, slot(1, 20));
  EXPECT_EQ(Header::of(fixture.answer(port)).status, OAE_STATUS_NOT_READY);
  fixture.publish(port, slot(1, 11));
  fixture.put(OAE_FIRMWARE_COMMAND_AT(port),
              OAE_FIRMWARE_COMMAND_WITHDRAW_MASK | OAE_FIRMWARE_COMMAND_PUBLISH_MASK);
  fixture.write_slot(port, again(slot(1, 20)));
  EXPECT_EQ(fixture.answer(port), slot(1, 11)[0]) << "discarded and published in one step";
}

TEST_F(Block, RetainedAnswerIsNotWrittenOver) {
  open();
  swap(1);
  for (unsigned i = 0; i < 8; ++i) fixture.put(OAE_FIRMWARE_OFFER_AT(port) + 8 * i, all);
  EXPECT_EQ(fixture.answer(port), slot(1, 101)[0]);
  EXPECT_EQ(fixture.pushed_slot, slot(1, 101));
  for (unsigned i = 0; i < 8; ++i) fixture.write(pages, port * OAE_PORT_SIZE + 8 * i, all);
  EXPECT_EQ(tentative(), slot(1, 201));
}

// ---- The destination of the answer ----

TEST_F(Block, NothingTakesPlaceWithoutAnAnswerBuffer) {
  open();
  fixture.write(registers, OAE_HOST_PORT_ANSWER_ADDRESS_AT(port), 63);
  fixture.publish(port, slot(1, 10));
  fixture.write_slot(port, slot(1, 20));
  const Header answer = Header::of(fixture.answer(port));
  EXPECT_EQ(answer.status, OAE_STATUS_NOT_READY);
  EXPECT_EQ(answer.sequence, 0u);
  EXPECT_EQ(state(), OAE_PORT_STATE_IDLE);
  EXPECT_EQ(fixture.pushes, 0u);
}

TEST_F(Block, NothingTakesPlaceWithoutBusMaster) {
  open();
  fixture.publish(port, slot(1, 10));
  fixture.write_slot(port, slot(1, 20));
  const Header answer = Header::of(fixture.answer(port, true));
  EXPECT_EQ(answer.status, OAE_STATUS_NOT_READY);
  EXPECT_EQ(answer.sequence, 0u) << "it names no swap";
  EXPECT_EQ(state(), OAE_PORT_STATE_IDLE);
  EXPECT_EQ(counter(OAE_HOST_PORT_NOT_READY_AT(port)), 1u);
  const Header repeated = Header::of(fixture.answer(port));
  EXPECT_EQ(repeated.status, OAE_STATUS_NOT_READY) << "it was denied, and that stays";
  EXPECT_EQ(repeated.sequence, 1u);
  EXPECT_EQ(counter(OAE_HOST_PORT_NOT_READY_AT(port)), 1u);
  fixture.write_slot(port, again(slot(1, 21)));
  EXPECT_EQ(fixture.answer(port), slot(1, 10)[0]) << "the firmware's offer stayed";
  EXPECT_EQ(fixture.answer(port, true), slot(1, 10)[0]) << "what took place is not denied";
  EXPECT_EQ(fixture.pushes, 2u) << "nor pushed";
  EXPECT_EQ(counter(OAE_HOST_PORT_NOT_READY_AT(port)), 1u);
  EXPECT_EQ(fixture.answer(port), slot(1, 10)[0]);
}

// A processor may have read the window speculatively before the host reads the pushed answer.
TEST_F(Block, WhatWasStreamedIsNotDeniedWithoutBusMaster) {
  open();
  fixture.publish(port, slot(1, 10));
  fixture.write_slot(port, slot(1, 20));
  fixture.stream(port);
  EXPECT_EQ(fixture.answer(port, true), slot(1, 10)[0]);
  fixture.write(registers, OAE_HOST_PORT_ANSWER_ADDRESS_AT(port), 0);
  EXPECT_EQ(fixture.answer(port), slot(1, 10)[0]);
  EXPECT_EQ(fixture.pushes, 0u);
}

}  // namespace
