// SPDX-License-Identifier: Apache-2.0
#include "vp/images/qemu_library.h"

#include <cstddef>

#include "tests/vp/images/samples.h"

using samples::put;
using testing::HasSubstr;
using namespace vp::images;

namespace {

std::string verdict(const std::string& file) {
  return samples::verdict(file, [](Bytes& bytes) { check_qemu_library(bytes); });
}

constexpr std::size_t program = sizeof(Elf64_Ehdr);
constexpr std::size_t symbol = program + 2 * sizeof(Elf64_Phdr) + sizeof(Elf64_Sym);

TEST(QemuLibrary, ExportsTheEntry) {
  EXPECT_EQ(verdict(samples::library()), "");
  EXPECT_THAT(verdict(samples::library("oae_qemu_apj")),
              HasSubstr("does not export `oae_qemu_api`"));
  EXPECT_THAT(verdict(samples::library("oae_qemu_api_old")), HasSubstr("does not export"));
}

struct Corruption {
  std::size_t offset;
  std::uint64_t value;
  unsigned length;
  const char* found;
};

TEST(QemuLibrary, EveryFieldCounts) {
  const std::string good = samples::library();
  std::uint64_t sections = 0;
  std::memcpy(&sections, good.data() + offsetof(Elf64_Ehdr, e_shoff), 8);
  const std::size_t dynsym = sections + sizeof(Elf64_Shdr);
  const Corruption table[] = {
      {0, 0, 1, "not an ELF file"},
      {EI_CLASS, ELFCLASS32, 1, "not a 64-bit"},
      {EI_DATA, ELFDATA2MSB, 1, "not a little-endian"},
      {offsetof(Elf64_Ehdr, e_type), ET_EXEC, 2, "not a shared library"},
      {offsetof(Elf64_Ehdr, e_machine), EM_AARCH64, 2, "another architecture"},
      {offsetof(Elf64_Ehdr, e_shoff), 0xffff'ffff, 8, ""},
      {offsetof(Elf64_Ehdr, e_shnum), 100, 2, ""},
      {offsetof(Elf64_Ehdr, e_phnum), 0, 2, "no program headers"},
      {program + sizeof(Elf64_Phdr), PT_NULL, 4, "not a shared library"},
      {program + offsetof(Elf64_Phdr, p_filesz), 1 << 20, 8, "cut off"},
      {dynsym + offsetof(Elf64_Shdr, sh_type), SHT_NULL, 4, "does not export"},
      {dynsym + offsetof(Elf64_Shdr, sh_offset), 1 << 20, 8, ""},
      {dynsym + offsetof(Elf64_Shdr, sh_size), 1 << 20, 8, ""},
      {dynsym + offsetof(Elf64_Shdr, sh_link), 99, 4, "does not export"},
      {symbol + offsetof(Elf64_Sym, st_name), 0xffff'ffff, 4, "does not export"},
      {symbol + offsetof(Elf64_Sym, st_info), ELF64_ST_INFO(STB_LOCAL, STT_FUNC), 1,
       "does not export"},
      {symbol + offsetof(Elf64_Sym, st_info), ELF64_ST_INFO(STB_GLOBAL, STT_OBJECT), 1,
       "does not export"},
      {symbol + offsetof(Elf64_Sym, st_shndx), SHN_UNDEF, 2, "does not export"},
  };
  for (const Corruption& each : table) {
    std::string file = good;
    put(file, each.offset, each.value, each.length);
    const std::string found = verdict(file);
    EXPECT_NE(found, "") << each.offset;
    EXPECT_THAT(found, HasSubstr(each.found)) << each.offset;
  }
}

TEST(QemuLibrary, EveryLengthShorterIsRefused) {
  const std::string file = samples::library();
  for (std::size_t length = 1; length < file.size(); ++length)
    EXPECT_NE(verdict(file.substr(0, length)), "") << length;
}

TEST(QemuLibrary, NoByteValueAnywhereDoesHarm) {
  const std::string good = samples::library();
  for (std::size_t i = 0; i < good.size(); ++i)
    for (int value = 0; value < 256; ++value) {
      std::string file = good;
      file[i] = static_cast<char>(value);
      verdict(file);
    }
}

}  // namespace
