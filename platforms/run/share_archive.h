// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>

namespace platform {

/// The files of a directory as a second archive behind a guest's initramfs. The guest finds them in
/// /share. Equal files make equal bytes, since names are sorted and times are left out.
class ShareArchive {
 public:
  /// `initrd` may be empty. Links that lead nowhere are left out. Throws vp::config::Mistakes if
  /// the directory or what is in it cannot be read, and std::runtime_error if `initrd` cannot.
  ShareArchive(const std::filesystem::path& initrd, const std::filesystem::path& directory);
  ~ShareArchive();
  ShareArchive(const ShareArchive&) = delete;
  ShareArchive& operator=(const ShareArchive&) = delete;

  /// The path at which both archives can be read for as long as this object lives.
  std::filesystem::path path() const;
  /// Hash of the archive that holds the directory.
  const std::string& sha256() const { return sha256_; }
  std::uint64_t size() const { return size_; }

 private:
  int file_;
  std::string sha256_;
  std::uint64_t size_ = 0;
};

}  // namespace platform
