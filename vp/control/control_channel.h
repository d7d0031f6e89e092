// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace vp {

/// The port through which a guest's `vpctl` talks to the platform: three 32-bit registers in the
/// I/O space of an x86 host. guest/vpctl/README.md has the protocol. In short, a message is its
/// length written to LENGTH, then its bytes to DATA; it is acted on with the last word, and what
/// then can be read from DATA is the answer, none for well done:
///
///     exit CODE\n        ends the run with CODE, 0 to 255
///     mark NAME\n        the run has come to a place that the user may ask for; the answer may be
///     a
///                        command for the guest, `ok COMMAND\n`
///     inject WHAT\n      something in the platform fails
///     hot_plug WHAT\n    somebody at a hot-plug slot removes a card, inserts it, presses a button
///     put NAME SIZE\n    and SIZE bytes: a file
///
/// Whatever a guest sends does no harm: what is not a message is answered, counted and dropped.
class ControlChannel {
 public:
  static constexpr std::uint16_t io_base = 0xe00;
  static constexpr unsigned io_size = 12;

  enum Register : unsigned {
    DATA = 0x0,    ///< W: the next 4 bytes of the message, [7:0] first. R: of the answer, 0 padded
    STATUS = 0x4,  ///< RO: [31] always 1, the channel is there; [30:0] bytes of the answer left
    LENGTH = 0x8,  ///< WO: begins a message of this many bytes; drops an unfinished one, an answer
  };

  static constexpr std::size_t max_file = 64 * 1024 * 1024;  ///< bytes of a file
  static constexpr std::size_t max_line = 4096 + 64;         ///< bytes before them
  static constexpr std::size_t max_mark = 200;

  /// What the platform does.
  struct Handlers {
    std::function<void(int code)> on_exit;
    /// 1 to 200 bytes, none of them a blank or a control character; perhaps quotes. Returns a
    /// command for the guest, one line, or nothing. May wait, in the process of the vCPU.
    std::function<std::string(const std::string& name)> on_mark;
    /// Returns why the file was refused, or nothing. The name is not checked. Without it, every
    /// file is refused.
    std::function<std::string(const std::string& name, std::string_view bytes)> on_file;
    /// What shall fail, in the platform's words; not checked. Returns why it cannot, or nothing.
    /// Without it, nothing can.
    std::function<std::string(std::string_view what)> on_inject;
    /// What somebody does at a hot-plug slot of the guest's machine, likewise. Without it, there is
    /// none.
    std::function<std::string(std::string_view what)> on_hot_plug;
  };

  explicit ControlChannel(Handlers handlers) : handlers_(std::move(handlers)) {}

  /// An access of the guest; `offset` is from io_base. All that is not one of the registers,
  /// 32 bits wide, reads as ones and ignores writes.
  std::uint32_t read(unsigned offset, unsigned size);
  void write(unsigned offset, unsigned size, std::uint32_t value);

  /// Messages that were obeyed, and those that were not; for the statistics.
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
  std::string message_;       // as far as it has come
  std::size_t expected_ = 0;  // bytes of it, 0 when none is under way
  std::string answer_;
  std::size_t taken_ = 0;  // of answer_
  std::uint64_t messages_ = 0;
  std::uint64_t rejected_ = 0;
};

}  // namespace vp
