// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string_view>
#include <vector>

#include "vp/console/console.h"

namespace vp {

/// The keyboard of the user, and the signals that end the simulator.
///
/// If standard input is a terminal, its keys go to a guest one by one, Ctrl-C included. Ctrl-A is
/// for the simulator:
///
///     Ctrl-A x       end the simulator
///     Ctrl-A c       the keyboard belongs to the next console
///     Ctrl-A h       help
///     Ctrl-A Ctrl-A  send Ctrl-A
///
/// The terminal's settings come back whenever the process ends, stops or crashes, SIGKILL aside,
/// and are ours again when it is continued. If standard input is anything else, it is not touched:
/// scripted input has an option of its own.
///
/// SIGINT, SIGTERM, SIGHUP and SIGQUIT ask for an end at the next poll(); a second one does not
/// wait for it. There can be one such object at a time, in the thread that simulates.
class Terminal {
 public:
  enum class End {
    key,     ///< Ctrl-A x
    signal,  ///< the run was interrupted
  };

  /// `on_end` is called by poll(), once. `input` is read, `output` gets the help.
  explicit Terminal(std::function<void(End)> on_end, int input = 0, int output = 2);
  ~Terminal();
  Terminal(const Terminal&) = delete;
  Terminal& operator=(const Terminal&) = delete;

  /// The keyboard first belongs to the console added first. A console outlives this object.
  void add(Console& console) { consoles_.push_back(&console); }

  /// Takes the signals, and the terminal's settings if there is a terminal. QEMU's initialisation
  /// takes signals too: call it after.
  void start();

  /// Hands on the keys pressed since the last call, and signals. Costs a system call: the caller
  /// limits its rate, to some tens a second.
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
  std::size_t current_ = 0;  // console that has the keyboard
  bool reading_ = false;
  bool escaped_ = false;  // the last key was Ctrl-A
  bool ended_ = false;
};

}  // namespace vp
