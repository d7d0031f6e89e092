// SPDX-License-Identifier: Apache-2.0
#include "vp/ring.h"

#include <gtest/gtest.h>

#include <deque>
#include <memory>
#include <random>

namespace vp {
namespace {

TEST(Ring, BehavesLikeADeque) {
  std::mt19937 random(1);
  Ring<std::unique_ptr<int>> ring;
  std::deque<int> expected;
  int next = 0;
  for (int i = 0; i < 20'000; ++i) {
    const bool growing = i / 500 % 2 == 0;
    if (expected.empty() || random() % 8 < (growing ? 5u : 3u)) {
      ring.push(std::make_unique<int>(next));
      expected.push_back(next++);
    } else if (random() % 4 == 0) {
      const std::size_t place = random() % expected.size();
      ASSERT_EQ(*ring[place], expected[place]);
      ASSERT_EQ(*ring.remove(place), expected[place]);
      expected.erase(expected.begin() + static_cast<std::ptrdiff_t>(place));
    } else {
      ASSERT_EQ(*ring.front(), expected.front());
      ASSERT_EQ(*ring.pop(), expected.front());
      expected.pop_front();
    }
    ASSERT_EQ(ring.size(), expected.size());
    ASSERT_EQ(ring.empty(), expected.empty());
  }
}

}  // namespace
}  // namespace vp
