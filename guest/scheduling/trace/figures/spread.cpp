// SPDX-License-Identifier: Apache-2.0
#include "guest/scheduling/trace/figures/spread.h"

#include <algorithm>

Spread spread_of(std::vector<std::uint64_t> values) {
  if (values.empty()) return {};
  std::sort(values.begin(), values.end());
  return {values.size(), percentile(values, 0.5), percentile(values, 0.99), values.front(),
          values.back()};
}

std::uint64_t percentile(const std::vector<std::uint64_t>& sorted, double part) {
  return sorted[static_cast<std::size_t>(static_cast<double>(sorted.size() - 1) * part)];
}

std::uint64_t rounded_mean(std::uint64_t sum, std::uint64_t count) {
  return (sum + count / 2) / count;
}
