// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

namespace vp::config {

/// A text to which a mistake can point: a file, or an argument of the command line.
struct Source {
  std::string label;                ///< its name in mistakes: a file name, or `--set a=b`
  std::string text;                 ///< UTF-8
  std::filesystem::path directory;  ///< file names in it are relative to this
  bool is_argument = false;         ///< places in an argument have a column and no line

  /// Returns line `number`, without its end, or an empty string if there is none. The first line
  /// is 1.
  std::string_view line(unsigned number) const;
};

/// A place in a source. Lines and columns count from 1, and columns are characters. Line 0 means
/// the whole source.
struct Origin {
  std::shared_ptr<const Source> source;
  unsigned line = 0;
  unsigned column = 0;

  /// `file:line:column`, or `argument, column n`.
  std::string text() const;
};

/// Returns the place of byte `offset` of the text.
Origin origin_at(const std::shared_ptr<const Source>& source, std::size_t offset);

/// The size of the largest file that is read, in bytes.
inline constexpr std::size_t max_file_size = 1 << 20;

/// Reads a file that people write: a regular file of 1 to `max_file_size` bytes, in UTF-8 without
/// control characters. A byte order mark is dropped. Throws Mistakes.
std::shared_ptr<const Source> read_source(const std::filesystem::path& file);

/// Does the same with a text that has already been read.
std::shared_ptr<const Source> text_source(std::string label, std::string text,
                                          std::filesystem::path directory);

/// Makes a source of one argument. `option` is its name with dashes, and `value` is what follows.
std::shared_ptr<const Source> argument_source(std::string_view option, std::string_view value);

}  // namespace vp::config
