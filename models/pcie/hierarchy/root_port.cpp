// SPDX-License-Identifier: Apache-2.0
#include "models/pcie/hierarchy/root_port.h"

#include <algorithm>

#include "models/pcie/protocol/atomic.h"
#include "models/pcie/protocol/split.h"

namespace pcie {

using RequestError = DownstreamPortContainment::RequestError;

namespace {

PciExpressConfig express_config(unsigned index, const RootPortConfig& config,
                                const RootPort::Common& common) {
  PciExpressConfig express;
  express.type = PortType::root_port;
  express.generation = config.generation;
  express.lanes = config.lanes;
  express.max_payload = common.max_payload;
  express.extended_tags = common.tags > 32;
  express.port_number = index + 1;
  express.slot_number = index + 1;
  express.read_boundary = common.read_boundary;
  express.hot_plug = config.hot_plug;
  express.peers = common.peers != 0;
  express.deferrable_writes = common.deferrable_writes;
  express.active_states = config.active_states;
  return express;
}

// The ports draw different times.
CompletionConfig completion_config(unsigned index, CompletionConfig config) {
  config.seed += index;
  return config;
}

}  // namespace

class RootPort::Turn {
 public:
  explicit Turn(Turns& turns) : turns_(turns) { turns_.push_back(this); }
  // This also runs if the thread is killed while it waits.
  ~Turn() {
    turns_.erase(std::find(turns_.begin(), turns_.end(), this));
    next(turns_);
  }
  static void next(Turns& turns) {
    if (!turns.empty()) turns.front()->ready_.wake();
  }
  template <typename Possible>
  void wait(Possible possible) {
    while (turns_.front() != this || !possible()) ready_.wait();
  }

 private:
  Turns& turns_;
  vp::Wakeup ready_;
};

RootPort::RootPort(const sc_core::sc_module_name& name, unsigned index,
                   const RootPortConfig& config, const Common& common, HostIf& host,
                   vp::Domain& domain, vp::Statistics& statistics)
    : DownstreamPort(name, config, express_config(index, config, common), common.peers,
                     common.latency, domain, statistics),
      index_(index),
      id_(make_id(0, index + 1, 0)),
      common_(common),
      host_(host),
      timeout_(domain, [this] { expire(); }),
      completions_(completion_config(index, common.completions), domain,
                   [this](TlpPtr completion) { send(std::move(completion)); }) {
  errors_.advanced().on_root_write([this] { update_interrupt(); });
  const std::string prefix = std::string(this->name()) + ".";
  statistics.counter(prefix + "completion_timeouts", timeouts_);
  statistics.counter(prefix + "peer_to_peer", peer_to_peer_);
  statistics.counter(prefix + "redirected", redirected_);
  statistics.counter(prefix + "requests_without_link", no_link_);
}

void RootPort::reset() {
  begin_reset(Reset::fundamental);
  end_reset();
}

// 2.9.1: requests that wait for completions end as Unsupported Requests; completions are dropped.
void RootPort::link_lost(Reset kind) {
  completions_.clear();
  Turn::next(for_credits_);
  requests_.each([this](Requests::Request& request) {
    if (request.owner.finished) return;
    request.status = refusal();
    finish(request);
  });
  DownstreamPort::link_lost(kind);
  closed_ = {};
  if (common_.peers != 0) host_.drain();
}

void RootPort::post(TlpPtr request) {
  if (!for_credits_.empty() || blocked(CreditClass::posted)) {
    struct Share {
      RootPort& port;
      ~Share() { port.admit_peers(); }
    } share{*this};
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

// A waiting processor precedes devices, and one packet of a device precedes the next processor.
void RootPort::unblocked(CreditClass of) {
  const bool processors_turn = of == CreditClass::posted && !for_credits_.empty();
  if (processors_turn) Turn::next(for_credits_);
  if (common_.peers == 0) return;
  closed_[static_cast<unsigned>(of)] = processors_turn;
  if (!processors_turn) host_.drain();
}

void RootPort::admit_peers() {
  if (common_.peers == 0) return;
  closed_[static_cast<unsigned>(CreditClass::posted)] = false;
  host_.drain();
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
  add_digest(*request);
  if (containment_) pending.owner.header = request->header_words();
  pending.owner.finished = false;
  pending.owner.abandoned = false;
  const vp::Picoseconds timeout = express_.completion_timeout(common_.completion_timeout);
  if (timeout != vp::never) {
    pending.deadline = vp::now() + timeout;
    if (pending.deadline < timeout_.when()) timeout_.at(pending.deadline);
  }
  vp::Agenda::get().defer_alarms();
  send(std::move(request));

  // A killed thread unwinds from wait(). Its tag stays in use until the completion or the timeout.
  struct Guard {
    Requests::Request& pending;
    ~Guard() {
      if (pending.owner.finished) return;
      pending.owner.abandoned = true;
      pending.into = nullptr;
    }
  } guard{pending};
  while (!pending.owner.finished) pending.owner.done.wait();
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
    request.owner.done.wake();
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
  if (refuse_malformed(*tlp)) return;
  errors_.conventional().received(Side::secondary, *tlp);
  if (refuse_foreign(*tlp)) return;
  if (common_.peers != 0 && route(tlp)) return;
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
    case TlpType::DMWr:
      return receive_deferrable(*tlp);
    case TlpType::Msg:
      return receive_message(*tlp);
    default:  // configuration requests only travel downstream
      return unsupported(*tlp);
  }
}

RootPort::Claim RootPort::claim(const Tlp& tlp) const {
  RootPort* port = nullptr;
  if (tlp.header.type == TlpType::DMWr) return {};
  if (tlp.is_memory()) {
    if (takes_requests()) port = host_.claiming(tlp.get_address());
  } else if (tlp.is_completion() && tlp.header.requester != id_) {
    port = host_.routing(bus_of(tlp.header.requester));
  }
  if (port == nullptr) return {};
  return {port, route_to(*port, tlp)};
}

const RootPort* RootPort::exit(const Tlp& tlp) const {
  if (common_.peers == 0 || is_malformed(tlp) || is_foreign(tlp)) return nullptr;
  const Claim found = claim(tlp);
  const bool goes = found.route == AccessControl::Route::straight ||
                    found.route == AccessControl::Route::upstream;
  return goes ? found.port : nullptr;
}

bool RootPort::ready(const Tlp& tlp) const {
  const RootPort* port = exit(tlp);
  return port == nullptr || port->open(credit_class(tlp.header.type));
}

// Forwards a packet that a root port claims. Returns whether one does.
bool RootPort::route(TlpPtr& tlp) {
  const Claim found = claim(*tlp);
  switch (found.route) {
    case AccessControl::Route::upstream:  // 6.12.1.1: there is no IOMMU that could forbid it
      ++redirected_;
      [[fallthrough]];
    case AccessControl::Route::straight:
      ++peer_to_peer_;
      if (!lets_pass(*tlp)) return true;
      if (TlpPtr answer = found.port->forward_peer(std::move(tlp))) send(std::move(answer));
      return true;
    case AccessControl::Route::violation:
      violation(*tlp);
      return true;
    case AccessControl::Route::none:
      return false;
  }
  return false;
}

// Sends a packet of another device down. Returns the completion if this port refuses a request.
TlpPtr RootPort::forward_peer(TlpPtr tlp) {
  const CreditClass of = credit_class(tlp->header.type);
  TlpPtr answer = forward(std::move(tlp));
  closed_[static_cast<unsigned>(of)] = blocked(of);
  return answer;
}

bool RootPort::can_arrive_early(const Tlp& tlp) const {
  return tlp.header.type == TlpType::MWr && !tlp.header.poisoned && takes_requests() &&
         well_formed(tlp, express_.max_payload()) && !is_foreign(tlp) &&
         host_.is_ram(tlp.get_address(), tlp.payload_bytes());
}

// 2.7.1: packets of this port have a digest if software has enabled digests.
void RootPort::add_digest(Tlp& tlp) const {
  tlp.header.ecrc = errors_.advanced().generates_digests();
}

void RootPort::send(TlpPtr tlp) {
  if (tlp->is_completion()) tlp->header.id_based_ordering &= express_.id_based_completions();
  add_digest(*tlp);
  Port::send(std::move(tlp));
}

void RootPort::receive_completion(const Tlp& completion) {
  const Requests::Outcome outcome = completion.header.requester == id_
                                        ? requests_.complete(completion)
                                        : Requests::Outcome{nullptr, false};
  if (!outcome.expected) return unexpected(completion);
  errors_.conventional().completed(Side::secondary, completion.header.status);
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
  if (!takes_requests()) return unsupported(request);
  if (request.header.poisoned) return report(Error::poisoned_tlp, &request);
  if (!host_.write(request)) unsupported(request);
}

void RootPort::receive_read(Tlp& request) {
  vp::Picoseconds delay = 0;
  // The model has no translation agent.
  const bool translation = request.header.address_type == AddressType::translation_request;
  if (!takes_requests() || translation || !host_.read(request, delay)) {
    return unsupported(request);
  }
  const CompletionSize size{express_.max_payload(), common_.read_boundary,
                            common_.completions.at_boundaries};
  complete_read(request, id_, size,
                [&](TlpPtr completion) { completions_.send_after(delay, std::move(completion)); });
}

// 6.15.2: a poisoned request, or one that is not for memory, does not change the target.
void RootPort::receive_atomic(Tlp& request) {
  if (!takes_requests()) return unsupported(request);
  if (request.header.poisoned) {
    report(Error::poisoned_tlp, &request);
    return send(Tlp::completion(request, id_, Status::unsupported_request));  // 2.7.2.2
  }
  vp::Picoseconds delay = 0;
  switch (host_.atomic(request, delay)) {
    case Status::success:
      return completions_.send_after(delay, complete_atomic(request, id_));
    case Status::unsupported_request:
      return unsupported(request);
    default:
      report(Error::completer_abort, &request);
      return send(Tlp::completion(request, id_, Status::completer_abort));
  }
}

void RootPort::answer_requester(TlpPtr completion) {
  if (RootPort* peer = host_.routing(bus_of(completion->header.requester)))
    peer->send(std::move(completion));
}

void RootPort::send_error_message(Severity severity, Id source) {
  errors_.advanced().collect(severity, source);
  update_interrupt();
}

unsigned RootPort::more_conditions() {
  if (!errors_.advanced().interrupting()) return 0;
  return root_error;
}

// PCIe 6.0, 6.32: a request longer than supported is refused.
void RootPort::receive_deferrable(const Tlp& request) {
  if (!takes_requests() || request.payload_bytes() > common_.deferrable_writes) {
    return unsupported(request);
  }
  if (request.header.poisoned) {
    report(Error::poisoned_tlp, &request);
    return send(Tlp::completion(request, id_, Status::unsupported_request));
  }
  vp::Picoseconds delay = 0;
  const Status status = host_.deferrable_write(request, delay);
  if (status != Status::success) return unsupported(request);
  completions_.send_after(delay, Tlp::completion(request, id_, status));
}

}  // namespace pcie
