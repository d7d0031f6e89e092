// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace pcie {

/// The registers that both header types have (PCIe 5.0, 7.5.1.1), as byte offsets.
struct HeaderRegisters {
  static constexpr unsigned vendor_id = 0x00;
  static constexpr unsigned device_id = 0x02;
  static constexpr unsigned command = 0x04;
  static constexpr unsigned status = 0x06;
  static constexpr unsigned revision_id = 0x08;
  static constexpr unsigned class_code = 0x09;
  static constexpr unsigned cache_line_size = 0x0c;
  static constexpr unsigned header_type = 0x0e;
  static constexpr unsigned capabilities_pointer = 0x34;
  static constexpr unsigned interrupt_line = 0x3c;
  static constexpr unsigned interrupt_pin = 0x3d;

  /// Bits of Command.
  struct CommandBit {
    static constexpr std::uint32_t memory_space = 1u << 1;
    static constexpr std::uint32_t bus_master = 1u << 2;
    static constexpr std::uint32_t parity_error_response = 1u << 6;
    static constexpr std::uint32_t serr_enable = 1u << 8;
    static constexpr std::uint32_t interrupt_disable = 1u << 10;
  };
  /// Bits of Status. Secondary Status of a bridge has its errors at the same places, with Received
  /// System Error instead of Signaled System Error.
  struct StatusBit {
    static constexpr std::uint32_t interrupt = 1u << 3;
    static constexpr std::uint32_t capabilities_list = 1u << 4;
    static constexpr std::uint32_t master_data_parity_error = 1u << 8;
    static constexpr std::uint32_t signaled_target_abort = 1u << 11;
    static constexpr std::uint32_t received_target_abort = 1u << 12;
    static constexpr std::uint32_t received_master_abort = 1u << 13;
    static constexpr std::uint32_t signaled_system_error = 1u << 14;
    static constexpr std::uint32_t received_system_error = 1u << 14;
    static constexpr std::uint32_t detected_parity_error = 1u << 15;
    /// All error bits, which software clears by writing 1.
    static constexpr std::uint32_t errors = master_data_parity_error | signaled_target_abort |
                                            received_target_abort | received_master_abort |
                                            signaled_system_error | detected_parity_error;
  };
  /// Header Type: the layout in 6:0, and whether the device has several functions.
  static constexpr std::uint32_t multi_function = 1u << 7;
};

/// The further registers of a type 0 header (7.5.1.2).
struct Type0Registers {
  static constexpr unsigned bar(unsigned index) { return 0x10 + 4 * index; }  ///< 0 to 5
  static constexpr unsigned subsystem_vendor_id = 0x2c;
  static constexpr unsigned subsystem_id = 0x2e;
};

/// Bits 3:0 of a memory base address register (7.5.1.2.1).
struct BarBit {
  static constexpr std::uint32_t is_64bit = 1u << 2;
  static constexpr std::uint32_t prefetchable = 1u << 3;
  static constexpr std::uint32_t flags = 0xf;
};

/// The further registers of a type 1 header without I/O window (7.5.1.3). Base and limit registers
/// have address bits 31:20 in bits 15:4, and the upper registers have address bits 63:32.
struct Type1Registers {
  static constexpr unsigned primary_bus_number = 0x18;
  static constexpr unsigned secondary_bus_number = 0x19;
  static constexpr unsigned subordinate_bus_number = 0x1a;
  static constexpr unsigned secondary_status = 0x1e;
  static constexpr unsigned memory_base = 0x20;
  static constexpr unsigned memory_limit = 0x22;
  static constexpr unsigned prefetchable_memory_base = 0x24;
  static constexpr unsigned prefetchable_memory_limit = 0x26;
  static constexpr unsigned prefetchable_base_upper = 0x28;
  static constexpr unsigned prefetchable_limit_upper = 0x2c;
  static constexpr unsigned bridge_control = 0x3e;

  /// Address bits of a base or limit register, and the flag for 64-bit addresses.
  static constexpr std::uint32_t window_address = 0xfff0;
  static constexpr std::uint32_t window_is_64bit = 0x1;

  /// Bits of Bridge Control.
  struct BridgeControlBit {
    static constexpr std::uint32_t parity_error_response = 1u << 0;
    static constexpr std::uint32_t serr_enable = 1u << 1;
    static constexpr std::uint32_t secondary_bus_reset = 1u << 6;
  };
};

}  // namespace pcie
