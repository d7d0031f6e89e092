// SPDX-License-Identifier: Apache-2.0
// Bit errors of a link as its ports see them: at the end and at the time that the specification
// says, and as often as the counters.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
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
  std::vector<vp::Picoseconds> recoveries;
  std::function<void()> on_unblocked;
  bool synch = false;  // Extended Synch

  using Port::blocked;
  using Port::hold_link;
  using Port::Port;
  using Port::release_link;
  using Port::send;
  End(vp::Domain& domain, const PortConfig& config) : Port(domain, config) {}
  void receive(TlpPtr) override { arrivals.push_back(vp::now()); }
  void trained(unsigned, unsigned) override {}
  void recovering() override { recoveries.push_back(vp::now()); }
  void unblocked(CreditClass) override {
    if (on_unblocked) on_unblocked();
  }
  bool extended_synch() const override { return synch; }
  unsigned active_states() const override { return port_config().active_states; }
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

  /// Two ports of generation 6 would be in flit mode on any channel.
  explicit Pair(const LinkConfig& config) : Pair(config, config.generation == 6 ? 6 : 5) {}
  /// `credits` are those of the lower end.
  Pair(const LinkConfig& config, unsigned generation, unsigned states = 0,
       const CreditConfig& credits = {})
      : up(host, {generation, 16, 70 * vp::ns, {}, false, 0, states}),
        down(card, {generation, 16, 30 * vp::ns, credits, false, 0, states}),
        link("link", config, up, down, trace, statistics) {}
  /// Runs the script. A link with bit errors always has an appointment, so the time is limited.
  void run(const std::function<void()>& script) {
    bool done = false;
    sc_core::sc_spawn([&] {
      script();
      done = true;
      sc_core::sc_pause();
    });
    sc_core::sc_start(3'600, sc_core::SC_SEC);
    EXPECT_TRUE(done);
  }
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
  pair.run([&] {
    for (unsigned i = 0; i < 5'000; ++i) {
      pair.up.send(write(256));
      pair.down.send(write(4 * (1 + i % 64)));
      if (i % 3 == 0) sc_core::wait(1, sc_core::SC_US);
    }
    while (pair.up.arrivals.size() < 5'000 || pair.down.arrivals.size() < 5'000) pause(1 * vp::ms);
  });
  EXPECT_EQ(pair.up.arrivals.size(), 5'000u) << generation;
  EXPECT_EQ(pair.down.arrivals.size(), 5'000u) << generation;
  const auto check = [&](Direction direction, const End& transmitter, const End& receiver) {
    const DataLink::Counts& counts = pair.link.errors(direction);
    const DataLink::Counts& opposite =
        pair.link.errors(direction == Direction::down ? Direction::up : Direction::down);
    EXPECT_GT(counts.replays, 10u);
    EXPECT_GT(counts.receiver_errors + counts.bad_tlps, 10u);
    EXPECT_EQ(counts.bad_tlps > 0, generation >= 3 && generation <= 5);
    EXPECT_EQ(receiver.count(Error::bad_tlp), counts.bad_tlps);
    EXPECT_EQ(receiver.count(Error::receiver_error),
              counts.receiver_errors + opposite.dllp_receiver_errors);
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

// No credits come back in Recovery, in whichever direction the error was that has caused it: their
// UpdateFCs need the wire of the other one.
TEST(BitErrors, NoCreditsComeBackInRecovery) {
  constexpr unsigned packets = 40'000;
  CreditConfig few;
  few.classes[0] = {2, 0};
  Pair pair(config(3, 3e-5), 5, 0, few);
  std::vector<vp::Picoseconds> credited;
  unsigned sent = 0;
  const auto send_until_one_waits = [&] {
    while (sent < packets && !pair.up.blocked(CreditClass::posted)) {
      pair.up.send(write(256));
      ++sent;
    }
  };
  pair.up.on_unblocked = [&] {
    credited.push_back(vp::now());
    send_until_one_waits();
  };
  pair.run([&] {
    send_until_one_waits();
    while (pair.down.arrivals.size() < packets) pause(1 * vp::ms);
  });
  const vp::Picoseconds least = LinkConfig{}.retraining - pair.link.min_latency(Direction::up);
  EXPECT_GT(pair.up.recoveries.size(), 30u);
  for (const vp::Picoseconds begin : pair.up.recoveries) {
    // What the port had received before takes its latency.
    const auto next = std::upper_bound(credited.begin(), credited.end(), begin + 70 * vp::ns);
    if (next == credited.end()) break;
    EXPECT_GT(*next, begin + least);
  }
}

// A packet that is refused once arrives a round trip and its bytes after that was seen.
TEST(BitErrors, ABadTlpIsSeenWhenItWouldHaveBeenReceived) {
  LinkConfig values = config(4, 1e-6);
  values.retraining = 1 * vp::us;
  Pair pair(values);
  unsigned replayed = 0;
  const LineRate rate = pair.link.rate();
  const auto bytes = static_cast<vp::Picoseconds>(280 * rate.picoseconds / rate.bytes);
  const auto dllp = static_cast<vp::Picoseconds>(8 * rate.picoseconds / rate.bytes);
  // Nothing sent the link to Recovery from 5 us before the packet until it had arrived.
  const auto undisturbed = [&pair](vp::Picoseconds start) {
    for (const End* end : {&pair.up, &pair.down}) {
      for (const End::Seen& one : end->seen) {
        if (one.error == Error::receiver_error && one.when > start - 5 * vp::us &&
            one.when <= pair.down.arrivals.back()) {
          return false;
        }
      }
    }
    return true;
  };
  pair.run([&] {
    for (unsigned i = 0; i < 20'000; ++i) {
      const vp::Picoseconds start = vp::now();
      pair.up.send(Tlp::memory_write(0x100000000, std::vector<std::uint8_t>(256).data(), 256));
      pause(30 * vp::us);
      ASSERT_EQ(pair.down.arrivals.size(), i + 1);
      if (undisturbed(start) && pair.up.count(Error::replay_timeout) == 0) {
        vp::Picoseconds expected = start + 400 * vp::ns + bytes;
        if (pair.down.count(Error::bad_tlp) == 1) {
          ++replayed;
          const auto seen =
              std::find_if(pair.down.seen.begin(), pair.down.seen.end(),
                           [](const End::Seen& one) { return one.error == Error::bad_tlp; });
          EXPECT_NEAR(static_cast<double>(seen->when), static_cast<double>(expected), 2);
          expected += 500 * vp::ns + dllp + bytes;
        }
        EXPECT_NEAR(static_cast<double>(pair.down.arrivals[i]), static_cast<double>(expected), 4);
      }
      const auto old = [](const End::Seen& one) {
        return one.error != Error::receiver_error || one.when < vp::now() - 5 * vp::us;
      };
      for (End* end : {&pair.up, &pair.down}) {
        end->seen.erase(std::remove_if(end->seen.begin(), end->seen.end(), old), end->seen.end());
      }
    }
  });
  EXPECT_GT(replayed, 20u);
}

class BitErrorsDown : public testing::TestWithParam<vp::Picoseconds> {};

TEST_P(BitErrorsDown, AreNotSeenOnceTheLinkIsDown) {
  Pair pair(config(3, 1e-4));
  pair.run([&] {
    for (unsigned i = 0; i < 1'000; ++i) {
      pair.up.send(write(256));
      pair.down.send(write(256));
    }
    pause(GetParam());
    const std::size_t before = pair.up.seen.size();
    pair.up.hold_link(Reset::hot);
    pause(10 * vp::us);
    const std::size_t below = pair.down.seen.size();
    pause(10 * vp::ms);
    EXPECT_EQ(pair.up.seen.size(), before);
    EXPECT_EQ(pair.down.seen.size(), below);
    pair.up.release_link(Reset::hot);
    pause(10 * vp::ms);
    EXPECT_GT(pair.up.seen.size(), before) << "errors of the idle wire, after training";
  });
}
INSTANTIATE_TEST_SUITE_P(Moments, BitErrorsDown,
                         testing::Values(1 * vp::ns, 1 * vp::us, 100 * vp::us, 1 * vp::ms));

// The lanes send idle symbols or flits, as many bits as the rate says.
struct Idle {
  unsigned generation;
  double rate;
  vp::Picoseconds span;
  double expected;  // in each direction
};
class IdleErrors : public testing::TestWithParam<Idle> {};

TEST_P(IdleErrors, AreAsFrequentAsTheBits) {
  const Idle& idle = GetParam();
  Pair pair(config(idle.generation, idle.rate));
  pair.run([&] { pause(idle.span); });
  for (const End* end : {&pair.up, &pair.down}) {
    EXPECT_EQ(end->count(Error::receiver_error), end->seen.size());
    EXPECT_NEAR(static_cast<double>(end->seen.size()), idle.expected, 4 * std::sqrt(idle.expected));
  }
  const bool framed = idle.generation >= 3 && idle.generation <= 5;
  EXPECT_EQ(pair.up.recoveries.size(), framed ? pair.up.seen.size() + pair.down.seen.size() : 0u);
}
INSTANTIATE_TEST_SUITE_P(
    Links, IdleErrors,
    testing::Values(Idle{1, 1e-9, 100 * vp::s, 2.5 * 100}, Idle{2, 1e-9, 100 * vp::s, 5 * 100},
                    Idle{3, 1e-9, 100 * vp::s, 8 * 100}, Idle{5, 1e-9, 100 * vp::s, 32 * 100},
                    // Of bit_error_table.inc: 317.066 flits of 4,000,000 x 272 / 236 are wrong.
                    Idle{6, 1e-5, 1 * vp::s,
                         317.066 / (4e6 * 272 / 236) * 64e9 / 2048 * 11968 / 12008}),
    [](const auto& info) { return "Generation" + std::to_string(info.param.generation); });

// The time without traffic is all that counts: packets in between do not move the errors.
TEST(IdleWire, TrafficLeavesThemAsFrequent) {
  Pair pair(config(2, 1e-7));
  pair.run([&] {
    for (unsigned i = 0; i < 100'000; ++i) {
      pair.up.send(write(4));
      pause(10 * vp::us);
    }
  });
  // All bits of one second: 500 in each direction, of packets, their acknowledgements or idle.
  for (const End* end : {&pair.up, &pair.down}) {
    EXPECT_NEAR(static_cast<double>(end->count(Error::receiver_error)), 500, 4 * std::sqrt(500));
  }
}

// A direction that sleeps sends no symbols. Awake, it is for 1 us after each packet, which the
// acknowledgement is for the other direction.
TEST(IdleWire, AsleepItHasNoErrors) {
  Pair pair(config(2, 1e-6), 5, l0s);
  pair.run([&] {
    for (unsigned i = 0; i < 10'000; ++i) {
      pair.up.send(write(4));
      pause(100 * vp::us);
    }
  });
  // In each direction 5,000 bits after each packet, and 240 bits in each packet
  const double idle = 10'000 * 5e-3, packets = 10'000 * 240e-6;
  EXPECT_NEAR(static_cast<double>(pair.up.seen.size()), idle, 4 * std::sqrt(idle) + 4);
  EXPECT_NEAR(static_cast<double>(pair.down.seen.size()), idle + packets,
              4 * std::sqrt(idle + packets) + 4);
}

// The other domain may have executed as far as the lookahead permits when an error becomes known.
class IdleWireOf : public testing::TestWithParam<unsigned> {};

TEST_P(IdleWireOf, KeepsThePromiseOfTheLookahead) {
  const unsigned generation = GetParam();
  Pair pair(config(generation, 1e-4), generation == 6 ? 6 : 5, generation == 6 ? l1 : l0s | l1);
  pair.run([&] {
    for (unsigned i = 0; i < 1'000'000; ++i) {
      for (vp::Domain* domain : {&pair.card, &pair.host}) {
        domain->reach(domain->horizon(vp::now() + domain->lookahead()));
      }
      if (i % 100 < 20 && i % 7 == 0) pair.up.send(write(4));
      pause(5 * vp::ns);
    }
  });
  EXPECT_GT(pair.down.count(Error::receiver_error), 10u);
}
INSTANTIATE_TEST_SUITE_P(Generations, IdleWireOf, testing::Range(1u, 7u));

// Nothing arrives while the link is in Recovery for an error of the idle wire.
TEST(IdleWire, PacketsWaitForTheEndOfRecovery) {
  Pair pair(config(4, 1e-6));
  unsigned delayed = 0;
  pair.run([&] {
    for (unsigned i = 0; i < 1'000; ++i) {
      const std::size_t before = pair.up.recoveries.size();
      while (pair.up.recoveries.size() == before) pause(100 * vp::ns);
      const vp::Picoseconds start = vp::now();
      const std::size_t arrived = pair.down.arrivals.size();
      pair.up.send(write(4));
      while (pair.down.arrivals.size() == arrived) pause(100 * vp::ns);
      delayed += pair.down.arrivals.back() - start > 15 * vp::us;
    }
  });
  EXPECT_EQ(delayed, 1'000u);
}

// A lost ACK costs the limit that the port and the speed have, from the last symbol on.
struct Timer {
  unsigned port_generation;
  bool synch;
  vp::Picoseconds limit;
};
class ReplayTimers : public testing::TestWithParam<Timer> {};

TEST_P(ReplayTimers, ExpireAfterTheLimit) {
  Pair pair(config(2, 1e-5), GetParam().port_generation);
  pair.up.synch = GetParam().synch;
  const LineRate rate = pair.link.rate();
  const auto bytes = static_cast<vp::Picoseconds>(24 * rate.picoseconds / rate.bytes);
  unsigned expired = 0;
  pair.run([&] {
    for (unsigned i = 0; i < 30'000; ++i) {
      const vp::Picoseconds start = vp::now();
      pair.up.seen.clear();
      pair.up.send(write(4));
      pause(200 * vp::us);
      ASSERT_EQ(pair.down.arrivals.size(), i + 1);
      if (pair.down.arrivals.back() - start > 400 * vp::ns + bytes + 10) continue;  // replayed
      for (const End::Seen& one : pair.up.seen) {
        if (one.error != Error::replay_timeout) continue;
        ++expired;
        EXPECT_NEAR(static_cast<double>(one.when - start - 70 * vp::ns - bytes),
                    static_cast<double>(GetParam().limit), 2);
      }
    }
  });
  EXPECT_GT(expired, 5u);
}
INSTANTIATE_TEST_SUITE_P(
    Ports, ReplayTimers,
    testing::Values(Timer{5, false, 24'000 * 2 * vp::ns}, Timer{4, true, 80'000 * 2 * vp::ns},
                    // PCIe 3.1: x1, 256 bytes
                    Timer{2, false, 1'401 * 2 * vp::ns}, Timer{3, true, 1'401 * 2 * vp::ns}),
    [](const auto& info) { return "Generation" + std::to_string(info.param.port_generation); });

/// A host that listens to all errors, with a link that has some.
struct ErrorFixture : Fixture {
  static Config configuration(double rate, unsigned generation) {
    Config config;
    config.link.latency_down = 300 * vp::ns;
    config.link.latency_up = 200 * vp::ns;
    config.link.bit_error_rate = rate;
    config.link.lanes = 1;
    config.link.generation = generation;
    config.link.retraining = 1 * vp::us;
    return config;
  }
  explicit ErrorFixture(double rate, unsigned generation = 2)
      : Fixture(configuration(rate, generation)) {
    memory.fill();
  }

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

// With 8b/10b, the physical layer alone reports what is wrong. With 128b/130b, Recovery after
// errors of the idle wire leaves the replay timer no time.
struct Logged {
  unsigned generation;
  std::uint32_t some, none;  // bits of the status that some errors must set, and that none may
};
class LoggedErrors : public testing::TestWithParam<Logged> {};

TEST_P(LoggedErrors, AreReportedByBothEnds) {
  ErrorFixture fixture(1e-4, GetParam().generation);
  std::map<Id, std::uint32_t> logged;
  unsigned reported = 0;
  fixture.run([&] {
    fixture.begin();
    for (unsigned i = 0; i < 1'000; ++i) {
      fixture.expect_work();
      pause(60 * vp::us);
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
  for (const Id id : {Fixture::root_port, Fixture::device}) {
    EXPECT_EQ(logged[id] & (GetParam().some | GetParam().none), GetParam().some) << id;
  }
  EXPECT_GT(reported, 100u);
}
INSTANTIATE_TEST_SUITE_P(Generations, LoggedErrors,
                         testing::Values(Logged{2, 1u << 0 | 1u << 12, 1u << 6 | 1u << 7},
                                         Logged{3, 1u << 0 | 1u << 6 | 1u << 7, 0}),
                         [](const auto& info) {
                           return "Generation" + std::to_string(info.param.generation);
                         });

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
