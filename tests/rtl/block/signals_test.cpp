// SPDX-License-Identifier: Apache-2.0
// The interrupts of the host.
#include <gtest/gtest.h>

#include <vector>

#include "tests/rtl/block/block_fixture.h"

namespace {

TEST_F(Block, SignalsOnceWhenAnOfferStands) {
  open();
  const unsigned settings = OAE_HOST_PORT_EVENT_AT(port);
  fixture.write(registers, settings, OAE_HOST_PORT_EVENT_OFFER_ARMED_MASK | 0x1234);
  EXPECT_TRUE(fixture.signals.empty());
  EXPECT_EQ(fixture.read(registers, settings), OAE_HOST_PORT_EVENT_OFFER_ARMED_MASK | 0x1234);
  fixture.publish(port, slot(2, 10));
  EXPECT_TRUE(fixture.signals.empty()) << "a bad offer does not stand";
  fixture.publish(port, slot(1, 10));
  EXPECT_EQ(fixture.signals, std::vector<unsigned>{0x1234});
  EXPECT_EQ(fixture.read(registers, settings), 0x1234u) << "one shot";
  fixture.write(registers, settings, OAE_HOST_PORT_EVENT_OFFER_ARMED_MASK | 0x1235);
  EXPECT_EQ(fixture.signals, (std::vector<unsigned>{0x1234, 0x1235})) << "at once";
  EXPECT_EQ(fixture.read(registers, settings), 0x1235u);
}

TEST_F(Block, DoesNotSignalAnOfferToAHostThatDoesNotArm) {
  open();
  fixture.publish(port, slot(1, 10));
  fixture.write(registers, OAE_HOST_PORT_EVENT_AT(port), 0x1234);
  EXPECT_TRUE(fixture.signals.empty());
}

TEST_F(Block, AsksForTheConfirmation) {
  fixture.compare_signals = false;
  open();
  const std::uint64_t limit = 10'000;
  fixture.write(registers, OAE_HOST_PORT_TENTATIVE_LIMIT_AT(port), limit);
  swap(1);
  EXPECT_FALSE(fixture.top.deadline_valid) << "nobody asked to be asked";
  fixture.confirm(port, 1, 1);
  fixture.write(registers, OAE_HOST_PORT_EVENT_AT(port),
                OAE_HOST_PORT_EVENT_CONFIRM_ENABLE_MASK | 77);
  swap(2);
  ASSERT_TRUE(fixture.top.deadline_valid);
  const std::uint64_t deadline = fixture.top.deadline;
  EXPECT_GT(deadline, fixture.now);
  EXPECT_LE(deadline, fixture.now + limit + 1);
  fixture.sleep(all);
  EXPECT_EQ(fixture.now, deadline - 1);
  EXPECT_TRUE(fixture.signals.empty());
  fixture.drain();
  EXPECT_EQ(fixture.signals, std::vector<unsigned>{77});
  EXPECT_EQ(state(), OAE_PORT_STATE_TENTATIVE);
  // The request may be lost like anything else.
  for (std::size_t requests = 2; requests < 5; ++requests) {
    const std::uint64_t asked = fixture.now;
    fixture.sleep(all);
    EXPECT_EQ(fixture.signals.size(), requests - 1);
    fixture.drain();
    ASSERT_EQ(fixture.signals.size(), requests) << "it asks again";
    EXPECT_NEAR(static_cast<double>(fixture.now - asked), limit, 20);
  }
  fixture.write(registers, OAE_HOST_PORT_TENTATIVE_LIMIT_AT(port), limit);
  fixture.drain();
  EXPECT_EQ(fixture.signals.size(), 5u) << "a new limit asks anew";
  fixture.confirm(port, 1, 2);
  fixture.sleep(all);
  fixture.drain();
  EXPECT_EQ(fixture.signals.size(), 5u) << "and nobody asks for what is confirmed";
  EXPECT_FALSE(fixture.top.deadline_valid);
}

TEST_F(Block, DoesNotAskForWhatIsConfirmed) {
  fixture.compare_signals = false;
  for (const unsigned number : {0u, 3u, 7u}) {
    open(number);
    fixture.write(registers, OAE_HOST_PORT_TENTATIVE_LIMIT_AT(number), 1'000 + 100 * number);
    fixture.write(registers, OAE_HOST_PORT_EVENT_AT(number),
                  OAE_HOST_PORT_EVENT_CONFIRM_ENABLE_MASK | number);
    fixture.publish(number, slot(1, 10));
    fixture.write_slot(number, slot(1, 20));
    fixture.answer(number);
  }
  fixture.confirm(0, 1, 1);
  for (int i = 0; i < 5 && fixture.signals.size() < 2; ++i) {
    fixture.sleep(all);
    fixture.drain();
  }
  EXPECT_EQ(fixture.signals, (std::vector<unsigned>{3, 7})) << "each in its time";
}

TEST_F(Block, AsksAtOnceWhereItIsLateAlready) {
  fixture.compare_signals = false;
  open();
  swap(1);
  fixture.sleep(1'000);
  fixture.write(registers, OAE_HOST_PORT_TENTATIVE_LIMIT_AT(port), 0);
  fixture.write(registers, OAE_HOST_PORT_EVENT_AT(port),
                OAE_HOST_PORT_EVENT_CONFIRM_ENABLE_MASK | 5);
  fixture.drain();
  EXPECT_EQ(fixture.signals, std::vector<unsigned>{5});
  // No limit is so short that the clock could not stop.
  const std::uint64_t asked = fixture.now;
  fixture.sleep(all);
  fixture.drain();
  EXPECT_EQ(fixture.signals, (std::vector<unsigned>{5, 5}));
  EXPECT_NEAR(static_cast<double>(fixture.now - asked), 4096, 20);
}

}  // namespace
