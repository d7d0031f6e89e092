// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <cstdint>

#include "oae_registers.h"

namespace window {

/// Writes settings of both ends of links in one cell, with bits that differ, and expects each end
/// to keep its own. `put(end, address, data)` and `get(end, address)` access an end's registers.
template <typename End, typename Put, typename Get>
void expect_own_registers(End&& left, End&& right, Put put, Get get, bool routes) {
  for (const std::uint64_t value : {std::uint64_t{0x5555'5555'5555'5555}, 0xaaaa'aaaa'aaaa'aaaa}) {
    const auto write = [&](unsigned address, std::uint64_t mask) {
      put(left, address, value & mask);
      put(right, address, ~value & mask);
      EXPECT_EQ(get(left, address), value & mask) << std::hex << address;
      EXPECT_EQ(get(right, address), ~value & mask) << std::hex << address;
    };
    write(OAE_WINDOW_LIVENESS, 0xffff'ffff);
    write(OAE_WINDOW_IRQ_ENABLE, 0xff);
    write(OAE_WINDOW_VERDICT, 0x1'ffff'ffff);
    write(OAE_WINDOW_PORTS, ~std::uint64_t{0});
    write(OAE_WINDOW_LIMITS, 0xff'0000'1fff);
    for (unsigned label = 0; routes && label < 16; ++label) {
      write(OAE_WINDOW_ROUTE_AT(label), 0xff01);
    }
  }
}

}  // namespace window
