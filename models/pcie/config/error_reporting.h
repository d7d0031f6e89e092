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

/// Where a packet with an error is: at its end, or on its way.
enum class Place : std::uint8_t { end, passing };

/// What a function does about an error: status bits, log, and whether it tells of it (PCIe 5.0,
/// 6.2.5). The message is the caller's to send, since a root port sends it to itself.
class ErrorReporting {
 public:
  /// Of a virtual function, `physical` is that of its physical one, whose enables hold.
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

  /// `tlp` is the one at fault, if the error is of a TLP. Returns the message that the enables of
  /// Device Control and SERR# let out. An error that this function cannot have is ignored.
  std::optional<Severity> report(Error error, const Tlp* tlp, Place place = Place::end);
  /// Whether it is uncorrectable, not masked, and no advisory error: what containment is for.
  bool is_uncorrectable(Error error, const Tlp* tlp, Place place = Place::end) const;

 private:
  std::optional<Severity> report_correctable(Error error);
  std::optional<Severity> report_advisory(Error error, const Tlp* tlp);
  std::optional<Severity> report_uncorrectable(Error error, const Tlp* tlp, Severity severity);

  ConfigSpace& space_;
  const ConfigSpace& commands_;  // where SERR# Enable is
  PciExpress& express_;
  const unsigned status_;  // of the side that it receives from
  AdvancedErrorReporting advanced_;
};

}  // namespace pcie
