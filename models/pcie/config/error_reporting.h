// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

#include "models/pcie/config/capabilities/advanced_error_reporting.h"
#include "models/pcie/config/capabilities/pci_express.h"
#include "models/pcie/config/config_space.h"
#include "models/pcie/config/conventional_status.h"
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
      : commands_(physical != nullptr ? physical->commands_ : space),
        express_(express),
        link_side_(is_above_link(type) ? Side::secondary : Side::primary),
        conventional_(space, commands_),
        advanced_(space, type, physical != nullptr ? &physical->advanced_ : nullptr,
                  express.supports_flits()) {}
  ErrorReporting(const ErrorReporting&) = delete;

  AdvancedErrorReporting& advanced() { return advanced_; }
  const AdvancedErrorReporting& advanced() const { return advanced_; }
  ConventionalStatus& conventional() { return conventional_; }

  /// Handles an error. `tlp` is the TLP with the error, or nullptr for other errors. Returns the
  /// severity of the message about it, or nothing if a mask or Unsupported Request Reporting
  /// forbids that message. An error that this type of port cannot have is ignored.
  std::optional<Severity> report(Error error, const Tlp* tlp, Place place = Place::end);
  /// Whether the error is uncorrectable, not masked and not advisory, so that it can trigger
  /// containment.
  bool is_uncorrectable(Error error, const Tlp* tlp, Place place = Place::end) const;
  /// Whether Device Control or SERR# Enable lets the function send a message of that severity, be
  /// it about an error of its own or, from a bridge, about one behind it (6.2.6, figure 6-3). The
  /// function must send the message then: the call sets Signaled System Error.
  bool sends_message(Severity severity);

 private:
  std::optional<Severity> report_correctable(Error error);
  std::optional<Severity> report_advisory(Error error, const Tlp* tlp);
  std::optional<Severity> report_uncorrectable(Error error, const Tlp* tlp, Severity severity);

  bool serr_enabled() const {
    return commands_.any(Header::command, Header::CommandBit::serr_enable);
  }

  const ConfigSpace& commands_;  // the space that has SERR# Enable
  PciExpress& express_;
  const Side link_side_;  // the side on which the function has its link
  ConventionalStatus conventional_;
  AdvancedErrorReporting advanced_;
};

}  // namespace pcie
