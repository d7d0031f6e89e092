// SPDX-License-Identifier: Apache-2.0
#include "models/pcie/endpoint/test_function.h"

#include <algorithm>
#include <cstring>
#include <random>

#include "models/pcie/protocol/configuration_error.h"
#include "tests/models/pcie/fixture.h"

namespace pcie {
namespace {

enum Register : unsigned {
  magic = 0x00,
  command = 0x04,
  status = 0x08,
  source = 0x0c,
  destination = 0x14,
  size = 0x1c,
  checksum = 0x20,
  interrupt_type = 0x24,
  interrupt_number = 0x28,
  flags = 0x2c,
};
constexpr unsigned plain_registers[] = {
    magic, source,   source + 4,     destination,      destination + 4,
    size,  checksum, interrupt_type, interrupt_number, flags};
enum Command : std::uint32_t {
  raise_intx = 1,
  raise_msi = 2,
  raise_msi_x = 4,
  read = 8,
  write = 16,
  copy = 32
};
enum Status : std::uint32_t {
  read_done = 1,
  read_failed = 2,
  write_done = 4,
  write_failed = 8,
  copy_done = 16,
  copy_failed = 32,
  raised = 64,
  source_invalid = 128,
  destination_invalid = 256,
};
enum Type : std::uint32_t { intx, msi, msi_x };

constexpr Id function_id = make_id(1, 0, 1);
constexpr std::uint64_t bars[6] = {0xc0180000, 0xc0190000, 0xc0191000,
                                   0xc0192000, 0xc0194000, 0xc0198000};
constexpr unsigned bar_sizes[6] = {0x10000, 0x200, 0x400, 0x1000, 0x2000, 0x4000};
constexpr std::uint64_t messages = 0xfee00000;
constexpr vp::Picoseconds latency = 100 * vp::ns;
constexpr std::uint64_t bytes_per_second = 25'000'000'000;

// By the definition: bit by bit, reflected, begun with ones.
std::uint32_t crc_of(const std::uint8_t* data, std::size_t bytes) {
  std::uint32_t crc = ~0u;
  for (std::size_t i = 0; i < bytes; ++i) {
    crc ^= data[i];
    for (int bit = 0; bit < 8; ++bit) crc = crc >> 1 ^ (crc & 1 ? 0xedb88320u : 0);
  }
  return crc;
}

Fixture::Config with_test_function() {
  Fixture::Config config;
  FunctionConfig function = TestFunction::function_config(32, 2048);
  function.reset_time = 1 * vp::us;
  config.endpoint.functions.push_back(function);
  config.endpoint.completion_timeout = 100 * vp::us;
  return config;
}

class TestFixture : public Fixture {
 public:
  explicit TestFixture(const TestFunctionConfig& config = {latency, bytes_per_second, 8})
      : Fixture(with_test_function()), test("test", config, card) {
    Function& function = endpoint.function(1);
    function.bar.bind(test.bar);
    test.dma.bind(function.dma);
    test.interrupt.bind(function);
    function.on_reset([this] { test.reset(); });
    memory.bytes.resize(0x400000);
    for (std::size_t i = 0; i < memory.bytes.size(); ++i) memory.bytes[i] = i * 2654435761u >> 24;
  }

  void begin() {
    enumerate();
    for (unsigned i = 0; i < 6; ++i) {
      config_write(function_id, Type0Header::bar(i), static_cast<std::uint32_t>(bars[i]), 4);
    }
    config_write(function_id, Header::command, memory_and_master, 2);
  }
  void enable_msi(unsigned power) {
    const unsigned at = find_capability(function_id, Msi::id);
    config_write(function_id, at + Msi::message_address, messages, 4);
    config_write(function_id, at + Msi::message_data, 0x4000, 2);
    config_write(function_id, at + Msi::message_control, 1 | power << 4, 2);
  }
  void enable_msi_x() {
    config_write(function_id, find_capability(function_id, MsiX::id) + MsiX::message_control,
                 MsiX::ControlBit::enable, 2);
  }
  std::uint32_t get(unsigned at) {
    return static_cast<std::uint32_t>(Fixture::read(bars[0] + at, 4));
  }
  void put(unsigned at, std::uint32_t value) { Fixture::write(bars[0] + at, value, 4); }
  void put_address(unsigned at, std::uint64_t value) {
    put(at, static_cast<std::uint32_t>(value));
    put(at + Msi::message_address, value >> 32);
  }

  /// Has a command carried out, and returns the status once an interrupt has come or 10 ms are
  /// over.
  std::uint32_t transfer(std::uint32_t what, std::uint64_t from, std::uint64_t to,
                         std::uint32_t bytes) {
    put_address(source, from);
    put_address(destination, to);
    put(size, bytes);
    put(interrupt_type, msi);
    put(interrupt_number, 1);
    const std::size_t before = memory.messages.size();
    put(command, what);
    for (int i = 0; i < 10'000 && memory.messages.size() == before; ++i) settle(1 * vp::us);
    return get(status);
  }
  std::uint32_t crc(std::uint64_t address, std::uint32_t bytes) {
    return crc_of(&memory.bytes[address], bytes);
  }
  static void settle(vp::Picoseconds time = 10 * vp::us) { sc_core::wait(vp::to_sc_time(time)); }

  TestFunction test;
};

TEST(TestFunction, EveryBarIsMemoryAsLongAsSoftwareTouchesNoCommand) {
  TestFixture fixture;
  fixture.run([&] {
    fixture.begin();
    for (unsigned bar = 1; bar < 6; ++bar) {
      for (unsigned at = 0; at < bar_sizes[bar]; at += 4) {
        fixture.write(bars[bar] + at, bar << 24 | at, 4);
      }
      fixture.write(bars[bar] + 5, 0x5a, 1);
    }
    for (unsigned bar = 1; bar < 6; ++bar) {
      for (unsigned at = 8; at < bar_sizes[bar]; at += 4) {
        ASSERT_EQ(fixture.Fixture::read(bars[bar] + at, 4), bar << 24 | at);
      }
      EXPECT_EQ(fixture.Fixture::read(bars[bar] + 4, 4), bar << 24 | 0x5a04);
    }
    for (const unsigned at : plain_registers) {
      fixture.put(at, 0xa0a0a0a0 + at);
    }
    for (const unsigned at : plain_registers) {
      EXPECT_EQ(fixture.get(at), 0xa0a0a0a0 + at);
    }
    fixture.put(0x30, 1);
    EXPECT_EQ(fixture.get(0x30), 0u) << "no register";
    fixture.write_bytes(bars[0] + 0x20, std::vector<std::uint8_t>(64, 0x77));
    EXPECT_EQ(fixture.get(flags), 0x77777777u);
    EXPECT_EQ(fixture.get(status), 0u);
  });
}

TEST(TestFunction, IntxStandsUntilSoftwareHasSeenIt) {
  TestFixture fixture;
  fixture.run([&] {
    fixture.begin();
    fixture.put(command, raise_intx);
    fixture.settle();
    EXPECT_EQ(fixture.lines.levels(), (std::vector<bool>{true}));
    EXPECT_EQ(fixture.get(command), 0u) << "taken";
    EXPECT_EQ(fixture.get(status), raised);
    fixture.put(status, raised);
    fixture.settle();
    EXPECT_EQ(fixture.lines.changes.size(), 1u);
    fixture.put(status, 0);
    fixture.settle();
    EXPECT_EQ(fixture.lines.levels(), (std::vector<bool>{true, false}));
    fixture.enable_msi(5);
    fixture.put(command, raise_intx);
    fixture.settle();
    EXPECT_EQ(fixture.get(status), 0u) << "software has chosen MSI";
    EXPECT_EQ(fixture.lines.changes.size(), 2u);
  });
}

// What the kernel cannot be granted on every machine, the model sweeps.
TEST(TestFunction, EveryMsiVectorUnderEveryGrant) {
  TestFixture fixture;
  fixture.run([&] {
    fixture.begin();
    for (unsigned power = 0; power <= 5; ++power) {
      fixture.enable_msi(power);
      for (unsigned number = 0; number <= 33; ++number) {
        fixture.memory.messages.clear();
        fixture.put(interrupt_number, number);
        fixture.put(command, raise_msi);
        fixture.settle(3 * vp::us);
        const bool exists = number >= 1 && number <= 1u << power;
        EXPECT_EQ(fixture.get(status), exists ? raised : 0u);
        ASSERT_EQ(fixture.memory.messages.size(), exists ? 1u : 0u) << number;
        if (!exists) continue;
        EXPECT_EQ(fixture.memory.messages[0].address, messages);
        EXPECT_EQ(fixture.memory.messages[0].data[0], number - 1);
      }
    }
    fixture.put(interrupt_number, 1);
    fixture.put(command, raise_msi_x);
    fixture.settle();
    EXPECT_EQ(fixture.get(status), 0u) << "software has chosen MSI";
  });
}

TEST(TestFunction, MsiXVectorsFromTheFirstToTheLast) {
  TestFixture fixture;
  fixture.run([&] {
    fixture.begin();
    fixture.enable_msi_x();
    for (const unsigned number : {1u, 2u, 3u, 64u, 65u, 1024u, 2047u, 2048u}) {
      const std::uint64_t entry = bars[0] + 0x8000 + 16 * (number - 1);
      fixture.write(entry, messages, 8);
      fixture.write(entry + 8, 0x5000 + number, 4);
      fixture.memory.messages.clear();
      fixture.put(interrupt_number, number);
      fixture.put(command, raise_msi_x);
      fixture.settle();
      EXPECT_TRUE(fixture.memory.messages.empty()) << "masked";
      const std::uint64_t pending = bars[0] + 0x1000 + (number - 1) / 32 * 4;
      EXPECT_EQ(fixture.Fixture::read(pending, 4), 1u << (number - 1) % 32);
      fixture.write(entry + 12, 0, 4);
      fixture.settle();
      ASSERT_EQ(fixture.memory.messages.size(), 1u);
      EXPECT_EQ(fixture.memory.messages[0].data[0] | fixture.memory.messages[0].data[1] << 8,
                static_cast<int>(0x5000 + number));
      EXPECT_EQ(fixture.Fixture::read(pending, 4), 0u);
    }
    for (const unsigned number : {0u, 2049u, ~0u}) {
      fixture.put(interrupt_number, number);
      fixture.put(command, raise_msi_x);
      fixture.settle();
      EXPECT_EQ(fixture.get(status), 0u) << number;
    }
    fixture.put(interrupt_number, 1);
    fixture.put(command, raise_msi);
    fixture.settle();
    EXPECT_EQ(fixture.get(status), 0u) << "software has chosen MSI-X";
    EXPECT_EQ(fixture.counter("endpoint.pf1.interrupts_ignored"), 0u);
  });
}

struct Span {
  std::uint64_t from, to;
  std::uint32_t bytes;
};
constexpr Span spans[] = {
    {0x1000, 0x200000, 1},        {0x1fff, 0x200fff, 2},       {0x1001, 0x200003, 1024},
    {0x1ffd, 0x200001, 1025},     {0x1000, 0x200000, 4095},    {0x1000, 0x200000, 4096},
    {0x1000, 0x200000, 4097},     {0x1801, 0x200fff, 8193},    {0x1003, 0x200801, 65536},
    {0x1000, 0x200000, 1024000},  {0x1000, 0x200000, 1024001}, {0x1000, 0x200000, 0xfffff},
    {0x1001, 0x2007ff, 0x100000},
};

TEST(TestFunction, ReadsCompareTheChecksum) {
  TestFixture fixture;
  fixture.run([&] {
    fixture.begin();
    fixture.enable_msi(0);
    for (const Span& span : spans) {
      const std::uint32_t crc = fixture.crc(span.from, span.bytes);
      fixture.put(checksum, crc);
      EXPECT_EQ(fixture.transfer(read, span.from, 0, span.bytes), read_done | raised) << span.bytes;
      EXPECT_EQ(fixture.get(checksum), crc);
      for (const std::uint64_t wrong : {span.from, span.from + span.bytes - 1}) {
        fixture.memory.bytes[wrong] ^= 0x10;
        EXPECT_EQ(fixture.transfer(read, span.from, 0, span.bytes), read_failed | raised);
        fixture.memory.bytes[wrong] ^= 0x10;
      }
    }
    EXPECT_TRUE(fixture.memory.writes.empty());
  });
}

TEST(TestFunction, WritesMakeDataUpAndTellTheirChecksum) {
  TestFixture fixture;
  fixture.run([&] {
    fixture.begin();
    fixture.enable_msi(0);
    std::uint32_t last = 0;
    for (const Span& span : spans) {
      const auto before = fixture.memory.bytes;
      EXPECT_EQ(fixture.transfer(write, 0, span.to, span.bytes), write_done | raised) << span.bytes;
      const std::uint32_t crc = fixture.get(checksum);
      EXPECT_EQ(crc, fixture.crc(span.to, span.bytes));
      EXPECT_NE(crc, last) << "new data each time";
      last = crc;
      auto after = fixture.memory.bytes;
      EXPECT_EQ(after[span.to - 1], before[span.to - 1]);
      EXPECT_EQ(after[span.to + span.bytes], before[span.to + span.bytes]);
      if (span.bytes < 1024) continue;
      const std::vector<std::uint8_t> data(&after[span.to], &after[span.to] + span.bytes);
      EXPECT_GT(std::count_if(data.begin(), data.end(), [](auto byte) { return byte & 0x80; }),
                static_cast<int>(span.bytes / 3))
          << "no pattern a stuck line would make";
      fixture.memory.writes.clear();
    }
  });
}

TEST(TestFunction, CopiesAreExact) {
  TestFixture fixture;
  fixture.run([&] {
    fixture.begin();
    fixture.enable_msi(0);
    for (const Span& span : spans) {
      auto expected = fixture.memory.bytes;
      std::memcpy(&expected[span.to], &expected[span.from], span.bytes);
      EXPECT_EQ(fixture.transfer(copy, span.from, span.to, span.bytes), copy_done | raised);
      EXPECT_TRUE(fixture.memory.bytes == expected) << span.bytes;
      fixture.memory.writes.clear();
    }
  });
}

// 2.2.2.1, DMA: requests cross no 4 KiB boundary, and data takes time.
TEST(TestFunction, DataMovesInSimulatedTime) {
  TestFixture fixture;
  fixture.run([&] {
    fixture.begin();
    fixture.enable_msi(0);
    fixture.put(checksum, fixture.crc(0x1000, 0x100000));
    const vp::Picoseconds began = vp::now();
    fixture.transfer(read, 0x1000, 0, 0x100000);
    const vp::Picoseconds took = fixture.memory.messages.back().when - began;
    const vp::Picoseconds least = vp::Picoseconds{0x100000} * (vp::s / 1'000'000) / 25'000;
    EXPECT_GT(took, least) << "the engine's rate";
    EXPECT_LT(took, least + least / 10) << "and several pieces are asked for ahead";
    fixture.transfer(write, 0, 0x200801, 0x4000);
    unsigned bytes = 0;
    for (const auto& one : fixture.memory.writes) {
      EXPECT_LE(one.address % 4096 + one.data.size(), 4096u);
      EXPECT_LE(one.when, fixture.memory.messages.back().when) << "data go before the interrupt";
      bytes += one.data.size();
    }
    EXPECT_EQ(bytes, 0x4000u);
    EXPECT_LT(fixture.memory.writes.front().when + 600 * vp::ns, fixture.memory.writes.back().when);
  });
}

TEST(TestFunction, WhatIsNoTransferFails) {
  TestFixture fixture;
  fixture.run([&] {
    fixture.begin();
    fixture.enable_msi(0);
    for (const std::uint32_t bytes : {0u, 0x100001u, 0x80000000u, 0xffffffffu}) {
      EXPECT_EQ(fixture.transfer(read, 0x1000, 0, bytes), read_failed | raised) << bytes;
      EXPECT_EQ(fixture.transfer(write, 0, 0x1000, bytes), write_failed | raised);
      EXPECT_EQ(fixture.transfer(copy, 0x1000, 0x8000, bytes), copy_failed | raised);
    }
    for (const std::uint64_t nowhere : {0xf0000000ull, 0x0fffffffffff0000ull}) {
      EXPECT_EQ(fixture.transfer(read, nowhere, 0, 0x10000), read_failed | source_invalid | raised);
      EXPECT_EQ(fixture.transfer(copy, nowhere, 0x1000, 0x10000),
                copy_failed | source_invalid | raised);
    }
    const std::uint64_t end = fixture.memory.bytes.size();
    EXPECT_EQ(fixture.transfer(copy, end - 0x2800, 0x1000, 0x8000),
              copy_failed | source_invalid | raised);
    EXPECT_EQ(fixture.transfer(read, ~0ull, 0, 2), read_failed | source_invalid | raised);
    EXPECT_EQ(fixture.transfer(write, 0, ~0ull, 2), write_failed | destination_invalid | raised);
    EXPECT_EQ(fixture.transfer(copy, 0x1000, ~0ull - 4094, 4097),
              copy_failed | destination_invalid | raised);
    EXPECT_EQ(fixture.transfer(read | copy, 0x1000, 0x8000, 16),
              read_failed | copy_failed | raised);
    EXPECT_EQ(fixture.transfer(raise_msi | write, 0, 0x8000, 16), write_failed | raised);
    fixture.memory.messages.clear();
    EXPECT_EQ(fixture.transfer(raise_msi | raise_intx, 0, 0, 1), 0u);
    EXPECT_EQ(fixture.transfer(0xffffffc0, 0, 0, 1), 0u);
    EXPECT_TRUE(fixture.memory.messages.empty());

    fixture.put(checksum, fixture.crc(0x1000, 16));
    EXPECT_EQ(fixture.transfer(read, 0x1000, 0, 16), read_done | raised) << "and it still works";
  });
}

TEST(TestFunction, ACommandThatOverlapsFailsAndTheOtherDoesNot) {
  TestFixture fixture;
  fixture.run([&] {
    fixture.begin();
    fixture.enable_msi(0);
    const auto before = fixture.memory.bytes;
    fixture.put_address(source, 0x1000);
    fixture.put_address(destination, 0x200000);
    fixture.put(size, 0x40000);
    fixture.put(interrupt_type, msi);
    fixture.put(interrupt_number, 1);
    fixture.put(command, copy);
    fixture.put(command, read);
    fixture.put(command, copy);
    fixture.put_address(source, 0x2000);
    fixture.put(size, 1);
    fixture.put(command, raise_msi);
    fixture.settle(100 * vp::us);
    EXPECT_EQ(fixture.get(status), copy_done | copy_failed | read_failed | raised);
    EXPECT_EQ(fixture.memory.messages.size(), 1u);
    EXPECT_EQ(std::memcmp(&fixture.memory.bytes[0x200000], &before[0x1000], 0x40000), 0);
    fixture.put(command, raise_msi);
    fixture.settle();
    EXPECT_EQ(fixture.get(status), raised) << "of this command alone";
  });
}

TEST(TestFunction, WithoutBusMasterTransfersFail) {
  TestFixture fixture;
  fixture.run([&] {
    fixture.begin();
    fixture.config_write(function_id, Header::command, Header::CommandBit::memory_space, 2);
    fixture.put_address(source, 0x1000);
    fixture.put_address(destination, 0x8000);
    fixture.put(size, 16);
    fixture.put(interrupt_type, intx);
    for (const std::uint32_t what : {read, write, copy}) {
      fixture.put(command, what);
      fixture.settle();
      EXPECT_EQ(fixture.get(status), what == read    ? read_failed | raised
                                     : what == write ? write_failed | raised
                                                     : copy_failed | raised);
    }
    EXPECT_EQ(fixture.lines.changes.size(), 5u) << "INTx is no request";
    EXPECT_TRUE(fixture.memory.writes.empty());
  });
}

// At any moment: before the first request, with reads on their way, at its end.
TEST(TestFunction, AResetEndsATransfer) {
  TestFixture fixture;
  fixture.run([&] {
    fixture.begin();
    const unsigned express = fixture.find_capability(function_id, PciExpress::id);
    for (const vp::Picoseconds after :
         {0 * vp::ns, 50 * vp::ns, 200 * vp::ns, 1 * vp::us, 5 * vp::us, 10 * vp::us}) {
      fixture.enable_msi(0);
      fixture.put(bars[1] - bars[0], 0x12345678);
      fixture.put_address(source, 0x1000);
      fixture.put_address(destination, 0x200000);
      fixture.put(size, 0x40000);
      fixture.put(interrupt_type, msi);
      fixture.put(interrupt_number, 1);
      fixture.memory.messages.clear();
      fixture.put(command, copy);
      fixture.settle(after);
      fixture.config_write(function_id, express + PciExpress::device_control, 0x8000, 2);
      fixture.settle(100 * vp::us);
      EXPECT_TRUE(fixture.memory.messages.empty()) << after;
      fixture.begin();
      for (unsigned at = 0; at < 0x30; at += 4) EXPECT_EQ(fixture.get(at), 0u);
      EXPECT_EQ(fixture.get(bars[1] - bars[0]), 0u);
      EXPECT_TRUE(fixture.lines.changes.empty());
      fixture.enable_msi(0);
      EXPECT_EQ(fixture.transfer(copy, 0x1000, 0x300000, 0x4000), copy_done | raised);
      EXPECT_EQ(fixture.crc(0x1000, 0x4000), fixture.crc(0x300000, 0x4000));
    }
  });
}

TEST(TestFunction, MemoryThatNeverAnswersIsAFailure) {
  TestFixture fixture({latency, bytes_per_second, 3});
  fixture.memory.read_time = 1 * vp::ms;
  fixture.run([&] {
    fixture.begin();
    fixture.enable_msi(0);
    EXPECT_EQ(fixture.transfer(copy, 0x1000, 0x8000, 0x10000), copy_failed | raised);
    fixture.settle(2 * vp::ms);
    EXPECT_TRUE(fixture.memory.writes.empty());
  });
}

// Registers, BARs and configuration with anything, at any time; afterwards it works.
TEST(TestFunction, AnySoftwareIsSurvived) {
  TestFixture fixture;
  fixture.memory.keep_writes = false;
  fixture.run([&] {
    std::mt19937 random(1);
    auto any = [&random](unsigned count) { return random() % count; };
    for (unsigned round = 0; round < 40; ++round) {
      fixture.begin();
      if (any(2)) fixture.enable_msi(any(6));
      if (any(3) == 0) fixture.enable_msi_x();
      for (unsigned i = 0; i < 200; ++i) {
        const unsigned bar = any(6), bytes = 1u << any(7);
        const std::uint64_t at = bar == 0 ? any(64) : any(bar_sizes[bar]);
        std::vector<std::uint8_t> data(std::min<std::uint64_t>(bytes, bar_sizes[bar] - at));
        for (auto& byte : data) byte = any(4) ? any(256) : 0;
        fixture.write_bytes(bars[bar] + at, data);
        if (any(4) == 0) fixture.put(command, 1u << any(6));
        if (any(8) == 0) fixture.put_address(source, any(2) ? any(0x400000) : ~0ull - any(5000));
        if (any(8) == 0)
          fixture.put_address(destination, any(2) ? any(0x400000) : ~0ull - any(5000));
        if (any(8) == 0) fixture.put(size, any(0x110000));
        if (any(8) == 0) fixture.put(interrupt_type, any(4));
        if (any(64) == 0) fixture.config_write(function_id, Header::command, any(8), 2);
        if (any(4) == 0) TestFixture::settle(any(20) * vp::us);
      }
      const unsigned express = fixture.find_capability(function_id, PciExpress::id);
      fixture.config_write(function_id, express + PciExpress::device_control, 0x8000, 2);
      TestFixture::settle();
    }
    fixture.begin();
    fixture.enable_msi(0);
    EXPECT_EQ(fixture.transfer(copy, 0x1000, 0x200000, 0x4000), copy_done | raised);
    EXPECT_EQ(fixture.crc(0x1000, 0x4000), fixture.crc(0x200000, 0x4000));
  });
}

TEST(TestFunction, ImpossibleConfigurations) {
  vp::Domain domain("domain");
  EXPECT_THROW(TestFunction("a", {-1, 1, 1}, domain), ConfigurationError);
  EXPECT_THROW(TestFunction("b", {0, 0, 1}, domain), ConfigurationError);
  EXPECT_THROW(TestFunction("c", {0, 1, 0}, domain), ConfigurationError);
}

}  // namespace
}  // namespace pcie
