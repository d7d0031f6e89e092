// SPDX-License-Identifier: Apache-2.0
// Packets that are marked as bad, on their way through a switch and between root ports.
#include <gtest/gtest.h>

#include "models/pcie/protocol/error.h"
#include "tests/models/pcie/hierarchy/switch_ends.h"
#include "tests/models/pcie/hierarchy/switch_fixture.h"

namespace pcie {
namespace {

constexpr std::uint32_t advisory = AdvancedErrorReporting::advisory_non_fatal;

class SwitchPoison : public testing::Test {
 protected:
  static SwitchConfig contained() {
    SwitchConfig config = SwitchEnds::with_ports(3);
    config.ports[0].containment = config.ports[1].containment = true;
    return config;
  }
  static TlpPtr bad(TlpPtr tlp) {
    tlp->header.poisoned = true;
    return tlp;
  }
  static TlpPtr completion(unsigned from, Id requester) {
    const TlpPtr request = SwitchEnds::read(from, 0);
    request->header.requester = requester;
    TlpPtr found = Tlp::completion(*request, SwitchEnds::device_id(from), Status::success);
    found->header.type = TlpType::CplD;
    found->header.length = 2;
    found->set_data_length(8);
    return found;
  }
  static TlpPtr swap(Id requester, std::uint64_t address) {
    const std::uint8_t operands[8] = {};
    TlpPtr found = Tlp::atomic(TlpType::Swap, address, operands, sizeof operands);
    found->header.requester = requester;
    return found;
  }
  bool parity(Id port, unsigned status) {
    const bool found = fixture.config_read(port, status, 2) >> 15;
    fixture.config_write(port, status, 1u << 15, 2);
    return found;
  }
  /// Containment of a port: its control.
  void contain(unsigned port, unsigned control) {
    const Id id = SwitchEnds::port_id(port);
    fixture.config_write(id,
                         fixture.find_extended(id, DownstreamPortContainment::id) +
                             DownstreamPortContainment::control,
                         control, 2);
  }
  unsigned containment_status(unsigned port) {
    const Id id = SwitchEnds::port_id(port);
    return fixture.config_read(id,
                               fixture.find_extended(id, DownstreamPortContainment::id) +
                                   DownstreamPortContainment::status,
                               2);
  }
  void forget_messages() {
    while (fixture.root.take()) continue;
  }

  SwitchEnds fixture{contained()};
};

// 6.2.3.2.4.2: a port that forwards the packet reports an advisory error and does not change it.
TEST_F(SwitchPoison, ItGoesOnAndTheReceivingPortHasSeenIt) {
  const Id ports[] = {SwitchEnds::upstream_id, SwitchEnds::port_id(0), SwitchEnds::port_id(1),
                      SwitchEnds::port_id(2)};
  for (const Id id : ports) fixture.enable_errors(id);
  const auto passes = [&](End& from, End& to, Id seen_by, TlpPtr tlp) {
    const HeaderWords words = tlp->header_words();
    from.send(std::move(tlp));
    fixture.run();
    // The error message arrives in addition to the packet.
    TlpPtr got = to.take(), message = &to == &fixture.root ? to.take() : fixture.root.take();
    if (got && got->header.type == TlpType::Msg) std::swap(got, message);
    ASSERT_TRUE(got && message) << to_string(seen_by);
    EXPECT_EQ(got->header_words(), words);
    EXPECT_TRUE(got->header.poisoned);
    EXPECT_EQ(message->header.message_code, err_cor);
    EXPECT_EQ(message->header.requester, seen_by);
    for (const Id id : ports) {
      EXPECT_EQ(fixture.uncorrectable(id), id == seen_by ? bit_of(Error::poisoned_tlp) : 0u);
      EXPECT_EQ(fixture.correctable(id), id == seen_by ? advisory : 0u);
    }
    EXPECT_EQ(fixture.logged(seen_by), words);
    EXPECT_FALSE(from.take()) << "no answer";
  };
  const Id up = SwitchEnds::upstream_id, port = SwitchEnds::port_id(0);
  passes(*fixture.ends[0], fixture.root, port, bad(SwitchEnds::write(0, 0x1000)));
  passes(*fixture.ends[0], *fixture.ends[2], port, bad(SwitchEnds::write(0, SwitchEnds::bar(2))));
  passes(*fixture.ends[0], fixture.root, port, bad(swap(SwitchEnds::device_id(0), 0x1000)));
  passes(*fixture.ends[0], fixture.root, port, bad(completion(0, SwitchEnds::host_id)));
  passes(*fixture.ends[0], *fixture.ends[1], port, bad(completion(0, SwitchEnds::device_id(1))));
  TlpPtr down = bad(SwitchEnds::write(0, SwitchEnds::bar(2)));
  down->header.requester = SwitchEnds::host_id;
  passes(fixture.root, *fixture.ends[2], up, std::move(down));
  passes(fixture.root, *fixture.ends[1], up, bad(completion(0, SwitchEnds::device_id(1))));
}

TEST_F(SwitchPoison, MaskedAsItIsAtFirstItIsOnlyAStatus) {
  fixture.ends[0]->send(bad(SwitchEnds::write(0, 0x1000)));
  fixture.run();
  EXPECT_TRUE(fixture.root.take());
  EXPECT_FALSE(fixture.root.take());
  EXPECT_EQ(fixture.uncorrectable(SwitchEnds::port_id(0)), 0u);
  EXPECT_EQ(fixture.correctable(SwitchEnds::port_id(0)), advisory);
  EXPECT_TRUE(parity(SwitchEnds::port_id(0), 0x1e));
}

// A refused packet is not also reported as poisoned (6.2.3.2.3).
TEST_F(SwitchPoison, AnotherErrorComesFirst) {
  const Id port = SwitchEnds::port_id(0);
  fixture.ends[0]->send(bad(SwitchEnds::write(0, SwitchEnds::bar(0))));
  fixture.run();
  EXPECT_EQ(fixture.uncorrectable(port), bit_of(Error::unsupported_request));
  const unsigned acs = fixture.find_extended(port, AccessControl::id);
  fixture.config_write(port, acs + AccessControl::control, 1u << 5, 2);
  fixture.config_write(port, acs + AccessControl::egress_control_vector, 1u << 2, 4);
  fixture.ends[0]->send(bad(SwitchEnds::write(0, SwitchEnds::bar(1))));
  fixture.run();
  EXPECT_EQ(fixture.uncorrectable(port), bit_of(Error::acs_violation));
  EXPECT_EQ(fixture.correctable(port), 0u);
  EXPECT_FALSE(fixture.ends[1]->take());
}

TEST_F(SwitchPoison, AFatalOneIsContainedAndGoesNoFurther) {
  const Id port = SwitchEnds::port_id(0);
  fixture.enable_errors(port);
  fixture.enable_errors(SwitchEnds::upstream_id);
  fixture.config_write(port,
                       fixture.find_extended(port, AdvancedErrorReporting::id) +
                           AdvancedErrorReporting::uncorrectable_severity,
                       bit_of(Error::poisoned_tlp), 4);
  fixture.ends[0]->send(bad(SwitchEnds::write(0, SwitchEnds::bar(2))));
  fixture.run();
  EXPECT_TRUE(fixture.ends[2]->take()) << "no port contains it";
  const TlpPtr message = fixture.root.take();
  ASSERT_TRUE(message);
  EXPECT_EQ(message->header.message_code, err_fatal);
  contain(0, 1);
  fixture.ends[0]->send(bad(SwitchEnds::write(0, SwitchEnds::bar(2))));
  fixture.run();
  EXPECT_EQ(containment_status(0) & 7, 1u);
  EXPECT_FALSE(fixture.ends[2]->take());
}

TEST_F(SwitchPoison, EgressBlockingIsOfPortsWithContainment) {
  for (unsigned i = 0; i < 3; ++i) {
    const Id port = SwitchEnds::port_id(i);
    const unsigned dpc = fixture.find_extended(port, DownstreamPortContainment::id);
    ASSERT_EQ(dpc != 0, i < 2);
    if (dpc == 0) continue;
    EXPECT_EQ(fixture.config_read(port, dpc + DownstreamPortContainment::capability, 2), 0xc0u);
    fixture.config_write(port, dpc + DownstreamPortContainment::control,
                         DownstreamPortContainment::ControlBit::poisoned_egress_blocking, 2);
    EXPECT_EQ(fixture.config_read(port, dpc + DownstreamPortContainment::control, 2), 0x20u);
  }
  const unsigned aer = fixture.find_extended(SwitchEnds::port_id(0), AdvancedErrorReporting::id);
  EXPECT_EQ(fixture.config_read(SwitchEnds::port_id(0),
                                aer + AdvancedErrorReporting::uncorrectable_mask, 4),
            bit_of(Error::poisoned_egress_blocked))
      << "masked at first";
}

// A poisoned packet that would leave by the port ends there, whatever its source. One that enters
// by the port does not.
TEST_F(SwitchPoison, ABlockedOneDoesNotLeave) {
  const Id port = SwitchEnds::port_id(1);
  const unsigned express = fixture.find_capability(port, PciExpress::id);
  fixture.config_write(port, express + PciExpress::device_control_2, 0, 2);
  for (const bool blocked : {false, true}) {
    contain(1, blocked ? 0x20u : 0u);
    const auto arrives = [&](End& from, TlpPtr tlp, bool answered) {
      from.send(std::move(tlp));
      fixture.run();
      TlpPtr answer = from.take();
      EXPECT_EQ(answer != nullptr, blocked && answered);
      if (answer) {
        EXPECT_EQ(answer->header.status, Status::unsupported_request);
        EXPECT_EQ(answer->header.completer, port);
      }
      EXPECT_EQ(fixture.uncorrectable(port), blocked ? bit_of(Error::poisoned_egress_blocked) : 0u);
      return fixture.ends[1]->take() != nullptr;
    };
    const std::uint64_t address = SwitchEnds::bar(1);
    const Id device = SwitchEnds::device_id(0), host = SwitchEnds::host_id;
    EXPECT_EQ(arrives(*fixture.ends[0], bad(SwitchEnds::write(0, address)), false), !blocked);
    EXPECT_EQ(arrives(*fixture.ends[0], bad(swap(device, address)), true), !blocked);
    EXPECT_EQ(arrives(fixture.root, bad(swap(host, address)), true), !blocked);
    EXPECT_EQ(arrives(*fixture.ends[2], bad(completion(2, SwitchEnds::device_id(1))), false),
              !blocked);
    EXPECT_EQ(arrives(fixture.root, bad(Tlp::config_write(true, SwitchEnds::device_id(1), 4, 2, 6)),
                      true),
              !blocked);
    // What is good passes, and what is for others.
    fixture.ends[0]->send(SwitchEnds::write(0, address));
    fixture.ends[0]->send(bad(SwitchEnds::write(0, SwitchEnds::bar(2))));
    fixture.ends[1]->send(bad(SwitchEnds::write(1, 0x1000)));
    fixture.run();
    EXPECT_TRUE(fixture.ends[1]->take());
    EXPECT_TRUE(fixture.ends[2]->take());
    EXPECT_TRUE(fixture.root.take());
  }
}

TEST_F(SwitchPoison, ABlockedOneTriggersContainmentIfItIsNotMasked) {
  const Id port = SwitchEnds::port_id(1);
  const unsigned aer = fixture.find_extended(port, AdvancedErrorReporting::id);
  contain(1, 0x20 | 2);
  fixture.ends[0]->send(bad(SwitchEnds::write(0, SwitchEnds::bar(1))));
  fixture.run();
  EXPECT_EQ(containment_status(1) & 7, 0u);
  fixture.config_write(port, aer + AdvancedErrorReporting::uncorrectable_mask, 0, 4);
  for (const bool unsupported : {false, true}) {
    contain(1, 0x20 | 2 | (unsupported ? 4 : 0));
    TlpPtr request = bad(swap(SwitchEnds::device_id(0), SwitchEnds::bar(1)));
    const HeaderWords words = request->header_words();
    fixture.config_write(port, aer + AdvancedErrorReporting::uncorrectable_status, ~0u, 4);
    fixture.ends[0]->send(std::move(request));
    fixture.run();
    EXPECT_EQ(containment_status(1) & 7, 1u) << "no advisory error";
    EXPECT_EQ(fixture.logged(port), words);
    const TlpPtr answer = fixture.ends[0]->take();
    ASSERT_TRUE(answer);
    EXPECT_EQ(answer->header.status,
              unsupported ? Status::unsupported_request : Status::completer_abort);
    EXPECT_FALSE(fixture.ends[1]->take());
    fixture.config_write(port,
                         fixture.find_extended(port, DownstreamPortContainment::id) +
                             DownstreamPortContainment::status,
                         1, 2);
    fixture.run();
  }
}

TEST(RootPortPoison, PassesBetweenRootPortsUnlessItIsBlocked) {
  SwitchFixture::Config config;
  config.fixture.root_complex.peer_to_peer = true;
  for (auto& port : config.fixture.root_complex.ports) port.containment = true;
  SwitchFixture fixture(config);
  fixture.run([&] {
    fixture.enumerate();
    fixture.enumerate_switch();
    const unsigned dpc = fixture.find_extended(root_id, DownstreamPortContainment::id);
    EXPECT_EQ(fixture.config_read(root_id, dpc + DownstreamPortContainment::capability, 2), 0x4e0u);
    for (const bool blocked : {false, true}) {
      fixture.config_write(root_id, dpc + DownstreamPortContainment::control, blocked ? 0x20 : 0,
                           2);
      EXPECT_TRUE(fixture.link.inject(Direction::up, {Error::poisoned_tlp, TlpType::MWr, 1}));
      fixture.logic.dma_write(bar(0), {1, 2, 3, 4});
      pause(20 * vp::us);
      EXPECT_EQ(fixture.counted("fixture.above.down.MWr.tlps"), 1u);
      EXPECT_EQ(fixture.config_read(Fixture::root_port, Type1Header::secondary_status, 2) >> 15,
                1u);
      EXPECT_EQ(fixture.uncorrectable(root_id),
                blocked ? bit_of(Error::poisoned_egress_blocked) : 0u);
      EXPECT_EQ(fixture.uncorrectable(Fixture::root_port), 0u) << "advisory";
    }
    EXPECT_EQ(fixture.uncorrectable(device_id(0)), bit_of(Error::poisoned_tlp)) << "its end";
    EXPECT_TRUE(fixture.logic_of(0).uses.empty());
  });
}

}  // namespace
}  // namespace pcie
