// SPDX-License-Identifier: Apache-2.0
// AtomicOps on their way through switches and between root ports (6.15.3).
#include <gtest/gtest.h>

#include <cstring>

#include "models/pcie/protocol/atomic.h"
#include "models/pcie/protocol/error.h"
#include "tests/models/pcie/hierarchy/switch_ends.h"
#include "tests/models/pcie/hierarchy/switch_fixture.h"

namespace pcie {
namespace {

constexpr std::uint16_t egress_blocking = 1u << 7;
constexpr struct {
  TlpType type;
  unsigned bytes;
} kinds[] = {{TlpType::FetchAdd, 4}, {TlpType::FetchAdd, 8}, {TlpType::Swap, 4}, {TlpType::Swap, 8},
             {TlpType::CAS, 8},      {TlpType::CAS, 16},     {TlpType::CAS, 32}};

class SwitchAtomics : public testing::Test {
 protected:
  static TlpPtr atomic(unsigned from, std::uint64_t address, TlpType type = TlpType::Swap,
                       unsigned bytes = 8) {
    const std::vector<std::uint8_t> operands(bytes, 0x5a);
    return SwitchEnds::of(from, Tlp::atomic(type, address, operands.data(), bytes));
  }
  static void block(SwitchEnds& fixture, Id id, bool blocked = true) {
    const unsigned control =
        fixture.find_capability(id, PciExpress::id) + PciExpress::device_control_2;
    fixture.config_write(id, control, blocked ? egress_blocking : 0, 2);
  }
};

TEST_F(SwitchAtomics, EveryPortSaysSo) {
  SwitchEnds fixture;
  for (const Id id : {SwitchEnds::upstream_id, SwitchEnds::port_id(0), SwitchEnds::port_id(2)}) {
    const unsigned express = fixture.find_capability(id, PciExpress::id);
    EXPECT_EQ(fixture.config_read(id, express + PciExpress::device_capabilities_2, 4) & 0x3c0,
              0x40u)
        << "routed, not completed";
    EXPECT_EQ(fixture.config_read(id, express + PciExpress::device_control_2, 2), 0u);
    fixture.config_write(id, express + PciExpress::device_control_2, 0xc0, 2);
    EXPECT_EQ(fixture.config_read(id, express + PciExpress::device_control_2, 2), egress_blocking)
        << "no requester";
  }
}

TEST_F(SwitchAtomics, EachKindGoesEachWayWithItsOperands) {
  SwitchEnds fixture;
  for (const auto& kind : kinds) {
    const auto arrives = [&](End& from, End& to, TlpPtr request) {
      const HeaderWords words = request->header_words();
      from.send(std::move(request));
      fixture.run();
      const TlpPtr seen = to.take();
      ASSERT_TRUE(seen);
      EXPECT_EQ(seen->header_words(), words);
      EXPECT_EQ(seen->payload_bytes(), kind.bytes);
      for (unsigned i = 0; i < kind.bytes; ++i) ASSERT_EQ(seen->data()[i], 0x5a);
      // And its completion the way back.
      to.send(complete_atomic(*seen, SwitchEnds::device_id(1)));
      fixture.run();
      const TlpPtr completion = from.take();
      ASSERT_TRUE(completion);
      EXPECT_EQ(completion->payload_bytes(), operand_bytes(kind.type, kind.bytes));
      EXPECT_EQ(completion->header.status, Status::success);
    };
    arrives(*fixture.ends[0], *fixture.ends[1],
            atomic(0, SwitchEnds::bar(1), kind.type, kind.bytes));
    arrives(*fixture.ends[2], fixture.root, atomic(2, 0x1000, kind.type, kind.bytes));
    TlpPtr down = atomic(0, SwitchEnds::bar(1), kind.type, kind.bytes);
    down->header.requester = SwitchEnds::host_id;
    arrives(fixture.root, *fixture.ends[1], std::move(down));
  }
  EXPECT_EQ(fixture.counted("switch.peer_to_peer"), 2 * std::size(kinds))
      << "requests, completions";
}

TEST_F(SwitchAtomics, WindowsAndEnablesGateThemAsReads) {
  SwitchEnds fixture;
  const auto refused = [&](std::uint64_t address) {
    fixture.ends[0]->send(atomic(0, address));
    fixture.run();
    const TlpPtr answer = fixture.ends[0]->take();
    while (fixture.root.take()) continue;
    return answer && answer->header.status == Status::unsupported_request;
  };
  EXPECT_TRUE(refused(SwitchEnds::bar(0))) << "its own";
  EXPECT_FALSE(refused(0x1000));
  for (const Id id : {SwitchEnds::port_id(0), SwitchEnds::upstream_id}) {
    fixture.config_write(id, Header::command, Header::CommandBit::memory_space, 2);
    EXPECT_TRUE(refused(0x1000)) << "Bus Master";
    fixture.config_write(id, Header::command, memory_and_master, 2);
  }
  fixture.root.send(atomic(0, SwitchEnds::bar(3)));
  fixture.run();
  const TlpPtr answer = fixture.root.take();
  ASSERT_TRUE(answer) << "in no port's window";
  EXPECT_EQ(answer->header.status, Status::unsupported_request);
}

// An egress port: the error is its own, advisory since it is answered.
TEST_F(SwitchAtomics, APortBlocksThemAtItsExit) {
  SwitchEnds fixture;
  const Id ports[] = {SwitchEnds::upstream_id, SwitchEnds::port_id(0), SwitchEnds::port_id(1),
                      SwitchEnds::port_id(2)};
  for (const Id id : ports) fixture.enable_errors(id);
  for (const Id blocking : ports) {
    block(fixture, blocking);
    for (unsigned from = 0; from < 3; ++from) {
      for (unsigned to = 0; to <= 3; ++to) {
        if (from == to) continue;
        const Id egress = to == 3 ? SwitchEnds::upstream_id : SwitchEnds::port_id(to);
        TlpPtr request = atomic(from, to == 3 ? 0x1000 : SwitchEnds::bar(to));
        const HeaderWords words = request->header_words();
        fixture.ends[from]->send(std::move(request));
        fixture.run();
        const TlpPtr answer = fixture.ends[from]->take();
        End& target = to == 3 ? fixture.root : *fixture.ends[to];
        if (egress != blocking) {
          EXPECT_FALSE(answer);
          EXPECT_TRUE(target.take());
          continue;
        }
        ASSERT_TRUE(answer);
        EXPECT_EQ(answer->header.status, Status::unsupported_request);
        EXPECT_EQ(answer->header.completer, egress);
        const TlpPtr message = fixture.root.take();
        ASSERT_TRUE(message);
        EXPECT_EQ(message->header.message_code, err_cor);
        EXPECT_EQ(message->header.requester, egress);
        EXPECT_FALSE(target.take());
        EXPECT_EQ(fixture.logged(egress), words);
        EXPECT_EQ(fixture.uncorrectable(egress), bit_of(Error::atomic_egress_blocked));
        EXPECT_EQ(fixture.correctable(egress), 1u << 13);
        // All else passes.
        fixture.ends[from]->send(SwitchEnds::read(from, to == 3 ? 0x1000 : SwitchEnds::bar(to)));
        fixture.run();
        EXPECT_TRUE(target.take());
      }
    }
    block(fixture, blocking, false);
  }
}

TEST_F(SwitchAtomics, AFatalOneIsReportedAsSuch) {
  SwitchEnds fixture;
  const Id port = SwitchEnds::port_id(1);
  fixture.enable_errors(port);
  fixture.enable_errors(SwitchEnds::upstream_id);
  fixture.config_write(port,
                       fixture.find_extended(port, AdvancedErrorReporting::id) +
                           AdvancedErrorReporting::uncorrectable_severity,
                       bit_of(Error::atomic_egress_blocked), 4);
  block(fixture, port);
  fixture.ends[0]->send(atomic(0, SwitchEnds::bar(1)));
  fixture.run();
  EXPECT_TRUE(fixture.ends[0]->take());
  const TlpPtr message = fixture.root.take();
  ASSERT_TRUE(message);
  EXPECT_EQ(message->header.message_code, err_fatal);
}

// A device that completes none may have room for one unit of data; the largest would wait for ever.
TEST_F(SwitchAtomics, WhatADeviceHasNoRoomForIsRefused) {
  CreditConfig small;
  small.classes[static_cast<unsigned>(CreditClass::non_posted)] = {1, 1};
  SwitchEnds fixture(SwitchEnds::with_ports(2), small);
  for (const auto& kind : kinds) {
    fixture.ends[0]->send(atomic(0, SwitchEnds::bar(1), kind.type, kind.bytes));
    fixture.run();
    const TlpPtr answer = fixture.ends[0]->take();
    EXPECT_EQ(answer != nullptr, kind.bytes == 32);
    EXPECT_EQ(fixture.ends[1]->take() != nullptr, kind.bytes != 32);
  }
}

// Access control looks at them as at any request.
TEST_F(SwitchAtomics, AreRedirected) {
  SwitchEnds fixture;
  const unsigned acs = fixture.find_extended(SwitchEnds::port_id(0), AccessControl::id);
  fixture.config_write(SwitchEnds::port_id(0), acs + AccessControl::control, 1u << 2, 2);
  fixture.ends[0]->send(atomic(0, SwitchEnds::bar(1)));
  fixture.run();
  EXPECT_TRUE(fixture.root.take());
  block(fixture, SwitchEnds::upstream_id);
  fixture.ends[0]->send(atomic(0, SwitchEnds::bar(1)));
  fixture.run();
  EXPECT_FALSE(fixture.root.take());
  EXPECT_TRUE(fixture.ends[0]->take()) << "blocked at the upstream port";
}

class HostAtomics : public testing::Test {
 protected:
  static constexpr unsigned requester_enable = PciExpress::DeviceControl2Bit::atomic_requester;
  static tlm::tlm_response_status swap(Fixture& fixture, Logic& logic, std::uint64_t address) {
    Logic::Dma dma;
    dma.data.assign(8, 0x77);
    dma.access->atomic = AtomicOperation::swap;
    dma.set_extension(dma.access);
    dma.set_command(tlm::TLM_IGNORE_COMMAND);
    dma.set_address(address);
    dma.set_data_ptr(dma.data.data());
    dma.set_data_length(8);
    dma.set_streaming_width(8);
    logic.start(dma);
    fixture.wait_for(dma);
    return dma.get_response_status();
  }
  static void control_2(Fixture& fixture, Id id, unsigned value) {
    fixture.config_write(
        id, fixture.find_capability(id, PciExpress::id) + PciExpress::device_control_2, value, 2);
  }
};

TEST_F(HostAtomics, DevicesBelowASwitchReachMemory) {
  SwitchFixture::Config config;
  config.nested = true;
  SwitchFixture fixture(config);
  fixture.run([&] {
    fixture.enumerate_switch();
    const Id ids[] = {device_id(0), device_id(1), make_id(8, 0, 0)};
    for (unsigned i = 0; i < devices; ++i) {
      control_2(fixture, ids[i], requester_enable);
      EXPECT_EQ(swap(fixture, fixture.logic_of(i), 0x1000 + 8 * i), tlm::TLM_OK_RESPONSE);
      EXPECT_EQ(fixture.memory.bytes[0x1007 + 8 * i], 0x77);
    }
    EXPECT_EQ(swap(fixture, fixture.logic_of(0), bar(1)), tlm::TLM_ADDRESS_ERROR_RESPONSE)
        << "the BAR of another device takes none";
    EXPECT_EQ(fixture.counted("fixture.link1.down.Swap.tlps"), 1u);
    control_2(fixture, upstream_id, egress_blocking);
    EXPECT_EQ(swap(fixture, fixture.logic_of(2), 0x1000), tlm::TLM_ADDRESS_ERROR_RESPONSE);
    EXPECT_EQ(fixture.counted("fixture.above.up.Swap.tlps"), devices);
  });
}

TEST_F(HostAtomics, RootPortsRouteThemIfTheyHavePeers) {
  for (const bool peers : {false, true}) {
    ConfigSpace space;
    PciExpressConfig config{PortType::root_port};
    config.peers = peers;
    PciExpress express(space, config);
    const unsigned at = express.offset();
    EXPECT_EQ(space.read(at + PciExpress::device_capabilities_2, 4) & 0x3c0,
              peers ? 0x3c0u : 0x380u);
    space.write(at + PciExpress::device_control_2, 2, 0xffff);
    EXPECT_EQ(express.blocks_atomics(), peers);
  }
  SwitchFixture::Config config;
  config.fixture.root_complex.peer_to_peer = true;
  SwitchFixture fixture(config);
  fixture.run([&] {
    fixture.enumerate();
    fixture.enumerate_switch();
    control_2(fixture, Fixture::device, requester_enable);
    EXPECT_EQ(swap(fixture, fixture.logic, bar(0)), tlm::TLM_ADDRESS_ERROR_RESPONSE);
    EXPECT_EQ(fixture.counted("fixture.link0.down.Swap.tlps"), 1u) << "refused by the device";
    control_2(fixture, root_id, egress_blocking);
    fixture.config_write(root_id,
                         fixture.find_extended(root_id, AdvancedErrorReporting::id) +
                             AdvancedErrorReporting::correctable_mask,
                         0, 4);
    EXPECT_EQ(swap(fixture, fixture.logic, bar(0)), tlm::TLM_ADDRESS_ERROR_RESPONSE);
    EXPECT_EQ(fixture.counted("fixture.above.down.Swap.tlps"), 1u);
    EXPECT_EQ(fixture.uncorrectable(root_id), bit_of(Error::atomic_egress_blocked));
    EXPECT_EQ(swap(fixture, fixture.logic, 0x1000), tlm::TLM_OK_RESPONSE) << "memory is no exit";
  });
}

}  // namespace
}  // namespace pcie
