// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "models/pcie/config/base_address_registers.h"
#include "models/pcie/config/capabilities/sr_iov.h"
#include "models/pcie/config/config_space.h"
#include "models/pcie/config/header_registers.h"

namespace pcie {

/// The identity of a function.
struct Identity {
  std::uint16_t vendor = 0xf0ae;
  std::uint16_t device = 0x0ae0;
  std::uint32_t class_code = 0x120000;  ///< class, subclass and programming interface, 24 bits
  std::uint8_t revision = 0;
  std::uint16_t subsystem_vendor = 0;  ///< type 0 header only
  std::uint16_t subsystem = 0;         ///< type 0 header only
};

/// The registers that both header types share (PCIe 5.0, 7.5.1.1).
class Header : public HeaderRegisters {
 public:
  /// Makes the header of a physical function. `pin` is 1 to 4 for INTA to INTD, or 0 without a pin.
  /// Throws ConfigurationError if a value is impossible.
  Header(ConfigSpace& space, const Identity& identity, std::uint8_t type, bool multi_function,
         unsigned pin);

  bool memory_enabled() const { return space_.any(command, CommandBit::memory_space); }
  bool master_enabled() const { return space_.any(command, CommandBit::bus_master); }
  bool intx_enabled() const { return !space_.any(command, CommandBit::interrupt_disable); }
  void set_interrupt_status(bool pending);

 protected:
  /// The registers that software can write.
  struct Writable {
    std::uint32_t command;  ///< bits of Command
    bool lines;             ///< whether Cache Line Size and Interrupt Line are writable
  };
  Header(ConfigSpace& space, const Identity& identity, std::uint8_t type, bool multi_function,
         unsigned pin, const Writable& writable);

  ConfigSpace& space_;
};

/// The header of an endpoint's function, which knows where its BARs are.
class EndpointHeader : public Header {
 public:
  virtual ~EndpointHeader() = default;
  virtual const std::vector<BarConfig>& bars() const = 0;
  /// Whether Memory Space is enabled.
  virtual bool decodes() const = 0;
  virtual std::uint64_t bar_address(const BarConfig& bar) const = 0;

 protected:
  using Header::Header;
};

/// The header of a physical function (7.5.1.2).
class Type0Header : public EndpointHeader, public Type0Registers {
 public:
  /// Throws ConfigurationError if a BAR is impossible or if two BARs overlap.
  Type0Header(ConfigSpace& space, const Identity& identity, bool multi_function, unsigned pin,
              const std::vector<BarConfig>& bars);

  const std::vector<BarConfig>& bars() const override { return bars_.bars(); }
  bool decodes() const override { return memory_enabled(); }
  /// The address to which software has set a BAR.
  std::uint64_t bar_address(const BarConfig& bar) const override { return bars_.address(bar); }

 private:
  BaseAddressRegisters bars_;
};

/// The header of a virtual function (9.3.4.1). It has its own Bus Master and the errors of Status.
/// Vendor ID and Device ID read 0xffff, and there are no BARs: software takes both, and Memory
/// Space as well, from the SR-IOV capability of the physical function.
class VirtualHeader : public EndpointHeader {
 public:
  /// `identity` is that of the physical function, and `index` counts from 0.
  VirtualHeader(ConfigSpace& space, const Identity& identity, const SrIov& sr_iov, unsigned index);

  const std::vector<BarConfig>& bars() const override { return sr_iov_.bars(); }
  bool decodes() const override { return sr_iov_.memory_enabled(); }
  std::uint64_t bar_address(const BarConfig& bar) const override {
    return sr_iov_.bar_address(bar, index_);
  }

 private:
  const SrIov& sr_iov_;
  unsigned index_;
};

/// The header of a bridge without I/O window (7.5.1.3).
class Type1Header : public Header, public Type1Registers {
 public:
  Type1Header(ConfigSpace& space, const Identity& identity, unsigned pin);

  unsigned secondary_bus() const { return space_.get(secondary_bus_number, 1); }
  unsigned subordinate_bus() const { return space_.get(subordinate_bus_number, 1); }
  /// Whether a bus is behind this bridge.
  bool routes(unsigned bus) const {
    return secondary_bus() != 0 && secondary_bus() <= bus && bus <= subordinate_bus();
  }
  bool resets_bus() const {
    return space_.any(bridge_control, BridgeControlBit::secondary_bus_reset);
  }
  /// SERR# Enable of Bridge Control.
  bool forwards_errors() const { return space_.any(bridge_control, BridgeControlBit::serr_enable); }
  void set_received_system_error() {
    constexpr std::uint32_t received = StatusBit::received_system_error;
    space_.change(secondary_status, 2, received, received);
  }
  /// Whether Memory Space is enabled and one of the two windows, with a unit of 1 MiB, contains the
  /// address.
  bool claims(std::uint64_t address) const;
};

}  // namespace pcie
