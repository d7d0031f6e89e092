// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <systemc>

#include "models/host/device_memory.h"
#include "models/pcie/config/config_mechanism.h"
#include "models/pcie/hierarchy/root_complex.h"
#include "platforms/description/platform.h"
#include "platforms/machine/outcome.h"
#include "vp/console/console.h"
#include "vp/control/control_channel.h"
#include "vp/qemu/instance.h"
#include "vp/qemu/memory_target.h"
#include "vp/statistics/statistics.h"
#include "vp/time/domain.h"

namespace platform {

/// A host: its processors, memory and console are in QEMU, and its root complex in SystemC.
///
///     vCPUs --- ECAM, PCIe windows --- device memory --- root complex --- root port n --- link n
///       |       ports 0xcf8                                  |
///       +-- ports 0xe00: control channel                     +--- memory, interrupts
class HostMachine : public sc_core::sc_module {
 public:
  struct Options {
    std::optional<unsigned> gdb_port;  ///< QEMU waits for GDB before the first instruction
    vp::ControlChannel::Handlers control;
  };

  /// `links` are those whose upper end is at this host, in the order of its root ports.
  HostMachine(const sc_core::sc_module_name& name, const Host& host, const Platform& platform,
              const std::vector<const PcieLink*>& links, Options options, Outcome& outcome,
              vp::Statistics& statistics);

  vp::Domain domain;
  vp::Console console;
  vp::ControlChannel control;
  vp::qemu::Instance qemu;
  vp::qemu::MemoryTarget memory;
  pcie::ConfigMechanism config_mechanism;
  host::DeviceMemory device_memory;
  pcie::RootComplex root_complex;

 private:
  void map_pcie();

  std::string panic_;
  vp::Event panicked_;
};

}  // namespace platform
