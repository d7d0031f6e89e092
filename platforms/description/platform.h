// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "models/device/description.h"
#include "vp/config/schema.h"

/// What a platform file describes. The values here are the defaults.
/// platforms/description/schema.cpp holds the key, the range and the description of each. Times are
/// in picoseconds, sizes in bytes.
namespace platform {

using device::Completions;
using vp::config::File;
using vp::config::Instant;
using vp::config::PciId;

inline constexpr std::int64_t ns = 1'000;
inline constexpr std::int64_t us = 1'000 * ns;
inline constexpr std::int64_t ms = 1'000 * us;
inline constexpr std::int64_t s = 1'000 * ms;
inline constexpr std::int64_t KiB = 1'024;
inline constexpr std::int64_t MiB = 1'024 * KiB;
inline constexpr std::int64_t GiB = 1'024 * MiB;

/// Where a console of the platform file goes.
enum class ConsoleKind { terminal, pty, off };

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
  File ipu_library;   ///< libqemu-aarch64.so
  File roms;          ///< directory with the BIOS and the option ROMs
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

struct FirmwareOptions {
  bool poll = false;  ///< poll instead of sleeping until an interrupt
};

struct Dma {
  std::int64_t latency = 100 * ns;      ///< from start to the first request
  std::int64_t rate = 200'000'000'000;  ///< bit/s
  unsigned outstanding = 8;             ///< pieces that are requested ahead
  unsigned piece = 4096;                ///< bytes of a piece at most
};

/// Function 1, which Linux's pci_endpoint_test tests.
struct TestFunction {
  bool present = false;
  PciId id{0xf0ae, 0x0ae2};
  unsigned msi_vectors = 32;
  unsigned msi_x_vectors = 128;
};

/// The function by which a host and the cores share memory for queues.
struct QueueFunction {
  bool present = false;
  PciId id{0xf0ae, 0x0ae3};
  std::int64_t memory = 64 * KiB;
  std::int64_t memory_latency = 0;  ///< added to each access of a core that no cache answers
  unsigned vectors = 17;            ///< of MSI-X
};

/// The function that generates requests for a host's program.
struct LoadFunction {
  bool present = false;
  PciId id{0xf0ae, 0x0ae4};
};

/// The endpoint of an IPU.
struct Endpoint : device::EndpointDescription {
  PciId id{0xf0ae, 0x0ae0};
  PciId subsystem{0xf0ae, 0x0001};
  std::uint32_t class_code = 0x120000;  ///< processing accelerator
  std::uint8_t revision = 1;
  TestFunction test_function;
  QueueFunction queue_function;
  LoadFunction load_function;
  unsigned virtual_functions = 0;  ///< the most that software can enable
};

struct Oae {
  unsigned ports = 8;
  std::int64_t clock = 500'000'000;  ///< Hz
};

struct Ipu {
  std::string name;
  unsigned cores = 1;
  std::string core = "neoverse-n1";
  std::int64_t instruction_rate = 1'000'000'000;  ///< instructions/s of each core
  std::int64_t sram = 4 * MiB;
  std::int64_t dram = 128 * MiB;
  File firmware;
  FirmwareOptions firmware_options;
  std::int64_t noc_latency = 10 * ns;  ///< one way
  Dma dma;
  Endpoint endpoint;
  Oae oae;
  ConsoleKind console = ConsoleKind::off;
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
  unsigned scale = 1;  ///< how many credits one on the wire stands for
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
};

struct PcieLink {
  std::string up;    ///< name of the host or switch
  std::string down;  ///< name of the IPU, device or switch
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

/// An interval in which the wires of an OAE link are cut.
struct OaeCut {
  std::int64_t at = 0;
  std::int64_t until = 1'000'000 * s;
};

/// An error on an OAE link.
struct OaeError {
  std::string from;  ///< name of the IPU that sends
  unsigned bit = 0;  ///< of the 512 of a clock cycle
  std::int64_t at = 0;
};

/// An OAE link between two IPUs. It joins swap ports of one with those of the same numbers of the
/// other: the firmware of each passes on what its host commits there.
struct OaeLink {
  std::string a;
  std::string b;
  std::int64_t rate = 100'000'000'000;  ///< bit/s
  std::int64_t latency = 50 * ns;       ///< PHYs and wire, each way
  unsigned first_port = 0;
  unsigned ports = 0;  ///< number of joined ports
  std::vector<OaeCut> cuts;
  std::vector<OaeError> errors;
};

struct Platform {
  std::string name;
  std::string title;
  std::vector<File> plugins;  ///< libraries that bring kinds of devices
  Simulation simulation;
  Qemu qemu;
  std::vector<Host> hosts;
  std::vector<Switch> switches;
  std::vector<Ipu> ipus;
  std::vector<device::DescriptionPtr> devices;
  std::vector<PcieLink> pcie_links;
  std::vector<OaeLink> oae_links;
  std::map<std::string, std::string> log;  ///< level of each component; `all` comes first
};

}  // namespace platform
