// SPDX-License-Identifier: Apache-2.0
#include "vp/config/override.h"

#include <gtest/gtest.h>

#include "tests/vp/config/mistakes.h"

using namespace vp::config;

namespace {

Node tree() {
  auto source = std::make_shared<Source>();
  source->label = "a.yaml";
  source->text = "a: 1\nlist: [{x: 1}, {x: 2}]\nmap: {k: v}\nempty: []\nnothing:\n";
  return parse_yaml(source);
}

Report apply_to(Node& root, std::string_view assignment) {
  Report report;
  apply(parse_override(assignment), root, report);
  return report;
}

TEST(Override, ReplacesAndAdds) {
  Node root = tree();
  for (const char* each : {"a=2", "list[1].x=5", "map.k=w", "map.n=new", "b.c.d=deep",
                           "nothing.y=1", "list[0]={z: 3}"})
    EXPECT_TRUE(apply_to(root, each).empty()) << each;
  EXPECT_EQ(root.find("a")->text, "2");
  EXPECT_EQ(root.find("list")->items[1].find("x")->text, "5");
  EXPECT_EQ(root.find("list")->items[0].find("x"), nullptr);
  EXPECT_EQ(root.find("list")->items[0].find("z")->text, "3");
  EXPECT_EQ(root.find("map")->find("k")->text, "w");
  EXPECT_EQ(root.find("map")->find("n")->text, "new");
  EXPECT_EQ(root.find("b")->find("c")->find("d")->text, "deep");
  EXPECT_EQ(root.find("nothing")->find("y")->text, "1");
}

TEST(Override, StarIsEveryElement) {
  Node root = tree();
  EXPECT_TRUE(apply_to(root, "list[*].x=9").empty());
  EXPECT_EQ(root.find("list")->items[0].find("x")->text, "9");
  EXPECT_EQ(root.find("list")->items[1].find("x")->text, "9");
}

TEST(Override, APathIsNoDeeperThanAPlatform) {
  std::string path = "a";
  for (unsigned i = 1; i < max_depth; ++i) path += ".a";
  Node root = tree();
  EXPECT_NO_THROW(parse_override(path + "=1"));
  for (const unsigned more : {1u, 100'000u}) {
    std::string deep = path;
    for (unsigned i = 0; i < more; ++i) deep += ".a";
    EXPECT_THROW(parse_override(deep + "=1"), Mistakes);
  }
}

TEST(Override, TheLastOfSeveralHolds) {
  Node root = tree();
  apply_to(root, "a=2");
  apply_to(root, "a=3");
  EXPECT_EQ(root.find("a")->text, "3");
  EXPECT_EQ(root.entries.size(), 5u);
}

TEST(Override, TakesTheTextAfterTheFirstEqualsSign) {
  Node root = tree();
  apply_to(root, "a=console=ttyS0 quiet");
  EXPECT_EQ(root.find("a")->text, "console=ttyS0 quiet");
}

TEST(Override, KnowsItsColumns) {
  const Override change = parse_override("list[1].x=5");
  ASSERT_EQ(change.path.size(), 3u);
  EXPECT_EQ(change.path[0].origin.column, 1u);
  EXPECT_EQ(change.path[1].origin.column, 5u);
  EXPECT_EQ(change.path[2].origin.column, 9u);
  EXPECT_EQ(change.value.origin.column, 11u);
}

TEST(Override, RefusesWithColumn) {
  struct Wrong {
    const char *text, *place, *found, *remedy;
  };
  const Wrong table[] = {
      {"", "1:1", "no `=`", "hosts[0].vcpus=2"},
      {"a", "1:2", "no `=`", "hosts[0].vcpus=2"},
      {"=1", "1:1", "a key is missing", "oae-vp keys"},
      {"a.=1", "1:3", "a key is missing", "oae-vp keys"},
      {".a=1", "1:1", "a key is missing", "oae-vp keys"},
      {"a..b=1", "1:3", "a key is missing", "oae-vp keys"},
      {"[0]=1", "1:1", "a key is missing", "oae-vp keys"},
      {"a[0=1", "1:2", "never closed", "]"},
      {"a[]=1", "1:2", "index ``", "from 0"},
      {"a[x]=1", "1:2", "index `x`", "from 0"},
      {"a[-1]=1", "1:2", "index `-1`", "from 0"},
      {"a[99999999999999999999]=1", "1:2", "index", "from 0"},
      {"a[0]b=1", "1:5", "`b` after an index", "`.`"},
      {"a]=1", "1:2", "", ""},
      {"a={b: 1", "1:8", "not valid YAML", "}"},
      {"a=\"b", "1:3", "never closed", "close"},
      {"list.x=1", "1:6", "list is a list, and has no keys", "did you mean `list[0].x`"},
      {"empty.x=1", "1:7", "empty is a list, and has no keys", "oae-vp keys"},
      {"a.x=1", "1:3", "a is a single value, and has no keys", ""},
      {"a[0]=1", "1:2", "a is a single value, and has no elements", ""},
      {"map[0]=1", "1:4", "map is a map, and has no elements", ""},
      {"list[2].x=1", "1:5", "list has 2 elements", "list=["},
      {"empty[0]=1", "1:6", "empty has 0 elements", "empty=["},
      {"list[0].x.y=1", "1:11", "list[0].x is a single value", ""},
  };
  for (const Wrong& each : table) {
    SCOPED_TRACE(each.text);
    Node root = tree();
    Report report;
    report.add(mistakes_of([&] { report.add(apply_to(root, each.text)); }));
    expect_one(report, each.place, each.found, "", each.remedy);
    EXPECT_TRUE(report.problems()[0].origin.source->is_argument);
  }
}

// The schema reports unknown keys, since it knows which key was meant.
TEST(Override, LeavesAnAbsentListToTheSchema) {
  Node root = tree();
  EXPECT_TRUE(apply_to(root, "lst[0].x=1").empty());
  EXPECT_EQ(root.find("lst")->kind, Node::Kind::null);
  EXPECT_EQ(root.find("lst")->origin.column, 4u);
}

}  // namespace
