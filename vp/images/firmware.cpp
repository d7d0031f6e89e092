// SPDX-License-Identifier: Apache-2.0
#include "vp/images/firmware.h"

#include <fmt/format.h>

#include <algorithm>

#include "vp/images/elf_file.h"

namespace vp::images {

namespace {

bool contains(std::uint64_t base, std::uint64_t size, std::uint64_t address, std::uint64_t length) {
  return address >= base && address - base <= size && length <= size - (address - base);
}

std::string list(const std::vector<Memory>& memories) {
  std::string text;
  for (const Memory& memory : memories)
    text += fmt::format("{}{} at {:#x} to {:#x}", text.empty() ? "" : ", ", memory.name,
                        memory.base, memory.base + memory.size - 1);
  return text;
}

}  // namespace

Firmware check_firmware(Bytes& file, const std::vector<Memory>& memories) {
  const ElfFile elf(file, EM_AARCH64, "AArch64");
  if (elf.header().e_type != ET_EXEC || elf.has(PT_INTERP) || elf.has(PT_DYNAMIC))
    throw Mistake("it is not a static executable",
                  "link it with -static -no-pie -nostdlib, at the addresses of its memory");
  std::vector<GElf_Phdr> segments = elf.loads();
  segments.erase(std::remove_if(segments.begin(), segments.end(),
                                [](const GElf_Phdr& each) { return each.p_memsz == 0; }),
                 segments.end());
  if (segments.empty()) throw Mistake("it has nothing to load", "build it again");

  for (const GElf_Phdr& segment : segments) {
    const bool inside = std::any_of(memories.begin(), memories.end(), [&](const Memory& memory) {
      return contains(memory.base, memory.size, segment.p_paddr, segment.p_memsz);
    });
    if (!inside)
      throw Mistake(fmt::format("its segment of {} bytes at {:#x} lies in no memory of the IPU: {}",
                                segment.p_memsz, segment.p_paddr, list(memories)),
                    "link it for these memories, or make them larger in the platform file");
  }
  std::sort(segments.begin(), segments.end(),
            [](const GElf_Phdr& a, const GElf_Phdr& b) { return a.p_paddr < b.p_paddr; });
  for (std::size_t i = 1; i < segments.size(); ++i)
    if (segments[i - 1].p_paddr + segments[i - 1].p_memsz > segments[i].p_paddr)
      throw Mistake(fmt::format("its segments at {:#x} and {:#x} overlap", segments[i - 1].p_paddr,
                                segments[i].p_paddr),
                    "correct its linker script");

  // Cores start with their MMU off, so the entry point is a physical address.
  const std::uint64_t entry = elf.header().e_entry;
  const bool executable = std::any_of(segments.begin(), segments.end(), [&](const GElf_Phdr& each) {
    return (each.p_flags & PF_X) != 0 && contains(each.p_paddr, each.p_filesz, entry, 4);
  });
  if (!executable || entry % 4 != 0)
    throw Mistake(
        fmt::format("its entry point, {:#x}, is not an instruction in an executable segment",
                    entry),
        "name the entry point in its linker script (ENTRY)");
  return {entry};
}

}  // namespace vp::images
