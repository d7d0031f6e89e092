// SPDX-License-Identifier: Apache-2.0
#include "vp/time/domain.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <random>
#include <string>
#include <vector>

namespace vp {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class DomainTest : public testing::Test {
 protected:
  /// An appointment that notes its name and the time when it is kept.
  std::unique_ptr<Event> noted(const std::string& name) {
    return std::make_unique<Event>(domain_, [this, name] { note(name); });
  }
  void note(const std::string& name) { notes_.push_back(name + "@" + std::to_string(now())); }

  void run(Picoseconds span) { sc_core::sc_start(to_sc_time(span)); }

  Domain domain_{"domain"};
  std::vector<std::string> notes_;
};

struct FixedActor : Actor {
  Picoseconds time = never;
  Picoseconds floor() const override { return time; }
};

TEST_F(DomainTest, KeepsAppointmentsAtTheirExactTimes) {
  const auto a = noted("a"), b = noted("b"), c = noted("c");
  b->at(2);
  c->at(1 * s + 1);
  a->at(1);
  run(2 * s);
  EXPECT_THAT(notes_, ElementsAre("a@1", "b@2", "c@1000000000001"));
}

TEST_F(DomainTest, KeepsEqualTimesInTheOrderMade) {
  std::vector<std::unique_ptr<Event>> events;
  std::vector<std::string> expected;
  for (int i = 0; i < 100; ++i) {
    events.push_back(noted(std::to_string(i)));
    events.back()->at(7);
    expected.push_back(std::to_string(i) + "@7");
  }
  run(10);
  EXPECT_EQ(notes_, expected);
}

TEST_F(DomainTest, MovingToTheSameTimeGoesToTheEndOfTheOrder) {
  const auto a = noted("a"), b = noted("b");
  a->at(5);
  b->at(5);
  a->at(5);
  run(10);
  EXPECT_THAT(notes_, ElementsAre("b@5", "a@5"));
}

TEST_F(DomainTest, MovesEarlierAndLater) {
  const auto a = noted("a"), b = noted("b");
  a->at(100);
  b->at(10);
  a->at(5);
  b->at(200);
  EXPECT_EQ(a->when(), 5);
  EXPECT_EQ(b->when(), 200);
  run(1000);
  EXPECT_THAT(notes_, ElementsAre("a@5", "b@200"));
}

TEST_F(DomainTest, CancelledIsNotKept) {
  const auto a = noted("a"), b = noted("b");
  a->at(5);
  b->at(6);
  a->cancel();
  a->cancel();
  EXPECT_FALSE(a->pending());
  EXPECT_EQ(a->when(), never);
  run(10);
  EXPECT_THAT(notes_, ElementsAre("b@6"));
}

TEST_F(DomainTest, DestroyedIsNotKept) {
  auto a = noted("a");
  const auto b = noted("b");
  a->at(5);
  b->at(5);
  a.reset();
  run(10);
  EXPECT_THAT(notes_, ElementsAre("b@5"));
}

TEST_F(DomainTest, AnActionFindsItsAppointmentOver) {
  Event* self = nullptr;
  Event event(domain_, [&] { note(self->pending() ? "pending" : "over"); });
  self = &event;
  event.at(3);
  run(10);
  EXPECT_THAT(notes_, ElementsAre("over@3"));
}

TEST_F(DomainTest, AnActionMakesItselfAgain) {
  int left = 3;
  Event* self = nullptr;
  Event event(domain_, [&] {
    note("tick");
    if (--left > 0) self->after(left == 2 ? 0 : 10);
  });
  self = &event;
  event.at(3);
  run(100);
  EXPECT_THAT(notes_, ElementsAre("tick@3", "tick@3", "tick@13"));
}

TEST_F(DomainTest, AnActionCancelsItself) {
  Event* self = nullptr;
  Event event(domain_, [&] {
    note("once");
    self->cancel();
    self->after(1);
    self->cancel();
  });
  self = &event;
  event.at(3);
  run(100);
  EXPECT_THAT(notes_, ElementsAre("once@3"));
}

TEST_F(DomainTest, AnActionCancelsAndMovesOthersDueAtTheSameTime) {
  const auto a = noted("a"), b = noted("b"), c = noted("c"), d = noted("d");
  Event first(domain_, [&] {
    note("first");
    a->cancel();
    b->after(1);
    c->at(now());  // now behind d
  });
  first.at(5);
  for (const auto* event : {&a, &b, &c, &d}) (*event)->at(5);
  run(100);
  EXPECT_THAT(notes_, ElementsAre("first@5", "d@5", "c@5", "b@6"));
}

TEST_F(DomainTest, AnActionMakesOneForNowBehindThoseDue) {
  const auto a = noted("a"), late = noted("late");
  Event first(domain_, [&] { late->at(now()); });
  first.at(5);
  a->at(5);
  run(100);
  EXPECT_THAT(notes_, ElementsAre("a@5", "late@5"));
}

TEST_F(DomainTest, AnAppointmentForNowIsKeptInTheSameInstant) {
  const auto a = noted("a");
  a->at(0);
  run(1);
  EXPECT_THAT(notes_, ElementsAre("a@0"));
}

TEST_F(DomainTest, MadeEarlierThanAllFromAnotherProcess) {
  const auto a = noted("a"), b = noted("b");
  a->at(1000);
  run(10);
  b->at(20);
  run(2000);
  EXPECT_THAT(notes_, ElementsAre("b@20", "a@1000"));
}

TEST_F(DomainTest, AProcessorTakesWhatIsDueBeforeTheKernelDoes) {
  const auto a = noted("a"), b = noted("b"), c = noted("c");
  sc_core::sc_spawn([&] {
    domain_.run_due();
    a->at(now());
    domain_.run_due();
    note("step");
    b->at(10);
    c->at(11);
    sc_core::wait(to_sc_time(10));
    domain_.run_due();
    note("step");
  });
  run(100);
  EXPECT_THAT(notes_, ElementsAre("a@0", "step@0", "b@10", "step@10", "c@11"));
}

TEST_F(DomainTest, AnIdleDomainSchedulesNothing) {
  const auto a = noted("a");
  run(1);
  EXPECT_FALSE(sc_core::sc_pending_activity());
  a->at(10);
  EXPECT_EQ(sc_core::sc_time_to_pending_activity(), to_sc_time(9));
  run(100);
  EXPECT_FALSE(sc_core::sc_pending_activity());
}

TEST_F(DomainTest, WhatWasCancelledWakesTheKernelAtMostOnce) {
  const auto a = noted("a"), b = noted("b");
  b->at(1000);
  for (Picoseconds when = 100; when < 200; ++when) {
    a->at(when);
    a->cancel();
  }
  EXPECT_EQ(domain_.next_event(), 1000);
  EXPECT_EQ(sc_core::sc_time_to_pending_activity(), to_sc_time(100));
  run(101);
  EXPECT_EQ(sc_core::sc_time_to_pending_activity(), to_sc_time(899));
  EXPECT_THAT(notes_, IsEmpty());
}

TEST_F(DomainTest, WithoutAnyAppointmentTheKernelIsNotWoken) {
  const auto a = noted("a"), b = noted("b");
  b->at(100);
  a->at(50);
  a->cancel();
  b->cancel();
  EXPECT_EQ(domain_.next_event(), never);
  EXPECT_FALSE(sc_core::sc_pending_activity());
}

// Every action makes, moves or cancels random appointments. A sorted map names the one that must be
// kept next.
TEST_F(DomainTest, ThousandsAtRandomAgreeWithASortedMap) {
  constexpr int count = 500;
  constexpr int steps = 20'000;
  std::mt19937_64 random(1);
  std::vector<std::unique_ptr<Event>> events;
  std::multimap<Picoseconds, int> reference;  // equal keys stay in the order of insertion
  std::vector<std::multimap<Picoseconds, int>::iterator> places(count, reference.end());
  int kept = 0;
  int wrong = 0;

  const auto forget = [&](int i) {
    if (places[i] != reference.end()) reference.erase(places[i]);
    places[i] = reference.end();
  };
  const auto disturb = [&] {
    const int i = static_cast<int>(random() % count);
    if (random() % 4 == 0) {
      events[i]->cancel();
      forget(i);
    } else {
      // Few distinct times, so that many are equal; some of them now.
      const Picoseconds when = now() + static_cast<Picoseconds>(random() % 30);
      events[i]->at(when);
      forget(i);
      places[i] = reference.emplace(when, i);
    }
    wrong += events[i]->pending() != (places[i] != reference.end());
    wrong += domain_.next_event() != (reference.empty() ? never : reference.begin()->first);
  };
  for (int i = 0; i < count; ++i) {
    events.push_back(std::make_unique<Event>(domain_, [&, i] {
      ++kept;
      wrong +=
          reference.empty() || reference.begin()->first != now() || reference.begin()->second != i;
      forget(i);
      if (kept > steps) return;
      for (unsigned n = 1 + random() % 3; n > 0; --n) disturb();
    }));
  }
  for (int n = 0; n < count; ++n) disturb();
  sc_core::sc_start();
  EXPECT_EQ(wrong, 0);
  EXPECT_GT(kept, steps);
  EXPECT_TRUE(reference.empty());
  EXPECT_EQ(domain_.next_event(), never);
}

TEST_F(DomainTest, FloorIsTheEarliestOfAppointmentsAndActors) {
  const auto a = noted("a");
  FixedActor one, other;
  domain_.add_actor(one);
  domain_.add_actor(other);
  EXPECT_EQ(domain_.floor(), never);
  one.time = 30;
  EXPECT_EQ(domain_.floor(), 30);
  other.time = 20;
  EXPECT_EQ(domain_.floor(), 20);
  a->at(20);
  EXPECT_EQ(domain_.floor(), 20);
  a->at(10);
  EXPECT_EQ(domain_.floor(), 10);
  a->cancel();
  one.time = other.time = never;
  EXPECT_EQ(domain_.floor(), never);
}

TEST_F(DomainTest, OwnActorsDoNotLimitTheHorizon) {
  FixedActor actor;
  actor.time = 5;
  domain_.add_actor(actor);
  const auto a = noted("a");
  run(1);
  EXPECT_EQ(domain_.horizon(), never);
  a->at(40);
  EXPECT_EQ(domain_.horizon(), 40);
}

TEST_F(DomainTest, WhatArrivesWhereAProcessorHasBeenIsABrokenPromise) {
  domain_.reach(100);
  domain_.reach(50);
  EXPECT_NO_THROW(domain_.expect(100, "link"));
  EXPECT_THROW(domain_.expect(99, "link"), BrokenPromise);
}

TEST_F(DomainTest, PeersLimitTheHorizonByTheirLookahead) {
  Domain near("near"), far("far");
  FixedActor near_actor, far_actor;
  near.add_actor(near_actor);
  far.add_actor(far_actor);
  domain_.add_peer(near, 100);
  domain_.add_peer(far, 1000);
  Event event(far, [] {});
  run(1);
  EXPECT_EQ(domain_.horizon(), never);
  near_actor.time = 950;
  EXPECT_EQ(domain_.horizon(), 1050);
  far_actor.time = 49;
  EXPECT_EQ(domain_.horizon(), 1049);
  event.at(48);
  EXPECT_EQ(domain_.horizon(), 1048);
  near_actor.time = never - 100;
  far_actor.time = never - 1;
  event.cancel();
  EXPECT_EQ(domain_.horizon(), never);
  near_actor.time = never - 101;
  EXPECT_EQ(domain_.horizon(), never - 1);
}

TEST_F(DomainTest, AnIdlePeerPassesOnWhatItsOwnPeersMayDo) {
  Domain next("next"), beyond("beyond");
  FixedActor actor;
  beyond.add_actor(actor);
  domain_.add_peer(next, 100);
  next.add_peer(domain_, 100);
  next.add_peer(beyond, 20);
  beyond.add_peer(next, 20);
  run(1);
  EXPECT_EQ(domain_.horizon(), never);
  actor.time = 7;
  EXPECT_EQ(next.horizon(), 27);
  EXPECT_EQ(domain_.horizon(), 127);
  EXPECT_EQ(beyond.horizon(), never);
}

TEST_F(DomainTest, TheShortestOfSeveralWaysCounts) {
  // a - domain directly with 100, or through b with 30 + 40.
  Domain a("a"), b("b");
  FixedActor actor;
  a.add_actor(actor);
  domain_.add_peer(a, 100);
  domain_.add_peer(b, 40);
  b.add_peer(a, 30);
  run(1);
  actor.time = 1;
  EXPECT_EQ(domain_.horizon(), 71);
}

TEST_F(DomainTest, ARingOfDomainsKnowsTheDistances) {
  std::vector<std::unique_ptr<Domain>> ring;
  std::vector<FixedActor> actors(6);
  for (int i = 0; i < 6; ++i) {
    ring.push_back(std::make_unique<Domain>(("ring" + std::to_string(i)).c_str()));
    ring.back()->add_actor(actors[i]);
  }
  for (int i = 0; i < 6; ++i) {
    ring[i]->add_peer(*ring[(i + 1) % 6], 10);
    ring[i]->add_peer(*ring[(i + 5) % 6], 10);
  }
  run(1);
  for (int from = 0; from < 6; ++from) {
    actors[from].time = 1000;
    for (int to = 0; to < 6; ++to) {
      const int steps = std::min((to - from + 6) % 6, (from - to + 6) % 6);
      EXPECT_EQ(ring[to]->horizon(), to == from ? never : 1000 + 10 * steps) << from << to;
    }
    actors[from].time = never;
  }
}

TEST_F(DomainTest, PeersAreFixedWhenTheSimulationStarts) {
  Domain other("other");
  run(1);
  EXPECT_THROW(domain_.add_peer(other, 1), std::logic_error);
}

}  // namespace
}  // namespace vp
