// SPDX-License-Identifier: Apache-2.0
// Effects of an instance on its process.
#include <signal.h>

#include <filesystem>

#include "tests/vp/qemu/machine.h"

namespace vp::qemu {
namespace {

std::ptrdiff_t threads() {
  namespace fs = std::filesystem;
  return std::distance(fs::directory_iterator("/proc/self/task"), fs::directory_iterator());
}

TEST(InstanceTest, HasNoThread) {
  ASSERT_EQ(threads(), 1);
  Machine ipu_machine(ipu("beats"), "ipu"), host_machine(host("ports"), "host");
  EXPECT_EQ(threads(), 1);
  run(100 * us);
  EXPECT_EQ(threads(), 1);
}

TEST(InstanceTest, LeavesSignalsAsTheyWere) {
  const int signals[] = {SIGINT,  SIGTERM, SIGHUP, SIGPIPE, SIGBUS, SIGALRM,
                         SIGUSR1, SIGUSR2, SIGIO,  SIGCHLD, SIGSEGV};
  const auto handler = [](int) {};
  for (const int number : signals) signal(number, handler);
  sigset_t before, after;
  pthread_sigmask(SIG_SETMASK, nullptr, &before);
  Machine machine(ipu("beats"));
  run(10 * us);
  pthread_sigmask(SIG_SETMASK, nullptr, &after);
  for (int number = 1; number < 65; ++number) {
    EXPECT_EQ(sigismember(&before, number), sigismember(&after, number)) << number;
  }
  for (const int number : signals) {
    struct sigaction action {};
    sigaction(number, nullptr, &action);
    EXPECT_EQ(action.sa_handler, static_cast<void (*)(int)>(handler)) << number;
  }
}

// Three machines of one target and one of the other, each with its own memory and time.
TEST(InstanceTest, SeveralLiveSideBySide) {
  std::vector<std::unique_ptr<Machine>> machines;
  for (int i = 0; i < 3; ++i) {
    Instance::Config config = ipu("beats");
    config.ips = 1'000'000'000 / static_cast<unsigned>(i + 1);
    machines.push_back(std::make_unique<Machine>(config, "ipu" + std::to_string(i)));
    machines.back()->parameter(7, static_cast<std::uint64_t>(i));
  }
  Machine other(host("ports"), "host");
  int ports = 0;
  other.qemu.map_io(0x700, 16,
                    {[](Cpu&, std::uint64_t, unsigned) { return 0; },
                     [&](Cpu&, std::uint64_t, unsigned, std::uint32_t) { ++ports; }});
  run(100 * us);
  EXPECT_NEAR(ports, 33'333, 2);
  for (unsigned i = 0; i < 3; ++i) {
    const auto& accesses = machines[i]->device.accesses;
    EXPECT_NEAR(accesses.size(), 33'333 / (i + 1), 2);
    for (std::size_t n = 0; n < accesses.size(); ++n) {
      ASSERT_EQ(accesses[n].time, static_cast<Picoseconds>((2 + 3 * n) * (i + 1)) * ns);
    }
    std::uint64_t parameter = 0;
    ASSERT_TRUE(machines[i]->qemu.read_memory(sram + 56, &parameter, sizeof parameter));
    EXPECT_EQ(parameter, i);
  }
}

TEST(InstanceTest, KnowsWhereThePciExpressWindowsAre) {
  Machine machine(host("ports"));
  const auto windows = machine.qemu.pcie_windows();
  EXPECT_EQ(windows.ecam, 0xe000'0000u);
  EXPECT_EQ(windows.ecam_size, 256u << 20);
  EXPECT_EQ(windows.mmio32, 0xc000'0000u);
  EXPECT_EQ(windows.mmio32_size, 512u << 20);
  EXPECT_GE(windows.mmio64, std::uint64_t{1} << 32);
  EXPECT_GE(windows.mmio64_size, std::uint64_t{1} << 32);
}

TEST(InstanceTest, AMachineWithoutPciExpressSaysSo) {
  Machine machine(ipu("beats"));
  EXPECT_THROW(machine.qemu.pcie_windows(), LibraryError);
}

// A region may hide memory of the machine, or lie under it.
TEST(InstanceTest, TheRegionOfTheHigherPriorityWins) {
  Machine machine(ipu("code"));
  const std::uint32_t words[] = {0x10000000, 0xd65f03c0};  // "adr x0, .; ret"
  ASSERT_TRUE(machine.qemu.write_memory(sram + 0x1000, words, sizeof words));
  machine.qemu.map_memory(sram, 0x1000, 1);
  machine.qemu.map_memory(sram + 0x1000, 0x1000, -1);
  machine.device.at[sram].value = 0;
  run(1 * us);
  EXPECT_EQ(machine.device.of(sram).size(), 1u);  // the parameter
  ASSERT_GE(machine.device.of(device).size(), 10u);
  EXPECT_EQ(machine.device.of(device)[0].value, sram + 0x1000);
}

}  // namespace
}  // namespace vp::qemu
