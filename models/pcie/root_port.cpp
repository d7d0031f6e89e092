// SPDX-License-Identifier: Apache-2.0
#include "models/pcie/root_port.h"

#include <fmt/format.h>

#include <algorithm>

#include "models/pcie/atomic.h"
#include "models/pcie/errors.h"
#include "models/pcie/split.h"
#include "vp/log/log.h"

namespace pcie {

using RequestError = DownstreamPortContainment::RequestError;

class RootPort::Turn {
 public:
  explicit Turn(Turns& turns) : turns_(turns) { turns_.push_back(this); }
  // Also when the thread is killed while it waits.
  ~Turn() {
    turns_.erase(std::find(turns_.begin(), turns_.end(), this));
    next(turns_);
  }
  static void next(Turns& turns) {
    if (!turns.empty()) turns.front()->ready_.notify();
  }
  template <typename Possible>
  void wait(Possible possible) {
    while (turns_.front() != this || !possible()) sc_core::wait(ready_);
  }

 private:
  Turns& turns_;
  sc_core::sc_event ready_;
};

RootPort::RootPort(const sc_core::sc_module_name& name, unsigned index,
                   const RootPortConfig& config, const Common& common, HostIf& host,
                   vp::Domain& domain, vp::Statistics& statistics)
    : sc_module(name),
      Port(domain, {config.generation, config.lanes, common.latency, config.credits, true}),
      index_(index),
      id_(make_id(0, index + 1, 0)),
      common_(common),
      host_(host),
      log_(vp::log::get("pcie")),
      header_(space_, config.identity, 0),
      power_(space_),
      express_(space_, {PortType::root_port, config.generation, config.lanes, common.max_payload,
                        common.tags > 32, index + 1, index + 1, common.read_boundary, config.slot}),
      msi_(space_),
      errors_(space_, express_, PortType::root_port),
      link_capabilities_(space_, PortType::root_port, config.generation, config.lanes),
      access_control_(space_),
      interrupt_(domain, [this] { send_interrupt(); }),
      timeout_(domain, [this] { expire(); }),
      departure_(domain, [this] { send_due(); }) {
  space_.on_write(Type1Header::bridge_control, 2, [this](std::uint32_t) { bridge_controlled(); });
  space_.on_write(express_.offset() + 0x10, 2, [this](std::uint32_t) { link_controlled(); });
  express_.slot().on_write([this] { slot_controlled(); });
  errors_.advanced().on_root_write([this] { update_interrupt(); });
  if (config.containment) {
    containment_.emplace(space_);
    containment_->on_write([this] { containment_controlled(); });
  }
  for (const unsigned at : {static_cast<unsigned>(Header::command), msi_.offset() + 2}) {
    space_.on_write(at, 2, [this](std::uint32_t) { update_interrupt(); });
  }
  const std::string prefix = std::string(this->name()) + ".";
  statistics.counter(prefix + "completion_timeouts", timeouts_);
  statistics.counter(prefix + "unexpected_completions", unexpected_);
  statistics.counter(prefix + "unsupported_requests", unsupported_);
  statistics.counter(prefix + "acs_violations", acs_violations_);
  statistics.counter(prefix + "malformed_tlps", malformed_);
  statistics.counter(prefix + "requests_without_link", no_link_);
}

bool RootPort::routes(unsigned bus) const {
  const unsigned secondary = header_.secondary_bus();
  return secondary != 0 && secondary <= bus && bus <= header_.subordinate_bus();
}

void RootPort::reset() {
  space_.reset();
  express_.slot().reset();
  holds_ &= no_card;
  hold_link(Reset::fundamental);
  if (holds_ == 0 && release_link(Reset::fundamental)) express_.link_down(true);
  update_interrupt();
}

void RootPort::hold(Hold reason, Reset kind) {
  if (holds_ & reason) return;
  holds_ |= reason;
  hold_link(kind);
}

void RootPort::let_go(Hold reason) {
  if (!(holds_ & reason)) return;
  holds_ &= ~reason;
  if (holds_ == 0 && release_link(Reset::hot)) express_.link_down(true);
}

// 7.5.1.3.13: Secondary Bus Reset is a hot reset for as long as it is set.
void RootPort::bridge_controlled() {
  if (space_.test(Type1Header::bridge_control, Type1Header::secondary_bus_reset)) {
    hold(bus_reset, Reset::hot);
  } else {
    let_go(bus_reset);
  }
}

// 7.5.3.7: Link Disable.
void RootPort::link_controlled() {
  if (express_.link_disabled()) {
    hold(disabled, Reset::hot);
  } else {
    let_go(disabled);
  }
}

// 6.7.1.8: a card without power is as one that is not there, but for its presence.
void RootPort::slot_controlled() {
  if (express_.slot().powered()) {
    let_go(no_power);
  } else {
    hold(no_power, Reset::fundamental);
  }
  update_interrupt();
}

void RootPort::containment_controlled() {
  if (containment_->trigger_by_software()) contain();
  if (!containment_->triggered()) let_go(contained);
  update_interrupt();
}

// 6.2.11: the link is disabled, so that nothing passes any more in either direction.
void RootPort::contain() {
  hold(contained, Reset::hot);
  if (containment_->tells_by_correctable() && express_.reports(PciExpress::correctable_error)) {
    collect(Severity::correctable, id_);
  }
  update_interrupt();
}

bool RootPort::remove_card() {
  Slot& slot = express_.slot();
  if (!slot.occupied()) return false;
  const bool surprise = link_up() && !slot.config().surprise;  // 3.2.1
  slot.set_occupied(false);
  hold(no_card, Reset::fundamental);
  if (surprise) report(Error::surprise_down, nullptr);
  update_interrupt();
  return true;
}

bool RootPort::insert_card() {
  Slot& slot = express_.slot();
  if (!(holds_ & no_card)) return false;
  slot.set_occupied(true);
  let_go(no_card);
  update_interrupt();
  return true;
}

bool RootPort::press_attention_button() {
  const bool pressed = express_.slot().press_button();
  update_interrupt();
  return pressed;
}

// 2.9.1: what waits for a completion ends as an Unsupported Request; completions are dropped.
void RootPort::link_lost(Reset) {
  express_.link_down(false);
  delayed_.clear();
  departure_.cancel();
  last_delayed_ = 0;
  Turn::next(for_credits_);
  // 2.2.8.1: no interrupt is asserted without a link.
  for (unsigned pin = 0; pin < 4; ++pin) host_.intx(index_, pin, false);
  requests_.each([this](Requests::Request& request) {
    if (request.owner.finished) return;
    request.status = refusal();
    finish(request);
  });
  update_interrupt();
}

// How requests end without a link.
Status RootPort::refusal() const {
  return containment_ && containment_->triggered() ? containment_->refusal()
                                                   : Status::unsupported_request;
}

void RootPort::post(TlpPtr request) {
  if (!for_credits_.empty() || blocked(CreditClass::posted)) {
    Turn turn(for_credits_);
    turn.wait([this] { return !blocked(CreditClass::posted); });
    return send_posted(std::move(request));
  }
  send_posted(std::move(request));
}

void RootPort::send_posted(TlpPtr request) {
  if (!link_up()) {
    ++no_link_;
    return;
  }
  request->header.requester = id_;
  send(std::move(request));
}

void RootPort::unblocked(CreditClass of) {
  if (of == CreditClass::posted) Turn::next(for_credits_);
}

RootPort::Answer RootPort::transact(TlpPtr request, std::uint8_t* into) {
  if (!link_up()) {
    ++no_link_;
    return {true, refusal()};
  }
  wait_for_tag();
  if (!link_up()) {
    ++no_link_;
    return {true, refusal()};
  }
  request->header.requester = id_;
  Requests::Request& pending = requests_.start(*request, tags(), into);
  if (containment_) pending.owner.header = request->header_words();
  pending.owner.finished = false;
  pending.owner.abandoned = false;
  if (express_.completion_timeout()) {
    pending.deadline = vp::now() + common_.completion_timeout;
    if (!timeout_.pending()) timeout_.at(pending.deadline);
  }
  send(std::move(request));

  // A killed thread unwinds from wait(); its tag stays taken until the completion or the timeout.
  struct Guard {
    Requests::Request& pending;
    ~Guard() {
      if (pending.owner.finished) return;
      pending.owner.abandoned = true;
      pending.into = nullptr;
    }
  } guard{pending};
  while (!pending.owner.finished) sc_core::wait(pending.owner.done);
  const Answer answer{!pending.timed_out, pending.status};
  release(pending);
  return answer;
}

void RootPort::wait_for_tag() {
  if (for_tags_.empty() && requests_.available(tags())) return;
  Turn turn(for_tags_);
  turn.wait([this] { return requests_.available(tags()); });
}

void RootPort::finish(Requests::Request& request) {
  if (request.owner.abandoned) {
    release(request);
  } else {
    request.owner.finished = true;
    request.deadline = vp::never;
    request.owner.done.notify();
  }
}

void RootPort::release(Requests::Request& request) {
  requests_.release(request);
  if (requests_.count() == 0) timeout_.cancel();
  Turn::next(for_tags_);
}

bool RootPort::failed(RequestError error, const HeaderWords& request) {
  if (!containment_ || !containment_->log(error, request)) return false;
  if (containment_->severe(error, request) &&
      containment_->trigger(DownstreamPortContainment::Reason::request)) {
    contain();
  }
  return true;
}

void RootPort::expire() {
  while (Requests::Request* request = requests_.expired(vp::now())) {
    log_.log(timeouts_++ == 0 ? spdlog::level::warn : spdlog::level::debug,
             "{}: no completion in time", name());
    request->timed_out = true;
    const HeaderWords header = request->owner.header;
    finish(*request);
    if (!failed(RequestError::timeout, header)) report(Error::completion_timeout, nullptr);
  }
  const vp::Picoseconds next = requests_.deadline();
  if (next != vp::never) timeout_.at(next);
}

void RootPort::receive(TlpPtr tlp) {
  if (!well_formed(*tlp, express_.max_payload())) {
    log_.log(malformed_++ == 0 ? spdlog::level::warn : spdlog::level::debug, "{}: malformed {}",
             name(), to_string(tlp->header.type));
    return report(Error::malformed_tlp, tlp.get());
  }
  if (is_foreign(*tlp)) {
    ++acs_violations_;
    return detected(Error::acs_violation, tlp.get());
  }
  switch (tlp->header.type) {
    case TlpType::Cpl:
    case TlpType::CplD:
      return receive_completion(*tlp);
    case TlpType::MWr:
      return receive_write(*tlp);
    case TlpType::MRd:
      return receive_read(*tlp);
    case TlpType::FetchAdd:
    case TlpType::Swap:
    case TlpType::CAS:
      return receive_atomic(*tlp);
    case TlpType::Msg:
      return receive_message(*tlp);
    default:  // configuration requests only go down
      return unsupported(*tlp);
  }
}

bool RootPort::timeless(const Tlp& tlp) const {
  return tlp.header.type == TlpType::MWr && !tlp.header.poisoned && header_.master_enabled() &&
         well_formed(tlp, express_.max_payload()) &&
         host_.is_ram(tlp.get_address(), tlp.payload_bytes());
}

void RootPort::trained(unsigned generation, unsigned lanes) {
  express_.slot().seat();
  express_.trained(generation, lanes);
  link_capabilities_.trained(generation);
  update_interrupt();
}

// 2.7.1: what the port is the origin of has a digest where software wants that.
void RootPort::send(TlpPtr tlp) {
  tlp->header.ecrc = errors_.advanced().generates_digests();
  Port::send(std::move(tlp));
}

void RootPort::receive_message(const Tlp& message) {
  const unsigned code = message.header.message_code;
  if (code >= assert_inta && code < deassert_inta + 4) {
    return host_.intx(index_, code & 3, code < deassert_inta);
  }
  switch (code) {
    case err_cor:
      break;
    case err_nonfatal:
    case err_fatal:
      header_.set_received_system_error();
      break;
    default:
      return unsupported(message);
  }
  const Severity severity = code == err_cor        ? Severity::correctable
                            : code == err_nonfatal ? Severity::non_fatal
                                                   : Severity::fatal;
  // 6.2.11: a message that triggers goes no further.
  if (containment_ && containment_->trigger_by_message(severity, message.header.requester)) {
    return contain();
  }
  // 7.5.1.3.13: the bridge lets none through without SERR# Enable.
  if (!header_.forwards_errors()) return;
  collect(severity, message.header.requester);
}

void RootPort::receive_completion(const Tlp& completion) {
  const Requests::Outcome outcome = completion.header.requester == id_
                                        ? requests_.complete(completion)
                                        : Requests::Outcome{nullptr, false};
  if (!outcome.expected) {
    log_.log(unexpected_++ == 0 ? spdlog::level::warn : spdlog::level::debug,
             "{}: unexpected completion, tag {}", name(), completion.header.tag);
    return report(Error::unexpected_completion, &completion);
  }
  if (outcome.finished != nullptr) {
    const HeaderWords header = outcome.finished->owner.header;
    finish(*outcome.finished);
    if (completion.header.status == Status::unsupported_request) {
      failed(RequestError::unsupported, header);
    } else if (completion.header.status == Status::completer_abort) {
      failed(RequestError::aborted, header);
    }
  }
  if (completion.header.poisoned) report(Error::poisoned_tlp, &completion);
}

void RootPort::receive_write(const Tlp& request) {
  if (!header_.master_enabled()) return unsupported(request);
  if (request.header.poisoned) return report(Error::poisoned_tlp, &request);
  if (!host_.write(request)) unsupported(request);
}

void RootPort::receive_read(Tlp& request) {
  vp::Picoseconds delay = 0;
  if (!header_.master_enabled() || !host_.read(request, delay)) return unsupported(request);
  complete_read(request, id_, express_.max_payload(), common_.read_boundary,
                [&](TlpPtr completion) { send_after(delay, std::move(completion)); });
}

// 6.15.2: what is poisoned or not for memory leaves the target as it was.
void RootPort::receive_atomic(Tlp& request) {
  if (!header_.master_enabled()) return unsupported(request);
  if (request.header.poisoned) {
    report(Error::poisoned_tlp, &request);
    return send(Tlp::completion(request, id_, Status::unsupported_request));  // 2.7.2.2
  }
  vp::Picoseconds delay = 0;
  switch (host_.atomic(request, delay)) {
    case Status::success:
      return send_after(delay, complete_atomic(request, id_));
    case Status::unsupported_request:
      return unsupported(request);
    default:
      report(Error::completer_abort, &request);
      return send(Tlp::completion(request, id_, Status::completer_abort));
  }
}

// 6.12.1.1: ACS source validation.
bool RootPort::is_foreign(const Tlp& tlp) const {
  return access_control_.validates_sources() && !tlp.is_completion() &&
         !routes(bus_of(tlp.header.requester));
}

void RootPort::unsupported(const Tlp& request) {
  log_.log(unsupported_++ == 0 ? spdlog::level::warn : spdlog::level::debug,
           "{}: unsupported {} from {} at {:#x}", name(), to_string(request.header.type),
           pcie::to_string(request.header.requester), request.get_address());
  report(Error::unsupported_request, &request);
  if (request.is_non_posted()) send(Tlp::completion(request, id_, Status::unsupported_request));
}

void RootPort::detected(Error error, const Tlp* tlp) {
  report(error, tlp);
  if (tlp == nullptr || !tlp->is_non_posted()) return;
  if (const auto status = refusal_of(error)) send(Tlp::completion(*tlp, id_, *status));
}

// 7.8.4.10: as if the root port had sent a message to itself; but none that triggers containment.
void RootPort::report(Error error, const Tlp* tlp) {
  const bool uncorrectable = errors_.is_uncorrectable(error, tlp);
  const auto severity = errors_.report(error, tlp);
  if (uncorrectable && containment_ &&
      containment_->trigger(DownstreamPortContainment::Reason::uncorrectable_error)) {
    return contain();
  }
  if (severity) collect(*severity, id_);
}

void RootPort::collect(Severity severity, Id source) {
  errors_.advanced().collect(severity, source);
  update_interrupt();
}

// 6.2.4.1.2, 6.7.3.4: a message each time one of the conditions becomes true.
void RootPort::update_interrupt() {
  const unsigned before = conditions_;
  conditions_ = 0;
  if (msi_.enabled() && header_.master_enabled()) {
    if (errors_.advanced().interrupting()) conditions_ |= root_error;
    if (express_.slot().interrupting()) conditions_ |= slot_event;
    if (containment_ && containment_->interrupting()) conditions_ |= containment_event;
  }
  if (conditions_ & ~before && !interrupt_.pending()) interrupt_.after(common_.latency);
  if (conditions_ == 0) interrupt_.cancel();
}

void RootPort::send_interrupt() {
  const std::uint32_t data = msi_.data();
  const std::uint8_t bytes[4] = {static_cast<std::uint8_t>(data),
                                 static_cast<std::uint8_t>(data >> 8), 0, 0};
  const TlpPtr tlp = Tlp::memory_write(msi_.address(), bytes, 4);
  tlp->header.requester = id_;
  host_.write(*tlp);
}

// Completions keep their order, also when memory answers a later read sooner.
void RootPort::send_after(vp::Picoseconds delay, TlpPtr tlp) {
  last_delayed_ = std::max(last_delayed_, vp::now() + delay);
  if (last_delayed_ <= vp::now()) return send(std::move(tlp));
  delayed_.push({last_delayed_, std::move(tlp)});
  if (!departure_.pending()) departure_.at(last_delayed_);
}

void RootPort::send_due() {
  while (!delayed_.empty() && delayed_.front().when <= vp::now()) send(delayed_.pop().tlp);
  if (!delayed_.empty()) departure_.at(delayed_.front().when);
}

}  // namespace pcie
