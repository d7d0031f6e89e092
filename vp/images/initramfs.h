// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "vp/images/file.h"

namespace vp::images {

/// What an initial RAM file system contains, as far as it can be read.
struct Initramfs {
  unsigned archives = 0;      ///< cpio archives that were read, including those in gzip
  std::uint64_t entries = 0;  ///< files and directories in them
  bool has_init = false;      ///< one of them is `init`
  bool opaque = false;        ///< a part is compressed by other means and was not read
};

/// Checks a sequence of cpio archives with zeros between them, each newc or compressed (Linux,
/// Documentation/driver-api/early-userspace/buffer-format.rst). Archives that are not compressed,
/// or are compressed by gzip, are read to their end. Of xz, zstd, lz4, bzip2, lzma and lzo only the
/// beginning is recognized, and nothing behind it is read. Throws Mistake.
Initramfs check_initramfs(const Bytes& file);

}  // namespace vp::images
