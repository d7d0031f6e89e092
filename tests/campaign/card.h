// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <random>
#include <utility>
#include <vector>

#include "tests/campaign/ledger.h"
#include "tests/rtl/fixture.h"

class Fiber;

/// What an access of a host meets on its way.
enum class Fault {
  write_lost,
  write_damaged,  ///< one of a slot, else it is lost
  write_again,    ///< comes a second time, later; opens, closes and settings do not
  offer_again,    ///< the eight writes of an offer come a second time, later
  offer_late,     ///< they come later, and not before
  read_lost,
  read_late,      ///< its host waits for it in vain, and later it arrives
  completion_lost,  ///< the read has arrived
  answer_damaged,   ///< slice 0, or the slot in memory
  answer_refused,   ///< the write to memory is
  link_down,        ///< for a while; the function is reset, and its owners begin anew
  function_reset,
  owner_dies,
  firmware_restarts,  ///< wherever it is
};
inline constexpr unsigned faults = 14;

/// The block and the ways to it, for fibers of hosts and firmware. Software runs between two
/// clocks; who waits for an answer goes on at the clock after it.
class Card {
 public:
  Card(std::uint64_t seed, unsigned ports);

  /// From access `at` of the hosts on, the next one that it can happen to.
  void plan(unsigned at, Fault fault) { planned_.emplace(at, fault); }
  void stop_faults() { planned_.clear(); }

  /// One clock, and who can go on does.
  void step();
  /// Runs until `condition`, or fails the test because that takes too long.
  bool run_until(const std::function<bool()>& condition);

  // By fibers of hosts. A lost read is all ones.
  std::uint64_t read(unsigned bar, unsigned address);
  void write(unsigned bar, unsigned address, std::uint64_t value);
  // By fibers of the firmware
  std::uint64_t get(unsigned address);
  void put(unsigned address, std::uint64_t value);
  // By either
  void pause(unsigned clocks);

  void start(Fiber& fiber) { ready_.push_back(&fiber); }
  /// It never goes on, and what it waits for is for nobody.
  void abandon(const Fiber& fiber);

  std::uint64_t pick(std::uint64_t n) { return random_() % n; }

  Fixture fixture;
  Ledger ledger;
  std::map<std::uint64_t, std::uint64_t*> cells;  ///< host memory, by address
  std::function<void()> on_reset;                 ///< the function was: its owners begin anew
  std::function<void()> on_death;                 ///< of the owner that runs
  std::function<void()> on_restart;               ///< of the firmware

 private:
  struct Wait {
    Fiber* fiber;  // none: it was given up
    std::uint64_t result = 0;
    bool done = false;
  };

  void wait(Wait& wait);
  bool happens(Fault fault);
  void fall_down();
  bool is_down();
  unsigned some_time();
  void pass(unsigned bar, unsigned address, std::uint64_t value);
  void late_copies();
  void wake(Wait* wait, std::uint64_t result);
  void slot_written(std::uint64_t address, Slot slot);

  std::mt19937_64 random_;
  std::multimap<unsigned, Fault> planned_;
  unsigned accesses_ = 0;
  unsigned down_ = 0;  // accesses for which the link still is
  bool damage_slot_ = false;
  std::map<unsigned, Wait*> reads_;  // by tag
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
    std::array<std::uint64_t, 8> slices;
    bool late;
  };
  std::map<std::pair<unsigned, unsigned>, Offer> offers_;  // in the making, by BAR and page
  std::vector<Fiber*> ready_;
  std::size_t seen_ = 0;  // transitions
};
