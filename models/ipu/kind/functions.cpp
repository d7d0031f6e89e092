// SPDX-License-Identifier: Apache-2.0
#include "models/ipu/kind/functions.h"

#include "models/pcie/endpoint/test_function.h"
#include "oae_memory_map.h"

namespace ipu {
namespace {

static_assert(OAE_STREAM_SIZE == OAE_PORT_SIZE);

// The smallest power of two that has room for this: a BAR has such a size.
std::uint64_t bar_size(std::uint64_t room) {
  std::uint64_t bytes = OAE_PORT_SIZE;
  while (bytes < room) bytes *= 2;
  return bytes;
}

std::uint64_t port_bar_size(unsigned ports) {
  return bar_size(ports * std::uint64_t{OAE_PORT_SIZE});
}

/// Describes a function beside function 0, as far as all of these are alike.
void describe(pcie::FunctionConfig& function, const vp::config::PciId& id,
              const FunctionsDescription& functions) {
  function.identity.vendor = id.vendor;
  function.identity.device = id.device;
  function.identity.class_code =
      0xff0000;  // does not fit any defined class (PCI Code and ID Assignment)
  function.identity.revision = functions.revision;
  function.identity.subsystem_vendor = functions.subsystem.vendor;
  function.identity.subsystem = functions.subsystem.device;
  function.reset_time = 1 * vp::ms;
  function.no_soft_reset = false;
}

pcie::FunctionConfig test_function_config(const FunctionsDescription& functions) {
  const TestFunctionDescription& test = functions.test;
  pcie::FunctionConfig function =
      pcie::TestFunction::function_config(test.msi_vectors, test.msi_x_vectors);
  describe(function, test.id, functions);
  return function;
}

pcie::FunctionConfig queue_function_config(const FunctionsDescription& functions) {
  const QueueFunctionDescription& queue = functions.queue;
  pcie::FunctionConfig function;
  describe(function, queue.id, functions);
  function.bars = {pcie::BarConfig::memory_64(OAE_QUEUE_BAR, OAE_QUEUE_BAR_SIZE),
                   pcie::BarConfig::prefetchable_64(
                       OAE_QUEUE_MEMORY_BAR, bar_size(static_cast<std::uint64_t>(queue.memory)))};
  function.msi_x = {queue.vectors, OAE_QUEUE_BAR, OAE_QUEUE_BAR_MSI_X_TABLE_BASE, OAE_QUEUE_BAR,
                    OAE_QUEUE_BAR_MSI_X_PENDING_BASE};
  return function;
}

pcie::FunctionConfig load_function_config(const FunctionsDescription& functions) {
  pcie::FunctionConfig function;
  describe(function, functions.load.id, functions);
  function.bars = {pcie::BarConfig::memory_64(OAE_LOAD_BAR, OAE_LOAD_BAR_SIZE)};
  return function;
}

}  // namespace

std::vector<pcie::FunctionConfig> function_configs(const Description& ipu) {
  const FunctionsDescription& functions = ipu.functions;
  pcie::FunctionConfig function;
  function.identity.vendor = functions.id.vendor;
  function.identity.device = functions.id.device;
  function.identity.class_code = functions.class_code;
  function.identity.revision = functions.revision;
  function.identity.subsystem_vendor = functions.subsystem.vendor;
  function.identity.subsystem = functions.subsystem.device;
  function.reset_time = 1 * vp::ms;
  function.no_soft_reset = false;  // so a host can also reset it by D3hot
  function.bars = {
      pcie::BarConfig::memory_64(OAE_REGISTER_BAR, OAE_REGISTER_BAR_SIZE),
      pcie::BarConfig::prefetchable_64(OAE_PORT_BAR, port_bar_size(ipu.oae.ports)),
      pcie::BarConfig::prefetchable_64(OAE_STREAM_BAR, port_bar_size(ipu.oae.ports)),
  };
  function.msi_x.vectors = OAE_REGISTER_BAR_SHARED_VECTORS + ipu.oae.ports;
  function.msi_x.table_bar = OAE_REGISTER_BAR;
  function.msi_x.table_offset = OAE_REGISTER_BAR_MSI_X_TABLE_BASE;
  function.msi_x.pending_bar = OAE_REGISTER_BAR;
  function.msi_x.pending_offset = OAE_REGISTER_BAR_MSI_X_PENDING_BASE;

  if (functions.virtual_functions > 0) {
    pcie::VirtualFunctionsConfig& virtual_functions = function.virtual_functions;
    virtual_functions.count = functions.virtual_functions;
    virtual_functions.device = static_cast<std::uint16_t>(functions.id.device + 1);
    virtual_functions.bars = {
        pcie::BarConfig::prefetchable_64(OAE_VIRTUAL_BAR, OAE_VIRTUAL_BAR_SIZE)};
    virtual_functions.msi_x = {1, OAE_VIRTUAL_BAR, OAE_VIRTUAL_BAR_MSI_X_TABLE_BASE,
                               OAE_VIRTUAL_BAR, OAE_VIRTUAL_BAR_MSI_X_PENDING_BASE};
  }

  std::vector<pcie::FunctionConfig> all = {function};
  if (functions.test.present) all.push_back(test_function_config(functions));
  if (functions.queue.present) all.push_back(queue_function_config(functions));
  if (functions.load.present) all.push_back(load_function_config(functions));
  return all;
}

}  // namespace ipu
