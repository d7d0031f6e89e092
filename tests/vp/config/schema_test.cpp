// SPDX-License-Identifier: Apache-2.0
#include "vp/config/schema.h"

#include <gtest/gtest.h>

#include "tests/vp/config/mistakes.h"
#include "tests/vp/config/temporary.h"

using namespace vp::config;
using testing::HasSubstr;

namespace {

enum class Colour { red, green };

struct Part {
  std::string name;
  unsigned lanes = 4;
};

struct Thing {
  int count = 2;
  std::uint32_t code = 0x10;
  bool on = false;
  Colour colour = Colour::green;
  std::string text = "default";
  std::int64_t delay = 1'000;
  std::uint64_t room = 4096;
  unsigned payload = 256;
  PciId id{0xf0ae, 0x0ae0};
  Instant start;
  File file;
  File folder;
  std::optional<File> maybe;
  std::vector<Part> parts;
  std::vector<int> numbers = {1, 2};
  std::map<std::string, std::string> levels;
  Part part;
};

const Struct<Part>& part_schema() {
  static const Struct<Part> schema({
      {"name", &Part::name, name(), "What it is called", required},
      {"lanes", &Part::lanes, one_of({1, 2, 4, 8, 16}), "Width"},
  });
  return schema;
}

const Struct<Thing>& thing_schema() {
  static const Struct<Thing> schema({
      {"count", &Thing::count, integer(1, 16), "How many"},
      {"code", &Thing::code, hexadecimal(0, 0xffff), "Code"},
      {"on", &Thing::on, boolean(), "Whether"},
      {"colour", &Thing::colour, choice<Colour>({{"red", Colour::red}, {"green", Colour::green}}),
       "Colour"},
      {"text", &Thing::text, string(20), "Text"},
      {"delay", &Thing::delay, duration(50, 1'000'000'000), "Delay"},
      {"room", &Thing::room, size(4096, 1 << 20, 4096), "Room"},
      {"payload", &Thing::payload, size_of({128, 256, 512}), "Payload"},
      {"id", &Thing::id, pci_id(), "Ids"},
      {"start", &Thing::start, instant(), "Start"},
      {"file", &Thing::file, file(), "File"},
      {"folder", &Thing::folder, directory(), "Folder"},
      {"maybe", &Thing::maybe, optional_file(), "Perhaps a file"},
      {"parts", &Thing::parts, list(part_schema(), 0, 3), "Parts"},
      {"numbers", &Thing::numbers, list(integer(0, 9), 1, 3), "Numbers"},
      {"levels", &Thing::levels, map_of({"a", "b"}, word({"info", "debug"})), "Levels"},
      {"part", &Thing::part, part_schema(), "One part"},
  });
  return schema;
}

struct Result {
  Thing thing;
  Report report;
};

Result read_thing(const std::string& text, const std::filesystem::path& directory = "/nowhere",
                  const std::filesystem::path& search = "/search") {
  auto source = std::make_shared<Source>();
  source->label = "a.yaml";
  source->text = text;
  source->directory = directory;
  Reading reading(search);
  Result result;
  result.thing = read(thing_schema(), parse_yaml(source), reading);
  result.report = reading.report();
  return result;
}

TEST(Schema, ReadsEveryKind) {
  const Result result = read_thing(
      "count: 16\ncode: 0xFFFF\non: true\ncolour: red\ntext: 'a: b'\ndelay: 1.5us\nroom: 8KiB\n"
      "payload: 0.5KiB\nid: 8086:145C\nstart: 2000-03-01T00:00:01\n"
      "parts:\n  - {name: x}\n  - name: y_1-z\n    lanes: 16\nnumbers: [0, 9, 0]\n"
      "levels: {b: debug}\npart: {name: p, lanes: 1}\nmaybe: none\n");
  EXPECT_TRUE(result.report.empty()) << result.report.text();
  const Thing& thing = result.thing;
  EXPECT_EQ(thing.count, 16);
  EXPECT_EQ(thing.code, 0xffffu);
  EXPECT_TRUE(thing.on);
  EXPECT_EQ(thing.colour, Colour::red);
  EXPECT_EQ(thing.text, "a: b");
  EXPECT_EQ(thing.delay, 1'500'000);
  EXPECT_EQ(thing.room, 8192u);
  EXPECT_EQ(thing.payload, 512u);
  EXPECT_EQ(thing.id, (PciId{0x8086, 0x145c}));
  EXPECT_EQ(thing.start.seconds, 951'868'801);
  ASSERT_EQ(thing.parts.size(), 2u);
  EXPECT_EQ(thing.parts[0].lanes, 4u);
  EXPECT_EQ(thing.parts[1].name, "y_1-z");
  EXPECT_EQ(thing.parts[1].lanes, 16u);
  EXPECT_EQ(thing.numbers, (std::vector<int>{0, 9, 0}));
  EXPECT_EQ(thing.levels.at("b"), "debug");
  EXPECT_EQ(thing.part.name, "p");
  EXPECT_FALSE(thing.maybe);
}

TEST(Schema, KeepsDefaults) {
  const Result result = read_thing("count: 3\n");
  EXPECT_TRUE(result.report.empty());
  EXPECT_EQ(result.thing.delay, 1'000);
  EXPECT_EQ(result.thing.numbers, (std::vector<int>{1, 2}));
}

struct Wrong {
  const char *text, *place, *found, *accepted, *remedy;
};

TEST(Schema, RefusesWithPlaceAcceptedAndRemedy) {
  const Wrong table[] = {
      // Keys
      {"cuont: 3\n", "1:1", "unknown key `cuont`", "count, code", "did you mean `count`"},
      {"lanes: 3\n", "1:1", "unknown key `lanes`", "", "`parts[].lanes`"},
      {"xyzzy: 3\n", "1:1", "unknown key `xyzzy`", "", "oae-vp keys"},
      {"part: {name: x, lans: 4}\n", "1:17", "unknown key `lans` in part", "name or lanes",
       "did you mean `lanes`"},
      {"count: 3\ncount: 4\n", "2:1", "second time", "a.yaml:1:1", "remove"},
      {"part: {lanes: 4}\n", "1:7", "`name` is missing in part", "a name", "add `name: ...`"},
      {"parts:\n  - lanes: 4\n", "2:5", "`name` is missing in parts[0]", "a name", "add"},
      // A misspelt required key is one mistake.
      {"part: {nane: x}\n", "1:8", "unknown key `nane`", "", "did you mean `name`"},
      // Types
      {"- 1\n", "1:1", "found a list", "a map with keys", "key: value"},
      {"hello\n", "1:1", "found `hello`", "a map with keys", "key: value"},
      {"count:\n", "1:1", "found nothing", "1 to 16", "remove the key"},
      {"count: ~\n", "1:1", "found nothing", "1 to 16", "remove the key"},
      {"count: [1]\n", "1:8", "found a list", "1 to 16", ""},
      {"count: {a: 1}\n", "1:8", "found a map", "1 to 16", ""},
      {"part: 3\n", "1:7", "found `3`", "a map with keys", ""},
      {"part:\n", "1:1", "found nothing", "a map with keys", ""},
      {"parts: 3\n", "1:8", "found `3`", "a list of 0 to 3", "- "},
      {"levels: [a]\n", "1:9", "found a list", "a map with keys out of a or b", ""},
      // Integers
      {"count: 0\n", "1:8", "found `0`", "1 to 16", "1 or more"},
      {"count: 17\n", "1:8", "found `17`", "1 to 16", "16 or less"},
      {"count: -1\n", "1:8", "found `-1`", "1 to 16", "1 or more"},
      {"count: 1.5\n", "1:8", "not a whole number", "1 to 16", ""},
      {"count: 1e1\n", "1:8", "not a whole number", "1 to 16", ""},
      {"count: four\n", "1:8", "not a whole number", "1 to 16", ""},
      {"count: '4'\n", "1:8", "the string `4`", "1 to 16", "remove the quotes"},
      {"count: 010\n", "1:8", "begins with a zero", "1 to 16", "leading zeros"},
      {"count: +4\n", "1:8", "not a whole number", "1 to 16", ""},
      {"count: 0x\n", "1:8", "not a whole number", "1 to 16", ""},
      {"count: 99999999999999999999\n", "1:8", "too large", "1 to 16", ""},
      {"code: 0x10000\n", "1:7", "found `0x10000`", "0x0 to 0xffff", "0xffff or less"},
      {"part: {name: x, lanes: 3}\n", "1:24", "part.lanes: found `3`", "1, 2, 4, 8 or 16",
       "write 2 or 4"},
      {"part: {name: x, lanes: 32}\n", "1:24", "found `32`", "1, 2, 4, 8 or 16", "write 16"},
      {"part: {name: x, lanes: 0}\n", "1:24", "found `0`", "1, 2, 4, 8 or 16", "write 1"},
      {"part: {name: x, lanes: x4}\n", "1:24", "not a whole number", "1, 2, 4, 8 or 16", ""},
      // Booleans
      {"on: yes\n", "1:5", "found `yes`", "true or false", "write `true`"},
      {"on: Off\n", "1:5", "found `Off`", "true or false", "write `false`"},
      {"on: 1\n", "1:5", "found `1`", "true or false", "write `true`"},
      {"on: 'true'\n", "1:5", "the string `true`", "true or false", "write `true`"},
      {"on: maybe\n", "1:5", "found `maybe`", "true or false", ""},
      {"on: []\n", "1:5", "found a list", "true or false", ""},
      // Words
      {"colour: rde\n", "1:9", "found `rde`", "red or green", "did you mean `red`"},
      {"colour: blue\n", "1:9", "found `blue`", "red or green", ""},
      {"levels: {a: debgu}\n", "1:13", "levels.a: found `debgu`", "info or debug",
       "did you mean `debug`"},
      {"levels: {c: info}\n", "1:10", "unknown key `c` in levels", "a or b", ""},
      // Text
      {"text: 123456789012345678901\n", "1:7", "21 bytes", "at most 20", "shorten"},
      {"text: \"a\\nb\"\n", "1:7", "line end", "on one line", ">-"},
      {"text: [a]\n", "1:7", "found a list", "text", ""},
      {"part: {name: X}\n", "1:14", "`X` is not a valid name", "lower-case", "rename"},
      {"part: {name: ''}\n", "1:14", "`` is not a valid name", "lower-case", "rename"},
      {"part: {name: a/b}\n", "1:14", "is not a valid name", "lower-case", "rename"},
      {"part: {name: a23456789012345678901234567890123}\n", "1:14", "is not a valid name", "32",
       "rename"},
      // Quantities
      {"delay: 250\n", "1:8", "has no unit", "ps, ns, us, ms or s", "write a unit"},
      {"delay: 49ps\n", "1:8", "found `49ps`", "from 50ps to 1ms", "50ps or more"},
      {"delay: 1.001ms\n", "1:8", "found `1.001ms`", "from 50ps to 1ms", "1ms or less"},
      {"delay: 100.5ps\n", "1:8", "not a whole number of ps", "", "1ps"},
      {"room: 5000B\n", "1:7", "found `5000B`", "a multiple of 4KiB", "write 4KiB or 8KiB"},
      {"room: 8KB\n", "1:7", "`KB` is not a unit of size", "", "did you mean `8KiB`"},
      {"payload: 300B\n", "1:10", "found `300B`", "128B, 256B or 512B", "256B or 512B"},
      {"payload: 256\n", "1:10", "has no unit", "128B", "write a unit"},
      // Ids
      {"id: f0ae0ae0\n", "1:5", "not a pair of PCI ids", "vendor:device", ""},
      {"id: f0ae:0aeg\n", "1:5", "not a pair of PCI ids", "vendor:device", ""},
      {"id: ffff:0000\n", "1:5", "not a pair of PCI ids", "no vendor ffff", ""},
      {"id: 12345:678\n", "1:5", "not a pair of PCI ids", "vendor:device", ""},
      // Dates
      {"start: 2025-02-29T00:00:00\n", "1:8", "not a date and time", "UTC", ""},
      {"start: 2026-13-01T00:00:00\n", "1:8", "not a date and time", "UTC", ""},
      {"start: 2026-01-00T00:00:00\n", "1:8", "not a date and time", "UTC", ""},
      {"start: 2026-01-01T24:00:00\n", "1:8", "not a date and time", "UTC", ""},
      {"start: 2026-01-01T00:60:00\n", "1:8", "not a date and time", "UTC", ""},
      {"start: 1969-12-31T23:59:59\n", "1:8", "not a date and time", "1970", ""},
      {"start: 2100-01-01T00:00:00\n", "1:8", "not a date and time", "2099", ""},
      {"start: 2026-01-01\n", "1:8", "not a date and time", "UTC", ""},
      // Lists
      {"numbers: []\n", "1:10", "the list has 0 elements", "1 to 3", "add"},
      {"numbers: [1, 2, 3, 4]\n", "1:10", "the list has 4 elements", "1 to 3", "remove"},
      {"numbers: [1, 12]\n", "1:14", "numbers[1]: found `12`", "0 to 9", "9 or less"},
      {"parts:\n  - name: a\n  -\n", "3:3", "parts[1]: found nothing", "a map", ""},
      // Files
      {"file: absent\n", "1:7", "there is no `/search/absent`", "existing file", "scripts/setup"},
      {"file: ./absent\n", "1:7", "there is no `/nowhere/absent`", "existing file", "check"},
      {"file: ''\n", "1:7", "the name is empty", "existing file", "write"},
      {"file: [a]\n", "1:7", "found a list", "existing file", ""},
      {"file: /dev/null\n", "1:7", "not a regular file", "existing file", ""},
      {"file: /tmp\n", "1:7", "is a directory", "existing file", "name a file in it"},
      {"folder: /dev/null\n", "1:9", "is not a directory", "existing directory", ""},
      {"maybe: absent\n", "1:8", "there is no `/search/absent`", "or `none`", ""},
  };
  for (const Wrong& each : table) {
    SCOPED_TRACE(each.text);
    expect_one(read_thing(each.text).report, each.place, each.found, each.accepted, each.remedy);
  }
}

TEST(Schema, ReportsAllMistakesAtOnce) {
  const Result result = read_thing("count: 0\nonn: true\ndelay: 5\npart: {lanes: 3}\ncount: 1\n");
  EXPECT_EQ(result.report.count(), 6u) << result.report.text();
  // A mistake leaves the value unchanged.
  EXPECT_EQ(result.thing.count, 2);
}

TEST(Schema, BoundsWhatManyMistakesCost) {
  std::string text;
  for (int i = 0; i < 20'000; ++i) text += "key" + std::to_string(i) + ": 1\n";
  const Result result = read_thing(text);
  EXPECT_EQ(result.report.count(), 20'000u);
  ASSERT_EQ(result.report.problems().size(), Report::limit);
  // Each reported mistake is complete.
  EXPECT_THAT(result.report.problems()[99].remedy, HasSubstr("oae-vp keys"));
}

TEST(Schema, BoundsWhatALongLineCosts) {
  std::string text = "numbers: [";
  while (text.size() < max_file_size) text += "x,";
  Result result = read_thing(text + "]\n");
  EXPECT_EQ(result.report.count(), 1u);
  text = "{";
  while (text.size() < max_file_size) text += "x: 1,";
  result = read_thing(text + "}\n");
  EXPECT_GT(result.report.count(), 200'000u);
  EXPECT_LT(result.report.text().size(), 100'000u);
}

TEST(Schema, FilesAreFoundByNameOrRelativeToThePlatformFile) {
  const TemporaryDirectory directory;
  directory.write("images/kernel", "x");
  directory.write("images/sub/rom", "x");
  directory.write("here/own", "x");
  const Result result = read_thing("file: kernel\nmaybe: ../here/own\nfolder: sub\n",
                                   directory.path() / "here", directory.path() / "images");
  ASSERT_TRUE(result.report.empty()) << result.report.text();
  EXPECT_EQ(result.thing.file.path, directory.path() / "images/kernel");
  EXPECT_TRUE(result.thing.file.found_by_name);
  EXPECT_EQ(result.thing.file.origin.line, 1u);
  EXPECT_EQ(result.thing.maybe->path, directory.path() / "here/own");
  EXPECT_FALSE(result.thing.maybe->found_by_name);
  EXPECT_EQ(result.thing.folder.path, directory.path() / "images/sub");
  expect_one(read_thing("file: kernal\n", "/", directory.path() / "images").report, "1:7",
             "there is no", "", "did you mean `kernel`");
}

TEST(Schema, KnowsWhichValuesAreGood) {
  auto source = std::make_shared<Source>();
  source->text = "parts: [{name: A}, {name: b}]\npart: {name: c}\n";
  Reading reading;
  read(thing_schema(), parse_yaml(source), reading);
  EXPECT_FALSE(reading.good("parts[0].name"));
  EXPECT_FALSE(reading.good("parts[0]"));
  EXPECT_FALSE(reading.good("parts"));
  EXPECT_TRUE(reading.good("parts[1]"));
  EXPECT_TRUE(reading.good("parts[1].name"));
  EXPECT_TRUE(reading.good("part"));
  EXPECT_TRUE(reading.good("count"));
  // The place of a value that is not in the file is the map that should contain it.
  EXPECT_EQ(reading.origin("part.name").column, 14u);
  EXPECT_EQ(reading.origin("part.lanes").column, 7u);
}

TEST(Reference, HasEveryKeyWithRangeAndDefault) {
  const std::string all = print_reference(reference(thing_schema()), "");
  for (const char* part :
       {"count\n    How many\n    a whole number from 1 to 16; default 2\n",
        "code\n    Code\n    a whole number from 0x0 to 0xffff; default 0x10\n",
        "on\n    Whether\n    true or false; default false\n",
        "colour\n    Colour\n    red or green; default green\n", "default 'default'",
        "a duration from 50ps to 1ms (units ps, ns, us, ms or s); default 1ns",
        "a size from 4KiB to 1MiB, a multiple of 4KiB", "default 256B", "default f0ae:0ae0",
        "default 1970-01-01T00:00:00", "an existing file, or `none`; default none",
        "default [1, 2]", "parts[].name\n    What it is called\n",
        "; required\nparts[].lanes\n    Width\n    1, 2, 4, 8 or 16; default 4\n",
        "levels.a\n    info or debug; default not set\n", "part.lanes\n"})
    EXPECT_THAT(all, HasSubstr(part));
  const std::string some = print_reference(reference(thing_schema()), "lanes");
  EXPECT_THAT(some, HasSubstr("parts[].lanes"));
  EXPECT_THAT(some, testing::Not(HasSubstr("count")));
}

TEST(Reference, PrintsInstants) {
  const auto print = [](std::int64_t seconds) {
    return Type<Instant>(instant()).print(Instant{seconds});
  };
  EXPECT_EQ(print(0), "1970-01-01T00:00:00");
  EXPECT_EQ(print(951'868'801), "2000-03-01T00:00:01");
  EXPECT_EQ(print(951'782'400), "2000-02-29T00:00:00");
  EXPECT_EQ(print(4'102'444'799), "2099-12-31T23:59:59");
  // Every printed day reads back as the same day.
  for (std::int64_t day = 0; day < 47'482; day += 13) {
    const Result result = read_thing("start: " + print(day * 86'400 + day) + "\n");
    EXPECT_TRUE(result.report.empty()) << result.report.text();
    EXPECT_EQ(result.thing.start.seconds, day * 86'400 + day);
  }
}

struct Labelled : Part {
  std::string label = "none";
};

// A struct may have the keys of the struct from which it is derived, also joined from two tables.
TEST(Schema, KnowsInheritedMembers) {
  const Struct<Labelled> schema(joined<Labelled>({
      {{"name", &Labelled::name, name(), "What it is called", required},
       {"lanes", &Part::lanes, one_of({1, 2, 4}), "Width"}},
      {{"label", &Labelled::label, string(8), "What stands on it"}},
  }));
  Reading reading;
  const Labelled value =
      read(schema, parse_yaml(argument_source("a.yaml", "{name: x, lanes: 2, label: y}")), reading);
  EXPECT_TRUE(reading.report().empty()) << reading.report().text();
  EXPECT_EQ(value.name, "x");
  EXPECT_EQ(value.lanes, 2u);
  EXPECT_EQ(value.label, "y");
  const std::vector<Row> rows = reference(schema);
  ASSERT_EQ(rows.size(), 3u);
  EXPECT_EQ(rows[1].fallback, "4");
  EXPECT_EQ(rows[2].fallback, "'none'");
}

}  // namespace
