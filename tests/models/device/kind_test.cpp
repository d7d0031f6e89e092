// SPDX-License-Identifier: Apache-2.0
#include "models/device/kind.h"

#include <nlohmann/json.hpp>

#include "tests/models/pcie/fixture.h"
#include "tests/vp/config/mistakes.h"

namespace device {
namespace {

using namespace vp::config;
using testing::ElementsAre;
using testing::HasSubstr;

struct Lamp : Description {
  unsigned colours = 3;
  std::string label;

  void check(const std::string& path, Reading& reading) const override {
    if (colours == 1 && !label.empty())
      reading.mistake(path + ".label", "a lamp of one colour has no label", "", "remove it");
  }
};

std::vector<Key<Lamp>> lamp_keys() {
  return {{"colours", &Lamp::colours, integer(1, 8), "How many it has"},
          {"label", &Lamp::label, string(20), "What stands on it"}};
}

struct LampDevice : Device {
  LampDevice(const sc_core::sc_module_name& name, const Lamp& lamp, const Site& site)
      : Device(name, site, {function(lamp)}) {}

  static pcie::FunctionConfig function(const Lamp& lamp) {
    pcie::FunctionConfig config;
    config.identity.device = static_cast<std::uint16_t>(0x1230 + lamp.colours);
    return config;
  }
};

const Registration<Lamp, LampDevice> lamp("lamp", "A lamp", lamp_keys);

/// Reads a device that stands at `devices[0]`.
struct Result {
  DescriptionPtr description;
  Report report;
};

Result read(const std::string& text) {
  struct File {
    std::vector<DescriptionPtr> devices;
  };
  const Struct<File> schema({{"devices", &File::devices, list(any_kind(), 0, 4), "Devices"}});
  Reading reading;
  const File file = vp::config::read(
      schema, parse_yaml(argument_source("a.yaml", "devices:\n  - " + text)), reading);
  return {file.devices.empty() ? nullptr : file.devices[0], reading.report()};
}

TEST(Kind, IsKnownByItsName) {
  ASSERT_EQ(kinds().size(), 1u);
  EXPECT_EQ(find_kind("lamp"), &lamp);
  EXPECT_EQ(find_kind("lam"), nullptr);
  {
    EXPECT_THROW((Registration<Lamp, LampDevice>("lamp", "Another one", lamp_keys)),
                 std::logic_error);
    const Registration<Lamp, LampDevice> bulb("bulb", "A bulb", lamp_keys);
    EXPECT_THAT(kinds(), ElementsAre(&bulb, &lamp)) << "in the order of their names";
  }
  EXPECT_THAT(kinds(), ElementsAre(&lamp));
}

TEST(Kind, ReadsItsOwnKeysAndThoseOfAllKinds) {
  const Result result = read("{name: l, kind: lamp, colours: 5, endpoint: {latency: 1us}}");
  EXPECT_TRUE(result.report.empty()) << result.report.text();
  const auto& read = dynamic_cast<const Lamp&>(*result.description);
  EXPECT_EQ(read.name, "l");
  EXPECT_EQ(read.kind, "lamp");
  EXPECT_EQ(read.colours, 5u);
  EXPECT_EQ(read.label, "");
  EXPECT_EQ(read.endpoint.latency, 1 * vp::us);
  EXPECT_EQ(read.endpoint.tags, 256u);
}

TEST(Kind, RefusesWithPlaceAcceptedAndRemedy) {
  const struct {
    const char *text, *place, *found, *accepted, *remedy;
  } table[] = {
      {"{name: l, kind: lapm, colours: 5}", "2:21", "devices[0].kind: found `lapm`", "lamp",
       "did you mean `lamp`"},
      {"{name: l, colours: 5}", "2:5", "`kind` is missing in devices[0]", "lamp", "add `kind: "},
      {"{kind: lamp}", "2:5", "`name` is missing in devices[0]", "a name", "add `name: "},
      {"{name: l, kind: [lamp]}", "2:21", "found a list", "lamp", ""},
      {"{name: l, kind: lamp, colours: 9}", "2:36", "devices[0].colours: found `9`", "1 to 8",
       "8 or less"},
      {"{name: l, kind: lamp, colour: 2}", "2:27", "unknown key `colour` in devices[0]", "colours",
       "did you mean `colours`"},
      {"{name: l, kind: lamp, split: true}", "2:27", "unknown key `split`", "",
       "`devices[].endpoint.completions.split`"},
      {"{name: l, kind: lamp, endpoint: {tags: 1}}", "2:44", "endpoint.tags: found `1`", "32, 256",
       "write 32"},
      {"{name: l, kind: lamp, colours: 1, label: x}", "2:46", "a lamp of one colour has no label",
       "", "remove it"},
      {"lamp", "2:5", "found `lamp`", "a map", ""},
  };
  for (const auto& each : table) {
    SCOPED_TRACE(each.text);
    expect_one(read(each.text).report, each.place, each.found, each.accepted, each.remedy);
  }
}

// Links refer to a device by its name, and the mistake in its kind is reported once.
TEST(Kind, ThatIsUnknownLeavesTheCommonKeys) {
  EXPECT_EQ(read("{name: l, kind: torch, beam: wide}").description->name, "l");
}

TEST(Kind, HasItsRowsBehindThoseOfAllKinds) {
  std::vector<Row> rows;
  any_kind().rows("devices[]", rows);
  std::vector<std::string> paths;
  for (const Row& row : rows) {
    paths.push_back(row.path);
    EXPECT_NE(row.text, "") << row.path;
  }
  EXPECT_THAT(
      paths,
      ElementsAre("devices[].name", "devices[].kind", "devices[].endpoint",
                  "devices[].endpoint.latency", "devices[].endpoint.tags",
                  "devices[].endpoint.aligned_requests", "devices[].endpoint.completions",
                  "devices[].endpoint.completions.split", "devices[].endpoint.completions.spread",
                  "devices[lamp]", "devices[lamp].colours", "devices[lamp].label"));
}

/// A section that says which lamps hang on one string.
struct LampString : Section {
  static constexpr const char* key = "lamp_string";
  std::vector<std::string> lamps;

  void check(const std::vector<DescriptionPtr>& own, Reading& reading) const override {
    std::vector<std::string> names;
    for (const DescriptionPtr& each : own) names.push_back(each->name);
    for (std::size_t i = 0; i < lamps.size(); ++i)
      check_name("lamp_string[" + std::to_string(i) + "]", lamps[i], "bulb", names, reading);
  }
  std::vector<std::unique_ptr<vp::Event>> connect(const std::vector<Device*>&) const override {
    return {};
  }
};

std::vector<SectionKey> lamp_sections() {
  return {section_key(&LampString::lamps, list(name(), 0, 9), "Lamps of a string")};
}

/// A key with the name of one that all devices have.
std::vector<Key<Lamp>> bulb_keys() {
  std::vector<Key<Lamp>> keys = lamp_keys();
  keys.push_back({"endpoint", &Lamp::label, string(20), "Text in place of keys"});
  return keys;
}

Traits bulb_traits() {
  Traits traits;
  traits.noun = "bulb";
  traits.list = "bulbs";
  traits.sections = lamp_sections;
  return traits;
}

TEST(Kind, MayHaveAListOfItsOwn) {
  const Registration<Lamp, LampDevice> bulb("bulb", "A bulb", bulb_keys, bulb_traits());
  struct File {
    std::vector<DescriptionPtr> bulbs;
  };
  const Struct<File> schema({{"bulbs", &File::bulbs, list(listed(bulb), 0, 4), "Bulbs"}});
  const auto read = [&](const std::string& text, File& file) {
    Reading reading;
    file = vp::config::read(schema, parse_yaml(argument_source("a.yaml", "bulbs:\n  - " + text)),
                            reading);
    return reading.report();
  };
  File file;
  EXPECT_TRUE(read("{name: b, colours: 5, endpoint: own}", file).empty());
  EXPECT_EQ(file.bulbs.at(0)->kind, "bulb");
  EXPECT_EQ(file.bulbs[0]->name, "b");
  EXPECT_EQ(dynamic_cast<const Lamp&>(*file.bulbs[0]).label, "own");
  expect_one(read("{name: b, colours: 9}", file), "2:24", "bulbs[0].colours: found `9`", "1 to 8",
             "8 or less");
  expect_one(read("{name: b, kind: bulb}", file), "2:15", "unknown key `kind` in bulbs[0]",
             "colours", "");

  std::vector<Row> rows;
  listed(bulb).rows("bulbs[]", rows);
  std::vector<std::string> paths;
  for (const Row& row : rows) paths.push_back(row.path);
  EXPECT_THAT(paths,
              ElementsAre("bulbs[].name", "bulbs[].colours", "bulbs[].label", "bulbs[].endpoint"));
  EXPECT_EQ(rows[0].text, "Name, unique among hosts, switches, bulbs and devices");
}

// The keys stand once in the reference, where the list of the kind is.
TEST(Kind, WithAListIsOneRowAmongTheDevices) {
  const Registration<Lamp, LampDevice> bulb("bulb", "A bulb", bulb_keys, bulb_traits());
  std::vector<Row> rows;
  any_kind().rows("devices[]", rows);
  std::vector<std::string> of_bulb;
  for (const Row& row : rows) {
    if (row.path.rfind("devices[bulb]", 0) != 0) continue;
    of_bulb.push_back(row.path);
    EXPECT_EQ(row.text, "A bulb; its further keys are those of bulbs[]");
  }
  EXPECT_THAT(of_bulb, ElementsAre("devices[bulb]"));
}

TEST(Kind, MayAddASectionAboutItsDevices) {
  const Registration<Lamp, LampDevice> bulb("bulb", "A bulb", bulb_keys, bulb_traits());
  const std::vector<SectionKey> keys = bulb.sections();
  ASSERT_EQ(keys.size(), 1u);
  EXPECT_EQ(keys[0].key, "lamp_string");
  EXPECT_EQ(keys[0].type.print(nullptr), "[]");

  Reading reading;
  Sections sections;
  const Node node = parse_yaml(argument_source("a.yaml", "[left, rigth]"));
  keys[0].type.read(node, "lamp_string", reading, sections["lamp_string"]);
  const auto* read = section<LampString>(sections);
  ASSERT_NE(read, nullptr);
  EXPECT_THAT(read->lamps, ElementsAre("left", "rigth"));
  std::vector<DescriptionPtr> own;
  for (const char* name : {"left", "right"}) {
    auto lamp = std::make_shared<Lamp>();
    lamp->name = name;
    own.push_back(lamp);
  }
  read->check(own, reading);
  expect_one(reading.report(), "1:8", "lamp_string[1]: there is no bulb `rigth`", "left or right",
             "did you mean `right`?");
}

// The kind alone builds the device, and a link is all that connects it.
TEST(Kind, BuildsADeviceThatAHostFinds) {
  pcie::Fixture::Config config;
  config.root_complex.ports.resize(2);
  pcie::Fixture fixture(config);
  Site site{config.endpoint, 0, fixture.trace, fixture.statistics};
  const Result result = read("{name: lamp0, kind: lamp, colours: 5}");
  const auto device = find_kind("lamp")->build(*result.description, site);
  EXPECT_STREQ(device->name(), "lamp0");
  EXPECT_EQ(device->inject({"flicker"}), "a device of this kind has no faults of its own");
  EXPECT_EQ(device->export_storage(1, -1), "a device of this kind stores nothing");
  EXPECT_EQ(result.description->storages(), 0u);
  const pcie::Link link("host_lamp0", config.link, fixture.root_complex.port(1), device->endpoint,
                        fixture.trace, fixture.statistics);
  fixture.run([&] {
    fixture.config_write(pcie::make_id(0, 2, 0), pcie::Type1Header::primary_bus_number, 0x020200,
                         4);
    EXPECT_EQ(fixture.config_read(pcie::make_id(2, 0, 0), 0, 4), 0x1235f0aeu);
  });
  EXPECT_EQ(fixture.statistics.json().at("counters").count("host_lamp0.down.wire_bytes"), 1u);
}

}  // namespace
}  // namespace device
