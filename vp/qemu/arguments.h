// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace vp::qemu {

/// The command line of an embedded QEMU. It begins with what all of them have: no default devices,
/// time by instruction count, a fixed seed.
class Arguments {
 public:
  /// With the port of a debugger, QEMU waits for GDB before the first instruction.
  Arguments(std::uint32_t seed, std::optional<unsigned> gdb_port) {
    words_ = {"-nodefaults", "-no-user-config"};
    add("-display", "none");
    add("-accel", "tcg");
    add("-icount", "shift=0,sleep=off");
    add("-seed", std::to_string(seed));
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

}  // namespace vp::qemu
