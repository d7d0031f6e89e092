// SPDX-License-Identifier: Apache-2.0
// Completion timeouts as software chooses them (PCIe 5.0, 2.8 and 7.5.3.16), to the picosecond.
#include <gtest/gtest.h>

#include "tests/models/pcie/fixture.h"

namespace pcie {
namespace {

constexpr vp::Picoseconds preset_of_host = 30 * vp::ms, preset_of_card = 20 * vp::ms;
constexpr std::uint32_t disable = PciExpress::DeviceControl2Bit::timeout_disable;

struct Choice {
  std::uint32_t value;
  vp::Picoseconds least, most;  // of the range that it stands for; 0: what was preset
};
constexpr Choice choices[] = {
    {0x0, 0, 0},
    {0x1, 50 * vp::us, 100 * vp::us},
    {0x2, 1 * vp::ms, 10 * vp::ms},
    {0x5, 16 * vp::ms, 55 * vp::ms},
    {0x6, 65 * vp::ms, 210 * vp::ms},
    {0x9, 260 * vp::ms, 900 * vp::ms},
    {0xa, 1 * vp::s, 3500 * vp::ms},
    {0xd, 4 * vp::s, 13 * vp::s},
    {0xe, 17 * vp::s, 64 * vp::s},
    // Of no meaning.
    {0x3, 0, 0},
    {0x4, 0, 0},
    {0x7, 0, 0},
    {0x8, 0, 0},
    {0xb, 0, 0},
    {0xc, 0, 0},
    {0xf, 0, 0},
};

class CompletionTimeout : public testing::Test {
 protected:
  static Fixture::Config config() {
    Fixture::Config config;
    config.root_complex.completion_timeout = preset_of_host;
    config.endpoint.completion_timeout = preset_of_card;
    config.endpoint.functions[0].virtual_functions = {
        1, 0x0ae1, {BarConfig::prefetchable_64(0, 0x4000)}, {}};
    return config;
  }
  void choose(Id id, std::uint32_t value) {
    fixture.config_write(
        id, fixture.find_capability(id, PciExpress::id) + PciExpress::device_control_2, value, 2);
  }
  std::unique_ptr<Logic::Dma> lost_read() {
    fixture.link.inject(Direction::up, {Error::completion_timeout, TlpType::MRd, 1});
    return fixture.logic.dma_read(0x1000, 64);
  }
  void expect(const Choice& choice, vp::Picoseconds span, vp::Picoseconds preset) {
    EXPECT_EQ(span, choice.least != 0 ? choice.least : preset) << choice.value;
    if (choice.least == 0) return;
    EXPECT_GE(span, choice.least);
    EXPECT_LE(span, choice.most);
  }
  Fixture fixture{config()};
};

TEST_F(CompletionTimeout, OfAFunctionIsWhatSoftwareChooses) {
  fixture.run([&] {
    fixture.enumerate();
    for (const Choice& choice : choices) {
      choose(Fixture::device, choice.value);
      const vp::Picoseconds start = vp::now();
      auto read = lost_read();
      fixture.wait_for(*read);
      EXPECT_EQ(read->get_response_status(), tlm::TLM_GENERIC_ERROR_RESPONSE);
      expect(choice, read->when - start, preset_of_card);
    }
    EXPECT_EQ(fixture.counter("endpoint.pf0.completion_timeouts"), std::size(choices));
  });
}

TEST_F(CompletionTimeout, OfARootPortIsWhatSoftwareChooses) {
  fixture.run([&] {
    fixture.enumerate();
    fixture.logic.silent = true;
    for (const Choice& choice : choices) {
      choose(Fixture::root_port, choice.value);
      const vp::Picoseconds start = vp::now();
      EXPECT_EQ(fixture.read(Fixture::bar0, 4), 0xffffffffu);
      expect(choice, vp::now() - start, preset_of_host);
    }
    EXPECT_EQ(fixture.counter("root_complex.port0.completion_timeouts"), std::size(choices));
  });
}

// One that is shorter overtakes one that runs already, and changes nothing of it.
TEST_F(CompletionTimeout, EachRequestHasThatOfItsStart) {
  fixture.run([&] {
    fixture.enumerate();
    const std::uint32_t values[] = {0xe, 0xa, 0x2, 0x1, 0x5};
    const vp::Picoseconds spans[] = {17 * vp::s, 1 * vp::s, 1 * vp::ms, 50 * vp::us, 16 * vp::ms};
    std::vector<std::unique_ptr<Logic::Dma>> reads;
    std::vector<vp::Picoseconds> starts;
    for (const std::uint32_t value : values) {
      choose(Fixture::device, value);
      starts.push_back(vp::now());
      reads.push_back(lost_read());
      pause(100 * vp::ns);
    }
    for (std::size_t i = 0; i < reads.size(); ++i) {
      fixture.wait_for(*reads[i]);
      EXPECT_EQ(reads[i]->when - starts[i], spans[i]) << i;
    }
  });
}

TEST_F(CompletionTimeout, CanBeTurnedOff) {
  fixture.run([&] {
    fixture.enumerate();
    for (const Choice& choice : choices) {
      choose(Fixture::device, choice.value | disable);
      auto read = lost_read();
      pause(100 * vp::s);
      EXPECT_FALSE(read->done);
      choose(Fixture::device, choice.value);
      pause(100 * vp::s);
      EXPECT_FALSE(read->done) << "it began without one";
      fixture.endpoint.function(0).reset(Reset::function);
      EXPECT_TRUE(read->done);
      fixture.config_write(Fixture::device, Header::command, memory_and_master, 2);
    }
  });
}

TEST_F(CompletionTimeout, RegistersSayAllRanges) {
  fixture.run([&] {
    fixture.enumerate();
    for (const Id id : {Fixture::root_port, Fixture::device}) {
      const unsigned at = fixture.find_capability(id, PciExpress::id);
      EXPECT_EQ(fixture.config_read(id, at + PciExpress::device_capabilities_2, 1) & 0x1f, 0x1fu);
      for (std::uint32_t value = 0; value < 0x20; ++value) {
        choose(id, value);
        EXPECT_EQ(fixture.config_read(id, at + PciExpress::device_control_2, 1) & 0x1f, value);
      }
    }
    // 9.3.5: a virtual function has its physical one's.
    Function& function = fixture.endpoint.function(0).virtual_function(0);
    const unsigned at = fixture.find_capability(Fixture::device, PciExpress::id);
    function.config_space().write(at + PciExpress::device_control_2, 2, 0xffff);
    EXPECT_EQ(function.config_space().read(at + PciExpress::device_control_2, 2), 0u);
  });
}

}  // namespace
}  // namespace pcie
