// SPDX-License-Identifier: Apache-2.0
// A block loses its power, and begins anew when it has power again.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "models/oae/block.h"
#include "tests/in_child.h"
#include "tests/models/oae/ended_accesses.h"
#include "tests/models/oae/fixture.h"
#include "tests/models/oae/temporary_file.h"

namespace {

constexpr vp::Picoseconds clearing = 2 * vp::us;  // more than the journals need

oae::BlockConfig configured(bool checked, unsigned ports = 2) {
  oae::BlockConfig config;
  config.ports = ports;
  config.checked = checked;
  return config;
}

/// A block with power that comes and goes. Its parameter says whether the library has checks.
class BlockPower : public testing::TestWithParam<bool> {
 protected:
  void lose() {
    block.lose_power();
    lost = vp::now();
    EXPECT_TRUE(block.clock_stopped());
    EXPECT_EQ(fixture.domain.next_event(), vp::never);
    clocks_ = block.clocks();
  }
  void power_up() {
    EXPECT_EQ(block.clocks(), clocks_) << "a clock without power";
    block.power_up();
  }
  static void pass(vp::Picoseconds span) { Fixture::pass(span); }
  /// Starts at a time that is a whole number of us.
  static void align() { pass(vp::us - vp::now() % vp::us); }

  /// Starts a process that must have ended when left() is looked at.
  void spawn(std::function<void()> script) {
    ++left_;
    sc_core::sc_spawn([this, script = std::move(script)] {
      script();
      --left_;
    });
  }
  unsigned left() {
    pass(1);
    return left_;
  }
  tlm::tlm_response_status get(std::uint64_t address, std::uint64_t& value) {
    return fixture.firmware_access(tlm::TLM_READ_COMMAND, address, &value, 8);
  }
  bool line() const { return !fixture.lines.empty() && fixture.lines.back().level; }

  Fixture fixture{configured(GetParam())};
  oae::Block& block = *fixture.block;
  vp::Picoseconds lost = -1;

 private:
  unsigned left_ = 0;
  std::uint64_t clocks_ = 0;
};

INSTANTIATE_TEST_SUITE_P(Checked, BlockPower, testing::Bool(), testing::PrintToStringParamName());

// Three accesses of cores at once, of which at most one is in work: each is answered before the
// loss, or ends with it.
TEST_P(BlockPower, ALossEndsTheAccessesOfTheFirmware) {
  EndedAccesses accesses;
  fixture.run({[&] {
    for (vp::Picoseconds moment = 0; moment < 16 * period; moment += period / 4) {
      align();
      accesses.lost = vp::never;
      for (unsigned core = 0; core < 3; ++core) {
        spawn([&, core] {
          std::uint64_t value = 7;
          const auto status = core == 1 ? fixture.firmware_access(tlm::TLM_WRITE_COMMAND,
                                                                  OAE_FIRMWARE_LIVENESS, &value, 8)
                                        : get(OAE_FIRMWARE_ID, value);
          accesses.note(status);
        });
      }
      pass(moment);
      lose();
      accesses.lost = vp::now();
      EXPECT_EQ(left(), 0u) << moment;
      std::uint64_t value = 0;
      const vp::Picoseconds asked = vp::now();
      EXPECT_EQ(get(OAE_FIRMWARE_ID, value), tlm::TLM_GENERIC_ERROR_RESPONSE);
      EXPECT_EQ(vp::now(), asked) << "at once";
      power_up();
      EXPECT_EQ(fixture.get(OAE_FIRMWARE_ID) & 0xffff'ffff, OAE_FIRMWARE_ID_RESET & 0xffff'ffff);
    }
  }});
  EXPECT_EQ(accesses.answered + accesses.ended, 3u * 64);
  EXPECT_GT(accesses.answered, 50u);
  EXPECT_GT(accesses.ended, 50u);
}

TEST_P(BlockPower, AnAccessDuringTheClearingOfTheJournalsIsAnsweredLater) {
  fixture.run({[&] {
    align();
    fixture.get(OAE_FIRMWARE_ID);
    const vp::Picoseconds usual = vp::now() % vp::us;
    for (vp::Picoseconds moment = 0; moment < 100 * period; moment += 3 * period) {
      align();
      lose();
      power_up();
      const vp::Picoseconds begin = vp::now();
      pass(moment);
      fixture.get(OAE_FIRMWARE_ID);
      const vp::Picoseconds took = vp::now() - begin - moment;
      if (moment == 0) {
        EXPECT_GT(took, usual + period);
      }
      EXPECT_GE(took, usual);
      EXPECT_LT(took, clearing);
      align();
      EXPECT_TRUE(block.clock_stopped());
      fixture.get(OAE_FIRMWARE_ID);
      EXPECT_EQ(vp::now() % vp::us, usual) << "as ever";
    }
  }});
}

/// All that host and firmware can read, but for the age of the sign of life.
std::string registers(Fixture& fixture) {
  std::ostringstream all;
  const auto note = [&](const char* what, std::uint64_t address, std::uint64_t value) {
    all << what << ' ' << std::hex << address << ": " << value << '\n';
  };
  const auto host = [&](std::uint64_t from, std::uint64_t to) {
    for (std::uint64_t address = from; address < to; address += 8) {
      const std::uint64_t value = fixture.read(0, address);
      note("host", address, address == OAE_HOST_LIVENESS ? value & 0xffff'ffff : value);
    }
  };
  const auto firmware = [&](std::uint64_t from, std::uint64_t to) {
    for (std::uint64_t address = from; address < to; address += 8) {
      std::uint64_t value = 0;
      fixture.firmware_access(tlm::TLM_READ_COMMAND, address, &value, 8);
      note("firmware", address, value);
    }
  };
  host(0, 0x80);
  firmware(0, 0x80);
  host(OAE_HOST_PORT_CONTROL_AT(0), OAE_HOST_PORT_CONTROL_AT(2));
  firmware(OAE_FIRMWARE_OFFER_AT(0), OAE_FIRMWARE_OFFER_AT(2));
  for (unsigned port = 0; port < 2; ++port) {
    const std::uint64_t address = Fixture::page(port, OAE_PORT_STATUS);
    note("page", address, fixture.read(2, address));
  }
  return all.str();
}

TEST_P(BlockPower, ForgetsEverything) {
  fixture.run({[&] {
    const std::string initial = registers(fixture);
    const auto state = [&] { return fixture.read(2, OAE_PORT_STATUS) & 0xff; };
    for (unsigned round = 0; round < 3; ++round) {
      fixture.begin_swap();
      fixture.put(OAE_FIRMWARE_IRQ_ENABLE, ~std::uint64_t{0});
      fixture.put(OAE_FIRMWARE_LIVENESS, 7);
      fixture.write(0, OAE_HOST_LIVENESS_LIMIT, 5);
      fixture.write(0, OAE_HOST_PORT_TENTATIVE_LIMIT_AT(0), 1'000'000);
      fixture.read(2, OAE_PORT_PUSHED_ANSWER);
      EXPECT_EQ(state(), std::uint64_t{OAE_PORT_STATE_TENTATIVE});
      fixture.publish(1, make_slot(header(1, 1), 9));
      pass(vp::us);
      EXPECT_TRUE(line());
      EXPECT_NE(registers(fixture), initial);
      const std::size_t changes = fixture.lines.size();
      lose();
      ASSERT_EQ(fixture.lines.size(), changes + 1);
      EXPECT_EQ(fixture.lines.back().time, lost);
      EXPECT_FALSE(line());
      pass(round * vp::ms);
      power_up();
      pass(clearing);
      EXPECT_EQ(fixture.domain.next_event(), vp::never) << "no deadline";
      EXPECT_EQ(registers(fixture), initial);
      EXPECT_EQ(fixture.lines.size(), changes + 1);
    }
  }});
}

TEST_P(BlockPower, TwiceIsAsOnce) {
  const auto swap = [&] {
    fixture.begin_swap();
    fixture.read(2, OAE_PORT_PUSHED_ANSWER);
  };
  const auto state = [&] { return static_cast<unsigned>(fixture.read(2, OAE_PORT_STATUS) & 0xff); };
  fixture.run({[&] {
    block.power_up();
    EXPECT_EQ(fixture.domain.next_event(), vp::never);
    swap();
    block.power_up();
    EXPECT_EQ(state(), unsigned{OAE_PORT_STATE_TENTATIVE});
    lose();
    lose();
    pass(vp::us);
    lose();
    power_up();
    block.power_up();
    swap();
    block.power_up();
    EXPECT_EQ(state(), unsigned{OAE_PORT_STATE_TENTATIVE});
    for (unsigned i = 0; i < 10; ++i) {  // at one instant
      lose();
      block.power_up();
    }
    EXPECT_EQ(state(), unsigned{OAE_PORT_STATE_HISTORY_LOST});
  }});
}

// Reads in work and in the queue, and a write without room in it. The fixture sees that each of
// them completes once.
TEST_P(BlockPower, ALossEndsTheRequestsOfTheHost) {
  unsigned answered = 0, ended = 0, taken = 0, refused = 0;
  fixture.run({[&] {
    for (vp::Picoseconds moment = 0; moment < 160 * period; moment += period + period / 4) {
      align();
      const auto read = [&] {
        std::uint64_t value = 0;
        const auto status = fixture.read(0, OAE_HOST_ID, &value, 8);
        if (status == tlm::TLM_OK_RESPONSE) {
          EXPECT_EQ(value & 0xffff'ffff, OAE_HOST_ID_RESET & 0xffff'ffff);
          ++answered;
        } else {
          EXPECT_EQ(status, tlm::TLM_GENERIC_ERROR_RESPONSE);
          EXPECT_EQ(vp::now(), lost);
          ++ended;
        }
      };
      lost = -1;
      spawn(read);
      spawn([&] {
        for (unsigned i = 0; i < 40 && lost < 0; ++i) {
          const auto status = fixture.write(0, OAE_HOST_LIVENESS_LIMIT, i + 1);
          ++(status == tlm::TLM_OK_RESPONSE ? taken : refused);
          if (status != tlm::TLM_OK_RESPONSE) {
            EXPECT_EQ(status, tlm::TLM_GENERIC_ERROR_RESPONSE);
            EXPECT_EQ(vp::now(), lost);
          }
        }
      });
      spawn(read);
      pass(moment);
      lose();
      EXPECT_EQ(left(), 0u) << moment;
      std::uint64_t value = 0;
      EXPECT_EQ(fixture.read(0, OAE_HOST_ID, &value, 8), tlm::TLM_GENERIC_ERROR_RESPONSE);
      EXPECT_EQ(fixture.write(0, OAE_HOST_LIVENESS_LIMIT, 99), tlm::TLM_GENERIC_ERROR_RESPONSE);
      EXPECT_EQ(vp::now(), lost + 1) << "at once";
      block.function_reset();
      EXPECT_EQ(fixture.domain.next_event(), vp::never);
      power_up();
      EXPECT_EQ(fixture.read(0, OAE_HOST_LIVENESS_LIMIT), 0xffff'ffffu)
          << "what was queued is gone";
    }
  }});
  EXPECT_EQ(answered + ended, 2u * 128);
  EXPECT_GT(answered, 50u);
  EXPECT_GT(ended, 50u);
  EXPECT_GT(taken, 2'000u);
  EXPECT_GT(refused, 10u);
}

// The function ends the block's write first, as it does when its link is lost.
TEST_P(BlockPower, ASlotThatWaitsIsForgotten) {
  bool ended = false;
  fixture.run({[&] {
    fixture.begin_swap();
    fixture.full = true;
    spawn([&] {
      std::uint64_t value = 0;
      EXPECT_EQ(fixture.read(2, OAE_PORT_PUSHED_ANSWER, &value, 8),
                tlm::TLM_GENERIC_ERROR_RESPONSE);
      EXPECT_EQ(vp::now(), lost);
      ended = true;
    });
    pass(vp::us);
    EXPECT_FALSE(ended);
    fixture.bus_master = false;
    fixture.make_room();
    lose();
    EXPECT_EQ(left(), 0u);
    EXPECT_TRUE(ended);
    power_up();
    fixture.bus_master = true;
    for (unsigned sequence : {1u, 2u, 3u}) {
      const Slot offer = make_slot(header(1, sequence), 10 + sequence);
      if (sequence == 1) fixture.open(0);
      fixture.publish(0, make_slot(header(1, sequence), sequence));
      fixture.write(2, OAE_PORT_WINDOW, offer.data(), 64);
      const vp::Picoseconds asked = vp::now();
      fixture.read(2, OAE_PORT_PUSHED_ANSWER);
      EXPECT_LE(fixture.completed - asked, sequence == 1 ? clearing : 14 * period);
      EXPECT_EQ(fixture.buffers.at(Fixture::buffer_of(0)),
                make_slot(header(1, sequence), sequence));
      fixture.write(2, OAE_PORT_CONFIRM, confirmation(offer[0]));
      pass(20 * period);
      fixture.put(OAE_FIRMWARE_COMMAND_AT(0), OAE_FIRMWARE_COMMAND_TAKE_MASK);
    }
  }});
  EXPECT_EQ(fixture.statistics.json()["counters"]["fixture.oae.slots_written"], 3);
}

/// Swaps of a host and a firmware that end with a loss of power, at each clock of a swap and
/// between clocks. Returns all that was observed.
std::string observed(bool checked) {
  return vp::in_child([checked] {
    const TemporaryFile file(".trace");
    Fixture fixture(configured(checked), file.path);
    std::ostringstream log;
    bool on = true;
    const auto note = [&](const char* what, tlm::tlm_response_status status, std::uint64_t value) {
      log << vp::now() << ' ' << what << ' ' << status << ' ' << value << '\n';
      return status == tlm::TLM_OK_RESPONSE;
    };
    const auto write = [&](unsigned bar, std::uint64_t address, const void* data, unsigned bytes) {
      return note("write", fixture.write(bar, address, data, bytes), address);
    };
    const auto read = [&](std::uint64_t address) {
      std::uint64_t value = 0;
      const auto status = fixture.read(2, address, &value, 8);
      return note("read", status, value);
    };
    const auto put = [&](std::uint64_t address, std::uint64_t value) {
      return note("put", fixture.firmware_access(tlm::TLM_WRITE_COMMAND, address, &value, 8),
                  address);
    };
    const auto get = [&](std::uint64_t address) {
      std::uint64_t value = 0;
      const auto status = fixture.firmware_access(tlm::TLM_READ_COMMAND, address, &value, 8);
      return note("get", status, value);
    };
    std::vector<std::pair<vp::Picoseconds, vp::Picoseconds>> dark;
    unsigned running = 0, round = 0;
    const vp::Picoseconds spans[] = {0, vp::us, period, 1};
    fixture.run({[&] {
      for (vp::Picoseconds moment = 0; moment < 180 * period; moment += period / 4) {
        Fixture::pass(vp::us - vp::now() % vp::us);
        const auto host = [&] {
          const Slot offer = make_slot(header(1, 1), 5);
          const std::uint64_t buffer = Fixture::buffer_of(0), event = 3, open = 1;
          const std::uint64_t confirm = confirmation(offer[0]);
          if (write(0, OAE_HOST_PORT_ANSWER_ADDRESS_AT(0), &buffer, 8) &&
              write(0, OAE_HOST_PORT_EVENT_AT(0), &event, 8) &&
              write(0, OAE_HOST_PORT_CONTROL_AT(0), &open, 8)) {
            Fixture::pass(110 * period);
            write(2, OAE_PORT_WINDOW, offer.data(), 64) && read(OAE_PORT_PUSHED_ANSWER) &&
                read(OAE_PORT_STATUS) && write(2, OAE_PORT_CONFIRM, &confirm, 8) &&
                read(OAE_PORT_STATUS);
          }
          --running;
        };
        const auto firmware = [&] {
          bool good = put(OAE_FIRMWARE_IRQ_ENABLE, 1);
          const Slot slot = make_slot(header(1, 1), 6);
          for (unsigned i = 0; good && i < 8; ++i)
            good = put(OAE_FIRMWARE_OFFER_AT(0) + 8 * i, slot[i]);
          good = good && put(OAE_FIRMWARE_COMMAND_AT(0), OAE_FIRMWARE_COMMAND_PUBLISH_MASK) &&
                 put(OAE_FIRMWARE_EVENT_AT(0), ~std::uint64_t{0});
          while (good && on) {
            good = get(OAE_FIRMWARE_STATUS_AT(0)) && get(OAE_FIRMWARE_EVENT_AT(0));
            Fixture::pass(11 * period);
          }
          --running;
        };
        running = 2;
        on = true;
        sc_core::sc_spawn(host);
        sc_core::sc_spawn(firmware);
        Fixture::pass(moment);
        fixture.block->lose_power();
        on = false;
        const vp::Picoseconds span = spans[round++ % 4];
        dark.emplace_back(vp::now(), vp::now() + span);
        Fixture::pass(span);
        fixture.block->power_up();
        Fixture::pass(2 * vp::us);
        EXPECT_EQ(running, 0u) << moment;
      }
    }});
    fixture.trace.close();
    const std::string trace = file.contents();
    // What an edge before the loss shows, it shows before the loss.
    const auto expect_not_dark = [&](vp::Picoseconds time, const char* what) {
      for (const auto& [from, to] : dark) EXPECT_FALSE(time > from && time < to) << what << time;
    };
    std::istringstream lines(trace);
    std::string line;
    std::getline(lines, line);
    while (std::getline(lines, line)) {
      expect_not_dark(nlohmann::json::parse(line)["t"], "trace ");
    }
    for (const auto& [time, vector] : fixture.signals) {
      expect_not_dark(time, "signal ");
      log << time << " signal " << vector << '\n';
    }
    for (const auto& [time, number, level] : fixture.lines) {
      expect_not_dark(time, "line ");
      log << time << " line " << level << '\n';
    }
    const nlohmann::json counters = fixture.statistics.json()["counters"];
    EXPECT_GT(counters["fixture.oae.committed"], 10);
    EXPECT_GT(counters["fixture.oae.exchanged"], counters["fixture.oae.committed"]);
    EXPECT_GT(fixture.lines.size(), 50u);
    return log.str() + trace + fixture.statistics.json().dump();
  });
}

// The library without checks answers reads, and has writes take effect, ahead of their time.
TEST(Block, LosesItsPowerLikeOneThatClocksEverything) {
  const std::string expected = observed(true), found = observed(false);
  ASSERT_GT(expected.size(), 50'000u);
  const auto differs = std::mismatch(found.begin(), found.end(), expected.begin(), expected.end());
  EXPECT_TRUE(found == expected) << std::string(differs.second, expected.end()).substr(0, 300)
                                 << "\nis observed as\n"
                                 << std::string(differs.first, found.end()).substr(0, 300);
}

}  // namespace
