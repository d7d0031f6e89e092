// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <iosfwd>
#include <optional>
#include <string>
#include <vector>

#include "platforms/run/run.h"
#include "vp/config/override.h"
#include "vp/config/report.h"

namespace platform {

/// The command line as the user wrote it.
struct CommandLine {
  enum class Command { run, check, keys };
  Command command = Command::run;
  std::string platform;  ///< a name or a path
  std::optional<std::string> images;
  std::vector<std::string> set, log;
  std::optional<std::string> kernel, initrd, firmware;
  std::string append;
  std::optional<std::string> until, mark, input, share, trace, stats;
  std::optional<std::string> snapshot_at, children, children_output, jobs, child;
  std::vector<std::string> console, gdb, vcd, exports;
  bool check_rtl = false;
  std::string filter;                ///< text to look for, of `keys`
  std::vector<std::string> plugins;  ///< whose kinds' keys are printed too, of `keys`
};

/// The result of parsing: the command line. Without one, help, the version or a mistake has been
/// printed, and the process ends with the exit code.
struct Parsed {
  std::optional<CommandLine> command_line;
  vp::ExitCode exit_code = vp::ExitCode::success;
};
Parsed parse_command_line(int argc, char** argv, std::ostream& out, std::ostream& err);

/// Returns the options that change the platform as changes of its file. Adds mistakes to the
/// report.
std::vector<vp::config::Override> overrides(const CommandLine& line, vp::config::Report& report);

/// Checks the options of a run that can be checked without the platform. Writes no file.
RunOptions run_options(const CommandLine& line, vp::config::Report& report);

/// Checks the options that name parts of the platform. Fills in consoles, GDB ports and waveforms.
void name_parts(const CommandLine& line, const Platform& platform, RunOptions& options,
                vp::config::Report& report);

/// Reports each output file that is also an input, and each that two options name.
void check_outputs(const CommandLine& line, const std::filesystem::path& platform_file,
                   const RunOptions& options, vp::config::Report& report);

}  // namespace platform
