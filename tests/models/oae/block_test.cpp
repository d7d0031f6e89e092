// SPDX-License-Identifier: Apache-2.0
#include "models/oae/block.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <sstream>

#include "tests/models/oae/fixture.h"
#include "tests/models/oae/temporary_file.h"

namespace {

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
  std::istringstream lines(file.contents());
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
    fixture.begin_swap();
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
  const rtl::ClockGrid grid(hertz);
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
    EXPECT_EQ(access(0x30, 8), tlm::TLM_ADDRESS_ERROR_RESPONSE) << "no register";
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
  const std::string vcd = file.contents();
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
