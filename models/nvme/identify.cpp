// SPDX-License-Identifier: Apache-2.0
#include "models/nvme/identify.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

namespace nvme {
namespace {

// Identify Controller (5.15.2.1, figure 247), as byte offsets.
namespace controller {
constexpr unsigned vendor = 0, subsystem_vendor = 2, serial = 4, model = 24, firmware_revision = 64;
constexpr unsigned arbitration_burst = 72, transfer_size = 77, id = 78, version = 80;
constexpr unsigned resume_latency = 84, entry_latency = 88, type = 111;
constexpr unsigned abort_limit = 258, event_limit = 259, firmware_updates = 260;
constexpr unsigned log_attributes = 261, error_entries = 262;
constexpr unsigned warning_temperature = 266, critical_temperature = 268;
constexpr unsigned submission_entry = 512, completion_entry = 513, namespaces = 516;
constexpr unsigned optional_commands = 520, write_cache = 525, qualified_name = 768;
constexpr unsigned power_state_0 = 2048;

constexpr std::uint8_t is_io_controller = 1;
constexpr std::uint8_t one_read_only_slot = 1u << 1 | 1u << 0;
constexpr std::uint8_t log_offsets = 1u << 2;
constexpr std::uint16_t has_compare = 1u << 0, has_dataset_management = 1u << 2;
constexpr std::uint16_t has_write_zeroes = 1u << 3;
constexpr std::uint8_t cache_present = 1u << 0, flushes_all_namespaces = 3u << 1;
constexpr std::uint16_t most_power = 2500;  // in 0.01 W
constexpr std::uint8_t recommended_burst = 3;
}  // namespace controller

// Identify Namespace (5.15.2.2, figure 245).
namespace name_space {
constexpr unsigned size = 0, capacity = 8, use = 16, deallocation = 33, format_0 = 128;
constexpr unsigned format_block_shift = 16;  // LBADS of a format
constexpr std::uint8_t reads_zeros = 1u << 0, zeroes_deallocate = 1u << 3;
}  // namespace name_space

// Namespace identification descriptor (5.15.2.3, figure 248).
namespace descriptor {
constexpr unsigned type = 0, length = 1, value = 4;
constexpr std::uint8_t is_uuid = 3;
}  // namespace descriptor

// SMART / health information (5.14.1.2, figure 196).
namespace health {
constexpr unsigned bytes = 512;
constexpr unsigned warnings = 0, temperature = 1, spare = 3, spare_threshold = 4;
constexpr unsigned read = 32, written = 48, reads = 64, writes = 80, busy = 96;
constexpr unsigned power_cycles = 112, power_on_hours = 128, unsafe_shutdowns = 144;
constexpr unsigned media_errors = 160, error_entries = 176;
constexpr std::uint8_t spare_percent = 100, least_spare_percent = 10;
constexpr std::uint64_t unit = 1000;  // sectors of 512 bytes
}  // namespace health

// Error information (5.14.1.1, figure 195).
namespace error {
constexpr unsigned bytes = 64;
constexpr unsigned count = 0, queue = 8, command = 10, status = 12, location = 14;
constexpr unsigned block = 16, name_space = 24;
constexpr std::uint16_t no_location = 0xffff;
}  // namespace error

// Firmware slot information (5.14.1.3, figure 197).
namespace firmware {
constexpr unsigned bytes = 512, active = 0, revision_1 = 8, revision_bytes = 8;
constexpr std::uint8_t slot_1 = 1;
}  // namespace firmware

// Writes an integer in little-endian order, as this machine has it.
template <typename Value, typename Bytes>
void put(Bytes& bytes, unsigned offset, Value value) {
  std::memcpy(bytes.data() + offset, &value, sizeof(value));
}

template <typename Bytes>
void put_text(Bytes& bytes, unsigned offset, unsigned length, const std::string& text) {
  std::memset(bytes.data() + offset, ' ', length);
  std::memcpy(bytes.data() + offset, text.data(), std::min<std::size_t>(text.size(), length));
}

// FNV-1a with 64 bits.
std::uint64_t hash(const std::string& text) {
  std::uint64_t value = 0xcbf29ce484222325;
  for (const char c : text) value = (value ^ static_cast<std::uint8_t>(c)) * 0x100000001b3;
  return value;
}

std::array<std::uint8_t, 16> uuid(const std::string& serial_number, std::uint32_t name_space) {
  std::array<std::uint8_t, 16> bytes;
  put(bytes, 0, hash(fmt::format("{}/{}/a", serial_number, name_space)));
  put(bytes, 8, hash(fmt::format("{}/{}/b", serial_number, name_space)));
  bytes[6] = (bytes[6] & 0x0f) | 0x40;  // version and variant of RFC 4122, 4.1
  bytes[8] = (bytes[8] & 0x3f) | 0x80;
  return bytes;
}

unsigned shift_of(unsigned power_of_two) {
  return static_cast<unsigned>(__builtin_ctz(power_of_two));
}

}  // namespace

IdentifyData identify_controller(const ControllerIdentity& identity) {
  using namespace controller;
  IdentifyData data{};
  put(data, vendor, identity.vendor);
  put(data, subsystem_vendor, identity.subsystem_vendor);
  put_text(data, serial, 20, identity.serial_number);
  put_text(data, model, 40, identity.model_number);
  put_text(data, controller::firmware_revision, 8, identity.firmware_revision);
  data[arbitration_burst] = recommended_burst;
  data[transfer_size] = static_cast<std::uint8_t>(identity.transfer_shift);
  put(data, id, std::uint16_t{1});
  put(data, version, version_1_4);
  put(data, resume_latency, identity.ready_us);
  put(data, entry_latency, identity.shutdown_us);
  data[type] = is_io_controller;
  data[abort_limit] = most_aborts - 1;
  data[event_limit] = most_event_requests - 1;
  data[firmware_updates] = one_read_only_slot;
  data[log_attributes] = log_offsets;
  data[controller::error_entries] = nvme::error_entries - 1;
  put(data, controller::warning_temperature,
      static_cast<std::uint16_t>(identity.warning_temperature));
  put(data, critical_temperature, static_cast<std::uint16_t>(identity.critical_temperature));
  // The required size is also the largest one (SQES and CQES).
  data[submission_entry] = submission_entry_shift << 4 | submission_entry_shift;
  data[completion_entry] = completion_entry_shift << 4 | completion_entry_shift;
  put(data, namespaces, identity.namespaces);
  put(data, optional_commands,
      static_cast<std::uint16_t>(has_compare | has_dataset_management | has_write_zeroes));
  data[write_cache] = flushes_all_namespaces | (identity.write_cache ? cache_present : 0);
  const std::array<std::uint8_t, 16> subsystem = uuid(identity.serial_number, 0);
  std::string name = "nqn.2014-08.org.nvmexpress:uuid:";
  for (unsigned i = 0; i < subsystem.size(); ++i) {
    const bool dash = i == 4 || i == 6 || i == 8 || i == 10;
    name += fmt::format("{}{:02x}", dash ? "-" : "", subsystem[i]);
  }
  std::memcpy(&data[qualified_name], name.data(), name.size());
  put(data, power_state_0, most_power);
  return data;
}

IdentifyData identify_namespace(std::uint64_t blocks, unsigned block_size) {
  using namespace name_space;
  IdentifyData data{};
  for (const unsigned offset : {size, capacity, use}) put(data, offset, blocks);
  data[deallocation] = reads_zeros | zeroes_deallocate;
  put(data, format_0, std::uint32_t{shift_of(block_size)} << format_block_shift);
  return data;
}

IdentifyData identify_active_namespaces(std::uint32_t namespaces, std::uint32_t after) {
  IdentifyData data{};
  unsigned offset = 0;
  for (std::uint32_t id = after; id < namespaces && offset < data.size(); offset += 4) {
    put(data, offset, ++id);
  }
  return data;
}

IdentifyData identify_descriptors(const std::string& serial_number, std::uint32_t name_space) {
  using namespace descriptor;
  IdentifyData data{};
  const std::array<std::uint8_t, 16> bytes = uuid(serial_number, name_space);
  data[type] = is_uuid;
  data[length] = static_cast<std::uint8_t>(bytes.size());
  std::copy(bytes.begin(), bytes.end(), data.begin() + value);
  return data;
}

std::vector<std::uint8_t> health_log(const Health& health) {
  namespace at = nvme::health;
  std::vector<std::uint8_t> data(at::bytes);
  data[at::warnings] = health.warnings;
  put(data, at::temperature, static_cast<std::uint16_t>(health.temperature));
  data[at::spare] = at::spare_percent;
  data[at::spare_threshold] = at::least_spare_percent;
  put(data, at::read, (health.sectors_read + at::unit - 1) / at::unit);
  put(data, at::written, (health.sectors_written + at::unit - 1) / at::unit);
  put(data, at::reads, health.reads);
  put(data, at::writes, health.writes);
  put(data, at::busy, health.busy_minutes);
  put(data, at::power_cycles, health.power_cycles);
  put(data, at::power_on_hours, health.power_on_hours);
  put(data, at::unsafe_shutdowns, health.unsafe_shutdowns);
  put(data, at::media_errors, health.media_errors);
  put(data, at::error_entries, health.error_log_entries);
  return data;
}

std::vector<std::uint8_t> error_log(const std::deque<ErrorEntry>& entries) {
  std::vector<std::uint8_t> data(error::bytes * nvme::error_entries);
  unsigned offset = 0;
  for (const ErrorEntry& entry : entries) {
    put(data, offset + error::count, entry.count);
    put(data, offset + error::queue, entry.queue);
    put(data, offset + error::command, entry.command);
    put(data, offset + error::status, entry.status);
    put(data, offset + error::location, error::no_location);
    put(data, offset + error::block, entry.block);
    put(data, offset + error::name_space, entry.name_space);
    offset += error::bytes;
  }
  return data;
}

std::vector<std::uint8_t> firmware_log(const std::string& revision) {
  std::vector<std::uint8_t> data(firmware::bytes);
  data[firmware::active] = firmware::slot_1;
  put_text(data, firmware::revision_1, firmware::revision_bytes, revision);
  return data;
}

}  // namespace nvme
