// SPDX-License-Identifier: Apache-2.0
#include "vp/images/initramfs.h"

#include <zlib.h>

#include "tests/vp/images/samples.h"

using samples::entry;
using testing::HasSubstr;
using namespace vp::images;

namespace {

std::string verdict(const std::string& file) {
  return samples::verdict(file, [](Bytes& bytes) { check_initramfs(bytes); });
}

Initramfs walk(const std::string& file) {
  return check_initramfs(samples::bytes(file));
}

std::string gzip(const std::string& content) {
  z_stream stream{};
  EXPECT_EQ(deflateInit2(&stream, 9, Z_DEFLATED, 15 + 16, 9, Z_DEFAULT_STRATEGY), Z_OK);
  std::string out(deflateBound(&stream, content.size()), '\0');
  stream.next_in = reinterpret_cast<unsigned char*>(const_cast<char*>(content.data()));
  stream.avail_in = static_cast<unsigned>(content.size());
  stream.next_out = reinterpret_cast<unsigned char*>(out.data());
  stream.avail_out = static_cast<unsigned>(out.size());
  EXPECT_EQ(deflate(&stream, Z_FINISH), Z_STREAM_END);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

std::string padded(std::string text, std::size_t to = 4) {
  text.resize((text.size() + to - 1) / to * to);
  return text;
}

const std::string trailer = entry("TRAILER!!!", "");

TEST(Initramfs, CountsWhatItHolds) {
  const Initramfs found = walk(samples::initramfs());
  EXPECT_EQ(found.archives, 1u);
  EXPECT_EQ(found.entries, 2u);
  EXPECT_TRUE(found.has_init);
  EXPECT_FALSE(found.opaque);
  EXPECT_TRUE(walk(entry("./init", "x") + trailer).has_init);
  EXPECT_FALSE(walk(entry("root/init", "x") + trailer).has_init);
}

TEST(Initramfs, TakesSeveralArchivesWithZerosBetween) {
  const std::string early = entry("kernel/x86/microcode", "m") + trailer;
  EXPECT_EQ(walk(early + samples::initramfs()).archives, 2u);
  EXPECT_EQ(walk(padded(early, 512) + samples::initramfs() + std::string(512, '\0')).archives, 2u);
  EXPECT_EQ(walk(padded(early) + padded(gzip(samples::initramfs())) + early).archives, 3u);
  EXPECT_TRUE(walk(padded(early) + gzip(samples::initramfs())).has_init);
  EXPECT_EQ(walk(gzip(early + samples::initramfs())).archives, 2u);
}

TEST(Initramfs, KnowsOtherCompressionsAndLooksNoFurther) {
  for (const std::string& magic :
       {std::string("\xfd"
                    "7zXZ\0",
                    6),
        std::string("\x28\xb5\x2f\xfd"), std::string("BZh9"), std::string("\x02\x21\x4c\x18"),
        std::string("\x5d\0\0\x80", 4), std::string("\x89LZO")}) {
    EXPECT_TRUE(walk(magic + "...").opaque);
    EXPECT_TRUE(walk(samples::initramfs() + magic).opaque);
  }
}

TEST(Initramfs, LargeGzipContentIsWalkedWhole) {
  const std::string large = entry("data", std::string(9 << 20, 'x')) + samples::initramfs();
  EXPECT_TRUE(walk(gzip(large)).has_init);
}

struct Corruption {
  std::size_t offset;
  const char* bytes;
  const char* found;
};

// Offsets are those of samples::initramfs(): header at 0, name at 110, data at 116; next at 128.
TEST(Initramfs, EveryFieldCounts) {
  const Corruption table[] = {
      {0, "070707", "old format"},
      {0, "070703", "entry 1 at byte 0x0: there is no cpio header"},
      {5, "x", "no cpio header"},
      {6, "0000000g", "not a hexadecimal number"},
      {54, "0000000b", "data"},  // file_size: the next entry is missed
      {54, "ffffffff", "ends within the data of `init`, 4294967295 bytes"},
      {54, "00001000", "ends within the data of `init`"},
      {94, "00000000", "its name has 0 bytes"},
      {94, "00001001", "its name has 4097 bytes"},
      {94, "00001000", "ends within a name"},
      {94, "00000004", "name does not end"},
      {94, "00000006", "name does not end"},
      {114, "x", "name does not end"},
      {112, "\0", "name does not end"},
      {128, "070700", "entry 2 at byte 0x80, after `init`: there is no cpio header"},
      {128 + 94, "zzzzzzzz", "after `init`: a field"},
  };
  for (const Corruption& each : table) {
    SCOPED_TRACE(each.bytes);
    std::string file = samples::initramfs();
    const std::size_t length = std::max<std::size_t>(1, std::strlen(each.bytes));
    file.replace(each.offset, length, each.bytes, length);
    if (each.offset == 54 && each.bytes[7] == 'b') {
      EXPECT_EQ(verdict(file), "");  // 11 bytes instead of 10 pad to the same place
      continue;
    }
    EXPECT_THAT(verdict(file), HasSubstr(each.found));
  }
}

TEST(Initramfs, ChecksumsOf070702Count) {
  EXPECT_EQ(verdict(entry("a", "\x01\xff", 0x100, "070702") + trailer), "");
  EXPECT_THAT(verdict(entry("a", "\x01\xff", 0x101, "070702") + trailer), HasSubstr("checksum"));
  EXPECT_EQ(verdict(entry("a", "\x01\xff", 0x101, "070701") + trailer), "");
}

// Every shorter file is refused, but for one that only lacks the padding at its end.
TEST(Initramfs, EveryLengthShorterIsRefused) {
  const std::string file = samples::initramfs();
  const std::size_t end = file.size() - trailer.size() + 110 + 11;
  for (std::size_t length = 1; length < file.size(); ++length)
    EXPECT_EQ(verdict(file.substr(0, length)) == "", length >= end) << length;
  const std::string zipped = gzip(file);
  for (std::size_t length = 1; length < zipped.size(); ++length)
    EXPECT_NE(verdict(zipped.substr(0, length)), "") << length;
}

TEST(Initramfs, EveryByteOfGzipDataCounts) {
  const std::string zipped = gzip(samples::initramfs());
  for (std::size_t i = 10; i < zipped.size(); ++i) {
    std::string file = zipped;
    file[i] = static_cast<char>(file[i] ^ 0xff);
    EXPECT_NE(verdict(file), "") << i;
  }
}

TEST(Initramfs, RefusesWhatIsNone) {
  EXPECT_THAT(verdict(std::string(4096, '\0')), HasSubstr("nothing but zeros"));
  EXPECT_THAT(verdict("hello"), HasSubstr("at byte 0x0 is neither"));
  EXPECT_THAT(verdict(samples::initramfs() + "rest"), HasSubstr("is neither a cpio archive"));
  EXPECT_THAT(verdict(samples::kernel()),
              HasSubstr("a Linux kernel for x86 and not a cpio archive"));
  EXPECT_THAT(verdict(std::string(2, '\0') + samples::initramfs()), HasSubstr("multiple of 4"));
  EXPECT_THAT(verdict(gzip("hello")), HasSubstr("gzip content is not a cpio archive"));
  EXPECT_THAT(verdict(gzip("")), HasSubstr("gzip content is not a cpio archive"));
  EXPECT_THAT(verdict(gzip(samples::initramfs() + "rest")),
              HasSubstr("is not a cpio archive at byte"));
  EXPECT_THAT(verdict(entry("a", "b")), HasSubstr("without `TRAILER!!!`"));
}

}  // namespace
