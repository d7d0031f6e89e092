// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "vp/images/file.h"

namespace vp::images {

/// A memory that firmware may be loaded into.
struct Memory {
  std::string name;
  std::uint64_t base = 0;
  std::uint64_t size = 0;  ///< bytes
};

struct Firmware {
  std::uint64_t entry = 0;  ///< physical address
};

/// Checks that the file is a bare-metal AArch64 program: a static ELF executable whose segments lie
/// each in one of the memories, at their physical addresses, do not overlap, and one of which is
/// executable and holds the entry point. Throws Mistake.
Firmware check_firmware(Bytes& file, const std::vector<Memory>& memories);

}  // namespace vp::images
