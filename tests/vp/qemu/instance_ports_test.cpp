// SPDX-License-Identifier: Apache-2.0
// x86 I/O ports that the simulation answers.
#include "tests/vp/qemu/machine.h"

namespace vp::qemu {
namespace {

using testing::ElementsAre;

constexpr std::uint64_t mmio = 0xd0000;

struct PortAccess {
  Picoseconds time;
  std::string text;
};

class InstancePortsTest : public testing::Test {
 protected:
  void start(const std::string& guest, std::uint64_t ips = 1'000'000'000,
             Picoseconds quantum = 1 * us) {
    Instance::Config config = host(guest);
    config.ips = ips;
    config.max_quantum = quantum;
    machine_ = std::make_unique<Machine>(std::move(config));
    machine_->qemu.map_memory(mmio, 0x1000, 10);
    machine_->qemu.map_io(0x700, 16,
                          {[this](Cpu& cpu, std::uint64_t offset, unsigned size) {
                             note('r', offset, size, 0);
                             return on_read ? on_read(cpu, offset) : 0;
                           },
                           [this](Cpu&, std::uint64_t offset, unsigned size, std::uint32_t value) {
                             note('w', offset, size, value);
                           }});
  }
  void note(char kind, std::uint64_t offset, unsigned size, std::uint32_t value) {
    char text[64];
    std::snprintf(text, sizeof text, "%c%x/%u=%x", kind, static_cast<unsigned>(offset), size,
                  value);
    ports_.push_back({now(), text});
  }
  std::vector<std::string> texts() const {
    std::vector<std::string> found;
    for (const PortAccess& one : ports_) found.push_back(one.text);
    return found;
  }

  std::unique_ptr<Machine> machine_;
  std::vector<PortAccess> ports_;
  std::function<std::uint32_t(Cpu&, std::uint64_t)> on_read;
};

TEST_F(InstancePortsTest, AreAccessedAtTheirExactTimes) {
  for (const Picoseconds quantum : {1 * us}) {
    start("ports", 1'000'000'000, quantum);
    run(100 * us);
    ASSERT_GE(ports_.size(), 33'000u);
    for (std::size_t i = 0; i < ports_.size(); ++i) {
      ASSERT_EQ(ports_[i].time, static_cast<Picoseconds>(3 + 3 * i) * ns);
    }
  }
}

TEST_F(InstancePortsTest, AreAccessedAtTheirExactTimesAtOddRatesAndLongQuanta) {
  start("ports", 333'333'333, 1 * ms);
  run(100 * us);
  ASSERT_GE(ports_.size(), 11'000u);
  for (std::size_t i = 0; i < ports_.size(); ++i) {
    ASSERT_EQ(ports_[i].time,
              static_cast<Picoseconds>(
                  (3 + 3 * i) * static_cast<unsigned __int128>(1'000'000'000'000) / 333'333'333));
  }
}

TEST_F(InstancePortsTest, Sizes) {
  start("port-sizes");
  on_read = [](Cpu&, std::uint64_t) { return 0x88776655; };
  machine_->device.on_access = [](Access& access) {
    if (access.kind == 'r') access.value = 0xa0 + (access.address & 0xf);
  };
  run(10 * us);
  EXPECT_THAT(texts(), ElementsAre("w0/1=11", "w1/1=11", "w2/2=2211", "w4/4=44332211",  //
                                   "r4/1=0", "r4/2=0", "r4/4=0",                        //
                                   "w4/1=a0", "w4/1=a1", "w4/1=a2", "w4/1=a3"));
  const auto stored = machine_->device.of(mmio);
  ASSERT_GE(stored.size(), 3u);
  EXPECT_EQ(stored[0].value, 0x55u);
  EXPECT_EQ(stored[1].value, 0x6655u);
  EXPECT_EQ(stored[2].value, 0x88776655u);
}

// PCI's configuration mechanism 1 turns an access to a port into an access to memory.
TEST_F(InstancePortsTest, AHandlerMayMakeAccessesForTheVcpu) {
  start("port-sizes");
  machine_->device.at[0xd0100] = {0x1234, 500 * ns, 0};
  machine_->device.at[0xd0200] = {0x5678, 0, 250 * ns};
  on_read = [](Cpu& cpu, std::uint64_t) {
    std::uint64_t one = 0, other = 0;
    EXPECT_TRUE(cpu.access(tlm::TLM_READ_COMMAND, 0xd0100, 4, one));
    EXPECT_TRUE(cpu.access(tlm::TLM_READ_COMMAND, 0xd0200, 4, other));
    return static_cast<std::uint32_t>(one << 16 | other);
  };
  run(10 * us);
  ASSERT_EQ(ports_.size(), 11u);
  const auto first = machine_->device.of(0xd0100), second = machine_->device.of(0xd0200);
  ASSERT_EQ(first.size(), 3u);
  ASSERT_EQ(second.size(), 3u);
  const auto stored = machine_->device.of(mmio);
  EXPECT_EQ(stored[2].value, 0x12345678u);
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(first[i].time, ports_[4 + i].time);
    EXPECT_EQ(second[i].time, first[i].time + 500 * ns);
    EXPECT_EQ(stored[i].time, second[i].time + 250 * ns + 1 * ns);
  }
}

}  // namespace
}  // namespace vp::qemu
