// SPDX-License-Identifier: Apache-2.0
// Tags of 5, 8 and 10 bits: which requesters may use them, their number, and their benefit.
#include <gtest/gtest.h>

#include <cstring>
#include <nlohmann/json.hpp>
#include <optional>
#include <ostream>
#include <set>
#include <tuple>

#include "models/pcie/protocol/configuration_error.h"
#include "models/pcie/protocol/split.h"
#include "tests/models/pcie/fixture.h"

namespace pcie {
namespace {

constexpr unsigned extended_tags = PciExpress::DeviceControlBit::extended_tags;
constexpr unsigned ten_bits = PciExpress::DeviceControl2Bit::ten_bit_tag_requester;
constexpr unsigned request = 128;  // bytes

// A host that keeps what a device asks for, until the test has seen enough.
struct Keeper : Port {
  std::vector<TlpPtr> requests;
  std::vector<TlpPtr> completions;
  using Port::send;
  explicit Keeper(vp::Domain& domain) : Port(domain, {5, 16, 0}) {}
  void receive(TlpPtr tlp) override {
    (tlp->is_completion() ? completions : requests).push_back(std::move(tlp));
  }
  void trained(unsigned, unsigned) override {}
};

struct Device {
  explicit Device(unsigned tags, unsigned virtual_functions = 0, unsigned generation = 5)
      : endpoint("endpoint", config(tags, virtual_functions, generation), card, statistics) {
    endpoint.function(0).bar.bind(logic.bar);
    logic.dma.bind(endpoint.function(0).dma);
    if (virtual_functions > 0) {
      virtual_logic.emplace("virtual_logic", card);
      endpoint.function(0).virtual_function(0).bar.bind(virtual_logic->bar);
      virtual_logic->dma.bind(endpoint.function(0).virtual_function(0).dma);
    }
    write(0x04, 2, 4);
    write(express + PciExpress::device_control, 2, 0x2810 & ~0x7000);  // reads of 128 bytes
    run();
  }

  static EndpointConfig config(unsigned tags, unsigned virtual_functions, unsigned generation) {
    EndpointConfig config;
    config.tags = tags;
    config.generation = generation;
    config.functions[0].virtual_functions = {
        virtual_functions, 0x0ae1, {BarConfig::prefetchable_64(0, 0x4000)}, {}};
    return config;
  }
  void run() { sc_core::sc_start(100, sc_core::SC_US); }
  void write(unsigned offset, unsigned bytes, std::uint32_t value, Id id = Fixture::device) {
    host.send(Tlp::config_write(false, id, offset, bytes, value));
    run();
  }
  std::uint32_t read(unsigned offset, unsigned bytes, Function& function) {
    return function.config_space().read(offset, bytes);
  }
  std::uint32_t read(unsigned offset, unsigned bytes) {
    return read(offset, bytes, endpoint.function(0));
  }
  // Tags of what is outstanding if device logic wants more than there are.
  std::set<unsigned> tags(Logic& asks) {
    host.requests.clear();
    for (unsigned i = 0; i < 40; ++i) reads.push_back(asks.dma_read(4096 * i, 4096));
    run();
    std::set<unsigned> found;
    for (const TlpPtr& tlp : host.requests) found.insert(tlp->header.tag);
    EXPECT_EQ(found.size(), host.requests.size()) << "no tag twice";
    return found;
  }
  void complete(const Tlp& read, unsigned tag) {
    std::memset(const_cast<Tlp&>(read).data(), 0x5a, request);
    complete_read(read, 0, {128, 64}, [&](TlpPtr completion) {
      completion->header.tag = tag;
      host.send(std::move(completion));
    });
    run();
  }

  vp::Domain host_domain{"host"}, card{"card"};
  vp::Trace trace;
  vp::Statistics statistics;
  Keeper host{host_domain};
  Endpoint endpoint;
  Link link{"link", {}, host, endpoint, trace, statistics};
  Logic logic{"logic", card};
  std::optional<Logic> virtual_logic;
  std::vector<std::unique_ptr<Logic::Dma>> reads;
  const unsigned express = [this] {
    const ConfigSpace& space = endpoint.function(0).config_space();
    unsigned at = space.read(Header::capabilities_pointer, 1);
    while (space.read(at, 1) != PciExpress::id) at = space.read(at + 1, 1);
    return at;
  }();
};

std::set<unsigned> from_to(unsigned first, unsigned end) {
  std::set<unsigned> all;
  for (unsigned tag = first; tag < end; ++tag) all.insert(tag);
  return all;
}

enum Permission : unsigned { none = 0, extended = 1, ten_bit = 2 };

struct Case {
  unsigned tags;
  unsigned permits;  // a set of Permission
  unsigned first, end;
};

void PrintTo(const Case& c, std::ostream* out) {
  *out << c.tags << (c.permits & extended ? " extended" : "")
       << (c.permits & ten_bit ? " ten" : "");
}

class Tags : public testing::TestWithParam<Case> {};

// 2.2.6.2
TEST_P(Tags, AreThoseThatSoftwarePermits) {
  const Case& c = GetParam();
  Device device(c.tags);
  device.write(device.express + PciExpress::device_control, 2,
               0x0810 | (c.permits & extended ? extended_tags : 0));
  device.write(device.express + PciExpress::device_control_2, 2,
               c.permits & ten_bit ? ten_bits : 0);
  EXPECT_EQ(device.tags(device.logic), from_to(c.first, c.end));
}

INSTANTIATE_TEST_SUITE_P(Permissions, Tags,
                         testing::Values(Case{32, extended | ten_bit, 0, 32},
                                         Case{256, none, 0, 32}, Case{256, ten_bit, 0, 32},
                                         Case{256, extended | ten_bit, 0, 256},
                                         Case{768, none, 0, 32}, Case{768, extended, 0, 256},
                                         Case{768, ten_bit, 256, 1024},
                                         Case{768, extended | ten_bit, 256, 1024}));

TEST(TenBitTags, AreInTheRegistersWhereTheyAreSupported) {
  for (const unsigned tags : {32u, 256u, 768u}) {
    for (const unsigned generation : {3u, 4u}) {
      vp::Domain card("card");
      vp::Statistics statistics;
      EndpointConfig config = Device::config(tags, 1, generation);
      Endpoint endpoint(sc_core::sc_gen_unique_name("endpoint"), config, card, statistics);
      for (const bool physical : {true, false}) {
        Function& pf = endpoint.function(0);
        ConfigSpace& space = (physical ? pf : pf.virtual_function(0)).config_space();
        unsigned at = space.read(Header::capabilities_pointer, 1);
        while (space.read(at, 1) != PciExpress::id) at = space.read(at + 1, 1);
        const bool requester = tags == 768;
        EXPECT_EQ(space.read(at + PciExpress::device_capabilities_2, 4) >> 16 & 3,
                  (requester ? 2u : 0) | (requester || generation >= 4));
        space.write(at + PciExpress::device_control_2, 2, 0xffff);
        EXPECT_EQ(space.read(at + PciExpress::device_control_2, 2) >> 12 & 1,
                  requester && physical);
        EXPECT_EQ(space.read(at + PciExpress::device_capabilities, 4) >> 5 & 1, tags > 32);
        if (!physical) continue;
        unsigned sr_iov = 0x100;
        while (space.read(sr_iov, 2) != 0x0010) sr_iov = space.read(sr_iov, 4) >> 20;
        EXPECT_EQ(space.read(sr_iov + SrIov::capabilities, 4), requester ? 6u : 2u);
        space.write(sr_iov + SrIov::control, 2, 0x20);
        EXPECT_EQ(space.read(sr_iov + SrIov::control, 2), requester ? 0x20u : 0u);
      }
    }
  }
}

TEST(TenBitTags, AreOfThreeNumbers) {
  vp::Domain card("card");
  vp::Statistics statistics;
  for (const unsigned tags : {0u, 31u, 33u, 255u, 257u, 512u, 767u, 769u, 1024u}) {
    EXPECT_THROW(Endpoint(sc_core::sc_gen_unique_name("endpoint"), Device::config(tags, 0, 5), card,
                          statistics),
                 ConfigurationError)
        << tags;
  }
}

// All ten bits count: what has lost the upper two belongs to nothing.
TEST(TenBitTags, ACompletionIsFoundByAllOfItsTag) {
  Device device(768);
  device.write(device.express + PciExpress::device_control_2, 2, ten_bits);
  auto one = device.logic.dma_read(0x1000, request);
  device.run();
  ASSERT_EQ(device.host.requests.size(), 1u);
  const TlpPtr read = std::move(device.host.requests[0]);
  const unsigned tag = read->header.tag;
  EXPECT_EQ(tag, 256u);
  for (const unsigned wrong : {tag & 0xff, tag ^ 0x300, tag | 0x200, tag + 1, 1024u, 0xffffu}) {
    device.complete(*read, wrong);
    EXPECT_FALSE(one->done) << wrong;
  }
  const nlohmann::json counters = device.statistics.json().at("counters");
  EXPECT_EQ(counters.at("endpoint.pf0.unexpected_completions"), 6u);
  device.complete(*read, tag);
  ASSERT_TRUE(one->done);
  EXPECT_TRUE(one->is_response_ok());
  EXPECT_EQ(one->data, std::vector<std::uint8_t>(request, 0x5a));
}

// Which of a physical function and its virtual ones are permitted 10 bits.
class Permitted : public testing::TestWithParam<std::tuple<bool, bool>> {};

// 9.3.3.3: virtual functions have a permission of their own, one for all of them.
TEST_P(Permitted, VirtualFunctionsFollowTheSrIovCapability) {
  const auto [physical, others] = GetParam();
  Device device(768, 1);
  Function& vf = device.endpoint.function(0).virtual_function(0);
  unsigned sr_iov = 0x100;
  while (device.read(sr_iov, 2) != 0x0010) sr_iov = device.read(sr_iov, 4) >> 20;
  device.write(sr_iov + SrIov::num_vfs, 2, 1);
  device.write(sr_iov + SrIov::control, 2, 0x19 | (others ? 0x20 : 0));
  device.write(device.express + PciExpress::device_control_2, 2, physical ? ten_bits : 0);
  device.write(device.express + PciExpress::device_control, 2, 0x0810 | extended_tags);
  device.write(Header::command, 2, Header::CommandBit::bus_master, make_alternative_id(1, 1));
  ASSERT_TRUE(vf.may_master());
  EXPECT_EQ(device.tags(*device.virtual_logic), others ? from_to(256, 1024) : from_to(0, 256));
  EXPECT_EQ(device.tags(device.logic), physical ? from_to(256, 1024) : from_to(0, 256));
}

INSTANTIATE_TEST_SUITE_P(TenBitTags, Permitted, testing::Combine(testing::Bool(), testing::Bool()));

// A link so long that tags are what limits: as many requests as there are tags in a round trip.
TEST(TenBitTags, GoodputRisesWithThem) {
  Fixture::Config config;
  config.endpoint.tags = 768;
  config.root_complex.ports[0].generation = config.endpoint.generation = config.link.generation = 5;
  config.link.latency_down = config.link.latency_up = 20 * vp::us;
  Fixture fixture(config);
  fixture.run([&] {
    fixture.enumerate();
    fixture.set_sizes(128, request);
    const unsigned express = fixture.find_capability(Fixture::device, PciExpress::id);
    const std::uint32_t control =
        fixture.config_read(Fixture::device, express + PciExpress::device_control, 2);
    struct {
      std::uint32_t control, control_2;
      unsigned tags;
    } const rounds[] = {
        {control & ~extended_tags, 0, 32},
        {control | extended_tags, 0, 256},
        {control | extended_tags, ten_bits, 768},
    };
    for (const auto& round : rounds) {
      fixture.config_write(Fixture::device, express + PciExpress::device_control, round.control, 2);
      fixture.config_write(Fixture::device, express + PciExpress::device_control_2, round.control_2,
                           2);
      constexpr unsigned count = 144;  // of 4 KiB: six times as many requests as tags, at most
      const vp::Picoseconds start = vp::now();
      std::vector<std::unique_ptr<Logic::Dma>> reads;
      for (unsigned i = 0; i < count; ++i) reads.push_back(fixture.logic.dma_read(4096 * i, 4096));
      for (auto& read : reads) fixture.wait_for(*read);
      const double trips = double(vp::now() - start) / (40 * vp::us);
      const double ideal = count * 4096.0 / request / round.tags;
      EXPECT_GE(trips, ideal);
      EXPECT_LT(trips, 1.1 * ideal) << round.tags << " tags";
    }
  });
}

}  // namespace
}  // namespace pcie
