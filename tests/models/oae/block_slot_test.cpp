// SPDX-License-Identifier: Apache-2.0
// The block sends a pushed answer by DMA, which may be refused or late, or it streams the answer.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "models/oae/block.h"
#include "tests/models/oae/fixture.h"

namespace {

TEST(Block, StreamsAnswersWithoutDma) {
  Fixture fixture;
  fixture.bus_master = false;
  fixture.run({[&] {
    fixture.write(0, OAE_HOST_PORT_CONTROL_AT(5), 1);
    const std::uint64_t window = Fixture::page(5, OAE_STREAM_WINDOW);
    Slot answer;
    const auto swap = [&](std::uint32_t sequence, bool once_more = false) {
      const Slot offer = make_slot(header(1, sequence), 20 + sequence);
      fixture.write(4, window, (once_more ? again(offer) : offer).data(), 64);
      Fixture::pass(100 * period);
      const vp::Picoseconds asked = vp::now();
      EXPECT_EQ(fixture.read(4, window, answer.data(), 64), tlm::TLM_OK_RESPONSE);
      EXPECT_TRUE(sealed(answer));
      return (fixture.completed - asked) / period;
    };
    EXPECT_LE(swap(1), 8) << "not ready";
    EXPECT_EQ(OAE_GET(answer[0], OAE_SLOT_HEADER_STATUS), std::uint64_t{OAE_STATUS_NOT_READY});
    fixture.publish(5, make_slot(header(1, 1), 1));
    EXPECT_LE(swap(1, true), 6);
    EXPECT_EQ(answer, make_slot(header(1, 1), 1));
    fixture.publish(5, make_slot(header(1, 2), 2));
    for (unsigned i = 0; i < 8; ++i) {
      EXPECT_EQ(fixture.read(4, window + 8 * i), answer[i]) << "in pieces";
    }
    std::uint8_t bytes[64] = {};
    EXPECT_EQ(fixture.read(4, window + 3, bytes + 3, 33), tlm::TLM_OK_RESPONSE);
    EXPECT_EQ(std::memcmp(bytes + 3, reinterpret_cast<const char*>(answer.data()) + 3, 33), 0);
    EXPECT_EQ(bytes[2] | bytes[36], 0) << "what was not asked for";
    fixture.write(4, Fixture::page(5, OAE_STREAM_CONFIRM),
                  confirmation(make_slot(header(1, 1), 1)[0]));
    EXPECT_LE(swap(2), 6);
    EXPECT_EQ(answer, make_slot(header(1, 2), 2));
  }});
  EXPECT_TRUE(fixture.buffers.empty());
  const nlohmann::json counters = fixture.statistics.json()["counters"];
  EXPECT_EQ(counters["fixture.oae.exchanged"], 2);
  EXPECT_EQ(counters["fixture.oae.committed"], 1);
  EXPECT_EQ(counters["fixture.oae.slots_written"], 0);
  EXPECT_EQ(counters["fixture.oae.slots_refused"], 0);
}

TEST(Block, ReportsRefusedDma) {
  Fixture fixture;
  fixture.run({[&] {
    fixture.begin_swap();
    fixture.bus_master = false;
    const std::uint64_t refused = fixture.read(2, OAE_PORT_PUSHED_ANSWER);
    EXPECT_EQ(OAE_GET(refused, OAE_SLOT_HEADER_STATUS), std::uint64_t{OAE_STATUS_NOT_READY});
    EXPECT_EQ(OAE_GET(refused, OAE_SLOT_HEADER_SEQUENCE), 0u);
    EXPECT_TRUE(fixture.buffers.empty());
    fixture.bus_master = true;
    fixture.write(2, OAE_PORT_WINDOW, again(make_slot(header(1, 1), 2)).data(), 64);
    EXPECT_EQ(OAE_GET(fixture.read(2, OAE_PORT_PUSHED_ANSWER), OAE_SLOT_HEADER_SEQUENCE), 1u);
  }});
  EXPECT_EQ(fixture.statistics.json()["counters"]["fixture.oae.slots_refused"], 1);
}

// Until then the firmware goes on, reads of the host wait, and the clock runs for the firmware
// only.
TEST(Block, KeepsASlotUntilTheHostAcceptsIt) {
  Fixture fixture;
  std::uint64_t asked = 0, answered = 0, made = 0, got = 0;
  std::uint64_t header_seen = 0;
  fixture.run({[&] {
                 for (unsigned sequence : {1u, 2u}) {
                   if (sequence == 1) fixture.open(0);
                   fixture.publish(0, make_slot(header(1, sequence), sequence));
                   fixture.write(2, OAE_PORT_WINDOW, make_slot(header(1, sequence), 5).data(), 64);
                   Fixture::pass(100 * period);
                   fixture.full = true;
                   fixture.bus_master = true;
                   ++asked;
                   header_seen = fixture.read(2, OAE_PORT_PUSHED_ANSWER);
                   ++answered;
                   EXPECT_LE(vp::now() - made, 4 * period);
                   EXPECT_EQ(OAE_GET(header_seen, OAE_SLOT_HEADER_SEQUENCE), sequence);
                   fixture.write(2, OAE_PORT_CONFIRM, confirmation(header_seen));
                 }
               },
               [&] {
                 for (unsigned sequence : {1u, 2u}) {
                   while (asked < sequence) Fixture::pass(10 * period);
                   Fixture::pass(100 * period);
                   const std::uint64_t clocks = fixture.block->clocks();
                   Fixture::pass(10 * vp::us);
                   EXPECT_EQ(fixture.block->clocks(), clocks);
                   EXPECT_EQ(answered, sequence - 1);
                   EXPECT_EQ(got, sequence) << "the firmware goes on";
                   EXPECT_EQ(fixture.buffers.size(), sequence - 1);
                   fixture.bus_master = sequence == 1;
                   made = vp::now();
                   fixture.make_room();
                 }
               },
               [&] {
                 for (unsigned sequence : {1u, 2u}) {
                   while (asked < sequence) Fixture::pass(10 * period);
                   Fixture::pass(50 * period);
                   EXPECT_TRUE(OAE_GET(fixture.get(OAE_FIRMWARE_STATUS_AT(0)),
                                       OAE_FIRMWARE_STATUS_TENTATIVE))
                       << "the exchange has taken place";
                   ++got;
                 }
               },
               [&] {
                 for (unsigned sequence : {1u, 2u}) {
                   while (asked < sequence) Fixture::pass(10 * period);
                   Fixture::pass(60 * period);
                   fixture.read(0, OAE_HOST_ID);
                   EXPECT_EQ(answered, sequence) << "a later read waits for the slot";
                 }
               }});
  EXPECT_EQ(fixture.buffers.at(Fixture::buffer_of(0)), make_slot(header(1, 1), 1));
  const nlohmann::json counters = fixture.statistics.json()["counters"];
  EXPECT_EQ(counters["fixture.oae.slots_written"], 1);
  EXPECT_EQ(counters["fixture.oae.slots_refused"], 1);
  EXPECT_EQ(counters["fixture.oae.exchanged"], 2);
}

// Otherwise two cards that write to each other could wait for each other. One read is on the pins
// when the slot begins to wait, and one comes later.
TEST(Block, WritesPassReadsThatWaitForASlot) {
  Fixture fixture;
  bool asked = false, answered = false;
  unsigned reads = 0;
  const auto read_after = [&](vp::Picoseconds pause) {
    return [&, pause] {
      while (!asked) Fixture::pass(period);
      Fixture::pass(pause);
      fixture.read(0, OAE_HOST_ID);
      EXPECT_TRUE(answered);
      ++reads;
    };
  };
  fixture.run({[&] {
                 fixture.begin_swap();
                 fixture.full = true;
                 asked = true;
                 fixture.read(2, OAE_PORT_PUSHED_ANSWER);
                 answered = true;
               },
               read_after(period), read_after(50 * period),
               [&] {
                 while (!asked) Fixture::pass(period);
                 Fixture::pass(100 * period);
                 for (unsigned i = 0; i < 100; ++i) fixture.write(0, OAE_HOST_LIVENESS_LIMIT, 7);
                 fixture.write(2, OAE_PORT_CONFIRM, confirmation(make_slot(header(1, 1), 1)[0]));
                 Fixture::pass(200 * period);
                 EXPECT_TRUE(OAE_GET(fixture.get(OAE_FIRMWARE_STATUS_AT(0)),
                                     OAE_FIRMWARE_STATUS_COMMITTED));
                 EXPECT_FALSE(answered || reads);
                 fixture.make_room();
               }});
  EXPECT_EQ(reads, 2u);
}

TEST(Block, AcceptsNoMoreWritesThanItHasRoomFor) {
  Fixture fixture;
  fixture.run({[&] {
    std::vector<vp::Picoseconds> taken;
    for (std::uint64_t i = 0; i < 100; ++i) {
      fixture.write(0, OAE_HOST_LIVENESS_LIMIT, i);
      taken.push_back(vp::now());
    }
    EXPECT_EQ(std::count(taken.begin(), taken.end(), 0), 32);
    for (unsigned i = 33; i < 100; ++i) EXPECT_EQ(taken[i] - taken[i - 1], 3 * period) << i;
    EXPECT_EQ(fixture.read(0, OAE_HOST_LIVENESS_LIMIT), 99u);
  }});
}

}  // namespace
