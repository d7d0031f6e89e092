// SPDX-License-Identifier: Apache-2.0
#include "vp/snapshot/snapshot.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

namespace vp {
namespace {

using testing::ElementsAre;

/// A guest that announces a mark every microsecond, and a console.
struct Guest : sc_core::sc_module {
  Guest(const sc_core::sc_module_name& name, Snapshot& snapshot)
      : sc_module(name), domain("domain") {
    sc_core::sc_spawn([this, &snapshot] {
      for (int i = 1; i <= 5; ++i) {
        wait(to_sc_time(1 * us));
        const std::string answer = snapshot.say(i == 1 ? "early" : "mark");
        answers.push_back(answer);
        times.push_back(now());
      }
    });
    console.on_input([this] {
      std::string typed;
      while (console.has_input()) typed += console.read();
      inputs.push_back(typed);
      times.push_back(now());
    });
  }

  Domain domain;
  Console console{"console"};
  std::vector<std::string> answers, inputs;
  std::vector<Picoseconds> times;
};

void run(Picoseconds span) {
  sc_core::sc_start(to_sc_time(span));
}

TEST(Mark, IsANameOrALine) {
  EXPECT_EQ(Mark::parse("booted").kind, Mark::Kind::name);
  EXPECT_EQ(Mark::parse("booted").text, "booted");
  EXPECT_EQ(Mark::parse("line:a shell: # ").kind, Mark::Kind::line);
  EXPECT_EQ(Mark::parse("line:a shell: # ").text, "a shell: # ");
  EXPECT_EQ(Mark::parse("line").kind, Mark::Kind::name);
  EXPECT_EQ(Mark::parse("line:").text, "");
  for (const char* text : {"booted", "line:x", "line:line:x"})
    EXPECT_EQ(Mark::parse(text).print(), text);
}

TEST(Snapshot, PausesAtTheNameAndAnswersItAtTheSameInstant) {
  Snapshot snapshot(Mark::parse("mark"));
  Guest guest("guest", snapshot);
  EXPECT_TRUE(snapshot.ahead());
  run(10 * us);
  EXPECT_TRUE(snapshot.reached());
  EXPECT_FALSE(snapshot.ahead());
  EXPECT_EQ(now(), 2 * us);
  EXPECT_THAT(guest.answers, ElementsAre(""));
  snapshot.go_on("command");
  EXPECT_FALSE(snapshot.reached());
  run(10 * us);
  // When it is announced again, it is no longer a mark.
  EXPECT_THAT(guest.answers, ElementsAre("", "command", "", "", ""));
  EXPECT_THAT(guest.times, ElementsAre(1 * us, 2 * us, 3 * us, 4 * us, 5 * us));
}

TEST(Snapshot, WithoutACommandTheAnswerIsNone) {
  Snapshot snapshot(Mark::parse("mark"));
  Guest guest("guest", snapshot);
  run(10 * us);
  run(1500 * ns);
  EXPECT_THAT(guest.answers, ElementsAre("", "", ""));
}

TEST(Snapshot, ALineIsNoName) {
  Snapshot snapshot(Mark::parse("line:mark"));
  Guest guest("guest", snapshot);
  run(10 * us);
  EXPECT_TRUE(snapshot.ahead());
  EXPECT_EQ(guest.answers.size(), 5u);
}

TEST(Snapshot, PausesAtTheTimeOfTheLineAndTypesTheCommandThen) {
  Snapshot snapshot(Mark::parse("line:the shell"));
  Guest guest("guest", snapshot);
  snapshot.watch(guest.console, guest.domain);
  // A processor that is ahead of the kernel writes it twice, and a name that is not a mark here.
  Event write(guest.domain, [&] {
    for (const char c : std::string("no\nthis is the shell.\n")) guest.console.put(c, 700 * ns);
    for (const char c : std::string("the shell\n")) guest.console.put(c, 800 * ns);
  });
  write.at(500 * ns);
  run(10 * us);
  EXPECT_TRUE(snapshot.reached());
  EXPECT_EQ(now(), 700 * ns);
  EXPECT_EQ(guest.domain.next_event(), 701 * ns);  // no processor goes on past it
  snapshot.go_on("ls");
  run(200 * ns);
  EXPECT_THAT(guest.inputs, ElementsAre("ls\nexit\n"));
  EXPECT_THAT(guest.times, ElementsAre(701 * ns));
  run(10 * us);
  EXPECT_EQ(guest.inputs.size(), 1u);
}

TEST(Snapshot, IsTheFirstLineOfSeveralGuests) {
  Snapshot snapshot(Mark::parse("line:mark"));
  Guest one("one", snapshot), other("other", snapshot);
  snapshot.watch(one.console, one.domain);
  snapshot.watch(other.console, other.domain);
  for (const char c : std::string("mark\n")) one.console.put(c, 300 * ns);
  for (const char c : std::string("mark\n")) other.console.put(c, 200 * ns);
  run(1 * us);
  EXPECT_EQ(now(), 200 * ns);
  snapshot.go_on("ls");
  run(900 * ns);
  EXPECT_THAT(one.inputs, ElementsAre());
  EXPECT_THAT(other.inputs, ElementsAre("ls\nexit\n"));
}

}  // namespace
}  // namespace vp
