// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tlm_utils/simple_initiator_socket.h>

#include <cstdint>
#include <optional>
#include <systemc>
#include <tlm>

#include "system/oae-embed.h"
#include "vp/processor_access.h"
#include "vp/qemu/carrier.h"
#include "vp/time/calendar.h"
#include "vp/time/decoupled.h"

namespace vp::qemu {

class Instance;

/// A vCPU, which runs ahead of the kernel's time as far as its domain allows, and is back at its
/// exact local time for each access to the simulation.
class Cpu : public sc_core::sc_module, private Decoupled {
 public:
  Cpu(const sc_core::sc_module_name& name, Instance& instance, unsigned index);

  /// Accesses by physical address, 1 to 8 bytes, with a ProcessorAccess. b_transport is called at
  /// the vCPU's exact local time, or for it (see Decoupled), and may wait; the vCPU is stalled for
  /// as long, and for the delay that comes back.
  tlm_utils::simple_initiator_socket<Cpu> socket;

  /// Makes an access on behalf of the instruction that the vCPU is executing, 1 to 8 bytes, little
  /// endian. Returns whether the target answered TLM_OK_RESPONSE.
  bool access(tlm::tlm_command command, std::uint64_t address, unsigned size, std::uint64_t& value,
              MemoryType type = MemoryType::uncacheable);

 private:
  friend class Carrier;
  friend class Instance;

  /// What an instruction asks besides an access; of `size` bytes if it is a load.
  void act(ProcessorAccess::Operation operation, MemoryType type, std::uint64_t address,
           unsigned size);
  void transport(tlm::tlm_command command, std::uint64_t address, unsigned char* data,
                 unsigned size);
  /// Lets siblings catch up before it acts on them or looks at a clock.
  void order(OaeOrder order);
  [[noreturn]] void answered_early(Picoseconds end) const;
  /// Lets QEMU give the answer to a load that began at `start` and ended at `end` again.
  void remember(std::uint64_t address, const unsigned char* data, unsigned size, Picoseconds start,
                Picoseconds end);
  /// Whether the vCPU holds data of what it accesses.
  void set_holding(bool holding);

  /// Takes a turn; false if there are no more.
  bool execute();
  /// Executes as far as the grant allows.
  OaeRun run();
  /// Lets QEMU return at the end of the grant or before it. The vCPU's local time is `local`.
  void stop_by(Picoseconds local);
  /// Lets the kernel pause.
  void pause();
  /// Whether its next turn can begin; until then the calendar knows when, if it does not sleep.
  bool ready();
  /// Returns a vCPU that can take its next turn before the kernel's time has reached it, since
  /// nothing reaches that vCPU earlier, or nullptr. Cancels its appointment.
  static Cpu* able_to_go_on();
  bool waits_alone() const;
  Picoseconds limit() const;
  /// Determines how far it may run from here.
  void grant();
  /// Determines that anew in the middle of a run.
  void renew();
  /// The same at `local`, its local time.
  void renew_at(Picoseconds local);
  /// Waits until the kernel's time is the local time and the vCPUs before it have had their turn.
  void synchronise();
  /// Calls synchronise(), then keeps the appointments that are due.
  void catch_up() override;
  bool may_stay_ahead() const override;
  /// enter() and leave() enclose each act on the simulation at the vCPU's exact local time. The
  /// vCPU continues at `until`.
  void enter();
  void leave(Picoseconds until);
  void wake(Picoseconds when);
  /// The earliest time at which it can act.
  Picoseconds floor() const;

  Instance& instance_;
  const int index_;
  const Picoseconds longest_run_;  // after which the vCPU looks whether the kernel is to pause
  Picoseconds local_ = 0;          // local time as of the last return from QEMU
  Picoseconds granted_ = 0;        // how far it may execute
  std::optional<Picoseconds> known_limit_;  // of the next grant, if that follows at once
  Picoseconds stopped_at_ = 0;        // when QEMU is to return; `never` makes it return at once
  unsigned limit_ = OAE_LIMIT_EXACT;  // how that is meant
  bool asleep_ = false;
  bool acts_ = false;  // is about to act on its siblings, at its local time
  Event turn_;         // when it goes on
  Carrier own_carrier_;
  Carrier* carrier_ = &own_carrier_;
  bool holding_ = false;
  ProcessorAccess attributes_;
  tlm::tlm_generic_payload payload_;
};

}  // namespace vp::qemu
