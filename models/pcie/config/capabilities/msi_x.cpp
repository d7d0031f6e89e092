// SPDX-License-Identifier: Apache-2.0
#include "models/pcie/config/capabilities/msi_x.h"

#include <fmt/format.h>

#include <algorithm>

#include "models/pcie/protocol/configuration_error.h"

namespace pcie {

MsiX::MsiX(ConfigSpace& space, const MsiXConfig& config, Send send)
    : space_(space),
      config_(config),
      send_(std::move(send)),
      offset_(space.add_capability(id, 12)),
      table_(entry_bytes * config.vectors),
      pending_((config.vectors + 63) / 64 * 8) {
  if (config.vectors < 1 || config.vectors > 2048) {
    throw ConfigurationError(fmt::format("{} MSI-X vectors are not 1 to 2048", config.vectors));
  }
  if (config.table_offset % 8 != 0 || config.pending_offset % 8 != 0 ||
      config.table_offset > 0xffffffff || config.pending_offset > 0xffffffff ||
      config.table_bar > 5 || config.pending_bar > 5) {
    throw ConfigurationError(
        "the MSI-X table and the pending bits must be in BAR 0 to 5 at a multiple of 8");
  }
  reset();
  space.define({offset_ + message_control, 2, config.vectors - 1,
                ControlBit::function_mask | ControlBit::enable});
  space.define(
      {offset_ + table, 4, static_cast<std::uint32_t>(config.table_offset) | config.table_bar});
  space.define({offset_ + pending_bit_array, 4,
                static_cast<std::uint32_t>(config.pending_offset) | config.pending_bar});
  space.on_write(offset_ + message_control, 2, [this](std::uint32_t) { flush(); });
}

void MsiX::reset() {
  std::fill(table_.begin(), table_.end(), 0);
  for (unsigned i = 0; i < config_.vectors; ++i) {
    table_[entry_bytes * i + Entry::vector_control] = Entry::masked;
  }
  std::fill(pending_.begin(), pending_.end(), 0);
  pending_count_ = 0;
}

void MsiX::read_table(std::uint64_t offset, std::uint8_t* data, unsigned bytes) const {
  for (unsigned i = 0; i < bytes; ++i) {
    data[i] = offset + i < table_.size() ? table_[offset + i] : 0;
  }
}

void MsiX::write_table(std::uint64_t offset, const std::uint8_t* data, unsigned bytes) {
  for (unsigned i = 0; i < bytes && offset + i < table_.size(); ++i) {
    const unsigned byte = (offset + i) % entry_bytes;
    std::uint8_t writable = 0xff;
    if (byte == Entry::address) writable = 0xfc;  // a message is DW aligned
    if (byte >= Entry::vector_control) {
      writable = byte == Entry::vector_control ? Entry::masked : 0;
    }
    table_[offset + i] = data[i] & writable;
  }
  flush();
}

void MsiX::read_pending(std::uint64_t offset, std::uint8_t* data, unsigned bytes) const {
  for (unsigned i = 0; i < bytes; ++i) {
    data[i] = offset + i < pending_.size() ? pending_[offset + i] : 0;
  }
}

bool MsiX::signal(unsigned vector) {
  if (!enabled() || vector >= config_.vectors) return false;
  if (!try_send(vector)) {
    std::uint8_t& bits = pending_[vector / 8];
    const std::uint8_t bit = 1u << vector % 8;
    if (!(bits & bit)) ++pending_count_;
    bits |= bit;
  }
  return true;
}

void MsiX::flush() {
  if (pending_count_ == 0 || !enabled()) return;
  for (unsigned vector = 0; vector < config_.vectors; ++vector) {
    std::uint8_t& bits = pending_[vector / 8];
    const std::uint8_t bit = 1u << vector % 8;
    if (!(bits & bit) || !try_send(vector)) continue;
    bits &= ~bit;
    --pending_count_;
  }
}

bool MsiX::masked(unsigned vector) const {
  return space_.any(offset_ + message_control, ControlBit::function_mask) ||
         (table_[entry_bytes * vector + Entry::vector_control] & Entry::masked);
}

bool MsiX::try_send(unsigned vector) {
  if (masked(vector)) return false;
  const std::uint64_t address = entry_word(vector, Entry::address) |
                                std::uint64_t{entry_word(vector, Entry::upper_address)} << 32;
  return send_(address, entry_word(vector, Entry::data));
}

std::uint32_t MsiX::entry_word(unsigned vector, unsigned byte) const {
  const std::uint8_t* entry = &table_[entry_bytes * vector + byte];
  return entry[0] | entry[1] << 8 | entry[2] << 16 | std::uint32_t{entry[3]} << 24;
}

}  // namespace pcie
