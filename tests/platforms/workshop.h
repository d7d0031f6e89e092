// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include "platforms/program/program.h"
#include "tests/vp/config/temporary.h"
#include "tests/vp/images/samples.h"
#include "vp/images/sha256.h"

/// A directory with small images, their manifest and platform files, in which the program is
/// called.
class Workshop {
 public:
  Workshop() {
    image("vmlinuz", samples::kernel());
    image("initramfs.cpio", samples::initramfs());
    image("oae-fw.elf", samples::firmware());
    image("debian.img", std::string(4096, '\0'));
    image("libqemu-x86_64.so", samples::library());
    image("libqemu-aarch64.so", samples::library());
    image("firmware/bios-microvm.bin", "bios");
    image("firmware/linuxboot_dma.bin", "rom");
    write_manifest();
    file("good.yaml", good);
  }

  std::filesystem::path path(const std::string& name) const { return directory_.path() / name; }
  std::filesystem::path images() const { return path("images"); }
  /// Writes a file beside the platform files.
  std::filesystem::path file(const std::string& name, const std::string& content) const {
    return directory_.write(name, content);
  }
  void image(const std::string& name, const std::string& content) {
    directory_.write("images/" + name, content);
    images_[name] = content;
  }
  /// Writes the manifest that setup would write for the present images.
  void write_manifest() const {
    nlohmann::json files = nlohmann::json::object();
    for (const auto& [name, content] : images_)
      files[name] = {{"sha256", vp::images::sha256(content.data(), content.size())},
                     {"size", content.size()}};
    directory_.write("images/manifest.json", nlohmann::json{{"files", files}}.dump());
  }

  struct Result {
    vp::ExitCode exit_code;
    std::string out, err;
    std::optional<platform::Platform> platform;  ///< set if it would have run
    platform::RunOptions options;
  };

  /// Calls the program with these arguments.
  Result call(std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), "oae-vp");
    std::vector<char*> argv;
    for (std::string& each : arguments) argv.push_back(each.data());
    argv.push_back(nullptr);
    Result result{};
    std::ostringstream out, err;
    result.exit_code = platform::program(
        static_cast<int>(arguments.size()), argv.data(), {{directory_.path()}, {images()}},
        [&](const platform::Platform& platform, const platform::RunOptions& options) {
          result.platform = platform;
          result.options = options;
          return vp::ExitCode::guest_panic;  // differs from all exit codes before a run
        },
        out, err);
    result.out = out.str();
    result.err = err.str();
    const bool refused = result.exit_code == vp::ExitCode::mistake ||
                         result.exit_code == vp::ExitCode::broken_promise;
    EXPECT_EQ(refused, !result.err.empty()) << result.err;
    return result;
  }

  /// A platform file with one host and one IPU.
  static constexpr const char* good = R"(name: good
qemu:
  host_library: libqemu-x86_64.so
  ipu_library: libqemu-aarch64.so
  roms: firmware
hosts:
  - name: host
    kernel: vmlinuz
    initrd: initramfs.cpio
    append: console=ttyS0
ipus:
  - name: ipu
    firmware: oae-fw.elf
pcie_links:
  - up: host
    down: ipu
)";

  /// Returns the good file with one piece of text replaced.
  static std::string changed(const std::string& from, const std::string& to) {
    std::string text = good;
    const std::size_t at = text.find(from);
    EXPECT_NE(at, text.npos) << from;
    return text.replace(at, from.size(), to);
  }

  /// Returns the good file with a switch between host and IPU, and with `from` replaced by `to`.
  static std::string with_switch(const std::string& from = "", const std::string& to = "") {
    std::string text = good;
    text.replace(text.find("ipus:"), 0, "switches:\n  - name: sw0\n");
    const std::size_t links = text.find("  - up: host");
    text.replace(links, text.npos, "  - {up: host, down: sw0}\n  - {up: sw0, down: ipu}\n");
    const std::size_t at = text.find(from);
    EXPECT_NE(at, text.npos) << from;
    return text.replace(at, from.size(), to);
  }

  /// Returns the good file with a blank disk below a root port of its own, and with `from` replaced
  /// by `to`.
  static std::string with_disk(const std::string& from = "", const std::string& to = "") {
    std::string text = good;
    text.replace(text.find("pcie_links:"), 0,
                 "devices:\n  - name: disk\n    kind: nvme\n    namespaces:\n      - size: 1MiB\n");
    text += "  - up: host\n    down: disk\n";
    const std::size_t at = text.find(from);
    EXPECT_NE(at, text.npos) << from;
    return text.replace(at, from.size(), to);
  }

 private:
  TemporaryDirectory directory_;
  std::map<std::string, std::string> images_;
};
