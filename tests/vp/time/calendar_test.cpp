// SPDX-License-Identifier: Apache-2.0
#include "vp/time/calendar.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace vp {
namespace {

using testing::ElementsAre;

class CalendarTest : public testing::Test {
 protected:
  std::unique_ptr<Event> noted(Calendar& calendar, const std::string& name,
                               std::uint32_t rank = Event::no_rank) {
    return std::make_unique<Event>(
        calendar, [this, name] { note(name); }, rank);
  }
  void note(const std::string& name) { notes_.push_back(name + "@" + std::to_string(now())); }
  void run(Picoseconds span) { sc_core::sc_start(to_sc_time(span)); }

  Calendar first_, second_;
  std::vector<std::string> notes_;
};

TEST_F(CalendarTest, EqualTimesGoByRankAndThoseWithoutCome) {
  const auto plain = noted(first_, "plain"), other = noted(first_, "other");
  const auto high = noted(first_, "7", 7), low = noted(first_, "3", 3);
  const auto last = noted(first_, "last", Event::no_rank - 2), zero = noted(first_, "0", 0);
  const auto before = noted(first_, "before", Event::before_ranks);
  const auto then = noted(first_, "then", Event::before_ranks);
  for (const auto* event : {&plain, &high, &last, &before, &low, &other, &then, &zero}) {
    (*event)->at(5);
  }
  run(10);
  EXPECT_THAT(notes_, ElementsAre("before@5", "then@5", "0@5", "3@5", "7@5", "last@5", "plain@5",
                                  "other@5"));
}

TEST_F(CalendarTest, TimeGoesBeforeRank) {
  const auto a = noted(first_, "a", 9), b = noted(first_, "b", 1);
  a->at(4);
  b->at(5);
  run(10);
  EXPECT_THAT(notes_, ElementsAre("a@4", "b@5"));
}

TEST_F(CalendarTest, AtEqualTimesCalendarsGoInTheOrderMade) {
  const auto a = noted(first_, "first"), b = noted(second_, "second", 0);
  const auto c = noted(first_, "first again");
  b->at(5);
  a->at(5);
  c->at(5);
  run(10);
  EXPECT_THAT(notes_, ElementsAre("first@5", "first again@5", "second@5"));
}

TEST_F(CalendarTest, ProcessorsGoLast) {
  const auto processor = noted(Calendar::processors(), "processor", 0);
  const auto a = noted(first_, "first"), b = noted(second_, "second");
  processor->at(5);
  b->at(5);
  a->at(5);
  run(10);
  EXPECT_THAT(notes_, ElementsAre("first@5", "second@5", "processor@5"));
}

TEST_F(CalendarTest, WhatAnActionMakesForNowComesBeforeProcessors) {
  const auto processor = noted(Calendar::processors(), "processor");
  const auto reaction = noted(first_, "reaction");
  Event cause(second_, [&] {
    note("cause");
    reaction->at(now());
  });
  processor->at(5);
  cause.at(5);
  run(10);
  EXPECT_THAT(notes_, ElementsAre("cause@5", "reaction@5", "processor@5"));
}

TEST_F(CalendarTest, WhatAProcessorMakesForNowIsKeptInTheSameInstant) {
  const auto reaction = noted(first_, "reaction");
  Event processor(Calendar::processors(), [&] {
    note("processor");
    if (notes_.size() < 3) {
      reaction->at(now());
      processor.at(now() + 1);
    }
  });
  processor.at(5);
  run(10);
  EXPECT_THAT(notes_, ElementsAre("processor@5", "reaction@5", "processor@6"));
}

TEST_F(CalendarTest, ACalendarThatIsGoneIsForgotten) {
  const auto a = noted(first_, "a");
  {
    Calendar short_lived;
    const auto b = noted(short_lived, "b");
    b->at(5);
    a->at(6);
  }
  run(10);
  EXPECT_THAT(notes_, ElementsAre("a@6"));
}

// Random appointments of several calendars and ranks, which make and cancel each other. The next
// one that is kept is always the least of those that are pending.
TEST_F(CalendarTest, ThousandsAtRandomAgreeWithASortedMap) {
  constexpr int count = 300;
  using Key = std::tuple<Picoseconds, int, std::uint64_t>;  // time, calendar, order
  Calendar third;
  Calendar* const calendars[] = {&first_, &second_, &third, &Calendar::processors()};
  std::mt19937_64 random(1);
  std::vector<std::unique_ptr<Event>> events;
  std::vector<std::uint32_t> ranks;
  std::vector<Key> keys(count);
  std::map<Key, int> reference;
  std::uint64_t made = Event::no_rank;
  int kept = 0, wrong = 0;

  const auto disturb = [&] {
    const int i = static_cast<int>(random() % count);
    if (events[i]->pending()) reference.erase(keys[i]);
    if (random() % 4 == 0) return events[i]->cancel();
    const Picoseconds when = now() + 1 + static_cast<Picoseconds>(random() % 20);
    events[i]->at(when);
    keys[i] = {when, i % 4, ranks[i] == Event::no_rank ? made++ : ranks[i]};
    reference[keys[i]] = i;
  };
  for (int i = 0; i < count; ++i) {
    // Ranks are unique, as those of ports of one model are.
    ranks.push_back(i % 2 == 0 ? Event::no_rank : static_cast<std::uint32_t>(count - i));
    const auto action = [&, i] {
      wrong += reference.empty() || reference.begin()->second != i ||
               std::get<0>(reference.begin()->first) != now();
      reference.erase(keys[i]);
      if (++kept > 20'000) return;
      for (unsigned n = 1 + random() % 3; n > 0; --n) disturb();
    };
    events.push_back(std::make_unique<Event>(*calendars[i % 4], action, ranks[i]));
  }
  for (int n = 0; n < count; ++n) disturb();
  sc_core::sc_start();
  EXPECT_EQ(wrong, 0);
  EXPECT_GT(kept, 20'000);
  EXPECT_TRUE(reference.empty());
}

}  // namespace
}  // namespace vp
