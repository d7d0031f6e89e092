// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "platforms/description/platform.h"
#include "platforms/run/inputs.h"
#include "vp/console/script.h"
#include "vp/exit_code.h"
#include "vp/snapshot/snapshot.h"

namespace platform {

/// Where the output of a console goes.
struct ConsoleTarget {
  enum class Kind { terminal, pty, off, file };
  Kind kind = Kind::off;
  std::filesystem::path file;  ///< for kind `file`
};

/// What a run does when its guest reaches a mark.
struct SnapshotOptions {
  vp::Mark mark;
  std::vector<std::string> commands;  ///< commands for the guest, one for each child
  bool forks = true;                  ///< false: the run itself goes on with the only command
  std::filesystem::path outputs;      ///< directory in which the children write
  unsigned jobs = 1;                  ///< children that run at once
};

/// What a device stores, and the file that gets it at the end of a run.
struct Export {
  std::string storage;  ///< `DEVICE`, or `DEVICE.NUMBER`
  std::filesystem::path file;
};

/// Options of a run that are not part of its platform. Every value has been checked.
struct RunOptions {
  std::optional<std::int64_t> until;  ///< ps of simulated time after which the run ends
  std::string mark;                   ///< the guest's mark at which the run ends; empty: none
  std::optional<SnapshotOptions> snapshot;
  std::map<std::string, ConsoleTarget> consoles;     ///< by name, one for each part that has one
  std::map<std::string, std::uint16_t> gdb;          ///< by name: TCP port on 127.0.0.1
  std::optional<vp::Script> input;                   ///< input for the first host's console
  std::filesystem::path share, trace, stats;         ///< empty: none
  std::map<std::string, std::filesystem::path> vcd;  ///< by name of a device: waveform
  std::vector<Export> exports;
  bool check_rtl = false;     ///< whether assertions of the RTL are checked
  std::vector<Input> inputs;  ///< every file that the run depends on
};

/// Composes the platform and simulates it to its end. An exception is a defect of the simulator.
vp::ExitCode run(const Platform& platform, const RunOptions& options);

}  // namespace platform
