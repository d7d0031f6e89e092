// SPDX-License-Identifier: Apache-2.0
#include "models/pcie/endpoint/endpoint.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "models/pcie/protocol/configuration_error.h"
#include "vp/log/log.h"

namespace pcie {
namespace {

unsigned most_deferrable(const EndpointConfig& config) {
  unsigned most = 0;
  for (const FunctionConfig& function : config.functions) {
    most = std::max(most, function.deferrable_writes);
  }
  return most;
}

}  // namespace

Endpoint::Endpoint(const sc_core::sc_module_name& name, const EndpointConfig& config,
                   vp::Domain& domain, vp::Statistics& statistics)
    : sc_module(name),
      Port(domain, {config.generation, config.lanes, config.latency, config.credits, false,
                    most_deferrable(config), config.active_states}),
      log_(vp::log::get("pcie")) {
  const std::size_t count = config.functions.size();
  if (count < 1 || count > 256)
    throw ConfigurationError("an endpoint must have 1 to 256 functions");
  unsigned virtual_functions = 0;
  for (const FunctionConfig& function : config.functions) {
    virtual_functions += function.virtual_functions.count;
  }
  if (256 + virtual_functions > 0xffff) {
    throw ConfigurationError("an endpoint has more virtual functions than routing IDs");
  }
  alternative_routing_ = count > 8 || virtual_functions > 0;
  if (config.tags != 32 && config.tags != 256 && config.tags != 768) {
    throw ConfigurationError("the number of tags must be 32, 256 or 768");
  }
  if (config.latency < 0 || config.completion_timeout <= 0) {
    throw ConfigurationError(
        "a latency must not be negative, and the completion timeout must be positive");
  }
  const Function::Common common{config.generation,
                                config.lanes,
                                config.max_payload,
                                config.max_read_request,
                                config.tags,
                                config.completion_timeout,
                                count > 1,
                                alternative_routing_,
                                config.active_states,
                                config.eye,
                                config.completions,
                                config.aligned_requests};
  Function::Uplink& uplink = *this;
  Function::Place place;
  place.first_virtual = count;
  for (unsigned i = 0; i < count; ++i) {
    place.number = i;
    place.next = i + 1 < count ? i + 1 : 0;
    place.first = i > 0 ? functions_[0].get() : nullptr;
    const FunctionConfig& function = config.functions[i];
    functions_.push_back(std::make_unique<Function>(fmt::format("pf{}", i).c_str(), place, function,
                                                    common, uplink, domain, statistics));
    if (function.virtual_functions.count == 0) continue;
    if (place.lowest_with_sr_iov == nullptr) place.lowest_with_sr_iov = functions_[i].get();
    place.first_virtual += function.virtual_functions.count;
    place.first_virtual_without_ari += function.virtual_functions.count;
  }
  const std::string prefix = std::string(this->name()) + ".";
  statistics.counter(prefix + "unsupported_requests", unsupported_);
  statistics.counter(prefix + "absent_function_requests", absent_);
  statistics.counter(prefix + "malformed_tlps", malformed_);
  statistics.counter(prefix + "unexpected_completions", unexpected_);
  statistics.counter(prefix + "messages_ignored", messages_ignored_);
}

void Endpoint::receive(TlpPtr tlp) {
  if (!well_formed(*tlp, functions_[0]->max_payload())) {
    log_.log(malformed_++ == 0 ? spdlog::level::warn : spdlog::level::debug, "{}: malformed {}",
             name(), to_string(tlp->header.type));
    return report(Error::malformed_tlp, tlp.get());
  }
  switch (tlp->header.type) {
    case TlpType::CfgRd0:
    case TlpType::CfgWr0:
      if (Function* function = addressed(*tlp)) return configure(*function, *tlp);
      ++absent_;
      return functions_[0]->send(
          Tlp::completion(*tlp, tlp->header.target, Status::unsupported_request));
    case TlpType::CfgRd1:  // 9.2.1.2: the only devices behind an endpoint are virtual functions
    case TlpType::CfgWr1:
      if (Function* function = addressed(*tlp)) return configure(*function, *tlp);
      return unsupported(*tlp);
    case TlpType::MWr:
      if (Function* function = claiming(*tlp)) {
        if (!tlp->header.poisoned) return function->receive_write(std::move(tlp));
        return function->report(Error::poisoned_tlp, tlp.get());
      }
      return unsupported(*tlp);
    case TlpType::MRd:
      if (Function* function = claiming(*tlp)) return function->receive_read(std::move(tlp));
      return unsupported(*tlp);
    case TlpType::Cpl:
    case TlpType::CplD:
      if (Function* function = virtual_function(tlp->header.requester)) {
        return function->receive_completion(*tlp);
      }
      if (Function* function = physical(tlp->header.requester)) {
        return function->receive_completion(*tlp);
      }
      ++unexpected_;
      return report(Error::unexpected_completion, tlp.get());
    case TlpType::FetchAdd:  // 6.15.2: no BAR supports AtomicOps
    case TlpType::Swap:
    case TlpType::CAS:
      if (Function* function = claiming(*tlp)) return function->refuse(*tlp);
      return unsupported(*tlp);
    case TlpType::DMWr:
      if (Function* function = claiming(*tlp)) return receive_deferrable(*function, std::move(tlp));
      return unsupported(*tlp);
    case TlpType::Msg:  // the model has no messages that go down
      if (is_ignored_message(tlp->header.message_code)) {
        ++messages_ignored_;
        return;
      }
      return unsupported(*tlp);
  }
}

// PCIe 6.0, 6.32: a request longer than supported is refused.
void Endpoint::receive_deferrable(Function& function, TlpPtr request) {
  if (request->payload_bytes() > function.deferrable_writes()) return function.refuse(*request);
  if (!request->header.poisoned) return function.receive_read(std::move(request));
  function.report(Error::poisoned_tlp, request.get());
  function.send(Tlp::completion(*request, function.id(), Status::unsupported_request));
}

void Endpoint::trained(unsigned generation, unsigned lanes) {
  for (const auto& function : functions_) {
    function->trained(generation, lanes, partner_generation(), flits());
  }
}

void Endpoint::retrained(unsigned generation, unsigned lanes) {
  for (const auto& function : functions_) function->retrained(generation, lanes);
}

// 7.5.3.7: with ARI, function 0 decides; without ARI, all functions must agree.
unsigned Endpoint::active_states() const {
  unsigned states = functions_[0]->active_states();
  if (alternative_routing_) return states;
  for (const auto& function : functions_) states &= function->active_states();
  return states;
}

// 7.5.3.7: one function suffices.
bool Endpoint::extended_synch() const {
  return std::any_of(functions_.begin(), functions_.end(),
                     [](const auto& function) { return function->extended_synch(); });
}

void Endpoint::unblocked(CreditClass of) {
  if (of != CreditClass::posted) return;
  // The functions take turns to be the first.
  first_ = (first_ + 1) % functions_.size();
  for (std::size_t i = 0; i < functions_.size(); ++i) {
    functions_[(first_ + i) % functions_.size()]->unblocked();
  }
}

// 2.2.8.1: the functions share the four wires of the link, and a message says that a wire has
// changed.
void Endpoint::set_pin(unsigned number, unsigned pin, bool level) {
  std::bitset<256>& drivers = pins_[pin - 1];
  const bool before = drivers.any();
  drivers.set(number, level);
  if (drivers.any() == before) return;
  const unsigned code = (level ? assert_inta : deassert_inta) + pin - 1;
  functions_[0]->send(Tlp::message(static_cast<MessageCode>(code), functions_[0]->id()));
}

void Endpoint::link_lost(Reset kind) {
  pins_ = {};
  for (const auto& function : functions_) function->reset(kind);
}

void Endpoint::powered_up() {
  for (const auto& function : functions_) function->powered_up();
}

void Endpoint::configure(Function& function, const Tlp& request) {
  if (!request.header.poisoned) {
    const unsigned before = active_states();
    function.receive_config(request);
    if (active_states() != before) active_states_changed();
    return;
  }
  function.report(Error::poisoned_tlp, &request);
  function.send(Tlp::completion(request, function.id(), Status::unsupported_request));
}

// The number alone identifies a physical function; its bus is learnt from configuration writes.
Function* Endpoint::physical(Id id) {
  const unsigned number = alternative_routing_ ? alternative_function_of(id) : function_of(id);
  return number < functions_.size() ? functions_[number].get() : nullptr;
}

Function* Endpoint::virtual_function(Id id) {
  if (!alternative_routing_) return nullptr;
  for (const auto& function : functions_) {
    if (Function* found = function->virtual_function_of(id)) return found;
  }
  return nullptr;
}

// Bridges turn requests for the bus of their link into type 0, so these are for physical functions.
Function* Endpoint::addressed(const Tlp& config_request) {
  const TlpHeader& header = config_request.header;
  const bool direct = header.type == TlpType::CfgRd0 || header.type == TlpType::CfgWr0;
  Function* function = direct ? physical(header.target) : nullptr;
  return function != nullptr ? function : virtual_function(header.target);
}

Function* Endpoint::claiming(const Tlp& request) {
  for (const auto& function : functions_) {
    if (Function* found = function->claiming(request)) return found;
  }
  return nullptr;
}

void Endpoint::unsupported(const Tlp& request) {
  log_.log(unsupported_++ == 0 ? spdlog::level::warn : spdlog::level::debug,
           "{}: unsupported {} at {:#x}", name(), to_string(request.header.type),
           request.get_address());
  report(Error::unsupported_request, &request);
  if (request.is_non_posted()) {
    functions_[0]->send(Tlp::completion(request, functions_[0]->id(), Status::unsupported_request));
  }
}

bool Endpoint::checks_digests() const {
  return std::any_of(functions_.begin(), functions_.end(),
                     [](const auto& function) { return function->checks_digests(); });
}

// 6.2.4: all functions log an error that belongs to none of them, and one of them reports it.
void Endpoint::report(Error error, const Tlp* tlp) {
  bool reported[3] = {};
  for (const auto& function : functions_) {
    if (error == Error::ecrc && !function->checks_digests()) continue;
    const auto severity = function->log(error, tlp);
    if (!severity || reported[static_cast<unsigned>(*severity)]) continue;
    reported[static_cast<unsigned>(*severity)] = function->send_error_message(*severity);
  }
}

void Endpoint::detected(Error error, const Tlp* tlp) {
  Function* function = nullptr;
  switch (error) {
    case Error::poisoned_tlp:
    case Error::completer_abort:
    case Error::unsupported_request:
      if (tlp != nullptr && tlp->is_memory()) function = claiming(*tlp);
      if (tlp != nullptr && tlp->is_config()) function = addressed(*tlp);
      [[fallthrough]];
    case Error::completion_timeout:
    case Error::unexpected_completion:
      if (function == nullptr) function = functions_[0].get();
      function->report(error, tlp);
      break;
    default:
      return report(error, tlp);
  }
  if (tlp == nullptr || !tlp->is_non_posted()) return;
  if (const auto status = refusal_of(error))
    function->send(Tlp::completion(*tlp, function->id(), *status));
}

}  // namespace pcie
