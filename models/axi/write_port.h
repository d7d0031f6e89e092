// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <tlm>
#include <vector>

#include "models/axi/burst.h"
#include "models/axi/faults.h"
#include "models/axi/pins.h"
#include "vp/ring.h"
#include "vp/time/time.h"

namespace axi {

/// Makes the write bursts of the block's AXI4 master into posted writes of host memory, and keeps
/// interrupts behind the writes before them.
///
/// A burst is written when its last beat has come: each run of bytes whose strobes are set becomes
/// a write of its own, from the lowest address to the highest. Bursts and interrupts keep their
/// order. BRESP is OKAY once the function has accepted all writes of the burst and of those before
/// it, and SLVERR if it has refused one, which ends the burst. All responses are in the order of
/// the addresses, whatever their IDs are.
///
/// The order at an edge is: present(), the block's low phase, sample(), its rising edge.
class WritePort {
 public:
  static constexpr unsigned most_bursts = 16;  ///< that the block may have outstanding

  /// Where writes and interrupts go.
  struct Host {
    /// Sends a write by the protocol of a function's `dma` (models/pcie/endpoint/access.h). If it
    /// returns TLM_ACCEPTED, answered() and then go_on() follow.
    std::function<tlm::tlm_sync_enum(tlm::tlm_generic_payload&)> send;
    /// Sends the interrupt of a vector.
    std::function<void(unsigned)> signal;
    /// Sets the level of the function's pin.
    std::function<void(bool)> set_level;
    /// The block has to see something new.
    std::function<void()> wake;
  };

  WritePort(const WritePins& pins, Faults& faults, Host host);

  /// Puts ready signals and the response that was there before `now` on the pins.
  void present(vp::Picoseconds now);
  /// Sees what the block does at the edge.
  void sample();

  /// Sends an interrupt after all writes whose last beat has come.
  void interrupt(unsigned vector);
  /// Sets the level of the function's pin after them.
  void level(bool level);

  /// The function has answered a write for which it had no room.
  void answered() { waiting_ = false; }
  /// Continues after answered(), outside of the function's call.
  void go_on();

  /// Whether a response is on the pins.
  bool busy() const { return pins_.bvalid.get() != 0; }
  /// Whether a response waits for its edge.
  bool waiting() const { return !responses_.empty(); }
  /// Whether the block drives a valid signal.
  bool driven() const { return pins_.awvalid.get() != 0 || pins_.wvalid.get() != 0; }

  /// Takes all signals from the pins, and forgets all bursts and interrupts. The function has
  /// answered all writes.
  void reset();

  const std::uint64_t& bursts() const { return count_; }
  const std::uint64_t& errors() const { return errors_; }

 private:
  struct Transfer {
    Burst burst;
    const char* problem = nullptr;
    unsigned beat = 0;             // the next one
    unsigned at = 0;               // bytes of the burst that were sent
    bool failed = false;           // the function has refused a write
    vp::Picoseconds answered = 0;  // when the response was known
    std::array<std::uint8_t, Burst::most_bytes> data;
    std::array<bool, Burst::most_bytes> enabled;
  };
  // A burst or an interrupt on its way to the host.
  struct Posted {
    enum class Kind : std::uint8_t { burst, vector, level };
    Kind kind;
    Transfer* transfer;
    unsigned value;  // the vector or the level
  };

  void accept_address();
  void accept_data();
  void post(Posted posted);
  bool send(Transfer& transfer);
  void respond(Transfer& transfer);

  const WritePins& pins_;
  Faults& faults_;
  const Host host_;
  tlm::tlm_generic_payload payload_;

  std::vector<std::unique_ptr<Transfer>> transfers_;
  std::vector<Transfer*> free_;
  vp::Ring<Transfer*> open_;       // those whose data is not complete
  vp::Ring<Posted> posted_;        // a part of the first may have been sent
  vp::Ring<Transfer*> responses_;  // those that are done
  bool waiting_ = false;           // for the function's answer

  std::uint64_t count_ = 0;
  std::uint64_t errors_ = 0;
};

}  // namespace axi
