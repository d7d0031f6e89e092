// SPDX-License-Identifier: Apache-2.0
// The clock of an end may stop while nothing moves. The same scenarios take the same time with such
// stops and without.
#include <functional>

#include "tests/rtl/link/pair.h"

namespace window {
namespace {

class Stop : public Pair {
 protected:
  /// Runs a scenario twice. It stops for at least so many clocks. A return waits until so many
  /// clocks have run since the last one if a frame can leave, so that it may change places with a
  /// frame.
  void same(const std::function<void()>& scenario, std::uint64_t least) {
    std::vector<std::uint64_t> times[2];
    for (const bool with : {false, true}) {
      begin_anew();
      now = hold_off - 1;  // The first clock is that of a deadline.
      a->sleeps = b->sleeps = with;
      times_.clear();
      scenario();
      mark();
      if (HasFatalFailure()) return;
      times[with] = times_;
    }
    ASSERT_EQ(times[0].size(), times[1].size());
    for (std::size_t i = 0; i < times[0].size(); ++i) {
      EXPECT_NEAR(static_cast<double>(times[0][i]), static_cast<double>(times[1][i]), 8) << i;
    }
    EXPECT_GE(a->stopped + b->stopped, least);
  }
  void mark() { times_.push_back(now); }
  void short_silence() {
    for (End* end : {a.get(), b.get()}) set_limits(*end, 1000, 4);
  }
  /// Loses frames, or returns, for some clocks.
  void lose(Wire& wire, bool frames, unsigned clocks) {
    wire.tamper = [frames](std::vector<Group>& unit, bool frame) {
      if (frame == frames) unit.assign(unit.size(), {});
    };
    clock(clocks);
    wire.tamper = nullptr;
  }

 private:
  std::vector<std::uint64_t> times_;
};

TEST_F(Stop, WhileALinkIsUpAndIdle) {
  same(
      [this] {
        bring_up();
        clock(50'000);
        offer(*a, 3, 1);
        until([this] { return settled(*a) == 3; });
        mark();
        clock(1000);
        a->post_put(OAE_WINDOW_LIVENESS, 9);
        until([this] { return b->top.busy_o != 0; });
        mark();
        clock(1000);
        EXPECT_EQ(get(*b, OAE_WINDOW_ALIVE) & 0xffffffff, 9u);
        EXPECT_EQ(take(*b).size(), 3u);
        clock(1000);
        EXPECT_EQ(get(*a, OAE_WINDOW_COUNT_SILENT), 0u);
        EXPECT_EQ(get(*b, OAE_WINDOW_COUNT_SILENT), 0u);
        EXPECT_EQ(get(*a, OAE_WINDOW_COUNT_COMMITTED), 3u);
        EXPECT_EQ(get(*b, OAE_WINDOW_COUNT_RECEIVED), 3u);
      },
      100'000);
}

// Slots that were offered before leave as soon as the link is up.
TEST_F(Stop, BeforeALinkComesUp) {
  same(
      [this] {
        offer(*a, 5, 1);
        offer(*b, 2, 1);
        clock(100);
        up(*a);
        clock(300);
        up(*b);
        until([this] { return settled(*a) == 5 && settled(*b) == 2; });
        mark();
        put(*a, OAE_WINDOW_CONTROL, 0);
        until([this] { return b->phase() == OAE_WINDOW_PHASE_DOWN; });
        mark();
        clock(1000);
        offer(*a, 1, 6);
        bring_up();
        until([this] { return settled(*a) == 6; });
      },
      1000);
}

// Each silence is noticed in the clock in which it is over.
TEST_F(Stop, WhileASideWaitsForTheOther) {
  same(
      [this] {
        short_silence();
        bring_up();
        offer(*a, 2, 1);
        lose(to_a, false, 2500);
        until([this] { return settled(*a) == 2; });
        mark();
        offer(*a, 2, 3);
        lose(to_b, true, 2500);
        until([this] { return settled(*a) == 4; });
        mark();
        offer(*a, 1, 5);
        lose(to_b, true, 10'000);
        mark();
        EXPECT_EQ(a->phase(), unsigned{OAE_WINDOW_PHASE_DOWN});
        bring_up();
        until([this] { return settled(*a) == 5; });
      },
      10'000);
}

// A firmware that decides on its own what becomes of reversed slots
TEST_F(Stop, WhileSlotsAreHeld) {
  same(
      [this] {
        short_silence();
        bring_up(false);
        for (unsigned round = 0; round < 3; ++round) {
          offer(*a, 2, 1 + 2 * round);
          lose(to_b, true, 20);
          command(*a, OAE_WINDOW_COMMAND_WITHDRAW);
          clock(20'000);
          EXPECT_EQ(state(*a, OAE_WINDOW_STATE_HELD_SHIFT, 1), 1u);
          command(*a, round == 1 ? OAE_WINDOW_COMMAND_DROP : OAE_WINDOW_COMMAND_RESUME);
          clock(3000);
          mark();
          EXPECT_EQ(settled(*a), round == 2 ? 4u : 2u);
        }
      },
      50'000);
}

// The other side has no room, and the return that says that it has again is lost.
TEST_F(Stop, WhileTheOtherSideHasNoRoom) {
  same(
      [this] {
        short_silence();
        bring_up();
        offer(*a, ring - 1, 1);
        rest();
        offer(*a, 3, ring);
        clock(5000);
        EXPECT_EQ(settled(*a), ring);
        put(*b, OAE_WINDOW_TAKEN, ring);
        lose(to_a, false, 20);
        mark();
        until([this] { return settled(*a) == ring + 2; });
        mark();
        EXPECT_EQ(get(*a, OAE_WINDOW_COUNT_REVERSED), 0u);
      },
      1000);
}

}  // namespace
}  // namespace window
