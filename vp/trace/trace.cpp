// SPDX-License-Identifier: Apache-2.0
#include "vp/trace/trace.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <nlohmann/json.hpp>

#include "vp/log/log.h"

namespace vp {

void Trace::open(const std::string& path, const nlohmann::json& head) {
  close();
  head_ = head.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  create(path);
}

void Trace::reopen(const std::string& path) {
  lines_.clear();
  close();
  create(path);
}

void Trace::create(const std::string& path) {
  file_ = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (file_ < 0) {
    throw TraceError(fmt::format("cannot create the trace file {}: {}", path, strerror(errno)));
  }
  path_ = path;
  failed_ = false;
  on_ = true;
  lines_.reserve(piece + 4096);
  write("{}", head_);
}

void Trace::flush() {
  const char* from = lines_.data();
  std::size_t left = lines_.size();
  while (left > 0 && on_) {
    const ssize_t taken = ::write(file_, from, left);
    if (taken >= 0) {
      from += taken;
      left -= static_cast<std::size_t>(taken);
    } else if (errno != EINTR) {
      fail("cannot write", errno);
    }
  }
  lines_.clear();
}

void Trace::close() {
  if (file_ < 0) return;
  flush();
  // Some file systems tell only now that they have no room.
  if (::close(file_) != 0 && !failed_) fail("cannot close", errno);
  file_ = -1;
  on_ = false;
}

void Trace::fail(const char* what, int error) {
  on_ = false;
  failed_ = true;
  log::get("trace").error("{} {}: {}; the trace ends here", what, path_, strerror(error));
}

}  // namespace vp
