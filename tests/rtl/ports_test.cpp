// SPDX-License-Identifier: Apache-2.0
// How many ports there are, and how long one waits for the others.
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/rtl/block_fixture.h"

namespace {

TEST(Ports, AsManyAsTheStrapSays) {
  for (const unsigned count : {1u, 2u, 63u, 64u}) {
    Bench bench(count);
    EXPECT_EQ(OAE_GET(bench.read(registers, OAE_HOST_ID), OAE_HOST_ID_PORTS), count);
    const unsigned last = count - 1;
    bench.write(registers, OAE_HOST_PORT_CELL_AT(last), 0x40);
    bench.write(registers, OAE_HOST_PORT_CONTROL_AT(last), 1);
    bench.put(OAE_FIRMWARE_IRQ_ENABLE, all);
    EXPECT_EQ(bench.get(OAE_FIRMWARE_IRQ_STATUS), std::uint64_t{1} << last);
    Header header;
    header.epoch = 1;
    header.sequence = 1;
    bench.publish(last, make_slot(header, 1));
    bench.write_slot(last, make_slot(header, 2));
    EXPECT_EQ(bench.answer(last), header.word());
    EXPECT_EQ(bench.get(OAE_FIRMWARE_TENTATIVE_AT(last) + 8), make_slot(header, 2)[1]);
    if (count == 64) continue;
    bench.write(registers, OAE_HOST_PORT_CONTROL_AT(count), 1);
    EXPECT_EQ(bench.read(registers, OAE_HOST_PORT_CONTROL_AT(count)), 0u);
    bench.get(OAE_FIRMWARE_STATUS_AT(count));
    EXPECT_TRUE(bench.error);
  }
}

TEST(Ports, DoNotTouchEachOther) {
  Bench bench(64);
  for (unsigned i = 0; i < 64; ++i) {
    bench.write(registers, OAE_HOST_PORT_CELL_AT(i), 64 * (i + 1));
    for (unsigned j = 0; j < i % 3; ++j) {
      bench.write(registers, OAE_HOST_PORT_CONTROL_AT(i), 0);
      bench.write(registers, OAE_HOST_PORT_CONTROL_AT(i), 1);
    }
    bench.put(OAE_FIRMWARE_OFFER_AT(i), i);
  }
  for (unsigned i = 0; i < 64; ++i) {
    EXPECT_EQ(bench.read(registers, OAE_HOST_PORT_CELL_AT(i)), 64 * (i + 1));
    EXPECT_EQ(OAE_GET(bench.read(registers, OAE_HOST_PORT_STATE_AT(i)), OAE_HOST_PORT_STATE_EPOCH),
              i % 3);
    EXPECT_EQ(bench.get(OAE_FIRMWARE_OFFER_AT(i)), i);
  }
}

// However busy the firmware is, a read is answered within this many clocks.
TEST(Latency, IsBounded) {
  Bench bench(8);
  bench.write(registers, OAE_HOST_PORT_CELL_AT(0), 0x40);
  bench.write(registers, OAE_HOST_PORT_CONTROL_AT(0), 1);
  std::uint64_t worst = 0;
  for (std::uint32_t n = 1; n < 200; ++n) {
    Header header;
    header.epoch = 1;
    header.sequence = n;
    for (unsigned i = 0; i < 8; ++i) {
      bench.post_put(OAE_FIRMWARE_OFFER_AT(0) + 8 * i, make_slot(header, n)[i]);
    }
    bench.post_put(OAE_FIRMWARE_COMMAND_AT(0), 3);
    for (int i = 0; i < 40; ++i) bench.post_get(OAE_FIRMWARE_COMMITTED_AT(0) + 8 * (i % 8));
    for (unsigned i = 0; i < n % 97; ++i) bench.clock();
    const Slot slot = make_slot(header, n);
    bench.post_write(pages, OAE_PORT_WINDOW, slot.data(), 64);
    bench.post_read(pages, OAE_PORT_PUSHED_ANSWER, 8);
    const std::uint64_t start = bench.now;
    const unsigned cells = bench.cells;
    while (bench.cells == cells) bench.clock();
    worst = std::max(worst, bench.now - start);
    bench.post_write(pages, OAE_PORT_CONFIRM, slot.data(), 8);
    bench.drain();
  }
  EXPECT_LE(worst, 24u) << "write, read and a turn of the firmware before each";
}

}  // namespace
