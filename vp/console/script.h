// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "vp/time/time.h"

namespace vp {

/// All mistakes of a script, a line each: `file:line:column: what is wrong; what would be right`.
struct ScriptMistake : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Console input that does not depend on who types it when: it is bound to simulated time or to
/// what the guest has said. One statement a line:
///
///     # text after a number sign is a comment
///     timeout 30s               for the expectations that follow; 60s at first
///     expect "~ # "             waits for output that came since the last match
///     send "ls /\n"             types
///     wait 100us                waits
///     at 1.5s send "date\n"     waits until this time of the simulation, and types
///
/// Text has the escapes \n \r \t \e \" \\ \xHH. Times are written as in a platform file.
struct Script {
  struct Step {
    enum class Kind { expect, send, wait, at };
    Kind kind;
    std::string text;      ///< of expect and send, 1 to 4096 bytes
    Picoseconds time = 0;  ///< of wait the span, of at the moment, of expect the timeout
    std::string place;     ///< file:line:column
  };

  std::vector<Step> steps;

  /// Throws ScriptMistake; `name` is the file's in messages.
  static Script parse(std::string_view text, const std::string& name);
  /// Throws ScriptMistake, also if the file cannot be read.
  static Script read(const std::string& path);
};

}  // namespace vp
