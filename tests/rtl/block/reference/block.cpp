// SPDX-License-Identifier: Apache-2.0
#include "tests/rtl/block/reference/block.h"

#include "guest/driver/oae_check.h"
#include "oae_registers.h"

namespace {

std::uint64_t merge(std::uint64_t old, std::uint64_t data, std::uint64_t mask) {
  return (old & ~mask) | (data & mask);
}

bool has_its_check(unsigned offset, std::uint64_t word) {
  return oae_checked(offset, word & ~OAE_PORT_CONFIRM_CHECK_MASK) == word;
}

// The host reads its port's range as the firmware does.
static_assert(OAE_PORT_WORDS_FIRST_MASK == OAE_FIRMWARE_WORDS_FIRST_MASK &&
              OAE_PORT_WORDS_COUNT_MASK == OAE_FIRMWARE_WORDS_COUNT_MASK);
std::uint64_t range_word(const WordRange& range) {
  return OAE_PUT(OAE_FIRMWARE_WORDS_FIRST, range.first) |
         OAE_PUT(OAE_FIRMWARE_WORDS_COUNT, range.size);
}

constexpr unsigned line_of(unsigned offset) {
  return offset / 64;
}

}  // namespace

std::uint64_t byte_mask(unsigned enable) {
  std::uint64_t mask = 0;
  for (unsigned i = 0; i < 8; ++i) {
    if (enable >> i & 1) mask |= std::uint64_t{0xff} << 8 * i;
  }
  return mask;
}

ReferenceBlock::ReferenceBlock(unsigned count, std::uint32_t clock_khz)
    : clock_khz_(clock_khz), settings_(count) {
  power_up();
}

void ReferenceBlock::power_up() {
  words = {};
  ports.clear();
  for (unsigned i = 0; i < settings_.size(); ++i) ports.emplace_back(i, words);
  settings_.assign(settings_.size(), {});
  liveness_ = 0;
  liveness_limit_ = 0xffff'ffff;
  irq_enable_ = 0;
  hold_limit_ = OAE_FIRMWARE_HOLD_LIMIT_RESET;
}

std::uint64_t ReferenceBlock::id() const {
  return OAE_HOST_ID_RESET | OAE_PUT(OAE_HOST_ID_PORTS, ports.size());
}

std::uint64_t ReferenceBlock::pending() const {
  std::uint64_t pending = 0;
  for (std::size_t i = 0; i < ports.size(); ++i) {
    if (ports[i].events) pending |= std::uint64_t{1} << i;
  }
  return pending;
}

void ReferenceBlock::gather(ReferencePort& port) {
  transitions.insert(transitions.end(), port.transitions.begin(), port.transitions.end());
  port.transitions.clear();
}

// The offsets of a port's registers are relative to those of the first port.
std::uint64_t ReferenceBlock::host_word(unsigned number, unsigned word) {
  const ReferencePort& port = ports[number];
  switch (OAE_HOST_PORT_CONTROL + 8 * word) {
    case OAE_HOST_PORT_CONTROL:
      return port.open;
    case OAE_HOST_PORT_ANSWER_ADDRESS:
      return port.answer_address;
    case OAE_HOST_PORT_STATE:
      return port.state_word();
    case OAE_HOST_PORT_COMMITTED:
      return port.committed_count;
    case OAE_HOST_PORT_NOT_READY:
      return port.not_ready_count;
    case OAE_HOST_PORT_REJECTED:
      return port.rejected_count;
    case OAE_HOST_PORT_EVENT:
      return settings_[number].event | OAE_PUT(OAE_HOST_PORT_EVENT_OFFER_ARMED, port.armed);
    case OAE_HOST_PORT_TENTATIVE_LIMIT:
      return settings_[number].limit;
    default:
      return 0;
  }
}

void ReferenceBlock::host_write(const Line& line, const Slot& data, std::uint64_t enable) {
  if (line.bar != 0) {
    const unsigned number = line.port();
    if (number >= ports.size()) return;
    ReferencePort& port = ports[number];
    if (line.line % 64 == line_of(OAE_PORT_WINDOW)) port.write_window(data, enable);
    if (line.line % 64 == line_of(OAE_PORT_CONFIRM) && (enable >> 8 & 0xff) == 0xff &&
        has_its_check(OAE_PORT_CONFIRM, data[1])) {
      port.confirm(OAE_GET(data[1], OAE_PORT_CONFIRM_EPOCH),
                   OAE_GET(data[1], OAE_PORT_CONFIRM_SEQUENCE));
    }
    if (line.line % 64 == line_of(OAE_PORT_REVERSE) && (enable >> 24 & 0xff) == 0xff &&
        has_its_check(OAE_PORT_REVERSE, data[3])) {
      port.reverse(OAE_GET(data[3], OAE_PORT_REVERSE_EPOCH),
                   OAE_GET(data[3], OAE_PORT_REVERSE_SEQUENCE));
    }
    return gather(port);
  }
  if (line.line == 0) {
    constexpr unsigned word = OAE_HOST_LIVENESS_LIMIT / 8;
    const std::uint64_t mask = byte_mask(enable >> 8 * word & 0xff) & 0xffff'ffff;
    liveness_limit_ = merge(liveness_limit_, data[word], mask);
    return;
  }
  const unsigned base = line_of(OAE_HOST_PORT_CONTROL);
  const unsigned number = (line.line - base) / 2;
  if (line.line < base || (line.line - base) % 2 || number >= ports.size()) return;
  ReferencePort& port = ports[number];
  Settings& settings = settings_[number];
  for (unsigned word = 0; word < 8; ++word) {
    const unsigned bytes = enable >> 8 * word & 0xff;
    if (bytes == 0) continue;
    const std::uint64_t mask = byte_mask(bytes);
    const std::uint64_t value = merge(host_word(number, word), data[word], mask);
    switch (OAE_HOST_PORT_CONTROL + 8 * word) {
      case OAE_HOST_PORT_CONTROL:
        port.set_open(value & 1, OAE_GET(value, OAE_HOST_PORT_CONTROL_EPOCH));
        break;
      case OAE_HOST_PORT_ANSWER_ADDRESS:
        port.answer_address = value & ~std::uint64_t{63};
        break;
      case OAE_HOST_PORT_EVENT:
        settings.event =
            value & (OAE_HOST_PORT_EVENT_VECTOR_MASK | OAE_HOST_PORT_EVENT_CONFIRM_ENABLE_MASK |
                     OAE_HOST_PORT_EVENT_RESULT_ARMED_MASK | OAE_HOST_PORT_EVENT_LOST_ENABLE_MASK);
        if (port.arm(value & OAE_HOST_PORT_EVENT_OFFER_ARMED_MASK)) {
          signals.push_back(OAE_GET(value, OAE_HOST_PORT_EVENT_VECTOR));
        }
        break;
      case OAE_HOST_PORT_TENTATIVE_LIMIT:
        settings.limit = value & 0xffff'ffff;
        break;
      default:
        break;
    }
  }
  gather(port);
}

void ReferenceBlock::function_reset() {
  liveness_limit_ = 0xffff'ffff;
  for (std::size_t i = 0; i < ports.size(); ++i) {
    ports[i].function_reset();
    settings_[i] = {};
  }
}

bool ReferenceBlock::expire(unsigned port) {
  const bool expired = ports[port].expire();
  gather(ports[port]);
  return expired;
}

ReferenceBlock::Read ReferenceBlock::host_read(const Line& line, std::uint64_t enable,
                                               bool refused) {
  Read read;
  if (line.bar != 0) {
    const unsigned number = line.port();
    if (number >= ports.size()) return read;
    ReferencePort& port = ports[number];
    if (line.line % 64 == line_of(OAE_PORT_WINDOW) && enable != 0) {
      read.streamed = true;
      read.answer = port.stream_answer();
      read.data = read.answer->slot;
    }
    if (line.line % 64 == line_of(OAE_PORT_PUSHED_ANSWER)) {
      if (line.bar == 2 && enable & 0xff) {
        read.answer_address = port.answer_address;
        read.answer = port.push_answer(refused);
        read.data[0] = read.answer->word;
      }
      read.data[2] = port.state_word();
      if (line.bar == 2) read.data[4] = range_word(port.range);
    }
    gather(port);
  } else if (line.line == 0) {
    read.data = {id(), OAE_HOST_FEATURES_RESET, clock_khz_, liveness_, liveness_limit_};
    read.aged = true;
  } else {
    const unsigned base = line_of(OAE_HOST_PORT_CONTROL);
    const unsigned number = (line.line - base) / 2;
    if (line.line < base || (line.line - base) % 2 || number >= ports.size()) return read;
    for (unsigned word = 0; word < 8; ++word) read.data[word] = host_word(number, word);
  }
  for (unsigned word = 0; word < 8; ++word) {
    if ((enable >> 8 * word & 0xff) == 0) read.data[word] = 0;
  }
  return read;
}

std::optional<std::uint64_t> ReferenceBlock::firmware_read(unsigned address) {
  address &= ~7u;
  switch (address) {
    case OAE_FIRMWARE_ID:
      return id();
    case OAE_FIRMWARE_LIVENESS:
      return liveness_;
    case OAE_FIRMWARE_IRQ_STATUS:
      return pending() & irq_enable_;
    case OAE_FIRMWARE_IRQ_ENABLE:
      return irq_enable_;
    case OAE_FIRMWARE_EVENTS:
      return pending();
    case OAE_FIRMWARE_HOLD_LIMIT:
      return hold_limit_;
    default:
      break;
  }
  if (address < OAE_FIRMWARE_OFFER) return words.read(address);
  const unsigned number = (address - OAE_FIRMWARE_OFFER) / OAE_FIRMWARE_OFFER_STRIDE;
  if (number >= ports.size()) return std::nullopt;
  ReferencePort& port = ports[number];
  const unsigned place = address % OAE_FIRMWARE_OFFER_STRIDE;
  const unsigned slice = place % 64 / 8;
  switch (place / 64) {
    case 0:
      return port.offer()[slice];
    case 1:
      if (place == OAE_FIRMWARE_COMMAND % OAE_FIRMWARE_OFFER_STRIDE) return 0;
      if (place == OAE_FIRMWARE_STATUS % OAE_FIRMWARE_OFFER_STRIDE) return port.status_word();
      if (place == OAE_FIRMWARE_EVENT % OAE_FIRMWARE_OFFER_STRIDE) return port.events;
      if (place == OAE_FIRMWARE_WORDS % OAE_FIRMWARE_OFFER_STRIDE) {
        return range_word(port.range);
      }
      // No test with this reference joins a port.
      if (place == OAE_FIRMWARE_JOIN % OAE_FIRMWARE_OFFER_STRIDE) return 0;
      if (place == OAE_FIRMWARE_PASSED % OAE_FIRMWARE_OFFER_STRIDE) return 0;
      return std::nullopt;
    case 2:
      return port.tentative()[slice];
    default:
      return port.committed()[slice];
  }
}

bool ReferenceBlock::firmware_write(unsigned address, std::uint64_t data, unsigned strobe) {
  address &= ~7u;
  if (!firmware_read(address)) return false;
  const std::uint64_t mask = byte_mask(strobe);
  if (address == OAE_FIRMWARE_LIVENESS) liveness_ = merge(liveness_, data, mask & 0xffff'ffff);
  if (address == OAE_FIRMWARE_IRQ_ENABLE) irq_enable_ = merge(irq_enable_, data, mask);
  if (address == OAE_FIRMWARE_HOLD_LIMIT) {
    hold_limit_ = merge(hold_limit_, data, mask & 0xffff'ffff);
  }
  words.write(address, data, mask);
  if (address < OAE_FIRMWARE_OFFER) return true;
  const unsigned number = (address - OAE_FIRMWARE_OFFER) / OAE_FIRMWARE_OFFER_STRIDE;
  ReferencePort& port = ports[number];
  const unsigned place = address % OAE_FIRMWARE_OFFER_STRIDE;
  if (place == OAE_FIRMWARE_WORDS % OAE_FIRMWARE_OFFER_STRIDE) {
    const std::uint64_t value = merge(*firmware_read(address), data, mask);
    port.range = {static_cast<unsigned>(OAE_GET(value, OAE_FIRMWARE_WORDS_FIRST)),
                  static_cast<unsigned>(OAE_GET(value, OAE_FIRMWARE_WORDS_COUNT))};
  }
  data &= mask;
  if (place < 64) port.write_offer(place / 8, data, mask);
  if (place == OAE_FIRMWARE_COMMAND % OAE_FIRMWARE_OFFER_STRIDE) {
    port.events &= ~OAE_GET(data, OAE_FIRMWARE_COMMAND_ACKNOWLEDGE);
    if (port.command(data & OAE_FIRMWARE_COMMAND_PUBLISH_MASK,
                     data & OAE_FIRMWARE_COMMAND_TAKE_MASK,
                     data & OAE_FIRMWARE_COMMAND_WITHDRAW_MASK)) {
      signals.push_back(OAE_GET(settings_[number].event, OAE_HOST_PORT_EVENT_VECTOR));
    }
  }
  if (place == OAE_FIRMWARE_EVENT % OAE_FIRMWARE_OFFER_STRIDE) port.events &= ~data;
  gather(port);
  return true;
}
