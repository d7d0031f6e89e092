// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <stdexcept>
#include <string>
#include <string_view>

namespace vp {

/// A share that is no directory.
struct ShareError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// The directory of the user that receives a guest's files, and nothing outside of it.
class Share {
 public:
  /// Opens a directory that exists. Throws ShareError.
  explicit Share(const std::string& directory);
  ~Share();
  Share(const Share&) = delete;
  Share& operator=(const Share&) = delete;

  /// Writes a file whole or not at all, in place of one of that name, and makes the directories
  /// that its name asks for. Returns why it could not, or nothing.
  ///
  /// The guest chooses `name`: relative, at most 4095 bytes, no control character, and no part of
  /// it `..` or hidden. Symbolic links are not followed: one of that name is replaced.
  std::string write(const std::string& name, std::string_view bytes);

 private:
  int directory_;
};

}  // namespace vp
