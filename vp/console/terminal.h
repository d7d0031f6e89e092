// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string_view>
#include <vector>

#include "vp/console/console.h"

namespace vp {

/// The keyboard of the user, and the signals that end the simulator.
///
/// If standard input is a terminal, each key goes to a guest at once, Ctrl-C included. Ctrl-A
/// begins a command for the simulator:
///
///     Ctrl-A x       end the simulator
///     Ctrl-A c       the keyboard belongs to the next console
///     Ctrl-A h       help
///     Ctrl-A Ctrl-A  send Ctrl-A
///
/// The terminal's settings are restored whenever the process ends, stops or crashes, except by
/// SIGKILL, and changed again when the process continues. Standard input that is not a terminal
/// remains unread; scripted input has its own option.
///
/// SIGINT, SIGTERM, SIGHUP and SIGQUIT request an end at the next poll(). A second signal ends the
/// process at once. There can be only one such object at a time, in the thread that simulates.
class Terminal {
 public:
  enum class End {
    key,     ///< Ctrl-A x
    signal,  ///< the run was interrupted
  };

  /// poll() calls `on_end` once. Keys are read from `input`, and the help is written to `output`.
  explicit Terminal(std::function<void(End)> on_end, int input = 0, int output = 2);
  ~Terminal();
  Terminal(const Terminal&) = delete;
  Terminal& operator=(const Terminal&) = delete;

  /// Adds a console, which must outlive this object. The keyboard belongs to the first one at
  /// first.
  void add(Console& console) { consoles_.push_back(&console); }

  /// Installs the signal handlers, and changes the settings of the terminal if there is one. Must
  /// be called after QEMU's initialisation, which installs handlers too.
  void start();

  /// Handles the keys and signals since the last call. This costs a system call, so the caller has
  /// to limit its rate to some tens of calls a second.
  void poll();

 private:
  void key(char byte);
  void command(char byte);
  void say(std::string_view text);
  void end(End reason);

  std::function<void(End)> on_end_;
  const int input_;
  const int output_;
  std::vector<Console*> consoles_;
  std::size_t current_ = 0;  // the console that has the keyboard
  bool reading_ = false;
  bool escaped_ = false;  // the last key was Ctrl-A
  bool ended_ = false;
};

}  // namespace vp
