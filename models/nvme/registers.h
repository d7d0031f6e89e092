// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace nvme {

/// Some bits of a word.
struct Field {
  unsigned shift;
  unsigned width;

  constexpr std::uint64_t mask() const { return ((std::uint64_t{1} << width) - 1) << shift; }
  constexpr std::uint32_t get(std::uint64_t word) const {
    return static_cast<std::uint32_t>(word >> shift & ((std::uint64_t{1} << width) - 1));
  }
  constexpr std::uint64_t put(std::uint64_t value) const { return value << shift & mask(); }
};

/// The registers of a controller in BAR 0 (NVMe 1.4, 3.1), as byte offsets.
struct Register {
  static constexpr unsigned capabilities = 0x00;            ///< CAP, 64 bits, ro
  static constexpr unsigned version = 0x08;                 ///< VS, ro
  static constexpr unsigned interrupt_mask_set = 0x0c;      ///< INTMS, rw1s
  static constexpr unsigned interrupt_mask_clear = 0x10;    ///< INTMC, rw1c
  static constexpr unsigned configuration = 0x14;           ///< CC, rw
  static constexpr unsigned status = 0x1c;                  ///< CSTS, ro
  static constexpr unsigned admin_queue_attributes = 0x24;  ///< AQA, rw
  static constexpr unsigned admin_submission_queue = 0x28;  ///< ASQ, 64 bits, rw
  static constexpr unsigned admin_completion_queue = 0x30;  ///< ACQ, 64 bits, rw
  static constexpr unsigned doorbells = 0x1000;             ///< wo, one of 32 bits for each queue

  /// The doorbells of queue pair `queue`: SQyTDBL and CQyHDBL with a stride of 4 bytes.
  static constexpr unsigned tail_doorbell(unsigned queue) { return doorbells + 8 * queue; }
  static constexpr unsigned head_doorbell(unsigned queue) { return doorbells + 8 * queue + 4; }
};

/// What follows the registers in BAR 0.
struct Layout {
  static constexpr std::uint64_t msi_x_table = 0x2000;    ///< for up to 256 vectors
  static constexpr std::uint64_t msi_x_pending = 0x3000;  ///< their pending bits
  static constexpr std::uint64_t bar_size = 0x4000;
};

/// CAP (3.1.1). Fields that are not listed are 0.
struct Capabilities {
  static constexpr Field queue_entries{0, 16};    ///< MQES, entries of an I/O queue - 1
  static constexpr Field contiguous{16, 1};       ///< CQR, queues must be contiguous
  static constexpr Field timeout{24, 8};          ///< TO, until CSTS.RDY changes, in 500 ms
  static constexpr Field nvm_command_set{37, 1};  ///< CSS, bit 0
  static constexpr Field page_size_min{48, 4};    ///< MPSMIN, 2^(12 + n) bytes
  static constexpr Field page_size_max{52, 4};    ///< MPSMAX, 2^(12 + n) bytes
};

/// CC (3.1.5).
struct Configuration {
  static constexpr Field enable{0, 1};                  ///< EN
  static constexpr Field command_set{4, 3};             ///< CSS, 0 for NVM
  static constexpr Field page_size{7, 4};               ///< MPS, 2^(12 + n) bytes
  static constexpr Field arbitration{11, 3};            ///< AMS, 0 for round robin
  static constexpr Field shutdown{14, 2};               ///< SHN
  static constexpr Field submission_entry_size{16, 4};  ///< IOSQES, 2^n bytes
  static constexpr Field completion_entry_size{20, 4};  ///< IOCQES, 2^n bytes
  static constexpr std::uint32_t writable = 0x00fffff1;
};

/// CSTS (3.1.6).
struct Status {
  static constexpr Field ready{0, 1};     ///< RDY
  static constexpr Field fatal{1, 1};     ///< CFS
  static constexpr Field shutdown{2, 2};  ///< SHST
};
enum class ShutdownStatus : std::uint8_t { none = 0, in_progress = 1, complete = 2 };

/// AQA (3.1.8).
struct AdminQueueAttributes {
  static constexpr Field submission_size{0, 12};   ///< ASQS, entries - 1
  static constexpr Field completion_size{16, 12};  ///< ACQS, entries - 1
  static constexpr std::uint32_t writable = 0x0fff0fff;
};

inline constexpr std::uint32_t version_1_4 = 0x00010400;     ///< VS
inline constexpr unsigned smallest_page_shift = 12;          ///< of CAP.MPSMIN
inline constexpr unsigned largest_page_shift = 16;           ///< of CAP.MPSMAX
inline constexpr std::uint64_t queue_base_mask = ~0xfffull;  ///< bits of ASQ and ACQ

}  // namespace nvme
