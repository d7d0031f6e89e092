// SPDX-License-Identifier: Apache-2.0
#include "vp/console/script_player.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <optional>

namespace vp {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class ScriptPlayerTest : public testing::Test {
 protected:
  ScriptPlayerTest() {
    console_.on_input([this] {
      std::string text;
      while (console_.has_input()) text.push_back(console_.read());
      typed_.push_back(text + "@" + std::to_string(now()));
    });
  }

  void play(std::string_view script) {
    player_.emplace(domain_, console_, Script::parse(script, "f"), [this](const std::string& what) {
      missing_.push_back(what + " @" + std::to_string(now()));
    });
    player_->start();
  }
  /// The guest sends `text` at `when`.
  void say(Picoseconds when, const std::string& text) {
    events_.push_back(std::make_unique<Event>(domain_, [this, text] { put(text); }));
    events_.back()->at(when);
  }
  void put(const std::string& text, Picoseconds when = now()) {
    for (const char byte : text) console_.put(byte, when);
  }
  void run(Picoseconds span) { sc_core::sc_start(to_sc_time(span)); }

  Domain domain_{"domain"};
  Console console_{"host"};
  std::vector<std::unique_ptr<Event>> events_;
  std::vector<std::string> typed_;
  std::vector<std::string> missing_;
  std::optional<ScriptPlayer> player_;
};

TEST_F(ScriptPlayerTest, AnEmptyScriptIsDone) {
  play("");
  EXPECT_TRUE(player_->done());
  run(1);
  EXPECT_FALSE(sc_core::sc_pending_activity());
}

TEST_F(ScriptPlayerTest, TypesAtTheTimesGiven) {
  play("send \"a\"\nat 10ps send \"b\"\nwait 5ps\nsend \"c\"\nat 12ps send \"d\"\n");
  EXPECT_FALSE(player_->done());
  run(100);
  EXPECT_THAT(typed_, ElementsAre("a@0", "b@10", "c@15", "d@15"));
  EXPECT_TRUE(player_->done());
}

TEST_F(ScriptPlayerTest, TypesAfterTheExpectedOutput) {
  say(50, "Welcome\r\n~ #");
  say(70, " ");
  say(80, "file\r\n~ # ");
  play("expect \"~ # \"\nsend \"ls\\n\"\nexpect \"# \"\nsend \"x\"");
  run(1000);
  EXPECT_THAT(typed_, ElementsAre("ls\n@70", "x@80"));
  EXPECT_THAT(missing_, IsEmpty());
}

TEST_F(ScriptPlayerTest, EachOutputMatchesOnce) {
  say(10, "#");
  play("timeout 100ps\nexpect \"#\"\nsend \"a\"\nexpect \"#\"\nsend \"b\"");
  run(1000);
  EXPECT_THAT(typed_, ElementsAre("a@10"));
  EXPECT_EQ(missing_.size(), 1);
}

TEST_F(ScriptPlayerTest, OutputThatCameWhileWaitingCounts) {
  say(10, "a b c");
  play("wait 50ps\nexpect \"a\"\nexpect \"c\"\nsend \"x\"");
  run(1000);
  EXPECT_THAT(typed_, ElementsAre("x@50"));
}

TEST_F(ScriptPlayerTest, OutputBeforeTheMatchIsSkipped) {
  say(10, "c a b");
  play("timeout 20ps\nexpect \"a\"\nexpect \"c\"");
  run(1000);
  ASSERT_EQ(missing_.size(), 1);
}

TEST_F(ScriptPlayerTest, AnOverlappingBeginningIsFound) {
  say(10, "aab");
  say(20, "ababac");
  play("expect \"ab\"\nsend \"1\"\nexpect \"abac\"\nsend \"2\"");
  run(1000);
  EXPECT_THAT(typed_, ElementsAre("1@10", "2@20"));
}

TEST_F(ScriptPlayerTest, MissingOutputEndsTheScript) {
  say(10, "what\x1b[0m\r\n");
  play("wait 5ps\ntimeout 30ps\nexpect \"nothing\\n\"\nsend \"x\"\n");
  run(1000);
  EXPECT_THAT(typed_, IsEmpty());
  EXPECT_THAT(missing_,
              ElementsAre("f:3:1: \"nothing\\n\" did not appear within 30ps; the last output was "
                          "\"what\\x1b[0m\\r\\n\" @35"));
  EXPECT_TRUE(player_->done());
  put("nothing\n");
  run(1000);
  EXPECT_THAT(typed_, IsEmpty());
  EXPECT_EQ(missing_.size(), 1);
}

TEST_F(ScriptPlayerTest, OutputAtTheDeadlineIsTooLate) {
  play("timeout 30ps\nexpect \"a\"\nsend \"x\"\nexpect \"b\"\nsend \"y\"\n");
  run(10);
  put("a", 29);  // from a processor that is ahead
  run(29);
  EXPECT_THAT(typed_, ElementsAre("x@29"));
  put("b", 59);
  run(1000);
  EXPECT_THAT(typed_, ElementsAre("x@29"));
  EXPECT_EQ(missing_.size(), 1);
}

TEST_F(ScriptPlayerTest, ATimeoutThatWasMetIsForgotten) {
  say(10, "a");
  play("timeout 100ps\nexpect \"a\"\n");
  run(1000);
  EXPECT_THAT(missing_, IsEmpty());
  EXPECT_TRUE(player_->done());
  EXPECT_FALSE(sc_core::sc_pending_activity());
}

TEST_F(ScriptPlayerTest, RemembersTheEndOfMuchOutput) {
  play("wait 10ps\nexpect \"mark\"\nsend \"x\"");
  put("mark" + std::string(200'000, '.'));
  put("ma");
  run(5);
  put("rk" + std::string(30'000, '.'));
  run(100);
  EXPECT_THAT(typed_, ElementsAre("x@10"));
}

TEST_F(ScriptPlayerTest, AMatchAcrossForgottenOutputIsFound) {
  play("expect \"mark\"\nsend \"x\"");
  for (int fill = 65'530; fill < 65'540; ++fill) {
    player_.reset();
    play("expect \"mark\"\nsend \"x\"");
    const std::size_t before = typed_.size();
    put(std::string(static_cast<std::size_t>(fill), '.') + "mark");
    run(10);
    EXPECT_EQ(typed_.size(), before + 1) << fill;
  }
}

TEST_F(ScriptPlayerTest, AnImmediateEchoIsMatched) {
  console_.on_input([this] {
    std::string text;
    while (console_.has_input()) text.push_back(console_.read());
    typed_.push_back(text + "@" + std::to_string(now()));
    put(text);
  });
  play("send \"a\"\nexpect \"a\"\nsend \"b\"\nwait 7ps\nexpect \"b\"\nsend \"c\"");
  run(100);
  EXPECT_THAT(typed_, ElementsAre("a@0", "b@0", "c@7"));
}

}  // namespace
}  // namespace vp
