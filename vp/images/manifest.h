// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>

#include "vp/images/file.h"

namespace vp::images {

/// The list of the files that setup made, `manifest.json` in their directory:
///
///     {"files": {"vmlinuz": {"sha256": "64 hexadecimal digits", "size": 14186432}, ...}}
///
/// The names are relative to the directory.
class Manifest {
 public:
  /// Reads the manifest of a directory. Throws Mistake.
  static Manifest read(const std::filesystem::path& directory);

  /// Checks the size and the hash of a file of the directory. Throws Mistake if they are not those
  /// that setup recorded.
  void check(const std::string& name, std::uint64_t size, const std::string& sha256) const;

 private:
  struct Entry {
    std::uint64_t size;
    std::string sha256;
  };
  std::map<std::string, Entry> files_;
};

}  // namespace vp::images
