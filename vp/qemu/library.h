// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "system/oae-embed.h"

namespace vp::qemu {

/// Loads libqemu-<target>.so and returns its interface. A QEMU keeps its machine in global
/// variables, so a file that is loaded already is loaded again from a private copy in memory.
/// Throws LibraryError.
const OaeQemuApi* load_library(const std::string& path);

}  // namespace vp::qemu
