// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <functional>
#include <iosfwd>
#include <vector>

#include "platforms/run/run.h"

namespace platform {

/// Where the program looks for files.
struct Surroundings {
  std::vector<std::filesystem::path> platforms;  ///< directories searched for platform files
  std::vector<std::filesystem::path>
      images;  ///< directories of images; the first that exists is the default
};

/// Returns the directories of the running program: where it was installed, next to it, and where it
/// was built.
Surroundings surroundings();

using Run = std::function<vp::ExitCode(const Platform&, const RunOptions&)>;

/// The program `oae-vp`. Reads its command line, checks all input, and calls `run` if the command
/// is `run` and there is no mistake.
vp::ExitCode program(int argc, char** argv, const Surroundings& around, const Run& run,
                     std::ostream& out, std::ostream& err);

}  // namespace platform
