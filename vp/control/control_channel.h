// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace vp {

/// The port by which a guest's `vpctl` communicates with the platform: three 32-bit registers in
/// the I/O space of an x86 host. guest/vpctl/README.md describes the protocol. The guest writes the
/// length of a message to LENGTH and its bytes to DATA. The last word makes the platform act on the
/// message. The guest then reads the answer from DATA, which is empty after most messages:
///
///     exit CODE\n        ends the run with CODE, 0 to 255
///     mark NAME\n        announces a point that the guest has reached; the answer may be
///                        a command for the guest, `ok COMMAND\n`
///     inject WHAT\n      makes an error happen in the platform
///     hot_plug WHAT\n    acts at a hot-plug slot: removes a card, inserts it, presses a button
///     put NAME SIZE\n    sends a file, whose SIZE bytes follow
///     export WHAT\n      writes what a device stores to a file
///
/// No message does harm. An invalid one is answered with an error, counted and dropped.
class ControlChannel {
 public:
  static constexpr std::uint16_t io_base = 0xe00;
  static constexpr unsigned io_size = 12;

  enum Register : unsigned {
    DATA = 0x0,    ///< W: next 4 bytes of the message, [7:0] first; R: of the answer, 0 padded
    STATUS = 0x4,  ///< RO: [31] 1, since the channel exists; [30:0] bytes of the answer left
    LENGTH = 0x8,  ///< WO: begins a message of that length; drops an unfinished one and an answer
  };

  static constexpr std::size_t max_file = 64 * 1024 * 1024;  ///< bytes of a file
  static constexpr std::size_t max_line = 4096 + 64;         ///< bytes of the line before the file
  static constexpr std::size_t max_mark = 200;

  /// What the platform does about each message.
  struct Handlers {
    std::function<void(int code)> on_exit;
    /// The name has 1 to 200 bytes without blanks and control characters; it may contain quotes.
    /// Returns a command for the guest in one line, or an empty string. May wait, in the process of
    /// the vCPU.
    std::function<std::string(const std::string& name)> on_mark;
    /// Returns why the file is refused, or an empty string. The name is unchecked. Without this
    /// handler, every file is refused.
    std::function<std::string(const std::string& name, std::string_view bytes)> on_file;
    /// Describes the error in the platform's words, unchecked. Returns why it is impossible, or an
    /// empty string. Without this handler, no error can be injected.
    std::function<std::string(std::string_view what)> on_inject;
    /// Describes an action at a hot-plug slot of the guest's machine, likewise. Without this
    /// handler, there is no hot-plug slot.
    std::function<std::string(std::string_view what)> on_hot_plug;
    /// Describes what to export and the name of the file, likewise. Without this handler, every
    /// export is refused.
    std::function<std::string(std::string_view what)> on_export;
  };

  explicit ControlChannel(Handlers handlers) : handlers_(std::move(handlers)) {}

  /// Performs an access of the guest at `offset` from io_base. An access that is not 32 bits wide,
  /// or not to one of the registers, reads ones and ignores writes.
  std::uint32_t read(unsigned offset, unsigned size);
  void write(unsigned offset, unsigned size, std::uint32_t value);

  /// The numbers of messages that were accepted and refused, for the statistics.
  const std::uint64_t& messages() const { return messages_; }
  const std::uint64_t& rejected() const { return rejected_; }

 private:
  void begin(std::uint32_t length);
  void data(std::uint32_t word);
  std::uint32_t read_byte();
  std::string obey(std::string_view message);
  std::string mark(std::string_view name);
  void answer(const std::string& text);
  std::string put(std::string_view name_and_size, std::string_view bytes);
  void reject(const std::string& why);

  const Handlers handlers_;
  std::string message_;       // the bytes of the message that have arrived
  std::size_t expected_ = 0;  // length of the message, 0 without a message
  std::string answer_;
  std::size_t taken_ = 0;  // bytes of answer_ that the guest has read
  std::uint64_t messages_ = 0;
  std::uint64_t rejected_ = 0;
};

}  // namespace vp
