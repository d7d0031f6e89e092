// SPDX-License-Identifier: Apache-2.0
#include "tests/campaign/cell.h"

#include <gtest/gtest.h>

#include <cstring>

namespace {

constexpr std::uintptr_t cell_size = 0x0100'0000;
constexpr std::uintptr_t link_base = 0x10'0000;
constexpr unsigned power_loss = 200;  // clocks

std::uintptr_t base_of(unsigned number) {
  return (1 + number) * cell_size;
}

}  // namespace

std::uint64_t LinkRegisters::read(std::uintptr_t offset) {
  stop_.access();
  std::uint64_t result = 0;
  end_.post_get(static_cast<unsigned>(offset), [&](std::uint64_t value) { result = value; });
  finish();
  return result;
}

void LinkRegisters::write(std::uintptr_t offset, std::uint64_t value) {
  stop_.access();
  end_.post_put(static_cast<unsigned>(offset), value);
  finish();
}

void LinkRegisters::finish() {
  while (!end_.idle()) cables_.clock();
  EXPECT_FALSE(end_.error);
}

Cell::Cell(unsigned number, Cables& cables)
    : MmioDevice(base_of(number), OAE_FIRMWARE_SIZE),
      number(number),
      cables(cables),
      base_(base_of(number)) {
  const unsigned before = (number + cells - 1) % cells;
  ends[0] = &cables.all[number]->a;
  ends[1] = &cables.all[before]->b;
  places[0] = {base_ + link_base, (number + 1) % cells, 3ull << 2 * number};
  places[1] = {base_ + link_base + OAE_LINK_SIZE, before, 3ull << 2 * before};
  for (unsigned n = 0; n < 2; ++n) {
    registers[n] = std::make_unique<LinkRegisters>(places[n].base, *ends[n], cables, stop);
  }
  std::memset(&memory, 0xa5, sizeof memory);
  start();
}

void Cell::start() {
  stop.in = 0;
  std::memset(&swaps, 0, sizeof swaps);
  std::memset(&links, 0, sizeof links);
  link_service_init(&links, number, places.data(), 2, &swaps, &memory, nullptr);
  EXPECT_TRUE(swap_service_init(&swaps, base_, &links.partner));
  link_service_start(&links);
}

void Cell::lose_power() {
  block.lose_power();
  std::memset(&memory, 0x5a, sizeof memory);
  for (LinkEnd* end : ends) end->top.reset = 1;
  for (unsigned i = 0; i < power_loss; ++i) cables.clock();
  for (LinkEnd* end : ends) end->top.reset = 0;
  start();
}

void Cell::serve_until(unsigned access) {
  stop.in = access;
  try {
    serve();
    tick();
  } catch (const Stopped&) {
  }
  start();
}

void Cell::serve() {
  swap_service_serve(&swaps, ~std::uint64_t{0});
  for (unsigned n = 0; n < 2; ++n) {
    if (ends[n]->top.irq) link_service_serve(&links, n);
  }
}

void Cell::tick() {
  swap_service_tick(&swaps, 1);
  swap_service_retry(&swaps, ~std::uint64_t{0});
  link_service_tick(&links);
}

bool Cell::is_up() const {
  return ends[0]->phase() == OAE_LINK_STATE_IDLE && ends[1]->phase() == OAE_LINK_STATE_IDLE;
}

std::uint64_t Cell::read(std::uintptr_t offset) {
  stop.access();
  if (meanwhile) meanwhile();
  return block.get(static_cast<unsigned>(offset));
}

void Cell::write(std::uintptr_t offset, std::uint64_t value) {
  stop.access();
  if (meanwhile) meanwhile();
  const auto at = static_cast<unsigned>(offset);
  if (at >= OAE_FIRMWARE_OFFER &&
      at % OAE_FIRMWARE_OFFER_STRIDE == OAE_FIRMWARE_COMMAND % OAE_FIRMWARE_OFFER_STRIDE &&
      value & OAE_FIRMWARE_COMMAND_TAKE_MASK) {
    ++taken[(at - OAE_FIRMWARE_OFFER) / OAE_FIRMWARE_OFFER_STRIDE];
  }
  block.put(at, value);
  record_transitions();
}

std::uint64_t Cell::host_read(unsigned bar, unsigned address) {
  const std::uint64_t value = block.read(bar, address);
  record_transitions();
  return value;
}

void Cell::host_write(unsigned bar, unsigned address, std::uint64_t value) {
  block.write(bar, address, value);
  record_transitions();
}

// Records the changes of the journals. One access changes at most one port's journal.
void Cell::record_transitions() {
  for (const Transition& seen : block.reference.transitions) {
    Pair& pair = tentative_[seen.port];
    if (seen.to == OAE_PORT_STATE_TENTATIVE) {
      pair = {port(seen.port).tentative(), port(seen.port).retained()};
    } else if (seen.from == OAE_PORT_STATE_TENTATIVE && seen.to == OAE_PORT_STATE_COMMITTED &&
               Header::of(pair.slot[0]).verb == OAE_VERB_SWAP && on_commit) {
      on_commit(seen.port, pair.slot[1], pair.answer[1]);
    }
  }
  block.reference.transitions.clear();
  block.transitions.clear();
  block.reference.signals.clear();
  block.signals.clear();
}
