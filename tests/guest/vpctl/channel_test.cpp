// SPDX-License-Identifier: Apache-2.0
// The guest's end of the control port, connected to the platform's (vp/control).
#include "guest/vpctl/channel.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "vp/control/control_channel.h"

namespace {

vp::ControlChannel* platform = nullptr;
unsigned words = 0;  ///< words that were written to DATA

std::uint32_t in(unsigned offset) {
  return platform ? platform->read(offset, 4) : ~0u;
}
void out(unsigned offset, std::uint32_t value) {
  words += offset == CHANNEL_DATA;
  if (platform) platform->write(offset, 4, value);
}

class Channel : public testing::Test {
 protected:
  void SetUp() override {
    platform = &end_;
    words = 0;
  }
  void TearDown() override { platform = nullptr; }

  void send(const std::string& bytes) {
    message message;
    message_open(&message, &ports, static_cast<std::uint32_t>(bytes.size()));
    message_write(&message, bytes.data(), bytes.size());
  }

  /// Returns the answer. A refusal begins with "refused: ".
  std::string answer(std::size_t size = 256) {
    std::vector<char> text(size);
    const bool good = channel_answer(&ports, text.data(), size);
    return (good ? "" : "refused: ") + std::string(text.data());
  }

  const channel ports{in, out};
  std::vector<int> codes;
  std::vector<std::string> marks;
  std::string command;  // the answer to a mark
  std::string name, file, refusal;
  vp::ControlChannel end_{{[this](int code) { codes.push_back(code); },
                           [this](const std::string& mark) {
                             marks.push_back(mark);
                             return command;
                           },
                           [this](const std::string& given, std::string_view bytes) {
                             name = given;
                             file = bytes;
                             return refusal;
                           }}};
};

TEST_F(Channel, Present) {
  EXPECT_TRUE(channel_present(&ports));
  platform = nullptr;
  EXPECT_FALSE(channel_present(&ports));
}

TEST_F(Channel, AMarkMayBeAnsweredWithACommand) {
  send("mark a\n");
  EXPECT_EQ(answer(), "");
  for (const std::string text : {"x", "oae bench --count 5", "ok", "error is no refusal here"}) {
    command = text;
    send("mark a\n");
    EXPECT_EQ(answer(), text);
  }
  command = std::string(4000, 'c');
  send("mark a\n");
  EXPECT_EQ(answer(8192), command);
  send("mark a\n");
  EXPECT_EQ(answer(10), "cccccc");  // cut with its `ok `
}

TEST_F(Channel, LinesOfEachLength) {
  for (std::size_t length = 1; length <= 20; ++length) {
    const std::string mark(length, 'm');
    send("mark " + mark + "\n");
    ASSERT_FALSE(marks.empty());
    EXPECT_EQ(marks.back(), mark);
  }
  EXPECT_EQ(marks.size(), 20u);
  send("exit 3\n");
  EXPECT_EQ(codes, std::vector<int>{3});
  EXPECT_EQ(end_.rejected(), 0u);
}

TEST_F(Channel, FilesInPiecesOfEachLength) {
  for (std::size_t size = 0; size <= 40; ++size) {
    for (std::size_t piece = 1; piece <= 9; ++piece) {
      std::string bytes;
      for (std::size_t i = 0; i < size; ++i) bytes += static_cast<char>(0xf0 + i);
      const std::string line = "put f " + std::to_string(size) + "\n";
      message message;
      message_open(&message, &ports, static_cast<std::uint32_t>(line.size() + size));
      message_write(&message, line.data(), line.size());
      for (std::size_t i = 0; i < size; i += piece)
        message_write(&message, bytes.data() + i, std::min(piece, size - i));
      message_close(&message);
      ASSERT_EQ(file, bytes) << size << " in pieces of " << piece;
    }
  }
  EXPECT_EQ(name, "f");
  EXPECT_EQ(end_.rejected(), 0u);
}

TEST_F(Channel, AFileThatShrinksOrGrowsKeepsItsSize) {
  message message;
  message_open(&message, &ports, 8 + 6);
  message_write(&message, "put f 6\nab", 10);
  message_close(&message);
  EXPECT_EQ(file, std::string("ab\0\0\0\0", 6));
  EXPECT_EQ(words, 4u);
  message_open(&message, &ports, 8 + 2);
  message_write(&message, "put f 2\nabcdef", 14);
  EXPECT_EQ(words, 4u + 3);
  message_close(&message);
  EXPECT_EQ(words, 4u + 3);
  EXPECT_EQ(file, "ab");
  EXPECT_EQ(end_.rejected(), 0u);
}

TEST_F(Channel, NoAnswerIsGood) {
  send("exit 0\n");
  EXPECT_EQ(answer(), "");
}

TEST_F(Channel, RefusalsOfEachLength) {
  for (std::size_t length = 0; length <= 20; ++length) {
    refusal = std::string(length, 'r');
    send("put f 0\n");
    EXPECT_EQ(answer(), length ? "refused: " + refusal : "");
    EXPECT_EQ(answer(), "") << "it is read once";
  }
}

TEST_F(Channel, AnAnswerThatIsTooLongIsCutAndConsumed) {
  refusal = std::string(100, 'r');
  send("put f 0\n");
  EXPECT_EQ(answer(16), "refused: " + std::string(9, 'r'));
  EXPECT_EQ(answer(), "");
}

}  // namespace
