// SPDX-License-Identifier: Apache-2.0
#include "models/device/device.h"

#include <utility>

namespace device {
namespace {

pcie::EndpointConfig with_functions(pcie::EndpointConfig config,
                                    std::vector<pcie::FunctionConfig> functions) {
  config.functions = std::move(functions);
  return config;
}

}  // namespace

Device::Device(const sc_core::sc_module_name& name, const Site& site,
               std::vector<pcie::FunctionConfig> functions)
    : sc_module(name),
      domain("domain"),
      endpoint("endpoint", with_functions(site.endpoint, std::move(functions)), domain,
               site.statistics) {}

std::string Device::inject(const std::vector<std::string_view>&) {
  return "a device of this kind has no faults of its own";
}

std::string Device::export_storage(unsigned, int) const {
  return "a device of this kind stores nothing";
}

}  // namespace device
