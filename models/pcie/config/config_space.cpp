// SPDX-License-Identifier: Apache-2.0
#include "models/pcie/config/config_space.h"

#include <fmt/format.h>

#include "models/pcie/config/header_registers.h"
#include "models/pcie/protocol/configuration_error.h"

namespace pcie {
namespace {

constexpr unsigned status = HeaderRegisters::status;
constexpr unsigned capabilities_pointer = HeaderRegisters::capabilities_pointer;

bool within_word(unsigned offset, unsigned bytes) {
  return bytes >= 1 && offset < ConfigSpace::size && (offset & 3) + bytes <= 4;
}

}  // namespace

ConfigSpace::ConfigSpace() {
  define({capabilities_pointer, 1});
}

std::uint32_t ConfigSpace::read(unsigned offset, unsigned bytes) const {
  return within_word(offset, bytes) ? get(offset, bytes) : 0;
}

void ConfigSpace::write(unsigned offset, unsigned bytes, std::uint32_t value) {
  if (!within_word(offset, bytes)) return;
  const unsigned word = offset / 4;
  const unsigned shift = 8 * (offset & 3);
  const std::uint32_t reached = low_bytes(bytes) << shift;
  const std::uint32_t written = value << shift;
  const std::uint32_t before = words_[word];
  const std::uint32_t replaced = reached & writable_[word];
  const std::uint32_t cleared = reached & write_clears_[word] & written;
  words_[word] = ((before & ~replaced) | (written & replaced)) & ~cleared;
  for (const Observer& observer : observers_) {
    if (observer.offset < offset + bytes && offset < observer.offset + observer.bytes) {
      observer.action(before >> 8 * (observer.offset & 3) & low_bytes(observer.bytes));
    }
  }
}

void ConfigSpace::set(unsigned offset, unsigned bytes, std::uint32_t value) {
  const unsigned shift = 8 * (offset & 3);
  const std::uint32_t mask = low_bytes(bytes) << shift;
  std::uint32_t& word = words_[offset / 4];
  word = (word & ~mask) | (value << shift & mask);
}

void ConfigSpace::set_reset(unsigned offset, unsigned bytes, std::uint32_t value) {
  const unsigned shift = 8 * (offset & 3);
  const std::uint32_t mask = low_bytes(bytes) << shift;
  std::uint32_t& word = resets_[offset / 4];
  word = (word & ~mask) | (value << shift & mask);
  set(offset, bytes, value);
}

void ConfigSpace::define(const Register& entry) {
  const bool sized = entry.bytes == 1 || entry.bytes == 2 || entry.bytes == 4;
  if (!sized || entry.offset % entry.bytes != 0 || entry.offset + entry.bytes > size) {
    throw ConfigurationError(fmt::format(
        "a configuration register of {} bytes at {:#x} is impossible", entry.bytes, entry.offset));
  }
  for (unsigned i = entry.offset; i < entry.offset + entry.bytes; ++i) {
    if (defined_.test(i)) {
      throw ConfigurationError(fmt::format("configuration byte {:#x} has two registers", i));
    }
    defined_.set(i);
  }
  const unsigned shift = 8 * (entry.offset & 3);
  writable_[entry.offset / 4] |= entry.writable << shift;
  write_clears_[entry.offset / 4] |= entry.write_clears << shift;
  kept_by_hot_[entry.offset / 4] |= entry.sticky << shift;
  kept_by_function_[entry.offset / 4] |= entry.sticky << shift;
  set_reset(entry.offset, entry.bytes, entry.reset);
}

void ConfigSpace::keep(Reset strongest, unsigned offset, unsigned bytes, std::uint32_t mask) {
  const std::uint32_t bits = (mask & low_bytes(bytes)) << 8 * (offset & 3);
  if (strongest == Reset::hot) kept_by_hot_[offset / 4] |= bits;
  kept_by_function_[offset / 4] |= bits;
}

void ConfigSpace::reset(Reset kind) {
  if (kind <= Reset::fundamental) {
    words_ = resets_;
    return;
  }
  const Words& kept = kind == Reset::hot ? kept_by_hot_ : kept_by_function_;
  for (unsigned i = 0; i < words_.size(); ++i) {
    words_[i] = (words_[i] & kept[i]) | (resets_[i] & ~kept[i]);
  }
}

unsigned ConfigSpace::add_capability(std::uint8_t id, unsigned bytes) {
  const unsigned offset = next_free_;
  if (bytes < 2 || offset + bytes > first_extended_capability) {
    throw ConfigurationError(fmt::format("there is no room for capability {:#04x}", id));
  }
  next_free_ = (offset + bytes + 3) & ~3u;
  define({offset, 2, id});
  set_reset(last_capability_ == 0 ? capabilities_pointer : last_capability_ + 1, 1, offset);
  set_reset(status, 2, get(status, 2) | HeaderRegisters::StatusBit::capabilities_list);
  last_capability_ = offset;
  return offset;
}

unsigned ConfigSpace::add_extended_capability(std::uint16_t id, unsigned version, unsigned bytes) {
  const unsigned offset = next_extended_free_;
  if (bytes < 4 || version < 1 || version > 15 || offset + bytes > size) {
    throw ConfigurationError(fmt::format("there is no room for extended capability {:#06x}", id));
  }
  next_extended_free_ = (offset + bytes + 3) & ~3u;
  define({offset, 4, id | version << 16});
  if (last_extended_ != 0) {
    set_reset(last_extended_, 4, (get(last_extended_, 4) & 0xfffff) | offset << 20);
  }
  last_extended_ = offset;
  return offset;
}

void ConfigSpace::on_write(unsigned offset, unsigned bytes, Action action) {
  observers_.push_back({offset, bytes, std::move(action)});
}

}  // namespace pcie
