// SPDX-License-Identifier: Apache-2.0
#include "vp/plugin/check.h"

#include <cxxabi.h>
#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "vp/config/report.h"
#include "vp/images/elf_file.h"
#include "vp/plugin/note.h"

namespace vp::plugin {

using images::Bytes;
using images::ElfFile;
using images::Mistake;

namespace {

constexpr const char* build_again =
    "build it by oae_vp_add_plugin() of the CMake package OaeVp that came with this oae-vp";

/// Values of a note by their keys.
using Values = std::map<std::string, std::string, std::less<>>;

Values values_of(std::string_view text) {
  Values values;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    const std::string_view line = text.substr(begin, end - begin);
    const std::size_t blank = line.find(' ');
    if (blank != line.npos) values.emplace(line.substr(0, blank), line.substr(blank + 1));
    begin = end + 1;
  }
  return values;
}

/// The description of the file's note, or nothing.
std::optional<std::string> description(const ElfFile& elf) {
  for (const GElf_Phdr& segment : elf.segments(PT_NOTE)) {
    const Elf_Type type = segment.p_align == 8 ? ELF_T_NHDR8 : ELF_T_NHDR;
    Elf_Data* data = elf_getdata_rawchunk(elf.elf(), static_cast<std::int64_t>(segment.p_offset),
                                          segment.p_filesz, type);
    if (data == nullptr) throw Mistake("its notes are cut off", "copy or build it again");
    const auto* bytes = static_cast<const char*>(data->d_buf);
    GElf_Nhdr note;
    std::size_t owner = 0, begin = 0;
    for (std::size_t at = 0; (at = gelf_getnote(data, at, &note, &owner, &begin)) > 0;) {
      if (note.n_type != OAE_VP_NOTE_TYPE || note.n_namesz != sizeof(OAE_VP_NOTE_OWNER) ||
          std::memcmp(bytes + owner, OAE_VP_NOTE_OWNER, sizeof(OAE_VP_NOTE_OWNER)) != 0)
        continue;
      const std::string_view text(bytes + begin, note.n_descsz);
      return std::string(text.substr(0, text.find('\0')));
    }
  }
  return std::nullopt;
}

void check_note(const ElfFile& elf) {
  const std::optional<std::string> text = description(elf);
  if (!text) throw Mistake("it has no note of a plugin, and so is none", build_again);
  const Values theirs = values_of(*text), ours = values_of(OAE_VP_NOTE_TEXT);
  const struct {
    const char *key, *what, *remedy;
  } table[] = {
      {"api", "the version {} of the plugin interface", build_again},
      {"compiler", "the compiler {}",
       "choose the compiler of oae-vp by -DCMAKE_CXX_COMPILER=..., and build it again in an empty "
       "folder"},
      {"systemc", "SystemC {}", "install the SystemC of oae-vp, and build it again"},
  };
  for (const auto& each : table) {
    const auto found = theirs.find(each.key);
    if (found == theirs.end())
      throw Mistake(fmt::format("its note does not say `{}`", each.key), build_again);
    const std::string& needed = ours.find(each.key)->second;
    if (found->second != needed)
      throw Mistake(fmt::format("it was built for {}, but oae-vp has {}",
                                fmt::format(fmt::runtime(each.what), config::shown(found->second)),
                                config::shown(needed)),
                    each.remedy);
  }
}

std::string demangled(const char* symbol) {
  int status = 0;
  const std::unique_ptr<char, void (*)(void*)> text(
      abi::__cxa_demangle(symbol, nullptr, nullptr, &status), std::free);
  return text ? text.get() : symbol;
}

/// The object file of this process that has the address, by its beginning in memory.
const void* object_of(const void* address) {
  Dl_info info{};
  return ::dladdr(address, &info) != 0 ? info.dli_fbase : nullptr;
}

/// Whether the core exports a function or an object of this name.
bool is_of_the_core(const char* name) {
  static const char inside = 0;
  const void* address = ::dlsym(RTLD_DEFAULT, name);
  return address != nullptr && object_of(address) == object_of(&inside);
}

// What a header defines (inline functions, templates, virtual tables without a key function) is
// weak or unique, and may be in any number of libraries.
bool is_strong_definition(const GElf_Sym& symbol) {
  const unsigned type = GELF_ST_TYPE(symbol.st_info);
  return symbol.st_shndx != SHN_UNDEF && GELF_ST_BIND(symbol.st_info) == STB_GLOBAL &&
         (type == STT_FUNC || type == STT_OBJECT) &&
         GELF_ST_VISIBILITY(symbol.st_other) == STV_DEFAULT;
}

void check_definitions(const ElfFile& elf) {
  images::for_each_dynamic_symbol(elf, [](const char* name, const GElf_Sym& symbol) {
    if (is_strong_definition(symbol) && is_of_the_core(name))
      throw Mistake(
          fmt::format("it has a second copy of the core library, which has `{}` too",
                      demangled(name)),
          "link OaeVp::core alone, and compile or link neither sources nor static libraries of "
          "oae-vp");
    return true;
  });
}

}  // namespace

void check(Bytes& file) {
  const ElfFile elf(file, EM_X86_64, "x86-64");
  if (elf.header().e_type != ET_DYN || !elf.has(PT_DYNAMIC))
    throw Mistake("it is not a shared library", build_again);
  check_note(elf);
  if (!elf.has_sections())
    throw Mistake("it is cut off: its section headers are not all in the file",
                  "copy or build it again, and do not remove them");
  check_definitions(elf);
}

void check_for_second_core(Bytes& file) {
  check_definitions(ElfFile(file, EM_X86_64, "x86-64"));
}

}  // namespace vp::plugin
