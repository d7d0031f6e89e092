// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fmt/format.h>

#include "models/pcie/protocol/configuration_error.h"

namespace pcie {

/// The code of a Max_Payload_Size or Max_Read_Request_Size (PCIe 5.0, 7.5.3.4): 128 to 4096 bytes
/// have the codes 0 to 5. Throws ConfigurationError for any other size, which names `what` it is
/// of.
inline unsigned size_code(unsigned bytes, const char* what) {
  for (unsigned code = 0; code <= 5; ++code) {
    if (bytes == 128u << code) return code;
  }
  throw ConfigurationError(fmt::format(
      "a {} of {} bytes is impossible: use a power of two from 128 to 4096", what, bytes));
}

inline unsigned max_payload_code(unsigned bytes) {
  return size_code(bytes, "payload");
}

}  // namespace pcie
