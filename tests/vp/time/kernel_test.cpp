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

}  // namespace
}  // namespace vp
