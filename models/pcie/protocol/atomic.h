// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

#include "models/pcie/endpoint/access.h"
#include "models/pcie/protocol/tlp.h"

namespace pcie {

/// AtomicOps (PCIe 5.0, 6.15): a request carries the operands, and the completion carries the value
/// that the target had before. An operand is a little-endian number of 4 or 8 bytes, or also of 16
/// bytes for CAS. CAS has two operands: the value to compare with, then the value to store.

/// The TLP type that requests `operation`, or nothing for AtomicOperation::none.
std::optional<TlpType> tlp_type_of(AtomicOperation operation);

/// The bytes of one operand if all operands together have `bytes`, or 0 if `type` has no operands
/// of that size (2.2.7, table 2-13).
unsigned operand_bytes(TlpType type, unsigned bytes);

/// Applies an AtomicOp to `target`, which holds one operand of `bytes` bytes. Returns whether the
/// target must be written back; a CAS whose comparison fails leaves it as it was.
bool execute(TlpType type, std::uint8_t* target, const std::uint8_t* operands, unsigned bytes);

/// Makes the completion of `request`. The value before must stand in the room of the request's
/// first operand (2.2.9).
TlpPtr complete_atomic(const Tlp& request, Id completer);

}  // namespace pcie
