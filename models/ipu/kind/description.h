// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "models/device/description.h"
#include "vp/time/time.h"

namespace ipu {

inline constexpr std::int64_t KiB = 1'024;
inline constexpr std::int64_t MiB = 1'024 * KiB;

struct FirmwareOptions {
  bool poll = false;  ///< poll instead of sleeping until an interrupt
};

struct DmaDescription {
  std::int64_t latency = 100 * vp::ns;  ///< ps, from start to the first request
  std::int64_t rate = 200'000'000'000;  ///< bit/s
  unsigned outstanding = 8;             ///< pieces that are requested ahead
  unsigned piece = 4096;                ///< bytes of a piece at most
};

/// Function 1, which Linux's pci_endpoint_test tests.
struct TestFunctionDescription {
  bool present = false;
  vp::config::PciId id{0xf0ae, 0x0ae2};
  unsigned msi_vectors = 32;
  unsigned msi_x_vectors = 128;
};

/// The function by which a host and the cores share memory for queues.
struct QueueFunctionDescription {
  bool present = false;
  vp::config::PciId id{0xf0ae, 0x0ae3};
  std::int64_t memory = 64 * KiB;   ///< bytes
  std::int64_t memory_latency = 0;  ///< ps, added to each access of a core that no cache answers
  unsigned vectors = 17;            ///< of MSI-X
};

/// The function that generates requests for a host's program.
struct LoadFunctionDescription {
  bool present = false;
  vp::config::PciId id{0xf0ae, 0x0ae4};
};

/// The functions behind the endpoint.
struct FunctionsDescription {
  vp::config::PciId id{0xf0ae, 0x0ae0};  ///< of function 0
  vp::config::PciId subsystem{0xf0ae, 0x0001};
  std::uint32_t class_code = 0x120000;  ///< processing accelerator
  std::uint8_t revision = 1;
  TestFunctionDescription test;
  QueueFunctionDescription queue;
  LoadFunctionDescription load;
  unsigned virtual_functions = 0;  ///< the most that software can enable
};

struct OaeDescription {
  unsigned ports = 8;
  std::int64_t clock = 500'000'000;  ///< Hz
};

/// What a platform file says about an IPU. The values here are the defaults. The keys of the
/// endpoint and of its functions stand together below `endpoint`.
struct Description : device::Description {
  unsigned cores = 1;
  std::string core = "neoverse-n1";
  std::int64_t instruction_rate = 1'000'000'000;  ///< instructions/s of each core
  std::int64_t sram = 4 * MiB;                    ///< bytes
  std::int64_t dram = 128 * MiB;                  ///< bytes
  vp::config::File firmware;
  FirmwareOptions firmware_options;
  std::int64_t noc_latency = 10 * vp::ns;  ///< ps, one way
  DmaDescription dma;
  FunctionsDescription functions;
  OaeDescription oae;
  device::ConsoleKind console = device::ConsoleKind::off;

  std::vector<device::InputFile> inputs() const override;
  std::optional<device::ConsoleKind> console_target() const override { return console; }
  bool has_processors() const override { return true; }
  bool has_waveform() const override { return true; }
  std::string summary() const override;
};

/// The keys of an IPU.
std::vector<vp::config::Key<Description>> keys();

}  // namespace ipu
