// SPDX-License-Identifier: Apache-2.0
#include "models/axi/kind/description.h"

#include "models/axi/kind/rtl_device.h"
#include "tests/models/axi/fixture.h"
#include "tests/vp/config/mistakes.h"

namespace axi::test {
namespace {

using namespace vp::config;

struct Result {
  device::DescriptionPtr description;
  Report report;
};

/// Reads a device that stands at `devices[0]`.
Result read(const std::string& kind, const std::string& keys) {
  struct File {
    std::vector<device::DescriptionPtr> devices;
  };
  const Struct<File> schema(
      {{"devices", &File::devices, list(device::any_kind(), 0, 4), "Devices"}});
  Reading reading;
  const std::string text = "devices:\n  - {name: a, kind: " + kind + keys + "}";
  const File file = vp::config::read(schema, parse_yaml(argument_source("a.yaml", text)), reading);
  return {file.devices.at(0), reading.report()};
}

TEST(RtlKind, HasTheDefaultsOfItsFunction) {
  const Result result = read("exerciser-wide", "");
  EXPECT_TRUE(result.report.empty()) << result.report.text();
  const auto& description = dynamic_cast<const Description&>(*result.description);
  EXPECT_EQ(description.clock, 500'000'000);
  EXPECT_EQ(description.id, (PciId{0xf0ae, 0x0001}));
  EXPECT_EQ(description.subsystem, (PciId{0xf0ae, 0x0001}));
  EXPECT_EQ(description.type->vectors, 8u);
  EXPECT_EQ(description.type->bar_size, 0x10000u) << "of 16 address bits";
  EXPECT_FALSE(description.type->level);
  EXPECT_EQ(description.summary(), "500MHz");
  EXPECT_TRUE(description.has_waveform());
  EXPECT_EQ(block_of("registers-only").vectors, 70u);
  EXPECT_EQ(block_of("registers-only").bar_size, 0x10000u) << "BAR_SIZE, with 12 address bits";
  EXPECT_TRUE(block_of("registers-only").level);
}

TEST(RtlKind, ReadsItsKeys) {
  const Result result =
      read("exerciser-wide", ", clock: 1.5GHz, id: '1234:5678', subsystem: '9abc:def0'");
  EXPECT_TRUE(result.report.empty()) << result.report.text();
  const auto& description = dynamic_cast<const Description&>(*result.description);
  EXPECT_EQ(description.clock, 1'500'000'000);
  EXPECT_EQ(description.id, (PciId{0x1234, 0x5678}));
  EXPECT_EQ(description.subsystem, (PciId{0x9abc, 0xdef0}));
}

TEST(RtlKind, RefusesWithPlaceAcceptedAndRemedy) {
  expect_one(read("exerciser-wide", ", clock: 999Hz").report, "2:44", "found `999Hz`", "1kHz", "");
  expect_one(read("exerciser-wide", ", clok: 1GHz").report, "2:37", "unknown key `clok`", "clock",
             "did you mean `clock`");
}

TEST(RtlKind, HasItsRows) {
  std::vector<Row> rows;
  device::find_kind("registers-only")->rows("devices[registers-only]", rows);
  ASSERT_EQ(rows.size(), 3u);
  EXPECT_EQ(rows[0].path, "devices[registers-only].clock");
  EXPECT_EQ(rows[0].fallback, "333333333Hz");
  EXPECT_EQ(rows[1].fallback, "f0ae:0002");
}

// The MSI-X table and the pending bits do not overlap, whatever the number of vectors is.
TEST(RtlKind, HasRoomForEachVector) {
  for (const unsigned vectors : {1u, 128u, 129u, 2048u}) {
    BlockType type = block_of("registers-only");
    type.vectors = vectors;
    const pcie::FunctionConfig function = Bridge::function_config(type, 100'000'000);
    ASSERT_EQ(function.bars.size(), 2u);
    EXPECT_EQ(function.bars[1].index, 2u);
    EXPECT_EQ(function.msi_x.vectors, vectors);
    EXPECT_GE(function.msi_x.pending_offset, 16u * vectors);
    EXPECT_GE(function.bars[1].size, function.msi_x.pending_offset + (vectors + 63) / 64 * 8);
    EXPECT_EQ(function.reset_time, 170 * vp::ns);
  }
}

}  // namespace
}  // namespace axi::test
