// SPDX-License-Identifier: Apache-2.0
#include "options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace {

using testing::HasSubstr;

struct Parsed {
  bool good;
  options value;
  std::string said;
};

Parsed parse(std::vector<std::string> words, unsigned cpus = 4) {
  words.insert(words.begin(), "serve");
  std::vector<char*> argv;
  for (auto& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  Parsed parsed{};
  testing::internal::CaptureStderr();
  parsed.good = options_read(static_cast<int>(words.size()), argv.data(), cpus, &parsed.value);
  parsed.said = testing::internal::GetCapturedStderr();
  return parsed;
}

TEST(WorkloadOptions, HaveDefaults) {
  for (const unsigned cpus : {1u, 4u, 64u}) {
    const Parsed parsed = parse({}, cpus);
    ASSERT_TRUE(parsed.good) << parsed.said;
    EXPECT_EQ(parsed.value.command, COMMAND_SERVE);
    EXPECT_EQ(parsed.value.service, &service_spinner);
    EXPECT_EQ(parsed.value.load.interval_ps, 100'000'000u);
    EXPECT_EQ(parsed.value.load.long_share, 0u);
    EXPECT_EQ(parsed.value.service_options.get_ns, 10'000u);
    EXPECT_EQ(parsed.value.service_options.range_ns, 5'000'000u);
    EXPECT_EQ(parsed.value.rest_ns, 15'000u);
    EXPECT_EQ(parsed.value.dispatcher_cpus, std::uint64_t{1} << (cpus - 1));
    EXPECT_EQ(parsed.value.worker_cpus, 0u);
    EXPECT_EQ(parsed.value.churn_rate, 0u);
    EXPECT_EQ(parsed.value.churn_kinds, unsigned{CHURN_ALL});
    EXPECT_EQ(parsed.value.churn_cpu, -1);
    EXPECT_EQ(parsed.value.device, nullptr);
  }
}

TEST(WorkloadOptions, AreTaken) {
  const Parsed parsed = parse({"--rate",
                               "1.5M",
                               "--count",
                               "7",
                               "--warm-up",
                               "2",
                               "--ranges",
                               "50%",
                               "--limit",
                               "200us",
                               "--seed",
                               "9",
                               "--ring",
                               "128",
                               "--function",
                               "/f",
                               "--service",
                               "rocksdb",
                               "--get",
                               "1us",
                               "--exponential",
                               "2us",
                               "--range",
                               "3us",
                               "--database",
                               "/d",
                               "--keys",
                               "5",
                               "--range-keys",
                               "5",
                               "--workers",
                               "200",
                               "--rest",
                               "0us",
                               "--dispatcher-cpus",
                               "2-3",
                               "--worker-cpus",
                               "0",
                               "--churn",
                               "10k",
                               "--churn-kinds",
                               "nice,die",
                               "--churn-cpu",
                               "1",
                               "--patience",
                               "2ms"});
  ASSERT_TRUE(parsed.good) << parsed.said;
  const options& value = parsed.value;
  EXPECT_EQ(value.load.interval_ps, 666'667u) << "rounded";
  EXPECT_EQ(value.load.count, 7u);
  EXPECT_EQ(value.load.warm_up, 2u);
  EXPECT_EQ(value.load.long_share, 0x8000'0000u);
  EXPECT_EQ(value.load.limit_ps, 200'000'000u);
  EXPECT_EQ(value.load.seed, 9u);
  EXPECT_EQ(value.service_options.seed, 9u);
  EXPECT_EQ(value.ring, 128u);
  EXPECT_STREQ(value.device, "/f");
  EXPECT_EQ(value.service, &service_rocksdb);
  EXPECT_EQ(value.service_options.get_ns, 1'000u);
  EXPECT_EQ(value.service_options.exponential_ns, 2'000u);
  EXPECT_EQ(value.service_options.range_ns, 3'000u);
  EXPECT_STREQ(value.service_options.database, "/d");
  EXPECT_EQ(value.service_options.keys, 5u);
  EXPECT_EQ(value.service_options.range_keys, 5u);
  EXPECT_EQ(value.workers, 200u);
  EXPECT_EQ(value.rest_ns, 0u);
  EXPECT_EQ(value.dispatcher_cpus, 12u);
  EXPECT_EQ(value.worker_cpus, 1u);
  EXPECT_EQ(value.churn_rate, 10'000u);
  EXPECT_EQ(value.churn_kinds, 1u << CHURN_NICE | 1u << CHURN_DIE);
  EXPECT_EQ(value.churn_cpu, 1);
  EXPECT_EQ(value.patience_ns, 2'000'000u);
}

TEST(WorkloadOptions, FillADatabase) {
  const Parsed parsed = parse({"fill", "--database", "/d", "--keys", "2000"});
  ASSERT_TRUE(parsed.good) << parsed.said;
  EXPECT_EQ(parsed.value.command, COMMAND_FILL);
  EXPECT_STREQ(parsed.value.service_options.database, "/d");
  EXPECT_THAT(parse({"fill"}).said, HasSubstr("--database names the folder"));
}

TEST(WorkloadOptions, FindSaturation) {
  const Parsed parsed = parse({"saturate", "--from", "1k", "--to", "2k", "--time", "3ms"});
  ASSERT_TRUE(parsed.good) << parsed.said;
  EXPECT_EQ(parsed.value.command, COMMAND_SATURATE);
  EXPECT_EQ(parsed.value.load.limit_ps, 200'000'000u);
  EXPECT_EQ(parsed.value.load.warm_up, 500u);
  EXPECT_EQ(parse({"saturate", "--warm-up", "7"}).value.load.warm_up, 7u);
  EXPECT_EQ(parsed.value.saturation.low, 1'000u);
  EXPECT_EQ(parsed.value.saturation.high, 2'000u);
  EXPECT_EQ(parsed.value.saturation.time_ns, 3'000'000u);
  EXPECT_THAT(parse({"saturate", "--limit", "0us"}).said, HasSubstr("needs a --limit above 0"));
  EXPECT_THAT(parse({"saturate", "--from", "3M"}).said, HasSubstr("--from cannot be above --to"));
}

TEST(WorkloadOptions, Help) {
  EXPECT_EQ(parse({"--help"}).value.command, COMMAND_HELP);
  EXPECT_EQ(parse({"fill", "-h"}).value.command, COMMAND_HELP);
}

TEST(WorkloadOptions, MistakesAreExplained) {
  const std::pair<std::vector<std::string>, const char*> mistakes[] = {
      {{"--rate", "0"}, "no rate from 1"},
      {{"--rate", "fast"}, "such as 20k: fast"},
      {{"--count", "0"}, "no number from 1 to 4294967295: 0"},
      {{"--ranges", "0.5"}, "such as 0.5%: 0.5"},
      {{"--ring", "1"}, "no number from 2 to 65536: 1"},
      {{"--ring", "96"}, "no power of two: 96"},
      {{"--ring", "131072"}, "no number from 2 to 65536"},
      {{"--service", "best"}, "no such service: best"},
      {{"--service", "rocksdb"}, "--database names the folder"},
      {{"fill", "--database", "/d", "--keys", "999"}, "more records"},
      {{"--get", "10"}, "such as 15us: 10"},
      {{"--workers", "1025"}, "no number from 0 to 1024: 1025"},
      {{"--workers", "1", "--dispatcher-cpus", "0-1"}, "a worker of its own"},
      {{"--dispatcher-cpus", "4"}, "no list of CPUs from 0 to 3: 4"},
      {{"--dispatcher-cpus", "1", "--worker-cpus", "0-1"}, "cannot run workers"},
      {{"--worker-cpus", "3"}, "cannot run workers"},
      {{"--churn", "x"}, "no rate from 0"},
      {{"--churn", "1", "--workers", "0"}, "--churn needs workers"},
      {{"--churn-kinds", "die,"}, "no list of die, affinity, class and nice: die,"},
      {{"--churn-kinds", "di"}, "no list of die"},
      {{"--churn-cpu", "4"}, "no number from 0 to 3: 4"},
      {{"--patience", "0s"}, "--patience cannot be 0"},
      {{"now"}, "no option: now"},
      {{"--slow"}, "Try: serve --help"},
  };
  for (const auto& [words, text] : mistakes) {
    const Parsed parsed = parse(words);
    EXPECT_FALSE(parsed.good) << text;
    EXPECT_THAT(parsed.said, HasSubstr(text));
    EXPECT_THAT(parsed.said, HasSubstr("Try: serve --help"));
  }
}

}  // namespace
