// SPDX-License-Identifier: Apache-2.0
#include "vp/snapshot/threads.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <thread>

namespace vp {
namespace {

using testing::HasSubstr;

/// A thread that runs, or that waits with all signals blocked, until the end of the test.
class Worker {
 public:
  explicit Worker(bool deaf = false)
      : thread_([this, deaf] {
          ::pthread_setname_np(::pthread_self(), deaf ? "deaf" : "worker");
          sigset_t all;
          ::sigfillset(&all);
          if (deaf) ::pthread_sigmask(SIG_SETMASK, &all, nullptr);
          id = ::gettid();
          while (!over_) {
            if (hears_again) ::pthread_sigmask(SIG_UNBLOCK, &all, nullptr);
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
          }
        }) {
    while (id == 0) std::this_thread::yield();
  }
  ~Worker() {
    over_ = true;
    thread_.join();
  }

  std::atomic<pid_t> id = 0;
  std::atomic<bool> hears_again = false;  // whether it no longer blocks signals

 private:
  std::atomic<bool> over_ = false;
  std::thread thread_;
};

TEST(Threads, AreNoneAtFirst) {
  EXPECT_TRUE(other_threads().empty());
  EXPECT_EQ(describe({}), "");
}

TEST(Threads, AreNamedWithTheFileWhoseCodeTheyExecute) {
  const Worker worker;
  const std::vector<Thread> threads = other_threads();
  ASSERT_EQ(threads.size(), 1u);
  EXPECT_EQ(threads[0].id, worker.id);
  EXPECT_EQ(threads[0].name, "worker");
  const auto program = std::filesystem::read_symlink("/proc/self/exe");
  EXPECT_TRUE(std::filesystem::equivalent(threads[0].file, program)) << threads[0].file;
  EXPECT_THAT(describe(threads), HasSubstr("`worker` ("));
  EXPECT_THAT(describe(threads), HasSubstr("which executes " + threads[0].file));
}

TEST(Threads, MayBeSilent) {
  const Worker deaf(true), worker;
  const std::vector<Thread> threads = other_threads();
  ASSERT_EQ(threads.size(), 2u);
  for (const Thread& each : threads) EXPECT_EQ(each.file.empty(), each.name == "deaf");
  EXPECT_THAT(describe(threads), HasSubstr("`deaf` ("));
  EXPECT_THAT(describe(threads), HasSubstr("; "));
}

// A question that a thread has not heard in time does it no harm, and it answers the next one.
TEST(Threads, MayHearAgain) {
  Worker late(true);
  const Worker worker;
  for (int i = 0; i < 3; ++i) {
    const std::vector<Thread> threads = other_threads();
    ASSERT_EQ(threads.size(), 2u);
    EXPECT_EQ(threads[0].file.empty(), i == 0) << i;
    EXPECT_FALSE(threads[1].file.empty()) << i;
    late.hears_again = true;
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
}

// The handler of the signal is as before.
TEST(Threads, AreNotChangedByTheQuestion) {
  struct sigaction before {
  }, after{};
  ::sigaction(SIGURG, nullptr, &before);
  {
    const Worker worker;
    other_threads();
  }
  ::sigaction(SIGURG, nullptr, &after);
  EXPECT_EQ(before.sa_handler, after.sa_handler);
}

}  // namespace
}  // namespace vp
