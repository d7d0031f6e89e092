// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "models/pcie/protocol/tlp.h"

namespace pcie {

/// The rows and columns of the ordering table.
enum class Category : std::uint8_t {
  posted,                ///< memory writes, messages
  read,                  ///< non-posted without data: memory and configuration reads
  non_posted_with_data,  ///< configuration writes, AtomicOps, deferrable writes
  completion,
};
inline constexpr unsigned categories = 4;

Category category(TlpType type);

/// Whether a packet may overtake one that was sent before it.
enum class Passing : std::uint8_t {
  no,    ///< it must not
  may,   ///< it need not, but may
  must,  ///< it has to if the other is blocked, or there could be a deadlock
};

/// One cell: what holds as such, and what the later packet's attributes permit beyond it.
struct OrderingRule {
  Passing plain;
  Passing relaxed;  ///< with RO
  Passing other;    ///< with IDO, of another requester (of a completion: another completer)
};

/// PCIe 5.0, table 2-40, as row passes column. Where the specification leaves a choice, packets
/// keep their order: non-posted requests pass nothing that was posted, whatever their attributes.
inline constexpr OrderingRule ordering_table[categories][categories] = {
    // after a posted one                              a read
    {{Passing::no, Passing::may, Passing::may},      // A2
     {Passing::must, Passing::must, Passing::must},  // A3
     {Passing::must, Passing::must, Passing::must},  // A4
     {Passing::may, Passing::may, Passing::may}},    // A5
    {{Passing::no, Passing::no, Passing::no},        // B2
     {Passing::may, Passing::may, Passing::may},     // B3
     {Passing::may, Passing::may, Passing::may},     // B4
     {Passing::may, Passing::may, Passing::may}},    // B5
    {{Passing::no, Passing::no, Passing::no},        // C2
     {Passing::may, Passing::may, Passing::may},     // C3
     {Passing::may, Passing::may, Passing::may},     // C4
     {Passing::may, Passing::may, Passing::may}},    // C5
    {{Passing::no, Passing::may, Passing::may},      // D2
     {Passing::must, Passing::must, Passing::must},  // D3
     {Passing::must, Passing::must, Passing::must},  // D4
     {Passing::may, Passing::may, Passing::may}},    // D5, of another transaction
};

/// The cell that holds for two packets, `earlier` sent before `later`. Completions of one request
/// keep their order (D5b).
Passing passing(const TlpHeader& later, const TlpHeader& earlier);

}  // namespace pcie
