// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <elf.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "vp/images/file.h"

/// The smallest files that pass the checks, made field by field, for tests to corrupt.
namespace samples {

inline void put(std::string& bytes, std::size_t offset, std::uint64_t value, unsigned length) {
  if (bytes.size() < offset + length) bytes.resize(offset + length);
  for (unsigned i = 0; i < length; ++i) bytes[offset + i] = static_cast<char>(value >> (8 * i));
}

inline vp::images::Bytes bytes(const std::string& text) {
  return vp::images::Bytes(std::vector<unsigned char>(text.begin(), text.end()));
}

/// A bzImage of one setup sector and 4 KiB of code.
inline std::string kernel() {
  std::string file(2 * 512 + 4096, '\0');
  put(file, 0x1f1, 1, 1);          // setup_sects
  put(file, 0x1f4, 4096 / 16, 4);  // syssize
  put(file, 0x1fe, 0xaa55, 2);     // boot_flag
  file.replace(0x202, 4, "HdrS");
  put(file, 0x206, 0x020f, 2);    // version
  put(file, 0x211, 1, 1);         // loadflags
  put(file, 0x230, 0x200000, 4);  // kernel_alignment
  put(file, 0x236, 0x7f, 2);      // xloadflags
  put(file, 0x238, 2047, 4);      // cmdline_size
  put(file, 0x248, 0x100, 4);     // payload_offset
  put(file, 0x24c, 0x200, 4);     // payload_length
  put(file, 0x260, 0x100000, 4);  // init_size
  return file;
}

/// One entry of a newc archive.
inline std::string entry(const std::string& name, const std::string& data, unsigned check = 0,
                         const char* magic = "070701") {
  char header[111];
  std::snprintf(header, sizeof header, "%s%08x%08x%08x%08x%08x%08x%08zx%08x%08x%08x%08x%08zx%08x",
                magic, 1u, 0100755u, 0u, 0u, 1u, 0u, data.size(), 0u, 0u, 0u, 0u, name.size() + 1,
                check);
  std::string result = header + name + '\0';
  result.resize((result.size() + 3) / 4 * 4);
  result += data;
  result.resize((result.size() + 3) / 4 * 4);
  return result;
}

/// A newc archive whose init is a script.
inline std::string initramfs() {
  return entry("init", "#!/bin/sh\n") + entry("etc/motd", "hello") + entry("TRAILER!!!", "");
}

/// An AArch64 program of one segment of 64 bytes at `address`, which has 128 in memory.
inline std::string firmware(std::uint64_t address = 0x8000'0000) {
  Elf64_Ehdr header{};
  std::memcpy(header.e_ident, ELFMAG, SELFMAG);
  header.e_ident[EI_CLASS] = ELFCLASS64;
  header.e_ident[EI_DATA] = ELFDATA2LSB;
  header.e_ident[EI_VERSION] = EV_CURRENT;
  header.e_type = ET_EXEC;
  header.e_machine = EM_AARCH64;
  header.e_version = EV_CURRENT;
  header.e_entry = address;
  header.e_phoff = sizeof header;
  header.e_ehsize = sizeof header;
  header.e_phentsize = sizeof(Elf64_Phdr);
  header.e_phnum = 1;
  Elf64_Phdr segment{};
  segment.p_type = PT_LOAD;
  segment.p_flags = PF_R | PF_X;
  segment.p_offset = sizeof header + sizeof segment;
  segment.p_vaddr = segment.p_paddr = address;
  segment.p_filesz = 64;
  segment.p_memsz = 128;
  segment.p_align = 4;
  std::string file(sizeof header + sizeof segment + 64, '\0');
  std::memcpy(file.data(), &header, sizeof header);
  std::memcpy(file.data() + sizeof header, &segment, sizeof segment);
  return file;
}

/// A shared library whose only dynamic symbol is the function `symbol`.
inline std::string library(const std::string& symbol = "oae_qemu_api",
                           unsigned machine = EM_X86_64) {
  const std::string strings = std::string(1, '\0') + symbol + '\0';
  Elf64_Ehdr header{};
  std::memcpy(header.e_ident, ELFMAG, SELFMAG);
  header.e_ident[EI_CLASS] = ELFCLASS64;
  header.e_ident[EI_DATA] = ELFDATA2LSB;
  header.e_ident[EI_VERSION] = EV_CURRENT;
  header.e_type = ET_DYN;
  header.e_machine = static_cast<Elf64_Half>(machine);
  header.e_version = EV_CURRENT;
  header.e_ehsize = sizeof header;
  header.e_phoff = sizeof header;
  header.e_phentsize = sizeof(Elf64_Phdr);
  header.e_phnum = 2;
  header.e_shentsize = sizeof(Elf64_Shdr);
  header.e_shnum = 3;
  const std::size_t symbols = sizeof header + 2 * sizeof(Elf64_Phdr);
  const std::size_t names = symbols + 2 * sizeof(Elf64_Sym);
  header.e_shoff = (names + strings.size() + 7) / 8 * 8;
  Elf64_Phdr segments[2]{};
  segments[0].p_type = PT_LOAD;
  segments[0].p_filesz = segments[0].p_memsz = names + strings.size();
  segments[1].p_type = PT_DYNAMIC;
  Elf64_Sym table[2]{};
  table[1].st_name = 1;
  table[1].st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC);
  table[1].st_shndx = 1;
  Elf64_Shdr sections[3]{};
  sections[1].sh_type = SHT_DYNSYM;
  sections[1].sh_offset = symbols;
  sections[1].sh_size = sizeof table;
  sections[1].sh_link = 2;
  sections[1].sh_entsize = sizeof(Elf64_Sym);
  sections[1].sh_addralign = 8;
  sections[2].sh_type = SHT_STRTAB;
  sections[2].sh_offset = names;
  sections[2].sh_size = strings.size();
  sections[2].sh_addralign = 1;
  std::string file(header.e_shoff + sizeof sections, '\0');
  std::memcpy(file.data(), &header, sizeof header);
  std::memcpy(file.data() + sizeof header, segments, sizeof segments);
  std::memcpy(file.data() + symbols, table, sizeof table);
  std::memcpy(file.data() + names, strings.data(), strings.size());
  std::memcpy(file.data() + header.e_shoff, sections, sizeof sections);
  return file;
}

/// Returns the mistake that a check finds in a file, or an empty string if it passes.
template <class Check>
std::string verdict(const std::string& file, const Check& check) {
  vp::images::Bytes content = bytes(file);
  try {
    check(content);
  } catch (const vp::images::Mistake& mistake) {
    EXPECT_NE(std::string(mistake.what()), "");
    return mistake.what();
  }
  return {};
}

}  // namespace samples
