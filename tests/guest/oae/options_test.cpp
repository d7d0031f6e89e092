// SPDX-License-Identifier: Apache-2.0
#include "guest/oae/options.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace {

struct Parsed {
  bool good;
  options value;
  std::string mistake;
};

Parsed parse(std::vector<std::string> words) {
  words.insert(words.begin(), "oae");
  std::vector<char*> argv;
  for (auto& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  Parsed parsed{};
  char mistake[128] = "";
  parsed.good = options_parse(static_cast<int>(words.size()), argv.data(), &parsed.value, mistake);
  parsed.mistake = mistake;
  return parsed;
}

TEST(Options, Commands) {
  EXPECT_EQ(parse({"info"}).value.command, COMMAND_INFO);
  EXPECT_EQ(parse({"swap"}).value.command, COMMAND_SWAP);
  EXPECT_EQ(parse({"bench"}).value.command, COMMAND_BENCH);
  EXPECT_EQ(parse({"stat"}).value.command, COMMAND_STAT);
  EXPECT_EQ(parse({"help"}).value.command, COMMAND_HELP);
  EXPECT_EQ(parse({"bench", "--help"}).value.command, COMMAND_HELP);
  EXPECT_TRUE(parse({"--help"}).good);
}

TEST(Options, Verbs) {
  const options cas = parse({"cas", "255", "0x10", "7"}).value;
  EXPECT_EQ(cas.command, COMMAND_CAS);
  ASSERT_EQ(cas.num_steps, 2u);
  EXPECT_EQ(cas.steps[0].operation, OAE_STEP_COMPARE);
  EXPECT_EQ(cas.steps[0].word, 255u);
  EXPECT_EQ(cas.steps[0].operand, 0x10u);
  EXPECT_EQ(cas.steps[1].operation, OAE_STEP_WRITE);
  EXPECT_EQ(cas.steps[1].word, 255u);
  EXPECT_EQ(cas.steps[1].operand, 7u);
  const options add = parse({"add", "--", "3", "-2"}).value;
  EXPECT_EQ(add.command, COMMAND_ADD);
  ASSERT_EQ(add.num_steps, 1u);
  EXPECT_EQ(add.steps[0].operation, OAE_STEP_ADD);
  EXPECT_EQ(add.steps[0].operand, ~std::uint64_t{1});
  const options multi =
      parse({"multi", "read:0", "write:1=2", "add:3=-1", "compare:4095=0xffffffffffffffff"}).value;
  EXPECT_EQ(multi.command, COMMAND_MULTI);
  ASSERT_EQ(multi.num_steps, 4u);
  EXPECT_EQ(multi.steps[0].operation, OAE_STEP_READ);
  EXPECT_EQ(multi.steps[1].operand, 2u);
  EXPECT_EQ(multi.steps[2].operand, ~std::uint64_t{0});
  EXPECT_EQ(multi.steps[3].word, 4095u);
  EXPECT_EQ(multi.steps[3].operation, OAE_STEP_COMPARE);
  EXPECT_FALSE(multi.remote);
  const options remote = parse({"add", "--remote", "3", "2"}).value;
  EXPECT_TRUE(remote.remote);
  EXPECT_EQ(remote.steps[0].word, 3u);
  EXPECT_TRUE(parse({"cas", "-R", "1", "2", "3"}).value.remote);
  const options send = parse({"send", "1", "2"}).value;
  EXPECT_EQ(send.command, COMMAND_SEND);
  EXPECT_EQ(send.payload[1], 2u);
}

TEST(Options, WhatIsNoVerb) {
  for (const std::vector<std::string>& wrong : std::vector<std::vector<std::string>>{
           {"cas"},
           {"cas", "1", "2"},
           {"cas", "1", "2", "3", "4"},
           {"cas", "4096", "0", "1"},
           {"cas", "x", "0", "1"},
           {"cas", "1", "", "1"},
           {"add", "1"},
           {"add", "1", "2", "3"},
           {"multi"},
           {"multi", "read:0", "read:0", "read:0", "read:0", "read:0"},
           {"multi", "read"},
           {"multi", "read:"},
           {"multi", "read:1=2"},
           {"multi", "write:1"},
           {"multi", "write:1="},
           {"multi", "write:=1"},
           {"multi", "grow:1=1"},
           {"multi", "writes:1=1"},
           {"multi", ":1=1"},
           {"multi", "write:4096=1"},
           {"multi", "write:123456789=1"},
           {"multi", "write=1:2"},
           {"add", "--", "1", "-9223372036854775809"},
           {"send", "1", "2", "3", "4", "5", "6", "7"},
           {"send", "one"}}) {
    EXPECT_FALSE(parse(wrong).good) << wrong[0] << ' ' << wrong.size() << ' ' << wrong.back();
  }
}

TEST(Options, Defaults) {
  const options value = parse({"bench"}).value;
  EXPECT_EQ(value.device, 0u);
  EXPECT_EQ(value.port, 0u);
  EXPECT_EQ(value.count, 100u);
  EXPECT_EQ(value.timeout_ns, 1000000000u);
  EXPECT_FALSE(value.json);
  EXPECT_FALSE(value.more);
  EXPECT_FALSE(value.mapped);
  EXPECT_FALSE(value.untimed);
  EXPECT_EQ(value.form, OAE_SWAP_FORM_PUSHED);
}

TEST(Options, Forms) {
  EXPECT_EQ(parse({"swap", "--form", "streamed"}).value.form, OAE_SWAP_FORM_STREAMED);
  EXPECT_EQ(parse({"bench", "-fstreamed"}).value.form, OAE_SWAP_FORM_STREAMED);
  EXPECT_EQ(parse({"bench", "-f", "streamed", "-f", "pushed"}).value.form, OAE_SWAP_FORM_PUSHED);
  for (const char* wrong : {"", "1", "Streamed", "streamed ", "unknown"})
    EXPECT_FALSE(parse({"bench", "-f", wrong}).good) << "'" << wrong << "'";
}

TEST(Options, Mapped) {
  for (const char* command : {"info", "swap", "send", "bench", "stat"})
    for (const char* option : {"-M", "--mapped"}) {
      const options value = parse({command, option}).value;
      EXPECT_TRUE(value.mapped) << command;
      EXPECT_FALSE(value.more) << command;
    }
}

TEST(Options, Untimed) {
  for (const char* option : {"-u", "--untimed"}) {
    EXPECT_TRUE(parse({"bench", option}).value.untimed);
  }
}

TEST(Options, UntilDelivered) {
  EXPECT_FALSE(parse({"send", "1"}).value.until_delivered);
  for (const char* command : {"swap", "send"})
    for (const char* option : {"-D", "--until-delivered"})
      EXPECT_TRUE(parse({command, option, "1"}).value.until_delivered) << command;
}

TEST(Options, StandBeforeAndBehindTheCommand) {
  const options value =
      parse({"-d", "2", "bench", "--port=63", "-c65536", "-t", "0s", "-mj"}).value;
  EXPECT_EQ(value.command, COMMAND_BENCH);
  EXPECT_EQ(value.device, 2u);
  EXPECT_EQ(value.port, 63u);
  EXPECT_EQ(value.count, 65536u);
  EXPECT_EQ(value.timeout_ns, 0u);
  EXPECT_TRUE(value.json);
  EXPECT_TRUE(value.more);
}

TEST(Options, TimesHaveUnits) {
  EXPECT_EQ(parse({"swap", "-t", "7ns"}).value.timeout_ns, 7u);
  EXPECT_EQ(parse({"swap", "-t", "50us"}).value.timeout_ns, 50000u);
  EXPECT_EQ(parse({"swap", "-t", "10ms"}).value.timeout_ns, 10000000u);
  EXPECT_EQ(parse({"swap", "-t", "9223372036s"}).value.timeout_ns, 9223372036000000000u);
  for (const char* wrong : {"5", "", "s", "-1s", "1.5ms", "1 ms", "1min", "9223372037s"})
    EXPECT_FALSE(parse({"swap", "-t", wrong}).good) << wrong;
}

TEST(Options, PayloadWords) {
  const options value =
      parse({"swap", "1", "0xffffffffffffffff", "--more", "18446744073709551615"}).value;
  EXPECT_EQ(value.payload[0], 1u);
  EXPECT_EQ(value.payload[1], ~0ull);
  EXPECT_EQ(value.payload[2], ~0ull);
  EXPECT_EQ(value.payload[3], 0u);
  EXPECT_TRUE(parse({"swap", "1", "2", "3", "4", "5", "6"}).good);
  EXPECT_FALSE(parse({"swap", "1", "2", "3", "4", "5", "6", "7"}).good);
  for (const char* wrong : {"18446744073709551616", "x", "1x", "", " 1", "+1"})
    EXPECT_FALSE(parse({"swap", wrong}).good) << "'" << wrong << "'";
}

TEST(Options, Mistakes) {
  const std::vector<std::vector<std::string>> lines = {
      {},
      {"dance"},
      {"info", "7"},
      {"bench", "-c", "0"},
      {"bench", "-c", "65537"},
      {"bench", "-c", "-1"},
      {"bench", "-p", "64"},
      {"bench", "-d", "4294967296"},
      {"bench", "-c"},
      {"bench", "-f"},
      {"bench", "--colour"},
      {"bench", "-x"},
      {std::string(300, 'x')},
  };
  for (const auto& line : lines) {
    const Parsed parsed = parse(line);
    EXPECT_FALSE(parsed.good) << testing::PrintToString(line);
    EXPECT_FALSE(parsed.mistake.empty()) << testing::PrintToString(line);
  }
}

TEST(Options, AMistakeNamesItsCause) {
  EXPECT_NE(parse({"bench", "-c", "many"}).mistake.find("many"), std::string::npos);
  EXPECT_NE(parse({"bench", "--colour"}).mistake.find("--colour"), std::string::npos);
  EXPECT_NE(parse({"dance"}).mistake.find("dance"), std::string::npos);
}

}  // namespace
