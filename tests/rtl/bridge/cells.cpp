// SPDX-License-Identifier: Apache-2.0
#include "tests/rtl/bridge/cells.h"

#include <algorithm>

namespace bridge {
namespace {

constexpr unsigned registers = 0;  // BARs
constexpr unsigned pages = 2;

std::uint64_t name_of(const Host& host) {
  Header header;
  header.epoch = host.epoch;
  header.sequence = host.sequence;
  return header.word();
}

}  // namespace

// The block clears its memories first.
Cells::Cells() {
  for (Cable& cable : cables) cable.forth.record = cable.back.record = false;
  until([this] { return a->top.idle_o && b->top.idle_o; });
}

void Cells::clock(unsigned clocks) {
  for (unsigned n = 0; n < clocks; ++n) {
    ++now;
    cables[0].clock(a->left, links == 1 ? b->left : b->right);
    if constexpr (links == 2) cables[1].clock(a->right, b->left);
    a->settle(now);
    b->settle(now);
    a->rise();
    b->rise();
  }
}

void Cells::rest() {
  const std::uint64_t begun = now;
  for (unsigned quiet = 0; quiet < 4 * metre + 64; ++quiet) {
    if (now - begun > patience) FAIL() << "it does not come to rest";
    clock();
    const bool wires_idle =
        std::all_of(cables.begin(), cables.end(), [](const Cable& cable) { return cable.idle(); });
    if (a->top.busy_o || b->top.busy_o || !a->idle() || !b->idle() || !wires_idle) quiet = 0;
  }
}

void Cells::put(Cell& cell, Of of, unsigned address, std::uint64_t data) {
  cell.post_put(of, address, data);
  until([&cell] { return cell.idle(); });
}

std::uint64_t Cells::get(Cell& cell, Of of, unsigned address) {
  std::uint64_t result = 0;
  cell.post_get(of, address, [&result](std::uint64_t value) { result = value; });
  until([&cell] { return cell.idle(); });
  return result;
}

void Cells::take_up(Cell& cell, bool bridged) {
  for (unsigned cable = 0; cable < links; ++cable) take_up(cell, end_of(cell, cable), bridged);
}

void Cells::take_up(Cell& cell, Of end, bool bridged) {
  put(cell, end, OAE_WINDOW_CONTROL,
      OAE_WINDOW_CONTROL_UP_MASK | OAE_PUT(OAE_WINDOW_CONTROL_BRIDGED, bridged ? 1 : 0));
}

void Cells::write(Cell& cell, std::uint64_t place, std::uint64_t head, std::uint64_t number,
                  Of end) {
  put(cell, end, OAE_WINDOW_SEND_AT(place % 16), head);
  for (unsigned i = 1; i < 7; ++i) {
    put(cell, end, OAE_WINDOW_SEND_AT(place % 16) + 8 * i, number * i);
  }
}

void Cells::send(Cell& cell, std::uint64_t head, std::uint64_t number, Of end) {
  const std::uint64_t next = get(cell, end, OAE_WINDOW_OFFERED) + 1;
  write(cell, next, head, number, end);
  put(cell, end, OAE_WINDOW_OFFERED, next);
  rest();
}

void Cells::join_all(Cell& cell) {
  for (unsigned port = 0; port < ports; ++port) {
    put(cell, Of::block, OAE_FIRMWARE_JOIN_AT(port), 1);
  }
  for (unsigned cable = 0; cable < links; ++cable) {
    put(cell, end_of(cell, cable), OAE_WINDOW_PORTS, ports_of(cable));
  }
}

void Cells::bring_up() {
  for (Cell* cell : {a.get(), b.get()}) {
    join_all(*cell);
    take_up(*cell);
  }
  until([this] { return is_up(); });
  rest();
}

void Cells::tend(Cell& cell, bool bridged) {
  for (unsigned cable = 0; cable < links; ++cable) {
    put(cell, end_of(cell, cable), OAE_WINDOW_LIMITS,
        OAE_PUT(OAE_WINDOW_LIMITS_SILENCE, 300) | OAE_PUT(OAE_WINDOW_LIMITS_TROUBLE, 6));
  }
  take_up(cell, bridged);
}

void Cells::tend_until_up(bool b_bridged) {
  until([&] {
    tend(*a);
    tend(*b, b_bridged);
    clock(400);
    return is_up();
  });
}

void Cells::take_up_with_stranger() {
  take_up(*a);
  take_up(*b, false);
  until([this] { return is_up(); });
  rest();
}

void Cells::fill_ring(unsigned port) {
  put(*a, Of::left, OAE_WINDOW_CONTROL, 0);
  for (unsigned n = 0; n < 16; ++n) {
    put(*a, Of::block, OAE_FIRMWARE_JOIN_AT(port), n % 2);
    rest();
  }
}

void Cells::greet(unsigned port, Of end, std::uint16_t session) {
  send(*b,
       head_for(port) | OAE_PASSAGE_HEAD_ACCOUNT_MASK | OAE_PASSAGE_HEAD_GREETING_MASK |
           OAE_PASSAGE_HEAD_BEGINS_MASK,
       session, end);
}

std::uint64_t Cells::head_for(unsigned port) {
  const std::uint64_t join = get(*a, Of::block, OAE_FIRMWARE_JOIN_AT(port));
  return OAE_PUT(OAE_PASSAGE_HEAD_PORT, port) |
         OAE_PUT(OAE_PASSAGE_HEAD_SESSION, OAE_GET(join, OAE_FIRMWARE_JOIN_SESSION));
}

bool Cells::is_up() const {
  const auto up = [](const Side& side) { return *side.phase == OAE_WINDOW_PHASE_UP; };
  return up(a->left) && up(b->left) && (links == 1 || (up(a->right) && up(b->right)));
}

std::uint64_t Cells::access(Cell& cell, unsigned word, unsigned what, std::uint64_t operand) {
  put(cell, Of::block, OAE_FIRMWARE_WORD_OPERAND, operand);
  put(cell, Of::block, OAE_FIRMWARE_WORD_COMMAND,
      OAE_PUT(OAE_FIRMWARE_WORD_COMMAND_INDEX, word) |
          OAE_PUT(OAE_FIRMWARE_WORD_COMMAND_ACCESS, what));
  return get(cell, Of::block, OAE_FIRMWARE_WORD_RESULT);
}

Host Cells::open(Cell& cell, unsigned port) {
  const std::uint64_t one = 1;
  cell.post_write(registers, OAE_HOST_PORT_CONTROL_AT(port), &one, 8);
  until([&cell] { return cell.idle(); });
  Host host{&cell, port};
  cell.post_read(
      pages, port * OAE_PORT_SIZE + OAE_PORT_PUSHED_ANSWER + 0x10, [&host](const Slot& line) {
        const std::uint64_t state = line[(OAE_PORT_STATUS % 64) / 8];
        host.epoch = static_cast<std::uint8_t>(OAE_GET(state, OAE_HOST_PORT_STATE_EPOCH));
      });
  until([&cell] { return cell.idle(); });
  return host;
}

void Cells::close(Host& host) {
  const std::uint64_t zero = 0;
  host.cell->post_write(registers, OAE_HOST_PORT_CONTROL_AT(host.port), &zero, 8);
  until([&host] { return host.cell->idle(); });
}

std::optional<Payload> Cells::offer(Host& host, std::uint8_t verb, const Payload& payload,
                                    std::uint8_t flags) {
  Header header;
  header.verb = verb;
  header.flags = flags;
  header.epoch = host.epoch;
  header.sequence = host.sequence + 1;
  header.attempt = host.attempt;
  Slot slot{header.word()};
  std::copy(payload.begin(), payload.end(), slot.begin() + 1);
  seal(slot);
  const unsigned window = host.port * OAE_PORT_SIZE + OAE_PORT_WINDOW;
  Slot answer{};
  host.cell->post_write(pages, window, slot.data(), 64);
  host.cell->post_read(pages, window, [&answer](const Slot& line) { answer = line; });
  until([&host] { return host.cell->idle(); });
  EXPECT_TRUE(sealed(answer));
  const Header said = Header::of(answer[0]);
  EXPECT_EQ(said.verb, verb);
  if (said.status != OAE_STATUS_OK) {
    EXPECT_EQ(said.status, OAE_STATUS_NOT_READY);
    host.attempt = (host.attempt + 1) & 63;
    return std::nullopt;
  }
  EXPECT_EQ(said.epoch, header.epoch);
  EXPECT_EQ(said.sequence, header.sequence);
  ++host.sequence;
  host.attempt = 0;
  Payload answered;
  std::copy(answer.begin() + 1, answer.end() - 1, answered.begin());
  return answered;
}

std::optional<std::uint64_t> Cells::swap(Host& host, std::uint64_t number, std::uint8_t verb,
                                         std::uint8_t flags) {
  Payload payload{number};
  for (unsigned i = 1; i < 6; ++i) payload[i] = number * (i + 1);
  const std::optional<Payload> answer = offer(host, verb, payload, flags);
  if (!answer) return std::nullopt;
  for (unsigned i = 1; i < 6; ++i) {
    EXPECT_EQ((*answer)[i], verb == OAE_VERB_SWAP ? (*answer)[0] * (i + 1) : 0);
  }
  return (*answer)[0];
}

bool Cells::ask(Host& host, std::uint64_t steps, std::uint64_t operand_0, std::uint64_t operand_1) {
  const std::optional<Payload> answer = offer(host, OAE_VERB_REMOTE, {steps, operand_0, operand_1});
  if (!answer) return false;
  EXPECT_EQ(*answer, Payload{}) << "its result comes later";
  confirm(host);
  return true;
}

std::optional<Payload> Cells::collect(Host& host) {
  std::optional<Payload> result = offer(host, OAE_VERB_RESULT, {});
  if (result) confirm(host);
  return result;
}

std::uint64_t Cells::fate_of(const Host& host, unsigned address) {
  std::uint64_t result = 0;
  host.cell->post_read(registers, address,
                       [&](const Slot& line) { result = line[address % 64 / 8]; });
  until([&host] { return host.cell->idle(); });
  return result;
}

void Cells::acknowledge(const Host& host) {
  const std::uint64_t word = OAE_HOST_PORT_LOST_ACKNOWLEDGE_MASK;
  host.cell->post_write(registers, OAE_HOST_PORT_LOST_AT(host.port), &word, 8);
  until([&host] { return host.cell->idle(); });
}

void Cells::confirm(Host& host) {
  const std::uint64_t word = confirmation(name_of(host));
  host.cell->post_write(pages, host.port * OAE_PORT_SIZE + OAE_PORT_CONFIRM, &word, 8);
  until([&host] { return host.cell->idle(); });
}

void Cells::reverse(Host& host) {
  const std::uint64_t word = reversal(name_of(host));
  host.cell->post_write(pages, host.port * OAE_PORT_SIZE + OAE_PORT_REVERSE, &word, 8);
  until([&host] { return host.cell->idle(); });
}

std::uint64_t Cells::exchange(Host& host, std::uint64_t number) {
  const std::optional<std::uint64_t> answer = swap(host, number);
  EXPECT_TRUE(answer) << "no exchange of " << number;
  confirm(host);
  return answer.value_or(~std::uint64_t{0});
}

}  // namespace bridge
