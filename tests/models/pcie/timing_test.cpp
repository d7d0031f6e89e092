// SPDX-License-Identifier: Apache-2.0
// The time of accesses through the whole path, to the picosecond.
#include <gtest/gtest.h>

#include "tests/models/pcie/data_link/line_rate_table.h"
#include "tests/models/pcie/fixture.h"

namespace pcie {
namespace {

struct Case {
  unsigned generation, lanes;
};

vp::Picoseconds wire_time(const Case& link, unsigned bytes) {
  return expected_rate(link.generation, link.lanes).own.time_of(bytes);
}

class Timing : public testing::TestWithParam<Case> {};

TEST_P(Timing, RoundTripOfReads) {
  Fixture::Config config;
  config.link.generation = GetParam().generation;
  config.link.lanes = GetParam().lanes;
  config.link.latency_down = 123'457;
  config.link.latency_up = 98'765;
  config.root_complex.latency = 150'001;
  config.endpoint.latency = 33'333;
  Fixture fixture(config);
  const vp::Picoseconds fixed = 123'457 + 98'765 + 2 * 150'001 + 2 * 33'333;
  fixture.run([&] {
    fixture.enumerate();
    for (const unsigned bytes : {1u, 2u, 4u, 8u, 16u, 32u, 64u}) {
      pause(10 * vp::us);  // all acknowledgements have left
      vp::Picoseconds start = vp::now();
      fixture.read_bytes(Fixture::bar0, bytes);
      EXPECT_EQ(vp::now() - start,
                fixed + wire_time(GetParam(), 20) + wire_time(GetParam(), 20 + (bytes + 3) / 4 * 4))
          << bytes;
      pause(10 * vp::us);
      start = vp::now();
      fixture.read_bytes(Fixture::bar2, bytes);  // 64-bit address, 4 DW header
      EXPECT_EQ(vp::now() - start,
                fixed + wire_time(GetParam(), 24) + wire_time(GetParam(), 20 + (bytes + 3) / 4 * 4))
          << bytes;
    }
    fixture.logic.latency = 40'000;
    pause(10 * vp::us);
    vp::Picoseconds start = vp::now();
    fixture.read(Fixture::bar0, 4);
    EXPECT_EQ(vp::now() - start,
              fixed + 40'000 + wire_time(GetParam(), 20) + wire_time(GetParam(), 24));
    pause(10 * vp::us);
    start = vp::now();
    fixture.write(Fixture::bar0, 0, 8);
    EXPECT_EQ(vp::now(), start) << "posted";
    fixture.config_read(Fixture::device, Header::vendor_id, 4);
    EXPECT_EQ(vp::now() - start, fixed + wire_time(GetParam(), 28 + 20) + wire_time(GetParam(), 24))
        << "behind the write";
    start = vp::now();
    fixture.config_read(Fixture::root_port, Header::vendor_id, 4);
    EXPECT_EQ(vp::now() - start, 2 * 150'001);
  });
}

INSTANTIATE_TEST_SUITE_P(Links, Timing, testing::ValuesIn([] {
                           std::vector<Case> cases;
                           for (unsigned generation = 1; generation <= 5; ++generation) {
                             for (unsigned lanes = 1; lanes <= 16; lanes *= 2)
                               cases.push_back({generation, lanes});
                           }
                           return cases;
                         }()),
                         [](const auto& info) {
                           return "Gen" + std::to_string(info.param.generation) + "x" +
                                  std::to_string(info.param.lanes);
                         });

TEST(DmaTiming, ReadTakesBothWaysAndMemory) {
  Fixture::Config config;
  config.link = {3, 8, 100 * vp::ns, 70 * vp::ns};
  config.link.transmit_queue = roomy;
  config.root_complex.latency = 60 * vp::ns;
  config.root_complex.memory_latency = 90 * vp::ns;
  config.endpoint.latency = 20 * vp::ns;
  Fixture fixture(config);
  fixture.memory.read_time = 5 * vp::ns;
  fixture.run([&] {
    fixture.enumerate();
    const vp::Picoseconds start = vp::now();
    auto dma = fixture.logic.dma_read(0x2000, 64);
    fixture.wait_for(*dma);
    EXPECT_EQ(dma->when - start, (100 + 70 + 2 * 60 + 90 + 2 * 20 + 5) * vp::ns +
                                     wire_time({3, 8}, 20) + wire_time({3, 8}, 84));
  });
}

// To the local APIC, each with its own time and none before another; what else is written there, or
// near it, is no message.
TEST(InterruptTiming, MessagesTakeTheirLatencyBehindTheRootComplex) {
  Fixture::Config config;
  config.link = {3, 8, 100 * vp::ns, 70 * vp::ns};
  config.link.transmit_queue = roomy;
  config.root_complex.latency = 60 * vp::ns;
  config.root_complex.interrupt_latency = 1'080 * vp::ns;
  config.endpoint.latency = 20 * vp::ns;
  Fixture fixture(config);
  fixture.run([&] {
    fixture.enumerate();
    const vp::Picoseconds path = (20 + 70 + 60) * vp::ns;
    const auto send = [&](std::uint64_t address, std::vector<std::uint8_t> data) {
      fixture.logic.dma_write(address, data);
    };
    const vp::Picoseconds start = vp::now();
    send(0xfee00000, {0x21, 0, 0, 0});
    sc_core::wait(vp::to_sc_time(500 * vp::ns));
    send(0xfeeffffc, {0x22, 0, 0, 0});
    send(0x1000, {1, 2, 3, 4});
    sc_core::wait(vp::to_sc_time(2 * vp::us));
    const auto& messages = fixture.memory.messages;
    ASSERT_EQ(messages.size(), 2u);
    EXPECT_EQ(messages[0].when - start, path + wire_time({3, 8}, 24) + 1'080 * vp::ns);
    EXPECT_EQ(messages[0].data[0], 0x21);
    EXPECT_EQ(messages[1].when - messages[0].when, 500 * vp::ns);
    EXPECT_EQ(messages[1].address, 0xfeeffffcu);
    EXPECT_EQ(fixture.memory.writes.back().when - start,
              500 * vp::ns + path + wire_time({3, 8}, 48))
        << "memory is not behind it";

    send(0xfee00000, {0x23, 0, 0, 0});
    sc_core::wait(vp::to_sc_time(500 * vp::ns));
    fixture.root_complex.reset();
    sc_core::wait(vp::to_sc_time(2 * vp::us));
    EXPECT_EQ(messages.size(), 2u) << "a reset host has forgotten it";
  });
}

// Streams back to back take no more than their bytes.
TEST(DmaTiming, WritesReachTheGoodputOfTheLink) {
  Fixture::Config config;
  config.link = {4, 16, 100 * vp::ns, 100 * vp::ns};
  config.link.transmit_queue = roomy;
  Fixture fixture(config);
  fixture.run([&] {
    fixture.enumerate();
    fixture.set_sizes(256, 512);
    const vp::Picoseconds start = vp::now();
    // To 32-bit addresses, whose header is 4 bytes shorter.
    for (unsigned i = 0; i < 1000; ++i) {
      fixture.logic.dma_write(256 * (i % 1024), std::vector<std::uint8_t>(256));
    }
    sc_core::wait(1, sc_core::SC_MS);
    EXPECT_EQ(fixture.memory.writes.size(), 1000u);
    EXPECT_EQ(fixture.memory.writes.back().when - start,
              100 * vp::ns + wire_time({4, 16}, 276 * 1000));
  });
}

}  // namespace
}  // namespace pcie
