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

/// Returns the offset within a port's pages, or nothing for another address.
unsigned in_page(unsigned bar, unsigned address) {
  return bar == 0 ? OAE_PORT_SIZE : address % OAE_PORT_SIZE;
}
bool of_a_slot(unsigned bar, unsigned address) {
  return in_page(bar, address) < OAE_SLOT_SIZE;
}
bool is_answer(unsigned bar, unsigned address) {
  return in_page(bar, address) <= OAE_PORT_PUSHED_ANSWER;
}
unsigned port_of(unsigned bar, unsigned address) {
  return bar == 0 ? (address - OAE_HOST_PORT_CONTROL) / OAE_HOST_PORT_CONTROL_STRIDE
                  : address / OAE_PORT_SIZE;
}

}  // namespace

Card::Card(std::uint64_t seed, unsigned ports)
    : fixture(ports, seed), ledger(fixture.reference), random_(seed * 2 + 1) {
  fixture.stall = static_cast<unsigned>(pick(3)) * 20;
  fixture.on_completion = [this](unsigned tag, const Slot& line) {
    const auto found = reads_.find(tag);
    if (found == reads_.end()) return;
    std::uint64_t value = 0;
    for (const std::uint64_t word : line) value |= word;  // the other words are 0
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
  const auto buffer = buffers.find(address);
  if (damaged_buffers_.erase(address) > 0) {
    slot[pick(8)] ^= std::uint64_t{1} << pick(64);
    ++slots_damaged;
  }
  if (buffer != buffers.end()) std::memcpy(buffer->second, slot.data(), sizeof(slot));
}

void Card::step() {
  if (fixture.hold_slots && fixture.now >= held_until_) fixture.hold_slots = false;
  fixture.clock();
  const std::vector<Transition>& seen = fixture.reference.transitions;
  while (seen_ < seen.size()) ledger.saw(seen[seen_++]);
  interrupts();
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

Moment Card::moment(unsigned port) const {
  if (fixture.reference.ports[port].state() == OAE_PORT_STATE_TENTATIVE) return Moment::tentative;
  return ledger.undecided(port) ? Moment::undecided : Moment::quiet;
}

bool Card::happens(Fault fault, unsigned port) {
  return faults_.inject(accesses_, fault, moment(port));
}

// Of all ports: what counts is the one that is in the midst of most.
bool Card::happens(Fault fault) {
  Moment most = Moment::quiet;
  for (unsigned port = 0; port < fixture.reference.ports.size(); ++port) {
    most = std::max(most, moment(port));
  }
  return faults_.inject(accesses_, fault, most);
}

// Draws the delay of a late packet, as a number of accesses.
unsigned Card::some_time() {
  return accesses_ + 1 + static_cast<unsigned>(pick(60));
}

void Card::fall_down() {
  fixture.post_reset();
  on_reset();
}

// What is under way between the two sides of the card is gone, and so is what it knew.
void Card::lose_power() {
  ++losses_;
  fixture.lose_power();
  ledger.power_lost();
  on_power_loss();
  gets_.clear();
  puts_.clear();
  for (auto& [tag, read] : std::exchange(reads_, {})) wake(read, all_ones);
  down_ = 1 + static_cast<unsigned>(pick(20));
  fall_down();
}

// Whether an access finds the link down. An owner that has begun anew meanwhile begins anew again
// when the link is up.
bool Card::is_down() {
  if (down_ == 0) return false;
  if (--down_ == 0) on_reset();
  return true;
}

// What befalls the card at some access of a host.
void Card::befall_card() {
  if (happens(Fault::firmware_restarts)) on_restart();
  if (happens(Fault::function_reset)) fall_down();
  if (happens(Fault::power_lost)) lose_power();
  if (happens(Fault::link_down)) {
    down_ = 1 + static_cast<unsigned>(pick(20));
    fall_down();
  }
}

// What a host finds that waits in vain.
std::uint64_t Card::nothing() {
  pause(20);
  return all_ones;
}

// Reads, and waits for the completion. A delay is on the way there or on the way back.
std::uint64_t Card::ask(unsigned bar, unsigned address, bool delayed, bool refused) {
  const unsigned losses = losses_;
  const auto there = static_cast<unsigned>(delayed ? pick(300) : 0);
  const auto back = static_cast<unsigned>(delayed ? pick(300) : 0);
  if (there) pause(there);
  if (losses != losses_) return all_ones;
  Wait mine{Fiber::running()};
  fixture.post_read(bar, address, 8, refused);
  reads_[fixture.number()] = &mine;
  wait(mine);
  if (back) pause(back);
  return losses != losses_ ? all_ones : mine.result;
}

std::uint64_t Card::read(unsigned bar, unsigned address) {
  ++accesses_;
  if (happens(Fault::owner_dies, port_of(bar, address))) {
    on_death();
    Fiber::wait();
  }
  befall_card();
  if (is_down()) return nothing();
  return is_answer(bar, address) ? read_answer(bar, address) : read_state(bar, address);
}

std::uint64_t Card::read_state(unsigned bar, unsigned address) {
  const unsigned port = port_of(bar, address);
  if (happens(Fault::state_lost, port)) return nothing();
  late_copies();
  const bool damaged = happens(Fault::state_damaged, port);
  const std::uint64_t state = ask(bar, address, happens(Fault::state_delayed, port), false);
  return damaged ? damage(state) : state;
}

std::uint64_t Card::read_answer(unsigned bar, unsigned address) {
  const unsigned port = port_of(bar, address);
  if (happens(Fault::read_lost, port)) return nothing();
  late_copies();
  if (happens(Fault::read_late, port)) {
    copies_.insert({some_time(), {bar, address, 0, true}});
    return nothing();
  }
  const bool damaged = happens(Fault::answer_damaged, port);
  // A streamed answer has no slot in memory.
  const bool pushed = in_page(bar, address) == OAE_PORT_PUSHED_ANSWER;
  const bool damaged_slot = damaged && pushed && pick(2);
  const bool damaged_word = damaged && !damaged_slot;
  if (damaged_slot) damaged_buffers_.insert(fixture.reference.ports[port].answer_address);
  const bool lost = happens(Fault::completion_lost, port);
  const bool refused = pushed && happens(Fault::answer_refused, port);
  if (pushed && happens(Fault::answer_held, port)) {
    fixture.hold_slots = true;
    held_until_ = fixture.now + 1 + pick(600);
  }
  const std::uint64_t header = ask(bar, address, happens(Fault::read_delayed, port), refused);
  if (lost) return all_ones;
  return damaged_word ? damage(header) : header;
}

void Card::write(unsigned bar, unsigned address, std::uint64_t value) {
  const unsigned port = port_of(bar, address);
  ++accesses_;
  // An interrupt handler is nobody's.
  if (Fiber::running() != nullptr && happens(Fault::owner_dies, port)) {
    on_death();
    Fiber::wait();
  }
  if (is_down()) return;
  late_copies();
  if (of_a_slot(bar, address)) return pass(bar, address, value);
  if (happens(Fault::write_lost, port)) return;
  if (bar != 0 && happens(Fault::write_again, port)) {
    copies_.insert({some_time(), {bar, address, value, false}});
  }
  if (bar != 0 && possible(Fault::register_damaged) && happens(Fault::register_damaged, port)) {
    value = damage(value);
  }
  fixture.post_write(bar, address, &value, 8);
}

// MSI-X. The link takes none while it is down.
void Card::interrupts() {
  while (signals_ < fixture.signals.size()) {
    const unsigned port = fixture.signals[signals_++];
    if (down_ != 0 || happens(Fault::interrupt_lost, port)) continue;
    const bool late = happens(Fault::interrupt_late, port);
    if (late || happens(Fault::interrupt_again, port)) {
      late_interrupts_.emplace(fixture.now + 1 + pick(1000), port);
    }
    if (!late) on_interrupt(port);
  }
  while (!late_interrupts_.empty() && late_interrupts_.begin()->first <= fixture.now) {
    const unsigned port = late_interrupts_.begin()->second;
    late_interrupts_.erase(late_interrupts_.begin());
    on_interrupt(port);
  }
}

// Writes a slice of an offer. The driver writes the eight slices in order.
void Card::pass(unsigned bar, unsigned address, std::uint64_t value) {
  const unsigned slice = in_page(bar, address) / 8;
  const unsigned page = address - slice * 8;
  const unsigned port = port_of(bar, address);
  Offer& offer = offers_[{bar, page}];
  if (slice == 0) {
    offer.late = happens(Fault::offer_late, port);
    offer.lost = lingering_.count(port) != 0;
    offer.lingers = !offer.lost && happens(Fault::offer_instead, port);
  }
  offer.slices[slice] = value;
  if (slice == 7 && (offer.late || happens(Fault::offer_again, port))) {
    const unsigned when = some_time();
    for (unsigned i = 0; i < 8; ++i) {
      copies_.insert({when, {bar, page + 8 * i, offer.slices[i], false}});
    }
  }
  if (slice == 7 && offer.lingers) lingering_[port] = offer.slices;
  if (slice == 7 && offer.lost) {
    fixture.post_write(bar, page, lingering_[port].data(), sizeof(Slot));
    lingering_.erase(port);
  }
  if (offer.late || offer.lingers || offer.lost || happens(Fault::write_lost, port)) return;
  if (happens(Fault::write_damaged, port)) value = damage(value);
  if (happens(Fault::write_again, port))
    copies_.insert({some_time(), {bar, address, value, false}});
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
