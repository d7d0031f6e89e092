// SPDX-License-Identifier: Apache-2.0
#include "tests/guest/driver/block.h"

#include <linux/io.h>
#include <linux/ktime.h>

#include <cstring>
#include <stdexcept>

#include "oae_registers.h"

namespace guest_test {
namespace {

Block* connected = nullptr;

std::uint64_t header(std::uint64_t verb, std::uint64_t epoch, std::uint64_t status,
                     std::uint64_t sequence) {
  return OAE_PUT(OAE_SLOT_HEADER_VERB, verb) | OAE_PUT(OAE_SLOT_HEADER_EPOCH, epoch) |
         OAE_PUT(OAE_SLOT_HEADER_STATUS, status) | OAE_PUT(OAE_SLOT_HEADER_SEQUENCE, sequence);
}

std::uint32_t following(std::uint32_t sequence) {
  return sequence == ~0u ? 1 : sequence + 1;
}

}  // namespace

std::uint64_t crc64_xz(const void* bytes, std::size_t size) {
  std::uint64_t crc = ~std::uint64_t{0};
  for (std::size_t i = 0; i < size; ++i) {
    crc ^= static_cast<const unsigned char*>(bytes)[i];
    for (int bit = 0; bit < 8; ++bit) crc = crc >> 1 ^ (crc & 1 ? 0xc96c5795d7870f42u : 0);
  }
  return ~crc;
}

Slot sealed(Slot slot) {
  slot[7] = crc64_xz(slot.data(), 56);
  return slot;
}

void Block::connect() {
  connected = this;
}

unsigned Block::offset(const volatile void* address) {
  const auto at = reinterpret_cast<std::uintptr_t>(address);
  const auto base = reinterpret_cast<std::uintptr_t>(page);
  if (at < base || at >= base + sizeof(page)) throw std::logic_error("access beside the page");
  trace_.push_back(static_cast<unsigned>(at - base));
  return trace_.back();
}

void Block::write(const volatile void* address, std::uint64_t value) {
  const unsigned at = offset(address);
  if (fault(accesses_++) == Fault::LOST) return;
  if (at < 64) {
    window_[at / 8] = value;
    verdict_ = Verdict::NONE;
    arrived_ |= 1u << at / 8;
    if (arrived_ == 0xff) judge();
  } else if (at == OAE_PORT_CONFIRM) {
    if (OAE_GET(value, OAE_PORT_CONFIRM_EPOCH) == epoch &&
        OAE_GET(value, OAE_PORT_CONFIRM_SEQUENCE) == sequence) {
      commit();
    }
  }
}

void Block::judge() {
  arrived_ = 0;
  const auto of = OAE_GET(window_[0], OAE_SLOT_HEADER_SEQUENCE);
  if (of == sequence && sequence != 0) return;
  const bool good = window_ == sealed(window_) && of == following(sequence) &&
                    OAE_GET(window_[0], OAE_SLOT_HEADER_EPOCH) == epoch;
  verdict_ = good ? Verdict::GOOD : Verdict::BAD;
  offer_more_ = OAE_GET(window_[0], OAE_SLOT_HEADER_FLAGS) & OAE_FLAG_MORE;
  // The offer that was said to follow confirms the swap before.
  if (good && more_) commit();
}

void Block::commit() {
  if (tentative_) committed.push_back(pair_);
  tentative_ = false;
  more_ = false;
}

void Block::open() {
  commit();
  ++epoch;
  sequence = 0;
  arrived_ = 0;
  verdict_ = Verdict::NONE;
}

std::uint64_t Block::interact(Fault met) {
  // What has not arrived by now is lost: the read has pushed it.
  arrived_ = 0;
  Slot answer = sealed({header(OAE_VERB_NONE, epoch, OAE_STATUS_NOT_READY, 0), 77});
  const bool names_next = OAE_GET(window_[0], OAE_SLOT_HEADER_EPOCH) == epoch &&
                          OAE_GET(window_[0], OAE_SLOT_HEADER_SEQUENCE) == following(sequence);
  if (!bus_master) return answer[0];
  if (verdict_ == Verdict::GOOD && firmware_offers && !tentative_) {
    sequence = following(sequence);
    verdict_ = Verdict::NONE;
    answer = retained_ = sealed(
        {header(OAE_VERB_SWAP, epoch, OAE_STATUS_OK, sequence), ++firmware_offer_, sequence});
    pair_ = {window_[1], firmware_offer_};
    tentative_ = true;
    more_ = offer_more_;
  } else if (verdict_ == Verdict::NONE && sequence != 0) {
    answer = retained_;
  } else if (verdict_ != Verdict::NONE && names_next) {
    answer = sealed({header(OAE_GET(window_[0], OAE_SLOT_HEADER_VERB), epoch, OAE_STATUS_NOT_READY,
                            following(sequence)),
                     77});
  }
  if (met != Fault::CELL_LOST) std::memcpy(cell, answer.data(), sizeof(cell));
  if (met == Fault::CELL_DAMAGED) cell[3] ^= 0x100;
  return answer[0];
}

std::uint64_t Block::read(const volatile void* address) {
  const unsigned at = offset(address);
  const Fault met = fault(accesses_++);
  if (met == Fault::LOST) return ~std::uint64_t{0};
  if (at != OAE_PORT_PUSHED_ANSWER) throw std::logic_error("read of another register");
  const std::uint64_t value = interact(met);
  if (met == Fault::COMPLETION_LOST) return ~std::uint64_t{0};
  if (met == Fault::SEQUENCE_DAMAGED) return value ^ OAE_PUT(OAE_SLOT_HEADER_SEQUENCE, 0x100);
  if (met == Fault::STATUS_DAMAGED) return value ^ OAE_PUT(OAE_SLOT_HEADER_STATUS, 1);
  return value;
}

}  // namespace guest_test

u64 readq(const volatile void* address) {
  return guest_test::connected->read(address);
}
void writeq(u64 value, volatile void* address) {
  guest_test::connected->write(address, value);
}

// Each look at the clock is a tick later.
u64 ktime_get_ns(void) {
  static u64 now = 0;
  return ++now;
}
