// SPDX-License-Identifier: Apache-2.0
// Workers on the build machine, with memory in place of the device's registers.
#include "worker.h"

#include <gtest/gtest.h>
#include <sched.h>
#include <sys/resource.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <chrono>
#include <functional>
#include <thread>

#include "oae_registers.h"
#include "threads.h"

namespace {

std::atomic<std::uint64_t> served;
std::atomic<bool> held;

bool serve(std::uint64_t, bool) {
  while (held) std::this_thread::yield();
  ++served;
  return true;
}

std::atomic<std::uint64_t> begun;

bool begin_thread() {
  ++begun;
  return true;
}

const service counting{"counting", nullptr, serve, nullptr, begin_thread};

struct Workers : testing::Test {
  std::array<std::uint64_t, 512> registers{};
  workplace place{};
  worker_pool pool{};
  worker one{};

  Workers() {
    served = 0;
    begun = 0;
    held = false;
    place.function.registers = reinterpret_cast<volatile std::uint8_t*>(registers.data());
    place.service = &counting;
    place.first = 1;
    place.cpus = thread_cpus();
    place.policy = sched_getscheduler(0);
    pool.place = &place;
    one.pool = &pool;
    one.state = WORKER_LEAVES;
    EXPECT_TRUE(worker_start(&one));
    wait_for([this] { return state() == WORKER_IDLE; });
  }
  ~Workers() override {
    held = false;
    wait_for([this] {
      worker_end(&one);
      return __atomic_load_n(&place.ended, __ATOMIC_ACQUIRE) == place.begun;
    });
    EXPECT_EQ(place.failed, 0u);
  }
  int state() { return __atomic_load_n(&one.state, __ATOMIC_ACQUIRE); }
  static void wait_for(const std::function<bool()>& condition) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(30);
    while (!condition()) {
      ASSERT_LT(std::chrono::steady_clock::now(), end);
      std::this_thread::yield();
    }
  }
  bool give(std::uint64_t number) {
    const request given{0, number, REQUEST_SHORT};
    return worker_give(&one, &given);
  }
  /// How often the worker is in its pool's list, which is then empty.
  unsigned put_back() {
    return __atomic_exchange_n(&pool.freed, nullptr, __ATOMIC_ACQUIRE) == &one ? 1 : 0;
  }
};

TEST_F(Workers, BeginOnceForTheService) {
  EXPECT_EQ(begun, 1u);
  ASSERT_TRUE(give(1));
  wait_for([this] { return state() == WORKER_IDLE; });
  EXPECT_EQ(begun, 1u);
}

TEST_F(Workers, ServeOneRequestAtATime) {
  for (std::uint64_t number = 1; number <= 100; ++number) {
    ASSERT_TRUE(give(number));
    wait_for([&] { return __atomic_load_n(&pool.freed, __ATOMIC_ACQUIRE) != nullptr; });
    EXPECT_EQ(put_back(), 1u);
    EXPECT_EQ(registers[OAE_LOAD_ANSWER / 8], number);
    EXPECT_EQ(served, number);
    EXPECT_EQ(place.answers[REQUEST_SHORT], number);
  }
  held = true;
  ASSERT_TRUE(give(101));
  EXPECT_FALSE(give(102));
}

TEST_F(Workers, AreReplacedWhileTheyWait) {
  for (unsigned n = 1; n <= 20; ++n) {
    wait_for([this] { return worker_replace(&one); });
    wait_for([this] { return state() == WORKER_IDLE; });
    EXPECT_EQ(__atomic_load_n(&place.begun, __ATOMIC_ACQUIRE), n + 1);
    EXPECT_EQ(put_back(), 0u) << "the dispatcher still has it";
    ASSERT_TRUE(give(n));
    wait_for([&] { return __atomic_load_n(&pool.freed, __ATOMIC_ACQUIRE) != nullptr; });
    EXPECT_EQ(put_back(), 1u);
  }
  EXPECT_EQ(served, 20u);
}

TEST_F(Workers, AreReplacedAfterTheirRequest) {
  held = true;
  ASSERT_TRUE(give(1));
  EXPECT_TRUE(worker_replace(&one));
  EXPECT_FALSE(worker_replace(&one)) << "once is enough";
  worker_end(&one);
  held = false;
  wait_for([this] { return state() == WORKER_IDLE; });
  EXPECT_EQ(put_back(), 1u);
  EXPECT_EQ(served, 1u);
  EXPECT_EQ(__atomic_load_n(&place.begun, __ATOMIC_ACQUIRE), 2u);
  ASSERT_TRUE(give(2)) << "the new thread serves";
}

TEST_F(Workers, BeginAsAllDo) {
  const int thread = __atomic_load_n(&one.thread, __ATOMIC_ACQUIRE);
  ASSERT_EQ(setpriority(PRIO_PROCESS, static_cast<id_t>(thread), 5), 0);
  if (!thread_set_policy(thread, SCHED_BATCH)) GTEST_SKIP() << "no right to change classes";
  wait_for([this] { return worker_replace(&one); });
  wait_for([this] { return state() == WORKER_IDLE; });
  const int next = __atomic_load_n(&one.thread, __ATOMIC_ACQUIRE);
  EXPECT_EQ(sched_getscheduler(next), place.policy);
  if (geteuid() == 0) {
    EXPECT_EQ(getpriority(PRIO_PROCESS, static_cast<id_t>(next)), 0);
  }
}

}  // namespace
