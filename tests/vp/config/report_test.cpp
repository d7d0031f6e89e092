// SPDX-License-Identifier: Apache-2.0
#include "vp/config/report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace vp::config;
using testing::HasSubstr;

namespace {

std::shared_ptr<const Source> file(std::string text) {
  auto source = std::make_shared<Source>();
  source->label = "a.yaml";
  source->text = std::move(text);
  return source;
}

std::string text_of(Origin origin, const char* found, const char* accepted = "",
                    const char* remedy = "") {
  return Problem{std::move(origin), found, accepted, remedy}.text();
}

TEST(Problem, ShowsPlaceLineAndMark) {
  const auto source = file("one: 1\ntwo: x3\n");
  EXPECT_EQ(text_of({source, 2, 6}, "found `x3`", "1 or 2", "write 2"),
            "a.yaml:2:6: found `x3`\n"
            "     2 | two: x3\n"
            "              ^\n"
            "    accepted: 1 or 2\n"
            "    remedy: write 2\n");
}

TEST(Problem, MarksTheColumnOfAnArgument) {
  const auto source = argument_source("--set", "a.b=0");
  EXPECT_EQ(text_of({source, 1, 5}, "found `0`"),
            "--set `a.b=0`, column 5: found `0`\n"
            "    a.b=0\n"
            "        ^\n");
}

TEST(Problem, OfAWholeSourceShowsNoLine) {
  EXPECT_EQ(text_of({file("x"), 0, 0}, "is empty"), "a.yaml: is empty\n");
}

TEST(Problem, CountsCharactersAndHidesControlCharacters) {
  const auto source = file("\u00e4\u00f6: \x1b[31m!\n");
  const std::string text = text_of({source, 1, 5}, "found it");
  EXPECT_THAT(text, HasSubstr("     1 | \u00e4\u00f6: ?[31m!\n             ^\n"));
}

TEST(Problem, CutsLongLinesAroundThePlace) {
  const auto source = file(std::string(1000, 'a') + "!" + std::string(1000, 'b') + "\n");
  const std::string text = text_of({source, 1, 1001}, "found it");
  EXPECT_LT(text.size(), 400u);
  const std::size_t line = text.find('\n') + 1, mark = text.find('\n', line) + 1;
  EXPECT_EQ(text.find('!', line) - line, text.find('^', mark) - mark);
}

TEST(Report, SortsFilesByLineAndPutsArgumentsLast) {
  const auto source = file("a\nb\nc\n");
  const auto argument = argument_source("--set", "x=1");
  Report report;
  report.add({{argument, 1, 1}, "argument", "", ""});
  report.add({{source, 3, 1}, "third", "", ""});
  report.add({{source, 1, 1}, "first", "", ""});
  const std::string text = report.text();
  EXPECT_LT(text.find("first"), text.find("third"));
  EXPECT_LT(text.find("third"), text.find("argument"));
  EXPECT_THAT(text, HasSubstr("3 mistakes, nothing was started"));
  EXPECT_THROW(report.check(), Mistakes);
}

TEST(Report, KeepsSoManyAndCountsTheOthers) {
  Report report;
  EXPECT_NO_THROW(report.check());
  const auto source = file("x");
  for (int i = 0; i < 250; ++i) report.add({{source, 1, 1}, "wrong", "", ""});
  EXPECT_EQ(report.problems().size(), Report::limit);
  EXPECT_EQ(report.count(), 250u);
  Report other;
  other.add(report);
  EXPECT_EQ(other.count(), 250u);
  EXPECT_THAT(report.text(), HasSubstr("... and 150 more\n250 mistakes"));
}

TEST(Nearest, FindsWhatWasMeant) {
  const std::vector<std::string> names = {"vcpus", "memory", "kernel", "instruction_rate", "cpu"};
  EXPECT_EQ(nearest("vcpu", names), "vcpus");
  EXPECT_EQ(nearest("VCPUS", names), "vcpus");
  EXPECT_EQ(nearest("memroy", names), "memory");
  EXPECT_EQ(nearest("kernal", names), "kernel");
  EXPECT_EQ(nearest("instructionrate", names), "instruction_rate");
  EXPECT_EQ(nearest("cpus", names), "vcpus");
  EXPECT_EQ(nearest("disk", names), "");
  EXPECT_EQ(nearest("", names), "");
  EXPECT_EQ(nearest("x", {"y"}), "");
  EXPECT_EQ(nearest(std::string(100'000, 'a'), names), "");
}

TEST(Shown, IsSafeOnATerminal) {
  EXPECT_EQ(shown("abc"), "`abc`");
  EXPECT_EQ(shown("a\nb\t\x1b[0m\x7f"), "`a\\nb\\t\\x1b[0m\\x7f`");
  EXPECT_EQ(shown(std::string(60, 'x')), "`" + std::string(60, 'x') + "`");
  EXPECT_EQ(shown(std::string(61, 'x')), "`" + std::string(60, 'x') + "...`");
}

TEST(Alternatives, ReadAsASentence) {
  EXPECT_EQ(alternatives({}), "");
  EXPECT_EQ(alternatives({"a"}), "a");
  EXPECT_EQ(alternatives({"a", "b", "c"}), "a, b or c");
}

}  // namespace
