// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <systemc>
#include <vector>

#include "models/ipu/bar_router.h"
#include "models/ipu/copy_device.h"
#include "models/ipu/dma_engine.h"
#include "models/ipu/load_generator.h"
#include "models/ipu/mailbox.h"
#include "models/ipu/memory.h"
#include "models/ipu/noc.h"
#include "models/ipu/pl011.h"
#include "models/ipu/queue_controller.h"
#include "models/ipu/queue_memory.h"
#include "models/ipu/system_controller.h"
#include "models/oae/block.h"
#include "models/oae/link.h"
#include "models/pcie/endpoint/endpoint.h"
#include "models/pcie/endpoint/test_function.h"
#include "platforms/description/platform.h"
#include "platforms/machine/outcome.h"
#include "platforms/machine/qemu_storage.h"
#include "vp/console/console.h"
#include "vp/qemu/instance.h"
#include "vp/statistics/statistics.h"
#include "vp/time/domain.h"
#include "vp/trace/trace.h"

namespace platform {

/// An IPU: an endpoint whose function 0 is the OAE device, and the machine behind that.
///
///     link --- endpoint PF0 --- BARs --- OAE block ---+
///                   |             `----- mailbox -----+
///                   +--- DMA --- OAE block, engine ---+--- NoC --- cores (QEMU: GICv3, timers)
///                                console, controller -+
///                                      SRAM, DRAM ----+
///                                OAE links to others -+
///                 PF1, if present: test function
///          a PF, if present --- BAR --- queue memory --- NoC, and beside the cores
///                        `---- interrupts --- queue controller --- NoC
///          a PF, if present: load generator
///                  VF i --- BAR, DMA --- DMA engine with its own memory
class IpuMachine : public sc_core::sc_module {
 public:
  struct Options {
    std::optional<unsigned> gdb_port;  ///< QEMU waits for GDB before the first instruction
    std::string vcd;                   ///< waveform file of the OAE block; empty for none
    bool check_rtl = false;            ///< whether the assertions of the RTL are checked
  };

  /// `link` is the one whose lower end is at this IPU.
  IpuMachine(const sc_core::sc_module_name& name, const Ipu& ipu, const Platform& platform,
             const PcieLink& link, const Options& options, Outcome& outcome, vp::Trace& trace,
             vp::Statistics& statistics);

  vp::Domain domain;
  vp::Console console;
  vp::qemu::Instance qemu;
  QemuStorage sram_bytes;
  QemuStorage dram_bytes;

  pcie::Endpoint endpoint;
  ipu::BarRouter bars;
  ipu::Noc noc;
  ipu::Memory sram;
  ipu::Memory dram;
  ipu::Pl011 uart;
  ipu::Mailbox mailbox;
  ipu::DmaEngine dma;
  ipu::SystemController system_controller;
  oae::Block oae;
  std::vector<std::unique_ptr<oae::Link>> oae_links;  // in the order of the platform file
  std::optional<pcie::TestFunction> test_function;
  std::optional<ipu::QueueMemory> queue_memory;
  std::optional<ipu::QueueController> queue_controller;
  std::optional<ipu::LoadGenerator> load_generator;
  std::vector<std::unique_ptr<ipu::CopyDevice>> virtual_devices;  // by the number of the VF

 private:
  // Input of a user reaches the UART as soon as no core has executed past that time.
  vp::Event input_{domain, [this] {
                     while (console.has_input()) {
                       const char byte = console.read();
                       uart.receive({&byte, 1});
                     }
                   }};
};

}  // namespace platform
