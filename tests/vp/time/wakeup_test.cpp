// SPDX-License-Identifier: Apache-2.0
// A processor that waits keeps the appointments of others, so that the kernel need not run.
#include "vp/time/wakeup.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "vp/time/domain.h"

namespace vp {
namespace {

using testing::ElementsAre;

class WakeupTest : public testing::Test {
 protected:
  void note(const std::string& name) { notes_.push_back(name + "@" + std::to_string(now())); }
  void run(Picoseconds span) { sc_core::sc_start(to_sc_time(span)); }
  template <typename Process>
  void spawn(Process process) {
    sc_core::sc_spawn(process);
  }
  void spawn_keeper() {
    spawn([this] {
      Agenda::get().admit();
      const auto before = sc_core::sc_delta_count();
      wakeup_.wait();
      deltas_ = sc_core::sc_delta_count() - before;
      note("keeper");
    });
  }
  Event noting(const std::string& name) {
    return Event(domain_, [this, name] { note(name); });
  }
  /// Calls `check` as a processor at this time.
  void at(Picoseconds when, std::function<void()> check) {
    processors_.push_back(std::make_unique<Event>(Calendar::processors(), std::move(check)));
    processors_.back()->at(when);
  }

  Domain domain_{"domain"};
  Wakeup wakeup_;
  Event ends_{domain_, [this] {
                note("end");
                wakeup_.wake();
              }};
  std::uint64_t deltas_ = 0;
  std::vector<std::unique_ptr<Event>> processors_;
  std::vector<std::string> notes_;
};

TEST_F(WakeupTest, TheKernelIsNotNeeded) {
  Event first = noting("first"), second = noting("second");
  first.at(10);
  second.at(20);
  ends_.at(30);
  spawn_keeper();
  simulate(1000);
  EXPECT_THAT(notes_, ElementsAre("first@10", "second@20", "end@30", "keeper@30"));
  EXPECT_EQ(deltas_, 0u);
  EXPECT_EQ(now(), 1000);
}

TEST_F(WakeupTest, WithoutSimulateTheKernelDoesIt) {
  Event first = noting("first");
  first.at(10);
  ends_.at(30);
  spawn_keeper();
  run(1000);
  EXPECT_THAT(notes_, ElementsAre("first@10", "end@30", "keeper@30"));
  EXPECT_GE(deltas_, 2u);
}

/// Whether the appointments are kept by the process that waits, or by the agenda's. Both have the
/// same effect.
class OrderTest : public WakeupTest, public testing::WithParamInterface<bool> {
 protected:
  void run_all() { GetParam() ? simulate(1000) : run(1000); }
};

INSTANTIATE_TEST_SUITE_P(Keeping, OrderTest, testing::Bool(), testing::PrintToStringParamName());

TEST_P(OrderTest, AllAppointmentsOfTheInstantComeBeforeTheOneThatIsWoken) {
  Domain other_domain("other_domain");
  Event other(other_domain, [this] { note("other"); });
  ends_.at(30);
  other.at(30);
  spawn_keeper();
  run_all();
  EXPECT_THAT(notes_, ElementsAre("end@30", "other@30", "keeper@30"));
}

TEST_P(OrderTest, ThoseThatAreWokenTogetherGoOnInTheOrderOfTheCalls) {
  Wakeup wakeups[3];
  for (const std::size_t i : {1, 0, 2}) {
    spawn([this, i, &wakeups] {
      Agenda::get().admit();
      wakeups[i].wait();
      note("process " + std::to_string(i));
    });
  }
  Event wakes(domain_, [&] {
    for (Wakeup& one : wakeups) one.wake();
  });
  Event ranked(
      Calendar::processors(), [this] { note("processor"); }, Calendar::processors().new_rank());
  ranked.at(30);
  wakes.at(30);
  run_all();
  EXPECT_THAT(notes_, ElementsAre("process 0@30", "process 1@30", "process 2@30", "processor@30"));
}

TEST_P(OrderTest, WhatTheCallerHasNotifiedComesInItsTime) {
  sc_core::sc_event event;
  spawn([&] {
    sc_core::wait(event);
    note("process");
  });
  spawn([&] {
    Agenda& agenda = Agenda::get();
    agenda.admit();
    EXPECT_EQ(agenda.others_before(100), 100);
    event.notify(to_sc_time(30));
    wakeup_.wait();
    note("keeper");
  });
  ends_.at(30);
  run_all();
  EXPECT_THAT(notes_, ElementsAre("end@30", "process@30", "keeper@30"));
}

TEST_F(WakeupTest, NoAppointmentIsKeptBeforeWhatIsDoubted) {
  sc_core::sc_event event;
  Event later = noting("later");
  later.at(30);
  spawn([&] {
    Agenda& agenda = Agenda::get();
    agenda.admit();
    EXPECT_EQ(agenda.others_before(100), 100);
    event.notify(to_sc_time(30));
    agenda.doubt_others();
    const bool done = false;
    agenda.keep_until(done);
    note("returned");
    agenda.rearm();
    sc_core::wait(event);
    note("notified");
  });
  simulate(1000);
  EXPECT_THAT(notes_, ElementsAre("returned@0", "later@30", "notified@30"));
}

TEST_P(OrderTest, AnotherProcessThatIsReadyGoesFirst) {
  sc_core::sc_event event;
  Event notifies(domain_, [&] { event.notify(); });
  ends_.at(30);
  notifies.at(30);
  spawn_keeper();
  spawn([&] {
    sc_core::wait(event);
    sc_core::wait(sc_core::SC_ZERO_TIME);
    note("other");
  });
  run_all();
  EXPECT_THAT(notes_, ElementsAre("end@30", "other@30", "keeper@30"));
}

TEST_F(WakeupTest, AProcessThatWasNotAdmittedKeepsNothing) {
  ends_.at(30);
  spawn([this] {
    const auto before = sc_core::sc_delta_count();
    wakeup_.wait();
    deltas_ = sc_core::sc_delta_count() - before;
  });
  simulate(1000);
  EXPECT_GE(deltas_, 1u);
}

TEST_F(WakeupTest, OtherProcessesComeAtTheirTimes) {
  Event first = noting("first"), second = noting("second"), third = noting("third");
  first.at(10);
  second.at(20);
  third.at(25);
  ends_.at(30);
  spawn_keeper();
  spawn([this] {
    sc_core::wait(to_sc_time(15));
    note("other");
    sc_core::wait(to_sc_time(10));
    note("other");
  });
  simulate(1000);
  ASSERT_EQ(notes_.size(), 7u);
  EXPECT_THAT(notes_, testing::UnorderedElementsAre("first@10", "other@15", "second@20", "third@25",
                                                    "other@25", "end@30", "keeper@30"));
  EXPECT_EQ(notes_[1], "other@15");
  EXPECT_EQ(notes_[2], "second@20");
  EXPECT_EQ(notes_[6], "keeper@30");
}

TEST_F(WakeupTest, AnotherProcessThatAnAppointmentNotifiesRunsAtOnce) {
  sc_core::sc_event event;
  Event first(domain_, [&] { event.notify(); });
  first.at(10);
  ends_.at(30);
  spawn_keeper();
  spawn([&] {
    sc_core::wait(event);
    note("other");
    sc_core::wait(sc_core::SC_ZERO_TIME);
    note("other");
  });
  simulate(1000);
  EXPECT_THAT(notes_, ElementsAre("other@10", "other@10", "end@30", "keeper@30"));
}

TEST_F(WakeupTest, AProcessorsTurnComesAfterTheAppointmentsOfItsInstant) {
  Event first = noting("first");
  at(10, [this] { note("processor"); });
  first.at(10);
  ends_.at(30);
  spawn_keeper();
  simulate(1000);
  EXPECT_THAT(notes_, ElementsAre("first@10", "processor@10", "end@30", "keeper@30"));
}

TEST_F(WakeupTest, NothingHappensBeyondTheEndOfTheRun) {
  Event first = noting("first");
  first.at(10);
  ends_.at(30);
  spawn_keeper();
  simulate(30);
  EXPECT_THAT(notes_, ElementsAre("first@10"));
  EXPECT_EQ(now(), 30);
  simulate(1);
  EXPECT_THAT(notes_, ElementsAre("first@10", "end@30", "keeper@30"));
}

TEST_F(WakeupTest, NothingHappensAtTheEndThatTheAgendaKnows) {
  Agenda::get().end_at(20);
  ends_.at(20);
  spawn_keeper();
  const auto before = sc_core::sc_delta_count();
  simulate(1000);
  EXPECT_THAT(notes_, ElementsAre("end@20", "keeper@20"));
  EXPECT_GE(sc_core::sc_delta_count() - before, 1u);  // by the kernel
}

TEST_F(WakeupTest, TheKernelPausesAtTheInstantOfTheCall) {
  Event first(domain_, [this] {
    note("first");
    sc_core::sc_pause();
  });
  Event second = noting("second");
  first.at(10);
  second.at(10);
  ends_.at(30);
  spawn_keeper();
  simulate(1000);
  EXPECT_EQ(now(), 10);
  EXPECT_THAT(notes_, ElementsAre("first@10", "second@10"));
  simulate(1000);
  EXPECT_THAT(notes_, ElementsAre("first@10", "second@10", "end@30", "keeper@30"));
}

TEST_F(WakeupTest, TheKernelStopsAtTheInstantOfTheCall) {
  Event first(domain_, [] { sc_core::sc_stop(); });
  first.at(10);
  ends_.at(30);
  spawn_keeper();
  simulate(1000);
  EXPECT_EQ(now(), 10);
  EXPECT_THAT(notes_, ElementsAre());
}

TEST_F(WakeupTest, TimeIsSkippedOnlyIfNothingHappensMeanwhile) {
  Event first = noting("first");
  first.at(20);
  std::vector<bool> skipped;
  std::vector<Picoseconds> times;
  const auto skip = [&](Picoseconds when) {
    skipped.push_back(Agenda::get().skip_to(when));
    times.push_back(now());
  };
  spawn([&] {
    sc_core::wait(to_sc_time(50));
    note("other");
  });
  spawn([&] {
    skip(5);  // not admitted
    Agenda::get().admit();
    skip(10);
    skip(20);  // an appointment
    skip(19);
    sc_core::wait(to_sc_time(21));
    skip(50);  // another process
    skip(49);
    sc_core::wait(to_sc_time(10));
    at(70, [this] { note("processor"); });
    skip(70);
    skip(1000);  // the end
    skip(69);
  });
  simulate(1000);
  EXPECT_THAT(skipped, ElementsAre(false, true, false, true, false, true, false, false, true));
  EXPECT_THAT(times, ElementsAre(0, 10, 10, 19, 40, 49, 59, 59, 69));
  EXPECT_THAT(notes_, ElementsAre("first@20", "other@50", "processor@70"));
}

// The kernel learns of the next appointment even if the alarm before it has become void.
TEST_F(WakeupTest, AnAppointmentAfterASkippedAlarmIsKept) {
  Event first = noting("first"), second = noting("second");
  spawn([&] {
    Agenda::get().admit();
    first.at(10);  // with an alarm
    second.at(30);
    first.cancel();
    EXPECT_TRUE(Agenda::get().skip_to(20));
    sc_core::wait(to_sc_time(100));  // as a model may
    note("process");
  });
  simulate(1000);
  EXPECT_THAT(notes_, ElementsAre("second@30", "process@120"));
}

// It is no fault of the process that keeps the appointment, even if that is woken before.
TEST_F(WakeupTest, AnExceptionEndsTheRunAndNotTheProcess) {
  Event throws(domain_, [this] {
    wakeup_.wake();
    throw BrokenPromise("as promised");
  });
  throws.at(10);
  spawn([this] {
    Agenda::get().admit();
    try {
      wakeup_.wait();
    } catch (const BrokenPromise&) {
      note("process");
      throw;
    }
  });
  std::string message;
  try {
    simulate(1000);
  } catch (const sc_core::sc_report& report) {
    message = report.get_msg();
  }
  EXPECT_THAT(message, testing::HasSubstr("as promised"));
  EXPECT_EQ(now(), 10);
  EXPECT_THAT(notes_, ElementsAre());
}

TEST_F(WakeupTest, AppointmentsWithoutEndReturnToTheKernel) {
  constexpr unsigned far_too_many = 20'000;
  sc_core::sc_event event;
  unsigned kept = 0;
  Event endless(domain_, [&] {
    if (kept == 0) event.notify();
    if (++kept < far_too_many) endless.after(0);
  });
  endless.at(5);
  ends_.at(30);
  spawn([&] {
    sc_core::wait(event);
    EXPECT_LT(kept, far_too_many);
    note("other");
  });
  spawn_keeper();  // last, so that nothing else is ready when it waits
  simulate(1000);
  EXPECT_EQ(kept, far_too_many);
  EXPECT_THAT(notes_, ElementsAre("other@5", "end@30", "keeper@30"));
}

}  // namespace
}  // namespace vp
