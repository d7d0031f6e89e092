// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <stdexcept>
#include <string>
#include <string_view>

namespace vp {

/// A share that is no directory, or a file that cannot be written or read there.
struct ShareError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// The directory of the user that receives a guest's files.
class Share {
 public:
  /// Opens a directory that exists. Throws ShareError.
  explicit Share(const std::string& directory);
  ~Share();
  Share(const Share&) = delete;
  Share& operator=(const Share&) = delete;

  /// Writes a file whole or not at all, in place of one of that name. `name` has passed
  /// ControlChannel::valid_name(); a symbolic link of that name is replaced, not followed.
  /// Throws ShareError.
  void write(const std::string& name, std::string_view bytes);

 private:
  const std::string path_;
  int directory_;
};

}  // namespace vp
