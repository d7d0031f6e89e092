// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "platforms/program/options.h"

namespace platform {

/// The options --snapshot-at, --children, --children-output, --jobs and --child. The file of
/// commands is read, nothing is written.
std::optional<SnapshotOptions> snapshot_options(const CommandLine& line,
                                                vp::config::Report& report);

/// Makes sure that no option asks for what children cannot have: a debugger, a pseudo-terminal,
/// waveforms. `options` names the parts already.
void check_forks(const CommandLine& line, const RunOptions& options, vp::config::Report& report);

}  // namespace platform
