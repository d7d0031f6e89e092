// SPDX-License-Identifier: Apache-2.0
// A switch below the second port of a root complex, with three devices below it: enumeration,
// routing and times.
#include "models/pcie/hierarchy/switch.h"

#include <gtest/gtest.h>

#include "models/pcie/protocol/configuration_error.h"
#include "tests/models/pcie/hierarchy/switch_fixture.h"

namespace pcie {
namespace {

using vp::ns;
using vp::us;

TEST(Switch, SoftwareFindsItsPortsAndWhatIsBelow) {
  SwitchFixture fixture;
  fixture.run([&] {
    fixture.enumerate_switch();
    const auto port_type = [&](Id id) {
      return fixture.config_read(
                 id, fixture.find_capability(id, PciExpress::id) + PciExpress::capabilities, 2) >>
                 4 &
             0xf;
    };
    EXPECT_EQ(fixture.config_read(upstream_id, Header::vendor_id, 4), 0x0a02f0aeu);
    EXPECT_EQ(port_type(upstream_id), 5u);
    for (unsigned i = 0; i < devices; ++i) {
      EXPECT_EQ(fixture.config_read(port_id(i), Header::vendor_id, 4), 0x0a03f0aeu);
      EXPECT_EQ(fixture.config_read(port_id(i), Header::header_type, 1), 1u);
      EXPECT_EQ(port_type(port_id(i)), 6u);
      EXPECT_EQ(fixture.config_read(device_id(i), Header::vendor_id, 4), 0x0ae0f0aeu);
      EXPECT_TRUE(fixture.works(i)) << i;
      for (const std::uint8_t capability : {0x01, 0x05, 0x10}) {
        EXPECT_NE(fixture.find_capability(port_id(i), capability), 0u);
      }
      const unsigned express = fixture.find_capability(port_id(i), PciExpress::id);
      EXPECT_EQ(fixture.config_read(port_id(i), express + PciExpress::slot_capabilities, 4) >> 19,
                32 + i)
          << "hot-plug slot";
      EXPECT_TRUE(fixture.config_read(port_id(i), express + PciExpress::link_status, 2) & 1u << 13)
          << "link active";
    }
    // Neither functions, devices nor buses that are not there.
    const Id absent[] = {make_id(2, 0, 1),  make_id(3, 0, 1), make_id(3, devices, 0),
                         make_id(3, 31, 7), make_id(4, 1, 0), make_id(4, 31, 0)};
    for (const Id id : absent) {
      EXPECT_EQ(fixture.config_read(id, Header::vendor_id, 4), ~0u) << to_string(id);
      fixture.config_write(id, Header::command, 7, 2);
    }
    fixture.config_write(root_id, Type1Header::subordinate_bus_number, 9, 1);
    EXPECT_EQ(fixture.config_read(make_id(9, 0, 0), Header::vendor_id, 4), ~0u)
        << "beyond the switch";
    fixture.config_write(upstream_id, Type1Header::subordinate_bus_number, 9, 1);
    EXPECT_EQ(fixture.config_read(make_id(9, 0, 0), Header::vendor_id, 4), ~0u)
        << "behind none of its ports";
    EXPECT_EQ(fixture.uncorrectable(root_id), 0u);
  });
}

TEST(Switch, WindowsReachToTheirLastByte) {
  SwitchFixture fixture;
  fixture.run([&] {
    fixture.enumerate_switch();
    const auto reaches = [&](std::uint64_t address) {
      const std::uint64_t before = fixture.counted("fixture.switch.upstream.unsupported_requests");
      fixture.read(address, 1);
      return fixture.counted("fixture.switch.upstream.unsupported_requests") == before;
    };
    // The root port lets through more than the switch does.
    fixture.config_write(root_id, Type1Header::memory_base, 0xc1f0c000, 4);
    EXPECT_FALSE(reaches(window - 1));
    EXPECT_TRUE(reaches(window));
    EXPECT_TRUE(reaches(window + 3 * MiB - 1));
    EXPECT_FALSE(reaches(window + 3 * MiB));
    fixture.config_write(port_id(1), Type1Header::memory_base, 0x0000fff0, 4);  // closed
    EXPECT_TRUE(reaches(bar(1) - 1));
    EXPECT_FALSE(reaches(bar(1)));
    EXPECT_FALSE(reaches(bar(2) - 1));
    EXPECT_TRUE(reaches(bar(2)));
    EXPECT_TRUE(reaches(bar64(1))) << "the other window is open";
    // Memory Space and D3 close a port.
    for (const Id id : {upstream_id, port_id(0)}) {
      EXPECT_TRUE(fixture.works(0));
      fixture.config_write(id, Header::command, Header::CommandBit::bus_master, 2);
      EXPECT_FALSE(reaches(bar(0)));
      fixture.config_write(id, Header::command, memory_and_master, 2);
      EXPECT_TRUE(fixture.works(0));
      const unsigned power =
          fixture.find_capability(id, PowerManagement::id) + PowerManagement::control;
      fixture.config_write(id, power, 3, 2);
      EXPECT_FALSE(reaches(bar(0)));
      EXPECT_EQ(fixture.logic_of(0).dma_write(0x1000, {1})->get_response_status(),
                tlm::TLM_OK_RESPONSE)
          << "posted";
      settle();
      fixture.config_write(id, power, 0, 2);
      EXPECT_TRUE(fixture.works(0));
    }
    EXPECT_TRUE(fixture.memory.writes.empty());
  });
}

TEST(Switch, BusMasterGatesWhatComesFromBelow) {
  SwitchFixture fixture;
  fixture.run([&] {
    fixture.enumerate_switch();
    for (const Id id : {upstream_id, port_id(1)}) {
      fixture.config_write(id, Header::command, Header::CommandBit::memory_space, 2);
      auto read = fixture.logic_of(1).dma_read(0x1000, 64);
      fixture.wait_for(*read);
      EXPECT_EQ(read->get_response_status(), tlm::TLM_ADDRESS_ERROR_RESPONSE);
      EXPECT_TRUE(fixture.uncorrectable(id) == 0 || id == port_id(1)) << "advisory and masked";
      fixture.logic_of(1).dma_write(0x1000, {1});
      settle();
      EXPECT_EQ(fixture.uncorrectable(id), bit_of(Error::unsupported_request));
      fixture.config_write(id, Header::command, memory_and_master, 2);
      EXPECT_TRUE(fixture.works(1));
    }
    EXPECT_TRUE(fixture.memory.writes.empty());
  });
}

// The latency is that of the switch, half at each port, whichever way a packet goes.
TEST(Switch, ReadsTakeTheirTimeToThePicosecond) {
  SwitchFixture::Config config;
  config.sw.latency = 123'456;
  config.fixture.root_complex.latency = 50'001;
  config.endpoint.latency = 33'333;
  config.above.generation = config.wires.generation = 1;  // every byte takes whole picoseconds
  config.above.lanes = config.wires.lanes = 1;
  SwitchFixture fixture(config);
  fixture.run([&] {
    fixture.enumerate_switch();
    const LineRate& rate = fixture.above.rate();
    const auto wire = [&](std::uint64_t bytes) {
      return static_cast<vp::Picoseconds>((bytes * rate.picoseconds + rate.bytes - 1) / rate.bytes);
    };
    const vp::Picoseconds links = 2 * (150 + 130) * ns;
    vp::Picoseconds start = vp::now();
    fixture.read(bar(0), 4);
    EXPECT_EQ(vp::now() - start, 2 * 50'001 + 2 * 123'456 + 2 * 33'333 + links + 4 * wire(20) +
                                     2 * (wire(24) - wire(20)));
    start = vp::now();
    fixture.config_read(port_id(2), Header::vendor_id, 4);
    EXPECT_EQ(vp::now() - start, 2 * 50'001 + 123'456 + links / 2 + wire(20) + wire(24));
    start = vp::now();
    fixture.logic_of(0).dma_write(bar(1), {1, 2, 3, 4});
    fixture.logic_of(1).on_use = [&](const Logic::Use&) {
      EXPECT_EQ(vp::now() - start, 33'333 + 123'456 + 33'333 + (130 + 150) * ns + 2 * wire(24));
    };
    settle();
    EXPECT_EQ(fixture.logic_of(1).uses.size(), 1u);
  });
}

TEST(Switch, PeersReachEachOtherPastTheHost) {
  SwitchFixture fixture;
  fixture.run([&] {
    fixture.enumerate_switch();
    for (unsigned from = 0; from < devices; ++from) {
      for (unsigned to = 0; to < devices; ++to) {
        std::vector<std::uint8_t> data(700);
        for (unsigned i = 0; i < data.size(); ++i) data[i] = i * 7 + from * 3 + to;
        const std::uint64_t address = from % 2 ? bar64(to) + 0x123 : bar(to) + 0x123;
        const std::uint64_t passed = fixture.counted("fixture.above.up.MWr.tlps");
        auto write = fixture.logic_of(from).dma_write(address, data);
        auto read = fixture.logic_of(from).dma_read(address, data.size());
        fixture.wait_for(*read);
        if (from == to) {
          EXPECT_EQ(read->get_response_status(), tlm::TLM_ADDRESS_ERROR_RESPONSE);
          continue;
        }
        EXPECT_TRUE(read->is_response_ok());
        EXPECT_EQ(read->data, data);
        EXPECT_EQ(fixture.logic_of(to).uses.back().requester, device_id(from));
        EXPECT_EQ(fixture.counted("fixture.above.up.MWr.tlps"), passed);
      }
    }
    // A window of the switch that no port has does not lead up.
    fixture.config_write(port_id(2), Type1Header::memory_base, 0x0000fff0, 4);
    auto lost = fixture.logic_of(0).dma_read(bar(2), 4);
    fixture.wait_for(*lost);
    EXPECT_EQ(lost->get_response_status(), tlm::TLM_ADDRESS_ERROR_RESPONSE);
    EXPECT_EQ(fixture.counted("fixture.above.up.MRd.tlps"), 0u);
    fixture.config_write(port_id(2), Type1Header::memory_base, 0xc120c120, 4);
    // Without a link a read is refused at once.
    fixture.sw.port(2).remove_card();
    lost = fixture.logic_of(0).dma_read(bar(2), 4);
    fixture.wait_for(*lost);
    EXPECT_EQ(lost->get_response_status(), tlm::TLM_ADDRESS_ERROR_RESPONSE);
    EXPECT_EQ(fixture.memory.refused, 0u);
  });
}

TEST(Switch, ASwitchBelowASwitch) {
  SwitchFixture::Config config;
  config.nested = true;
  SwitchFixture fixture(config);
  const Id far = make_id(8, 0, 0), far_port = make_id(7, 0, 0);
  fixture.run([&] {
    fixture.enumerate_switch();
    EXPECT_EQ(fixture.config_read(far, Header::vendor_id, 4), 0x0ae0f0aeu);
    for (unsigned i = 0; i < devices; ++i) EXPECT_TRUE(fixture.works(i)) << i;
    // Peers, one of them two switches away.
    for (const auto& [from, to] : {std::pair(0u, 2u), std::pair(2u, 1u)}) {
      const std::vector<std::uint8_t> data(100, 0x30 + from);
      fixture.logic_of(from).dma_write(bar(to) + 0x100, data);
      const auto read = fixture.logic_of(from).dma_read(bar(to) + 0x100, 100);
      fixture.wait_for(*read);
      EXPECT_EQ(read->data, data);
    }
    EXPECT_EQ(fixture.counted("fixture.above.up.MWr.tlps"), 0u);
    for (const Id id :
         {root_id, upstream_id, port_id(devices - 1), make_id(6, 0, 0), far_port, far}) {
      fixture.enable_errors(id);
    }
    fixture.cards[2]->link.inject(Direction::down, {Error::malformed_tlp, {}, 1});
    settle();
    EXPECT_EQ(fixture.collect().uncorrectable, far);
    fixture.cards[2]->link.inject(Direction::up, {Error::malformed_tlp, {}, 1});
    settle();
    EXPECT_EQ(fixture.collect().uncorrectable, far_port);
    // What resets the outer one resets the inner one.
    fixture.config_write(upstream_id, Type1Header::bridge_control,
                         Type1Header::BridgeControlBit::serr_enable |
                             Type1Header::BridgeControlBit::secondary_bus_reset,
                         2);
    settle();
    fixture.config_write(upstream_id, Type1Header::bridge_control,
                         Type1Header::BridgeControlBit::serr_enable, 2);
    settle(50 * us);
    for (unsigned i = 0; i < devices; ++i) fixture.enumerate_port(i);
    EXPECT_EQ(fixture.config_read(far, Header::command, 2), 0u);
    for (unsigned i = 0; i < devices; ++i) fixture.enumerate_device(i);
    for (unsigned i = 0; i < devices; ++i) EXPECT_TRUE(fixture.works(i)) << i;
  });
}

TEST(Switch, WhatNoSwitchCanBeIsRefused) {
  vp::Domain domain("domain");
  vp::Statistics statistics;
  SwitchConfig odd;
  odd.latency = 1;
  EXPECT_THROW(Switch("odd", odd, domain, statistics), ConfigurationError);
  odd.latency = -2;
  EXPECT_THROW(Switch("negative", odd, domain, statistics), ConfigurationError);
  SwitchConfig none;
  none.ports.clear();
  EXPECT_THROW(Switch("none", none, domain, statistics), ConfigurationError);
  none.ports.resize(32);
  EXPECT_THROW(Switch("many", none, domain, statistics), ConfigurationError);
}
}  // namespace
}  // namespace pcie
