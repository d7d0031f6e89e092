// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "vp/images/file.h"

namespace vp::images {

/// The function that a QEMU library exports.
inline constexpr const char* qemu_entry_symbol = "oae_qemu_api";

/// Checks that the file is a whole shared library for the machine that the simulator runs on
/// (x86-64), and that it exports `qemu_entry_symbol`. Throws Mistake.
void check_qemu_library(Bytes& file);

}  // namespace vp::images
