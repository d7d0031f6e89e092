// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "platforms/description/platform.h"
#include "vp/config/override.h"

namespace platform {

/// Finds the file of a platform: `platform` itself if it is a path, else `platform.yaml` in one of
/// the directories. If there is none, throws vp::config::Mistakes, which names the known platforms.
std::filesystem::path find_platform(const std::string& platform,
                                    const std::vector<std::filesystem::path>& directories);

/// Reads a platform file, changes it as the overrides say, and checks everything that can be
/// checked without opening the files that it names. Files that are named without a path are looked
/// for in `images`. `append` is added to the command line of every host's kernel. Throws
/// vp::config::Mistakes with all mistakes.
Platform load(const std::filesystem::path& file, const std::filesystem::path& images,
              const std::vector<vp::config::Override>& overrides, const std::string& append);
/// Does the same with a text that has already been read.
Platform load(const std::shared_ptr<const vp::config::Source>& source,
              const std::filesystem::path& images,
              const std::vector<vp::config::Override>& overrides, const std::string& append);

}  // namespace platform
