// SPDX-License-Identifier: Apache-2.0
#include "tests/rtl/slot.h"

#include "guest/driver/oae_check.h"
#include "oae_registers.h"

std::uint64_t crc64(const void* data, std::size_t bytes) {
  std::uint64_t crc = ~std::uint64_t{0};
  for (std::size_t i = 0; i < bytes; ++i) {
    crc ^= static_cast<const std::uint8_t*>(data)[i];
    for (int bit = 0; bit < 8; ++bit) crc = crc >> 1 ^ (crc & 1 ? 0xc96c'5795'd787'0f42 : 0);
  }
  return ~crc;
}

std::uint64_t Header::word() const {
  return verb | std::uint64_t{epoch} << 8 | std::uint64_t{status} << 16 |
         std::uint64_t{flags} << 24 | std::uint64_t{attempt} << 26 | std::uint64_t{sequence} << 32;
}

Header Header::of(std::uint64_t word) {
  Header header;
  header.verb = static_cast<std::uint8_t>(word);
  header.epoch = static_cast<std::uint8_t>(word >> 8);
  header.status = static_cast<std::uint8_t>(word >> 16);
  header.flags = word >> 24 & 3;
  header.attempt = word >> 26 & 63;
  header.sequence = static_cast<std::uint32_t>(word >> 32);
  return header;
}

void seal(Slot& slot) {
  slot[7] = crc64(slot.data(), 56);
}

bool sealed(const Slot& slot) {
  return slot[7] == crc64(slot.data(), 56);
}

Slot again(Slot slot) {
  Header header = Header::of(slot[0]);
  header.attempt = (header.attempt + 1) & 63;
  slot[0] = header.word();
  seal(slot);
  return slot;
}

Slot make_slot(const Header& header, std::uint64_t seed) {
  Slot slot{header.word()};
  for (int i = 1; i < 7; ++i) slot[i] = (seed + i) * 0x9e37'79b9'7f4a'7c15;
  seal(slot);
  return slot;
}

std::uint64_t confirmation(std::uint64_t header) {
  return oae_checked(OAE_PORT_CONFIRM,
                     header & (OAE_PORT_CONFIRM_EPOCH_MASK | OAE_PORT_CONFIRM_SEQUENCE_MASK));
}

std::uint64_t reversal(std::uint64_t header) {
  return oae_checked(OAE_PORT_REVERSE,
                     header & (OAE_PORT_REVERSE_EPOCH_MASK | OAE_PORT_REVERSE_SEQUENCE_MASK));
}
