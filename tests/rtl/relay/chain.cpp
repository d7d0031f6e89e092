// SPDX-License-Identifier: Apache-2.0
#include "tests/rtl/relay/chain.h"

#include <algorithm>

namespace relay {

void Chain::build(unsigned hops, unsigned delay) {
  cells.push_back(std::make_unique<OuterCell>(0, true));
  for (unsigned n = 1; n < hops; ++n) cells.push_back(std::make_unique<MiddleCell>(0));
  cells.push_back(std::make_unique<OuterCell>(0, false));
  for (unsigned n = 0; n < hops; ++n) links.push_back(std::make_unique<Cable>(delay));
}

void Chain::clock(unsigned clocks) {
  for (unsigned n = 0; n < clocks; ++n) {
    ++now;
    for (unsigned i = 0; i < links.size(); ++i)
      links[i]->clock(cells[i]->right, cells[i + 1]->left);
    for (const auto& cell : cells) cell->settle(now);
    for (const auto& cell : cells) cell->rise();
  }
}

void Chain::rest() {
  const std::uint64_t begun = now;
  for (unsigned quiet = 0; quiet < 4 * links.front()->delay() + 64; ++quiet) {
    if (now - begun > patience) FAIL() << "it does not come to rest";
    clock();
    const auto moves = [](const std::unique_ptr<Cell>& cell) {
      return cell->busy() || !cell->left.idle() || !cell->right.idle();
    };
    if (std::any_of(cells.begin(), cells.end(), moves) ||
        !std::all_of(links.begin(), links.end(), [](const auto& hop) { return hop->idle(); })) {
      quiet = 0;
    }
  }
}

void Chain::put(Side& side, unsigned address, std::uint64_t data) {
  side.post_put(address, data);
  until([&side] { return side.idle(); });
}

std::uint64_t Chain::get(Side& side, unsigned address) {
  std::uint64_t result = 0;
  side.post_get(address, [&result](std::uint64_t value) { result = value; });
  until([&side] { return side.idle(); });
  return result;
}

void Chain::configure(Cell& cell, bool again) {
  const bool middle = &cell != cells.front().get() && &cell != cells.back().get();
  const auto take_up = [&](Side& side) {
    side.post_put(OAE_WINDOW_LIMITS, OAE_PUT(OAE_WINDOW_LIMITS_SILENCE, silence) |
                                         OAE_PUT(OAE_WINDOW_LIMITS_TROUBLE, 6));
    side.post_put(OAE_WINDOW_CONTROL,
                  OAE_WINDOW_CONTROL_UP_MASK | OAE_PUT(OAE_WINDOW_CONTROL_AGAIN, again ? 1 : 0));
  };
  for (unsigned label = 1; middle && label < 16; ++label) {
    for (Side* side : {&cell.left, &cell.right}) {
      side->post_put(OAE_WINDOW_ROUTE_AT(label),
                     OAE_WINDOW_ROUTE_ONWARD_MASK | OAE_PUT(OAE_WINDOW_ROUTE_LABEL, label - 1));
    }
  }
  if (&cell != cells.front().get()) take_up(cell.left);
  if (&cell != cells.back().get()) take_up(cell.right);
}

void Chain::bring_up(bool again) {
  for (const auto& cell : cells) configure(*cell, again);
  until([this] { return is_up(); });
  rest();
}

bool Chain::is_up() const {
  for (unsigned i = 0; i < links.size(); ++i) {
    if (*cells[i]->right.phase != OAE_WINDOW_PHASE_UP) return false;
    if (*cells[i + 1]->left.phase != OAE_WINDOW_PHASE_UP) return false;
  }
  return true;
}

void Chain::offer(Side& side, unsigned count, std::uint64_t identity, unsigned label) {
  const auto offered = static_cast<std::uint32_t>(get(side, OAE_WINDOW_OFFERED));
  for (unsigned n = 1; n <= count; ++n) {
    const unsigned place = OAE_WINDOW_SEND_AT((offered + n) % ring);
    const std::uint64_t id = identity + n - 1;
    side.post_put(place, (id & 0xffff) << 32 | label << OAE_WIRE_HEAD_LABEL_SHIFT);
    side.post_put(place + 8, id);
    side.post_put(place + 24, id * 0x9e3779b97f4a7c15);
    side.post_put(place + 48, ~id);
  }
  put(side, OAE_WINDOW_OFFERED, offered + count);
}

std::vector<std::uint64_t> Chain::take(Side& side) {
  const auto received = static_cast<std::uint32_t>(get(side, OAE_WINDOW_RECEIVED));
  auto taken = static_cast<std::uint32_t>(get(side, OAE_WINDOW_TAKEN));
  std::vector<std::uint64_t> slots;
  for (; taken != received; ++taken) {
    const unsigned place = OAE_WINDOW_RECEIVE_AT(taken % ring);
    const std::uint64_t id = get(side, place + 8);
    EXPECT_EQ(get(side, place) >> OAE_WIRE_HEAD_LABEL_SHIFT, (id & 0xffff) << 8);  // label 0
    EXPECT_EQ(get(side, place + 24), id * 0x9e3779b97f4a7c15);
    EXPECT_EQ(get(side, place + 48), ~id);
    slots.push_back(id);
  }
  put(side, OAE_WINDOW_TAKEN, taken);
  return slots;
}

unsigned Chain::room(Side& side) {
  const auto offered = static_cast<std::uint32_t>(get(side, OAE_WINDOW_OFFERED));
  const auto settled = static_cast<std::uint32_t>(get(side, OAE_WINDOW_SETTLED));
  return ring - 1 - (offered - settled);
}

void Chain::lose_power(unsigned cell) {
  if (cell > 0) links[cell - 1]->back.end_frame();
  if (cell < links.size()) links[cell]->forth.end_frame();
  if (cell == 0 || cell == links.size()) {
    cells[cell] = std::make_unique<OuterCell>(now, cell == 0);
  } else {
    cells[cell] = std::make_unique<MiddleCell>(now);
  }
  powered_ = now;
}

void Chain::come_up(bool again) {
  for (unsigned n = 0; n < 20 && !is_up(); ++n) {
    for (const auto& cell : cells) configure(*cell, again);
    clock(1000);
  }
  ASSERT_TRUE(is_up());
}

void Chain::silence_returns(window::Wire& wire) {
  wire.tamper = [](std::vector<window::Group>& unit, bool frame) {
    if (!frame) unit.assign(unit.size(), {});
  };
}

void Chain::pass_hold_off() {
  until([this] { return now >= powered_ + hold_off; });
}

}  // namespace relay
