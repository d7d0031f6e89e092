// SPDX-License-Identifier: Apache-2.0
// Machines with embedded QEMUs are forked while they run.
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>

#include "tests/vp/qemu/machine.h"
#include "tests/vp/temporary.h"
#include "vp/snapshot/children.h"

namespace vp::qemu {
namespace {

constexpr std::uint64_t mebibyte = 1 << 20;

Instance::Config ipu_with(const std::string& guest, unsigned megabytes,
                          Picoseconds quantum = 1 * us) {
  Instance::Config config = ipu(guest);
  config.max_quantum = quantum;
  *(std::find(config.arguments.begin(), config.arguments.end(), "-m") + 1) =
      std::to_string(megabytes);
  return config;
}

/// Returns the result of `work` in a forked child.
std::string forked(const std::function<std::string()>& work) {
  const TemporaryDirectory directory;
  Child child([&] {
    std::ofstream(directory.path("result")) << work();
    return testing::Test::HasFailure() ? 1 : 0;
  });
  EXPECT_EQ(child.wait(), Ending{});
  return contents(directory.path("result"));
}

std::ptrdiff_t entries(const char* directory) {
  const std::filesystem::directory_iterator files(directory);
  return std::distance(begin(files), end(files));
}

std::ptrdiff_t lines(const char* file) {
  const std::string text = contents(file);
  return std::count(text.begin(), text.end(), '\n');
}

/// Returns the unshared memory of this process in KiB.
long own_memory() {
  std::ifstream file("/proc/self/smaps_rollup");
  for (std::string word; file >> word;) {
    long value = 0;
    if (word == "Anonymous:" && file >> value) return value;
  }
  return -1;
}

TEST(ForkedMachine, HasNoThread) {
  Machine ipu_side(ipu("counter"), "ipu");
  Machine host_side(host("ports"), "host");
  run(1 * ms);
  EXPECT_EQ(entries("/proc/self/task"), 1);
}

// While it counts, while it waits for an answer of its device, and while it sleeps until 20 us.
TEST(ForkedMachine, GoesOnAsIfNotForked) {
  constexpr Picoseconds end = 50 * us;
  const auto begin = [](Machine& machine) {
    machine.parameter(0, 20'000);
    machine.parameter(1, 1);
    machine.parameter(2, 1);
    machine.device.at[device].wait = 500 * ns;
  };
  for (const char* guest : {"counter", "beats", "timer"}) {
    const std::string whole = in_child([&] {
      Machine machine(ipu_with(guest, 128));
      begin(machine);
      run(end);
      return machine.device.trace();
    });
    EXPECT_GE(std::count(whole.begin(), whole.end(), '\n'), 2);
    for (const Picoseconds quantum : {50 * ns, 1 * us, 1 * ms}) {
      for (const Picoseconds moment : {1 * ns, 7'001 * ns, 7'300 * ns, 21 * us}) {
        SCOPED_TRACE(std::string(guest) + " " + std::to_string(moment));
        EXPECT_TRUE(in_child([&] {
                      Machine machine(ipu_with(guest, 128, quantum));
                      begin(machine);
                      run(moment);
                      return forked([&] {
                        run(end - moment);
                        return machine.device.trace();
                      });
                    }) == whole);
      }
    }
  }
}

// The state in which Snapshot forks: the kernel has paused, and one of its processes waits in an
// access.
TEST(ForkedMachine, MayBeInsideAnAccess) {
  const auto work = [](bool forks) {
    Machine machine(ipu("counter"));
    machine.device.on_access = [&](Access& access) {
      if (machine.device.accesses.size() == 3) {
        if (forks) sc_core::sc_pause();
        sc_core::wait(sc_core::SC_ZERO_TIME);
      }
      access.value = machine.device.accesses.size();
    };
    run(20 * us);
    if (!forks) return machine.device.trace();
    const Picoseconds left = 20 * us - now();
    EXPECT_GT(left, 0);
    EXPECT_EQ(machine.device.accesses.size(), 3u);
    return forked([&] {
      run(left);
      return machine.device.trace();
    });
  };
  const std::string whole = in_child([&] { return work(false); });
  EXPECT_GT(std::count(whole.begin(), whole.end(), '\n'), 5);
  EXPECT_EQ(in_child([&] { return work(true); }), whole);
}

TEST(ForkedMachine, KeepsItsMemoryToItself) {
  Machine machine(ipu_with("counter", 64));
  run(1 * us);
  std::uint64_t value = 1;
  ASSERT_TRUE(machine.qemu.write_memory(dram + mebibyte, &value, sizeof value));
  EXPECT_EQ(forked([&] {
              std::uint64_t seen = 0;
              machine.qemu.read_memory(dram + mebibyte, &seen, sizeof seen);
              value = 2;
              machine.qemu.write_memory(dram + mebibyte, &value, sizeof value);
              return std::to_string(seen);
            }),
            "1");
  std::uint64_t seen = 0;
  machine.qemu.read_memory(dram + mebibyte, &seen, sizeof seen);
  EXPECT_EQ(seen, 1u);
}

// All of the memory is in use. The best of several runs counts, since other processes use the
// processor as well.
TEST(ForkedMachine, IsForkedIn10MillisecondsWith512MiB) {
  Machine machine(ipu_with("counter", 512));
  std::vector<std::uint64_t> filling(mebibyte / sizeof(std::uint64_t));
  for (std::size_t i = 0; i < filling.size(); ++i) filling[i] = i * 0x9e37'79b9'7f4a'7c15;
  for (std::uint64_t at = mebibyte; at < 512 * mebibyte; at += mebibyte) {
    ASSERT_TRUE(machine.qemu.write_memory(dram + at, filling.data(), mebibyte));
  }
  run(1 * ms);
  std::vector<double> times;
  for (int i = 0; i < 10; ++i) {
    Child child([] {
      run(1 * us);
      return 0;
    });
    times.push_back(std::chrono::duration<double, std::milli>(child.fork_time()).count());
    EXPECT_EQ(child.wait(), Ending{});
  }
  std::printf("fork in ms:");
  for (const double time : times) std::printf(" %.2f", time);
  std::printf("\n");
  EXPECT_LE(*std::min_element(times.begin(), times.end()), 10.0);
}

TEST(ForkedMachine, AThousandChildrenLeaveNothing) {
  Machine machine(ipu_with("counter", 512));
  run(100 * us);
  const std::size_t before = machine.device.accesses.size();
  std::size_t good = 0;
  const auto children = [&](std::size_t count) {
    Children::run(count, 1,
                  {[&](std::size_t, ChildNote& note) {
                     run(10 * us);
                     note.time = now();
                     return machine.device.accesses.size() > before ? 0 : 1;
                   },
                   [&](const ChildResult& result) {
                     if (result.ending == Ending{} && result.note.time == 110 * us) ++good;
                   },
                   {}});
  };
  children(10);  // allocates everything that is allocated once
  const long memory = own_memory();
  const std::ptrdiff_t mappings = lines("/proc/self/maps"), files = entries("/proc/self/fd");
  children(990);
  EXPECT_EQ(good, 1000u);
  EXPECT_EQ(entries("/proc/self/fd"), files);
  EXPECT_EQ(lines("/proc/self/maps"), mappings);
  EXPECT_GT(memory, 0);
  EXPECT_LT(own_memory() - memory, 1024);
  EXPECT_EQ(::waitpid(-1, nullptr, WNOHANG), -1);
  EXPECT_EQ(errno, ECHILD);
  EXPECT_EQ(machine.device.accesses.size(), before);
  EXPECT_EQ(now(), 100 * us);
}

}  // namespace
}  // namespace vp::qemu
