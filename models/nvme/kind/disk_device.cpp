// SPDX-License-Identifier: Apache-2.0
#include "models/nvme/kind/disk_device.h"

#include <exception>

namespace nvme {
namespace {

pcie::FunctionConfig function_config(const Description& description) {
  pcie::FunctionConfig function = Controller::function_config(controller_config(description, 0));
  function.identity.device = description.id.device;
  function.identity.subsystem = 0x0001;
  return function;
}

}  // namespace

ControllerConfig controller_config(const Description& description, std::uint64_t seed) {
  ControllerConfig config;
  for (const NamespaceDescription& each : description.namespaces) {
    DiskConfig& disk = config.namespaces.emplace_back();
    if (each.image) disk.image = each.image->path.string();
    disk.size = static_cast<std::uint64_t>(each.size);
    disk.block_size = each.block_size;
    disk.write_through = each.write_through;
    disk.overlay_memory = static_cast<std::uint64_t>(each.overlay_memory);
    disk.cache = static_cast<std::uint64_t>(each.cache);
  }
  config.read_latency = description.read_latency;
  config.write_latency = description.write_latency;
  config.admin_latency = description.admin_latency;
  config.bytes_per_second = static_cast<std::uint64_t>(description.rate) / 8;
  config.ready_time = description.ready_time;
  config.queue_pairs = description.queue_pairs;
  config.queue_entries = description.queue_entries;
  config.commands = description.commands;
  config.max_transfer = description.max_transfer;
  config.seed = seed;
  config.serial_number =
      description.serial_number.empty() ? description.name : description.serial_number;
  config.model_number = description.model_number;
  config.vendor = description.id.vendor;
  return config;
}

DiskDevice::DiskDevice(const sc_core::sc_module_name& name, const Description& description,
                       const device::Site& site)
    : Device(name, site, {function_config(description)}),
      controller("controller", controller_config(description, site.seed), domain, site.trace,
                 site.statistics) {
  pcie::Function& function = endpoint.function(0);
  function.bar.bind(controller.bar);
  controller.host.dma.bind(function.dma);
  controller.interrupt.bind(function);
  function.on_reset([this] { controller.reset(); });
  function.on_power_loss([this] { controller.lose_power(); });
}

std::string DiskDevice::export_storage(unsigned number, int file) const {
  try {
    controller.export_disk(number, file);
  } catch (const std::exception& error) {
    return error.what();
  }
  return {};
}

}  // namespace nvme
