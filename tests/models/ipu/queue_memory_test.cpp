// SPDX-License-Identifier: Apache-2.0
#include "models/ipu/queue_memory.h"

#include "models/ipu/noc.h"
#include "tests/models/ipu/fixture.h"

namespace ipu {
namespace {

using test::start;

constexpr std::uint64_t size = 0x1000;
constexpr std::uint64_t uncached = 0x10000;
constexpr std::uint64_t cached = 0x20000;
constexpr vp::Picoseconds hop = 10 * vp::ns;
constexpr vp::Picoseconds latency = 80 * vp::ns;
constexpr vp::Picoseconds line_fill = latency + 2 * hop;

struct QueueMemoryTest : testing::Test {
  QueueMemory memory{"memory", size, {latency, line_fill}};
  Noc noc{"noc", hop};
  test::Initiator core{"core"};
  test::FunctionPort function;

  QueueMemoryTest() {
    noc.connect(uncached, size, memory.uncached, Noc::Timing::decoupled);
    noc.connect(cached, size, memory.cached, Noc::Timing::decoupled, Noc::Place::beside_cores);
    core.socket.bind(noc.in);
    function.socket.bind(memory.host);
    start();
  }
  vp::Picoseconds time_of_read(std::uint64_t address, unsigned length = 8) {
    core.delay = 0;
    core.read(address, length);
    return core.delay;
  }
  vp::Picoseconds time_of_write(std::uint64_t address, std::uint64_t value) {
    core.delay = 0;
    core.write(address, value);
    return core.delay;
  }
};

TEST_F(QueueMemoryTest, HostAndCoresSeeTheSameBytes) {
  function.write(2, 0x40, 0x1122334455667788);
  EXPECT_EQ(core.read(uncached + 0x40), 0x1122334455667788u);
  EXPECT_EQ(core.read(cached + 0x40), 0x1122334455667788u);
  core.write(cached + 0x44, 0xaabb, 2);
  EXPECT_EQ(core.read(uncached + 0x40), 0x1122aabb55667788u);
  EXPECT_EQ(function.read(2, 0x40), 0x1122aabb55667788u) << "the cache is coherent";
  core.write(uncached + 0x40, 7);
  EXPECT_EQ(core.read(cached + 0x40), 7u);
  EXPECT_EQ(function.read(2, 0x40, 1), 7u);
}

TEST_F(QueueMemoryTest, EachUncachedAccessTakesItsTime) {
  for (unsigned i = 0; i < 3; ++i) {
    EXPECT_EQ(time_of_read(uncached), latency + 2 * hop);
    EXPECT_EQ(time_of_write(uncached, i), latency + 2 * hop);
  }
}

TEST_F(QueueMemoryTest, TheCacheReadsALineOnce) {
  EXPECT_EQ(time_of_read(cached + 0x80), line_fill);
  EXPECT_EQ(time_of_read(cached + 0x80), 0);
  EXPECT_EQ(time_of_read(cached + 0xbf, 1), 0) << "the last byte of the line";
  EXPECT_EQ(time_of_read(cached + 0xc0, 1), line_fill);
  EXPECT_EQ(time_of_write(cached + 0xc8, 1), 0);
  EXPECT_EQ(time_of_write(cached + 0x100, 1), line_fill) << "a write reads the line first";
  EXPECT_EQ(time_of_read(cached + 0x13c, 8), line_fill) << "one of its two lines is held";
  EXPECT_EQ(memory.line_fills(), 4u);
  EXPECT_EQ(memory.core_accesses(), 7u);
}

TEST_F(QueueMemoryTest, AWriteOfTheHostDropsItsLinesAndNoOthers) {
  for (std::uint64_t line = 0; line < 4; ++line) time_of_read(cached + 64 * line);
  function.write(2, 0x7c, 0, 8);  // lines 1 and 2
  EXPECT_EQ(time_of_read(cached + 0x00), 0);
  EXPECT_EQ(time_of_read(cached + 0x40), line_fill);
  EXPECT_EQ(time_of_read(cached + 0x80), line_fill);
  EXPECT_EQ(time_of_read(cached + 0xc0), 0);
  function.read(2, 0x00);
  EXPECT_EQ(time_of_read(cached + 0x00), 0) << "a read drops nothing";
  EXPECT_EQ(memory.host_writes(), 1u);
  EXPECT_EQ(memory.host_reads(), 1u);
}

TEST_F(QueueMemoryTest, WhatIsPolledIsRepeatableUntilAWriteOfItsLine) {
  test::Ahead ahead;
  core.decoupled = &ahead;
  const auto version = [&](std::uint64_t address) -> const std::uint64_t* {
    ahead.ahead = core.delay = 500;
    ahead.repeatable = {};
    core.read(address);
    return ahead.repeatable.version;
  };
  EXPECT_EQ(version(cached), nullptr) << "a line fill takes longer than the read that follows";
  for (std::uint64_t window : {uncached, cached}) {
    version(window);  // fills the line of the cache
    const std::uint64_t* const seen = version(window);
    ASSERT_NE(seen, nullptr);
    const std::uint64_t before = *seen;
    EXPECT_EQ(ahead.repeatable.counts[0].counter, &memory.core_accesses());
    function.read(2, 0);
    EXPECT_EQ(*seen, before);
    function.write(2, 0x40, 1);
    EXPECT_EQ(*seen, before);
    function.write(2, 0x38, 1);
    EXPECT_NE(*seen, before);
  }
}

TEST_F(QueueMemoryTest, AWriteOfTwoLinesEndsWhatIsRepeatableInBoth) {
  test::Ahead ahead;
  core.decoupled = &ahead;
  for (std::uint64_t address : {uncached + 0x38, uncached + 0x40}) {
    ahead.ahead = core.delay = 500;
    core.read(address);
    const std::uint64_t* const seen = ahead.repeatable.version;
    ASSERT_NE(seen, nullptr);
    const std::uint64_t before = *seen;
    function.write(2, 0x3c, 1);
    EXPECT_NE(*seen, before);
  }
}

TEST_F(QueueMemoryTest, AReadOfTwoLinesIsNotRepeatable) {
  test::Ahead ahead;
  core.decoupled = &ahead;
  for (std::uint64_t window : {uncached, cached, cached}) {
    ahead.ahead = core.delay = 500;
    ahead.repeatable = {};
    core.read(window + 0x3c);
    EXPECT_EQ(ahead.repeatable.version, nullptr);
  }
}

TEST_F(QueueMemoryTest, AResetEndsAllThatIsRepeatable) {
  test::Ahead ahead;
  core.decoupled = &ahead;
  for (std::uint64_t address : {uncached, uncached + 0x1000 - 8}) {
    ahead.ahead = core.delay = 500;
    core.read(address);
    const std::uint64_t* const seen = ahead.repeatable.version;
    ASSERT_NE(seen, nullptr);
    const std::uint64_t before = *seen;
    memory.reset();
    EXPECT_NE(*seen, before);
  }
}

TEST_F(QueueMemoryTest, AWriteAheadOfTimeWaitsForItsTime) {
  test::Ahead ahead;
  core.decoupled = &ahead;
  ahead.ahead = core.delay = 700;
  const vp::Picoseconds before = vp::now();
  core.write(uncached, 1);
  EXPECT_EQ(vp::now(), before + 700);
  EXPECT_EQ(core.delay, latency + 2 * hop);
}

TEST_F(QueueMemoryTest, AResetLeavesNothing) {
  core.write(cached + 8, 5);
  memory.reset();
  EXPECT_EQ(core.read(uncached + 8), 0u);
  EXPECT_EQ(time_of_read(cached + 8), line_fill);
}

TEST_F(QueueMemoryTest, RefusesWhatItDoesNotHave) {
  EXPECT_EQ(core.try_read(uncached + size - 4), tlm::TLM_ADDRESS_ERROR_RESPONSE);
  EXPECT_EQ(core.try_write(cached + size), tlm::TLM_ADDRESS_ERROR_RESPONSE);
  EXPECT_EQ(core.try_read(uncached, 0), tlm::TLM_BURST_ERROR_RESPONSE);
  for (std::uint64_t offset : {size - 4, size, ~std::uint64_t{0} - 3}) {
    EXPECT_EQ(function.request(tlm::TLM_READ_COMMAND, 2, offset, 8), tlm::TLM_COMPLETED);
    EXPECT_EQ(function.payload.get_response_status(), tlm::TLM_ADDRESS_ERROR_RESPONSE) << offset;
  }
  std::uint8_t enable[8] = {0xff};
  function.payload.set_byte_enable_ptr(enable);
  function.payload.set_byte_enable_length(8);
  EXPECT_EQ(function.request(tlm::TLM_WRITE_COMMAND, 2, 0, 8), tlm::TLM_COMPLETED);
  EXPECT_EQ(function.payload.get_response_status(), tlm::TLM_GENERIC_ERROR_RESPONSE);
  EXPECT_EQ(memory.core_accesses(), 0u);
  EXPECT_EQ(memory.host_reads() + memory.host_writes(), 0u);
}

}  // namespace
}  // namespace ipu
