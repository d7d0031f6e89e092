// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "models/pcie/protocol/tlp.h"
#include "vp/time/time.h"
#include "vp/trace/trace.h"

namespace pcie {

/// CRC-32 as in IEEE 802.3 and zlib, of a packet's data.
std::uint32_t digest(const std::uint8_t* data, std::size_t bytes);

/// Writes the trace line of a TLP that leaves at `departure` and arrives at `arrival`:
///
///     {"t":…,"arr":…,"link":"…","dir":"down","type":"MWr","req":"00:01.0","tag":0,
///      "addr":"0xc0000010","len":8,"digest":"1c291ca3"}
///
/// A configuration request has `id` (its target) and `reg` in place of `addr`, a completion `id`
/// (the completer) and, unless it was successful, `status`; a message `id` and `code`. `len` counts
/// from the first to the last enabled byte; `digest` is of these bytes.
void trace_tlp(vp::Trace& trace, vp::Picoseconds departure, vp::Picoseconds arrival,
               const char* link, const char* direction, const Tlp& tlp);

}  // namespace pcie
