// SPDX-License-Identifier: Apache-2.0
#include "vp/console/script.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "tests/vp/temporary.h"

namespace vp {
namespace {

using testing::HasSubstr;
using testing::StartsWith;
using Kind = Script::Step::Kind;

/// Returns the steps as text, one on each line: kind, text, time.
std::string steps(std::string_view text) {
  std::string result;
  for (const Script::Step& step : Script::parse(text, "f").steps) {
    const char* names[] = {"expect", "send", "wait", "at"};
    result += std::string(names[static_cast<int>(step.kind)]) + "[" + step.text + "]" +
              std::to_string(step.time) + " " + step.place + "\n";
  }
  return result;
}

std::string mistakes(std::string_view text) {
  try {
    Script::parse(text, "f");
  } catch (const ScriptMistake& mistake) {
    return mistake.what();
  }
  return "";
}

TEST(ScriptTest, EveryStatement) {
  EXPECT_EQ(steps("# a comment\n"
                  "\n"
                  "  expect \"~ # \"  # a comment\n"
                  "timeout 10s\n"
                  "send\t\"ls\\n\"\n"
                  "expect \"#\"\n"
                  "wait 100us\n"
                  "at 1.5s send \"x\""),
            "expect[~ # ]60000000000000 f:3:3\n"
            "send[ls\n]0 f:5:1\n"
            "expect[#]10000000000000 f:6:1\n"
            "wait[]100000000 f:7:1\n"
            "at[]1500000000000 f:8:1\n"
            "send[x]0 f:8:9\n");
}

TEST(ScriptTest, AnEmptyTextIsAScript) {
  EXPECT_EQ(steps(""), "");
  EXPECT_EQ(steps("\n\n"), "");
  EXPECT_EQ(steps("# only a comment"), "");
}

TEST(ScriptTest, LinesMayEndWithCarriageReturns) {
  EXPECT_EQ(steps("send \"a\"\r\nsend \"b\"\r\n"), "send[a]0 f:1:1\nsend[b]0 f:2:1\n");
}

TEST(ScriptTest, EveryEscape) {
  EXPECT_EQ(Script::parse(R"(send "\n\r\t\e\"\\\x00\xfF\x7f# ")", "f").steps[0].text,
            std::string("\n\r\t\x1b\"\\\0\xff\x7f# ", 11));
}

TEST(ScriptTest, BytesOfOtherAlphabetsAreTextToo) {
  EXPECT_EQ(Script::parse("expect \"gr\xc3\xbc\xc3\x9f\"", "f").steps[0].text,
            "gr\xc3\xbc\xc3\x9f");
}

TEST(ScriptTest, EveryMistakeIsReportedWithItsPlace) {
  EXPECT_EQ(mistakes("type \"a\""),
            "f:1:1: unknown statement `type`; there are expect, send, wait, at and timeout");
  EXPECT_THAT(mistakes("\"a\""), StartsWith("f:1:1: unknown statement ``"));
  EXPECT_THAT(mistakes("\n  send"), StartsWith("f:2:7: a text is missing; "));
  EXPECT_THAT(mistakes("send ls"), StartsWith("f:1:6: a text is missing; "));
  EXPECT_THAT(mistakes("send # ls"), StartsWith("f:1:6: a text is missing; "));
  EXPECT_THAT(mistakes("send \"ls\\n"), StartsWith("f:1:6: the text does not end; "));
  EXPECT_THAT(mistakes("send \"ls\\\""), StartsWith("f:1:6: the text does not end; "));
  EXPECT_THAT(mistakes("send \"\""), StartsWith("f:1:6: the text has 0 bytes; "));
  EXPECT_EQ(mistakes("send \"" + std::string(4096, 'x') + "\""), "");
  EXPECT_THAT(mistakes("send \"" + std::string(4097, 'x') + "\""),
              StartsWith("f:1:6: the text has 4097 bytes; "));
  EXPECT_THAT(mistakes("send \"a\" \"b\""), StartsWith("f:1:10: the statement goes on"));
  EXPECT_THAT(mistakes("expect \"a\" timeout 1s"), StartsWith("f:1:12: the statement goes on"));
  EXPECT_THAT(mistakes("wait 1s 2s"), StartsWith("f:1:9: the statement goes on"));
  EXPECT_THAT(mistakes("timeout 1s 2s"), StartsWith("f:1:12: the statement goes on"));
  EXPECT_THAT(mistakes("at 1s send \"a\" b"), StartsWith("f:1:16: the statement goes on"));
  for (const char* escape : {"\\q", "\\x", "\\x1", "\\xg0", "\\x0g", "\\0", "\\"}) {
    EXPECT_THAT(mistakes(std::string("send \"a") + escape + "\""),
                testing::AnyOf(StartsWith("f:1:8: no such escape; "),
                               StartsWith("f:1:6: the text does not end; ")))
        << escape;
  }
  EXPECT_THAT(mistakes("send \"\\"), StartsWith("f:1:7: no such escape; "));
  EXPECT_THAT(mistakes("timeout 0s"), StartsWith("f:1:9: a timeout is longer than 0"));
  EXPECT_THAT(mistakes("at 2s send \"a\"\nat 1s send \"b\""), StartsWith("f:2:4: earlier than"));
  EXPECT_EQ(mistakes("at 2s send \"a\"\nat 2s send \"b\""), "");
  EXPECT_THAT(mistakes("at 1s"), StartsWith("f:1:6: \"send\" is missing"));
  EXPECT_THAT(mistakes("at 1s expect \"a\""), StartsWith("f:1:7: \"send\" is missing"));
}

TEST(ScriptTest, TimesAreReadStrictly) {
  for (const char* time : {"", "s", "1", "1.s", ".5s", "1.2.3s", "-1s", "1x", "1.5ps", "1e3s",
                           "0.0001ns", "99999999999999999999s"}) {
    EXPECT_THAT(mistakes(std::string("wait ") + time), StartsWith("f:1:6: ")) << time;
  }
  EXPECT_EQ(steps("wait 0s\nwait 0.001ns\nwait 1.000us"),
            "wait[]0 f:1:1\nwait[]1 f:2:1\nwait[]1000000 f:3:1\n");
}

TEST(ScriptTest, TimesCannotOverflow) {
  EXPECT_EQ(mistakes("wait 1000000s"), "");
  EXPECT_THAT(mistakes("wait 1000000.1s"), StartsWith("f:1:6: the time is too long"));
  EXPECT_THAT(mistakes("at 1000001s send \"a\""), StartsWith("f:1:4: the time is too long"));
  EXPECT_THAT(mistakes("wait 600000s\nwait 600000s"), StartsWith("f:2:1: the time is too long"));
  EXPECT_THAT(mistakes("timeout 600000s\nexpect \"a\"\nexpect \"b\""),
              StartsWith("f:3:1: the time is too long"));
  EXPECT_EQ(mistakes("wait 600000s\nat 600000s send \"a\"\nat 600000s send \"a\""), "");
}

TEST(ScriptTest, AllMistakesAreReportedAtOnce) {
  EXPECT_THAT(mistakes("sned \"a\"\nsend \"b\"\nwait long\n"),
              testing::AllOf(StartsWith("f:1:1: "), HasSubstr("\nf:3:6: ")));
}

// A file that is no script may hold anything, and be of any size.
TEST(ScriptTest, WhatIsNoTextReachesNoTerminal) {
  const std::string bytes("MZ\0\x1b]0;title\x07 \x7f\n", 15);
  for (const char c : mistakes(bytes)) EXPECT_TRUE(c == '\n' || (c & 0xff) >= 0x20) << (c & 0xff);
  EXPECT_THAT(mistakes(bytes), HasSubstr("there are expect"));
  const std::string path = testing::TempDir() + "script_test.large";
  std::ofstream(path) << "";
  std::filesystem::resize_file(path, (1 << 20) + 1);
  try {
    Script::read(path);
    ADD_FAILURE() << "is no script";
  } catch (const ScriptMistake& mistake) {
    EXPECT_THAT(mistake.what(), HasSubstr("1048576 bytes at most"));
  }
  std::filesystem::remove(path);
}

TEST(ScriptTest, AFileIsReadWhole) {
  TemporaryDirectory directory;
  const std::string path = directory.path("script");
  std::ofstream(path) << "send \"a\"\nsend \"b\"";
  EXPECT_EQ(Script::read(path).steps.size(), 2);
  std::ofstream(path, std::ios::trunc);
  EXPECT_EQ(Script::read(path).steps.size(), 0);
}

TEST(ScriptTest, AFileThatCannotBeReadIsAMistake) {
  const auto error_of = [](const std::string& path) {
    try {
      Script::read(path);
    } catch (const ScriptMistake& mistake) {
      return std::string(mistake.what());
    }
    return std::string();
  };
  EXPECT_EQ(error_of("/missing"), "/missing: cannot be read: No such file or directory");
  EXPECT_EQ(error_of("/tmp"), "/tmp: cannot be read: Is a directory");
}

}  // namespace
}  // namespace vp
