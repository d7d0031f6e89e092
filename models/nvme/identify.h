// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "models/nvme/protocol.h"

namespace nvme {

/// A structure of Identify (NVMe 1.4, 5.15.2).
using IdentifyData = std::array<std::uint8_t, 4096>;

/// What Identify says of a controller.
struct ControllerIdentity {
  std::uint16_t vendor;
  std::uint16_t subsystem_vendor;
  std::string serial_number;      ///< up to 20 characters of ASCII
  std::string model_number;       ///< up to 40
  std::string firmware_revision;  ///< up to 8
  unsigned transfer_shift;        ///< MDTS, 2^n pages of 4096 bytes
  std::uint32_t namespaces;
  bool write_cache;
  std::uint32_t shutdown_us;           ///< RTD3E
  std::uint32_t ready_us;              ///< RTD3R
  std::uint32_t warning_temperature;   ///< K
  std::uint32_t critical_temperature;  ///< K
};

inline constexpr unsigned most_aborts = 4;          ///< ACL + 1
inline constexpr unsigned most_event_requests = 4;  ///< AERL + 1
/// WCTEMP and CCTEMP, in K above the device's own temperature.
inline constexpr std::uint32_t warning_above = 30, critical_above = 45;
inline constexpr unsigned error_entries = 64;  ///< ELPE + 1

IdentifyData identify_controller(const ControllerIdentity& identity);
IdentifyData identify_namespace(std::uint64_t blocks, unsigned block_size);
/// The namespaces above `after`, of those from 1 to `namespaces`.
IdentifyData identify_active_namespaces(std::uint32_t namespaces, std::uint32_t after);
/// The UUID of a namespace, which follows from the serial number.
IdentifyData identify_descriptors(const std::string& serial_number, std::uint32_t name_space);

/// What the health log says (5.14.1.2). It survives every reset.
struct Health {
  std::uint8_t warnings = 0;
  std::uint32_t temperature = 0;      ///< K
  std::uint64_t sectors_read = 0;     ///< of 512 bytes
  std::uint64_t sectors_written = 0;  ///< of 512 bytes
  std::uint64_t reads = 0;            ///< commands
  std::uint64_t writes = 0;           ///< commands
  std::uint64_t busy_minutes = 0;
  std::uint64_t power_cycles = 1;
  std::uint64_t power_on_hours = 0;
  std::uint64_t unsafe_shutdowns = 0;
  std::uint64_t media_errors = 0;
  std::uint64_t error_log_entries = 0;
};

/// An entry of the error log (5.14.1.1).
struct ErrorEntry {
  std::uint64_t count;
  std::uint16_t queue;
  std::uint16_t command;
  std::uint16_t status;  ///< as in a completion, with the phase tag in bit 0
  std::uint64_t block;
  std::uint32_t name_space;
};

std::vector<std::uint8_t> health_log(const Health& health);
/// `entries` begins with the newest one.
std::vector<std::uint8_t> error_log(const std::deque<ErrorEntry>& entries);
std::vector<std::uint8_t> firmware_log(const std::string& revision);

}  // namespace nvme
