// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <spdlog/logger.h>

#include "models/pcie/config/capabilities/msi.h"
#include "models/pcie/config/capabilities/pci_express.h"
#include "models/pcie/config/capabilities/power_management.h"
#include "models/pcie/config/config_space.h"
#include "models/pcie/config/error_reporting.h"
#include "models/pcie/config/header.h"
#include "models/pcie/config/link_capabilities.h"
#include "models/pcie/link/port.h"
#include "vp/statistics/statistics.h"

namespace pcie {

/// A port of a root complex or of a switch: a PCI-to-PCI bridge at one end of a link. This class
/// holds the configuration space that all of them have. It refuses packets that the port cannot
/// handle, and reports the port's errors.
class BridgePort : public sc_core::sc_module, public Port {
 public:
  virtual Id id() const = 0;
  ConfigSpace& config_space() { return space_; }
  /// Whether a bus is behind this port.
  bool routes(unsigned bus) const { return header_.routes(bus); }
  unsigned secondary_bus() const { return header_.secondary_bus(); }
  unsigned max_payload() const { return express_.max_payload(); }
  /// A packet has reached the primary side of this port from within its component.
  void arrived_inside(const Tlp& tlp) { errors_.conventional().received(Side::primary, tlp); }

 protected:
  /// `express` gives the type of port. Throws ConfigurationError if a value is impossible.
  BridgePort(const sc_core::sc_module_name& name, const Identity& identity, const Eye& eye,
             const PortConfig& port, const PciExpressConfig& express, vp::Domain& domain,
             vp::Statistics& statistics);

  /// Sends a packet of this port over its link.
  virtual void send(TlpPtr tlp) { Port::send(std::move(tlp)); }
  /// Sends a completion, if there is one.
  void answer(TlpPtr completion) {
    if (completion) send(std::move(completion));
  }
  /// The completion with which this port refuses a request, or nullptr for a posted request.
  TlpPtr refused(const Tlp& request, Status status) const;

  /// Whether the port takes requests from below, and may send its own.
  bool takes_requests() const { return header_.master_enabled() && power_.d0(); }

  bool is_malformed(const Tlp& tlp) const { return !well_formed(tlp, express_.max_payload()); }
  /// Counts and reports a malformed TLP. Returns whether the TLP is malformed and must be dropped.
  bool refuse_malformed(const Tlp& tlp);
  /// Counts and reports an unsupported request. Returns its completion, or nullptr if it is posted.
  TlpPtr refuse_unsupported(const Tlp& request);
  /// Counts and reports an unexpected completion, which ends here.
  void unexpected(const Tlp& completion);

  /// Reports an error of this port: logs it, and triggers containment or signals the error.
  void report(Error error, const Tlp* tlp, Place place = Place::end);
  /// Triggers containment because of an uncorrectable error. Returns false if the port has no
  /// containment, or none that this error triggers.
  virtual bool contain_error() { return false; }
  /// Signals an error of this port to the root complex.
  virtual void signal_error(Severity severity) = 0;

  void detected(Error error, const Tlp* tlp) override;
  void trained(unsigned generation, unsigned lanes) override;
  void retrained(unsigned generation, unsigned lanes) override;
  void lane_failed(unsigned lane) override { link_capabilities_.lane_failed(lane); }
  unsigned active_states() const override { return express_.active_states(); }
  bool extended_synch() const override { return express_.extended_synch(); }

  spdlog::logger& log_;
  ConfigSpace space_;
  Type1Header header_;
  PowerManagement power_;
  PciExpress express_;
  Msi msi_;
  ErrorReporting errors_;
  LinkCapabilities link_capabilities_;

 private:
  std::uint64_t unexpected_ = 0;
  std::uint64_t unsupported_ = 0;
  std::uint64_t malformed_ = 0;
};

}  // namespace pcie
