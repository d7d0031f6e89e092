// SPDX-License-Identifier: Apache-2.0
#include "vp/snapshot/children.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <set>
#include <vector>

#include "tests/vp/snapshot/shared.h"

namespace vp {
namespace {

using testing::ElementsAre;

class ChildrenTest : public testing::Test {
 protected:
  /// No child is left over, whatever happened.
  void TearDown() override {
    EXPECT_EQ(::waitpid(-1, nullptr, WNOHANG), -1);
    EXPECT_EQ(errno, ECHILD);
    EXPECT_EQ(open_files(), files_);
  }

  static std::ptrdiff_t open_files() {
    const std::filesystem::directory_iterator files("/proc/self/fd");
    return std::distance(begin(files), end(files));
  }

  std::function<void(const ChildResult&)> collect() {
    return [this](const ChildResult& result) { results_.push_back(result); };
  }

  const std::ptrdiff_t files_ = open_files();
  std::vector<ChildResult> results_;
};

TEST_F(ChildrenTest, NoneIsSoonDone) {
  EXPECT_TRUE(Children::run(0, 4, {{}, collect(), {}}));
  EXPECT_EQ(results_.size(), 0u);
}

TEST_F(ChildrenTest, OneAtATimeEndInTheirOrder) {
  EXPECT_TRUE(Children::run(5, 1,
                            {[](std::size_t number, ChildNote& note) {
                               note.time = 100 + static_cast<Picoseconds>(number);
                               note.guest_code = static_cast<int>(number);
                               return static_cast<int>(number) * 2;
                             },
                             collect(),
                             {}}));
  ASSERT_EQ(results_.size(), 5u);
  for (std::size_t i = 0; i < 5; ++i) {
    EXPECT_EQ(results_[i].number, i);
    EXPECT_EQ(results_[i].ending, (Ending{static_cast<int>(i) * 2, 0}));
    EXPECT_EQ(results_[i].note.time, 100 + static_cast<Picoseconds>(i));
    EXPECT_EQ(results_[i].note.guest_code, static_cast<int>(i));
    EXPECT_GT(results_[i].fork_time.count(), 0);
    EXPECT_GE(results_[i].wall_time, results_[i].fork_time);
  }
}

TEST_F(ChildrenTest, AsManyAtOnceAsAllowedAndNoMore) {
  for (const unsigned jobs : {1u, 2u, 3u, 7u}) {
    struct Count {
      std::atomic<unsigned> now = 0, most = 0;
    };
    Shared<Count> count;
    EXPECT_TRUE(Children::run(10, jobs,
                              {[&](std::size_t, ChildNote&) {
                                 const unsigned now = ++count->now;
                                 unsigned most = count->most;
                                 while (now > most &&
                                        !count->most.compare_exchange_weak(most, now)) {
                                 }
                                 ::usleep(30'000);
                                 --count->now;
                                 return 0;
                               },
                               {},
                               {}}));
    EXPECT_LE(count->most, jobs);
    EXPECT_GE(count->most, std::min(jobs, 2u));
  }
}

TEST_F(ChildrenTest, TheyRunBesideEachOther) {
  // Each child waits until the other has started.
  Shared<std::atomic<int>> come;
  EXPECT_TRUE(Children::run(2, 2,
                            {[&](std::size_t, ChildNote&) {
                               ++*come;
                               for (int i = 0; i < 3000 && *come < 2; ++i) ::usleep(10'000);
                               return *come == 2 ? 0 : 1;
                             },
                             collect(),
                             {}}));
  for (const ChildResult& result : results_) EXPECT_EQ(result.ending, Ending{});
}

TEST_F(ChildrenTest, ACrashIsReportedWithWhatTheChildHasNoted) {
  EXPECT_TRUE(Children::run(3, 2,
                            {[](std::size_t number, ChildNote& note) {
                               note.time = 7;
                               if (number == 1) ::raise(SIGKILL);
                               return 0;
                             },
                             collect(),
                             {}}));
  ASSERT_EQ(results_.size(), 3u);
  for (const ChildResult& result : results_) {
    EXPECT_EQ(result.ending, (Ending{0, result.number == 1 ? SIGKILL : 0}));
    EXPECT_EQ(result.note.time, 7);
  }
}

TEST_F(ChildrenTest, NotesOfEarlierChildrenAreForgotten) {
  Children::run(2, 1,
                {[](std::size_t number, ChildNote& note) {
                   if (number == 0) note = {5, 5};
                   return 0;
                 },
                 collect(),
                 {}});
  ASSERT_EQ(results_.size(), 2u);
  EXPECT_EQ(results_[1].note.time, 0);
  EXPECT_EQ(results_[1].note.guest_code, 0);
}

TEST_F(ChildrenTest, AskedToStopItEndsThoseThatRunAndStartsNoOther) {
  int looks = 0;
  EXPECT_FALSE(Children::run(10, 2,
                             {[](std::size_t, ChildNote&) {
                                ::signal(SIGTERM, SIG_DFL);
                                for (;;) ::pause();
                                return 0;
                              },
                              collect(), [&] { return ++looks < 5; }}));
  ASSERT_EQ(results_.size(), 2u);
  for (const ChildResult& result : results_) EXPECT_EQ(result.ending, (Ending{0, SIGTERM}));
}

TEST_F(ChildrenTest, WhoDoesNotListenIsKilled) {
  Shared<std::atomic<bool>> deaf;
  EXPECT_FALSE(Children::run(2, 1,
                             {[&](std::size_t, ChildNote&) {
                                ::signal(SIGTERM, SIG_IGN);
                                *deaf = true;
                                for (;;) ::pause();
                                return 0;
                              },
                              collect(), [&] { return !*deaf; }}));
  ASSERT_EQ(results_.size(), 1u);
  EXPECT_EQ(results_[0].ending, (Ending{0, SIGKILL}));
  EXPECT_GE(results_[0].wall_time, std::chrono::seconds(2));
}

TEST_F(ChildrenTest, AnExceptionOfTheParentLeavesNothing) {
  EXPECT_THROW(Children::run(2, 2,
                             {[](std::size_t number, ChildNote&) {
                                while (number == 1) ::pause();
                                return 0;
                              },
                              [](const ChildResult&) { throw std::runtime_error("no"); },
                              {}}),
               std::runtime_error);
}

TEST_F(ChildrenTest, ThereIsACore) {
  EXPECT_GE(Children::cores(), 1u);
}

}  // namespace
}  // namespace vp
