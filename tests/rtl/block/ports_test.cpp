// SPDX-License-Identifier: Apache-2.0
// The number of ports, and how long one port waits for the others.
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/rtl/block/block_fixture.h"

namespace {

TEST(Ports, AsManyAsTheStrapSays) {
  for (const unsigned count : {1u, 2u, 63u, 64u}) {
    Fixture fixture(count);
    EXPECT_EQ(OAE_GET(fixture.read(registers, OAE_HOST_ID), OAE_HOST_ID_PORTS), count);
    const unsigned last = count - 1;
    fixture.write(registers, OAE_HOST_PORT_ANSWER_ADDRESS_AT(last), 0x40);
    fixture.write(registers, OAE_HOST_PORT_CONTROL_AT(last), 1);
    fixture.put(OAE_FIRMWARE_IRQ_ENABLE, all);
    EXPECT_EQ(fixture.get(OAE_FIRMWARE_IRQ_STATUS), std::uint64_t{1} << last);
    Header header;
    header.epoch = 1;
    header.sequence = 1;
    fixture.publish(last, make_slot(header, 1));
    fixture.write_slot(last, make_slot(header, 2));
    EXPECT_EQ(fixture.answer(last), header.word());
    EXPECT_EQ(fixture.get(OAE_FIRMWARE_TENTATIVE_AT(last) + 8), make_slot(header, 2)[1]);
    if (count == 64) continue;
    fixture.write(registers, OAE_HOST_PORT_CONTROL_AT(count), 1);
    EXPECT_EQ(fixture.read(registers, OAE_HOST_PORT_CONTROL_AT(count)), 0u);
    fixture.get(OAE_FIRMWARE_STATUS_AT(count));
    EXPECT_TRUE(fixture.error);
  }
}

TEST(Ports, DoNotTouchEachOther) {
  Fixture fixture(64);
  for (unsigned i = 0; i < 64; ++i) {
    fixture.write(registers, OAE_HOST_PORT_ANSWER_ADDRESS_AT(i), 64 * (i + 1));
    for (unsigned j = 0; j < i % 3; ++j) {
      fixture.write(registers, OAE_HOST_PORT_CONTROL_AT(i), 0);
      fixture.write(registers, OAE_HOST_PORT_CONTROL_AT(i), 1);
    }
    fixture.put(OAE_FIRMWARE_OFFER_AT(i), i);
  }
  for (unsigned i = 0; i < 64; ++i) {
    EXPECT_EQ(fixture.read(registers, OAE_HOST_PORT_ANSWER_ADDRESS_AT(i)), 64 * (i + 1));
    EXPECT_EQ(
        OAE_GET(fixture.read(registers, OAE_HOST_PORT_STATE_AT(i)), OAE_HOST_PORT_STATE_EPOCH),
        i % 3);
    EXPECT_EQ(fixture.get(OAE_FIRMWARE_OFFER_AT(i)), i);
  }
}

// A read is answered within so many clocks, however busy the firmware is.
TEST(Latency, IsBounded) {
  Fixture fixture(8);
  fixture.write(registers, OAE_HOST_PORT_ANSWER_ADDRESS_AT(0), 0x40);
  fixture.write(registers, OAE_HOST_PORT_CONTROL_AT(0), 1);
  std::uint64_t worst = 0;
  for (std::uint32_t n = 1; n < 200; ++n) {
    Header header;
    header.epoch = 1;
    header.sequence = n;
    for (unsigned i = 0; i < 8; ++i) {
      fixture.post_put(OAE_FIRMWARE_OFFER_AT(0) + 8 * i, make_slot(header, n)[i]);
    }
    fixture.post_put(OAE_FIRMWARE_COMMAND_AT(0), 3);
    for (int i = 0; i < 40; ++i) fixture.post_get(OAE_FIRMWARE_COMMITTED_AT(0) + 8 * (i % 8));
    for (unsigned i = 0; i < n % 97; ++i) fixture.clock();
    const Slot slot = make_slot(header, n);
    fixture.post_write(pages, OAE_PORT_WINDOW, slot.data(), 64);
    fixture.post_read(pages, OAE_PORT_PUSHED_ANSWER, 8);
    const std::uint64_t start = fixture.now;
    const unsigned pushes = fixture.pushes;
    while (fixture.pushes == pushes) fixture.clock();
    worst = std::max(worst, fixture.now - start);
    const std::uint64_t confirms = confirmation(slot[0]);
    fixture.post_write(pages, OAE_PORT_CONFIRM, &confirms, 8);
    fixture.drain();
  }
  EXPECT_LE(worst, 24u) << "write, read and a turn of the firmware before each";
}

TEST(Latency, OfTheFirmwareIsATurnOfTheHost) {
  Fixture fixture(8);
  std::size_t left = 0;
  fixture.on_get = [&](std::uint64_t) { left = fixture.posted(); };
  for (std::uint64_t i = 0; i < 40; ++i) {
    fixture.post_write(registers, OAE_HOST_PORT_EVENT_AT(0), &i, 8);
  }
  for (int i = 0; i < 8; ++i) fixture.clock();
  const std::size_t before = fixture.posted();
  fixture.post_get(OAE_FIRMWARE_IRQ_ENABLE);
  fixture.drain();
  EXPECT_GE(left + 4, before) << "of the writes that were posted before";
}

TEST(Latency, OfADeadlineIsATurnOfEachSide) {
  Fixture fixture(8);
  fixture.compare_signals = false;
  swap_to_be_confirmed(fixture, 5'000);
  const std::uint64_t deadline = fixture.top.deadline;
  fixture.sleep(deadline - fixture.now - 20);
  for (int i = 0; i < 200; ++i) {
    fixture.post_read(registers, OAE_HOST_ID, 8);
    fixture.post_get(OAE_FIRMWARE_IRQ_ENABLE);
  }
  while (fixture.signals.empty() && fixture.posted() != 0) fixture.clock();
  EXPECT_FALSE(fixture.signals.empty());
  EXPECT_LE(fixture.now - deadline, 40u);
  fixture.drain();
}

// A reset of the function is one turn of each port, and the next one begins with the first port
// again.
TEST(Latency, OfAResetIsATurnOfEachPort) {
  Fixture fixture(8);
  for (int i = 0; i < 3; ++i) {
    const std::uint64_t begin = fixture.now;
    fixture.function_reset();
    EXPECT_LE(fixture.now - begin, 8 * 4u) << i;
  }
}

}  // namespace
