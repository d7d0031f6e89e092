// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "models/pcie/config/config_space.h"
#include "models/pcie/protocol/tlp.h"

namespace pcie {

/// Performs a configuration request on `space` and returns the completion of `completer`.
TlpPtr perform(const Tlp& request, ConfigSpace& space, Id completer);

}  // namespace pcie
