// SPDX-License-Identifier: Apache-2.0
// Accesses of models to the machine's memory.
#include "tests/vp/qemu/machine.h"

namespace vp::qemu {
namespace {

constexpr std::uint64_t code = sram + 0x1000;

/// "mov x0, #value; ret"
void write_code(Machine& machine, std::uint32_t value) {
  const std::uint32_t words[] = {0xd2800000 | value << 5, 0xd65f03c0};
  ASSERT_TRUE(machine.qemu.write_memory(code, words, sizeof words));
}

TEST(InstanceMemoryTest, CodeThatIsWrittenOverIsExecutedAnew) {
  Machine machine(ipu("code"));
  write_code(machine, 0);
  std::uint32_t value = 0;
  std::vector<Picoseconds> written{0};
  Event rewrite(machine.domain, [&] {
    write_code(machine, ++value);
    written.push_back(now());
    rewrite.after(777 * ns + 1);
  });
  rewrite.at(1 * us);
  run(200 * us);
  ASSERT_GE(value, 200u);
  // Each store has the value that the code gave when it was called, three or four instructions
  // earlier.
  for (const Access& store : machine.device.accesses) {
    ASSERT_LT(store.value, written.size());
    EXPECT_GT(store.time, written[store.value]);
    if (store.value + 1 < written.size()) {
      EXPECT_LE(store.time, written[store.value + 1] + 3 * ns);
    }
  }
  EXPECT_EQ(machine.device.accesses.back().value, value);
}

TEST(InstanceMemoryTest, CodeThatIsWrittenWhileACoreSleepsIsExecuted) {
  Machine machine(ipu("code"));
  machine.parameter(0, 1);
  machine.device.on_access = [&](Access& access) {
    if (access.address == device + 8) machine.qemu.set_line(0, false);
  };
  for (std::uint32_t value = 1; value < 100; ++value) {
    run(10 * us);
    write_code(machine, value);
    machine.qemu.set_line(0, true);
    run(10 * us);
    const auto stores = machine.device.of(device);
    ASSERT_EQ(stores.size(), value);
    ASSERT_EQ(stores.back().value, value);
  }
}

// A DMA engine that the store itself starts does this.
TEST(InstanceMemoryTest, CodeThatIsWrittenDuringAnAccessIsExecuted) {
  Machine machine(ipu("code"));
  write_code(machine, 0);
  std::uint32_t value = 0;
  machine.device.at[device].wait = 10 * ns;
  machine.device.on_access = [&](Access& access) {
    EXPECT_EQ(access.value, value);
    write_code(machine, ++value);
  };
  run(10 * us);
  EXPECT_GT(value, 100u);
}

TEST(InstanceMemoryTest, ReadsWhatWasWritten) {
  Machine machine(ipu("sleep"));
  for (const std::uint64_t size : {1u, 3u, 8u, 4096u, 70'001u}) {
    std::string out(size, 'x'), in(size, ' ');
    for (std::size_t i = 0; i < size; ++i) out[i] = static_cast<char>(i * 7 + size);
    for (const std::uint64_t address : {sram, sram + 0x2fff, dram + 0x100'0001}) {
      ASSERT_TRUE(machine.qemu.write_memory(address, out.data(), size));
      ASSERT_TRUE(machine.qemu.read_memory(address, in.data(), size));
      ASSERT_EQ(in, out);
    }
  }
}

TEST(InstanceMemoryTest, RamIsTheMemoryAndItsRest) {
  Machine machine(ipu("sleep"));
  constexpr std::uint64_t sram_size = 4 << 20, dram_size = 128 << 20;
  for (const std::uint64_t offset : {std::uint64_t{0}, std::uint64_t{4097}, sram_size - 1}) {
    std::uint64_t left = 0;
    auto* byte = static_cast<std::uint8_t*>(machine.qemu.ram(sram + offset, left));
    ASSERT_NE(byte, nullptr);
    EXPECT_EQ(left, sram_size - offset);
    *byte = 0x5a;
    std::uint8_t seen = 0;
    ASSERT_TRUE(machine.qemu.read_memory(sram + offset, &seen, 1));
    EXPECT_EQ(seen, 0x5a);
  }
  std::uint64_t left = 0;
  EXPECT_NE(machine.qemu.ram(dram + dram_size - 16, left), nullptr);
  EXPECT_EQ(left, 16u);
  for (const std::uint64_t address :
       {device, sram - 1, sram + sram_size, dram + dram_size, std::uint64_t{0x0800'0000},
        std::uint64_t{1} << 45, ~std::uint64_t{0}}) {
    EXPECT_EQ(machine.qemu.ram(address, left), nullptr) << std::hex << address;
  }
}

TEST(InstanceMemoryTest, WhereThereIsNoMemoryThereIsFailure) {
  Machine machine(ipu("sleep"));
  std::uint8_t bytes[16] = {};
  EXPECT_FALSE(machine.qemu.read_memory(std::uint64_t{1} << 45, bytes, 1));
  EXPECT_FALSE(machine.qemu.write_memory(std::uint64_t{1} << 45, bytes, 8));
  EXPECT_FALSE(machine.qemu.read_memory((std::uint64_t{1} << 40) - 8, bytes, 16));
}

// Memory that a model holds answers without time passing.
TEST(InstanceMemoryTest, TheDeviceIsReachedWithoutTime) {
  Machine machine(ipu("sleep"));
  run(1 * us);
  const auto before = machine.device.accesses.size();
  const std::uint64_t out = 0x1122334455667788;
  std::uint64_t in = 0;
  EXPECT_TRUE(machine.qemu.write_memory(device + 0x10, &out, sizeof out));
  EXPECT_TRUE(machine.qemu.read_memory(device + 0x10, &in, sizeof in));
  EXPECT_EQ(in, out);
  EXPECT_EQ(machine.device.accesses.size(), before);
  EXPECT_EQ(now(), 1 * us);
}

}  // namespace
}  // namespace vp::qemu
