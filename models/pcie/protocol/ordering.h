// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "models/pcie/protocol/tlp.h"

namespace pcie {

/// The rows and columns of the ordering table.
enum class Category : std::uint8_t {
  posted,                ///< memory writes, messages
  read,                  ///< non-posted requests without data: memory and configuration reads
  non_posted_with_data,  ///< configuration writes, AtomicOps and deferrable writes
  completion,
};
inline constexpr unsigned categories = 4;

constexpr Category category(TlpType type) {
  switch (type) {
    case TlpType::MWr:
    case TlpType::Msg:
      return Category::posted;
    case TlpType::CfgWr0:
    case TlpType::CfgWr1:
    case TlpType::FetchAdd:
    case TlpType::Swap:
    case TlpType::CAS:
    case TlpType::DMWr:
      return Category::non_posted_with_data;
    case TlpType::Cpl:
    case TlpType::CplD:
      return Category::completion;
    default:
      return Category::read;
  }
}

/// Whether a packet may overtake one that was sent before it.
enum class Passing : std::uint8_t {
  no,    ///< it must not
  may,   ///< it may, but need not
  must,  ///< it must if the earlier packet is blocked, since a deadlock could follow otherwise
};

/// One entry of the table: the basic rule, and what attributes of the later packet permit.
struct OrderingRule {
  Passing plain;
  Passing relaxed;  ///< with RO
  Passing other;    ///< with IDO and another requester, or for a completion another completer
};

/// PCIe 5.0, table 2-40: whether the row's packet may pass the column's. Where the specification
/// leaves a choice, packets keep their order. In particular, non-posted requests never pass posted
/// ones, whatever their attributes.
inline constexpr OrderingRule ordering_table[categories][categories] = {
    // The earlier packet is, line by line: posted, a read, non-posted with data, a completion.
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
     {Passing::may, Passing::may, Passing::may}},    // D5 for another transaction
};

/// The rule for two packets of which `earlier` was sent first. Completions of one request keep
/// their order (D5b).
Passing passing(const TlpHeader& later, const TlpHeader& earlier);

}  // namespace pcie
