// SPDX-License-Identifier: Apache-2.0
// Interrupts and slots that cannot leave. Nothing waits for an interrupt, and only reads of the
// host wait for a slot.
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "tests/rtl/block/block_fixture.h"

namespace {

class Stall : public Block {
 protected:
  void arm(unsigned number, unsigned vector) {
    fixture.write(registers, OAE_HOST_PORT_EVENT_AT(number),
                  OAE_HOST_PORT_EVENT_OFFER_ARMED_MASK | vector);
  }
  void swap_at(unsigned number, std::uint32_t sequence) {
    fixture.publish(number, slot(sequence, 100 + sequence));
    fixture.write_slot(number, slot(sequence, 200 + sequence));
    EXPECT_EQ(fixture.answer(number), slot(sequence, 100 + sequence)[0]);
    fixture.confirm(number, 1, sequence);
    EXPECT_EQ(counter(OAE_HOST_PORT_COMMITTED_AT(number)), sequence);
  }
  /// Holds interrupts back from now on. That of port 0, with vector 9, is on the pins.
  void hold() {
    open(0);
    open(port);
    fixture.compare_signals = false;
    fixture.hold_interrupts = true;
    arm(0, 9);
    swap_at(0, 1);
  }
  /// Makes the first swap of the port up to an answer that cannot leave.
  void hold_answer(bool refused = false) {
    fixture.hold_slots = true;
    fixture.publish(port, slot(1, 101));
    fixture.write_slot(port, slot(1, 201));
    fixture.post_read(pages, port * OAE_PORT_SIZE + OAE_PORT_PUSHED_ANSWER, 8, refused);
    fixture.drain();
    EXPECT_TRUE(fixture.top.dma_valid);
    EXPECT_FALSE(fixture.top.busy) << "the clock may stop";
  }
  void release() {
    fixture.hold_slots = false;
    fixture.drain();
  }
};

TEST_F(Stall, AnInterruptThatCannotLeaveStopsNobody) {
  for (const unsigned number : {0u, 3u, 7u}) open(number);
  fixture.hold_interrupts = true;
  arm(3, 33);
  swap_at(3, 1);
  fixture.clock();
  EXPECT_TRUE(fixture.top.interrupt_valid);
  for (const unsigned number : {0u, 3u, 7u}) {
    arm(number, 40 + number);
    swap_at(number, number == 3 ? 2 : 1);
  }
  fixture.put(OAE_FIRMWARE_LIVENESS, 5);
  EXPECT_EQ(fixture.get(OAE_FIRMWARE_LIVENESS), 5u);
  EXPECT_TRUE(fixture.signals.empty());
  EXPECT_EQ(fixture.top.interrupt_vector, 33u) << "it stays as it was";
  fixture.compare_signals = false;
  fixture.hold_interrupts = false;
  fixture.drain();
  ASSERT_EQ(fixture.signals.size(), 4u);
  EXPECT_EQ(fixture.signals.front(), 33u);
  std::sort(fixture.signals.begin(), fixture.signals.end());
  EXPECT_EQ(fixture.signals, (std::vector<unsigned>{33, 40, 43, 47})) << "none is lost";
}

TEST_F(Stall, APortIsHeardOnceForAllThatItSignalledMeanwhile) {
  hold();
  for (std::uint32_t sequence = 1; sequence <= 3; ++sequence) {
    arm(port, 20 + sequence);
    swap_at(port, sequence);
    take();
  }
  fixture.hold_interrupts = false;
  fixture.drain();
  EXPECT_EQ(fixture.signals, (std::vector<unsigned>{9, 23})) << "by its last vector";
}

TEST_F(Stall, AnInterruptKeepsTheVectorThatItWasSignalledWith) {
  hold();
  arm(port, 20);
  fixture.publish(port, slot(1, 101));
  fixture.write(registers, OAE_HOST_PORT_EVENT_AT(port), 21);
  fixture.hold_interrupts = false;
  fixture.drain();
  EXPECT_EQ(fixture.signals, (std::vector<unsigned>{9, 20}));
}

TEST_F(Stall, InterruptsThatWaitLeaveOnePerClock) {
  hold();
  for (const unsigned number : {1u, 2u, 4u, 5u}) {
    open(number);
    arm(number, 20 + number);
    fixture.publish(number, slot(1, 101));
  }
  fixture.hold_interrupts = false;
  for (unsigned i = 0; i < 5; ++i) fixture.clock();
  EXPECT_EQ(fixture.signals, (std::vector<unsigned>{9, 21, 22, 24, 25}));
}

TEST_F(Stall, AResetOfTheFunctionVoidsWhatWaits) {
  hold();
  arm(port, 20);
  swap_at(port, 1);
  fixture.function_reset();
  fixture.hold_interrupts = false;
  fixture.drain();
  EXPECT_EQ(fixture.signals, std::vector<unsigned>{9}) << "which was on the pins";
}

// A port that signals again and again leaves the others their turns.
TEST_F(Stall, PortsTakeTurns) {
  const auto one_leaves = [this] {
    const std::size_t before = fixture.signals.size();
    fixture.hold_interrupts = false;
    for (unsigned i = 0; fixture.signals.size() == before && i < 10; ++i) fixture.clock();
    fixture.hold_interrupts = true;
  };
  fixture.compare_signals = false;
  fixture.hold_interrupts = true;
  for (unsigned number = 0; number < 8; ++number) {
    open(number);
    arm(number, number);
    swap_at(number, 1);
  }
  one_leaves();
  one_leaves();
  arm(1, 1);
  swap_at(1, 2);
  fixture.hold_interrupts = false;
  fixture.drain();
  EXPECT_EQ(fixture.signals, (std::vector<unsigned>{0, 1, 2, 3, 4, 5, 6, 7, 1}));
}

TEST_F(Stall, ASlotThatCannotLeaveStopsNeitherTheFirmwareNorWritesOfTheHost) {
  for (const unsigned number : {0u, port}) open(number);
  arm(0, 9);
  hold_answer();
  fixture.put(OAE_FIRMWARE_LIVENESS, 5);
  EXPECT_EQ(fixture.get(OAE_FIRMWARE_LIVENESS), 5u);
  EXPECT_EQ(tentative(), slot(1, 201)) << "the exchange has taken place";
  // The host confirms and offers again, here and at another port, which the firmware hears of.
  fixture.confirm(port, 1, 1);
  EXPECT_EQ(committed(), slot(1, 201));
  fixture.write_slot(port, slot(2, 202));
  fixture.publish(port, slot(2, 102));
  fixture.publish(0, slot(1, 300));
  EXPECT_EQ(fixture.signals, std::vector<unsigned>{9});
  EXPECT_EQ(fixture.pushes, 0u);
  release();
  EXPECT_EQ(fixture.pushes, 1u);
  EXPECT_EQ(fixture.pushed_slot, slot(1, 101)) << "as it was when it was sent";
  EXPECT_EQ(fixture.pushed_address, buffer);
  EXPECT_EQ(fixture.line[0], slot(1, 101)[0]);
}

// The registers of the port that the read names stand beside the last write meanwhile.
TEST_F(Stall, AReadThatWaitsClosesNoPort) {
  for (const unsigned number : {0u, 5u, port}) open(number);
  fixture.publish(5, slot(1, 100));
  fixture.write_slot(5, slot(1, 200));
  fixture.answer(5);
  hold_answer();
  fixture.write(registers, OAE_HOST_PORT_CONTROL_AT(0), 0);
  fixture.post_read(registers, OAE_HOST_PORT_STATE_AT(5), 8);
  for (unsigned i = 0; i < 20; ++i) fixture.clock();
  release();
  EXPECT_EQ(fixture.read(pages, 5 * OAE_PORT_SIZE + OAE_PORT_STATUS) & 0xff,
            unsigned{OAE_PORT_STATE_TENTATIVE});
}

TEST_F(Stall, ReadsWaitForASlotThatCannotLeave) {
  open(0);
  open(port);
  hold_answer();
  fixture.post_read(registers, OAE_HOST_ID, 8);
  for (unsigned i = 0; i < 100; ++i) {
    fixture.clock();
    ASSERT_FALSE(fixture.top.completion_valid) << "a completion would pass the slot";
    ASSERT_FALSE(fixture.top.request_ready) << "a second read is accepted";
  }
  EXPECT_FALSE(fixture.top.busy) << "the clock may stop";
  std::uint64_t seen = 0;
  fixture.on_get = [&](std::uint64_t value) { seen = value; };
  fixture.post_put(OAE_FIRMWARE_LIVENESS, 5);
  for (unsigned i = 0; i < 20; ++i) fixture.clock();
  fixture.post_get(OAE_FIRMWARE_LIVENESS);
  for (unsigned i = 0; i < 20; ++i) fixture.clock();
  EXPECT_EQ(seen, 5u) << "the firmware goes on";
  release();
  EXPECT_EQ(fixture.pushes, 1u);
  EXPECT_EQ(fixture.line[0] & 0xffff, OAE_HOST_ID_RESET & 0xffff);
}

// Whatever is attached to the pins refuses a write that waits when the function is reset.
TEST_F(Stall, AResetOfTheFunctionDoesNotWaitForASlot) {
  open(port);
  hold_answer(true);
  fixture.function_reset();
  EXPECT_TRUE(status() & OAE_FIRMWARE_STATUS_TENTATIVE_MASK) << "the exchange has taken place";
  release();
  EXPECT_EQ(fixture.pushes, 0u) << "no slot of before the reset reaches the host";
  EXPECT_EQ(counter(OAE_HOST_PORT_ANSWER_ADDRESS_AT(port)), 0u) << "after the reset";
  EXPECT_EQ(fixture.stream(port), slot(1, 101)) << "the retained answer";
}

TEST_F(Stall, ASlotThatWaitsIsGoneWithThePower) {
  open(port);
  hold_answer();
  fixture.lose_power();
  EXPECT_FALSE(fixture.top.dma_valid);
  release();
  EXPECT_EQ(fixture.pushes, 0u);
  open(port);
}

// The exchange has taken place, so no answer to the host may deny it.
TEST_F(Stall, ASlotThatIsRefusedLateIsInDoubt) {
  open(port);
  hold_answer(true);
  release();
  EXPECT_EQ(fixture.pushes, 0u);
  EXPECT_EQ(fixture.line[0], slot(1, 101)[0]);
  EXPECT_EQ(fixture.stream(port), slot(1, 101)) << "the retained answer";
  EXPECT_EQ(state(), std::uint64_t{OAE_PORT_STATE_TENTATIVE});
  fixture.confirm(port, 1, 1);
  EXPECT_EQ(committed(), slot(1, 201));
}

TEST_F(Stall, ADenialThatIsRefusedLateIsKept) {
  open(port);
  fixture.hold_slots = true;
  fixture.write_slot(port, slot(1, 201));
  fixture.post_read(pages, port * OAE_PORT_SIZE + OAE_PORT_PUSHED_ANSWER, 8, true);
  fixture.drain();
  fixture.publish(port, slot(1, 101));
  release();
  const Header denial = Header::of(fixture.line[0]);
  EXPECT_EQ(denial.status, OAE_STATUS_NOT_READY);
  EXPECT_EQ(denial.sequence, 1u);
  EXPECT_EQ(fixture.answer(port), fixture.line[0])
      << "the firmware's offer came too late for this answer";
  EXPECT_EQ(fixture.pushes, 1u);
}

}  // namespace
