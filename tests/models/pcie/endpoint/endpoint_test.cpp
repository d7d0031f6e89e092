// SPDX-License-Identifier: Apache-2.0
#include "models/pcie/endpoint/endpoint.h"

#include <gtest/gtest.h>

#include "models/pcie/config/capabilities/alternative_routing.h"
#include "models/pcie/protocol/configuration_error.h"
#include "tests/models/pcie/fixture.h"

namespace pcie {
namespace {

TEST(Endpoint, EachFunctionHasItsOwnRegisters) {
  Fixture::Config config;
  config.endpoint.functions.resize(8);
  for (unsigned i = 1; i < 8; ++i) {
    config.endpoint.functions[i].identity.device = 0x1000 + i;
    config.endpoint.functions[i].bars = {{0, 0x1000}};
    config.endpoint.functions[i].msi_x = {2, 0, 0, 0, 0x800};
  }
  Fixture fixture(config);
  fixture.run([&] {
    fixture.enumerate();
    EXPECT_EQ(fixture.config_read(Fixture::device, Header::header_type, 1), 0x80u)
        << "multi-function";
    for (unsigned i = 1; i < 8; ++i) {
      const Id id = make_id(1, 0, i);
      EXPECT_EQ(fixture.config_read(id, Header::device_id, 2), 0x1000 + i);
      fixture.config_write(id, Type0Header::bar(0), 0xc0180000 + 0x1000 * i, 4);
      fixture.config_write(id, Header::command, memory_and_master, 2);
      EXPECT_EQ(fixture.endpoint.function(i).id(), id);
    }
    for (unsigned i = 1; i < 8; ++i) {
      fixture.write(0xc0180000 + 0x1000 * i, 0xfee00000 + 0x10000 * i, 8);
    }
    for (unsigned i = 1; i < 8; ++i) {
      EXPECT_EQ(fixture.read(0xc0180000 + 0x1000 * i, 8), 0xfee00000 + 0x10000 * i);
      EXPECT_EQ(fixture.read(0xc0180000 + 0x1000 * i + 0x900, 4), 0xffffffffu) << "no logic bound";
    }
  });
}

TEST(Endpoint, OneFunctionIsNotMultiFunction) {
  Fixture fixture;
  fixture.run([&] {
    fixture.enumerate();
    EXPECT_EQ(fixture.config_read(Fixture::device, Header::header_type, 1), 0u);
    EXPECT_EQ(fixture.config_read(make_id(1, 0, 1), Header::vendor_id, 4), ~0u);
    EXPECT_EQ(fixture.counter("endpoint.absent_function_requests"), 1u);
  });
}

TEST(Endpoint, UnclaimedAddressesAreUnsupported) {
  Fixture fixture;
  fixture.run([&] {
    fixture.enumerate();
    EXPECT_EQ(fixture.read(0xc0050000, 4), 0xffffffffu);
    EXPECT_EQ(fixture.read(Fixture::bar4 + 0x1000, 4), 0xffffffffu);
    fixture.write(0xc0050000, 0, 4);
    fixture.config_read(Fixture::device, Header::vendor_id, 4);
    EXPECT_EQ(fixture.counter("endpoint.unsupported_requests"), 3u);
    EXPECT_TRUE(fixture.logic.uses.empty());
  });
}

// A function's number has 8 bits where the port above forwards ARI, and no others are reached else.
TEST(Endpoint, AlternativeRouting) {
  Fixture::Config config;
  config.endpoint.functions.resize(256);
  for (unsigned i = 1; i < 256; ++i) config.endpoint.functions[i].identity.device = 0x1000 + i;
  Fixture fixture(config);
  fixture.run([&] {
    fixture.enumerate();
    const unsigned control =
        fixture.find_capability(Fixture::root_port, PciExpress::id) + PciExpress::device_control_2;
    EXPECT_EQ(fixture.config_read(Fixture::root_port, control - 4, 4) >> 5 & 1, 1u) << "supported";
    for (const bool forwarded : {false, true}) {
      fixture.config_write(Fixture::root_port, control, forwarded ? 1u << 5 : 0, 2);
      for (unsigned i = 1; i < 256; ++i) {
        const std::uint32_t id = forwarded || i < 8 ? 0x1000f0aeu + (i << 16) : ~0u;
        ASSERT_EQ(fixture.config_read(make_alternative_id(1, i), Header::vendor_id, 4), id);
      }
    }
    unsigned number = 0, next = 0;
    do {
      const Id id = make_alternative_id(1, number);
      fixture.config_write(id, Header::command, Header::CommandBit::bus_master, 2);
      ASSERT_EQ(fixture.endpoint.function(number).id(), id);
      const unsigned ari = fixture.find_extended_capability(id, AlternativeRouting::id);
      next = fixture.config_read(id, ari + 5, 1);
      ASSERT_EQ(next, number == 255 ? 0 : number + 1) << "the chain";
      number = next;
    } while (next != 0);
  });
}

TEST(Endpoint, OneTo256Functions) {
  vp::Domain domain("domain");
  auto make = [&domain](unsigned count) {
    vp::Statistics statistics;
    EndpointConfig config;
    config.functions.resize(count);
    Endpoint endpoint("endpoint", config, domain, statistics);
  };
  EXPECT_THROW(make(0), ConfigurationError);
  EXPECT_THROW(make(257), ConfigurationError);
  EXPECT_NO_THROW(make(1));
  EXPECT_NO_THROW(make(8));
  EXPECT_NO_THROW(make(256));
}

}  // namespace
}  // namespace pcie
