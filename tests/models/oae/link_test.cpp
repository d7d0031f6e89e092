// SPDX-License-Identifier: Apache-2.0
#include "models/oae/link.h"

#include <gtest/gtest.h>

#include "models/oae/block.h"
#include "tests/models/oae/link_fixture.h"

namespace {

class LinkModel : public testing::Test, protected LinkFixture {};

TEST_F(LinkModel, SlotsCrossBothWays) {
  connect();
  run([this] {
    bring_up();
    b.put(OAE_LINK_IRQ_ENABLE, OAE_LINK_EVENT_RECEIVED_MASK);
    for (unsigned i = 1; i < 20; ++i) {
      a.send(slot(i), i % 2 ? OAE_LINK_COMMAND_PACKET : OAE_LINK_COMMAND_FLOW);
      b.send(slot(100 + i));
      pass(200 * vp::ns);
      EXPECT_EQ(a.outcome(), unsigned{OAE_OUTCOME_COMMITTED});
      EXPECT_EQ(b.outcome(), unsigned{OAE_OUTCOME_COMMITTED});
      EXPECT_TRUE(b.irq);
      b.put(OAE_LINK_EVENT, ~std::uint64_t{0});
      EXPECT_FALSE(b.irq);
      EXPECT_EQ(b.receive(), slot(i));
      EXPECT_EQ(a.receive(), slot(100 + i));
    }
  });
}

TEST_F(LinkModel, ClocksStopWhileTheWireIsIdle) {
  connect();
  run([this] {
    bring_up();
    const std::uint64_t clocks = a.link->clocks() + b.link->clocks();
    pass(vp::s);
    EXPECT_EQ(a.link->clocks() + b.link->clocks(), clocks);
    a.send(slot(1));
    pass(vp::us);
    EXPECT_EQ(a.outcome(), unsigned{OAE_OUTCOME_COMMITTED});
    EXPECT_LT(a.link->clocks() + b.link->clocks(), clocks + 200);
  });
}

TEST_F(LinkModel, OneEndAloneSchedulesNothing) {
  run([this] {
    a.put(OAE_LINK_CONTROL, 1);
    const std::uint64_t clocks = a.link->clocks();
    pass(vp::s);
    EXPECT_LE(a.link->clocks(), clocks + 2);
    EXPECT_EQ(a.phase(), unsigned{OAE_LINK_STATE_INITIALISING});
  });
}

TEST_F(LinkModel, ALongerWireTakesLonger) {
  connect(200 * metre);
  run([this] {
    a.put(OAE_LINK_CONTROL, 1);
    b.put(OAE_LINK_CONTROL, 1);
    pass(10 * vp::us);
    a.send(slot(1));
    // A transfer passes the wire four times, 1 us each. The ends add less than 200 ns.
    pass(3'900 * vp::ns);
    EXPECT_EQ(a.outcome(), unsigned{OAE_OUTCOME_NONE});
    pass(400 * vp::ns);
    EXPECT_EQ(a.outcome(), unsigned{OAE_OUTCOME_COMMITTED});
  });
}

TEST_F(LinkModel, ACutTakesBothEndsDownAndTheyReconcile) {
  connect();
  run([this] {
    bring_up();
    for (unsigned i = 1; i < 12; ++i) {
      // The wire is idle so long that a mistake of the stopped clock would show.
      pass(vp::ms);
      a.send(slot(i));
      pass(i * 10 * vp::ns);
      a.link->cut(true);
      b.link->cut(true);
      pass(2 * vp::us);
      EXPECT_EQ(a.phase(), unsigned{OAE_LINK_STATE_IDLE}) << "down before the limit of silence";
      pass(5 * vp::us);
      EXPECT_EQ(a.phase(), unsigned{OAE_LINK_STATE_DOWN});
      EXPECT_EQ(b.phase(), unsigned{OAE_LINK_STATE_DOWN});
      a.link->cut(false);
      b.link->cut(false);
      bring_up();
      const bool committed = a.outcome() == OAE_OUTCOME_COMMITTED;
      EXPECT_EQ(OAE_GET(b.get(OAE_LINK_RECEIVED), OAE_LINK_RECEIVED_TRANSFERS),
                committed ? 1u : 0u);
      if (committed) {
        EXPECT_EQ(b.receive(), slot(i));
      } else {
        EXPECT_EQ(a.outcome(), unsigned{OAE_OUTCOME_REVERSED});
      }
    }
  });
}

// Each second transfer meets one damaged bit on its way. It is committed at both ends or reversed
// at both, and what arrives is what was sent.
TEST_F(LinkModel, ADamagedBitLosesAndRepeatsNothing) {
  connect();
  run([this] {
    bring_up();
    unsigned reversed = 0;
    for (unsigned i = 1; i < 100; ++i) {
      a.send(slot(2 * i));
      pass(vp::us);
      ASSERT_EQ(a.outcome(), unsigned{OAE_OUTCOME_COMMITTED});
      ASSERT_EQ(b.receive(), slot(2 * i));
      LinkModelEnd& damaged = i % 3 == 0 ? b : a;
      damaged.link->damage(i * 37 % 512);
      a.send(slot(2 * i + 1));
      pass(20 * vp::us);
      ASSERT_EQ(a.phase(), unsigned{OAE_LINK_STATE_IDLE});
      const std::uint64_t transfers =
          OAE_GET(b.get(OAE_LINK_RECEIVED), OAE_LINK_RECEIVED_TRANSFERS);
      if (a.outcome() == OAE_OUTCOME_COMMITTED) {
        ASSERT_EQ(transfers, 1u);
        ASSERT_EQ(b.receive(), slot(2 * i + 1));
      } else {
        ++reversed;
        ASSERT_EQ(a.outcome(), unsigned{OAE_OUTCOME_REVERSED});
        ASSERT_EQ(transfers, 0u);
      }
    }
    EXPECT_GT(reversed, 50u);
    EXPECT_EQ(counter("a.link.groups_damaged"), 66u);
    EXPECT_EQ(counter("b.link.groups_damaged"), 33u);
  });
}

// An idle wire carries nothing that could be damaged. The damage waits for the next frame.
TEST_F(LinkModel, DamageWaitsForAFrame) {
  connect();
  run([this] {
    bring_up();
    a.link->damage(70);
    pass(vp::ms);
    EXPECT_EQ(counter("a.link.groups_damaged"), 0u);
    a.send(slot(1));
    pass(vp::us);
    EXPECT_EQ(counter("a.link.groups_damaged"), 1u);
    EXPECT_EQ(a.outcome(), unsigned{OAE_OUTCOME_REVERSED});
  });
}

TEST_F(LinkModel, RefusesBadAccesses) {
  run([this] {
    std::uint64_t word = 0;
    EXPECT_EQ(a.firmware.access(tlm::TLM_READ_COMMAND, OAE_LINK_SIZE, &word, 8),
              tlm::TLM_ADDRESS_ERROR_RESPONSE);
    EXPECT_EQ(a.firmware.access(tlm::TLM_READ_COMMAND, 0x3000, &word, 8),
              tlm::TLM_ADDRESS_ERROR_RESPONSE);
    EXPECT_EQ(a.firmware.access(tlm::TLM_READ_COMMAND, 4, &word, 8), tlm::TLM_BURST_ERROR_RESPONSE);
    std::uint32_t half = 0;
    EXPECT_EQ(a.firmware.access(tlm::TLM_READ_COMMAND, 4, &half, 4), tlm::TLM_OK_RESPONSE);
    EXPECT_EQ(half & 0xffff, 1u);  // version
  });
}

TEST_F(LinkModel, RefusesImpossibleConfigurations) {
  const auto make = [this](std::uint64_t rate) {
    LinkModelEnd end("other", {rate}, trace, statistics);
  };
  EXPECT_THROW(make(999'000'000), oae::ConfigurationError);
  EXPECT_THROW(make(1'600'000'000'512), oae::ConfigurationError);
  EXPECT_THROW(make(100'000'000'001), oae::ConfigurationError);
  EXPECT_THROW(connect(0), oae::ConfigurationError);
  connect(1);
  EXPECT_THROW(connect(1), oae::ConfigurationError);
  run([] {});
}

}  // namespace
