// SPDX-License-Identifier: Apache-2.0
// The kind `checksum`: what a platform file may say about such a device, its netlist, and its
// registration.
#include "models/device/kind.h"

#include "checksum.h"
#include "models/device/initiator_adapter.h"
#include "models/device/interrupt_adapter.h"
#include "models/device/target_adapter.h"

namespace {

/// What a platform file says about such a device. The values here are the defaults.
struct Description : device::Description {
  vp::config::PciId id{0xf0ae, 0x0c00};
  std::int64_t time_per_byte = 1 * vp::ns;
};

std::vector<vp::config::Key<Description>> keys() {
  using namespace vp::config;
  return {
      {"id", &Description::id, pci_id(), "PCI vendor and device id"},
      {"time_per_byte", &Description::time_per_byte, duration(0, 1 * vp::us),
       "Time that a byte takes in the device, after it has arrived"},
  };
}

/// An endpoint with one function, and the model behind it.
///
///     link --- endpoint --- BAR 0 ---> registers
///                           DMA <----- memory
///                           MSI-X <--- irq
struct ChecksumDevice : device::Device {
  ChecksumDevice(const sc_core::sc_module_name& name, const Description& description,
                 const device::Site& site)
      : Device(name, site, {function_config(description)}),
        checksum("checksum", vp::to_sc_time(description.time_per_byte)),
        registers("registers", endpoint.function(0), domain),
        memory("memory", endpoint.function(0)),
        interrupt("interrupt", endpoint.function(0)) {
    registers.socket.bind(checksum.registers);
    checksum.memory.bind(memory.socket);
    checksum.irq.bind(interrupt.line);
    endpoint.function(0).on_reset([this] { checksum.reset(); });
  }

  static pcie::FunctionConfig function_config(const Description& description) {
    pcie::FunctionConfig config;
    config.identity.vendor = description.id.vendor;
    config.identity.device = description.id.device;
    config.bars = {pcie::BarConfig::memory_32(0, 0x1000)};
    config.msi_x = {1, 0, 0x800, 0, 0xc00};  // one vector; its table and pending bit are in BAR 0
    return config;
  }

  Checksum checksum;
  device::TargetAdapter<> registers;
  device::InitiatorAdapter<> memory;
  device::InterruptAdapter interrupt;
};

const device::Registration<Description, ChecksumDevice> kind(
    "checksum", "A device that computes CRC-32 of bytes in host memory", keys);

}  // namespace
