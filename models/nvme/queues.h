// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "models/nvme/protocol.h"

namespace nvme {

/// What a write to a doorbell is (NVMe 1.4, 5.2, figure 146).
enum class Doorbell : std::uint8_t { taken, invalid };

/// A completion queue (4.1). Entries between head and tail await the host.
struct CompletionQueue {
  std::uint64_t base = 0;
  std::uint32_t size = 0;  ///< entries, 2 to 65536; 0 if the queue does not exist
  bool interrupts = false;
  std::uint16_t vector = 0;
  unsigned submission_queues = 0;  ///< how many complete here
  std::uint32_t head = 0;
  std::uint32_t tail = 0;
  bool phase = true;           ///< the phase tag of the next entry
  std::uint32_t reserved = 0;  ///< entries that commands under way will take

  bool exists() const { return size != 0; }
  std::uint32_t used() const { return tail >= head ? tail - head : tail + size - head; }
  /// Entries that no command has claimed. One always stays free, so that a full queue differs from
  /// an empty one (4.1.2).
  std::uint32_t room() const { return size - 1 - used() - reserved; }

  /// Takes the place of the next entry and returns its address. `reserved` must be above 0.
  std::uint64_t claim(bool& phase_tag) {
    const std::uint64_t address = base + std::uint64_t{tail} * completion_entry_bytes;
    phase_tag = phase;
    --reserved;
    if (++tail == size) {
      tail = 0;
      phase = !phase;
    }
    return address;
  }

  /// The host has taken the entries before `value`.
  Doorbell ring(std::uint32_t value) {
    if (value >= size || value == head) return Doorbell::invalid;
    const std::uint32_t taken = value >= head ? value - head : value + size - head;
    if (taken > used()) return Doorbell::invalid;
    head = value;
    return Doorbell::taken;
  }
};

/// A submission queue (4.1). Entries between head and tail await the controller.
struct SubmissionQueue {
  std::uint64_t base = 0;
  std::uint32_t size = 0;  ///< entries, 2 to 65536; 0 if the queue does not exist
  std::uint16_t completion_queue = 0;
  std::uint32_t head = 0;
  std::uint32_t tail = 0;
  bool fetching = false;     ///< entries from head on are being read
  unsigned outstanding = 0;  ///< commands that have been fetched and are not completed
  bool deleting = false;     ///< nothing more is fetched

  bool exists() const { return size != 0; }
  std::uint32_t waiting() const { return tail >= head ? tail - head : tail + size - head; }
  std::uint32_t to_end() const { return size - head; }
  void advance() { head = head + 1 == size ? 0 : head + 1; }

  /// The host has added entries up to `value`.
  Doorbell ring(std::uint32_t value) {
    if (value >= size || value == tail) return Doorbell::invalid;
    const std::uint32_t added = value >= tail ? value - tail : value + size - tail;
    if (added + waiting() > size - 1) return Doorbell::invalid;
    tail = value;
    return Doorbell::taken;
  }
};

}  // namespace nvme
