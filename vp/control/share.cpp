// SPDX-License-Identifier: Apache-2.0
#include "vp/control/share.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <stdio.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "vp/control/control_channel.h"

namespace vp {
namespace {

// No name that a guest may choose begins with a dot.
constexpr char unfinished[] = ".unfinished";

int write_all(int file, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t taken = ::write(file, bytes.data(), bytes.size());
    if (taken >= 0) {
      bytes.remove_prefix(static_cast<std::size_t>(taken));
    } else if (errno != EINTR) {
      return errno;
    }
  }
  return 0;
}

}  // namespace

Share::Share(const std::string& directory)
    : path_(directory), directory_(::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)) {
  if (directory_ < 0) {
    throw ShareError(fmt::format("cannot share {}: {}", path_, strerror(errno)));
  }
}

Share::~Share() {
  ::close(directory_);
}

void Share::write(const std::string& name, std::string_view bytes) {
  if (!ControlChannel::valid_name(name)) throw ShareError("not a name of a file: " + name);
  ::unlinkat(directory_, unfinished, 0);
  const int file =
      ::openat(directory_, unfinished, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
  int error = file < 0 ? errno : write_all(file, bytes);
  if (file >= 0 && ::close(file) != 0 && error == 0) error = errno;
  if (error == 0 && ::renameat(directory_, unfinished, directory_, name.c_str()) != 0) {
    error = errno;
  }
  if (error != 0) {
    ::unlinkat(directory_, unfinished, 0);
    throw ShareError(fmt::format("cannot write {}/{}: {}", path_, name, strerror(error)));
  }
}

}  // namespace vp
