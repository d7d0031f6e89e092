// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gelf.h>

#include <memory>
#include <vector>

#include "vp/images/file.h"

namespace vp::images {

/// A 64-bit little-endian ELF file in memory, whose header and program headers are sound.
class ElfFile {
 public:
  /// Throws Mistake if it is no such file, or not for `machine` (EM_*, called `architecture`).
  ElfFile(Bytes& file, unsigned machine, const char* architecture);

  Elf* elf() const { return elf_.get(); }
  const GElf_Ehdr& header() const { return header_; }
  /// Program headers of type PT_LOAD; their bytes are all in the file.
  const std::vector<GElf_Phdr>& loads() const { return loads_; }
  /// True if there is a program header of this type.
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
