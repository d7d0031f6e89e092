// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

/// How values are spread. All are 0 if there are no values.
struct Spread {
  std::size_t count = 0;
  std::uint64_t p50 = 0, p99 = 0, min = 0, max = 0;
};
Spread spread_of(std::vector<std::uint64_t> values);

/// The value below which this part of sorted values lies. There has to be one.
std::uint64_t percentile(const std::vector<std::uint64_t>& sorted, double part);

/// `sum / count`, rounded to the nearest integer. `count` is not 0.
std::uint64_t rounded_mean(std::uint64_t sum, std::uint64_t count);
