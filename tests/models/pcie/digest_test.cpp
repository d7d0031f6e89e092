// SPDX-License-Identifier: Apache-2.0
// ECRC: who sends digests, what they cost, and what a bad one does (PCIe 5.0, 2.7.1 and 7.8.4.7).
#include <gtest/gtest.h>

#include "tests/models/pcie/bench.h"

namespace pcie {
namespace {

class Digests : public testing::Test {
 protected:
  static constexpr std::uint32_t generate = 1u << 6;
  static constexpr std::uint32_t check = 1u << 8;

  static Bench::Config config() {
    Bench::Config config;
    config.endpoint.functions.resize(2, config.endpoint.functions[0]);
    config.endpoint.completion_timeout = config.root_complex.completion_timeout = 100 * vp::us;
    return config;
  }
  unsigned at(Id id) { return bench.find_extended_capability(id, 1); }
  void control(Id id, std::uint32_t value) { bench.config_write(id, at(id) + 0x18, value, 4); }
  std::uint32_t errors(Id id) { return bench.config_read(id, at(id) + 4, 4); }
  std::uint64_t bytes(const char* way) {
    return bench.counter(std::string("link.") + way + ".wire_bytes");
  }

  static constexpr Id second = make_id(1, 0, 1);
  Bench bench{config()};
};

TEST_F(Digests, EachFunctionSendsThemWhereSoftwareWants) {
  bench.run([&] {
    bench.enumerate();
    const auto read = [&] {
      const std::uint64_t down = bytes("down"), up = bytes("up");
      bench.read(Bench::bar0, 4);
      return std::pair{bytes("down") - down, bytes("up") - up};
    };
    using Bytes = std::pair<std::uint64_t, std::uint64_t>;
    EXPECT_EQ(read(), (Bytes{20, 24}));
    control(Bench::root_port, generate);
    EXPECT_EQ(read(), (Bytes{24, 24}));
    control(Bench::device, generate);
    EXPECT_EQ(read(), (Bytes{24, 28}));
    control(Bench::root_port, 0);
    EXPECT_EQ(read(), (Bytes{20, 28}));
    std::uint64_t up = bytes("up");
    bench.logic.dma_write(0x1000, {1, 2, 3, 4});
    EXPECT_EQ(bytes("up") - up, 8u + 12 + 4 + 4);
    up = bytes("up");
    bench.config_read(second, 0, 4);
    EXPECT_EQ(bytes("up") - up, 24u) << "the other function does not";
    up = bytes("up");
    bench.config_read(make_id(1, 0, 7), 0, 4);
    EXPECT_EQ(bytes("up") - up, 24u) << "for one that is not there the first answers: 20 and 4";
  });
}

// TD of what is logged, at whichever end.
TEST_F(Digests, HeaderLogsTellOfThem) {
  bench.run([&] {
    bench.enumerate();
    for (const bool digest : {false, true, false}) {
      for (const Id id : {Bench::root_port, Bench::device}) {
        control(id, digest ? generate : 0);
        bench.config_write(id, at(id) + 4, ~0u, 4);
      }
      bench.write(0xc0050000, 0, 4);  // in the window, of nobody
      bench.logic.dma_write(1ull << 50, {1, 2, 3, 4});
      pause(10 * vp::us);
      const std::uint32_t td = digest ? 0x8000 : 0;
      EXPECT_EQ(errors(Bench::device), bit_of(Error::unsupported_request));
      EXPECT_EQ(bench.config_read(Bench::device, at(Bench::device) + 0x1c, 4), 0x40000001 | td);
      EXPECT_EQ(errors(Bench::root_port), bit_of(Error::unsupported_request));
      EXPECT_EQ(bench.config_read(Bench::root_port, at(Bench::root_port) + 0x1c, 4),
                0x60000001 | td);
    }
  });
}

TEST_F(Digests, TakeTheTimeOfFourBytes) {
  bench.run([&] {
    bench.enumerate();
    const auto elapsed = [&] {
      const vp::Picoseconds start = vp::now();
      bench.read(Bench::bar0, 4);
      return vp::now() - start;
    };
    const vp::Picoseconds without = elapsed();
    control(Bench::root_port, generate);
    control(Bench::device, generate);
    const LineRate& rate = bench.link.rate();
    const double both =
        8.0 * static_cast<double>(rate.picoseconds) / static_cast<double>(rate.bytes);
    EXPECT_NEAR(static_cast<double>(elapsed() - without), both, 2);
  });
}

// Of all four cases only one is an error: a digest that is there, and is checked.
TEST_F(Digests, ABadOneIsAnErrorWhereItIsChecked) {
  bench.run([&] {
    bench.enumerate();
    unsigned value = 0;
    for (const std::uint32_t sent : {0u, generate}) {
      for (const std::uint32_t checked : {0u, check}) {
        control(Bench::root_port, sent);
        control(Bench::device, checked);
        ASSERT_TRUE(bench.link.inject(Direction::down, {Error::ecrc, TlpType::MWr, 1}));
        const unsigned before = value++;
        bench.write(Bench::bar0, value, 4);
        const bool dropped = sent != 0 && checked != 0;
        EXPECT_EQ(bench.read(Bench::bar0, 4), dropped ? before : value) << sent << ' ' << checked;
        EXPECT_EQ(errors(Bench::device), dropped ? bit_of(Error::ecrc) : 0u);
        EXPECT_EQ(errors(second), 0u) << "that does not check";
        if (!dropped) continue;
        EXPECT_EQ(bench.config_read(Bench::device, at(Bench::device) + 0x1c, 4), 0x40008001u)
            << "TD";
        EXPECT_EQ(bench.config_read(Bench::device, at(Bench::device) + 0x18, 4) & 0x1f, 19u);
      }
    }
  });
}

TEST_F(Digests, ABadOneOnTheWayUpLosesTheCompletion) {
  bench.run([&] {
    bench.enumerate();
    control(Bench::device, generate);
    bench.write(Bench::bar0, 0x1234, 4);
    ASSERT_TRUE(bench.link.inject(Direction::up, {Error::ecrc, TlpType::CplD, 1}));
    EXPECT_EQ(bench.read(Bench::bar0, 4), 0x1234u) << "not checked";
    control(Bench::root_port, check);
    ASSERT_TRUE(bench.link.inject(Direction::up, {Error::ecrc, TlpType::CplD, 1}));
    EXPECT_EQ(bench.read(Bench::bar0, 4), 0xffffffffu);
    EXPECT_EQ(errors(Bench::root_port), bit_of(Error::ecrc) | bit_of(Error::completion_timeout));
  });
}

TEST_F(Digests, OneThatIsSeenAtOnceIsSeenOnlyWhereItIsChecked) {
  bench.run([&] {
    bench.enumerate();
    const auto strike = [&] {
      for (const Direction direction : {Direction::down, Direction::up}) {
        ASSERT_TRUE(bench.link.inject(direction, {Error::ecrc, {}, 1}));
      }
      sc_core::wait(10, sc_core::SC_US);
    };
    strike();
    for (const Id id : {Bench::root_port, Bench::device, second}) EXPECT_EQ(errors(id), 0u);
    control(Bench::root_port, check);
    control(second, check);
    strike();
    EXPECT_EQ(errors(Bench::root_port), bit_of(Error::ecrc));
    EXPECT_EQ(errors(Bench::device), 0u);
    EXPECT_EQ(errors(second), bit_of(Error::ecrc));
  });
}

}  // namespace
}  // namespace pcie
