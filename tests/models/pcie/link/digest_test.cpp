// SPDX-License-Identifier: Apache-2.0
// ECRC: which ports send digests, what digests cost, and what a wrong digest causes
// (PCIe 5.0, 2.7.1 and 7.8.4.7).
#include <gtest/gtest.h>

#include "tests/models/pcie/fixture.h"

namespace pcie {
namespace {

class Digests : public testing::Test {
 protected:
  static constexpr std::uint32_t generate = AdvancedErrorReporting::ControlBit::generation_enable;
  static constexpr std::uint32_t check = AdvancedErrorReporting::ControlBit::check_enable;

  static Fixture::Config config() {
    Fixture::Config config;
    config.endpoint.functions.resize(2, config.endpoint.functions[0]);
    config.endpoint.completion_timeout = config.root_complex.completion_timeout = 100 * vp::us;
    return config;
  }
  unsigned at(Id id) { return fixture.find_extended_capability(id, AdvancedErrorReporting::id); }
  void control(Id id, std::uint32_t value) {
    fixture.config_write(id, at(id) + AdvancedErrorReporting::control, value, 4);
  }
  std::uint32_t errors(Id id) {
    return fixture.config_read(id, at(id) + AdvancedErrorReporting::uncorrectable_status, 4);
  }
  std::uint64_t bytes(const char* direction) {
    return fixture.counter(std::string("link.") + direction + ".wire_bytes");
  }

  static constexpr Id second = make_id(1, 0, 1);
  Fixture fixture{config()};
};

TEST_F(Digests, EachFunctionSendsThemWhereSoftwareWants) {
  fixture.run([&] {
    fixture.enumerate();
    const auto read = [&] {
      const std::uint64_t down = bytes("down"), up = bytes("up");
      fixture.read(Fixture::bar0, 4);
      return std::pair{bytes("down") - down, bytes("up") - up};
    };
    using Bytes = std::pair<std::uint64_t, std::uint64_t>;
    EXPECT_EQ(read(), (Bytes{20, 24}));
    control(Fixture::root_port, generate);
    EXPECT_EQ(read(), (Bytes{24, 24}));
    control(Fixture::device, generate);
    EXPECT_EQ(read(), (Bytes{24, 28}));
    control(Fixture::root_port, 0);
    EXPECT_EQ(read(), (Bytes{20, 28}));
    std::uint64_t up = bytes("up");
    fixture.logic.dma_write(0x1000, {1, 2, 3, 4});
    EXPECT_EQ(bytes("up") - up, 8u + 12 + 4 + 4);
    up = bytes("up");
    fixture.config_read(second, Header::vendor_id, 4);
    EXPECT_EQ(bytes("up") - up, 24u) << "the other function does not";
    up = bytes("up");
    fixture.config_read(make_id(1, 0, 7), Header::vendor_id, 4);
    EXPECT_EQ(bytes("up") - up, 24u) << "for one that is not there the first answers: 20 and 4";
  });
}

// TD of what is logged, at whichever end.
TEST_F(Digests, HeaderLogsTellOfThem) {
  fixture.run([&] {
    fixture.enumerate();
    for (const bool digest : {false, true, false}) {
      for (const Id id : {Fixture::root_port, Fixture::device}) {
        control(id, digest ? generate : 0);
        fixture.config_write(id, at(id) + AdvancedErrorReporting::uncorrectable_status, ~0u, 4);
      }
      fixture.write(0xc0050000, 0, 4);  // in the window, of nobody
      fixture.logic.dma_write(1ull << 50, {1, 2, 3, 4});
      pause(10 * vp::us);
      const std::uint32_t td = digest ? 0x8000 : 0;
      EXPECT_EQ(errors(Fixture::device), bit_of(Error::unsupported_request));
      EXPECT_EQ(fixture.config_read(Fixture::device,
                                    at(Fixture::device) + AdvancedErrorReporting::header_log, 4),
                0x40000001 | td);
      EXPECT_EQ(errors(Fixture::root_port), bit_of(Error::unsupported_request));
      EXPECT_EQ(fixture.config_read(Fixture::root_port,
                                    at(Fixture::root_port) + AdvancedErrorReporting::header_log, 4),
                0x60000001 | td);
    }
  });
}

TEST_F(Digests, TakeTheTimeOfFourBytes) {
  fixture.run([&] {
    fixture.enumerate();
    const auto elapsed = [&] {
      const vp::Picoseconds start = vp::now();
      fixture.read(Fixture::bar0, 4);
      return vp::now() - start;
    };
    const vp::Picoseconds without = elapsed();
    control(Fixture::root_port, generate);
    control(Fixture::device, generate);
    const LineRate& rate = fixture.link.rate();
    const double both =
        8.0 * static_cast<double>(rate.picoseconds) / static_cast<double>(rate.bytes);
    EXPECT_NEAR(static_cast<double>(elapsed() - without), both, 2);
  });
}

// Of all four cases only one is an error: a digest that is there, and is checked.
TEST_F(Digests, ABadOneIsAnErrorWhereItIsChecked) {
  fixture.run([&] {
    fixture.enumerate();
    unsigned value = 0;
    for (const std::uint32_t sent : {0u, generate}) {
      for (const std::uint32_t checked : {0u, check}) {
        control(Fixture::root_port, sent);
        control(Fixture::device, checked);
        ASSERT_TRUE(fixture.link.inject(Direction::down, {Error::ecrc, TlpType::MWr, 1}));
        const unsigned before = value++;
        fixture.write(Fixture::bar0, value, 4);
        const bool dropped = sent != 0 && checked != 0;
        EXPECT_EQ(fixture.read(Fixture::bar0, 4), dropped ? before : value)
            << sent << ' ' << checked;
        EXPECT_EQ(errors(Fixture::device), dropped ? bit_of(Error::ecrc) : 0u);
        EXPECT_EQ(errors(second), 0u) << "that does not check";
        if (!dropped) continue;
        EXPECT_EQ(fixture.config_read(Fixture::device,
                                      at(Fixture::device) + AdvancedErrorReporting::header_log, 4),
                  0x40008001u)
            << "TD";
        EXPECT_EQ(fixture.config_read(Fixture::device,
                                      at(Fixture::device) + AdvancedErrorReporting::control, 4) &
                      AdvancedErrorReporting::ControlBit::first_error_pointer,
                  19u);
      }
    }
  });
}

TEST_F(Digests, ABadOneOnTheWayUpLosesTheCompletion) {
  fixture.run([&] {
    fixture.enumerate();
    control(Fixture::device, generate);
    fixture.write(Fixture::bar0, 0x1234, 4);
    ASSERT_TRUE(fixture.link.inject(Direction::up, {Error::ecrc, TlpType::CplD, 1}));
    EXPECT_EQ(fixture.read(Fixture::bar0, 4), 0x1234u) << "not checked";
    control(Fixture::root_port, check);
    ASSERT_TRUE(fixture.link.inject(Direction::up, {Error::ecrc, TlpType::CplD, 1}));
    EXPECT_EQ(fixture.read(Fixture::bar0, 4), 0xffffffffu);
    EXPECT_EQ(errors(Fixture::root_port), bit_of(Error::ecrc) | bit_of(Error::completion_timeout));
  });
}

TEST_F(Digests, OneThatIsSeenAtOnceIsSeenOnlyWhereItIsChecked) {
  fixture.run([&] {
    fixture.enumerate();
    const auto inject = [&] {
      for (const Direction direction : {Direction::down, Direction::up}) {
        ASSERT_TRUE(fixture.link.inject(direction, {Error::ecrc, {}, 1}));
      }
      sc_core::wait(10, sc_core::SC_US);
    };
    inject();
    for (const Id id : {Fixture::root_port, Fixture::device, second}) EXPECT_EQ(errors(id), 0u);
    control(Fixture::root_port, check);
    control(second, check);
    inject();
    EXPECT_EQ(errors(Fixture::root_port), bit_of(Error::ecrc));
    EXPECT_EQ(errors(Fixture::device), 0u);
    EXPECT_EQ(errors(second), bit_of(Error::ecrc));
  });
}

}  // namespace
}  // namespace pcie
