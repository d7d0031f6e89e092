// SPDX-License-Identifier: Apache-2.0
#include "vp/trace/trace.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <nlohmann/json.hpp>

#include "tests/vp/log_capture.h"
#include "tests/vp/temporary.h"

namespace vp {
namespace {

using testing::HasSubstr;

const nlohmann::json head = {{"versions", {{"oae-vp", "0.1.0"}}},
                             {"inputs", {{"kernel", "1234abcd"}}}};
const std::string head_line = R"({"inputs":{"kernel":"1234abcd"},"versions":{"oae-vp":"0.1.0"}})"
                              "\n";

class TraceTest : public testing::Test {
 protected:
  TemporaryDirectory directory_;
  const std::string path_ = directory_.path("trace");
  LogCapture log_;
};

TEST_F(TraceTest, IsOffUntilOpened) {
  Trace trace;
  EXPECT_FALSE(trace.on());
  trace.write("lost");
  trace.flush();
  trace.close();
  EXPECT_FALSE(trace.failed());
}

TEST_F(TraceTest, BeginsWithTheHeadAndHoldsTheLinesInOrder) {
  {
    Trace trace;
    trace.open(path_, head);
    EXPECT_TRUE(trace.on());
    trace.write("{{\"t\":{},\"link\":\"{}\"}}", 1'234'567'890'123, "host");
    trace.write("{{}}");
  }
  EXPECT_EQ(contents(path_), head_line + "{\"t\":1234567890123,\"link\":\"host\"}\n{}\n");
}

TEST_F(TraceTest, IsOffAgainAfterClose) {
  Trace trace;
  trace.open(path_, head);
  trace.close();
  EXPECT_FALSE(trace.on());
  trace.write("lost");
  trace.close();
  EXPECT_EQ(contents(path_), head_line);
}

TEST_F(TraceTest, TruncatesWhatWasThere) {
  std::ofstream(path_) << std::string(1000, 'x');
  Trace trace;
  trace.open(path_, head);
  trace.close();
  EXPECT_EQ(contents(path_), head_line);
}

TEST_F(TraceTest, HoldsLinesBackUntilAPieceIsFull) {
  Trace trace;
  trace.open(path_, head);
  trace.write("{}", std::string(64 * 1024 - head_line.size() - 2, 'x'));
  EXPECT_EQ(contents(path_).size(), 0);
  trace.write("");
  EXPECT_EQ(contents(path_).size(), 64 * 1024);
}

TEST_F(TraceTest, KeepsEveryLineOfManyAndOfLongOnes) {
  std::string expected = head_line;
  Trace trace;
  trace.open(path_, head);
  for (int length = 0; length < 2000; ++length) {
    const std::string line(length, static_cast<char>('a' + length % 26));
    trace.write("{}", line);
    expected += line + "\n";
  }
  trace.write("{}", std::string(1 << 20, 'z'));
  expected += std::string(1 << 20, 'z') + "\n";
  trace.close();
  EXPECT_EQ(contents(path_), expected);
}

TEST_F(TraceTest, AHeadThatIsNotUtf8DoesNoHarm) {
  Trace trace;
  trace.open(path_, {{"name", "a\xff"}});
  trace.close();
  EXPECT_EQ(contents(path_), "{\"name\":\"a\xef\xbf\xbd\"}\n");
}

TEST_F(TraceTest, AFileThatCannotBeCreatedIsAnError) {
  Trace trace;
  try {
    trace.open(directory_.path("missing/trace"), head);
    FAIL();
  } catch (const TraceError& error) {
    EXPECT_THAT(error.what(), HasSubstr("missing/trace"));
    EXPECT_THAT(error.what(), HasSubstr("No such file"));
  }
  EXPECT_FALSE(trace.on());
}

TEST_F(TraceTest, AFullDiskIsReportedOnceAndFailsTheRunAtTheEnd) {
  Trace trace;
  trace.open("/dev/full", head);
  EXPECT_FALSE(trace.failed());
  for (int i = 0; i < 3; ++i) {
    trace.write("line");
    trace.flush();
  }
  EXPECT_FALSE(trace.on());
  EXPECT_TRUE(trace.failed());
  trace.close();
  EXPECT_TRUE(trace.failed());
  const std::string text = log_.text();
  EXPECT_THAT(text, HasSubstr("trace error: cannot write /dev/full: No space left on device"));
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 1);
}

TEST_F(TraceTest, AFullDiskIsNoticedAtClose) {
  Trace trace;
  trace.open("/dev/full", head);
  trace.close();
  EXPECT_TRUE(trace.failed());
}

TEST_F(TraceTest, CanBeOpenedAgainAfterAFailure) {
  Trace trace;
  trace.open("/dev/full", head);
  trace.close();
  trace.open(path_, head);
  EXPECT_FALSE(trace.failed());
  trace.write("line");
  trace.close();
  EXPECT_EQ(contents(path_), head_line + "line\n");
}

/// Returns the file of a child that was forked after `before` and continues with another head.
std::string in_child(Trace& trace, const std::string& path) {
  const pid_t child = ::fork();
  if (child == 0) {
    trace.continue_in(path, {{"child", 1}});
    trace.write("child");
    trace.close();
    ::_exit(trace.failed() ? 1 : 0);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  return contents(path);
}

TEST_F(TraceTest, AForkedChildGoesOnInItsOwnFileWithAllThatCameBefore) {
  const std::string other = "{\"child\":1}\n";
  // None, some and all of the lines are in the file when it forks.
  for (const std::size_t length : {0u, 10u, 70'000u, 200'000u}) {
    for (const bool flushed : {false, true}) {
      SCOPED_TRACE(length);
      Trace trace;
      trace.open(path_, head);
      trace.write("{}", std::string(length, 'x'));
      trace.write("before");
      if (flushed) trace.flush();
      const std::string before = std::string(length, 'x') + "\nbefore\n";
      EXPECT_TRUE(in_child(trace, directory_.path("1")) == other + before + "child\n");
      EXPECT_TRUE(in_child(trace, directory_.path("2")) == other + before + "child\n");
      trace.write("parent");
      trace.close();
      EXPECT_TRUE(contents(path_) == head_line + before + "parent\n");
    }
  }
}

TEST_F(TraceTest, AForkedChildMayForkAgain) {
  Trace trace;
  trace.open(path_, head);
  trace.flush();
  trace.write("one");
  trace.continue_in(directory_.path("1"), {{"a", 1}});
  trace.write("two");
  trace.flush();
  trace.continue_in(directory_.path("2"), {{"longer than before", 22}});
  trace.write("three");
  trace.close();
  EXPECT_EQ(contents(path_), head_line);
  EXPECT_EQ(contents(directory_.path("2")), "{\"longer than before\":22}\none\ntwo\nthree\n");
}

TEST_F(TraceTest, WhatCannotBeReadAgainEndsTheTrace) {
  Trace trace;
  trace.open("/dev/null", head);
  trace.write("line");
  trace.flush();
  trace.continue_in(path_, head);
  EXPECT_FALSE(trace.on());
  EXPECT_TRUE(trace.failed());
  EXPECT_THAT(log_.text(), HasSubstr("cannot begin"));
}

TEST_F(TraceTest, AContinuationThatCannotBeCreatedLeavesTheTraceAsItIs) {
  Trace trace;
  trace.open(path_, head);
  EXPECT_THROW(trace.continue_in(directory_.path("missing/trace"), head), TraceError);
  trace.write("line");
  trace.close();
  EXPECT_EQ(contents(path_), head_line + "line\n");
  trace.continue_in(directory_.path("none"), head);
  EXPECT_EQ(contents(directory_.path("none")), "");
}

}  // namespace
}  // namespace vp
