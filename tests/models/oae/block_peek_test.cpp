// SPDX-License-Identifier: Apache-2.0
// A block that answers reads, and fills slots, without the clock of its RTL is observed like one
// that clocks everything, which the checked library does.
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <random>
#include <sstream>
#include <string>

#include "models/oae/block.h"
#include "tests/in_child.h"
#include "tests/models/oae/fixture.h"
#include "tests/models/oae/temporary_file.h"

namespace {

constexpr unsigned ports = 2;

/// A party that accesses the block at random, often at the same time as others.
struct Party {
  Party(Fixture& fixture, unsigned& attempts, unsigned seed)
      : fixture(fixture), attempts(attempts), random(seed) {}

  unsigned one_of(unsigned count) { return static_cast<unsigned>(random() % count); }
  // Parties meet at multiples of 20 clocks, or come a few clocks later, when the block answers the
  // others. In between it is mostly idle.
  void wait() {
    constexpr vp::Picoseconds round = 20 * period;
    const vp::Picoseconds next = (vp::now() / round + 1 + one_of(one_of(20) == 0 ? 50 : 3)) * round;
    Fixture::pass(next - vp::now() + (one_of(2) ? 0 : one_of(6 * period)));
  }
  void record(const char* what, std::uint64_t address, std::uint64_t value) {
    log << vp::now() << ' ' << what << ' ' << address << ' ' << value << '\n';
  }

  void set_up(unsigned port) {
    fixture.write(0, OAE_HOST_PORT_ANSWER_ADDRESS_AT(port), Fixture::buffer_of(port));
    fixture.write(0, OAE_HOST_PORT_TENTATIVE_LIMIT_AT(port), 20);
    fixture.write(0, OAE_HOST_PORT_EVENT_AT(port),
                  OAE_HOST_PORT_EVENT_CONFIRM_ENABLE_MASK | (1 + port));
  }

  void host() {
    const unsigned port = one_of(ports);
    const std::uint64_t registers = OAE_HOST_PORT_CONTROL_AT(port);
    const auto page = [port](std::uint64_t offset) { return Fixture::page(port, offset); };
    switch (one_of(8)) {
      case 0:
        fixture.write(0, OAE_HOST_PORT_TENTATIVE_LIMIT_AT(port), 2 + one_of(40));
        fixture.write(0, OAE_HOST_PORT_EVENT_AT(port),
                      OAE_HOST_PORT_EVENT_CONFIRM_ENABLE_MASK | one_of(8));
        break;
      case 1: {
        const std::uint64_t state = fixture.read(2, page(OAE_PORT_STATUS));
        const auto sequence =
            static_cast<std::uint32_t>(OAE_GET(state, OAE_HOST_PORT_STATE_SEQUENCE));
        Header offer = header(1, sequence + 1);
        offer.attempt = static_cast<std::uint8_t>(attempts++ % 64);
        const Slot slot = make_slot(offer, one_of(100));
        const unsigned bytes = 64 >> one_of(4);
        for (unsigned at = 0; at < 64; at += bytes) {
          fixture.write(2, page(OAE_PORT_WINDOW + at), &slot[at / 8], bytes);
          if (one_of(4) == 0) Fixture::pass(one_of(6 * period));
        }
        break;
      }
      case 2:
        record("asks", port, fixture.read(2, page(OAE_PORT_PUSHED_ANSWER)));
        break;
      case 3: {
        const std::uint64_t state = fixture.read(2, page(OAE_PORT_STATUS));
        fixture.write(2, page(OAE_PORT_CONFIRM),
                      confirmation(OAE_PUT(OAE_SLOT_HEADER_EPOCH, 1) |
                                   OAE_PUT(OAE_SLOT_HEADER_SEQUENCE,
                                           OAE_GET(state, OAE_HOST_PORT_STATE_SEQUENCE))));
        break;
      }
      case 4: {
        std::uint64_t line[8] = {};
        const unsigned words = 1 + one_of(8);
        fixture.read(0, one_of(2) ? registers : 0, line, 8 * words);
        for (unsigned word = 0; word < words; ++word) record("reads", 8 * word, line[word]);
        break;
      }
      case 5:
        if (one_of(10) == 0) {
          fixture.block->function_reset();
          for (unsigned each = 0; each < ports; ++each) set_up(each);
        }
        break;
      default: {
        const unsigned bar = 2 * one_of(2);
        const std::uint64_t address = bar == 0 ? registers + 8 * one_of(8) : page(OAE_PORT_STATUS);
        record("reads", address, fixture.read(bar, address));
      }
    }
    record("is done", 0, 0);
  }

  void firmware() {
    const unsigned port = one_of(ports);
    if (one_of(4) == 0) {
      const std::uint64_t status = fixture.get(OAE_FIRMWARE_STATUS_AT(port));
      const auto next =
          static_cast<std::uint32_t>(OAE_GET(status, OAE_FIRMWARE_STATUS_NEXT_SEQUENCE));
      fixture.publish(port, make_slot(header(1, next), one_of(100)));
    } else if (one_of(4) == 0) {
      fixture.put(OAE_FIRMWARE_COMMAND_AT(port), OAE_FIRMWARE_COMMAND_TAKE_MASK);
    } else if (one_of(6) == 0) {
      fixture.put(OAE_FIRMWARE_EVENT_AT(port), ~std::uint64_t{0});
    } else if (one_of(10) == 0) {
      fixture.put(OAE_FIRMWARE_LIVENESS, one_of(100));
    } else {
      const std::uint64_t address = OAE_FIRMWARE_OFFER_AT(port) + 8 * one_of(12);
      record("gets", address, fixture.get(address));
    }
    record("is served", 0, 0);
  }

  Fixture& fixture;
  unsigned& attempts;  // of offers, which each need a new one
  std::mt19937 random;
  std::ostringstream log;
};

// Everything that parties and other models have observed.
std::string observed(bool checked, unsigned seed) {
  const TemporaryFile trace(".trace");
  const std::string all = vp::in_child([checked, seed, &trace] {
    oae::BlockConfig config;
    config.ports = ports;
    config.checked = checked;
    Fixture fixture(config, trace.path);
    unsigned attempts = 0;
    Party parties[] = {{fixture, attempts, 4 * seed},
                       {fixture, attempts, 4 * seed + 1},
                       {fixture, attempts, 4 * seed + 2},
                       {fixture, attempts, 4 * seed + 3}};
    const auto script = [&parties](unsigned number) {
      return [&party = parties[number], number] {
        if (number == 0) {
          for (unsigned port = 0; port < ports; ++port) {
            party.fixture.open(port);
            party.set_up(port);
          }
          party.fixture.put(OAE_FIRMWARE_IRQ_ENABLE, (1 << ports) - 1);
        }
        for (unsigned i = 0; i < 1'000; ++i) {
          number < 2 ? party.host() : party.firmware();
          party.wait();
        }
      };
    };
    fixture.run({script(0), script(1), script(2), script(3)});
    std::string all;
    for (Party& party : parties) all += party.log.str();
    for (const auto& [time, vector] : fixture.signals) {
      all += std::to_string(time) + " signal " + std::to_string(vector) + '\n';
    }
    for (const auto& line : fixture.lines) {
      all += std::to_string(line.time) + " line is " + std::to_string(line.level) + '\n';
    }
    EXPECT_GT(fixture.lines.size(), 30u);
    const nlohmann::json statistics = fixture.statistics.json();
    EXPECT_GT(statistics["counters"]["fixture.oae.committed"], 10);
    EXPECT_FALSE(fixture.signals.empty());
    return all + statistics.dump();
  });
  return all + trace.contents();
}

void expect_equal(const std::string& found, const std::string& expected) {
  const auto differs = std::mismatch(found.begin(), found.end(), expected.begin(), expected.end());
  ASSERT_TRUE(found == expected) << std::string(differs.second, expected.end()).substr(0, 200)
                                 << "\nis observed as\n"
                                 << std::string(differs.first, found.end()).substr(0, 200);
}

TEST(Block, AccessesWithoutTheClockAreObservedLikeThoseWithIt) {
  for (unsigned seed = 1; seed <= 10; ++seed) {
    SCOPED_TRACE(seed);
    const std::string expected = observed(true, seed);
    ASSERT_GT(expected.size(), 50'000u);
    expect_equal(observed(false, seed), expected);
  }
}

// A read of the host at each clock around a deadline
std::string around_deadlines(bool checked) {
  return vp::in_child([checked] {
    constexpr unsigned limit = 20;
    oae::BlockConfig config;
    config.checked = checked;
    Fixture fixture(config);
    std::ostringstream log;
    fixture.run({[&] {
      fixture.open(0);
      fixture.write(0, OAE_HOST_PORT_TENTATIVE_LIMIT_AT(0), limit);
      fixture.write(0, OAE_HOST_PORT_EVENT_AT(0), OAE_HOST_PORT_EVENT_CONFIRM_ENABLE_MASK | 1);
      for (std::uint32_t n = 1; n <= 2 * limit; ++n) {
        const Slot offer = make_slot(header(1, n), n);
        fixture.publish(0, offer);
        fixture.write(2, OAE_PORT_WINDOW, offer.data(), 64);
        fixture.read(2, OAE_PORT_PUSHED_ANSWER);
        Fixture::pass(n * period);
        log << fixture.read(0, OAE_HOST_PORT_STATE_AT(0)) << " at " << vp::now() << '\n';
        Fixture::pass(5 * limit * period);
        fixture.write(2, OAE_PORT_CONFIRM, confirmation(offer[0]));
        fixture.put(OAE_FIRMWARE_COMMAND_AT(0), OAE_FIRMWARE_COMMAND_TAKE_MASK);
      }
    }});
    EXPECT_EQ(fixture.signals.size(), 2 * limit);
    for (const auto& [time, vector] : fixture.signals) log << vector << " at " << time << '\n';
    return log.str() + fixture.statistics.json().dump();
  });
}

TEST(Block, AReadWithoutTheClockDoesNotDelayADeadline) {
  expect_equal(around_deadlines(false), around_deadlines(true));
}

}  // namespace
