// SPDX-License-Identifier: Apache-2.0
#include "models/axi/register_port.h"

#include "tests/models/axi/fixture.h"

namespace axi::test {
namespace {

class RegisterPortOf : public testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Widths, RegisterPortOf,
                         testing::Values("exerciser-narrow", "exerciser-wide"),
                         [](const auto& width) { return std::string(width.param).substr(10); });

// Each start and each length that an access can have, against a copy of the memory.
TEST_P(RegisterPortOf, WritesTheBytesOfAnAccessAndReadsThem) {
  Exerciser bench(GetParam());
  bench.run([&] {
    std::vector<std::uint8_t> expected(64);
    for (unsigned i = 0; i < 64; i += 8) bench.put(i, 0);
    unsigned value = 0;
    for (unsigned first = 0; first < 64; ++first) {
      for (unsigned length = 1; first + length <= 64; length += length < 9 ? 1 : 11) {
        std::vector<std::uint8_t> data(length);
        for (auto& byte : data) byte = static_cast<std::uint8_t>(++value * 7);
        ASSERT_EQ(bench.write_bytes(first, data), tlm::TLM_OK_RESPONSE);
        std::copy(data.begin(), data.end(), expected.begin() + first);
        ASSERT_EQ(bench.read_bytes(first, length), data) << first << " " << length;
        ASSERT_EQ(bench.read_bytes(0, 64), expected) << first << " " << length;
      }
    }
  });
  EXPECT_EQ(bench.counter("register_write_errors"), 0u);
  EXPECT_EQ(bench.counter("protocol_violations"), 0u);
}

// The same with stalls at all channels; held.sv checks that what waits does not change.
TEST_P(RegisterPortOf, WaitsForABlockThatStalls) {
  Exerciser bench(GetParam());
  bench.run([&] {
    bench.clear(200, 7);
    for (unsigned i = 0; i < 64; i += 8) bench.put(i, 0x0101010101010101 * i);
    for (unsigned i = 0; i < 64; i += 8) EXPECT_EQ(bench.get(i), 0x0101010101010101 * i);
  });
}

TEST_P(RegisterPortOf, AnswersAReadWithTheErrorOfTheBlock) {
  Exerciser bench(GetParam());
  bench.run([&] {
    std::uint8_t data[16];
    const auto read = [&](std::uint64_t address, unsigned bytes) {
      return bench.access(tlm::TLM_READ_COMMAND, address, data, bytes);
    };
    EXPECT_EQ(read(0x100, 8), tlm::TLM_GENERIC_ERROR_RESPONSE) << "SLVERR: Completer Abort";
    EXPECT_EQ(read(0x180, 4), tlm::TLM_ADDRESS_ERROR_RESPONSE) << "DECERR: Unsupported Request";
    EXPECT_EQ(read(0xc0, 4), tlm::TLM_OK_RESPONSE) << "the block goes on";
  });
}

TEST_P(RegisterPortOf, CountsAnErrorOfAWriteAndGoesOn) {
  Exerciser bench(GetParam());
  bench.run([&] {
    bench.put(0x100, 1, 4);
    bench.put(0x180, 2, 4);
    bench.put(0x0, 3, 4);
    EXPECT_EQ(bench.get(0, 4), 3u);
  });
  EXPECT_EQ(bench.counter("register_write_errors"), 2u);
  EXPECT_EQ(bench.counter("register_writes"), 3u);
  EXPECT_EQ(bench.counter("register_reads"), 1u);
}

TEST_P(RegisterPortOf, RefusesWhatTheBlockCannotSee) {
  Exerciser bench(GetParam());
  bench.run([&] {
    std::uint64_t data = 0;
    EXPECT_EQ(bench.access(tlm::TLM_READ_COMMAND, 0, &data, 4, 2), tlm::TLM_ADDRESS_ERROR_RESPONSE)
        << "BAR 2 has nothing but MSI-X";
    EXPECT_EQ(bench.access(tlm::TLM_READ_COMMAND, 0x10000, &data, 4),
              tlm::TLM_ADDRESS_ERROR_RESPONSE)
        << "beyond 16 address bits";
    EXPECT_EQ(bench.access(tlm::TLM_WRITE_COMMAND, 0x10000, &data, 4),
              tlm::TLM_ADDRESS_ERROR_RESPONSE);
    EXPECT_EQ(bench.access(tlm::TLM_IGNORE_COMMAND, 0, &data, 4), tlm::TLM_COMMAND_ERROR_RESPONSE);
    EXPECT_EQ(bench.access(tlm::TLM_READ_COMMAND, 0x3c, &data, 8), tlm::TLM_BURST_ERROR_RESPONSE);
  });
  EXPECT_EQ(bench.counter("beyond_the_registers"), 3u);
}

// Writes are posted: 32 wait, and the next one waits for room. All are in order.
TEST_P(RegisterPortOf, HoldsAWriteWithoutRoom) {
  Exerciser bench(GetParam());
  bench.run([&] {
    bench.clear(250, 3);
    const vp::Picoseconds begin = vp::now();
    for (unsigned i = 1; i <= 31; ++i) bench.put(0, i, 4);
    EXPECT_EQ(vp::now(), begin) << "there is room";
    for (unsigned i = 32; i <= 40; ++i) bench.put(0, i, 4);
    EXPECT_GT(vp::now(), begin) << "there is none";
    EXPECT_EQ(bench.get(0, 4), 40u) << "a read follows the writes before it";
  });
}

// Accepting a write must not depend on the answer of a read.
TEST_P(RegisterPortOf, LetsAWritePassAReadThatIsNotAnswered) {
  Exerciser bench(GetParam());
  bool answered = false;
  bench.run([&] {
    sc_core::sc_spawn([&] {
      std::uint64_t value = 0;
      bench.access(tlm::TLM_READ_COMMAND, 0x1c0, &value, 4);
      answered = true;
    });
    Bench::pass(100 * vp::ns);
    bench.put(0x220, 1, 4);
    Bench::pass(100 * vp::ns);
    EXPECT_EQ(bench.signals.size(), 1u);
    EXPECT_FALSE(answered);
  });
}

}  // namespace
}  // namespace axi::test
