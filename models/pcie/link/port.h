// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <optional>

#include "models/pcie/config/config_space.h"
#include "models/pcie/link/active_state.h"
#include "models/pcie/protocol/error.h"
#include "models/pcie/protocol/flow_control.h"
#include "models/pcie/protocol/tlp.h"
#include "vp/time/domain.h"

namespace pcie {

class Link;

struct PortConfig {
  unsigned generation = 5;  ///< highest generation, 1 to 6
  unsigned lanes = 16;      ///< highest width, 1 to 16
  /// Time to traverse the component behind the port: spent before a TLP leaves and after it
  /// arrives.
  vp::Picoseconds latency = 0;
  CreditConfig credits{};           ///< size of its receive buffer; infinite by default
  bool accepts_atomics = false;     ///< whether its buffer has room for the operands of AtomicOps
  unsigned deferrable_writes = 0;   ///< bytes of a DMWr for which its buffer has room
  unsigned active_states = 0;       ///< supported states, a set of ActiveState
  bool limits_completions = false;  ///< whether credits by link are finite for completions
};

/// The component at one end of a link.
class Port {
 public:
  virtual ~Port() = default;
  Port(const Port&) = delete;
  Port& operator=(const Port&) = delete;

  const PortConfig& port_config() const { return config_; }
  vp::Domain& domain() const { return domain_; }
  /// Whether there is a link and it is in DL_Active.
  bool link_up() const { return link_up_; }

 protected:
  Port(vp::Domain& domain, const PortConfig& config) : domain_(domain), config_(config) {}

  /// Receives a packet, `latency` after its last byte has arrived or when the port becomes ready.
  /// Must not wait.
  virtual void receive(TlpPtr tlp) = 0;
  /// Whether receive() may be called with this packet. If not, the packet stays in the receive
  /// buffer and keeps its credits until drain() or deliver_one().
  virtual bool ready(const Tlp&) const { return true; }
  /// Whether the ordering table binds these two packets. It does not bind packets that leave the
  /// component by different ports.
  virtual bool binds(const Tlp& /*later*/, const Tlp& /*earlier*/) const { return true; }
  /// Whether the component may begin to send a packet on before its last byte has arrived.
  virtual bool cuts_through() const { return false; }
  /// Whether receive() of this packet only changes what is read later, so that its exact time
  /// leaves no trace. Such a packet may be delivered early while nothing in the domain can notice.
  virtual bool can_arrive_early(const Tlp&) const { return false; }
  /// Whether the port treats a wrong digest as an error. If not, it accepts the packet.
  virtual bool checks_digests() const { return false; }
  /// Delivers what the receive buffer holds, once the port is ready again.
  void drain();
  /// Delivers the first packet of the receive buffer for which wanted() holds, if the port is ready
  /// for it and the ordering table lets it go. Returns whether there was one.
  bool deliver_one(const std::function<bool(const Tlp&)>& wanted);
  /// Handles an injected error as if the port had detected it in the TLP. The port receives the TLP
  /// only if the error leaves it whole. If the error refuses a request, the port answers it.
  virtual void detected(Error, const Tlp*) {}
  /// The link has come up with this generation and width.
  virtual void trained(unsigned generation, unsigned lanes) = 0;
  /// The link has come back from Recovery, perhaps with another speed and width.
  virtual void retrained(unsigned generation, unsigned lanes) { trained(generation, lanes); }
  /// The link of an upstream component's port has entered Recovery; retrained() or link_lost()
  /// follows.
  virtual void recovering() {}
  /// A lane of the port's receiver has failed.
  virtual void lane_failed(unsigned) {}
  /// The highest generation that the upstream component's port permits its link.
  virtual unsigned target_generation() const { return config_.generation; }
  /// Whether the upstream component's port keeps its link from flit mode when it trains from
  /// Detect.
  virtual bool flits_disabled() const { return false; }
  /// The states that software has enabled, a set of ActiveState.
  virtual unsigned active_states() const { return 0; }
  /// Whether software has set Extended Synch in Link Control.
  virtual bool extended_synch() const { return false; }
  /// Must be called after active_states() has changed.
  void active_states_changed();
  /// The highest generation of the port at the other end, or 0 without a link.
  unsigned partner_generation() const;
  /// Whether the link is in flit mode, or was before it went down, or is training for it.
  bool flits() const;
  /// Sends the link to Recovery; called by the upstream component's port. Returns false, without
  /// effect, if the link is not up.
  bool retrain_link();
  /// The link has gone down. For a downstream component this is a reset of the given kind (PCIe
  /// 5.0, 6.6.1). Packets on the link are lost. trained() follows when the link is up again.
  virtual void link_lost(Reset) {}
  /// The link has gone down before this packet, which waited for credits or for room, was on the
  /// wire. Only the upstream component's port hears of that, after link_lost().
  virtual void not_sent(TlpPtr) {}
  /// The component, which had lost its power in a cold reset, has power again.
  virtual void powered_up() {}
  /// Takes the link down, which resets the component below one latency later; called by the
  /// upstream component's port.
  void hold_link(Reset kind);
  /// Gives the component below its power again, if a cold reset has taken it.
  void restore_power();
  /// Lets the link train again. Returns whether there is a link to train.
  bool release_link(Reset kind);
  /// The completion status for a request that ends in this error, if the error needs a completion.
  static std::optional<Status> refusal_of(Error error) {
    if (error == Error::unsupported_request) return Status::unsupported_request;
    if (error == Error::completer_abort || error == Error::acs_violation) {
      return Status::completer_abort;
    }
    return {};
  }
  /// Whether the receiver's buffer is large enough for the packet when it is empty.
  bool fits(const Tlp& tlp) const;
  /// Sends a packet `latency` from now, or after all earlier packets have left. Without a link, the
  /// packet is lost.
  void send(TlpPtr tlp);
  /// Whether packets of that class wait for credits of the receiver. A sender should stop until
  /// unblocked().
  bool blocked(CreditClass of) const;
  /// The waiting packets of that class have left, or the link has dropped them. Must not wait; may
  /// send.
  virtual void unblocked(CreditClass) {}

 private:
  friend class FaultInjection;
  friend class HalfLink;
  friend class Link;
  friend class Recovery;
  vp::Domain& domain_;
  PortConfig config_;
  Link* link_ = nullptr;
  bool link_up_ = false;
};

}  // namespace pcie
