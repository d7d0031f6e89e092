// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>

#include "vp/images/file.h"

namespace vp::images {

/// What setup says of the files it made: `manifest.json` in their directory,
///
///     {"files": {"vmlinuz": {"sha256": "64 hexadecimal digits", "size": 14186432}, ...}}
///
/// with names relative to the directory.
class Manifest {
 public:
  /// Reads the manifest of a directory. Throws Mistake.
  static Manifest read(const std::filesystem::path& directory);

  /// Checks a file of the directory, whose bytes have this size and hash. Throws Mistake if it is
  /// not what setup made.
  void check(const std::string& name, std::uint64_t size, const std::string& sha256) const;

 private:
  struct Entry {
    std::uint64_t size;
    std::string sha256;
  };
  std::map<std::string, Entry> files_;
};

}  // namespace vp::images
