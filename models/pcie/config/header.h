// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "models/pcie/config/base_address_registers.h"
#include "models/pcie/config/capabilities/sr_iov.h"
#include "models/pcie/config/config_space.h"

namespace pcie {

/// Who a function says it is.
struct Identity {
  std::uint16_t vendor = 0xf0ae;
  std::uint16_t device = 0x0ae0;
  std::uint32_t class_code = 0x120000;  ///< class, subclass, programming interface; 24 bits
  std::uint8_t revision = 0;
  std::uint16_t subsystem_vendor = 0;  ///< type 0 only
  std::uint16_t subsystem = 0;         ///< type 0 only
};

/// What both header types share (PCIe 5.0, 7.5.1.1).
///
///     0x00 vendor   0x02 device     0x04 command     0x06 status
///     0x08 revision 0x09 class code 0x0c cache line  0x0e header type
///     0x3c interrupt line           0x3d interrupt pin
class Header {
 public:
  enum Offset : unsigned {
    vendor = 0x00,
    device = 0x02,
    command = 0x04,
    status = 0x06,
    revision = 0x08,
    class_code = 0x09,
    cache_line_size = 0x0c,
    header_type = 0x0e,
    interrupt_line = 0x3c,
    interrupt_pin = 0x3d,
  };
  enum CommandBit : unsigned {
    memory_space = 1,
    bus_master = 2,
    parity_error_response = 6,
    serr_enable = 8,
    interrupt_disable = 10,
  };
  static constexpr std::uint32_t interrupt_status = 1u << 3;

  /// Of a physical function; `pin` 1 to 4 for INTA to INTD, 0 for a function without.
  Header(ConfigSpace& space, const Identity& identity, std::uint8_t type, bool multi_function,
         unsigned pin);

  bool memory_enabled() const { return space_.test(command, memory_space); }
  bool master_enabled() const { return space_.test(command, bus_master); }
  bool intx_enabled() const { return !space_.test(command, interrupt_disable); }
  void set_interrupt_status(bool pending);

 protected:
  /// What software can write: bits of Command, and whether cache line size and interrupt line.
  struct Writable {
    std::uint32_t command;
    bool lines;
  };
  Header(ConfigSpace& space, const Identity& identity, std::uint8_t type, bool multi_function,
         unsigned pin, const Writable& writable);

  ConfigSpace& space_;
};

/// Header of an endpoint's function, and where its BARs are.
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

/// Header of a physical function (7.5.1.2).
///
///     0x10..0x27 BAR 0 to 5    0x2c subsystem vendor    0x2e subsystem
class Type0Header : public EndpointHeader {
 public:
  /// Throws ConfigurationError if a BAR is impossible or two overlap.
  Type0Header(ConfigSpace& space, const Identity& identity, bool multi_function, unsigned pin,
              const std::vector<BarConfig>& bars);

  const std::vector<BarConfig>& bars() const override { return bars_.bars(); }
  bool decodes() const override { return memory_enabled(); }
  /// The address that software has given to a BAR.
  std::uint64_t bar_address(const BarConfig& bar) const override { return bars_.address(bar); }

 private:
  BaseAddressRegisters bars_;
};

/// Header of a virtual function (9.3.4.1): only Bus Master and the errors of Status are its own.
/// Vendor and device read 0xffff, and there are no BARs, since software takes both from the SR-IOV
/// capability of the physical function; and so it does Memory Space.
class VirtualHeader : public EndpointHeader {
 public:
  /// `identity` is that of the physical function; `index` from 0.
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

/// Header of a bridge without I/O window (7.5.1.3).
///
///     0x18 primary, 0x19 secondary, 0x1a subordinate bus   0x1e secondary status
///     0x20 memory base      0x22 limit           bits 31:20 of the 32-bit window
///     0x24 prefetch base    0x26 limit           and 0x28, 0x2c their upper halves
///     0x3e bridge control: parity 0, SERR# 1, secondary bus reset 6
class Type1Header : public Header {
 public:
  static constexpr unsigned secondary_status = 0x1e;
  static constexpr unsigned bridge_control = 0x3e;
  static constexpr unsigned secondary_bus_reset = 6;

  Type1Header(ConfigSpace& space, const Identity& identity, unsigned pin);

  unsigned secondary_bus() const { return space_.get(0x19, 1); }
  unsigned subordinate_bus() const { return space_.get(0x1a, 1); }
  /// Whether a bus is behind this bridge.
  bool routes(unsigned bus) const {
    return secondary_bus() != 0 && secondary_bus() <= bus && bus <= subordinate_bus();
  }
  bool resets_bus() const { return space_.test(bridge_control, secondary_bus_reset); }
  /// SERR# Enable of bridge control.
  bool forwards_errors() const { return space_.test(0x3e, 1); }
  void set_received_system_error() {
    space_.set(secondary_status, 2, space_.get(secondary_status, 2) | 1u << 14);
  }
  /// Whether Memory Space is enabled and one of the two windows, which have 1 MiB steps, holds it.
  bool claims(std::uint64_t address) const;
};

}  // namespace pcie
