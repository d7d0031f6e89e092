// SPDX-License-Identifier: Apache-2.0
// Memory types of a guest's page tables, PAT and MTRRs, and the instructions that act on device
// memory other than by an access.
#include <fmt/format.h>

#include "tests/vp/qemu/machine.h"

namespace vp::qemu {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr std::uint32_t mmio = 0x4000'0000;  // in 32 bits, and nothing of QEMU's own
constexpr std::uint32_t parameters = 0x500, script = 0x20000, results = 0x30000;
constexpr std::uint32_t directory = 0x10000, table = 0x11000;
constexpr std::uint32_t cr0_paging = 0x8000'0011, cr0_plain = 0x11, cr0_cd = 0x4000'0000;
constexpr std::uint32_t cr4_pse = 0x10, cr4_pae = 0x20;
constexpr std::uint32_t msr_pat = 0x277, msr_default = 0x2ff;

/// What guests/types.S executes.
enum Number : std::uint32_t {
  end,
  store4,
  store8,
  load4,
  load8,
  movntdqa,
  sfence,
  mfence,
  lfence,
  locked,
  exchange,
  cpuid,
  wrmsr,
  clflush,
  clflushopt,
  prefetch,
  prefetchw,
  out,
  in,
  software_interrupt,
  iret,
  write_cr0,
  write_cr3,
  invlpg,
  wbinvd,
  lgdt,
  delay,
  enable,
  plain,
  read_cr0,
  publish,
};

struct Step {
  Number number;
  std::uint32_t address = 0;
  std::uint64_t value = 0;
};

constexpr MemoryType uc = MemoryType::uncacheable, wc = MemoryType::write_combining,
                     wt = MemoryType::write_through, wp = MemoryType::write_protected,
                     wb = MemoryType::write_back;

/// Entry n of the PAT is the type with the code n; 7 is UC-.
constexpr std::uint64_t pat_by_code = 0x0706'0504'0007'0100;
constexpr unsigned entry_of(MemoryType type) {
  return static_cast<unsigned>(type);
}
constexpr unsigned uc_minus = 7;

class CpuMemoryTypesTest : public testing::Test {
 protected:
  void make(Picoseconds quantum = 1 * us) {
    Instance::Config config = host("types");
    config.max_quantum = quantum;
    machine_ = std::make_unique<Machine>(std::move(config));
    machine_->device.holding = [](const Access& access) {
      return access.kind == 'w' && access.type == wc;
    };
    map();
    add({wrmsr, msr_pat, pat_by_code});
  }
  /// Maps the first 4 GiB to themselves in pages of 4 MiB; the device's is uncacheable.
  void map() {
    control(cr0_paging, cr4_pse);
    for (std::uint32_t i = 0; i < 1024; ++i) {
      put4(directory + 4 * i, i << 22 | 0x83 | (i == mmio >> 22 ? large(entry_of(uc)) : 0));
    }
  }
  void map_device(unsigned pat_entry) {
    put4(directory + (mmio >> 22) * 4, mmio | 0x83 | large(pat_entry));
  }
  void control(std::uint32_t cr0, std::uint32_t cr4) {
    put4(parameters, cr4);
    put4(parameters + 4, directory);
    put4(parameters + 8, cr0);
  }
  /// Bits of a page table's leaf that select an entry of the PAT.
  static std::uint32_t large(unsigned entry) { return (entry & 3) << 3 | (entry >> 2) << 12; }
  static std::uint32_t small(unsigned entry) { return (entry & 3) << 3 | (entry >> 2) << 7; }

  void put4(std::uint64_t address, std::uint32_t value) {
    ASSERT_TRUE(machine_->qemu.write_memory(address, &value, 4));
  }
  void put8(std::uint64_t address, std::uint64_t value) {
    ASSERT_TRUE(machine_->qemu.write_memory(address, &value, 8));
  }
  void add(const Step& step) {
    ASSERT_TRUE(machine_->qemu.write_memory(script + 16 * steps_++, &step, sizeof step));
  }
  std::uint64_t result(unsigned word) {
    std::uint64_t value = 0;
    EXPECT_TRUE(machine_->qemu.read_memory(results + 8 * word, &value, 8));
    return value;
  }
  const std::vector<Access>& accesses() const { return machine_->device.accesses; }
  /// What the device saw: kinds, types, and addresses within the device.
  std::vector<std::string> seen() const {
    std::vector<std::string> found;
    for (const Access& one : accesses()) {
      static const char* const names[] = {"UC", "WC", "?", "?", "WT", "WP", "WB"};
      found.push_back(one.kind == 'd' ? "d"
                                      : fmt::format("{} {} {:x}/{}", one.kind,
                                                    names[static_cast<unsigned>(one.type)],
                                                    one.address - mmio, one.size));
    }
    return found;
  }

  std::unique_ptr<Machine> machine_;

 private:
  unsigned steps_ = 0;
};

// Intel SDM volume 3, table 12-7; what is undefined there is UC.
TEST_F(CpuMemoryTypesTest, CombineEveryPatEntryWithEveryMtrr) {
  make();
  const std::map<MemoryType, std::map<unsigned, MemoryType>> expected = {
      {uc, {{0, uc}, {1, wc}, {4, uc}, {5, uc}, {6, uc}, {7, uc}}},
      {wc, {{0, uc}, {1, wc}, {4, uc}, {5, uc}, {6, wc}, {7, wc}}},
      {wt, {{0, uc}, {1, wc}, {4, wt}, {5, uc}, {6, wt}, {7, uc}}},
      {wp, {{0, uc}, {1, wc}, {4, uc}, {5, wp}, {6, wp}, {7, wc}}},
      {wb, {{0, uc}, {1, wc}, {4, wt}, {5, wp}, {6, wb}, {7, uc}}},
  };
  // Eight neighbours of 4 MiB, each with an entry of its own.
  for (std::uint32_t entry = 0; entry < 8; ++entry) {
    const std::uint32_t page = mmio + (entry << 22);
    put4(directory + (page >> 22) * 4, page | 0x83 | large(entry));
  }
  std::vector<std::string> wanted;
  std::vector<MemoryType> types;
  for (const auto& [mtrr, row] : expected) {
    add({wrmsr, msr_default, 0x800 | static_cast<std::uint64_t>(mtrr)});
    for (const auto& [entry, type] : row) {
      add({load4, mmio + (entry << 22)});
      types.push_back(type);
    }
  }
  run(100 * us);
  ASSERT_EQ(accesses().size(), types.size());
  for (std::size_t i = 0; i < types.size(); ++i) EXPECT_EQ(accesses()[i].type, types[i]) << i;
}

TEST_F(CpuMemoryTypesTest, AreThoseOfTheLeafInEveryKindOfPage) {
  make();
  // Pages of 4 KiB, 32-bit tables.
  put4(directory + (mmio >> 22) * 4, table | 3);
  for (std::uint32_t entry = 0; entry < 8; ++entry) {
    const std::uint32_t page = mmio + (entry << 12);
    put4(table + 4 * entry, page | 3 | small(entry));
    add({load4, page});
  }
  run(100 * us);
  EXPECT_THAT(seen(), ElementsAre("r UC 0/4", "r WC 1000/4", "r UC 2000/4", "r UC 3000/4",
                                  "r WT 4000/4", "r WP 5000/4", "r WB 6000/4", "r UC 7000/4"));
}

TEST_F(CpuMemoryTypesTest, AreThoseOfTheLeafWithPae) {
  make();
  control(cr0_paging, cr4_pae);
  // Four directories of 1 GiB from 0x12000 on; pages of 2 MiB, and one table of 4 KiB.
  for (std::uint32_t i = 0; i < 4; ++i) put8(directory + 8 * i, (0x12000 + (i << 12)) | 1);
  const auto entry_at = [](std::uint32_t address) { return 0x12000 + (address >> 21) * 8; };
  for (std::uint64_t page = 0; page < std::uint64_t{1} << 32; page += 2 << 20) {
    const auto address = static_cast<std::uint32_t>(page);
    put8(entry_at(address), address | 0x83);
  }
  for (std::uint32_t entry = 0; entry < 8; ++entry) {
    const std::uint32_t page = mmio + (entry << 21);
    put8(entry_at(page), page | 0x83 | large(entry));
    add({load4, page});
  }
  const std::uint32_t fine = mmio + (8 << 21);
  put8(entry_at(fine), table | 3);
  for (std::uint32_t entry = 0; entry < 8; ++entry) {
    put8(table + 8 * entry, (fine + (entry << 12)) | 3 | small(entry));
    add({load4, fine + (entry << 12)});
  }
  run(100 * us);
  std::vector<MemoryType> found;
  for (const Access& one : accesses()) found.push_back(one.type);
  EXPECT_THAT(found, ElementsAre(uc, wc, uc, uc, wt, wp, wb, uc, uc, wc, uc, uc, wt, wp, wb, uc));
}

TEST_F(CpuMemoryTypesTest, WithoutPagingAreTheMtrrs) {
  make();
  control(cr0_plain, 0);
  for (const MemoryType type : {uc, wc, wt, wp, wb}) {
    add({wrmsr, msr_default, 0x800 | static_cast<std::uint64_t>(type)});
    add({load4, mmio});
  }
  add({wrmsr, msr_default, static_cast<std::uint64_t>(wb)});  // MTRRs off
  add({load4, mmio});
  run(100 * us);
  std::vector<MemoryType> found;
  for (const Access& one : accesses()) found.push_back(one.type);
  EXPECT_THAT(found, ElementsAre(uc, wc, wt, wp, wb, uc));
}

TEST_F(CpuMemoryTypesTest, AreUncacheableWhileCachesAreOff) {
  make();
  map_device(entry_of(wc));
  add({load4, mmio});
  add({write_cr0, 0, cr0_cd});
  add({load4, mmio});
  add({write_cr0, 0, 0});
  add({load4, mmio});
  run(100 * us);
  EXPECT_THAT(seen(), ElementsAre("r WC 0/4", "r UC 0/4", "r WC 0/4"));
}

// Volume 3, 12.11.2.3 and 12.11.4.1: the last page in and the first out, and ranges that overlap.
TEST_F(CpuMemoryTypesTest, FollowVariableRanges) {
  make();
  control(cr0_plain, 0);
  const auto range = [this](unsigned n, std::uint64_t base, std::uint64_t size, MemoryType type) {
    add({wrmsr, 0x200 + 2 * n, base | static_cast<std::uint64_t>(type)});
    add({wrmsr, 0x201 + 2 * n, (0xff'ffff'ffff & ~(size - 1)) | 0x800});
  };
  add({wrmsr, msr_default, 0x800 | static_cast<std::uint64_t>(wp)});
  range(1, mmio + 0x4000, 0x4000, wc);
  range(2, mmio + 0x8000, 0x2000, wt);
  range(3, mmio + 0x8000, 0x1000, wb);
  range(7, mmio + 0x9000, 0x1000, uc);
  range(4, mmio + 0xa000, 0x1000, wc);
  range(5, mmio + 0xa000, 0x1000, wb);
  range(6, mmio + 0x4000, 0x1000, wc);
  for (const std::uint32_t at : {0x3fff, 0x4000, 0x7fff, 0x8000, 0x9000, 0xa000, 0xb000}) {
    add({load4, mmio + (at & ~3u)});
  }
  run(100 * us);
  std::vector<MemoryType> found;
  for (const Access& one : accesses()) found.push_back(one.type);
  EXPECT_THAT(found, ElementsAre(wp, wc, wc, wt, uc, uc, wp));
}

TEST_F(CpuMemoryTypesTest, FollowFixedRanges) {
  make();
  control(cr0_plain, 0);
  machine_->qemu.map_memory(0x70000, 0x60000, 10);
  add({wrmsr, 0x250, 0x0400'0000'0000'0000});  // 7_0000: WT
  add({wrmsr, 0x258, 0x0000'0000'0000'0001});  // 8_0000: WC
  add({wrmsr, 0x259, 0x0500'0000'0000'0000});  // b_c000: WP
  add({wrmsr, 0x268, 0x0000'0000'0000'0004});  // c_0000: WT
  add({wrmsr, 0x269, 0x0100'0000'0000'0000});  // c_f000: WC
  const std::uint32_t addresses[] = {0x70000, 0x7fffc, 0x80000, 0x84000, 0xbbffc,
                                     0xbc000, 0xc0000, 0xc1000, 0xcf000};
  add({wrmsr, msr_default, 0xc06});
  for (const std::uint32_t address : addresses) add({load4, address});
  add({wrmsr, msr_default, 0x806});  // fixed ranges off
  add({load4, 0x70000});
  run(100 * us);
  std::vector<MemoryType> found;
  for (const Access& one : accesses()) found.push_back(one.type);
  EXPECT_THAT(found, ElementsAre(wt, wt, wc, uc, uc, wp, wt, uc, wc, wb));
}

TEST_F(CpuMemoryTypesTest, TheMachineBeginsWithCachedMemoryBelowDevices) {
  make();
  control(cr0_plain, 0);
  machine_->qemu.map_memory(0xc000'0000, 0x2000'0000, 10);
  for (const std::uint32_t address : {mmio, 0xbfff'fffcu, 0xc000'0000u, 0xdfff'fffcu}) {
    add({load4, address});
  }
  run(100 * us);
  std::vector<MemoryType> found;
  for (const Access& one : accesses()) found.push_back(one.type);
  EXPECT_THAT(found, ElementsAre(wb, wb, uc, uc));
}

// These operations drain a processor's buffers before they act (volume 3, 12.3.1).
struct Cause {
  const char* name;
  Step step;
  bool drains;
};
std::ostream& operator<<(std::ostream& out, const Cause& cause) {
  return out << cause.name;
}

class CpuDrainTest : public CpuMemoryTypesTest, public testing::WithParamInterface<Cause> {};

TEST_P(CpuDrainTest, ExactlyOnceAndInTime) {
  make();
  map_device(entry_of(wc));
  add({store4, mmio});
  add({delay, 0, 200});
  add(GetParam().step);
  add({delay, 0, 500});
  run(10 * us);
  const auto& found = accesses();
  ASSERT_GE(found.size(), 2u);
  EXPECT_EQ(found[1].kind, 'd');
  const Picoseconds span = found[1].time - found[0].time;
  // Some instructions lead from one operation to the next; the end halts, which drains too.
  if (GetParam().drains) {
    EXPECT_GT(span, 400 * ns);
    EXPECT_LT(span, 420 * ns);
  } else {
    EXPECT_GT(span, 1400 * ns);
  }
  for (std::size_t i = 2; i < found.size(); ++i) EXPECT_NE(found[i].kind, 'd');
}

constexpr std::uint32_t own_apic = 0xfee0'0080;
INSTANTIATE_TEST_SUITE_P(
    Causes, CpuDrainTest,
    testing::Values(Cause{"sfence", {sfence}, true}, Cause{"mfence", {mfence}, true},
                    Cause{"lock", {locked}, true}, Cause{"xchg", {exchange}, true},
                    Cause{"cpuid", {cpuid}, true},
                    Cause{"wrmsr", {wrmsr, msr_pat, pat_by_code}, true},
                    Cause{"out", {out, 0x80}, true}, Cause{"in", {in, 0x80}, true},
                    Cause{"interrupt", {software_interrupt}, true}, Cause{"iret", {iret}, true},
                    Cause{"cr0", {write_cr0, 0, 0}, true}, Cause{"cr3", {write_cr3}, true},
                    Cause{"invlpg", {invlpg}, true}, Cause{"wbinvd", {wbinvd}, true},
                    Cause{"lgdt", {lgdt}, true}, Cause{"uncached", {load4, own_apic}, true},
                    Cause{"lfence", {lfence}, false}, Cause{"plain", {plain}, false},
                    Cause{"cr0_read", {read_cr0}, false}, Cause{"store", {store8, 0x700}, false}),
    [](const auto& info) { return std::string(info.param.name); });

TEST_F(CpuMemoryTypesTest, AnInterruptDrainsBeforeItsHandler) {
  make();
  map_device(entry_of(wc));
  add({store4, 0xfee0'00f0, 0x1ff});  // the local APIC on
  add({store4, 0xfee0'03e0, 0xb});    // its timer counts nanoseconds
  add({store4, 0xfee0'0320, 0x40});
  add({enable});
  add({store4, 0xfee0'0380, 1000});
  add({store4, mmio});
  add({delay, 0, 5000});
  run(20 * us);
  ASSERT_EQ(accesses().size(), 2u);
  EXPECT_EQ(accesses()[1].kind, 'd');
  const Picoseconds span = accesses()[1].time - accesses()[0].time;
  EXPECT_GT(span, 900 * ns);
  EXPECT_LE(span, 1000 * ns) << "the handler's end is 200 ns later";
}

TEST_F(CpuMemoryTypesTest, APageFaultDrains) {
  make();
  map_device(entry_of(wc));
  put4(directory + 0x8000'0000u / 0x40'0000u * 4, 0);
  add({store4, mmio});
  add({delay, 0, 200});
  add({load4, 0x8000'0000});
  add({delay, 0, 500});
  run(10 * us);
  ASSERT_EQ(accesses().size(), 2u);
  EXPECT_EQ(accesses()[1].kind, 'd');
  EXPECT_LT(accesses()[1].time - accesses()[0].time, 420 * ns);
}

// Only code that is executed while a target holds data has the hooks.
TEST_F(CpuMemoryTypesTest, NothingDrainsWhatIsNotHeld) {
  make();
  machine_->device.holding = nullptr;
  map_device(entry_of(wc));
  for (const Step& step : {Step{sfence}, {mfence}, {locked}, {cpuid}, {iret}, {out, 0x80}}) {
    add({store4, mmio});
    add(step);
  }
  run(10 * us);
  EXPECT_EQ(accesses().size(), 6u);
  for (const Access& one : accesses()) EXPECT_EQ(one.kind, 'w');
}

TEST_F(CpuMemoryTypesTest, WhatDrainedOnceIsHeldAnew) {
  make();
  map_device(entry_of(wc));
  for (unsigned i = 0; i < 3; ++i) {
    add({store4, mmio});
    add({sfence});
    add({sfence});
  }
  run(10 * us);
  EXPECT_THAT(seen(), ElementsAre("w WC 0/4", "d", "w WC 0/4", "d", "w WC 0/4", "d"));
}

// Code that follows a store at one time, when the store has ended what was held, is not what
// follows it when that is still held.
TEST_F(CpuMemoryTypesTest, AFenceDrainsWhateverTheStoreBeforeItDidAtOtherTimes) {
  for (const Picoseconds quantum : {50 * ns, 1 * us, 100 * us}) {
    in_child([this, quantum] {
      make(quantum);
      map_device(entry_of(wc));
      const std::uint32_t uncached = mmio + 0x40'0000, rounds = 4;
      put4(directory + (uncached >> 22) * 4, uncached | 0x83 | large(entry_of(uc)));
      std::vector<std::string> expected;
      for (unsigned turn = 0; turn < 3; ++turn) {
        for (unsigned i = 0; i < rounds; ++i) {
          add({publish, mmio, uncached});
          for (const char* one : {"w WC 0/4", "d", "w UC 400000/4"}) expected.push_back(one);
        }
        for (unsigned i = 0; i < rounds; ++i) {
          add({publish, mmio, mmio + 0x40});
          for (const char* one : {"w WC 0/4", "w WC 40/4", "d"}) expected.push_back(one);
        }
      }
      run(20 * us);
      EXPECT_EQ(seen(), expected) << quantum;
      return std::string();
    });
  }
}

TEST_F(CpuMemoryTypesTest, LineOperationsReachDeviceMemoryOnly) {
  make();
  const Number numbers[] = {clflush, clflushopt, prefetch, prefetchw, movntdqa};
  const std::uint32_t ram = 0x4000, hole = 0x8000'0000;
  put4(directory + hole / 0x40'0000u * 4, 0);
  for (const Number number : numbers) {
    if (number == movntdqa) continue;
    add({number, ram});
    add({number, hole + 8});
    add({number, mmio + 8});
  }
  add({movntdqa, ram});
  add({movntdqa, mmio + 16});
  run(20 * us);
  EXPECT_THAT(seen(), ElementsAre("r UC 10/8", "r UC 18/8")) << "not uncacheable memory";
}

TEST_F(CpuMemoryTypesTest, LineOperationsNameTheirLine) {
  make();
  map_device(entry_of(wt));
  machine_->device.at[mmio + 0x10].value = 0x1111'2222'3333'4444;
  machine_->device.at[mmio + 0x18].value = 0x5555'6666'7777'8888;
  add({prefetch, mmio + 0x47});  // the very first access
  add({prefetchw, mmio + 0x80});
  add({clflush, mmio + 0x3f});
  add({clflushopt, mmio + 0x40});
  add({movntdqa, mmio + 0x10});
  add({lfence});
  run(20 * us);
  EXPECT_THAT(seen(), ElementsAre("p WT 47/1", "p WT 80/1", "f WT 3f/1", "f WT 40/1", "s WT 10/16",
                                  "r WT 10/8", "r WT 18/8"));
  EXPECT_EQ(result(0), 0x1111'2222'3333'4444u);
  EXPECT_EQ(result(1), 0x5555'6666'7777'8888u);
  for (std::size_t i = 5; i < 7; ++i) EXPECT_EQ(accesses()[i].time, accesses()[4].time);
}

TEST_F(CpuMemoryTypesTest, AStallOfALineOperationStallsTheVcpu) {
  make();
  map_device(entry_of(wc));
  machine_->device.at[mmio + 0x10].wait = 0;
  machine_->device.on_access = [](Access& access) {
    if (access.kind == 's') wait(to_sc_time(750 * ns));
  };
  add({store4, mmio + 0x40});
  add({movntdqa, mmio + 0x10});
  run(20 * us);
  ASSERT_EQ(accesses().size(), 4u);
  EXPECT_EQ(accesses()[2].time - accesses()[1].time, 750 * ns);
}

// The guest acts at the same times for every quantum.
TEST_F(CpuMemoryTypesTest, DoNotDependOnTheQuantum) {
  const auto trace = [this](Picoseconds quantum) {
    return in_child([this, quantum] {
      make(quantum);
      map_device(entry_of(wc));
      for (unsigned i = 0; i < 20; ++i) {
        add({store8, mmio + 8 * i, i});
        add({delay, 0, 37});
        if (i % 3 == 0) add({sfence});
        if (i % 5 == 0) add({movntdqa, mmio + 0x100});
        if (i % 7 == 0) add({locked});
      }
      run(50 * us);
      return machine_->device.trace();
    });
  };
  const std::string expected = trace(50 * ns);
  EXPECT_GT(expected.size(), 1000u);
  for (const Picoseconds quantum : {200 * ns, 1 * us, 1 * ms}) EXPECT_EQ(trace(quantum), expected);
}

}  // namespace
}  // namespace vp::qemu
