// SPDX-License-Identifier: Apache-2.0
// Ordering on the whole path: nothing passes a posted write.
#include <gtest/gtest.h>

#include "tests/models/pcie/fixture.h"

namespace pcie {
namespace {

// The pushed answer of a device: it writes memory, then completes the processor's read.
TEST(Ordering, ACompletionDoesNotPassTheDevicesWrites) {
  Fixture::Config config;
  config.link = {3, 1, 10 * vp::ns, 10 * vp::ns};  // slow: the writes take long
  config.link.transmit_queue = roomy;
  Fixture fixture(config);
  fixture.logic.on_use = [&](const Logic::Use& use) {
    if (use.write) return;
    std::vector<std::uint8_t> data(2048, static_cast<std::uint8_t>(use.offset / 8));
    fixture.logic.dma_write(0x4000, data);
  };
  fixture.run([&] {
    fixture.enumerate();
    for (unsigned i = 1; i < 50; ++i) {
      fixture.read(Fixture::bar0 + 8 * i, 8);
      EXPECT_EQ(fixture.memory.bytes[0x4000], i);
      EXPECT_EQ(fixture.memory.bytes[0x4000 + 2047], i);
    }
  });
}

TEST(Ordering, AMessageDoesNotPassTheDevicesWrites) {
  Fixture fixture;
  fixture.run([&] {
    fixture.enumerate();
    const unsigned msi_x = fixture.find_capability(Fixture::device, MsiX::id);
    fixture.config_write(Fixture::device, msi_x + MsiX::message_control, MsiX::ControlBit::enable,
                         2);
    fixture.write(Fixture::msi_x_table, 0xfee00000, 8);
    fixture.write(Fixture::msi_x_table + 8, 0x21, 8);
    fixture.read(Fixture::msi_x_table, 8);
    fixture.logic.dma_write(0x4000, std::vector<std::uint8_t>(4096, 7));
    fixture.endpoint.function(0).signal(0);
    sc_core::wait(100, sc_core::SC_US);
    ASSERT_EQ(fixture.memory.messages.size(), 1u);
    ASSERT_FALSE(fixture.memory.writes.empty());
    EXPECT_GE(fixture.memory.messages[0].when, fixture.memory.writes.back().when);
  });
}

// Posted writes and then a read of them, in order, whatever the sizes.
TEST(Ordering, AProcessorsReadPushesItsWrites) {
  Fixture::Config config;
  config.link = {1, 1, 500 * vp::ns, 10 * vp::ns};
  config.link.transmit_queue = roomy;
  Fixture fixture(config);
  fixture.run([&] {
    fixture.enumerate();
    for (unsigned i = 0; i < 200; ++i) {
      for (unsigned part = 0; part < 4; ++part) {
        fixture.write(Fixture::bar2 + 8 * part, 1000 * i + part, 8);
      }
      const unsigned part = i % 4;
      ASSERT_EQ(fixture.read(Fixture::bar2 + 8 * part, 8), 1000 * i + part);
    }
    unsigned last = 0;
    for (const auto& use : fixture.logic.uses) {
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
  Fixture fixture;
  fixture.memory.read_time = 50 * vp::ns;
  fixture.run([&] {
    fixture.enumerate();
    for (unsigned i = 0; i < 100; ++i) {
      fixture.logic.dma_write(0x4000, std::vector<std::uint8_t>(256, i));
      auto read = fixture.logic.dma_read(0x4000, 256);
      fixture.wait_for(*read);
      EXPECT_EQ(read->data, std::vector<std::uint8_t>(256, i));
    }
  });
}

// While a read waits inside the device, writes go on to it; else a device whose answer depends on
// a write would never answer.
TEST(Ordering, WritesReachADeviceThatHoldsARead) {
  Fixture fixture;
  fixture.logic.latency = 100 * vp::us;
  vp::Picoseconds written = 0, answered = 0;
  fixture.logic.on_use = [&](const Logic::Use& use) {
    if (use.write) written = vp::now();
  };
  fixture.run([&] {
    fixture.enumerate();
    fixture.spawn([&] {
      fixture.read(Fixture::bar2, 8);
      answered = vp::now();
    });
    sc_core::wait(10, sc_core::SC_US);
    fixture.write(Fixture::bar2 + 8, 1, 8);
  });
  EXPECT_GT(written, 0);
  EXPECT_LT(written, answered - 50 * vp::us);
}

// Completions of memory reads wait for memory; a processor's write is not held up behind them.
// Also where memory answers a later read sooner.
TEST(Ordering, CompletionsKeepTheOrderOfTheirReads) {
  Fixture fixture;
  fixture.run([&] {
    fixture.enumerate();
    fixture.memory.read_time = 20 * vp::us;
    const auto slow = fixture.logic.dma_read(0x1000, 64);
    sc_core::wait(10, sc_core::SC_US);
    fixture.memory.read_time = 0;
    const auto fast = fixture.logic.dma_read(0x2000, 64);
    fixture.wait_for(*fast);
    fixture.wait_for(*slow);
    EXPECT_GE(slow->when, 20 * vp::us);
    EXPECT_GT(fast->when, slow->when);
  });
}

TEST(Ordering, MemoryTimeDoesNotHoldUpWrites) {
  Fixture fixture;
  fixture.memory.read_time = 500 * vp::us;
  vp::Picoseconds written = 0;
  fixture.logic.on_use = [&](const Logic::Use&) { written = vp::now(); };
  fixture.run([&] {
    fixture.enumerate();
    const vp::Picoseconds start = vp::now();
    auto read = fixture.logic.dma_read(0x1000, 64);
    sc_core::wait(10, sc_core::SC_US);
    fixture.write(Fixture::bar2, 1, 8);
    fixture.wait_for(*read);
    EXPECT_LT(written - start, 20 * vp::us);
  });
}

}  // namespace
}  // namespace pcie
