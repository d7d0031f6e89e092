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

}  // namespace device
