// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>

#include "models/pcie/config/capabilities/advanced_error_reporting.h"
#include "models/pcie/config/config_space.h"
#include "models/pcie/protocol/tlp.h"

namespace pcie {

/// Downstream Port Containment; of a root port with the extensions for requests of its own, called
/// RP PIO (PCIe 5.0, 6.2.11 and 7.9.14). Its registers are sticky. What the port does about it is
/// the port's.
///
///     +00 id 0x001d
///     +04 capability: root port extensions 5, poisoned TLP egress blocking 6, software trigger 7,
///         size of the log in DW 11:8
///     +06 control: trigger 1:0 (1 fatal, 2 also non-fatal messages), completions 2 (0 completer
///         abort, 1 unsupported request), interrupt 3, ERR_COR 4, poisoned TLP egress blocking 5,
///         software trigger 6
///     +08 status: triggered 0, reason 2:1, interrupt 3, its extension 6:5, first RP PIO error 12:8
///     +0a source of the message that triggered
///
/// Extensions:
///
///     +0c RP PIO status  +10 mask  +14 severity  +18 system error, none  +1c exception, none
///     +20 header log, 4 DW
class DownstreamPortContainment {
 public:
  /// Why the port is contained; bits 6:5 and 2:1 of the status.
  enum class Reason : std::uint32_t {
    uncorrectable_error = 0,
    non_fatal_message = 1u << 1,
    fatal_message = 2u << 1,
    request = 3u << 1,
    software = 3u << 1 | 1u << 5,
  };
  /// How a request of the port has ended badly; the bit in RP PIO Status of a configuration request
  /// is that, of a memory request it is 16 more.
  enum class RequestError : unsigned { unsupported = 0, aborted = 1, timeout = 2 };

  DownstreamPortContainment(ConfigSpace& space, bool root_port);
  DownstreamPortContainment(const DownstreamPortContainment&) = delete;

  unsigned offset() const { return offset_; }
  /// Until software clears it.
  bool triggered() const { return space_.test(offset_ + status, 0); }
  /// Triggers unless that is disabled, or done already. `source` is of a message.
  bool trigger(Reason reason, Id source = 0);
  /// By an error message from below.
  bool trigger_by_message(Severity severity, Id source);
  /// Whether software has asked for it and it is enabled; once.
  bool trigger_by_software();

  /// Root port: logs how a request of the port has ended. Whether that is not masked, and so not
  /// left to AER.
  bool log(RequestError error, const HeaderWords& request);
  /// Whether containment is for such an error.
  bool severe(RequestError error, const HeaderWords& request) const;

  /// Whether what is marked as bad does not leave the port.
  bool blocks_poisoned() const { return space_.test(offset_ + control, 5); }
  /// How requests end meanwhile.
  Status refusal() const {
    return space_.test(offset_ + control, 2) ? Status::unsupported_request
                                             : Status::completer_abort;
  }
  bool tells_by_correctable() const { return space_.test(offset_ + control, 4); }
  bool interrupting() const {
    return space_.test(offset_ + status, 3) && space_.test(offset_ + control, 3);
  }
  /// Calls `action` when software has written control or status.
  void on_write(const std::function<void()>& action);

 private:
  static constexpr unsigned control = 0x06;
  static constexpr unsigned status = 0x08;

  std::uint32_t enabled() const { return space_.get(offset_ + control, 2) & 3; }

  ConfigSpace& space_;
  unsigned offset_;
  bool logged_ = false;  // the pointer is of an error, unless that was cleared
};

}  // namespace pcie
