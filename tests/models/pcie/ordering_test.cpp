// SPDX-License-Identifier: Apache-2.0
// Who passes whom: nothing passes a posted write.
#include <gtest/gtest.h>

#include "tests/models/pcie/bench.h"

namespace pcie {
namespace {

// The pushed answer of a device: it writes memory, then completes the processor's read.
TEST(Ordering, ACompletionDoesNotPassTheDevicesWrites) {
  Bench::Config config;
  config.link = {3, 1, 10 * vp::ns, 10 * vp::ns};  // slow: the writes take long
  Bench bench(config);
  bench.logic.on_use = [&](const Logic::Use& use) {
    if (use.write) return;
    std::vector<std::uint8_t> data(2048, static_cast<std::uint8_t>(use.offset / 8));
    bench.logic.dma_write(0x4000, data);
  };
  bench.run([&] {
    bench.enumerate();
    for (unsigned i = 1; i < 50; ++i) {
      bench.read(Bench::bar0 + 8 * i, 8);
      EXPECT_EQ(bench.memory.bytes[0x4000], i);
      EXPECT_EQ(bench.memory.bytes[0x4000 + 2047], i);
    }
  });
}

TEST(Ordering, AMessageDoesNotPassTheDevicesWrites) {
  Bench bench;
  bench.run([&] {
    bench.enumerate();
    const unsigned msi_x = bench.find_capability(Bench::device, 0x11);
    bench.config_write(Bench::device, msi_x + 2, 0x8000, 2);
    bench.write(Bench::msi_x_table, 0xfee00000, 8);
    bench.write(Bench::msi_x_table + 8, 0x21, 8);
    bench.read(Bench::msi_x_table, 8);
    bench.logic.dma_write(0x4000, std::vector<std::uint8_t>(4096, 7));
    bench.endpoint.function(0).signal(0);
    sc_core::wait(100, sc_core::SC_US);
    ASSERT_EQ(bench.memory.messages.size(), 1u);
    ASSERT_FALSE(bench.memory.writes.empty());
    EXPECT_GE(bench.memory.messages[0].when, bench.memory.writes.back().when);
  });
}

// Posted writes and then a read of them, in order, whatever the sizes.
TEST(Ordering, AProcessorsReadPushesItsWrites) {
  Bench::Config config;
  config.link = {1, 1, 500 * vp::ns, 10 * vp::ns};
  Bench bench(config);
  bench.run([&] {
    bench.enumerate();
    for (unsigned i = 0; i < 200; ++i) {
      for (unsigned part = 0; part < 4; ++part) {
        bench.write(Bench::bar2 + 8 * part, 1000 * i + part, 8);
      }
      const unsigned part = i % 4;
      ASSERT_EQ(bench.read(Bench::bar2 + 8 * part, 8), 1000 * i + part);
    }
    unsigned last = 0;
    for (const auto& use : bench.logic.uses) {
      if (!use.write) {
        EXPECT_EQ(last, 4u) << "writes before each read";
        last = 0;
      } else {
        EXPECT_EQ(use.offset, 8 * last);
        ++last;
      }
    }
  });
}

TEST(Ordering, ADevicesReadPushesItsWrites) {
  Bench bench;
  bench.memory.read_time = 50 * vp::ns;
  bench.run([&] {
    bench.enumerate();
    for (unsigned i = 0; i < 100; ++i) {
      bench.logic.dma_write(0x4000, std::vector<std::uint8_t>(256, i));
      auto read = bench.logic.dma_read(0x4000, 256);
      bench.wait_for(*read);
      EXPECT_EQ(read->data, std::vector<std::uint8_t>(256, i));
    }
  });
}

// While a read waits inside the device, writes go on to it; else a device whose answer depends on
// a write would never answer.
TEST(Ordering, WritesReachADeviceThatHoldsARead) {
  Bench bench;
  bench.logic.latency = 100 * vp::us;
  vp::Picoseconds written = 0, answered = 0;
  bench.logic.on_use = [&](const Logic::Use& use) {
    if (use.write) written = vp::now();
  };
  bench.run([&] {
    bench.enumerate();
    bench.spawn([&] {
      bench.read(Bench::bar2, 8);
      answered = vp::now();
    });
    sc_core::wait(10, sc_core::SC_US);
    bench.write(Bench::bar2 + 8, 1, 8);
  });
  EXPECT_GT(written, 0);
  EXPECT_LT(written, answered - 50 * vp::us);
}

// Completions of memory reads wait for memory; a processor's write is not held up behind them.
// Also where memory answers a later read sooner.
TEST(Ordering, CompletionsKeepTheOrderOfTheirReads) {
  Bench bench;
  bench.run([&] {
    bench.enumerate();
    bench.memory.read_time = 20 * vp::us;
    const auto slow = bench.logic.dma_read(0x1000, 64);
    sc_core::wait(10, sc_core::SC_US);
    bench.memory.read_time = 0;
    const auto fast = bench.logic.dma_read(0x2000, 64);
    bench.wait_for(*fast);
    bench.wait_for(*slow);
    EXPECT_GE(slow->when, 20 * vp::us);
    EXPECT_GT(fast->when, slow->when);
  });
}

TEST(Ordering, MemoryTimeDoesNotHoldUpWrites) {
  Bench bench;
  bench.memory.read_time = 500 * vp::us;
  vp::Picoseconds written = 0;
  bench.logic.on_use = [&](const Logic::Use&) { written = vp::now(); };
  bench.run([&] {
    bench.enumerate();
    const vp::Picoseconds start = vp::now();
    auto read = bench.logic.dma_read(0x1000, 64);
    sc_core::wait(10, sc_core::SC_US);
    bench.write(Bench::bar2, 1, 8);
    bench.wait_for(*read);
    EXPECT_LT(written - start, 20 * vp::us);
  });
}

}  // namespace
}  // namespace pcie
