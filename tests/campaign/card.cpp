// SPDX-License-Identifier: Apache-2.0
#include "tests/campaign/card.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

#include "oae_registers.h"
#include "tests/campaign/fiber.h"

namespace {

constexpr unsigned patience = 200'000;  // clocks
constexpr std::uint64_t all_ones = ~std::uint64_t{0};

/// Of a port's pages: its offset, or nothing of them.
unsigned in_page(unsigned bar, unsigned address) {
  return bar == 0 ? OAE_PORT_SIZE : address % OAE_PORT_SIZE;
}
bool of_a_slot(unsigned bar, unsigned address) {
  return in_page(bar, address) < OAE_SLOT_SIZE;
}
bool is_answer(unsigned bar, unsigned address) {
  return in_page(bar, address) <= OAE_PORT_PUSHED_ANSWER;
}

}  // namespace

Card::Card(std::uint64_t seed, unsigned ports)
    : fixture(ports, seed), ledger(fixture.reference), random_(seed * 2 + 1) {
  fixture.stall = static_cast<unsigned>(pick(3)) * 20;
  fixture.on_completion = [this](unsigned tag, const Slot& line) {
    const auto found = reads_.find(tag);
    if (found == reads_.end()) return;
    std::uint64_t value = 0;
    for (const std::uint64_t word : line) value |= word;  // the others are 0
    wake(found->second, value);
    reads_.erase(found);
  };
  fixture.on_slot = [this](std::uint64_t address, const Slot& slot) {
    slot_written(address, slot);
  };
  fixture.on_get = [this](std::uint64_t value) {
    wake(gets_.front(), value);
    gets_.pop_front();
  };
  fixture.on_put = [this] {
    wake(puts_.front(), 0);
    puts_.pop_front();
  };
}

void Card::wake(Wait* wait, std::uint64_t result) {
  if (wait == nullptr) return;
  wait->result = result;
  wait->done = true;
  ready_.push_back(wait->fiber);
}

void Card::wait(Wait& wait) {
  while (!wait.done) Fiber::wait();
}

void Card::abandon(const Fiber& fiber) {
  const auto of_it = [&](Wait*& wait) {
    if (wait != nullptr && wait->fiber == &fiber) wait = nullptr;
  };
  for (auto& [tag, wait] : reads_) of_it(wait);
  std::for_each(gets_.begin(), gets_.end(), of_it);
  std::for_each(puts_.begin(), puts_.end(), of_it);
  ready_.erase(std::remove(ready_.begin(), ready_.end(), &fiber), ready_.end());
  for (auto at = sleepers_.begin(); at != sleepers_.end();) {
    at = at->second == &fiber ? sleepers_.erase(at) : std::next(at);
  }
}

void Card::slot_written(std::uint64_t address, Slot slot) {
  if (std::exchange(damage_slot_, false)) slot[pick(8)] ^= std::uint64_t{1} << pick(64);
  const auto cell = cells.find(address);
  if (cell != cells.end()) std::memcpy(cell->second, slot.data(), sizeof(slot));
}

void Card::step() {
  fixture.clock();
  const std::vector<Transition>& seen = fixture.reference.transitions;
  while (seen_ < seen.size()) ledger.saw(seen[seen_++]);
  while (!sleepers_.empty() && sleepers_.begin()->first <= fixture.now) {
    ready_.push_back(sleepers_.begin()->second);
    sleepers_.erase(sleepers_.begin());
  }
  while (!ready_.empty()) {
    const std::size_t which = pick(ready_.size());
    Fiber* const fiber = ready_[which];
    ready_.erase(ready_.begin() + static_cast<std::ptrdiff_t>(which));
    fiber->resume();
  }
}

bool Card::run_until(const std::function<bool()>& condition) {
  for (unsigned clocks = 0; !condition(); ++clocks) {
    if (clocks == patience) {
      ADD_FAILURE() << "stuck";
      return false;
    }
    if (testing::Test::HasFailure()) return false;
    step();
  }
  return true;
}

void Card::pause(unsigned clocks) {
  sleepers_.emplace(fixture.now + 1 + clocks, Fiber::running());
  Fiber::wait();
}

bool Card::happens(Fault fault) {
  for (auto at = planned_.begin(); at != planned_.end() && at->first <= accesses_; ++at) {
    if (at->second != fault) continue;
    planned_.erase(at);
    return true;
  }
  return false;
}

// When a packet that lingers arrives, as a number of accesses.
unsigned Card::some_time() {
  return accesses_ + 1 + static_cast<unsigned>(pick(60));
}

void Card::fall_down() {
  fixture.post_reset();
  on_reset();
}

// Whether an access finds the link down. Who has begun anew while it was begins anew once it is up.
bool Card::is_down() {
  if (down_ == 0) return false;
  if (--down_ == 0) on_reset();
  return true;
}

std::uint64_t Card::read(unsigned bar, unsigned address) {
  ++accesses_;
  if (happens(Fault::owner_dies)) {
    on_death();
    Fiber::wait();
  }
  if (happens(Fault::firmware_restarts)) on_restart();
  if (happens(Fault::function_reset)) fall_down();
  if (happens(Fault::link_down)) {
    down_ = 1 + static_cast<unsigned>(pick(20));
    fall_down();
  }
  if (is_down()) {
    pause(20);
    return all_ones;
  }
  if (happens(Fault::read_lost)) {
    pause(20);
    return all_ones;
  }
  late_copies();
  if (is_answer(bar, address) && happens(Fault::read_late)) {
    copies_.insert({some_time(), {bar, address, 0, true}});
    pause(20);
    return all_ones;
  }
  const bool answer = is_answer(bar, address);
  const bool damaged = answer && happens(Fault::answer_damaged);
  damage_slot_ = damaged && pick(2);
  const bool damaged_word = damaged && !damage_slot_;
  const bool lost = happens(Fault::completion_lost);
  const bool refused = answer && happens(Fault::answer_refused);
  Wait mine{Fiber::running()};
  fixture.post_read(bar, address, 8, refused);
  reads_[fixture.number()] = &mine;
  wait(mine);
  if (lost) return all_ones;
  return damaged_word ? mine.result ^ std::uint64_t{1} << pick(64) : mine.result;
}

void Card::write(unsigned bar, unsigned address, std::uint64_t value) {
  ++accesses_;
  if (happens(Fault::owner_dies)) {
    on_death();
    Fiber::wait();
  }
  if (is_down()) return;
  late_copies();
  if (of_a_slot(bar, address)) return pass(bar, address, value);
  if (happens(Fault::write_lost)) return;
  if (bar != 0 && happens(Fault::write_again)) {
    copies_.insert({some_time(), {bar, address, value, false}});
  }
  fixture.post_write(bar, address, &value, 8);
}

// A slice of an offer. The driver writes the eight in order.
void Card::pass(unsigned bar, unsigned address, std::uint64_t value) {
  const unsigned slice = in_page(bar, address) / 8;
  const unsigned page = address - slice * 8;
  Offer& offer = offers_[{bar, page}];
  if (slice == 0) offer.late = happens(Fault::offer_late);
  offer.slices[slice] = value;
  if (slice == 7 && (offer.late || happens(Fault::offer_again))) {
    const unsigned when = some_time();
    for (unsigned i = 0; i < 8; ++i) {
      copies_.insert({when, {bar, page + 8 * i, offer.slices[i], false}});
    }
  }
  if (offer.late || happens(Fault::write_lost)) return;
  if (happens(Fault::write_damaged)) value ^= std::uint64_t{1} << pick(64);
  if (happens(Fault::write_again)) copies_.insert({some_time(), {bar, address, value, false}});
  fixture.post_write(bar, address, &value, 8);
}

void Card::late_copies() {
  while (!copies_.empty() && copies_.begin()->first <= accesses_) {
    const Copy copy = copies_.begin()->second;
    copies_.erase(copies_.begin());
    if (copy.read) {
      fixture.post_read(copy.bar, copy.address, 8);
    } else {
      fixture.post_write(copy.bar, copy.address, &copy.value, 8);
    }
  }
}

std::uint64_t Card::get(unsigned address) {
  Wait mine{Fiber::running()};
  gets_.push_back(&mine);
  fixture.post_get(address);
  wait(mine);
  return mine.result;
}

void Card::put(unsigned address, std::uint64_t value) {
  Wait mine{Fiber::running()};
  puts_.push_back(&mine);
  fixture.post_put(address, value);
  wait(mine);
}
