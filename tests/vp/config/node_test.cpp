// SPDX-License-Identifier: Apache-2.0
#include "vp/config/node.h"

#include <gtest/gtest.h>

#include "tests/vp/config/mistakes.h"

using namespace vp::config;

namespace {

std::shared_ptr<const Source> yaml(std::string text) {
  auto source = std::make_shared<Source>();
  source->label = "a.yaml";
  source->text = std::move(text);
  return source;
}

std::string at(const Origin& origin) {
  return std::to_string(origin.line) + ":" + std::to_string(origin.column);
}

TEST(Node, KeepsPlacesAndDuplicates) {
  Node root =
      parse_yaml(yaml("# comment\n"
                      "a: 1\n"
                      "b:\n"
                      "  - x: 'q'\n"
                      "    \u00e4: {y: 2, z}\n"
                      "a: >-\n"
                      "  two\n"
                      "  words\n"
                      "c:\n"));
  ASSERT_EQ(root.kind, Node::Kind::map);
  ASSERT_EQ(root.entries.size(), 4u);
  EXPECT_EQ(at(root.entries[0].origin), "2:1");
  EXPECT_EQ(at(root.entries[0].value.origin), "2:4");
  EXPECT_FALSE(root.entries[0].value.quoted);
  const Node& item = root.entries[1].value.items.at(0);
  EXPECT_EQ(at(item.origin), "4:5");
  EXPECT_TRUE(item.entries[0].value.quoted);
  EXPECT_EQ(at(item.entries[1].origin), "5:5");
  EXPECT_EQ(at(item.entries[1].value.origin), "5:8");
  EXPECT_EQ(item.entries[1].value.entries[1].value.kind, Node::Kind::null);
  EXPECT_EQ(root.find("a")->text, "two words");
  EXPECT_TRUE(root.find("a")->quoted);
  EXPECT_EQ(root.find("none"), nullptr);
  // An empty value has no place of its own, so its mistake is reported at its key.
  EXPECT_EQ(at(root.entries[3].value.origin), "9:1");
}

TEST(Node, KeepsPlacesWithLineEndsOfWindows) {
  const Node root = parse_yaml(yaml("a: 1\r\nb:\r\n  - c: 2\r\n"));
  EXPECT_EQ(at(root.entries[1].value.items[0].entries[0].value.origin), "3:8");
}

struct Wrong {
  const char *text, *place, *found, *remedy;
};

TEST(Node, RefusesWithPlaceAndRemedy) {
  const Wrong table[] = {
      {"# nothing\n", "0:0", "the file is empty", ""},
      {"---\n", "0:0", "the file is empty", ""},
      {"~\n", "0:0", "the file is empty", ""},
      {"a: 1\n---\nb: 2\n", "2:1", "second document", "---"},
      {"a: &x 1\n", "1:4", "anchor `&x`", "write the value out"},
      {"a: *x\n", "1:4", "anchor is not defined", ""},
      {"a: &x [1]\nb: *x\n", "1:4", "anchor", "write the value out"},
      {"a: !!int 3\n", "1:4", "tag", "remove the tag"},
      {"a: !foo {b: 1}\n", "1:4", "tag", "remove the tag"},
      {"? [a]\n: 1\n", "1:3", "a list or a map as a key", ""},
      {"{[a]: 1}\n", "1:2", "a list or a map as a key", ""},
      {"~: 1\n", "1:1", "a key is empty", ""},
      {"a:\n\tb: 1\n", "2:1", "a tab", "spaces"},
      {"a:\n  b: 1\n  \tc: 1\n", "3:3", "a tab", "spaces"},
      {"a: b: c\n", "1:5", "not valid YAML", "quotes"},
      {"a: [1, 2\n", "2:1", "not valid YAML", "]"},
      {"a: {b: 2\n", "2:1", "not valid YAML", "}"},
      {"a: ]\n", "1:4", "not valid YAML", "bracket"},
      {"a:\n  b: 1\n c: 2\n", "3:2", "not valid YAML", "indentation"},
      {"a: 1\n- b\n", "2:1", "not valid YAML", "indentation"},
      {"a: @x\n", "1:4", "not valid YAML", "quotes"},
      {"a: `x`\n", "1:4", "not valid YAML", "quotes"},
      {"a: %x\n", "1:4", "not valid YAML", "quotes"},
      {"a: \"\\q\"\n", "1:7", "not valid YAML", "twice"},
      {"a: \"b\nc: 1\n", "1:4", "never closed", "close the quote"},
      {"a: 'b\nc: 1\n", "1:4", "never closed", "close the quote"},
      {"a: 'it''s\n", "1:4", "never closed", "close the quote"},
      {"a: \"\\\"\n", "1:4", "never closed", "close the quote"},
  };
  for (const Wrong& each : table) {
    SCOPED_TRACE(each.text);
    expect_one(mistakes_of([&] { parse_yaml(yaml(each.text)); }), each.place, each.found, "",
               each.remedy);
  }
}

TEST(Node, NamesEveryTab) {
  EXPECT_EQ(mistakes_of([] { parse_yaml(yaml("a:\n\tb: 1\n\tc: 1\n\t\n")); }).count(), 2u);
}

TEST(Node, TakesWhatLooksLikeAMistakeAndIsNone) {
  for (const char* text :
       {"a: 'it''s'\n", "a: \"\\\"\"\n", "--- \na: 1\n...\n", "a: 'b\n  c'\n", "a: x\ty\n",
        "a:\t1\n", "a: 1 \t# comment\n", "a: |\n  'x\n", "a: '&x *y'\n"})
    EXPECT_EQ(mistakes_of([&] { parse_yaml(yaml(text)); }).text().substr(0, 1), "0") << text;
}

TEST(Node, BoundsNesting) {
  const auto nest = [](unsigned depth) {
    return std::string(depth, '[') + std::string(depth, ']');
  };
  EXPECT_NO_THROW(parse_yaml(yaml(nest(max_depth))));
  expect_one(mistakes_of([&] { parse_yaml(yaml(nest(max_depth + 1))); }), "1:17", "nesting", "16",
             "");
  for (const char* piece : {"[", "{", "- ", "? ", "{a: ", "[a, ", "{? ", "!", "&a ", "\"\n"}) {
    SCOPED_TRACE(piece);
    std::string text;
    while (text.size() < 100'000) text += piece;
    EXPECT_EQ(mistakes_of([&] { parse_yaml(yaml(text)); }).count(), 1u);
  }
}

TEST(Node, AnArgumentIsTextUnlessItLooksLikeYaml) {
  const auto value = [](const std::string& text) {
    return parse_argument(argument_source("--set", "k=" + text), 2);
  };
  EXPECT_EQ(value("console=ttyS0 # a: b").text, "console=ttyS0 # a: b");
  EXPECT_EQ(value("").text, "");
  EXPECT_EQ(value("").kind, Node::Kind::scalar);
  EXPECT_EQ(value("*x").text, "*x");
  EXPECT_EQ(value("'a b'").text, "a b");
  EXPECT_TRUE(value("\"4\"").quoted);
  EXPECT_EQ(value("[1, 2]").items.size(), 2u);
  EXPECT_EQ(value("{a: 1}").entries[0].value.text, "1");
  EXPECT_EQ(at(value("{a: 1}").entries[0].value.origin), "1:7");
  expect_one(mistakes_of([&] { value("{a: 1"); }), "1:8", "not valid YAML", "", "}");
  expect_one(mistakes_of([&] { value("'a"); }), "1:3", "never closed", "", "close");
}

}  // namespace
