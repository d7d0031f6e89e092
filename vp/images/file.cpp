// SPDX-License-Identifier: Apache-2.0
#include "vp/images/file.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <string_view>
#include <system_error>

namespace vp::images {

Bytes Bytes::read(const std::filesystem::path& file) {
  std::error_code error;
  const auto status = std::filesystem::status(file, error);
  if (!std::filesystem::exists(status)) throw Mistake("there is no such file", "check its name");
  if (!std::filesystem::is_regular_file(status))
    throw Mistake("it is not a regular file", "name a file");
  const std::uintmax_t size = std::filesystem::file_size(file, error);
  if (error) throw Mistake("its size is unknown: " + error.message(), "");
  if (size == 0) throw Mistake("it is empty", "");
  if (size > max_image_size)
    throw Mistake(
        fmt::format("it has {} bytes, but at most {} are supported", size, max_image_size), "");

  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> stream(std::fopen(file.c_str(), "rb"),
                                                               &std::fclose);
  if (!stream)
    throw Mistake(fmt::format("it cannot be read: {}", std::strerror(errno)),
                  "check its permissions");
  std::vector<unsigned char> bytes(size);
  if (std::fread(bytes.data(), 1, bytes.size(), stream.get()) != bytes.size())
    throw Mistake("it cannot be read to its end", "");
  return Bytes(std::move(bytes));
}

bool Bytes::matches(std::uint64_t offset, const void* what, std::size_t length) const {
  return holds(offset, length) && std::memcmp(data() + offset, what, length) == 0;
}

std::uint64_t Bytes::get(std::uint64_t offset, unsigned length) const {
  if (!holds(offset, length)) return 0;
  std::uint64_t value = 0;
  for (unsigned i = length; i-- > 0;) value = value << 8 | bytes_[offset + i];
  return value;
}

std::string recognise(const Bytes& bytes) {
  struct Magic {
    std::uint64_t offset;
    std::string_view bytes, name;
  };
  static constexpr Magic known[] = {
      {0,
       "\x7f"
       "ELF",
       "an ELF file"},
      {0x202, "HdrS", "a Linux kernel for x86"},
      {0x38, "ARM\x64", "a Linux kernel for Arm"},
      {0, "070701", "a cpio archive"},
      {0, "070702", "a cpio archive"},
      {0, "070707", "an old cpio archive"},
      {0, "\x1f\x8b", "a gzip file"},
      {0,
       "\xfd"
       "7zXZ",
       "an xz file"},
      {0, "\x28\xb5\x2f\xfd", "a zstd file"},
      {0, "BZh", "a bzip2 file"},
      {0, "PK\x03\x04", "a zip file"},
      {0, "hsqs", "a squashfs image"},
      {0, "QFI\xfb", "a qcow2 image"},
      {0x101, "ustar", "a tar archive"},
      {0x8001, "CD001", "an ISO image"},
      {0, "!<arch>\n", "a package or a static library"},
      {0, "#!", "a script"},
  };
  for (const Magic& magic : known)
    if (bytes.matches(magic.offset, magic.bytes.data(), magic.bytes.size()))
      return std::string(magic.name);
  return {};
}

}  // namespace vp::images
