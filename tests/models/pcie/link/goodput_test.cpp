// SPDX-License-Identifier: Apache-2.0
// Goodput of streams of writes through a link with the buffers that it has by default, against
// goodput_table.py, which works it out apart from the model.
#include <gtest/gtest.h>

#include <cstdio>

#include "models/pcie/link/link.h"

namespace pcie {
namespace {

struct Row {
  unsigned generation, lanes, payload;
  double one_way, both_ways, published;  // Gb/s
};

constexpr Row table[] = {
#include "tests/models/pcie/data_link/goodput_table.inc"
};

// Without scaled flow control, a x16 link of generation 3 has credits for 700 ns of small packets.
constexpr vp::Picoseconds component = 40 * vp::ns;

PortConfig end_config(unsigned generation, unsigned lanes) {
  PortConfig config{generation, lanes, component};
  config.credits.by_link = true;
  return config;
}

/// An end that sends writes whenever the link takes them, and measures those that arrive.
class Stream : public Port {
 public:
  Stream(vp::Domain& domain, const Row& row, unsigned writes)
      : Port(domain, end_config(row.generation, row.lanes)), payload_(row.payload), left_(writes) {}

  void send_all() {
    static const std::uint8_t data[256] = {};
    for (; left_ > 0 && !blocked(CreditClass::posted); --left_) {
      send(Tlp::memory_write(0x1'0000'0000, data, payload_));
    }
  }
  unsigned received() const { return received_; }
  /// Gb/s between the first thousand of the packets that have arrived and the others.
  double goodput() const {
    return 8000.0 * payload_ * (received_ - first_) / static_cast<double>(last_ - start_);
  }

 private:
  void receive(TlpPtr) override {
    if (++received_ == first_) start_ = vp::now();
    last_ = vp::now();
  }
  void unblocked(CreditClass) override { send_all(); }
  void trained(unsigned, unsigned) override {}

  static constexpr unsigned first_ = 1000;
  const unsigned payload_;
  unsigned left_;
  unsigned received_ = 0;
  vp::Picoseconds start_ = 0, last_ = 0;
};

struct Streams {
  vp::Domain host{sc_core::sc_gen_unique_name("host")};
  vp::Domain card{sc_core::sc_gen_unique_name("card")};
  vp::Trace trace;
  vp::Statistics statistics;
  Stream up, down;
  Link link;

  Streams(const Row& row, const LinkConfig& config, unsigned writes)
      : up(host, row, writes),
        down(card, row, writes),
        link("link", config, up, down, trace, statistics) {}
};

LinkConfig link_config(const Row& row, DllpAccount dllps) {
  LinkConfig config{row.generation, row.lanes, 150 * vp::ns, 100 * vp::ns};
  config.dllps = dllps;
  return config;
}

class Goodput : public testing::TestWithParam<Row> {
 protected:
  static constexpr unsigned writes = 5000;
};

TEST_P(Goodput, OneWay) {
  const Row& row = GetParam();
  Streams streams(row, link_config(row, DllpAccount::traffic), writes);
  streams.up.send_all();
  sc_core::sc_start();
  EXPECT_EQ(streams.down.received(), writes);
  EXPECT_NEAR(streams.down.goodput(), row.one_way, 0.01 * row.one_way);
}

TEST_P(Goodput, BothWays) {
  const Row& row = GetParam();
  Streams streams(row, link_config(row, DllpAccount::traffic), writes);
  streams.up.send_all();
  streams.down.send_all();
  sc_core::sc_start();
  EXPECT_EQ(streams.down.received(), writes);
  EXPECT_EQ(streams.up.received(), writes);
  EXPECT_NEAR(streams.down.goodput(), row.both_ways, 0.01 * row.both_ways);
  EXPECT_NEAR(streams.up.goodput(), row.both_ways, 0.01 * row.both_ways);
}

TEST_P(Goodput, Published) {
  const Row& row = GetParam();
  if (row.published == 0) return;  // it knows no flits
  Streams streams(row, link_config(row, DllpAccount::published), writes);
  streams.up.send_all();
  sc_core::sc_start();
  EXPECT_NEAR(streams.down.goodput(), row.published, 0.01 * row.published);
}

struct RetryRoom {
  std::uint64_t bytes, packets;
};

class LongLink : public testing::TestWithParam<RetryRoom> {};

// Each round trip of 100 us carries as many packets as the retry buffer keeps, of 280 bytes on the
// wire each. A packet that is larger than the buffer needs all of it.
TEST_P(LongLink, HasTheGoodputOfItsRetryBuffer) {
  const auto [bytes, packets] = GetParam();
  const Row row{3, 4, 256, static_cast<double>(packets) * 256 * 8 / 100e3, 0, 0};
  LinkConfig config{row.generation, row.lanes, 60 * vp::us, 40 * vp::us};
  config.retry_buffer = bytes;
  Streams streams(row, config, 1000 + 20 * static_cast<unsigned>(packets));
  streams.up.send_all();
  sc_core::sc_start();
  EXPECT_NEAR(streams.down.goodput(), row.one_way, 0.01 * row.one_way);
}

INSTANTIATE_TEST_SUITE_P(Link, LongLink,
                         testing::Values(RetryRoom{1, 1}, RetryRoom{280, 1}, RetryRoom{559, 1},
                                         RetryRoom{560, 2}, RetryRoom{16 * 280, 16},
                                         RetryRoom{64 * 280 - 1, 63}, RetryRoom{64 * 280, 64}),
                         [](const auto& info) {
                           return "Bytes" + std::to_string(info.param.bytes);
                         });

INSTANTIATE_TEST_SUITE_P(Link, Goodput, testing::ValuesIn(table), [](const auto& info) {
  const Row& row = info.param;
  return "Gen" + std::to_string(row.generation) + "X" + std::to_string(row.lanes) + "Bytes" +
         std::to_string(row.payload);
});

}  // namespace
}  // namespace pcie
