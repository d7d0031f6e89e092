// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "tests/rtl/link/wire.h"

namespace window {

/// The checks of units, bit by bit as the polynomials are written, and nothing of the RTL.
std::uint64_t frame_check(const Frame& frame, std::uint32_t number, std::uint32_t from,
                          std::uint32_t to);
/// The check that the frame would have if it ended with this slice.
std::uint64_t check_at(const Frame& frame, unsigned slice, std::uint32_t number, std::uint32_t from,
                       std::uint32_t to);
std::uint32_t return_check(const Return& sent, std::uint32_t from, std::uint32_t to);

/// The number of a slot that a frame carries, for an expected number near it.
std::uint32_t number_of(const Frame& frame, std::uint32_t expected);

Frame frame_of(const std::vector<Group>& unit);
void write(std::vector<Group>& unit, const Frame& frame);

}  // namespace window
