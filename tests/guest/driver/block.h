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

/// Slice 7 made anew.
Slot sealed(Slot slot);

/// What one access of the host meets on its way.
enum class Fault {
  NONE,
  LOST,              ///< a write or a read that never arrives; the read returns all ones
  COMPLETION_LOST,   ///< a read that arrives and returns all ones
  PUSH_LOST,         ///< the answer is not written to the answer buffer
  PUSH_DAMAGED,      ///< a bit of it is wrong
  SEQUENCE_DAMAGED,  ///< a bit of the completion is wrong, where slice 0 has its sequence
  STATUS_DAMAGED,    ///< ... in its status: OK and NOT_READY are a bit apart
  STATE_DAMAGED,     ///< ... in its first bit: tentative and committed are a bit apart
};

/// A swap port with its firmware, one port as the host sees it: the rules of both forms, without
/// time.
class Block {
 public:
  /// The driver's MMIO goes to this one from now on.
  void connect();

  unsigned char page[0x1000] = {};    ///< its addresses are the port's page
  unsigned char stream[0x1000] = {};  ///< ... its streamed page, 0x1000 and more in the trace
  unsigned long long buffer[8] = {};

  bool firmware_offers = true;
  bool bus_master = true;
  std::uint64_t age = 77;  ///< of the firmware's liveness, one more at each NOT_READY
  std::uint8_t epoch = 3;
  std::uint32_t sequence = 0;  ///< of the last swap exchanged or reversed
  bool history_lost = false;
  /// The pages have been taken away, and this stands in for all of them.
  bool away = false;
  std::array<unsigned long long, 512> memory = [] {
    std::array<unsigned long long, 512> ones;
    ones.fill(~0ull);
    return ones;
  }();
  /// What access n (0, 1, ...) meets.
  std::function<Fault(unsigned)> fault = [](unsigned) { return Fault::NONE; };

  /// The journal: the pairs that are committed (payload word 0 of the host's slot, the firmware's).
  std::vector<std::pair<std::uint64_t, std::uint64_t>> committed;

  /// As a close and an open of the port do: what is tentative is committed.
  void close();
  void open();
  /// As the block does by itself with a swap that has held words for too long.
  void commit();

  unsigned accesses() const { return accesses_; }
  /// Offsets that were written and read, in order, and `barrier`.
  static constexpr unsigned barrier = ~0u;
  const std::vector<unsigned>& trace() const { return trace_; }

  void write(const volatile void* address, std::uint64_t value);
  std::uint64_t read(const volatile void* address);
  void pass_barrier();

 private:
  enum class Verdict { NONE, GOOD, BAD };

  unsigned offset(const volatile void* address);
  void judge();
  /// Of an answer that denies the swap: the first attempt that is not old.
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
  bool more_ = false;  // said by the tentative swap's offer
  bool offer_more_ = false;
  bool tentative_ = false;
  bool reversed_ = false;                         // the last swap was
  bool closed_ = false;
  std::pair<std::uint64_t, std::uint64_t> pair_;  // the tentative one
  std::uint64_t firmware_offer_ = 1000;
  Slot retained_{};
  unsigned attempt_ = 0;    // the first that is not old,
  bool attempted_ = false;  // if there was one
  bool refused_ = false;    // what stands in the window was answered NOT_READY
  bool held_ = false;       // stores wait in the CPU's buffer
  Slot refusal_{};
  unsigned accesses_ = 0;
  std::vector<unsigned> trace_;
};

}  // namespace guest_test
