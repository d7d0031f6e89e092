// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <vector>

#include "tests/rtl/block/reference/block.h"

/// All offers of a host, by the token in slice 6 of the slot, and their fate according to each
/// side. A contradiction fails the test at the moment at which it is found.
class Ledger {
 public:
  explicit Ledger(const ReferenceBlock& block) : block_(block), taken_(block.ports.size()) {}

  /// Returns a new token for a slot of this port.
  std::uint64_t offer(unsigned port);

  // Statements of the host about a token
  void host_committed(std::uint64_t token, const Slot& answer);
  void host_denied(std::uint64_t token);  ///< the host gave it up: it must never take place
  void host_reversed(std::uint64_t token);
  void host_lost(std::uint64_t token);    ///< the card says that nobody knows
  void host_forgot(std::uint64_t token);  ///< its owner died, and may have confirmed it

  /// The block's journals have changed.
  void saw(const Transition& transition);
  /// The card has lost its power, and all that it knew.
  void power_lost();
  /// The firmware takes the committed slot of a port.
  void firmware_takes(unsigned port);
  /// The firmware has added to the counter.
  void firmware_added(std::uint64_t addend) { counter_ += addend; }

  /// Whether a host has offered something there whose outcome it does not know.
  bool undecided(unsigned port) const;
  /// Checks that all swaps are settled.
  void conclude();

  static constexpr unsigned counter = 0;  ///< the word to which FETCH_ADD adds
  static constexpr unsigned account = 1;  ///< MULTI moves amounts between words 1 and 2
  static constexpr unsigned lock = 3;     ///< the word of CAS

  unsigned committed = 0;
  unsigned reversed = 0;

 private:
  enum class Fate { none, tentative, committed, reversed, lost };
  enum class Host { unknown, committed, denied, reversed, lost, forgot };
  struct Entry {
    unsigned port;
    unsigned losses;  // of power before
    unsigned verb = 0;
    Slot slot{};
    Slot answer{};
    Fate fate = Fate::none;
    Host host = Host::unknown;
  };
  struct Taken {
    std::uint64_t offered = 0;    // token of the last offer
    std::uint64_t tentative = 0;  // and of the last exchange
    bool closes = false;  // it was committed unasked, so that its port has to be closed next
    std::uint64_t last_committed = 0;
    std::deque<std::uint64_t> for_firmware;  // committed slots that the firmware has not taken
  };

  Entry& entry(std::uint64_t token);
  void exchanged(unsigned port);

  const ReferenceBlock& block_;
  std::map<std::uint64_t, Entry> entries_;
  std::vector<Taken> taken_;
  std::uint64_t next_ = 1;
  unsigned losses_ = 0;  // of power
  std::uint64_t counter_ = 0;
  std::uint64_t moved_ = 0;
  std::uint64_t locked_ = 0;
};
