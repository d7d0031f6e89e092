// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

/// CRC-64/XZ bit by bit, as its catalogue entry defines it.
std::uint64_t crc64(const void* data, std::size_t bytes);

/// A slot: eight slices, little-endian in memory.
using Slot = std::array<std::uint64_t, 8>;

/// The header of a slot (rtl/registers/slot.yaml).
struct Header {
  std::uint8_t verb = 1;
  std::uint8_t epoch = 0;
  std::uint8_t status = 0;
  std::uint8_t flags = 0;    // 2 bits
  std::uint8_t attempt = 0;  // 6 bits
  std::uint32_t sequence = 0;

  std::uint64_t word() const;
  static Header of(std::uint64_t word);
};

/// Gives the slot its CRC.
void seal(Slot& slot);
bool sealed(const Slot& slot);
/// Returns the same offer with the next attempt.
Slot again(Slot slot);

/// The word that confirms, or reverses, the swap that the header of a slot names.
std::uint64_t confirmation(std::uint64_t header);
std::uint64_t reversal(std::uint64_t header);
/// A sealed slot whose payload is made from `seed`.
Slot make_slot(const Header& header, std::uint64_t seed);
