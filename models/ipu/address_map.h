// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <stdexcept>
#include <vector>

namespace ipu {

/// Thrown for a region that is empty, exceeds the address space or overlaps another region.
struct MapMistake : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Maps addresses to ports.
class AddressMap {
 public:
  struct Region {
    std::uint64_t base;
    std::uint64_t size;
    unsigned port;
  };

  /// Throws MapMistake.
  void add(std::uint64_t base, std::uint64_t size, unsigned port);

  /// Returns the region that holds all of the `length` bytes from `address` on, or nullptr. A
  /// length of 0 counts as 1.
  const Region* find(std::uint64_t address, std::uint64_t length) const;

 private:
  std::vector<Region> regions_;  // ordered by base
};

}  // namespace ipu
