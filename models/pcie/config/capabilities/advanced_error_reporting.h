// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>

#include "models/pcie/config/capabilities/pci_express.h"
#include "models/pcie/config/config_space.h"
#include "models/pcie/protocol/error.h"
#include "models/pcie/protocol/tlp.h"

namespace pcie {

enum class Severity : std::uint8_t { correctable, non_fatal, fatal };

/// Advanced Error Reporting capability, version 2 (PCIe 5.0, 7.8.4), without multiple headers. Its
/// registers are sticky. A virtual function has its own status and log, but uses the mask, severity
/// and ECRC enables of its physical function (9.4.2). A function that supports flit mode has
/// version 3, whose log has a fifth DW (PCIe 6.0, 7.8.4.8).
class AdvancedErrorReporting {
 public:
  static constexpr std::uint16_t id = 0x0001;
  static constexpr unsigned uncorrectable_status = 0x04;  ///< bits: bit_of(Error)
  static constexpr unsigned uncorrectable_mask = 0x08;
  static constexpr unsigned uncorrectable_severity = 0x0c;
  static constexpr unsigned correctable_status = 0x10;  ///< bits: bit_of(Error), advisory_non_fatal
  static constexpr unsigned correctable_mask = 0x14;
  static constexpr unsigned control = 0x18;             ///< Advanced Error Capabilities and Control
  static constexpr unsigned header_log = 0x1c;          ///< 4 DW
  static constexpr unsigned root_error_command = 0x2c;  ///< root port only
  static constexpr unsigned root_error_status = 0x30;   ///< root port only
  static constexpr unsigned error_source = 0x34;        ///< root port only: of ERR_COR
  static constexpr unsigned uncorrectable_source = 0x36;  ///< of ERR_NONFATAL and ERR_FATAL
  static constexpr unsigned header_log_5 = 0x38;          ///< version 3 only: the fifth DW

  /// Advisory Non-Fatal Error, in Correctable Error Status and Mask.
  static constexpr std::uint32_t advisory_non_fatal = 1u << 13;
  /// Bits of Advanced Error Capabilities and Control.
  struct ControlBit {
    static constexpr std::uint32_t first_error_pointer = 0x1f;
    static constexpr std::uint32_t generation_capable = 1u << 5;  ///< ECRC generation
    static constexpr std::uint32_t generation_enable = 1u << 6;
    static constexpr std::uint32_t check_capable = 1u << 7;  ///< ECRC checking
    static constexpr std::uint32_t check_enable = 1u << 8;
    // Version 3 only:
    static constexpr unsigned header_log_size_shift = 13;      ///< DW of the log
    static constexpr std::uint32_t logged_in_flit = 1u << 18;  ///< Logged TLP was Flit Mode
    static constexpr unsigned logged_size_shift = 19;          ///< DW that are logged
    static constexpr std::uint32_t logged_size = 0x1fu << logged_size_shift;
  };
  /// Bits of Root Error Command, which enable the interrupt.
  struct RootErrorCommandBit {
    static constexpr std::uint32_t correctable = 1u << 0;
    static constexpr std::uint32_t non_fatal = 1u << 1;
    static constexpr std::uint32_t fatal = 1u << 2;
    static constexpr std::uint32_t all = 0x7;
  };
  /// Bits of Root Error Status, which show the received messages.
  struct RootErrorStatusBit {
    static constexpr std::uint32_t correctable = 1u << 0;
    static constexpr std::uint32_t multiple_correctable = 1u << 1;
    static constexpr std::uint32_t uncorrectable = 1u << 2;
    static constexpr std::uint32_t multiple_uncorrectable = 1u << 3;
    static constexpr std::uint32_t first_uncorrectable_fatal = 1u << 4;
    static constexpr std::uint32_t non_fatal = 1u << 5;
    static constexpr std::uint32_t fatal = 1u << 6;
    static constexpr std::uint32_t all = 0x7f;
  };

  /// `physical` is the capability of the physical function, for a virtual function. `flits` is
  /// whether the function supports flit mode.
  AdvancedErrorReporting(ConfigSpace& space, PortType type,
                         const AdvancedErrorReporting* physical = nullptr, bool flits = false);
  AdvancedErrorReporting(const AdvancedErrorReporting&) = delete;

  unsigned offset() const { return offset_; }
  /// Whether this type of port can have the error. Only a port above a link can detect Surprise
  /// Down and has access control; only a port that forwards packets can block them.
  bool knows(Error error) const { return is_correctable(error) || uncorrectable_ & bit_of(error); }

  Severity severity(Error error) const;
  bool masked(Error error) const;
  /// Whether the function's packets have a digest, and whether it checks the digests of packets
  /// that it receives (7.8.4.7).
  bool generates_digests() const { return governing(control) & ControlBit::generation_enable; }
  bool checks_digests() const { return governing(control) & ControlBit::check_enable; }
  bool advisory_masked() const { return governing(correctable_mask) & advisory_non_fatal; }

  /// Sets the error's status bit. Also sets the first error pointer and the header log, unless the
  /// error is masked or an earlier error occupies the log (6.2.4.2). `in_flit` is whether the link
  /// is in flit mode.
  void log(Error error, const Tlp* tlp, bool in_flit = false);
  void log_advisory();

  /// Root port: records an error message of `source`, which may be the port itself (7.8.4.10,
  /// 7.8.4.11).
  void collect(Severity severity, Id source);
  /// Root port: whether it has recorded a message for which Root Error Command enables interrupts.
  bool interrupting() const;
  /// Calls `action` when software has written a register on which interrupting() depends.
  void on_root_write(const std::function<void()>& action);

 private:
  // Reads a mask, severity or control register, which is the physical function's.
  std::uint32_t governing(unsigned at) const {
    return governor_->space_.get(governor_->offset_ + at, 4);
  }

  void log_header(const Tlp* tlp, bool in_flit);

  ConfigSpace& space_;
  const AdvancedErrorReporting* governor_;
  const bool flits_;
  unsigned offset_;
  std::uint32_t uncorrectable_;  // the bits that the capability implements
  bool logged_ = false;  // whether the first error pointer was set since its bit was cleared
};

}  // namespace pcie
