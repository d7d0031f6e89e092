// SPDX-License-Identifier: Apache-2.0
// Bit errors of a link as its ports see them: at the end and at the time that the specification
// says, and as often as the counters.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <vector>

#include "tests/models/pcie/fixture.h"

namespace pcie {
namespace {

struct End : Port {
  struct Seen {
    vp::Picoseconds when;
    Error error;
  };
  std::vector<Seen> seen;
  std::vector<vp::Picoseconds> arrivals;

  using Port::hold_link;
  using Port::Port;
  using Port::release_link;
  using Port::send;
  End(vp::Domain& domain, const PortConfig& config) : Port(domain, config) {}
  void receive(TlpPtr) override { arrivals.push_back(vp::now()); }
  void trained(unsigned, unsigned) override {}
  void detected(Error error, const Tlp* tlp) override {
    EXPECT_EQ(tlp, nullptr);
    seen.push_back({vp::now(), error});
  }
  std::uint64_t count(Error error) const {
    return static_cast<std::uint64_t>(std::count_if(
        seen.begin(), seen.end(), [error](const Seen& one) { return one.error == error; }));
  }
};

struct Pair {
  vp::Domain host{sc_core::sc_gen_unique_name("host")};
  vp::Domain card{sc_core::sc_gen_unique_name("card")};
  vp::Trace trace;
  vp::Statistics statistics;
  End up;
  End down;
  Link link;

  explicit Pair(const LinkConfig& config)
      : up(host, {6, 16, 70 * vp::ns}),
        down(card, {6, 16, 30 * vp::ns}),
        link("link", config, up, down, trace, statistics) {}
};

LinkConfig config(unsigned generation, double rate) {
  LinkConfig config;
  config.generation = generation;
  config.lanes = 1;
  config.latency_down = 300 * vp::ns;
  config.latency_up = 200 * vp::ns;
  config.bit_error_rate = rate;
  return config;
}

TlpPtr write(unsigned bytes) {
  static const std::uint8_t data[256] = {};
  return Tlp::memory_write(0x1000, data, bytes);
}

// Both ways at a time, so that errors of the one are seen among those of the other.
class BitErrorsOf : public testing::TestWithParam<unsigned> {};

TEST_P(BitErrorsOf, AreSeenAsOftenAsTheyAreCounted) {
  const unsigned generation = GetParam();
  Pair pair(config(generation, 1e-4));
  sc_core::sc_spawn([&] {
    for (unsigned i = 0; i < 5'000; ++i) {
      pair.up.send(write(256));
      pair.down.send(write(4 * (1 + i % 64)));
      if (i % 3 == 0) sc_core::wait(1, sc_core::SC_US);
    }
  });
  sc_core::sc_start();
  EXPECT_EQ(pair.up.arrivals.size(), 5'000u) << generation;
  EXPECT_EQ(pair.down.arrivals.size(), 5'000u) << generation;
  const auto check = [&](Direction direction, const End& transmitter, const End& receiver) {
    const DataLink::Counts& counts = pair.link.errors(direction);
    EXPECT_GT(counts.replays, 10u);
    EXPECT_GT(counts.receiver_errors + counts.bad_tlps, 10u);
    EXPECT_EQ(counts.bad_tlps > 0, generation < 6);
    EXPECT_EQ(receiver.count(Error::bad_tlp), counts.bad_tlps);
    EXPECT_EQ(receiver.count(Error::receiver_error), counts.receiver_errors);
    EXPECT_EQ(transmitter.count(Error::bad_dllp), counts.bad_dllps);
    EXPECT_EQ(transmitter.count(Error::replay_timeout), counts.timeouts);
    EXPECT_EQ(transmitter.count(Error::replay_rollover), counts.rollovers);
  };
  check(Direction::down, pair.up, pair.down);
  check(Direction::up, pair.down, pair.up);
  for (const End* end : {&pair.up, &pair.down}) {
    EXPECT_TRUE(
        std::is_sorted(end->seen.begin(), end->seen.end(),
                       [](const End::Seen& a, const End::Seen& b) { return a.when < b.when; }));
  }
}
INSTANTIATE_TEST_SUITE_P(Generations, BitErrorsOf, testing::Range(1u, 7u));

// A packet that is refused once arrives a round trip and its bytes after that was seen.
TEST(BitErrors, ABadTlpIsSeenWhenItWouldHaveBeenReceived) {
  Pair pair(config(4, 1e-5));
  unsigned replayed = 0;
  const LineRate rate = pair.link.rate();
  const auto bytes = static_cast<vp::Picoseconds>(280 * rate.picoseconds / rate.bytes);
  const auto dllp = static_cast<vp::Picoseconds>(8 * rate.picoseconds / rate.bytes);
  sc_core::sc_spawn([&] {
    for (unsigned i = 0; i < 2'000; ++i) {
      pair.down.seen.clear();
      pair.up.seen.clear();
      const vp::Picoseconds start = vp::now();
      pair.up.send(Tlp::memory_write(0x100000000, std::vector<std::uint8_t>(256).data(), 256));
      pause(1 * vp::ms);
      ASSERT_EQ(pair.down.arrivals.size(), i + 1);
      vp::Picoseconds expected = start + 400 * vp::ns + bytes;
      if (pair.down.seen.size() > 1 || pair.down.count(Error::receiver_error) != 0) continue;
      if (pair.up.count(Error::replay_timeout) != 0) continue;  // its ACK, or the NAK, is lost
      if (pair.down.seen.size() == 1) {
        ++replayed;
        EXPECT_EQ(pair.down.seen[0].error, Error::bad_tlp);
        EXPECT_NEAR(static_cast<double>(pair.down.seen[0].when), static_cast<double>(expected), 2);
        expected += 500 * vp::ns + dllp + bytes;
      }
      EXPECT_NEAR(static_cast<double>(pair.down.arrivals[i]), static_cast<double>(expected), 4);
    }
  });
  sc_core::sc_start();
  EXPECT_GT(replayed, 20u);
}

class BitErrorsDown : public testing::TestWithParam<vp::Picoseconds> {};

TEST_P(BitErrorsDown, AreNotSeenOnceTheLinkIsDown) {
  Pair pair(config(3, 1e-4));
  sc_core::sc_spawn([&] {
    for (unsigned i = 0; i < 1'000; ++i) {
      pair.up.send(write(256));
      pair.down.send(write(256));
    }
    pause(GetParam());
    const std::size_t before = pair.up.seen.size();
    pair.up.hold_link(Reset::hot);
    pause(10 * vp::us);
    const std::size_t below = pair.down.seen.size();
    pair.up.release_link(Reset::hot);
    pause(10 * vp::ms);
    EXPECT_EQ(pair.up.seen.size(), before);
    EXPECT_EQ(pair.down.seen.size(), below);
  });
  sc_core::sc_start();
}
INSTANTIATE_TEST_SUITE_P(Moments, BitErrorsDown,
                         testing::Values(1 * vp::ns, 1 * vp::us, 100 * vp::us, 1 * vp::ms));

/// A host that listens to all errors, with a link that has some.
struct ErrorFixture : Fixture {
  static Config configuration(double rate) {
    Config config;
    config.link.latency_down = 300 * vp::ns;
    config.link.latency_up = 200 * vp::ns;
    config.link.bit_error_rate = rate;
    config.link.lanes = 1;
    config.link.generation = 2;
    return config;
  }
  explicit ErrorFixture(double rate) : Fixture(configuration(rate)) { memory.fill(); }

  void begin() {
    enumerate();
    for (const Id id : {root_port, device}) {
      const unsigned control = find_capability(id, PciExpress::id) + PciExpress::device_control;
      config_write(id, control, config_read(id, control, 2) | 0xf, 2);
    }
    const unsigned msi = find_capability(root_port, Msi::id);
    config_write(root_port, msi + Msi::message_address, 0xfee01004, 4);
    config_write(root_port, msi + Msi::message_data, 0x4123, 2);
    config_write(root_port, msi + Msi::message_control, Msi::ControlBit::enable, 2);
    config_write(
        root_port,
        ConfigSpace::first_extended_capability + AdvancedErrorReporting::root_error_command,
        AdvancedErrorReporting::RootErrorCommandBit::all, 4);
  }
};

TEST(BitErrors, AreLoggedAndReportedByBothEnds) {
  ErrorFixture fixture(1e-4);
  std::map<Id, std::uint32_t> logged;
  unsigned reported = 0;
  fixture.run([&] {
    fixture.begin();
    for (unsigned i = 0; i < 300; ++i) {
      fixture.expect_work();
      pause(10 * vp::us);
      const std::uint32_t status = fixture.config_read(
          Fixture::root_port,
          ConfigSpace::first_extended_capability + AdvancedErrorReporting::root_error_status, 4);
      const std::uint32_t source =
          fixture.config_read(
              Fixture::root_port,
              ConfigSpace::first_extended_capability + AdvancedErrorReporting::error_source, 4) &
          0xffff;
      if (status != 0) {
        ++reported;
        EXPECT_EQ(status & ~3u, 0u) << "correctable";
        EXPECT_TRUE(source == Fixture::root_port || source == Fixture::device) << source;
        EXPECT_FALSE(fixture.memory.messages.empty());
      }
      fixture.memory.messages.clear();
      for (const Id id : {Fixture::root_port, Fixture::device}) {
        const std::uint32_t found = fixture.config_read(
            id, ConfigSpace::first_extended_capability + AdvancedErrorReporting::correctable_status,
            4);
        logged[id] |= found;
        fixture.config_write(
            id, ConfigSpace::first_extended_capability + AdvancedErrorReporting::correctable_status,
            found, 4);
        EXPECT_EQ(fixture.config_read(id,
                                      ConfigSpace::first_extended_capability +
                                          AdvancedErrorReporting::uncorrectable_status,
                                      4),
                  0u)
            << "and nothing else";
      }
      fixture.config_write(
          Fixture::root_port,
          ConfigSpace::first_extended_capability + AdvancedErrorReporting::root_error_status, 0x7f,
          4);
    }
  });
  constexpr std::uint32_t all = 1u << 0 | 1u << 6 | 1u << 7 | 1u << 12;
  EXPECT_EQ(logged[Fixture::root_port] & all, all);
  EXPECT_EQ(logged[Fixture::device] & all, all);
  EXPECT_GT(reported, 100u);
}

TEST(BitErrors, NothingIsReportedWithoutThem) {
  ErrorFixture fixture(0);
  fixture.run([&] {
    fixture.begin();
    for (unsigned i = 0; i < 100; ++i) fixture.expect_work();
    EXPECT_EQ(
        fixture.config_read(
            Fixture::root_port,
            ConfigSpace::first_extended_capability + AdvancedErrorReporting::correctable_status, 4),
        0u);
    EXPECT_EQ(
        fixture.config_read(
            Fixture::device,
            ConfigSpace::first_extended_capability + AdvancedErrorReporting::correctable_status, 4),
        0u);
    EXPECT_TRUE(fixture.memory.messages.empty());
  });
}

}  // namespace
}  // namespace pcie
