// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <spdlog/logger.h>

#include <optional>

#include "models/pcie/config/capabilities/access_control.h"
#include "models/pcie/config/capabilities/downstream_port_containment.h"
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

struct DownstreamPortConfig {
  Identity identity;  ///< class is PCI-to-PCI bridge
  unsigned generation = 5;
  unsigned lanes = 16;
  CreditConfig credits{};  ///< of its receive buffer
  SlotConfig slot{};
  bool containment = false;    ///< Downstream Port Containment
  unsigned active_states = 0;  ///< of ActiveState, that its link may go into
  Eye eye{};                   ///< of its receiver
};

/// A port with a link away from the host, of a root complex or a switch: a bridge to the bus of
/// that link. It knows what is behind it and in which state the link and its slot are, refuses what
/// access control does not let in and what is not to leave, reports errors, and tells of these, of
/// its slot and of containment by MSI.
///
/// What comes from below, and how messages go on towards the host, is for who derives from it.
class DownstreamPort : public sc_core::sc_module, public Port {
 public:
  virtual Id id() const = 0;
  ConfigSpace& config_space() { return space_; }
  /// Whether a memory address, or a bus, is behind this port.
  bool claims(std::uint64_t address) const { return header_.claims(address) && power_.d0(); }
  bool routes(unsigned bus) const { return header_.routes(bus); }
  unsigned secondary_bus() const { return header_.secondary_bus(); }
  unsigned max_payload() const { return express_.max_payload(); }

  /// Sends down what another port has received. Returns how a request ends that it refuses.
  TlpPtr forward(TlpPtr tlp);
  /// How a request ends that `completer` refuses: by nothing, if it was posted.
  static TlpPtr refused(const Tlp& request, Id completer, Status status) {
    return request.is_non_posted() ? Tlp::completion(request, completer, status) : nullptr;
  }

  /// Somebody at the slot, at any moment (6.7). Without its card the link is down at once, and what
  /// is outstanding ends; if the slot was not made for surprises, that is a Surprise Down error. A
  /// card comes back as after power-up. False, and nothing happens, if there is no card to remove,
  /// no room for one, something that holds it, or no button or latch to move.
  bool remove_card();
  bool insert_card();
  bool press_attention_button();
  bool open_latch() { return move_latch(true); }
  bool close_latch() { return move_latch(false); }
  /// The power controller finds a fault, and turns the card's power off; false if there is none on.
  bool fail_power();
  const Slot& slot() const { return express_.slot(); }

 protected:
  /// What the host is to be told of by MSI.
  enum Condition : unsigned {
    root_error = 1u << 0,
    slot_event = 1u << 1,
    containment_event = 1u << 2,
    bandwidth_event = 1u << 3
  };

  /// `express` says what type of port it is, and `peers` how many ports reach each other, numbered
  /// from 1, this one among them; 0 if none do. Throws ConfigurationError if a value is impossible.
  DownstreamPort(const sc_core::sc_module_name& name, const DownstreamPortConfig& config,
                 const PciExpressConfig& express, unsigned peers, vp::Picoseconds latency,
                 vp::Domain& domain, vp::Statistics& statistics);

  /// An error message of `source`, a device below or this port, goes on towards the host.
  virtual void tell(Severity severity, Id source) = 0;
  /// What this port is the origin of leaves it downwards.
  virtual void send(TlpPtr tlp) { Port::send(std::move(tlp)); }
  /// INTA to INTD (`pin` 0 to 3) behind this port goes to `level`.
  virtual void intx(unsigned pin, bool level) = 0;
  /// The port's own MSI.
  virtual void interrupt(TlpPtr message) = 0;
  /// Of Condition, those that not every port has.
  virtual unsigned more_conditions() { return 0; }

  void trained(unsigned generation, unsigned lanes) override;
  void retrained(unsigned generation, unsigned lanes) override;
  void recovering() override;
  void lane_failed(unsigned lane) override { link_capabilities_.lane_failed(lane); }
  unsigned active_states() const override { return express_.active_states(); }
  unsigned target_generation() const override { return express_.target_generation(); }
  void link_lost(Reset kind) override;
  void detected(Error error, const Tlp* tlp) override;

  /// A reset of this port, and by its link of all that is behind it, goes on until it ends. What
  /// such a reset does not end still holds the link then.
  void begin_reset(Reset kind);
  void end_reset();
  void contain();
  /// How requests end without a link.
  Status refusal() const;

  /// Counts and reports a malformed TLP; whether it was one, and so is to be dropped.
  bool refuse_malformed(const Tlp& tlp);
  /// Refuses requests that access control does not let in from below; whether it has.
  bool refuse_foreign(const Tlp& tlp);
  /// An ACS violation: counted, reported, and if it is answered, by Completer Abort.
  void violation(const Tlp& request);
  /// The way of a packet from below that `port`, perhaps this one, claims.
  AccessControl::Route route_to(const DownstreamPort& port, const Tlp& tlp) const {
    return access_control_.route_to(port.number_, tlp.header);
  }
  /// INTx and error messages of what is below, others are refused.
  void receive_message(const Tlp& message);
  void unsupported(const Tlp& request);
  void unexpected(const Tlp& completion);
  void report(Error error, const Tlp* tlp, Place place = Place::end);
  /// A packet from below that is marked as bad goes on, unless the port contains it.
  bool lets_pass(const Tlp& tlp);
  void update_interrupt();
  void send_interrupt();

  spdlog::logger& log_;
  ConfigSpace space_;
  Type1Header header_;
  PowerManagement power_;
  PciExpress express_;
  Msi msi_;
  ErrorReporting errors_;
  LinkCapabilities link_capabilities_;
  AccessControl access_control_;
  std::optional<DownstreamPortContainment> containment_;

 private:
  // Why the link is held down; it trains once there is no reason left.
  enum Hold : unsigned {
    bus_reset = 1u << 0,
    no_card = 1u << 1,
    no_power = 1u << 2,
    contained = 1u << 3,
    disabled = 1u << 4,
    in_reset = 1u << 5,  // of this port, from above
  };

  void hold(Hold reason, Reset kind);
  void let_go(Hold reason, Reset kind = Reset::hot);
  void bridge_controlled();
  void link_controlled();
  void slot_controlled();
  void complete_command();
  void update_power();
  void lose_power(bool was_up);
  bool move_latch(bool open);
  void containment_controlled();

  const unsigned number_;
  unsigned holds_ = 0;  // of Hold
  Reset reset_kind_ = Reset::fundamental;
  unsigned conditions_ = 0;  // of Condition
  vp::Event interrupt_;
  vp::Event command_;  // of Slot Control, when it is completed

  std::uint64_t unexpected_ = 0;
  std::uint64_t unsupported_ = 0;
  std::uint64_t malformed_ = 0;
  std::uint64_t acs_violations_ = 0;
  std::uint64_t no_link_ = 0;
};

}  // namespace pcie
