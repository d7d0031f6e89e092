// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace vp {

/// The port through which a guest's `vpctl` talks to the platform: three 32-bit registers in the
/// I/O space of an x86 host. A message is its length written to LENGTH, then its bytes to DATA,
/// four at a time, the first in bits 7:0, the last word padded. Messages to the platform:
///
///     exit CODE\n        ends the run with CODE, 0 to 255
///     mark NAME\n        the run has come to a place that the user may ask for
///     put NAME SIZE\n    and SIZE bytes: a file
///
/// Whatever a guest sends does no harm: what is not a message is counted and dropped.
class ControlChannel {
 public:
  static constexpr std::uint16_t io_base = 0xe00;
  static constexpr unsigned io_size = 12;

  enum Register : unsigned {
    DATA = 0x0,    ///< W: the next 4 bytes of the message. R: takes up to 4 bytes, 0 padded
    STATUS = 0x4,  ///< RO: [31] always 1, the channel is there; [30:0] bytes to be read
    LENGTH = 0x8,  ///< WO: begins a message of this many bytes, dropping an unfinished one
  };

  static constexpr std::size_t max_file = 64 * 1024 * 1024;
  static constexpr std::size_t max_name = 128;
  /// Of a message; also of what waits to be read.
  static constexpr std::size_t max_length = max_file + 256;

  /// What the platform does; each may be empty.
  struct Handlers {
    std::function<void(int code)> on_exit;
    std::function<void(const std::string& name)> on_mark;
    /// The name is safe as a file's: see valid_name().
    std::function<void(const std::string& name, std::string_view bytes)> on_file;
  };

  explicit ControlChannel(Handlers handlers) : handlers_(std::move(handlers)) {}

  /// An access of the guest; `offset` is from io_base. All that is not one of the registers,
  /// 32 bits wide, reads as ones and ignores writes.
  std::uint32_t read(unsigned offset, unsigned size);
  void write(unsigned offset, unsigned size, std::uint32_t value);

  /// Queues bytes for the guest to read; false if there is no room for all, then none are.
  bool send(std::string_view bytes);

  /// Messages that were understood, and those that were not; for the statistics.
  const std::uint64_t& messages() const { return messages_; }
  const std::uint64_t& rejected() const { return rejected_; }

  /// 1 to 128 of A-Z a-z 0-9 . _ + - with neither . nor - first: no path, no option, no hidden
  /// file.
  static bool valid_name(std::string_view name);

 private:
  void begin(std::uint32_t length);
  void data(std::uint32_t word);
  void finish();
  bool obey(std::string_view message);
  void reject(const std::string& why);
  std::uint32_t take();

  const Handlers handlers_;
  std::string message_;       // as far as it has come
  std::size_t expected_ = 0;  // bytes of it, 0 when none is under way
  std::string to_guest_;
  std::size_t taken_ = 0;  // of to_guest_
  std::uint64_t messages_ = 0;
  std::uint64_t rejected_ = 0;
};

}  // namespace vp
