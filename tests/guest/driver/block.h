// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "oae_registers.h"

namespace guest_test {

using Slot = std::array<std::uint64_t, 8>;

/// CRC-64/XZ, bit by bit.
std::uint64_t crc64_xz(const void* bytes, std::size_t size);

/// Computes slice 7 again.
Slot sealed(Slot slot);

/// A fault of one access of the host.
enum class Fault {
  NONE,
  LOST,              ///< the write or read never arrives; a read returns all ones
  COMPLETION_LOST,   ///< the read arrives and returns all ones
  PUSH_LOST,         ///< the answer is not written to the answer buffer
  PUSH_DAMAGED,      ///< a bit of the slot in the answer buffer is wrong
  SEQUENCE_DAMAGED,  ///< a bit of the completion is wrong, in the sequence of slice 0
  STATUS_DAMAGED,    ///< the same in the status, where OK and NOT_READY differ in one bit
  STATE_DAMAGED,     ///< the same in its first bit, in which tentative and committed differ
};

/// A swap port with its firmware as the host sees it. It follows the rules of both forms, and has
/// no time.
class Block {
 public:
  /// From now on, the driver's MMIO goes to this block.
  void connect();

  unsigned char page[0x1000] = {};    ///< the addresses of the port's page
  unsigned char stream[0x1000] = {};  ///< the same of its streamed page; 0x1000 on in the trace
  unsigned long long buffer[8] = {};

  bool firmware_offers = true;
  bool bus_master = true;
  std::uint64_t age = 77;  ///< age of the firmware's liveness, incremented by each NOT_READY
  std::uint8_t epoch = 3;
  std::uint32_t sequence = 0;  ///< sequence of the last swap that was exchanged or reversed
  bool history_lost = false;
  /// Replaces all pages while they are taken away.
  bool away = false;
  std::array<unsigned long long, 512> memory = [] {
    std::array<unsigned long long, 512> ones;
    ones.fill(~0ull);
    return ones;
  }();
  /// The fault of access n (0, 1, ...).
  std::function<Fault(unsigned)> fault = [](unsigned) { return Fault::NONE; };

  /// The journal: the committed pairs (payload word 0 of the host's and of the firmware's slot).
  std::vector<std::pair<std::uint64_t, std::uint64_t>> committed;

  /// Closes the port, which commits a tentative swap.
  void close();
  void open();
  /// Commits the tentative swap, as the block does when the swap has held words for too long.
  void commit();

  unsigned accesses() const { return accesses_; }
  /// The offsets of writes and reads in order, and `barrier`.
  static constexpr unsigned barrier = ~0u;
  const std::vector<unsigned>& trace() const { return trace_; }

  void write(const volatile void* address, std::uint64_t value);
  std::uint64_t read(const volatile void* address);
  void pass_barrier();

 private:
  enum class Verdict { NONE, GOOD, BAD };

  unsigned offset(const volatile void* address);
  void judge();
  /// For an answer that denies the swap, the first attempt that is not old.
  std::uint64_t first_attempt() const {
    return OAE_PUT(OAE_SLOT_HEADER_ATTEMPT, attempted_ ? attempt_ : 0);
  }
  std::uint64_t state() const;
  bool retains_swap() const { return verdict_ == Verdict::NONE && sequence != 0 && !reversed_; }
  Slot interact();
  Slot refuse();
  std::uint64_t push(Fault fault);
  void reverse(std::uint32_t number);

  Slot window_{};
  unsigned arrived_ = 0;  // bit n: slice n
  Verdict verdict_ = Verdict::NONE;
  bool more_ = false;  // the flag MORE of the tentative swap's offer
  bool offer_more_ = false;
  bool tentative_ = false;
  bool reversed_ = false;                         // whether the last swap was reversed
  bool closed_ = false;
  std::pair<std::uint64_t, std::uint64_t> pair_;  // the tentative pair
  std::uint64_t firmware_offer_ = 1000;
  Slot retained_{};
  unsigned attempt_ = 0;    // the first attempt that is not old,
  bool attempted_ = false;  // if there was one
  bool refused_ = false;    // the offer in the window was answered NOT_READY
  bool held_ = false;       // whether stores wait in the CPU's buffer
  Slot refusal_{};
  unsigned accesses_ = 0;
  std::vector<unsigned> trace_;
};

}  // namespace guest_test
