// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

#include "models/pcie/endpoint/access.h"
#include "models/pcie/protocol/tlp.h"

namespace pcie {

/// AtomicOps (PCIe 5.0, 6.15): a request brings its operands, and the completion has the value that
/// was there before. An operand is a little-endian number of 4 or 8 bytes, for CAS also of 16; CAS
/// has two, the value to compare with and then the one to put in its place.

/// The packet that asks for `operation`; none for AtomicOperation::none.
std::optional<TlpType> tlp_type_of(AtomicOperation operation);

/// Bytes of an operand where all operands together have `bytes`; 0 if `type` has none of that size
/// (2.2.7, table 2-13).
unsigned operand_bytes(TlpType type, unsigned bytes);

/// What becomes of `target`, of one operand; false if it stays as it is.
bool execute(TlpType type, std::uint8_t* target, const std::uint8_t* operands, unsigned bytes);

/// The completion of `request`, whose first operand's room holds the value before (2.2.9).
TlpPtr complete_atomic(const Tlp& request, Id completer);

}  // namespace pcie
