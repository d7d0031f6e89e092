// SPDX-License-Identifier: Apache-2.0
#include "vp/qemu/library.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <set>
#include <utility>

#include "vp/qemu/instance.h"

namespace vp::qemu {
namespace {

LibraryError unusable(const std::string& path, const std::string& why) {
  return LibraryError(
      fmt::format("{}: {}\n  remedy: scripts/setup builds the QEMU libraries", path, why));
}

// The copy is a file of its own, since the dynamic loader distinguishes libraries by their files.
std::string copy_in_memory(const std::string& path) {
  const int source = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  const int copy = memfd_create("libqemu", MFD_CLOEXEC);
  struct stat status {};
  if (source < 0 || copy < 0 || fstat(source, &status) != 0) {
    throw unusable(path, std::strerror(errno));
  }
  for (off_t left = status.st_size; left > 0;) {
    const ssize_t sent = sendfile(copy, source, nullptr, static_cast<std::size_t>(left));
    if (sent <= 0) {
      throw unusable(path, sent < 0 ? std::strerror(errno) : "it has become shorter");
    }
    left -= sent;
  }
  close(source);
  // The descriptor stays open, since the loader may still read the name.
  return fmt::format("/proc/self/fd/{}", copy);
}

}  // namespace

const OaeQemuApi* load_library(const std::string& path) {
  static std::set<std::pair<dev_t, ino_t>> loaded;  // loaded files, identified independently of their names
  struct stat status {};
  if (stat(path.c_str(), &status) != 0) throw unusable(path, std::strerror(errno));
  const std::pair file{status.st_dev, status.st_ino};

  // The path is absolute, since the loader would search for a mere name elsewhere.
  const std::string name =
      loaded.count(file) == 0 ? std::filesystem::absolute(path).string() : copy_in_memory(path);
  void* handle = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) throw unusable(path, dlerror());
  const auto get_api = reinterpret_cast<const OaeQemuApi* (*)()>(dlsym(handle, "oae_qemu_api"));
  if (get_api == nullptr) {
    throw unusable(path, "not an embeddable QEMU, it has no oae_qemu_api");
  }
  const OaeQemuApi* api = get_api();
  if (api->version != OAE_QEMU_API_VERSION) {
    throw unusable(path, fmt::format("its interface has version {}, this program wants {}",
                                     api->version, OAE_QEMU_API_VERSION));
  }
  loaded.insert(file);
  return api;
}

}  // namespace vp::qemu
