// SPDX-License-Identifier: Apache-2.0
#include "models/nvme/storage/image_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstring>

#include "vp/images/file.h"

namespace nvme {

using vp::images::Mistake;

int open_image(const std::string& file, unsigned block_size, bool writable) {
  struct stat status {};
  if (::stat(file.c_str(), &status) != 0) {
    throw Mistake(errno == ENOENT ? "it does not exist"
                                  : fmt::format("it is unknown: {}", std::strerror(errno)),
                  "check its name");
  }
  if (!S_ISREG(status.st_mode)) throw Mistake("it is no regular file", "name a file");
  const auto size = static_cast<std::uint64_t>(status.st_size);
  if (size == 0 || size % block_size != 0) {
    const std::uint64_t next = (size / block_size + 1) * block_size;
    throw Mistake(
        fmt::format("it has {} bytes, which are not whole blocks of {} bytes", size, block_size),
        fmt::format("extend it with 'truncate --size={} {}'", next, file));
  }
  const int opened = ::open(file.c_str(), (writable ? O_RDWR : O_RDONLY) | O_CLOEXEC);
  if (opened < 0) {
    throw Mistake(
        fmt::format("it cannot be {}: {}", writable ? "written" : "read", std::strerror(errno)),
        writable ? "check its permissions, or do not write through" : "check its permissions");
  }
  return opened;
}

void check_image(const std::string& file, unsigned block_size, bool writable) {
  ::close(open_image(file, block_size, writable));
}

}  // namespace nvme
