// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "oae_registers.h"

/// Where things are in an IPU, for its firmware and for its host.
namespace platform::ipu_map {

struct Region {
  std::uint64_t base;
  std::uint64_t size;
};

/// @name Seen by the cores; the GIC, below the console, is QEMU's
/// @{
inline constexpr Region uart{0x0900'0000, 0x1000};
inline constexpr Region mailbox{0x0a00'0000, OAE_MAILBOX_SIZE};
inline constexpr Region dma{0x0b00'0000, OAE_DMA_SIZE};
inline constexpr Region oae{0x0c00'0000, OAE_FIRMWARE_SIZE};
inline constexpr Region system_controller{0x0d00'0000, OAE_SYSTEM_SIZE};
/// Registers of OAE link n.
inline constexpr Region oae_link(unsigned n) {
  return {0x0e00'0000 + std::uint64_t{n} * 0x1'0000, OAE_LINK_SIZE};
}
inline constexpr unsigned oae_links = OAE_SYSTEM_LINK_PEER_COUNT;  ///< most that there can be
inline constexpr std::uint64_t sram_base = 0x1000'0000;
inline constexpr std::uint64_t dram_base = 0x8000'0000;
/// @}

/// Shared peripheral interrupts of the GIC; the INTID is 32 more.
enum Spi : unsigned {
  UART_SPI = 1,
  MAILBOX_SPI = 2,
  DMA_SPI = 3,
  OAE_SPI = 4,
  OAE_LINK_SPI = 5,  ///< of link 0; that of link n is n more
};

/// @name Seen by the host: BAR 0 holds registers, BAR 2 and BAR 4 a page of 4 KiB for each swap
/// port
/// @{
inline constexpr unsigned register_bar = 0;
inline constexpr std::uint64_t register_bar_size = 0x1'0000;
inline constexpr Region host_registers{0x0000, OAE_HOST_SIZE};
inline constexpr Region host_mailbox{0x4000, OAE_MAILBOX_SIZE};
inline constexpr std::uint64_t msi_x_table = 0x8000;
inline constexpr std::uint64_t msi_x_pending = 0xc000;
inline constexpr unsigned port_bar = 2;
inline constexpr unsigned stream_bar = 4;
/// @}

/// @name BAR 0 of a virtual function
/// @{
inline constexpr unsigned virtual_bar = 0;
inline constexpr std::uint64_t virtual_bar_size = 0x4000;  ///< the DMA engine's registers first
inline constexpr std::uint64_t virtual_msi_x_table = 0x2000;
inline constexpr std::uint64_t virtual_msi_x_pending = 0x3000;
inline constexpr std::uint64_t virtual_memory_size = 0x1'0000;  ///< that its engine alone reaches
static_assert(OAE_DMA_SIZE <= virtual_msi_x_table);
/// @}

/// MSI-X vectors: 0 is the mailbox's, 1 + n that of swap port n.
inline constexpr unsigned vectors(unsigned ports) {
  return 1 + ports;
}

}  // namespace platform::ipu_map
