// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <vector>

/// Checks of the binary files that a platform uses, which are made before anything starts.
namespace vp::images {

/// Thrown for a file that cannot be used. It says what is wrong and what to do.
class Mistake : public std::runtime_error {
 public:
  Mistake(const std::string& found, std::string remedy)
      : std::runtime_error(found), remedy_(std::move(remedy)) {}
  const std::string& remedy() const { return remedy_; }

 private:
  std::string remedy_;
};

/// The size of the largest file that is read, in bytes.
inline constexpr std::uint64_t max_image_size = std::uint64_t{2} << 30;

/// The bytes of a file, with bounds-checked reads. Integers are little-endian.
class Bytes {
 public:
  explicit Bytes(std::vector<unsigned char> bytes) : bytes_(std::move(bytes)) {}
  /// Throws Mistake if the file cannot be read, is empty or is larger than `max_image_size`.
  static Bytes read(const std::filesystem::path& file);

  std::size_t size() const { return bytes_.size(); }
  const unsigned char* data() const { return bytes_.data(); }
  unsigned char* data() { return bytes_.data(); }
  /// Returns true if the file has `length` bytes from `offset` on.
  bool holds(std::uint64_t offset, std::uint64_t length) const {
    return offset <= size() && length <= size() - offset;
  }
  bool matches(std::uint64_t offset, const void* what, std::size_t length) const;

  /// @name Integers; 0 if the file does not have all of their bytes
  /// @{
  std::uint8_t u8(std::uint64_t offset) const { return static_cast<std::uint8_t>(get(offset, 1)); }
  std::uint16_t u16(std::uint64_t offset) const {
    return static_cast<std::uint16_t>(get(offset, 2));
  }
  std::uint32_t u32(std::uint64_t offset) const {
    return static_cast<std::uint32_t>(get(offset, 4));
  }
  /// @}

 private:
  std::uint64_t get(std::uint64_t offset, unsigned length) const;
  std::vector<unsigned char> bytes_;
};

/// Returns what a file is by its first bytes ("an ELF file"), or an empty string if that is
/// unknown.
std::string recognise(const Bytes& bytes);

}  // namespace vp::images
