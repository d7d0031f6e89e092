// SPDX-License-Identifier: Apache-2.0
#include "tests/rtl/link/pair.h"

#include <algorithm>

namespace window {

Pair::Pair(unsigned delay) : cable(delay) {}

void Pair::clock(unsigned clocks) {
  for (unsigned n = 0; n < clocks; ++n) {
    ++now;
    cable.clock(*a, *b);
    a->settle(now);
    b->settle(now);
    if (watch) watch();
    a->rise();
    b->rise();
  }
}

void Pair::rest() {
  const std::uint64_t begun = now;
  for (unsigned quiet = 0; quiet < 4 * cable.delay() + 64; ++quiet) {
    if (now - begun > patience) FAIL() << "it does not come to rest";
    clock();
    if (a->top.busy_o || b->top.busy_o || !a->idle() || !b->idle() || !cable.idle()) quiet = 0;
  }
}

void Pair::put(End& end, unsigned address, std::uint64_t data, unsigned strobe) {
  end.post_put(address, data, strobe);
  until([&end] { return end.idle(); });
}

std::uint64_t Pair::get(End& end, unsigned address) {
  std::uint64_t result = 0;
  end.post_get(address, [&result](std::uint64_t value) { result = value; });
  until([&end] { return end.idle(); });
  return result;
}

void Pair::up(End& end, bool again) {
  put(end, OAE_WINDOW_CONTROL,
      OAE_WINDOW_CONTROL_UP_MASK | OAE_PUT(OAE_WINDOW_CONTROL_AGAIN, again ? 1 : 0));
}

void Pair::set_limits(End& end, unsigned silence, unsigned trouble) {
  put(end, OAE_WINDOW_LIMITS,
      OAE_PUT(OAE_WINDOW_LIMITS_SILENCE, silence) | OAE_PUT(OAE_WINDOW_LIMITS_TROUBLE, trouble));
}

void Pair::bring_up(bool again) {
  up(*a, again);
  up(*b, again);
  until([this] { return is_up(); });
  rest();
}

Slot Pair::slot(std::uint64_t seed) {
  Slot made{};
  std::uint64_t value = seed * 0x9e3779b97f4a7c15 + 1;
  for (std::uint64_t& word : made) {
    value ^= value << 13;
    value ^= value >> 7;
    value ^= value << 17;
    word = value;
  }
  made[0] &= ~std::uint64_t{0xffffff};  // these bits are the link's own
  made[1] = seed;
  return made;
}

void Pair::offer(End& end, const std::vector<Slot>& slots) {
  const unsigned last = offered(end);
  for (unsigned n = 0; n < slots.size(); ++n) {
    const unsigned place = (last + 1 + n) % ring;
    for (unsigned i = 0; i < 7; ++i) end.post_put(OAE_WINDOW_SEND_AT(place) + 8 * i, slots[n][i]);
  }
  put(end, OAE_WINDOW_OFFERED, last + slots.size());
}

void Pair::offer(End& end, unsigned count, std::uint64_t first_seed) {
  std::vector<Slot> slots;
  for (unsigned n = 0; n < count; ++n) slots.push_back(slot(first_seed + n));
  offer(end, slots);
}

std::vector<Slot> Pair::take(End& end) {
  const auto received = static_cast<std::uint32_t>(get(end, OAE_WINDOW_RECEIVED));
  auto taken = static_cast<std::uint32_t>(get(end, OAE_WINDOW_TAKEN));
  std::vector<Slot> slots;
  for (; taken != received; ++taken) {
    Slot slot{};
    for (unsigned i = 0; i < 7; ++i)
      slot[i] = get(end, OAE_WINDOW_RECEIVE_AT(taken % ring) + 8 * i);
    slot[0] &= ~std::uint64_t{0xffffff};
    slots.push_back(slot);
  }
  put(end, OAE_WINDOW_TAKEN, taken);
  return slots;
}

void Pair::begin_anew() {
  a = std::make_unique<End>(0);
  b = std::make_unique<End>(0);
  cable = Cable(cable.delay());
  now = hold_off;
}

void Pair::lose_power(std::unique_ptr<End>& end) {
  (&end == &a ? to_b : to_a).end_frame();
  end = std::make_unique<End>(now);
  powered_ = now;
}

void Pair::pass_hold_off() {
  until([this] {
    const auto live = [](End& end) {
      return end.phase() == OAE_WINDOW_PHASE_JOINED || end.phase() == OAE_WINDOW_PHASE_UP;
    };
    return !live(*a) && !live(*b);
  });
  clock(4 * cable.delay() + 64);  // The wires become empty.
  EXPECT_FALSE(a->top.busy_o || b->top.busy_o);
  now = std::max(now, powered_ + hold_off);
}

}  // namespace window
