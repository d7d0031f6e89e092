// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <string>

namespace platform {

/// The directory in which forked children write:
///
///     boot/NAME.log    each console until the fork
///     N/NAME.log       each console of child N, from the boot on
///     N/trace.jsonl, N/stats.json, N/share/, N/messages.txt
///     N/STORAGE.img    what the devices of child N store, as --export asks for
///     summary.json     how each child ended
class Outputs {
 public:
  explicit Outputs(std::filesystem::path directory) : directory_(std::move(directory)) {}

  /// Whether an earlier run made this directory.
  static bool is_one(const std::filesystem::path& directory);

  /// Makes the directory, or removes from it what an earlier run left there.
  void prepare() const;
  std::filesystem::path boot_console(const std::string& name) const;
  std::filesystem::path summary() const;

  /// Makes the directory of child `number`; the first is 1.
  std::filesystem::path make_child(std::size_t number) const;
  std::filesystem::path child(std::size_t number) const;

 private:
  std::filesystem::path directory_;
};

/// Writes a whole file or none. `fill` writes the contents of an empty file, of which it gets the
/// descriptor, and returns why that is impossible, or an empty string; so does this. A file of that
/// name is replaced.
std::string write_file(const std::filesystem::path& file,
                       const std::function<std::string(int file)>& fill);

/// Makes `file` the standard output and error of this process, and /dev/null its standard input.
void redirect_output(const std::filesystem::path& file);

}  // namespace platform
