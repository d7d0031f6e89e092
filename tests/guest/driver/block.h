// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

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
  CELL_LOST,         ///< the answer is not written to the cell
  CELL_DAMAGED,      ///< a bit of it is wrong
  SEQUENCE_DAMAGED,  ///< a bit of the completion is wrong, in its sequence
  STATUS_DAMAGED,    ///< ... in its status: OK and NOT_READY are a bit apart
};

/// A swap port with its firmware, one port as the host sees it: the rules of the pushed form,
/// without time.
class Block {
 public:
  /// The driver's MMIO goes to this one from now on.
  void connect();

  unsigned char page[0x1000] = {};  ///< its addresses are the port's page
  unsigned long long cell[8] = {};

  bool firmware_offers = true;
  bool bus_master = true;
  std::uint8_t epoch = 3;
  std::uint32_t sequence = 0;  ///< of the last exchange
  /// What access n (0, 1, ...) meets.
  std::function<Fault(unsigned)> fault = [](unsigned) { return Fault::NONE; };

  /// The journal: the pairs that are committed (payload word 0 of the host's slot, the firmware's).
  std::vector<std::pair<std::uint64_t, std::uint64_t>> committed;

  /// As an open of the port does: what is left is rolled forward.
  void open();

  unsigned accesses() const { return accesses_; }
  /// Offsets that were written and read, in order.
  const std::vector<unsigned>& trace() const { return trace_; }

  void write(const volatile void* address, std::uint64_t value);
  std::uint64_t read(const volatile void* address);

 private:
  enum class Verdict { NONE, GOOD, BAD };

  unsigned offset(const volatile void* address);
  void judge();
  void commit();
  std::uint64_t interact(Fault fault);

  Slot window_{};
  unsigned arrived_ = 0;  // bit n: slice n
  Verdict verdict_ = Verdict::NONE;
  bool more_ = false;  // said by the tentative swap's offer
  bool offer_more_ = false;
  bool tentative_ = false;
  std::pair<std::uint64_t, std::uint64_t> pair_;  // the tentative one
  std::uint64_t firmware_offer_ = 1000;
  Slot retained_{};
  unsigned accesses_ = 0;
  std::vector<unsigned> trace_;
};

}  // namespace guest_test
