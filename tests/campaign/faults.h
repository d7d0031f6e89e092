// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <map>
#include <string>

/// What goes wrong.
enum class Fault {
  // A write of a host
  write_lost,
  write_damaged,     ///< of a slice of an offer
  write_again,       ///< it arrives a second time, later; opens, closes and settings do not
  offer_again,       ///< all eight writes of an offer arrive a second time, later
  offer_late,        ///< all eight writes of an offer arrive later, and not before
  offer_instead,     ///< an offer arrives instead of the next one of its port, which is lost
  register_damaged,  ///< a confirmation or a reversal
  // A read of an answer
  read_lost,
  read_late,     ///< the host waits for it in vain, and later it arrives
  read_delayed,  ///< it, or its completion, is long under way, and the host waits
  completion_lost,
  answer_damaged,  ///< slice 0 in the completion, or the slot in memory
  answer_refused,  ///< the write of the slot to memory is
  answer_held,     ///< the write of the slot to memory waits for long, and may be refused then
  // A read of a port's state
  state_lost,
  state_delayed,  ///< what it says is old when the host gets it
  state_damaged,
  // MSI-X
  interrupt_lost,
  interrupt_late,
  interrupt_again,
  // Of all ports
  link_down,  ///< for a while; the function is reset, and the owners begin anew
  function_reset,
  power_lost,  ///< by the block and its firmware; the link is down meanwhile
  firmware_restarts,
  owner_dies,  ///< of one port
};
inline constexpr unsigned fault_kinds = static_cast<unsigned>(Fault::owner_dies) + 1;

const char* name(Fault fault);
/// Whether the two sides are made to bear it.
bool possible(Fault fault);

/// What a port was doing when a fault was injected.
enum class Moment {
  quiet,
  undecided,  ///< a host had offered a swap and did not know its outcome
  tentative,  ///< the block had exchanged, and nobody had settled it
};

/// How many faults were injected, and when. A fault proves nothing if it is never injected, or only
/// where nothing happens.
class Evidence {
 public:
  void add(Fault fault, Moment moment) { ++counts_[index(fault)][static_cast<unsigned>(moment)]; }
  void add(const Evidence& other);
  unsigned injected(Fault fault) const;
  unsigned injected(Fault fault, Moment moment) const {
    return counts_[index(fault)][static_cast<unsigned>(moment)];
  }
  std::string table() const;

 private:
  static unsigned index(Fault fault) { return static_cast<unsigned>(fault); }
  std::array<std::array<unsigned, 3>, fault_kinds> counts_{};
};

/// The faults of a run, each due from some access of the hosts on.
class Faults {
 public:
  void plan(unsigned access, Fault fault) { planned_.emplace(access, fault); }
  void stop() { planned_.clear(); }
  /// Injects a fault of this kind if one is due. Returns whether it was.
  bool inject(unsigned access, Fault fault, Moment moment);

  Evidence evidence;

 private:
  std::multimap<unsigned, Fault> planned_;
};
