// SPDX-License-Identifier: Apache-2.0
#include "models/pcie/endpoint.h"

#include <gtest/gtest.h>

#include "models/pcie/errors.h"
#include "tests/models/pcie/bench.h"

namespace pcie {
namespace {

TEST(Endpoint, EachFunctionHasItsOwnRegisters) {
  Bench::Config config;
  config.endpoint.functions.resize(8);
  for (unsigned i = 1; i < 8; ++i) {
    config.endpoint.functions[i].identity.device = 0x1000 + i;
    config.endpoint.functions[i].bars = {{0, 0x1000}};
    config.endpoint.functions[i].msi_x = {2, 0, 0, 0, 0x800};
  }
  Bench bench(config);
  bench.run([&] {
    bench.enumerate();
    EXPECT_EQ(bench.config_read(Bench::device, 0x0e, 1), 0x80u) << "multi-function";
    for (unsigned i = 1; i < 8; ++i) {
      const Id id = make_id(1, 0, i);
      EXPECT_EQ(bench.config_read(id, 2, 2), 0x1000 + i);
      bench.config_write(id, 0x10, 0xc0180000 + 0x1000 * i, 4);
      bench.config_write(id, 4, 6, 2);
      EXPECT_EQ(bench.endpoint.function(i).id(), id);
    }
    for (unsigned i = 1; i < 8; ++i) {
      bench.write(0xc0180000 + 0x1000 * i, 0xfee00000 + 0x10000 * i, 8);
    }
    for (unsigned i = 1; i < 8; ++i) {
      EXPECT_EQ(bench.read(0xc0180000 + 0x1000 * i, 8), 0xfee00000 + 0x10000 * i);
      EXPECT_EQ(bench.read(0xc0180000 + 0x1000 * i + 0x900, 4), 0xffffffffu) << "no logic bound";
    }
  });
}

TEST(Endpoint, OneFunctionIsNotMultiFunction) {
  Bench bench;
  bench.run([&] {
    bench.enumerate();
    EXPECT_EQ(bench.config_read(Bench::device, 0x0e, 1), 0u);
    EXPECT_EQ(bench.config_read(make_id(1, 0, 1), 0, 4), ~0u);
    EXPECT_EQ(bench.counter("endpoint.absent_function_requests"), 1u);
  });
}

TEST(Endpoint, UnclaimedAddressesAreUnsupported) {
  Bench bench;
  bench.run([&] {
    bench.enumerate();
    EXPECT_EQ(bench.read(0xc0050000, 4), 0xffffffffu);
    EXPECT_EQ(bench.read(Bench::bar4 + 0x1000, 4), 0xffffffffu);
    bench.write(0xc0050000, 0, 4);
    bench.config_read(Bench::device, 0, 4);
    EXPECT_EQ(bench.counter("endpoint.unsupported_requests"), 3u);
    EXPECT_TRUE(bench.logic.uses.empty());
  });
}

// A function's number has 8 bits where the port above forwards ARI, and no others are reached else.
TEST(Endpoint, AlternativeRouting) {
  Bench::Config config;
  config.endpoint.functions.resize(256);
  for (unsigned i = 1; i < 256; ++i) config.endpoint.functions[i].identity.device = 0x1000 + i;
  Bench bench(config);
  bench.run([&] {
    bench.enumerate();
    const unsigned control = bench.find_capability(Bench::root_port, 0x10) + 0x28;
    EXPECT_EQ(bench.config_read(Bench::root_port, control - 4, 4) >> 5 & 1, 1u) << "supported";
    for (const bool forwarded : {false, true}) {
      bench.config_write(Bench::root_port, control, forwarded ? 1u << 5 : 0, 2);
      for (unsigned i = 1; i < 256; ++i) {
        const std::uint32_t id = forwarded || i < 8 ? 0x10001d9bu + (i << 16) : ~0u;
        ASSERT_EQ(bench.config_read(make_alternative_id(1, i), 0, 4), id);
      }
    }
    unsigned number = 0, next = 0;
    do {
      const Id id = make_alternative_id(1, number);
      bench.config_write(id, 4, 4, 2);
      ASSERT_EQ(bench.endpoint.function(number).id(), id);
      const unsigned ari = bench.find_extended_capability(id, 0x000e);
      next = bench.config_read(id, ari + 5, 1);
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
