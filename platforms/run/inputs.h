// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "platforms/description/platform.h"

namespace platform {

/// A file that a run depends on. Its hash goes into the head of the trace.
struct Input {
  std::string role;  ///< what the run uses it for, such as "host.kernel"; unique
  std::filesystem::path path;
  std::uint64_t size = 0;  ///< bytes
  std::string sha256;      ///< 64 hexadecimal digits
};

/// Reads every file that the platform names and checks its structure. Files from the directory of
/// images are also checked against its manifest. Throws vp::config::Mistakes with all mistakes.
std::vector<Input> check_inputs(const Platform& platform, const std::filesystem::path& images);

}  // namespace platform
