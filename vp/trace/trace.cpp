// SPDX-License-Identifier: Apache-2.0
#include "vp/trace/trace.h"

#include <fcntl.h>
#include <sys/sendfile.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <nlohmann/json.hpp>
#include <utility>

#include "vp/log/log.h"

namespace vp {
namespace {

std::string line(const nlohmann::json& head) {
  return head.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + '\n';
}

}  // namespace

void Trace::open(const std::string& path, const nlohmann::json& head) {
  close();
  file_ = create(path);
  path_ = path;
  failed_ = false;
  on_ = true;
  written_ = 0;
  lines_.reserve(piece + 4096);
  const std::string first = line(head);
  head_size_ = first.size();
  lines_.append(first);
}

int Trace::create(const std::string& path) const {
  const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (file < 0) {
    throw TraceError(fmt::format("cannot create the trace file {}: {}", path, strerror(errno)));
  }
  return file;
}

void Trace::continue_in(const std::string& path, const nlohmann::json& head) {
  if (!on_) return;
  const int own = create(path);
  const int common = std::exchange(file_, own);
  const std::uint64_t begin = head_size_, end = written_;
  const fmt::memory_buffer unwritten = std::move(lines_);
  path_ = path;
  written_ = 0;
  const std::string first = line(head);
  head_size_ = first.size();
  lines_.clear();
  lines_.append(first);
  flush();
  if (end > 0) copy(common, begin, end);
  // If nothing has been written yet, the first line is still in the buffer.
  const std::size_t from = end > 0 ? 0 : begin;
  lines_.append(unwritten.data() + from, unwritten.data() + unwritten.size());
  ::close(common);
}

void Trace::copy(int from, std::uint64_t begin, std::uint64_t end) {
  // Opens the file once more, since the present descriptor shares its position with the parent.
  const int source = ::open(fmt::format("/proc/self/fd/{}", from).c_str(), O_RDONLY | O_CLOEXEC);
  if (source < 0) return fail("cannot begin", errno);
  auto position = static_cast<off_t>(begin);
  while (on_ && static_cast<std::uint64_t>(position) < end) {
    const ssize_t taken =
        ::sendfile(file_, source, &position, end - static_cast<std::uint64_t>(position));
    if (taken > 0) {
      written_ += static_cast<std::uint64_t>(taken);
    } else if (taken == 0 || errno != EINTR) {
      fail("cannot begin", taken == 0 ? ENODATA : errno);
    }
  }
  ::close(source);
}

void Trace::flush() {
  const char* from = lines_.data();
  std::size_t left = lines_.size();
  while (left > 0 && on_) {
    const ssize_t taken = ::write(file_, from, left);
    if (taken >= 0) {
      from += taken;
      written_ += static_cast<std::uint64_t>(taken);
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
  // Some file systems report only here that they are full.
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
