// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdio>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "vp/exit_code.h"
#include "vp/snapshot/children.h"

namespace platform {

/// What the user reads about the children: a line for each, in the order of their numbers, and one
/// for all of them.
class ChildrenSummary {
 public:
  /// Prints to `out`, each line as soon as those before it have been printed.
  ChildrenSummary(const std::vector<std::string>& commands, std::FILE* out);

  void add(const vp::ChildResult& result);
  /// Prints the last line and writes everything to `file` as JSON. Returns false if the file cannot
  /// be written.
  bool finish(const std::filesystem::path& file, const std::filesystem::path& outputs);

  /// Success, or the exit code of the child that ended worst. The worst is 6 or a signal, then
  /// follow 4, 3, 130, 5 and 1.
  vp::ExitCode exit_code() const { return exit_code_; }

 private:
  void print(const vp::ChildResult& result);

  const std::vector<std::string>& commands_;
  std::FILE* const out_;
  const std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
  std::map<std::size_t, vp::ChildResult> results_;  // by number, from 0
  std::size_t printed_ = 0;
  std::size_t good_ = 0;
  vp::ExitCode exit_code_ = vp::ExitCode::success;
};

/// How a child ended, for people to read: `0`, `1 (guest 7)`, `SIGSEGV`.
std::string describe(const vp::Ending& ending, int guest_code);

}  // namespace platform
