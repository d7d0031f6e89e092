// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tlm_utils/simple_target_socket.h>

#include <cstdint>
#include <optional>
#include <systemc>
#include <tlm>

#include "vp/time/time.h"

namespace ipu {

/// What a block of registers does when a bus reaches it. All registers of a block have one width.
class Registers {
 public:
  virtual ~Registers() = default;
  /// The register at `offset`, a multiple of the width, or nothing where there is none.
  virtual std::optional<std::uint64_t> read(std::uint64_t offset) = 0;
  /// Writes the bits of `value` that are set in `mask`, those of the bytes written; the others of
  /// `value` are 0. False where there is no register. Takes effect `delay` (ps) after the kernel's
  /// present time.
  virtual bool write(std::uint64_t offset, std::uint64_t value, std::uint64_t mask,
                     vp::Picoseconds delay) = 0;
};

/// Carries out a bus transaction on registers of `width` bytes (4 or 8), and sets its response.
///
/// Takes accesses of 1, 2, 4 or 8 bytes, aligned to their size and not wider than a register.
/// Others end as TLM_BURST_ERROR_RESPONSE (also streaming), byte enables as
/// TLM_BYTE_ENABLE_ERROR_RESPONSE, offsets without a register as TLM_ADDRESS_ERROR_RESPONSE.
void access(Registers& registers, unsigned width, tlm::tlm_generic_payload& payload,
            vp::Picoseconds delay);

/// A module that is a block of registers behind one blocking target socket. Bus addresses are
/// offsets in the block. A debugger sees nothing: reading registers has side effects. Writes that
/// are ahead of the kernel's time (vp::Decoupled) catch up; the NoC lets reads be ahead only where
/// they have no effect.
class RegisterBlock : public sc_core::sc_module, protected Registers {
 public:
  tlm_utils::simple_target_socket<RegisterBlock> socket;

 protected:
  RegisterBlock(const sc_core::sc_module_name& name, unsigned width);

  /// Of a block whose reads have no effect: changes whenever a read may find something new.
  const std::uint64_t* version_ = nullptr;

 private:
  void b_transport(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay);

  const unsigned width_;
};

/// `old` with the bits of `mask` taken from `value`.
constexpr std::uint64_t merge(std::uint64_t old, std::uint64_t value, std::uint64_t mask) {
  return (old & ~mask) | (value & mask);
}

}  // namespace ipu
