// SPDX-License-Identifier: Apache-2.0
// Access control services in the ports of a switch: what they let in, and which way it goes.
#include <gtest/gtest.h>

#include "models/pcie/protocol/error.h"
#include "tests/models/pcie/hierarchy/switch_ends.h"
#include "tests/models/pcie/hierarchy/switch_fixture.h"

namespace pcie {
namespace {

enum Service : unsigned {
  source_validation = AccessControl::ServiceBit::source_validation,
  translation_blocking = AccessControl::ServiceBit::translation_blocking,
  request_redirect = AccessControl::ServiceBit::request_redirect,
  completion_redirect = AccessControl::ServiceBit::completion_redirect,
  upstream_forwarding = AccessControl::ServiceBit::upstream_forwarding,
  egress_control = AccessControl::ServiceBit::egress_control,
  direct_translated = AccessControl::ServiceBit::direct_translated,
};

class SwitchAccess : public testing::Test {
 protected:
  static constexpr unsigned ports = 3;

  void control(unsigned port, unsigned services, unsigned vector = 0) {
    const unsigned at = fixture.find_extended(SwitchEnds::port_id(port), AccessControl::id);
    fixture.config_write(SwitchEnds::port_id(port), at + AccessControl::control, services, 2);
    fixture.config_write(SwitchEnds::port_id(port), at + AccessControl::egress_control_vector,
                         vector, 4);
  }
  /// Sends a packet into a port. Returns where it leaves: a device from 0, `up`, or `nowhere`.
  static constexpr int up = -1, nowhere = -2;
  int way_of(unsigned from, TlpPtr tlp) {
    fixture.ends[from]->send(std::move(tlp));
    fixture.run();
    int found = nowhere;
    answer = fixture.ends[from]->take();
    for (unsigned i = 0; i < ports; ++i) {
      if (i != from && fixture.ends[i]->take()) found = static_cast<int>(i);
    }
    while (const TlpPtr seen = fixture.root.take()) {
      if (seen->header.type != TlpType::Msg) {
        found = up;
      } else {
        messages.push_back(*seen->get_extension<TlpHeader>());
      }
    }
    return found;
  }
  int read(unsigned from, unsigned to) {
    return way_of(from, SwitchEnds::read(from, SwitchEnds::bar(to)));
  }
  int write(unsigned from, unsigned to) {
    return way_of(from, SwitchEnds::write(from, SwitchEnds::bar(to)));
  }
  static TlpPtr completion(unsigned from, unsigned to, bool relaxed) {
    const TlpPtr request = SwitchEnds::read(to, SwitchEnds::bar(from));
    request->header.relaxed_ordering = relaxed;
    return Tlp::completion(*request, SwitchEnds::device_id(from), Status::unsupported_request);
  }

  SwitchEnds fixture;
  TlpPtr answer;  // what has come back
  std::vector<TlpHeader> messages;
};

TEST_F(SwitchAccess, IsOffAtFirst) {
  EXPECT_EQ(fixture.find_extended(SwitchEnds::upstream_id, AccessControl::id), 0u)
      << "an upstream port with one function has none";
  for (unsigned i = 0; i < ports; ++i) {
    const unsigned at = fixture.find_extended(SwitchEnds::port_id(i), AccessControl::id);
    EXPECT_EQ(fixture.config_read(SwitchEnds::port_id(i), at + AccessControl::capability, 4),
              0x047fu);
    fixture.config_write(SwitchEnds::port_id(i), at + AccessControl::egress_control_vector, ~0u, 4);
    EXPECT_EQ(
        fixture.config_read(SwitchEnds::port_id(i), at + AccessControl::egress_control_vector, 4),
        0xeu & ~(2u << i));
    for (unsigned j = 0; j < ports; ++j) {
      if (i == j) continue;
      EXPECT_EQ(read(i, j), static_cast<int>(j)) << "the vector alone does nothing";
      EXPECT_EQ(write(i, j), static_cast<int>(j));
      EXPECT_EQ(way_of(i, completion(i, j, false)), static_cast<int>(j));
    }
  }
  EXPECT_EQ(fixture.counted("switch.peer_to_peer"), 18u);
}

// Table 6-10, and 6.12.1.1 of translated requests: every combination, for every pair of ports.
TEST_F(SwitchAccess, RequestsForPeersGoAsTheTableSays) {
  const AddressType types[] = {AddressType::untranslated, AddressType::translation_request,
                               AddressType::translated};
  unsigned straight = 0, redirected = 0, violations = 0;
  for (unsigned i = 0; i < 8; ++i) {
    const unsigned services = (i & 1 ? egress_control : 0u) | (i & 2 ? request_redirect : 0u) |
                              (i & 4 ? direct_translated : 0u) | completion_redirect;
    for (const unsigned vector : {0u, 1u << 2, 1u << 3, 3u << 2}) {
      control(0, services, vector);
      for (unsigned to = 1; to < ports; ++to) {
        for (const AddressType type : types) {
          const bool translated = services & direct_translated && type == AddressType::translated;
          const bool inside = services & egress_control && !(vector >> (to + 1) & 1);
          const bool outside = services & egress_control && vector >> (to + 1) & 1;
          int expected = static_cast<int>(to);
          if (!translated && !inside) {
            if (outside) expected = nowhere;
            if (services & request_redirect) expected = up;
          }
          for (const bool posted : {false, true}) {
            TlpPtr request = posted ? SwitchEnds::write(0, SwitchEnds::bar(to))
                                    : SwitchEnds::read(0, SwitchEnds::bar(to));
            request->header.address_type = type;
            ASSERT_EQ(way_of(0, std::move(request)), expected)
                << services << ' ' << vector << ' ' << to;
            straight += expected >= 0;
            redirected += expected == up;
            violations += expected == nowhere;
            ASSERT_EQ(answer != nullptr, expected == nowhere && !posted);
            if (answer) {
              EXPECT_EQ(answer->header.status, Status::completer_abort);
              EXPECT_EQ(answer->header.completer, SwitchEnds::port_id(0));
            }
          }
        }
      }
    }
  }
  EXPECT_EQ(fixture.counted("switch.peer_to_peer"), straight);
  EXPECT_EQ(fixture.counted("switch.port0.redirected"), redirected);
  EXPECT_EQ(fixture.counted("switch.port0.acs_violations"), violations);
  EXPECT_GT(std::min({straight, redirected, violations}), 10u);
}

TEST_F(SwitchAccess, CompletionsAreRedirectedUnlessTheyAreRelaxed) {
  for (unsigned services = 0; services < 0x80; ++services) {
    if (services & upstream_forwarding) continue;
    control(1, services, 0xe);
    for (const bool relaxed : {false, true}) {
      ASSERT_EQ(way_of(1, completion(1, 2, relaxed)),
                services & completion_redirect && !relaxed ? up : 2)
          << services;
    }
  }
  EXPECT_EQ(fixture.counted("switch.port1.acs_violations"), 0u);
}

TEST_F(SwitchAccess, WhatIsForThePortItselfIsForwarded) {
  for (const bool forwarded : {false, true}) {
    control(2, forwarded ? upstream_forwarding : 0u);
    EXPECT_EQ(write(2, 2), forwarded ? up : nowhere);
    EXPECT_EQ(read(2, 2), forwarded ? up : nowhere);
    ASSERT_EQ(answer != nullptr, !forwarded);
    if (answer) {
      EXPECT_EQ(answer->header.status, Status::unsupported_request);
    }
    EXPECT_EQ(way_of(2, completion(2, 2, false)), forwarded ? up : nowhere);
    EXPECT_EQ(fixture.uncorrectable(SwitchEnds::port_id(2)),
              forwarded ? 0 : bit_of(Error::unsupported_request));
  }
}

// Packets for the host go up and packets from above go down, whatever services are enabled.
TEST_F(SwitchAccess, HostAndDevicesReachEachOtherUnderAnyControl) {
  for (unsigned services = 0; services < 0x80; ++services) {
    control(0, services, 0xe);
    ASSERT_EQ(way_of(0, SwitchEnds::write(0, 0x1000)), up) << services;
    ASSERT_EQ(way_of(0, SwitchEnds::read(0, 0x1000)), up);
    fixture.root.send(Tlp::memory_read(SwitchEnds::bar(0), 4));
    fixture.run();
    ASSERT_NE(fixture.ends[0]->take(), nullptr);
  }
}

TEST_F(SwitchAccess, OnlyRequestersBehindThePortAreLetIn) {
  fixture.config_write(SwitchEnds::port_id(1), Type1Header::primary_bus_number,
                       3 | 5u << 8 | 7u << 16, 4);
  const auto from_bus = [&](unsigned bus, TlpPtr tlp) {
    tlp->header.requester = make_id(bus, 0, 0);
    return way_of(1, std::move(tlp));
  };
  for (const bool validated : {false, true}) {
    control(1, validated ? source_validation : 0u);
    unsigned violations = 0;
    for (unsigned bus = 0; bus < 256; ++bus) {
      const bool passes = !validated || (bus >= 5 && bus <= 7);
      ASSERT_EQ(from_bus(bus, SwitchEnds::write(1, 0x1000)), passes ? up : nowhere) << bus;
      ASSERT_EQ(from_bus(bus, SwitchEnds::write(1, SwitchEnds::bar(0))), passes ? 0 : nowhere);
      from_bus(bus, Tlp::message(err_cor, 0));
      violations += passes ? 0 : 3;
    }
    EXPECT_EQ(fixture.counted("switch.port1.acs_violations"), violations);
  }
  EXPECT_EQ(way_of(1, completion(1, 0, false)), 0) << "completions have no source";
}

TEST_F(SwitchAccess, AddressesThatAreNotUntranslatedAreBlocked) {
  for (const bool blocked : {false, true}) {
    control(0, blocked ? translation_blocking | direct_translated : 0u);
    for (unsigned type = 0; type < 3; ++type) {
      const int expected = blocked && type != 0 ? nowhere : up;
      TlpPtr request = SwitchEnds::read(0, 0x1000);
      request->header.address_type = static_cast<AddressType>(type);
      EXPECT_EQ(way_of(0, std::move(request)), expected);
      EXPECT_EQ(fixture.uncorrectable(SwitchEnds::port_id(0)), 0u) << "advisory, masked";
      request = SwitchEnds::write(0, SwitchEnds::bar(2));
      request->header.address_type = static_cast<AddressType>(type);
      EXPECT_EQ(way_of(0, std::move(request)), expected == up ? 2 : nowhere);
      EXPECT_EQ(fixture.uncorrectable(SwitchEnds::port_id(0)),
                expected == up ? 0 : bit_of(Error::acs_violation));
    }
  }
}

// 6.12.4: what is answered is an advisory case, and in both the header is in the log.
TEST_F(SwitchAccess, AViolationIsLoggedAndReported) {
  const Id port = SwitchEnds::port_id(0);
  fixture.enable_errors(port);
  fixture.enable_errors(SwitchEnds::upstream_id);
  control(0, egress_control, 1u << 2);
  for (const bool posted : {false, true}) {
    messages.clear();
    TlpPtr request =
        posted ? SwitchEnds::write(0, SwitchEnds::bar(1)) : SwitchEnds::read(0, SwitchEnds::bar(1));
    const HeaderWords words = request->header_words();
    EXPECT_EQ(way_of(0, std::move(request)), nowhere);
    ASSERT_EQ(messages.size(), 1u);
    EXPECT_EQ(messages[0].message_code, posted ? err_nonfatal : err_cor);
    EXPECT_EQ(messages[0].requester, port);
    EXPECT_EQ(fixture.logged(port), words);
    EXPECT_EQ(fixture.uncorrectable(port), bit_of(Error::acs_violation));
    EXPECT_EQ(fixture.correctable(port), posted ? 0 : 1u << 13);
    // Signaled Target Abort of the secondary side.
    EXPECT_EQ(fixture.config_read(port, Type1Header::secondary_status, 2) >> 11 & 1,
              posted ? 0u : 1u);
    fixture.config_write(port, Type1Header::secondary_status, 1u << 11, 2);
  }
}

TEST(SwitchContainedAccess, AViolationIsContained) {
  SwitchConfig config = SwitchEnds::with_ports(2);
  config.ports[0].containment = true;
  SwitchEnds fixture(config);
  const Id port = SwitchEnds::port_id(0);
  const unsigned dpc = fixture.find_extended(port, DownstreamPortContainment::id);
  const unsigned acs = fixture.find_extended(port, AccessControl::id);
  fixture.config_write(port, dpc + DownstreamPortContainment::control, 2, 2);
  fixture.config_write(port, acs + AccessControl::control, egress_control, 2);
  fixture.config_write(port, acs + AccessControl::egress_control_vector, 1u << 2, 4);
  fixture.ends[0]->send(SwitchEnds::read(0, SwitchEnds::bar(1)));
  fixture.run();
  EXPECT_EQ(fixture.config_read(port, dpc + DownstreamPortContainment::status, 2) & 7, 0u)
      << "an advisory error triggers nothing";
  fixture.ends[0]->send(SwitchEnds::write(0, SwitchEnds::bar(1)));
  fixture.run();
  EXPECT_EQ(fixture.config_read(port, dpc + DownstreamPortContainment::status, 2) & 7, 1u);
  EXPECT_FALSE(fixture.ends[0]->link_up());
  EXPECT_FALSE(fixture.ends[1]->take());
}

// In a switch below a switch, what the inner one sends up the outer one sees as for its own port.
TEST(NestedAccess, RedirectionGoesOnOnlyWithUpstreamForwarding) {
  SwitchFixture::Config config;
  config.nested = true;
  config.inner.ports.resize(2);
  SwitchFixture fixture(config);
  fixture.run([&] {
    fixture.enumerate_switch();
    const Id inner = make_id(7, 0, 0), outer = port_id(devices - 1);
    const auto control = [&](Id id, unsigned services) {
      fixture.config_write(
          id, fixture.find_extended(id, AccessControl::id) + AccessControl::control, services, 2);
    };
    const auto refused_by = [&](const std::string& part) {
      const std::string name = "fixture." + part + ".unsupported_requests";
      const std::uint64_t before = fixture.counted(name);
      fixture.logic_of(devices - 1).dma_write(bar(devices - 1), {1, 2, 3, 4});
      pause(20 * vp::us);
      return fixture.counted(name) - before;
    };
    EXPECT_EQ(refused_by("inner.port0"), 1u);
    control(inner, upstream_forwarding);
    EXPECT_EQ(refused_by("switch.port2"), 1u);
    control(outer, upstream_forwarding);
    EXPECT_EQ(refused_by("root_complex.port1"), 1u);
    EXPECT_EQ(fixture.counted("fixture.inner.port0.redirected"), 2u);
    EXPECT_EQ(fixture.counted("fixture.switch.port2.redirected"), 1u);
    EXPECT_TRUE(fixture.works(devices - 1));
  });
}

}  // namespace
}  // namespace pcie
