// SPDX-License-Identifier: Apache-2.0
#include "vp/console/pseudo_terminal.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <unistd.h>

#include <string>

namespace vp {
namespace {

using testing::StartsWith;

/// The terminal program of a user.
class User {
 public:
  explicit User(const std::string& path)
      : terminal_(::open(path.c_str(), O_RDWR | O_NOCTTY | O_NONBLOCK)) {
    EXPECT_GE(terminal_, 0) << path;
  }
  ~User() { ::close(terminal_); }

  void type(std::string_view text) {
    EXPECT_EQ(::write(terminal_, text.data(), text.size()), static_cast<ssize_t>(text.size()));
  }
  std::string read() {
    std::string text;
    char bytes[4096];
    for (;;) {
      const ssize_t got = ::read(terminal_, bytes, sizeof bytes);
      if (got <= 0) return text;
      text.append(bytes, static_cast<std::size_t>(got));
    }
  }

 private:
  int terminal_;
};

std::string read(PseudoTerminal& terminal, std::size_t room = 1000) {
  std::string input;
  terminal.read(input, room);
  return input;
}

TEST(PseudoTerminalTest, CarriesBytesUnchangedBothWays) {
  PseudoTerminal terminal;
  EXPECT_THAT(terminal.path(), StartsWith("/dev/"));
  EXPECT_EQ(read(terminal), "");
  User user(terminal.path());
  const std::string bytes("a\r\n\x01\x03\x04\x1a\xff\0b\n", 11);
  terminal.write(bytes);
  EXPECT_EQ(user.read(), bytes);
  user.type(bytes);
  EXPECT_EQ(read(terminal), bytes);
  EXPECT_EQ(read(terminal), "");
  EXPECT_EQ(user.read(), "");  // no echo
}

TEST(PseudoTerminalTest, ReadsNoMoreThanThereIsRoomFor) {
  PseudoTerminal terminal;
  User user(terminal.path());
  user.type("abc");
  EXPECT_EQ(read(terminal, 0), "");
  EXPECT_EQ(read(terminal, 2), "ab");
  EXPECT_EQ(read(terminal, 2), "c");
}

TEST(PseudoTerminalTest, UsersMayCloseAndOpenItAgain) {
  PseudoTerminal terminal;
  terminal.write("early");
  for (int i = 0; i < 3; ++i) {
    User user(terminal.path());
    EXPECT_EQ(user.read(), i == 0 ? "early" : "");
    terminal.write("text");
    EXPECT_EQ(user.read(), "text");
    user.type("keys");
    EXPECT_EQ(read(terminal), "keys");
  }
  EXPECT_EQ(read(terminal), "");
}

TEST(PseudoTerminalTest, KeepsTheEndOfOutputThatIsNotRead) {
  PseudoTerminal terminal;
  std::string all;
  for (int i = 0; i < 50'000; ++i) {
    const std::string line = std::to_string(i) + "\n";
    all += line;
    terminal.write(line);
  }
  User user(terminal.path());
  std::string got;
  for (std::string more = user.read(); !more.empty(); more = user.read()) {
    got += more;
    read(terminal);
  }
  EXPECT_GE(got.size(), 64 * 1024);
  const std::string end = got.substr(got.size() - 64 * 1024);
  EXPECT_EQ(end, all.substr(all.size() - 64 * 1024));
}

}  // namespace
}  // namespace vp
