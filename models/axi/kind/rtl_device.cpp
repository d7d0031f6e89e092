// SPDX-License-Identifier: Apache-2.0
#include "models/axi/kind/rtl_device.h"

namespace axi {
namespace {

pcie::FunctionConfig function_config(const Description& description) {
  pcie::FunctionConfig function =
      Bridge::function_config(*description.type, static_cast<std::uint64_t>(description.clock));
  function.identity.vendor = description.id.vendor;
  function.identity.device = description.id.device;
  function.identity.subsystem_vendor = description.subsystem.vendor;
  function.identity.subsystem = description.subsystem.device;
  return function;
}

BridgeConfig bridge_config(const Description& description, const device::Site& site) {
  // Seeds of devices differ in a few bits. Verilator's are 31 bits, and 0 would be random.
  const std::uint64_t mixed = site.seed * 0x9e3779b97f4a7c15 >> 34;
  return {static_cast<std::uint64_t>(description.clock), static_cast<int>(mixed) + 1, site.vcd};
}

}  // namespace

RtlDevice::RtlDevice(const sc_core::sc_module_name& name, const Description& description,
                     const device::Site& site)
    : Device(name, site, {function_config(description)}),
      bridge("bridge", *description.type, bridge_config(description, site), domain, site.trace,
             site.statistics) {
  pcie::Function& function = endpoint.function(0);
  function.bar.bind(bridge.bar);
  bridge.dma.bind(function.dma);
  bridge.interrupt.bind(function);
  function.on_reset([this] { bridge.reset(); });
}

}  // namespace axi
