// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>

namespace vp::images {

/// Returns the SHA-256 (FIPS 180-4) of bytes as 64 lower-case hexadecimal digits.
std::string sha256(const void* data, std::size_t size);

/// The same of a file, which may be larger than memory. Throws Mistake if it cannot be read.
std::string sha256_of_file(const std::filesystem::path& file);

}  // namespace vp::images
