// SPDX-License-Identifier: Apache-2.0
#include "models/oae/block.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "tests/in_child.h"
#include "tests/models/oae/fixture.h"
#include "vp/time/decoupled.h"

namespace {

constexpr vp::Picoseconds period = 2 * vp::ns;  // the period of the default clock

Header header(std::uint8_t epoch, std::uint32_t sequence, std::uint8_t flags = 0) {
  Header header;
  header.epoch = epoch;
  header.sequence = sequence;
  header.flags = flags;
  return header;
}

std::string contents(const std::string& path) {
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

struct TemporaryFile {
  explicit TemporaryFile(const std::string& name)
      : path(testing::TempDir() + "oae_block_test_" + std::to_string(::getpid()) + name) {}
  ~TemporaryFile() { std::remove(path.c_str()); }
  const std::string path;
};

TEST(Block, SwapsThroughItsSockets) {
  const TemporaryFile file(".trace");
  Fixture fixture({8, 500'000'000, 4, ""}, file.path);
  const Slot host = make_slot(header(1, 1), 1);
  const Slot firmware = make_slot(header(1, 1), 2);
  fixture.access.traffic_class = 3;
  fixture.run({[&] {
    fixture.open(5);
    fixture.put(OAE_FIRMWARE_IRQ_ENABLE, 1u << 5);
    fixture.publish(5, firmware);
    EXPECT_EQ(fixture.write(2, Fixture::page(5, OAE_PORT_WINDOW), host.data(), 64),
              tlm::TLM_OK_RESPONSE);
    EXPECT_EQ(fixture.read(2, Fixture::page(5, OAE_PORT_PUSHED_ANSWER)), firmware[0]);
    EXPECT_EQ(fixture.buffers.at(Fixture::buffer_of(5)), firmware);
    EXPECT_LT(fixture.stored, fixture.completed) << "the answer goes first";
    EXPECT_EQ(fixture.stored_class, 3u);
    fixture.write(2, Fixture::page(5, OAE_PORT_CONFIRM), confirmation(host[0]));
    Fixture::pass(10 * period);  // the write is posted
    for (unsigned i = 0; i < 8; ++i) {
      EXPECT_EQ(fixture.get(OAE_FIRMWARE_COMMITTED_AT(5) + 8 * i), host[i]);
    }
    EXPECT_EQ(fixture.get(OAE_FIRMWARE_IRQ_STATUS), 1u << 5);
    fixture.put(OAE_FIRMWARE_EVENT_AT(5), ~std::uint64_t{0});
  }});
  // The event `opened` raises it once it is enabled. Clearing all events lowers it.
  ASSERT_EQ(fixture.lines.size(), 2u);
  EXPECT_EQ(fixture.lines[0].number, 4u);
  EXPECT_TRUE(fixture.lines[0].level);
  EXPECT_FALSE(fixture.lines[1].level);
  const nlohmann::json counters = fixture.statistics.json()["counters"];
  EXPECT_EQ(counters["fixture.oae.exchanged"], 1);
  EXPECT_EQ(counters["fixture.oae.committed"], 1);
  EXPECT_EQ(counters["fixture.oae.slots_written"], 1);
  EXPECT_EQ(counters["fixture.oae.slots_refused"], 0);

  fixture.trace.close();
  std::istringstream lines(contents(file.path));
  std::string line;
  std::getline(lines, line);  // the line with versions
  const char* const expected[] = {
      R"("swap":"fixture.oae","port":5,"epoch":1,"seq":0,"from":"history_lost","to":"idle"})",
      R"("swap":"fixture.oae","port":5,"epoch":1,"seq":1,"from":"idle","to":"tentative"})",
      R"("swap":"fixture.oae","port":5,"epoch":1,"seq":1,"from":"tentative","to":"committed"})"};
  for (const char* const rest : expected) {
    ASSERT_TRUE(std::getline(lines, line));
    EXPECT_THAT(line, testing::EndsWith(rest));
    const vp::Picoseconds time = nlohmann::json::parse(line)["t"];
    EXPECT_EQ(time % period, 0) << line;
  }
  EXPECT_FALSE(std::getline(lines, line));
}

TEST(Block, StopsItsClockWhileIdle) {
  Fixture fixture;
  fixture.run({[&] {
    EXPECT_TRUE(fixture.block->clock_stopped());
    EXPECT_EQ(fixture.domain.next_event(), vp::never);
    Fixture::pass(vp::ms);
    EXPECT_EQ(fixture.block->clocks(), 0u);
    fixture.write(0, OAE_HOST_PORT_CONTROL_AT(0), 1);
    EXPECT_FALSE(fixture.block->clock_stopped());
    Fixture::pass(100 * period);
    EXPECT_TRUE(fixture.block->clock_stopped());
    EXPECT_EQ(fixture.domain.next_event(), vp::never);
    const std::uint64_t clocks = fixture.block->clocks();
    EXPECT_LT(clocks, 10u);
    fixture.get(OAE_FIRMWARE_STATUS_AT(0));
    Fixture::pass(vp::ms);
    EXPECT_LT(fixture.block->clocks(), clocks + 10);
  }});
}

TEST(Block, AgesWhileItsClockIsStopped) {
  Fixture fixture;
  fixture.run({[&] {
    Fixture::pass(100 * period + 1);
    fixture.put(OAE_FIRMWARE_LIVENESS, 7);
    const vp::Picoseconds written = vp::now();
    Fixture::pass(vp::s);
    const std::uint64_t first = fixture.read(0, OAE_HOST_LIVENESS);
    EXPECT_EQ(OAE_GET(first, OAE_HOST_LIVENESS_COUNT), 7u);
    // The register was written two clocks before its response, and read one before its completion.
    const auto age = static_cast<std::int64_t>(OAE_GET(first, OAE_HOST_LIVENESS_AGE));
    EXPECT_NEAR(age, (fixture.completed - written) / period, 3);
    // The same again, exact to the clock
    const vp::Picoseconds before = fixture.completed;
    Fixture::pass(12'345 * vp::ns + 678);
    const std::uint64_t second = fixture.read(0, OAE_HOST_LIVENESS);
    EXPECT_EQ(OAE_GET(second, OAE_HOST_LIVENESS_AGE) - OAE_GET(first, OAE_HOST_LIVENESS_AGE),
              static_cast<std::uint64_t>((fixture.completed - before) / period));
  }});
}

TEST(Block, WakesForADeadline) {
  Fixture fixture;
  constexpr unsigned limit = 5'000'000;
  fixture.run({[&] {
    fixture.open(2);
    fixture.write(0, OAE_HOST_PORT_TENTATIVE_LIMIT_AT(2), limit);
    fixture.write(0, OAE_HOST_PORT_EVENT_AT(2),
                  OAE_PUT(OAE_HOST_PORT_EVENT_VECTOR, 9) | OAE_HOST_PORT_EVENT_CONFIRM_ENABLE_MASK);
    fixture.publish(2, make_slot(header(1, 1), 1));
    fixture.write(2, Fixture::page(2, OAE_PORT_WINDOW), make_slot(header(1, 1), 2).data(), 64);
    fixture.read(2, Fixture::page(2, OAE_PORT_PUSHED_ANSWER));
    const vp::Picoseconds exchanged = fixture.stored;
    Fixture::pass(50 * period);
    EXPECT_TRUE(fixture.block->clock_stopped()) << "a deadline alone does not run the clock";
    EXPECT_EQ(fixture.domain.next_event(), exchanged + (limit + 1) * period);
    Fixture::pass(limit * period);
    ASSERT_EQ(fixture.signals.size(), 1u);
    EXPECT_EQ(fixture.signals[0].second, 9u);
    EXPECT_GT(fixture.signals[0].first, exchanged + limit * period);
    // The block examines all ports, three clocks each.
    EXPECT_LT(fixture.signals[0].first, exchanged + (limit + 40) * period);
    Fixture::pass(3 * limit * period);
    ASSERT_EQ(fixture.signals.size(), 4u) << "it asks again";
    for (std::size_t i = 1; i < 4; ++i) {
      const vp::Picoseconds pause = fixture.signals[i].first - fixture.signals[i - 1].first;
      EXPECT_GT(pause, limit * period);
      EXPECT_LT(pause, (limit + 40) * period);
    }
    fixture.write(2, Fixture::page(2, OAE_PORT_CONFIRM),
                  confirmation(make_slot(header(1, 1), 1)[0]));
    Fixture::pass(2 * limit * period);
    EXPECT_EQ(fixture.signals.size(), 4u);
    EXPECT_EQ(fixture.domain.next_event(), vp::never);
  }});
}

TEST(Block, AnInputBeforeADeadlineDoesNotWaitForIt) {
  Fixture fixture;
  fixture.run({[&] {
    fixture.open(2);
    fixture.write(0, OAE_HOST_PORT_TENTATIVE_LIMIT_AT(2), 5'000'000);
    fixture.write(0, OAE_HOST_PORT_EVENT_AT(2),
                  OAE_PUT(OAE_HOST_PORT_EVENT_VECTOR, 9) | OAE_HOST_PORT_EVENT_CONFIRM_ENABLE_MASK);
    fixture.publish(2, make_slot(header(1, 1), 1));
    fixture.write(2, Fixture::page(2, OAE_PORT_WINDOW), make_slot(header(1, 1), 2).data(), 64);
    fixture.read(2, Fixture::page(2, OAE_PORT_PUSHED_ANSWER));
    Fixture::pass(50 * period);
    ASSERT_NE(fixture.domain.next_event(), vp::never);

    vp::Picoseconds start = vp::now();
    fixture.read(2, Fixture::page(2, OAE_PORT_STATUS));
    EXPECT_LE(fixture.completed - start, 10 * period);
    Fixture::pass(50 * period);
    start = vp::now();
    fixture.get(OAE_FIRMWARE_STATUS_AT(2));
    EXPECT_LE(vp::now() - start, 10 * period);
    Fixture::pass(50 * period);
    fixture.write(
        2, Fixture::page(2, OAE_PORT_CONFIRM),
        confirmation(OAE_PUT(OAE_SLOT_HEADER_EPOCH, 1) | OAE_PUT(OAE_SLOT_HEADER_SEQUENCE, 1)));
    Fixture::pass(50 * period);
    EXPECT_EQ(OAE_GET(fixture.get(OAE_FIRMWARE_STATUS_AT(2)), OAE_FIRMWARE_STATUS_COMMITTED), 1u);
  }});
}

TEST(Block, AnswersWithinTenClocks) {
  Fixture fixture;
  fixture.run({[&] {
    fixture.open(0);
    fixture.publish(0, make_slot(header(1, 1), 1));
    fixture.write(2, OAE_PORT_WINDOW, make_slot(header(1, 1), 2).data(), 64);
    const vp::Picoseconds written = vp::now();
    fixture.read(2, OAE_PORT_PUSHED_ANSWER);  // directly behind the write
    EXPECT_LE(fixture.completed - written, 14 * period) << "write and read";
    EXPECT_EQ(fixture.read(2, OAE_PORT_STATUS) & 0xff, std::uint64_t{OAE_PORT_STATE_TENTATIVE});
    Fixture::pass(100 * period);
    const vp::Picoseconds asked = vp::now();
    fixture.read(2, OAE_PORT_PUSHED_ANSWER);
    EXPECT_LE(fixture.completed - asked, 6 * period) << "retained";
    fixture.write(2, OAE_PORT_WINDOW, make_slot(header(1, 2), 2).data(), 64);
    Fixture::pass(100 * period);
    const vp::Picoseconds asked_again = vp::now();
    fixture.read(2, OAE_PORT_PUSHED_ANSWER);
    EXPECT_LE(fixture.completed - asked_again, 10 * period) << "not ready";
  }});
}

TEST(Block, KeepsToItsGrid) {
  // The frequency of this clock does not divide a second.
  constexpr std::uint64_t hertz = 333'333'333;
  Fixture fixture({8, hertz, 0, ""});
  const oae::ClockGrid grid(hertz);
  const auto on_grid = [&](vp::Picoseconds time) {
    return grid.time(grid.after(time) - 1) == time;
  };
  fixture.run({[&] {
    for (vp::Picoseconds pause = 1; pause < 3 * vp::us; pause = pause * 3 + 1) {
      Fixture::pass(pause);
      fixture.read(0, OAE_HOST_ID);
      EXPECT_TRUE(on_grid(fixture.completed)) << fixture.completed;
      fixture.get(OAE_FIRMWARE_ID);
      EXPECT_TRUE(on_grid(vp::now())) << vp::now();
    }
    EXPECT_EQ(fixture.read(0, OAE_HOST_CLOCK), hertz / 1000);
  }});
}

TEST(Block, SeesAnArrivalAtAnEdgeAtTheNext) {
  Fixture fixture;
  fixture.run({[&] {
    vp::Picoseconds took[3];
    for (int i = 0; i < 3; ++i) {
      Fixture::pass(vp::us - vp::now() % vp::us + i -
                    1);  // 1 ps before an edge, at it, and 1 ps after it
      const vp::Picoseconds asked = vp::now();
      fixture.read(0, OAE_HOST_ID);
      took[i] = fixture.completed - asked;
    }
    EXPECT_EQ(took[1], took[0] + period - 1);
    EXPECT_EQ(took[2], took[1] - 1);
  }});
}

TEST(Block, ServesPostedRequestsInOrder) {
  Fixture fixture;
  fixture.run({[&] {
    for (std::uint64_t i = 0; i < 100; ++i) fixture.write(0, OAE_HOST_LIVENESS_LIMIT, i);
    EXPECT_EQ(fixture.read(0, OAE_HOST_LIVENESS_LIMIT), 99u);
    const Slot slot = make_slot(header(1, 1), 3);
    fixture.open(1);
    fixture.publish(1, make_slot(header(1, 1), 4));
    for (unsigned i = 0; i < 64; ++i) {
      fixture.write(2, Fixture::page(1, 63 - i),
                    reinterpret_cast<const char*>(slot.data()) + 63 - i, 1);
    }
    EXPECT_EQ(OAE_GET(fixture.read(2, Fixture::page(1, OAE_PORT_PUSHED_ANSWER)),
                      OAE_SLOT_HEADER_SEQUENCE),
              1u);
  }});
}

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
    fixture.open(0);
    fixture.publish(0, make_slot(header(1, 1), 1));
    fixture.write(2, OAE_PORT_WINDOW, make_slot(header(1, 1), 2).data(), 64);
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
                 fixture.open(0);
                 fixture.publish(0, make_slot(header(1, 1), 1));
                 fixture.write(2, OAE_PORT_WINDOW, make_slot(header(1, 1), 5).data(), 64);
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

TEST(Block, AFunctionResetIsQueuedBehindEarlierRequests) {
  Fixture fixture;
  // A reset that discards a good offer makes its attempt an old one, so the next offer has a later
  // one.
  const auto host = [](std::uint8_t attempt) {
    Header of = header(1, 1);
    of.attempt = attempt;
    return make_slot(of, 1);
  };
  const Slot firmware = make_slot(header(1, 1), 2);
  fixture.run({[&] {
    fixture.open(2);
    fixture.publish(2, firmware);
    fixture.write(2, Fixture::page(2, 0), host(0).data(), 64);
    fixture.block->function_reset();
    fixture.write(0, OAE_HOST_PORT_ANSWER_ADDRESS_AT(2), Fixture::buffer_of(2));
    EXPECT_NE(fixture.read(2, Fixture::page(2, OAE_PORT_PUSHED_ANSWER)), firmware[0])
        << "the offer is gone";
    EXPECT_EQ(fixture.buffers.count(Fixture::buffer_of(2)), 1u) << "the new buffer is not";
    // There are more writes than the queue has room for, and a reset behind them.
    for (unsigned i = 0; i < 33; ++i) fixture.write(2, Fixture::page(2, 0), host(1).data(), 64);
    fixture.block->function_reset();
    fixture.write(0, OAE_HOST_PORT_ANSWER_ADDRESS_AT(2), Fixture::buffer_of(2));
    EXPECT_NE(fixture.read(2, Fixture::page(2, OAE_PORT_PUSHED_ANSWER)), firmware[0]);
    fixture.write(2, Fixture::page(2, 0), host(2).data(), 64);
    EXPECT_EQ(fixture.read(2, Fixture::page(2, OAE_PORT_PUSHED_ANSWER)), firmware[0]);
    EXPECT_EQ(fixture.read(2, Fixture::page(2, OAE_PORT_STATUS)) & 0xff, OAE_PORT_STATE_TENTATIVE);
    fixture.block->function_reset();
    EXPECT_EQ(fixture.read(2, Fixture::page(2, OAE_PORT_STATUS)) & 0xff, OAE_PORT_STATE_TENTATIVE);
    fixture.write(2, Fixture::page(2, OAE_PORT_REVERSE), reversal(host(2)[0]));
    EXPECT_EQ(fixture.read(2, Fixture::page(2, OAE_PORT_STATUS)) & 0xff, OAE_PORT_STATE_REVERSED);
  }});
  const nlohmann::json counters = fixture.statistics.json()["counters"];
  EXPECT_EQ(counters["fixture.oae.reversed"], 1);
  EXPECT_TRUE(fixture.block->clock_stopped());
}

TEST(Block, RefusesMalformedRequests) {
  Fixture fixture;
  std::uint8_t data[128] = {};
  fixture.run({[&] {
    EXPECT_EQ(fixture.read(0, 0x4000, data, 8), tlm::TLM_ADDRESS_ERROR_RESPONSE);
    EXPECT_EQ(fixture.write(2, 64 * OAE_PORT_SIZE, data, 8), tlm::TLM_ADDRESS_ERROR_RESPONSE);
    EXPECT_EQ(fixture.write(4, 64 * OAE_STREAM_SIZE, data, 8), tlm::TLM_ADDRESS_ERROR_RESPONSE);
    EXPECT_EQ(fixture.read(1, 0, data, 8), tlm::TLM_ADDRESS_ERROR_RESPONSE);
    EXPECT_EQ(fixture.read(3, 0, data, 8), tlm::TLM_ADDRESS_ERROR_RESPONSE);
    EXPECT_EQ(fixture.read(5, 0, data, 8), tlm::TLM_ADDRESS_ERROR_RESPONSE);
    EXPECT_EQ(fixture.read(0, 60, data, 8), tlm::TLM_BURST_ERROR_RESPONSE);
    EXPECT_EQ(fixture.read(0, 0, data, 65), tlm::TLM_BURST_ERROR_RESPONSE);
    EXPECT_EQ(fixture.write(0, 0, data, 0), tlm::TLM_BURST_ERROR_RESPONSE);
    EXPECT_EQ(fixture.read(2, 63 * OAE_PORT_SIZE, data, 64), tlm::TLM_OK_RESPONSE) << "reads 0";
    const auto access = [&](std::uint64_t address, unsigned bytes) {
      return fixture.firmware_access(tlm::TLM_READ_COMMAND, address, data, bytes);
    };
    EXPECT_EQ(access(OAE_FIRMWARE_SIZE, 8), tlm::TLM_ADDRESS_ERROR_RESPONSE);
    EXPECT_EQ(access(0x28, 8), tlm::TLM_ADDRESS_ERROR_RESPONSE) << "no register";
    EXPECT_EQ(access(OAE_FIRMWARE_STATUS_AT(8), 8), tlm::TLM_ADDRESS_ERROR_RESPONSE);
    EXPECT_EQ(access(4, 8), tlm::TLM_BURST_ERROR_RESPONSE);
    EXPECT_EQ(access(0, 16), tlm::TLM_BURST_ERROR_RESPONSE);
    EXPECT_EQ(access(4, 4), tlm::TLM_OK_RESPONSE);
    EXPECT_EQ(data[0], 2) << "version";
    EXPECT_EQ(fixture.firmware_access(tlm::TLM_IGNORE_COMMAND, 0, data, 8),
              tlm::TLM_COMMAND_ERROR_RESPONSE);
  }});
}

TEST(Block, ServesSeveralCoresAndTheHostAtOnce) {
  Fixture fixture;
  const auto core = [&](unsigned port) {
    return [&fixture, port] {
      for (std::uint64_t i = 0; i < 50; ++i) {
        fixture.put(OAE_FIRMWARE_OFFER_AT(port) + 8, i * 8 + port);
        EXPECT_EQ(fixture.get(OAE_FIRMWARE_OFFER_AT(port) + 8), i * 8 + port);
        Fixture::pass(port * vp::ns);
      }
    };
  };
  fixture.run({core(0), core(1), core(7), [&] {
                 for (unsigned i = 0; i < 50; ++i) {
                   fixture.write(0, OAE_HOST_PORT_ANSWER_ADDRESS_AT(1), 64 * i);
                   EXPECT_EQ(fixture.read(0, OAE_HOST_PORT_ANSWER_ADDRESS_AT(1)), 64 * i);
                 }
               }});
}

/// A core that is ahead of the kernel's time. It may use an answer again while that stays valid.
struct Core : vp::Decoupled {
  enum class Kind { in_time, ahead, repeating };

  Core(Fixture& fixture, Kind kind) : fixture(fixture), kind(kind) {
    payload.set_extension<vp::Decoupled>(this);
  }
  void catch_up() override { Fixture::pass(local - vp::now()); }
  vp::Picoseconds limit() const {
    return std::min(fixture.domain.horizon(), vp::now() + 1 * vp::us);
  }
  bool may_stay_ahead() const override { return kind != Kind::in_time && local < limit(); }

  std::uint64_t access(tlm::tlm_command command, std::uint64_t address, std::uint64_t value = 0) {
    const vp::Picoseconds begin = local;
    if (command != tlm::TLM_READ_COMMAND || !repeat(address, value)) reach(command, address, value);
    log << begin << ' ' << command << ' ' << address << ' ' << value << " until " << local << '\n';
    return value;
  }
  void publish(unsigned port, const Slot& slot) {
    for (unsigned i = 0; i < 8; ++i) {
      access(tlm::TLM_WRITE_COMMAND, OAE_FIRMWARE_OFFER_AT(port) + 8 * i, slot[i]);
    }
    access(tlm::TLM_WRITE_COMMAND, OAE_FIRMWARE_COMMAND_AT(port),
           OAE_FIRMWARE_COMMAND_PUBLISH_MASK);
  }

  Fixture& fixture;
  const Kind kind;
  tlm::tlm_generic_payload payload;
  vp::Picoseconds local = 0;
  unsigned repeated = 0;
  std::ostringstream log;

 private:
  struct Answer {
    vp::Repeatable is;
    std::uint64_t seen;
    std::uint64_t value;
  };

  // The way to the block takes no time, so begin and end are arrival and answer.
  bool repeat(std::uint64_t address, std::uint64_t& value) {
    const auto known = answers.find(address);
    if (known == answers.end() || *known->second.is.version != known->second.seen) return false;
    const auto& [is, seen, answer] = known->second;
    const vp::Picoseconds edges = is.answered / is.clock - is.arrival / is.clock;
    const vp::Picoseconds end = (local / is.clock + edges) * is.clock;
    if (end >= limit()) return false;
    for (const auto& count : is.counts) {
      if (count.counter != nullptr) *count.counter += count.amount;
    }
    local = end;
    value = answer;
    ++repeated;
    return true;
  }

  void reach(tlm::tlm_command command, std::uint64_t address, std::uint64_t& value) {
    if (!may_stay_ahead()) catch_up();
    payload.set_command(command);
    payload.set_address(address);
    payload.set_data_ptr(reinterpret_cast<unsigned char*>(&value));
    payload.set_data_length(8);
    payload.set_streaming_width(8);
    sc_core::sc_time delay = vp::to_sc_time(local - vp::now());
    repeatable = {};
    fixture.firmware->b_transport(payload, delay);
    local = vp::now() + static_cast<vp::Picoseconds>(delay.value());
    if (repeatable.version != nullptr && kind == Kind::repeating) {
      EXPECT_TRUE(payload.is_read());
      answers[address] = {repeatable, *repeatable.version, value};
    }
  }

  std::map<std::uint64_t, Answer> answers;
};

// Swaps with polls between them, at times that are unrelated to the clock.
std::string serve(Core& core) {
  constexpr unsigned swaps = 20;
  Fixture::pass(100 * period);
  core.local = vp::now();
  core.access(tlm::TLM_WRITE_COMMAND, OAE_FIRMWARE_IRQ_ENABLE, 1);
  for (unsigned n = 1; n <= swaps;) {
    for (unsigned i = 0; i < 4; ++i) {
      core.local += 4'321;
      core.access(tlm::TLM_READ_COMMAND, OAE_FIRMWARE_IRQ_STATUS);
      core.access(tlm::TLM_READ_COMMAND, OAE_FIRMWARE_COMMITTED_AT(0) + 8);
    }
    core.access(tlm::TLM_READ_COMMAND, OAE_FIRMWARE_EVENT_AT(0));
    core.access(tlm::TLM_WRITE_COMMAND, OAE_FIRMWARE_EVENT_AT(0), ~0ull);
    const std::uint64_t status = core.access(tlm::TLM_READ_COMMAND, OAE_FIRMWARE_STATUS_AT(0));
    if (status & OAE_FIRMWARE_STATUS_COMMITTED_MASK) {
      core.access(tlm::TLM_WRITE_COMMAND, OAE_FIRMWARE_COMMAND_AT(0),
                  OAE_FIRMWARE_COMMAND_TAKE_MASK);
      ++n;
    }
    if ((status & OAE_FIRMWARE_STATUS_OPEN_MASK) && !(status & OAE_FIRMWARE_STATUS_OFFERED_MASK)) {
      const auto next = OAE_GET(status, OAE_FIRMWARE_STATUS_NEXT_SEQUENCE);
      core.publish(0, make_slot(header(1, static_cast<std::uint32_t>(next)), n));
    }
  }
  Fixture::pass(core.local + 100 * period - vp::now());
  for (const auto& line : core.fixture.lines) {
    core.log << "irq " << line.time << ' ' << line.level << '\n';
  }
  core.log << core.fixture.statistics.json()["counters"];
  return core.log.str();
}

// The host of these swaps. Its actions are due in the domain, as arrivals over a link are.
void ask(Fixture& fixture) {
  vp::Event arrival(fixture.domain, [] {});
  fixture.open(0);
  for (std::uint32_t n = 1; n <= 20; ++n) {
    arrival.after(1'234'567);
    Fixture::pass(1'234'567);
    fixture.write(2, OAE_PORT_WINDOW, make_slot(header(1, n), n).data(), 64);
    fixture.read(2, OAE_PORT_PUSHED_ANSWER);
    fixture.write(
        2, OAE_PORT_CONFIRM,
        confirmation(OAE_PUT(OAE_SLOT_HEADER_EPOCH, 1) | OAE_PUT(OAE_SLOT_HEADER_SEQUENCE, n)));
  }
}

// Each kind has a process of its own: the accesses of one in time would bound the horizon of the
// other.
std::string served(Core::Kind kind) {
  return vp::in_child([kind] {
    Fixture fixture({}, {}, "fixture");
    std::string told;
    fixture.run({[&] {
                   Core core(fixture, kind);
                   told = serve(core);
                   if (kind == Core::Kind::repeating) EXPECT_GT(core.repeated, 1'000u);
                 },
                 [&] { ask(fixture); }});
    return told;
  });
}

void expect_as_in_time(Core::Kind kind) {
  const std::string expected = served(Core::Kind::in_time);
  const std::string found = served(kind);
  EXPECT_GT(expected.size(), 10'000u);
  const auto differs = std::mismatch(found.begin(), found.end(), expected.begin(), expected.end());
  EXPECT_TRUE(found == expected) << std::string(differs.second, expected.end()).substr(0, 200)
                                 << "\nis told as\n"
                                 << std::string(differs.first, found.end()).substr(0, 200);
}

TEST(Block, AnswersAheadOfTimeEqualThoseInTime) {
  expect_as_in_time(Core::Kind::ahead);
}

TEST(Block, RepeatedAnswersEqualThoseInTime) {
  expect_as_in_time(Core::Kind::repeating);
}

TEST(Block, ServesAnAccessWhenItsDelayIsOver) {
  Fixture fixture;
  fixture.run({[&] {
    std::uint64_t value = 0;
    Fixture::pass(10 * period);
    const vp::Picoseconds start = vp::now();
    fixture.firmware_access(tlm::TLM_READ_COMMAND, OAE_FIRMWARE_ID, &value, 8);
    const vp::Picoseconds plain = vp::now() - start;
    Fixture::pass(10 * period);
    const vp::Picoseconds again = vp::now();
    fixture.firmware_access(tlm::TLM_READ_COMMAND, OAE_FIRMWARE_ID, &value, 8, 100 * period);
    EXPECT_EQ(vp::now() - again, plain + 100 * period);
    EXPECT_LE(plain, 5 * period);
  }});
}

TEST(Block, WritesAWaveform) {
  const TemporaryFile file(".vcd");
  {
    Fixture fixture({2, 500'000'000, 0, file.path});
    fixture.run({[&] {
      fixture.open(1);
      fixture.get(OAE_FIRMWARE_STATUS_AT(1));
    }});
    fixture.block.reset();
  }
  const std::string vcd = contents(file.path);
  EXPECT_THAT(vcd, testing::HasSubstr("$timescale"));
  EXPECT_THAT(vcd, testing::HasSubstr("trace_sequence"));
  EXPECT_THAT(vcd, testing::HasSubstr("\n#2000\n"));
}

TEST(Block, RefusesImpossibleValues) {
  vp::Domain domain("domain");
  vp::Trace trace;
  vp::Statistics statistics;
  const auto make = [&](const oae::BlockConfig& config) {
    oae::Block block("oae", config, domain, trace, statistics);
  };
  EXPECT_THROW(make({0, 500'000'000, 0, ""}), oae::ConfigurationError);
  EXPECT_THROW(make({65, 500'000'000, 0, ""}), oae::ConfigurationError);
  EXPECT_THROW(make({8, 999, 0, ""}), oae::ConfigurationError);
  EXPECT_THROW(make({8, 10'000'000'001, 0, ""}), oae::ConfigurationError);
  EXPECT_THROW(make({8, 500'000'000, 0, "/nowhere/to/be.vcd"}), oae::ConfigurationError);
}

}  // namespace
