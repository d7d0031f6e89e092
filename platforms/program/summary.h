// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "platforms/description/platform.h"

namespace platform {

/// Describes the platform, with a line for each part and each link.
std::string summary(const Platform& platform);

}  // namespace platform
