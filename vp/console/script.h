// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "vp/time/time.h"

namespace vp {

/// All mistakes of a script, one in a line: `file:line:column: the mistake; the remedy`.
struct ScriptMistake : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Console input that is bound to simulated time or to the guest's output, so that each run gets it
/// at the same moment. A line has one statement:
///
///     # text after a number sign is a comment
///     timeout 30s               limits the expectations that follow; the default is 60s
///     expect "~ # "             waits for output after the last match
///     send "ls /\n"             types the text
///     wait 100us                waits that long
///     at 1.5s send "date\n"     waits for this simulated time, then types the text
///
/// A text may contain the escapes \n \r \t \e \" \\ \xHH. Times are written as in a platform file.
struct Script {
  struct Step {
    enum class Kind { expect, send, wait, at };
    Kind kind;
    std::string text;      ///< text of expect and send, 1 to 4096 bytes
    Picoseconds time = 0;  ///< span of wait, moment of at, timeout of expect
    std::string place;     ///< file:line:column
  };

  std::vector<Step> steps;

  /// `name` is the name of the file in messages. Throws ScriptMistake.
  static Script parse(std::string_view text, const std::string& name);
  /// Throws ScriptMistake, also if the file is unreadable.
  static Script read(const std::string& path);
};

}  // namespace vp
