// SPDX-License-Identifier: Apache-2.0
#include "vp/images/elf_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

namespace vp::images {

ElfFile::ElfFile(Bytes& file, unsigned machine, const char* architecture) {
  constexpr const char* copy_again = "copy or build it again";
  const std::string build = fmt::format("build it for {}", architecture);
  if (!file.matches(0, ELFMAG, SELFMAG)) {
    const std::string kind = recognise(file);
    throw Mistake(
        kind.empty() ? "it is not an ELF file" : fmt::format("it is {} and not an ELF file", kind),
        "give an ELF file, before objcopy or packing");
  }
  if (file.u8(EI_CLASS) != ELFCLASS64) throw Mistake("it is not a 64-bit ELF file", build);
  if (file.u8(EI_DATA) != ELFDATA2LSB) throw Mistake("it is not a little-endian ELF file", build);
  if (!file.holds(0, sizeof(Elf64_Ehdr))) throw Mistake("it ends within its header", copy_again);
  if (file.u8(EI_VERSION) != EV_CURRENT)
    throw Mistake(fmt::format("its ELF version is {}", file.u8(EI_VERSION)), copy_again);

  elf_version(EV_CURRENT);
  elf_.reset(elf_memory(reinterpret_cast<char*>(file.data()), file.size()));
  if (!elf_ || elf_kind(elf_.get()) != ELF_K_ELF || !gelf_getehdr(elf_.get(), &header_))
    throw Mistake(fmt::format("its header is damaged: {}", elf_errmsg(-1)), copy_again);
  if (header_.e_machine != machine)
    throw Mistake(fmt::format("it is for another architecture (ELF machine {}) than {}",
                              header_.e_machine, architecture),
                  build);

  std::size_t count = 0;
  const std::size_t size = sizeof(Elf64_Phdr);
  if (elf_getphdrnum(elf_.get(), &count) != 0 || count == 0)
    throw Mistake("it has no program headers", "link it; an object file cannot be loaded");
  if (header_.e_phentsize != size || !file.holds(header_.e_phoff, count * size))
    throw Mistake("its program headers are not all in the file", copy_again);
  for (std::size_t i = 0; i < count; ++i) {
    GElf_Phdr segment;
    if (!gelf_getphdr(elf_.get(), static_cast<int>(i), &segment))
      throw Mistake(fmt::format("its program header {} is damaged: {}", i, elf_errmsg(-1)),
                    copy_again);
    segments_.push_back(segment);
    if (segment.p_type != PT_LOAD) continue;
    if (!file.holds(segment.p_offset, segment.p_filesz))
      throw Mistake(fmt::format("segment {}, {} bytes at {:#x} of the file, is cut off", i,
                                segment.p_filesz, segment.p_offset),
                    copy_again);
    if (segment.p_filesz > segment.p_memsz)
      throw Mistake(fmt::format("segment {} has more bytes in the file than in memory", i),
                    copy_again);
    loads_.push_back(segment);
  }
  std::size_t sections = 0;
  has_sections_ = elf_getshdrnum(elf_.get(), &sections) == 0 && sections > 0 &&
                  file.holds(header_.e_shoff, sections * sizeof(Elf64_Shdr));
}

std::vector<GElf_Phdr> ElfFile::segments(unsigned type) const {
  std::vector<GElf_Phdr> found;
  std::copy_if(segments_.begin(), segments_.end(), std::back_inserter(found),
               [type](const GElf_Phdr& segment) { return segment.p_type == type; });
  return found;
}

void for_each_dynamic_symbol(const ElfFile& elf,
                             const std::function<bool(const char* name, const GElf_Sym&)>& use) {
  for (Elf_Scn* section = nullptr; (section = elf_nextscn(elf.elf(), section)) != nullptr;) {
    GElf_Shdr header;
    if (!gelf_getshdr(section, &header) || header.sh_type != SHT_DYNSYM) continue;
    Elf_Data* data = elf_getdata(section, nullptr);
    if (!data) throw Mistake("its dynamic symbols are cut off", "copy or build it again");
    const std::size_t count = data->d_size / sizeof(Elf64_Sym);
    for (std::size_t i = 0; i < count; ++i) {
      GElf_Sym symbol;
      if (!gelf_getsym(data, static_cast<int>(i), &symbol)) continue;
      const char* name = elf_strptr(elf.elf(), header.sh_link, symbol.st_name);
      if (name && !use(name, symbol)) return;
    }
  }
}

}  // namespace vp::images
