// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <systemc>
#include <vector>

#include "models/device/device.h"
#include "models/ipu/bar_router.h"
#include "models/ipu/copy_device.h"
#include "models/ipu/dma_engine.h"
#include "models/ipu/kind/description.h"
#include "models/ipu/kind/oae_links.h"
#include "models/ipu/kind/qemu_storage.h"
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
#include "models/oae/relay.h"
#include "models/pcie/endpoint/test_function.h"
#include "vp/console/console.h"
#include "vp/qemu/instance.h"

namespace ipu {

/// An IPU: an endpoint whose function 0 is the OAE device, and the machine behind that. When the
/// card is pulled or its slot has no power, all of it forgets everything. When power is back, the
/// firmware begins anew.
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
class IpuDevice : public device::Device {
 public:
  IpuDevice(const sc_core::sc_module_name& name, const Description& ipu, const device::Site& site);

  vp::Console* serial_console() override { return &console; }
  vp::qemu::Instance* processors() override { return &qemu; }

  /// The links with a window, in the order of the platform file: those of `oae` or of `relay`.
  std::vector<oae::WindowLink*> window_links();

  vp::Console console;
  vp::qemu::Instance qemu;
  QemuStorage sram_bytes;
  QemuStorage dram_bytes;

  BarRouter bars;
  Noc noc;
  Memory sram;
  Memory dram;
  Pl011 uart;
  Mailbox mailbox;
  DmaEngine dma;
  SystemController system_controller;
  oae::Block oae;
  // Those without a window, in the order of the platform file.
  std::vector<std::unique_ptr<oae::Link>> oae_links;
  std::optional<oae::Relay> relay;
  std::optional<pcie::TestFunction> test_function;
  std::optional<QueueMemory> queue_memory;
  std::optional<QueueController> queue_controller;
  std::optional<LoadGenerator> load_generator;
  std::vector<std::unique_ptr<CopyDevice>> virtual_devices;  // by the number of the VF

 private:
  void lose_power();
  void power_up();
  void note_power(bool on) const;
  void add_test_function(const Description& ipu, pcie::Function& function);
  void add_queue_function(const Description& ipu, pcie::Function& function,
                          vp::Statistics& statistics);
  void add_load_function(pcie::Function& function, vp::Statistics& statistics);
  void add_virtual_functions(const Description& ipu);
  void add_oae_links(const device::Site& site);
  void add_relay(const std::vector<const OaeLink*>& links, const device::Site& site);

  vp::Trace& trace_;
  bool powered_ = true;
  vp::Event power_up_{domain, [this] { power_up(); }};

  // Input of a user reaches the UART as soon as no core has executed past that time.
  vp::Event input_{domain, [this] {
                     while (console.has_input()) {
                       const char byte = console.read();
                       if (powered_) uart.receive({&byte, 1});
                     }
                   }};
};

}  // namespace ipu
