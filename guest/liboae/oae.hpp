// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cerrno>
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <system_error>
#include <vector>

#include "oae.h"

namespace oae {

/// What a function of liboae reports; `code().value()` is the (positive) errno value.
struct Error : std::system_error {
  explicit Error(int error, const std::string& what)
      : std::system_error(-error, std::generic_category(), what + ": " + oae_error_text(error)) {}
};

/// An open swap port. Methods throw Error; what each means stands in oae.h.
class Port {
 public:
  /// Opens /dev/oae<device>p<port>.
  Port(unsigned device, unsigned port) : Port(path(device, port)) {}

  explicit Port(const std::string& path) {
    oae_port* port = nullptr;
    check(oae_port_open(path.c_str(), &port), path);
    port_.reset(port);
  }

  static std::string path(unsigned device, unsigned port) {
    char text[64];
    check(oae_port_path(device, port, text, sizeof(text)), "path");
    return text;
  }

  int fd() const { return oae_port_fd(port_.get()); }

  oae_info info() const { return get<oae_info>(oae_port_info, "info"); }
  oae_stats stats() const { return get<oae_stats>(oae_port_stats, "stats"); }
  oae_firmware_stats firmware_stats() const {
    return get<oae_firmware_stats>(oae_port_firmware_stats, "firmware stats");
  }

  /// One swap; the result's `status` is OAE_SWAP_STATUS_*. Input: `offer`, `verb`, `flags`,
  /// `form`, `timeout_ns`.
  oae_swap swap(oae_swap swap) const {
    check(oae_port_swap(port_.get(), &swap), "swap");
    return swap;
  }

  /// The outcome of the swap in doubt.
  oae_swap settle() const { return get<oae_swap>(oae_port_settle, "settle"); }

  /// The same, but it is settled as reversed.
  oae_swap reverse() const { return get<oae_swap>(oae_port_reverse, "reverse"); }

  /// Whether an offer of the firmware stands within `timeout`; negative: waits for ever.
  bool wait(std::chrono::milliseconds timeout) const {
    int error = oae_port_wait(port_.get(), static_cast<int>(timeout.count()));
    if (error == -ETIMEDOUT) return false;
    check(error, "wait");
    return true;
  }

  /// Times of `count` 8-byte reads of the device, in ns.
  std::vector<std::uint64_t> read_bench(std::uint32_t count) const {
    std::vector<std::uint64_t> samples(count);
    check(oae_port_read_bench(port_.get(), samples.data(), count), "read bench");
    return samples;
  }

 private:
  struct Close {
    void operator()(oae_port* port) const { oae_port_close(port); }
  };

  static void check(int error, const std::string& what) {
    if (error) throw Error(error, what);
  }

  template <typename T>
  T get(int (*function)(oae_port*, T*), const char* what) const {
    T value{};
    check(function(port_.get(), &value), what);
    return value;
  }

  std::unique_ptr<oae_port, Close> port_;
};

}  // namespace oae
