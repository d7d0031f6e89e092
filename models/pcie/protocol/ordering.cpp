// SPDX-License-Identifier: Apache-2.0
#include "models/pcie/protocol/ordering.h"

#include <algorithm>

namespace pcie {
namespace {

/// The ID that IDO compares: the completer of a completion, the requester of a request (PCIe 5.0,
/// 2.4.1).
Id stream(const TlpHeader& header) {
  return category(header.type) == Category::completion ? header.completer : header.requester;
}

bool same_request(const TlpHeader& a, const TlpHeader& b) {
  return a.requester == b.requester && a.tag == b.tag;
}

}  // namespace

Passing passing(const TlpHeader& later, const TlpHeader& earlier) {
  const Category row = category(later.type);
  const Category column = category(earlier.type);
  if (row == Category::completion && column == row && same_request(later, earlier)) {
    return Passing::no;
  }
  const OrderingRule& rule =
      ordering_table[static_cast<unsigned>(row)][static_cast<unsigned>(column)];
  Passing found = rule.plain;
  if (later.relaxed_ordering) found = std::max(found, rule.relaxed);
  if (later.id_based_ordering && stream(later) != stream(earlier)) {
    found = std::max(found, rule.other);
  }
  return found;
}

}  // namespace pcie
