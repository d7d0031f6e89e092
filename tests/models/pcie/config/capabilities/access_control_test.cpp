// SPDX-License-Identifier: Apache-2.0
#include "models/pcie/config/capabilities/access_control.h"

#include <gtest/gtest.h>

#include "tests/models/pcie/fixture.h"

namespace pcie {
namespace {

using Route = AccessControl::Route;

TEST(AccessControl, EveryByteWithoutPeers) {
  ConfigSpace space;
  AccessControl access_control(space, 1, 0);
  const unsigned at = access_control.offset();
  EXPECT_EQ(space.read(at, 4), 0x0001000du);
  EXPECT_EQ(space.read(at + AccessControl::capability, 4), 0x0000001fu);
  for (unsigned i = 0; i < 0x10; i += 4) space.write(at + AccessControl::capability + i, 4, ~0u);
  EXPECT_EQ(space.read(at + AccessControl::capability, 4), 0x001f001fu);
  EXPECT_EQ(space.read(at + AccessControl::egress_control_vector, 4), 0u) << "no vector";
  EXPECT_TRUE(access_control.validates_sources());
  EXPECT_TRUE(access_control.blocks_translated());
  space.write(at + AccessControl::control, 2, 0x1c);
  EXPECT_FALSE(access_control.validates_sources());
  EXPECT_FALSE(access_control.blocks_translated());
}

TEST(AccessControl, TheVectorHasABitForEachOtherPort) {
  for (unsigned ports = 1; ports <= 31; ++ports) {
    for (unsigned number = 1; number <= ports; ++number) {
      ConfigSpace space;
      AccessControl access_control(space, number, ports);
      const unsigned at = access_control.offset();
      EXPECT_EQ(space.read(at + AccessControl::capability, 4), (ports + 1) << 8 | 0x7f);
      space.write(at + AccessControl::control, 2, 0xffff);
      space.write(at + AccessControl::egress_control_vector, 4, ~0u);
      EXPECT_EQ(space.read(at + AccessControl::control, 2), 0x7fu);
      for (unsigned bit = 0; bit < 32; ++bit) {
        const bool other = bit >= 1 && bit <= ports && bit != number;
        EXPECT_EQ(space.read(at + AccessControl::egress_control_vector, 4) >> bit & 1,
                  other ? 1u : 0u);
      }
      space.reset(Reset::hot);
      EXPECT_EQ(space.read(at + AccessControl::control, 2) |
                    space.read(at + AccessControl::egress_control_vector, 4),
                0u);
    }
  }
}

// Table 6-10 as written there: egress control, request redirect, vector, what is required.
TEST(AccessControl, EveryRowOfTheTable) {
  const struct {
    unsigned egress, redirect, vector;
    Route route;
  } rows[] = {{0, 0, 0, Route::straight}, {0, 0, 1, Route::straight},  {0, 1, 0, Route::upstream},
              {0, 1, 1, Route::upstream}, {1, 0, 1, Route::violation}, {1, 0, 0, Route::straight},
              {1, 1, 1, Route::upstream}, {1, 1, 0, Route::straight}};
  ConfigSpace space;
  AccessControl access_control(space, 31, 31);
  const unsigned at = access_control.offset();
  TlpHeader header;
  for (const auto& row : rows) {
    for (unsigned number = 1; number < 31; ++number) {
      for (const unsigned others : {0u, ~(1u << number)}) {
        space.write(at + AccessControl::control, 2, row.egress << 5 | row.redirect << 2);
        space.write(at + AccessControl::egress_control_vector, 4, others | row.vector << number);
        for (const TlpType type : {TlpType::MRd, TlpType::MWr, TlpType::Swap}) {
          header.type = type;
          ASSERT_EQ(access_control.route_to(number, header), row.route) << number;
        }
        header.type = TlpType::CplD;
        ASSERT_EQ(access_control.route_to(number, header), Route::straight);
        ASSERT_EQ(access_control.route_to(31, header), Route::none);
      }
    }
  }
}

// A device believes in the bus number of the last configuration write to it; the port has others.
TEST(AccessControl, SourcesAreOnTheBusesBehindThePort) {
  struct Range {
    unsigned secondary;
    unsigned subordinate;
    bool holds;  // bus 4
  } const ranges[] = {{4, 4, true},  {3, 4, true},  {4, 9, true}, {3, 9, true},
                      {5, 9, false}, {1, 3, false}, {0, 9, false}};
  Fixture fixture;
  fixture.run([&] {
    fixture.enumerate();
    const unsigned at = fixture.find_extended_capability(Fixture::root_port, AccessControl::id);
    const unsigned errors =
        fixture.find_extended_capability(Fixture::root_port, AdvancedErrorReporting::id);
    const Id device = make_id(4, 0, 0);
    fixture.config_write(Fixture::root_port, Type1Header::primary_bus_number, 0x00040400, 4);
    fixture.config_write(device, Header::command, memory_and_master, 2);
    for (const bool validated : {false, true}) {
      fixture.config_write(Fixture::root_port, at + AccessControl::control, validated ? 1 : 0, 2);
      for (const Range& range : ranges) {
        fixture.config_write(Fixture::root_port, Type1Header::primary_bus_number,
                             range.secondary << 8 | range.subordinate << 16, 4);
        const bool passes = range.holds || !validated;
        const std::size_t writes = fixture.memory.writes.size();
        fixture.logic.dma_write(0x1000, {1, 2, 3, 4});
        auto read = fixture.logic.dma_read(0x1000, 4);
        fixture.wait_for(*read);
        EXPECT_EQ(fixture.memory.writes.size(), writes + (passes ? 1 : 0)) << range.secondary;
        EXPECT_EQ(read->get_response_status(),
                  passes ? tlm::TLM_OK_RESPONSE : tlm::TLM_GENERIC_ERROR_RESPONSE)
            << "Completer Abort";
        EXPECT_EQ(fixture.config_read(Fixture::root_port,
                                      errors + AdvancedErrorReporting::uncorrectable_status, 4),
                  passes ? 0 : 1u << 21);
        if (passes) continue;
        EXPECT_EQ(
            fixture.config_read(Fixture::root_port, errors + AdvancedErrorReporting::control, 4) &
                0x1f,
            21u);
        EXPECT_EQ(
            fixture.config_read(Fixture::root_port, errors + AdvancedErrorReporting::header_log, 4),
            0x40000001u)
            << "the write";
        EXPECT_EQ(fixture.config_read(Fixture::root_port,
                                      errors + AdvancedErrorReporting::header_log + 4, 4),
                  0x0400000fu);
        fixture.config_write(Fixture::root_port,
                             errors + AdvancedErrorReporting::uncorrectable_status, ~0u, 4);
      }
    }
    // Completions are not validated, so processors' reads work whatever the device's bus is.
    fixture.config_write(Fixture::root_port, Type1Header::primary_bus_number, 0x00050500, 4);
    EXPECT_EQ(fixture.read(Fixture::bar4, 4), 0u);
    EXPECT_EQ(fixture.counter("root_complex.port0.acs_violations"), 6u);
  });
}

}  // namespace
}  // namespace pcie
