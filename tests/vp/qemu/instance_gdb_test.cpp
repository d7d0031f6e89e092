// SPDX-License-Identifier: Apache-2.0
// GDB holds a machine: its remote protocol, as far as these tests speak it, over a local socket.
#include <fcntl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "tests/vp/qemu/machine.h"
#include "tests/vp/temporary.h"

namespace vp::qemu {
namespace {

std::uint64_t little_endian(const std::string& hex) {
  std::uint64_t value = 0;
  for (std::size_t i = hex.size(); i >= 2; i -= 2) {
    value = value << 8 | std::stoul(hex.substr(i - 2, 2), nullptr, 16);
  }
  return value;
}

class InstanceGdbTest : public testing::Test {
 protected:
  ~InstanceGdbTest() override { close(socket_); }

  void start(const std::string& guest, unsigned cpus, bool held) {
    Instance::Config config = ipu(guest, cpus);
    config.arguments.push_back("-gdb");
    config.arguments.push_back("unix:" + path() + ",server=on,wait=off");
    if (held) config.arguments.push_back("-S");
    machine_ = std::make_unique<Machine>(std::move(config));
    machine_->qemu.on_requests({{}, {}, [] { sc_core::sc_pause(); }});
  }
  std::string path() const { return directory_.path("gdb"); }

  /// What the program's loop does: the kernel runs while GDB does not hold the machine.
  bool turn() {
    if (!machine_->qemu.poll()) return false;
    run(1 * us);
    return true;
  }
  /// Turns until `done`, or false after many.
  bool turn_until(const std::function<bool()>& done) {
    for (int i = 0; i < 20'000; ++i) {
      if (done()) return true;
      turn();
    }
    return false;
  }

  void connect() {
    socket_ = ::socket(AF_UNIX, SOCK_STREAM, 0);
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::snprintf(address.sun_path, sizeof address.sun_path, "%s", path().c_str());
    ASSERT_EQ(::connect(socket_, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
    fcntl(socket_, F_SETFL, O_NONBLOCK);
  }
  void send(const std::string& bytes) {
    ASSERT_EQ(write(socket_, bytes.data(), bytes.size()), static_cast<ssize_t>(bytes.size()));
  }
  void send_packet(const std::string& text) {
    unsigned sum = 0;
    for (const char c : text) sum += static_cast<unsigned char>(c);
    char check[4];
    std::snprintf(check, sizeof check, "%02x", sum & 0xff);
    send("$" + text + "#" + check);
  }
  /// The next packet that comes, while the machine may run.
  std::string packet() {
    std::string found;
    const bool came = turn_until([&] {
      char buffer[4096];
      const ssize_t got = read(socket_, buffer, sizeof buffer);
      if (got > 0) received_.append(buffer, static_cast<std::size_t>(got));
      const auto begin = received_.find('$'), end = received_.find('#');
      if (end == std::string::npos || received_.size() < end + 3) return false;
      found = received_.substr(begin + 1, end - begin - 1);
      received_.erase(0, end + 3);
      return true;
    });
    EXPECT_TRUE(came) << "no answer";
    send("+");
    return found;
  }
  std::string command(const std::string& text) {
    send_packet(text);
    return packet();
  }
  /// Register `number` of the present vCPU: 0 to 30 are x0 to x30, 32 is the program counter.
  std::uint64_t reg(unsigned number) { return little_endian(command("g").substr(16 * number, 16)); }
  std::string memory(std::uint64_t address, unsigned size) {
    char text[64];
    std::snprintf(text, sizeof text, "m%llx,%x", static_cast<unsigned long long>(address), size);
    return command(text);
  }

  TemporaryDirectory directory_;
  std::unique_ptr<Machine> machine_;
  int socket_ = -1;
  std::string received_;
};

constexpr unsigned pc = 32;

TEST_F(InstanceGdbTest, HoldsTheMachineFromTheStart) {
  start("counter", 1, true);
  for (int i = 0; i < 10; ++i) {
    turn();
    EXPECT_LE(now(), 1 * us);
  }
  connect();
  EXPECT_EQ(command("?").substr(0, 3), "T05");
  EXPECT_EQ(reg(pc), dram);
  EXPECT_EQ(machine_->qemu.instructions(), 0u);
  EXPECT_EQ(now(), 0);
}

TEST_F(InstanceGdbTest, StepsInstructionByInstruction) {
  start("counter", 1, true);
  connect();
  command("?");
  for (std::uint64_t i = 1; i <= 6; ++i) {
    EXPECT_EQ(command("s").substr(0, 3), "T05");
    // mov x28, mov x0, add, tst, b.ne, and the loop again
    EXPECT_EQ(reg(pc), i == 5 ? dram + 8 : i == 6 ? dram + 12 : dram + 4 * i);
    EXPECT_EQ(machine_->qemu.instructions(), i);
  }
  EXPECT_EQ(reg(28), device);
  EXPECT_EQ(reg(0), 2u);
}

TEST_F(InstanceGdbTest, StopsAtABreakpoint) {
  start("counter", 1, true);
  connect();
  command("?");
  for (std::uint64_t round = 1; round <= 3; ++round) {
    EXPECT_EQ(command("Z0,80000014,4"), "OK");  // the load
    EXPECT_EQ(command("c").substr(0, 3), "T05");
    EXPECT_EQ(reg(pc), dram + 0x14);
    EXPECT_EQ(reg(0), 1024 * round);
    EXPECT_EQ(machine_->device.accesses.size(), round - 1);
    // Three instructions a turn, and the two that lead back.
    EXPECT_EQ(machine_->qemu.instructions(), 2 + 3 * 1024 * round + 2 * (round - 1));
    // GDB passes a breakpoint by taking it away for a step.
    EXPECT_EQ(command("z0,80000014,4"), "OK");
    EXPECT_EQ(command("s").substr(0, 3), "T05");
  }
  send_packet("c");
  EXPECT_TRUE(turn_until([&] { return machine_->device.accesses.size() > 10; }));
}

TEST_F(InstanceGdbTest, StopsARunningMachineAndTimeWithIt) {
  start("counter", 1, false);
  run(100 * us);
  connect();
  EXPECT_EQ(command("?").substr(0, 3), "T05");
  const Picoseconds stopped = now();
  const std::uint64_t instructions = machine_->qemu.instructions();
  for (int i = 0; i < 1000; ++i) EXPECT_FALSE(turn());
  EXPECT_EQ(now(), stopped);
  EXPECT_EQ(machine_->qemu.instructions(), instructions);
  const std::uint64_t count = reg(0);

  send_packet("c");
  ASSERT_TRUE(turn_until([&] { return now() > stopped + 50 * us; }));
  send("\x03");
  EXPECT_EQ(packet().substr(0, 3), "T02");
  EXPECT_GT(reg(0), count + 10'000);
  EXPECT_EQ(command("D"), "OK");
  const std::size_t accesses = machine_->device.accesses.size();
  EXPECT_TRUE(turn_until([&] { return machine_->device.accesses.size() > accesses + 10; }));
}

// The guest cannot see where GDB held it.
TEST_F(InstanceGdbTest, TimeGoesOnAsIfItHadNotStopped) {
  start("counter", 1, false);
  run(100 * us);
  connect();
  command("?");
  command("D");
  ASSERT_TRUE(turn_until([&] { return machine_->device.accesses.size() > 300; }));
  const auto& accesses = machine_->device.accesses;
  for (std::size_t i = 1; i < accesses.size(); ++i) {
    // 1024 turns, the load and the branch
    ASSERT_EQ(accesses[i].time - accesses[i - 1].time, (3 * 1024 + 2) * ns) << i;
  }
}

// The cores' accesses overlap, so a moment without one has to be made.
TEST_F(InstanceGdbTest, StopsCoresThatAccessWithoutEnd) {
  start("siblings", 4, false);
  machine_->device.at[device + 8].wait = 730 * ns;
  for (unsigned core = 1; core < 4; ++core) {
    machine_->device.at[device + 0x100 + 8 * core].wait = 900 * ns + core * 77 * ns;
  }
  run(100 * us);
  connect();
  EXPECT_EQ(command("?").substr(0, 3), "T05");
  const Picoseconds stopped = now();
  const std::size_t accesses = machine_->device.accesses.size();
  for (int i = 0; i < 100; ++i) EXPECT_FALSE(turn());
  EXPECT_EQ(now(), stopped);
  EXPECT_EQ(machine_->device.accesses.size(), accesses);
  EXPECT_EQ(command("Hg2"), "OK");
  EXPECT_EQ(reg(1), 1u);
  EXPECT_EQ(reg(28), device + 8);
  send_packet("c");
  EXPECT_TRUE(turn_until([&] { return machine_->device.accesses.size() > accesses + 100; }));
}

TEST_F(InstanceGdbTest, StopsSleepersAndWakesThemUnharmed) {
  start("sleep", 2, false);
  run(100 * us);
  connect();
  EXPECT_EQ(command("?").substr(0, 3), "T05");
  machine_->qemu.set_line(9, true);
  for (int i = 0; i < 10; ++i) EXPECT_FALSE(turn());
  machine_->device.accesses.clear();
  machine_->device.on_access = [&](Access&) { machine_->qemu.set_line(9, false); };
  command("D");
  EXPECT_TRUE(turn_until([&] { return !machine_->device.accesses.empty(); }));
  run(1 * us);
  machine_->device.accesses.clear();
  machine_->qemu.set_line(9, true);
  EXPECT_TRUE(turn_until([&] { return !machine_->device.accesses.empty(); }));
}

TEST_F(InstanceGdbTest, ReadsAndWritesMemoryAndRegisters) {
  start("counter", 1, true);
  connect();
  command("?");
  EXPECT_EQ(memory(dram, 4), "1c20a1d2");  // mov x28, #0x9000000
  EXPECT_EQ(command("M10000010,4:11223344"), "OK");
  EXPECT_EQ(memory(sram + 0x10, 4), "11223344");
  std::uint32_t word = 0;
  ASSERT_TRUE(machine_->qemu.read_memory(sram + 0x10, &word, sizeof word));
  EXPECT_EQ(word, 0x44332211u);
  command("s");
  command("s");
  EXPECT_EQ(command("P0=0001000000000000"), "OK");
  command("s");
  EXPECT_EQ(reg(0), 0x101u);
}

TEST_F(InstanceGdbTest, LooksAtADeviceWithoutTouchingIt) {
  start("counter", 1, false);
  machine_->device.debug[device + 0x20] = 0x5a;
  run(10 * us);
  connect();
  command("?");
  const std::size_t accesses = machine_->device.accesses.size();
  EXPECT_EQ(memory(device + 0x20, 1), "5a");
  EXPECT_EQ(machine_->device.accesses.size(), accesses);
  EXPECT_EQ(memory(std::uint64_t{1} << 45, 4).substr(0, 1), "E");
}

}  // namespace
}  // namespace vp::qemu
