// SPDX-License-Identifier: Apache-2.0
#include "vp/images/qemu_library.h"

#include <fmt/format.h>

#include <string_view>

#include "vp/images/elf_file.h"

namespace vp::images {

namespace {

/// Returns true if a dynamic symbol table of the file defines the function `name`.
bool exports(const ElfFile& elf, std::string_view name) {
  bool found = false;
  for_each_dynamic_symbol(elf, [&](const char* text, const GElf_Sym& symbol) {
    found = name == text && symbol.st_shndx != SHN_UNDEF &&
            GELF_ST_TYPE(symbol.st_info) == STT_FUNC && GELF_ST_BIND(symbol.st_info) != STB_LOCAL;
    return !found;
  });
  return found;
}

}  // namespace

void check_qemu_library(Bytes& file) {
  const ElfFile elf(file, EM_X86_64, "x86-64");
  constexpr const char* remedy = "run scripts/setup, which builds the QEMU libraries";
  if (elf.header().e_type != ET_DYN || !elf.has(PT_DYNAMIC))
    throw Mistake("it is not a shared library", remedy);
  if (!elf.has_sections())
    throw Mistake("it is cut off: its section headers are not all in the file", remedy);
  if (!exports(elf, qemu_entry_symbol))
    throw Mistake(
        fmt::format("it does not export `{}`, and so is not a QEMU library of this program",
                    qemu_entry_symbol),
        remedy);
}

}  // namespace vp::images
