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

/// Makes the read bursts of the block's AXI4 master into reads of host memory.
///
/// A burst is one read, which begins when the address is accepted and which the function divides.
/// Its beats follow when all of its data has come, without a gap unless the block makes one. Bursts
/// with the same ID end in the order of their addresses (IHI 0022H, A5.3.1). Of the others, the
/// oldest one that is complete is next. Beats of two bursts never mix. If the read fails, all beats
/// have SLVERR and zeros.
///
/// The order at an edge is: present(), the block's low phase, sample(), its rising edge.
class ReadPort {
 public:
  static constexpr unsigned most_bursts = 16;  ///< that the block may have outstanding

  struct Host {
    /// Sends a read by the protocol of a function's `dma` (models/pcie/endpoint/access.h). If it
    /// returns TLM_ACCEPTED, answered() follows.
    std::function<tlm::tlm_sync_enum(tlm::tlm_generic_payload&)> send;
    /// The block has to see something new.
    std::function<void()> wake;
  };

  ReadPort(const ReadPins& pins, Faults& faults, Host host);

  /// Puts the ready signal, and the beat that was there before `now`, on the pins.
  void present(vp::Picoseconds now);
  /// Sees what the block does at the edge.
  void sample();

  /// The function has answered this read.
  void answered(tlm::tlm_generic_payload& payload);

  /// Whether a beat is on the pins.
  bool busy() const { return pins_.rvalid.get() != 0; }
  /// Whether the data of a burst waits for its edge.
  bool waiting() const;
  /// Whether the block drives a valid signal.
  bool driven() const { return pins_.arvalid.get() != 0; }

  /// Takes all signals from the pins, and forgets all bursts. The function has answered all reads.
  void reset();

  const std::uint64_t& bursts() const { return count_; }
  const std::uint64_t& errors() const { return errors_; }

 private:
  struct Transfer : tlm::tlm_generic_payload {
    Transfer();

    Burst burst;
    bool done = false;
    bool failed = false;
    vp::Picoseconds answered = 0;  // when the function answered
    std::array<std::uint8_t, Burst::most_bytes> data;
  };
  static constexpr std::size_t none = ~std::size_t{0};

  void accept_address();
  void finish(Transfer& transfer, bool failed);
  std::size_t next(vp::Picoseconds now) const;
  void present_beat();

  const ReadPins& pins_;
  Faults& faults_;
  const Host host_;

  std::vector<std::unique_ptr<Transfer>> transfers_;
  std::vector<Transfer*> free_;
  vp::Ring<Transfer*> outstanding_;  // in the order of their addresses
  std::size_t current_ = none;       // the place of the one whose beats are on the pins
  unsigned beat_ = 0;                // its next one

  std::uint64_t count_ = 0;
  std::uint64_t errors_ = 0;
};

}  // namespace axi
