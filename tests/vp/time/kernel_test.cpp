// SPDX-License-Identifier: Apache-2.0
// What SystemC's kernel has in its queue.
#include "vp/time/kernel.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <random>

namespace vp {
namespace {

// Events at random times, some of which are cancelled or move. A part of them does not count.
TEST(Kernel, TheNextNotificationIsTheLeastOfThoseThatCount) {
  constexpr std::size_t count = 40;
  std::array<sc_core::sc_event, count> events;
  std::array<Picoseconds, count> times;
  times.fill(never);
  std::mt19937 random(1);
  const auto one_of = [&random](std::size_t size) { return random() % size; };
  unsigned none = 0, behind_others = 0;
  for (unsigned round = 0; round < 20'000; ++round) {
    const std::size_t i = one_of(count);
    events[i].cancel();
    times[i] = never;
    if (one_of(10) < 1 + round / 2'000) {
      times[i] = static_cast<Picoseconds>(1 + one_of(1'000));
      events[i].notify(to_sc_time(times[i]));
    }
    const std::size_t begin = one_of(count), size = one_of(count - begin + 1);
    Picoseconds expected = never, ignored = never;
    for (std::size_t each = 0; each < count; ++each) {
      Picoseconds& least = each - begin < size ? ignored : expected;
      least = std::min(least, times[each]);
    }
    ASSERT_EQ(Kernel::next_notification(events.data() + begin, events.data() + begin + size),
              expected)
        << "round " << round;
    none += expected == never;
    behind_others += ignored < expected && expected != never;
  }
  EXPECT_GT(none, 100u);
  EXPECT_GT(behind_others, 4'000u);
}

TEST(Kernel, NoNotificationCountsWhoseTimeIsBeyondAll) {
  sc_core::sc_event event;
  event.notify(sc_core::sc_max_time());
  EXPECT_EQ(Kernel::next_notification(nullptr, nullptr), never);
}

// As a process asks again and again, events come and are cancelled, and sometimes time goes on.
TEST(Kernel, TheNextNotificationFollowsEachChangeWithinAProcess) {
  constexpr std::size_t count = 12;
  std::array<sc_core::sc_event, count> events;
  std::array<Picoseconds, count> times;
  times.fill(never);
  std::mt19937 random(2);
  const auto one_of = [&random](std::size_t size) { return random() % size; };
  const auto notify = [&](std::size_t i) {  // the earlier of two notifications counts
    const auto when = now() + static_cast<Picoseconds>(1 + one_of(1'000));
    events[i].notify(to_sc_time(when - now()));
    times[i] = std::min(times[i], when);
  };
  unsigned rounds = 0, same = 0, moved = 0;
  sc_core::sc_spawn([&] {
    Picoseconds before = never;
    std::size_t ignored = 4, gone = 0;
    for (; rounds < 100'000; ++rounds) {
      const std::size_t i = one_of(count);
      switch (one_of(8)) {
        case 0:
        case 1:
          notify(i);
          break;
        case 2:
          events[i].cancel();
          times[i] = never;
          break;
        case 3:  // as often as not, the next event
          if (before != never && one_of(2) != 0) {
            const auto next = std::find(times.begin() + ignored, times.end(), before);
            events[next - times.begin()].cancel();
            *next = never;
          } else if (one_of(8) == 0) {
            ignored = one_of(count / 2);
          }
          break;
        case 4:
          if (one_of(8) != 0) break;
          sc_core::wait(to_sc_time(static_cast<Picoseconds>(one_of(50))));
          for (Picoseconds& time : times) {
            if (time > now()) continue;
            time = never;
            ++gone;
          }
          // The queue is as long as before if as many come.
          for (; gone > 0; --gone) notify(one_of(count));
          break;
        default:
          break;
      }
      const Picoseconds expected = *std::min_element(times.begin() + ignored, times.end());
      ASSERT_EQ(Kernel::next_notification(events.data(), events.data() + ignored), expected)
          << "round " << rounds;
      ++(expected == before ? same : moved);
      before = expected;
    }
  });
  sc_core::sc_start();
  EXPECT_EQ(rounds, 100'000u);
  EXPECT_GT(same, 40'000u);
  EXPECT_GT(moved, 10'000u);
}

}  // namespace
}  // namespace vp
