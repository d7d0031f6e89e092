// SPDX-License-Identifier: Apache-2.0
#pragma once

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
  unsigned generation = 5;  ///< highest, 1 to 6
  unsigned lanes = 16;      ///< most, 1 to 16
  /// Traversal of the part behind the port: spent before a TLP leaves and after one has arrived.
  vp::Picoseconds latency = 0;
  CreditConfig credits{};          ///< of its receive buffer; all infinite unless said otherwise
  bool takes_atomics = false;      ///< so that its buffer has room for their operands
  unsigned deferrable_writes = 0;  ///< and for the data of a DMWr, bytes
  unsigned active_states = 0;      ///< of ActiveState, that it supports
};

/// What stands at an end of a link.
class Port {
 public:
  virtual ~Port() = default;
  Port(const Port&) = delete;
  Port& operator=(const Port&) = delete;

  const PortConfig& port_config() const { return config_; }
  vp::Domain& domain() const { return domain_; }
  /// There is a link, and it is in DL_Active.
  bool link_up() const { return link_up_; }

 protected:
  Port(vp::Domain& domain, const PortConfig& config) : domain_(domain), config_(config) {}

  /// Runs `latency` after the last byte has arrived, or when it is ready for it; must not wait.
  virtual void receive(TlpPtr tlp) = 0;
  /// Whether receive() may be called with a packet of that class; else it stays in the receive
  /// buffer, and its credits with it, until drain().
  virtual bool ready(CreditClass) const { return true; }
  /// Whether receive() of this packet would only change what is read later, without a trace of
  /// when: then it may come before its time, as long as nothing in the domain could tell.
  virtual bool timeless(const Tlp&) const { return false; }
  /// Whether a packet with a bad digest is an error, rather than taken as it is.
  virtual bool checks_digests() const { return false; }
  /// It has become ready for more; whether anything has come.
  bool drain();
  /// An injected error, as if the port had detected it in `tlp`, which it does not receive unless
  /// the error leaves it whole; a request that it refuses by the error it answers.
  virtual void detected(Error, const Tlp*) {}
  /// The link has come up with this generation and width.
  virtual void trained(unsigned generation, unsigned lanes) = 0;
  /// The link has come back from Recovery, perhaps with another speed and width.
  virtual void retrained(unsigned generation, unsigned lanes) { trained(generation, lanes); }
  /// The link of a port upstream has gone into Recovery; retrained() follows, or link_lost().
  virtual void recovering() {}
  /// A lane of its receiver has failed.
  virtual void lane_failed(unsigned) {}
  /// The highest generation that a port upstream lets its link have.
  virtual unsigned target_generation() const { return config_.generation; }
  /// Of ActiveState, what software has enabled.
  virtual unsigned active_states() const { return 0; }
  /// That has changed.
  void active_states_changed();
  /// Whether the link is, or was at last, in flit mode.
  bool flits() const;
  /// The port upstream sends the link to Recovery. False, and nothing happens, if it is not up.
  bool retrain_link();
  /// The link has gone down, for a port downstream by a reset of this kind (PCIe 5.0, 6.6.1). What
  /// was on its way is lost; trained() follows when it is up again.
  virtual void link_lost(Reset) {}
  /// The port upstream takes the link down, which resets what is behind it one latency later, and
  /// lets it train again; whether there is a link to train.
  void hold_link(Reset kind);
  bool release_link(Reset kind);
  /// The completion status of a request that ends in this error, if it is answered at all.
  static std::optional<Status> refusal_of(Error error) {
    if (error == Error::unsupported_request) return Status::unsupported_request;
    if (error == Error::completer_abort || error == Error::acs_violation) {
      return Status::completer_abort;
    }
    return {};
  }
  /// Whether the receiver's buffer is large enough for it at all.
  bool fits(const Tlp& tlp) const;
  /// Leaves `latency` from now, or as soon as all that was sent before has left. Lost without a
  /// link.
  void send(TlpPtr tlp);
  /// Whether packets of that class wait for credits of the receiver; who sends more of them stops
  /// until unblocked().
  bool blocked(CreditClass of) const;
  /// Those that waited have left, or are lost with the link. Must not wait; may send.
  virtual void unblocked(CreditClass) {}

 private:
  friend class Link;
  vp::Domain& domain_;
  PortConfig config_;
  Link* link_ = nullptr;
  bool link_up_ = false;
};

}  // namespace pcie
