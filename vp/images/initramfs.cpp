// SPDX-License-Identifier: Apache-2.0
#include "vp/images/initramfs.h"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <string_view>

namespace vp::images {

namespace {

constexpr const char* pack_again =
    "pack it again: (cd ROOT && find . | cpio -o -H newc) > initramfs.cpio";

/// The largest content of a gzip file that is read.
constexpr std::size_t max_content = std::size_t{1} << 30;

/// The header of an entry (buffer-format.rst) is a magic of 6 characters and 13 fields of 8
/// hexadecimal digits. The name with its NUL and the data follow, each padded to 4 bytes.
struct Field {
  enum : unsigned { file_size = 6, name_size = 11, check = 12, count = 13 };
};
constexpr std::size_t header_size = 6 + Field::count * 8;
constexpr std::uint32_t longest_name = 4096;  // PATH_MAX

/// Reads an archive from `offset` on, and moves `offset` behind it.
class Walk {
 public:
  Walk(std::string_view data, Initramfs& found) : data_(data), found_(found) {}

  void archive(std::size_t& offset) {
    ++found_.archives;
    const std::size_t begin = offset;
    while (!entry(begin, offset)) {
    }
  }

 private:
  [[noreturn]] void fail(std::size_t offset, const std::string& what) const {
    throw Mistake(fmt::format("entry {} at byte {:#x}{}: {}", found_.entries + 1, offset,
                              last_.empty() ? "" : fmt::format(", after `{}`", last_), what),
                  pack_again);
  }

  std::uint32_t field(std::size_t offset, unsigned number) const {
    std::uint32_t value = 0;
    for (const char c : data_.substr(offset + 6 + number * 8, 8)) {
      const int digit = c >= '0' && c <= '9'   ? c - '0'
                        : c >= 'a' && c <= 'f' ? c - 'a' + 10
                        : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                               : -1;
      if (digit < 0) fail(offset, "a field of its header is not a hexadecimal number");
      value = value << 4 | static_cast<std::uint32_t>(digit);
    }
    return value;
  }

  /// Reads one entry. Returns true if it is the trailer.
  bool entry(std::size_t begin, std::size_t& offset) {
    // Padding is relative to the beginning of the archive.
    const auto aligned = [&](std::size_t place) {
      return begin + ((place - begin + 3) & ~std::size_t{3});
    };
    if (offset >= data_.size()) fail(offset, "the archive ends without `TRAILER!!!`");
    if (data_.size() - offset < header_size) fail(offset, "the archive ends within a header");
    const std::string_view magic = data_.substr(offset, 6);
    if (magic != "070701" && magic != "070702") fail(offset, "there is no cpio header (`070701`)");
    std::array<std::uint32_t, Field::count> fields;
    for (unsigned i = 0; i < Field::count; ++i) fields[i] = field(offset, i);
    const std::uint32_t name_size = fields[Field::name_size];
    const std::uint32_t file_size = fields[Field::file_size];
    if (name_size == 0 || name_size > longest_name)
      fail(offset, fmt::format("its name has {} bytes", name_size));
    const std::size_t name_at = offset + header_size;
    if (data_.size() - name_at < name_size) fail(offset, "the archive ends within a name");
    const std::string_view name = data_.substr(name_at, name_size - 1);
    if (data_[name_at + name_size - 1] != '\0' || name.find('\0') != name.npos)
      fail(offset, "its name does not end where it should");
    const std::size_t data_at = std::min(aligned(name_at + name_size), data_.size());
    if (data_.size() - data_at < file_size)
      fail(offset,
           fmt::format("the archive ends within the data of `{}`, {} bytes", name, file_size));
    if (magic == "070702" && fields[Field::check] != sum(data_.substr(data_at, file_size)))
      fail(offset, fmt::format("the checksum of `{}` does not fit its data", name));
    offset = std::min(aligned(data_at + file_size), data_.size());
    if (name == "TRAILER!!!") return true;
    ++found_.entries;
    last_ = std::string(name);
    if (name == "init" || name == "./init" || name == "/init") found_.has_init = true;
    return false;
  }

  static std::uint32_t sum(std::string_view data) {
    std::uint32_t total = 0;
    for (const char c : data) total += static_cast<unsigned char>(c);
    return total;
  }

  std::string_view data_;
  Initramfs& found_;
  std::string last_;
};

/// Unpacks one gzip member from `offset` on, and moves `offset` behind it.
std::string unpack(const Bytes& file, std::size_t& offset) {
  z_stream stream{};
  if (inflateInit2(&stream, 15 + 16) != Z_OK) throw Mistake("zlib cannot start", "");
  std::string content;
  int status = Z_OK;
  while (status == Z_OK) {
    const std::size_t done = offset + stream.total_in;
    const std::size_t left = file.size() - done;
    stream.next_in = const_cast<unsigned char*>(file.data()) + done;
    stream.avail_in = static_cast<unsigned>(std::min<std::size_t>(left, 1 << 20));
    const std::size_t before = content.size();
    content.resize(before + (4 << 20));
    stream.next_out = reinterpret_cast<unsigned char*>(content.data()) + before;
    stream.avail_out = 4 << 20;
    status = inflate(&stream, Z_NO_FLUSH);
    content.resize(content.size() - stream.avail_out);
    if (status == Z_OK && left == 0) status = Z_BUF_ERROR;
    if (content.size() > max_content) break;
  }
  const std::size_t used = stream.total_in;
  inflateEnd(&stream);
  if (content.size() > max_content)
    throw Mistake(fmt::format("its gzip content is larger than {} bytes", max_content), pack_again);
  if (status != Z_STREAM_END)
    throw Mistake(fmt::format("its gzip data from byte {:#x} on is {}", offset,
                              status == Z_BUF_ERROR ? "cut off" : "damaged"),
                  "copy it again, or pack it again");
  offset += used;
  return content;
}

/// Reads archives with zeros between them, up to something else or to the end.
void walk_archives(std::string_view data, std::size_t& offset, Initramfs& found) {
  for (;;) {
    std::size_t next = offset;
    while (next < data.size() && data[next] == '\0') ++next;
    if (next == data.size() || data.substr(next, 5) != "07070") {
      offset = next;
      return;
    }
    if (data.substr(next, 6) == "070707")
      throw Mistake("it is a cpio archive of the old format, which Linux does not read",
                    pack_again);
    if (next % 4 != 0)
      throw Mistake(
          fmt::format("a cpio archive begins at byte {:#x}, which is not a multiple of 4", next),
          "pad the archive before it with zeros to a multiple of 4 bytes");
    offset = next;
    Walk(data, found).archive(offset);
  }
}

/// Returns the name of a compression that Linux supports and that is not read here.
std::optional<std::string_view> opaque_compression(const Bytes& file, std::size_t offset) {
  struct Magic {
    std::string_view bytes, name;
  };
  static constexpr Magic known[] = {
      {"\xfd"
       "7zXZ",
       "xz"},
      {"\x28\xb5\x2f\xfd", "zstd"},
      {"\x02\x21\x4c\x18", "lz4"},
      {"BZh", "bzip2"},
      {{"\x5d\0\0", 3}, "lzma"},
      {"\x89LZO", "lzo"},
  };
  for (const Magic& magic : known)
    if (file.matches(offset, magic.bytes.data(), magic.bytes.size())) return magic.name;
  return std::nullopt;
}

}  // namespace

Initramfs check_initramfs(const Bytes& file) {
  const std::string_view data(reinterpret_cast<const char*>(file.data()), file.size());
  Initramfs found;
  std::size_t offset = 0;
  for (;;) {
    walk_archives(data, offset, found);
    if (offset == data.size()) break;
    if (file.matches(offset, "\x1f\x8b", 2)) {
      const std::string content = unpack(file, offset);
      std::size_t inside = 0;
      walk_archives(content, inside, found);
      if (inside < content.size() || found.archives == 0)
        throw Mistake(fmt::format("its gzip content is not a cpio archive at byte {:#x}", inside),
                      pack_again);
    } else if (opaque_compression(file, offset)) {
      found.opaque = true;
      return found;
    } else {
      const std::string kind = found.archives == 0 ? recognise(file) : "";
      throw Mistake(
          kind.empty()
              ? fmt::format(
                    "what begins at byte {:#x} is neither a cpio archive nor a compressed one",
                    offset)
              : fmt::format("it is {} and not a cpio archive", kind),
          pack_again);
    }
  }
  if (found.archives == 0) throw Mistake("it holds nothing but zeros", pack_again);
  return found;
}

}  // namespace vp::images
