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
using testing::EndsWith;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

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
  std::string answer() {
    const std::size_t size = status() & 0x7fffffff;
    std::string text;
    while ((status() & 0x7fffffff) != 0) {
      const std::uint32_t word = data();
      text.append(reinterpret_cast<const char*>(&word), 4);
    }
    return text.substr(0, size);
  }

  LogCapture log_;
  std::vector<std::string> calls_;
  std::string command_;  // the answer to a mark
  ControlChannel channel_{{[this](int code) { calls_.push_back("exit " + std::to_string(code)); },
                           [this](const std::string& name) {
                             calls_.push_back("mark " + name);
                             return command_;
                           },
                           [this](const std::string& name, std::string_view bytes) {
                             calls_.push_back("put " + name + ":" + std::string(bytes));
                             return name == "full" ? "no room" : "";
                           },
                           [this](std::string_view what) {
                             calls_.push_back("inject " + std::string(what));
                             return what == "nothing" ? "no such error" : "";
                           },
                           [this](std::string_view what) {
                             calls_.push_back("hot_plug " + std::string(what));
                             return what == "0 remove" ? "the hot-plug slot is empty" : "";
                           },
                           [this](std::string_view what) {
                             calls_.push_back("export " + std::string(what));
                             return what == "tape f" ? "there is no such device" : "";
                           }}};
};

TEST_F(ControlChannelTest, AMarkMayBeAnsweredWithACommand) {
  message("mark a\n");
  EXPECT_EQ(answer(), "");
  command_ = "echo a";
  message("mark a\n");
  EXPECT_EQ(answer(), "ok echo a\n");
  message("mark b\n");
  message("exit 0\n");
  EXPECT_EQ(answer(), "");  // that to the last message
  EXPECT_EQ(channel_.messages(), 4);
  EXPECT_EQ(channel_.rejected(), 0);
}

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
  message("mark a/\"\\\xc3\xbc!\n");
  message("mark " + std::string(200, 'x') + "\n");
  EXPECT_THAT(calls_,
              ElementsAre("mark booted", "mark a/\"\\\xc3\xbc!", "mark " + std::string(200, 'x')));
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
  EXPECT_THAT(log_.text(), HasSubstr("only 8 of 100 bytes arrived"));
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
  // clang-format off
  const std::string bad[] = {
      "\n", " \n", "exit", "exit 1", "exit\n", "exit \n", "exit 256\n", "exit -1\n", "exit +1\n",
      "exit 1 \n", "exit  1\n", "exit 1\n\n", "exit 1\nexit 2\n", "exit 1x\n", "exit 0x1\n",
      "exit 99999999999999999999999\n", "Exit 1\n", " exit 1\n", "exit1\n", "mark\n", "mark \n",
      "mark a b\n", "mark  a\n", "mark a\nb", "mark a\tb\n", "mark \x7f\n",
      "mark " + std::string(201, 'x') + "\n", "put\n", "put a\n", "put a \n", "put a 1\n",
      "put a 1\nxx", "put a x\nx", "put a -1\nx", "put 1\nx", "put a 18446744073709551617\nx",
      "put a 67108865\nx", "get a\n", std::string(1, '\0'), std::string(1000, 'x'),
      "put " + std::string(4160, 'x') + " 0\n"};
  // clang-format on
  for (const std::string& text : bad) {
    message(text);
    const std::string refusal = answer();
    EXPECT_THAT(refusal, StartsWith("error ")) << text;
    EXPECT_THAT(refusal, EndsWith("\n")) << text;
  }
  EXPECT_THAT(calls_, IsEmpty());
  EXPECT_EQ(channel_.rejected(), std::size(bad));
  EXPECT_EQ(channel_.messages(), 0);
}

TEST_F(ControlChannelTest, AFloodOfGarbageDoesNotFillTheLog) {
  for (int i = 0; i < 1000; ++i) message("x");
  EXPECT_EQ(channel_.rejected(), 1000);
  const std::string text = log_.text();
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 10);
  EXPECT_THAT(text, HasSubstr("further ones will only be counted"));
}

TEST_F(ControlChannelTest, TheNameOfAFileIsAllBetween) {
  message("put a b/../c 0 1\nx");
  message("put  1\nx");
  EXPECT_THAT(calls_, ElementsAre("put a b/../c 0:x", "put :x"));
}

TEST_F(ControlChannelTest, WhoTakesTheFilesMayRefuse) {
  message("put full 1\nx");
  EXPECT_EQ(answer(), "error no room\n");
  EXPECT_EQ(channel_.rejected(), 1);
  EXPECT_EQ(channel_.messages(), 0);
}

TEST_F(ControlChannelTest, TheLongestFile) {
  const std::string bytes(ControlChannel::max_file, 'x');
  const std::string header = "put f " + std::to_string(bytes.size()) + "\n";
  std::size_t got = 0;
  ControlChannel channel({{},
                          {},
                          [&](const std::string&, std::string_view b) {
                            got = b.size();
                            return std::string();
                          },
                          {}});
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
  const std::size_t limit = ControlChannel::max_line + ControlChannel::max_file;
  length(limit);
  EXPECT_EQ(answer(), "");
  length(limit + 1);
  EXPECT_EQ(channel_.rejected(), 2);
  data("exit 1\n");
  EXPECT_THAT(answer(), StartsWith("error the message has"));
  length(0xffffffff);
  EXPECT_THAT(answer(), StartsWith("error the message has 4294967295 bytes"));
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

TEST_F(ControlChannelTest, AnAnswerIsReadWordByWord) {
  EXPECT_EQ(status(), 0x80000000);
  EXPECT_EQ(data(), 0);
  message("x");
  EXPECT_EQ(status(), 0x80000000 + 32);
  EXPECT_EQ(data(), 0x6f727265);  // "erro"
  EXPECT_EQ(status(), 0x80000000 + 28);
  for (int i = 0; i < 6; ++i) data();
  EXPECT_EQ(status(), 0x80000004);
  EXPECT_EQ(data(), 0x0a656e69);  // "ine\n"
  EXPECT_EQ(status(), 0x80000000);
  EXPECT_EQ(data(), 0);
}

TEST_F(ControlChannelTest, TheLastWordOfAnAnswerIsPadded) {
  message("exit 256\n");
  const std::size_t size = std::string("error the code is not 0 to 255\n").size();
  EXPECT_EQ(status(), 0x80000000 + size);
  message("mark\n");
  while ((status() & 0x7fffffff) > 4) data();
  const std::uint32_t left = status() & 0x7fffffff;
  EXPECT_EQ(data() >> 8 * (left - 1), '\n');
}

TEST_F(ControlChannelTest, WhatShallFailIsForThePlatformToUnderstand) {
  for (const std::string what : {"a.down bad_tlp MRd 3", "", "a"}) {
    message("inject " + what + "\n");
    EXPECT_EQ(answer(), "");
    EXPECT_EQ(calls_.back(), "inject " + what);
  }
  message("inject nothing\n");
  EXPECT_EQ(answer(), "error no such error\n");
  message("inject a\nb");
  EXPECT_EQ(answer(), "error there are bytes after the line\n");
  EXPECT_EQ(channel_.messages(), 3u);
  EXPECT_EQ(channel_.rejected(), 2u);
}

TEST_F(ControlChannelTest, WhatHappensAtAHotPlugSlotIsForThePlatformToo) {
  for (const std::string what : {"1 remove", "", "a"}) {
    message("hot_plug " + what + "\n");
    EXPECT_EQ(answer(), "");
    EXPECT_EQ(calls_.back(), "hot_plug " + what);
  }
  message("hot_plug 0 remove\n");
  EXPECT_EQ(answer(), "error the hot-plug slot is empty\n");
  message("hot_plug a\nb");
  EXPECT_EQ(answer(), "error there are bytes after the line\n");
}

TEST_F(ControlChannelTest, WhatADeviceStoresIsForThePlatformToExport) {
  for (const std::string what : {"disk disk.img", "disk.2 folder/disk.img", ""}) {
    message("export " + what + "\n");
    EXPECT_EQ(answer(), "");
    EXPECT_EQ(calls_.back(), "export " + what);
  }
  message("export tape f\n");
  EXPECT_EQ(answer(), "error there is no such device\n");
  message("export a\nb");
  EXPECT_EQ(answer(), "error there are bytes after the line\n");
}

TEST_F(ControlChannelTest, WellDoneHasNoAnswer) {
  message("mark a\n");
  EXPECT_EQ(status(), 0x80000000);
}

TEST_F(ControlChannelTest, ANewMessageDropsTheAnswerBefore) {
  message("x");
  data();
  message("mark a\n");
  EXPECT_EQ(status(), 0x80000000);
  message("x");
  message("x");
  EXPECT_EQ(answer(), "error the message is not a line\n");
}

TEST_F(ControlChannelTest, WithoutHandlersMessagesAreObeyedButFilesAreNot) {
  ControlChannel channel({});
  for (const std::string text :
       {"exit 1\n", "mark a\n", "put a 0\n", "inject a\n", "hot_plug a\n", "export a b\n"}) {
    channel.write(ControlChannel::LENGTH, 4, static_cast<std::uint32_t>(text.size()));
    for (std::size_t i = 0; i < text.size(); i += 4) {
      std::uint32_t word = 0;
      text.copy(reinterpret_cast<char*>(&word), 4, i);
      channel.write(ControlChannel::DATA, 4, word);
    }
  }
  EXPECT_EQ(channel.messages(), 2);
  EXPECT_EQ(channel.rejected(), 4);
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
