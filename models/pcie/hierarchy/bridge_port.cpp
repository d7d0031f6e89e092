// SPDX-License-Identifier: Apache-2.0
#include "models/pcie/hierarchy/bridge_port.h"

#include "vp/log/log.h"

namespace pcie {

BridgePort::BridgePort(const sc_core::sc_module_name& name, const Identity& identity,
                       const Eye& eye, const PortConfig& port, const PciExpressConfig& express,
                       vp::Domain& domain, vp::Statistics& statistics)
    : sc_module(name),
      Port(domain, port),
      log_(vp::log::get("pcie")),
      header_(space_, identity, 0),
      power_(space_),
      express_(space_, express),
      msi_(space_),
      errors_(space_, express_, express.type),
      link_capabilities_(space_, express.type, port.generation, port.lanes, eye) {
  const std::string prefix = std::string(this->name()) + ".";
  statistics.counter(prefix + "unexpected_completions", unexpected_);
  statistics.counter(prefix + "unsupported_requests", unsupported_);
  statistics.counter(prefix + "malformed_tlps", malformed_);
}

bool BridgePort::refuse_malformed(const Tlp& tlp) {
  if (!is_malformed(tlp)) return false;
  log_.log(malformed_++ == 0 ? spdlog::level::warn : spdlog::level::debug, "{}: malformed {}",
           name(), to_string(tlp.header.type));
  report(Error::malformed_tlp, &tlp);
  return true;
}

TlpPtr BridgePort::refused(const Tlp& request, Status status) const {
  if (!request.is_non_posted()) return nullptr;
  TlpPtr completion = Tlp::completion(request, id(), status);
  completion->header.id_based_ordering &= express_.id_based_completions();
  return completion;
}

// Software finds absent devices by configuration requests, so these are no reason for a warning.
TlpPtr BridgePort::refuse_unsupported(const Tlp& request) {
  const bool warns = unsupported_++ == 0 && !request.is_config();
  log_.log(warns ? spdlog::level::warn : spdlog::level::debug,
           "{}: unsupported {} from {} at {:#x}", name(), to_string(request.header.type),
           pcie::to_string(request.header.requester), request.get_address());
  report(Error::unsupported_request, &request);
  return refused(request, Status::unsupported_request);
}

void BridgePort::unexpected(const Tlp& completion) {
  log_.log(unexpected_++ == 0 ? spdlog::level::warn : spdlog::level::debug,
           "{}: unexpected completion, tag {}", name(), completion.header.tag);
  report(Error::unexpected_completion, &completion);
}

void BridgePort::report(Error error, const Tlp* tlp, Place place) {
  const bool uncorrectable = errors_.is_uncorrectable(error, tlp, place);
  const auto severity = errors_.report(error, tlp, place);
  if (uncorrectable && contain_error()) return;
  if (severity && errors_.sends_message(*severity)) signal_error(*severity);
}

void BridgePort::detected(Error error, const Tlp* tlp) {
  report(error, tlp);
  if (tlp == nullptr) return;
  if (const auto status = refusal_of(error)) answer(refused(*tlp, *status));
}

void BridgePort::trained(unsigned generation, unsigned lanes) {
  express_.trained(generation, lanes, flits());
  link_capabilities_.trained(generation, partner_generation());
}

void BridgePort::retrained(unsigned generation, unsigned lanes) {
  express_.retrained(generation, lanes);
  link_capabilities_.retrained(generation);
}

}  // namespace pcie
