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

/// What is told of the children: a line for each, in the order of their numbers, and one of all.
class ChildrenSummary {
 public:
  /// Prints to `out` as soon as a line's turn has come.
  ChildrenSummary(const std::vector<std::string>& commands, std::FILE* out);

  void add(const vp::ChildResult& result);
  /// Prints the last line and writes all of it to `file`, as JSON. False if that cannot be written.
  bool finish(const std::filesystem::path& file, const std::filesystem::path& outputs);

  /// Success, or how the one has ended that ended worst: 6 (and those killed by a signal), 4, 3,
  /// 130, 5, 1, in this order.
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

/// How it ended, for people: `0`, `1 (guest 7)`, `SIGSEGV`.
std::string describe(const vp::Ending& ending, int guest_code);

}  // namespace platform
