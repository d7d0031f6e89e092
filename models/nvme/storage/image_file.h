// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace nvme {

/// Opens the image of a disk for reading, or for writing as well, and returns its file descriptor.
/// Throws vp::images::Mistake for a file that is missing, is no regular file, cannot be opened, is
/// empty or has another size than whole blocks of `block_size` bytes.
int open_image(const std::string& file, unsigned block_size, bool writable);

/// Throws the same, and leaves the file closed.
void check_image(const std::string& file, unsigned block_size, bool writable);

}  // namespace nvme
