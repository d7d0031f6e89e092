// SPDX-License-Identifier: Apache-2.0
// Goodput of streams through the model, against the published table and, for links that are not in
// it, against rates that a script works out apart from the model.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>

#include "tests/models/pcie/data_link/line_rate_table.h"
#include "tests/models/pcie/fixture.h"

namespace pcie {
namespace {

struct Stream {
  unsigned generation;
  unsigned lanes;
  unsigned bytes;  // of a transfer
  bool read;
  unsigned payload = 256;       // MPS
  unsigned read_request = 512;  // MRRS
  unsigned read_boundary = 64;  // RCB
  DllpAccount dllps = DllpAccount::traffic;

  std::string name() const {
    return "Gen" + std::to_string(generation) + " x" + std::to_string(lanes) + ", " +
           std::to_string(bytes) + " B " + (read ? "read" : "write") + ", MPS " +
           std::to_string(payload) + ", MRRS " + std::to_string(read_request) + ", RCB " +
           std::to_string(read_boundary);
  }
};

/// A device that streams; latencies are so short that its tags suffice.
class Streamer {
 public:
  Streamer(const Stream& stream, const std::string& name)
      : stream_(stream), fixture_(config(stream), name.c_str()) {
    fixture_.memory.base = 0x8'0000'0000;  // its addresses need 64 bits
    fixture_.spawn([this] { run(); });
  }

  /// Gb/s of payload.
  double goodput() const { return goodput_; }
  void start() {
    fixture_.run([] {});
  }

 private:
  static Fixture::Config config(const Stream& stream) {
    Fixture::Config config;
    config.link = {stream.generation, stream.lanes, 5 * vp::ns, 5 * vp::ns, stream.payload};
    config.link.dllps = stream.dllps;
    config.root_complex.max_payload = stream.payload;
    config.root_complex.read_boundary = stream.read_boundary;
    config.root_complex.ports[0].generation = stream.generation;
    config.endpoint.generation = stream.generation;
    config.endpoint.max_payload = stream.payload;
    return config;
  }

  void run() {
    fixture_.enumerate();
    fixture_.set_sizes(stream_.payload, stream_.read_request);
    // Ten microseconds of it, beside which the latency at its begin is little.
    const double rate = expected_rate(stream_.generation, stream_.lanes).own.gigabits_per_second();
    const auto bytes = std::clamp(static_cast<std::size_t>(10'000 * rate / 8), std::size_t{0x8000},
                                  fixture_.memory.bytes.size());
    const auto transfers = static_cast<unsigned>(bytes / stream_.bytes);
    std::vector<std::unique_ptr<Logic::Dma>> all;
    const vp::Picoseconds start = vp::now();
    for (unsigned i = 0; i < transfers; ++i) {
      const std::uint64_t address = fixture_.memory.base + std::uint64_t{i} * stream_.bytes;
      all.push_back(stream_.read ? fixture_.logic.dma_read(address, stream_.bytes)
                                 : fixture_.logic.dma_write(
                                       address, std::vector<std::uint8_t>(stream_.bytes)));
    }
    vp::Picoseconds end = start;
    if (stream_.read) {
      for (const auto& one : all) {
        fixture_.wait_for(*one);
        end = std::max(end, one->when);
      }
    } else {
      sc_core::wait(50, sc_core::SC_MS);
      ASSERT_EQ(fixture_.memory.refused, 0u);
      end = fixture_.memory.writes.back().when;
    }
    goodput_ = 8000.0 * stream_.bytes * transfers / static_cast<double>(end - start);
  }

  const Stream stream_;
  Fixture fixture_;
  double goodput_ = 0;
};

std::vector<double> goodputs(const std::vector<Stream>& streams) {
  std::vector<std::unique_ptr<Streamer>> all;
  for (const Stream& stream : streams) {
    all.push_back(std::make_unique<Streamer>(stream, "fixture" + std::to_string(all.size())));
  }
  all.front()->start();
  std::vector<double> found;
  for (const auto& one : all) found.push_back(one->goodput());
  return found;
}

// Neugebauer et al., SIGCOMM 2018: 64-bit addresses, MPS 256, MRRS 512, completions split at MPS.
// The model charges DLLPs as they do, or as traffic causes them.
TEST(Reference, GoodputIsThePublished) {
  const struct {
    unsigned generation, lanes;
    double published[4];
  } rows[] = {{3, 8, {42.1, 44.1, 52.9, 53.7}},
              {3, 16, {82.7, 86.6, 104.0, 105.5}},
              {4, 16, {165.4, 173.3, 207.9, 210.9}}};
  std::vector<Stream> streams;
  for (const auto& row : rows) {
    for (unsigned bytes : {64u, 256u}) {
      for (const bool read : {false, true}) {
        Stream stream{row.generation, row.lanes, bytes, read};
        streams.push_back(stream);
        stream.dllps = DllpAccount::published;
        streams.push_back(stream);
      }
    }
  }
  const std::vector<double> found = goodputs(streams);
  std::printf("Gb/s: DLLPs as traffic causes them / as published (published)\n%-10s", "link");
  for (const char* column : {"64 B write", "64 B read", "256 B write", "256 B read"}) {
    std::printf(" %23s", column);
  }
  std::printf("\n");
  for (std::size_t i = 0; i < std::size(rows); ++i) {
    std::printf("Gen%u x%-5u", rows[i].generation, rows[i].lanes);
    for (std::size_t j = 0; j < 4; ++j) {
      const double caused = found[8 * i + 2 * j], model = found[8 * i + 2 * j + 1];
      std::printf("   %5.1f / %5.1f (%5.1f)", caused, model, rows[i].published[j]);
      EXPECT_NEAR(model, rows[i].published[j], 0.03 * rows[i].published[j])
          << streams[8 * i + 2 * j + 1].name();
      EXPECT_GT(caused, 1.05 * model);
    }
    std::printf("\n");
  }
}

// What a stream's data take of a link that carries nothing else in that direction.
double expected(const Stream& stream) {
  const double rate = expected_rate(stream.generation, stream.lanes).own.gigabits_per_second();
  const unsigned framing = stream.generation == 6 ? 0 : 8;
  if (!stream.read) {
    const unsigned piece = std::min(stream.bytes, stream.payload);
    return rate * piece / (piece + 16 + framing);
  }
  // Addresses are multiples of all sizes, so that pieces are as long as they may be.
  const unsigned piece = std::min({stream.bytes, stream.read_request, stream.payload});
  return rate * piece / (piece + 12 + framing);
}

class ReferenceSweep : public testing::TestWithParam<unsigned> {};

TEST_P(ReferenceSweep, GoodputIsThatOfTheWireBytes) {
  std::vector<Stream> streams;
  for (unsigned lanes = 1; lanes <= 16; lanes *= 2) {
    for (unsigned payload = 128; payload <= 4096; payload *= 4) {
      for (unsigned read_request = 128; read_request <= 4096; read_request *= 4) {
        const unsigned boundary = lanes % 3 == 1 ? 64 : 128;
        streams.push_back({GetParam(), lanes, 4096, true, payload, read_request, boundary});
      }
      streams.push_back({GetParam(), lanes, 4096, false, payload});
      streams.push_back({GetParam(), lanes, 64, false, payload});
      streams.push_back({GetParam(), lanes, 128, true, payload});
    }
  }
  const std::vector<double> found = goodputs(streams);
  for (std::size_t i = 0; i < streams.size(); ++i) {
    EXPECT_NEAR(found[i], expected(streams[i]), 0.03 * expected(streams[i])) << streams[i].name();
  }
}

INSTANTIATE_TEST_SUITE_P(Generations, ReferenceSweep, testing::Range(1u, 7u));

}  // namespace
}  // namespace pcie
