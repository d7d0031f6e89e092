// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "models/pcie/protocol/tlp.h"
#include "vp/time/time.h"
#include "vp/trace/trace.h"

namespace pcie {

/// The CRC-32 of a packet's data, as IEEE 802.3 and zlib define it.
std::uint32_t digest(const std::uint8_t* data, std::size_t bytes);

/// Writes the trace line of a TLP that leaves at `departure` and arrives at `arrival`:
///
///     {"t":…,"arr":…,"link":"…","dir":"down","type":"MWr","req":"00:01.0","tag":0,
///      "addr":"0xc0000010","len":8,"digest":"1c291ca3"}
///
/// A configuration request has `id` (its target) and `reg` instead of `addr`. A completion has `id`
/// (the completer) and, unless it is successful, `status`. A message has `id` and `code`. `len`
/// counts the bytes from the first to the last enabled one, and `digest` covers these bytes.
void trace_tlp(vp::Trace& trace, vp::Picoseconds departure, vp::Picoseconds arrival,
               const char* link, const char* direction, const Tlp& tlp);

}  // namespace pcie
