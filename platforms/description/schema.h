// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "platforms/description/platform.h"
#include "vp/config/schema.h"

namespace platform {

/// The keys of a platform file.
const vp::config::Struct<Platform>& schema();

/// Components that log, and their levels; see vp/log/log.h.
const std::vector<std::string>& log_components();
const std::vector<std::string>& log_levels();

}  // namespace platform
