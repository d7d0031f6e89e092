// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "models/pcie/config/capabilities/alternative_routing.h"
#include "models/pcie/protocol/configuration_error.h"
#include "tests/models/pcie/fixture.h"

namespace pcie {
namespace {

constexpr unsigned total = 8;
constexpr std::uint64_t vf_bar = 0x4000020000;  // 16 KiB each
constexpr std::uint64_t vf_size = 0x4000;
constexpr std::uint64_t table = 0x2000;

// An endpoint with virtual functions, each with device logic of its own, behind a root port that
// knows ARI or does not.
struct Virtual {
  explicit Virtual(unsigned count = total, vp::Picoseconds initialisation = 0)
      : Virtual(config(count, initialisation)) {}
  explicit Virtual(const Fixture::Config& config) : fixture(config) {
    const unsigned count = config.endpoint.functions[0].virtual_functions.count;
    for (unsigned i = 0; i < count; ++i) {
      logic.push_back(
          std::make_unique<Logic>(sc_core::sc_gen_unique_name("vf_logic"), fixture.card));
      vf(i).bar.bind(logic[i]->bar);
      logic[i]->dma.bind(vf(i).dma);
      vf(i).on_reset([this, i] { ++resets[i]; });
    }
    resets.resize(count);
  }

  static Fixture::Config config(unsigned count, vp::Picoseconds initialisation) {
    Fixture::Config config;
    FunctionConfig& function = config.endpoint.functions[0];
    function.initialisation = initialisation;
    function.no_soft_reset = false;
    function.virtual_functions = {
        count, 0x0ae1, {BarConfig::prefetchable_64(0, vf_size)}, {2, 0, table, 0, 0x3000}};
    return config;
  }

  Function& vf(unsigned index) { return fixture.endpoint.function(0).virtual_function(index); }
  Id id(unsigned index) { return make_alternative_id(ari ? 1 : 2, (ari ? 1 : 0) + index); }

  // As Linux does it.
  void enumerate(bool with_ari) {
    ari = with_ari;
    fixture.enumerate();
    fixture.config_write(Fixture::root_port, Type1Header::primary_bus_number, 0x00020100,
                         4);  // buses 1 and 2
    const unsigned express = fixture.find_capability(Fixture::root_port, PciExpress::id);
    fixture.config_write(Fixture::root_port, express + PciExpress::device_control_2,
                         ari ? 1u << 5 : 0, 2);
    sr_iov = fixture.find_extended_capability(Fixture::device, SrIov::id);
    fixture.config_write(Fixture::device, sr_iov + SrIov::control, ari ? 0x10 : 0, 2);
    fixture.config_write(Fixture::device, sr_iov + SrIov::vf_bar,
                         static_cast<std::uint32_t>(vf_bar), 4);
    fixture.config_write(Fixture::device, sr_iov + SrIov::vf_bar + 4, vf_bar >> 32, 4);
  }
  void enable(unsigned count) {
    fixture.config_write(Fixture::device, sr_iov + SrIov::num_vfs, count, 2);
    fixture.config_write(Fixture::device, sr_iov + SrIov::control, ari ? 0x19 : 0x09, 2);
  }
  void disable() {
    fixture.config_write(Fixture::device, sr_iov + SrIov::control, ari ? 0x10 : 0, 2);
  }

  Fixture fixture;
  std::vector<std::unique_ptr<Logic>> logic;
  std::vector<unsigned> resets;
  unsigned sr_iov = 0;
  bool ari = false;
};

TEST(VirtualFunction, ExistsWhileEnabled) {
  Virtual device;
  Fixture& fixture = device.fixture;
  fixture.run([&] {
    for (const bool ari : {true, false}) {
      device.enumerate(ari);
      for (const unsigned count : {0u, 1u, 3u, total, 2u}) {
        device.enable(count);
        for (unsigned i = 0; i < total + 2; ++i) {
          const bool there = i < count;
          EXPECT_EQ(fixture.config_read(device.id(i), Header::revision_id, 4),
                    there ? 0x12000000u : ~0u)
              << i;
          if (i >= total) continue;
          EXPECT_EQ(device.vf(i).exists(), there);
          EXPECT_EQ(device.vf(i).id(), device.id(i));
        }
        device.disable();
        EXPECT_EQ(fixture.config_read(device.id(0), Header::revision_id, 4), ~0u);
      }
    }
  });
}

// 7.5.3.4: with ARI, Max_Payload_Size of function 0 is that of the other functions and of theirs.
TEST(VirtualFunction, FunctionZeroDecidesThePayloadOfAll) {
  Fixture::Config config = Virtual::config(0, 0);
  config.endpoint.functions.resize(2);
  config.endpoint.functions[1] = Virtual::config(1, 0).endpoint.functions[0];
  Fixture fixture(config);
  Function& second = fixture.endpoint.function(1);
  Logic physical("physical", fixture.card), virtual_one("virtual_one", fixture.card);
  second.bar.bind(physical.bar);
  physical.dma.bind(second.dma);
  second.virtual_function(0).bar.bind(virtual_one.bar);
  virtual_one.dma.bind(second.virtual_function(0).dma);
  fixture.run([&] {
    fixture.enumerate();
    const Id id = make_id(1, 0, 1);
    const unsigned sr_iov = fixture.find_extended_capability(id, SrIov::id);
    const unsigned express = fixture.find_capability(id, PciExpress::id);
    fixture.config_write(id, Header::command, memory_and_master, 2);
    fixture.config_write(id, sr_iov + SrIov::num_vfs, 1, 2);
    fixture.config_write(id, sr_iov + SrIov::control, 0x19, 2);
    pause(1 * vp::us);
    fixture.config_write(second.virtual_function(0).id(), Header::command,
                         Header::CommandBit::bus_master, 2);
    for (const unsigned first : {128u, 256u}) {
      fixture.set_sizes(first, 128);
      const unsigned other = first == 128 ? 1u << 5 : 0;  // 256 or 128 bytes
      fixture.config_write(id, express + PciExpress::device_control, other, 2);
      for (Logic* logic : {&physical, &virtual_one}) {
        fixture.memory.writes.clear();
        const auto write = logic->dma_write(0x1000, std::vector<std::uint8_t>(512, 1));
        fixture.wait_for(*write);
        pause(10 * vp::us);
        ASSERT_EQ(fixture.memory.writes.size(), 512 / first);
        for (const auto& one : fixture.memory.writes) EXPECT_EQ(one.data.size(), first);
      }
    }
    EXPECT_EQ(fixture.counter("root_complex.port0.malformed_tlps"), 0u);
  });
}

TEST(VirtualFunction, HeaderHasNeitherIdsNorBars) {
  Virtual device;
  Fixture& fixture = device.fixture;
  fixture.run([&] {
    device.enumerate(true);
    device.enable(1);
    const Id id = device.id(0);
    for (unsigned at = 0; at < 0x40; at += 4) {
      const std::uint32_t before = fixture.config_read(id, at, 4);
      fixture.config_write(id, at, ~0u, 4);
      EXPECT_EQ(fixture.config_read(id, at, 4), at == 4 ? before | 4 : before) << at;
    }
    EXPECT_EQ(fixture.config_read(id, Header::vendor_id, 4), ~0u);
    EXPECT_EQ(fixture.config_read(id, Header::cache_line_size, 4), 0u);
    for (unsigned at = 0x10; at < 0x28; at += 4) EXPECT_EQ(fixture.config_read(id, at, 4), 0u);
    EXPECT_EQ(fixture.config_read(id, Type0Header::subsystem_vendor_id, 4), 0x0001f0aeu);
    EXPECT_EQ(fixture.config_read(id, Header::interrupt_line, 4), 0u);
    EXPECT_NE(fixture.find_capability(id, PciExpress::id), 0u);
    EXPECT_NE(fixture.find_capability(id, MsiX::id), 0u);
    EXPECT_NE(fixture.find_extended_capability(id, AlternativeRouting::id), 0u) << "ARI";
    EXPECT_EQ(fixture.find_extended_capability(id, SrIov::id), 0u);
    EXPECT_EQ(fixture.find_extended_capability(id, PhysicalLayer::id(4)), 0u)
        << "the link is function 0's";
  });
}

// 9.3.5: what the physical function controls for all reads zero, and holds.
TEST(VirtualFunction, ControlsAreThePhysicalFunctions) {
  Virtual device;
  Fixture& fixture = device.fixture;
  fixture.run([&] {
    device.enumerate(true);
    device.enable(1);
    fixture.set_sizes(256, 256);
    const Id id = device.id(0);
    const unsigned express = fixture.find_capability(id, PciExpress::id);
    fixture.config_write(id, express + PciExpress::device_control, 0x7fff, 2);
    EXPECT_EQ(fixture.config_read(id, express + PciExpress::device_control, 2), 0u);
    fixture.config_write(id, express + PciExpress::link_control, 0xffff, 2);
    EXPECT_EQ(fixture.config_read(id, express + PciExpress::link_control, 4), 0u)
        << "link control and status";
    fixture.config_write(id, express + PciExpress::device_control_2, 0xffff, 2);
    EXPECT_EQ(fixture.config_read(id, express + PciExpress::device_control_2, 2), 0u);
    EXPECT_EQ(device.vf(0).max_payload(), 256u);
    const unsigned errors = fixture.find_extended_capability(id, AdvancedErrorReporting::id);
    for (const unsigned at : {0x08, 0x0c, 0x14}) {
      fixture.config_write(id, errors + at, ~0u, 4);
      EXPECT_EQ(fixture.config_read(id, errors + at, 4), 0u);
    }
    // A poisoned write is an error of the virtual function, reported with its ID under the physical
    // function's enables.
    const unsigned physical =
        fixture.find_extended_capability(Fixture::device, AdvancedErrorReporting::id);
    const unsigned control =
        fixture.find_capability(Fixture::device, PciExpress::id) + PciExpress::device_control;
    for (const bool masked : {true, false}) {
      fixture.config_write(Fixture::device, physical + AdvancedErrorReporting::uncorrectable_mask,
                           masked ? 1u << 12 : 0, 4);
      fixture.config_write(Fixture::device, control, 0x281f, 2);
      fixture.link.inject(Direction::down, {Error::poisoned_tlp, TlpType::MWr});
      fixture.write(vf_bar, 1, 4);
      EXPECT_EQ(fixture.config_read(id, errors + AdvancedErrorReporting::uncorrectable_status, 4),
                1u << 12);
      EXPECT_EQ(fixture.config_read(Fixture::device,
                                    physical + AdvancedErrorReporting::uncorrectable_status, 4),
                0u);
      EXPECT_EQ(fixture.config_read(id, express + PciExpress::device_status, 2) & 0xf, 2u)
          << "non-fatal";
      EXPECT_EQ(fixture.link.count(Direction::up, TlpType::Msg).tlps, masked ? 0u : 1u);
      fixture.config_write(id, errors + AdvancedErrorReporting::uncorrectable_status, ~0u, 4);
      fixture.config_write(id, express + PciExpress::device_status, 0xf, 2);
    }
  });
}

TEST(VirtualFunction, BarsFollowOneAnother) {
  Virtual device;
  Fixture& fixture = device.fixture;
  fixture.run([&] {
    device.enumerate(true);
    device.enable(total - 1);
    for (unsigned i = 0; i < total - 1; ++i) {
      fixture.write(vf_bar + i * vf_size, 0x100 + i, 4);
      fixture.write(vf_bar + (i + 1) * vf_size - 4, 0x200 + i, 4);
    }
    for (unsigned i = 0; i < total - 1; ++i) {
      EXPECT_EQ(fixture.read(vf_bar + i * vf_size, 4), 0x100 + i);
      EXPECT_EQ(fixture.read(vf_bar + (i + 1) * vf_size - 4, 4), 0x200 + i);
      ASSERT_EQ(device.logic[i]->uses.size(), 4u);
      EXPECT_EQ(device.logic[i]->uses[1].offset, vf_size - 4);
    }
    EXPECT_EQ(fixture.read(vf_bar + (total - 1) * vf_size, 4), 0xffffffffu) << "not enabled";
    EXPECT_EQ(fixture.read(vf_bar - 4, 4), 0xffffffffu);
    EXPECT_TRUE(fixture.logic.uses.empty());
    // VF memory space, of all at once; memory space of the physical function is its own.
    fixture.config_write(Fixture::device, Header::command, Header::CommandBit::bus_master, 2);
    EXPECT_EQ(fixture.read(vf_bar, 4), 0x100u);
    EXPECT_EQ(fixture.read(Fixture::bar0, 4), 0xffffffffu);
    fixture.config_write(Fixture::device, device.sr_iov + SrIov::control, 0x11, 2);
    EXPECT_EQ(fixture.read(vf_bar, 4), 0xffffffffu);
    EXPECT_EQ(fixture.read(vf_bar + 6 * vf_size, 4), 0xffffffffu);
    // And they move together.
    fixture.config_write(Fixture::device, device.sr_iov + SrIov::vf_bar, 0x00060000, 4);
    fixture.config_write(Fixture::device, device.sr_iov + SrIov::control, 0x19, 2);
    EXPECT_EQ(fixture.read(0x4000060000 + 6 * vf_size, 4), 0x106u);
    EXPECT_EQ(fixture.read(vf_bar, 4), 0xffffffffu);
  });
}

TEST(VirtualFunction, DmaAndMessagesBearItsId) {
  Virtual device;
  Fixture& fixture = device.fixture;
  fixture.run([&] {
    device.enumerate(false);
    device.enable(total);
    for (unsigned i = 0; i < total; ++i) {
      EXPECT_EQ(device.logic[i]->dma_write(0x1000, {1})->get_response_status(),
                tlm::TLM_COMMAND_ERROR_RESPONSE)
          << "its own Bus Master gates it";
      fixture.config_write(device.id(i), Header::command, Header::CommandBit::bus_master, 2);
      const unsigned msi_x = fixture.find_capability(device.id(i), MsiX::id);
      EXPECT_EQ(fixture.config_read(device.id(i), msi_x + MsiX::message_control, 2), 1u)
          << "two vectors";
      fixture.config_write(device.id(i), msi_x + MsiX::message_control, MsiX::ControlBit::enable,
                           2);
      for (unsigned vector = 0; vector < 2; ++vector) {
        const std::uint64_t entry = vf_bar + i * vf_size + table + 16 * vector;
        fixture.write(entry, 0xfee00000 + 0x1000 * i, 8);
        fixture.write(entry + 8, 2 * i + vector, 8);
      }
    }
    // All functions read at once; the requester distinguishes reads with equal tags.
    std::vector<std::unique_ptr<Logic::Dma>> reads;
    for (unsigned i = 0; i < 0x1000; ++i) fixture.memory.bytes[0x2000 + i] = i * 7 >> 1;
    for (unsigned i = 0; i < total; ++i) {
      EXPECT_TRUE(
          device.logic[i]->dma_write(0x1000 + 8 * i, {std::uint8_t(i), 2})->is_response_ok());
      reads.push_back(device.logic[i]->dma_read(0x2000 + 100 * i, 600));
      device.vf(i).signal(i % 2);
    }
    for (unsigned i = 0; i < total; ++i) {
      fixture.wait_for(*reads[i]);
      EXPECT_TRUE(reads[i]->is_response_ok());
      for (unsigned j = 0; j < 600; ++j) {
        ASSERT_EQ(reads[i]->data[j], fixture.memory.bytes[0x2000 + 100 * i + j]);
      }
      EXPECT_EQ(fixture.memory.bytes[0x1000 + 8 * i], i);
    }
    ASSERT_EQ(fixture.memory.messages.size(), total);
    for (unsigned i = 0; i < total; ++i) {
      EXPECT_EQ(fixture.memory.messages[i].address, 0xfee00000 + 0x1000 * i);
      EXPECT_EQ(fixture.memory.messages[i].data[0], 2 * i + i % 2);
    }
    EXPECT_EQ(fixture.counter("endpoint.unexpected_completions"), 0u);
  });
}

// How many physical functions there are, and how many virtual ones the first of them has.
class Writers : public testing::TestWithParam<std::pair<unsigned, unsigned>> {};

// All have more to write than the link takes. Physical functions share it, and the first of them
// shares its part with its virtual functions.
TEST_P(Writers, TakeTurns) {
  const auto [physical, virtual_ones] = GetParam();
  constexpr unsigned writes = 60, looked_at = 90;
  Fixture::Config config = Virtual::config(virtual_ones, 0);
  config.endpoint.functions.resize(physical);
  config.link.generation = 1;
  config.link.lanes = 1;
  config.link.transmit_queue = 0;
  Virtual device(config);
  Fixture& fixture = device.fixture;
  std::optional<Logic> second;
  std::vector<Logic*> writers;
  writers.push_back(&fixture.logic);
  for (const auto& logic : device.logic) writers.push_back(logic.get());
  if (physical == 2) {
    second.emplace("second", fixture.card);
    writers.push_back(&*second);
    fixture.endpoint.function(1).bar.bind(second->bar);
    second->dma.bind(fixture.endpoint.function(1).dma);
  }
  fixture.run([&, virtual_ones = virtual_ones, physical = physical] {
    device.enumerate(true);
    device.enable(virtual_ones);
    pause(1 * vp::us);
    for (unsigned i = 0; i < virtual_ones; ++i) {
      fixture.config_write(device.vf(i).id(), Header::command, Header::CommandBit::bus_master, 2);
    }
    if (physical == 2) {
      fixture.config_write(make_id(1, 0, 1), Header::command, memory_and_master, 2);
    }
    std::vector<std::unique_ptr<Logic::Dma>> begun;
    for (unsigned i = 0; i < writers.size(); ++i) {
      for (unsigned j = 0; j < writes; ++j) {
        begun.push_back(writers[i]->dma_write(0x1000 * i, std::vector<std::uint8_t>(64)));
      }
    }
    for (const auto& one : begun) fixture.wait_for(*one);
    pause(100 * vp::us);
  });
  ASSERT_EQ(fixture.memory.writes.size(), writers.size() * writes);
  std::vector<unsigned> of(writers.size());
  for (unsigned i = 0; i < looked_at; ++i) ++of[fixture.memory.writes[i].address >> 12];
  // The queue of the link has taken the first function's first writes before any had to wait.
  for (unsigned i = 1; i <= virtual_ones; ++i) {
    EXPECT_NEAR(of[i], 1. * looked_at / physical / (1 + virtual_ones), 5) << i;
  }
}
INSTANTIATE_TEST_SUITE_P(VirtualFunction, Writers,
                         testing::Values(std::pair(1u, 2u), std::pair(2u, 1u), std::pair(2u, 2u),
                                         std::pair(2u, 3u)),
                         [](const auto& info) {
                           return std::to_string(info.param.first) + "And" +
                                  std::to_string(info.param.second);
                         });

TEST(VirtualFunction, AFunctionLevelResetIsItsOwn) {
  Virtual device;
  Fixture& fixture = device.fixture;
  fixture.run([&] {
    device.enumerate(true);
    device.enable(2);
    for (unsigned i = 0; i < 2; ++i)
      fixture.config_write(device.id(i), Header::command, Header::CommandBit::bus_master, 2);
    auto read = device.logic[0]->dma_read(0x1000, 64);
    auto other = device.logic[1]->dma_read(0x1000, 64);
    const unsigned express = fixture.find_capability(device.id(0), PciExpress::id);
    fixture.config_write(device.id(0), express + PciExpress::device_control, 0x8000, 2);
    EXPECT_TRUE(read->done);
    fixture.wait_for(*other);
    EXPECT_TRUE(other->is_response_ok());
    EXPECT_EQ(device.resets, (std::vector<unsigned>{1, 0, 0, 0, 0, 0, 0, 0}));
    EXPECT_EQ(fixture.config_read(device.id(0), Header::command, 2), 0u);
    EXPECT_EQ(fixture.config_read(device.id(1), Header::command, 2), 4u);
    EXPECT_EQ(fixture.read(vf_bar, 4), 0u) << "VF memory space is the physical function's";
    EXPECT_EQ(fixture.config_read(Fixture::device, Header::command, 2), 6u);
  });
}

// 6.6.2: its BARs stay in the physical function, but it supports no request. No error is logged.
TEST(VirtualFunction, InResetItTakesNoRequests) {
  Fixture::Config config = Virtual::config(2, 0);
  config.endpoint.functions[0].reset_time = 1 * vp::ms;
  Virtual device(config);
  Fixture& fixture = device.fixture;
  fixture.run([&] {
    device.enumerate(true);
    device.enable(2);
    for (unsigned i = 0; i < 2; ++i) device.logic[i]->memory[0][8] = 0x42 + i;
    EXPECT_EQ(fixture.read(vf_bar + 8, 1), 0x42u);
    const unsigned express = fixture.find_capability(device.id(0), PciExpress::id);
    const unsigned status =
        fixture.find_capability(Fixture::device, PciExpress::id) + PciExpress::device_status;
    const std::uint32_t before = fixture.config_read(Fixture::device, status, 2);
    fixture.config_write(device.id(0), express + PciExpress::device_control, 0x8000, 2);
    const vp::Picoseconds start = vp::now();
    device.logic[0]->uses.clear();
    EXPECT_EQ(fixture.read(vf_bar + 8, 1), 0xffu);
    fixture.write(vf_bar + 8, 0x77, 1);
    fixture.write(vf_bar + table, 0x1234, 4);
    EXPECT_EQ(fixture.read(vf_bar + table, 4), ~0u);
    EXPECT_EQ(fixture.read(vf_bar + vf_size + 8, 1), 0x43u) << "the other one is not in reset";
    EXPECT_EQ(fixture.config_read(Fixture::device, status, 2), before);
    EXPECT_LT(vp::now(), start + 100 * vp::us);
    EXPECT_TRUE(device.logic[0]->uses.empty());
    sc_core::wait(1, sc_core::SC_MS);
    EXPECT_EQ(fixture.read(vf_bar + 8, 1), 0x42u);
    EXPECT_EQ(fixture.read(vf_bar + table, 4), 0u);
  });
}

// By function level reset, from D3hot, and by the link; and by clearing VF enable.
TEST(VirtualFunction, VanishesWithThePhysicalFunction) {
  Virtual device;
  Fixture& fixture = device.fixture;
  fixture.run([&] {
    for (unsigned method = 0; method < 4; ++method) {
      device.enumerate(true);
      device.enable(2);
      fixture.config_write(device.id(1), Header::command, Header::CommandBit::bus_master, 2);
      EXPECT_EQ(fixture.read(vf_bar + vf_size, 4), 0u);
      auto read = device.logic[1]->dma_read(0x1000, 64);
      const unsigned resets = device.resets[1];
      const unsigned express = fixture.find_capability(Fixture::device, PciExpress::id);
      const unsigned power = fixture.find_capability(Fixture::device, PowerManagement::id);
      switch (method) {
        case 0:
          fixture.config_write(Fixture::device, express + PciExpress::device_control, 0x8000, 2);
          break;
        case 1:
          fixture.config_write(Fixture::device, power + PowerManagement::control, 3, 2);
          EXPECT_EQ(device.resets[1], resets);
          EXPECT_EQ(fixture.read(vf_bar + vf_size, 4), 0xffffffffu) << "in D3hot, too";
          EXPECT_FALSE(device.vf(1).may_master());
          fixture.config_write(Fixture::device, power + PowerManagement::control, 0, 2);
          break;
        case 2:
          fixture.config_write(Fixture::root_port, Type1Header::bridge_control,
                               Type1Header::BridgeControlBit::secondary_bus_reset, 2);
          fixture.config_write(Fixture::root_port, Type1Header::bridge_control, 0, 2);
          sc_core::wait(1, sc_core::SC_MS);
          break;
        default:
          device.disable();
      }
      EXPECT_TRUE(read->done);
      EXPECT_EQ(device.resets[1], resets + 1);
      EXPECT_FALSE(device.vf(1).exists());
      EXPECT_EQ(fixture.config_read(device.id(1), Header::revision_id, 4), ~0u);
      EXPECT_EQ(fixture.config_read(Fixture::device, device.sr_iov + SrIov::control, 2) & 1, 0u);
      device.enumerate(true);
      EXPECT_EQ(fixture.read(vf_bar + vf_size, 4), 0xffffffffu);
      device.enable(2);
      EXPECT_EQ(fixture.config_read(device.id(1), Header::command, 2), 0u) << "as new";
      device.disable();
    }
  });
}

// Until then by retries, which the root complex repeats.
TEST(VirtualFunction, AnswersAfterItsInitialisation) {
  Virtual device(total, 10 * vp::ms);
  Fixture& fixture = device.fixture;
  fixture.run([&] {
    sc_core::wait(10, sc_core::SC_MS);
    device.enumerate(true);
    const vp::Picoseconds start = vp::now();
    device.enable(1);
    EXPECT_EQ(fixture.config_read(device.id(0), Header::revision_id, 4), 0x12000000u);
    EXPECT_GE(vp::now(), start + 10 * vp::ms);
    EXPECT_LT(vp::now(), start + 11 * vp::ms);
    EXPECT_EQ(fixture.config_read(device.id(1), Header::revision_id, 4), ~0u);
    EXPECT_LT(vp::now(), start + 12 * vp::ms) << "what is not there does not retry";
  });
}

// 9.6: in D3hot of the physical function, its virtual functions send nothing.
TEST(VirtualFunction, SignalsOnceThePhysicalFunctionIsInD0) {
  Fixture::Config config = Virtual::config(1, 0);
  config.endpoint.functions[0].no_soft_reset = true;
  Virtual device(config);
  Fixture& fixture = device.fixture;
  fixture.run([&] {
    device.enumerate(true);
    device.enable(1);
    fixture.config_write(device.id(0), Header::command, Header::CommandBit::bus_master, 2);
    const unsigned msi_x = fixture.find_capability(device.id(0), MsiX::id);
    fixture.write(vf_bar + table, 0xfee02000, 8);
    fixture.write(vf_bar + table + 8, 0x77, 8);
    fixture.config_write(device.id(0), msi_x + MsiX::message_control, MsiX::ControlBit::enable, 2);
    const unsigned power = fixture.find_capability(Fixture::device, PowerManagement::id);
    fixture.config_write(Fixture::device, power + PowerManagement::control, 3, 2);
    device.vf(0).signal(0);
    pause(10 * vp::us);
    EXPECT_EQ(fixture.memory.messages.size(), 0u);
    fixture.config_write(Fixture::device, power + PowerManagement::control, 0, 2);
    pause(10 * vp::us);
    ASSERT_EQ(fixture.memory.messages.size(), 1u);
    EXPECT_EQ(fixture.memory.messages[0].address, 0xfee02000u);
  });
}

// The routing IDs of the virtual functions of one function stay as they are when another one, or
// the function itself, is reset.
TEST(VirtualFunction, KeepsItsIdThroughAFunctionLevelReset) {
  Fixture::Config config = Virtual::config(3, 0);
  config.endpoint.functions.resize(2, config.endpoint.functions[0]);
  Fixture fixture(config);
  fixture.run([&] {
    fixture.enumerate();
    const Id functions[] = {Fixture::device, make_id(1, 0, 1)};
    const unsigned express = fixture.find_capability(Fixture::root_port, PciExpress::id);
    fixture.config_write(Fixture::root_port, express + PciExpress::device_control_2, 1u << 5, 2);
    const unsigned sr_iov[] = {fixture.find_extended_capability(functions[0], SrIov::id),
                               fixture.find_extended_capability(functions[1], SrIov::id)};
    fixture.config_write(functions[0], sr_iov[0] + SrIov::control, SrIov::ControlBit::ari_capable,
                         2);
    const auto expect_ari = [&](const char* when) {
      EXPECT_EQ(fixture.config_read(functions[0], sr_iov[0] + SrIov::control, 2),
                SrIov::ControlBit::ari_capable)
          << when;
      EXPECT_EQ(fixture.config_read(functions[0], sr_iov[0] + SrIov::first_vf_offset, 2), 2u)
          << when;
      EXPECT_EQ(fixture.config_read(functions[1], sr_iov[1] + SrIov::first_vf_offset, 2), 4u)
          << when;
    };
    expect_ari("before");
    for (const Id id : functions) {
      fixture.config_write(
          id, fixture.find_capability(id, PciExpress::id) + PciExpress::device_control, 0x8000, 2);
      pause(100 * vp::ms);
      expect_ari("after a reset");
    }
  });
}

TEST(VirtualFunction, LosesItsPowerWithTheCard) {
  struct Peer : Port {
    explicit Peer(vp::Domain& domain) : Port(domain, {5, 16, 0}) {}
    using Port::hold_link;
    using Port::release_link;
    using Port::restore_power;
    using Port::send;
    void receive(TlpPtr) override {}
    void trained(unsigned, unsigned) override {}
  };
  vp::Domain host("host"), card("card");
  vp::Trace trace;
  vp::Statistics statistics;
  Peer peer(host);
  Endpoint endpoint("endpoint", Virtual::config(2, 0).endpoint, card, statistics);
  Link link("link", {}, peer, endpoint, trace, statistics);
  Logic logic("logic", card), first_logic("first_logic", card), second_logic("second_logic", card);
  Function& physical = endpoint.function(0);
  physical.bar.bind(logic.bar);
  logic.dma.bind(physical.dma);
  Logic* const logics[] = {&first_logic, &second_logic};
  std::vector<std::string> seen[2];
  for (unsigned i = 0; i < 2; ++i) {
    Function& function = physical.virtual_function(i);
    function.bar.bind(logics[i]->bar);
    logics[i]->dma.bind(function.dma);
    function.on_power_loss([&seen, i] { seen[i].push_back("loss"); });
    function.on_reset([&seen, i] { seen[i].push_back("reset"); });
    function.on_power_up([&seen, i] { seen[i].push_back("power"); });
  }
  const auto run = [] { sc_core::sc_start(10, sc_core::SC_US); };
  ConfigSpace& space = physical.config_space();
  unsigned sr_iov = 0x100;
  while (space.get(sr_iov, 2) != SrIov::id) sr_iov = space.get(sr_iov, 4) >> 20;
  run();
  peer.send(Tlp::config_write(false, Fixture::device, sr_iov + SrIov::num_vfs, 2, 1));
  peer.send(Tlp::config_write(false, Fixture::device, sr_iov + SrIov::control, 2,
                              SrIov::ControlBit::vf_enable));
  run();
  EXPECT_TRUE(physical.virtual_function(0).exists());
  EXPECT_FALSE(physical.virtual_function(1).exists());
  for (auto& events : seen) events.clear();
  peer.hold_link(Reset::cold);
  run();
  peer.restore_power();
  run();
  peer.release_link(Reset::cold);
  run();
  for (const auto& events : seen) {
    EXPECT_EQ(events, std::vector<std::string>({"loss", "reset", "power"}));
  }
}

TEST(VirtualFunction, OfTwoPhysicalFunctions) {
  Fixture::Config config = Virtual::config(3, 0);
  config.endpoint.functions.resize(2);
  config.endpoint.functions[1].identity.device = 0x1234;
  config.endpoint.functions[1].virtual_functions = {4, 0x1235, {{0, 0x1000}}, {}};
  Fixture fixture(config);
  fixture.run([&] {
    fixture.enumerate();
    const Id second = make_id(1, 0, 1);
    const unsigned express = fixture.find_capability(Fixture::root_port, PciExpress::id);
    fixture.config_write(Fixture::root_port, express + PciExpress::device_control_2, 1u << 5, 2);
    const unsigned at[] = {fixture.find_extended_capability(Fixture::device, SrIov::id),
                           fixture.find_extended_capability(second, SrIov::id)};
    EXPECT_EQ(fixture.config_read(
                  Fixture::device,
                  fixture.find_extended_capability(Fixture::device, AlternativeRouting::id) +
                      AlternativeRouting::capability,
                  4),
              0x100u)
        << "next function";
    EXPECT_EQ(fixture.config_read(second,
                                  fixture.find_extended_capability(second, AlternativeRouting::id) +
                                      AlternativeRouting::capability,
                                  4),
              0u);
    EXPECT_EQ(fixture.config_read(Fixture::device, at[0] + SrIov::first_vf_offset, 2), 256u);
    EXPECT_EQ(fixture.config_read(second, at[1] + SrIov::first_vf_offset, 2), 256u + 3 - 1);
    fixture.config_write(Fixture::device, at[0] + SrIov::control, SrIov::ControlBit::ari_capable,
                         2);
    EXPECT_EQ(fixture.config_read(Fixture::device, at[0] + SrIov::first_vf_offset, 2), 2u);
    EXPECT_EQ(fixture.config_read(second, at[1] + SrIov::first_vf_offset, 2), 2u + 3 - 1);
    fixture.config_write(Fixture::device, at[0] + SrIov::num_vfs, 3, 2);
    fixture.config_write(second, at[1] + SrIov::num_vfs, 4, 2);
    fixture.config_write(Fixture::device, at[0] + SrIov::control,
                         SrIov::ControlBit::vf_enable | SrIov::ControlBit::ari_capable, 2);
    fixture.config_write(second, at[1] + SrIov::control, SrIov::ControlBit::vf_enable, 2);
    for (unsigned i = 0; i < 7; ++i) {
      Function& vf = i < 3 ? fixture.endpoint.function(0).virtual_function(i)
                           : fixture.endpoint.function(1).virtual_function(i - 3);
      EXPECT_EQ(vf.id(), make_alternative_id(1, 2 + i));
      EXPECT_EQ(fixture.config_read(vf.id(), Header::vendor_id, 4), ~0u);
      EXPECT_NE(fixture.config_read(vf.id(), Header::revision_id, 4), ~0u);
    }
    EXPECT_EQ(fixture.config_read(make_alternative_id(1, 9), Header::revision_id, 4), ~0u);
  });
}

}  // namespace
}  // namespace pcie
