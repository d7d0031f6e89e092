// SPDX-License-Identifier: Apache-2.0
// Swaps that the host settles as reversed, whether they took place or not.
#include <gtest/gtest.h>

#include "tests/rtl/block/block_fixture.h"

namespace {

class Reversal : public Block {
 protected:
  Header seen() { return Header::of(fixture.stream(port)[0]); }
  std::uint32_t last() {
    return static_cast<std::uint32_t>(
        OAE_GET(counter(OAE_HOST_PORT_STATE_AT(port)), OAE_HOST_PORT_STATE_SEQUENCE));
  }
  void clear_events() { fixture.put(OAE_FIRMWARE_EVENT_AT(port), all); }
};

TEST_F(Reversal, TakesTheTentativeSlotBack) {
  open();
  swap(1);
  clear_events();
  fixture.reverse(port, 1, 1);
  EXPECT_EQ(state(), OAE_PORT_STATE_REVERSED);
  EXPECT_EQ(event(), OAE_FIRMWARE_EVENT_REVERSED_MASK);
  EXPECT_EQ(tentative(), Slot{});
  EXPECT_EQ(committed(), Slot{});
  EXPECT_EQ(last(), 1u) << "its number is used up";
  fixture.confirm(port, 1, 1);
  EXPECT_EQ(state(), OAE_PORT_STATE_REVERSED) << "settled for good";
  EXPECT_EQ(committed(), Slot{});
  EXPECT_EQ(counter(OAE_HOST_PORT_COMMITTED_AT(port)), 0u);
}

TEST_F(Reversal, NoAnswerIsRetained) {
  open();
  swap(1);
  fixture.reverse(port, 1, 1);
  EXPECT_EQ(seen().status, OAE_STATUS_REVERSED);
  EXPECT_EQ(seen().sequence, 1u);
  EXPECT_EQ(seen().epoch, 1u);
  EXPECT_EQ(fixture.answer(port), seen().word()) << "pushed, too";
  EXPECT_EQ(fixture.pushed_slot[0], seen().word());
  EXPECT_EQ(Header::of(fixture.answer(port, true)).status, OAE_STATUS_NOT_READY) << "refused";
  EXPECT_EQ(counter(OAE_HOST_PORT_NOT_READY_AT(port)), 0u) << "it is another answer";
  close();
  EXPECT_EQ(state(), OAE_PORT_STATE_CLOSED);
  EXPECT_EQ(seen().status, OAE_STATUS_REVERSED) << "that of a closed port neither";
  open();
  EXPECT_EQ(seen().status, OAE_STATUS_NOT_READY);
}

TEST_F(Reversal, SettlesWhatHasNotTakenPlace) {
  open();
  fixture.publish(port, slot(1, 10));
  fixture.write_slot(port, slot(1, 20));
  clear_events();
  fixture.reverse(port, 1, 1);
  EXPECT_EQ(state(), OAE_PORT_STATE_REVERSED);
  EXPECT_EQ(last(), 1u);
  EXPECT_EQ(event(), OAE_FIRMWARE_EVENT_REVERSED_MASK);
  EXPECT_FALSE(status() & OAE_FIRMWARE_STATUS_OFFERED_MASK) << "the offer was of this swap";
  EXPECT_EQ(seen().status, OAE_STATUS_REVERSED);
  EXPECT_EQ(seen().sequence, 1u);
  EXPECT_EQ(tentative(), Slot{});
  // A late copy of the offer is not a new offer.
  fixture.publish(port, slot(2, 11));
  fixture.write_slot(port, slot(1, 20));
  EXPECT_EQ(seen().status, OAE_STATUS_REVERSED);
  swap(2);
  EXPECT_EQ(tentative(), slot(2, 202));
}

TEST_F(Reversal, DiscardsAHalfWrittenOffer) {
  open();
  const Slot half = slot(1, 20);
  fixture.post_write(pages, port * OAE_PORT_SIZE, half.data(), 40);
  fixture.drain();
  fixture.reverse(port, 1, 1);
  fixture.publish(port, slot(2, 11));
  const Slot next = slot(2, 21);
  fixture.post_write(pages, port * OAE_PORT_SIZE + 40, &next[5], 24);
  fixture.post_write(pages, port * OAE_PORT_SIZE, next.data(), 40);
  EXPECT_EQ(seen().sequence, 2u);
  EXPECT_EQ(tentative(), next);
}

// A host that begins a swap has committed the one before, whose confirmation may be lost or may be
// left to the new offer.
TEST_F(Reversal, OfTheNextSwapCommitsTheOneBefore) {
  open();
  swap(1);
  fixture.reverse(port, 1, 2);
  EXPECT_EQ(committed(), slot(1, 201));
  EXPECT_EQ(counter(OAE_HOST_PORT_COMMITTED_AT(port)), 1u);
  EXPECT_EQ(state(), OAE_PORT_STATE_REVERSED);
  EXPECT_EQ(last(), 2u);
  // It waits there while the place of the committed slot is taken.
  swap(3);
  fixture.reverse(port, 1, 4);
  EXPECT_EQ(tentative(), slot(3, 203));
  EXPECT_EQ(state(), OAE_PORT_STATE_REVERSED);
  fixture.reverse(port, 1, 3);
  EXPECT_EQ(tentative(), slot(3, 203)) << "it is confirmed";
  take();
  EXPECT_EQ(committed(), slot(3, 203));
  swap(5);
}

TEST_F(Reversal, IsIdempotentAndNamesOneSwap) {
  open();
  swap(1);
  for (const auto& [epoch, sequence] : {std::pair(1, 0), {1, 3}, {0, 1}, {2, 1}, {2, 2}}) {
    fixture.reverse(port, static_cast<std::uint8_t>(epoch), static_cast<std::uint32_t>(sequence));
    EXPECT_EQ(state(), OAE_PORT_STATE_TENTATIVE) << epoch << ' ' << sequence;
  }
  const std::uint64_t word = reversal(slot(1, 0)[0]);
  fixture.post_write(pages, port * OAE_PORT_SIZE + OAE_PORT_REVERSE, &word, 7);
  EXPECT_EQ(state(), OAE_PORT_STATE_TENTATIVE) << "not all of it";
  fixture.post_write(streams, port * OAE_STREAM_SIZE + OAE_STREAM_REVERSE, &word, 8);
  EXPECT_EQ(state(), OAE_PORT_STATE_REVERSED) << "through either page";
  clear_events();
  for (int i = 0; i < 3; ++i) fixture.reverse(port, 1, 1);
  EXPECT_EQ(last(), 1u);
  EXPECT_EQ(event(), 0u) << "the firmware is notified once";
  swap(2);
  fixture.confirm(port, 1, 2);
  fixture.reverse(port, 1, 2);
  EXPECT_EQ(state(), OAE_PORT_STATE_COMMITTED) << "what is confirmed stays";
  EXPECT_EQ(committed(), slot(2, 202));
}

TEST_F(Reversal, OneWrongBitAndNothingHappens) {
  open();
  swap(1);
  for (const std::uint32_t sequence : {1u, 2u}) {
    const std::uint64_t right = reversal(slot(sequence, 0)[0]);
    for (unsigned bit = 0; bit < 64; ++bit) {
      fixture.write(pages, port * OAE_PORT_SIZE + OAE_PORT_REVERSE,
                    right ^ std::uint64_t{1} << bit);
      ASSERT_EQ(state(), OAE_PORT_STATE_TENTATIVE) << bit;
      ASSERT_EQ(last(), 1u) << bit;
    }
  }
  fixture.write(pages, port * OAE_PORT_SIZE + OAE_PORT_REVERSE, confirmation(slot(1, 0)[0]));
  EXPECT_EQ(state(), OAE_PORT_STATE_TENTATIVE) << "it is of the other register";
  fixture.reverse(port, 1, 1);
  EXPECT_EQ(state(), OAE_PORT_STATE_REVERSED);
}

TEST_F(Reversal, OfAClosedPort) {
  open();
  swap(1);
  close();
  fixture.reverse(port, 1, 2);
  EXPECT_EQ(last(), 1u) << "no swap begins there";
  fixture.reverse(port, 1, 1);
  EXPECT_EQ(state(), OAE_PORT_STATE_CLOSED);
  EXPECT_EQ(committed(), slot(1, 201)) << "and what the close has committed stays";
  open();
  EXPECT_EQ(state(), OAE_PORT_STATE_IDLE);
}

TEST_F(Reversal, NobodyIsAskedToConfirmIt) {
  fixture.compare_signals = false;
  open();
  fixture.write(registers, OAE_HOST_PORT_TENTATIVE_LIMIT_AT(port), 1'000);
  fixture.write(registers, OAE_HOST_PORT_EVENT_AT(port), OAE_HOST_PORT_EVENT_CONFIRM_ENABLE_MASK);
  swap(1);
  fixture.reverse(port, 1, 1);
  for (int i = 0; i < 3; ++i) {
    fixture.sleep(10'000);
    fixture.drain();
  }
  EXPECT_TRUE(fixture.signals.empty());
}

}  // namespace
