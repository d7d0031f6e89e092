// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "platforms/program/options.h"

namespace platform {

/// Checks the options --snapshot-at, --children, --children-output, --jobs and --child. Reads the
/// file of commands, and writes nothing.
std::optional<SnapshotOptions> snapshot_options(const CommandLine& line,
                                                vp::config::Report& report);

/// Reports the options that ask for what children cannot have: a debugger, a pseudo-terminal,
/// waveforms, and the devices that children cannot have. The parts in `options` are already named.
void check_forks(const CommandLine& line, const Platform& platform, const RunOptions& options,
                 vp::config::Report& report);

}  // namespace platform
