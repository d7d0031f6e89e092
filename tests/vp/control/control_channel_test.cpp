// SPDX-License-Identifier: Apache-2.0
#include "vp/control/control_channel.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include "tests/vp/log_capture.h"

namespace vp {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class ControlChannelTest : public testing::Test {
 protected:
  void length(std::size_t bytes) {
    channel_.write(ControlChannel::LENGTH, 4, static_cast<std::uint32_t>(bytes));
  }
  void data(const std::string& bytes, char padding = 0) {
    for (std::size_t i = 0; i < bytes.size(); i += 4) {
      std::uint32_t word = 0;
      for (std::size_t k = 0; k < 4; ++k) {
        const char byte = i + k < bytes.size() ? bytes[i + k] : padding;
        word |= std::uint32_t{static_cast<std::uint8_t>(byte)} << 8 * k;
      }
      channel_.write(ControlChannel::DATA, 4, word);
    }
  }
  void message(const std::string& bytes, char padding = 0) {
    length(bytes.size());
    data(bytes, padding);
  }
  std::uint32_t status() { return channel_.read(ControlChannel::STATUS, 4); }
  std::uint32_t data() { return channel_.read(ControlChannel::DATA, 4); }

  LogCapture log_;
  std::vector<std::string> calls_;
  ControlChannel channel_{{[this](int code) { calls_.push_back("exit " + std::to_string(code)); },
                           [this](const std::string& name) { calls_.push_back("mark " + name); },
                           [this](const std::string& name, std::string_view bytes) {
                             calls_.push_back("put " + name + ":" + std::string(bytes));
                           }}};
};

TEST_F(ControlChannelTest, Exit) {
  message("exit 0\n");
  message("exit 255\n");
  message("exit 007\n");
  EXPECT_THAT(calls_, ElementsAre("exit 0", "exit 255", "exit 7"));
  EXPECT_EQ(channel_.messages(), 3);
  EXPECT_EQ(channel_.rejected(), 0);
}

TEST_F(ControlChannelTest, Mark) {
  message("mark booted\n");
  message("mark A-Z.a_z+09\n");
  EXPECT_THAT(calls_, ElementsAre("mark booted", "mark A-Z.a_z+09"));
}

TEST_F(ControlChannelTest, PutOfEveryLengthAroundAWord) {
  for (std::size_t size = 0; size <= 9; ++size) {
    const std::string bytes = std::string("\n\0\xff put exit", 11).substr(0, size);
    calls_.clear();
    message("put f " + std::to_string(size) + "\n" + bytes);
    EXPECT_THAT(calls_, ElementsAre("put f:" + bytes)) << size;
  }
}

TEST_F(ControlChannelTest, PaddingIsIgnored) {
  message("exit 1\n", 'x');  // 7 bytes
  message("mark a\n", '\n');
  EXPECT_THAT(calls_, ElementsAre("exit 1", "mark a"));
  EXPECT_EQ(channel_.rejected(), 0);
}

TEST_F(ControlChannelTest, ADataWordWithoutALengthIsIgnored) {
  data("exit 1\n");
  message("mark a\n");
  data("exit 2\n");
  EXPECT_THAT(calls_, ElementsAre("mark a"));
}

TEST_F(ControlChannelTest, ANewLengthDropsAnUnfinishedMessage) {
  length(100);
  data("exit 1\n");
  message("mark a\n");
  EXPECT_THAT(calls_, ElementsAre("mark a"));
  EXPECT_EQ(channel_.rejected(), 1);
  EXPECT_THAT(log_.text(), HasSubstr("only 8 of 100 bytes came"));
}

TEST_F(ControlChannelTest, LengthZeroDropsWithoutBeginningAnother) {
  length(0);
  EXPECT_EQ(channel_.rejected(), 0);
  length(8);
  length(0);
  data("exit 1\n");
  EXPECT_THAT(calls_, IsEmpty());
  EXPECT_EQ(channel_.rejected(), 1);
}

TEST_F(ControlChannelTest, WhatIsNotAMessageIsCountedAndDropped) {
  const std::string bad[] = {"\n",
                             " \n",
                             "exit",
                             "exit 1",
                             "exit\n",
                             "exit \n",
                             "exit 256\n",
                             "exit -1\n",
                             "exit +1\n",
                             "exit 1 \n",
                             "exit  1\n",
                             "exit 1\n\n",
                             "exit 1\nexit 2\n",
                             "exit 1x\n",
                             "exit 0x1\n",
                             "exit 99999999999999999999999\n",
                             "Exit 1\n",
                             " exit 1\n",
                             "mark\n",
                             "mark \n",
                             "mark a b\n",
                             "mark a\nb",
                             "mark a\"b\n",
                             "mark \xff\n",
                             "mark a/b\n",
                             "put\n",
                             "put a\n",
                             "put a \n",
                             "put a 1\n",
                             "put a 1\nxx",
                             "put a x\nx",
                             "put a -1\nx",
                             "put  1\nx",
                             "put a 1 1\nx",
                             "put a 18446744073709551617\nx",
                             "get a\n",
                             std::string(1, '\0'),
                             std::string(1000, 'x')};
  for (const std::string& text : bad) message(text);
  EXPECT_THAT(calls_, IsEmpty());
  EXPECT_EQ(channel_.rejected(), std::size(bad));
  EXPECT_EQ(channel_.messages(), 0);
}

TEST_F(ControlChannelTest, AFloodOfGarbageDoesNotFillTheLog) {
  for (int i = 0; i < 1000; ++i) message("x");
  EXPECT_EQ(channel_.rejected(), 1000);
  const std::string text = log_.text();
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 10);
  EXPECT_THAT(text, HasSubstr("further ones are only counted"));
}

TEST_F(ControlChannelTest, NamesThatCouldLeaveTheShareAreRefused) {
  for (const char* name : {"", ".", "..", "../x", "/x", "a/b", "a\\b", ".hidden", "-rf", "a b",
                           "a\tb", "a\nb", "a:b", "a*", "\xc3\xa9", "a~", "$x", "`x`", "a;b"}) {
    EXPECT_FALSE(ControlChannel::valid_name(name)) << name;
  }
  EXPECT_FALSE(ControlChannel::valid_name(std::string_view("a\0b", 3)));
  EXPECT_FALSE(ControlChannel::valid_name(std::string(129, 'a')));
  EXPECT_TRUE(ControlChannel::valid_name(std::string(128, 'a')));
  for (const char* name : {"a", "a.b", "a..b", "_", "+x", "0", "report-1.json"}) {
    EXPECT_TRUE(ControlChannel::valid_name(name)) << name;
  }
  message("put ../x 1\nx");
  EXPECT_THAT(calls_, IsEmpty());
}

TEST_F(ControlChannelTest, TheLongestFile) {
  const std::string bytes(ControlChannel::max_file, 'x');
  const std::string header = "put f " + std::to_string(bytes.size()) + "\n";
  std::size_t got = 0;
  ControlChannel channel({{}, {}, [&](const std::string&, std::string_view b) { got = b.size(); }});
  channel.write(ControlChannel::LENGTH, 4,
                static_cast<std::uint32_t>(header.size() + bytes.size()));
  const std::string all = header + bytes;
  for (std::size_t i = 0; i < all.size(); i += 4) {
    std::uint32_t word = 0;
    all.copy(reinterpret_cast<char*>(&word), 4, i);
    channel.write(ControlChannel::DATA, 4, word);
  }
  EXPECT_EQ(got, bytes.size());
}

TEST_F(ControlChannelTest, ALengthBeyondTheLimitIsRefusedAndItsDataIgnored) {
  length(ControlChannel::max_length + 1);
  data("exit 1\n");
  EXPECT_EQ(channel_.rejected(), 1);
  length(0xffffffff);
  EXPECT_EQ(channel_.rejected(), 2);
  message("mark a\n");
  EXPECT_THAT(calls_, ElementsAre("mark a"));
}

TEST_F(ControlChannelTest, OnlyAlignedWordsAreRegisters) {
  length(7);
  for (const unsigned size : {1u, 2u, 3u, 8u}) {
    channel_.write(ControlChannel::DATA, size, 0x74697865);
    channel_.write(ControlChannel::LENGTH, size, 1);
    EXPECT_EQ(channel_.read(ControlChannel::DATA, size), ~0u);
    EXPECT_EQ(channel_.read(ControlChannel::STATUS, size), ~0u);
  }
  for (unsigned offset = 0; offset < 32; ++offset) {
    if (offset % 4 == 0 && offset <= 8) continue;
    channel_.write(offset, 4, 0x74697865);
    EXPECT_EQ(channel_.read(offset, 4), ~0u) << offset;
  }
  channel_.write(ControlChannel::STATUS, 4, 0);
  EXPECT_EQ(channel_.read(ControlChannel::LENGTH, 4), ~0u);
  data("mark a\n");
  EXPECT_THAT(calls_, ElementsAre("mark a"));
}

TEST_F(ControlChannelTest, TheGuestReadsWhatIsSentInOrder) {
  EXPECT_EQ(status(), 0x80000000);
  EXPECT_EQ(data(), 0);
  EXPECT_TRUE(channel_.send("abcde"));
  EXPECT_EQ(status(), 0x80000005);
  EXPECT_EQ(data(), 0x64636261);
  EXPECT_EQ(status(), 0x80000001);
  EXPECT_TRUE(channel_.send("\xff!"));
  EXPECT_EQ(status(), 0x80000003);
  EXPECT_EQ(data(), 0x0021ff65);
  EXPECT_EQ(status(), 0x80000000);
  EXPECT_EQ(data(), 0);
}

TEST_F(ControlChannelTest, WhatWaitsForTheGuestIsBounded) {
  EXPECT_TRUE(channel_.send(std::string(ControlChannel::max_length, 'x')));
  EXPECT_FALSE(channel_.send("x"));
  data();
  EXPECT_TRUE(channel_.send("1234"));
  EXPECT_FALSE(channel_.send("5"));
}

TEST_F(ControlChannelTest, WithoutHandlersMessagesAreUnderstoodAllTheSame) {
  ControlChannel channel({});
  for (const std::string text : {"exit 1\n", "mark a\n", "put a 0\n"}) {
    channel.write(ControlChannel::LENGTH, 4, static_cast<std::uint32_t>(text.size()));
    for (std::size_t i = 0; i < text.size(); i += 4) {
      std::uint32_t word = 0;
      text.copy(reinterpret_cast<char*>(&word), 4, i);
      channel.write(ControlChannel::DATA, 4, word);
    }
  }
  EXPECT_EQ(channel.messages(), 3);
}

TEST_F(ControlChannelTest, AGuestAtRandomDoesNoHarm) {
  std::mt19937_64 random(1);
  for (int i = 0; i < 200'000; ++i) {
    const auto offset = static_cast<unsigned>(random() % 4 * 4);
    const auto size = random() % 8 == 0 ? static_cast<unsigned>(random() % 9) : 4u;
    if (random() % 4 == 0) {
      channel_.read(offset, size);
    } else {
      channel_.write(offset, size, static_cast<std::uint32_t>(random() >> random() % 64));
    }
  }
  length(0);
  message("mark alive\n");
  EXPECT_EQ(calls_.back(), "mark alive");
}

}  // namespace
}  // namespace vp
