// SPDX-License-Identifier: Apache-2.0
// Cores of the firmware that are ahead of the kernel's time get the answers that they would get in
// time.
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <sstream>

#include "models/oae/block.h"
#include "tests/in_child.h"
#include "tests/models/oae/fixture.h"
#include "vp/time/decoupled.h"

namespace {

/// A core that is ahead of the kernel's time. It may use an answer again while that stays valid.
struct Core : vp::Decoupled {
  enum class Kind { in_time, ahead, repeating };

  Core(Fixture& fixture, Kind kind) : fixture(fixture), kind(kind) {
    payload.set_extension<vp::Decoupled>(this);
  }
  void catch_up() override { Fixture::pass(local - vp::now()); }
  vp::Picoseconds limit() const {
    return std::min(fixture.domain.horizon(), vp::now() + 1 * vp::us);
  }
  bool may_stay_ahead() const override { return kind != Kind::in_time && local < limit(); }

  std::uint64_t access(tlm::tlm_command command, std::uint64_t address, std::uint64_t value = 0) {
    const vp::Picoseconds begin = local;
    response = tlm::TLM_OK_RESPONSE;
    if (command != tlm::TLM_READ_COMMAND || !repeat(address, value)) reach(command, address, value);
    log << begin << ' ' << command << ' ' << address << ' ' << value << " until " << local << ' '
        << response << '\n';
    return value;
  }
  void publish(unsigned port, const Slot& slot) {
    for (unsigned i = 0; i < 8; ++i) {
      access(tlm::TLM_WRITE_COMMAND, OAE_FIRMWARE_OFFER_AT(port) + 8 * i, slot[i]);
    }
    access(tlm::TLM_WRITE_COMMAND, OAE_FIRMWARE_COMMAND_AT(port),
           OAE_FIRMWARE_COMMAND_PUBLISH_MASK);
  }

  Fixture& fixture;
  const Kind kind;
  tlm::tlm_generic_payload payload;
  vp::Picoseconds local = 0;
  tlm::tlm_response_status response = tlm::TLM_OK_RESPONSE;  // to the last access
  unsigned repeated = 0;
  std::ostringstream log;

 private:
  struct Answer {
    vp::Repeatable is;
    std::uint64_t seen;
    std::uint64_t value;
  };

  // The way to the block takes no time, so begin and end are arrival and answer.
  bool repeat(std::uint64_t address, std::uint64_t& value) {
    const auto known = answers.find(address);
    if (known == answers.end() || *known->second.is.version != known->second.seen) return false;
    const auto& [is, seen, answer] = known->second;
    const vp::Picoseconds edges = is.answered / is.clock - is.arrival / is.clock;
    const vp::Picoseconds end = (local / is.clock + edges) * is.clock;
    if (end >= limit()) return false;
    for (const auto& count : is.counts) {
      if (count.counter != nullptr) *count.counter += count.amount;
    }
    local = end;
    value = answer;
    ++repeated;
    return true;
  }

  void reach(tlm::tlm_command command, std::uint64_t address, std::uint64_t& value) {
    if (!may_stay_ahead()) catch_up();
    payload.set_command(command);
    payload.set_address(address);
    payload.set_data_ptr(reinterpret_cast<unsigned char*>(&value));
    payload.set_data_length(8);
    payload.set_streaming_width(8);
    sc_core::sc_time delay = vp::to_sc_time(local - vp::now());
    repeatable = {};
    fixture.firmware->b_transport(payload, delay);
    local = vp::now() + static_cast<vp::Picoseconds>(delay.value());
    response = payload.get_response_status();
    if (repeatable.version != nullptr && kind == Kind::repeating) {
      EXPECT_TRUE(payload.is_read());
      answers[address] = {repeatable, *repeatable.version, value};
    }
  }

  std::map<std::uint64_t, Answer> answers;
};

// Swaps with polls between them, at times that are unrelated to the clock.
std::string serve(Core& core) {
  constexpr unsigned swaps = 20;
  Fixture::pass(100 * period);
  core.local = vp::now();
  core.access(tlm::TLM_WRITE_COMMAND, OAE_FIRMWARE_IRQ_ENABLE, 1);
  for (unsigned n = 1; n <= swaps;) {
    for (unsigned i = 0; i < 4; ++i) {
      core.local += 4'321;
      core.access(tlm::TLM_READ_COMMAND, OAE_FIRMWARE_IRQ_STATUS);
      core.access(tlm::TLM_READ_COMMAND, OAE_FIRMWARE_COMMITTED_AT(0) + 8);
    }
    core.access(tlm::TLM_READ_COMMAND, OAE_FIRMWARE_EVENT_AT(0));
    core.access(tlm::TLM_WRITE_COMMAND, OAE_FIRMWARE_EVENT_AT(0), ~0ull);
    const std::uint64_t status = core.access(tlm::TLM_READ_COMMAND, OAE_FIRMWARE_STATUS_AT(0));
    if (status & OAE_FIRMWARE_STATUS_COMMITTED_MASK) {
      core.access(tlm::TLM_WRITE_COMMAND, OAE_FIRMWARE_COMMAND_AT(0),
                  OAE_FIRMWARE_COMMAND_TAKE_MASK);
      ++n;
    }
    if ((status & OAE_FIRMWARE_STATUS_OPEN_MASK) && !(status & OAE_FIRMWARE_STATUS_OFFERED_MASK)) {
      const auto next = OAE_GET(status, OAE_FIRMWARE_STATUS_NEXT_SEQUENCE);
      core.publish(0, make_slot(header(1, static_cast<std::uint32_t>(next)), n));
    }
  }
  Fixture::pass(core.local + 100 * period - vp::now());
  for (const auto& line : core.fixture.lines) {
    core.log << "irq " << line.time << ' ' << line.level << '\n';
  }
  core.log << core.fixture.statistics.json()["counters"];
  return core.log.str();
}

// The host of these swaps. Its actions are due in the domain, as arrivals over a link are.
void ask(Fixture& fixture) {
  vp::Event arrival(fixture.domain, [] {});
  fixture.open(0);
  for (std::uint32_t n = 1; n <= 20; ++n) {
    arrival.after(1'234'567);
    Fixture::pass(1'234'567);
    fixture.write(2, OAE_PORT_WINDOW, make_slot(header(1, n), n).data(), 64);
    fixture.read(2, OAE_PORT_PUSHED_ANSWER);
    fixture.write(
        2, OAE_PORT_CONFIRM,
        confirmation(OAE_PUT(OAE_SLOT_HEADER_EPOCH, 1) | OAE_PUT(OAE_SLOT_HEADER_SEQUENCE, n)));
  }
}

// Each kind has a process of its own: the accesses of one in time would bound the horizon of the
// other.
std::string served(Core::Kind kind, bool checked) {
  return vp::in_child([kind, checked] {
    oae::BlockConfig config;
    config.checked = checked;
    Fixture fixture(config, {}, "fixture");
    std::string observed;
    fixture.run({[&] {
                   Core core(fixture, kind);
                   observed = serve(core);
                   if (kind == Core::Kind::repeating) {
                     EXPECT_GT(core.repeated, 1'000u);
                   }
                 },
                 [&] { ask(fixture); }});
    return observed;
  });
}

// The same core polls and writes all the time, while the power of the block comes and goes. In each
// life the host opens the port and swaps once.
std::string served_with_losses(Core::Kind kind, bool checked) {
  return vp::in_child([kind, checked] {
    oae::BlockConfig config;
    config.ports = 1;
    config.checked = checked;
    Fixture fixture(config, {}, "fixture");
    Core core(fixture, kind);
    constexpr unsigned lives = 60;
    unsigned life = 0;
    bool on = true, asks = false;
    vp::Event power(fixture.domain, [&] {
      on = !on;
      on ? fixture.block->power_up() : fixture.block->lose_power();
      life += on;
      power.after(on ? 3 * vp::us + life * 777 : 20 * period + life * 1'111);
    });
    // The host's actions are due in the domain, as arrivals over a link are.
    sc_core::sc_event asked;
    vp::Event arrival(fixture.domain, [&] {
      asks = true;
      asked.notify();
      arrival.after(456'789);
    });
    fixture.run({[&] {
                   Fixture::pass(100 * period);
                   core.local = vp::now();
                   power.after(vp::us);
                   arrival.after(1);
                   while (life < lives) {
                     core.local += 4'321;
                     core.access(tlm::TLM_WRITE_COMMAND, OAE_FIRMWARE_IRQ_ENABLE, 1);
                     for (unsigned i = 0; i < 6; ++i) {
                       core.local += i * 1'234;
                       core.access(tlm::TLM_READ_COMMAND, OAE_FIRMWARE_IRQ_STATUS);
                       core.access(tlm::TLM_READ_COMMAND, OAE_FIRMWARE_STATUS_AT(0));
                     }
                     core.publish(0, make_slot(header(1, 1), 3));
                     core.access(tlm::TLM_WRITE_COMMAND, OAE_FIRMWARE_EVENT_AT(0), ~0ull);
                   }
                 },
                 [&] {
                   Slot offer = make_slot(header(1, 1), 4);
                   while (life < lives) {
                     if (!asks) sc_core::wait(asked);
                     asks = false;
                     fixture.open(0);
                     fixture.write(2, OAE_PORT_WINDOW, offer.data(), 64);
                     std::uint64_t answer = 0;
                     fixture.read(2, OAE_PORT_PUSHED_ANSWER, &answer, 8);
                     core.log << vp::now() << " answer " << answer << '\n';
                     offer = again(offer);
                   }
                 }});
    for (const auto& line : fixture.lines) {
      core.log << "irq " << line.time << ' ' << line.level << '\n';
    }
    EXPECT_GT(fixture.lines.size(), lives / 2);
    nlohmann::json counters = fixture.statistics.json()["counters"];
    EXPECT_GT(counters["fixture.oae.exchanged"], lives / 2);
    // Edges that nobody notices count when they are run, which may be ahead of a loss.
    counters.erase("fixture.oae.clocks");
    core.log << counters;
    if (kind == Core::Kind::repeating) {
      EXPECT_GT(core.repeated, lives);
    }
    return core.log.str();
  });
}

// The one in time has all of its accesses executed by the RTL.
void expect_as_in_time(std::string (*served)(Core::Kind, bool), Core::Kind kind, bool checked) {
  const std::string expected = served(Core::Kind::in_time, true);
  const std::string found = served(kind, checked);
  EXPECT_GT(expected.size(), 10'000u);
  const auto differs = std::mismatch(found.begin(), found.end(), expected.begin(), expected.end());
  EXPECT_TRUE(found == expected) << std::string(differs.second, expected.end()).substr(0, 200)
                                 << "\nis observed as\n"
                                 << std::string(differs.first, found.end()).substr(0, 200);
}

TEST(Block, AnswersAheadOfTimeEqualThoseInTime) {
  expect_as_in_time(served, Core::Kind::ahead, true);
  expect_as_in_time(served, Core::Kind::ahead, false);
}

TEST(Block, RepeatedAnswersEqualThoseInTime) {
  expect_as_in_time(served, Core::Kind::repeating, true);
  expect_as_in_time(served, Core::Kind::repeating, false);
}

TEST(Block, ALossOfPowerIsForThoseAheadAsForThoseInTime) {
  for (const bool checked : {true, false}) {
    expect_as_in_time(served_with_losses, Core::Kind::in_time, checked);
    expect_as_in_time(served_with_losses, Core::Kind::ahead, checked);
    expect_as_in_time(served_with_losses, Core::Kind::repeating, checked);
  }
}

TEST(Block, ServesAnAccessWhenItsDelayIsOver) {
  Fixture fixture;
  fixture.run({[&] {
    std::uint64_t value = 0;
    Fixture::pass(10 * period);
    const vp::Picoseconds start = vp::now();
    fixture.firmware_access(tlm::TLM_READ_COMMAND, OAE_FIRMWARE_ID, &value, 8);
    const vp::Picoseconds plain = vp::now() - start;
    Fixture::pass(10 * period);
    const vp::Picoseconds again = vp::now();
    fixture.firmware_access(tlm::TLM_READ_COMMAND, OAE_FIRMWARE_ID, &value, 8, 100 * period);
    EXPECT_EQ(vp::now() - again, plain + 100 * period);
    EXPECT_LE(plain, 5 * period);
  }});
}

}  // namespace
