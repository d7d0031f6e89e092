// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <systemc>
#include <string>
#include <utility>

#include "vp/exit_code.h"

namespace platform {

/// How the run ends: the first reason that a part of the machine gives stands.
class Outcome {
 public:
  /// Ends the run at the present moment of simulated time; `why` is for the user, and may be empty.
  void end(vp::ExitCode code, std::string why) {
    if (ended_) return;
    ended_ = true;
    code_ = code;
    why_ = std::move(why);
    pause();
  }
  bool ended() const { return ended_; }
  vp::ExitCode code() const { return code_; }
  const std::string& why() const { return why_; }

  /// The guest's own verdict, of which the run's end takes notice: 0 is success.
  void set_guest_code(int code) { guest_code_ = code; }
  int guest_code() const { return guest_code_; }

  /// Makes the kernel return to the run's loop before time goes on.
  static void pause() {
    if (sc_core::sc_is_running()) sc_core::sc_pause();
  }

 private:
  bool ended_ = false;
  vp::ExitCode code_ = vp::ExitCode::success;
  std::string why_;
  int guest_code_ = 0;
};

}  // namespace platform
