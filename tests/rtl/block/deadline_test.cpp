// SPDX-License-Identifier: Apache-2.0
// Deadlines of several ports, and deadlines that pass while something else happens.
#include <gtest/gtest.h>

#include <vector>

#include "tests/rtl/block/block_fixture.h"

namespace {

class Deadline : public Block {
 protected:
  Deadline() { fixture.compare_signals = false; }

  /// Opens a port whose swaps are to be confirmed within a limit.
  void open_with(unsigned number, std::uint64_t limit, bool asks = true) {
    open(number);
    fixture.write(registers, OAE_HOST_PORT_TENTATIVE_LIMIT_AT(number), limit);
    fixture.write(registers, OAE_HOST_PORT_EVENT_AT(number),
                  number | (asks ? OAE_HOST_PORT_EVENT_CONFIRM_ENABLE_MASK : 0));
  }
  void swap_at(unsigned number, std::uint32_t sequence) {
    fixture.publish(number, slot(sequence, 10));
    fixture.write_slot(number, slot(sequence, 20));
    fixture.answer(number);
  }
  /// Lets the deadlines pass that are set, also those of what is confirmed by now.
  void pass() {
    for (int i = 0; i < 3 && fixture.top.deadline_valid; ++i) {
      fixture.sleep(all);
      fixture.drain();
    }
    EXPECT_FALSE(fixture.top.deadline_valid);
  }
  /// Makes a swap that holds a word, and waits until so many clocks before the deadline.
  void hold_until(unsigned lead, std::uint32_t sequence) {
    fixture.write_slot(port, add(sequence));
    fixture.stream(port);
    ASSERT_TRUE(fixture.top.deadline_valid);
    fixture.sleep(fixture.top.deadline - fixture.now - lead);
  }
  /// An offer that adds 1 to a word.
  static Slot add(std::uint32_t sequence) {
    Header header;
    header.verb = OAE_VERB_FETCH_ADD;
    header.epoch = 1;
    header.sequence = sequence;
    Slot slot{header.word(), 7, 1};
    seal(slot);
    return slot;
  }
};

TEST_F(Deadline, OfOnePortAsksForNoOther) {
  open_with(1, 1'000, false);
  open_with(2, 1'000);
  open_with(3, 1'000'000);
  for (const unsigned number : {1u, 2u, 3u}) swap_at(number, 1);
  fixture.sleep(all);
  fixture.drain();
  EXPECT_EQ(fixture.signals, std::vector<unsigned>{2});
}

TEST_F(Deadline, AsksNobodyForWhatTheLimitCommits) {
  const std::uint64_t limit = 50'000;
  fixture.put(OAE_FIRMWARE_HOLD_LIMIT, limit);
  open_with(port, limit);
  fixture.write_slot(port, add(1));
  fixture.stream(port);
  fixture.expire(port);
  EXPECT_EQ(state(), OAE_PORT_STATE_COMMITTED);
  EXPECT_TRUE(fixture.signals.empty());
}

// A new limit lets every port be looked at, which may be at any clock around its deadline.
TEST_F(Deadline, ThatIsLookedAtWhenItPassesIsKept) {
  const std::uint64_t limit = 5'000;
  fixture.put(OAE_FIRMWARE_HOLD_LIMIT, limit);
  open();
  std::uint32_t sequence = 0;
  for (unsigned lead = 1; lead <= 60; ++lead) {
    hold_until(lead, ++sequence);
    fixture.put(OAE_FIRMWARE_HOLD_LIMIT, limit);
    pass();
    EXPECT_EQ(state(), OAE_PORT_STATE_COMMITTED) << lead;
    EXPECT_EQ(fixture.expired, sequence);
  }
}

// Whichever comes first settles the swap.
TEST_F(Deadline, ThatPassesWithAReversalSettlesOnce) {
  fixture.put(OAE_FIRMWARE_HOLD_LIMIT, 5'000);
  open();
  std::uint32_t sequence = 0;
  for (unsigned lead = 1; lead <= 20; ++lead) {
    hold_until(lead, ++sequence);
    fixture.reverse(port, 1, sequence);
    pass();
    const std::uint64_t settled = state();
    EXPECT_TRUE(settled == OAE_PORT_STATE_REVERSED || settled == OAE_PORT_STATE_COMMITTED) << lead;
  }
}

TEST_F(Deadline, ThatPassesWhileTheHostReadsIsKept) {
  open_with(port, 5'000);
  std::uint32_t sequence = 0;
  for (unsigned lead = 1; lead <= 20; ++lead) {
    swap(++sequence);
    ASSERT_TRUE(fixture.top.deadline_valid);
    fixture.signals.clear();
    fixture.sleep(fixture.top.deadline - fixture.now - lead);
    for (int i = 0; i < 8; ++i) {
      fixture.post_read(pages, port * OAE_PORT_SIZE + OAE_PORT_STATUS, 8);
    }
    fixture.drain();
    EXPECT_EQ(fixture.signals, std::vector<unsigned>{port}) << lead;
    fixture.confirm(port, 1, sequence);
    take();
    pass();
  }
}

// The watch has looked at the port already, and is at the others.
TEST(Deadlines, ThatPassesWhileOthersAreLookedAtIsKept) {
  for (const unsigned lead : {20u, 40u, 60u, 80u, 100u}) {
    Fixture fixture(64);
    fixture.compare_signals = false;
    swap_to_be_confirmed(fixture, 5'000);
    ASSERT_TRUE(fixture.top.deadline_valid);
    fixture.sleep(fixture.top.deadline - fixture.now - lead);
    fixture.put(OAE_FIRMWARE_HOLD_LIMIT, 1'000'000);
    fixture.drain();
    EXPECT_EQ(fixture.signals, std::vector<unsigned>{5}) << lead;
  }
}

}  // namespace
