// SPDX-License-Identifier: Apache-2.0
// The commands of the NVM command set (NVMe 1.4, 6), their data, their time and the write cache.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <random>

#include "tests/in_child.h"
#include "tests/models/nvme/fixture.h"

namespace nvme::test {
namespace {

constexpr std::uint64_t lists = 0x30000;

ControllerConfig cached(std::uint64_t blocks) {
  ControllerConfig config = small_config();
  config.namespaces[0].cache = blocks * 512;
  config.namespaces[1].cache = blocks * 4096;
  return config;
}

/// A command whose data are `bytes` from `address` on, in contiguous memory.
Words with_data(Host& host, unsigned opcode, std::uint64_t block, unsigned blocks,
                std::uint64_t address, unsigned bytes, std::uint32_t name_space = 1,
                std::uint64_t list = lists) {
  const std::uint64_t second = (address / 4096 + 1) * 4096;
  if (address + bytes <= second + 4096) {
    return io(opcode, block, blocks, address, second, name_space);
  }
  std::uint64_t entry = list;
  for (std::uint64_t page = second; page < address + bytes; page += 4096, entry += 8) {
    if (entry % 4096 == 4088 && page + 4096 < address + bytes) {
      host.put64(entry, entry + 8);  // the list goes on in the next page
      entry += 8;
    }
    host.put64(entry, page);
  }
  return io(opcode, block, blocks, address, list, name_space);
}

// Every number of blocks around pages and lists, from every kind of offset, in both formats.
TEST(NvmeIo, WhatIsWrittenIsRead) {
  Host host;
  host.run([&] {
    host.begin();
    unsigned seed = 0;
    for (const std::uint32_t name_space : {1u, 2u}) {
      const unsigned size = name_space == 1 ? 512 : 4096;
      for (const unsigned blocks : {1u, 2u, 7u, 8u, 9u, 16u, 17u, 32u, 256u}) {
        const unsigned bytes = blocks * size;
        if (bytes > 1u << 17) continue;
        for (const unsigned offset : {0u, 4u, 0xe00u, 0xffcu}) {
          const std::uint64_t from = data + offset, to = data + 0x100000 + (offset ^ 8);
          host.pattern(from, bytes, ++seed);
          const auto expected = host.bytes(from, bytes);
          // The list has its place at the end of a page, so that it needs a second one.
          const std::uint64_t list = lists + 4096 - 16;
          EXPECT_EQ(
              host.perform(with_data(host, write, seed % 3, blocks, from, bytes, name_space, list))
                  .code,
              0u);
          std::memset(host.at(to - 64), 0xcc, bytes + 128);
          EXPECT_EQ(
              host.perform(with_data(host, read, seed % 3, blocks, to, bytes, name_space)).code,
              0u);
          ASSERT_TRUE(host.bytes(to, bytes) == expected) << blocks << ' ' << offset;
          EXPECT_EQ(*host.at(to - 1), 0xcc);
          EXPECT_EQ(*host.at(to + bytes), 0xcc);
        }
      }
    }
  });
}

TEST(NvmeIo, Limits) {
  Host host;
  host.run([&] {
    host.begin();
    struct Case {
      std::uint64_t block;
      unsigned blocks;
      std::uint32_t name_space;
      unsigned code;
    };
    for (const Case& one :
         {Case{2047, 1, 1, 0}, Case{2048, 1, 1, 0x080}, Case{2047, 2, 1, 0x080},
          Case{2040, 8, 1, 0}, Case{2041, 8, 1, 0x080}, Case{~0ull, 1, 1, 0x080},
          Case{~0ull, 2, 1, 0x080}, Case{255, 1, 2, 0}, Case{256, 1, 2, 0x080},
          Case{0, 1, 0, 0x00b}, Case{0, 1, 3, 0x00b}, Case{0, 1, 0xffffffff, 0x00b},
          Case{0, 257, 1, 0x002}, Case{0, 33, 2, 0x002}, Case{0, 65536, 1, 0x002}}) {
      for (const unsigned opcode : {read, write, compare, write_zeroes}) {
        // Write Zeroes has no data, so that MDTS does not limit it.
        const bool limited = one.code == 0x002;
        if (opcode == write_zeroes && limited) continue;
        std::memset(host.at(data), 0, 4096);
        const Completion completion =
            host.perform(io(opcode, one.block, one.blocks, data, 0, one.name_space));
        EXPECT_EQ(completion.code, one.code) << opcode << ' ' << one.block << ' ' << one.blocks;
        EXPECT_EQ(completion.final, one.code != 0);
      }
    }
    EXPECT_EQ(host.perform(io(write_zeroes, 0, 2048)).code, 0u);
    for (unsigned opcode = 0; opcode < 256; ++opcode) {
      if (opcode <= 2 || opcode == 5 || opcode == 8 || opcode == 9) continue;
      EXPECT_EQ(host.perform(io(opcode, 0, 1)).code, 0x001u) << opcode;
    }
    EXPECT_EQ(host.perform(with(io(write, 0, 1), {{12, 1u << 20}})).code, 0x002u) << "a directive";
    EXPECT_EQ(host.perform(command(flush, 3)).code, 0x00bu);
    EXPECT_EQ(host.perform(command(flush, 0)).code, 0x00bu);
    EXPECT_EQ(host.perform(command(flush, 2)).code, 0u);
    EXPECT_EQ(host.perform(command(flush, 0xffffffff)).code, 0u);
  });
}

// 9.3: whatever happens to a read of data or of a list, the command fails and may be repeated.
TEST(NvmeIo, FailedTransfersAreErrorsOfTheCommand) {
  Host host;
  host.run([&] {
    host.begin();
    host.pattern(data, 0x4000, 1);
    const Words good = with_data(host, write, 0, 24, data, 24 * 512);
    for (const pcie::Fault& fault :
         {pcie::Fault{pcie::Error::poisoned_tlp, pcie::TlpType::CplD, 2},
          pcie::Fault{pcie::Error::unsupported_request, pcie::TlpType::MRd, 2},
          pcie::Fault{pcie::Error::completer_abort, pcie::TlpType::MRd, 2},
          pcie::Fault{pcie::Error::completion_timeout, pcie::TlpType::MRd, 2},
          pcie::Fault{pcie::Error::unsupported_request, pcie::TlpType::MRd, 5}}) {
      const bool down = fault.type == pcie::TlpType::CplD;
      EXPECT_TRUE(host.link.inject(down ? pcie::Direction::down : pcie::Direction::up, fault));
      const Completion completion = host.perform(good);
      EXPECT_EQ(completion.code, 0x004u) << pcie::to_string(fault.error);
      EXPECT_FALSE(completion.final);
    }
    EXPECT_EQ(host.perform(io(read, 0, 8, data + 0x8000)).code, 0u);
    EXPECT_EQ(host.bytes(data + 0x8000, 4096), std::vector<std::uint8_t>(4096))
        << "none was written";
    EXPECT_EQ(host.perform(io(write, 0, 1, 0x80000000)).code, 0x004u) << "absent memory";
    EXPECT_EQ(host.perform(io(write, 0, 24, data, 0x80000000)).code, 0x004u) << "an absent list";
    EXPECT_EQ(host.perform(good).code, 0u);
    EXPECT_EQ(host.get(Host::csts), 1u);
  });
}

TEST(NvmeIo, CompareAndWriteZeroesAndTrim) {
  Host host(cached(64));
  host.run([&] {
    host.begin();
    host.pattern(data, 4096, 1);
    EXPECT_EQ(host.perform(io(write, 8, 8)).code, 0u);
    EXPECT_EQ(host.perform(io(compare, 8, 8)).code, 0u);
    *host.at(data + 4095) ^= 1;
    const Completion completion = host.perform(io(compare, 8, 8));
    EXPECT_EQ(completion.code, 0x285u);
    EXPECT_TRUE(completion.final);
    *host.at(data + 4095) ^= 1;
    EXPECT_EQ(host.perform(io(write_zeroes, 9, 2)).code, 0u);
    EXPECT_EQ(host.perform(io(read, 8, 8, data + 0x1000)).code, 0u);
    auto expected = host.bytes(data, 4096);
    std::fill(expected.begin() + 512, expected.begin() + 1536, 0);
    EXPECT_TRUE(host.bytes(data + 0x1000, 4096) == expected);
    // Two ranges: block 12, and blocks 14 and 15.
    const std::uint64_t ranges[] = {1ull << 32, 12, 2ull << 32, 14};
    std::memcpy(host.at(data + 0x2000), ranges, sizeof(ranges));
    const Words words = with(command(trim, 1, data + 0x2000), {{10, 1}, {11, 0}});
    EXPECT_EQ(host.perform(words).code, 0u);
    EXPECT_EQ(host.perform(io(read, 8, 8, data + 0x1000)).code, 0u);
    EXPECT_TRUE(host.bytes(data + 0x1000, 4096) == expected) << "without AD it is advice";
    EXPECT_EQ(host.perform(with(words, {{11, 4}})).code, 0u);
    std::fill(expected.begin() + 4 * 512, expected.begin() + 5 * 512, 0);
    std::fill(expected.begin() + 6 * 512, expected.end(), 0);
    EXPECT_EQ(host.perform(io(read, 8, 8, data + 0x1000)).code, 0u);
    EXPECT_TRUE(host.bytes(data + 0x1000, 4096) == expected);
    host.put64(data + 0x2018, 2047);
    EXPECT_EQ(host.perform(with(words, {{11, 4}})).code, 0x080u);
    host.put64(data + 0x2018, ~0ull);
    EXPECT_EQ(host.perform(with(words, {{11, 4}})).code, 0x080u);
    EXPECT_EQ(host.perform(with(words, {{1, 3}})).code, 0x00bu);
  });
}

vp::Picoseconds duration(Host& host, const Words& words) {
  const vp::Picoseconds start = vp::now();
  host.submit(1, words);
  host.ring(1);
  while (!host.poll(1)) pause(10 * vp::ns);
  const vp::Picoseconds span = vp::now() - start;
  host.acknowledge(1);
  return span;
}

// A command takes its latency, and its bytes at the rate of the medium: 1 ns each.
TEST(NvmeIo, CommandsTakeTheirTime) {
  Host host;
  host.run([&] {
    host.begin();
    const auto expect = [&](const Words& words, vp::Picoseconds least, vp::Picoseconds link) {
      const vp::Picoseconds span = duration(host, words);
      EXPECT_GE(span, least) << words[0];
      EXPECT_LE(span, least + link) << words[0];
    };
    const vp::Picoseconds link = 3 * vp::us;
    expect(io(read, 0, 1), 10 * vp::us + 512 * vp::ns, link);
    expect(with_data(host, read, 0, 256, data, 1 << 17), 10 * vp::us + (1 << 17) * vp::ns,
           3 * link);
    expect(io(write, 0, 8), 5 * vp::us + 4096 * vp::ns, link);
    expect(io(compare, 0, 8), 10 * vp::us + 4096 * vp::ns, link);
    expect(io(write_zeroes, 0, 2048), 5 * vp::us, link);
    expect(command(flush, 1), 5 * vp::us, link);
  });
}

// At the lowest rate, a few commands would take longer than simulated time lasts.
TEST(NvmeIo, ASlowMediumNeverTurnsTheTimeBack) {
  ControllerConfig config = small_config();
  config.bytes_per_second = 1;
  config.queue_entries = 128;
  Host host(config);
  host.run([&] {
    host.begin(128);
    for (unsigned i = 0; i < 120; ++i) {
      host.submit(1, with_data(host, read, 0, 256, data, 1 << 17, 1, lists));
    }
    host.ring(1);
    pause(1 * vp::ms);
    EXPECT_FALSE(host.poll(1));
  });
}

// Latencies overlap, and the rate is shared: so many commands at once take one latency, and their
// bytes one after another.
TEST(NvmeIo, CommandsShareTheMedium) {
  Host host;
  host.run([&] {
    host.begin(64);
    for (const unsigned count : {1u, 2u, 8u, 15u}) {
      for (unsigned i = 0; i < count; ++i) {
        host.submit(1, io(read, 8 * i, 8, data + 0x1000 * i));
      }
      const vp::Picoseconds start = vp::now();
      host.ring(1);
      for (unsigned seen = 0; seen < count;) {
        if (host.poll(1)) {
          ++seen;
        } else {
          pause(10 * vp::ns);
        }
      }
      host.acknowledge(1);
      const double least = 10'000.0 + 4096.0 * count;
      EXPECT_GE((vp::now() - start) / vp::ns, least);
      EXPECT_LE((vp::now() - start) / vp::ns, least + 2000) << count;
    }
  });
}

// 16 commands execute at a time, and no more.
TEST(NvmeIo, SoManyCommandsAtOnce) {
  ControllerConfig config = small_config();
  config.bytes_per_second = 1'000'000'000'000;
  Host host(config);
  host.run([&] {
    host.begin(64);
    for (unsigned i = 0; i < 48; ++i) host.submit(1, io(read, i, 1, data + 0x1000 * i));
    const vp::Picoseconds start = vp::now();
    host.ring(1);
    for (unsigned seen = 0; seen < 48;) {
      if (host.poll(1)) {
        ++seen;
      } else {
        pause(10 * vp::ns);
      }
    }
    EXPECT_GE(vp::now() - start, 30 * vp::us) << "three times the latency";
    EXPECT_LE(vp::now() - start, 38 * vp::us);
  });
}

// What the cache holds may be lost; what was flushed, or written with FUA, is there.
TEST(NvmeIo, LossOfPower) {
  Host host(cached(64));
  host.run([&] {
    std::uint64_t lost = 0;
    for (unsigned round = 0; round < 6; ++round) {
      host.begin();
      std::memset(host.at(data), 0, 0x2000);
      EXPECT_EQ(host.perform(with(io(write, 0, 16, data, data + 0x1000), {{12, 15 | fua}})).code,
                0u);
      host.pattern(data, 0x2000, round + 1);
      EXPECT_EQ(host.perform(io(write, 0, 4)).code, 0u);
      EXPECT_EQ(host.perform(command(flush, round % 2 ? 1 : 0xffffffff)).code, 0u);
      EXPECT_EQ(host.perform(with(io(write, 4, 4, data + 4 * 512), {{12, 3 | fua}})).code, 0u);
      EXPECT_EQ(host.perform(io(write, 8, 8, data + 8 * 512)).code, 0u);
      EXPECT_EQ(host.perform(io(read, 0, 16, data + 0x4000, data + 0x5000)).code, 0u);
      EXPECT_TRUE(host.bytes(data + 0x4000, 0x2000) == host.bytes(data, 0x2000));
      if (round == 4) {
        // 6.9: a read with FUA makes durable what it reads.
        EXPECT_EQ(host.perform(with(io(read, 8, 8, data + 0x4000), {{12, 7 | fua}})).code, 0u);
      }
      const std::uint64_t now_lost = host.controller.lose_power();
      if (round == 4) EXPECT_EQ(now_lost, 0u);
      lost += now_lost;
      EXPECT_EQ(host.get(Host::csts), 0u);
      host.reset_function();
      pause(10 * vp::us);
      host.begin();
      EXPECT_EQ(host.perform(io(read, 0, 16, data + 0x4000, data + 0x5000)).code, 0u);
      EXPECT_TRUE(host.bytes(data + 0x4000, 8 * 512) == host.bytes(data, 8 * 512)) << round;
      unsigned missing = 0;
      for (unsigned block = 8; block < 16; ++block) {
        const auto found = host.bytes(data + 0x4000 + block * 512, 512);
        if (found == std::vector<std::uint8_t>(512)) {
          ++missing;
        } else {
          EXPECT_TRUE(found == host.bytes(data + block * 512, 512)) << "a block is whole";
        }
      }
      EXPECT_EQ(missing, now_lost);
      host.disable();
    }
    EXPECT_GT(lost, 5u);
    EXPECT_LT(lost, 35u);
    EXPECT_EQ(host.counter_of("lost_blocks"), lost);
  });
}

// Resets are no loss of power: the cache keeps its blocks.
TEST(NvmeIo, ResetsKeepTheCache) {
  Host host(cached(64));
  host.run([&] {
    host.begin();
    host.pattern(data, 4096, 1);
    EXPECT_EQ(host.perform(io(write, 0, 8)).code, 0u);
    host.disable();
    host.reset_function();
    pause(10 * vp::us);
    host.begin();
    EXPECT_EQ(host.perform(io(read, 0, 8, data + 0x1000)).code, 0u);
    EXPECT_TRUE(host.bytes(data + 0x1000, 4096) == host.bytes(data, 4096));
    EXPECT_EQ(host.counter_of("blocks_written_back"), 0u);
  });
}

// A write into the cache takes no time of the medium, until blocks have to be written back.
TEST(NvmeIo, TheCacheHidesTheMediumUntilItIsFull) {
  Host host(cached(16));
  host.run([&] {
    host.begin();
    EXPECT_LT(duration(host, io(write, 0, 8)), 7 * vp::us);
    EXPECT_LT(duration(host, io(write, 8, 8)), 7 * vp::us);
    EXPECT_GE(duration(host, io(write, 16, 8)), 5 * vp::us + 4096 * vp::ns);
    const vp::Picoseconds flushing = duration(host, command(flush, 1));
    EXPECT_GE(flushing, 5 * vp::us + 8192 * vp::ns);
    EXPECT_LT(flushing, 8 * vp::us + 8192 * vp::ns);
    EXPECT_LT(duration(host, command(flush, 1)), 7 * vp::us) << "nothing is left";
    // Without the cache, every write takes the medium's time. Turning it off flushes it.
    host.perform(io(write, 0, 8));
    EXPECT_EQ(host.admin(with(command(9), {{10, 6}, {11, 0}})).code, 0u);
    EXPECT_EQ(host.counter_of("blocks_written_back"), 32u);
    EXPECT_GE(duration(host, io(write, 0, 8)), 5 * vp::us + 4096 * vp::ns);
    EXPECT_EQ(host.controller.lose_power(), 0u);
  });
}

// Two runs write the same trace.
TEST(NvmeIo, TheTraceIsDeterministic) {
  const auto record = [] {
    return vp::in_child([] {
      Host host(cached(8));
      std::string name = (std::filesystem::temp_directory_path() / "trace-XXXXXX").string();
      ::close(::mkstemp(name.data()));
      host.trace.open(name, nlohmann::json::object());
      host.run([&] {
        host.begin(64);
        std::mt19937 random(1);
        for (unsigned i = 0; i < 60; ++i) {
          host.submit(1, io(1 + random() % 2, random() % 2048, 1 + random() % 8,
                            data + 0x1000 * (random() % 16)));
        }
        host.ring(1);
        pause(1 * vp::ms);
        host.controller.lose_power();
      });
      host.trace.close();
      std::ifstream in(name);
      const std::string text{std::istreambuf_iterator<char>(in), {}};
      std::filesystem::remove(name);
      return text;
    });
  };
  const std::string first = record();
  EXPECT_EQ(first, record());
  EXPECT_NE(first.find(R"("nvme":"nvme","queue":1,"cid":)"), std::string::npos);
  EXPECT_NE(first.find(R"("opcode":"0x01","nsid":1,"block":)"), std::string::npos);
  EXPECT_NE(first.find(R"("state":"power lost")"), std::string::npos);
}

TEST(NvmeIo, WritingThroughForbidsForks) {
  std::string name = (std::filesystem::temp_directory_path() / "image-XXXXXX").string();
  ::close(::mkstemp(name.data()));
  std::filesystem::resize_file(name, 4096);
  ControllerConfig config = small_config();
  config.namespaces[1].image = name;
  {
    vp::Domain domain("domain");
    vp::Trace trace;
    vp::Statistics statistics;
    EXPECT_FALSE(Controller("a", config, domain, trace, statistics).forbids_forks());
    config.namespaces[1].write_through = true;
    vp::Statistics others;
    const Controller controller("b", config, domain, trace, others);
    EXPECT_TRUE(controller.forbids_forks());
    const std::string copy = name + ".copy";
    const int file = ::open(copy.c_str(), O_WRONLY | O_CREAT, 0600);
    EXPECT_THROW(controller.export_disk(0, file), ConfigurationError);
    EXPECT_THROW(controller.export_disk(3, file), ConfigurationError);
    controller.export_disk(2, file);
    ::close(file);
    EXPECT_EQ(std::filesystem::file_size(copy), 4096u);
  }
  std::filesystem::remove(name);
  std::filesystem::remove(name + ".copy");
}

}  // namespace
}  // namespace nvme::test
