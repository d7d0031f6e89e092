// SPDX-License-Identifier: Apache-2.0
// Links that sleep while nothing is sent (PCIe 5.0, 5.4.1), and what it costs to wake them.
#include "models/pcie/link/active_state.h"

#include <gtest/gtest.h>

#include <cmath>

#include "models/pcie/protocol/configuration_error.h"
#include "tests/models/pcie/reset_fixture.h"

namespace pcie {
namespace {

constexpr vp::Picoseconds l0s_after = 700 * vp::ns, l1_after = 5 * vp::us;

struct SleepyFixture : ResetFixture {
  explicit SleepyFixture(unsigned states, unsigned generation = 4)
      : SleepyFixture(configuration(states, generation)) {}
  explicit SleepyFixture(const Config& config) : ResetFixture(config) {}
  static Config configuration(unsigned states, unsigned generation = 4) {
    Config config = ResetFixture::configuration();
    config.root_complex.ports[0].generation = generation;
    config.root_complex.ports[0].active_states = states;
    config.endpoint.generation = generation;
    config.endpoint.active_states = states;
    config.link.generation = generation;
    config.link.l0s_after = l0s_after;
    config.link.l1_after = l1_after;
    return config;
  }
  void enable(Id id, unsigned states) {
    config_write(id, (id == device ? express : port_express) + 0x10, states, 2);
  }
  void enable_both(unsigned states) {
    enable(root_port, states);
    enable(device, states);
  }
  // Both directions have L0s, and both have been used.
  void begin_with_l0s() {
    begin();
    enable_both(l0s);
    read(bar0, 4);
  }
  vp::Picoseconds time_of_read() {
    const vp::Picoseconds start = vp::now();
    read(bar0, 4);
    return vp::now() - start;
  }
  // Of a write of the card until it is in memory.
  vp::Picoseconds time_of_write() {
    const vp::Picoseconds start = vp::now();
    logic.dma_write(0x1000, {1, 2, 3, 4});
    pause(10 * vp::us);
    return memory.writes.back().when - start;
  }
  // After nothing was sent for `idle`: the way down, since the completion before was acknowledged.
  vp::Picoseconds time_after(vp::Picoseconds idle) {
    time_of_read();
    pause(idle);
    return time_of_read();
  }
};

class Generations : public testing::TestWithParam<unsigned> {};

TEST_P(Generations, ALinkInL1WakesInBothDirectionsAtOnce) {
  const unsigned generation = GetParam();
  const double tolerance = generation == 6 ? 2'400 : 1;  // two flits
  SleepyFixture fixture(l1, generation);
  fixture.run([&] {
    fixture.begin();
    const vp::Picoseconds awake = fixture.time_after(0);
    EXPECT_NEAR(static_cast<double>(fixture.time_after(1 * vp::ms)), static_cast<double>(awake),
                tolerance)
        << "software has not enabled it";
    const vp::Picoseconds exit = exit_latency(l1, generation);
    for (const unsigned enabled : {0u, 1u, 2u, 3u}) {
      fixture.enable(Fixture::root_port, enabled & 1 ? unsigned{l1} : 0u);
      fixture.enable(Fixture::device, enabled & 2 ? unsigned{l1} : 0u);
      const vp::Picoseconds more = enabled == 3 ? exit : 0;
      EXPECT_NEAR(static_cast<double>(fixture.time_after(l1_after)), static_cast<double>(awake),
                  tolerance);
      EXPECT_NEAR(static_cast<double>(fixture.time_after(l1_after + 10)),
                  static_cast<double>(awake + more), tolerance);
      EXPECT_NEAR(static_cast<double>(fixture.time_after(1 * vp::ms)),
                  static_cast<double>(awake + more), tolerance);
    }
    // The card wakes the link, and the host finds one or both directions awake.
    pause(1 * vp::ms);
    auto dma = fixture.logic.dma_write(0x1000, {1, 2, 3, 4});
    const vp::Picoseconds start = vp::now();
    fixture.time_of_read();
    const vp::Picoseconds half = vp::now() - start;
    EXPECT_NEAR(static_cast<double>(half), static_cast<double>(awake + exit), tolerance);
    EXPECT_EQ(fixture.memory.at(0x1000, 4), (std::vector<std::uint8_t>{1, 2, 3, 4}));
    EXPECT_NEAR(static_cast<double>(fixture.memory.writes.back().when),
                static_cast<double>(start + exit + 200 * vp::ns), 20'000);
  });
}

TEST_P(Generations, OneDirectionWakesFromL0sAlone) {
  const unsigned generation = GetParam();
  if (generation == 6) return;
  SleepyFixture fixture(l0s, generation);
  fixture.run([&] {
    fixture.begin();
    const vp::Picoseconds awake = fixture.time_after(0);
    const vp::Picoseconds exit = exit_latency(l0s, generation);
    // A port decides for what it sends.
    fixture.enable(Fixture::root_port, l0s);
    EXPECT_EQ(fixture.time_after(l0s_after), awake);
    EXPECT_NEAR(static_cast<double>(fixture.time_after(l0s_after + 10)),
                static_cast<double>(awake + exit), 1);
    EXPECT_NEAR(static_cast<double>(fixture.time_after(1 * vp::ms)),
                static_cast<double>(awake + exit), 1);
    // The way up is woken by the acknowledgement of the request, so that the answer, which the
    // endpoint gives at once here, waits as long.
    fixture.enable(Fixture::root_port, 0);
    fixture.enable(Fixture::device, l0s);
    EXPECT_NEAR(static_cast<double>(fixture.time_after(1 * vp::ms)),
                static_cast<double>(awake + exit), 1);
    fixture.logic.latency = exit / 4;
    EXPECT_NEAR(static_cast<double>(fixture.time_after(1 * vp::ms)),
                static_cast<double>(awake + exit), 1);
    fixture.logic.latency = exit + 100 * vp::ns;
    EXPECT_NEAR(static_cast<double>(fixture.time_after(1 * vp::ms)),
                static_cast<double>(awake + exit + 100 * vp::ns), 1);
    fixture.logic.latency = 0;
    fixture.enable(Fixture::root_port, l0s);
    EXPECT_NEAR(static_cast<double>(fixture.time_after(1 * vp::ms)),
                static_cast<double>(awake + 2 * exit), 1);
  });
}
INSTANTIATE_TEST_SUITE_P(ActiveState, Generations, testing::Range(1u, 7u));

TEST(ActiveState, TheDeeperOneCounts) {
  SleepyFixture fixture(l0s | l1, 4);
  fixture.run([&] {
    fixture.begin();
    fixture.enable_both(l0s | l1);
    const vp::Picoseconds awake = fixture.time_after(0);
    const vp::Picoseconds of_l0s = exit_latency(l0s, 4), of_l1 = exit_latency(l1, 4);
    EXPECT_NEAR(static_cast<double>(fixture.time_after(l0s_after + 10)),
                static_cast<double>(awake + 2 * of_l0s), 1);
    EXPECT_NEAR(static_cast<double>(fixture.time_after(l1_after)),
                static_cast<double>(awake + 2 * of_l0s), 1);
    // Since then: the acknowledgement of the completion has woken the way down from L0s.
    EXPECT_NEAR(static_cast<double>(fixture.time_after(l1_after + of_l0s)),
                static_cast<double>(awake + 2 * of_l0s), 1);
    EXPECT_NEAR(static_cast<double>(fixture.time_after(l1_after + of_l0s + 10)),
                static_cast<double>(awake + of_l1), 1);
  });
}

TEST(ActiveState, WhatSoftwareOrTheLinkDoesCountsAsUse) {
  SleepyFixture fixture(l1, 4);
  fixture.run([&] {
    fixture.begin();
    fixture.enable(Fixture::device, l1);
    const vp::Picoseconds awake = fixture.time_after(0);
    pause(1 * vp::ms);
    fixture.enable(Fixture::root_port, l1);  // a register of the port itself
    EXPECT_EQ(fixture.time_of_read(), awake) << "it has just been allowed to sleep";
    fixture.config_write(Fixture::root_port, fixture.port_express + PciExpress::link_control_2, 2,
                         2);
    fixture.config_write(Fixture::root_port, fixture.port_express + PciExpress::link_control,
                         1u << 5 | l1, 2);
    pause(20 * vp::us);
    const vp::Picoseconds slower = fixture.time_of_read();
    EXPECT_LT(slower, awake + 100 * vp::ns) << "Recovery is no sleep";
    EXPECT_NEAR(static_cast<double>(fixture.time_after(1 * vp::ms)),
                static_cast<double>(slower + exit_latency(l1, 2)), 1)
        << "for the current speed";
    fixture.hold();
    fixture.release();
    fixture.wait_for_link();
    fixture.begin();
    EXPECT_EQ(fixture.config_read(Fixture::device, fixture.express + PciExpress::link_control, 2),
              0u);
    EXPECT_EQ(fixture.time_after(1 * vp::ms), slower) << "a reset takes back what was enabled";
  });
}

// 7.5.3.7: without ARI all functions have to agree.
TEST(ActiveState, OfFunctions) {
  auto config = SleepyFixture::configuration(l1);
  config.endpoint.functions.resize(2);
  SleepyFixture fixture(config);
  Logic other("other", fixture.card);
  fixture.endpoint.function(1).bar.bind(other.bar);
  other.dma.bind(fixture.endpoint.function(1).dma);
  fixture.run([&] {
    fixture.begin();
    fixture.enable_both(l1);
    const vp::Picoseconds awake = fixture.time_after(0);
    EXPECT_EQ(fixture.time_after(1 * vp::ms), awake);
    fixture.config_write(make_id(1, 0, 1), fixture.express + PciExpress::link_control, l1, 2);
    EXPECT_EQ(fixture.time_after(1 * vp::ms), awake + exit_latency(l1, 4));
  });
}

// A packet that goes up is ready before another one arrives from above, whose ACK would have to
// wake the way up.
TEST(ActiveState, AnAckDelaysNoPacketBeforeIt) {
  SleepyFixture fixture(l0s, 4);
  fixture.run([&] {
    fixture.begin();
    fixture.enable(Fixture::device, l0s);
    const auto after = [&](bool store) {
      fixture.time_of_read();
      pause(500 * vp::ns);
      if (store) fixture.write(Fixture::bar0, 1, 4);
      return fixture.time_of_write();
    };
    const vp::Picoseconds alone = after(false);
    EXPECT_EQ(after(true), alone);
    // One that follows the ACK waits for the rest of the time that it takes to wake.
    fixture.time_of_read();
    pause(5 * vp::us);
    const vp::Picoseconds start = vp::now();
    fixture.write(Fixture::bar0, 1, 4);
    pause(start + 400 * vp::ns - vp::now());
    const vp::Picoseconds waited = fixture.time_of_write() - alone;
    // It arrives after 300 ns on the wire, which its 20 bytes do not make much longer.
    EXPECT_NEAR(static_cast<double>(waited),
                static_cast<double>(exit_latency(l0s, 4) - 100 * vp::ns), 2'000);
  });
}

// A packet that goes down notices an ACK before one that goes up later, which is ready earlier.
TEST(ActiveState, AnAckWakesInTheOrderOfItsDirection) {
  auto config = SleepyFixture::configuration(l0s, 4);
  config.root_complex.latency = 200 * vp::ns;
  SleepyFixture fixture(config);
  fixture.run([&] {
    fixture.begin();
    fixture.enable(Fixture::device, l0s);
    const auto after = [&](unsigned stores) {
      pause(20 * vp::us);
      for (unsigned i = 0; i < stores; ++i) {
        fixture.write(Fixture::bar0 + 4 * i, 1, 4);
        if (i + 1 < stores) pause(350 * vp::ns);
      }
      pause(10 * vp::ns);
      return fixture.time_of_write();
    };
    const vp::Picoseconds alone = after(0);
    EXPECT_EQ(after(2), alone);
  });
}

// Packets that Recovery takes back are acknowledged when they have come again, which is earlier
// here.
TEST(ActiveState, RecoveryForgetsAcks) {
  auto config = SleepyFixture::configuration(l0s, 4);
  config.link.lanes = 1;
  config.link.retraining = 1 * vp::us;
  config.link.transmit_queue = roomy;
  SleepyFixture fixture(config);
  const auto retrain = [&](unsigned generation) {
    fixture.config_write(Fixture::root_port, fixture.port_express + PciExpress::link_control_2,
                         generation, 2);
    fixture.config_write(Fixture::root_port, fixture.port_express + PciExpress::link_control,
                         PciExpress::LinkControlBit::retrain_link, 2);
  };
  fixture.run([&] {
    fixture.begin();
    fixture.enable(Fixture::device, l0s);
    pause(20 * vp::us);
    const vp::Picoseconds asleep = fixture.time_of_write();
    retrain(1);
    pause(20 * vp::us);
    // They take 35 us at 2.5 GT/s, and 5 us at 16 GT/s.
    for (unsigned i = 0; i < 100; ++i) {
      fixture.write_bytes(Fixture::bar0, std::vector<std::uint8_t>(64));
    }
    retrain(4);
    pause(20 * vp::us);
    EXPECT_EQ(fixture.logic.uses.size(), 100u);
    EXPECT_EQ(fixture.link.generation(), 4u);
    EXPECT_EQ(fixture.time_of_write(), asleep);
  });
}

// The ACK of a packet that is on its way keeps the link out of L1.
// Bit errors of a wire that sleeps are put off until it wakes. Software wakes it, too.
TEST(ActiveState, AWireThatSoftwareWakesHasErrors) {
  auto config = SleepyFixture::configuration(l0s);
  config.link.bit_error_rate = 3e-8;
  SleepyFixture fixture(config);
  fixture.run([&] {
    fixture.begin_with_l0s();
    pause(10 * vp::ms);
    const std::uint64_t asleep = fixture.counter("link.down.receiver_errors");
    fixture.enable(Fixture::root_port, 0);
    pause(10 * vp::ms);
    const double awake = static_cast<double>(fixture.counter("link.down.receiver_errors") - asleep);
    const double expected = 16 * 16e9 * 10e-3 * 3e-8;  // lanes, bits in a second, seconds, rate
    EXPECT_NEAR(awake, expected, 5 * std::sqrt(expected));
    EXPECT_EQ(fixture.read(Fixture::bar0, 4), 0u);
  });
}

// The way up sleeps while the device accepts writes, whose credits are in no haste.
TEST(ActiveState, CreditsLeaveAWireThatSleepsWithErrors) {
  auto config = SleepyFixture::configuration(l0s);
  config.link.bit_error_rate = 3e-8;
  config.endpoint.credits.classes[0] = {64, 1024};
  SleepyFixture fixture(config);
  fixture.run([&] {
    fixture.begin_with_l0s();
    fixture.logic.full = true;
    for (unsigned i = 1; i <= 3; ++i) fixture.write(Fixture::bar0, i, 4);
    pause(10 * vp::ms);
    for (unsigned i = 0; i < 2; ++i, pause(10 * vp::us)) fixture.logic.accept();
    fixture.logic.full = false;
    fixture.logic.accept();
    EXPECT_EQ(fixture.read(Fixture::bar0, 4), 3u);
  });
}

// What was to wake a direction later is sent again after Recovery, and wakes nothing.
TEST(ActiveState, RecoveriesPutNoPacketOff) {
  constexpr unsigned writes = 200;
  auto config = SleepyFixture::configuration(l0s);
  config.link.lanes = 1;
  config.link.l0s_after = 0;
  config.link.retraining = 1 * vp::us;
  config.link.transmit_queue = roomy;
  config.link.bit_error_rate = 1e-15;  // none happens, but any may
  SleepyFixture fixture(config);
  fixture.run([&] {
    fixture.begin();
    fixture.set_sizes(256, 512);
    fixture.enable_both(l0s);
    pause(10 * vp::us);
    const vp::Picoseconds start = vp::now();
    std::vector<std::unique_ptr<Logic::Dma>> all;
    for (unsigned i = 0; i < writes; ++i) {
      all.push_back(fixture.logic.dma_write(0x1000 * i, std::vector<std::uint8_t>(256)));
    }
    for (unsigned i = 0; i < 5; ++i) fixture.write(Fixture::bar0, i, 4);
    for (unsigned i = 0; i < 20; ++i) {
      fixture.config_write(Fixture::root_port, fixture.port_express + PciExpress::link_control,
                           l0s | PciExpress::LinkControlBit::retrain_link, 2);
      pause(10 * vp::us);
    }
    ASSERT_EQ(fixture.memory.writes.size(), writes);
    // 256 bytes and 20 of header and framing in 128b/130b at 16 GT/s: 140 ns. Three Recoveries meet
    // the writes. Each takes 1 us, and what was on its way for 300 ns and 200 ns is sent again.
    EXPECT_LT(fixture.memory.writes.back().when - start, writes * 141 * vp::ns + 3 * 2 * vp::us);
  });
}

TEST(ActiveState, NoLinkSleepsBeforeAPacketIsAcknowledged) {
  auto config = SleepyFixture::configuration(l1, 4);
  config.link.l1_after = 100 * vp::ns;
  SleepyFixture fixture(config);
  fixture.run([&] {
    fixture.begin();
    const auto after_a_store = [&] {
      fixture.time_of_read();
      fixture.write(Fixture::bar0, 1, 4);
      pause(250 * vp::ns);
      return fixture.time_of_write();
    };
    const vp::Picoseconds awake = after_a_store();
    fixture.enable_both(l1);
    EXPECT_EQ(after_a_store(), awake);
  });
}

// 5.4.1.3.1: a link enters L1 only while its senders have credits for the largest packet. What
// waits for credits finds it in L0, and so does any other packet.
TEST(ActiveState, ALinkWithoutCreditsStaysOutOfL1) {
  auto config = SleepyFixture::configuration(l0s | l1, 4);
  config.endpoint.credits.classes[0] = {1, 0};
  SleepyFixture fixture(config);
  // From the moment at which device logic takes the first of three writes until it gets the third.
  const auto time_of_third = [&] {
    std::vector<vp::Picoseconds> uses;
    fixture.logic.on_use = [&](const Logic::Use&) { uses.push_back(vp::now()); };
    fixture.logic.full = true;
    for (unsigned i = 0; i < 3; ++i) fixture.write(Fixture::bar0 + 4 * i, i, 4);
    pause(100 * vp::us);
    fixture.logic.full = false;
    const vp::Picoseconds start = vp::now();
    fixture.logic.accept();
    pause(100 * vp::us);
    fixture.logic.on_use = nullptr;
    EXPECT_EQ(uses.size(), 3u);
    return uses.back() - start;
  };
  fixture.run([&] {
    fixture.begin();
    const vp::Picoseconds awake = time_of_third();
    const auto slower_by = [&](vp::Picoseconds span) {
      EXPECT_NEAR(static_cast<double>(time_of_third()), static_cast<double>(awake + span), 1);
    };
    fixture.enable_both(l1);
    slower_by(0);
    EXPECT_NEAR(static_cast<double>(fixture.time_after(100 * vp::us)),
                static_cast<double>(fixture.time_after(0) + exit_latency(l1, 4)), 1)
        << "one header credit is enough for an idle link";
    // A direction enters L0s whatever its credits are. These wake the way up.
    fixture.enable(Fixture::root_port, 0);
    fixture.enable(Fixture::device, l0s);
    slower_by(exit_latency(l0s, 4));
    fixture.enable(Fixture::root_port, l0s);
    slower_by(2 * exit_latency(l0s, 4));
    // A read may not sleep either while a write lacks its credit, nor before it has come back.
    fixture.enable_both(l1);
    const vp::Picoseconds read = fixture.time_after(0);
    fixture.logic.full = true;
    for (unsigned i = 0; i < 2; ++i) fixture.write(Fixture::bar0 + 4 * i, i, 4);
    pause(100 * vp::us);
    auto dma = fixture.logic.dma_write(0x1000, {1, 2, 3, 4});
    const vp::Picoseconds start = vp::now();
    pause(50 * vp::us);
    EXPECT_LT(fixture.memory.writes.back().when - start, 1 * vp::us) << "the way up, likewise";
    fixture.logic.full = false;
    fixture.logic.accept();
    pause(100 * vp::us);
    EXPECT_NEAR(static_cast<double>(fixture.time_of_read()),
                static_cast<double>(read + exit_latency(l1, 4)), 1);
  });
}

// The first credits of a burst wake their direction, and those that follow must not pass them. None
// are lost or given twice, or else one of the last writes would not leave, or too early.
TEST(ActiveState, CreditsThatWakeTheirDirectionStayInOrder) {
  auto config = SleepyFixture::configuration(l0s, 3);
  config.root_complex.ports[0].credits.classes[0] = {64, 32};
  config.link.l0s_after = 100 * vp::ns;
  config.link.transmit_queue = roomy;
  SleepyFixture fixture(config);
  std::size_t expected = 0;
  fixture.run([&] {
    fixture.begin();
    fixture.set_sizes(256, 512);
    fixture.enable(Fixture::root_port, l0s);
    for (unsigned burst = 0; burst < 20; ++burst) {
      std::vector<std::unique_ptr<Logic::Dma>> writes;
      for (unsigned i = 0; i < 40 + burst; ++i) {
        writes.push_back(fixture.logic.dma_write(0x1000, std::vector<std::uint8_t>(4)));
      }
      for (const auto& write : writes) fixture.wait_for(*write);
      pause(20 * vp::us);
      // Two large writes have credits, the third waits for them, and the fourth for the third.
      for (unsigned i = 0; i < 4; ++i) {
        writes.push_back(fixture.logic.dma_write(0x2000, std::vector<std::uint8_t>(256)));
        EXPECT_EQ(writes.back()->done, i < 3) << burst << ' ' << i;
      }
      expected += writes.size();
      for (const auto& write : writes) fixture.wait_for(*write);
      pause(20 * vp::us);
      EXPECT_EQ(fixture.memory.writes.size(), expected);
    }
  });
}

// An idle link has no appointments, whether it sleeps or not.
TEST(ActiveState, SleepTakesNoEvent) {
  SleepyFixture fixture(l0s | l1, 4);
  fixture.run([&] {
    fixture.begin();
    fixture.enable_both(l0s | l1);
    fixture.time_of_read();
    EXPECT_EQ(fixture.host.next_event(), vp::never);
    EXPECT_EQ(fixture.card.next_event(), vp::never);
  });
}

TEST(ActiveState, Registers) {
  for (unsigned generation = 1; generation <= 6; ++generation) {
    for (const PortType type : {PortType::endpoint, PortType::root_port, PortType::upstream_port}) {
      for (unsigned states = 0; states <= 3; ++states) {
        ConfigSpace space;
        PciExpressConfig config;
        config.type = type;
        config.generation = generation;
        config.lanes = 8;
        config.active_states = states;
        if (generation == 6 && states & l0s) {
          EXPECT_THROW(PciExpress(space, config), ConfigurationError);
          continue;
        }
        PciExpress express(space, config);
        const std::uint32_t capabilities =
            space.read(express.offset() + PciExpress::link_capabilities, 4);
        EXPECT_EQ(capabilities >> 10 & 3, states);
        const unsigned codes_of_l0s[] = {0, 5, 4, 5, 4, 3, 0},
                       codes_of_l1[] = {0, 2, 2, 3, 4, 4, 4};
        EXPECT_EQ(capabilities >> 12 & 7, states & l0s ? codes_of_l0s[generation] : 0);
        EXPECT_EQ(capabilities >> 15 & 7, states & l1 ? codes_of_l1[generation] : 0);
        space.write(express.offset() + PciExpress::link_control, 2, 3);
        EXPECT_EQ(space.read(express.offset() + PciExpress::link_control, 2), states);
        EXPECT_EQ(express.active_states(), states);
        const bool accepts = type == PortType::endpoint && states != 0;
        EXPECT_EQ(space.read(express.offset() + PciExpress::device_capabilities, 4) >> 6 & 0x3f,
                  accepts ? 0x3fu : 0u);
      }
    }
  }
}

}  // namespace
}  // namespace pcie
