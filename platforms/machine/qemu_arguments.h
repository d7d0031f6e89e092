// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "platforms/description/platform.h"

namespace platform {

/// The command line of an embedded QEMU. It begins with what all of them have: no default devices,
/// time by instruction count, a fixed seed.
class QemuArguments {
 public:
  QemuArguments(const Simulation& simulation, std::optional<unsigned> gdb_port) {
    words_ = {"-nodefaults", "-no-user-config"};
    add("-display", "none");
    add("-accel", "tcg");
    add("-icount", "shift=0,sleep=off");
    add("-seed", std::to_string(simulation.seed));
    if (gdb_port) {
      add("-gdb", "tcp:127.0.0.1:" + std::to_string(*gdb_port));
      words_.emplace_back("-S");
    }
  }
  void add(const std::string& option, const std::string& value) {
    words_.push_back(option);
    words_.push_back(value);
  }
  std::vector<std::string> words() { return std::move(words_); }

 private:
  std::vector<std::string> words_;
};

}  // namespace platform
