// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "vp/images/file.h"

namespace vp::images {

/// What an initial RAM file system holds, as far as it can be seen from outside.
struct Initramfs {
  unsigned archives = 0;      ///< cpio archives that were walked, also those in gzip
  std::uint64_t entries = 0;  ///< files and directories in them
  bool has_init = false;      ///< one of them is `init`
  bool opaque = false;        ///< something is compressed by other means, and was not seen
};

/// Checks cpio archives one after the other, with zeros between them, each newc or compressed
/// (Linux, Documentation/driver-api/early-userspace/buffer-format.rst). Archives that are not
/// compressed, or by gzip, are walked to their end; of those in xz, zstd, lz4, bzip2, lzma and lzo
/// only the beginning is known, and what follows is not seen. Throws Mistake.
Initramfs check_initramfs(const Bytes& file);

}  // namespace vp::images
