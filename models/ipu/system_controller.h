// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "models/ipu/register_block.h"

namespace ipu {

/// Describes the machine to the firmware, and lets the firmware end the run. Register map:
/// rtl/registers/system.yaml.
///
///     0x000 id            ro  cores, links, cell
///     0x008 sram_base     ro
///     0x010 sram_size     ro
///     0x018 dram_base     ro
///     0x020 dram_size     ro
///     0x028 boot_options  ro  poll
///     0x030 halt          wo  reason
///     0x038 queue_memory  ro
///     0x100 link_peer[4]  ro  cell, bridged, relayed
///     0x140 link_ports[4] ro
class SystemController : public RegisterBlock {
 public:
  enum class HaltReason { shutdown = 1, fault = 2 };

  /// An OAE link of this IPU.
  struct Link {
    unsigned peer;         ///< cell number of the IPU at its other end
    std::uint64_t ports;   ///< bit p: it carries the slots of swap port p
    bool bridged = false;  ///< it has a window, and a bridge passes the slots
    bool relayed = false;  ///< it has a window, and a relay passes them on to the other link
  };
  /// The values of the platform file. Sizes are in bytes.
  struct Machine {
    unsigned cores;  ///< 1 to 24
    std::uint64_t sram_base;
    std::uint64_t sram_size;
    std::uint64_t dram_base;
    std::uint64_t dram_size;
    bool poll;                       ///< the firmware polls instead of sleeping until an interrupt
    unsigned cell = 0;               ///< cell number of this IPU
    std::vector<Link> links = {};    ///< at most OAE_SYSTEM_LINK_PEER_COUNT
    std::uint64_t queue_memory = 0;  ///< 0 without a queue function
  };
  /// Called when a core writes `halt`, in that core's process.
  using Halt = std::function<void(HaltReason)>;

  SystemController(const sc_core::sc_module_name& name, const Machine& machine, Halt halt);

 private:
  std::optional<std::uint64_t> read(std::uint64_t offset) override;
  bool write(std::uint64_t offset, std::uint64_t value, std::uint64_t mask,
             vp::Picoseconds delay) override;

  const Machine machine_;
  const Halt halt_;
};

}  // namespace ipu
