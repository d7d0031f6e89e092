// SPDX-License-Identifier: Apache-2.0
// A burst of writes to memory ends with its first, and nobody can tell: the same script, once where
// memory is known to be RAM and once where it is not, so that each write has its own appointment.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>

#include "models/pcie/protocol/tlp_trace.h"
#include "tests/models/pcie/fixture.h"

namespace pcie {
namespace {

using nlohmann::json;
using vp::ns;
using vp::us;

constexpr unsigned memory_size = 0x100000;

struct Look {
  vp::Picoseconds when;
  std::uint32_t digest;
  bool operator==(const Look& other) const { return when == other.when && digest == other.digest; }
};

// Looks at memory again and again: as a model of the host does, by appointments of its domain, or
// as a processor, which the domain knows by its floor.
class Observer : public vp::Actor {
 public:
  enum class Kind { none, model, processor };

  Observer(Fixture& fixture, Kind kind)
      : fixture_(fixture),
        kind_(kind),
        model_(fixture.host, [this] { look(); }),
        processor_(vp::Calendar::processors(), [this] { look(); }) {
    fixture.host.add_actor(*this);
  }
  vp::Picoseconds floor() const override { return processor_.when(); }

  void watch(vp::Picoseconds span, vp::Picoseconds period) {
    begin_ = vp::now();
    end_ = begin_ + span;
    period_ = period;
    if (kind_ != Kind::none) next();
  }
  std::vector<Look> looks;

 private:
  void look() {
    looks.push_back({vp::now() - begin_, digest(fixture_.memory.bytes.data(), 0x10000)});
    if (vp::now() < end_) next();
  }
  void next() { (kind_ == Kind::model ? model_ : processor_).after(period_); }

  Fixture& fixture_;
  const Kind kind_;
  vp::Event model_, processor_;
  vp::Picoseconds begin_ = 0, end_ = 0, period_ = 0;
};

struct Outcome {
  std::vector<Look> looks;
  std::vector<Look> messages;
  json counters;
  std::vector<json> trace;
  std::vector<std::uint8_t> memory;
  std::uint64_t rounds = 0;
};

struct Streams {
  struct Side {
    Side(const char* name, bool known, Observer::Kind kind, Credits posted)
        : path(testing::TempDir() + "train_test_" + std::to_string(getpid()) + name),
          fixture(config(known, path, posted), name),
          observer(fixture, kind) {
      fixture.memory.keep_writes = false;
      fixture.logic.latency = 20 * ns;
    }
    static Fixture::Config config(bool known, const std::string& path, Credits posted) {
      Fixture::Config config;
      config.link = {4, 16, 100 * ns, 100 * ns};
      config.link.transmit_queue = roomy;
      config.root_complex.latency = 50 * ns;
      config.endpoint.latency = 40 * ns;
      config.root_complex.ports[0].credits.classes[0] = posted;
      config.root_complex.interrupt_latency = 77 * ns;
      if (known) config.root_complex.ram = {0, memory_size};
      config.trace = path;
      return config;
    }
    ~Side() { std::remove(path.c_str()); }
    std::string path;
    Fixture fixture;
    Observer observer;
  };

  // Streams with all that may stand between: messages, errors, reads both ways.
  static Outcome run(
      Side& side, vp::Picoseconds period, const std::function<void()>& begun = [] {}) {
    Fixture& fixture = side.fixture;
    Outcome outcome;
    vp::Picoseconds begin = 0;
    fixture.run([&] {
      fixture.enumerate();
      fixture.set_sizes(256, 512);
      const unsigned msi_x = fixture.find_capability(Fixture::device, MsiX::id);
      fixture.config_write(Fixture::device, msi_x + MsiX::message_control, MsiX::ControlBit::enable,
                           2);
      fixture.write(Fixture::msi_x_table, 0xfee00000, 8);
      fixture.write(Fixture::msi_x_table + 8, 0x21, 8);
      fixture.read(Fixture::msi_x_table, 8);
      wait_until_round(10 * us);
      fixture.memory.messages.clear();
      begin = vp::now();
      side.observer.watch(6 * us, period);
      begun();
      fixture.spawn([&] {
        for (unsigned i = 0; i < 4; ++i) fixture.read(Fixture::bar2 + 8 * i, 8);
        for (unsigned i = 0; i < 40; ++i) {
          fixture.write_bytes(Fixture::bar2, std::vector<std::uint8_t>(64));
        }
      });
      std::vector<std::unique_ptr<Logic::Dma>> writes;
      const auto write = [&](std::uint64_t address, unsigned bytes, unsigned value) {
        writes.push_back(fixture.logic.dma_write(address, std::vector<std::uint8_t>(bytes, value)));
      };
      const std::uint64_t rounds = sc_core::sc_delta_count();
      for (unsigned i = 0; i < 20; ++i) {
        write(0x1000 * (i % 16), 4096, i + 1);
        for (unsigned j = 0; j < 8; ++j) write(0x1000 * (i % 16), 4, i + 1);
        if (i % 5 == 4) fixture.endpoint.function(0).signal(0);
        if (i == 7) write(memory_size - 128, 256, 9);
        if (i == 9) {
          auto read = fixture.logic.dma_read(0x9000, 4096);
          fixture.wait_for(*read);
          EXPECT_EQ(read->data, std::vector<std::uint8_t>(4096, 10));
        }
      }
      for (const auto& one : writes) fixture.wait_for(*one);
      sc_core::wait(vp::to_sc_time(10 * us));
      outcome.rounds = sc_core::sc_delta_count() - rounds;
    });
    fixture.trace.close();
    outcome.looks = side.observer.looks;
    outcome.memory = fixture.memory.bytes;
    for (const auto& one : fixture.memory.messages) {
      outcome.messages.push_back({one.when - begin, digest(one.data.data(), one.data.size())});
    }
    const std::string prefix = fixture.name();
    for (const auto& [name, value] : fixture.statistics.json().at("counters").items()) {
      outcome.counters[name.substr(prefix.size())] = value;
    }
    std::ifstream file(side.path);
    std::string line;
    std::getline(file, line);
    while (std::getline(file, line)) {
      json one = json::parse(line);
      if (one["t"] < begin) continue;
      for (const char* key : {"t", "arr"}) one[key] = one[key].get<vp::Picoseconds>() - begin;
      one.erase("link");
      outcome.trace.push_back(one);
    }
    return outcome;
  }
  static void wait_until_round(vp::Picoseconds unit) {
    sc_core::wait(vp::to_sc_time(unit - vp::now() % unit));
  }
};

using Unseen = std::tuple<Observer::Kind, vp::Picoseconds, Credits>;
class Burst : public Streams, public testing::TestWithParam<Unseen> {};

std::string first_difference(const std::vector<json>& one, const std::vector<json>& other) {
  const auto [a, b] = std::mismatch(one.begin(), one.end(), other.begin(), other.end());
  if (a == one.end() && b == other.end()) return "";
  return "line " + std::to_string(a - one.begin()) + ": " + (a == one.end() ? "end" : a->dump()) +
         " and " + (b == other.end() ? "end" : b->dump());
}

TEST_P(Burst, IsAsOneByOne) {
  const auto [kind, period, posted] = GetParam();
  Side known("known", true, kind, posted), unknown("unknown", false, kind, posted);
  const Outcome burst = run(known, period);
  const Outcome single = run(unknown, period);
  EXPECT_EQ(burst.looks, single.looks);
  EXPECT_EQ(burst.looks.empty(), kind == Observer::Kind::none);
  EXPECT_EQ(burst.messages, single.messages);
  EXPECT_EQ(burst.messages.size(), 4u);
  EXPECT_EQ(burst.memory, single.memory);
  EXPECT_EQ(burst.counters, single.counters);
  EXPECT_GT(burst.trace.size(), 20u * 16);
  EXPECT_EQ(first_difference(burst.trace, single.trace), "");
  if (kind == Observer::Kind::none && posted.headers == 0) {
    EXPECT_LT(burst.rounds, single.rounds / 2) << "it takes fewer appointments";
  }
}

// A lane of the device's receiver fails, so that the link enters Recovery at the end from which the
// packets of a burst come.
TEST(BurstInRecovery, IsAsOneByOne) {
  constexpr unsigned moments = 24;
  std::vector<std::unique_ptr<Streams::Side>> sides;
  for (unsigned i = 0; i < 2 * moments; ++i) {
    sides.push_back(std::make_unique<Streams::Side>(("side" + std::to_string(i)).c_str(),
                                                    i % 2 == 0, Observer::Kind::none, Credits{}));
  }
  for (unsigned i = 0; i < moments; ++i) {
    const auto run = [&](Streams::Side& side) {
      vp::Event failure(side.fixture.host,
                        [&] { EXPECT_TRUE(side.fixture.link.fail_lane(Direction::down, 9)); });
      const Outcome outcome = Streams::run(side, 0, [&] { failure.after(1 * us + i * ns); });
      EXPECT_EQ(side.fixture.link.lanes(), 8u);
      return outcome;
    };
    const Outcome burst = run(*sides[2 * i]), single = run(*sides[2 * i + 1]);
    EXPECT_EQ(burst.messages, single.messages);
    EXPECT_EQ(burst.memory, single.memory);
    EXPECT_EQ(burst.counters, single.counters);
    EXPECT_EQ(first_difference(burst.trace, single.trace), "") << i;
  }
}

// A processor that is a plain SystemC process is known to nobody before it acts. The completion
// that wakes it arrives in one flit with writes of a burst.
TEST(BurstAroundACompletion, IsAsOneByOne) {
  const auto configured = [](bool known) {
    Fixture::Config config = Streams::Side::config(known, "", {});
    config.root_complex.ports[0].generation = config.endpoint.generation = 6;
    config.link.generation = 6;
    return config;
  };
  Fixture known(configured(true), "known"), unknown(configured(false), "unknown");
  constexpr unsigned half = 40, bytes = 64;
  // Returns how many of the writes the processor sees when its read has ended.
  const auto seen_after_read = [](Fixture& fixture) {
    std::vector<std::unique_ptr<Logic::Dma>> writes;
    const auto write = [&] {
      for (unsigned i = 0; i < half; ++i) {
        const std::uint64_t address = bytes * writes.size();
        writes.push_back(fixture.logic.dma_write(address, std::vector<std::uint8_t>(bytes, 1)));
      }
    };
    vp::Event before(fixture.card, write), after(fixture.card, write);
    std::ptrdiff_t seen = 0;
    fixture.run([&] {
      fixture.enumerate();
      pause(10 * us);
      fixture.logic.latency = 20 * ns;
      fixture.logic.on_use = [&](const Logic::Use&) {
        before.after(20 * ns - 1);
        after.after(20 * ns + 1);
      };
      fixture.read(Fixture::bar0, 4);
      const auto& memory = fixture.memory.bytes;
      const auto count = [&] {
        return std::count(memory.begin(), memory.begin() + 2 * half * bytes, 1) / bytes;
      };
      seen = count();
      pause(10 * us);
      EXPECT_EQ(count(), 2 * half);
    });
    return seen;
  };
  const std::ptrdiff_t burst = seen_after_read(known), single = seen_after_read(unknown);
  EXPECT_EQ(burst, single);
  EXPECT_GT(single, half) << "some of them come with the completion";
  EXPECT_LT(single, half + 4) << "a flit has room for three";
}

// A device with a second function whose bus does not belong to the link.
struct Stray {
  static Fixture::Config config(bool known) {
    Fixture::Config config = Streams::Side::config(known, "", {});
    config.endpoint.functions.resize(2);
    return config;
  }
  explicit Stray(bool known)
      : fixture(config(known), known ? "known" : "unknown"),
        foreign(known ? "foreign_known" : "foreign_unknown", fixture.card) {
    fixture.endpoint.function(1).bar.bind(foreign.bar);
    foreign.dma.bind(fixture.endpoint.function(1).dma);
  }
  void set_bus(unsigned bus) {
    fixture.config_write(Fixture::root_port, Type1Header::primary_bus_number, bus << 8 | bus << 16,
                         4);
  }
  void begin() {
    fixture.enumerate();
    fixture.set_sizes(256, 512);
    set_bus(2);
    fixture.config_write(make_id(2, 0, 1), Header::command, memory_and_master, 2);
    set_bus(1);
    const Id port = Fixture::root_port;
    fixture.enable_errors(port);
    const unsigned aer = fixture.find_extended_capability(port, AdvancedErrorReporting::id);
    fixture.config_write(port, aer + AdvancedErrorReporting::root_error_command,
                         AdvancedErrorReporting::RootErrorCommandBit::all, 4);
    fixture.enable_msi(port);
    const unsigned acs = fixture.find_extended_capability(port, AccessControl::id);
    fixture.config_write(port, acs + AccessControl::control,
                         AccessControl::ServiceBit::source_validation, 2);
  }
  // Returns how long after the burst has begun its last write was refused, as the interrupt says.
  vp::Picoseconds refusal() {
    vp::Picoseconds found = 0;
    fixture.run([&] {
      begin();
      const vp::Picoseconds start = vp::now();
      const auto write = fixture.logic.dma_write(0x1000, std::vector<std::uint8_t>(4096, 1));
      const auto stray = foreign.dma_write(0x3000, {1, 2, 3, 4});
      pause(10 * us);
      EXPECT_TRUE(write->done && stray->done);
      EXPECT_EQ(fixture.memory.at(0x1000, 4096), std::vector<std::uint8_t>(4096, 1));
      EXPECT_EQ(fixture.memory.at(0x3000, 4), std::vector<std::uint8_t>(4, 0));
      ASSERT_EQ(fixture.memory.messages.size(), 1u);
      found = fixture.memory.messages[0].when - start;
    });
    return found;
  }
  Fixture fixture;
  Logic foreign;
};

TEST(BurstOfTwoFunctions, AccessControlRefusesInTime) {
  Stray known(true), unknown(false);
  EXPECT_EQ(known.refusal(), unknown.refusal());
}

std::string name_of(const testing::TestParamInfo<Burst::ParamType>& info) {
  const char* names[] = {"Unobserved", "ByAModel", "ByAProcessor"};
  const auto [kind, period, posted] = info.param;
  return names[static_cast<int>(kind)] + std::string("Every") + std::to_string(period / ns) + "ns" +
         "Credits" + std::to_string(posted.headers);
}

// Infinite, and so few that the sender often has none left.
const auto credits = testing::Values(Credits{}, Credits{64, 16}, Credits{8, 64});

INSTANTIATE_TEST_SUITE_P(Unobserved, Burst,
                         testing::Combine(testing::Values(Observer::Kind::none),
                                          testing::Values(vp::Picoseconds{0}), credits),
                         name_of);
INSTANTIATE_TEST_SUITE_P(Observed, Burst,
                         testing::Combine(testing::Values(Observer::Kind::model,
                                                          Observer::Kind::processor),
                                          testing::Values(7 * ns, 50 * ns, 333 * ns), credits),
                         name_of);

}  // namespace
}  // namespace pcie
