// SPDX-License-Identifier: Apache-2.0
// An end of a link loses its power, and begins anew when it has power again.
#include <gtest/gtest.h>

#include <sstream>
#include <string>

#include "models/oae/link.h"
#include "tests/in_child.h"
#include "tests/models/oae/ended_accesses.h"
#include "tests/models/oae/link_fixture.h"
#include "tests/models/oae/temporary_file.h"

namespace {

constexpr vp::Picoseconds clock_of_link = 5'120;  // 512 bits at 100 Gb/s

class LinkPower : public testing::Test, protected LinkFixture {
 protected:
  static unsigned carrier(LinkModelEnd& end) {
    return OAE_GET(end.get(OAE_LINK_STATE), OAE_LINK_STATE_CARRIER);
  }
  static void align() { pass(vp::us - vp::now() % vp::us); }
  static tlm::tlm_response_status id(LinkModelEnd& end) {
    std::uint64_t word = 0;
    return end.firmware.access(tlm::TLM_READ_COMMAND, OAE_LINK_ID, &word, 8);
  }
  static std::string registers(LinkModelEnd& end) {
    std::ostringstream all;
    for (std::uint64_t address = 0; address < OAE_LINK_SESSION + 8; address += 8) {
      std::uint64_t word = 0;
      end.firmware.access(tlm::TLM_READ_COMMAND, address, &word, 8);
      if (address == OAE_LINK_ALIVE) word &= 0xffff'ffff;  // without the age
      all << std::hex << address << ": " << word << '\n';
    }
    return all.str();
  }
};

TEST_F(LinkPower, ALossEndsTheAccesses) {
  run([this] {
    expect_accesses_to_end({[this] { return id(a); }, a.link->clocks(), a.domain,
                            [this] { a.link->lose_power(); }, [this] { a.link->power_up(); },
                            clock_of_link});
  });
}

// The last group leaves with the edge after the loss, and has left with the one after that.
TEST_F(LinkPower, TheCarrierGoesAfterTheDelayOfTheWire) {
  constexpr vp::Picoseconds delay = 1'234'567;
  connect(delay);
  run([this] {
    a.put(OAE_LINK_CONTROL, 1);
    b.put(OAE_LINK_CONTROL, 1);
    pass(20 * vp::us);
    ASSERT_EQ(b.phase(), unsigned{OAE_LINK_STATE_IDLE});
    b.put(OAE_LINK_LIMITS, 0x0800'0000 + 0x4000);
    for (vp::Picoseconds moment = 0; moment < 2 * clock_of_link; moment += clock_of_link / 2) {
      align();
      pass(moment);
      const vp::Picoseconds lost = vp::now();
      a.link->lose_power();
      pass(delay - vp::ns);
      EXPECT_EQ(carrier(b), 1u);
      pass(lost + delay + 4 * clock_of_link - vp::now());
      EXPECT_EQ(carrier(b), 0u);
      a.link->power_up();
      a.put(OAE_LINK_CONTROL, 1);
      pass(20 * vp::us);
      EXPECT_EQ(carrier(b), 1u);
    }
  });
}

// The other end notices the silence, goes down, and tells its firmware.
TEST_F(LinkPower, TheOtherEndGoesDownAndTheLinkComesUpAnew) {
  connect();
  run([this] {
    const std::string initial = registers(a);
    for (unsigned round = 1; round < 20; ++round) {
      bring_up();
      a.put(OAE_LINK_IRQ_ENABLE, ~std::uint64_t{0});
      a.put(OAE_LINK_LIVENESS, round);
      b.put(OAE_LINK_EVENT, ~std::uint64_t{0});
      b.put(OAE_LINK_IRQ_ENABLE, OAE_LINK_EVENT_DOWN_MASK);
      b.send(slot(2 * round));
      pass(vp::us);
      EXPECT_EQ(b.outcome(), unsigned{OAE_OUTCOME_COMMITTED});
      EXPECT_TRUE(a.irq);
      // One slot has arrived, and another one is on its way.
      b.send(slot(2 * round + 1));
      pass(round * 11 * vp::ns);
      a.link->lose_power();
      EXPECT_FALSE(a.irq);
      EXPECT_FALSE(b.irq);
      const std::uint64_t clocks = a.link->clocks();
      pass(10 * vp::us);
      EXPECT_TRUE(b.irq);
      EXPECT_EQ(b.phase(), unsigned{OAE_LINK_STATE_DOWN});
      EXPECT_EQ(a.link->clocks(), clocks);
      EXPECT_EQ(a.domain.next_event(), vp::never);
      a.link->power_up();
      pass(vp::us);
      EXPECT_EQ(registers(a), initial);
      EXPECT_EQ(a.domain.next_event(), vp::never);
      bring_up();
      EXPECT_EQ(OAE_GET(a.get(OAE_LINK_RECEIVED), OAE_LINK_RECEIVED_TRANSFERS), 0u) << round;
      a.send(slot(100 + round));
      pass(vp::us);
      EXPECT_EQ(a.outcome(), unsigned{OAE_OUTCOME_COMMITTED});
      EXPECT_EQ(b.receive(), slot(100 + round));
      b.send(slot(200 + round));
      pass(vp::us);
      EXPECT_EQ(a.receive(), slot(200 + round));
    }
    EXPECT_GT(counter("b.link.groups_lost"), 5u);
    EXPECT_EQ(counter("a.link.groups_lost"), 0u);
  });
}

// What the other end sends meanwhile is lost, even if power is back before it has noticed.
TEST_F(LinkPower, WhatArrivesWithoutPowerIsLost) {
  connect();
  run([this] {
    bring_up();
    for (vp::Picoseconds moment = 0; moment < 60 * vp::ns; moment += 3 * vp::ns) {
      b.send(slot(7));
      pass(moment);
      a.link->lose_power();
      pass(moment * 7 % (40 * vp::ns));
      a.link->power_up();
      a.put(OAE_LINK_CONTROL, 1);
      pass(20 * vp::us);
      bring_up();
      EXPECT_EQ(OAE_GET(a.get(OAE_LINK_RECEIVED), OAE_LINK_RECEIVED_TRANSFERS), 0u) << moment;
    }
    EXPECT_GT(counter("b.link.groups_lost"), 0u);
  });
}

TEST_F(LinkPower, TwiceIsAsOnce) {
  connect();
  run([this] {
    a.link->power_up();
    bring_up();
    a.link->power_up();
    a.send(slot(1));
    pass(vp::us);
    EXPECT_EQ(a.outcome(), unsigned{OAE_OUTCOME_COMMITTED});
    for (unsigned i = 0; i < 3; ++i) a.link->lose_power();
    pass(10 * vp::us);
    a.link->lose_power();
    for (unsigned i = 0; i < 3; ++i) {
      a.link->power_up();
      pass(i);
    }
    EXPECT_EQ(a.phase(), unsigned{OAE_LINK_STATE_DOWN});
    bring_up();
    a.link->power_up();
    a.send(slot(2));
    pass(vp::us);
    EXPECT_EQ(a.outcome(), unsigned{OAE_OUTCOME_COMMITTED});
  });
}

TEST_F(LinkPower, AWireThatIsCutMeanwhileCarriesAgain) {
  connect();
  run([this] {
    for (unsigned order = 0; order < 4; ++order) {
      bring_up();
      const auto cut = [&](bool is_cut) {
        a.link->cut(is_cut);
        b.link->cut(is_cut);
        pass(5 * vp::us);
      };
      if (order & 1) cut(true);
      a.link->lose_power();
      pass(5 * vp::us);
      if (!(order & 1)) cut(true);
      if (order & 2) cut(false);
      a.link->power_up();
      if (!(order & 2)) cut(false);
      pass(5 * vp::us);
      bring_up();
      a.send(slot(order));
      pass(vp::us);
      EXPECT_EQ(a.outcome(), unsigned{OAE_OUTCOME_COMMITTED}) << order;
      EXPECT_EQ(b.receive(), slot(order));
    }
  });
}

/// The traces of two ends whose powers come and go.
std::string traced(bool checked) {
  return vp::in_child([checked] {
    oae::LinkConfig config;
    config.checked = checked;
    LinkFixture fixture(config);
    const TemporaryFile file(".trace");
    fixture.trace.open(file.path, {});
    fixture.connect();
    fixture.run([&] {
      for (unsigned round = 1; round < 30; ++round) {
        fixture.bring_up();
        LinkModelEnd& end = round % 3 == 0 ? fixture.b : fixture.a;
        end.send(LinkFixture::slot(round));
        LinkFixture::pass(round * 7 * vp::ns);
        fixture.a.link->lose_power();
        LinkFixture::pass((round % 5) * 2 * vp::us);
        if (round % 4 == 0) fixture.b.link->lose_power();
        fixture.a.link->power_up();
        LinkFixture::pass(round);
        fixture.b.link->power_up();
        LinkFixture::pass(10 * vp::us);
      }
    });
    fixture.trace.close();
    return file.contents() + fixture.statistics.json().dump();
  });
}

TEST(Link, BothLibrariesLosePowerAlike) {
  const std::string expected = traced(true);
  EXPECT_GT(expected.size(), 20'000u);
  EXPECT_TRUE(traced(false) == expected);
}

}  // namespace
