// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <stdexcept>
#include <string>
#include <string_view>

namespace vp {

/// The share is not a directory.
struct ShareError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// The user's directory that receives a guest's files. No file outside of it can be written.
class Share {
 public:
  /// Opens an existing directory. Throws ShareError.
  explicit Share(const std::string& directory);
  ~Share();
  Share(const Share&) = delete;
  Share& operator=(const Share&) = delete;

  /// Writes a whole file or none, replaces a file of that name, and creates the directories in its
  /// name. Returns why that is impossible, or an empty string.
  ///
  /// The guest chooses `name`. It must be relative, with at most 4095 bytes, no control character
  /// and no part that is hidden or `..`. Symbolic links are not followed; one of that name is
  /// replaced.
  std::string write(const std::string& name, std::string_view bytes);

  /// Writes the contents of an empty file, of which it gets the descriptor. Returns why that is
  /// impossible, or an empty string.
  using Filler = std::function<std::string(int file)>;
  /// The same as write() with a file whose contents `filler` writes.
  std::string fill(const std::string& name, const Filler& filler);

 private:
  int directory_;
};

}  // namespace vp
