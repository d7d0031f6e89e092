// SPDX-License-Identifier: Apache-2.0
#include "models/pcie/root_port.h"

#include <fmt/format.h>

#include <algorithm>

#include "models/pcie/errors.h"
#include "models/pcie/split.h"
#include "vp/log/log.h"

namespace pcie {

class RootPort::Turn {
 public:
  explicit Turn(RootPort& port) : port_(port) { port_.turns_.push_back(this); }
  // Also when the thread is killed while it waits.
  ~Turn() {
    auto& turns = port_.turns_;
    turns.erase(std::find(turns.begin(), turns.end(), this));
    if (!turns.empty()) turns.front()->ready.notify();
  }
  sc_core::sc_event ready;

 private:
  RootPort& port_;
};

RootPort::RootPort(const sc_core::sc_module_name& name, unsigned index,
                   const RootPortConfig& config, const Common& common, HostIf& host,
                   vp::Domain& domain, vp::Statistics& statistics)
    : sc_module(name),
      Port(domain, {config.generation, config.lanes, common.latency}),
      index_(index),
      id_(make_id(0, index + 1, 0)),
      common_(common),
      host_(host),
      log_(vp::log::get("pcie")),
      header_(space_, config.identity, 0),
      power_(space_),
      express_(space_, {PortType::root_port, config.generation, config.lanes, common.max_payload,
                        common.tags > 32, index + 1, index + 1, common.read_boundary}),
      msi_(space_),
      errors_(space_, express_, PortType::root_port),
      link_capabilities_(space_, PortType::root_port, config.generation, config.lanes),
      access_control_(space_),
      interrupt_(domain, [this] { send_interrupt(); }),
      timeout_(domain, [this] { expire(); }),
      departure_(domain, [this] { send_due(); }) {
  space_.on_write(Type1Header::bridge_control, 2,
                  [this](std::uint32_t before) { bridge_controlled(before); });
  errors_.advanced().on_root_write([this] { update_interrupt(); });
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
  update_interrupt();
  hold_link(Reset::fundamental);
  if (release_link(Reset::fundamental)) express_.link_down(true);
}

// 7.5.1.3.13: Secondary Bus Reset is a hot reset for as long as it is set.
void RootPort::bridge_controlled(std::uint32_t before) {
  const bool was = before >> Type1Header::secondary_bus_reset & 1;
  const bool is = space_.test(Type1Header::bridge_control, Type1Header::secondary_bus_reset);
  if (is == was) return;
  if (is) {
    hold_link(Reset::hot);
  } else if (release_link(Reset::hot)) {
    express_.link_down(true);
  }
}

// 2.9.1: what waits for a completion ends as an Unsupported Request; completions are dropped.
void RootPort::link_lost(Reset) {
  express_.link_down(false);
  delayed_.clear();
  departure_.cancel();
  last_delayed_ = 0;
  // 2.2.8.1: no interrupt is asserted without a link.
  for (unsigned pin = 0; pin < 4; ++pin) host_.intx(index_, pin, false);
  requests_.each([this](Requests::Request& request) {
    if (request.owner.finished) return;
    request.status = Status::unsupported_request;
    finish(request);
  });
}

void RootPort::post(TlpPtr request) {
  if (!link_up()) {
    ++no_link_;
    return;
  }
  request->header.requester = id_;
  send(std::move(request));
}

RootPort::Answer RootPort::transact(TlpPtr request, std::uint8_t* into) {
  if (!link_up()) {
    ++no_link_;
    return {true, Status::unsupported_request};
  }
  wait_for_tag();
  if (!link_up()) {
    ++no_link_;
    return {true, Status::unsupported_request};
  }
  request->header.requester = id_;
  Requests::Request& pending = requests_.start(*request, tags(), into);
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
  if (turns_.empty() && requests_.available(tags())) return;
  Turn turn(*this);
  while (turns_.front() != &turn || !requests_.available(tags())) sc_core::wait(turn.ready);
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
  if (!turns_.empty()) turns_.front()->ready.notify();
}

void RootPort::expire() {
  while (Requests::Request* request = requests_.expired(vp::now())) {
    log_.log(timeouts_++ == 0 ? spdlog::level::warn : spdlog::level::debug,
             "{}: no completion in time", name());
    report(Error::completion_timeout, nullptr);
    request->timed_out = true;
    finish(*request);
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
    case TlpType::Msg:
      return receive_message(*tlp);
    default:  // configuration requests only go down
      return unsupported(*tlp);
  }
}

void RootPort::trained(unsigned generation, unsigned lanes) {
  express_.trained(generation, lanes);
  link_capabilities_.trained(generation);
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
  // 7.5.1.3.13: the bridge lets none through without SERR# Enable.
  if (!header_.forwards_errors()) return;
  const Severity severity = code == err_cor        ? Severity::correctable
                            : code == err_nonfatal ? Severity::non_fatal
                                                   : Severity::fatal;
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
  if (completion.header.poisoned) report(Error::poisoned_tlp, &completion);
  if (outcome.finished != nullptr) finish(*outcome.finished);
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

// 7.8.4.10: as if the root port had sent a message to itself.
void RootPort::report(Error error, const Tlp* tlp) {
  if (const auto severity = errors_.report(error, tlp)) collect(*severity, id_);
}

void RootPort::collect(Severity severity, Id source) {
  errors_.advanced().collect(severity, source);
  update_interrupt();
}

// 6.2.4.1.2: one message each time the condition becomes true.
void RootPort::update_interrupt() {
  const bool before = interrupting_;
  interrupting_ = msi_.enabled() && header_.master_enabled() && errors_.advanced().interrupting();
  if (interrupting_ && !before && !interrupt_.pending()) interrupt_.after(common_.latency);
  if (!interrupting_) interrupt_.cancel();
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
