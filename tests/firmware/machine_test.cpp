// SPDX-License-Identifier: Apache-2.0
// Runs the firmware images on the cores for which they are made. The test plays the OAE block.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>

#include "models/ipu/dma_engine.h"
#include "models/ipu/mailbox.h"
#include "models/ipu/memory.h"
#include "models/ipu/noc.h"
#include "models/ipu/pl011.h"
#include "models/ipu/register_block.h"
#include "models/ipu/system_controller.h"
#include "oae_memory_map.h"
#include "tests/firmware/swap_block.h"
#include "tests/models/ipu/fixture.h"
#include "vp/qemu/instance.h"

namespace {

using ipu::SystemController;
using testing::HasSubstr;
using vp::us;

constexpr std::uint64_t sram_base = OAE_IPU_SRAM_BASE, sram_size = 4 << 20;
constexpr std::uint64_t dram_base = OAE_IPU_DRAM_BASE, dram_size = 128 << 20;
constexpr vp::Picoseconds hop = 5 * vp::ns;

/// Memory from which the cores execute.
class CoreStorage : public ipu::Storage {
 public:
  CoreStorage(vp::qemu::Instance& qemu, std::uint64_t base, std::uint64_t size)
      : qemu_(qemu), base_(base), size_(size) {}
  std::uint64_t size() const override { return size_; }
  void read(std::uint64_t offset, std::uint8_t* bytes, std::uint64_t length) override {
    EXPECT_TRUE(qemu_.read_memory(base_ + offset, bytes, length));
  }
  void write(std::uint64_t offset, const std::uint8_t* bytes, std::uint64_t length) override {
    EXPECT_TRUE(qemu_.write_memory(base_ + offset, bytes, length));
  }
  std::uint8_t* bytes() override {
    std::uint64_t left;
    return static_cast<std::uint8_t*>(qemu_.ram(base_, left));
  }
  bool direct_writes() const override { return false; }

 private:
  vp::qemu::Instance& qemu_;
  const std::uint64_t base_;
  const std::uint64_t size_;
};

/// The block's firmware side on the bus.
class BlockTarget : public ipu::RegisterBlock {
 public:
  SwapBlock block;
  vp::IrqOutput irq{"irq", OAE_IPU_OAE_SPI};
  std::vector<vp::Picoseconds> signs_of_life;
  std::function<void()> on_sign_of_life = [] {};

  BlockTarget(const sc_core::sc_module_name& name, unsigned ports)
      : RegisterBlock(name, 8), block(ports) {}

  /// Call this after the test has played the host.
  void update() { irq.set(block.irq_status() != 0); }

 private:
  std::optional<std::uint64_t> read(std::uint64_t offset) override { return block.read(offset); }
  bool write(std::uint64_t offset, std::uint64_t value, std::uint64_t, vp::Picoseconds) override {
    block.write(offset, value);
    update();
    if (offset == OAE_FIRMWARE_LIVENESS) {
      signs_of_life.push_back(vp::now());
      on_sign_of_life();
    }
    return true;
  }
};

/// The host's side of the DMA engine, which must not be reached.
struct NoHost : sc_core::sc_module {
  tlm_utils::simple_target_socket<NoHost> socket{"socket"};
  explicit NoHost(const sc_core::sc_module_name& name) : sc_module(name) {}
};

vp::qemu::Instance::Config configuration(const std::string& image, unsigned cores) {
  vp::qemu::Instance::Config config;
  config.library = OAE_VP_IMAGES "/libqemu-aarch64.so";
  config.cpus = cores;
  config.arguments = {"-nodefaults", "-no-user-config",
                      "-display",    "none",
                      "-machine",    "oae-ipu",
                      "-m",          "128",
                      "-smp",        std::to_string(cores),
                      "-cpu",        "neoverse-n1",
                      "-accel",      "tcg",
                      "-icount",     "shift=0,sleep=off",
                      "-seed",       "1",
                      "-kernel",     image};
  return config;
}

struct Machine {
  vp::Domain domain{"domain"};
  vp::qemu::Instance qemu;
  ipu::Noc noc{"noc", hop};
  CoreStorage sram_storage{qemu, sram_base, sram_size};
  CoreStorage dram_storage{qemu, dram_base, dram_size};
  ipu::Memory sram{"sram", sram_storage, 0};
  ipu::Memory dram{"dram", dram_storage, 0};
  std::string text;
  ipu::Pl011 console{"console", domain, {}, OAE_IPU_CONSOLE_SPI, [this](std::uint8_t byte) {
                       text.push_back(static_cast<char>(byte));
                     }};
  ipu::Mailbox mailbox{"mailbox", domain, OAE_IPU_MAILBOX_SPI};
  ipu::DmaEngine dma{"dma", domain, {100 * vp::ns, 16'000'000'000, 4}, OAE_IPU_DMA_SPI};
  BlockTarget oae{"oae", 8};
  std::optional<SystemController::HaltReason> halted;
  SystemController system;
  ipu::test::FunctionPort function;
  ipu::test::Interrupts interrupts;
  NoHost no_host{"no_host"};

  explicit Machine(const std::string& image, unsigned cores = 1, bool poll = false)
      : qemu("qemu", domain, configuration(image, cores)),
        system("system", {cores, sram_base, sram_size, dram_base, dram_size, poll},
               [this](SystemController::HaltReason reason) {
                 halted = reason;
                 sc_core::sc_pause();
               }) {
    noc.connect(OAE_IPU_CONSOLE_BASE, OAE_IPU_CONSOLE_SIZE, console.socket);
    noc.connect(OAE_IPU_MAILBOX_BASE, OAE_IPU_MAILBOX_SIZE, mailbox.socket);
    noc.connect(OAE_IPU_DMA_BASE, OAE_IPU_DMA_SIZE, dma.socket);
    noc.connect(OAE_IPU_OAE_BASE, OAE_IPU_OAE_SIZE, oae.socket);
    noc.connect(OAE_IPU_SYSTEM_BASE, OAE_IPU_SYSTEM_SIZE, system.socket);
    noc.connect(sram_base, sram_size, sram.socket);
    noc.connect(dram_base, dram_size, dram.socket);
    for (vp::qemu::Cpu& core : qemu.cpu) core.socket.bind(noc.in);
    dma.memory.bind(noc.in);
    dma.host.bind(no_host.socket);
    console.irq.bind(qemu);
    mailbox.irq.bind(qemu);
    dma.irq.bind(qemu);
    oae.irq.bind(qemu);
    mailbox.interrupt.bind(interrupts);
    function.socket.bind(mailbox.host);
    qemu.map_memory(0, 1ull << 40, -1000);
  }

  void run(vp::Picoseconds span) {
    if (!halted) sc_core::sc_start(vp::to_sc_time(span));
  }
  /// Runs in small steps until `condition` holds, and returns how long it took.
  template <typename Condition>
  vp::Picoseconds run_until(Condition condition, vp::Picoseconds limit) {
    const vp::Picoseconds began = vp::now();
    while (!condition() && vp::now() - began < limit && !halted) run(100 * vp::ns);
    EXPECT_TRUE(condition()) << "not within " << limit << " ps; console:\n" << text;
    return vp::now() - began;
  }
  void ask(std::uint64_t command, std::uint64_t argument = 0) {
    function.write(0, OAE_MAILBOX_VECTOR, OAE_MAILBOX_VECTOR_ENABLE_MASK);
    function.write(0, OAE_MAILBOX_REQUEST, command);
    function.write(0, OAE_MAILBOX_REQUEST_AT(1), argument);
    function.write(0, OAE_MAILBOX_DOORBELL, 1);
  }
};

struct Running {
  Machine machine;
  SwapBlock& block = machine.oae.block;

  explicit Running(bool poll, unsigned cores = 2) : machine(FIRMWARE, cores, poll) {
    machine.run(200 * us);
    EXPECT_FALSE(machine.halted) << machine.text;
  }
  void open(unsigned port) {
    block.open(port);
    machine.oae.update();
    machine.run_until([&] { return block.ports[port].offered; }, 20 * us);
  }
};

struct FirmwareTest : testing::TestWithParam<bool>, Running {
  FirmwareTest() : Running(GetParam()) {}
  bool polling = GetParam();
};

struct SleepingFirmwareTest : testing::Test, Running {
  SleepingFirmwareTest() : Running(false) {}
};

TEST_P(FirmwareTest, ShowsOneLine) {
  EXPECT_THAT(machine.text, testing::MatchesRegex(
                                "\\[    0\\.[0-9]{6}\\] OAE firmware [0-9.]+: 2 cores, 4096 KiB "
                                "SRAM, 128 MiB DRAM, 8 swap ports, (polling|interrupt-driven)"
                                "\r\n"));
  EXPECT_THAT(machine.text, HasSubstr(polling ? "polling" : "interrupt-driven"));
}

TEST_P(FirmwareTest, GivesASignOfLifeEachMillisecond) {
  auto& times = machine.oae.signs_of_life;
  machine.run(30 * vp::ms);
  ASSERT_EQ(times.size(), 31u) << "one at start";
  for (std::uint32_t i = 0; i < 31; ++i) EXPECT_EQ(block.liveness[i], i + 1);
  EXPECT_NEAR(static_cast<double>(times[30] - times[1]), 29.0 * vp::ms, 100.0 * vp::ns)
      << "periods do not grow by what serving them takes";
}

TEST_P(FirmwareTest, Swaps) {
  for (unsigned port : {0u, 7u}) {
    open(port);
    for (std::uint64_t i = 1; i <= 50; ++i) {
      block.exchange(port, i);
      machine.oae.update();
      machine.run_until([&] { return block.ports[port].offered; }, 20 * us);
      block.confirm(port);
      machine.oae.update();
      machine.run_until([&] { return block.ports[port].taken == i; }, 20 * us);
    }
    EXPECT_EQ(block.ports[port].published.size(), 51u);
  }
  machine.ask(OAE_MAILBOX_COMMAND_PORT_STATISTICS, 7);
  machine.run(50 * us);
  EXPECT_EQ(machine.function.read(0, OAE_MAILBOX_REPLY_AT(1)), 50u);
  EXPECT_EQ(machine.function.read(0, OAE_MAILBOX_REPLY_AT(2)), 50u);
  EXPECT_EQ(machine.function.read(0, OAE_MAILBOX_REPLY_AT(6)), polling ? 1u : 0u);
}

struct PollingCores : testing::TestWithParam<unsigned>, Running {
  PollingCores() : Running(true, GetParam()) {}
  /// Gives all ports work at one time. Returns how long it takes to serve them.
  vp::Picoseconds serve_all() {
    for (unsigned port = 0; port < 8; ++port) block.exchange(port, port);
    machine.oae.update();
    return machine.run_until([&] { return all_offered(); }, 100 * us);
  }
  bool all_offered() const {
    for (unsigned port = 0; port < 8; ++port) {
      if (!block.ports[port].offered) return false;
    }
    return true;
  }
};

TEST_P(PollingCores, ServeAPartOfThePortsEach) {
  for (unsigned port = 0; port < 8; ++port) open(port);
  EXPECT_TRUE(all_offered());
  const vp::Picoseconds took = serve_all();
  RecordProperty("ns", std::to_string(took / vp::ns));
  // The core with the most ports needs one such time for each of them.
  const unsigned most = (8 + GetParam() - 1) / GetParam();
  EXPECT_GT(took, most * 300 * vp::ns);
  EXPECT_LT(took, (most + 2) * us);
}

INSTANTIATE_TEST_SUITE_P(Counts, PollingCores, testing::Values(1u, 2u, 3u, 8u, 24u));

// A request may arrive at any instant, also between the last read of the events and the sleep. It
// is served at once and not at the next tick.
TEST_F(SleepingFirmwareTest, LosesNoWakeUp) {
  constexpr vp::Picoseconds last = 300 * vp::ns;
  vp::Picoseconds offset = 0;
  vp::Picoseconds asked = 0;
  vp::Event request(machine.domain, [&] {
    asked = vp::now();
    machine.ask(OAE_MAILBOX_COMMAND_ECHO, 7);
  });
  // After a sign of life the firmware is about to sleep. The appointment is made before the core
  // continues, so that the core does not run past it.
  machine.oae.on_sign_of_life = [&] {
    if (offset < last) request.after(offset += vp::ns);
  };
  const auto& signals = machine.interrupts.signals;
  while (offset < last) {
    const std::size_t before = signals.size();
    machine.run(vp::ms);
    ASSERT_EQ(signals.size(), before + 1) << "no reply to the request after " << offset << " ps";
    EXPECT_LT(signals.back().second - asked, 2 * us) << "to the request after " << offset << " ps";
  }
}

TEST_F(SleepingFirmwareTest, CostsLittle) {
  const std::uint64_t before = machine.qemu.instructions();
  machine.run(100 * vp::ms);
  EXPECT_LT(machine.qemu.instructions() - before, 100 * 1000u) << "a thousand for each tick";
}

INSTANTIATE_TEST_SUITE_P(, FirmwareTest, testing::Values(false, true),
                         [](const auto& info) { return info.param ? "Polling" : "Sleeping"; });

struct Fault {
  const char* image;
  const char* message;
};
std::ostream& operator<<(std::ostream& out, const Fault& fault) {
  return out << fault.image;
}

struct FaultTest : testing::TestWithParam<Fault> {};

TEST_P(FaultTest, EndsTheRunWithAReport) {
  Machine machine(std::string(TEST_FIRMWARE "/fault_") + GetParam().image + ".elf", 2);
  machine.run(10 * vp::ms);
  EXPECT_EQ(machine.halted, SystemController::HaltReason::fault);
  EXPECT_THAT(machine.text, HasSubstr(GetParam().message));
  EXPECT_THAT(machine.text, testing::Not(HasSubstr("while a fault was reported")));
  if (std::string(GetParam().image) != "panic") {
    for (const char* part :
         {"  pc  0000000080", "  sp  0000000080", "\r\n  x00 ", "  x30 ", "  called from"}) {
      EXPECT_THAT(machine.text, HasSubstr(part));
    }
  }
}

INSTANTIATE_TEST_SUITE_P(
    , FaultTest,
    testing::Values(
        Fault{"read", "fault on core 0: data abort: translation fault, level 2, read at 0\r\n"},
        Fault{"bus", "fault on core 0: data abort: external abort, read at d000ff8\r\n"},
        Fault{"write_text", "fault on core 0: data abort: permission fault, write at 8000"},
        Fault{"execute_data",
              "fault on core 0: instruction abort: permission fault, fetch at 8000"},
        Fault{"stack_overflow",
              "fault on core 0: data abort: translation fault, level 3, write at"},
        Fault{"undefined", "fault on core 0: unknown instruction\r\n"},
        Fault{"secondary", "fault on core 1: BRK instruction\r\n"},
        Fault{"panic", "error: a panic, as asked for: 42\r\n"}),
    [](const auto& info) { return info.param.image; });

TEST(FaultReport, ShowsEveryRegister) {
  Machine machine(TEST_FIRMWARE "/fault_undefined.elf");
  machine.run(10 * vp::ms);
  for (unsigned n = 0; n < 31; ++n) {
    EXPECT_THAT(machine.text,
                HasSubstr(fmt::format("  x{:02} a5{:02x}00000000{:04x}", n, n, 0x1100 + n)));
  }
  EXPECT_THAT(machine.text, HasSubstr("  called from\r\n")) << "x29 points nowhere";
}

struct CheckTest : testing::TestWithParam<const char*> {};

TEST_P(CheckTest, FindsNoDifference) {
  Machine machine(std::string(TEST_FIRMWARE "/check_") + GetParam() + ".elf", 1);
  machine.run(100 * vp::ms);
  EXPECT_EQ(machine.halted, SystemController::HaltReason::shutdown) << machine.text;
}

INSTANTIATE_TEST_SUITE_P(, CheckTest, testing::Values("memory", "interrupts"));

}  // namespace
