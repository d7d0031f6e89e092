// SPDX-License-Identifier: Apache-2.0
#include "vp/snapshot/child.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <thread>

#include "tests/vp/snapshot/shared.h"
#include "tests/vp/temporary.h"

namespace vp {
namespace {

using testing::HasSubstr;

bool ended(const Child& child, int milliseconds) {
  pollfd descriptor{child.descriptor(), POLLIN, 0};
  return ::poll(&descriptor, 1, milliseconds) == 1;
}

int forever() {
  for (;;) ::pause();
}

TEST(Child, EndsWithTheCodeOfItsBody) {
  for (const int code : {0, 1, 6, 130, 255}) {
    Child child([=] { return code; });
    EXPECT_EQ(child.wait(), (Ending{code, 0}));
  }
}

TEST(Child, IsACopyThatGoesOnAlone) {
  int value = 1;
  Shared<int> seen;
  Child child([&] {
    *seen = value;
    value = 2;
    return 0;
  });
  EXPECT_EQ(child.wait(), Ending{});
  EXPECT_EQ(*seen, 1);
  EXPECT_EQ(value, 1);
}

TEST(Child, ReportsItsEndByADescriptor) {
  Child child(forever);
  EXPECT_FALSE(ended(child, 50));
  child.signal(SIGTERM);
  EXPECT_TRUE(ended(child, 10'000));
  EXPECT_EQ(child.wait(), (Ending{0, SIGTERM}));
}

TEST(Child, ACrashIsASignal) {
  Child child([]() -> int {
    ::signal(SIGSEGV, SIG_DFL);
    ::raise(SIGSEGV);
    return 0;
  });
  EXPECT_EQ(child.wait(), (Ending{0, SIGSEGV}));
}

TEST(Child, AnExceptionIsADefectThatIsReported) {
  const TemporaryDirectory directory;
  Child child([&]() -> int {
    if (!std::freopen(directory.path("err").c_str(), "w", stderr)) return 1;
    throw std::runtime_error("impossible");
  });
  EXPECT_EQ(child.wait(), (Ending{6, 0}));
  EXPECT_THAT(contents(directory.path("err")), HasSubstr("defect of the simulator: impossible"));
}

TEST(Child, DoesNotRepeatWhatItsParentHasBuffered) {
  const TemporaryDirectory directory;
  std::FILE* file = std::fopen(directory.path("file").c_str(), "w");
  std::fputs("parent ", file);
  Child child([&] { return std::fputs("child ", file) < 0; });
  EXPECT_EQ(child.wait(), Ending{});
  std::fclose(file);
  EXPECT_EQ(contents(directory.path("file")), "parent child ");
}

TEST(Child, LeavesDestructorsToItsParent) {
  Shared<std::atomic<int>> destroyed;
  struct Guard {
    std::atomic<int>& count;
    ~Guard() { ++count; }
  };
  {
    const Guard guard{*destroyed};
    Child child([] { return 0; });
    child.wait();
    EXPECT_EQ(*destroyed, 0);
  }
  EXPECT_EQ(*destroyed, 1);
}

TEST(Child, IsKilledAndReapedIfNobodyWaits) {
  pid_t process = 0;
  {
    Child child(forever);
    process = child.process();
  }
  EXPECT_EQ(::kill(process, 0), -1);
  EXPECT_EQ(errno, ESRCH);
}

TEST(Child, MovesWithItsDuty) {
  Child child(forever);
  const pid_t process = child.process();
  {
    const Child other = std::move(child);
    EXPECT_EQ(other.process(), process);
    EXPECT_EQ(::kill(process, 0), 0);
  }
  EXPECT_EQ(::kill(process, 0), -1);
}

TEST(Child, DoesNotOutliveItsParent) {
  Shared<std::atomic<pid_t>> grandchild;
  Child child([&] {
    const Child inner([&] {
      *grandchild = ::getpid();
      return forever();
    });
    while (*grandchild == 0) ::usleep(1'000);
    ::raise(SIGKILL);
    return 0;
  });
  EXPECT_EQ(child.wait(), (Ending{0, SIGKILL}));
  ASSERT_GT(*grandchild, 0);
  // The process that adopts it may not reap it.
  const auto gone = [&] {
    const std::string status = contents("/proc/" + std::to_string(*grandchild) + "/status");
    return status.empty() || status.find("State:\tZ") != status.npos;
  };
  for (int i = 0; i < 500 && !gone(); ++i) ::usleep(10'000);
  EXPECT_TRUE(gone());
}

TEST(Child, AProcessWithThreadsIsNotForked) {
  std::atomic<bool> stop = false;
  std::thread thread([&] {
    while (!stop) std::this_thread::yield();
  });
  EXPECT_THROW(Child([] { return 0; }), ThreadsRemain);
  stop = true;
  thread.join();
  EXPECT_EQ(Child([] { return 0; }).wait(), Ending{});
}

// A thread that has been joined can still be in /proc.
TEST(Child, AProcessIsForkedRightAfterItsLastThreadHasEnded) {
  for (int i = 0; i < 300; ++i) {
    std::thread([] {}).join();
    EXPECT_EQ(Child([] { return 0; }).wait(), Ending{});
  }
}

}  // namespace
}  // namespace vp
