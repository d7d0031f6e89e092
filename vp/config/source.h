// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

namespace vp::config {

/// A text that was read and that a mistake can point into: a file, or an argument of the command
/// line.
struct Source {
  std::string label;                ///< what mistakes call it: a file name, or `--set a=b`
  std::string text;                 ///< UTF-8
  std::filesystem::path directory;  ///< file names in it are relative to this
  bool is_argument = false;         ///< an argument has columns only, and no lines

  /// Line `number`, from 1, without its end; empty if there is none.
  std::string_view line(unsigned number) const;
};

/// A place in a source; line and column count from 1, columns in characters. Line 0 is the source
/// as a whole.
struct Origin {
  std::shared_ptr<const Source> source;
  unsigned line = 0;
  unsigned column = 0;

  /// `file:line:column`, or `argument, column n`.
  std::string text() const;
};

/// The place of byte `offset` of the text.
Origin origin_at(const std::shared_ptr<const Source>& source, std::size_t offset);

/// The largest file that is read, bytes.
inline constexpr std::size_t max_file_size = 1 << 20;

/// Reads a file that people write: a regular file of at most `max_file_size` bytes of UTF-8 with no
/// control characters, not empty. A byte order mark is dropped. Throws Mistakes.
std::shared_ptr<const Source> read_source(const std::filesystem::path& file);

/// The same of a text that is here already.
std::shared_ptr<const Source> text_source(std::string label, std::string text,
                                          std::filesystem::path directory);

/// The text of one argument: `option` is its name with dashes, and `value` what follows.
std::shared_ptr<const Source> argument_source(std::string_view option, std::string_view value);

}  // namespace vp::config
