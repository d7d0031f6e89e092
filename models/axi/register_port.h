// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <tlm>

#include "models/axi/faults.h"
#include "models/axi/pins.h"
#include "vp/ring.h"
#include "vp/statistics/latency.h"
#include "vp/time/time.h"

namespace axi {

/// Makes the host's accesses to BAR 0 into AXI4-Lite transfers, at most one write and one read at a
/// time.
///
/// A transfer is one aligned word of the data pins. An access of several words becomes several
/// transfers, from the lowest address to the highest. A write has the strobes of its bytes. A read
/// always reads the whole word, since AXI4-Lite has no strobes for reads. Writes are in the order
/// of their arrival, and a read begins after the response to each write that arrived before it. A
/// write may pass a read that the block has not answered (PCI Express Base
/// Specification 6.0, 2.4.1).
///
/// The order at an edge is: present(), the block's low phase, sample(), its rising edge, release().
class RegisterPort {
 public:
  static constexpr unsigned most_bytes = 64;   ///< of an access
  static constexpr unsigned most_writes = 32;  ///< that wait at a time

  /// Gets each read that is answered, and the write for which there was no room when it has room.
  using Answer = std::function<void(tlm::tlm_generic_payload&)>;

  RegisterPort(const RegisterPins& pins, Faults& faults, Answer answer);

  /// Takes an access of the host, with 1 to 64 bytes that cross no multiple of 64. The protocol is
  /// that of a function's `bar` (models/pcie/endpoint/access.h).
  tlm::tlm_sync_enum push(tlm::tlm_generic_payload& payload, vp::Picoseconds arrival);

  /// Puts what arrived before `now` on the pins.
  void present(vp::Picoseconds now);
  /// Sees what the block does at the edge at `now`.
  void sample(vp::Picoseconds now);
  /// Takes from the pins what the block has accepted at that edge.
  void release();

  /// Whether a transfer is on the pins, or the block has not answered it.
  bool busy() const { return writing_ || reading_; }
  /// Whether accesses wait for their turn.
  bool waiting() const { return !writes_.empty() || !reads_.empty(); }
  /// Whether the block drives a valid signal.
  bool driven() const { return pins_.bvalid.get() != 0 || pins_.rvalid.get() != 0; }

  /// Takes all signals from the pins, and ends all accesses. A read gets
  /// TLM_GENERIC_ERROR_RESPONSE.
  void reset();

  const std::uint64_t& reads() const { return read_count_; }
  const std::uint64_t& writes() const { return write_count_; }
  const vp::Latency& read_latency() const { return read_latency_; }

 private:
  struct Write {
    vp::Picoseconds arrival;
    std::uint64_t address;
    unsigned length;
    std::uint8_t data[most_bytes];
  };
  struct Read {
    tlm::tlm_generic_payload* payload;
    vp::Picoseconds arrival;
    std::uint64_t behind;  // how many of all writes have arrived before it
  };

  static Write make_write(const tlm::tlm_generic_payload& payload, vp::Picoseconds arrival);
  void present_write();
  void present_read();
  void finish_write();
  void finish_read(vp::Picoseconds now);
  void accept_held();
  unsigned word() const { return pins_.wdata.bits / 8; }

  const RegisterPins& pins_;
  Faults& faults_;
  const Answer answer_;

  vp::Ring<Write> writes_;  // the first one may be partly done
  vp::Ring<Read> reads_;
  tlm::tlm_generic_payload* held_ = nullptr;  // a write without room
  vp::Picoseconds held_since_ = 0;
  std::uint64_t write_count_ = 0;  // how many have arrived, as of the host
  std::uint64_t writes_done_ = 0;
  std::uint64_t read_count_ = 0;

  bool writing_ = false;           // a transfer of writes_.front()
  unsigned written_ = 0;           // bytes of it whose transfers are done
  bool address_accepted_ = false;  // the parts of the transfers that the block has accepted
  bool data_accepted_ = false;
  bool reading_ = false;  // a transfer of reads_.front()
  unsigned read_ = 0;
  bool read_accepted_ = false;

  vp::Latency read_latency_;
};

}  // namespace axi
