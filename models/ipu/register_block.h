// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tlm_utils/simple_target_socket.h>

#include <cstdint>
#include <optional>
#include <systemc>
#include <tlm>

#include "vp/time/time.h"

namespace ipu {

/// What a block of registers does upon a bus access. All registers of a block have the same width.
class Registers {
 public:
  virtual ~Registers() = default;
  /// Reads the register at `offset`, a multiple of the width. Returns nothing if there is none.
  virtual std::optional<std::uint64_t> read(std::uint64_t offset) = 0;
  /// Writes those bits of `value` that are set in `mask`, which covers the written bytes. The other
  /// bits of `value` are 0. Returns false if there is no register. The write takes effect `delay`
  /// ps after the kernel's present time.
  virtual bool write(std::uint64_t offset, std::uint64_t value, std::uint64_t mask,
                     vp::Picoseconds delay) = 0;
};

/// Carries out a bus transaction on registers of `width` bytes (4 or 8), and sets its response.
///
/// Supports accesses of 1, 2, 4 or 8 bytes that are aligned to their size and not wider than a
/// register. Other accesses and streaming end with TLM_BURST_ERROR_RESPONSE, byte enables with
/// TLM_BYTE_ENABLE_ERROR_RESPONSE, and offsets without a register with TLM_ADDRESS_ERROR_RESPONSE.
void access(Registers& registers, unsigned width, tlm::tlm_generic_payload& payload,
            vp::Picoseconds delay);

/// A module with one block of registers behind a blocking target socket. Bus addresses are offsets
/// in the block. A debugger cannot read registers, since reading has side effects. For a write that
/// is ahead of the kernel's time (vp::Decoupled), the kernel's time catches up first. The NoC lets
/// reads be ahead only where they have no side effect.
class RegisterBlock : public sc_core::sc_module, protected Registers {
 public:
  tlm_utils::simple_target_socket<RegisterBlock> socket;

 protected:
  RegisterBlock(const sc_core::sc_module_name& name, unsigned width);

  /// For a block whose reads have no side effect: changes whenever a read may return something new.
  const std::uint64_t* version_ = nullptr;

 private:
  void b_transport(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay);

  const unsigned width_;
};

/// Returns `old` with the bits of `mask` replaced by those of `value`.
constexpr std::uint64_t merge(std::uint64_t old, std::uint64_t value, std::uint64_t mask) {
  return (old & ~mask) | (value & mask);
}

}  // namespace ipu
