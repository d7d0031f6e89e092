// SPDX-License-Identifier: Apache-2.0
#include "vp/images/firmware.h"

#include "tests/vp/images/samples.h"

using samples::put;
using testing::HasSubstr;
using namespace vp::images;

namespace {

const std::vector<Memory> memories = {{"sram", 0x1000'0000, 0x10'0000},
                                      {"dram", 0x8000'0000, 0x100'0000}};

std::string verdict(const std::string& file) {
  return samples::verdict(file, [](Bytes& bytes) { check_firmware(bytes, memories); });
}

/// Offsets in the file: the header, and the program header behind it.
constexpr std::size_t program = sizeof(Elf64_Ehdr);
constexpr std::size_t p_type = program + 0, p_flags = program + 4, p_offset = program + 8,
                      p_vaddr = program + 16, p_paddr = program + 24, p_filesz = program + 32,
                      p_memsz = program + 40;

TEST(Firmware, KnowsItsEntry) {
  Bytes file = samples::bytes(samples::firmware());
  EXPECT_EQ(check_firmware(file, memories).entry, 0x8000'0000u);
}

struct Corruption {
  std::size_t offset;
  std::uint64_t value;
  unsigned length;
  const char* found;
};

TEST(Firmware, EveryFieldCounts) {
  const Corruption table[] = {
      {0, 0x46, 1, "not an ELF file"},
      {EI_CLASS, ELFCLASS32, 1, "not a 64-bit ELF"},
      {EI_CLASS, 0, 1, "not a 64-bit ELF"},
      {EI_DATA, ELFDATA2MSB, 1, "not a little-endian ELF"},
      {EI_VERSION, 2, 1, "version is 2"},
      {16, ET_REL, 2, "not a static executable"},
      {16, ET_DYN, 2, "not a static executable"},
      {16, ET_CORE, 2, "not a static executable"},
      {18, EM_X86_64, 2, "another architecture (ELF machine 62) than AArch64"},
      {18, EM_ARM, 2, "another architecture"},
      {24, 0x7fff'fffc, 8, "entry point, 0x7ffffffc"},
      {24, 0x8000'0040, 8, "entry point"},  // in the memory of the segment, not in the file
      {24, 0x8000'0002, 8, "entry point"},
      {24, 0, 8, "entry point, 0x0"},
      {32, 0xffff'ffff'ffff'fff0, 8, "program headers"},
      {32, 200, 8, "program headers"},
      {54, 32, 2, "program headers"},
      {56, 0, 2, "no program headers"},
      {56, 40, 2, "program header"},
      {p_type, PT_NOTE, 4, "nothing to load"},
      {p_flags, PF_R, 4, "entry point"},
      {p_offset, 121, 8, "cut off"},
      {p_offset, 0xffff'ffff'ffff'ffff, 8, "cut off"},
      {p_filesz, 65, 8, "cut off"},
      {p_filesz, 0xffff'ffff'ffff'ffff, 8, "cut off"},
      {p_memsz, 63, 8, "more bytes in the file than in memory"},
      {p_memsz, 0x100'0001, 8,
       "lies in no memory of the IPU: sram at 0x10000000 to 0x100fffff, dram"},
      {p_memsz, 0xffff'ffff'ffff'ffff, 8, "lies in no memory"},
      {p_paddr, 0x7fff'ffff, 8, "lies in no memory"},
      {p_paddr, 0x80ff'ff81, 8, "lies in no memory"},
      {p_paddr, 0xffff'ffff'ffff'ff00, 8, "lies in no memory"},
      {p_paddr, 0x8000'1000, 8, "entry point"},
  };
  for (const Corruption& each : table) {
    std::string file = samples::firmware();
    put(file, each.offset, each.value, each.length);
    EXPECT_THAT(verdict(file), HasSubstr(each.found)) << each.offset << " " << each.value;
  }
}

TEST(Firmware, BoundariesPass) {
  EXPECT_EQ(verdict(samples::firmware(0x1000'0000)), "");
  EXPECT_EQ(verdict(samples::firmware(0x100f'ff80)), "");
  EXPECT_EQ(verdict(samples::firmware(0x80ff'ff80)), "");
  EXPECT_NE(verdict(samples::firmware(0x80ff'ff84)), "");
  std::string file = samples::firmware();
  put(file, 24, 0x8000'003c, 8);  // the last instruction
  EXPECT_EQ(verdict(file), "");
  put(file, p_memsz, 0x100'0000, 8);
  EXPECT_EQ(verdict(file), "");
  put(file, p_vaddr, 0xffff'0000, 8);  // what counts is the physical address
  EXPECT_EQ(verdict(file), "");
}

/// With a second program header, whose segment has no bytes in the file.
std::string two_segments(std::uint32_t type, std::uint64_t address, std::uint64_t size) {
  std::string file = samples::firmware();
  Elf64_Phdr second{};
  second.p_type = type;
  second.p_paddr = second.p_vaddr = address;
  second.p_memsz = size;
  file.insert(program + sizeof second, reinterpret_cast<const char*>(&second), sizeof second);
  put(file, p_offset, program + 2 * sizeof second, 8);
  put(file, 56, 2, 2);
  return file;
}

TEST(Firmware, SegmentsMayTouchButNotOverlap) {
  EXPECT_EQ(verdict(two_segments(PT_LOAD, 0x8000'0080, 64)), "");
  EXPECT_THAT(verdict(two_segments(PT_LOAD, 0x8000'007f, 64)), HasSubstr("overlap"));
  EXPECT_THAT(verdict(two_segments(PT_LOAD, 0x8000'0000, 1)), HasSubstr("overlap"));
  EXPECT_EQ(verdict(two_segments(PT_LOAD, 0, 0)), "");  // loads nothing
  EXPECT_THAT(verdict(two_segments(PT_LOAD, 0x0900'0000, 4)), HasSubstr("no memory"));
}

TEST(Firmware, MustBeStatic) {
  EXPECT_THAT(verdict(two_segments(PT_INTERP, 0, 0)), HasSubstr("not a static executable"));
  EXPECT_THAT(verdict(two_segments(PT_DYNAMIC, 0, 0)), HasSubstr("not a static executable"));
  EXPECT_EQ(verdict(two_segments(PT_NOTE, 0, 0)), "");
}

TEST(Firmware, EveryLengthShorterIsRefused) {
  const std::string file = samples::firmware();
  for (std::size_t length = 1; length < file.size(); ++length)
    EXPECT_NE(verdict(file.substr(0, length)), "") << length;
}

TEST(Firmware, NoByteValueAnywhereDoesHarm) {
  const std::string good = two_segments(PT_LOAD, 0x8000'0080, 64);
  for (std::size_t i = 0; i < good.size(); ++i)
    for (int value = 0; value < 256; ++value) {
      std::string file = good;
      file[i] = static_cast<char>(value);
      verdict(file);
    }
}

TEST(Firmware, OtherFilesAreCalledWhatTheyAre) {
  EXPECT_THAT(verdict(samples::initramfs()), HasSubstr("a cpio archive and not an ELF file"));
  EXPECT_THAT(verdict("hello"), HasSubstr("not an ELF file"));
}

}  // namespace
