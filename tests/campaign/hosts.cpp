// SPDX-License-Identifier: Apache-2.0
#include "tests/campaign/hosts.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace {

constexpr std::uint64_t memory = 0x10'0000'0000;
constexpr unsigned pause_clocks = 50;

}  // namespace

Owner::Owner(Card& card, unsigned port) : card_(card), port_(port) {
  card_.buffers[memory + 64 * port] = buffer_;
  exchange_.page = page_;
  exchange_.stream = stream_;
  exchange_.buffer = reinterpret_cast<__le64*>(buffer_);
  fiber_ = std::make_unique<Fiber>([this] { live(); });
  card_.start(*fiber_);
}

bool Owner::owns(const volatile void* pointer, unsigned& bar, unsigned& address) const {
  const auto* const at = static_cast<const volatile unsigned char*>(pointer);
  if (at >= page_ && at < page_ + sizeof(page_)) {
    bar = 2;
    address = port_ * OAE_PORT_SIZE + static_cast<unsigned>(at - page_);
    return true;
  }
  if (at >= stream_ && at < stream_ + sizeof(stream_)) {
    bar = 4;
    address = port_ * OAE_STREAM_SIZE + static_cast<unsigned>(at - stream_);
    return true;
  }
  return false;
}

void Owner::die() {
  if (token_ != 0) card_.ledger.host_forgot(token_);
  token_ = 0;
  card_.abandon(*fiber_);
  dead_.push_back(std::move(fiber_));
  exchange_.doubt = false;
  reset_ = true;
  fiber_ = std::make_unique<Fiber>([this] { live(); });
  card_.start(*fiber_);
}

void Owner::demand(unsigned swaps) {
  got_ = 0;
  wanted_ = swaps;
  idle_ = false;
  reset_ = true;
}

void Owner::live() {
  for (;;) {
    if (reset_) {
      start();
    } else if (exchange_.doubt) {
      settle();
    } else if (wanted_ == 0 || got_ < wanted_) {
      offer();
    } else if (!idle_) {
      // The last confirmation may have waited for the next swap, or may be lost. A new epoch
      // settles it.
      start();
      idle_ = !reset_;
    }
    card_.pause(static_cast<unsigned>(card_.pick(pause_clocks)));
  }
}

void Owner::start() {
  reset_ = false;
  card_.write(0, OAE_HOST_PORT_ANSWER_ADDRESS_AT(port_), memory + 64 * port_);
  card_.write(0, OAE_HOST_PORT_TENTATIVE_LIMIT_AT(port_),
              card_.pick(2) ? 1'000'000 : 50 + card_.pick(500));
  card_.write(0, OAE_HOST_PORT_EVENT_AT(port_),
              OAE_PUT(OAE_HOST_PORT_EVENT_VECTOR, port_) | OAE_HOST_PORT_EVENT_CONFIRM_ENABLE_MASK);
  // The driver closes its ports before a reset, with a swap in doubt or not.
  if (card_.pick(2)) card_.write(0, OAE_HOST_PORT_CONTROL_AT(port_), 0);
  if (exchange_.doubt) note(oae_exchange_settle(&exchange_, reads, &answer_));
  if (exchange_.doubt) {
    reset_ = true;  // an epoch that begins now would lose its answer
    return;
  }
  give_up();
  const std::uint64_t before = card_.read(0, OAE_HOST_PORT_STATE_AT(port_));
  card_.write(0, OAE_HOST_PORT_CONTROL_AT(port_), 0);
  card_.write(
      0, OAE_HOST_PORT_CONTROL_AT(port_),
      OAE_HOST_PORT_CONTROL_OPEN_MASK | OAE_PUT(OAE_HOST_PORT_CONTROL_EPOCH, exchange_.epoch));
  const std::uint64_t state = card_.read(0, OAE_HOST_PORT_STATE_AT(port_));
  if (!oae_exchange_open(&exchange_, before, state)) reset_ = true;  // another attempt follows
}

void Owner::offer() {
  token_ = card_.ledger.offer(port_);
  u64 payload[6] = {card_.pick(~0u), card_.pick(~0u), 0, 0, 0, token_};
  u8 verb = OAE_VERB_SWAP;
  switch (card_.pick(8)) {
    case 0:
      verb = OAE_VERB_SEND;
      break;
    case 1:
      verb = OAE_VERB_FETCH_ADD;
      payload[0] = Ledger::counter;
      payload[1] = token_;
      break;
    case 2:
      verb = OAE_VERB_CAS;
      payload[0] = Ledger::lock;
      payload[1] = card_.fixture.reference.words.word(Ledger::lock);
      payload[2] = token_;
      break;
    case 3: {  // moves from one account to the other, and reads both
      const auto step = [](unsigned place, std::uint64_t operation, std::uint64_t word) {
        return (operation << 12 | word) << 16 * place;
      };
      verb = OAE_VERB_MULTI;
      payload[0] = step(0, OAE_WORD_OPERATION_READ, Ledger::account) |
                   step(1, OAE_WORD_OPERATION_ADD, Ledger::account) |
                   step(2, OAE_WORD_OPERATION_ADD, Ledger::account + 1) |
                   step(3, OAE_WORD_OPERATION_COMPARE, Ledger::account + 1);
      payload[2] = 0 - token_;
      payload[3] = token_;
      payload[4] = card_.fixture.reference.words.word(Ledger::account + 1);
      break;
    }
    default:
      break;
  }
  const bool more = wanted_ == 0 && card_.pick(4) == 0;
  const oae_form form = card_.pick(2) ? OAE_PUSHED : OAE_STREAMED;
  unsigned tries = 1 + static_cast<unsigned>(card_.pick(2) ? 0 : card_.pick(12));
  if (wanted_) tries = ~0u;
  while (token_ != 0 && !exchange_.doubt && !reset_) {
    note(oae_exchange_swap(&exchange_, form, verb, more ? OAE_FLAG_MORE : 0, payload,
                           static_cast<unsigned>(card_.pick(1 + reads)), &answer_));
    if (--tries == 0) break;
    if (token_ != 0) card_.pause(static_cast<unsigned>(card_.pick(pause_clocks)));
  }
  give_up();
}

// A swap that has not taken place and is not in doubt never takes place.
void Owner::give_up() {
  if (token_ == 0 || exchange_.doubt) return;
  card_.ledger.host_denied(token_);
  token_ = 0;
}

void Owner::settle() {
  if (card_.pick(2) == 0) oae_exchange_reverse(&exchange_);
  note(oae_exchange_settle(&exchange_, 1 + static_cast<unsigned>(card_.pick(reads)), &answer_));
  give_up();
}

void Owner::note(oae_outcome outcome) {
  switch (outcome) {
    case OAE_COMMITTED: {
      Slot answer;
      std::copy(std::begin(answer_.slot), std::end(answer_.slot), answer.begin());
      card_.ledger.host_committed(token_, answer);
      token_ = 0;
      ++got_;
      break;
    }
    case OAE_REVERSED:
      card_.ledger.host_reversed(token_);
      token_ = 0;
      break;
    case OAE_LOST:
      card_.ledger.host_lost(token_);
      token_ = 0;
      break;
    case OAE_NOT_TAKEN:
    case OAE_IN_DOUBT:
      break;
  }
}
