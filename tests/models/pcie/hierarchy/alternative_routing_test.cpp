// SPDX-License-Identifier: Apache-2.0
// ARI in the downstream ports of a switch (6.13): functions beyond the eighth, and virtual ones.
#include <gtest/gtest.h>

#include "tests/models/pcie/hierarchy/switch_ends.h"
#include "tests/models/pcie/hierarchy/switch_fixture.h"

namespace pcie {
namespace {

constexpr unsigned forwarding = PciExpress::DeviceControl2Bit::ari_forwarding;

TEST(SwitchAlternativeRouting, ADeviceNumberBelongsToTheFunctionOnceItIsEnabled) {
  SwitchEnds fixture;
  const Id port = SwitchEnds::port_id(1);
  const unsigned express = fixture.find_capability(port, PciExpress::id);
  EXPECT_EQ(fixture.config_read(port, express + PciExpress::device_capabilities_2, 4) & forwarding,
            forwarding);
  const unsigned upstream = fixture.find_capability(SwitchEnds::upstream_id, PciExpress::id);
  EXPECT_EQ(fixture.config_read(SwitchEnds::upstream_id,
                                upstream + PciExpress::device_capabilities_2, 4) &
                forwarding,
            0u);
  fixture.config_write(port, Type1Header::primary_bus_number, 3 | 5u << 8 | 6u << 16, 4);
  for (const bool enabled : {false, true, false}) {
    fixture.config_write(port, express + PciExpress::device_control_2, enabled ? forwarding : 0, 2);
    for (unsigned i = 0; i < 512; ++i) {
      const Id target = make_alternative_id(5 + i / 256, i % 256);
      const bool below = bus_of(target) == 5;
      fixture.root.send(Tlp::config_read(true, target, 0, 4));
      fixture.run();
      const TlpPtr seen = fixture.ends[1]->take(), answer = fixture.root.take();
      if (below && device_of(target) != 0 && !enabled) {
        ASSERT_FALSE(seen);
        ASSERT_TRUE(answer);
        EXPECT_EQ(answer->header.status, Status::unsupported_request);
        EXPECT_EQ(answer->header.completer, port);
        continue;
      }
      ASSERT_FALSE(answer);
      ASSERT_TRUE(seen);
      EXPECT_EQ(seen->header.type, below ? TlpType::CfgRd0 : TlpType::CfgRd1);
      EXPECT_EQ(seen->header.target, target);
    }
  }
  // Devices of the internal bus have numbers in any case.
  fixture.config_write(port, express + PciExpress::device_control_2, forwarding, 2);
  EXPECT_EQ(fixture.config_read(make_id(3, 3, 0), Header::vendor_id, 4), ~0u);
}

// Of 300 virtual functions behind a physical one the last are on the next bus.
TEST(SwitchAlternativeRouting, VirtualFunctionsAreReachedUpToTheNextBus) {
  constexpr unsigned total = 300;
  SwitchFixture::Config config;
  config.endpoint.functions[0].virtual_functions = {total, 0x0ae1, {}, {}};
  SwitchFixture fixture(config);
  constexpr unsigned used[] = {0, 6, 7, 254, 255, total - 1};
  std::vector<std::unique_ptr<Logic>> logic;
  for (const unsigned i : used) {
    logic.push_back(
        std::make_unique<Logic>(sc_core::sc_gen_unique_name("vf"), fixture.cards[0]->domain));
    logic.back()->dma.bind(fixture.cards[0]->endpoint.function(0).virtual_function(i).dma);
    fixture.cards[0]->endpoint.function(0).virtual_function(i).bar.bind(logic.back()->bar);
  }
  fixture.run([&] {
    fixture.enumerate_bridge(root_id, 2, 8, window, window64, 3);
    fixture.enumerate_bridge(upstream_id, 3, 8, window, window64, 3);
    fixture.enumerate_bridge(port_id(0), 4, 6, bar(0), bar64(0), 1);
    fixture.enumerate_device(0);
    const unsigned express = fixture.find_capability(port_id(0), PciExpress::id);
    const unsigned sr_iov = fixture.find_extended(device_id(0), SrIov::id);
    for (const bool ari : {true, false}) {
      fixture.config_write(device_id(0), sr_iov + SrIov::control, 0, 2);
      fixture.config_write(port_id(0), express + PciExpress::device_control_2, ari ? forwarding : 0,
                           2);
      fixture.config_write(device_id(0), sr_iov + SrIov::control, ari ? 0x10 : 0, 2);
      fixture.config_write(device_id(0), sr_iov + SrIov::num_vfs, total, 2);
      fixture.config_write(device_id(0), sr_iov + SrIov::control, ari ? 0x19 : 9, 2);
      const unsigned first = make_id(4, 0, 0) + (ari ? 1 : 256);
      for (unsigned i = 0; i < total; ++i) {
        ASSERT_EQ(fixture.config_read(static_cast<Id>(first + i), Header::revision_id, 4),
                  0x12000000u)
            << ari << i;
      }
      EXPECT_EQ(fixture.config_read(static_cast<Id>(first + total), Header::revision_id, 4), ~0u);
      for (std::size_t n = 0; n < logic.size(); ++n) {
        const Id id = static_cast<Id>(first + used[n]);
        fixture.config_write(id, Header::command, Header::CommandBit::bus_master, 2);
        const auto read = logic[n]->dma_read(0x1000, 300);
        fixture.wait_for(*read);
        EXPECT_TRUE(read->is_response_ok()) << to_string(id) << ": its completions find it";
      }
    }
    EXPECT_EQ(fixture.uncorrectable(port_id(0)), 0u) << "advisory, and masked";
  });
}

}  // namespace
}  // namespace pcie
