// SPDX-License-Identifier: Apache-2.0
#include "models/pcie/endpoint/function.h"

#include <gtest/gtest.h>

#include "models/pcie/protocol/configuration_error.h"
#include "tests/models/pcie/fixture.h"

namespace pcie {
namespace {

std::vector<std::uint8_t> pattern(unsigned bytes, unsigned seed) {
  std::vector<std::uint8_t> data(bytes);
  for (unsigned i = 0; i < bytes; ++i) data[i] = (i + seed) * 41 >> 2;
  return data;
}

std::vector<unsigned> lengths_around(std::initializer_list<unsigned> boundaries) {
  std::vector<unsigned> values;
  for (const unsigned boundary : boundaries) {
    for (int delta = -5; delta <= 5; ++delta) {
      const int value = static_cast<int>(boundary) + delta;
      if (value >= 1 && value <= 4096) values.push_back(value);
    }
  }
  return values;
}

// Gives a device's unused BAR socket its other end.
struct Idle : sc_core::sc_module {
  tlm_utils::simple_initiator_socket<Idle> bar;
  explicit Idle(const sc_core::sc_module_name& name) : sc_module(name), bar("bar") {}
};

TEST(Function, MemorySpaceGatesItsBars) {
  Fixture fixture;
  fixture.run([&] {
    fixture.enumerate();
    fixture.write(Fixture::bar0, 0x42, 4);
    fixture.config_write(Fixture::device, Header::command, Header::CommandBit::bus_master, 2);
    EXPECT_EQ(fixture.read(Fixture::bar0, 4), 0xffffffffu);
    EXPECT_EQ(fixture.read(Fixture::bar2, 8), ~0ull);
    fixture.write(Fixture::bar0, 0x43, 4);
    fixture.config_write(Fixture::device, Header::command, Header::CommandBit::memory_space, 2);
    EXPECT_EQ(fixture.read(Fixture::bar0, 4), 0x42u);
    EXPECT_EQ(fixture.counter("endpoint.unsupported_requests"), 3u);
    const unsigned express = fixture.find_capability(Fixture::device, PciExpress::id);
    EXPECT_EQ(fixture.config_read(Fixture::device, express + PciExpress::device_status, 2) & 8, 8u)
        << "UR detected";
    fixture.config_write(Fixture::device, express + PciExpress::device_status, 0xf, 2);
    EXPECT_EQ(fixture.config_read(Fixture::device, express + PciExpress::device_status, 2), 0u);
  });
}

TEST(Function, D3hotGatesItsBarsAndItsRequests) {
  Fixture fixture;
  fixture.run([&] {
    fixture.enumerate();
    const unsigned power = fixture.find_capability(Fixture::device, PowerManagement::id);
    fixture.write(Fixture::bar0, 0x42, 4);
    fixture.config_write(Fixture::device, power + PowerManagement::control, 3, 2);
    EXPECT_EQ(fixture.read(Fixture::bar0, 4), 0xffffffffu);
    EXPECT_EQ(fixture.logic.dma_write(0x1000, {1})->get_response_status(),
              tlm::TLM_COMMAND_ERROR_RESPONSE);
    EXPECT_EQ(fixture.config_read(Fixture::device, Header::vendor_id, 4), 0x0ae0f0aeu);
    fixture.config_write(Fixture::device, power + PowerManagement::control, 0, 2);
    EXPECT_EQ(fixture.read(Fixture::bar0, 4), 0x42u) << "registers survive";
    EXPECT_TRUE(fixture.logic.dma_write(0x1000, {1})->is_response_ok());
  });
}

TEST(Function, BusMasterGatesDmaAndMessages) {
  Fixture fixture;
  fixture.run([&] {
    fixture.enumerate();
    fixture.config_write(Fixture::device, Header::command, Header::CommandBit::memory_space, 2);
    for (const auto* dma : {fixture.logic.dma_write(0x1000, {1, 2}).release(),
                            fixture.logic.dma_read(0x1000, 8).release()}) {
      EXPECT_TRUE(dma->done) << "refused at once";
      EXPECT_EQ(dma->get_response_status(), tlm::TLM_COMMAND_ERROR_RESPONSE);
      delete dma;
    }
    const unsigned msi_x = fixture.find_capability(Fixture::device, MsiX::id);
    fixture.config_write(Fixture::device, msi_x + MsiX::message_control, MsiX::ControlBit::enable,
                         2);
    fixture.write(Fixture::msi_x_table, 0xfee00000, 8);
    fixture.write(Fixture::msi_x_table + 8, 0x21, 8);
    fixture.read(Fixture::msi_x_table, 8);
    fixture.endpoint.function(0).signal(0);
    sc_core::wait(10, sc_core::SC_US);
    EXPECT_TRUE(fixture.memory.messages.empty());
    EXPECT_EQ(fixture.read(Fixture::msi_x_pending, 8), 1u);
    fixture.config_write(Fixture::device, Header::command, memory_and_master, 2);
    sc_core::wait(10, sc_core::SC_US);
    EXPECT_EQ(fixture.memory.messages.size(), 1u);
    EXPECT_EQ(fixture.read(Fixture::msi_x_pending, 8), 0u);
    EXPECT_TRUE(fixture.memory.writes.empty());
  });
}

TEST(Function, BarsMoveWithTheirRegisters) {
  Fixture fixture;
  fixture.run([&] {
    fixture.enumerate();
    fixture.write(Fixture::bar4, 0x42, 4);
    fixture.config_write(Fixture::device, Type0Header::bar(4), 0xc0180000, 4);
    EXPECT_EQ(fixture.read(Fixture::bar4, 4), 0xffffffffu);
    EXPECT_EQ(fixture.read(0xc0180000, 4), 0x42u);
    fixture.config_write(Fixture::device, Type0Header::bar(4), ~0u, 4);
    EXPECT_EQ(fixture.config_read(Fixture::device, Type0Header::bar(4), 4), 0xfffff000u);
    fixture.config_write(Fixture::device, Type0Header::bar(0), ~0u, 4);
    fixture.config_write(Fixture::device, Type0Header::bar(1), ~0u, 4);
    EXPECT_EQ(fixture.config_read(Fixture::device, Type0Header::bar(0), 4), 0xffff0004u);
    EXPECT_EQ(fixture.config_read(Fixture::device, Type0Header::bar(1), 4), ~0u);
    fixture.config_write(Fixture::device, Type0Header::bar(2), ~0u, 4);
    EXPECT_EQ(fixture.config_read(Fixture::device, Type0Header::bar(2), 4), 0xffff800cu);
    EXPECT_EQ(fixture.config_read(Fixture::device, Type0Header::bar(5), 4), 0u)
        << "BAR 5 is not there";
  });
}

TEST(Function, LogicSeesBarOffsetLengthAndRequester) {
  Fixture fixture;
  fixture.run([&] {
    fixture.enumerate();
    fixture.write(Fixture::bar2 + 0x1235, 0, 3);
    fixture.read(Fixture::bar4 + 0xffe, 2);
    fixture.read_bytes(Fixture::bar0 + 0x7c0, 64);
    const auto& uses = fixture.logic.uses;
    ASSERT_EQ(uses.size(), 3u);
    EXPECT_TRUE(uses[0].write);
    EXPECT_EQ(uses[0].bar, 2u);
    EXPECT_EQ(uses[0].offset, 0x1235u);
    EXPECT_EQ(uses[0].bytes, 3u);
    EXPECT_EQ(uses[0].requester, Fixture::root_port);
    EXPECT_FALSE(uses[1].write);
    EXPECT_EQ(uses[1].bar, 4u);
    EXPECT_EQ(uses[1].offset, 0xffeu);
    EXPECT_EQ(uses[2].bytes, 64u) << "in one piece";
  });
}

TEST(Function, RequesterIdIsCapturedFromConfigurationWrites) {
  Fixture fixture;
  fixture.run([&] {
    EXPECT_EQ(fixture.endpoint.function(0).id(), 0);
    fixture.enumerate();
    EXPECT_EQ(fixture.endpoint.function(0).id(), Fixture::device);
    fixture.config_write(Fixture::root_port, Type1Header::primary_bus_number, 0x00070700, 4);
    fixture.config_read(make_id(7, 0, 0), Header::vendor_id, 4);
    EXPECT_EQ(fixture.endpoint.function(0).id(), Fixture::device) << "a read captures nothing";
    fixture.config_write(make_id(7, 0, 0), Header::command, memory_and_master, 2);
    EXPECT_EQ(fixture.endpoint.function(0).id(), make_id(7, 0, 0));
    auto read = fixture.logic.dma_read(0x1000, 16);
    fixture.wait_for(*read);
    EXPECT_TRUE(read->is_response_ok());
  });
}

class DmaSizes : public testing::TestWithParam<unsigned> {};

// Length x offset around every boundary; several completions a read; all bytes, and no others.
TEST_P(DmaSizes, ReadsAndWritesOfAnySizeAnywhere) {
  const unsigned payload = GetParam();
  Fixture::Config config;
  config.root_complex.max_payload = config.endpoint.max_payload = 4096;
  config.root_complex.read_boundary = payload == 256 ? 128 : 64;
  Fixture fixture(config);
  fixture.run([&] {
    fixture.enumerate();
    const unsigned read_request = payload == 128 ? 4096 : 256;
    fixture.set_sizes(payload, read_request);
    auto& memory = fixture.memory.bytes;
    unsigned seed = 0;
    for (const unsigned base : {0u, 64u, 128u, 4096u}) {
      for (int shift = -3; shift <= 3; ++shift) {
        for (const unsigned length : lengths_around({1, 64, 128, 256, 512, 1024, 4096})) {
          const std::uint64_t address = 0x8000 + base + shift;
          const auto data = pattern(length, ++seed);
          std::fill(memory.begin() + 0x6000, memory.begin() + 0xc000, 0xcc);
          fixture.memory.writes.clear();
          auto write = fixture.logic.dma_write(address, data);
          ASSERT_TRUE(write->done && write->is_response_ok());
          auto read = fixture.logic.dma_read(address, length);
          fixture.wait_for(*read);
          ASSERT_TRUE(read->is_response_ok());
          ASSERT_EQ(read->data, data) << "the read pushes the writes";
          for (std::uint64_t at = 0x6000; at < 0xc000; ++at) {
            const bool inside = at >= address && at < address + length;
            ASSERT_EQ(memory[at], inside ? data[at - address] : 0xcc) << std::hex << at;
          }
          for (const auto& part : fixture.memory.writes) {
            ASSERT_LE((part.address % 4 + part.data.size() + 3) / 4 * 4, payload);
            ASSERT_LE(part.address % 4096 + part.data.size(), 4096u);
          }
        }
      }
    }
    EXPECT_EQ(fixture.counter("endpoint.malformed_tlps"), 0u);
    EXPECT_EQ(fixture.counter("root_complex.port0.malformed_tlps"), 0u);
  });
}

INSTANTIATE_TEST_SUITE_P(Payloads, DmaSizes, testing::Values(128, 256, 512, 4096));

TEST(Function, ReadsAreSplitByMaxReadRequestSize) {
  Fixture::Config config;
  config.root_complex.max_payload = config.endpoint.max_payload = 1024;
  Fixture fixture(config);
  fixture.run([&] {
    fixture.enumerate();
    std::uint64_t before = 0;
    for (unsigned request = 128; request <= 4096; request *= 2) {
      fixture.set_sizes(128, request);
      auto read = fixture.logic.dma_read(0x1000, 4096);
      fixture.wait_for(*read);
      const std::uint64_t reads = fixture.link.count(Direction::up, TlpType::MRd).tlps;
      EXPECT_EQ(reads - before, 4096 / request);
      before = reads;
    }
    EXPECT_EQ(fixture.link.count(Direction::down, TlpType::CplD).tlps, 6u * 4096 / 128);
  });
}

TEST(Function, ManyReadsWaitForTagsAndAllComplete) {
  Fixture fixture;
  fixture.memory.read_time = 1 * vp::us;
  fixture.run([&] {
    fixture.enumerate();
    fixture.set_sizes(128, 128);
    for (unsigned i = 0; i < fixture.memory.bytes.size(); ++i) fixture.memory.bytes[i] = i * 7 >> 3;
    std::vector<std::unique_ptr<Logic::Dma>> reads;
    for (unsigned i = 0; i < 50; ++i) reads.push_back(fixture.logic.dma_read(i * 1000, 4096));
    for (unsigned i = 0; i < 50; ++i) {
      fixture.wait_for(*reads[i]);
      EXPECT_TRUE(std::equal(reads[i]->data.begin(), reads[i]->data.end(),
                             fixture.memory.bytes.begin() + i * 1000));
      EXPECT_GE(reads[i]->when, reads[i == 0 ? 0 : i - 1]->when);
    }
  });
}

TEST(Function, WhatIsNoTransfer) {
  Fixture fixture;
  fixture.run([&] {
    fixture.enumerate();
    EXPECT_EQ(fixture.logic.dma_read(0, 0)->get_response_status(), tlm::TLM_BURST_ERROR_RESPONSE);
    EXPECT_EQ(fixture.logic.dma_write(0, std::vector<std::uint8_t>(4097))->get_response_status(),
              tlm::TLM_BURST_ERROR_RESPONSE);
    EXPECT_EQ(fixture.logic.dma_read(~0ull - 2, 8)->get_response_status(),
              tlm::TLM_ADDRESS_ERROR_RESPONSE);
    auto last = fixture.logic.dma_read(~0ull - 7, 8);
    fixture.wait_for(*last);
    EXPECT_EQ(last->get_response_status(), tlm::TLM_ADDRESS_ERROR_RESPONSE) << "UR";
    EXPECT_EQ(fixture.counter("endpoint.pf0.dma_refused"), 3u);
  });
}

TEST(Function, MasteringThatIsTakenAwayEndsWaitingReads) {
  Fixture fixture;
  fixture.memory.read_time = 100 * vp::us;
  fixture.run([&] {
    fixture.enumerate();
    std::vector<std::unique_ptr<Logic::Dma>> reads;
    for (unsigned i = 0; i < 10; ++i) reads.push_back(fixture.logic.dma_read(0x1000, 4096));
    fixture.config_write(Fixture::device, Header::command, Header::CommandBit::memory_space, 2);
    unsigned refused = 0;
    for (auto& read : reads) {
      fixture.wait_for(*read);
      if (!read->is_response_ok()) {
        EXPECT_EQ(read->get_response_status(), tlm::TLM_COMMAND_ERROR_RESPONSE);
        ++refused;
      }
    }
    EXPECT_EQ(refused, 6u) << "32 tags of 512 bytes were out: four reads";
  });
}

TEST(Function, MessagesCarryAddressDataAndRequester) {
  const std::string trace = testing::TempDir() + "function_test_trace.jsonl";
  Fixture::Config config;
  Fixture fixture(config);
  fixture.run([&] {
    fixture.enumerate();
    const unsigned msi_x = fixture.find_capability(Fixture::device, MsiX::id);
    EXPECT_EQ(fixture.config_read(Fixture::device, msi_x + MsiX::message_control, 2), 15u);
    EXPECT_EQ(fixture.config_read(Fixture::device, msi_x + MsiX::table, 4), 0x8000u);
    EXPECT_EQ(fixture.config_read(Fixture::device, msi_x + MsiX::pending_bit_array, 4), 0xc000u);
    fixture.config_write(Fixture::device, msi_x + MsiX::message_control, 0xc000, 2);
    for (unsigned i = 0; i < 16; ++i) {
      fixture.write(Fixture::msi_x_table + 16 * i, 0xfee00000 + 0x1000 * i, 8);
      fixture.write(Fixture::msi_x_table + 16 * i + 8, 0x4020 + i, 4);
      fixture.write(Fixture::msi_x_table + 16 * i + 12, i == 7, 4);
    }
    EXPECT_EQ(fixture.read(Fixture::msi_x_table + 16 * 3, 8), 0xfee03000u);
    EXPECT_EQ(fixture.read(Fixture::msi_x_table + 16 * 7 + 8, 8), 0x100004027u);
    for (unsigned i = 0; i < 16; ++i) fixture.endpoint.function(0).interrupt->signal(i);
    sc_core::wait(10, sc_core::SC_US);
    EXPECT_TRUE(fixture.memory.messages.empty()) << "function mask";
    EXPECT_EQ(fixture.read(Fixture::msi_x_pending, 4), 0xffffu);
    fixture.config_write(Fixture::device, msi_x + MsiX::message_control, MsiX::ControlBit::enable,
                         2);
    sc_core::wait(10, sc_core::SC_US);
    ASSERT_EQ(fixture.memory.messages.size(), 15u);
    EXPECT_EQ(fixture.read(Fixture::msi_x_pending, 4), 0x80u) << "one vector is masked";
    EXPECT_EQ(fixture.memory.messages[3].address, 0xfee03000u);
    EXPECT_EQ(fixture.memory.messages[3].data, (std::vector<std::uint8_t>{0x23, 0x40, 0, 0}));
    EXPECT_TRUE(fixture.logic.uses.empty()) << "table and pending bits are not the logic's";
    fixture.endpoint.function(0).signal(16);
    fixture.endpoint.function(0).signal(~0u);
    EXPECT_EQ(fixture.counter("endpoint.pf0.interrupts_ignored"), 2u);
  });
}

// Every way software may choose, in a function that has them all.
TEST(Function, InterruptsGoTheWayThatSoftwareHasEnabled) {
  Fixture::Config config;
  config.endpoint.functions[0].msi.vectors = 32;
  config.endpoint.functions[0].interrupt_pin = 1;
  Fixture fixture(config);
  fixture.run([&] {
    fixture.enumerate();
    Function& function = fixture.endpoint.function(0);
    auto& messages = fixture.memory.messages;
    auto settle = [] { sc_core::wait(10, sc_core::SC_US); };
    const unsigned msi = fixture.find_capability(Fixture::device, Msi::id);
    const unsigned msi_x = fixture.find_capability(Fixture::device, MsiX::id);
    fixture.config_write(Fixture::device, msi + Msi::message_address, 0xfee04000, 4);
    fixture.config_write(Fixture::device, msi + Msi::message_data, 0x4100, 2);
    fixture.write(Fixture::msi_x_table, 0xfee05000, 8);
    fixture.write(Fixture::msi_x_table + 8, 0x4055, 8);

    EXPECT_EQ(function.interrupt_mode(), InterruptMode::intx);
    EXPECT_EQ(function.interrupt_vectors(), 0u);
    function.signal(0);
    settle();
    EXPECT_TRUE(messages.empty());

    for (unsigned power = 0; power <= 5; ++power) {
      fixture.config_write(Fixture::device, msi + Msi::message_control, 1 | power << 4, 2);
      EXPECT_EQ(function.interrupt_mode(), InterruptMode::msi);
      EXPECT_EQ(function.interrupt_vectors(), 1u << power);
      messages.clear();
      for (unsigned vector = 0; vector < 40; ++vector) function.signal(vector);
      settle();
      ASSERT_EQ(messages.size(), 1u << power);
      for (unsigned vector = 0; vector < messages.size(); ++vector) {
        EXPECT_EQ(messages[vector].address, 0xfee04000u);
        EXPECT_EQ(messages[vector].data,
                  (std::vector<std::uint8_t>{static_cast<std::uint8_t>(vector), 0x41, 0, 0}));
      }
    }

    messages.clear();
    fixture.config_write(Fixture::device, msi + Msi::mask_bits, ~0u, 4);
    function.signal(31);
    settle();
    EXPECT_TRUE(messages.empty());
    EXPECT_EQ(fixture.config_read(Fixture::device, msi + Msi::pending_bits, 4), 1u << 31);
    fixture.config_write(Fixture::device, msi + Msi::mask_bits, ~(1u << 31), 4);
    settle();
    EXPECT_EQ(messages.size(), 1u) << "a write to configuration space releases it";
    EXPECT_EQ(fixture.config_read(Fixture::device, msi + Msi::pending_bits, 4), 0u);

    fixture.config_write(Fixture::device, msi_x + MsiX::message_control, MsiX::ControlBit::enable,
                         2);
    EXPECT_EQ(function.interrupt_mode(), InterruptMode::msi_x);
    EXPECT_EQ(function.interrupt_vectors(), 16u);
    function.signal(0);
    settle();
    ASSERT_EQ(messages.size(), 2u);
    EXPECT_EQ(messages[1].address, 0xfee05000u);
  });
}

TEST(Function, MessagesAndIntxExcludeEachOther) {
  Fixture::Config config;
  config.endpoint.functions[0].msi.vectors = 1;
  config.endpoint.functions[0].interrupt_pin = 1;
  Fixture fixture(config);
  fixture.run([&] {
    fixture.enumerate();
    auto settle = [] { sc_core::wait(10, sc_core::SC_US); };
    const unsigned msi = fixture.find_capability(Fixture::device, Msi::id);
    const unsigned msi_x = fixture.find_capability(Fixture::device, MsiX::id);
    fixture.endpoint.function(0).set_intx(true);
    settle();
    EXPECT_EQ(fixture.lines.levels(), (std::vector<bool>{true}));
    fixture.config_write(Fixture::device, msi + Msi::message_control, Msi::ControlBit::enable, 2);
    settle();
    EXPECT_EQ(fixture.lines.levels(), (std::vector<bool>{true, false}));
    fixture.config_write(Fixture::device, msi + Msi::message_control, 0, 2);
    settle();
    EXPECT_EQ(fixture.lines.changes.size(), 3u);
    fixture.config_write(Fixture::device, msi_x + MsiX::message_control, MsiX::ControlBit::enable,
                         2);
    settle();
    EXPECT_EQ(fixture.lines.changes.size(), 4u);
    EXPECT_FALSE(fixture.lines.levels().back());
  });
}

// A read across table, logic and pending bits takes each from where it is.
TEST(Function, AccessesAcrossTheTablesEdges) {
  Fixture::Config config;
  config.endpoint.functions[0].msi_x = {3, 0, 0x1010, 0, 0x1048};
  Fixture fixture(config);
  fixture.run([&] {
    fixture.enumerate();
    fixture.logic.memory[0][0x100f] = 0x11;
    fixture.logic.memory[0][0x1040] = 0x22;
    fixture.logic.memory[0][0x1050] = 0x33;
    fixture.write(Fixture::bar0 + 0x1010, 0xabcd0000fee00000, 8);
    const auto data = fixture.read_bytes(Fixture::bar0 + 0x1008, 64);
    const auto more = fixture.read_bytes(Fixture::bar0 + 0x103f, 20);
    EXPECT_EQ(data[7], 0x11);
    EXPECT_EQ(data[10], 0xe0);
    EXPECT_EQ(data[15], 0xab);
    EXPECT_EQ(data[8 + 12], 1) << "masked";
    EXPECT_EQ(data[0x38], 0x22);
    EXPECT_EQ(more[0x11], 0x33);
    for (const auto& use : fixture.logic.uses) {
      EXPECT_TRUE(use.offset + use.bytes <= 0x1010 || use.offset >= 0x1040);
      EXPECT_FALSE(use.offset < 0x1050 && use.offset + use.bytes > 0x1048);
    }
  });
}

TEST(Function, LogicThatTakesOneReadAtATime) {
  Fixture::Config config;
  config.endpoint.functions[0].bar_reads = 1;
  Fixture fixture(config);
  fixture.logic.latency = 1 * vp::us;
  unsigned done = 0;
  fixture.run([&] {
    fixture.enumerate();
    for (unsigned i = 0; i < 20; ++i) {
      fixture.logic.memory[2][i * 8] = i + 1;
      fixture.spawn([&, i] {
        EXPECT_EQ(fixture.read(Fixture::bar2 + i * 8, 8), i + 1);
        ++done;
      });
    }
  });
  EXPECT_EQ(done, 20u);
  EXPECT_EQ(fixture.logic.most_outstanding, 1u);
}

// Each answer returns to its requester.
TEST(Function, SeveralInitiatorsShareTheDma) {
  Fixture fixture;
  Logic second("second", fixture.card);
  second.dma.bind(fixture.endpoint.function(0).dma);
  std::vector<std::uint8_t>& memory = fixture.memory.bytes;
  memory[0x1000] = 0x11;
  memory[0x2000] = 0x22;
  Idle idle("idle");
  idle.bar.bind(second.bar);
  fixture.run([&] {
    fixture.enumerate();
    auto one = fixture.logic.dma_read(0x1000, 1000);
    auto two = second.dma_read(0x2000, 10);
    auto three = fixture.logic.dma_read(0x1000, 10);
    for (Logic::Dma* dma : {one.get(), two.get(), three.get()}) fixture.wait_for(*dma);
    EXPECT_EQ(one->data[0], 0x11);
    EXPECT_EQ(two->data[0], 0x22);
    EXPECT_EQ(three->data[0], 0x11);
  });
}

TEST(Function, SilentMemoryIsATimeout) {
  Fixture::Config config;
  config.endpoint.completion_timeout = 200 * vp::us;
  Fixture fixture(config);
  fixture.memory.read_time = 300 * vp::us;
  fixture.run([&] {
    fixture.enumerate();
    auto read = fixture.logic.dma_read(0x1000, 2048);
    fixture.wait_for(*read);
    EXPECT_EQ(read->get_response_status(), tlm::TLM_GENERIC_ERROR_RESPONSE);
    sc_core::wait(1, sc_core::SC_MS);
    fixture.memory.read_time = 0;
    auto next = fixture.logic.dma_read(0x1000, 2048);
    fixture.wait_for(*next);
    EXPECT_TRUE(next->is_response_ok());
    EXPECT_EQ(fixture.counter("endpoint.pf0.completion_timeouts"), 4u);
    EXPECT_EQ(fixture.counter("endpoint.pf0.unexpected_completions"), 16u);
  });
}

TEST(Function, ImpossibleConfigurations) {
  vp::Domain domain("domain");
  auto make = [&domain](auto&& change) {
    vp::Statistics statistics;
    EndpointConfig config;
    FunctionConfig& function = config.functions[0];
    function.bars = {{0, 0x10000, true}, {2, 0x1000}};
    function.msi_x = {16, 0, 0x8000, 0, 0xc000};
    change(function);
    Endpoint endpoint("endpoint", config, domain, statistics);
  };
  using F = FunctionConfig;
  EXPECT_NO_THROW(make([](F&) {}));
  EXPECT_THROW(make([](F& f) { f.msi_x.table_bar = 1; }), ConfigurationError);
  EXPECT_THROW(make([](F& f) { f.msi_x.table_offset = 0x10000; }), ConfigurationError);
  EXPECT_THROW(make([](F& f) { f.msi_x.pending_offset = 0x8010; }), ConfigurationError);
  EXPECT_THROW(make([](F& f) { f.bar_reads = 0; }), ConfigurationError);
  EXPECT_THROW(make([](F& f) { f.interrupt_pin = 5; }), ConfigurationError);
  EXPECT_THROW(make([](F& f) { f.identity.class_code = 0x1000000; }), ConfigurationError);
}

}  // namespace
}  // namespace pcie
