// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "vp/images/file.h"

namespace vp::images {

/// A memory into which firmware may be loaded.
struct Memory {
  std::string name;
  std::uint64_t base = 0;
  std::uint64_t size = 0;  ///< bytes
};

struct Firmware {
  std::uint64_t entry = 0;  ///< physical address
};

/// Checks that the file is a bare-metal AArch64 program. It has to be a static ELF executable. By
/// its physical address each segment has to lie in one of the memories, and segments may not
/// overlap. The entry point has to lie in an executable segment. Throws Mistake.
Firmware check_firmware(Bytes& file, const std::vector<Memory>& memories);

}  // namespace vp::images
