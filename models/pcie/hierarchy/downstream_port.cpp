// SPDX-License-Identifier: Apache-2.0
#include "models/pcie/hierarchy/downstream_port.h"

namespace pcie {
namespace {

PortConfig upper_end_config(const DownstreamPortConfig& config, const PciExpressConfig& express,
                            vp::Picoseconds latency) {
  PortConfig port;
  port.generation = config.generation;
  port.lanes = config.lanes;
  port.latency = latency;
  port.credits = config.credits;
  port.limits_completions = express.type == PortType::downstream_port;
  port.accepts_atomics = true;
  port.deferrable_writes = express.deferrable_writes;
  port.active_states = config.active_states;
  return port;
}

}  // namespace

DownstreamPort::DownstreamPort(const sc_core::sc_module_name& name,
                               const DownstreamPortConfig& config, const PciExpressConfig& express,
                               unsigned peers, vp::Picoseconds latency, vp::Domain& domain,
                               vp::Statistics& statistics)
    : BridgePort(name, config.identity, config.eye, upper_end_config(config, express, latency),
                 express, domain, statistics),
      access_control_(space_, express.port_number, peers),
      number_(express.port_number),
      interrupt_(domain, [this] { send_interrupt(); }),
      command_(domain, [this] { complete_command(); }) {
  space_.on_write(Type1Header::bridge_control, 2, [this](std::uint32_t) { bridge_controlled(); });
  space_.on_write(express_.offset() + PciExpress::link_control, 2,
                  [this](std::uint32_t) { link_controlled(); });
  express_.hot_plug_slot().on_write([this] { hot_plug_controlled(); },
                                    [this] { update_interrupt(); });
  if (config.containment) {
    containment_.emplace(space_, express.type == PortType::root_port);
    containment_->on_write([this] { containment_controlled(); });
  }
  for (const unsigned at :
       {Header::command, msi_.offset() + Msi::message_control,
        express_.offset() + PciExpress::link_status, power_.offset() + PowerManagement::control}) {
    space_.on_write(at, 2, [this](std::uint32_t) { update_interrupt(); });
  }
  const std::string prefix = std::string(this->name()) + ".";
  statistics.counter(prefix + "acs_violations", acs_violations_);
  statistics.counter(prefix + "tlps_without_link", no_link_);
}

void DownstreamPort::begin_reset(Reset kind) {
  space_.reset(kind);
  express_.hot_plug_slot().reset();
  command_.cancel();
  // Containment is sticky, and a reset does not insert a card.
  const bool still_contained = containment_ && containment_->triggered();
  holds_ = (holds_ & (still_contained ? no_card | contained : no_card)) | in_reset;
  if (!express_.hot_plug_slot().powered()) holds_ |= no_power;
  reset_kind_ = kind;
  hold_link(kind);
  update_interrupt();
}

void DownstreamPort::end_reset() {
  release(in_reset, reset_kind_);
  update_interrupt();
}

void DownstreamPort::hold(Hold reason, Reset kind) {
  if (holds_ & reason) return;
  holds_ |= reason;
  hold_link(kind);
}

void DownstreamPort::release(Hold reason, Reset kind) {
  if (!(holds_ & reason)) return;
  holds_ &= ~reason;
  if (!(holds_ & (no_card | no_power | in_reset))) restore_power();
  if (holds_ == 0 && release_link(kind)) express_.link_down(true);
}

// 7.5.1.3.13: a hot reset lasts as long as Secondary Bus Reset is set.
void DownstreamPort::bridge_controlled() {
  if (header_.resets_bus()) {
    hold(bus_reset, Reset::hot);
  } else {
    release(bus_reset);
  }
}

// 7.5.3.7: Link Disable, Retrain Link.
void DownstreamPort::link_controlled() {
  if (express_.link_disabled()) {
    hold(disabled, Reset::hot);
  } else {
    release(disabled);
  }
  active_states_changed();
  if (express_.consume_retrain()) retrain_link();
  update_interrupt();
}

void DownstreamPort::hot_plug_controlled() {
  const vp::Picoseconds time = express_.hot_plug_slot().config().command_time;
  if (time == 0) return complete_command();
  // Software should wait for each command. Commands that it does not wait for complete together.
  if (!command_.pending()) command_.after(time);
  update_interrupt();
}

void DownstreamPort::complete_command() {
  express_.hot_plug_slot().complete_command();
  update_power();
}

// 6.7.1.8: a card without power behaves like an absent card, except that it is present.
void DownstreamPort::update_power() {
  if (express_.hot_plug_slot().powered()) {
    release(no_power);
  } else {
    hold(no_power, Reset::cold);
  }
  update_interrupt();
}

void DownstreamPort::containment_controlled() {
  if (containment_->trigger_by_software()) contain();
  if (!containment_->triggered()) release(contained);
  update_interrupt();
}

// 6.2.11: containment disables the link, so that nothing passes in either direction.
void DownstreamPort::contain() {
  hold(contained, Reset::hot);
  if (containment_->signals_correctable() && express_.reports(PciExpress::correctable_error)) {
    send_error_message(Severity::correctable, id());
  }
  update_interrupt();
}

Status DownstreamPort::refusal() const {
  return containment_ && containment_->triggered() ? containment_->refusal()
                                                   : Status::unsupported_request;
}

bool DownstreamPort::lets_pass(const Tlp& tlp) {
  if (!tlp.header.poisoned) return true;
  report(Error::poisoned_tlp, &tlp, Place::passing);
  if (!link_up()) return false;
  errors_.conventional().sent(Side::primary, tlp);
  return true;
}

TlpPtr DownstreamPort::forward(TlpPtr tlp) {
  arrived_inside(*tlp);
  // 6.15.3; a device without AtomicOps need not have room for their operands.
  if (link_up() && is_blocked_atomic(*tlp)) {
    report(express_.blocks_atomics() ? Error::atomic_egress_blocked : Error::unsupported_request,
           tlp.get());
    return refused(*tlp, Status::unsupported_request);
  }
  // 2.7.2.1; the error may trigger containment, which then determines the completion status.
  if (link_up() && is_blocked_poison(*tlp)) {
    report(Error::poisoned_egress_blocked, tlp.get());
    return refused_from_above(*tlp, refusal());
  }
  if (link_up()) {
    errors_.conventional().sent(Side::secondary, *tlp);
    Port::send(std::move(tlp));
    return nullptr;
  }
  return refused_without_link(*tlp);
}

// 2.9.1: without a link, non-posted requests are refused, and all other packets are dropped.
TlpPtr DownstreamPort::refused_without_link(const Tlp& tlp) {
  ++no_link_;
  const Status status = refusal();
  const bool is_contained = containment_ && containment_->triggered();
  if (tlp.is_non_posted() && !is_contained) report(Error::unsupported_request, &tlp);
  return refused_from_above(tlp, status);
}

// The requests of this port's own requester have ended already.
void DownstreamPort::not_sent(TlpPtr tlp) {
  if (tlp->header.requester == id()) return;
  if (TlpPtr completion = refused_without_link(*tlp)) answer_requester(std::move(completion));
}

bool DownstreamPort::takes(const Tlp& tlp) const {
  return link_up() && !is_blocked_atomic(tlp) && !is_blocked_poison(tlp);
}

// 7.5.1.1.4: the primary side generates a Completer Abort only while the port is contained.
TlpPtr DownstreamPort::refused_from_above(const Tlp& request, Status status) {
  if (request.is_non_posted() && status == Status::completer_abort) {
    errors_.conventional().signaled_target_abort(Side::primary);
  }
  return refused(request, status);
}

bool DownstreamPort::remove_card() {
  HotPlugSlot& hot_plug = express_.hot_plug_slot();
  if (!hot_plug.occupied() || hot_plug.locked() || hot_plug.latched()) return false;
  const bool surprise = link_up() && !hot_plug.config().surprise;  // 3.2.1
  hot_plug.set_occupied(false);
  hold(no_card, Reset::cold);
  if (surprise) report(Error::surprise_down, nullptr);
  update_interrupt();
  return true;
}

bool DownstreamPort::insert_card() {
  HotPlugSlot& hot_plug = express_.hot_plug_slot();
  if (!(holds_ & no_card) || hot_plug.locked() || hot_plug.latched()) return false;
  hot_plug.set_occupied(true);
  release(no_card);
  update_interrupt();
  return true;
}

bool DownstreamPort::press_attention_button() {
  const bool pressed = express_.hot_plug_slot().press_button();
  update_interrupt();
  return pressed;
}

bool DownstreamPort::move_latch(bool open) {
  const bool was_up = link_up();
  if (!express_.hot_plug_slot().move_latch(open)) return false;
  handle_power_loss(was_up);
  return true;
}

bool DownstreamPort::fail_power() {
  const bool was_up = link_up();
  if (!express_.hot_plug_slot().fail_power()) return false;
  handle_power_loss(was_up);
  return true;
}

// The card may have lost its power without a request of software.
void DownstreamPort::handle_power_loss(bool was_up) {
  update_power();
  const bool surprise =
      was_up && !link_up() && !express_.hot_plug_slot().config().surprise;  // 3.2.1
  if (surprise) report(Error::surprise_down, nullptr);
}

void DownstreamPort::trained(unsigned generation, unsigned lanes) {
  express_.hot_plug_slot().seat();
  BridgePort::trained(generation, lanes);
  update_interrupt();
}

void DownstreamPort::retrained(unsigned generation, unsigned lanes) {
  BridgePort::retrained(generation, lanes);
  update_interrupt();
}

void DownstreamPort::recovering() {
  express_.recovering();
}

void DownstreamPort::link_lost(Reset) {
  express_.link_down(false);
  link_capabilities_.link_down();
  // 2.2.8.1: without a link, all INTx interrupts are deasserted.
  for (unsigned pin = 0; pin < 4; ++pin) intx(pin, false);
  update_interrupt();
}

// 6.12.1.1: access control never refuses completions.
bool DownstreamPort::is_foreign(const Tlp& tlp) const {
  if (tlp.is_completion()) return false;
  const bool foreign = access_control_.validates_sources() && !routes(bus_of(tlp.header.requester));
  const bool translated = access_control_.blocks_translated() && tlp.is_memory() &&
                          tlp.header.address_type != AddressType::untranslated;
  return foreign || translated;
}

bool DownstreamPort::refuse_foreign(const Tlp& tlp) {
  if (!is_foreign(tlp)) return false;
  violation(tlp);
  return true;
}

void DownstreamPort::violation(const Tlp& request) {
  log_.log(acs_violations_++ == 0 ? spdlog::level::warn : spdlog::level::debug,
           "{}: access control refuses {} from {} at {:#x}", name(), to_string(request.header.type),
           pcie::to_string(request.header.requester), request.get_address());
  detected(Error::acs_violation, &request);
}

void DownstreamPort::receive_message(const Tlp& message) {
  const unsigned code = message.header.message_code;
  if (code >= assert_inta && code < deassert_inta + 4) return intx(code & 3, code < deassert_inta);
  switch (code) {
    case err_cor:
      break;
    case err_nonfatal:
    case err_fatal:
      header_.set_received_system_error();
      break;
    default:
      if (is_ignored_message(code)) return;
      return unsupported(message);
  }
  const Severity severity = code == err_cor        ? Severity::correctable
                            : code == err_nonfatal ? Severity::non_fatal
                                                   : Severity::fatal;
  // 6.2.11: a message that triggers containment is not forwarded.
  if (containment_ && containment_->trigger_by_message(severity, message.header.requester)) {
    return contain();
  }
  // 6.2.8.1: SERR# Enable of Bridge Control forwards the message to the primary side, which sends
  // it like one of its own.
  if (!header_.forwards_errors() || !errors_.sends_message(severity)) return;
  send_error_message(severity, message.header.requester);
}

// 6.2.11: an error that triggers containment is not signalled.
bool DownstreamPort::contain_error() {
  if (!containment_ ||
      !containment_->trigger(DownstreamPortContainment::Reason::uncorrectable_error)) {
    return false;
  }
  contain();
  return true;
}

// 6.2.4.1.2, 6.7.3.4: the port sends a message whenever one of the conditions becomes true.
void DownstreamPort::update_interrupt() {
  const unsigned before = conditions_;
  conditions_ = 0;
  if (msi_.enabled() && takes_requests()) {
    conditions_ |= more_conditions();
    if (express_.hot_plug_slot().interrupting()) conditions_ |= hot_plug_event;
    if (containment_ && containment_->interrupting()) conditions_ |= containment_event;
    if (express_.bandwidth_interrupting()) conditions_ |= bandwidth_event;
  }
  if (conditions_ & ~before && !interrupt_.pending()) interrupt_.after(port_config().latency);
  if (conditions_ == 0) interrupt_.cancel();
}

void DownstreamPort::send_interrupt() {
  if (conditions_ == 0) return;  // software has disabled the interrupt while it waited
  const std::uint32_t data = msi_.data();
  const std::uint8_t bytes[4] = {static_cast<std::uint8_t>(data),
                                 static_cast<std::uint8_t>(data >> 8), 0, 0};
  TlpPtr message = Tlp::memory_write(msi_.address(), bytes, 4);
  message->header.requester = id();
  interrupt(std::move(message));
}

}  // namespace pcie
