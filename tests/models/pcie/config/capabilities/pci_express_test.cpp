// SPDX-License-Identifier: Apache-2.0
#include "models/pcie/config/capabilities/pci_express.h"

#include <gtest/gtest.h>

#include "models/pcie/protocol/configuration_error.h"

namespace pcie {
namespace {

TEST(PciExpress, SupportedSpeedsAreAVectorAndOtherSpeedsNumbers) {
  const unsigned retimers = 3u << 23;  // presence of one, of two
  const unsigned vectors[] = {0x02, 0x06, 0x0e, 0x1e | retimers, 0x3e | retimers, 0x7e | retimers};
  for (unsigned generation = 1; generation <= 6; ++generation) {
    ConfigSpace space;
    PciExpress express(space, {PortType::endpoint, generation, 8});
    const unsigned at = express.offset();
    EXPECT_EQ(space.read(at + PciExpress::link_capabilities_2, 4), vectors[generation - 1]);
    EXPECT_EQ(space.read(at + PciExpress::link_capabilities, 4) & 0xf, generation);
    EXPECT_EQ(space.read(at + PciExpress::link_control_2, 2) & 0xf, generation) << "target speed";
    express.trained(generation, 4, generation == 6);
    EXPECT_EQ(space.read(at + PciExpress::link_status, 2) & 0x3ff, generation | 4u << 4);
    EXPECT_EQ(space.read(at + PciExpress::capabilities, 2) >> 15, generation == 6)
        << "flit mode is supported";
    EXPECT_EQ(space.read(at + PciExpress::link_status_2, 2) >> 10 & 1, generation == 6)
        << "and in use";
  }
}

// PCIe 6.0, 7.5.3.7: of the functions below a link, function 0 alone can disable flit mode.
TEST(PciExpress, FlitModeCanBeDisabledWhereItIsSupported) {
  constexpr std::uint32_t disable = 1u << 13;
  const auto written = [](PortType type, unsigned generation, unsigned function) {
    ConfigSpace space;
    PciExpressConfig config;
    config.type = type;
    config.generation = generation;
    config.function = function;
    PciExpress express(space, config);
    const unsigned control = express.offset() + PciExpress::link_control;
    EXPECT_EQ(space.read(control, 2), 0u);
    space.write(control, 2, disable);
    const std::uint32_t found = space.read(control, 2);
    EXPECT_EQ(express.flits_disabled(), found != 0);
    space.reset(Reset::function);
    EXPECT_EQ(space.read(control, 2), found) << "the link goes on";
    space.reset(Reset::hot);
    EXPECT_EQ(space.read(control, 2), 0u);
    return found;
  };
  for (const PortType type : {PortType::endpoint, PortType::root_port, PortType::upstream_port,
                              PortType::downstream_port}) {
    EXPECT_EQ(written(type, 6, 0), disable);
    EXPECT_EQ(written(type, 5, 0), 0u);
  }
  EXPECT_EQ(written(PortType::endpoint, 6, 1), 0u);
}

TEST(PciExpress, WidthPayloadAndType) {
  for (unsigned lanes = 1; lanes <= 16; lanes *= 2) {
    for (unsigned code = 0; code <= 5; ++code) {
      ConfigSpace space;
      PciExpress express(space, {PortType::root_port, 4, lanes, 128u << code});
      const unsigned at = express.offset();
      EXPECT_EQ(space.read(at, 1), 0x10u);
      EXPECT_EQ(space.read(at + PciExpress::capabilities, 2), 0x0142u)
          << "version 2, root port, hot-plug slot";
      EXPECT_EQ(space.read(at + PciExpress::device_capabilities, 4) & 7, code);
      EXPECT_EQ(space.read(at + PciExpress::link_capabilities, 4) >> 4 & 0x3f, lanes);
    }
  }
}

TEST(PciExpress, ReadRequestsBeginAtTheConfiguredSize) {
  for (unsigned code = 0; code <= 5; ++code) {
    ConfigSpace space;
    PciExpressConfig config;
    config.max_read_request = 128u << code;
    const PciExpress express(space, config);
    EXPECT_EQ(space.read(express.offset() + PciExpress::device_control, 2) >> 12, code);
    EXPECT_EQ(express.max_read_request(), 128u << code);
  }
  for (const unsigned size : {0u, 64u, 384u, 8192u}) {
    ConfigSpace space;
    PciExpressConfig config;
    config.max_read_request = size;
    EXPECT_THROW(PciExpress(space, config), ConfigurationError) << size;
  }
}

// Codes that software writes; those above what is supported do not make packets larger.
TEST(PciExpress, SizesFollowDeviceControl) {
  ConfigSpace space;
  PciExpress express(space, {PortType::endpoint, 4, 16, 1024});
  const unsigned control = express.offset() + PciExpress::device_control;
  EXPECT_EQ(express.max_payload(), 128u);
  EXPECT_EQ(express.max_read_request(), 512u);
  EXPECT_FALSE(express.extended_tags());
  EXPECT_TRUE(express.relaxed_ordering());
  for (unsigned code = 0; code < 8; ++code) {
    space.write(control, 2, code << 5 | code << 12 | 1u << 8);
    EXPECT_EQ(express.max_payload(), std::min(128u << code, 1024u));
    EXPECT_EQ(express.max_read_request(), std::min(128u << code, 4096u));
    EXPECT_TRUE(express.extended_tags());
    EXPECT_FALSE(express.relaxed_ordering());
  }
}

TEST(PciExpress, StatusBitsAreClearedByWritingOne) {
  ConfigSpace space;
  PciExpress express(space, {});
  const unsigned status = express.offset() + PciExpress::device_status;
  express.detected(0x9);
  space.write(status, 2, 0x8);
  EXPECT_EQ(space.read(status, 2), 0x1u);
  space.write(status - 2, 4, 0xffff0000);
  EXPECT_EQ(space.read(status, 2), 0u);
}

TEST(PciExpress, ReadBoundaryOfARootPortIsFixed) {
  for (const unsigned boundary : {64u, 128u}) {
    ConfigSpace space;
    PciExpress express(space, {PortType::root_port, 4, 16, 256, true, 1, 1, boundary});
    const unsigned control = express.offset() + PciExpress::link_control;
    space.write(control, 2, boundary == 64 ? 0xffff : 0);
    EXPECT_EQ(space.read(control, 2) >> 3 & 1, boundary == 128 ? 1u : 0u);
  }
}

TEST(PciExpress, ImpossibleValues) {
  ConfigSpace a, b, c, d, e, f;
  EXPECT_THROW(PciExpress(a, {PortType::endpoint, 7}), ConfigurationError);
  EXPECT_THROW(PciExpress(b, {PortType::endpoint, 0}), ConfigurationError);
  EXPECT_THROW(PciExpress(c, {PortType::endpoint, 4, 8, 200}), ConfigurationError);
  EXPECT_THROW(PciExpress(e, {PortType::endpoint, 4, 0}), ConfigurationError);
  EXPECT_THROW(PciExpress(f, {PortType::endpoint, 4, 32}), ConfigurationError);
  EXPECT_THROW(PciExpress(d, {PortType::root_port, 4, 8, 256, true, 1, 1, 32}), ConfigurationError);
}

}  // namespace
}  // namespace pcie
