// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <systemc>
#include <utility>

#include "vp/exit_code.h"

namespace platform {

/// How the run ends. The first reason that a part of the machine gives counts.
class Outcome {
 public:
  /// Ends the run at the present simulated time. `why` is a message for the user and may be empty.
  void end(vp::ExitCode code, std::string why) {
    if (ended_) return;
    ended_ = true;
    code_ = code;
    why_ = std::move(why);
    pause();
  }
  /// Replaces how the run ended.
  void replace(vp::ExitCode code, std::string why) {
    code_ = code;
    why_ = std::move(why);
  }
  bool ended() const { return ended_; }
  vp::ExitCode code() const { return code_; }
  const std::string& why() const { return why_; }

  /// @name The hosts; the run ends when the last of them is off
  /// @{
  void add_host() { ++hosts_on_; }
  /// Records the exit code that a guest reports. 0 is success; the first other one counts.
  void set_guest_code(const std::string& host, int code) {
    if (code == 0 || guest_code_ != 0) return;
    guest_code_ = code;
    guest_verdict_ = host + ": the guest ended with code " + std::to_string(code);
  }
  void host_is_off() {
    if (--hosts_on_ > 0) return;
    end(guest_code_ != 0 ? vp::ExitCode::failed : vp::ExitCode::success, guest_verdict_);
  }
  int guest_code() const { return guest_code_; }
  /// @}

  /// Makes SystemC's kernel return to the run's loop before time advances.
  static void pause() {
    if (sc_core::sc_is_running()) sc_core::sc_pause();
  }

 private:
  bool ended_ = false;
  vp::ExitCode code_ = vp::ExitCode::success;
  std::string why_;
  unsigned hosts_on_ = 0;
  int guest_code_ = 0;
  std::string guest_verdict_;
};

}  // namespace platform
