// SPDX-License-Identifier: Apache-2.0
#include "platforms/run/share_archive.h"

#include <archive.h>
#include <archive_entry.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>
#include <memory>
#include <stdexcept>
#include <vector>

#include "vp/config/report.h"
#include "vp/config/source.h"
#include "vp/images/sha256.h"

namespace platform {
namespace {

namespace fs = std::filesystem;

// Linux requires the second archive to be aligned (Documentation/driver-api/early-userspace).
constexpr std::size_t alignment = 4;

[[noreturn]] void fail(const fs::path& path, const char* why) {
  throw std::runtime_error(fmt::format("{}: {}", path.string(), why));
}

std::string contents(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::string bytes(std::istreambuf_iterator<char>(file), {});
  if (!file) fail(path, "cannot be read");
  return bytes;
}

// The user has shared something that cannot be read.
[[noreturn]] void refuse(const fs::path& directory, const std::string& found) {
  using namespace vp::config;
  vp::config::fail({origin_at(argument_source("--share", directory.string()), 0), found,
                    "files and directories that can be read", "make it readable, or move it away"});
}

struct EntryDeleter {
  void operator()(archive_entry* entry) const { archive_entry_free(entry); }
};
struct ArchiveDeleter {
  void operator()(archive* archive) const { archive_write_free(archive); }
};

void add(archive* archive, const std::string& name, const fs::path& path) {
  const bool directory = fs::is_directory(path);
  const std::string bytes = directory ? "" : contents(path);
  const bool executable =
      (fs::status(path).permissions() & fs::perms::owner_exec) != fs::perms::none;

  const std::unique_ptr<archive_entry, EntryDeleter> entry(archive_entry_new());
  archive_entry_set_pathname(entry.get(), name.c_str());
  archive_entry_set_filetype(entry.get(), directory ? AE_IFDIR : AE_IFREG);
  archive_entry_set_perm(entry.get(), directory || executable ? 0755 : 0644);
  archive_entry_set_size(entry.get(), static_cast<la_int64_t>(bytes.size()));
  if (archive_write_header(archive, entry.get()) != ARCHIVE_OK ||
      archive_write_data(archive, bytes.data(), bytes.size()) < 0) {
    fail(path, archive_error_string(archive));
  }
}

// Returns an archive of the directory in the format that Linux unpacks.
std::string pack(const fs::path& directory) {
  std::vector<fs::path> files;
  std::error_code error;
  for (fs::recursive_directory_iterator entry(directory, error), end; !error && entry != end;
       entry.increment(error)) {
    std::error_code nowhere;  // where a link leads that leads to itself
    const fs::file_status status = entry->status(nowhere);
    if (!fs::is_regular_file(status) && !fs::is_directory(status)) continue;
    const std::string path = entry->path().string();
    if (::access(path.c_str(), R_OK) != 0) {
      refuse(directory, fmt::format("{}: {}", vp::config::shown(path), std::strerror(errno)));
    }
    files.push_back(entry->path());
  }
  if (error) refuse(directory, error.message());
  std::sort(files.begin(), files.end());

  std::string bytes;
  const std::unique_ptr<archive, ArchiveDeleter> archive(archive_write_new());
  archive_write_set_format_cpio_newc(archive.get());
  archive_write_set_bytes_in_last_block(archive.get(), 1);
  archive_write_open(
      archive.get(), &bytes, nullptr,
      [](struct archive*, void* out, const void* data, std::size_t size) -> la_ssize_t {
        static_cast<std::string*>(out)->append(static_cast<const char*>(data), size);
        return static_cast<la_ssize_t>(size);
      },
      nullptr);
  add(archive.get(), "share", directory);
  for (const fs::path& file : files) {
    add(archive.get(), ("share" / file.lexically_relative(directory)).generic_string(), file);
  }
  archive_write_close(archive.get());
  return bytes;
}

void write_all(int file, const std::string& bytes) {
  for (std::size_t done = 0; done < bytes.size();) {
    const ssize_t written = ::write(file, bytes.data() + done, bytes.size() - done);
    if (written < 0) fail("the guest's initial file system", std::strerror(errno));
    done += static_cast<std::size_t>(written);
  }
}

}  // namespace

ShareArchive::ShareArchive(const fs::path& initrd, const fs::path& directory)
    : file_(memfd_create("initrd", MFD_CLOEXEC)) {
  if (file_ < 0) fail("the guest's initial file system", std::strerror(errno));
  if (!initrd.empty()) {
    std::string first = contents(initrd);
    first.resize((first.size() + alignment - 1) / alignment * alignment);
    write_all(file_, first);
  }
  const std::string second = pack(directory);
  sha256_ = vp::images::sha256(second.data(), second.size());
  size_ = second.size();
  write_all(file_, second);
}

ShareArchive::~ShareArchive() {
  close(file_);
}

fs::path ShareArchive::path() const {
  return fmt::format("/proc/self/fd/{}", file_);
}

}  // namespace platform
