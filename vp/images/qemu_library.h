// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "vp/images/file.h"

namespace vp::images {

/// The function that each QEMU library exports.
inline constexpr const char* qemu_entry_symbol = "oae_qemu_api";

/// Checks that the file is a complete shared library for x86-64, on which the simulator runs, and
/// that it exports `qemu_entry_symbol`. Throws Mistake.
void check_qemu_library(Bytes& file);

}  // namespace vp::images
