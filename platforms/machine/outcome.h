// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <string>
#include <systemc>
#include <utility>
#include <vector>

#include "platforms/description/platform.h"
#include "vp/exit_code.h"
#include "vp/time/agenda.h"
#include "vp/time/domain.h"

namespace platform {

/// How and when the run ends. The first reason that a part of the machine gives counts.
///
/// The end is an appointment in every domain. A domain may have run ahead of the part that ends the
/// run, as far as its horizon allows. So the end comes when it has reached all domains, and nothing
/// that is written about the run depends on how far a domain was ahead.
class Outcome {
 public:
  /// Adds a part of the machine, which the end has to reach.
  void add(const vp::Domain& domain) { domains_.push_back(&domain); }

  /// Ends the run at this time at the latest.
  void limit(vp::Picoseconds time) { set_end(std::min(end_, time)); }

  /// Ends the run because of an event in the simulated world at the present moment. `why` is for
  /// the user and may be empty.
  void end(vp::ExitCode code, std::string why) {
    if (ended_) return;
    limit(vp::now() + notice());
    ended_ = true;
    code_ = code;
    why_ = std::move(why);
    pause();
  }
  /// Ends the run at once, from outside of the simulated world, unless it is over. An end that is
  /// still on its way to a domain does not count.
  void stop(vp::ExitCode code, std::string why) {
    if (!over()) abandon(code, std::move(why));
  }
  /// Ends the run at once because of a defect, even if it is over.
  void abandon(vp::ExitCode code, std::string why) {
    end(code, why);
    replace(code, std::move(why));
    end_ = vp::now();
  }
  /// Replaces how the run ended.
  void replace(vp::ExitCode code, std::string why) {
    code_ = code;
    why_ = std::move(why);
  }
  bool ended() const { return ended_; }
  /// When the run ends, as far as is known, or vp::never.
  vp::Picoseconds end_time() const { return end_; }
  /// Whether everything up to the end has been simulated.
  bool over() const { return ended_ && vp::now() >= end_; }
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
  /// Returns how long an end takes to reach every domain, wherever it comes from. A domain that no
  /// link joins may be ahead as far as a platform file allows.
  vp::Picoseconds notice() const {
    vp::Picoseconds longest = 0;
    for (const vp::Domain* to : domains_) {
      for (const vp::Domain* from : domains_) {
        if (to == from) continue;
        longest = std::max(longest, std::min(to->lookahead_from(*from), longest_quantum));
      }
    }
    return longest;
  }
  void set_end(vp::Picoseconds time) {
    end_ = time;
    vp::Agenda::get().end_at(time);
  }

  std::vector<const vp::Domain*> domains_;
  vp::Picoseconds end_ = vp::never;
  bool ended_ = false;
  vp::ExitCode code_ = vp::ExitCode::success;
  std::string why_;
  unsigned hosts_on_ = 0;
  int guest_code_ = 0;
  std::string guest_verdict_;
};

}  // namespace platform
