// SPDX-License-Identifier: Apache-2.0
#include "vp/control/share.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <vector>

namespace vp {
namespace {

// A guest may not choose a name that begins with a dot.
constexpr char unfinished[] = ".unfinished";
constexpr std::size_t max_name = 4095;

/// An open file or directory.
class Descriptor {
 public:
  explicit Descriptor(int number) : number_(number) {}
  ~Descriptor() { close(); }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  void replace(int number) {
    const int error = errno;
    close();
    number_ = number;
    errno = error;
  }
  int number() const { return number_; }
  bool valid() const { return number_ >= 0; }
  /// Returns false and sets errno if the bytes written are lost.
  bool close() {
    const int number = number_;
    number_ = -1;
    return number < 0 || ::close(number) == 0;
  }

 private:
  int number_;
};

// Returns the parts of a name between its slashes, or none if it could lead out of the share.
std::vector<std::string> parts(std::string_view name) {
  const auto control = [](char c) { return static_cast<unsigned char>(c) < ' ' || c == 0x7f; };
  std::vector<std::string> parts;
  if (name.empty() || name.size() > max_name || name.front() == '/' || name.back() == '/' ||
      std::any_of(name.begin(), name.end(), control)) {
    return parts;
  }
  while (!name.empty()) {
    const std::size_t end = std::min(name.find('/'), name.size());
    const std::string part(name.substr(0, end));
    name.remove_prefix(std::min(end + 1, name.size()));
    if (part.empty() || part == ".") continue;
    if (part.front() == '.') return {};
    parts.push_back(part);
  }
  return parts;
}

// Opens a directory in `parent`, and creates it if it does not exist.
int enter(int parent, const std::string& name) {
  if (::mkdirat(parent, name.c_str(), 0777) != 0 && errno != EEXIST) return -1;
  return ::openat(parent, name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

bool write_all(int file, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t taken = ::write(file, bytes.data(), bytes.size());
    if (taken >= 0) {
      bytes.remove_prefix(static_cast<std::size_t>(taken));
    } else if (errno != EINTR) {
      return false;
    }
  }
  return true;
}

// Writes another file and renames it, so that no reader finds half a file. Returns why that is
// impossible, or an empty string.
std::string write_file(int directory, const std::string& name, const Share::Filler& filler) {
  ::unlinkat(directory, unfinished, 0);
  Descriptor file(
      ::openat(directory, unfinished, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666));
  std::string refusal = file.valid() ? filler(file.number()) : strerror(errno);
  if (refusal.empty() &&
      (!file.close() || ::renameat(directory, unfinished, directory, name.c_str()) != 0)) {
    refusal = strerror(errno);
  }
  if (!refusal.empty()) ::unlinkat(directory, unfinished, 0);
  return refusal;
}

}  // namespace

Share::Share(const std::string& directory)
    : directory_(::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)) {
  if (directory_ < 0) {
    throw ShareError(fmt::format("cannot share {}: {}", directory, strerror(errno)));
  }
}

Share::~Share() {
  ::close(directory_);
}

std::string Share::write(const std::string& name, std::string_view bytes) {
  return fill(name, [bytes](int file) -> std::string {
    return write_all(file, bytes) ? "" : strerror(errno);
  });
}

std::string Share::fill(const std::string& name, const Filler& filler) {
  const std::vector<std::string> path = parts(name);
  if (path.empty()) return "not a relative name without hidden or parent directories";
  Descriptor directory(::openat(directory_, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  for (std::size_t i = 0; i + 1 < path.size() && directory.valid(); ++i) {
    directory.replace(enter(directory.number(), path[i]));
  }
  const std::string refusal =
      directory.valid() ? write_file(directory.number(), path.back(), filler) : strerror(errno);
  // The guest gets this text, which must not depend on the place of the share.
  return refusal.empty() ? "" : fmt::format("cannot write {}: {}", name, refusal);
}

}  // namespace vp
