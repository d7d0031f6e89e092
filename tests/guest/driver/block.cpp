// SPDX-License-Identifier: Apache-2.0
#include "tests/guest/driver/block.h"

#include <asm/barrier.h>
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

/// Whether a word that is written to the register at this offset has its check: a CRC-16, bit by bit.
bool has_its_check(unsigned offset, std::uint64_t word) {
  unsigned crc = 0xffff;
  for (const std::uint64_t byte : {std::uint64_t{offset}, word, word >> 8, word >> 32, word >> 40,
                                   word >> 48, word >> 56}) {
    crc ^= (byte & 0xff) << 8;
    for (int bit = 0; bit < 8; ++bit) crc = (crc << 1 ^ (crc & 0x8000 ? 0x1021 : 0)) & 0xffff;
  }
  return OAE_GET(word, OAE_PORT_CONFIRM_CHECK) == crc;
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
  const auto streamed = reinterpret_cast<std::uintptr_t>(stream);
  if (at >= base && at < base + sizeof(page)) {
    trace_.push_back(static_cast<unsigned>(at - base));
  } else if (at >= streamed && at < streamed + sizeof(stream)) {
    trace_.push_back(static_cast<unsigned>(at - streamed) + OAE_PORT_SIZE);
  } else {
    throw std::logic_error("access beside the pages");
  }
  return trace_.back();
}

void Block::pass_barrier() {
  trace_.push_back(barrier);
  held_ = false;
}

void Block::write(const volatile void* address, std::uint64_t value) {
  const unsigned at = offset(address);
  if (at >= OAE_PORT_SIZE) held_ = true;
  if (fault(accesses_++) == Fault::LOST) return;
  if (away) {
    memory[at % OAE_PORT_SIZE / 8] = value;
    return;
  }
  if (at % OAE_PORT_SIZE < 64) {
    if (closed_) return;
    std::uint64_t& slice = window_[at % OAE_PORT_SIZE / 8];
    if (verdict_ == Verdict::GOOD && !refused_ && slice == value) return;
    slice = value;
    verdict_ = Verdict::NONE;
    refused_ = false;
    arrived_ |= 1u << at % OAE_PORT_SIZE / 8;
    if (arrived_ == 0xff) judge();
  } else if (!has_its_check(at % OAE_PORT_SIZE, value)) {
    return;
  } else if (at % OAE_PORT_SIZE == OAE_PORT_CONFIRM) {
    if (OAE_GET(value, OAE_PORT_CONFIRM_EPOCH) == epoch &&
        OAE_GET(value, OAE_PORT_CONFIRM_SEQUENCE) == sequence) {
      commit();
    }
  } else if (at == OAE_PORT_REVERSE && OAE_GET(value, OAE_PORT_REVERSE_EPOCH) == epoch) {
    reverse(static_cast<std::uint32_t>(OAE_GET(value, OAE_PORT_REVERSE_SEQUENCE)));
  }
}

void Block::reverse(std::uint32_t number) {
  if (number == sequence && tentative_) {
    tentative_ = more_ = false;
    reversed_ = true;
  } else if (number == following(sequence) && !closed_) {
    commit();
    sequence = number;
    arrived_ = 0;
    verdict_ = Verdict::NONE;
    refused_ = attempted_ = false;
    reversed_ = true;
  }
}

void Block::judge() {
  arrived_ = 0;
  // A slot that does not name the next swap is not a new offer.
  if (OAE_GET(window_[0], OAE_SLOT_HEADER_SEQUENCE) != following(sequence) ||
      OAE_GET(window_[0], OAE_SLOT_HEADER_EPOCH) != epoch) {
    return;
  }
  const bool good = window_ == sealed(window_);
  const auto attempt = static_cast<unsigned>(OAE_GET(window_[0], OAE_SLOT_HEADER_ATTEMPT));
  if (good && attempted_ && (attempt - attempt_) % 64 >= 32) return;
  if (good) {
    attempt_ = attempt;
    attempted_ = true;
  }
  verdict_ = good ? Verdict::GOOD : Verdict::BAD;
  offer_more_ = OAE_GET(window_[0], OAE_SLOT_HEADER_FLAGS) & OAE_FLAG_MORE;
  // The offer that the flag MORE has announced confirms the swap before.
  if (good && more_) commit();
}

void Block::commit() {
  if (tentative_) committed.push_back(pair_);
  tentative_ = false;
  more_ = false;
}

void Block::close() {
  commit();
  closed_ = true;
  arrived_ = 0;
  verdict_ = Verdict::NONE;
  refused_ = false;
}

void Block::open() {
  close();
  ++epoch;
  sequence = 0;
  closed_ = reversed_ = history_lost = attempted_ = false;
}

std::uint64_t Block::state() const {
  const unsigned state = history_lost    ? OAE_PORT_STATE_HISTORY_LOST
                         : closed_       ? OAE_PORT_STATE_CLOSED
                         : tentative_    ? OAE_PORT_STATE_TENTATIVE
                         : reversed_     ? OAE_PORT_STATE_REVERSED
                         : sequence != 0 ? OAE_PORT_STATE_COMMITTED
                                         : OAE_PORT_STATE_IDLE;
  return OAE_PUT(OAE_HOST_PORT_STATE_STATE, state) | OAE_PUT(OAE_HOST_PORT_STATE_EPOCH, epoch) |
         OAE_PUT(OAE_HOST_PORT_STATE_SEQUENCE, sequence);
}

Slot Block::interact() {
  if (verdict_ == Verdict::GOOD && !refused_ && firmware_offers && !tentative_) {
    sequence = following(sequence);
    reversed_ = attempted_ = false;
    verdict_ = Verdict::NONE;
    retained_ = sealed(
        {header(OAE_VERB_SWAP, epoch, OAE_STATUS_OK, sequence), ++firmware_offer_, sequence});
    pair_ = {window_[1], firmware_offer_};
    tentative_ = true;
    more_ = offer_more_;
    return retained_;
  }
  return retains_swap() ? retained_ : refuse();
}

// An offer that was answered NOT_READY keeps that answer.
Slot Block::refuse() {
  if (std::exchange(refused_, true)) return refusal_;
  if (verdict_ == Verdict::GOOD) attempt_ = (attempt_ + 1) % 64;
  const bool names_next = verdict_ != Verdict::NONE &&
                          OAE_GET(window_[0], OAE_SLOT_HEADER_EPOCH) == epoch &&
                          OAE_GET(window_[0], OAE_SLOT_HEADER_SEQUENCE) == following(sequence);
  const auto verb = names_next ? OAE_GET(window_[0], OAE_SLOT_HEADER_VERB) : OAE_VERB_NONE;
  refusal_ = sealed({header(verb, epoch, OAE_STATUS_NOT_READY, names_next ? following(sequence) : 0) |
                         first_attempt(),
                     age++});
  if (verdict_ == Verdict::NONE && reversed_)
    refusal_ = sealed({header(OAE_VERB_NONE, epoch, OAE_STATUS_REVERSED, sequence), age});
  if (history_lost) refusal_ = sealed({header(OAE_VERB_NONE, 0, OAE_STATUS_HISTORY_LOST, 0), age});
  return refusal_;
}

std::uint64_t Block::push(Fault met) {
  if (!bus_master) {
    if (retains_swap()) return retained_[0];
    refuse();
    return header(OAE_VERB_NONE, epoch, OAE_STATUS_NOT_READY, 0) | first_attempt();
  }
  const Slot answer = interact();
  if (met != Fault::PUSH_LOST) std::memcpy(buffer, answer.data(), sizeof(buffer));
  if (met == Fault::PUSH_DAMAGED) buffer[3] ^= 0x100;
  return answer[0];
}

std::uint64_t Block::read(const volatile void* address) {
  const unsigned at = offset(address);
  const Fault met = fault(accesses_++);
  if (met == Fault::LOST) return ~std::uint64_t{0};
  if (away) return memory[at % OAE_PORT_SIZE / 8];
  // The read follows all writes, so writes that have not arrived by now are lost.
  arrived_ = 0;
  std::uint64_t value;
  if (at == OAE_PORT_PUSHED_ANSWER) {
    value = push(met);
  } else if (at == OAE_PORT_STATUS) {
    value = state();
  } else if (at >= OAE_PORT_SIZE && at < OAE_PORT_SIZE + OAE_SLOT_SIZE) {
    if (held_) throw std::logic_error("a load that may go before the stores");
    value = interact()[at % OAE_PORT_SIZE / 8];
  } else {
    throw std::logic_error("read of another register");
  }
  if (met == Fault::COMPLETION_LOST) return ~std::uint64_t{0};
  if (met == Fault::SEQUENCE_DAMAGED) return value ^ OAE_PUT(OAE_SLOT_HEADER_SEQUENCE, 0x100);
  if (met == Fault::STATE_DAMAGED) return value ^ 1;
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

void mb(void) {
  guest_test::connected->pass_barrier();
}

// Each read of the clock advances it by a tick.
u64 ktime_get_ns(void) {
  static u64 now = 0;
  return ++now;
}
