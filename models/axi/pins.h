// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace axi {

/// A pin of up to 64 bits, in the variable that Verilator has made for it. A pin that the block
/// does not have reads 0, and a value that is set is lost.
class Pin {
 public:
  Pin() = default;
  /// `variable` is an unsigned integer, which has `bits` bits of the pin.
  template <typename Variable>
  Pin(Variable& variable, unsigned bits)
      : variable_(&variable), bytes_(sizeof(Variable)), bits_(bits) {}

  explicit operator bool() const { return variable_ != nullptr; }
  unsigned bits() const { return bits_; }

  std::uint64_t get() const {
    switch (bytes_) {
      case 1:
        return *static_cast<const std::uint8_t*>(variable_);
      case 2:
        return *static_cast<const std::uint16_t*>(variable_);
      case 4:
        return *static_cast<const std::uint32_t*>(variable_);
      case 8:
        return *static_cast<const std::uint64_t*>(variable_);
      default:
        return 0;
    }
  }
  /// `value` has no more bits than the pin.
  void set(std::uint64_t value) const {
    switch (bytes_) {
      case 1:
        *static_cast<std::uint8_t*>(variable_) = static_cast<std::uint8_t>(value);
        break;
      case 2:
        *static_cast<std::uint16_t*>(variable_) = static_cast<std::uint16_t>(value);
        break;
      case 4:
        *static_cast<std::uint32_t*>(variable_) = static_cast<std::uint32_t>(value);
        break;
      case 8:
        *static_cast<std::uint64_t*>(variable_) = value;
        break;
      default:
        break;
    }
  }

 private:
  void* variable_ = nullptr;
  std::uint8_t bytes_ = 0;
  unsigned bits_ = 0;
};

/// A pin of any number of bits as bytes: data, strobes or interrupts. Bits 8 n to 8 n + 7 are byte
/// n, since Verilator keeps the words of a wide pin in ascending order, and the simulator runs on
/// processors that are little-endian.
struct Bus {
  Bus() = default;
  /// `variable` is an unsigned integer or Verilator's array of words.
  template <typename Variable>
  Bus(Variable& variable, unsigned width)
      : bytes(reinterpret_cast<std::uint8_t*>(&variable)), bits(width) {}

  bool bit(unsigned number) const { return (bytes[number / 8] >> number % 8 & 1) != 0; }

  std::uint8_t* bytes = nullptr;
  unsigned bits = 0;
};

/// The block's AXI4-Lite slave (AMBA AXI and ACE Protocol Specification, IHI 0022H, B1.1). Its data
/// has 32 or 64 bits. AWPROT and ARPROT stay 0: unprivileged, secure, data.
struct RegisterPins {
  Pin awvalid, awready, awaddr;
  Pin wvalid, wready;
  Bus wdata, wstrb;
  Pin bvalid, bready, bresp;
  Pin arvalid, arready, araddr;
  Pin rvalid, rready, rresp;
  Bus rdata;
};

/// The channels by which the block's AXI4 master writes (A2.2 to A2.4). Its data has 32 to 1024
/// bits. A block that only reads has none of these pins.
struct WritePins {
  Pin awvalid, awready, awid, awaddr, awlen, awsize, awburst;
  Pin wvalid, wready, wlast;
  Bus wdata, wstrb;
  Pin bvalid, bready, bid, bresp;
};

/// The channels by which it reads (A2.5 and A2.6).
struct ReadPins {
  Pin arvalid, arready, arid, araddr, arlen, arsize, arburst;
  Pin rvalid, rready, rid, rresp, rlast;
  Bus rdata;
};

/// All pins but the clock.
struct Pins {
  Pin reset;
  bool reset_level = false;  ///< level that resets the block
  Pin idle;                  ///< high while no edge changes anything unless an input comes
  Bus interrupts;            ///< bit n is vector n
  RegisterPins registers;
  WritePins write;
  ReadPins read;
};

/// The values of BRESP and RRESP (A3.4.4).
enum Response : std::uint8_t { okay = 0, exokay = 1, slverr = 2, decerr = 3 };

}  // namespace axi
