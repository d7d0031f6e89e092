// SPDX-License-Identifier: Apache-2.0
extern "C" {
#include "guest/scheduling/schedule/options.h"
}

#include <getopt.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace {

struct Read {
  bool good;
  options value;
  std::string mistake;
  std::vector<std::string> command;
};

Read read(std::vector<std::string> words, unsigned cpus = 4) {
  words.insert(words.begin(), "schedule");
  std::vector<char*> argv;
  for (auto& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  Read result{};
  optind = 0;  // getopt_long() starts afresh
  testing::internal::CaptureStderr();
  result.good = options_read(static_cast<int>(words.size()), argv.data(), cpus, &result.value);
  result.mistake = testing::internal::GetCapturedStderr();
  for (char** word = result.value.command; word && *word; ++word) result.command.push_back(*word);
  result.value.command = nullptr;
  return result;
}

TEST(Options, WithoutAnOptionTheAgentHasCpu0AndTheOthersRunTheTasks) {
  const Read plain = read({"sleep", "1"});
  EXPECT_TRUE(plain.good);
  EXPECT_EQ(plain.mistake, "");
  EXPECT_EQ(plain.value.policy.kind, POLICY_FIFO_CENTRAL);
  EXPECT_EQ(plain.value.policy.cpus, 0xeu);
  EXPECT_EQ(plain.value.agent_cpu, 0u);
  EXPECT_EQ(plain.value.policy.prestage_percent, 0u);
  EXPECT_EQ(plain.command, (std::vector<std::string>{"sleep", "1"}));
  EXPECT_EQ(read({"true"}, 64).value.policy.cpus, ~uint64_t{1});
}

TEST(Options, Policies) {
  EXPECT_EQ(read({"-p", "fifo-per-cpu", "true"}).value.policy.kind, POLICY_FIFO_PER_CPU);
  EXPECT_EQ(read({"--policy=shinjuku", "true"}).value.policy.kind, POLICY_SHINJUKU);
  EXPECT_EQ(read({"-p", "vm", "-P", "true"}).value.policy.kind, POLICY_VM);
  EXPECT_EQ(read({"-p", "vm", "-P", "true"}).value.policy.prestage_percent, 100u);
  EXPECT_EQ(read({"--prestage", "true"}).value.policy.prestage_percent, 100u);
  for (const unsigned percent : {0, 1, 25, 100}) {
    const std::string share = std::to_string(percent) + "%";
    EXPECT_EQ(read({"--prestage=" + share, "true"}).value.policy.prestage_percent, percent);
    EXPECT_EQ(read({"-P" + share, "true"}).value.policy.prestage_percent, percent);
  }
  for (const char* text : {"", "%", "25", "101%", "-1%", "1000%", "2.5%", "25%%"})
    EXPECT_NE(
        read({"--prestage=" + std::string(text), "true"}).mistake.find("no share from 0% to 100%"),
        std::string::npos)
        << text;
  EXPECT_NE(read({"-p", "cfs", "true"}).mistake.find("no such policy: cfs"), std::string::npos);
}

TEST(Options, AnAgentElsewhereNeedsNoCpu) {
  EXPECT_EQ(read({"true"}).value.transport, nullptr);
  const Read elsewhere = read({"--transport", "queue", "true"}, 1);
  ASSERT_TRUE(elsewhere.good) << elsewhere.mistake;
  EXPECT_EQ(elsewhere.value.policy.cpus, 1u);
  EXPECT_EQ(read({"-t", "123456789012345", "true"}, 3).value.policy.cpus, 7u);
  EXPECT_EQ(read({"-t", "queue", "-c", "0-1", "true"}, 3).value.policy.cpus, 3u);
  for (const char* name : {"", "1234567890123456"})
    EXPECT_NE(read({"-t", name, "true"}).mistake.find("no name of 1 to 15 letters"),
              std::string::npos);
  EXPECT_NE(read({"-t", "queue", "-a", "1", "true"}).mistake.find("--agent-cpu is for"),
            std::string::npos);
}

TEST(Options, ATraceHasRoomForItsRecords) {
  EXPECT_EQ(read({"true"}).value.trace, nullptr);
  EXPECT_STREQ(read({"--trace", "file", "true"}).value.trace, "file");
  EXPECT_EQ(read({"-T", "file", "true"}).value.records, 100'000u);
  EXPECT_EQ(read({"-T", "file", "-R", "16777216", "true"}).value.records, 16'777'216u);
  for (const char* text : {"", "0", "16777217", "1k", "-1"})
    EXPECT_NE(read({"-T", "file", "-R", text, "true"}).mistake.find("no number from 1 to 16777216"),
              std::string::npos);
  EXPECT_NE(read({"-R", "5", "true"}).mistake.find("--records is for --trace"), std::string::npos);
}

TEST(Options, Watchdog) {
  EXPECT_EQ(read({"true"}).value.settings.patience, 0u);
  EXPECT_EQ(read({"-t", "queue", "true"}).value.settings.patience, 20'000'000u);
  EXPECT_EQ(read({"-t", "queue", "-w", "off", "true"}).value.settings.patience, 0u);
  EXPECT_EQ(read({"-w", "1ms", "-t", "queue", "true"}).value.settings.patience, 1'000'000u);
  EXPECT_EQ(read({"--watchdog", "100us", "true"}).value.settings.patience, 100'000u);
  for (const char* time : {"0ms", "5", "never"})
    EXPECT_NE(read({"-w", time, "true"}).mistake.find("and not \"off\""), std::string::npos);
}

TEST(Options, TheWatchdogGoesByOneOfTwoSigns) {
  EXPECT_EQ(read({"true"}).value.settings.watchdog, unsigned{WATCHDOG_BY_WAITING});
  EXPECT_EQ(read({"-b", "waiting", "true"}).value.settings.watchdog, unsigned{WATCHDOG_BY_WAITING});
  EXPECT_EQ(
      read({"--watchdog-by", "liveness", "--watchdog", "20ms", "true"}).value.settings.watchdog,
      unsigned{WATCHDOG_BY_LIVENESS});
  EXPECT_EQ(read({"-b", "liveness", "-t", "queue", "true"}).mistake, "");
  for (const char* off : {"--prestage", "--watchdog=off"}) {
    EXPECT_NE(read({"-b", "liveness", off, "true"}).mistake.find("needs the time of a --watchdog"),
              std::string::npos);
  }
  EXPECT_NE(read({"-b", "life", "true"}).mistake.find("neither waiting nor liveness: life"),
            std::string::npos);
}

TEST(Options, Rules) {
  EXPECT_EQ(read({"true"}).value.settings.rule, unsigned{RULE_BARRIER});
  EXPECT_EQ(read({"-t", "queue", "true"}).value.settings.rule, unsigned{RULE_BARRIER});
  EXPECT_EQ(read({"-t", "port", "true"}).value.settings.rule, unsigned{RULE_OWNER});
  EXPECT_EQ(read({"-r", "barrier", "-t", "port", "true"}).value.settings.rule,
            unsigned{RULE_BARRIER});
  EXPECT_EQ(read({"-t", "queue", "--rule", "owner", "true"}).value.settings.rule,
            unsigned{RULE_OWNER});
  EXPECT_NE(read({"-r", "both", "true"}).mistake.find("no such rule: both"), std::string::npos);
}

TEST(Options, TimeSlices) {
  EXPECT_EQ(read({"-p", "shinjuku", "true"}).value.policy.time_slice, 30'000u);
  EXPECT_EQ(read({"-p", "vm", "true"}).value.policy.time_slice, 10'000'000u);
  EXPECT_EQ(read({"-p", "vm", "-s", "5ms", "true"}).value.policy.time_slice, 5'000'000u);
  EXPECT_EQ(read({"-p", "shinjuku", "-s", "700ns", "true"}).value.policy.time_slice, 700u);
  for (const char* text : {"", "5", "0us", "-1us", "5 us", "5usec", "us", "99999999999999999999us"})
    EXPECT_FALSE(read({"-p", "vm", "-s", text, "true"}).good) << text;
  EXPECT_FALSE(read({"-s", "5ms", "true"}).good);  // this policy has none
}

TEST(Options, Cpus) {
  EXPECT_EQ(read({"-c", "1,3", "true"}).value.policy.cpus, 0xau);
  EXPECT_EQ(read({"-c", "1-3", "true"}).value.policy.cpus, 0xeu);
  EXPECT_EQ(read({"-c", "0-1,3", "-a", "2", "true"}).value.policy.cpus, 0xbu);
  for (const char* text : {"", "4", "3-1", "1-", "-1", "1,", "1;2", "1-4", "x"})
    EXPECT_FALSE(read({"-c", text, "true"}).good) << text;
  EXPECT_FALSE(read({"-c", "0-3", "true"}).good);  // the agent's CPU is among them
  EXPECT_FALSE(read({"-a", "4", "true"}).good);
  EXPECT_FALSE(read({"-a", "1x", "true"}).good);
  EXPECT_FALSE(read({"true"}, 1).good);
}

TEST(Options, TheOptionsOfTheCommandAreItsOwn) {
  EXPECT_EQ(read({"-P", "sh", "-c", "x", "-P"}).command,
            (std::vector<std::string>{"sh", "-c", "x", "-P"}));
  EXPECT_EQ(read({"--", "-c"}).command, (std::vector<std::string>{"-c"}));
  EXPECT_FALSE(read({}).good);
  EXPECT_FALSE(read({"--priority", "true"}).good);
  EXPECT_TRUE(read({"--help"}, 1).good);
  EXPECT_TRUE(read({"--help"}, 1).value.help);
}

}  // namespace
