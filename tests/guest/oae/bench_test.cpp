// SPDX-License-Identifier: Apache-2.0
// `oae bench` on a small model of a port.
#include "guest/oae/bench.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

/// Replaces the port of liboae: the answers of the swaps, and the counts of both sides.
struct oae_port {
  std::vector<int> errors;         ///< error of swap n; 0 for later ones
  std::vector<unsigned> statuses;  ///< status of swap n; OK for later ones
  std::vector<unsigned> tries;     ///< tries of swap n; 1 for later ones
  unsigned settles_after = 1;      ///< requests after which doubt is settled
  unsigned count_lag = 0;          ///< requests by which the counts are late
  int firmware_misses = 0;         ///< swaps that the firmware does not count
  int block_misses = 0;
  int firmware_error = 0;

  std::vector<oae_swap> swaps;
  oae_times times{};  // times of the last swap
  int times_error = 0;
  std::uint64_t committed = 40;  // swaps from before the benchmark
  unsigned asked = 0;
};

namespace {

constexpr std::uint8_t pushed = OAE_SWAP_FORM_PUSHED;

template <typename T>
T at(const std::vector<T>& values, std::size_t n, T otherwise) {
  return n < values.size() ? values[n] : otherwise;
}

void answer(oae_port* port, oae_swap* swap) {
  const std::size_t n = port->swaps.size() - 1;
  swap->status = static_cast<__u8>(at(port->statuses, n, unsigned{OAE_SWAP_STATUS_OK}));
  port->times = {800 + n, 700 + n, 900 + n};
  if (swap->status == OAE_SWAP_STATUS_OK) ++port->committed;
}

}  // namespace

int oae_port_swap(oae_port* port, oae_swap* swap) {
  port->swaps.push_back(*swap);
  const std::size_t n = port->swaps.size() - 1;
  if (const int error = at(port->errors, n, 0)) return error;
  swap->tries = at(port->tries, n, 1u);
  answer(port, swap);
  return 0;
}

int oae_port_settle(oae_port* port, oae_swap* swap) {
  if (++port->asked < port->settles_after) return -EIO;
  port->asked = 0;
  swap->reads = 1;
  answer(port, swap);
  return 0;
}

int oae_port_stats(oae_port* port, oae_stats* stats) {
  *stats = {};
  stats->committed = port->committed;
  if (!port->swaps.empty()) stats->committed -= port->block_misses;
  return 0;
}

int oae_port_firmware_stats(oae_port* port, oae_firmware_stats* stats) {
  *stats = {};
  stats->committed = port->committed;
  if (!port->swaps.empty()) {
    stats->committed -= port->firmware_misses;
    if (port->count_lag && port->count_lag--) stats->committed -= 1;
  }
  return port->firmware_error;
}

int oae_port_times(oae_port* port, oae_times* times) {
  if (!port->times_error) *times = port->times;
  return port->times_error;
}

int oae_port_read_times(oae_port* port, std::uint64_t* samples, std::uint32_t count) {
  if (port->times_error) return port->times_error;
  for (std::uint32_t i = 0; i < count; ++i) samples[i] = 600 + i;
  return 0;
}

namespace {

std::string printed(void (*print)(FILE*, const bench*), const bench& result) {
  char* text = nullptr;
  std::size_t size = 0;
  FILE* out = open_memstream(&text, &size);
  print(out, &result);
  fclose(out);
  std::string copy(text, size);
  free(text);
  return copy;
}

bench_plan plan(std::uint32_t count, std::uint64_t timeout_ns = 0, std::uint8_t form = pushed) {
  bench_plan plan{};
  plan.count = count;
  plan.timeout_ns = timeout_ns;
  plan.form = form;
  return plan;
}

bench_plan with_more(bench_plan plan) {
  plan.more = true;
  return plan;
}

TEST(Bench, AllCommittedAndAgreed) {
  oae_port port;
  bench result;
  ASSERT_EQ(bench_run(&port, plan(100, 5000), &result), 0);
  EXPECT_TRUE(bench_agrees(&result));
  EXPECT_EQ(result.committed, 100u);
  EXPECT_EQ(result.firmware_committed, 100u);
  EXPECT_EQ(result.block_committed, 100u);
  EXPECT_EQ(result.store.min, 800u);
  EXPECT_EQ(result.store.max, 899u);
  EXPECT_EQ(result.read.median, 749u);
  EXPECT_EQ(result.commit.p99, 998u);
  EXPECT_EQ(result.mmio_read.min, 600u);
  EXPECT_EQ(result.mmio_read.max, 699u);
  ASSERT_EQ(port.swaps.size(), 100u);
  EXPECT_EQ(port.swaps[99].timeout_ns, 5000u);
  EXPECT_EQ(port.swaps[99].flags, 0u);
  EXPECT_EQ(port.swaps[99].verb, OAE_SWAP_VERB_SWAP);
}

TEST(Bench, TimesThatAreHiddenAreLeftOut) {
  for (const int error : {-ENOENT, -EACCES}) {
    oae_port port;
    port.times_error = error;
    bench result;
    ASSERT_EQ(bench_run(&port, plan(10), &result), 0);
    EXPECT_TRUE(bench_agrees(&result));
    EXPECT_EQ(result.read.max, 0u);
    EXPECT_EQ(printed(bench_print, result).find("read of the device"), std::string::npos);
    EXPECT_NE(printed(bench_print, result).find("as its caller waits"), std::string::npos);
  }
  oae_port port;
  port.times_error = -EIO;
  bench result;
  EXPECT_EQ(bench_run(&port, plan(10), &result), -EIO);
}

TEST(Bench, WithoutTimesTheDriverIsNotAskedForThem) {
  oae_port port;
  port.times_error = -EIO;
  bench result;
  bench_plan ten = plan(10);
  ten.untimed = true;
  ASSERT_EQ(bench_run(&port, ten, &result), 0);
  EXPECT_TRUE(bench_agrees(&result));
  EXPECT_EQ(printed(bench_print, result).find("read of the device"), std::string::npos);
  EXPECT_NE(printed(bench_print, result).find("as its caller waits"), std::string::npos);
}

TEST(Bench, EachSwapHasTheForm) {
  for (const std::uint8_t form : {OAE_SWAP_FORM_PUSHED, OAE_SWAP_FORM_STREAMED}) {
    oae_port port;
    bench result;
    ASSERT_EQ(bench_run(&port, with_more(plan(3, 0, form)), &result), 0);
    for (const oae_swap& swap : port.swaps) EXPECT_EQ(swap.form, form);
    const std::string name = oae_form_name(form);
    EXPECT_NE(printed(bench_print, result).find("of 64 bytes, " + name), std::string::npos);
    EXPECT_EQ(nlohmann::json::parse(printed(bench_print_json, result))["form"], name);
  }
}

TEST(Bench, ReportsWhetherThePortWasMapped) {
  for (const bool mapped : {false, true}) {
    oae_port port;
    bench result;
    bench_plan three = plan(3);
    three.mapped = mapped;
    ASSERT_EQ(bench_run(&port, three, &result), 0);
    EXPECT_EQ(printed(bench_print, result).find("pushed, mapped") != std::string::npos, mapped);
    EXPECT_EQ(nlohmann::json::parse(printed(bench_print_json, result))["mapped"], mapped);
  }
}

TEST(Bench, CallsAreTimedByItsOwnClock) {
  oae_port port;
  port.statuses = {OAE_SWAP_STATUS_OK, OAE_SWAP_STATUS_NOT_READY};
  bench result;
  ASSERT_EQ(bench_run(&port, plan(3), &result), 0);
  EXPECT_LE(result.call.min, result.call.median);
  EXPECT_LE(result.call.median, result.call.max);
  const auto json = nlohmann::json::parse(printed(bench_print_json, result));
  EXPECT_EQ(json["swap_call_ns"]["max"], result.call.max);
}

TEST(Bench, MoreOnAllButTheLast) {
  oae_port port;
  bench result;
  ASSERT_EQ(bench_run(&port, with_more(plan(3)), &result), 0);
  EXPECT_EQ(port.swaps[0].flags, OAE_SWAP_FLAG_MORE);
  EXPECT_EQ(port.swaps[1].flags, OAE_SWAP_FLAG_MORE);
  EXPECT_EQ(port.swaps[2].flags, 0u);
}

TEST(Bench, WhatIsNotReadyIsNoSample) {
  oae_port port;
  port.statuses = {OAE_SWAP_STATUS_NOT_READY, OAE_SWAP_STATUS_OK, OAE_SWAP_STATUS_NOT_READY};
  bench result;
  ASSERT_EQ(bench_run(&port, plan(4), &result), 0);
  EXPECT_EQ(result.committed, 2u);
  EXPECT_EQ(result.not_ready, 2u);
  EXPECT_EQ(result.store.min, 801u);
  EXPECT_EQ(result.store.max, 803u);
  EXPECT_FALSE(bench_agrees(&result)) << "not all were committed";
}

TEST(Bench, DoubtIsSettledAndCounted) {
  oae_port port;
  port.errors = {0, -EIO};
  port.settles_after = 3;
  bench result;
  ASSERT_EQ(bench_run(&port, plan(3), &result), 0);
  EXPECT_EQ(result.committed, 3u);
  EXPECT_EQ(result.doubts, 1u);
  EXPECT_TRUE(bench_agrees(&result));
}

TEST(Bench, RetriesAreOffersBeyondTheFirst) {
  oae_port port;
  port.tries = {4, 1, 2};
  bench result;
  ASSERT_EQ(bench_run(&port, plan(3), &result), 0);
  EXPECT_EQ(result.retries, 4u);
}

TEST(Bench, WaitsForTheLastConfirmation) {
  oae_port port;
  port.count_lag = 5;
  bench result;
  ASSERT_EQ(bench_run(&port, plan(3), &result), 0);
  EXPECT_TRUE(bench_agrees(&result));
}

TEST(Bench, ACountThatDiffersIsReported) {
  for (const int misses : {1, -1}) {
    oae_port port;
    port.firmware_misses = misses;
    bench result;
    ASSERT_EQ(bench_run(&port, plan(3), &result), 0);
    EXPECT_FALSE(bench_agrees(&result));
    EXPECT_NE(printed(bench_print, result).find("DISAGREE"), std::string::npos);
    oae_port other;
    other.block_misses = misses;
    ASSERT_EQ(bench_run(&other, plan(3), &result), 0);
    EXPECT_FALSE(bench_agrees(&result));
  }
}

TEST(Bench, ErrorsEndIt) {
  oae_port port;
  port.errors = {0, -ENODEV};
  bench result;
  EXPECT_EQ(bench_run(&port, plan(3), &result), -ENODEV);
  EXPECT_EQ(port.swaps.size(), 2u);
  oae_port mute;
  mute.firmware_error = -ETIMEDOUT;
  EXPECT_EQ(bench_run(&mute, plan(3), &result), -ETIMEDOUT);
  EXPECT_TRUE(mute.swaps.empty());
}

TEST(Bench, PrintsForPeople) {
  oae_port port;
  bench result;
  ASSERT_EQ(bench_run(&port, plan(100), &result), 0);
  const std::string text = printed(bench_print, result);
  EXPECT_NE(text.find("committed 100 of 100"), std::string::npos) << text;
  EXPECT_NE(text.find("the firmware 100: agree"), std::string::npos) << text;
}

TEST(Bench, PrintsJson) {
  oae_port port;
  bench result;
  ASSERT_EQ(bench_run(&port, plan(100), &result), 0);
  const auto json = nlohmann::json::parse(printed(bench_print_json, result));
  EXPECT_EQ(json["count"], 100);
  EXPECT_EQ(json["committed"], 100);
  EXPECT_EQ(json["agree"], true);
  EXPECT_EQ(json["firmware_committed"], 100);
  EXPECT_EQ(json["swap_from_store_ns"]["median"], 849);
  EXPECT_EQ(json["swap_from_read_ns"]["p99"], 798);
  EXPECT_EQ(json["swap_until_valid_ns"]["max"], 999);
  EXPECT_EQ(json["mmio_read_ns"]["min"], 600);
}

}  // namespace
