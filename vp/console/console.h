// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "vp/console/sink.h"
#include "vp/time/time.h"

namespace vp {

/// The line of a kernel that can go no further.
inline constexpr std::string_view kernel_panic = "Kernel panic - not syncing";

/// The stream of bytes between a guest's serial port and the outside.
///
/// Output reaches the sinks at the end of each line and at each poll(). It never influences the
/// simulation; input does, which is why only poll() and a script bring any.
class Console {
 public:
  explicit Console(std::string name) : name_(std::move(name)) {}
  Console(const Console&) = delete;
  Console& operator=(const Console&) = delete;
  ~Console() { flush(); }

  const std::string& name() const { return name_; }

  /// @name Of the serial port
  /// @{

  /// The guest sends a byte at time `when`, which may be ahead of the kernel's.
  void put(char byte, Picoseconds when = now());
  bool has_input() const { return taken_ < input_.size(); }
  /// The next byte of input; there must be one.
  char peek() const { return input_[taken_]; }
  /// Takes it.
  char read();
  /// `action` is called when input comes and there was none.
  void on_input(std::function<void()> action) { on_input_ = std::move(action); }
  /// @}

  /// @name Of the outside
  /// @{

  void add_sink(std::unique_ptr<Sink> sink) { sinks_.push_back(std::move(sink)); }
  /// In place of all that there are: for a process that has been forked.
  void replace_sinks(std::unique_ptr<Sink> sink);
  /// `action` is called with each complete line, without its end, that contains `text`, and the
  /// time of its end. Lines longer than 4 KiB come in pieces.
  void watch(std::string text, std::function<void(std::string_view line, Picoseconds when)> action);
  /// `action` is called with each byte of output and its time.
  void on_output(std::function<void(char byte, Picoseconds when)> action) {
    on_output_ = std::move(action);
  }

  /// Input for the guest, of any length: it waits until the serial port takes it.
  void type(std::string_view bytes);
  /// How much input somebody at a keyboard may have waiting now.
  std::size_t room() const;
  /// Shows what was put so far, also of an unfinished line, and reads what the sinks have. Costs
  /// system calls: the caller limits its rate.
  void poll();
  /// Shows what was put so far. Call it before fork().
  void flush();
  /// @}

 private:
  struct Watcher {
    std::string text;
    std::function<void(std::string_view, Picoseconds)> action;
  };

  void end_line(Picoseconds when);

  const std::string name_;
  std::string input_;
  std::size_t taken_ = 0;  // of input_
  std::string unshown_;
  std::string line_;
  std::vector<std::unique_ptr<Sink>> sinks_;
  std::vector<Watcher> watchers_;
  std::function<void()> on_input_;
  std::function<void(char, Picoseconds)> on_output_;
};

}  // namespace vp
