// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>

#include "models/pcie/config/capabilities/advanced_error_reporting.h"
#include "models/pcie/config/config_space.h"
#include "models/pcie/protocol/tlp.h"

namespace pcie {

/// Downstream Port Containment (PCIe 5.0, 6.2.11 and 7.9.14). A root port also has the RP PIO
/// extensions for the errors of its own requests. All registers are sticky. This class holds the
/// registers; the port takes the link down.
class DownstreamPortContainment {
 public:
  static constexpr std::uint16_t id = 0x001d;  ///< version 1
  static constexpr unsigned capability = 0x04;
  static constexpr unsigned control = 0x06;
  static constexpr unsigned status = 0x08;
  static constexpr unsigned source_id = 0x0a;  ///< the source of the message that triggered
  // The remaining registers are the extensions of a root port.
  static constexpr unsigned pio_status = 0x0c;
  static constexpr unsigned pio_mask = 0x10;
  static constexpr unsigned pio_severity = 0x14;
  static constexpr unsigned pio_system_error = 0x18;  ///< not implemented, reads 0
  static constexpr unsigned pio_exception = 0x1c;     ///< not implemented, reads 0
  static constexpr unsigned pio_header_log = 0x20;    ///< 4 DW

  /// Bits of DPC Capability.
  struct CapabilityBit {
    static constexpr std::uint32_t root_port_extensions = 1u << 5;
    static constexpr std::uint32_t poisoned_egress_blocking = 1u << 6;
    static constexpr std::uint32_t software_triggering = 1u << 7;
    static constexpr unsigned log_size_shift = 8;  ///< size of the RP PIO log in DW, 11:8
  };
  /// Bits of DPC Control.
  struct ControlBit {
    static constexpr std::uint32_t trigger_fatal = 1;      ///< a value of trigger_enable
    static constexpr std::uint32_t trigger_non_fatal = 2;  ///< also for ERR_NONFATAL messages
    static constexpr std::uint32_t trigger_enable = 3;
    /// Completion Control: 0 is Completer Abort, 1 is Unsupported Request.
    static constexpr std::uint32_t completion_unsupported = 1u << 2;
    static constexpr std::uint32_t interrupt_enable = 1u << 3;
    static constexpr std::uint32_t err_cor_enable = 1u << 4;
    static constexpr std::uint32_t poisoned_egress_blocking = 1u << 5;
    static constexpr std::uint32_t software_trigger = 1u << 6;
    static constexpr std::uint32_t all = 0x7f;
  };
  /// Bits of DPC Status.
  struct StatusBit {
    static constexpr std::uint32_t triggered = 1u << 0;
    static constexpr std::uint32_t reason = 3u << 1 | 3u << 5;  ///< with its extension, see Reason
    static constexpr std::uint32_t interrupt = 1u << 3;
    static constexpr unsigned first_error_shift = 8;  ///< first RP PIO error, 12:8
    static constexpr std::uint32_t first_error_pointer = 0x1fu << first_error_shift;
  };
  /// The RP PIO bits of memory requests are those of configuration requests, shifted by this.
  static constexpr unsigned pio_memory_shift = 16;
  /// The RP PIO errors of configuration and memory requests; there are no I/O requests.
  static constexpr std::uint32_t pio_errors = 7u << 0 | 7u << pio_memory_shift;

  /// Why the port is contained, as bits 6:5 and 2:1 of DPC Status.
  enum class Reason : std::uint32_t {
    uncorrectable_error = 0,
    non_fatal_message = 1u << 1,
    fatal_message = 2u << 1,
    request = 3u << 1,
    software = 3u << 1 | 1u << 5,
  };
  /// How a request of the port has failed, as the RP PIO bit of a configuration request.
  enum class RequestError : unsigned { unsupported = 0, aborted = 1, timeout = 2 };

  DownstreamPortContainment(ConfigSpace& space, bool root_port);
  DownstreamPortContainment(const DownstreamPortContainment&) = delete;

  unsigned offset() const { return offset_; }
  /// Whether the port is contained; software ends containment by clearing the bit.
  bool triggered() const { return space_.any(offset_ + status, StatusBit::triggered); }
  /// Triggers containment, unless it is disabled or already triggered. `source` is the source of an
  /// error message. Returns whether it has triggered.
  bool trigger(Reason reason, Id source = 0);
  /// Triggers containment for an error message from below, if it is enabled for that severity.
  bool trigger_by_message(Severity severity, Id source);
  /// Triggers containment if software has requested that, and consumes the request.
  bool trigger_by_software();

  /// Root port: logs how a request of the port has failed. Returns whether the error is not masked;
  /// a masked error is left to AER.
  bool log(RequestError error, const HeaderWords& request);
  /// Whether such an error triggers containment.
  bool severe(RequestError error, const HeaderWords& request) const;

  /// Whether poisoned packets must not leave the port.
  bool blocks_poisoned() const {
    return space_.any(offset_ + control, ControlBit::poisoned_egress_blocking);
  }
  /// The completion status of requests while the port is contained.
  Status refusal() const {
    return space_.any(offset_ + control, ControlBit::completion_unsupported)
               ? Status::unsupported_request
               : Status::completer_abort;
  }
  bool signals_correctable() const {
    return space_.any(offset_ + control, ControlBit::err_cor_enable);
  }
  bool interrupting() const {
    return space_.any(offset_ + status, StatusBit::interrupt) &&
           space_.any(offset_ + control, ControlBit::interrupt_enable);
  }
  /// Calls `action` when software has written DPC Control or DPC Status.
  void on_write(const std::function<void()>& action);

 private:
  ConfigSpace& space_;
  unsigned offset_;
  bool logged_ = false;  // whether the pointer was set since its bit was cleared
};

}  // namespace pcie
