// SPDX-License-Identifier: Apache-2.0
// Interrupts that cannot leave, which nothing else waits for.
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "tests/rtl/block_fixture.h"

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

}  // namespace
