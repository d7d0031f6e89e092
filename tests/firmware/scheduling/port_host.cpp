// SPDX-License-Identifier: Apache-2.0
#include "tests/firmware/scheduling/port_host.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "oae_registers.h"

namespace {

constexpr unsigned registers = 0;  // BAR
constexpr std::uint64_t buffer = 0x4000;

}  // namespace

PortHost::PortHost() : MmioDevice(base, OAE_FIRMWARE_SIZE) {}

std::uint64_t PortHost::read(std::uintptr_t offset) {
  return block.get(static_cast<unsigned>(offset));
}

void PortHost::write(std::uintptr_t offset, std::uint64_t value) {
  block.put(static_cast<unsigned>(offset), value);
}

void PortHost::open(unsigned port) {
  Port& mine = port_[port];
  close(port);
  block.write(registers, OAE_HOST_PORT_ANSWER_ADDRESS_AT(port), buffer + 64 * port);
  block.write(registers, OAE_HOST_PORT_CONTROL_AT(port),
              OAE_HOST_PORT_CONTROL_OPEN_MASK | OAE_PUT(OAE_HOST_PORT_CONTROL_EPOCH, mine.epoch));
  const std::uint64_t state = block.read(registers, OAE_HOST_PORT_STATE_AT(port));
  mine = {static_cast<std::uint8_t>(OAE_GET(state, OAE_HOST_PORT_STATE_EPOCH)), 0, 0};
}

void PortHost::close(unsigned port) {
  block.write(registers, OAE_HOST_PORT_CONTROL_AT(port), 0);
}

std::optional<PortHost::Payload> PortHost::ask(unsigned port, std::uint8_t verb,
                                               const Payload& payload) {
  Port& mine = port_[port];
  Header header;
  header.verb = verb;
  header.epoch = mine.epoch;
  header.attempt = mine.attempt;
  header.sequence = mine.sequence + 1;
  Slot slot{header.word()};
  std::copy(payload.begin(), payload.end(), slot.begin() + 1);
  seal(slot);
  block.write_slot(port, slot);
  const Header answer = Header::of(block.answer(port));
  if (answer.status != OAE_STATUS_OK) {
    EXPECT_EQ(answer.status, OAE_STATUS_NOT_READY);
    mine.attempt = (mine.attempt + 1) & 63;
    return std::nullopt;
  }
  EXPECT_EQ(answer.sequence, header.sequence);
  ++mine.sequence;
  mine.attempt = 0;
  Payload got;
  std::copy_n(block.pushed_slot.begin() + 1, got.size(), got.begin());
  return got;
}

void PortHost::confirm(unsigned port) {
  block.confirm(port, port_[port].epoch, port_[port].sequence);
}

void PortHost::reverse_last(unsigned port) {
  block.reverse(port, port_[port].epoch, port_[port].sequence);
}

void PortHost::reverse_next(unsigned port) {
  block.reverse(port, port_[port].epoch, ++port_[port].sequence);
  port_[port].attempt = 0;
}

std::optional<port_offer> PortHost::swap(unsigned port, const Payload& given) {
  const auto got = ask(port, OAE_VERB_SWAP, given);
  if (!got) return std::nullopt;
  confirm(port);
  port_payload payload{};
  std::copy_n(got->begin(), got->size(), payload.words);
  return payload.offer;
}

bool PortHost::send(unsigned port, const queue_entry& entry, std::uint64_t time) {
  Payload payload;
  EXPECT_TRUE(port_pack(&entry, time, payload.data()));
  if (!ask(port, OAE_VERB_SEND, payload)) return false;
  confirm(port);
  return true;
}
