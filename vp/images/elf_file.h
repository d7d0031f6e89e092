// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gelf.h>

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
  /// Returns true if there is a program header of this type.
  bool has(unsigned type) const;

 private:
  struct End {
    void operator()(Elf* elf) const { elf_end(elf); }
  };
  std::unique_ptr<Elf, End> elf_;
  GElf_Ehdr header_{};
  std::vector<GElf_Phdr> loads_;
  std::vector<unsigned> types_;
};

}  // namespace vp::images
