// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

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
      : fixture(config(count, initialisation)) {
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
        count, 0x0ae1, {{0, vf_size, true, true}}, {2, 0, table, 0, 0x3000}};
    return config;
  }

  Function& vf(unsigned index) { return fixture.endpoint.function(0).virtual_function(index); }
  Id id(unsigned index) { return make_alternative_id(ari ? 1 : 2, (ari ? 1 : 0) + index); }

  // As Linux does it.
  void enumerate(bool with_ari) {
    ari = with_ari;
    fixture.enumerate();
    fixture.config_write(Fixture::root_port, 0x18, 0x00020100, 4);  // buses 1 and 2
    const unsigned express = fixture.find_capability(Fixture::root_port, 0x10);
    fixture.config_write(Fixture::root_port, express + 0x28, ari ? 1u << 5 : 0, 2);
    sr_iov = fixture.find_extended_capability(Fixture::device, 0x0010);
    fixture.config_write(Fixture::device, sr_iov + 0x08, ari ? 0x10 : 0, 2);
    fixture.config_write(Fixture::device, sr_iov + 0x24, static_cast<std::uint32_t>(vf_bar), 4);
    fixture.config_write(Fixture::device, sr_iov + 0x28, vf_bar >> 32, 4);
  }
  void enable(unsigned count) {
    fixture.config_write(Fixture::device, sr_iov + 0x10, count, 2);
    fixture.config_write(Fixture::device, sr_iov + 0x08, ari ? 0x19 : 0x09, 2);
  }
  void disable() { fixture.config_write(Fixture::device, sr_iov + 0x08, ari ? 0x10 : 0, 2); }

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
          EXPECT_EQ(fixture.config_read(device.id(i), 0x08, 4), there ? 0x12000000u : ~0u) << i;
          if (i >= total) continue;
          EXPECT_EQ(device.vf(i).exists(), there);
          EXPECT_EQ(device.vf(i).id(), device.id(i));
        }
        device.disable();
        EXPECT_EQ(fixture.config_read(device.id(0), 0x08, 4), ~0u);
      }
    }
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
    EXPECT_EQ(fixture.config_read(id, 0x00, 4), ~0u);
    EXPECT_EQ(fixture.config_read(id, 0x0c, 4), 0u);
    for (unsigned at = 0x10; at < 0x28; at += 4) EXPECT_EQ(fixture.config_read(id, at, 4), 0u);
    EXPECT_EQ(fixture.config_read(id, 0x2c, 4), 0x0001f0aeu);
    EXPECT_EQ(fixture.config_read(id, 0x3c, 4), 0u);
    EXPECT_NE(fixture.find_capability(id, 0x10), 0u);
    EXPECT_NE(fixture.find_capability(id, 0x11), 0u);
    EXPECT_NE(fixture.find_extended_capability(id, 0x000e), 0u) << "ARI";
    EXPECT_EQ(fixture.find_extended_capability(id, 0x0010), 0u);
    EXPECT_EQ(fixture.find_extended_capability(id, 0x0026), 0u) << "the link is function 0's";
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
    const unsigned express = fixture.find_capability(id, 0x10);
    fixture.config_write(id, express + 0x08, 0x7fff, 2);
    EXPECT_EQ(fixture.config_read(id, express + 0x08, 2), 0u);
    fixture.config_write(id, express + 0x10, 0xffff, 2);
    EXPECT_EQ(fixture.config_read(id, express + 0x10, 4), 0u) << "link control and status";
    fixture.config_write(id, express + 0x28, 0xffff, 2);
    EXPECT_EQ(fixture.config_read(id, express + 0x28, 2), 0u);
    EXPECT_EQ(device.vf(0).max_payload(), 256u);
    const unsigned errors = fixture.find_extended_capability(id, 0x0001);
    for (const unsigned at : {0x08, 0x0c, 0x14}) {
      fixture.config_write(id, errors + at, ~0u, 4);
      EXPECT_EQ(fixture.config_read(id, errors + at, 4), 0u);
    }
    // A poisoned write is an error of its own, told of by its id as the physical function says.
    const unsigned physical = fixture.find_extended_capability(Fixture::device, 0x0001);
    const unsigned control = fixture.find_capability(Fixture::device, 0x10) + 0x08;
    for (const bool masked : {true, false}) {
      fixture.config_write(Fixture::device, physical + 0x08, masked ? 1u << 12 : 0, 4);
      fixture.config_write(Fixture::device, control, 0x281f, 2);
      fixture.link.inject(Direction::down, {Error::poisoned_tlp, TlpType::MWr});
      fixture.write(vf_bar, 1, 4);
      EXPECT_EQ(fixture.config_read(id, errors + 0x04, 4), 1u << 12);
      EXPECT_EQ(fixture.config_read(Fixture::device, physical + 0x04, 4), 0u);
      EXPECT_EQ(fixture.config_read(id, express + 0x0a, 2) & 0xf, 2u) << "non-fatal";
      EXPECT_EQ(fixture.link.count(Direction::up, TlpType::Msg).tlps, masked ? 0u : 1u);
      fixture.config_write(id, errors + 0x04, ~0u, 4);
      fixture.config_write(id, express + 0x0a, 0xf, 2);
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
    fixture.config_write(Fixture::device, 4, 0x0004, 2);
    EXPECT_EQ(fixture.read(vf_bar, 4), 0x100u);
    EXPECT_EQ(fixture.read(Fixture::bar0, 4), 0xffffffffu);
    fixture.config_write(Fixture::device, device.sr_iov + 0x08, 0x11, 2);
    EXPECT_EQ(fixture.read(vf_bar, 4), 0xffffffffu);
    EXPECT_EQ(fixture.read(vf_bar + 6 * vf_size, 4), 0xffffffffu);
    // And they move together.
    fixture.config_write(Fixture::device, device.sr_iov + 0x24, 0x00060000, 4);
    fixture.config_write(Fixture::device, device.sr_iov + 0x08, 0x19, 2);
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
      fixture.config_write(device.id(i), 4, 4, 2);
      const unsigned msi_x = fixture.find_capability(device.id(i), 0x11);
      EXPECT_EQ(fixture.config_read(device.id(i), msi_x + 2, 2), 1u) << "two vectors";
      fixture.config_write(device.id(i), msi_x + 2, 0x8000, 2);
      for (unsigned vector = 0; vector < 2; ++vector) {
        const std::uint64_t entry = vf_bar + i * vf_size + table + 16 * vector;
        fixture.write(entry, 0xfee00000 + 0x1000 * i, 8);
        fixture.write(entry + 8, 2 * i + vector, 8);
      }
    }
    // All at once: reads whose tags are equal are told apart by their requesters.
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

TEST(VirtualFunction, AFunctionLevelResetIsItsOwn) {
  Virtual device;
  Fixture& fixture = device.fixture;
  fixture.run([&] {
    device.enumerate(true);
    device.enable(2);
    for (unsigned i = 0; i < 2; ++i) fixture.config_write(device.id(i), 4, 4, 2);
    auto read = device.logic[0]->dma_read(0x1000, 64);
    auto other = device.logic[1]->dma_read(0x1000, 64);
    const unsigned express = fixture.find_capability(device.id(0), 0x10);
    fixture.config_write(device.id(0), express + 0x08, 0x8000, 2);
    EXPECT_TRUE(read->done);
    fixture.wait_for(*other);
    EXPECT_TRUE(other->is_response_ok());
    EXPECT_EQ(device.resets, (std::vector<unsigned>{1, 0, 0, 0, 0, 0, 0, 0}));
    EXPECT_EQ(fixture.config_read(device.id(0), 4, 2), 0u);
    EXPECT_EQ(fixture.config_read(device.id(1), 4, 2), 4u);
    EXPECT_EQ(fixture.read(vf_bar, 4), 0u) << "VF memory space is the physical function's";
    EXPECT_EQ(fixture.config_read(Fixture::device, 4, 2), 6u);
  });
}

// By function level reset, from D3hot, and by the link; and by clearing VF enable.
TEST(VirtualFunction, VanishesWithThePhysicalFunction) {
  Virtual device;
  Fixture& fixture = device.fixture;
  fixture.run([&] {
    for (unsigned way = 0; way < 4; ++way) {
      device.enumerate(true);
      device.enable(2);
      fixture.config_write(device.id(1), 4, 4, 2);
      EXPECT_EQ(fixture.read(vf_bar + vf_size, 4), 0u);
      auto read = device.logic[1]->dma_read(0x1000, 64);
      const unsigned resets = device.resets[1];
      const unsigned express = fixture.find_capability(Fixture::device, 0x10);
      const unsigned power = fixture.find_capability(Fixture::device, 1);
      switch (way) {
        case 0:
          fixture.config_write(Fixture::device, express + 0x08, 0x8000, 2);
          break;
        case 1:
          fixture.config_write(Fixture::device, power + 4, 3, 2);
          EXPECT_EQ(device.resets[1], resets);
          EXPECT_EQ(fixture.read(vf_bar + vf_size, 4), 0xffffffffu) << "in D3hot, too";
          EXPECT_FALSE(device.vf(1).may_master());
          fixture.config_write(Fixture::device, power + 4, 0, 2);
          break;
        case 2:
          fixture.config_write(Fixture::root_port, 0x3e, 0x40, 2);
          fixture.config_write(Fixture::root_port, 0x3e, 0, 2);
          sc_core::wait(1, sc_core::SC_MS);
          break;
        default:
          device.disable();
      }
      EXPECT_TRUE(read->done);
      EXPECT_EQ(device.resets[1], resets + 1);
      EXPECT_FALSE(device.vf(1).exists());
      EXPECT_EQ(fixture.config_read(device.id(1), 0x08, 4), ~0u);
      EXPECT_EQ(fixture.config_read(Fixture::device, device.sr_iov + 0x08, 2) & 1, 0u);
      device.enumerate(true);
      EXPECT_EQ(fixture.read(vf_bar + vf_size, 4), 0xffffffffu);
      device.enable(2);
      EXPECT_EQ(fixture.config_read(device.id(1), 4, 2), 0u) << "as new";
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
    EXPECT_EQ(fixture.config_read(device.id(0), 8, 4), 0x12000000u);
    EXPECT_GE(vp::now(), start + 10 * vp::ms);
    EXPECT_LT(vp::now(), start + 11 * vp::ms);
    EXPECT_EQ(fixture.config_read(device.id(1), 8, 4), ~0u);
    EXPECT_LT(vp::now(), start + 12 * vp::ms) << "what is not there does not retry";
  });
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
    const unsigned express = fixture.find_capability(Fixture::root_port, 0x10);
    fixture.config_write(Fixture::root_port, express + 0x28, 1u << 5, 2);
    const unsigned at[] = {fixture.find_extended_capability(Fixture::device, 0x10),
                           fixture.find_extended_capability(second, 0x10)};
    EXPECT_EQ(fixture.config_read(Fixture::device,
                                  fixture.find_extended_capability(Fixture::device, 0xe) + 4, 4),
              0x100u)
        << "next function";
    EXPECT_EQ(fixture.config_read(second, fixture.find_extended_capability(second, 0xe) + 4, 4),
              0u);
    EXPECT_EQ(fixture.config_read(Fixture::device, at[0] + 0x14, 2), 256u);
    EXPECT_EQ(fixture.config_read(second, at[1] + 0x14, 2), 256u + 3 - 1);
    fixture.config_write(Fixture::device, at[0] + 0x08, 0x10, 2);
    EXPECT_EQ(fixture.config_read(Fixture::device, at[0] + 0x14, 2), 2u);
    EXPECT_EQ(fixture.config_read(second, at[1] + 0x14, 2), 2u + 3 - 1);
    fixture.config_write(Fixture::device, at[0] + 0x10, 3, 2);
    fixture.config_write(second, at[1] + 0x10, 4, 2);
    fixture.config_write(Fixture::device, at[0] + 0x08, 0x11, 2);
    fixture.config_write(second, at[1] + 0x08, 0x01, 2);
    for (unsigned i = 0; i < 7; ++i) {
      Function& vf = i < 3 ? fixture.endpoint.function(0).virtual_function(i)
                           : fixture.endpoint.function(1).virtual_function(i - 3);
      EXPECT_EQ(vf.id(), make_alternative_id(1, 2 + i));
      EXPECT_EQ(fixture.config_read(vf.id(), 0, 4), ~0u);
      EXPECT_NE(fixture.config_read(vf.id(), 8, 4), ~0u);
    }
    EXPECT_EQ(fixture.config_read(make_alternative_id(1, 9), 8, 4), ~0u);
  });
}

}  // namespace
}  // namespace pcie
