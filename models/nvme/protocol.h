// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <cstring>

#include "models/nvme/registers.h"

/// Commands, completions and their values, as NVM Express 1.4 defines them.
namespace nvme {

inline constexpr unsigned submission_entry_shift = 6, submission_entry_bytes = 64;
inline constexpr unsigned completion_entry_shift = 4, completion_entry_bytes = 16;
inline constexpr std::uint32_t all_namespaces = 0xffffffff;

/// The admin commands of this controller (5, figure 139).
enum class AdminOpcode : std::uint8_t {
  delete_submission_queue = 0x00,
  create_submission_queue = 0x01,
  get_log_page = 0x02,
  delete_completion_queue = 0x04,
  create_completion_queue = 0x05,
  identify = 0x06,
  abort = 0x08,
  set_features = 0x09,
  get_features = 0x0a,
  async_event_request = 0x0c,
};

/// The I/O commands of this controller (6, figure 346).
enum class IoOpcode : std::uint8_t {
  flush = 0x00,
  write = 0x01,
  read = 0x02,
  compare = 0x05,
  write_zeroes = 0x08,
  dataset_management = 0x09,
};

/// The status of a completion (4.6.1): code in 7:0, type in 10:8, More in 13, Do Not Retry in 14.
enum class StatusCode : std::uint16_t {
  // Generic command status, figure 127.
  success = 0x000,
  invalid_opcode = 0x001,
  invalid_field = 0x002,
  command_id_conflict = 0x003,
  data_transfer_error = 0x004,
  internal_error = 0x006,
  abort_requested = 0x007,
  aborted_by_queue_deletion = 0x008,
  invalid_namespace = 0x00b,
  command_sequence_error = 0x00c,
  prp_offset_invalid = 0x013,
  lba_out_of_range = 0x080,
  // Command specific status, figure 129.
  completion_queue_invalid = 0x100,
  invalid_queue_identifier = 0x101,
  invalid_queue_size = 0x102,
  abort_limit_exceeded = 0x103,
  async_event_limit_exceeded = 0x105,
  invalid_interrupt_vector = 0x108,
  invalid_log_page = 0x109,
  invalid_queue_deletion = 0x10c,
  feature_not_saveable = 0x10d,
  feature_not_changeable = 0x10e,
  // Media and data integrity errors, figure 131.
  write_fault = 0x280,
  unrecovered_read_error = 0x281,
  compare_failure = 0x285,
};
inline constexpr std::uint16_t more_information = 1u << 13;
inline constexpr std::uint16_t do_not_retry = 1u << 14;

/// Whether the same command would fail in the same way again (DNR, 4.6.1).
constexpr bool is_final(StatusCode status) {
  switch (status) {
    case StatusCode::success:
    case StatusCode::command_id_conflict:
    case StatusCode::data_transfer_error:
    case StatusCode::internal_error:
    case StatusCode::abort_requested:
    case StatusCode::aborted_by_queue_deletion:
    case StatusCode::abort_limit_exceeded:
    case StatusCode::write_fault:
      return false;
    default:
      return true;
  }
}

/// An entry of a submission queue (4.2).
struct Command {
  std::array<std::uint32_t, 16> words{};

  explicit Command(const std::uint8_t* entry) { std::memcpy(words.data(), entry, sizeof(words)); }
  Command() = default;

  std::uint8_t opcode() const { return static_cast<std::uint8_t>(words[0]); }
  unsigned fused() const { return words[0] >> 8 & 3; }               ///< FUSE
  unsigned data_pointer_kind() const { return words[0] >> 14 & 3; }  ///< PSDT, 0 for PRPs
  std::uint16_t id() const { return static_cast<std::uint16_t>(words[0] >> 16); }  ///< CID
  std::uint32_t namespace_id() const { return words[1]; }
  std::uint64_t prp1() const { return pair(6); }
  std::uint64_t prp2() const { return pair(8); }
  std::uint64_t pair(unsigned low) const {
    return words[low] | std::uint64_t{words[low + 1]} << 32;
  }
};

/// Words of the commands of the NVM command set (6).
struct IoWord {
  static constexpr unsigned start = 10;             ///< SLBA in words 10 and 11
  static constexpr unsigned control = 12;           ///< of read, write, compare and write zeroes
  static constexpr Field blocks{0, 16};             ///< NLB, blocks - 1
  static constexpr Field directive{20, 4};          ///< DTYPE of a write
  static constexpr Field force_unit_access{30, 1};  ///< FUA
  static constexpr unsigned ranges = 10;            ///< of dataset management
  static constexpr Field range_count{0, 8};         ///< NR, ranges - 1
  static constexpr unsigned attributes = 11;
  static constexpr Field deallocate{2, 1};  ///< AD
};

/// A range of dataset management (6.7, figure 370): attributes, blocks, first block.
struct DatasetRange {
  static constexpr unsigned bytes = 16, blocks = 4, start = 8;
};

/// Words of the admin commands (5).
struct AdminWord {
  // Create I/O queues (5.3 and 5.4), and their deletion (5.5 and 5.6).
  static constexpr Field queue{0, 16};              ///< word 10, QID
  static constexpr Field queue_size{16, 16};        ///< word 10, QSIZE, entries - 1
  static constexpr Field contiguous{0, 1};          ///< word 11, PC
  static constexpr Field interrupts{1, 1};          ///< word 11 of a completion queue, IEN
  static constexpr Field vector{16, 16};            ///< word 11 of a completion queue, IV
  static constexpr Field completion_queue{16, 16};  ///< word 11 of a submission queue, CQID
  // Identify (5.15).
  static constexpr Field structure{0, 8};     ///< word 10, CNS
  static constexpr Field controller{16, 16};  ///< word 10, CNTID
  // Abort (5.1).
  static constexpr Field aborted_queue{0, 16};     ///< word 10, SQID
  static constexpr Field aborted_command{16, 16};  ///< word 10, CID
  // Features (5.9 and 5.21).
  static constexpr Field feature{0, 8};  ///< word 10, FID
  static constexpr Field select{8, 3};   ///< word 10 of Get Features, SEL
  static constexpr Field save{31, 1};    ///< word 10 of Set Features, SV
  // Get Log Page (5.14).
  static constexpr Field log{0, 8};            ///< word 10, LID
  static constexpr Field retain_event{15, 1};  ///< word 10, RAE
  static constexpr Field dwords_low{16, 16};   ///< word 10, NUMDL, dwords - 1
  static constexpr Field dwords_high{0, 16};   ///< word 11, NUMDU
};

/// The structures of Identify that this controller has (CNS, 5.15.1).
enum class Structure : std::uint8_t {
  name_space = 0x00,
  controller = 0x01,
  active_namespaces = 0x02,
  namespace_descriptors = 0x03,
};

/// The log pages that this controller has (5.14.1).
enum class Log : std::uint8_t { errors = 0x01, health = 0x02, firmware = 0x03 };

/// The features that this controller has (5.21.1).
enum class Feature : std::uint8_t {
  arbitration = 0x01,
  power_management = 0x02,
  temperature_threshold = 0x04,
  error_recovery = 0x05,
  volatile_write_cache = 0x06,
  number_of_queues = 0x07,
  interrupt_coalescing = 0x08,
  interrupt_vector = 0x09,
  write_atomicity = 0x0a,
  async_events = 0x0b,
};

/// An asynchronous event (5.2): its type, what has happened, and the log page about it.
struct AsyncEvent {
  std::uint8_t type;
  std::uint8_t information;
  Log log;

  constexpr std::uint32_t word() const {
    return type | std::uint32_t{information} << 8 | static_cast<std::uint32_t>(log) << 16;
  }
  constexpr bool operator==(const AsyncEvent& other) const { return word() == other.word(); }
};
inline constexpr AsyncEvent invalid_doorbell_register{0, 0, Log::errors};
inline constexpr AsyncEvent invalid_doorbell_value{0, 1, Log::errors};
inline constexpr AsyncEvent temperature_crossed{1, 1, Log::health};

/// Bits of Critical Warning in the health log and in the feature of asynchronous events.
inline constexpr std::uint8_t warning_temperature = 1u << 1;

}  // namespace nvme
