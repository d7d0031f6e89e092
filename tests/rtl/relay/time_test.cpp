// SPDX-License-Identifier: Apache-2.0
// How long a slot takes over chains of links of 1 m, in clocks of the RTL
#include <fmt/core.h>

#include <array>
#include <vector>

#include "tests/rtl/relay/chain.h"

namespace relay {
namespace {

class Time : public Chain, public testing::WithParamInterface<unsigned> {};

class Gap : public Chain {};

/// A hop: from the edge at which the head of the frame leaves a cell until the edge at which it
/// leaves the next one. The whole way: from the offer until the last cell holds the slot, until
/// that cell has committed it, and until it is settled at the first cell.
TEST_P(Time, OfOneSlot) {
  build(GetParam());
  bring_up();
  std::vector<std::uint64_t> left(hops());
  std::array<std::uint64_t, 3> times{};
  const std::uint32_t offered = *first().numbers_sent;
  offer(first(), 1, 7);
  // The write of the index was the last access; the slot leaves from here on.
  std::uint64_t begun = 0;
  const auto note = [this](std::uint64_t& time, bool happens) {
    if (happens && time == 0) time = now;
  };
  until([&] {
    note(begun, *first().numbers_sent != offered);
    for (unsigned n = 0; n < hops(); ++n) {
      note(left[n], *cells[n]->right.kind_o == OAE_WIRE_KIND_HEAD);
    }
    note(times[0], *last().expected == 2);
    note(times[1], *last().done == 1);
    note(times[2], *first().settled == 1);
    return times[2] != 0;
  });
  for (const std::uint64_t time : left) ASSERT_NE(time, 0u);
  for (unsigned n = 1; n < hops(); ++n) {
    const double ns = static_cast<double>(left[n] - left[n - 1]) * clock_ns;
    RecordProperty(fmt::format("hop_{}_ns", n), fmt::format("{:.2f}", ns));
    EXPECT_LT(ns, WINDOW_CUT_THROUGH ? 50 : 100) << "hop " << n;
  }
  const auto whole = [&](std::uint64_t time) {
    return static_cast<double>(time - begun) * clock_ns;
  };
  const char* const names[] = {"held_ns", "committed_ns", "settled_ns"};
  for (unsigned i = 0; i < 3; ++i) RecordProperty(names[i], fmt::format("{:.2f}", whole(times[i])));
  fmt::print(
      "{} slices, {} hops{}: one hop {:.2f} ns, held {:.1f}, committed {:.1f}, settled {:.1f}\n",
      window::slices, hops(), WINDOW_CUT_THROUGH ? "" : ", store and forward",
      static_cast<double>(left.back() - left.front()) / (hops() - 1) * clock_ns, whole(times[0]),
      whole(times[1]), whole(times[2]));
  rest();
  EXPECT_EQ(take(last()), std::vector<std::uint64_t>{7});
}

#if WINDOW_SLICES < 8  // with 8 slices, a frame is one group
/// The next cell makes up for an idle clock in a frame, since it waits for the end of it anyway.
TEST_F(Gap, InAFrameDelaysOnlyWhatWaitsForAllOfIt) {
  build(2);
  bring_up();
  put(cells[1]->left, OAE_WINDOW_ROUTE_AT(0), OAE_WINDOW_ROUTE_ONWARD_MASK);  // A gap is no label.
  links[0]->forth.tamper = [](std::vector<window::Group>&, bool) {};  // the same wire in both cases
  const auto takes = [this] {
    const std::uint32_t sent = *first().numbers_sent;
    const std::uint32_t expected = *last().expected;
    offer(first(), 1, 7 + sent);
    until([&] { return *first().numbers_sent != sent; });
    const std::uint64_t begun = now;
    until([&] { return *last().expected != expected; });
    const std::uint64_t time = now - begun;
    rest();
    return time;
  };
  const std::uint64_t without = takes();
  for (unsigned place = 1; place < 8 / window::slices; ++place) {
    links[0]->forth.tamper = [place](std::vector<window::Group>& unit, bool frame) {
      if (frame) unit.insert(unit.begin() + place, window::Group{});
    };
    EXPECT_EQ(takes(), without + (WINDOW_CUT_THROUGH ? 0 : 1)) << "before group " << place;
  }
  EXPECT_EQ(take(last()).size(), 8u / window::slices);
}

/// A slot is damaged by the second link until the head of the next one has arrived behind it. It
/// leaves again while the rest of that one is still missing.
TEST_F(Gap, OfALaterSlotDelaysNoEarlierOne) {
  constexpr unsigned gap = 1000;
  constexpr unsigned arrival = 30;  // of its head, at the latest
  build(2);
  bring_up();
  put(cells[1]->left, OAE_WINDOW_ROUTE_AT(0), OAE_WINDOW_ROUTE_ONWARD_MASK);  // A gap is no label.
  unsigned frames = 0;
  std::uint64_t later = UINT64_MAX - arrival;
  links[0]->forth.tamper = [&](std::vector<window::Group>& unit, bool frame) {
    if (!frame || ++frames != 2) return;
    later = now;
    unit.insert(unit.begin() + 1, gap, window::Group{});
  };
  links[1]->forth.tamper = [&](std::vector<window::Group>& unit, bool frame) {
    const bool slot =
        frame && OAE_GET(unit[0].data[0], OAE_WIRE_HEAD_PROTOCOL) == OAE_WIRE_PROTOCOL_SLOT;
    if (slot && now < later + arrival) window::Wire::damage(unit, 200);
  };
  offer(first(), 1, 7);
  offer(first(), 1, 8);
  until([this] { return *last().expected == 2; });
  EXPECT_GE(now - later, arrival);
  EXPECT_LT(now - later, gap);
  rest();
  EXPECT_EQ(take(last()), (std::vector<std::uint64_t>{7, 8}));
}
#endif

INSTANTIATE_TEST_SUITE_P(Hops, Time, testing::Range(2u, 9u));

}  // namespace
}  // namespace relay
