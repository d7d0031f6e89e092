// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>

#include "vp/console/console.h"
#include "vp/console/script.h"
#include "vp/time/domain.h"

namespace vp {

/// Plays a script on a console: it listens to the console's output and types input.
class ScriptPlayer {
 public:
  /// `domain` is the domain of the console's guest. `on_missing` is called with a text for the user
  /// if an expected output does not appear in time; the script then ends.
  ScriptPlayer(Domain& domain, Console& console, Script script,
               std::function<void(const std::string& what)> on_missing);
  ~ScriptPlayer() { console_.on_output(nullptr); }

  /// Plays the first steps. Must be called when the simulation starts.
  void start() { play(); }
  /// Whether the script has ended.
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
  std::size_t next_ = 0;      // the present step
  bool waiting_ = false;      // a wait or an at ends at alarm_
  bool expecting_ = false;    // an expect waits for output until alarm_
  std::string output_;        // output since the last match
  std::size_t searched_ = 0;  // bytes of output_ without a match
  Event alarm_;               // the end of the present wait
};

}  // namespace vp
