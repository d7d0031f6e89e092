// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "models/pcie/config/config_space.h"
#include "models/pcie/protocol/tlp.h"

namespace pcie {

/// Does what a configuration request asks for, and returns its completion.
TlpPtr perform(const Tlp& request, ConfigSpace& space, Id completer);

}  // namespace pcie
