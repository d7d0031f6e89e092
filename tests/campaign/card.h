// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <random>
#include <set>
#include <utility>
#include <vector>

#include "tests/campaign/faults.h"
#include "tests/campaign/ledger.h"
#include "tests/rtl/block/fixture.h"

class Fiber;

/// The block and the routes to it, for fibers of hosts and firmware. Software runs between two
/// clocks; software that waits for an answer continues at the clock after it.
class Card {
 public:
  Card(std::uint64_t seed, unsigned ports);

  /// Injects the fault into the first possible access of the hosts from number `at` on.
  void plan(unsigned at, Fault fault) { faults_.plan(at, fault); }
  void stop_faults() {
    faults_.stop();
    lingering_.clear();
  }
  const Evidence& evidence() const { return faults_.evidence; }

  /// Runs one clock, and resumes each fiber that can continue.
  void step();
  /// Runs until `condition` holds. Fails the test if that takes too long.
  bool run_until(const std::function<bool()>& condition);

  // For fibers of hosts. A lost read returns all ones.
  std::uint64_t read(unsigned bar, unsigned address);
  void write(unsigned bar, unsigned address, std::uint64_t value);
  // For fibers of the firmware
  std::uint64_t get(unsigned address);
  void put(unsigned address, std::uint64_t value);
  // For both
  void pause(unsigned clocks);

  void start(Fiber& fiber) { ready_.push_back(&fiber); }
  /// The fiber never continues, and the answer for which it waits is dropped.
  void abandon(const Fiber& fiber);

  std::uint64_t pick(std::uint64_t n) { return random_() % n; }

  Fixture fixture;
  Ledger ledger;
  unsigned slots_damaged = 0;                       ///< on their way to host memory
  std::map<std::uint64_t, std::uint64_t*> buffers;  ///< host memory, by address
  std::function<void()> on_reset;  ///< called after a reset of the function: its owners begin anew
  std::function<void()> on_death;  ///< called when the running owner dies
  std::function<void()> on_restart;     ///< called when the firmware restarts
  std::function<void()> on_power_loss;  ///< the firmware begins anew, too
  std::function<void(unsigned port)> on_interrupt;

 private:
  struct Wait {
    Fiber* fiber;  // none if it was abandoned
    std::uint64_t result = 0;
    bool done = false;
  };

  void wait(Wait& wait);
  Moment moment(unsigned port) const;
  bool happens(Fault fault, unsigned port);
  bool happens(Fault fault);
  void befall_card();
  void fall_down();
  void lose_power();
  bool is_down();
  std::uint64_t ask(unsigned bar, unsigned address, bool delayed, bool refused);
  std::uint64_t read_state(unsigned bar, unsigned address);
  std::uint64_t read_answer(unsigned bar, unsigned address);
  std::uint64_t damage(std::uint64_t word) { return word ^ std::uint64_t{1} << pick(64); }
  std::uint64_t nothing();
  void interrupts();
  unsigned some_time();
  void pass(unsigned bar, unsigned address, std::uint64_t value);
  void late_copies();
  void wake(Wait* wait, std::uint64_t result);
  void slot_written(std::uint64_t address, Slot slot);

  std::mt19937_64 random_;
  Faults faults_;
  unsigned accesses_ = 0;
  unsigned down_ = 0;                        // accesses until the link is up again
  std::set<std::uint64_t> damaged_buffers_;  // the addresses whose next slot is damaged
  std::uint64_t held_until_ = 0;             // the clock at which slots may leave again
  std::map<unsigned, Wait*> reads_;          // by tag
  std::deque<Wait*> gets_;
  std::deque<Wait*> puts_;
  std::multimap<std::uint64_t, Fiber*> sleepers_;  // by clock
  struct Copy {
    unsigned bar;
    unsigned address;
    std::uint64_t value;
    bool read;
  };
  std::multimap<unsigned, Copy> copies_;  // by access
  struct Offer {
    Slot slices;
    bool late;
    bool lingers;  // until the next one comes
    bool lost;     // since one that lingers comes instead
  };
  std::map<std::pair<unsigned, unsigned>, Offer> offers_;  // incomplete offers, by BAR and page
  std::map<unsigned, Slot> lingering_;                     // offers, by port
  std::vector<Fiber*> ready_;
  std::size_t seen_ = 0;                                    // transitions
  std::size_t signals_ = 0;                                 // seen
  std::multimap<std::uint64_t, unsigned> late_interrupts_;  // ports, by clock
  unsigned losses_ = 0;                                     // of power
};
