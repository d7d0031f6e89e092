// SPDX-License-Identifier: Apache-2.0
// Function level reset (PCIe 5.0, 6.6.2).
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <vector>

#include "models/pcie/protocol/configuration_error.h"
#include "tests/models/pcie/reset_fixture.h"

namespace pcie {
namespace {

TEST(FunctionLevelReset, IsAnEndpointsAndReadsZero) {
  ResetFixture fixture;
  fixture.run([&] {
    fixture.begin();
    EXPECT_EQ(fixture.config_read(Fixture::device,
                                  fixture.express + PciExpress::device_capabilities, 4) >>
                      28 &
                  1,
              1u);
    EXPECT_EQ(fixture.config_read(Fixture::root_port,
                                  fixture.port_express + PciExpress::device_capabilities, 4) >>
                      28 &
                  1,
              0u);
    fixture.config_write(Fixture::root_port, fixture.port_express + PciExpress::device_control,
                         function_level_reset, 2);
    EXPECT_EQ(fixture.config_read(Fixture::root_port,
                                  fixture.port_express + PciExpress::device_control, 2) >>
                  15,
              0u);
    fixture.config_write(Fixture::device, fixture.express + PciExpress::device_control, 0x2810, 2);
    EXPECT_EQ(fixture.notified, 0u);
    fixture.initiate();
    EXPECT_EQ(
        fixture.config_read(Fixture::device, fixture.express + PciExpress::device_control, 2) >> 15,
        0u);
    EXPECT_EQ(fixture.notified, 1u);
  });
}

TEST(FunctionLevelReset, RegistersReturnToTheirResetValuesButTheLinks) {
  ResetFixture fixture;
  fixture.run([&] {
    fixture.config_write(Fixture::root_port, Type1Header::primary_bus_number, 0x00010100, 4);
    fixture.find();
    std::vector<std::uint32_t> fresh(64);
    for (unsigned i = 0; i < 64; ++i) fresh[i] = fixture.config_read(Fixture::device, 4 * i, 4);
    fixture.begin();
    const unsigned msi_x = fixture.find_capability(Fixture::device, MsiX::id);
    fixture.write(Fixture::msi_x_table, 0x123456789abcdef0, 8);
    fixture.read(0xc0050000, 4);  // leaves its mark in Device Status
    EXPECT_EQ(fixture.config_read(Fixture::device, fixture.express + PciExpress::device_status, 2),
              9u);
    // All ones wherever software can write, but no reset and no D3hot.
    for (unsigned i = 1; i < 64; ++i) {
      const bool status = 4 * i == fixture.express + PciExpress::device_control ||
                          4 * i == fixture.power + PowerManagement::control || i == 1;
      if (!status) fixture.config_write(Fixture::device, 4 * i, ~0u, 4);
    }
    fixture.config_write(Fixture::device, fixture.express + PciExpress::device_control, 0x7fff, 2);
    fixture.config_write(Fixture::device, Header::command, 0x0546, 2);
    EXPECT_EQ(fixture.config_read(Fixture::device, msi_x + MsiX::message_control, 2) >> 14, 3u);
    fixture.initiate();
    for (unsigned i = 0; i < 64; ++i) {
      std::uint32_t expected = fresh[i];
      if (4 * i == fixture.express + PciExpress::device_control) expected |= 7u << 5;  // payload
      if (4 * i == fixture.express + PciExpress::link_control)
        expected |= 1u << 3 | 3u << 6;  // RCB, clock, synch
      if (4 * i == fixture.express + PciExpress::link_control_2)
        expected = (expected & ~0xfu) | 0xf;  // target speed
      EXPECT_EQ(fixture.config_read(Fixture::device, 4 * i, 4), expected) << std::hex << 4 * i;
    }
    EXPECT_EQ(fixture.endpoint.function(0).id(), Fixture::device)
        << "the device's, not the function's";
    fixture.begin();
    EXPECT_EQ(fixture.read(Fixture::msi_x_table, 8), 0u);
    EXPECT_EQ(fixture.read(Fixture::msi_x_table + 12, 4), 1u) << "masked";
    fixture.expect_work();
  });
}

class ResetTime : public testing::TestWithParam<vp::Picoseconds> {};

TEST_P(ResetTime, ConfigurationIsRetriedUntilItIsOver) {
  auto config = ResetFixture::configuration();
  config.endpoint.functions[0].reset_time = GetParam();
  config.root_complex.completion_timeout = 200 * vp::ms;
  ResetFixture fixture(config);
  fixture.run([&] {
    fixture.begin();
    fixture.config_write(Fixture::root_port, fixture.port_express + PciExpress::root_control, 0x10,
                         2);  // shows retries
    fixture.initiate();
    const vp::Picoseconds start = vp::now();
    if (GetParam() > 10 * vp::us) {
      EXPECT_EQ(fixture.config_read(Fixture::device, Header::vendor_id, 4), 0xffff0001u);
    }
    EXPECT_EQ(fixture.config_read(Fixture::device, fixture.express + PciExpress::device_control, 2),
              0x2810u);
    EXPECT_GE(vp::now(), start + GetParam() - 1 * vp::us);
    EXPECT_LE(vp::now(), start + GetParam() + 2 * vp::us);
    EXPECT_EQ(fixture.config_read(Fixture::device, Header::vendor_id, 4), 0x0ae0f0aeu);
    fixture.begin();
    fixture.expect_work();
  });
}

INSTANTIATE_TEST_SUITE_P(Times, ResetTime,
                         testing::Values(0, 1, 1 * vp::ns, 20 * vp::us, 1 * vp::ms,
                                         100 * vp::ms - 1, 100 * vp::ms));

TEST(FunctionLevelReset, ItsTimeHasALimit) {
  vp::Domain domain("domain");
  auto make = [&domain](vp::Picoseconds time) {
    vp::Statistics statistics;
    EndpointConfig config;
    config.functions[0].reset_time = time;
    Endpoint endpoint("endpoint", config, domain, statistics);
  };
  EXPECT_NO_THROW(make(0));
  EXPECT_NO_THROW(make(100 * vp::ms));
  EXPECT_THROW(make(100 * vp::ms + 1), ConfigurationError);
  EXPECT_THROW(make(-1), ConfigurationError);
}

TEST(FunctionLevelReset, MemoryRequestsInBetweenAreUnsupportedAndNotLogged) {
  auto config = ResetFixture::configuration();
  config.endpoint.functions[0].reset_time = 1 * vp::ms;
  ResetFixture fixture(config);
  fixture.run([&] {
    fixture.begin();
    fixture.initiate();
    const vp::Picoseconds start = vp::now();
    EXPECT_EQ(fixture.read(Fixture::bar0, 4), ~0u);
    fixture.write(Fixture::bar0, 1, 4);
    EXPECT_EQ(fixture.read(Fixture::msi_x_table, 8), ~std::uint64_t{0});
    EXPECT_LT(vp::now(), start + 10 * vp::us) << "answered, not timed out";
    EXPECT_EQ(fixture.config_read(Fixture::device, fixture.express + PciExpress::device_status, 2),
              0u);
    EXPECT_EQ(fixture.read(Fixture::bar0, 4), ~0u);
    EXPECT_EQ(fixture.config_read(Fixture::device, fixture.express + PciExpress::device_status, 2),
              9u)
        << "afterwards it is";
    EXPECT_TRUE(fixture.logic.uses.empty());
  });
}

// At every moment of a read of 4 KiB, in steps: it ends once, whole or aborted, and what comes late
// for it changes nothing.
TEST(FunctionLevelReset, InTheMiddleOfDma) {
  auto config = ResetFixture::configuration();
  config.endpoint.functions[0].reset_time = 20 * vp::us;
  ResetFixture fixture(config);
  fixture.memory.read_time = 500 * vp::ns;
  unsigned whole = 0, aborted = 0, cut = 0;
  fixture.run([&] {
    for (vp::Picoseconds moment = 0; moment < 2500 * vp::ns; moment += 11 * vp::ns) {
      fixture.begin();
      // The write that resets takes 300 ns and more to arrive.
      std::unique_ptr<Logic::Dma> read;
      fixture.spawn([&] {
        pause(moment);
        read = fixture.logic.dma_read(0x1000, 4096);
      });
      pause(1200 * vp::ns);
      fixture.initiate();
      while (!read) pause(100 * vp::ns);
      const auto answer = read->get_response_status();
      if (!read->done || read->when > vp::now()) ADD_FAILURE() << "outstanding after the reset";
      const auto expected = fixture.memory.at(0x1000, 4096);
      if (answer == tlm::TLM_OK_RESPONSE) {
        ++whole;
        EXPECT_EQ(read->data, expected);
      } else if (answer == tlm::TLM_GENERIC_ERROR_RESPONSE) {
        ++aborted;
        const auto end =
            std::mismatch(read->data.begin(), read->data.end(), expected.begin()).first;
        cut += end != read->data.begin() && end != read->data.end();
      } else {
        EXPECT_EQ(answer, tlm::TLM_COMMAND_ERROR_RESPONSE) << "asked for after the reset";
      }
      std::fill(read->data.begin(), read->data.end(), 0x5a);
      pause(10 * vp::us);
      EXPECT_EQ(std::count(read->data.begin(), read->data.end(), 0x5a), 4096);
    }
    fixture.begin();
    fixture.expect_work();
    EXPECT_EQ(fixture.counter("endpoint.pf0.unexpected_completions"), 0u) << "silently";
  });
  EXPECT_GT(whole, 10u);
  EXPECT_GT(aborted, 10u);
  EXPECT_GT(cut, 0u) << "with a part of its data";
}

TEST(FunctionLevelReset, CompletionsAreUnexpectedOnceItIsOver) {
  ResetFixture fixture;  // over at once
  fixture.memory.read_time = 10 * vp::us;
  fixture.run([&] {
    fixture.begin();
    auto read = fixture.logic.dma_read(0x1000, 4096);
    EXPECT_FALSE(read->done);
    fixture.initiate();
    EXPECT_TRUE(read->done);
    EXPECT_EQ(read->get_response_status(), tlm::TLM_GENERIC_ERROR_RESPONSE);
    pause(30 * vp::us);
    EXPECT_EQ(fixture.counter("endpoint.pf0.unexpected_completions"), 4096 / 128);
    EXPECT_EQ(fixture.counter("endpoint.pf0.completion_timeouts"), 0u);
    fixture.begin();
    fixture.expect_work();
  });
}

// More reads than tags: those that were never issued end too.
TEST(FunctionLevelReset, EndsReadsThatWaitForTags) {
  ResetFixture fixture;
  fixture.memory.read_time = 100 * vp::us;
  fixture.run([&] {
    fixture.begin();
    std::vector<std::unique_ptr<Logic::Dma>> reads;
    for (unsigned i = 0; i < 50; ++i) reads.push_back(fixture.logic.dma_read(i * 1000, 4096));
    fixture.initiate();
    for (const auto& read : reads) {
      EXPECT_TRUE(read->done);
      EXPECT_EQ(read->get_response_status(), tlm::TLM_GENERIC_ERROR_RESPONSE);
    }
    EXPECT_EQ(fixture.link.count(Direction::up, TlpType::MRd).tlps, 32u);
    pause(200 * vp::us);
    fixture.begin();
    fixture.expect_work();
  });
}

TEST(FunctionLevelReset, TransactionsPendingIsReal) {
  ResetFixture fixture;
  fixture.memory.read_time = 10 * vp::us;
  fixture.run([&] {
    fixture.begin();
    auto pending = [&] {
      return fixture.config_read(Fixture::device, fixture.express + PciExpress::device_status, 2) &
             pending_bit;
    };
    EXPECT_EQ(pending(), 0u);
    auto read = fixture.logic.dma_read(0x1000, 4096);
    EXPECT_EQ(pending(), pending_bit);
    fixture.config_write(Fixture::device, fixture.express + PciExpress::device_status, 0xffff, 2);
    EXPECT_EQ(pending(), pending_bit) << "read-only";
    fixture.config_write(Fixture::device, Header::command, Header::CommandBit::memory_space, 2);
    EXPECT_EQ(pending(), pending_bit) << "without bus master the read still waits";
    fixture.wait_for(*read);
    EXPECT_EQ(pending(), 0u);
    fixture.config_write(Fixture::device, Header::command, memory_and_master, 2);
    read = fixture.logic.dma_read(0x1000, 4096);
    EXPECT_EQ(pending(), pending_bit);
    fixture.initiate();
    EXPECT_EQ(pending(), 0u) << "lost track of";
  });
}

// Reads that device logic holds, and those that wait for it.
class BarReads : public testing::TestWithParam<unsigned> {};

TEST_P(BarReads, EndAndLateAnswersAreDropped) {
  const unsigned at_a_time = GetParam();
  auto config = ResetFixture::configuration();
  config.endpoint.functions[0].bar_reads = at_a_time;
  ResetFixture fixture(config);
  fixture.logic.latency = 100 * vp::us;
  unsigned ended = 0;
  fixture.run([&] {
    fixture.begin();
    const vp::Picoseconds start = vp::now();
    for (unsigned i = 0; i < 8; ++i) {
      fixture.spawn([&, i] {
        EXPECT_EQ(fixture.read_bytes(Fixture::bar2 + 64 * i, 64),
                  std::vector<std::uint8_t>(64, 0xff));
        EXPECT_LT(vp::now(), start + 20 * vp::us);
        ++ended;
      });
    }
    pause(5 * vp::us);
    fixture.initiate();
    pause(5 * vp::us);
    EXPECT_EQ(ended, 8u);
    fixture.enumerate();
    pause(1 * vp::ms);
    fixture.logic.latency = 0;
    EXPECT_EQ(fixture.logic.outstanding, 0u);
    EXPECT_EQ(fixture.logic.uses.size(), std::min(at_a_time, 8u)) << "those that waited: never";
    fixture.expect_work();
    EXPECT_EQ(fixture.counter("root_complex.port0.unexpected_completions"), 0u);
    EXPECT_EQ(fixture.counter("root_complex.port0.completion_timeouts"), 0u);
  });
}

INSTANTIATE_TEST_SUITE_P(AtATime, BarReads, testing::Values(1, 4, 32));

TEST(FunctionLevelReset, ForgetsPendingInterruptsAndDeassertsIntx) {
  auto config = ResetFixture::configuration();
  config.endpoint.functions[0].interrupt_pin = 1;
  ResetFixture fixture(config);
  fixture.run([&] {
    fixture.begin();
    const unsigned msi_x = fixture.find_capability(Fixture::device, MsiX::id);
    Function& function = fixture.endpoint.function(0);
    fixture.config_write(Fixture::device, msi_x + MsiX::message_control, MsiX::ControlBit::enable,
                         2);
    function.signal(3);
    EXPECT_EQ(fixture.read(Fixture::msi_x_pending, 8), 8u) << "masked";
    fixture.config_write(Fixture::device, msi_x + MsiX::message_control, 0, 2);
    function.set_intx(true);
    pause(10 * vp::us);
    fixture.initiate();
    pause(10 * vp::us);
    EXPECT_EQ(fixture.lines.changes, (Lines::Changes{{1, true}, {1, false}}));
    EXPECT_EQ(fixture.config_read(Fixture::device, Header::status, 2) & 8, 0u);
    fixture.enumerate();
    fixture.config_write(Fixture::device, msi_x + MsiX::message_control, MsiX::ControlBit::enable,
                         2);
    fixture.write(Fixture::msi_x_table + 16 * 3 + 12, 0, 4);
    EXPECT_EQ(fixture.read(Fixture::msi_x_pending, 8), 0u);
    EXPECT_TRUE(fixture.memory.messages.empty());
    fixture.config_write(Fixture::device, msi_x + MsiX::message_control, 0, 2);
    function.set_intx(true);
    pause(10 * vp::us);
    EXPECT_EQ(fixture.lines.changes.size(), 3u) << "and works again";
  });
}

TEST(FunctionLevelReset, LeavesOtherFunctionsAlone) {
  auto config = ResetFixture::configuration();
  config.endpoint.functions.resize(2);
  config.endpoint.functions[1].bars = {{0, 0x1000}};
  config.endpoint.functions[1].msi_x = {2, 0, 0, 0, 0x800};
  config.endpoint.functions[0].reset_time = 1 * vp::ms;
  ResetFixture fixture(config);
  const Id second = make_id(1, 0, 1);
  fixture.run([&] {
    fixture.begin();
    fixture.config_write(second, Type0Header::bar(0), 0xc0180000, 4);
    fixture.config_write(second, Header::command, memory_and_master, 2);
    fixture.write(0xc0180000, 0xfee01000, 8);
    fixture.initiate();
    EXPECT_EQ(fixture.config_read(second, Header::command, 2), 6u);
    EXPECT_EQ(fixture.read(0xc0180000, 8), 0xfee01000u);
    EXPECT_EQ(fixture.endpoint.function(1).id(), second);
  });
}

}  // namespace
}  // namespace pcie
