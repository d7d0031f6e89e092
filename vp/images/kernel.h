// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "vp/images/file.h"

namespace vp::images {

/// Values from the header of a kernel (Linux, Documentation/arch/x86/boot.rst).
struct Kernel {
  std::uint16_t protocol = 0;           ///< boot protocol, 0x020f is 2.15
  std::uint32_t init_size = 0;          ///< bytes of memory that it needs to unpack itself
  std::uint32_t command_line_size = 0;  ///< longest command line, without its NUL
};

/// Checks that the file is a complete 64-bit Linux kernel for x86, a bzImage. Throws Mistake.
Kernel check_kernel(const Bytes& file);

}  // namespace vp::images
