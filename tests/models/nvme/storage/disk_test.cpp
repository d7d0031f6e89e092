// SPDX-License-Identifier: Apache-2.0
#include "models/nvme/storage/disk.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <set>

namespace nvme {
namespace {

using Bytes = std::vector<std::uint8_t>;

class DiskTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = (std::filesystem::temp_directory_path() / "disk-XXXXXX").string();
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    folder = name;
  }
  void TearDown() override { std::filesystem::remove_all(folder); }

  std::string file(const Bytes& bytes, const std::string& name = "image") const {
    const std::string path = (folder / name).string();
    std::ofstream(path, std::ios::binary)
        .write(reinterpret_cast<const char*>(bytes.data()), static_cast<long>(bytes.size()));
    return path;
  }
  static Bytes contents(const std::string& path) {
    std::ifstream in(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  static Bytes pattern(std::size_t count, unsigned seed) {
    Bytes bytes(count);
    for (std::size_t i = 0; i < count; ++i) {
      bytes[i] = static_cast<std::uint8_t>((i + seed * 977) * 2654435761u >> 9);
    }
    return bytes;
  }
  static Bytes read(const Disk& disk, std::uint64_t block, std::uint64_t count) {
    Bytes bytes(count * disk.block_size());
    disk.read(block, count, bytes.data());
    return bytes;
  }
  static Bytes all(const Disk& disk) { return read(disk, 0, disk.blocks()); }
  static void write_to(const Disk& disk, const std::string& path) {
    const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
    ASSERT_GE(file, 0);
    disk.write_to(file);
    ::close(file);
  }
  static std::string message(const std::function<void()>& work) {
    try {
      work();
    } catch (const ConfigurationError& error) {
      return error.what();
    }
    return "nothing thrown";
  }

  std::filesystem::path folder;
};

DiskConfig blank(std::uint64_t blocks, unsigned block_size = 512, std::uint64_t cached_blocks = 0) {
  DiskConfig config;
  config.size = blocks * block_size;
  config.block_size = block_size;
  config.cache = cached_blocks * block_size;
  return config;
}

// Ranges of any length at any place, against plain memory; pages in memory, in a file, and both.
TEST_F(DiskTest, IsMemoryOverAnImageThatNeverChanges) {
  for (const unsigned block_size : {512u, 4096u}) {
    for (const std::uint64_t memory : {0u, 8192u, 1u << 20}) {
      const Bytes first = pattern(35 * block_size, 1);
      DiskConfig config;
      config.image = file(first);
      config.block_size = block_size;
      config.overlay_memory = memory;
      config.cache = 5 * block_size;
      Disk disk(config);
      ASSERT_EQ(disk.blocks(), 35u);
      Bytes expected = first;
      EXPECT_EQ(all(disk), expected);
      std::mt19937 random(3);
      for (unsigned step = 0; step < 400; ++step) {
        const std::uint64_t block = random() % 35, count = 1 + random() % (35 - block);
        Bytes data = pattern(count * block_size, step);
        switch (random() % 5) {
          case 0:
            disk.write(block, count, data.data());
            break;
          case 1:
            disk.clear(block, count);
            std::fill(data.begin(), data.end(), 0);
            break;
          case 2:
            disk.flush(block, count);
            data = Bytes(expected.begin() + static_cast<long>(block * block_size),
                         expected.begin() + static_cast<long>((block + count) * block_size));
            break;
          default:
            disk.write_volatile(block, count, data.data());
        }
        std::copy(data.begin(), data.end(),
                  expected.begin() + static_cast<long>(block * block_size));
        EXPECT_LE(disk.volatile_bytes(), config.cache);
        ASSERT_TRUE(all(disk) == expected) << block_size << ' ' << memory << ' ' << step;
      }
      EXPECT_EQ(contents(config.image), first);
      const std::string copy = (folder / "copy").string();
      write_to(disk, copy);
      EXPECT_TRUE(contents(copy) == expected) << "with what only the cache holds";
      disk.flush();
      EXPECT_EQ(disk.volatile_bytes(), 0u);
      EXPECT_TRUE(all(disk) == expected);
    }
  }
}

TEST_F(DiskTest, ABlankDiskIsZeros) {
  Disk disk(blank(std::uint64_t{1} << 31));
  EXPECT_EQ(read(disk, (std::uint64_t{1} << 31) - 8, 8), Bytes(8 * 512));
  disk.clear(0, disk.blocks());
  EXPECT_EQ(disk.overlay().bytes_in_memory(), 0u);
}

TEST_F(DiskTest, WhatIsFlushedSurvivesAndTheRestIsASubset) {
  std::set<std::uint64_t> losses;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    Disk disk(blank(64, 512, 40));
    const Bytes old = pattern(64 * 512, 1), durable = pattern(8 * 512, 2),
                cached = pattern(32 * 512, 3);
    disk.write(0, 64, old.data());
    disk.write_volatile(0, 8, durable.data());
    EXPECT_EQ(disk.flush(), 8 * 512u);
    disk.write_volatile(16, 32, cached.data());
    std::mt19937_64 random(seed);
    const std::uint64_t lost = disk.lose_power(random);
    losses.insert(lost);
    EXPECT_EQ(disk.volatile_bytes(), 0u);
    EXPECT_EQ(read(disk, 0, 8), durable);
    std::uint64_t found = 0;
    for (std::uint64_t block = 0; block < 32; ++block) {
      const Bytes now = read(disk, 16 + block, 1);
      const Bytes before(old.begin() + static_cast<long>((16 + block) * 512),
                         old.begin() + static_cast<long>((17 + block) * 512));
      const Bytes after(cached.begin() + static_cast<long>(block * 512),
                        cached.begin() + static_cast<long>((block + 1) * 512));
      EXPECT_TRUE(now == before || now == after) << "a block is whole";
      found += now == before;
    }
    EXPECT_EQ(found, lost);
    // The same seed loses the same.
    Disk twin(blank(64, 512, 40));
    twin.write(0, 64, old.data());
    twin.write_volatile(0, 8, durable.data());
    twin.flush();
    twin.write_volatile(16, 32, cached.data());
    std::mt19937_64 again(seed);
    twin.lose_power(again);
    EXPECT_TRUE(all(twin) == all(disk));
  }
  EXPECT_GT(losses.size(), 3u) << "other seeds lose others";
}

// When the cache is full, the oldest blocks become durable.
TEST_F(DiskTest, AFullCacheWritesBackTheOldest) {
  Disk disk(blank(16, 512, 4));
  const Bytes data = pattern(16 * 512, 1);
  for (std::uint64_t block = 0; block < 4; ++block) {
    EXPECT_EQ(disk.write_volatile(block, 1, &data[block * 512]), 0u);
  }
  EXPECT_EQ(disk.write_volatile(1, 1, &data[0]), 0u) << "it is there already";
  EXPECT_EQ(disk.write_volatile(8, 2, &data[8 * 512]), 2 * 512u);
  EXPECT_EQ(disk.written_back(), 2u);
  std::mt19937_64 random(1);
  // Whatever the power takes, blocks 0 and 1 are durable.
  disk.lose_power(random);
  EXPECT_EQ(read(disk, 0, 1), Bytes(data.begin(), data.begin() + 512));
  EXPECT_EQ(read(disk, 1, 1), Bytes(data.begin(), data.begin() + 512));
}

// A durable write or a cleared range replaces what the cache holds.
// What the power takes in any case may also be what cannot be written.
TEST_F(DiskTest, APowerLossTakesWhatCannotBeWrittenBack) {
  DiskConfig config = blank(64, 4096, 64);
  config.overlay_memory = 4096;
  config.spill_folder = (folder / "absent").string();
  Disk disk(config);
  const Bytes data = pattern(64 * 4096, 1);
  for (std::uint64_t block = 0; block < 64; ++block) {
    disk.write_volatile(block, 1, &data[block * 4096]);
  }
  std::mt19937_64 random(1);
  EXPECT_GE(disk.lose_power(random), 60u);
  EXPECT_EQ(disk.lose_power(random), 0u) << "nothing is left in the cache";
}

TEST_F(DiskTest, NothingOldComesOutOfTheCache) {
  Disk disk(blank(16, 512, 8));
  const Bytes old = pattern(8 * 512, 1), fresh = pattern(2 * 512, 2);
  disk.write_volatile(0, 8, old.data());
  disk.write(2, 2, fresh.data());
  disk.clear(5, 1);
  EXPECT_EQ(disk.volatile_bytes(), 5 * 512u);
  disk.flush();
  EXPECT_EQ(read(disk, 2, 2), fresh);
  EXPECT_EQ(read(disk, 5, 1), Bytes(512));
}

TEST_F(DiskTest, WritingThroughReachesTheImageWhenDurable) {
  const Bytes first = pattern(32 * 512, 1), data = pattern(4 * 512, 2);
  DiskConfig config;
  config.image = file(first);
  config.write_through = true;
  config.cache = 8 * 512;
  Disk disk(config);
  EXPECT_TRUE(disk.writes_through());
  disk.write_volatile(3, 4, data.data());
  EXPECT_EQ(contents(config.image), first);
  EXPECT_EQ(read(disk, 3, 4), data);
  disk.flush();
  disk.clear(20, 9);
  Bytes expected = first;
  std::copy(data.begin(), data.end(), expected.begin() + 3 * 512);
  std::fill(expected.begin() + 20 * 512, expected.begin() + 29 * 512, 0);
  EXPECT_TRUE(contents(config.image) == expected);
}

TEST_F(DiskTest, ZerosAreHolesInWhatItWrites) {
  // A terabyte, which nobody could read in the time of a test.
  constexpr std::uint64_t blocks = std::uint64_t{1} << 31;
  const std::uint64_t cached = 12345, written = blocks / 2 + 7, last = blocks - 1;
  Disk disk(blank(blocks, 512, 8));
  const Bytes data = pattern(512, 2), other = pattern(512, 3);
  disk.write(written, 1, data.data());
  disk.write(last, 1, other.data());
  disk.write_volatile(cached, 1, data.data());
  const std::string copy = (folder / "copy").string();
  const auto expect_sparse = [&](const std::string& path) {
    struct stat status {};
    ASSERT_EQ(::stat(path.c_str(), &status), 0);
    EXPECT_EQ(status.st_size, std::int64_t{1} << 40);
    EXPECT_LT(status.st_blocks * 512, 8 << 20);
  };
  write_to(disk, copy);
  expect_sparse(copy);
  // The copy, which has holes, is an image in turn. What is cleared of it becomes a hole.
  DiskConfig config;
  config.image = copy;
  Disk again(config);
  EXPECT_EQ(read(again, cached, 1), data);
  EXPECT_EQ(read(again, cached - 1, 1), Bytes(512));
  EXPECT_EQ(read(again, written, 1), data);
  EXPECT_EQ(read(again, last, 1), other);
  again.clear(written, 1);
  again.write(3, 1, other.data());
  const std::string second = (folder / "second").string();
  write_to(again, second);
  expect_sparse(second);
  config.image = second;
  const Disk third(config);
  EXPECT_EQ(read(third, written, 1), Bytes(512));
  EXPECT_EQ(read(third, cached, 1), data);
  EXPECT_EQ(read(third, 3, 1), other);
  EXPECT_EQ(read(third, last, 1), other);
}

TEST_F(DiskTest, WhatCannotBeWrittenIsSaid) {
  const Disk disk(blank(4096));
  const std::string copy = file(Bytes(1));
  const int read_only = ::open(copy.c_str(), O_RDONLY);
  EXPECT_THROW(disk.write_to(read_only), MediaError);
  ::close(read_only);
}

TEST_F(DiskTest, ImagesThatCannotBeUsedAreNamedWithARemedy) {
  DiskConfig config;
  const auto expect = [&](const std::string& found, const std::string& remedy) {
    const std::string text = message([&] { Disk disk(config); });
    EXPECT_NE(text.find(found), std::string::npos) << text;
    EXPECT_NE(text.find(remedy), std::string::npos) << text;
    if (!config.image.empty()) {
      EXPECT_NE(text.find("'" + config.image + "'"), std::string::npos) << text;
    }
  };
  config.image = (folder / "absent").string();
  expect("does not exist", "check its name");
  config.image = folder.string();
  expect("is no regular file", "name a file");
  for (const std::size_t bytes : {0u, 1u, 511u, 513u, 1023u}) {
    config.image = file(Bytes(bytes));
    expect("has " + std::to_string(bytes) + " bytes",
           "truncate --size=" + std::to_string((bytes / 512 + 1) * 512) + " " + config.image);
  }
  config.image = file(Bytes(512));
  EXPECT_EQ(Disk(config).blocks(), 1u);
  config.block_size = 4096;
  expect("has 512 bytes, which are not whole blocks of 4096 bytes", "truncate --size=4096 ");
  config = DiskConfig();
  config.block_size = 1024;
  expect("1024", "choose 512 or 4096");
  config = DiskConfig();
  expect("cannot have 0 bytes", "choose a multiple of 512");
  config.size = 1000;
  expect("cannot have 1000 bytes", "choose a multiple of 512");
  config.write_through = true;
  expect("cannot write through", "name an image file");
  if (::geteuid() == 0) return;  // everything can be read
  config = DiskConfig();
  config.image = file(Bytes(512));
  ::chmod(config.image.c_str(), 0);
  expect("cannot be read", "check its permissions");
}

// The image is cut off while the disk is in use.
TEST_F(DiskTest, AnImageThatShrinksIsAnErrorOfTheMedium) {
  DiskConfig config;
  config.image = file(pattern(8 * 512, 1));
  Disk disk(config);
  std::filesystem::resize_file(config.image, 4 * 512);
  EXPECT_NO_THROW(read(disk, 0, 4));
  EXPECT_THROW(read(disk, 4, 1), MediaError);
}

}  // namespace
}  // namespace nvme
