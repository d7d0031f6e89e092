// SPDX-License-Identifier: Apache-2.0
#include "request_ring.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

namespace {

/// The device's side of a ring.
struct Ring {
  request_ring ring;
  std::vector<request_entry> entries;
  std::uint64_t written = 0;

  Ring(std::uint64_t size, std::uint64_t first) : entries(size) {
    request_ring_init(&ring, entries.data(), size);
    ring.first = first;
  }
  void write(std::uint64_t number, std::uint64_t kind = REQUEST_SHORT) {
    volatile request_entry& entry = entries[written++ % entries.size()];
    entry.came = 1000 * number;
    entry.kind = kind;
    __atomic_store_n(&entry.number, number, __ATOMIC_RELEASE);
  }
  std::uint64_t take() {
    request found{};
    if (!request_ring_take(&ring, &found)) return 0;
    EXPECT_EQ(found.came, 1000 * found.number);
    return found.number;
  }
};

TEST(RequestRing, GivesRequestsInOrder) {
  for (const std::uint64_t size : {2u, 4u, 128u}) {
    for (std::uint64_t filled = 1; filled < size; filled = 2 * filled - filled / 2) {
      Ring ring(size, 1);
      std::uint64_t number = 0, taken = 0;
      for (unsigned round = 0; round < 9; ++round) {
        EXPECT_EQ(ring.take(), 0u);
        for (std::uint64_t i = 0; i < filled; ++i) ring.write(++number);
        for (std::uint64_t i = 0; i < filled; ++i) EXPECT_EQ(ring.take(), ++taken);
        EXPECT_EQ(ring.take(), 0u);
        EXPECT_EQ(request_ring_taken(&ring.ring), taken);
      }
    }
  }
}

TEST(RequestRing, GivesRequestsAfterLostOnes) {
  Ring ring(4, 10);
  std::uint64_t number = 10;
  for (std::uint64_t lost = 0; lost < 50; ++lost) {
    ring.write(number);
    EXPECT_EQ(ring.take(), number);
    EXPECT_EQ(ring.take(), 0u);
    number += 1 + lost;
  }
}

TEST(RequestRing, KnowsBothKinds) {
  Ring ring(2, 1);
  request found{};
  ring.write(1, REQUEST_LONG);
  ring.write(2, REQUEST_SHORT);
  ASSERT_TRUE(request_ring_take(&ring.ring, &found));
  EXPECT_EQ(found.kind, unsigned{REQUEST_LONG});
  ASSERT_TRUE(request_ring_take(&ring.ring, &found));
  EXPECT_EQ(found.kind, unsigned{REQUEST_SHORT});
}

TEST(RequestRing, ARequestFromBeforeTheStartIsNone) {
  Ring ring(4, 100);
  for (const std::uint64_t old : {1u, 98u, 99u}) {
    ring.written = 0;
    ring.write(old);
    EXPECT_EQ(ring.take(), 0u) << old;
    ring.written = 1;
    ring.write(old);
  }
  ring.written = 0;
  ring.write(100);
  EXPECT_EQ(ring.take(), 100u);
  EXPECT_EQ(ring.take(), 0u) << "what an old write has left in the next entry";
  ring.write(101);
  EXPECT_EQ(ring.take(), 101u);
}

TEST(RequestRing, TheDeviceIsToldOfEachQuarter) {
  for (const std::uint64_t size : {2u, 4u, 8u, 1024u}) {
    Ring ring(size, 1);
    const std::uint64_t quarter = size < 4 ? 1 : size / 4;
    std::uint64_t told = 0;
    for (std::uint64_t taken = 0; taken < 3 * size; ++taken) {
      const std::uint64_t before = told;
      const bool tells = taken > before + quarter;
      EXPECT_EQ(request_ring_tell(&ring.ring, &told), tells) << taken;
      EXPECT_EQ(told, tells ? taken - 1 : before);
      ring.write(taken + 1);
      EXPECT_EQ(ring.take(), taken + 1);
    }
  }
}

/// The device writes as much as it may, and the host takes all of it.
TEST(RequestRing, GoesOnWhenItWasFull) {
  for (const std::uint64_t size : {2u, 4u, 128u}) {
    Ring ring(size, 1);
    std::uint64_t told = 0, taken = 0;
    for (unsigned round = 0; round < 20; ++round) {
      ASSERT_LT(ring.written - told, size) << "stuck";
      while (ring.written - told < size) ring.write(ring.written + 1);
      while (taken < ring.written) ASSERT_EQ(ring.take(), ++taken);
      EXPECT_EQ(ring.take(), 0u);
      request_ring_tell(&ring.ring, &told);
    }
  }
}

/// Several threads take from a ring that is always about to be full.
TEST(RequestRing, EachRequestIsTakenOnce) {
  constexpr std::uint64_t count = 50'000, size = 8;
  constexpr unsigned threads = 3;
  Ring ring(size, 1);
  std::vector<std::atomic<unsigned>> times(count + 1);
  std::atomic<std::uint64_t> told[threads] = {};
  std::vector<std::thread> takers;
  for (unsigned n = 0; n < threads; ++n) {
    takers.emplace_back([&, n] {
      std::uint64_t mine = 0;
      while (request_ring_taken(&ring.ring) < count) {
        if (const std::uint64_t number = ring.take()) ++times[number];
        if (request_ring_tell(&ring.ring, &mine)) told[n] = mine;
        std::this_thread::yield();
      }
    });
  }
  for (std::uint64_t number = 1; number <= count;) {
    // As the device: what it was told last, of whomever, is never more than was taken.
    std::uint64_t known = 0;
    for (const auto& one : told) known = std::max<std::uint64_t>(known, one);
    if (number - 1 < known + size) {
      ring.write(number++);
    } else {
      std::this_thread::yield();
    }
  }
  for (std::thread& taker : takers) taker.join();
  for (std::uint64_t number = 1; number <= count; ++number) ASSERT_EQ(times[number], 1u) << number;
}

}  // namespace
