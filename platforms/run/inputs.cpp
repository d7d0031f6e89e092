// SPDX-License-Identifier: Apache-2.0
#include "platforms/run/inputs.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <optional>

#include "vp/images/initramfs.h"
#include "vp/images/kernel.h"
#include "vp/images/manifest.h"
#include "vp/images/qemu_library.h"
#include "vp/images/sha256.h"
#include "vp/plugin/check.h"

namespace platform {

namespace fs = std::filesystem;
using vp::config::Report;
using vp::images::Bytes;
using vp::images::Mistake;

namespace {

/// The files that QEMU's microvm machine loads from the directory of ROMs.
constexpr const char* roms[] = {"bios-microvm.bin", "linuxboot_dma.bin"};

class Checker {
 public:
  explicit Checker(const fs::path& images) : images_(images) {}

  /// Checks one file. A file that is used twice is read twice, and its hash is listed for each use.
  void check(const std::string& role, const File& file, const std::function<void(Bytes&)>& check) {
    attempt(role, file, [&] {
      Bytes bytes = Bytes::read(file.path);
      const std::string hash = vp::images::sha256(bytes.data(), bytes.size());
      compare_with_manifest(file, bytes.size(), hash);
      check(bytes);
      inputs_.push_back({role, file.path, bytes.size(), hash});
    });
  }

  /// Does the same with a file of a device, which may be larger than memory.
  void check(const std::string& device, const device::InputFile& input) {
    const std::string role = device + "." + input.key;
    if (input.check_content) return check(role, input.file, input.check_content);
    attempt(role, input.file, [&] {
      input.check(input.file.path);
      const std::uint64_t size = fs::file_size(input.file.path);
      const std::string hash = vp::images::sha256_of_file(input.file.path);
      compare_with_manifest(input.file, size, hash);
      inputs_.push_back({role, input.file.path, size, hash});
      if (input.written) written_.emplace_back(role, input.file);
    });
  }

  void mistake(const File& file, std::string found, std::string remedy) {
    report_.add({file.origin, std::move(found), "", std::move(remedy)});
  }

  std::vector<Input> checked_inputs() {
    check_written();
    report_.check();
    return std::move(inputs_);
  }

 private:
  /// Checks a file by a function that throws Mistake.
  void attempt(const std::string& role, const File& file, const std::function<void()>& check) {
    try {
      check();
    } catch (const Mistake& mistake) {
      report_.add(
          {file.origin,
           fmt::format("{} {}: {}", role, vp::config::shown(file.path.string()), mistake.what()),
           "", mistake.remedy()});
    }
  }

  /// This comes before other checks of a file's contents: if a file that setup made has changed
  /// since, nothing else matters.
  void compare_with_manifest(const File& file, std::uint64_t size, const std::string& hash) {
    if (file.found_by_name && manifest())
      manifest_->check(fs::path(file.text).lexically_normal().generic_string(), size, hash);
  }

  /// Nothing else may use a file that a device changes.
  void check_written() {
    for (const auto& [role, file] : written_) {
      for (const Input& other : inputs_) {
        std::error_code error;
        if (other.role == role || !fs::equivalent(other.path, file.path, error)) continue;
        mistake(file,
                fmt::format("{} changes {}, which is also {}", role,
                            vp::config::shown(file.path.string()), other.role),
                "name a copy of the file, or do not write through");
      }
    }
  }

  /// Reads the manifest at its first use. Returns false if there is none, which is reported once.
  bool manifest() {
    if (!manifest_read_) {
      manifest_read_ = true;
      manifest_ = vp::images::Manifest::read(images_);
    }
    return manifest_.has_value();
  }

  const fs::path images_;
  Report report_;
  std::vector<Input> inputs_;
  std::vector<std::pair<std::string, File>> written_;  // role and file
  std::optional<vp::images::Manifest> manifest_;
  bool manifest_read_ = false;
};

bool has_option(const std::string& command_line, const std::string& option) {
  return (" " + command_line).find(" " + option) != std::string::npos;
}

void check_host(const Host& host, Checker& checker) {
  std::uint64_t needed = 0;
  checker.check(host.name + ".kernel", host.kernel, [&](Bytes& bytes) {
    const vp::images::Kernel kernel = vp::images::check_kernel(bytes);
    needed += kernel.init_size;
    if (host.append.size() > kernel.command_line_size)
      throw Mistake(fmt::format("its command line may have {} bytes, but `append` has {}",
                                kernel.command_line_size, host.append.size()),
                    "shorten `append`");
  });
  if (host.initrd)
    checker.check(host.name + ".initrd", *host.initrd, [&](Bytes& bytes) {
      const vp::images::Initramfs found = vp::images::check_initramfs(bytes);
      needed += bytes.size();
      // With another first program or with another root file system, /init is not needed.
      if (!found.has_init && !found.opaque && !has_option(host.append, "rdinit=") &&
          !has_option(host.append, "root="))
        throw Mistake("it has no /init, which Linux starts first",
                      "pack it from inside its directory, as `(cd ROOT && find . | cpio -o -H "
                      "newc)`, or name another program by `rdinit=` in `append`");
    });
  if (needed > static_cast<std::uint64_t>(host.memory))
    checker.mistake(host.kernel,
                    fmt::format("{}: kernel and initramfs need {} bytes, but its memory has {}",
                                host.name, needed, host.memory),
                    "raise `memory` of the host");
}

void check_qemu(const Qemu& qemu, Checker& checker) {
  checker.check("qemu.host_library", qemu.host_library, vp::images::check_qemu_library);
  for (const auto& [kind, library] : qemu.libraries)
    if (library)
      checker.check(fmt::format("qemu.{}_library", kind), *library, vp::images::check_qemu_library);
  for (const char* rom : roms) {
    File file = qemu.roms;
    file.text += "/" + std::string(rom);
    file.path /= rom;
    checker.check(fmt::format("qemu.roms.{}", rom), file, [](Bytes&) {});
  }
}

}  // namespace

std::vector<Input> check_inputs(const Platform& platform, const fs::path& images) {
  Checker checker(images);
  check_qemu(platform.qemu, checker);
  for (std::size_t i = 0; i < platform.plugins.size(); ++i)
    checker.check(fmt::format("plugins[{}]", i), platform.plugins[i], vp::plugin::check);
  for (const Host& host : platform.hosts) check_host(host, checker);
  for (const device::DescriptionPtr& each : platform.all_devices())
    for (const device::InputFile& input : each->inputs()) checker.check(each->name, input);
  return checker.checked_inputs();
}

}  // namespace platform
