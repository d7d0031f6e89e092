// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "models/ipu/kind/description.h"
#include "models/pcie/endpoint/endpoint.h"

namespace ipu {

/// The configuration of the functions of an IPU: function 0, and behind it those that are present.
std::vector<pcie::FunctionConfig> function_configs(const Description& ipu);

}  // namespace ipu
