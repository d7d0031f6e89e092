// SPDX-License-Identifier: Apache-2.0
// The transactions of a vCPU's loads and stores on its socket, and the effects of a refusal.
#include "tests/vp/qemu/machine.h"

namespace vp::qemu {
namespace {

using testing::ElementsAre;
using testing::ElementsAreArray;

/// "w109/8=1122": kind, offset from the device, size and value.
std::vector<std::string> words(const std::vector<Access>& accesses) {
  std::vector<std::string> found;
  for (const Access& one : accesses) {
    char word[64];
    std::snprintf(word, sizeof word, "%c%llx/%u=%llx", one.kind,
                  static_cast<unsigned long long>(one.address - device), one.size,
                  static_cast<unsigned long long>(one.value));
    found.push_back(word);
  }
  return found;
}

/// A device whose byte at each offset is the low byte of the offset.
void read_offsets(Machine& machine) {
  machine.device.on_access = [](Access& access) {
    if (access.kind != 'r') return;
    access.value = 0;
    for (unsigned i = 0; i < access.size; ++i) {
      access.value |= ((access.address + i) & 0xff) << (8 * i);
    }
  };
}

TEST(CpuAccessTest, SizesAndOrder) {
  Machine machine(ipu("sizes"));
  read_offsets(machine);
  run(10 * us);
  EXPECT_THAT(words(machine.device.accesses),
              ElementsAre("w101/1=11", "w102/2=2211", "w104/4=44332211", "w108/8=8877665544332211",
                          "w110/8=bbaa998844332211",                             // STP of words
                          "w118/8=8877665544332211", "w120/8=ffeeddccbbaa9988",  // STP
                          "w130/8=8877665544332211", "w138/8=ffeeddccbbaa9988",  // 16 bytes
                          "w140/8=8877665544332211", "w148/8=ffeeddccbbaa9988",  // 32 bytes
                          "w150/8=8877665544332211", "w158/8=ffeeddccbbaa9988",  //
                          "r201/1=1", "w10/8=1", "r202/2=302", "w10/8=302",      //
                          "r204/4=7060504", "w10/8=7060504", "r20f/1=f", "w10/8=f",
                          "r208/8=f0e0d0c0b0a0908", "w10/8=f0e0d0c0b0a0908",  //
                          "r218/8=1f1e1d1c1b1a1918", "r220/8=2726252423222120",
                          "w10/8=1f1e1d1c1b1a1918", "w10/8=2726252423222120",  //
                          "r230/8=3736353433323130", "r238/8=3f3e3d3c3b3a3938",
                          "w10/8=3736353433323130", "w10/8=3f3e3d3c3b3a3938"));
}

TEST(CpuAccessTest, WhatAModelThrowsReachesTheKernelPastQemu) {
  Machine machine(ipu("sizes"));
  read_offsets(machine);
  machine.device.on_access = [](Access&) { throw BrokenPromise("a link delivers too early"); };
  try {
    run(10 * us);
    FAIL() << "nothing thrown";
  } catch (const sc_core::sc_report& report) {
    EXPECT_THAT(report.what(), testing::HasSubstr("a link delivers too early"));
  }
  EXPECT_EQ(machine.device.accesses.size(), 1u) << "nothing more is executed";
}

TEST(CpuAccessTest, AllPartsOfAnInstructionHappenAtItsTime) {
  Machine machine(ipu("sizes"));
  run(10 * us);
  const auto& accesses = machine.device.accesses;
  ASSERT_GE(accesses.size(), 14u);
  EXPECT_EQ(accesses[9].time, accesses[12].time);  // 32 bytes
  EXPECT_EQ(accesses[9].time, accesses[8].time + 1 * ns);
}

TEST(CpuAccessTest, UnalignedAccessesComeAsBytes) {
  Machine machine(ipu("unaligned"));
  read_offsets(machine);
  run(10 * us);
  EXPECT_THAT(words(machine.device.accesses),
              ElementsAre("w101/1=11", "w102/1=22", "w103/1=33", "w104/1=44", "w105/1=55",
                          "w106/1=66", "w107/1=77", "w108/1=88",               //
                          "w143/1=11", "w144/1=22", "w145/1=33", "w146/1=44",  //
                          "w181/1=11", "w182/1=22",                            //
                          "r81/1=81", "r82/1=82", "r83/1=83", "r84/1=84", "r85/1=85", "r86/1=86",
                          "r87/1=87", "r88/1=88", "w800/8=8887868584838281",
                          // Across a page, but each half is aligned.
                          "wffc/4=44332211", "w1000/4=88776655",  //
                          "rffc/4=fffefdfc", "r1000/4=3020100", "w800/8=3020100fffefdfc"));
}

TEST(CpuAccessTest, AtomicAccessesAreAReadAndAWrite) {
  Machine machine(ipu("atomics"));
  std::map<std::uint64_t, std::uint64_t> memory{{device, 100}};
  machine.device.on_access = [&](Access& access) {
    if (access.kind == 'r') {
      access.value = memory[access.address];
    } else {
      memory[access.address] = access.value;
    }
  };
  run(10 * us);
  const auto results = machine.device.of(device + 0x800);
  ASSERT_EQ(results.size(), 4u);
  EXPECT_EQ(results[0].value, 100u);  // LDADD gave the old value
  EXPECT_EQ(results[1].value, 105u);  // SWP too
  EXPECT_EQ(results[2].value, 5u);    // CAS did not match 7
  EXPECT_EQ(memory[device], 6u);      // the exclusive pair added 1
  EXPECT_EQ(memory[device + 0x20], 1u);
  EXPECT_EQ(memory[device + 0x28], 2u);  // CASP
  ASSERT_EQ(machine.device.of(device + 0x808).size(), 1u);
  EXPECT_EQ(machine.device.of(device + 0x808)[0].value, 0u);
}

class RefusalTest : public testing::TestWithParam<Picoseconds> {};

INSTANTIATE_TEST_SUITE_P(Quanta, RefusalTest, testing::Values(1 * ns, 1 * us, 70 * us, 1 * ms));

// A refused access is a synchronous external abort of its instruction, and costs only the time for
// which it waited.
TEST_P(RefusalTest, IsASynchronousExternalAbort) {
  Instance::Config config = ipu("faults");
  config.max_quantum = GetParam();
  Machine machine(std::move(config));
  for (const std::uint64_t offset : {0x100, 0x101}) {
    machine.device.at[device + offset] = {0, 5 * us, 0, true};
  }
  run(1 * ms);

  struct Fault {
    std::uint64_t exception_class, status, address;
    bool write;
  };
  constexpr std::uint64_t nowhere = 0x20000000000;
  const std::vector<Fault> faults{
      {0x25, 0x10, device + 0x100, false}, {0x25, 0x10, device + 0x100, true},
      {0x25, 0x10, device + 0x101, true},  {0x25, 0x10, device + 0x100, false},
      {0x25, 0x10, nowhere, false},        {0x25, 0x10, nowhere, true},
      {0x21, 0x10, device + 0x100, false}, {0x21, 0x10, nowhere, false},
      {0x21, 0x10, device, false}};
  const auto syndromes = machine.device.of(device + 0x800);
  const auto addresses = machine.device.of(device + 0x808);
  const auto numbers = machine.device.of(device + 0x810);
  ASSERT_EQ(numbers.size(), faults.size());
  for (std::size_t i = 0; i < faults.size(); ++i) {
    EXPECT_EQ(syndromes[i].value >> 26, faults[i].exception_class) << i;
    EXPECT_EQ(syndromes[i].value & 0x3f, faults[i].status) << i;
    EXPECT_EQ((syndromes[i].value >> 6 & 1) != 0, faults[i].write) << i;
    EXPECT_EQ(addresses[i].value, faults[i].address) << i;
    EXPECT_EQ(numbers[i].value, i + 1) << i;
  }
  // After 5 us of waiting come the vector's branch, the two reads of registers and their stores.
  // The refused instruction itself is not counted.
  const auto refused = machine.device.of(device + 0x100);
  ASSERT_GE(refused.size(), 2u);
  EXPECT_EQ(syndromes[0].time, refused[0].time + 5 * us + 2 * ns);
  EXPECT_EQ(syndromes[1].time, refused[1].time + 5 * us + 2 * ns);
  ASSERT_EQ(machine.device.of(device + 0x818).size(), 1u);
}

}  // namespace
}  // namespace vp::qemu
