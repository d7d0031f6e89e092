// SPDX-License-Identifier: Apache-2.0
// Hot reset by the Secondary Bus Reset bit (6.6.1, 7.5.1.3.13).
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <vector>

#include "models/pcie/protocol/configuration_error.h"
#include "tests/models/pcie/reset_fixture.h"

namespace pcie {
namespace {

TEST(SecondaryBusReset, TheLinkIsDownWhileItIsSetAndTrainsAfterwards) {
  ResetFixture fixture;
  fixture.run([&] {
    fixture.begin();
    EXPECT_EQ(fixture.link_status() & (link_active | link_training), link_active);
    fixture.hold();
    EXPECT_EQ(fixture.config_read(Fixture::root_port, Type1Header::bridge_control, 2), 0x40u);
    pause(1 * vp::us);  // until the device knows
    for (unsigned i = 0; i < 5; ++i, pause(1 * vp::ms)) {
      EXPECT_EQ(fixture.link_status() & (link_active | link_training), 0u);
      EXPECT_EQ(fixture.config_read(Fixture::device, Header::vendor_id, 4), ~0u);
      EXPECT_EQ(fixture.read(Fixture::bar0, 4), ~0u);
      fixture.write(Fixture::bar0, 1, 4);
      EXPECT_EQ(fixture.logic.dma_write(0x1000, {1})->get_response_status(),
                tlm::TLM_COMMAND_ERROR_RESPONSE);
    }
    fixture.release();
    const vp::Picoseconds start = vp::now();
    EXPECT_EQ(fixture.link_status() & (link_active | link_training), link_training);
    EXPECT_EQ(fixture.config_read(Fixture::device, Header::vendor_id, 4), ~0u);
    pause(start + 50 * vp::us - 1 - vp::now());
    EXPECT_EQ(fixture.link_status() & link_active, 0u);
    pause(start + 50 * vp::us - vp::now() + 1);
    EXPECT_EQ(fixture.link_status() & (link_active | link_training), link_active);
    EXPECT_EQ(fixture.notified, 1u);
    EXPECT_EQ(fixture.config_read(Fixture::device, Header::command, 2), 0u) << "reset";
    EXPECT_EQ(fixture.config_read(Fixture::device, Type0Header::bar(0), 4), 4u);
    EXPECT_EQ(fixture.config_read(Fixture::root_port, Type1Header::primary_bus_number, 4),
              0x00010100u)
        << "the port is not";
    fixture.begin();
    fixture.expect_work();
    EXPECT_EQ(fixture.counter("root_complex.port0.completion_timeouts"), 0u);
    EXPECT_TRUE(fixture.memory.writes.empty());
    EXPECT_EQ(fixture.logic.uses.size(), 1u) << "what was sent without a link is lost";
  });
}

TEST(LinkDisable, IsAHotResetForAsLongAsItIsSet) {
  ResetFixture fixture;
  fixture.run([&] {
    fixture.begin();
    const unsigned control = fixture.port_express + PciExpress::link_control;
    fixture.config_write(Fixture::device, fixture.express + PciExpress::link_control,
                         PciExpress::LinkControlBit::link_disable, 2);
    EXPECT_EQ(fixture.config_read(Fixture::device, fixture.express + PciExpress::link_control, 2),
              0u)
        << "a root port's";
    fixture.config_write(Fixture::root_port, control, 0x10, 2);
    EXPECT_EQ(fixture.config_read(Fixture::root_port, control, 2), 0x10u);
    pause(1 * vp::ms);
    EXPECT_EQ(fixture.link_status() & (link_active | link_training), 0u);
    EXPECT_EQ(fixture.read(Fixture::bar0, 4), ~0u);
    fixture.hold();
    fixture.config_write(Fixture::root_port, control, 0, 2);
    EXPECT_EQ(fixture.link_status() & (link_active | link_training), 0u) << "held in reset, too";
    fixture.release();
    fixture.wait_for_link();
    EXPECT_EQ(fixture.config_read(Fixture::device, Header::command, 2), 0u) << "reset";
    fixture.begin();
    fixture.expect_work();
  });
}

TEST(SecondaryBusReset, ConfigurationIsRetriedUntilTheDeviceIsInitialised) {
  auto config = ResetFixture::configuration();
  config.endpoint.functions[0].initialisation = 1 * vp::ms;
  ResetFixture fixture(config);
  fixture.run([&] {
    fixture.begin();
    fixture.config_write(Fixture::root_port, fixture.port_express + PciExpress::root_control,
                         PciExpress::RootControlBit::retry_visible, 2);
    fixture.hold();
    pause(2 * vp::ms);
    fixture.release();
    fixture.wait_for_link();
    const vp::Picoseconds up = vp::now();
    EXPECT_EQ(fixture.config_read(Fixture::device, Header::vendor_id, 4), 0xffff0001u);
    EXPECT_EQ(fixture.config_read(Fixture::device, Header::device_id, 2), 0x0ae0u) << "waits";
    EXPECT_GE(vp::now(), up + 1 * vp::ms - 2 * vp::us);
    EXPECT_LE(vp::now(), up + 1 * vp::ms + 5 * vp::us);
    EXPECT_EQ(fixture.config_read(Fixture::device, Header::vendor_id, 4), 0x0ae0f0aeu);
  });
}

TEST(SecondaryBusReset, StickyBitsSurviveItButNoFundamentalReset) {
  ResetFixture fixture;
  fixture.run([&] {
    fixture.begin();
    const unsigned target = fixture.express + PciExpress::link_control_2;
    fixture.set_sizes(256, 256);
    fixture.config_write(Fixture::device, target, 3, 2);
    fixture.hold();
    fixture.release();
    fixture.wait_for_link();
    EXPECT_EQ(fixture.config_read(Fixture::device, target, 2) & 0xf, 3u);
    EXPECT_EQ(fixture.config_read(Fixture::device, fixture.express + PciExpress::device_control, 2),
              0x2810u)
        << "payload too";
    EXPECT_EQ(
        fixture.config_read(Fixture::device, fixture.express + PciExpress::link_status, 2) & 0x3ff,
        5u | 16u << 4);
    fixture.root_complex.reset();
    pause(10 * vp::us);
    fixture.config_write(Fixture::root_port, Type1Header::primary_bus_number, 0x00010100, 4);
    EXPECT_EQ(fixture.config_read(Fixture::device, target, 2) & 0xf, 5u);
    EXPECT_EQ(fixture.notified, 2u);
    EXPECT_EQ(fixture.link_status() & link_active, link_active);
  });
}

// 2.9.1: requests in both directions at every stage of their ways.
TEST(SecondaryBusReset, EndsWhatIsOutstandingInBothDirections) {
  unsigned lost = 0, answered = 0;
  ResetFixture fixture;
  fixture.memory.read_time = 1 * vp::us;
  fixture.run([&] {
    for (vp::Picoseconds moment = 0; moment < 4 * vp::us; moment += 97 * vp::ns) {
      fixture.logic.latency = 1 * vp::us;
      fixture.begin();
      for (unsigned i = 0; i < 64; ++i) fixture.logic.memory[0][i] = i;
      const auto expected = std::vector<std::uint8_t>(fixture.logic.memory[0].begin(),
                                                      fixture.logic.memory[0].begin() + 64);
      std::unique_ptr<Logic::Dma> dma = fixture.logic.dma_read(0x1000, 4096);
      unsigned ended = 0;
      for (unsigned i = 0; i < 40; ++i) {  // more than tags
        fixture.spawn([&] {
          const auto data = fixture.read_bytes(Fixture::bar0, 64);
          if (data == expected) {
            ++answered;
          } else {
            EXPECT_EQ(data, std::vector<std::uint8_t>(64, 0xff));
            ++lost;
          }
          ++ended;
        });
      }
      pause(moment);
      fixture.hold();
      pause(1);
      EXPECT_EQ(ended, 40u) << "at once, by the port";
      pause(1 * vp::us);
      EXPECT_TRUE(dma->done);
      if (dma->is_response_ok()) {
        EXPECT_EQ(dma->data, fixture.memory.at(0x1000, 4096));
      } else {
        EXPECT_EQ(dma->get_response_status(), tlm::TLM_GENERIC_ERROR_RESPONSE);
      }
      fixture.release();
      fixture.wait_for_link();
      pause(100 * vp::us);
      fixture.logic.latency = 0;
      fixture.begin();
      fixture.expect_work();
      for (const char* port : {"root_complex.port0.", "endpoint.pf0."}) {
        EXPECT_EQ(fixture.counter(port + std::string("unexpected_completions")), 0u) << port;
        EXPECT_EQ(fixture.counter(port + std::string("completion_timeouts")), 0u) << port;
      }
    }
  });
  EXPECT_GT(lost, 100u);
  EXPECT_GT(answered, 100u);
}

// Device logic owns the data of a write until it has accepted that, whatever happens to the link.
TEST(SecondaryBusReset, LeavesTheDataOfAWriteToDeviceLogic) {
  ResetFixture fixture;
  fixture.run([&] {
    fixture.begin();
    fixture.logic.full = true;
    fixture.write(Fixture::bar0 + 0x10, 0x11223344, 4);
    pause(20 * vp::us);
    EXPECT_TRUE(fixture.logic.holds_write());
    fixture.hold();
    pause(20 * vp::us);
    fixture.release();
    fixture.wait_for_link();
    // Packets that are allocated anew would have the memory of one that is gone.
    std::vector<TlpPtr> others;
    const std::uint8_t other[4] = {0xee, 0xee, 0xee, 0xee};
    for (unsigned i = 0; i < 64; ++i) others.push_back(Tlp::memory_write(0x9000, other, 4));
    fixture.logic.full = false;
    fixture.logic.accept();
    pause(20 * vp::us);
    EXPECT_EQ(fixture.logic.memory[0][0x10], 0x44);
    EXPECT_EQ(fixture.logic.memory[0][0x13], 0x11);
    fixture.begin();
    fixture.expect_work();
  });
}

TEST(SecondaryBusReset, DeassertsTheInterruptsBehindIt) {
  auto config = ResetFixture::configuration();
  config.endpoint.functions[0].interrupt_pin = 1;
  ResetFixture fixture(config);
  fixture.run([&] {
    fixture.begin();
    fixture.endpoint.function(0).set_intx(true);
    pause(10 * vp::us);
    fixture.hold();
    EXPECT_EQ(fixture.lines.changes, (Lines::Changes{{1, true}, {1, false}}));
    pause(10 * vp::us);
    fixture.endpoint.function(0).set_intx(true);
    fixture.release();
    fixture.wait_for_link();
    fixture.begin();
    pause(10 * vp::us);
    EXPECT_EQ(fixture.lines.changes.size(), 3u) << "announced when the link is up";
  });
}

// Software that changes its mind faster than the link can follow.
TEST(SecondaryBusReset, SetAndClearedInAnyRhythm) {
  ResetFixture fixture;
  fixture.run([&] {
    fixture.begin();
    for (vp::Picoseconds set = 0; set <= 120 * vp::us; set = 2 * set + 100 * vp::ns) {
      for (vp::Picoseconds clear = 0; clear <= 120 * vp::us; clear = 2 * clear + 100 * vp::ns) {
        for (unsigned i = 0; i < 3; ++i) {
          fixture.hold();
          pause(set);
          EXPECT_EQ(fixture.link_status() & (link_active | link_training), 0u);
          fixture.release();
          pause(clear);
          EXPECT_EQ((fixture.link_status() & link_active) != 0, clear >= 50 * vp::us);
        }
        fixture.wait_for_link();
        fixture.begin();
        fixture.expect_work();
      }
    }
  });
}

TEST(SecondaryBusReset, OfAPortWithoutALinkDoesNothing) {
  auto config = ResetFixture::configuration();
  config.root_complex.ports.resize(2);
  ResetFixture fixture(config);
  fixture.run([&] {
    fixture.begin();
    const Id second = make_id(0, 2, 0);
    fixture.config_write(second, Type1Header::bridge_control,
                         Type1Header::BridgeControlBit::secondary_bus_reset, 2);
    fixture.config_write(second, Type1Header::bridge_control, 0, 2);
    pause(1 * vp::ms);
    const unsigned express = fixture.find_capability(second, PciExpress::id);
    EXPECT_EQ(fixture.config_read(second, express + PciExpress::link_status, 2) &
                  (link_active | link_training),
              0u);
    fixture.expect_work();
  });
}

}  // namespace
}  // namespace pcie
