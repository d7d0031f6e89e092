// SPDX-License-Identifier: Apache-2.0
#include "models/nvme/kind/description.h"

#include <filesystem>
#include <fstream>

#include "models/device/kind.h"
#include "models/nvme/kind/disk_device.h"
#include "tests/vp/config/mistakes.h"
#include "tests/vp/config/temporary.h"
#include "vp/images/file.h"

namespace nvme {
namespace {

using namespace vp::config;

struct Result {
  std::shared_ptr<const Description> description;
  Report report;
};

/// Reads a disk with these keys.
Result read(const std::string& keys, const std::string& name = "d",
            const std::filesystem::path& folder = ".") {
  const std::string text = "{kind: nvme, name: " + name + ", " + keys + "}";
  Reading reading(folder);
  const Node node = parse_yaml(argument_source("a.yaml", text));
  reading.place("disk", node.origin);
  const device::DescriptionPtr read = device::find_kind("nvme")->read(node, "disk", reading);
  reading.report_unknown_keys({});
  return {std::dynamic_pointer_cast<const Description>(read), reading.report()};
}

TEST(NvmeDescription, BecomesTheConfigurationOfAController) {
  const Result result = read(
      "namespaces: [{size: 1MiB}, {size: 8MiB, block_size: 4KiB, cache: 64KiB, overlay_memory: "
      "1MiB}], read_latency: 7us, write_latency: 8us, admin_latency: 9us, rate: 8Gb/s, ready_time: "
      "2ms, queue_pairs: 3, queue_entries: 16, commands: 5, max_transfer: 8KiB, serial_number: "
      "S-7, model_number: M, id: 1234:5678");
  ASSERT_TRUE(result.report.empty()) << result.report.text();
  const ControllerConfig config = controller_config(*result.description, 99);
  ASSERT_EQ(config.namespaces.size(), 2u);
  EXPECT_EQ(config.namespaces[0].size, 1u << 20);
  EXPECT_EQ(config.namespaces[0].block_size, 512u);
  EXPECT_EQ(config.namespaces[0].cache, 0u);
  EXPECT_EQ(config.namespaces[1].size, 8u << 20);
  EXPECT_EQ(config.namespaces[1].block_size, 4096u);
  EXPECT_EQ(config.namespaces[1].cache, 64u << 10);
  EXPECT_EQ(config.namespaces[1].overlay_memory, 1u << 20);
  EXPECT_EQ(config.read_latency, 7 * vp::us);
  EXPECT_EQ(config.write_latency, 8 * vp::us);
  EXPECT_EQ(config.admin_latency, 9 * vp::us);
  EXPECT_EQ(config.bytes_per_second, 1'000'000'000u);
  EXPECT_EQ(config.ready_time, 2 * vp::ms);
  EXPECT_EQ(config.queue_pairs, 3u);
  EXPECT_EQ(config.queue_entries, 16u);
  EXPECT_EQ(config.commands, 5u);
  EXPECT_EQ(config.max_transfer, 8u << 10);
  EXPECT_EQ(config.seed, 99u);
  EXPECT_EQ(config.serial_number, "S-7");
  EXPECT_EQ(config.model_number, "M");
  EXPECT_EQ(config.vendor, 0x1234);
  EXPECT_EQ(result.description->summary(), "1MiB blank, 8MiB blank");
}

// Every default of the schema is that of the controller, except for the serial number.
TEST(NvmeDescription, HasTheDefaultsOfTheController) {
  const ControllerConfig config =
      controller_config(*read("namespaces: [{size: 1MiB}]", "disk7").description, 1);
  const ControllerConfig defaults;
  EXPECT_EQ(config.read_latency, defaults.read_latency);
  EXPECT_EQ(config.write_latency, defaults.write_latency);
  EXPECT_EQ(config.admin_latency, defaults.admin_latency);
  EXPECT_EQ(config.bytes_per_second, defaults.bytes_per_second);
  EXPECT_EQ(config.ready_time, defaults.ready_time);
  EXPECT_EQ(config.queue_pairs, defaults.queue_pairs);
  EXPECT_EQ(config.queue_entries, defaults.queue_entries);
  EXPECT_EQ(config.commands, defaults.commands);
  EXPECT_EQ(config.max_transfer, defaults.max_transfer);
  EXPECT_EQ(config.model_number, defaults.model_number);
  EXPECT_EQ(config.vendor, defaults.vendor);
  EXPECT_EQ(config.namespaces[0].overlay_memory, DiskConfig().overlay_memory);
  // Linux takes disks of the same serial number for one.
  EXPECT_EQ(config.serial_number, "disk7");
}

TEST(NvmeDescription, RefusesWithAcceptedAndRemedy) {
  const struct {
    const char *keys, *found, *accepted, *remedy;
  } table[] = {
      {"queue_pairs: 4", "`namespaces` is missing", "a list of 1 to 256", "add `namespaces"},
      {"namespaces: []", "the list has 0 elements", "1 to 256", "add"},
      {"namespaces: [{}]", "namespaces[0]: it has neither an image nor a size", "`image` or `size`",
       "add `size: 64MiB`"},
      {"namespaces: [{size: 1000B}]", "namespaces[0].size: 1000B are not whole blocks of 512B",
       "a multiple of 512B", "write 1KiB"},
      {"namespaces: [{size: 1MiB, block_size: 4KiB, cache: 6KiB}]",
       "namespaces[0].cache: 6KiB are not whole blocks of 4KiB", "a multiple of 4KiB",
       "write 8KiB"},
      {"namespaces: [{size: 1MiB, block_size: 1KiB}]", "found `1KiB`", "512B or 4KiB", "write"},
      {"namespaces: [{size: 1MiB, write_through: true}]", "there is no image to write to", "false",
       "name the file of an image"},
      {"namespaces: [{size: 1MiB, image: ./image}]", "a namespace with an image is as large", "",
       "remove `size`"},
      {"namespaces: [{image: ./absent}]", "there is no", "an existing file", "check the name"},
      {"namespaces: [{image: ./}]", "is a directory", "an existing file", "name a file in it"},
      {"namespaces: [{size: 1MiB}], rate: 12b/s", "the medium passes whole bytes",
       "a multiple of 8bit/s", "round it"},
      {"namespaces: [{size: 1MiB}], queue_pairs: 256", "found `256`", "1 to 255", "255 or less"},
      {"namespaces: [{size: 1MiB}], queue_entries: 1", "found `1`", "2 to 65536", "2 or more"},
      {"namespaces: [{size: 1MiB}], max_transfer: 4KiB", "found `4KiB`", "8KiB", "write 8KiB"},
      {"namespaces: [{size: 1MiB}], ready_time: 128s", "found `128s`", "127s", "127s or less"},
      {"namespaces: [{size: 1MiB}], serial_number: é", "has other characters", "at most 20",
       "replace"},
      {"namespaces: [{size: 1MiB}], model_number: ''", "the text is empty", "1 to 40", "remove"},
      {"namespaces: [{size: 1MiB}], read_latncy: 1us", "unknown key `read_latncy`", "",
       "did you mean `read_latency`"},
  };
  const TemporaryDirectory directory;
  directory.write("image", std::string(512, 'x'));
  const auto before = std::filesystem::current_path();
  std::filesystem::current_path(directory.path());
  for (const auto& each : table) {
    SCOPED_TRACE(each.keys);
    const Report report = read(each.keys).report;
    ASSERT_EQ(report.count(), 1u) << report.text();
    EXPECT_THAT(report.problems()[0].found, testing::HasSubstr(each.found));
    EXPECT_THAT(report.problems()[0].accepted, testing::HasSubstr(each.accepted));
    EXPECT_THAT(report.problems()[0].remedy, testing::HasSubstr(each.remedy));
    EXPECT_EQ(report.problems()[0].origin.line, 1u);
  }
  std::filesystem::current_path(before);
  EXPECT_THAT(read("namespaces: [{size: 1MiB}]", "a-name-of-21-charact").report.text(),
              testing::Not(testing::HasSubstr("too long")));
  EXPECT_THAT(read("namespaces: [{size: 1MiB}]", "a-name-of-21-characte").report.text(),
              testing::HasSubstr("too long for a serial number"));
}

TEST(NvmeDescription, NamesItsImagesWithTheirChecks) {
  const TemporaryDirectory directory;
  directory.write("good", std::string(1024, 'x'));
  directory.write("odd", std::string(1000, 'x'));
  const Result result =
      read("namespaces: [{size: 1MiB}, {image: good, write_through: true}, {image: odd}]", "d",
           directory.path());
  ASSERT_TRUE(result.report.empty()) << result.report.text();
  const std::vector<device::InputFile> inputs = result.description->inputs();
  ASSERT_EQ(inputs.size(), 2u);
  EXPECT_EQ(inputs[0].key, "namespaces[1].image");
  EXPECT_TRUE(inputs[0].written);
  EXPECT_NO_THROW(inputs[0].check(directory.path() / "good"));
  EXPECT_EQ(inputs[1].key, "namespaces[2].image");
  EXPECT_FALSE(inputs[1].written);
  EXPECT_THROW(inputs[1].check(directory.path() / "odd"), vp::images::Mistake);
  EXPECT_EQ(result.description->forbids_forks(),
            "namespaces[1].write_through is true, and all would write to one image");
  EXPECT_EQ(read("namespaces: [{size: 1MiB}]").description->forbids_forks(), "");
  EXPECT_EQ(read("namespaces: [{size: 1MiB}, {size: 2MiB}]").description->storages(), 2u);
}

}  // namespace
}  // namespace nvme
