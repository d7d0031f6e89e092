// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <functional>
#include <iosfwd>
#include <vector>

#include "platforms/run/run.h"

namespace platform {

/// What the program finds around itself.
struct Surroundings {
  std::vector<std::filesystem::path> platforms;  ///< directories searched for platform files
  std::vector<std::filesystem::path> images;     ///< the first that exists is the default
};

/// Those of the program that runs: next to it, and where it was built.
Surroundings surroundings();

using Run = std::function<vp::ExitCode(const Platform&, const RunOptions&)>;

/// The program `oae-vp`: reads its command line, checks all input, and calls `run` if it is to run
/// and there is no mistake.
vp::ExitCode program(int argc, char** argv, const Surroundings& around, const Run& run,
                     std::ostream& out, std::ostream& err);

}  // namespace platform
