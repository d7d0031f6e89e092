// SPDX-License-Identifier: Apache-2.0
#include "vp/console/console.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/vp/console/note_sink.h"

namespace vp {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class ConsoleTest : public testing::Test {
 protected:
  void put(std::string_view text) {
    for (const char byte : text) console_.put(byte);
  }
  NoteSink& add_sink() {
    auto sink = std::make_unique<NoteSink>(writes_);
    NoteSink& reference = *sink;
    console_.add_sink(std::move(sink));
    return reference;
  }
  std::string take_all() {
    std::string all;
    while (console_.has_input()) {
      const char byte = console_.peek();
      all.push_back(console_.read());
      EXPECT_EQ(all.back(), byte);
    }
    return all;
  }

  std::vector<std::string> writes_;
  std::vector<std::string> lines_;
  Console console_{"host"};
};

TEST_F(ConsoleTest, ShowsEachLineWhenItEndsAndTheRestAtAPoll) {
  add_sink();
  put("one\r\ntwo\n~ #");
  EXPECT_THAT(writes_, ElementsAre("one\r\n", "two\n"));
  console_.poll();
  console_.poll();
  EXPECT_THAT(writes_, ElementsAre("one\r\n", "two\n", "~ #"));
  put(" ls\n");
  EXPECT_THAT(writes_, ElementsAre("one\r\n", "two\n", "~ #", " ls\n"));
}

TEST_F(ConsoleTest, ShowsAnEndlessLineInPieces) {
  add_sink();
  put(std::string(10'000, 'x'));
  ASSERT_EQ(writes_.size(), 2);
  EXPECT_EQ(writes_[0].size(), 4096);
}

TEST_F(ConsoleTest, ShowsTheRestWhenItEnds) {
  {
    Console console("ipu");
    console.add_sink(std::make_unique<NoteSink>(writes_));
    console.put('x');
  }
  EXPECT_THAT(writes_, ElementsAre("x"));
}

TEST_F(ConsoleTest, EverySinkGetsEverything) {
  std::vector<std::string> others;
  add_sink();
  console_.add_sink(std::make_unique<NoteSink>(others));
  put("a\n");
  EXPECT_THAT(writes_, ElementsAre("a\n"));
  EXPECT_THAT(others, ElementsAre("a\n"));
}

TEST_F(ConsoleTest, WatchersGetTheLinesWithTheirText) {
  std::vector<std::string> panics;
  console_.watch("", [&](std::string_view line, auto) { lines_.emplace_back(line); });
  console_.watch(std::string(kernel_panic),
                 [&](std::string_view line, auto) { panics.emplace_back(line); });
  put("a\r\n\nb\r\r\n[ 1.0] Kernel panic - not syncing: VFS\r\nc");
  EXPECT_THAT(lines_, ElementsAre("a", "", "b", "[ 1.0] Kernel panic - not syncing: VFS"));
  EXPECT_THAT(panics, ElementsAre("[ 1.0] Kernel panic - not syncing: VFS"));
}

TEST_F(ConsoleTest, AWatcherSeesItsLineAfterItIsShown) {
  add_sink();
  std::size_t shown = 0;
  console_.watch("end", [&](std::string_view, auto) { shown = writes_.size(); });
  put("the end\n");
  EXPECT_EQ(shown, 1);
}

TEST_F(ConsoleTest, WatchersGetAnEndlessLineInPieces) {
  console_.watch("", [&](std::string_view line, auto) { lines_.emplace_back(line); });
  put(std::string(5000, 'x') + "\n");
  ASSERT_EQ(lines_.size(), 2);
  EXPECT_EQ(lines_[0].size(), 4096);
  EXPECT_EQ(lines_[1].size(), 5000 - 4096);
}

TEST_F(ConsoleTest, WatchersLearnTheTimeOfTheEndOfTheLine) {
  Picoseconds time = 0;
  console_.watch("ab", [&](std::string_view, Picoseconds when) { time = when; });
  console_.put('a', 1);
  console_.put('b', 2);
  EXPECT_EQ(time, 0);
  console_.put('\n', 3);
  EXPECT_EQ(time, 3);
}

TEST_F(ConsoleTest, OtherSinksTakeOverWithTheNextByte) {
  std::vector<std::string> others;
  add_sink();
  put("before\nunfinished");
  console_.flush();
  console_.replace_sinks(std::make_unique<NoteSink>(others));
  put(" line\n");
  EXPECT_THAT(writes_, ElementsAre("before\n", "unfinished"));
  EXPECT_THAT(others, ElementsAre(" line\n"));
}

TEST_F(ConsoleTest, AListenerGetsEachByteWithItsTime) {
  std::string heard;
  Picoseconds time = 0;
  console_.on_output([&](char byte, Picoseconds when) {
    heard.push_back(byte);
    time = when;
  });
  console_.put('a', 123);
  EXPECT_EQ(heard, "a");
  EXPECT_EQ(time, 123);
  console_.on_output(nullptr);
  console_.put('b');
  EXPECT_EQ(heard, "a");
}

TEST_F(ConsoleTest, InputStaysInOrderAndIsAnnouncedOnceUntilTaken) {
  int announced = 0;
  console_.on_input([&] { ++announced; });
  EXPECT_FALSE(console_.has_input());
  console_.type("");
  EXPECT_EQ(announced, 0);
  console_.type("ab");
  console_.type("c");
  EXPECT_EQ(announced, 1);
  EXPECT_EQ(console_.read(), 'a');
  console_.type("d");
  EXPECT_EQ(announced, 1);
  EXPECT_EQ(take_all(), "bcd");
  console_.type("e");
  EXPECT_EQ(announced, 2);
  EXPECT_EQ(take_all(), "e");
}

TEST_F(ConsoleTest, InputMayBeTakenWhileItIsAnnounced) {
  std::string taken;
  console_.on_input([&] { taken += take_all(); });
  console_.type("ab");
  console_.type("c");
  EXPECT_EQ(taken, "abc");
}

TEST_F(ConsoleTest, PollReadsNoMoreThanThereIsRoomFor) {
  NoteSink& sink = add_sink();
  const std::size_t room = console_.room();
  sink.input = std::string(room + 10, 'x');
  console_.poll();
  EXPECT_EQ(console_.room(), 0);
  EXPECT_EQ(sink.input.size(), 10);
  console_.read();
  EXPECT_EQ(console_.room(), 1);
  console_.poll();
  EXPECT_EQ(sink.input.size(), 9);
}

TEST_F(ConsoleTest, AScriptMayTypeMoreThanThereIsRoomFor) {
  console_.type(std::string(1'000'000, 'x'));
  EXPECT_EQ(console_.room(), 0);
  EXPECT_EQ(take_all().size(), 1'000'000);
  EXPECT_GT(console_.room(), 0);
}

}  // namespace
}  // namespace vp
