// SPDX-License-Identifier: Apache-2.0
// The computer on which QEMU runs has no effect on a run: QEMU reads neither its memory size nor
// its time. This program replaces the functions of the C library by its own, which count the calls.
#include <dlfcn.h>
#include <sys/time.h>
#include <unistd.h>

#include <cstdlib>
#include <ctime>

#include "tests/vp/qemu/machine.h"

namespace {

unsigned looks_at_memory, looks_at_clock;

// GLib's own allocator looks at the clock to trim its caches, which QEMU does not notice.
const int without_caches = setenv("G_SLICE", "always-malloc", 1);

template <typename Function>
Function next(const char* name) {
  return reinterpret_cast<Function>(dlsym(RTLD_NEXT, name));
}

}  // namespace

extern "C" long sysconf(int name) noexcept {
  static const auto original = next<long (*)(int)>("sysconf");
  looks_at_memory += name == _SC_PHYS_PAGES || name == _SC_AVPHYS_PAGES;
  return original(name);
}

extern "C" int gettimeofday(timeval* time, void* zone) noexcept {
  static const auto original = next<int (*)(timeval*, void*)>("gettimeofday");
  ++looks_at_clock;
  return original(time, zone);
}

extern "C" int clock_gettime(clockid_t clock, timespec* time) noexcept {
  static const auto original = next<int (*)(clockid_t, timespec*)>("clock_gettime");
  ++looks_at_clock;
  return original(clock, time);
}

namespace vp::qemu {
namespace {

TEST(InstanceHostTest, ThisProgramsFunctionsStandBeforeThoseOfTheLibrary) {
  looks_at_memory = looks_at_clock = 0;
  sysconf(_SC_PHYS_PAGES);
  std::time_t now = 0;
  timespec time{};
  clock_gettime(CLOCK_REALTIME, &time);
  now = time.tv_sec;
  EXPECT_GT(now, 0);
  EXPECT_EQ(looks_at_memory, 1u);
  EXPECT_EQ(looks_at_clock, 1u);
  // QEMU has read the clock while it was loaded, so its calls come here too.
  looks_at_clock = 0;
  Machine machine(ipu("beats"));
  EXPECT_GT(looks_at_clock, 0u);
}

TEST(InstanceHostTest, ItsMemoryDoesNotSizeTheBufferForCode) {
  looks_at_memory = 0;
  Machine ipu_machine(ipu("beats"), "ipu"), host_machine(host("ports"), "host");
  EXPECT_EQ(looks_at_memory, 0u);
}

// Core 0 of the IPU keeps invalidating all TLBs, and the host's processor keeps resetting itself.
TEST(InstanceHostTest, ItsClockIsNotReadByProcessors) {
  Machine ipu_machine(ipu("shootdown", 3), "ipu"), host_machine(host("init"), "host");
  host_machine.qemu.map_memory(0xd0000, 0x1000, 10);
  looks_at_clock = 0;
  run(100 * us);
  EXPECT_GT(ipu_machine.device.of(device).size(), 10'000u);
  EXPECT_EQ(looks_at_clock, 0u);
}

}  // namespace
}  // namespace vp::qemu
