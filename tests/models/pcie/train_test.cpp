// SPDX-License-Identifier: Apache-2.0
// A train of writes to memory ends with its first, and nobody can tell: the same script, once where
// memory is known to be RAM and once where it is not, so that each write has its own appointment.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <nlohmann/json.hpp>

#include "models/pcie/tlp_trace.h"
#include "tests/models/pcie/bench.h"

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

  Observer(Bench& bench, Kind kind)
      : bench_(bench),
        kind_(kind),
        model_(bench.host, [this] { look(); }),
        processor_(vp::Calendar::processors(), [this] { look(); }) {
    bench.host.add_actor(*this);
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
    looks.push_back({vp::now() - begin_, digest(bench_.memory.bytes.data(), 0x10000)});
    if (vp::now() < end_) next();
  }
  void next() { (kind_ == Kind::model ? model_ : processor_).after(period_); }

  Bench& bench_;
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

class Train : public testing::TestWithParam<std::tuple<Observer::Kind, vp::Picoseconds>> {
 protected:
  struct Side {
    explicit Side(const char* name, bool known, Observer::Kind kind)
        : path(testing::TempDir() + "train_test_" + std::to_string(getpid()) + name),
          bench(config(known, path), name),
          observer(bench, kind) {
      bench.memory.keep_writes = false;
      bench.logic.latency = 20 * ns;
    }
    static Bench::Config config(bool known, const std::string& path) {
      Bench::Config config;
      config.link = {4, 16, 100 * ns, 100 * ns};
      config.root_complex.latency = 50 * ns;
      config.root_complex.interrupt_latency = 77 * ns;
      if (known) config.root_complex.ram = {0, memory_size};
      config.trace = path;
      return config;
    }
    ~Side() { std::remove(path.c_str()); }
    std::string path;
    Bench bench;
    Observer observer;
  };

  // Streams with all that may stand between: messages, errors, reads both ways.
  static Outcome run(Side& side, vp::Picoseconds period) {
    Bench& bench = side.bench;
    Outcome outcome;
    vp::Picoseconds begin = 0;
    bench.run([&] {
      bench.enumerate();
      bench.set_sizes(256, 512);
      const unsigned msi_x = bench.find_capability(Bench::device, 0x11);
      bench.config_write(Bench::device, msi_x + 2, 0x8000, 2);
      bench.write(Bench::msi_x_table, 0xfee00000, 8);
      bench.write(Bench::msi_x_table + 8, 0x21, 8);
      bench.read(Bench::msi_x_table, 8);
      wait_until_round(10 * us);
      bench.memory.messages.clear();
      begin = vp::now();
      side.observer.watch(6 * us, period);
      bench.spawn([&] {
        for (unsigned i = 0; i < 4; ++i) bench.read(Bench::bar2 + 8 * i, 8);
      });
      const std::uint64_t rounds = sc_core::sc_delta_count();
      for (unsigned i = 0; i < 20; ++i) {
        bench.logic.dma_write(0x1000 * (i % 16), std::vector<std::uint8_t>(4096, i + 1));
        if (i % 5 == 4) bench.endpoint.function(0).signal(0);
        if (i == 7) bench.logic.dma_write(memory_size - 128, std::vector<std::uint8_t>(256, 9));
        if (i == 9) {
          auto read = bench.logic.dma_read(0x9000, 4096);
          bench.wait_for(*read);
          EXPECT_EQ(read->data, std::vector<std::uint8_t>(4096, 10));
        }
      }
      sc_core::wait(vp::to_sc_time(10 * us));
      outcome.rounds = sc_core::sc_delta_count() - rounds;
    });
    bench.trace.close();
    outcome.looks = side.observer.looks;
    outcome.memory = bench.memory.bytes;
    for (const auto& one : bench.memory.messages) {
      outcome.messages.push_back({one.when - begin, digest(one.data.data(), one.data.size())});
    }
    const std::string prefix = bench.name();
    for (const auto& [name, value] : bench.statistics.json().at("counters").items()) {
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

TEST_P(Train, IsAsOneByOne) {
  const auto [kind, period] = GetParam();
  Side known("known", true, kind), unknown("unknown", false, kind);
  const Outcome train = run(known, period);
  const Outcome single = run(unknown, period);
  EXPECT_EQ(train.looks, single.looks);
  EXPECT_EQ(train.looks.empty(), kind == Observer::Kind::none);
  EXPECT_EQ(train.messages, single.messages);
  EXPECT_EQ(train.messages.size(), 4u);
  EXPECT_EQ(train.memory, single.memory);
  EXPECT_EQ(train.counters, single.counters);
  EXPECT_GT(train.trace.size(), 20u * 16);
  EXPECT_EQ(train.trace, single.trace);
  if (kind == Observer::Kind::none) {
    EXPECT_LT(train.rounds, single.rounds / 2) << "it takes fewer appointments";
  }
}

std::string name_of(const testing::TestParamInfo<Train::ParamType>& info) {
  const char* names[] = {"Unobserved", "ByAModel", "ByAProcessor"};
  const auto [kind, period] = info.param;
  return names[static_cast<int>(kind)] + std::string("Every") + std::to_string(period / ns) + "ns";
}

INSTANTIATE_TEST_SUITE_P(Unobserved, Train,
                         testing::Combine(testing::Values(Observer::Kind::none),
                                          testing::Values(vp::Picoseconds{0})),
                         name_of);
INSTANTIATE_TEST_SUITE_P(Observed, Train,
                         testing::Combine(testing::Values(Observer::Kind::model,
                                                          Observer::Kind::processor),
                                          testing::Values(7 * ns, 50 * ns, 333 * ns)),
                         name_of);

}  // namespace
}  // namespace pcie
