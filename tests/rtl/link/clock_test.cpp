// SPDX-License-Identifier: Apache-2.0
// The clock may stop when the end says so. What an end does is the same then, but for a few clocks.
#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "tests/rtl/link/formats.h"
#include "tests/rtl/link/pair.h"

namespace window {
namespace {

/// The values of what an end shows, with the clocks in which they come.
class Story {
 public:
  static constexpr unsigned signals = 7;
  using Signals = std::array<std::uint32_t, signals>;

  void add(std::uint64_t now, const Signals& shown) {
    for (unsigned i = 0; i < signals; ++i) {
      auto& told = told_[i];
      if (told.empty() || told.back().second != shown[i]) told.emplace_back(now, shown[i]);
    }
  }

  /// The same comes in the same order, and at the same time but for so many clocks.
  void expect_like(const Story& other, unsigned tolerance) const {
    for (unsigned i = 0; i < signals; ++i) {
      const auto& here = told_[i];
      const auto& there = other.told_[i];
      ASSERT_EQ(here.size(), there.size()) << "changes of signal " << i;
      for (std::size_t n = 0; n < here.size(); ++n) {
        ASSERT_EQ(here[n].second, there[n].second) << "signal " << i;
        const std::uint64_t sooner = std::min(here[n].first, there[n].first);
        const std::uint64_t later = std::max(here[n].first, there[n].first);
        ASSERT_LE(later - sooner, tolerance)
            << "signal " << i << " becomes " << here[n].second << " in clock " << here[n].first;
      }
    }
  }

 private:
  std::array<std::vector<std::pair<std::uint64_t, std::uint32_t>>, signals> told_;
};

class Clock : public Pair {
 protected:
  static constexpr unsigned delay = 12;
  static constexpr unsigned silence = 300;

  Clock() : Pair(delay) {}

  /// Runs a scenario with clocks that always run, and once more with clocks that stop whenever they
  /// may. Both ends do the same at the same time, except that a return waits for other groups a
  /// little longer if the clock has stopped meanwhile.
  template <typename Scenario>
  void compare(Scenario scenario) {
    const std::array<Story, 2> running = run(false, scenario);
    if (HasFatalFailure()) return;
    const std::array<Story, 2> sleeping = run(true, scenario);
    for (unsigned end = 0; end < 2 && !HasFatalFailure(); ++end) {
      SCOPED_TRACE(end == 0 ? "end A" : "end B");
      running[end].expect_like(sleeping[end], 16);
    }
  }

  template <typename Scenario>
  std::array<Story, 2> run(bool sleeps, Scenario scenario) {
    begin_anew();
    std::array<Story, 2> stories;
    watch = [&] {
      stories[0].add(now, show(*a));
      stories[1].add(now, show(*b));
    };
    for (End* end : {a.get(), b.get()}) prepare(*end, sleeps);
    pass();
    scenario();
    watch = nullptr;
    return stories;
  }

  static Story::Signals show(const End& end) {
    const Voae_link_end& top = end.top;
    return {top.carrier_o, top.irq_o,      top.phase_o, top.sent_o,
            top.settled_o, top.expected_o, top.done_o};
  }

  /// Runs for so long, and until a clock of a grid, so that what differs by a few clocks does not
  /// move what follows.
  void pass(unsigned clocks = 400) {
    clock(static_cast<unsigned>(clocks + 64 - (now + clocks) % 64));
  }

  void prepare(End& end, bool sleeps) {
    end.sleeps = sleeps;
    put(end, OAE_WINDOW_IRQ_ENABLE, 0xff);
    set_limits(end, silence, 2);
  }

  /// Time passes, and then both firmwares clear all events.
  void notice(unsigned clocks = 400) {
    pass(clocks);
    for (End* end : {a.get(), b.get()}) put(*end, OAE_WINDOW_EVENT, 0xff);
    pass();
  }

  static void lose(std::vector<Group>& unit) { unit.assign(unit.size(), {}); }
  static void lose_returns(Wire& wire) {
    wire.tamper = [](std::vector<Group>& unit, bool frame) {
      if (!frame) lose(unit);
    };
  }
  /// Loses, or changes, the next frame.
  template <typename Change>
  static void strike(Wire& wire, Change change) {
    wire.tamper = [change, struck = false](std::vector<Group>& unit, bool frame) mutable {
      if (!frame || struck) return;
      struck = true;
      change(unit);
    };
  }
  /// Makes the next return say that slots up to this one are confirmed.
  static void forge_confirmation(Wire& wire, unsigned number) {
    wire.tamper = [number, forged = false](std::vector<Group>& unit, bool frame) mutable {
      if (frame || forged) return;
      forged = true;
      Return said{unit[0].data[0] & ~OAE_RETURN_NUMBERS_CONFIRMED_MASK, unit[0].data[1]};
      said[0] |= OAE_PUT(OAE_RETURN_NUMBERS_CONFIRMED, number);
      said[1] = (said[1] & 0xffffffff) | std::uint64_t{return_check(said, 1, 1)} << 32;
      unit[0].data[0] = said[0];
      unit[0].data[1] = said[1];
    };
  }
  bool is_down(const End& end) { return end.phase() == OAE_WINDOW_PHASE_DOWN; }
  unsigned reason(End& end) { return state(end, OAE_WINDOW_STATE_REASON_SHIFT, 0xff); }

  /// Runs until the end becomes busy by itself. It has named that clock all the time before.
  void expect_named(const End& end) {
    ASSERT_FALSE(end.top.busy_o);
    const std::uint32_t named = end.top.deadline_o;
    until([&] {
      EXPECT_TRUE(end.top.busy_o || end.top.deadline_valid_o);
      EXPECT_TRUE(end.top.busy_o || end.top.deadline_o == named);
      return end.top.busy_o || HasFailure();
    });
    EXPECT_EQ(static_cast<std::uint32_t>(now), named);
  }
};

// Nothing else wakes the end: it has to notice by itself what its intake has found.
TEST_F(Clock, ABrokenRuleIsNoticedThoughTheClockMayStop) {
  bring_up();
  offer(*a, 1, 1);
  rest();
  a->sleeps = b->sleeps = true;
  forge_confirmation(to_a, 5);
  put(*b, OAE_WINDOW_TAKEN, 1);  // A return gives the credit for another slot.
  clock(4 * delay);
  EXPECT_EQ(a->phase(), unsigned{OAE_WINDOW_PHASE_DOWN});
  EXPECT_EQ(reason(*a), unsigned{OAE_WINDOW_DOWN_DEFECT});
}

TEST_F(Clock, MayStopBetweenTransfers) {
  compare([this] {
    up(*a);
    pass();
    up(*b);
    notice();
    EXPECT_TRUE(is_up());
    offer(*a, 3, 1);
    notice();
    put(*b, OAE_WINDOW_TAKEN, 3);
    notice();
    offer(*b, 2, 1);
    notice();
    put(*a, OAE_WINDOW_LIVENESS, 17);
    notice();
    put(*a, OAE_WINDOW_CONTROL, 0);
    notice();
    EXPECT_TRUE(is_down(*b));
    EXPECT_EQ(done(*a), 2u);
    EXPECT_EQ(settled(*a), 3u);
  });
}

TEST_F(Clock, MayStopWhileSlotsAreReversed) {
  compare([this] {
    up(*a, false);
    up(*b, false);
    notice();
    strike(to_b, [](std::vector<Group>& unit) { Wire::damage(unit, 200); });
    offer(*a, 3, 1);
    notice();
    put(*a, OAE_WINDOW_CONTROL, 0);  // It comes up again while it holds slots.
    notice();
    EXPECT_TRUE(is_down(*b));
    up(*a, false);
    up(*b, false);
    notice();
    EXPECT_TRUE(is_up());
    command(*a, OAE_WINDOW_COMMAND_RESUME);
    notice();
    EXPECT_EQ(settled(*a), 3u);
    to_b.tamper = nullptr;
    lose_returns(to_a);
    offer(*a, 3, 4);
    clock(4 * delay);
    command(*a, OAE_WINDOW_COMMAND_WITHDRAW);
    pass(50);
    to_a.tamper = nullptr;
    notice();
    command(*a, OAE_WINDOW_COMMAND_DROP);
    notice();
    EXPECT_EQ(offered(*a), 3u);
    EXPECT_EQ(b->top.expected_o, 4u);
  });
}

TEST_F(Clock, MayStopUntilASilenceIsOver) {
  compare([this] {
    up(*a);
    up(*b);
    notice();
    lose_returns(to_a);
    offer(*a, 1, 1);
    pass(silence + 100);
    to_a.tamper = nullptr;
    notice(1000);
    EXPECT_EQ(settled(*a), 1u);
    strike(to_b, lose);
    offer(*a, 1, 2);
    notice(1000);
    EXPECT_EQ(settled(*a), 2u);
    lose_returns(to_a);
    offer(*a, 1, 3);
    notice(10 * silence);
    EXPECT_EQ(reason(*a), unsigned{OAE_WINDOW_DOWN_TROUBLE});
    EXPECT_EQ(reason(*b), unsigned{OAE_WINDOW_DOWN_MISSING});
  });
}

TEST_F(Clock, MayStopUntilAJoinFrameIsRepeated) {
  compare([this] {
    unsigned lost = 0;
    to_a.tamper = [&lost](std::vector<Group>& unit, bool) {
      if (lost++ < 3) lose(unit);
    };
    up(*a);
    up(*b);
    notice(10 * silence);
    EXPECT_TRUE(is_up());
    EXPECT_GE(lost, 3u);
  });
}

TEST_F(Clock, MayStopInTheHoldOff) {
  compare([this] {
    const bool sleeps = a->sleeps;
    lose_power(a);
    prepare(*a, sleeps);
    up(*a);
    clock(hold_off);
    EXPECT_FALSE(is_down(*a));
  });
}

TEST_F(Clock, MayStopAfterABrokenRule) {
  compare([this] {
    up(*a);
    up(*b);
    notice();
    offer(*a, 1, 1);
    notice();
    forge_confirmation(to_a, 5);
    put(*b, OAE_WINDOW_TAKEN, 1);
    notice();
    EXPECT_EQ(reason(*a), unsigned{OAE_WINDOW_DOWN_DEFECT});
  });
}

// The wire to A is cut in every clock while A comes up with an end that counts anew.
TEST_F(Clock, MayStopWhereverComingUpIsCut) {
  unsigned joined = 0;
  for (unsigned clocks = delay; clocks < 5 * delay && !HasFailure(); ++clocks) {
    compare([&] {
      up(*a);
      up(*b);
      pass();
      offer(*b, 2, 1);
      pass();
      const bool sleeps = b->sleeps;
      lose_power(b);
      now += hold_off;
      prepare(*b, sleeps);
      pass(2 * silence);
      EXPECT_TRUE(is_down(*a));
      up(*b);
      pass();
      a->post_put(OAE_WINDOW_CONTROL, OAE_WINDOW_CONTROL_UP_MASK);
      clock(clocks);
      to_a.cut();
      clock(silence / 2);
      if (done(*a) == 0) ++joined;
      clock(3 * silence);
    });
  }
  EXPECT_GT(joined, 0u);
  EXPECT_LT(joined, 2 * 4 * delay);
}

TEST_F(Clock, TheEndOfTheHoldOffIsNamed) {
  lose_power(a);
  prepare(*a, false);
  up(*a);
  rest();
  expect_named(*a);
}

// The last join frame left a little before.
TEST_F(Clock, TheEndOfASilenceIsNamed) {
  prepare(*a, false);
  prepare(*b, false);
  up(*a);
  up(*b);
  until([this] { return is_up(); });
  lose_returns(to_a);
  put(*a, OAE_WINDOW_OFFERED, 1);
  clock(2 * delay);
  expect_named(*a);
  rest();
  EXPECT_EQ(get(*a, OAE_WINDOW_COUNT_SILENT), 1u);
}

// The silence is over before the other side is missed.
TEST_F(Clock, TheFirstOfTwoDeadlinesIsNamed) {
  prepare(*a, false);
  prepare(*b, false);
  bring_up();
  lose_returns(to_a);
  put(*a, OAE_WINDOW_OFFERED, 1);
  clock(silence / 2);
  to_a.cut();
  clock(4);
  expect_named(*a);
  clock(10);
  EXPECT_EQ(get(*a, OAE_WINDOW_COUNT_SILENT), 1u);
  EXPECT_EQ(a->phase(), unsigned{OAE_WINDOW_PHASE_UP});
}

}  // namespace
}  // namespace window
