// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>

#include "vp/console/console.h"
#include "vp/console/script.h"
#include "vp/time/domain.h"

namespace vp {

/// Plays a script on a console: it is the console's listener and types into it.
class ScriptPlayer {
 public:
  /// `domain` is that of the console's guest. `on_missing` is called when an expectation was not
  /// met in time, with a text for the user; nothing is played after that.
  ScriptPlayer(Domain& domain, Console& console, Script script,
               std::function<void(const std::string& what)> on_missing);
  ~ScriptPlayer() { console_.on_output(nullptr); }

  /// Plays the first steps; at the start of simulation.
  void start() { play(); }
  /// Whether nothing is left to play.
  bool done() const { return next_ == script_.steps.size(); }

 private:
  void play();
  bool match();
  void heard(char byte, Picoseconds when);
  void alarm();
  void forget(std::size_t length);

  Console& console_;
  const Script script_;
  const std::function<void(const std::string&)> on_missing_;
  std::size_t next_ = 0;      // step that is played
  bool waiting_ = false;      // for alarm_, of wait and at
  bool expecting_ = false;    // for output, until alarm_
  std::string output_;        // since the last match
  std::size_t searched_ = 0;  // of output_, in vain
  Event alarm_;               // ends what is waited for
};

}  // namespace vp
