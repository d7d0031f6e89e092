// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "platforms/description/platform.h"

namespace platform {

/// What the platform is, a line for each part and each link.
std::string summary(const Platform& platform);

}  // namespace platform
