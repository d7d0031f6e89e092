// SPDX-License-Identifier: Apache-2.0
// The streamed form of a swap.
#include <gtest/gtest.h>

#include <functional>
#include <vector>

#include "tests/rtl/block/block_fixture.h"

namespace {

TEST_F(Block, StreamsTheAnswerInOneRead) {
  open();
  fixture.write(registers, OAE_HOST_PORT_ANSWER_ADDRESS_AT(port), 0);
  fixture.publish(port, slot(1, 10));
  const Slot offer = slot(1, 20);
  fixture.post_write(streams, port * OAE_STREAM_SIZE + OAE_STREAM_WINDOW, offer.data(), 64);
  EXPECT_EQ(fixture.stream(port), slot(1, 10)) << "without an answer buffer";
  EXPECT_EQ(fixture.latency, 5u);
  EXPECT_EQ(fixture.pushes, 0u) << "nothing is written to memory";
  EXPECT_EQ(fixture.reference.ports[port].state(), unsigned{OAE_PORT_STATE_TENTATIVE});
  EXPECT_EQ(tentative(), offer);
  fixture.write(streams, port * OAE_STREAM_SIZE + OAE_STREAM_CONFIRM, confirmation(slot(1, 0)[0]));
  EXPECT_EQ(committed(), offer);
  EXPECT_EQ(fixture.read(streams, port * OAE_STREAM_SIZE + OAE_STREAM_STATUS),
            slot(1, 0)[0] >> 32 << 32 | 1 << 8 | OAE_PORT_STATE_COMMITTED);
  EXPECT_EQ(fixture.stream(port), slot(1, 10)) << "also when committed";
}

// The first read is the interaction, whatever byte it reads in whatever size.
TEST_F(Block, AnyReadOfTheWindowIsTheInteraction) {
  open();
  std::uint32_t sequence = 0;
  for (const unsigned bar : {pages, streams}) {
    for (unsigned at = 0; at < 64; at += 7) {
      for (const unsigned size : {1u, 2u, 8u, 16u}) {
        if (at + size > 64) continue;
        ++sequence;
        fixture.publish(port, slot(sequence, 10));
        fixture.write_slot(port, slot(sequence, 20));
        fixture.read(bar, port * OAE_PORT_SIZE + at, size);
        EXPECT_EQ(tentative(), slot(sequence, 20)) << at << ", " << size;
        EXPECT_EQ(fixture.stream(port), slot(sequence, 10));
        fixture.confirm(port, 1, sequence);
        take();
      }
    }
  }
  EXPECT_EQ(fixture.pushes, 0u);
  EXPECT_EQ(counter(OAE_HOST_PORT_COMMITTED_AT(port)), sequence);
}

TEST_F(Block, ReadsOfTheStreamedPageDoNothingElse) {
  open();
  fixture.publish(port, slot(1, 10));
  fixture.write_slot(port, slot(1, 20));
  for (unsigned at = 64; at < OAE_STREAM_SIZE; at += 64) {
    fixture.read(streams, port * OAE_STREAM_SIZE + at, 64);
  }
  EXPECT_EQ(fixture.pushes, 0u) << "nothing there is pushed";
  EXPECT_EQ(state(), OAE_PORT_STATE_IDLE);
  EXPECT_EQ(counter(OAE_HOST_PORT_NOT_READY_AT(port)), 0u);
  EXPECT_EQ(fixture.stream(port), slot(1, 10));
}

// A slot that is read in pieces is one slot, whatever the firmware does in between.
TEST_F(Block, PiecesAreOfOneSlot) {
  open();
  const auto pieces = [&](const std::vector<std::function<void()>>& between) {
    Slot slot{};
    for (unsigned i = 0; i < 8; ++i) {
      slot[7 - i] = fixture.read(streams, port * OAE_STREAM_SIZE + 8 * (7 - i));
      if (i < between.size()) between[i]();
    }
    EXPECT_TRUE(sealed(slot));
    return slot;
  };
  const auto liveness = [&] { fixture.put(OAE_FIRMWARE_LIVENESS, 1); };
  // NOT_READY before any offer, then of an offer, although the firmware offers meanwhile
  EXPECT_EQ(Header::of(pieces({liveness})[0]).sequence, 0u);
  fixture.write_slot(port, slot(1, 20));
  const Slot refusal = pieces({[&] { fixture.publish(port, slot(1, 10)); }, liveness});
  EXPECT_EQ(Header::of(refusal[0]).status, OAE_STATUS_NOT_READY);
  EXPECT_EQ(Header::of(refusal[0]).sequence, 1u);
  EXPECT_EQ(counter(OAE_HOST_PORT_NOT_READY_AT(port)), 2u) << "one each, whatever the pieces";
  // The exchange, although the firmware makes its next offer and the host confirms
  fixture.write_slot(port, again(slot(1, 20)));
  EXPECT_EQ(pieces({[&] { fixture.publish(port, slot(2, 11)); },
                    [&] { fixture.confirm(port, 1, 1); }, [&] { take(); }}),
            slot(1, 10));
}

TEST_F(Block, BadOffersAreStreamedTheirNotReady) {
  open();
  fixture.publish(port, slot(1, 10));
  Slot damaged = slot(1, 20);
  damaged[3] ^= 1;
  fixture.write_slot(port, damaged);
  const Slot answer = fixture.stream(port);
  EXPECT_TRUE(sealed(answer));
  EXPECT_EQ(Header::of(answer[0]).status, OAE_STATUS_NOT_READY);
  EXPECT_EQ(Header::of(answer[0]).sequence, 1u);
  Header header = Header::of(slot(1, 20)[0]);
  header.verb = OAE_VERB_CAS;
  fixture.write_slot(port, make_slot(header, 1));
  EXPECT_EQ(Header::of(fixture.stream(port)[0]).status, OAE_STATUS_BAD_VERB);
  EXPECT_EQ(fixture.latency, 7u);
  fixture.write_slot(port, again(slot(1, 20)));
  EXPECT_EQ(fixture.stream(port), slot(1, 10));
}

TEST_F(Block, OfferMadeThroughEitherPageIsAnsweredThroughEither) {
  open();
  std::uint32_t sequence = 0;
  for (const unsigned bar : {pages, streams}) {
    for (const bool streamed : {false, true}) {
      ++sequence;
      fixture.publish(port, slot(sequence, 10));
      const Slot offer = slot(sequence, 20);
      const unsigned pushes = fixture.pushes;
      fixture.post_write(bar, port * OAE_PORT_SIZE, offer.data(), 64);
      EXPECT_EQ(streamed ? fixture.stream(port)[0] : fixture.answer(port), slot(sequence, 10)[0]);
      EXPECT_EQ(fixture.pushes, pushes + !streamed);
      // The answer is retained for the other form as well.
      EXPECT_EQ(streamed ? fixture.answer(port) : fixture.stream(port)[0], slot(sequence, 10)[0]);
      fixture.confirm(port, 1, sequence);
      take();
    }
  }
}

TEST_F(Block, StreamedAnswerOfAClosedPort) {
  EXPECT_EQ(Header::of(fixture.stream(port)[0]).status, OAE_STATUS_HISTORY_LOST);
  open();
  swap(1);
  close();
  EXPECT_EQ(fixture.stream(port), slot(1, 101)) << "retained for a host in doubt";
  open();
  const Header header = Header::of(fixture.stream(port)[0]);
  EXPECT_EQ(header.status, OAE_STATUS_NOT_READY);
  EXPECT_EQ(header.epoch, 2);
}

}  // namespace
