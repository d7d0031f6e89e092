// SPDX-License-Identifier: Apache-2.0
// Each iteration of an x86 string instruction counts as an instruction, and anything that can
// happen between two instructions can happen between two iterations.
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "tests/vp/qemu/machine.h"

namespace vp::qemu {
namespace {

constexpr std::uint64_t mmio = 0x4000'0000;
constexpr std::uint64_t script = 0x20000, results = 0x30000;
constexpr std::uint64_t source = 0x10'0000, buffers = 0x80'0000, hole = 0x60'0000;
constexpr std::uint64_t carry = 1, zero = 0x40, interrupts = 0x200, down = 0x400;
const std::vector<Picoseconds> quanta{10 * ns, 100 * ns, 1 * us, 1 * ms};

/// What guests/strings.S executes.
enum Number : std::uint64_t {
  end,
  movsb,
  movsq,
  stosb,
  stosq,
  lodsb,
  cmpsb,
  scasb,
  outsb,
  insb,
  movsb32,
  shadow,
  store4,
};

struct Step {
  Number number;
  std::uint64_t rax = 0, rcx = 0, rsi = 0, rdi = 0, flags = 0, unused[2] = {};
};

struct Registers {
  std::uint64_t rcx, rsi, rdi, flags;
};

/// The bytes at `source`; never 0.
std::uint8_t pattern(std::uint64_t index) {
  return static_cast<std::uint8_t>(index % 251 + 1);
}

class Guest {
 public:
  explicit Guest(Picoseconds quantum, std::uint64_t ips = 1'000'000'000)
      : machine_(configuration(quantum, ips)) {
    // Pages of 2 MiB up to 16 MiB without the hole, then of 1 GiB.
    put<std::uint64_t>(0x10000, 0x11003);
    put<std::uint64_t>(0x11000, 0x12003);
    for (std::uint64_t i = 1; i < 4; ++i) put<std::uint64_t>(0x11000 + 8 * i, i << 30 | 0x83);
    for (std::uint64_t i = 0; i < 8; ++i) {
      put<std::uint64_t>(0x12000 + 8 * i, i << 21 | (i == hole >> 21 ? 0x82 : 0x83));
    }
    std::vector<std::uint8_t> bytes(0x10'0000);
    for (std::uint64_t i = 0; i < bytes.size(); ++i) bytes[i] = pattern(i);
    EXPECT_TRUE(machine_.qemu.write_memory(source, bytes.data(), bytes.size()));
  }

  void add(Step step) {
    step.flags |= 2;
    put(script + sizeof step * steps_++, step);
  }
  template <typename T>
  void put(std::uint64_t address, const T& value) {
    EXPECT_TRUE(machine_.qemu.write_memory(address, &value, sizeof value));
  }
  std::vector<std::uint8_t> memory(std::uint64_t address, std::uint64_t size) {
    std::vector<std::uint8_t> bytes(size);
    EXPECT_TRUE(machine_.qemu.read_memory(address, bytes.data(), size));
    return bytes;
  }
  /// Memory that no other step uses, with a byte on each side.
  std::uint64_t buffer(std::uint64_t size) {
    free_ += 32;
    return std::exchange(free_, (free_ + size + 31) & ~std::uint64_t{31});
  }
  /// After the nth string instruction.
  Registers after(unsigned n) {
    Registers found{};
    EXPECT_TRUE(machine_.qemu.read_memory(results + sizeof found * n, &found, sizeof found));
    return found;
  }
  Picoseconds begin(unsigned n) const { return at(mmio, n); }
  Picoseconds span(unsigned n) const { return at(mmio + 8, n) - begin(n); }

  Device& device() { return machine_.device; }
  Machine& machine() { return machine_; }

 private:
  static Instance::Config configuration(Picoseconds quantum, std::uint64_t ips) {
    Instance::Config config = host("strings");
    config.max_quantum = quantum;
    config.ips = ips;
    return config;
  }
  Picoseconds at(std::uint64_t address, unsigned n) const {
    const auto found = machine_.device.of(address);
    EXPECT_LT(n, found.size());
    return n < found.size() ? found[n].time : 0;
  }

  Machine machine_;
  unsigned steps_ = 0;
  std::uint64_t free_ = buffers;
};

/// What the guest does with each quantum, which must be the same.
void expect_same(const std::function<std::string(Picoseconds)>& work) {
  const std::string expected = in_child([&] { return work(quanta[0]); });
  EXPECT_FALSE(expected.empty());
  for (std::size_t i = 1; i < quanta.size(); ++i) {
    EXPECT_TRUE(in_child([&] { return work(quanta[i]); }) == expected) << quanta[i];
  }
}

enum Effect : unsigned { none = 0, reads = 1, writes = 2 };

struct Operation {
  Number number;
  const char* name;
  unsigned width;
  unsigned effects;  // a set of Effect

  bool reads_memory() const { return effects & reads; }
  bool writes_memory() const { return effects & writes; }
};
std::ostream& operator<<(std::ostream& out, const Operation& operation) {
  return out << operation.name;
}

constexpr Operation operations[] = {
    {movsb, "movsb", 1, reads | writes},
    {movsq, "movsq", 8, reads | writes},
    {movsb32, "movsb32", 1, reads | writes},
    {stosb, "stosb", 1, writes},
    {stosq, "stosq", 8, writes},
    {lodsb, "lodsb", 1, reads},
    {cmpsb, "cmpsb", 1, reads},
    {scasb, "scasb", 1, none},
};
constexpr std::uint64_t counts[] = {0, 1, 2, 3, 100, 5000, 70'000};
constexpr std::uint64_t stored = 0x1122'3344'5566'7788;

class CountTest : public testing::TestWithParam<Operation> {};
INSTANTIATE_TEST_SUITE_P(, CountTest, testing::ValuesIn(operations),
                         [](const auto& param) { return std::string(param.param.name); });

/// All counts of an operation, upwards or downwards.
std::string all_counts(const Operation& one, Picoseconds quantum, std::uint64_t ips,
                       bool backwards) {
  Guest guest(quantum, ips);
  std::vector<Step> steps;
  for (const std::uint64_t count : counts) {
    const std::uint64_t size = count * one.width;
    // The operand's last element comes first downwards.
    const std::uint64_t last = backwards && count > 0 ? size - one.width : 0;
    Step step{one.number, one.number == scasb ? 0xff : stored, count};
    step.rsi = source + last;
    step.rdi = (one.writes_memory() ? guest.buffer(size) : source) + last;
    step.flags = carry | (backwards ? down : 0);
    steps.push_back(step);
    guest.add(step);
  }
  run(ips == 1'000'000'000 ? 100 * us : 300 * us);
  std::string text = guest.device().trace();
  for (unsigned i = 0; i < std::size(counts); ++i) {
    const std::uint64_t count = counts[i], size = count * one.width;
    if (ips == 1'000'000'000) {
      EXPECT_EQ(guest.span(i), static_cast<Picoseconds>(std::max(count, std::uint64_t{1}) + 1) * ns)
          << one.name << ' ' << count << ' ' << quantum;
    }
    const Registers registers = guest.after(i);
    const std::uint64_t moved = backwards ? 0 - size : size;
    const bool pointer = one.number != scasb && one.number != stosb && one.number != stosq;
    EXPECT_EQ(registers.rcx, 0u) << count;
    EXPECT_EQ(registers.rsi, steps[i].rsi + (pointer ? moved : 0)) << count;
    EXPECT_EQ(registers.rdi, steps[i].rdi + (one.number != lodsb ? moved : 0)) << count;
    const bool compares = (one.number == cmpsb || one.number == scasb) && count > 0;
    EXPECT_EQ(registers.flags & zero, compares && one.number == cmpsb ? zero : 0) << count;
    EXPECT_EQ(registers.flags & carry, compares ? 0 : carry) << count;
    if (!one.writes_memory()) continue;
    const std::uint64_t low = steps[i].rdi - (backwards && count > 0 ? size - one.width : 0);
    const auto bytes = guest.memory(low - 1, size + 2);
    EXPECT_EQ(bytes.front(), 0u);
    EXPECT_EQ(bytes.back(), 0u);
    for (std::uint64_t k = 0; k < size; ++k) {
      const auto expected = one.reads_memory()
                                ? pattern(k)
                                : static_cast<std::uint8_t>(stored >> 8 * (k % one.width));
      if (bytes[k + 1] != expected) {
        ADD_FAILURE() << one.name << ' ' << count << ": byte " << k;
        break;
      }
    }
  }
  return text;
}

TEST_P(CountTest, EachIterationIsAnInstruction) {
  expect_same(
      [](Picoseconds quantum) { return all_counts(GetParam(), quantum, 1'000'000'000, false); });
}

TEST_P(CountTest, Downwards) {
  expect_same(
      [](Picoseconds quantum) { return all_counts(GetParam(), quantum, 1'000'000'000, true); });
}

TEST_P(CountTest, AtAnOddRate) {
  expect_same(
      [](Picoseconds quantum) { return all_counts(GetParam(), quantum, 333'333'333, false); });
}

TEST(CpuStringsTest, TheirConditionEndsThemAtItsIteration) {
  const std::vector<std::uint64_t> places{0, 1, 2, 99, 4998, 4999};
  expect_same([&](Picoseconds quantum) {
    Guest guest(quantum);
    for (const std::uint64_t place : places) {
      const std::uint64_t other = guest.buffer(5000);
      for (std::uint64_t i = 0; i < 5000; ++i) guest.put(other + i, pattern(i));
      guest.put<std::uint8_t>(other + place, 0);
      guest.add({cmpsb, 0, 5000, source, other});
      guest.add({scasb, 0, 5000, source, other});
    }
    run(50 * us);
    for (unsigned i = 0; i < 2 * places.size(); ++i) {
      const std::uint64_t iterations = places[i / 2] + 1;
      EXPECT_EQ(guest.span(i), static_cast<Picoseconds>(iterations + 1) * ns) << i;
      const Registers registers = guest.after(i);
      EXPECT_EQ(registers.rcx, 5000 - iterations) << i;
      EXPECT_EQ(registers.rsi, source + (i % 2 == 0 ? iterations : 0)) << i;
      EXPECT_EQ(registers.flags & zero, i % 2 == 0 ? 0 : zero) << i;
    }
    return guest.device().trace();
  });
}

TEST(CpuStringsTest, TheShadowOfStiCostsNothing) {
  const std::vector<std::uint64_t> all{0, 1, 2, 3, 100};
  expect_same([&](Picoseconds quantum) {
    Guest guest(quantum);
    for (const std::uint64_t count : all) guest.add({shadow, 0xee, count, 0, guest.buffer(count)});
    run(20 * us);
    for (unsigned i = 0; i < all.size(); ++i) {
      // STI, the iterations and the store.
      const std::uint64_t iterations = std::max(all[i], std::uint64_t{1});
      EXPECT_EQ(guest.span(i), static_cast<Picoseconds>(iterations + 2) * ns) << all[i];
      EXPECT_EQ(guest.after(i).rcx, 0u);
    }
    return guest.device().trace();
  });
}

// Other writers change memory between two iterations.
TEST(CpuStringsTest, WhatHappensMeanwhileSeesTheExactIteration) {
  const std::vector<Picoseconds> delays{1,         1 * ns,    1 * ns + 1, 99 * ns,      1000 * ns,
                                        2'345'600, 4999 * ns, 4999'001,   5001 * ns - 1};
  expect_same([&](Picoseconds quantum) {
    Guest guest(quantum);
    std::vector<std::uint64_t> areas;
    for (std::size_t i = 0; i < delays.size(); ++i) {
      areas.push_back(guest.buffer(5000));
      guest.add({stosb, 0xff, 5000, 0, areas.back()});
    }
    std::vector<long> found;
    Event event(guest.machine().domain, [&] {
      const auto bytes = guest.memory(areas[found.size()], 5000);
      found.push_back(std::count(bytes.begin(), bytes.end(), 0xff));
    });
    guest.device().on_access = [&](Access& access) {
      if (access.address == mmio) event.after(delays[found.size()]);
    };
    run(60 * us);
    std::string text = guest.device().trace();
    EXPECT_EQ(found.size(), delays.size());
    for (std::size_t i = 0; i < found.size(); ++i) {
      const Picoseconds boundary = (delays[i] + ns - 1) / ns;
      EXPECT_EQ(found[i], std::min(boundary, Picoseconds{5000})) << delays[i];
      text += fmt::format("{} ", found[i]);
    }
    return text;
  });
}

TEST(CpuStringsTest, AWordWrittenMeanwhileIsFoundIfItIsStillAhead) {
  constexpr std::int64_t behind = 2345, ahead = 2346;
  expect_same([&](Picoseconds quantum) {
    Guest guest(quantum);
    std::vector<std::uint64_t> marks;
    for (const std::int64_t place : {behind, ahead, std::int64_t{4999}}) {
      const std::uint64_t area = guest.buffer(5000);
      marks.push_back(area + static_cast<std::uint64_t>(place));
      guest.add({scasb, 0xff, 5000, 0, area});
    }
    std::size_t done = 0;
    Event event(guest.machine().domain, [&] { guest.put<std::uint8_t>(marks[done++], 0xff); });
    guest.device().on_access = [&](Access& access) {
      if (access.address == mmio) event.after(2'345'600);
    };
    run(30 * us);
    EXPECT_EQ(guest.after(0).rcx, 0u) << "2346 bytes had been read";
    EXPECT_EQ(guest.after(0).flags & zero, 0u);
    EXPECT_EQ(guest.after(1).rcx, 5000u - 2347u);
    EXPECT_EQ(guest.span(1), 2348 * ns);
    EXPECT_EQ(guest.after(2).rcx, 0u);
    EXPECT_EQ(guest.after(2).flags & zero, zero);
    return guest.device().trace();
  });
}

/// Of the local APIC.
void arm(Guest& guest, std::uint64_t nanoseconds) {
  guest.add({store4, nanoseconds, 0, 0, 0xfee0'0380, interrupts});
}
void enable_timer(Guest& guest) {
  guest.add({store4, 0x1ff, 0, 0, 0xfee0'00f0});
  guest.add({store4, 0xb, 0, 0, 0xfee0'03e0});
  guest.add({store4, 0x40, 0, 0, 0xfee0'0320});
}
constexpr Picoseconds handler = 8 * ns;

class InterruptedTest : public testing::TestWithParam<Operation> {};
INSTANTIATE_TEST_SUITE_P(, InterruptedTest, testing::ValuesIn(operations),
                         [](const auto& param) { return std::string(param.param.name); });

TEST_P(InterruptedTest, GoesOnBehindTheIterationThatWasLast) {
  const Operation one = GetParam();
  // A short instruction, of which every boundary is met, and long ones.
  std::vector<std::pair<std::uint64_t, std::uint64_t>> cases;
  for (std::uint64_t delay = 1; delay <= 30; ++delay) cases.emplace_back(5, delay);
  for (const std::uint64_t delay : {500, 999, 1000, 1001, 3333, 4990}) {
    cases.emplace_back(5000, delay);
  }
  expect_same([&](Picoseconds quantum) {
    Guest guest(quantum);
    enable_timer(guest);
    std::vector<Step> steps;
    for (const auto& [count, delay] : cases) {
      arm(guest, delay);
      Step step{one.number, one.number == scasb ? 0xffu : 0x55u, count, source, source};
      if (one.writes_memory()) step.rdi = guest.buffer(count * one.width);
      step.flags = interrupts;
      steps.push_back(step);
      guest.add(step);
      guest.add({lodsb, 0, 100, source, 0, interrupts});  // those that come later come here
    }
    run(60 * us);
    const auto noted = guest.device().of(mmio + 0x100);
    const auto rsi = guest.device().of(mmio + 0x108), rdi = guest.device().of(mmio + 0x110);
    EXPECT_EQ(noted.size(), cases.size());
    if (noted.size() != cases.size()) return std::string();
    std::set<std::uint64_t> met;
    std::optional<Picoseconds> offset;
    for (unsigned i = 0; i < cases.size(); ++i) {
      const auto [count, delay] = cases[i];
      // Counted from the timer's own instruction, it comes as late as it was armed for.
      const Picoseconds late =
          noted[i].time - guest.begin(2 * i) - static_cast<Picoseconds>(delay) * ns;
      const Picoseconds since = noted[i].time - guest.begin(2 * i);
      if (since > 0 && !offset) offset = late;
      if (since > 0) {
        EXPECT_EQ(late, *offset) << delay;
      }
      const bool inside = since > 0 && since <= static_cast<Picoseconds>(count + 1) * ns;
      const Registers registers = guest.after(2 * i);
      EXPECT_EQ(registers.rcx, 0u) << i;
      EXPECT_EQ(guest.span(2 * i),
                static_cast<Picoseconds>(count + 1) * ns + (inside ? handler : 0))
          << delay;
      if (one.writes_memory()) {
        const auto bytes = guest.memory(steps[i].rdi, count * one.width);
        EXPECT_EQ(bytes[0], one.reads_memory() ? pattern(0) : 0x55u);
        EXPECT_EQ(bytes[count * one.width - one.width],
                  one.reads_memory() ? pattern((count - 1) * one.width) : 0x55u);
      }
      if (!inside) continue;
      const std::uint64_t done = count - noted[i].value;
      if (count == 5) met.insert(done);
      EXPECT_EQ(since, static_cast<Picoseconds>(done + 1) * ns) << delay;
      const bool reading = one.reads_memory(), scans = one.number != lodsb;
      EXPECT_EQ(rsi[i].value, steps[i].rsi + (reading ? done * one.width : 0)) << delay;
      EXPECT_EQ(rdi[i].value, steps[i].rdi + (scans ? done * one.width : 0)) << delay;
    }
    EXPECT_EQ(met, (std::set<std::uint64_t>{0, 1, 2, 3, 4, 5}));
    return guest.device().trace();
  });
}

TEST(CpuStringsTest, ADeviceIsAccessedOnceAnIteration) {
  const std::vector<std::uint64_t> all{0, 1, 2, 3, 100, 1000};
  constexpr std::uint64_t area = mmio + 0x1'0000;
  constexpr Picoseconds stall = 100 * ns;
  expect_same([&](Picoseconds quantum) {
    Guest guest(quantum);
    for (std::uint64_t i = 0; i < 1000; ++i) {
      guest.device().at[area + i] = {pattern(i), 77 * ns, 23 * ns};
      guest.device().at[area + 0x8000 + 8 * i] = {stored, 0, 0};
    }
    for (const std::uint64_t count : all) {
      guest.add({movsb, 0, count, source, area});
      guest.add({stosb, 0x99, count, 0, area});
      guest.add({movsb, 0, count, area, guest.buffer(count)});
      guest.add({cmpsb, 0, count, source, area});
      guest.add({movsq, 0, count, area + 0x8000, guest.buffer(8 * count)});
    }
    run(1 * ms);
    const auto& accesses = guest.device().accesses;
    std::size_t next = 0;
    for (unsigned i = 0; i < 5 * all.size(); ++i) {
      const std::uint64_t count = all[i / 5];
      const bool quads = i % 5 == 4, writes = i % 5 < 2;
      const Picoseconds step = ns + (quads ? 0 : stall);
      EXPECT_EQ(guest.span(i), count == 0 ? 2 * ns : static_cast<Picoseconds>(count) * step + ns)
          << i;
      EXPECT_EQ(guest.after(i).rcx, 0u) << i;
      if (next >= accesses.size()) break;
      EXPECT_EQ(accesses[next++].address, mmio);
      for (std::uint64_t k = 0; k < count; ++k, ++next) {
        const Access expected{guest.begin(i) + ns + static_cast<Picoseconds>(k) * step,
                              0,
                              writes ? 'w' : 'r',
                              quads ? area + 0x8000 + 8 * k : area + k,
                              quads ? 8u : 1u,
                              i % 5 == 1 ? 0x99u
                              : quads    ? stored
                                         : pattern(k)};
        if (next >= accesses.size() || !(accesses[next] == expected)) {
          ADD_FAILURE() << i << ' ' << k << ": " << expected;
          return std::string();
        }
      }
      EXPECT_EQ(accesses[next++].address, mmio + 8);
    }
    EXPECT_EQ(next, accesses.size());
    return guest.device().trace();
  });
}

TEST(CpuStringsTest, FromDeviceToDevice) {
  constexpr std::uint64_t from = mmio + 0x1000, to = mmio + 0x2000;
  expect_same([&](Picoseconds quantum) {
    Guest guest(quantum);
    for (std::uint64_t i = 0; i < 100; ++i) {
      guest.device().at[from + i] = {pattern(i), 40 * ns, 0};
      guest.device().at[to + i] = {0, 0, 60 * ns};
    }
    guest.add({movsb, 0, 100, from, to});
    run(30 * us);
    for (std::uint64_t i = 0; i < 100; ++i) {
      const Picoseconds time = guest.begin(0) + ns + static_cast<Picoseconds>(i) * 101 * ns;
      EXPECT_THAT(guest.device().of(from + i),
                  testing::ElementsAre(Access{time, 0, 'r', from + i, 1, pattern(i)}));
      EXPECT_THAT(guest.device().of(to + i),
                  testing::ElementsAre(Access{time + 40 * ns, 0, 'w', to + i, 1, pattern(i)}));
    }
    EXPECT_EQ(guest.span(0), 100 * 101 * ns + ns);
    return guest.device().trace();
  });
}

// x86 has no bus error: the guest reads what the target left, and the instruction goes on.
TEST(CpuStringsTest, ARefusalDoesNotEndThem) {
  constexpr std::uint64_t area = mmio + 0x1000;
  expect_same([&](Picoseconds quantum) {
    Guest guest(quantum);
    const auto refused = [](std::uint64_t i) { return i == 0 || i == 40 || i == 99; };
    for (std::uint64_t i = 0; i < 100; ++i) {
      guest.device().at[area + i] = {refused(i) ? 0u : pattern(i), 10 * ns, 0, refused(i)};
    }
    const std::uint64_t copy = guest.buffer(100);
    guest.add({movsb, 0, 100, area, copy});
    guest.add({movsb, 0, 100, source, area});
    run(30 * us);
    for (unsigned i = 0; i < 2; ++i) {
      EXPECT_EQ(guest.span(i), 100 * 11 * ns + ns);
      EXPECT_EQ(guest.after(i).rcx, 0u);
      EXPECT_EQ(guest.after(i).rsi, (i == 0 ? area : source) + 100);
      EXPECT_EQ(guest.after(i).rdi, (i == 0 ? copy : area) + 100);
    }
    const auto bytes = guest.memory(copy, 100);
    for (std::uint64_t i = 0; i < 100; ++i) {
      EXPECT_EQ(bytes[i], refused(i) ? 0 : pattern(i)) << i;
    }
    return guest.device().trace();
  });
}

struct Fault {
  const char* name;
  Step step;
  std::uint64_t done;     // iterations before it
  std::uint64_t address;  // of the fault
  std::uint64_t rsi, rdi;
};
std::ostream& operator<<(std::ostream& out, const Fault& fault) {
  return out << fault.name;
}

class FaultTest : public testing::TestWithParam<Fault> {};
INSTANTIATE_TEST_SUITE_P(
    , FaultTest,
    testing::Values(
        Fault{"first", {movsb, 0, 100, source, hole}, 0, hole, source, hole},
        Fault{"second", {movsb, 0, 100, source, hole - 1}, 1, hole, source + 1, hole},
        Fault{"middle", {movsb, 0, 100, source, hole - 40}, 40, hole, source + 40, hole},
        Fault{"last", {movsb, 0, 100, source, hole - 99}, 99, hole, source + 99, hole},
        Fault{"only", {stosb, 0, 1, 0, hole}, 0, hole, 0, hole},
        Fault{"long", {stosb, 0, 70'000, 0, hole - 65'536}, 65'536, hole, 0, hole},
        Fault{"read", {movsb, 0, 100, hole - 40, buffers}, 40, hole, hole, buffers + 40},
        Fault{"across", {stosq, 0, 100, 0, hole - 36}, 4, hole, 0, hole - 4},
        Fault{"cmpsb", {cmpsb, 0, 100, hole - 40, hole - 60}, 40, hole, hole, hole - 20},
        Fault{"scasb", {scasb, 1, 100, 0, hole - 40}, 40, hole, 0, hole},
        Fault{"lodsb", {lodsb, 0, 100, hole - 40, 0}, 40, hole, hole, 0}),
    [](const auto& info) { return std::string(info.param.name); });

TEST_P(FaultTest, LeavesTheRegistersOfItsIteration) {
  const Fault& fault = GetParam();
  expect_same([&](Picoseconds quantum) {
    Guest guest(quantum);
    guest.add(fault.step);
    run(100 * us);
    const auto value = [&](std::uint64_t at) {
      const auto found = guest.device().of(mmio + at);
      EXPECT_EQ(found.size(), 1u);
      return found.empty() ? 0 : found[0].value;
    };
    EXPECT_EQ(value(0x200), fault.step.rcx - fault.done);
    EXPECT_EQ(value(0x208), fault.rsi);
    EXPECT_EQ(value(0x210), fault.rdi);
    EXPECT_EQ(value(0x218), fault.address);
    // The iteration that faults is no instruction; the handler has nine.
    EXPECT_EQ(guest.device().of(mmio + 0x200)[0].time,
              guest.begin(0) + static_cast<Picoseconds>(fault.done + 1) * ns);
    EXPECT_EQ(guest.span(0), static_cast<Picoseconds>(fault.step.rcx + 1 + 9) * ns);
    EXPECT_EQ(guest.after(0).rcx, 0u);
    return guest.device().trace();
  });
}

TEST(CpuStringsTest, PortsAreAccessedOnceAnIteration) {
  expect_same([&](Picoseconds quantum) {
    Guest guest(quantum);
    std::string text;
    std::vector<std::pair<Picoseconds, std::uint32_t>> accesses;
    guest.machine().qemu.map_io(0x700, 16,
                                {[&](Cpu&, std::uint64_t, unsigned) {
                                   accesses.emplace_back(now(), 0);
                                   return std::uint32_t{pattern(accesses.size())};
                                 },
                                 [&](Cpu&, std::uint64_t, unsigned, std::uint32_t value) {
                                   accesses.emplace_back(now(), value);
                                 }});
    const std::uint64_t area = guest.buffer(100);
    guest.add({outsb, 0, 100, source, 0});
    guest.add({insb, 0, 100, 0, area});
    guest.add({outsb, 0, 0, source, 0});
    guest.add({insb, 0, 1, 0, area});
    run(20 * us);
    EXPECT_EQ(accesses.size(), 201u);
    if (accesses.size() != 201) return std::string();
    for (unsigned i = 0; i < 100; ++i) {
      EXPECT_EQ(accesses[i].first, guest.begin(0) + (i + 1) * ns) << i;
      EXPECT_EQ(accesses[i].second, pattern(i)) << i;
      EXPECT_EQ(accesses[100 + i].first, guest.begin(1) + (i + 1) * ns) << i;
    }
    EXPECT_EQ(guest.span(0), 101 * ns);
    EXPECT_EQ(guest.span(1), 101 * ns);
    EXPECT_EQ(guest.span(2), 2 * ns);
    EXPECT_EQ(guest.span(3), 2 * ns);
    const auto bytes = guest.memory(area, 100);
    for (unsigned i = 1; i < 100; ++i) EXPECT_EQ(bytes[i], pattern(101 + i)) << i;
    for (const auto& [time, value] : accesses) text += fmt::format("{} {}\n", time, value);
    return text + guest.device().trace();
  });
}

}  // namespace
}  // namespace vp::qemu
