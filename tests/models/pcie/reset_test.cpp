// SPDX-License-Identifier: Apache-2.0
// D3hot and back (5.3.1.4), and all kinds of resets in turn.
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <vector>

#include "models/pcie/protocol/configuration_error.h"
#include "tests/models/pcie/reset_fixture.h"

namespace pcie {
namespace {

class NoSoftReset : public testing::TestWithParam<bool> {};

TEST_P(NoSoftReset, SaysWhetherTheWayBackFromD3hotResets) {
  const bool keeps = GetParam();
  auto config = ResetFixture::configuration();
  config.endpoint.functions[0].no_soft_reset = keeps;
  config.endpoint.functions[0].reset_time = 10 * vp::us;
  ResetFixture fixture(config);
  fixture.run([&] {
    fixture.begin();
    fixture.set_sizes(256, 256);
    fixture.write(Fixture::msi_x_table, 0xfee00000, 8);
    EXPECT_EQ(fixture.config_read(Fixture::device, fixture.power + PowerManagement::control, 2),
              keeps ? 8u : 0u);
    fixture.config_write(Fixture::device, fixture.power + PowerManagement::control, 3, 2);
    EXPECT_EQ(fixture.config_read(Fixture::device, fixture.power + PowerManagement::control, 2),
              keeps ? 11u : 3u);
    EXPECT_EQ(fixture.config_read(Fixture::device, Header::command, 2), 6u)
        << "configuration works, and stands";
    EXPECT_EQ(fixture.read(Fixture::bar0, 4), ~0u) << "memory does not";
    EXPECT_EQ(fixture.config_read(Fixture::device, fixture.express + PciExpress::device_status, 2),
              9u)
        << "UR";
    EXPECT_EQ(fixture.notified, 0u);
    fixture.config_write(Fixture::device, fixture.power + PowerManagement::control, 3, 2);
    EXPECT_EQ(fixture.notified, 0u) << "from D3hot to D3hot";
    fixture.config_write(Fixture::device, fixture.power + PowerManagement::control, 0, 2);
    EXPECT_EQ(fixture.notified, keeps ? 0u : 1u);
    EXPECT_EQ(fixture.config_read(Fixture::device, Header::command, 2), keeps ? 6u : 0u);
    EXPECT_EQ(fixture.config_read(Fixture::device, fixture.power + PowerManagement::control, 2) & 3,
              0u);
    EXPECT_EQ(fixture.config_read(Fixture::device, fixture.express + PciExpress::device_control, 2),
              keeps ? 0x1830u : 0x2830u);
    fixture.config_write(Fixture::device, fixture.power + PowerManagement::control, 0, 2);
    EXPECT_EQ(fixture.notified, keeps ? 0u : 1u) << "from D0 to D0";
    fixture.enumerate();
    EXPECT_EQ(fixture.read(Fixture::msi_x_table, 8), keeps ? 0xfee00000u : 0u);
    fixture.expect_work();
  });
}

INSTANTIATE_TEST_SUITE_P(D3hot, NoSoftReset, testing::Bool());

TEST(D3hot, AResetOfAnyKindEndsIt) {
  ResetFixture fixture;
  fixture.run([&] {
    fixture.begin();
    for (const bool by_link : {false, true}) {
      fixture.config_write(Fixture::device, fixture.power + PowerManagement::control, 3, 2);
      if (by_link) {
        fixture.hold();
        fixture.release();
        fixture.wait_for_link();
      } else {
        fixture.initiate();
      }
      EXPECT_EQ(
          fixture.config_read(Fixture::device, fixture.power + PowerManagement::control, 2) & 3,
          0u);
      fixture.begin();
      fixture.expect_work();
    }
    EXPECT_EQ(fixture.notified, 2u);
  });
}

TEST(D3hot, InterruptsWaitAndIntxIsDeasserted) {
  auto config = ResetFixture::configuration();
  config.endpoint.functions[0].interrupt_pin = 1;
  ResetFixture fixture(config);
  fixture.run([&] {
    fixture.begin();
    const unsigned msi_x = fixture.find_capability(Fixture::device, MsiX::id);
    fixture.endpoint.function(0).set_intx(true);
    fixture.config_write(Fixture::device, fixture.power + PowerManagement::control, 3, 2);
    pause(10 * vp::us);
    EXPECT_EQ(fixture.lines.changes, (Lines::Changes{{1, true}, {1, false}}));
    fixture.config_write(Fixture::device, fixture.power + PowerManagement::control, 0, 2);
    pause(10 * vp::us);
    EXPECT_EQ(fixture.lines.changes.size(), 3u);

    fixture.config_write(Fixture::device, msi_x + MsiX::message_control, MsiX::ControlBit::enable,
                         2);
    fixture.write(Fixture::msi_x_table, 0xfee00000, 8);
    fixture.write(Fixture::msi_x_table + 8, 0x21, 8);
    fixture.config_write(Fixture::device, fixture.power + PowerManagement::control, 3, 2);
    fixture.endpoint.function(0).signal(0);
    pause(10 * vp::us);
    EXPECT_TRUE(fixture.memory.messages.empty());
    fixture.config_write(Fixture::device, fixture.power + PowerManagement::control, 0, 2);
    pause(10 * vp::us);
    EXPECT_EQ(fixture.memory.messages.size(), 1u) << "registers and pending bits were kept";
  });
}

// All kinds.

TEST(Reset, AThousandTimesWithTrafficInBothDirections) {
  auto config = ResetFixture::configuration();
  config.endpoint.functions[0].no_soft_reset = false;
  config.endpoint.functions[0].reset_time = 3 * vp::us;
  config.link.training = 5 * vp::us;
  ResetFixture fixture(config);
  fixture.logic.keep_uses = fixture.memory.keep_writes = false;
  fixture.logic.latency = 300 * vp::ns;
  fixture.memory.read_time = 700 * vp::ns;
  for (unsigned i = 0; i < 0x1000; ++i) fixture.logic.memory[0][i] = i * 5 >> 2;
  constexpr unsigned resets = 1000;
  bool stop = false;
  unsigned good = 0, lost = 0, transfers = 0, aborted = 0;
  fixture.run([&] {
    fixture.begin();
    for (unsigned reader = 0; reader < 4; ++reader) {
      fixture.spawn([&, reader] {
        for (unsigned i = reader; !stop; i += 7) {
          const unsigned at = 64 * (i % 64);
          const auto data = fixture.read_bytes(Fixture::bar0 + at, 64);
          fixture.write(Fixture::bar0 + 0x2000 + at, i, 8);
          if (std::equal(data.begin(), data.end(), fixture.logic.memory[0].begin() + at)) {
            ++good;
          } else {
            ASSERT_EQ(data, std::vector<std::uint8_t>(64, 0xff));
            ++lost;
            pause(100 * vp::ns);  // without a link the answer takes no time
          }
        }
      });
    }
    for (unsigned engine = 0; engine < 2; ++engine) {
      fixture.spawn([&, engine] {
        for (unsigned i = engine; !stop; i += 3) {
          const unsigned at = i * 37 % 0x8000;
          auto read = fixture.logic.dma_read(at, 4096);
          auto write = fixture.logic.dma_write(0x80000 + at, read->data);
          fixture.wait_for(*read);
          if (read->is_response_ok()) {
            ASSERT_EQ(read->data, fixture.memory.at(at, 4096));
            ++transfers;
          } else {
            ++aborted;
            pause(100 * vp::ns);
          }
        }
      });
    }
    for (unsigned i = 0; i < resets; ++i) {
      fixture.enumerate();
      pause((i * 131 % 9000) * vp::ns);
      switch (i % 3) {
        case 0:
          fixture.initiate();
          break;
        case 1:
          fixture.hold();
          pause(i % 5 * 400 * vp::ns);
          fixture.release();
          fixture.wait_for_link();
          break;
        case 2:
          fixture.config_write(Fixture::device, fixture.power + PowerManagement::control, 3, 2);
          fixture.config_write(Fixture::device, fixture.power + PowerManagement::control, 0, 2);
          break;
      }
    }
    stop = true;
    pause(1 * vp::ms);
    fixture.begin();
    fixture.expect_work();
  });
  EXPECT_EQ(fixture.notified, resets);
  EXPECT_GT(good, resets);
  EXPECT_GT(lost, resets);
  EXPECT_GT(transfers, resets);
  EXPECT_GT(aborted, resets);
  for (const char* name :
       {"endpoint.malformed_tlps", "endpoint.pf0.completion_timeouts",
        "root_complex.port0.malformed_tlps", "root_complex.port0.completion_timeouts",
        "root_complex.port0.unexpected_completions"}) {
    EXPECT_EQ(fixture.counter(name), 0u) << name;
  }
}

}  // namespace
}  // namespace pcie
