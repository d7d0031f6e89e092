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

/// Advanced Error Reporting capability, version 2 (PCIe 5.0, 7.8.4), without multiple
/// headers. Its registers are sticky. A virtual function has status and log of its own,
/// and the mask, severity and ECRC enables of its physical one (9.4.2).
///
///     +00 id 0x0001            +04 uncorrectable status  +08 mask   +0c severity
///     +10 correctable status   +14 mask                  +18 capabilities and control
///     +1c header log, 4 DW
///     +2c root error command   +30 root error status     +34 error sources  (root port)
class AdvancedErrorReporting {
 public:
  /// Of a virtual function, `physical` is that of its physical one.
  AdvancedErrorReporting(ConfigSpace& space, PortType type,
                         const AdvancedErrorReporting* physical = nullptr);
  AdvancedErrorReporting(const AdvancedErrorReporting&) = delete;

  unsigned offset() const { return offset_; }
  /// Only a downstream port can see its link go down, and has access control; only who passes
  /// packets on can block them.
  bool knows(Error error) const { return is_correctable(error) || uncorrectable_ & bit_of(error); }

  Severity severity(Error error) const;
  bool masked(Error error) const;
  /// Whether what the function sends has a digest, and the digests of what it receives are checked
  /// (7.8.4.7).
  bool generates_digests() const { return governing(0x18) >> 6 & 1; }
  bool checks_digests() const { return governing(0x18) >> 8 & 1; }
  bool advisory_masked() const { return governing(0x14) >> 13 & 1; }

  /// Sets the error's status bit, and unless it is masked, or an earlier error holds the log, the
  /// first error pointer and header log (6.2.4.2).
  void log(Error error, const Tlp* tlp);
  void log_advisory();

  /// Root port: an error message of `source` has come, itself perhaps (7.8.4.10, 7.8.4.11).
  void collect(Severity severity, Id source);
  /// Root port: an error has come of a kind that Root Error Command enables interrupts for.
  bool interrupting() const;
  /// Calls `action` when software has written a register that interrupting() depends on.
  void on_root_write(const std::function<void()>& action);

 private:
  // A register of mask, severity or control.
  std::uint32_t governing(unsigned at) const {
    return governor_->space_.get(governor_->offset_ + at, 4);
  }

  ConfigSpace& space_;
  const AdvancedErrorReporting* governor_;
  unsigned offset_;
  std::uint32_t uncorrectable_;  // bits that there are
  bool logged_ = false;          // the first error pointer is of an error, unless that was cleared
};

}  // namespace pcie
