// SPDX-License-Identifier: Apache-2.0
#include "models/pcie/hierarchy/switch.h"

#include <fmt/format.h>

#include <functional>

#include "models/pcie/config/config_request.h"
#include "models/pcie/protocol/configuration_error.h"

namespace pcie {
namespace {

PciExpressConfig upstream_express_config(const SwitchConfig& config) {
  PciExpressConfig express;
  express.type = PortType::upstream_port;
  express.generation = config.generation;
  express.lanes = config.lanes;
  express.max_payload = config.max_payload;
  express.extended_tags = false;
  express.active_states = config.active_states;
  return express;
}

PortConfig upstream_port_config(const SwitchConfig& config) {
  PortConfig port;
  port.generation = config.generation;
  port.lanes = config.lanes;
  port.latency = config.latency / 2;
  port.credits = config.credits;
  port.limits_completions = true;
  port.accepts_atomics = true;
  port.active_states = config.active_states;
  return port;
}

PciExpressConfig downstream_express_config(const SwitchConfig& config, unsigned index) {
  const SwitchPortConfig& port = config.ports[index];
  PciExpressConfig express;
  express.type = PortType::downstream_port;
  express.generation = port.generation;
  express.lanes = port.lanes;
  express.max_payload = config.max_payload;
  express.extended_tags = false;
  express.port_number = index + 1;
  express.slot_number = config.first_slot_number + index;
  express.hot_plug = port.hot_plug;
  express.active_states = port.active_states;
  return express;
}

/// Whether a port of a switch sends messages with that code on.
bool is_forwarded(unsigned code) {
  return (code >= assert_inta && code < deassert_inta + 4) || code == err_cor ||
         code == err_nonfatal || code == err_fatal;
}

}  // namespace

class Switch::Upstream : public BridgePort {
 public:
  Upstream(const sc_core::sc_module_name& name, const SwitchConfig& config, Switch& owner,
           vp::Domain& domain, vp::Statistics& statistics);

  using BridgePort::answer;
  using Port::blocked;
  using Port::deliver_one;

  Id id() const override { return id_; }
  unsigned internal_bus() const { return secondary_bus(); }

  /// Sends a packet from below up. If this port refuses it, returns the completion for a non-posted
  /// request, or else nullptr.
  TlpPtr forward(TlpPtr tlp);
  /// Like forward(), but for a packet that access control redirects although a port below claims
  /// it.
  TlpPtr redirect(TlpPtr tlp);
  /// Whether redirect() would send the packet.
  bool takes_redirected(const Tlp& tlp) const {
    return !lacks_bus_master(tlp) && !is_blocked_atomic(tlp);
  }
  /// Whether forward() would send the packet.
  bool takes(const Tlp& tlp) const { return !would_return(tlp) && takes_redirected(tlp); }
  /// Forwards an error message from the internal bus.
  void send_error_message(Severity severity, Id source);
  void assert_intx(unsigned pin, bool level);
  /// The exit of a packet from above.
  std::size_t exit(const Tlp& tlp) const;

  void receive(TlpPtr tlp) override;
  bool ready(const Tlp& tlp) const override { return switch_.ready(tlp, exit(tlp), *this); }
  bool cuts_through() const override { return switch_.cut_through_; }
  bool binds(const Tlp& later, const Tlp& earlier) const override;
  void unblocked(CreditClass of) override;
  void trained(unsigned generation, unsigned lanes) override;
  void link_lost(Reset kind) override;
  void signal_error(Severity severity) override;

 private:
  bool would_return(const Tlp& tlp) const {
    return tlp.is_memory() && header_.claims(tlp.get_address());
  }
  bool lacks_bus_master(const Tlp& tlp) const { return tlp.is_memory() && !takes_requests(); }
  bool is_blocked_atomic(const Tlp& tlp) const {
    return tlp.is_atomic() && express_.blocks_atomics();
  }
  // The port to which a packet from above goes, or nullptr if it ends here.
  Downstream* route(const Tlp& tlp) const;
  void receive_config(TlpPtr request);
  void bridge_controlled(std::uint32_t before);
  /// Reports a poisoned packet from above, which is forwarded nevertheless.
  void note_poison(const Tlp& tlp) {
    if (!tlp.header.poisoned) return;
    report(Error::poisoned_tlp, &tlp, Place::passing);
    errors_.conventional().sent(Side::secondary, tlp);
  }
  void send_pending_messages();

  Switch& switch_;
  Id id_ = 0;                      // captured from configuration writes (2.2.6.2)
  unsigned pending_messages_ = 0;  // messages of own errors without credits, one bit per Severity
  std::uint64_t messages_ignored_ = 0;
};

class Switch::Downstream : public DownstreamPort {
 public:
  Downstream(const sc_core::sc_module_name& name, const SwitchConfig& config, unsigned index,
             Switch& owner, vp::Domain& domain, vp::Statistics& statistics);

  using BridgePort::answer;
  using DownstreamPort::end_reset;
  using Port::blocked;
  using Port::deliver_one;

  Id id() const override { return make_id(switch_.upstream_->internal_bus(), index_, 0); }

  /// Forwards a configuration request for the bus below or a bus beyond.
  TlpPtr forward_config(TlpPtr request);
  unsigned index() const { return index_; }
  /// Whether forward() or forward_config() would send the packet.
  bool accepts(const Tlp& tlp) const { return !is_stray(tlp) && takes(tlp); }
  /// The exit of a packet from below.
  std::size_t exit(const Tlp& tlp) const;
  /// Sends the messages and the interrupt that have waited for the upstream port.
  void send_pending_messages();
  void begin_reset(Reset kind) {
    DownstreamPort::begin_reset(kind);
    pending_messages_ = 0;
  }

  void receive(TlpPtr tlp) override;
  bool ready(const Tlp& tlp) const override { return switch_.ready(tlp, exit(tlp), *this); }
  bool cuts_through() const override { return switch_.cut_through_; }
  bool binds(const Tlp& later, const Tlp& earlier) const override {
    return exit(later) == exit(earlier);
  }
  void unblocked(CreditClass of) override { switch_.unblocked(of); }
  void link_lost(Reset kind) override;
  void send_error_message(Severity severity, Id source) override;
  void intx(unsigned pin, bool level) override { switch_.intx(index_, pin, level); }
  void interrupt(TlpPtr message) override;
  void answer_requester(TlpPtr completion) override;

 private:
  // The route of a packet from below: to a port below that claims it, to the upstream port, to
  // that because of access control, or to none, since it is a violation or has no target.
  struct Route {
    enum Kind { peer, up, redirected, violation, none } kind;
    Downstream* port = nullptr;
  };
  Route route(const Tlp& tlp) const;
  Route route_to_peer(Downstream& port, const Tlp& tlp) const;
  // A configuration request for a device that cannot exist on the bus below.
  bool is_stray(const Tlp& tlp) const {
    return tlp.is_config() && bus_of(tlp.header.target) == secondary_bus() &&
           device_of(tlp.header.target) != 0 && !express_.forwards_ari();
  }

  static constexpr unsigned pending_interrupt = 1u << 3;  // beside one bit per Severity

  const unsigned index_;
  Switch& switch_;
  unsigned pending_messages_ = 0;  // messages that wait for credits of the link above
  std::uint64_t redirected_ = 0;
};

Switch::Upstream::Upstream(const sc_core::sc_module_name& name, const SwitchConfig& config,
                           Switch& owner, vp::Domain& domain, vp::Statistics& statistics)
    : BridgePort(name, config.identity, config.eye, upstream_port_config(config),
                 upstream_express_config(config), domain, statistics),
      switch_(owner) {
  space_.on_write(Type1Header::bridge_control, 2,
                  [this](std::uint32_t before) { bridge_controlled(before); });
  space_.on_write(express_.offset() + PciExpress::link_control, 2,
                  [this](std::uint32_t) { active_states_changed(); });
  statistics.counter(std::string(this->name()) + ".messages_ignored", messages_ignored_);
}

void Switch::Upstream::receive(TlpPtr tlp) {
  if (refuse_malformed(*tlp)) return;
  errors_.conventional().received(Side::primary, *tlp);
  if (Downstream* port = route(*tlp)) {
    note_poison(*tlp);
    return answer(tlp->is_config() ? port->forward_config(std::move(tlp))
                                   : port->forward(std::move(tlp)));
  }
  if (tlp->is_config()) return receive_config(std::move(tlp));
  if (tlp->is_completion()) return unexpected(*tlp);
  // The model has no messages that go down.
  if (tlp->header.type == TlpType::Msg && is_ignored_message(tlp->header.message_code)) {
    ++messages_ignored_;
    return;
  }
  answer(refuse_unsupported(*tlp));
}

Switch::Downstream* Switch::Upstream::route(const Tlp& tlp) const {
  switch (tlp.header.type) {
    case TlpType::CfgRd1:
    case TlpType::CfgWr1: {
      const unsigned bus = bus_of(tlp.header.target);
      const bool inside = bus == internal_bus() && bus != 0;
      return !inside && routes(bus) ? switch_.routing(bus) : nullptr;
    }
    case TlpType::MRd:
    case TlpType::MWr:
    case TlpType::FetchAdd:
    case TlpType::Swap:
    case TlpType::CAS:
      return header_.claims(tlp.get_address()) && power_.d0() ? switch_.claiming(tlp.get_address())
                                                              : nullptr;
    case TlpType::Cpl:
    case TlpType::CplD:
      return switch_.routing(bus_of(tlp.header.requester));
    default:  // switches do not route deferrable writes
      return nullptr;
  }
}

std::size_t Switch::Upstream::exit(const Tlp& tlp) const {
  const Downstream* port = is_malformed(tlp) ? nullptr : route(tlp);
  return port != nullptr && port->accepts(tlp) ? port->index() : switch_.here();
}

// A write of the switch's own registers may change the routes of the writes before it, so these go
// first.
bool Switch::Upstream::binds(const Tlp& later, const Tlp& earlier) const {
  const std::size_t exit = this->exit(later);
  const bool writes_registers =
      later.header.type == TlpType::CfgWr0 || later.header.type == TlpType::CfgWr1;
  return exit == this->exit(earlier) || (exit == switch_.here() && writes_registers);
}

void Switch::Upstream::receive_config(TlpPtr request) {
  const Id target = request->header.target;
  const bool type1 =
      request->header.type == TlpType::CfgRd1 || request->header.type == TlpType::CfgWr1;
  ConfigSpace* space = nullptr;
  Id completer = id_;
  if (!type1) {
    if (function_of(target) == 0) space = &space_;
  } else if (bus_of(target) == internal_bus() && internal_bus() != 0) {
    if (device_of(target) < switch_.ports_.size() && function_of(target) == 0) {
      Downstream& port = *switch_.ports_[device_of(target)];
      space = &port.config_space();
      completer = port.id();
      errors_.conventional().sent(Side::secondary, *request);
      port.arrived_inside(*request);
    }
  }
  if (space == nullptr) return answer(refuse_unsupported(*request));
  if (request->header.poisoned) {
    report(Error::poisoned_tlp, request.get());
    return send(Tlp::completion(*request, completer, Status::unsupported_request));
  }
  if (request->header.type == TlpType::CfgWr0) completer = id_ = target;
  send(perform(*request, *space, completer));
  if (request->has_data()) switch_.drain();  // packets that wait may have another route now
}

TlpPtr Switch::Upstream::forward(TlpPtr tlp) {
  if (would_return(*tlp)) {
    errors_.conventional().received(Side::secondary, *tlp);
    return refuse_unsupported(*tlp);
  }
  return redirect(std::move(tlp));
}

TlpPtr Switch::Upstream::redirect(TlpPtr tlp) {
  errors_.conventional().received(Side::secondary, *tlp);
  if (lacks_bus_master(*tlp)) return refuse_unsupported(*tlp);
  if (is_blocked_atomic(*tlp)) {  // 6.15.3
    report(Error::atomic_egress_blocked, tlp.get());
    return refused(*tlp, Status::unsupported_request);
  }
  errors_.conventional().sent(Side::primary, *tlp);
  send(std::move(tlp));
  return nullptr;
}

// 7.5.1.3.13: error messages of the ports below are treated like those of devices behind them.
void Switch::Upstream::send_error_message(Severity severity, Id source) {
  if (severity != Severity::correctable) header_.set_received_system_error();
  if (!header_.forwards_errors() || !errors_.sends_message(severity)) return;
  send(Tlp::message(error_message(severity), source));
}

void Switch::Upstream::assert_intx(unsigned pin, bool level) {
  const unsigned code = (level ? assert_inta : deassert_inta) + pin;
  send(Tlp::message(static_cast<MessageCode>(code), id_));
}

void Switch::Upstream::unblocked(CreditClass of) {
  if (of == CreditClass::posted) send_pending_messages();
  switch_.unblocked(of);
}

void Switch::Upstream::trained(unsigned generation, unsigned lanes) {
  BridgePort::trained(generation, lanes);
  for (const auto& port : switch_.ports_) port->end_reset();
}

void Switch::Upstream::link_lost(Reset kind) {
  space_.reset(kind);
  id_ = 0;
  pending_messages_ = 0;
  for (const auto& port : switch_.ports_) port->begin_reset(kind);
  switch_.drain();
}

// 7.5.1.3.13: Secondary Bus Reset of an upstream port resets all components below.
void Switch::Upstream::bridge_controlled(std::uint32_t before) {
  const bool was_reset = before & Type1Header::BridgeControlBit::secondary_bus_reset;
  if (was_reset == header_.resets_bus()) return;
  for (const auto& port : switch_.ports_) {
    was_reset ? port->end_reset() : port->begin_reset(Reset::hot);
  }
}

void Switch::Upstream::signal_error(Severity severity) {
  pending_messages_ |= 1u << static_cast<unsigned>(severity);
  if (!blocked(CreditClass::posted)) send_pending_messages();
}

void Switch::Upstream::send_pending_messages() {
  const unsigned pending = std::exchange(pending_messages_, 0);
  for (const Severity severity : {Severity::correctable, Severity::non_fatal, Severity::fatal}) {
    if (pending >> static_cast<unsigned>(severity) & 1) {
      send(Tlp::message(error_message(severity), id_));
    }
  }
}

Switch::Downstream::Downstream(const sc_core::sc_module_name& name, const SwitchConfig& config,
                               unsigned index, Switch& owner, vp::Domain& domain,
                               vp::Statistics& statistics)
    : DownstreamPort(name, config.ports[index], downstream_express_config(config, index),
                     static_cast<unsigned>(config.ports.size()), config.latency / 2, domain,
                     statistics),
      index_(index),
      switch_(owner) {
  statistics.counter(std::string(this->name()) + ".redirected", redirected_);
}

// 7.3.3: on its target bus, a request becomes type 0 and addresses device 0, unless ARI is enabled.
TlpPtr Switch::Downstream::forward_config(TlpPtr request) {
  if (is_stray(*request)) {
    report(Error::unsupported_request, request.get());
    return refused(*request, Status::unsupported_request);
  }
  TlpHeader& header = request->header;
  if (bus_of(header.target) == secondary_bus()) {
    header.type = header.type == TlpType::CfgRd1 ? TlpType::CfgRd0 : TlpType::CfgWr0;
  }
  return forward(std::move(request));
}

void Switch::Downstream::receive(TlpPtr tlp) {
  if (refuse_malformed(*tlp)) return;
  errors_.conventional().received(Side::secondary, *tlp);
  if (refuse_foreign(*tlp)) return;
  if (tlp->header.type == TlpType::Msg) return receive_message(*tlp);
  const Route route = this->route(*tlp);
  switch (route.kind) {
    case Route::peer:
      if (!lets_pass(*tlp)) return;
      ++switch_.peer_to_peer_;
      return answer(route.port->forward(std::move(tlp)));
    case Route::up:
      if (!lets_pass(*tlp)) return;
      return answer(switch_.upstream_->forward(std::move(tlp)));
    case Route::redirected:
      if (!lets_pass(*tlp)) return;
      ++redirected_;
      return answer(switch_.upstream_->redirect(std::move(tlp)));
    case Route::violation:
      return violation(*tlp);
    case Route::none:
      return tlp->is_completion() ? unexpected(*tlp) : unsupported(*tlp);
  }
}

// Configuration requests only travel downstream, and switches do not route deferrable writes.
Switch::Downstream::Route Switch::Downstream::route(const Tlp& tlp) const {
  if (tlp.is_completion()) {
    const Id requester = tlp.header.requester;
    if (Downstream* port = switch_.routing(bus_of(requester))) return route_to_peer(*port, tlp);
    const bool above =
        !switch_.upstream_->routes(bus_of(requester)) && requester != switch_.upstream_->id();
    return {above ? Route::up : Route::none};
  }
  if (!tlp.is_memory() || tlp.header.type == TlpType::DMWr || !takes_requests()) {
    return {Route::none};
  }
  Downstream* port = switch_.claiming(tlp.get_address());
  return port != nullptr ? route_to_peer(*port, tlp) : Route{Route::up};
}

// The route that access control selects for a packet that a port below claims.
Switch::Downstream::Route Switch::Downstream::route_to_peer(Downstream& port,
                                                            const Tlp& tlp) const {
  switch (route_to(port, tlp)) {
    case AccessControl::Route::straight:
      return {Route::peer, &port};
    case AccessControl::Route::upstream:
      return {Route::redirected};
    case AccessControl::Route::violation:
      return {Route::violation};
    case AccessControl::Route::none:
      break;
  }
  return {Route::none};
}

std::size_t Switch::Downstream::exit(const Tlp& tlp) const {
  if (is_malformed(tlp) || is_foreign(tlp)) return switch_.here();
  const Upstream& upstream = *switch_.upstream_;
  bool up = false;
  if (tlp.header.type == TlpType::Msg) {
    up = is_forwarded(tlp.header.message_code);
  } else {
    const Route route = this->route(tlp);
    if (route.kind == Route::peer && route.port->accepts(tlp)) return route.port->index();
    up = (route.kind == Route::up && upstream.takes(tlp)) ||
         (route.kind == Route::redirected && upstream.takes_redirected(tlp));
  }
  return up ? switch_.above() : switch_.here();
}

void Switch::Downstream::link_lost(Reset kind) {
  DownstreamPort::link_lost(kind);
  switch_.drain();
}

// Only the port's own messages can wait here; those of devices wait in the receive buffer.
void Switch::Downstream::send_error_message(Severity severity, Id source) {
  if (source == id() && switch_.upstream_->blocked(CreditClass::posted)) {
    pending_messages_ |= 1u << static_cast<unsigned>(severity);
  } else {
    switch_.upstream_->send_error_message(severity, source);
  }
}

void Switch::Downstream::interrupt(TlpPtr message) {
  if (switch_.upstream_->blocked(CreditClass::posted)) {
    pending_messages_ |= pending_interrupt;
  } else {
    switch_.upstream_->forward(std::move(message));
  }
}

void Switch::Downstream::answer_requester(TlpPtr completion) {
  Downstream* peer = switch_.routing(bus_of(completion->header.requester));
  peer != nullptr ? peer->answer(std::move(completion))
                  : switch_.upstream_->answer(std::move(completion));
}

void Switch::Downstream::send_pending_messages() {
  const unsigned pending = std::exchange(pending_messages_, 0);
  for (const Severity severity : {Severity::correctable, Severity::non_fatal, Severity::fatal}) {
    if (pending >> static_cast<unsigned>(severity) & 1) send_error_message(severity, id());
  }
  if (pending & pending_interrupt) send_interrupt();
}

Switch::Switch(const sc_core::sc_module_name& name, const SwitchConfig& config, vp::Domain& domain,
               vp::Statistics& statistics)
    : sc_module(name),
      cut_through_(config.cut_through),
      arbiter_(config.ports.size() + 1, config.ports.size() + 2) {
  if (config.ports.empty() || config.ports.size() > 31) {
    throw ConfigurationError("a switch must have 1 to 31 downstream ports");
  }
  if (config.latency < 0 || config.latency % 2 != 0) {
    throw ConfigurationError(
        "a switch's latency must be an even, non-negative number of picoseconds");
  }
  upstream_ = std::make_unique<Upstream>("upstream", config, *this, domain, statistics);
  for (unsigned i = 0; i < config.ports.size(); ++i) {
    ports_.push_back(std::make_unique<Downstream>(fmt::format("port{}", i).c_str(), config, i,
                                                  *this, domain, statistics));
  }
  statistics.counter(std::string(this->name()) + ".peer_to_peer", peer_to_peer_);
}

Switch::~Switch() = default;

Port& Switch::upstream() {
  return *upstream_;
}

DownstreamPort& Switch::port(unsigned index) {
  return *ports_.at(index);
}

Switch::Downstream* Switch::claiming(std::uint64_t address) const {
  for (const auto& port : ports_) {
    if (port->claims(address)) return port.get();
  }
  return nullptr;
}

Switch::Downstream* Switch::routing(unsigned bus) const {
  for (const auto& port : ports_) {
    if (port->routes(bus)) return port.get();
  }
  return nullptr;
}

bool Switch::blocked(std::size_t exit, CreditClass of) const {
  if (exit == here()) return false;
  return exit == above() ? upstream_->blocked(of) : ports_[exit]->blocked(of);
}

// A request that ends here needs room for its completion on the link from which it came.
template <typename Entry>
bool Switch::ready(const Tlp& tlp, std::size_t exit, const Entry& entry) const {
  const CreditClass of = credit_class(tlp.header.type);
  if (exit != here()) return !blocked(exit, of);
  return of != CreditClass::non_posted || !entry.blocked(CreditClass::completion);
}

void Switch::drain() {
  const auto open = [this](std::size_t exit, CreditClass of) { return !blocked(exit, of); };
  const auto pass = [this](std::size_t entry, std::size_t exit, CreditClass of) {
    const auto let_go = [exit, of](auto& port) {
      const auto wanted = [&](const Tlp& tlp) {
        return credit_class(tlp.header.type) == of && port.exit(tlp) == exit;
      };
      return port.deliver_one(std::cref(wanted));
    };
    return entry == above() ? let_go(*upstream_) : let_go(*ports_[entry]);
  };
  arbiter_.serve(open, pass);
}

void Switch::unblocked(CreditClass of) {
  if (of == CreditClass::posted) {
    for (const auto& port : ports_) port->send_pending_messages();
  }
  drain();
}

// 2.2.8.1: pins are mapped by device number; a message announces each change of their wired OR.
void Switch::intx(unsigned index, unsigned pin, bool level) {
  const unsigned mapped = (pin + index) % 4;
  const std::uint32_t before = intx_levels_[mapped];
  const std::uint32_t mask = 1u << index;
  intx_levels_[mapped] = level ? before | mask : before & ~mask;
  if ((before != 0) != (intx_levels_[mapped] != 0)) upstream_->assert_intx(mapped, level);
}

}  // namespace pcie
