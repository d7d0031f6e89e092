// SPDX-License-Identifier: Apache-2.0
#include "tests/rtl/link/formats.h"

#include "oae_registers.h"

namespace window {
namespace {

/// A reflected CRC, preset and inverted.
template <typename Word>
Word crc(const std::uint8_t* bytes, unsigned count, Word polynomial) {
  Word value = ~Word{0};
  for (unsigned i = 0; i < count; ++i) {
    value ^= bytes[i];
    for (unsigned bit = 0; bit < 8; ++bit) value = value & 1 ? value >> 1 ^ polynomial : value >> 1;
  }
  return ~value;
}

void put(std::uint8_t* bytes, std::uint64_t word, unsigned count) {
  for (unsigned i = 0; i < count; ++i) bytes[i] = static_cast<std::uint8_t>(word >> 8 * i);
}

}  // namespace

std::uint64_t frame_check(const Frame& frame, std::uint32_t number, std::uint32_t from,
                          std::uint32_t to) {
  return check_at(frame, 7, number, from, to);
}

std::uint64_t check_at(const Frame& frame, unsigned slice, std::uint32_t number, std::uint32_t from,
                       std::uint32_t to) {
  std::uint8_t bytes[56];
  const unsigned protocol = frame[0] & OAE_WIRE_HEAD_PROTOCOL_MASK;
  std::uint64_t seed = std::uint64_t{from & 0xffff} << 48 | std::uint64_t{to & 0xffff} << 32;
  if (protocol == OAE_WIRE_PROTOCOL_SLOT) seed |= number;
  if (protocol == OAE_WIRE_PROTOCOL_JOIN) seed = 0;
  for (unsigned i = 0; i < slice; ++i)
    put(bytes + 8 * i, frame[i] ^ (i + 1 == slice ? seed : 0), 8);
  return crc<std::uint64_t>(bytes, 8 * slice, 0xc96c5795d7870f42);
}

std::uint32_t return_check(const Return& sent, std::uint32_t from, std::uint32_t to) {
  std::uint8_t bytes[12];
  put(bytes, sent[0] ^ (std::uint64_t{from & 0xffff} << 16 | (to & 0xffff)), 8);
  put(bytes + 8, sent[1], 4);
  return crc<std::uint32_t>(bytes, 12, 0x82f63b78);
}

std::uint32_t number_of(const Frame& frame, std::uint32_t expected) {
  const std::uint32_t low = OAE_GET(frame[0], OAE_WIRE_HEAD_NUMBER);
  std::uint32_t best = low;
  for (std::uint32_t number = low; number < expected + 4096; number += 4096) best = number;
  while (best > expected + 2047 && best >= 4096) best -= 4096;
  return best;
}

Frame frame_of(const std::vector<Group>& unit) {
  Frame frame{};
  for (unsigned i = 0; i < 8; ++i) frame[i] = unit[i / slices].data[i % slices];
  return frame;
}

void write(std::vector<Group>& unit, const Frame& frame) {
  for (unsigned i = 0; i < 8; ++i) unit[i / slices].data[i % slices] = frame[i];
}

}  // namespace window
