// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "models/device/device.h"
#include "models/pcie/hierarchy/switch.h"
#include "models/pcie/link/link.h"
#include "platforms/description/platform.h"
#include "platforms/machine/host_machine.h"

namespace platform {

/// All parts that a platform file describes, connected.
class Machine {
 public:
  /// What a run decides about a device.
  struct DeviceOptions {
    std::optional<unsigned> gdb_port;  ///< its processors wait for GDB before the first instruction
    std::string vcd;                   ///< its waveform file; empty for none
    bool check_rtl = false;            ///< whether the assertions of its RTL are checked
  };

  /// Options of the parts that come from the run, not from the platform file.
  struct Options {
    std::function<HostMachine::Options(const Host&)> host;
    std::function<DeviceOptions(const std::string& name)> device;
  };

  Machine(const Platform& platform, const Options& options, Outcome& outcome, vp::Trace& trace,
          vp::Statistics& statistics);

  /// Injects an error: `LINK.down ERROR [TLP [NUMBER]]`, or `LINK.up`; see pcie::Fault. Or makes a
  /// device itself fail: `DEVICE FAULT...`, in the words of its kind. Returns why that is
  /// impossible, or an empty string.
  std::string inject(std::string_view what);

  /// Writes what a device stores to an empty file that is open for writing. `storage` is
  /// `DEVICE.NUMBER`, or `DEVICE` for the first one. Returns why that is impossible, or an empty
  /// string.
  std::string export_storage(std::string_view storage, int file) const;

  /// Does at a hot-plug slot of this host what a person could do there: `LINK remove`, `insert`,
  /// `button`, `open`, `close`; or lets its power fail: `LINK power_fault`. Returns why that is
  /// impossible, or an empty string.
  std::string operate_hot_plug(const std::string& host, std::string_view what);

  std::vector<std::unique_ptr<HostMachine>> hosts;
  std::vector<std::unique_ptr<pcie::Switch>> switches;
  std::vector<std::unique_ptr<device::Device>> devices;  ///< as Platform::all_devices() has them
  std::vector<std::unique_ptr<pcie::Link>> links;
  std::vector<std::unique_ptr<vp::Event>> faults;  ///< faults of the platform file

 private:
  struct HotPlugSlot {
    std::string host;
    const pcie::Link* link;
    pcie::DownstreamPort* port;
  };

  void build_devices(const Options& options, Outcome& outcome);
  void time_fault(device::Device& device, const device::Fault& fault);
  void connect_sections();
  void connect(const PcieLink& link, pcie::DownstreamPort& port, HostMachine& host);
  device::Device* device(std::string_view name) const;
  std::string inject_into_link(const std::vector<std::string_view>& word);
  pcie::Port& add_switch(const Switch& described, const PcieLink& above, HostMachine& host);

  const Platform& platform_;
  vp::Trace& trace_;
  vp::Statistics& statistics_;
  std::vector<HotPlugSlot> hot_plug_slots_;
};

}  // namespace platform
