// SPDX-License-Identifier: Apache-2.0
#include "vp/console/file_sink.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "vp/log/log.h"

namespace vp {

FileSink::FileSink(const std::string& path, Mode mode)
    : descriptor_(::open(
          path.c_str(),
          O_WRONLY | O_CREAT | O_CLOEXEC | (mode == Mode::append ? O_APPEND : O_TRUNC), 0666)),
      name_(path),
      owned_(true) {
  if (descriptor_ < 0) {
    throw ConsoleError(fmt::format("cannot create the console file {}: {}", path, strerror(errno)));
  }
}

FileSink::~FileSink() {
  if (owned_) ::close(descriptor_);
}

void FileSink::write(std::string_view bytes) {
  while (!bytes.empty() && !failed_) {
    const ssize_t taken = ::write(descriptor_, bytes.data(), bytes.size());
    if (taken >= 0) {
      bytes.remove_prefix(static_cast<std::size_t>(taken));
    } else if (errno == EAGAIN) {
      // Another process on the same terminal may have made it non-blocking.
      pollfd ready{descriptor_, POLLOUT, 0};
      ::poll(&ready, 1, -1);
    } else if (errno != EINTR) {
      failed_ = true;
      log::get("console").error("cannot write to {}: {}; its output is lost from here on", name_,
                                strerror(errno));
    }
  }
}

}  // namespace vp
