// SPDX-License-Identifier: Apache-2.0
// Completers that cut and mix their completions, and requesters that cut their requests as rarely
// as they can.
#include <gtest/gtest.h>

#include <deque>
#include <map>
#include <random>
#include <tuple>
#include <vector>

#include "tests/models/pcie/hierarchy/switch_ends.h"
#include "tests/models/pcie/hierarchy/switch_fixture.h"

namespace pcie {
namespace {

using vp::ns;
using vp::us;

// A device in the test's hands that reads host memory.
struct Reader {
  explicit Reader(const RootComplexConfig& config)
      : fixture(with(config)),
        end(fixture.card),
        link("second", {}, fixture.root_complex.port(1), end, fixture.trace, fixture.statistics) {}
  static Fixture::Config with(const RootComplexConfig& root_complex) {
    Fixture::Config config;
    config.root_complex.completions = root_complex.completions;
    config.root_complex.read_boundary = root_complex.read_boundary;
    config.root_complex.memory_latency = 50 * ns;
    config.root_complex.ports.resize(2);
    return config;
  }
  /// Sends the reads at once and returns the completions, in a script.
  std::deque<TlpPtr> read(const std::vector<std::pair<std::uint64_t, unsigned>>& requests) {
    fixture.config_write(root_id, Type1Header::primary_bus_number, 0x00020200, 4);
    fixture.config_write(root_id, Header::command, memory_and_master, 2);
    std::uint16_t tag = 0;
    for (const auto& [address, bytes] : requests) {
      TlpPtr request = Tlp::memory_read(address, bytes);
      request->header.requester = make_id(2, 0, 0);
      request->header.tag = tag++;
      end.send(std::move(request));
    }
    pause(20 * us);
    return std::move(end.received);
  }

  Fixture fixture;
  End end;
  Link link;
};

// The data bytes of each completion, by request.
std::vector<std::vector<unsigned>> pieces(const std::deque<TlpPtr>& completions,
                                          unsigned requests) {
  std::vector<std::vector<unsigned>> found(requests);
  std::map<unsigned, unsigned> left;
  for (const TlpPtr& tlp : completions) {
    const unsigned tag = tlp->header.tag;
    if (left.count(tag) != 0) found.at(tag).push_back(left[tag] - tlp->header.byte_count);
    left[tag] = tlp->header.byte_count;
  }
  for (const auto& [tag, bytes] : left) found.at(tag).push_back(bytes);
  return found;
}

// 2.3.1.1: MPS is 128 bytes. Worked by hand.
TEST(CompletionOrder, ARootComplexCutsAtItsBoundaryIfItShall) {
  RootComplexConfig config;
  config.completions.at_boundaries = true;
  Reader reader(config);
  reader.fixture.run([&] {
    const auto found =
        pieces(reader.read({{0x1000, 256}, {0x103c, 12}, {0x1041, 127}, {0x2004, 4}}), 4);
    EXPECT_EQ(found[0], (std::vector<unsigned>{64, 64, 64, 64}));
    EXPECT_EQ(found[1], (std::vector<unsigned>{4, 8}));
    EXPECT_EQ(found[2], (std::vector<unsigned>{63, 64}));
    EXPECT_EQ(found[3], (std::vector<unsigned>{4}));
  });
}

TEST(CompletionOrder, ARootComplexCutsAsRarelyAsItCanOtherwise) {
  Reader reader{RootComplexConfig()};
  reader.fixture.run([&] {
    const auto completions = reader.read({{0x1000, 256}, {0x103c, 12}, {0x1041, 127}, {0x2004, 4}});
    const auto found = pieces(completions, 4);
    EXPECT_EQ(found[0], (std::vector<unsigned>{128, 128}));
    EXPECT_EQ(found[1], (std::vector<unsigned>{12}));
    EXPECT_EQ(found[2], (std::vector<unsigned>{127}));
    EXPECT_EQ(found[3], (std::vector<unsigned>{4}));
    unsigned tag = 0;
    for (const TlpPtr& tlp : completions) {
      EXPECT_GE(tlp->header.tag, tag) << "in the order of the requests";
      tag = tlp->header.tag;
    }
  });
}

TEST(CompletionOrder, ARootComplexMixesIfItShall) {
  RootComplexConfig config;
  config.completions = {true, 200 * ns, 5};
  config.read_boundary = 128;
  Reader reader(config);
  reader.fixture.run([&] {
    std::vector<std::pair<std::uint64_t, unsigned>> requests;
    for (unsigned i = 0; i < 16; ++i) requests.push_back({0x1000 + 512 * i, 512});
    const auto completions = reader.read(requests);
    ASSERT_EQ(completions.size(), 64u);
    for (const auto& one : pieces(completions, 16)) {
      EXPECT_EQ(one, (std::vector<unsigned>{128, 128, 128, 128}));
    }
    unsigned interleaved = 0, overtaken = 0;
    for (std::size_t i = 1; i < completions.size(); ++i) {
      interleaved += completions[i]->header.tag != completions[i - 1]->header.tag;
      overtaken += completions[i]->header.tag < completions[i - 1]->header.tag;
    }
    EXPECT_GT(interleaved, 40u);
    EXPECT_GT(overtaken, 15u);
  });
}

struct Setting {
  bool split;
  vp::Picoseconds spread;
  bool aligned;
};
class Settings : public testing::TestWithParam<std::tuple<bool, bool, bool, unsigned>> {
 protected:
  Setting setting() const {
    return {std::get<0>(GetParam()), std::get<1>(GetParam()) ? 700 * ns : 0,
            std::get<2>(GetParam())};
  }
  unsigned boundary() const { return std::get<3>(GetParam()); }
};

// Devices read host memory, each other and are read, all of random sizes and offsets and many at a
// time. Every byte is right.
TEST_P(Settings, BringEveryByte) {
  const Setting use = setting();
  SwitchFixture::Config config;
  config.fixture.root_complex.peer_to_peer = true;
  config.fixture.root_complex.read_boundary = boundary();
  config.fixture.root_complex.completions = {use.split, use.spread, 1};
  config.fixture.root_complex.memory_latency = 30 * ns;
  config.endpoint.completions = {use.split, use.spread, 2};
  config.endpoint.aligned_requests = use.aligned;
  SwitchFixture fixture(config);
  std::mt19937 random(boundary() + use.split + 2 * use.aligned);
  const auto below = [&](unsigned limit) { return static_cast<unsigned>(random() % limit); };
  fixture.run([&] {
    fixture.enumerate_switch();
    fixture.memory.fill();
    for (unsigned i = 0; i < devices; ++i) {
      auto& bytes = fixture.logic_of(i).memory[0];
      for (std::size_t at = 0; at < bytes.size(); ++at) {
        bytes[at] = static_cast<std::uint8_t>(at * 37 + (at >> 8) + 101 * i);
      }
      fixture.logic_of(i).latency = 20 * ns;
      fixture.logic_of(i).keep_uses = false;
    }
    // Processors read meanwhile, across every boundary.
    unsigned processors = 4;
    for (unsigned p = 0; p < 4; ++p) {
      fixture.spawn([&, p] {
        for (unsigned n = 0; n < 100; ++n) {
          const unsigned bytes = 1 + below(64), at = below(0x4000), i = (p + n) % devices;
          const auto& memory = fixture.logic_of(i).memory[0];
          EXPECT_EQ(fixture.read_bytes(bar(i) + at, bytes),
                    std::vector<std::uint8_t>(memory.begin() + at, memory.begin() + at + bytes));
        }
        --processors;
      });
    }
    for (unsigned round = 0; round < 20; ++round) {
      struct Expected {
        std::unique_ptr<Logic::Dma> read;
        std::vector<std::uint8_t> data;
      };
      std::vector<Expected> reads;
      for (unsigned n = 0; n < 24; ++n) {
        const unsigned i = below(devices), peer = (i + 1) % devices;
        const unsigned bytes = 1 + below(4096), at = below(0x3000);
        if (below(3) == 0) {
          const auto& memory = fixture.logic_of(peer).memory[0];
          reads.push_back({fixture.logic_of(i).dma_read(bar(peer) + at, bytes),
                           {memory.begin() + at, memory.begin() + at + bytes}});
        } else {
          reads.push_back({fixture.logic_of(i).dma_read(0x10000 + at, bytes),
                           fixture.memory.at(0x10000 + at, bytes)});
        }
      }
      for (Expected& one : reads) {
        fixture.wait_for(*one.read);
        EXPECT_TRUE(one.read->is_response_ok());
        EXPECT_EQ(one.read->data, one.data);
      }
      // What is written arrives whole, too.
      const unsigned bytes = 1 + below(4096), at = 0x40000 + below(0x1000);
      std::vector<std::uint8_t> data(bytes);
      for (std::uint8_t& byte : data) byte = static_cast<std::uint8_t>(random());
      const auto write = fixture.logic_of(below(devices)).dma_write(at, data);
      pause(10 * us);
      EXPECT_EQ(fixture.memory.at(at, bytes), data);
    }
    while (processors > 0) pause(10 * us);
    for (unsigned i = 0; i < devices; ++i) {
      EXPECT_EQ(fixture.uncorrectable(device_id(i)), 0u);
      EXPECT_EQ(fixture.uncorrectable(port_id(i)), 0u);
    }
    EXPECT_EQ(fixture.uncorrectable(root_id), 0u);
    EXPECT_EQ(fixture.memory.refused, 0u);
  });
  EXPECT_FALSE(sc_core::sc_pending_activity());
}

INSTANTIATE_TEST_SUITE_P(Completions, Settings,
                         testing::Combine(testing::Bool(), testing::Bool(), testing::Bool(),
                                          testing::Values(64u, 128u)));

// A processor's read of 64 bytes across a boundary of 128 bytes has two completions.
TEST(CompletionOrder, AnEndpointCutsAtItsBoundaryIfItShall) {
  Fixture::Config config;
  config.endpoint.completions.at_boundaries = true;
  Fixture fixture(config);
  fixture.run([&] {
    fixture.enumerate();
    fixture.set_sizes(256, 256);  // or else processors cut their reads there
    const auto completions = [&](std::uint64_t address, unsigned bytes) {
      const std::uint64_t before = fixture.counter("link.up.CplD.tlps");
      fixture.read_bytes(address, bytes);
      return fixture.counter("link.up.CplD.tlps") - before;
    };
    EXPECT_EQ(completions(Fixture::bar0 + 0x40, 64), 1u);
    EXPECT_EQ(completions(Fixture::bar0 + 0x7c, 8), 2u);
    EXPECT_EQ(completions(Fixture::bar0 + 0x80, 4), 1u);
  });
}

// What waits for its time in the completer leaves when the function is reset, and the processor
// gets all of its data.
TEST(CompletionOrder, AResetOfAFunctionLosesNoPartOfAnAnswer) {
  Fixture::Config config;
  config.endpoint.completions = {true, 10 * us, 3};
  config.endpoint.functions[0].reset_time = 1 * us;
  Fixture fixture(config);
  fixture.run([&] {
    fixture.enumerate();
    fixture.set_sizes(256, 256);
    const unsigned control =
        fixture.find_capability(Fixture::device, PciExpress::id) + PciExpress::device_control;
    for (unsigned i = 0; i < 128; ++i)
      fixture.logic.memory[0][i + 64] = static_cast<std::uint8_t>(i);
    unsigned left = 20;
    vp::Picoseconds last = 0;
    for (unsigned i = 0; i < 20; ++i) {
      fixture.spawn([&] {
        const auto found = fixture.read_bytes(Fixture::bar0 + 0x60, 64);
        for (unsigned at = 0; at < 64; ++at) EXPECT_EQ(found[at], at + 32);
        last = vp::now();
        --left;
      });
    }
    pause(2 * us);
    EXPECT_GT(left, 0u);
    const vp::Picoseconds reset = vp::now();
    fixture.config_write(Fixture::device, control, 1u << 15, 2);
    pause(20 * us);
    EXPECT_EQ(left, 0u);
    EXPECT_LT(last - reset, 3 * us);
  });
}

// Worked by hand: MPS and MRRS are 256 bytes.
struct Cut {
  std::uint64_t address;
  unsigned bytes;
  unsigned aligned, longest;  // requests
};
constexpr Cut cuts[] = {
    {0x1000, 512, 2, 2}, {0x10f0, 512, 3, 2},  // 16, 256, 240; 256, 256
    {0x1001, 512, 3, 3},                       // 255, 256, 1; the first has 255 in 64 DW
    {0x1fff, 2, 2, 2},                         // 4 KiB
    {0x1f80, 256, 2, 2},                       // 4 KiB again
    {0x1080, 256, 2, 1}, {0x10fd, 4, 2, 1},
};

class Aligned : public testing::TestWithParam<bool> {};

TEST_P(Aligned, RequestsAreCutAtTheirBoundariesOrAsRarelyAsPossible) {
  Fixture::Config config;
  config.endpoint.aligned_requests = GetParam();
  Fixture fixture(config);
  fixture.run([&] {
    fixture.enumerate();
    fixture.set_sizes(256, 256);
    for (const Cut& cut : cuts) {
      const std::uint64_t reads = fixture.counter("link.up.MRd.tlps");
      const std::uint64_t writes = fixture.counter("link.up.MWr.tlps");
      std::vector<std::uint8_t> data(cut.bytes);
      for (unsigned i = 0; i < cut.bytes; ++i)
        data[i] = static_cast<std::uint8_t>(i * 5 + cut.bytes);
      fixture.logic.dma_write(cut.address, data);
      const auto read = fixture.logic.dma_read(cut.address, cut.bytes);
      fixture.wait_for(*read);
      EXPECT_EQ(read->data, data);
      const unsigned expected = GetParam() ? cut.aligned : cut.longest;
      EXPECT_EQ(fixture.counter("link.up.MRd.tlps") - reads, expected) << cut.address;
      EXPECT_EQ(fixture.counter("link.up.MWr.tlps") - writes, expected) << cut.address;
    }
    EXPECT_EQ(fixture.counter("root_complex.port0.malformed_tlps"), 0u);
  });
}

INSTANTIATE_TEST_SUITE_P(Requests, Aligned, testing::Bool());

}  // namespace
}  // namespace pcie
