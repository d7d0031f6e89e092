// SPDX-License-Identifier: Apache-2.0
// The interrupts of the host.
#include <gtest/gtest.h>

#include <vector>

#include "tests/rtl/block_fixture.h"

namespace {

TEST_F(Block, SignalsOnceWhenAnOfferStands) {
  open();
  const unsigned settings = OAE_HOST_PORT_EVENT_AT(port);
  bench.write(registers, settings, OAE_HOST_PORT_EVENT_OFFER_ARMED_MASK | 0x1234);
  EXPECT_TRUE(bench.signals.empty());
  EXPECT_EQ(bench.read(registers, settings), OAE_HOST_PORT_EVENT_OFFER_ARMED_MASK | 0x1234);
  bench.publish(port, slot(2, 10));
  EXPECT_TRUE(bench.signals.empty()) << "a bad offer does not stand";
  bench.publish(port, slot(1, 10));
  EXPECT_EQ(bench.signals, std::vector<unsigned>{0x1234});
  EXPECT_EQ(bench.read(registers, settings), 0x1234u) << "one shot";
  bench.write(registers, settings, OAE_HOST_PORT_EVENT_OFFER_ARMED_MASK | 0x1235);
  EXPECT_EQ(bench.signals, (std::vector<unsigned>{0x1234, 0x1235})) << "at once";
  EXPECT_EQ(bench.read(registers, settings), 0x1235u);
}

TEST_F(Block, AsksForTheConfirmation) {
  bench.compare_signals = false;
  open();
  const std::uint64_t limit = 10'000;
  bench.write(registers, OAE_HOST_PORT_TENTATIVE_LIMIT_AT(port), limit);
  swap(1);
  EXPECT_FALSE(bench.top.deadline_valid) << "nobody asked to be asked";
  bench.confirm(port, 1, 1);
  bench.write(registers, OAE_HOST_PORT_EVENT_AT(port),
              OAE_HOST_PORT_EVENT_CONFIRM_ENABLE_MASK | 77);
  swap(2);
  ASSERT_TRUE(bench.top.deadline_valid);
  const std::uint64_t deadline = bench.top.deadline;
  EXPECT_GT(deadline, bench.now);
  EXPECT_LE(deadline, bench.now + limit + 1);
  bench.sleep(all);
  EXPECT_EQ(bench.now, deadline - 1);
  EXPECT_TRUE(bench.signals.empty());
  bench.drain();
  EXPECT_EQ(bench.signals, std::vector<unsigned>{77});
  EXPECT_EQ(state(), OAE_PORT_STATE_TENTATIVE);
  for (int i = 0; i < 3; ++i) {
    bench.sleep(2 * limit);
    bench.drain();
  }
  EXPECT_EQ(bench.signals.size(), 1u) << "once a swap";
  EXPECT_FALSE(bench.top.deadline_valid);
  bench.write(registers, OAE_HOST_PORT_TENTATIVE_LIMIT_AT(port), limit);
  bench.drain();
  EXPECT_EQ(bench.signals.size(), 2u) << "a new limit asks anew";
}

TEST_F(Block, DoesNotAskForWhatIsConfirmed) {
  bench.compare_signals = false;
  for (const unsigned number : {0u, 3u, 7u}) {
    open(number);
    bench.write(registers, OAE_HOST_PORT_TENTATIVE_LIMIT_AT(number), 1'000 + 100 * number);
    bench.write(registers, OAE_HOST_PORT_EVENT_AT(number),
                OAE_HOST_PORT_EVENT_CONFIRM_ENABLE_MASK | number);
    bench.publish(number, slot(1, 10));
    bench.write_slot(number, slot(1, 20));
    bench.answer(number);
  }
  bench.confirm(0, 1, 1);
  for (int i = 0; i < 5; ++i) {
    bench.sleep(all);
    bench.drain();
  }
  EXPECT_EQ(bench.signals, (std::vector<unsigned>{3, 7})) << "each in its time";
}

TEST_F(Block, AsksAtOnceWhereItIsLateAlready) {
  bench.compare_signals = false;
  open();
  swap(1);
  bench.sleep(1'000);
  bench.write(registers, OAE_HOST_PORT_TENTATIVE_LIMIT_AT(port), 0);
  bench.write(registers, OAE_HOST_PORT_EVENT_AT(port), OAE_HOST_PORT_EVENT_CONFIRM_ENABLE_MASK | 5);
  bench.drain();
  EXPECT_EQ(bench.signals, std::vector<unsigned>{5});
}

}  // namespace
