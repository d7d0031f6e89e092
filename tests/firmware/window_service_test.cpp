// SPDX-License-Identifier: Apache-2.0
#include "firmware/services/window_service.h"

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "oae_registers.h"
#include "tests/firmware/mmio_mock.h"

namespace {

constexpr std::uintptr_t link_base = 0x0e20'0000;
constexpr std::uintptr_t block_base = 0x0c00'0000;
constexpr std::uint64_t joined = 0x8000'0000'0000'0011;  // ports 0, 4 and 63
constexpr std::uint64_t begin = OAE_WINDOW_CONTROL_UP_MASK | OAE_WINDOW_CONTROL_BRIDGED_MASK;

std::vector<std::string> reports;

const window_observer observer = {
    [](unsigned peer) { reports.push_back(std::to_string(peer) + " up"); },
    [](unsigned peer, unsigned reason) {
      reports.push_back(std::to_string(peer) + " down " + std::to_string(reason));
    },
    [](unsigned peer, std::uint64_t slots) {
      reports.push_back(std::to_string(peer) + " lost " + std::to_string(slots));
    }};

/// The end of the link. It keeps what is written, in the order of the writes.
struct Link : MmioDevice {
  explicit Link(std::uintptr_t base = link_base) : MmioDevice(base, OAE_WINDOW_SIZE) {}
  unsigned phase = OAE_WINDOW_PHASE_DOWN;
  unsigned reason = OAE_WINDOW_DOWN_NONE;
  std::uint64_t events = 0;
  std::uint64_t lost = 0;
  std::vector<std::pair<std::uintptr_t, std::uint64_t>> written;

  /// The values that were written to a register.
  std::vector<std::uint64_t> values(std::uintptr_t offset) const {
    std::vector<std::uint64_t> found;
    for (const auto& [at, value] : written) {
      if (at == offset) found.push_back(value);
    }
    return found;
  }

 private:
  std::uint64_t read(std::uintptr_t offset) override {
    switch (offset) {
      case OAE_WINDOW_STATE:
        return OAE_PUT(OAE_WINDOW_STATE_PHASE, phase) | OAE_PUT(OAE_WINDOW_STATE_REASON, reason);
      case OAE_WINDOW_EVENT:
        return events;
      case OAE_WINDOW_COUNT_LOST:
        return lost;
      default:
        ADD_FAILURE() << "read of " << std::hex << offset;
        return 0;
    }
  }
  void write(std::uintptr_t offset, std::uint64_t value) override {
    written.emplace_back(offset, value);
    if (offset == OAE_WINDOW_EVENT) events &= ~value;
  }
};

/// The block, of which only the registers `join` are accessed.
struct Block : MmioDevice {
  Block() : MmioDevice(block_base, OAE_FIRMWARE_SIZE) {}
  std::map<std::uintptr_t, std::uint64_t> written;

 private:
  std::uint64_t read(std::uintptr_t offset) override {
    ADD_FAILURE() << "read of " << std::hex << offset;
    return 0;
  }
  void write(std::uintptr_t offset, std::uint64_t value) override { written[offset] = value; }
};

struct WindowServiceTest : testing::Test {
  WindowServiceTest() {
    reports.clear();
    window_service_init(&service, link_base, block_base, 1, joined, &observer);
  }
  void start() {
    window_service_start(&service);
    link.written.clear();
  }
  void happen(std::uint64_t events, unsigned phase) {
    link.events |= events;
    link.phase = phase;
    window_service_serve(&service);
  }

  Link link;
  Block block;
  window_service service{};
};

TEST_F(WindowServiceTest, GivesPortsAndRingsToTheBridgeBeforeTheLinkBegins) {
  window_service_start(&service);
  const std::map<std::uintptr_t, std::uint64_t> joins = {
      {OAE_FIRMWARE_JOIN_AT(0), OAE_FIRMWARE_JOIN_JOINED_MASK},
      {OAE_FIRMWARE_JOIN_AT(4), OAE_FIRMWARE_JOIN_JOINED_MASK},
      {OAE_FIRMWARE_JOIN_AT(63), OAE_FIRMWARE_JOIN_JOINED_MASK}};
  EXPECT_EQ(block.written, joins);
  EXPECT_EQ(link.values(OAE_WINDOW_PORTS), std::vector<std::uint64_t>{joined});
  ASSERT_FALSE(link.written.empty());
  EXPECT_EQ(link.written.back(), std::make_pair(std::uintptr_t{OAE_WINDOW_CONTROL}, begin));
  EXPECT_EQ(link.values(OAE_WINDOW_CONTROL).size(), 1u);
}

TEST_F(WindowServiceTest, AnotherStartWritesTheSame) {
  window_service_start(&service);
  const auto first = link.written;
  start();
  window_service_init(&service, link_base, block_base, 1, joined, &observer);
  link.phase = OAE_WINDOW_PHASE_UP;
  window_service_start(&service);
  EXPECT_EQ(link.written, first);
}

TEST_F(WindowServiceTest, WithoutEventsNothingHappens) {
  start();
  window_service_serve(&service);
  EXPECT_TRUE(link.written.empty());
  EXPECT_TRUE(reports.empty());
}

TEST_F(WindowServiceTest, TakesALinkUpThatWentDown) {
  start();
  happen(OAE_WINDOW_EVENT_UP_MASK, OAE_WINDOW_PHASE_UP);
  EXPECT_TRUE(link.values(OAE_WINDOW_CONTROL).empty()) << "it is up";
  link.reason = OAE_WINDOW_DOWN_MISSING;
  happen(OAE_WINDOW_EVENT_DOWN_MASK, OAE_WINDOW_PHASE_DOWN);
  EXPECT_EQ(link.values(OAE_WINDOW_CONTROL), std::vector<std::uint64_t>{begin});
  EXPECT_EQ(link.events, 0u) << "an event that stays would interrupt for ever";
  happen(OAE_WINDOW_EVENT_UP_MASK, OAE_WINDOW_PHASE_UP);
  EXPECT_EQ(reports, (std::vector<std::string>{"1 up", "1 down 2", "1 up"}));
}

TEST_F(WindowServiceTest, ALinkThatCameUpAndWentDownAgainIsNotUp) {
  start();
  link.reason = OAE_WINDOW_DOWN_TROUBLE;
  happen(OAE_WINDOW_EVENT_UP_MASK | OAE_WINDOW_EVENT_DOWN_MASK, OAE_WINDOW_PHASE_DOWN);
  EXPECT_EQ(reports, std::vector<std::string>{"1 down 3"});
  EXPECT_EQ(link.values(OAE_WINDOW_CONTROL), std::vector<std::uint64_t>{begin});
}

TEST_F(WindowServiceTest, ReportsEachLostSlotOnce) {
  link.lost = 5;  // before a restart of the firmware
  start();
  link.lost = 7;
  happen(OAE_WINDOW_EVENT_LOST_MASK, OAE_WINDOW_PHASE_INITIALISING);
  link.lost = 10;
  happen(OAE_WINDOW_EVENT_LOST_MASK, OAE_WINDOW_PHASE_INITIALISING);
  EXPECT_EQ(reports, (std::vector<std::string>{"1 lost 2", "1 lost 3"}));
}

TEST_F(WindowServiceTest, ATickGivesASignOfLifeAndTakesTheLinkUp) {
  start();
  link.phase = OAE_WINDOW_PHASE_UP;
  window_service_tick(&service, 41);
  EXPECT_TRUE(link.values(OAE_WINDOW_CONTROL).empty());
  link.phase = OAE_WINDOW_PHASE_DOWN;
  window_service_tick(&service, 42);
  EXPECT_EQ(link.values(OAE_WINDOW_LIVENESS), (std::vector<std::uint64_t>{41, 42}));
  EXPECT_EQ(link.values(OAE_WINDOW_CONTROL), std::vector<std::uint64_t>{begin});
}

// Two links, each with ports of its own
TEST_F(WindowServiceTest, EachLinkHasItsOwnPortsAndGoesDownAlone) {
  constexpr std::uintptr_t other_base = link_base + 0x2'0000;
  Link other(other_base);
  window_service other_service{};
  window_service_init(&other_service, other_base, block_base, 2, 0xc0, &observer);
  window_service_start(&service);
  window_service_start(&other_service);
  EXPECT_EQ(link.values(OAE_WINDOW_PORTS), std::vector<std::uint64_t>{joined});
  EXPECT_EQ(other.values(OAE_WINDOW_PORTS), std::vector<std::uint64_t>{0xc0});
  EXPECT_EQ(block.written.size(), 5u);
  EXPECT_EQ(block.written.count(OAE_FIRMWARE_JOIN_AT(6)), 1u);
  link.written.clear();
  other.written.clear();
  link.phase = OAE_WINDOW_PHASE_UP;
  other.reason = OAE_WINDOW_DOWN_MISSING;
  other.events = OAE_WINDOW_EVENT_DOWN_MASK;
  window_service_serve(&service);
  window_service_serve(&other_service);
  EXPECT_TRUE(link.written.empty());
  EXPECT_EQ(other.values(OAE_WINDOW_CONTROL), std::vector<std::uint64_t>{begin});
  EXPECT_EQ(reports, std::vector<std::string>{"2 down 2"});
}

/// The end of a relay, which has no block.
struct RelayedLinkTest : testing::Test {
  RelayedLinkTest() {
    reports.clear();
    window_service_init(&service, link_base, 0, 3, 0x8050, &observer);
  }

  Link link;
  window_service service{};
};

TEST_F(RelayedLinkTest, WritesARouteForEachLabelBeforeTheLinkBegins) {
  window_service_start(&service);
  for (unsigned port = 0; port < OAE_WINDOW_ROUTE_COUNT; ++port) {
    const bool passes = port == 4 || port == 6 || port == 15;
    EXPECT_EQ(link.values(OAE_WINDOW_ROUTE_AT(port)),
              std::vector<std::uint64_t>{passes ? OAE_WINDOW_ROUTE_ONWARD_MASK | port << 8 : 0})
        << port;
  }
  EXPECT_TRUE(link.values(OAE_WINDOW_PORTS).empty());
  EXPECT_EQ(link.written.back(), (std::make_pair(std::uintptr_t{OAE_WINDOW_CONTROL},
                                                 std::uint64_t{OAE_WINDOW_CONTROL_UP_MASK})));
}

TEST_F(RelayedLinkTest, TakesALinkUpThatWentDown) {
  window_service_start(&service);
  link.written.clear();
  link.events = OAE_WINDOW_EVENT_DOWN_MASK;
  link.reason = OAE_WINDOW_DOWN_MISSING;
  window_service_serve(&service);
  EXPECT_EQ(link.values(OAE_WINDOW_CONTROL),
            std::vector<std::uint64_t>{OAE_WINDOW_CONTROL_UP_MASK});
  EXPECT_TRUE(link.values(OAE_WINDOW_ROUTE_AT(4)).empty());
  EXPECT_EQ(reports, std::vector<std::string>{"3 down 2"});
}

}  // namespace
