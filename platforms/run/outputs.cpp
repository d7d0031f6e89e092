// SPDX-License-Identifier: Apache-2.0
#include "platforms/run/outputs.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <system_error>
#include <vector>

namespace platform {

namespace fs = std::filesystem;

namespace {

constexpr const char* boot = "boot";
constexpr const char* summary_file = "summary.json";

bool is_ours(const std::string& name) {
  return name == boot || name == summary_file ||
         name.find_first_not_of("0123456789") == std::string::npos;
}

void open_as(int descriptor, const char* file, int flags) {
  const int opened = ::open(file, flags | O_CLOEXEC, 0666);
  if (opened < 0 || (opened != descriptor && ::dup2(opened, descriptor) < 0))
    throw std::system_error(errno, std::generic_category(), file);
  if (opened != descriptor) ::close(opened);
}

}  // namespace

bool Outputs::is_one(const fs::path& directory) {
  std::error_code error;
  return fs::is_regular_file(directory / summary_file, error);
}

void Outputs::prepare() const {
  fs::create_directory(directory_);
  std::vector<fs::path> old;
  for (const auto& entry : fs::directory_iterator(directory_))
    if (is_ours(entry.path().filename().string())) old.push_back(entry.path());
  for (const fs::path& path : old) fs::remove_all(path);
  fs::create_directory(directory_ / boot);
}

fs::path Outputs::boot_console(const std::string& name) const {
  return directory_ / boot / (name + ".log");
}

fs::path Outputs::summary() const {
  return directory_ / summary_file;
}

fs::path Outputs::child(std::size_t number) const {
  return directory_ / std::to_string(number);
}

fs::path Outputs::make_child(std::size_t number) const {
  fs::create_directory(child(number));
  return child(number);
}

std::string write_file(const fs::path& file, const std::function<std::string(int file)>& fill) {
  // No file of the user has this name.
  const std::string part = fmt::format("{}.{}.part", file.string(), ::getpid());
  const int opened = ::open(part.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (opened < 0) return std::strerror(errno);
  std::string why = fill(opened);
  if (::close(opened) != 0 && why.empty()) why = std::strerror(errno);
  if (why.empty() && std::rename(part.c_str(), file.c_str()) != 0) why = std::strerror(errno);
  if (!why.empty()) ::unlink(part.c_str());
  return why;
}

void redirect_output(const fs::path& file) {
  open_as(STDIN_FILENO, "/dev/null", O_RDONLY);
  open_as(STDOUT_FILENO, file.c_str(), O_WRONLY | O_CREAT | O_TRUNC);
  ::dup2(STDOUT_FILENO, STDERR_FILENO);
}

}  // namespace platform
