// SPDX-License-Identifier: Apache-2.0
#include "tests/campaign/joined_host.h"

#include <asm/barrier.h>
#include <gtest/gtest.h>
#include <linux/io.h>
#include <linux/ktime.h>

#include <cstring>
#include <stdexcept>
#include <utility>

namespace {

constexpr std::uint64_t memory = 0x10'0000'0000;
constexpr unsigned reads = 2;

std::uint64_t memory_of(unsigned port) {
  return memory + sizeof(Slot) * port;
}

}  // namespace

JoinedHost* JoinedHost::current_ = nullptr;

JoinedHost::JoinedHost(Cell& cell, unsigned port) : cell(cell), port(port) {
  exchange_.page = page_;
  exchange_.stream = stream_;
  exchange_.buffer = reinterpret_cast<__le64*>(memory_);
}

void JoinedHost::open() {
  cell.host_write(0, OAE_HOST_PORT_ANSWER_ADDRESS_AT(port), memory_of(port));
  const std::uint64_t before = cell.host_read(0, OAE_HOST_PORT_STATE_AT(port));
  cell.host_write(0, OAE_HOST_PORT_CONTROL_AT(port), 0);
  cell.host_write(
      0, OAE_HOST_PORT_CONTROL_AT(port),
      OAE_HOST_PORT_CONTROL_OPEN_MASK | OAE_PUT(OAE_HOST_PORT_CONTROL_EPOCH, exchange_.epoch));
  EXPECT_TRUE(
      oae_exchange_open(&exchange_, before, cell.host_read(0, OAE_HOST_PORT_STATE_AT(port))));
}

oae_outcome JoinedHost::swap(std::uint64_t word, oae_form form, std::uint8_t verb, bool more,
                             bool loses) {
  const u64 payload[6] = {word, word + 1, word + 2, word + 3, word + 4, word + 5};
  JoinedHost* const outer = std::exchange(current_, this);
  loses_ = loses;
  const oae_outcome outcome = oae_exchange_swap(&exchange_, form, verb, more ? OAE_FLAG_MORE : 0,
                                                payload, loses ? 0 : reads, &answer_);
  loses_ = false;
  current_ = outer;
  return outcome;
}

void JoinedHost::settle(bool reverse) {
  JoinedHost* const outer = std::exchange(current_, this);
  if (reverse) oae_exchange_reverse(&exchange_);
  oae_exchange_settle(&exchange_, reads, &answer_);
  current_ = outer;
}

void JoinedHost::committed(std::uint64_t word, std::uint64_t answer) {
  given.push_back(word);
  got.push_back(answer);
}

JoinedHost::Place JoinedHost::place(const volatile void* address) const {
  const auto* const at = static_cast<const volatile unsigned char*>(address);
  if (at >= page_ && at < page_ + sizeof page_) {
    return {2, port * OAE_PORT_SIZE + static_cast<unsigned>(at - page_)};
  }
  if (at >= stream_ && at < stream_ + sizeof stream_) {
    return {4, port * OAE_STREAM_SIZE + static_cast<unsigned>(at - stream_)};
  }
  throw std::logic_error("access beside the pages");
}

std::uint64_t JoinedHost::read(const volatile void* address) {
  JoinedHost& host = *current_;
  const Place at = host.place(address);
  const Fixture& block = host.cell.block;
  const unsigned slots = block.pushes;
  const std::uint64_t value = host.cell.host_read(at.bar, at.address);
  if (block.pushes != slots) {
    EXPECT_EQ(block.pushed_address, memory_of(host.port));
    std::memcpy(host.memory_, block.pushed_slot.data(), sizeof(Slot));
  }
  return std::exchange(host.loses_, false) ? ~std::uint64_t{0} : value;
}

void JoinedHost::write(volatile void* address, std::uint64_t value) {
  const Place at = current_->place(address);
  current_->cell.host_write(at.bar, at.address, value);
}

// ---- Where the driver's exchange reaches the block ----

u64 readq(const volatile void* address) {
  return JoinedHost::read(address);
}
void writeq(u64 value, volatile void* address) {
  JoinedHost::write(address, value);
}
void mb() {}
u64 ktime_get_ns() {
  return 0;
}
