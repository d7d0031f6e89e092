// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <systemc>
#include <vector>

#include "models/device/site.h"
#include "models/pcie/endpoint/endpoint.h"
#include "vp/time/domain.h"

namespace vp {
class Console;
namespace qemu {
class Instance;
}  // namespace qemu
}  // namespace vp

namespace device {

/// A device: an endpoint with a domain of its own. A kind derives from this the netlist of its
/// device logic. A link is connected to the endpoint, and does all that concerns links: faults,
/// resets, hot-plug, statistics and the trace of packets.
class Device : public sc_core::sc_module {
 public:
  /// Throws pcie::ConfigurationError if a value is impossible.
  Device(const sc_core::sc_module_name& name, const Site& site,
         std::vector<pcie::FunctionConfig> functions);

  /// Makes the device itself fail, in the words of its kind; faults of links are not meant. Returns
  /// why that is impossible, or an empty string.
  virtual std::string inject(const std::vector<std::string_view>& words);
  /// Writes what the device stores to an empty file that is open for writing. A device with several
  /// storages has them from number 1 on; Description::storages() is their number. Returns why that
  /// is impossible, or an empty string.
  virtual std::string export_storage(unsigned number, int file) const;
  /// The console of the device, under the device's name, or nullptr. See
  /// Description::console_target.
  virtual vp::Console* serial_console() { return nullptr; }
  /// The QEMU that executes the processors of the device, or nullptr. See processors.h.
  virtual vp::qemu::Instance* processors() { return nullptr; }

  vp::Domain domain;
  pcie::Endpoint endpoint;
};

}  // namespace device
