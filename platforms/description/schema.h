// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "platforms/description/platform.h"
#include "vp/config/schema.h"

namespace platform {

/// The keys of a platform file. They depend on the kinds of devices, which plugins may add.
vp::config::Struct<Platform> schema();

/// The value of the key `plugins`, which is read before all others.
vp::config::Type<std::vector<File>> plugin_files();

/// Components that log, and their levels; see vp/log/log.h. Each kind of device is one.
std::vector<std::string> log_components();
const std::vector<std::string>& log_levels();

}  // namespace platform
