// SPDX-License-Identifier: Apache-2.0
// A plugin that has a part of the core, as if it were linked with a static library of it.
#include "vp/images/sha256.h"

namespace vp::images {

std::string sha256(const void*, std::size_t) {
  return "another one";
}

}  // namespace vp::images
