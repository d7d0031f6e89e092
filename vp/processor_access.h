// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <tlm>

namespace vp {

/// How a processor may hold a piece of memory, as x86 encodes it (Intel SDM volume 3, table 12-2).
enum class MemoryType : std::uint8_t {
  uncacheable = 0,
  write_combining = 1,
  write_through = 4,
  write_protected = 5,
  write_back = 6,
};

/// What a processor's access says beyond address and data; rides on the generic payload from a
/// vCPU's socket. It belongs to the processor and ends with it.
struct ProcessorAccess : tlm::tlm_extension<ProcessorAccess> {
  /// All but `access` come with TLM_IGNORE_COMMAND.
  enum class Operation : std::uint8_t {
    access,    ///< a read or a write
    drain,     ///< what the processor holds is to be written out; no address
    flush,     ///< the line of the address is to be dropped
    prefetch,  ///< the line of the address will be read
    stream,    ///< the reads of the next `data length` bytes from the address are streaming loads
  };

  Operation operation = Operation::access;
  MemoryType type = MemoryType::uncacheable;
  /// The answer: from now on the processor holds what `drain` would write out or drop.
  bool holding = false;

  tlm_extension_base* clone() const override { return new ProcessorAccess(*this); }
  void copy_from(const tlm_extension_base& other) override {
    *this = static_cast<const ProcessorAccess&>(other);
  }
  void free() override {}
};

}  // namespace vp
