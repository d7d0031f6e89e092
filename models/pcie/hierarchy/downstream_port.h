// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "models/pcie/config/capabilities/access_control.h"
#include "models/pcie/config/capabilities/downstream_port_containment.h"
#include "models/pcie/hierarchy/bridge_port.h"

namespace pcie {

struct DownstreamPortConfig {
  Identity identity;  ///< the class must be PCI-to-PCI bridge
  unsigned generation = 5;
  unsigned lanes = 16;
  CreditConfig credits{};  ///< credits of its receive buffer
  HotPlugSlotConfig hot_plug{};
  bool containment = false;    ///< whether it has Downstream Port Containment
  unsigned active_states = 0;  ///< states that its link supports, a set of ActiveState
  Eye eye{};                   ///< eye of its receiver
};

/// A port of a root complex or switch with a link away from the host. The port knows which
/// addresses and buses are behind it, and it controls its link and hot-plug slot. It refuses
/// packets that access control or blocking forbids. It reports errors, and signals errors, hot-plug
/// slot events and containment by MSI.
///
/// Derived classes handle the packets from below and forward messages towards the host.
class DownstreamPort : public BridgePort {
 public:
  /// Whether a memory address is behind this port.
  bool claims(std::uint64_t address) const { return header_.claims(address) && power_.d0(); }

  /// Sends a packet of another port down. If this port refuses it, returns the completion for a
  /// non-posted request, or else nullptr.
  TlpPtr forward(TlpPtr tlp);
  /// Whether forward() would send the packet rather than refuse or drop it.
  bool takes(const Tlp& tlp) const;

  /// Actions at the hot-plug slot, which are possible at any time (6.7). When a card is removed,
  /// the link is down at once and all outstanding requests end. This is a Surprise Down error
  /// unless the slot supports surprise removal. An inserted card behaves as after power-up. An
  /// action returns false, without effect, if it is impossible: the slot is empty or already has a
  /// card, the card is locked, or the slot has no such button or latch.
  bool remove_card();
  bool insert_card();
  bool press_attention_button();
  bool open_latch() { return move_latch(true); }
  bool close_latch() { return move_latch(false); }
  /// Makes the power controller detect a fault and turn the card's power off. Returns false if
  /// there is no power controller or the power is off.
  bool fail_power();
  const HotPlugSlot& hot_plug_slot() const { return express_.hot_plug_slot(); }

 protected:
  /// The conditions that the port signals by MSI.
  enum Condition : unsigned {
    root_error = 1u << 0,
    hot_plug_event = 1u << 1,
    containment_event = 1u << 2,
    bandwidth_event = 1u << 3
  };

  /// `express` gives the type of port. `peers` is the number of ports that can reach each other,
  /// which are numbered from 1 and include this port; it is 0 without peer-to-peer traffic. Throws
  /// ConfigurationError if a value is impossible.
  DownstreamPort(const sc_core::sc_module_name& name, const DownstreamPortConfig& config,
                 const PciExpressConfig& express, unsigned peers, vp::Picoseconds latency,
                 vp::Domain& domain, vp::Statistics& statistics);

  /// Forwards an error message of `source`, a device below or this port, towards the host.
  virtual void send_error_message(Severity severity, Id source) = 0;
  /// INTA to INTD (`pin` 0 to 3) behind this port has changed to `level`.
  virtual void intx(unsigned pin, bool level) = 0;
  /// Sends the port's own MSI.
  virtual void interrupt(TlpPtr message) = 0;
  /// Sends a completion of this port to the port by which the request has come.
  virtual void answer_requester(TlpPtr completion) = 0;
  /// The conditions of derived classes that are true, a set of Condition.
  virtual unsigned more_conditions() { return 0; }

  void trained(unsigned generation, unsigned lanes) override;
  void retrained(unsigned generation, unsigned lanes) override;
  void recovering() override;
  unsigned target_generation() const override { return express_.target_generation(); }
  bool flits_disabled() const override { return express_.flits_disabled(); }
  void link_lost(Reset kind) override;
  void not_sent(TlpPtr tlp) override;
  bool contain_error() override;
  void signal_error(Severity severity) override { send_error_message(severity, id()); }

  /// Resets this port and, through its link, all components behind it, until end_reset(). Holds on
  /// the link that such a reset does not end remain.
  void begin_reset(Reset kind);
  void end_reset();
  void contain();
  /// The completion status of requests while there is no link.
  Status refusal() const;

  /// Whether access control forbids a request from below because of its requester or address type.
  bool is_foreign(const Tlp& tlp) const;
  /// Refuses a request from below that access control forbids. Returns whether it was refused.
  bool refuse_foreign(const Tlp& tlp);
  /// Counts and reports an ACS violation, and answers a non-posted request with Completer Abort.
  void violation(const Tlp& request);
  /// The route of a packet from below that `port`, which may be this one, claims.
  AccessControl::Route route_to(const DownstreamPort& port, const Tlp& tlp) const {
    return access_control_.route_to(port.number_, tlp.header);
  }
  /// Handles INTx and error messages from below and refuses other messages.
  void receive_message(const Tlp& message);
  /// Refuses a request from below and answers it.
  void unsupported(const Tlp& request) { answer(refuse_unsupported(request)); }
  /// Reports a poisoned packet from below. Returns whether the packet may be forwarded, which is
  /// not the case if the error has triggered containment.
  bool lets_pass(const Tlp& tlp);
  void update_interrupt();
  /// Sends the port's own MSI if a condition is still true.
  void send_interrupt();

  AccessControl access_control_;
  std::optional<DownstreamPortContainment> containment_;

 private:
  // The reasons for which the link is held down. It trains when no reason is left.
  enum Hold : unsigned {
    bus_reset = 1u << 0,
    no_card = 1u << 1,
    no_power = 1u << 2,
    contained = 1u << 3,
    disabled = 1u << 4,
    in_reset = 1u << 5,  // a reset of this port from above
  };

  bool is_blocked_atomic(const Tlp& tlp) const {
    return tlp.is_atomic() && (express_.blocks_atomics() || !fits(tlp));
  }
  bool is_blocked_poison(const Tlp& tlp) const {
    return tlp.header.poisoned && containment_ && containment_->blocks_poisoned();
  }
  void hold(Hold reason, Reset kind);
  void release(Hold reason, Reset kind = Reset::hot);
  TlpPtr refused_without_link(const Tlp& tlp);
  TlpPtr refused_from_above(const Tlp& request, Status status);
  void bridge_controlled();
  void link_controlled();
  void hot_plug_controlled();
  void complete_command();
  void update_power();
  void handle_power_loss(bool was_up);
  bool move_latch(bool open);
  void containment_controlled();

  const unsigned number_;
  unsigned holds_ = 0;  // a set of Hold
  Reset reset_kind_ = Reset::fundamental;
  unsigned conditions_ = 0;  // a set of Condition
  vp::Event interrupt_;
  vp::Event command_;  // the completion of a Slot Control command

  std::uint64_t acs_violations_ = 0;
  std::uint64_t no_link_ = 0;
};

}  // namespace pcie
