// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "vp/config/report.h"

namespace platform {

/// Returns the place of byte `offset` of an option's argument.
vp::config::Origin place(const char* option, const std::string& value, std::size_t offset = 0);

/// Reports a name of a mark that no guest can give through the control channel.
void check_mark(const char* option, const std::string& name, vp::config::Report& report);

}  // namespace platform
