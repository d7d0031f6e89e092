// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gelf.h>

#include <functional>
#include <memory>
#include <vector>

#include "vp/images/file.h"

namespace vp::images {

/// A 64-bit little-endian ELF file in memory, with a sound header and sound program headers.
class ElfFile {
 public:
  /// Throws Mistake if it is not such a file, or not for `machine` (EM_*, named `architecture`).
  ElfFile(Bytes& file, unsigned machine, const char* architecture);

  Elf* elf() const { return elf_.get(); }
  const GElf_Ehdr& header() const { return header_; }
  /// The program headers of type PT_LOAD. The file has all of their bytes.
  const std::vector<GElf_Phdr>& loads() const { return loads_; }
  /// The program headers of this type (PT_*). The file need not have all of their bytes.
  std::vector<GElf_Phdr> segments(unsigned type) const;
  /// Returns true if the file has section headers, and all of their bytes. A loader needs none.
  bool has_sections() const { return has_sections_; }
  /// Returns true if there is a program header of this type.
  bool has(unsigned type) const { return !segments(type).empty(); }

 private:
  struct End {
    void operator()(Elf* elf) const { elf_end(elf); }
  };
  std::unique_ptr<Elf, End> elf_;
  GElf_Ehdr header_{};
  std::vector<GElf_Phdr> loads_;
  std::vector<GElf_Phdr> segments_;
  bool has_sections_ = false;
};

/// Passes each symbol of the file's dynamic symbol tables to `use`, until that returns false.
/// Throws Mistake if a table is cut off.
void for_each_dynamic_symbol(const ElfFile& elf,
                             const std::function<bool(const char* name, const GElf_Sym&)>& use);

}  // namespace vp::images
