// SPDX-License-Identifier: Apache-2.0
// What SystemC's other processes mean for those who run ahead.
#include "vp/time/agenda.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "vp/time/domain.h"

namespace vp {
namespace {

using testing::ElementsAre;

class AgendaTest : public testing::Test {
 protected:
  void note(const std::string& name) { notes_.push_back(name + "@" + std::to_string(now())); }
  void run(Picoseconds span) { sc_core::sc_start(to_sc_time(span)); }
  template <typename Process>
  void spawn(Process process) {
    sc_core::sc_spawn(process);
  }
  /// Calls `check` as a processor at this time.
  void at(Picoseconds when, std::function<void()> check) {
    processors_.push_back(std::make_unique<Event>(Calendar::processors(), std::move(check)));
    processors_.back()->at(when);
  }

  Domain domain_{"domain"};
  std::vector<std::unique_ptr<Event>> processors_;
  std::vector<std::string> notes_;
};

TEST_F(AgendaTest, ATimedEventOfAnyProcessBoundsTheHorizon) {
  spawn([] {
    for (;;) sc_core::wait(to_sc_time(100));
  });
  std::vector<Picoseconds> horizons;
  for (const Picoseconds when : {1, 99, 100, 250}) {
    at(when, [&] { horizons.push_back(domain_.horizon()); });
  }
  run(1000);
  EXPECT_THAT(horizons, ElementsAre(100, 100, 200, 300));
}

// The kernel names its next event only, and that is one of the agenda's own.
TEST_F(AgendaTest, AnEventBehindAppointmentsOfOthersBoundsTheHorizonToo) {
  Domain other("other");
  Event near(other, [&] { note("near"); }), far(other, [&] { note("far"); });
  near.at(30);
  far.at(40);
  spawn([&] {
    sc_core::wait(to_sc_time(50));
    note("process");
  });
  std::vector<Picoseconds> horizons;
  at(10, [&] {
    horizons.push_back(domain_.horizon(20));
    horizons.push_back(domain_.horizon(45));
    horizons.push_back(domain_.horizon(51));
    horizons.push_back(domain_.horizon());
    horizons.push_back(other.horizon());
  });
  at(60, [&] { horizons.push_back(domain_.horizon()); });
  run(1000);
  EXPECT_THAT(horizons, ElementsAre(20, 45, 50, 50, 30, never));
  EXPECT_THAT(notes_, ElementsAre("near@30", "far@40", "process@50"));
}

// The alarm of the cancelled appointment leaves the queue in the run, and the event comes into it.
TEST_F(AgendaTest, WhatWasSeenBetweenTwoRunsIsLookedForAnew) {
  sc_core::sc_event event;
  Event cancelled(domain_, [] {}), kept(domain_, [&] { event.notify(to_sc_time(5)); });
  run(1);
  cancelled.at(10);
  cancelled.cancel();
  kept.at(20);
  std::vector<Picoseconds> horizons;
  at(20, [&] { horizons.push_back(domain_.horizon()); });
  run(100);
  EXPECT_THAT(horizons, ElementsAre(25));
}

TEST_F(AgendaTest, WhatAnAccessNotifiesIsSeenOnceItIsOver) {
  sc_core::sc_event event;
  std::vector<Picoseconds> horizons;
  at(10, [&] {
    horizons.push_back(domain_.horizon(1000));
    event.notify(to_sc_time(25));
    Agenda::get().forget_others();
    horizons.push_back(domain_.horizon(1000));
    event.cancel();
    event.notify();  // the process below runs at this instant
    Agenda::get().forget_others();
    horizons.push_back(domain_.horizon(1000));
  });
  spawn([&] { sc_core::wait(event); });
  run(100);
  EXPECT_THAT(horizons, ElementsAre(1000, 35, 10));
}

TEST_F(AgendaTest, ProcessorsGoAfterAllDeltaCyclesOfTheInstant) {
  sc_core::sc_event start;
  sc_core::sc_signal<int> signal("signal");
  spawn([&] {
    sc_core::wait(to_sc_time(5));
    for (int i = 1; i < 4; ++i) {
      signal.write(i);
      sc_core::wait(signal.value_changed_event());
    }
    note("signal");
  });
  at(5, [&] { note("processor"); });
  run(10);
  EXPECT_THAT(notes_, ElementsAre("signal@5", "processor@5"));
}

// The first appointment has looked at what other processes do, and the second one changes that.
TEST_F(AgendaTest, ProcessorsWaitForWhatAnAppointmentOfTheInstantNotifies) {
  sc_core::sc_event event;
  std::vector<Picoseconds> horizons;
  const auto look = [&] { horizons.push_back(Agenda::get().others_before(1000)); };
  Event looks(domain_, look);
  Event notifies(domain_, [&] {
    event.notify(to_sc_time(20));
    Agenda::get().forget_others();
    look();
    event.cancel();
    event.notify(sc_core::SC_ZERO_TIME);
  });
  looks.at(5);
  notifies.at(5);
  at(5, [&] { note("processor"); });
  spawn([&] {
    sc_core::wait(event);
    note("process");
  });
  run(10);
  EXPECT_THAT(horizons, ElementsAre(1000, 25));
  EXPECT_THAT(notes_, ElementsAre("process@5", "processor@5"));
}

TEST_F(AgendaTest, WithoutOtherProcessesItCausesNoEvents) {
  Event timer(domain_, [] {});
  timer.at(1000);
  at(10, [&] { EXPECT_EQ(domain_.horizon(), 1000); });
  run(20);
  EXPECT_EQ(sc_core::sc_time_to_pending_activity(), to_sc_time(980));
  const auto deltas = sc_core::sc_delta_count();
  run(2000);
  EXPECT_LE(sc_core::sc_delta_count(), deltas + 1);
  EXPECT_FALSE(sc_core::sc_pending_activity());
}

TEST_F(AgendaTest, AppointmentsWithoutEndLeaveTheKernelItsDeltaCycles) {
  Event endless(domain_, [&] {
    if (notes_.empty()) endless.after(0);
  });
  endless.at(5);
  spawn([&] {
    sc_core::wait(to_sc_time(5));
    for (int i = 0; i < 3; ++i) sc_core::wait(sc_core::SC_ZERO_TIME);
    note("process");
  });
  run(10);
  EXPECT_THAT(notes_, ElementsAre("process@5"));
}

TEST_F(AgendaTest, TheLastCancelledAppointmentLeavesNothing) {
  Event one(domain_, [] {}), other(domain_, [] {});
  one.at(500);
  other.at(100);
  at(10, [&] {
    one.cancel();
    other.cancel();
  });
  run(20);
  EXPECT_FALSE(sc_core::sc_pending_activity());
}

TEST_F(AgendaTest, AnAppointmentInThePastNamesWhoMakesIt) {
  Domain victim("victim");
  Event event(victim, [] {});
  std::string message;
  Event culprit(domain_, [&] {
    try {
      event.at(now() - 1);
    } catch (const BrokenPromise& broken) {
      message = broken.what();
    }
  });
  culprit.at(100);
  run(200);
  EXPECT_EQ(message, "an appointment of domain makes an appointment of victim for 99 ps at 100 ps");
  EXPECT_FALSE(event.pending());
}

TEST_F(AgendaTest, ALateEntryNamesTheProcessAndBothTimes) {
  std::string message;
  at(10, [&] { domain_.reach(500); });
  sc_core::sc_spawn(
      [&] {
        sc_core::wait(to_sc_time(100));
        try {
          domain_.enter();
        } catch (const BrokenPromise& broken) {
          message = broken.what();
        }
        sc_core::wait(to_sc_time(400));
        domain_.enter();
        note("in time");
      },
      "liar");
  run(1000);
  EXPECT_EQ(message,
            "liar acts on domain at 100 ps, but a processor there has executed up to 500 ps "
            "already");
  EXPECT_THAT(notes_, ElementsAre("in time@500"));
  domain_.reach(2000);
  EXPECT_NO_THROW(domain_.enter());  // from outside
}

TEST_F(AgendaTest, WhatFollowsFromAProcessorsOwnActMayComeLateToItsSibling) {
  at(10, [&] {
    domain_.reach(500);
    domain_.act(10);
    domain_.enter();
    EXPECT_THROW(domain_.enter(9), BrokenPromise);
  });
  run(20);
}

}  // namespace
}  // namespace vp
