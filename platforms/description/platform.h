// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "models/device/description.h"
#include "models/device/section.h"
#include "vp/config/schema.h"

/// What a platform file describes. The values here are the defaults.
/// platforms/description/schema.cpp holds the key, the range and the description of each. Times are
/// in picoseconds, sizes in bytes.
namespace platform {

using device::Completions;
using device::ConsoleKind;
using vp::config::File;
using vp::config::Instant;

inline constexpr std::int64_t ns = 1'000;
inline constexpr std::int64_t us = 1'000 * ns;
inline constexpr std::int64_t ms = 1'000 * us;
inline constexpr std::int64_t s = 1'000 * ms;
inline constexpr std::int64_t KiB = 1'024;
inline constexpr std::int64_t MiB = 1'024 * KiB;
inline constexpr std::int64_t GiB = 1'024 * MiB;

inline constexpr std::int64_t longest_quantum = 1 * ms;

struct Simulation {
  std::int64_t max_quantum = 1 * us;  ///< how far a vCPU may run ahead; changes no result
  std::int64_t vcpu_slice =
      1 * us;  ///< how long a vCPU runs before its sibling does; changes results
  std::int64_t spin_slice =
      1 * ms;                  ///< how long it runs while a vCPU spins, if less than vcpu_slice
  std::uint32_t seed = 1;      ///< of all that is random to a guest
  Instant rtc{1'767'225'600};  ///< 2026-01-01; the guest's clock at the start
};

struct Qemu {
  File host_library;  ///< libqemu-x86_64.so
  /// Those of the processors of devices, by their kind.
  std::map<std::string, std::optional<File>> libraries;
  File roms;  ///< directory with the BIOS and the option ROMs

  /// Returns the library of a kind of device, or nullptr if none is named.
  const File* library_of(const std::string& kind) const;
};

struct RootComplex {
  std::int64_t latency = 100 * ns;     ///< to pass it, each way
  std::int64_t memory_latency = 0;     ///< added to a device's read of host memory
  std::int64_t interrupt_latency = 0;  ///< added to a message interrupt
  std::int64_t completion_timeout = 50 * ms;
  bool peer_to_peer = false;  ///< lets devices below different root ports reach each other
  Completions completions;    ///< of devices' reads of host memory
};

struct Host {
  std::string name;
  unsigned vcpus = 1;
  std::string cpu = "max";
  std::int64_t instruction_rate = 1'000'000'000;  ///< instructions/s of each vCPU
  unsigned write_combining_buffers = 10;          ///< lines of 64 bytes for each vCPU; 0: none
  std::int64_t memory = 512 * MiB;
  File kernel;
  std::optional<File> initrd;
  std::string append;
  ConsoleKind console = ConsoleKind::terminal;
  RootComplex root_complex;
};

/// A PCIe switch. It belongs to the domain of the host above it.
struct Switch {
  std::string name;
  std::int64_t latency = 100 * ns;  ///< from one port to another
  bool cut_through = false;         ///< sends a packet on before its last byte has arrived
  unsigned max_payload_size = 256;
};

/// Flow control credits that a receiver advertises; 0 is infinite.
struct Credits {
  std::string buffer = "link";  ///< whose receive buffer; without effect if any credits are given
  unsigned posted_headers = 0;
  unsigned posted_data = 0;  ///< in units of 16 bytes
  unsigned non_posted_headers = 0;
  unsigned non_posted_data = 0;
  unsigned completion_headers = 0;  ///< finite only at a switch
  unsigned completion_data = 0;
  unsigned scale = 1;  ///< how many credits one on the wire may stand for
};

/// An error that is injected into a link: that of a pcie::Fault, or lane_failure.
struct PcieFault {
  std::string direction;
  std::string error;
  std::string tlp;  ///< type of the packet; empty: an error that belongs to no packet
  unsigned number = 1;
  unsigned lane = 0;    ///< the lane that fails, for a lane_failure
  std::int64_t at = 0;  ///< simulated time
};

/// Active state power management: the states that ports support, and when a link enters them.
struct ActiveStates {
  bool l0s = false;
  bool l1 = false;
  std::int64_t l0s_after = 1 * us;
  std::int64_t l1_after = 10 * us;
};

/// How many steps lane margining takes until a receiver sees errors.
struct Eye {
  unsigned timing = 10;
  unsigned voltage = 20;
};

/// What a person does at a hot-plug slot, or a fault of its power, in the words of `vpctl
/// hot_plug`.
struct HotPlugAction {
  std::string action;
  std::int64_t at = 0;  ///< simulated time
};

/// A hot-plug slot, or the place of a fixed card.
struct HotPlug {
  bool capable = false;
  bool surprise = false;
  bool attention_button = false;
  bool indicators = false;
  bool power_controller = false;
  bool latch = false;
  bool interlock = false;
  std::int64_t command_time = 0;
  std::vector<HotPlugAction> actions;
};

struct PcieLink {
  std::string up;    ///< name of the host or switch
  std::string down;  ///< name of the device or switch
  unsigned generation = 4;
  unsigned lanes = 16;
  std::int64_t latency_down = 250 * ns;  ///< PHY and wire
  std::int64_t latency_up = 250 * ns;
  unsigned max_payload_size = 256;
  unsigned max_read_request_size = 512;
  double bit_error_rate = 0;          ///< of each lane
  std::int64_t retraining = 20 * us;  ///< from Recovery back to L0
  std::string dllps = "traffic";      ///< how ACKs and UpdateFCs are accounted for
  std::int64_t transmit_queue = 0;    ///< bytes at each end; 0: as many as the link needs
  std::int64_t retry_buffer = 0;      ///< likewise
  Credits credits_down;               ///< what the lower end's receive buffer advertises
  Credits credits_up;                 ///< what the upper end's receive buffer advertises
  std::vector<PcieFault> faults;
  ActiveStates aspm;
  Eye eye;
  HotPlug hot_plug;  ///< of the port at the upper end
  bool downstream_port_containment = false;
};

struct Platform {
  std::string name;
  std::string title;
  std::vector<File> plugins;  ///< libraries that bring kinds of devices
  Simulation simulation;
  Qemu qemu;
  std::vector<Host> hosts;
  std::vector<Switch> switches;
  /// The devices in the lists of their kinds, by the key of the list; see device::Traits.
  std::map<std::string, std::vector<device::DescriptionPtr>> lists;
  std::vector<device::DescriptionPtr> devices;  ///< those of the key `devices`
  std::vector<PcieLink> pcie_links;
  device::Sections sections;               ///< the further keys of kinds
  std::map<std::string, std::string> log;  ///< level of each component; `all` comes first

  /// All devices: those of the lists, and then those of `devices`.
  std::vector<device::DescriptionPtr> all_devices() const;
  /// The devices of this kind among them.
  std::vector<device::DescriptionPtr> devices_of(const std::string& kind) const;
};

}  // namespace platform
