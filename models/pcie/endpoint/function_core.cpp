// SPDX-License-Identifier: Apache-2.0
#include "models/pcie/endpoint/function_core.h"

#include <utility>

#include "vp/log/log.h"

namespace pcie {
namespace {

std::unique_ptr<EndpointHeader> make_header(ConfigSpace& space, const FunctionConfig& config,
                                            bool multi_function,
                                            const std::optional<FunctionCore::Virtual>& of) {
  if (of) {
    return std::make_unique<VirtualHeader>(space, config.identity, of->sr_iov, of->index);
  }
  return std::make_unique<Type0Header>(space, config.identity, multi_function, config.interrupt_pin,
                                       config.bars);
}

PciExpressConfig express_config(unsigned number, const FunctionCore::Common& common,
                                const FunctionConfig& function) {
  PciExpressConfig config;
  config.type = PortType::endpoint;
  config.generation = common.generation;
  config.lanes = common.lanes;
  config.max_payload = common.max_payload;
  config.max_read_request = common.max_read_request;
  config.extended_tags = common.tags > 32;
  config.ten_bit_tags = common.tags > 256;
  config.deferrable_writes = function.deferrable_writes;
  config.active_states = common.active_states;
  config.function = number;
  return config;
}

}  // namespace

FunctionCore::FunctionCore(const char* name, unsigned number, const FunctionConfig& config,
                           const Common& common, Uplink& uplink, const std::optional<Virtual>& of,
                           const FunctionCore* first)
    : name_(name),
      log_(vp::log::get("pcie")),
      number_(number),
      physical_(of ? &of->physical : nullptr),
      sr_iov_(of ? &of->sr_iov : nullptr),
      virtual_number_(of ? of->index + 1 : 0),
      common_(common),
      uplink_(uplink),
      id_(make_alternative_id(0, number)),
      header_(make_header(space_, config, common.multi_function, of)),
      power_(space_, config.no_soft_reset),
      express_(space_, express_config(number, common, config),
               physical_ != nullptr ? &physical_->express_ : nullptr),
      payload_governor_(physical_ != nullptr ? physical_->payload_governor_
                        : common.alternative_routing && first != nullptr ? first->express_
                                                                         : express_),
      errors_(space_, express_, PortType::endpoint,
              physical_ != nullptr ? &physical_->errors_ : nullptr),
      deferrable_writes_(config.deferrable_writes) {
  if (deferrable_writes_ > 0) {
    device_3_.emplace(space_, physical_ != nullptr ? &*physical_->device_3_ : nullptr);
  }
}

// 6.6.2: no error is logged during a reset.
std::optional<Severity> FunctionCore::log_error(Error error, const Tlp* tlp) {
  return ready() ? errors_.report(error, tlp) : std::nullopt;
}

void FunctionCore::report(Error error, const Tlp* tlp) {
  if (const auto severity = log_error(error, tlp)) send_error_message(*severity);
}

bool FunctionCore::send_error_message(Severity severity) {
  if (!uplink_.up() || !errors_.sends_message(severity)) return false;
  send(Tlp::message(error_message(severity), id_));
  return true;
}

}  // namespace pcie
