// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

#include "models/pcie/config/capabilities/advanced_error_reporting.h"
#include "models/pcie/config/capabilities/pci_express.h"
#include "models/pcie/config/config_space.h"
#include "models/pcie/config/header.h"
#include "models/pcie/protocol/error.h"

namespace pcie {

/// The code of the message that reports errors of that severity.
constexpr MessageCode error_message(Severity severity) {
  switch (severity) {
    case Severity::correctable:
      return err_cor;
    case Severity::non_fatal:
      return err_nonfatal;
    default:
      return err_fatal;
  }
}

/// Where an error is detected in a packet: at its destination, or at a port that forwards it.
enum class Place : std::uint8_t { end, passing };

/// Handles the errors of a function: sets status bits, writes the log, and decides whether the
/// error is reported (PCIe 5.0, 6.2.5). The caller sends the message, since a root port reports to
/// itself.
class ErrorReporting {
 public:
  /// A virtual function passes the reporting of its physical function, whose enables apply.
  ErrorReporting(ConfigSpace& space, PciExpress& express, PortType type,
                 const ErrorReporting* physical = nullptr)
      : space_(space),
        commands_(physical != nullptr ? physical->space_ : space),
        express_(express),
        status_(is_above_link(type) ? Type1Header::secondary_status : Header::status),
        advanced_(space, type, physical != nullptr ? &physical->advanced_ : nullptr) {}
  ErrorReporting(const ErrorReporting&) = delete;

  AdvancedErrorReporting& advanced() { return advanced_; }
  const AdvancedErrorReporting& advanced() const { return advanced_; }

  /// Handles an error. `tlp` is the TLP with the error, or nullptr for other errors. Returns the
  /// severity of the message to send, if Device Control or SERR# enables it. An error that this
  /// type of port cannot have is ignored.
  std::optional<Severity> report(Error error, const Tlp* tlp, Place place = Place::end);
  /// Whether the error is uncorrectable, not masked and not advisory, so that it can trigger
  /// containment.
  bool is_uncorrectable(Error error, const Tlp* tlp, Place place = Place::end) const;

 private:
  std::optional<Severity> report_correctable(Error error);
  std::optional<Severity> report_advisory(Error error, const Tlp* tlp);
  std::optional<Severity> report_uncorrectable(Error error, const Tlp* tlp, Severity severity);

  ConfigSpace& space_;
  const ConfigSpace& commands_;  // the space that has SERR# Enable
  PciExpress& express_;
  const unsigned status_;  // Status, or Secondary Status of a port above a link
  AdvancedErrorReporting advanced_;
};

}  // namespace pcie
