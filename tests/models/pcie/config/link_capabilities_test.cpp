// SPDX-License-Identifier: Apache-2.0
#include "models/pcie/config/link_capabilities.h"

#include <gtest/gtest.h>

#include <map>

#include "tests/models/pcie/fixture.h"

namespace pcie {
namespace {

enum Id16 : unsigned {
  secondary = 0x0019,
  data_link_feature = 0x0025,
  physical_16 = 0x0026,
  lane_margining = 0x0027,
  physical_32 = 0x002a,
  physical_64 = 0x0031,
};

// Returns the offsets of the extended capabilities by ID, and expects version 1.
std::map<unsigned, unsigned> extended(const ConfigSpace& space) {
  std::map<unsigned, unsigned> found;
  for (unsigned at = ConfigSpace::first_extended_capability; at != 0;
       at = space.read(at, 4) >> 20) {
    const std::uint32_t header = space.read(at, 4);
    EXPECT_EQ(header >> 16 & 0xf, 1u);
    EXPECT_TRUE(found.emplace(header & 0xffff, at).second) << "twice";
  }
  return found;
}

TEST(LinkCapabilities, ByGeneration) {
  const std::vector<unsigned> ids[] = {
      {0},
      {0},
      {secondary},
      {secondary, data_link_feature, physical_16, lane_margining},
      {secondary, data_link_feature, physical_16, lane_margining, physical_32},
      {secondary, data_link_feature, physical_16, lane_margining, physical_32, physical_64},
  };
  for (const PortType type : {PortType::endpoint, PortType::root_port}) {
    for (unsigned generation = 1; generation <= 6; ++generation) {
      for (unsigned lanes = 1; lanes <= 16; lanes *= 2) {
        ConfigSpace space;
        LinkCapabilities link(space, type, generation, lanes);
        if (generation < 3) {
          EXPECT_EQ(space.read(ConfigSpace::first_extended_capability, 4), 0u);
          continue;
        }
        const auto found = extended(space);
        EXPECT_EQ(found.size(), ids[generation - 1].size());
        for (const unsigned id : ids[generation - 1]) EXPECT_EQ(found.count(id), 1u) << id;
      }
    }
  }
}

struct Dword {
  unsigned offset;
  std::uint32_t reset;
  std::uint32_t writable;
};

// All registers of a capability, before the link is up: `dwords`, and from `lanes_at` on bytes of a
// lane each, which repeat for all lanes.
void expect_layout(ConfigSpace& space, unsigned at, const std::vector<Dword>& dwords,
                   unsigned lanes_at, std::vector<std::uint8_t> lane,
                   std::vector<std::uint8_t> lane_writable, unsigned lanes) {
  for (const Dword& one : dwords) {
    EXPECT_EQ(space.read(at + one.offset, 4), one.reset) << one.offset;
    space.write(at + one.offset, 4, ~one.reset);
    EXPECT_EQ(space.read(at + one.offset, 4), one.reset ^ one.writable) << one.offset;
    space.write(at + one.offset, 4, one.reset);
  }
  for (unsigned i = 0; i < lanes * lane.size(); ++i) {
    const unsigned offset = at + lanes_at + i;
    const std::uint8_t reset = lane[i % lane.size()];
    EXPECT_EQ(space.read(offset, 1), reset) << offset - at;
    space.write(offset, 1, ~reset);
    EXPECT_EQ(space.read(offset, 1), reset ^ lane_writable[i % lane.size()]) << offset - at;
    space.write(offset, 1, reset);
  }
}

TEST(LinkCapabilities, EveryByteOfARootPort) {
  for (unsigned lanes = 1; lanes <= 16; lanes *= 2) {
    ConfigSpace space;
    LinkCapabilities link(space, PortType::root_port, 6, lanes);
    auto at = extended(space);
    expect_layout(space, at[secondary], {{4, 0, 3}, {8, 0, 0}}, 0x0c, {4, 4}, {0, 0}, lanes);
    expect_layout(space, at[data_link_feature], {{4, 0x80000001, 0}, {8, 0, 0}}, 0x0c, {}, {}, 0);
    expect_layout(
        space, at[physical_16],
        {{4, 0, 0}, {8, 0, 0}, {12, 0, 0}, {16, 0, 0}, {20, 0, 0}, {24, 0, 0}, {28, 0, 0}}, 0x20,
        {0x44}, {0}, lanes);
    expect_layout(
        space, at[physical_32],
        {{4, 0x100, 0}, {8, 0, 0}, {12, 0, 0}, {16, 0, 0}, {20, 0, 0}, {24, 0, 0}, {28, 0, 0}},
        0x20, {0x44}, {0}, lanes);
    expect_layout(space, at[physical_64], {{4, 0, 0}, {8, 0, 0}, {12, 0, 0}}, 0x10, {0x44}, {0},
                  lanes);
    expect_layout(space, at[lane_margining], {{4, 0, 0}}, 8, {0x38, 0x9c, 0, 0}, {0x7f, 0xff, 0, 0},
                  lanes);
  }
}

TEST(LinkCapabilities, EveryByteOfAnEndpoint) {
  for (unsigned lanes = 1; lanes <= 16; lanes *= 2) {
    ConfigSpace space;
    LinkCapabilities link(space, PortType::endpoint, 6, lanes);
    auto at = extended(space);
    expect_layout(space, at[secondary], {{4, 0, 0}, {8, 0, 0}}, 0x0c, {0, 0x7f}, {0, 0}, lanes);
    for (const unsigned id : {physical_16, physical_32}) {
      expect_layout(space, at[id], {{12, 0, 0}}, 0x20, {0xf0}, {0}, lanes);
    }
    expect_layout(space, at[physical_64], {{12, 0, 0}}, 0x10, {0xf0}, {0}, lanes);
    expect_layout(space, at[lane_margining], {{4, 0, 0}}, 8, {0x38, 0x9c, 0, 0}, {0x7f, 0xff, 0, 0},
                  lanes);
  }
}

// The link speed determines which speeds are equalized and which presets the partner has sent.
TEST(LinkCapabilities, TrainingReportsWhatTheOtherPortHas) {
  for (unsigned generation = 1; generation <= 6; ++generation) {
    ConfigSpace space;
    LinkCapabilities link(space, PortType::endpoint, 6, 2);
    auto at = extended(space);
    for (const unsigned now : {6u, generation}) {
      link.trained(now, 6);
      EXPECT_EQ(space.read(at[secondary] + 0x0c, 4), now >= 3 ? 0x04000400u : 0x7f007f00u);
      EXPECT_EQ(space.read(at[physical_16] + 0x0c, 4), now >= 4 ? 0xfu : 0u);
      EXPECT_EQ(space.read(at[physical_16] + 0x20, 2), now >= 4 ? 0x4040u : 0xf0f0u);
      EXPECT_EQ(space.read(at[physical_32] + 0x0c, 4), now >= 5 ? 0xfu : 0u);
      EXPECT_EQ(space.read(at[physical_32] + 0x20, 2), now >= 5 ? 0x4040u : 0xf0f0u);
      EXPECT_EQ(space.read(at[physical_64] + 0x0c, 4), now >= 6 ? 0xfu : 0u);
      EXPECT_EQ(space.read(at[physical_64] + 0x10, 2), now >= 6 ? 0x4040u : 0xf0f0u);
    }
  }
}

// 3.3: a port that can have 16 GT/s announces its features, whatever the speed of the link is.
// 3.2.1: they are forgotten when the link goes down.
TEST(LinkCapabilities, FeaturesOfThePartnerDoNotDependOnTheSpeed) {
  for (const unsigned partner : {1u, 3u, 4u, 6u}) {
    for (unsigned now = 1; now <= partner; ++now) {
      ConfigSpace space;
      LinkCapabilities link(space, PortType::root_port, 6, 2);
      const unsigned at = extended(space)[data_link_feature] + 8;
      const std::uint32_t announced = partner >= 4 ? 0x80000001 : 0;
      link.trained(now, partner);
      EXPECT_EQ(space.read(at, 4), announced) << now << " of " << partner;
      link.retrained(partner);
      EXPECT_EQ(space.read(at, 4), announced);
      link.retrained(1);
      EXPECT_EQ(space.read(at, 4), announced);
      link.link_down();
      EXPECT_EQ(space.read(at, 4), 0u);
    }
  }
}

class ExchangedFeatures : public testing::TestWithParam<unsigned> {};

TEST_P(ExchangedFeatures, AreTheSameAtEverySpeed) {
  const unsigned card = GetParam();
  Fixture::Config config;
  config.endpoint.generation = card;
  config.root_complex.ports[0].generation = 6;
  Fixture fixture(config);
  fixture.run([&] {
    fixture.enumerate();
    const Id port = Fixture::root_port;
    const unsigned at = fixture.find_extended_capability(port, data_link_feature) + 8;
    const unsigned express = fixture.find_capability(port, PciExpress::id);
    const std::uint32_t announced = card >= 4 ? 0x80000001 : 0;
    const auto device = [&] {
      if (card < 4) return std::uint32_t{0};  // it does not have the capability
      const unsigned found = fixture.find_extended_capability(Fixture::device, data_link_feature);
      return fixture.config_read(Fixture::device, found + 8, 4);
    };
    EXPECT_EQ(fixture.config_read(port, at, 4), announced);
    EXPECT_EQ(device(), announced);
    // The link goes down and comes up again at 2.5 GT/s.
    fixture.config_write(port, express + PciExpress::link_control_2, 1, 2);
    fixture.config_write(port, express + PciExpress::link_control, 1u << 4, 2);
    EXPECT_EQ(fixture.config_read(port, at, 4), 0u) << "the link is disabled";
    fixture.config_write(port, express + PciExpress::link_control, 0, 2);
    sc_core::wait(1, sc_core::SC_MS);
    EXPECT_EQ(fixture.config_read(port, express + PciExpress::link_status, 2) & 0xf, 1u);
    EXPECT_EQ(fixture.config_read(port, at, 4), announced);
    EXPECT_EQ(device(), announced);
  });
}
INSTANTIATE_TEST_SUITE_P(LinkCapabilities, ExchangedFeatures, testing::Values(3, 4, 6));

TEST(LinkCapabilities, AFunctionLevelResetLeavesTheLinkAsItIs) {
  ConfigSpace space;
  LinkCapabilities link(space, PortType::endpoint, 6, 16);
  link.trained(6, 6);
  std::vector<std::uint32_t> before;
  for (unsigned at = ConfigSpace::first_extended_capability; at < 0x300; at += 4)
    before.push_back(space.read(at, 4));
  space.reset(Reset::function);
  for (unsigned at = ConfigSpace::first_extended_capability; at < 0x300; at += 4) {
    EXPECT_EQ(space.read(at, 4), before[(at - 0x100) / 4]) << at;
  }
  space.reset(Reset::hot);
  EXPECT_EQ(space.read(extended(space)[data_link_feature] + 8, 4), 0u);
}

TEST(LinkCapabilities, OfFunction0Alone) {
  Fixture::Config config;
  config.endpoint.functions.resize(2);
  Fixture fixture(config);
  const auto count = [](ConfigSpace& space) {
    unsigned found = 0;
    for (unsigned at = ConfigSpace::first_extended_capability; at != 0;
         at = space.read(at, 4) >> 20) {
      found += (space.read(at, 4) & 0xffff) == data_link_feature;
    }
    return found;
  };
  EXPECT_EQ(count(fixture.root_complex.port(0).config_space()), 1u);
  EXPECT_EQ(count(fixture.endpoint.function(0).config_space()), 1u);
  EXPECT_EQ(count(fixture.endpoint.function(1).config_space()), 0u);
}

}  // namespace
}  // namespace pcie
