// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
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

/// An open swap port. Methods throw Error. oae.h describes what each does.
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

  /// From now on the process makes swaps without the kernel, or the kernel makes them again.
  void map() { check(oae_port_map(port_.get()), "map"); }
  void unmap() { oae_port_unmap(port_.get()); }

  oae_info info() const { return get<oae_info>(oae_port_info, "info"); }
  oae_words words() const { return get<oae_words>(oae_port_words, "words"); }
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

  /// Settles the swap in doubt as reversed.
  oae_swap reverse() const { return get<oae_swap>(oae_port_reverse, "reverse"); }

  /// Does all steps or none. Returns whether it did them.
  template <std::size_t Count>
  bool multi(oae_step (&steps)[Count]) const {
    static_assert(Count <= OAE_STEPS_MAX, "too many steps");
    return done(oae_port_multi(port_.get(), steps, Count), "multi");
  }

  /// Does all steps with the words of the cell at the other end of the port, or none. Returns whether it
  /// did them.
  template <std::size_t Count>
  bool remote(oae_step (&steps)[Count], std::chrono::nanoseconds timeout) const {
    static_assert(Count <= OAE_STEPS_MAX, "too many steps");
    return done(oae_port_remote(port_.get(), steps, Count, static_cast<std::uint64_t>(timeout.count())), "remote");
  }

  /// Writes `value` if the word is as `expected`; otherwise sets `expected` to the word. Returns
  /// whether it has written.
  bool compare_exchange(unsigned word, std::uint64_t& expected, std::uint64_t value) const {
    return done(oae_port_cas(port_.get(), word, expected, value, &expected), "cas");
  }

  /// Adds to a word, and returns what it was before.
  std::uint64_t fetch_add(unsigned word, std::uint64_t addend) const {
    std::uint64_t found = 0;
    check(oae_port_fetch_add(port_.get(), word, addend, &found), "fetch add");
    return found;
  }

  /// Sends the payload to the firmware, exactly once. False: there was no room for it in time.
  bool send(const std::array<std::uint64_t, OAE_PAYLOAD_WORDS>& payload,
            std::chrono::nanoseconds timeout) const {
    int error = oae_port_send(port_.get(), payload.data(),
                              static_cast<std::uint64_t>(timeout.count()));
    if (error == -EAGAIN) return false;
    check(error, "send");
    return true;
  }

  /// What became of the slot of a committed swap within `timeout`: OAE_FATE_*.
  unsigned fate(const oae_swap& swap, std::chrono::nanoseconds timeout) const {
    const int fate =
        oae_port_fate(port_.get(), &swap, static_cast<std::uint64_t>(timeout.count()));
    check(fate < 0 ? fate : 0, "fate");
    return static_cast<unsigned>(fate);
  }

  /// The oldest loss that was not told yet, if there is one within `timeout`.
  std::optional<oae_fate> loss(std::chrono::nanoseconds timeout) const {
    oae_fate loss{};
    const int error =
        oae_port_loss(port_.get(), &loss, static_cast<std::uint64_t>(timeout.count()));
    if (error == -EAGAIN) return {};
    check(error, "loss");
    return loss;
  }

  /// Returns whether an offer of the firmware stands within `timeout`. Negative: there is no limit.
  bool wait(std::chrono::milliseconds timeout) const {
    int error = oae_port_wait(port_.get(), static_cast<int>(timeout.count()));
    if (error == -ETIMEDOUT) return false;
    check(error, "wait");
    return true;
  }

  /// What the last swap has taken.
  oae_times times() const { return get<oae_times>(oae_port_times, "times"); }

  /// What `count` reads of 8 bytes of the device take, in ns.
  std::vector<std::uint64_t> read_times(std::uint32_t count) const {
    std::vector<std::uint64_t> samples(count);
    check(oae_port_read_times(port_.get(), samples.data(), count), "read times");
    return samples;
  }

 private:
  struct Close {
    void operator()(oae_port* port) const { oae_port_close(port); }
  };

  static void check(int error, const std::string& what) {
    if (error) throw Error(error, what);
  }

  static bool done(int result, const char* what) {
    check(result < 0 ? result : 0, what);
    return result == 1;
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
