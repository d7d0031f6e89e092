// SPDX-License-Identifier: Apache-2.0
#include "models/pcie/endpoint.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "models/pcie/errors.h"
#include "vp/log/log.h"

namespace pcie {

Endpoint::Endpoint(const sc_core::sc_module_name& name, const EndpointConfig& config,
                   vp::Domain& domain, vp::Statistics& statistics)
    : sc_module(name),
      Port(domain, {config.generation, config.lanes, config.latency, config.credits}),
      log_(vp::log::get("pcie")) {
  const std::size_t count = config.functions.size();
  if (count < 1 || count > 8) throw ConfigurationError("an endpoint has 1 to 8 functions");
  if (config.tags != 32 && config.tags != 256) throw ConfigurationError("tags: 32 or 256");
  if (config.latency < 0 || config.completion_timeout <= 0) {
    throw ConfigurationError("a latency is negative, or the completion timeout not positive");
  }
  const Function::Common common{config.generation,         config.lanes,
                                config.max_payload,        config.tags,
                                config.completion_timeout, count > 1};
  Function::Uplink& uplink = *this;
  for (unsigned i = 0; i < count; ++i) {
    functions_.push_back(std::make_unique<Function>(fmt::format("pf{}", i).c_str(), i,
                                                    config.functions[i], common, uplink, domain,
                                                    statistics));
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
      if (Function* function = present(tlp->header.target)) {
        if (!tlp->header.poisoned) return function->receive_config(*tlp);
        function->report(Error::poisoned_tlp, tlp.get());
        return send(Tlp::completion(*tlp, function->id(), Status::unsupported_request));
      }
      ++absent_;
      return send(Tlp::completion(*tlp, tlp->header.target, Status::unsupported_request));
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
      if (Function* function = present(tlp->header.requester)) {
        return function->receive_completion(*tlp);
      }
      ++unexpected_;
      return report(Error::unexpected_completion, tlp.get());
    case TlpType::Msg:
      ++messages_ignored_;
      return;
    case TlpType::CfgRd1:  // there is no bus behind an endpoint
    case TlpType::CfgWr1:
      return unsupported(*tlp);
  }
}

void Endpoint::trained(unsigned generation, unsigned lanes) {
  for (const auto& function : functions_) function->trained(generation, lanes);
}

// Nothing passes a write that device logic has not taken yet.
bool Endpoint::ready(CreditClass) const {
  return std::none_of(functions_.begin(), functions_.end(),
                      [](const auto& function) { return function->writing(); });
}

void Endpoint::unblocked(CreditClass of) {
  if (of != CreditClass::posted) return;
  // They take turns to be the first.
  first_ = (first_ + 1) % functions_.size();
  for (std::size_t i = 0; i < functions_.size(); ++i) {
    functions_[(first_ + i) % functions_.size()]->unblocked();
  }
}

void Endpoint::link_lost(Reset kind) {
  for (const auto& function : functions_) function->reset(kind);
}

Function* Endpoint::present(Id target) {
  const unsigned number = function_of(target);
  return number < functions_.size() ? functions_[number].get() : nullptr;
}

Function* Endpoint::claiming(const Tlp& request) {
  for (const auto& function : functions_) {
    if (function->claims(request)) return function.get();
  }
  return nullptr;
}

void Endpoint::unsupported(const Tlp& request) {
  log_.log(unsupported_++ == 0 ? spdlog::level::warn : spdlog::level::debug,
           "{}: unsupported {} at {:#x}", name(), to_string(request.header.type),
           request.get_address());
  report(Error::unsupported_request, &request);
  if (request.is_non_posted()) {
    send(Tlp::completion(request, functions_[0]->id(), Status::unsupported_request));
  }
}

// 6.2.4: an error that belongs to no function is logged by all, and told of once.
void Endpoint::report(Error error, const Tlp* tlp) {
  bool told[3] = {};
  for (const auto& function : functions_) {
    const auto severity = function->log(error, tlp);
    if (!severity || told[static_cast<unsigned>(*severity)]) continue;
    told[static_cast<unsigned>(*severity)] = true;
    function->tell(*severity);
  }
}

void Endpoint::detected(Error error, const Tlp* tlp) {
  Function* function = nullptr;
  switch (error) {
    case Error::poisoned_tlp:
    case Error::completer_abort:
    case Error::unsupported_request:
      if (tlp != nullptr && tlp->is_memory()) function = claiming(*tlp);
      if (tlp != nullptr && tlp->is_config()) function = present(tlp->header.target);
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
  if (const auto status = refusal_of(error)) send(Tlp::completion(*tlp, function->id(), *status));
}

}  // namespace pcie
