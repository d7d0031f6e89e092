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

/// The line that a Linux kernel prints when it cannot continue.
inline constexpr std::string_view kernel_panic = "Kernel panic - not syncing";

/// The stream of bytes between a guest's serial port and the outside.
///
/// Output reaches the sinks at the end of each line and at each poll(). Output never influences the
/// simulation. Input does, so only poll() and a script provide it.
class Console {
 public:
  explicit Console(std::string name) : name_(std::move(name)) {}
  Console(const Console&) = delete;
  Console& operator=(const Console&) = delete;
  ~Console() { flush(); }

  const std::string& name() const { return name_; }

  /// @name For the serial port
  /// @{

  /// The guest sends a byte at time `when`, which may be ahead of the SystemC kernel's time.
  void put(char byte, Picoseconds when = now());
  bool has_input() const { return taken_ < input_.size(); }
  /// Returns the next byte of input, which must exist, and leaves it there.
  char peek() const { return input_[taken_]; }
  /// Removes the next byte of input, which must exist, and returns it.
  char read();
  /// Calls `action` whenever input arrives while there was none.
  void on_input(std::function<void()> action) { on_input_ = std::move(action); }
  /// @}

  /// @name For the outside
  /// @{

  void add_sink(std::unique_ptr<Sink> sink) { sinks_.push_back(std::move(sink)); }
  /// Replaces all sinks; for a process that has been forked.
  void replace_sinks(std::unique_ptr<Sink> sink);
  /// Calls `action` with each complete line that contains `text`, without its line feed, and with
  /// the time of its end. A line longer than 4 KiB counts as several lines.
  void watch(std::string text, std::function<void(std::string_view line, Picoseconds when)> action);
  /// Calls `action` with each byte of output and its time.
  void on_output(std::function<void(char byte, Picoseconds when)> action) {
    on_output_ = std::move(action);
  }

  /// Adds input of any length. It waits until the serial port reads it.
  void type(std::string_view bytes);
  /// The number of bytes from a keyboard that may be added now.
  std::size_t room() const;
  /// Writes all output so far to the sinks, unfinished lines included, and reads input from them.
  /// This costs system calls, so the caller has to limit its rate.
  void poll();
  /// Writes all output so far to the sinks. Must be called before fork().
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
  std::size_t taken_ = 0;  // bytes of input_ that the serial port has read
  std::string unshown_;
  std::string line_;
  std::vector<std::unique_ptr<Sink>> sinks_;
  std::vector<Watcher> watchers_;
  std::function<void()> on_input_;
  std::function<void(char, Picoseconds)> on_output_;
};

}  // namespace vp
