// SPDX-License-Identifier: Apache-2.0
// Cells that are ends of two links, each of which carries half of the ports. Two such cells are a
// ring: the left end of each is connected with the right end of the other.
#include <cstdlib>

#include "tests/rtl/bridge/cells.h"
#include "tests/rtl/link/own_registers.h"

namespace bridge {
namespace {

constexpr unsigned by_the_first = 0;  // a port of the cable between a's left and b's right end,
constexpr unsigned by_the_second = ports / 2;  // and one of the other cable

class TwoLinks : public Cells {
 protected:
  TwoLinks() { bring_up(); }

  std::uint64_t passed(Cell& cell, Of end) { return get(cell, end, OAE_WINDOW_COUNT_PASSED); }
  std::uint64_t brought(Cell& cell, Of end) { return get(cell, end, OAE_WINDOW_COUNT_BROUGHT); }
};

TEST_F(TwoLinks, EachSlotTakesTheLinkOfItsPort) {
  Host here[ports];
  Host there[ports];
  for (unsigned port = 0; port < ports; ++port) {
    here[port] = open(*a, port);
    there[port] = open(*b, port);
  }
  // Other numbers of slots by each of the ends
  for (unsigned round = 0; round < 3; ++round) {
    for (unsigned port = 0; port < ports; ++port) {
      if (port == by_the_second + 1 && round > 0) continue;
      EXPECT_EQ(exchange(here[port], 100 * round + port + 10),
                round == 0 ? 0 : 100 * (round - 1) + port + 20);
      rest();
      EXPECT_EQ(exchange(there[port], 100 * round + port + 20),
                round == 0 ? 0 : 100 * (round - 1) + port + 10);
      rest();
    }
  }
  for (Cell* cell : {a.get(), b.get()}) {
    const Of first = end_of(*cell, 0);
    const Of second = end_of(*cell, 1);
    EXPECT_EQ(passed(*cell, first), 6u);
    EXPECT_EQ(brought(*cell, first), 6u);
    EXPECT_EQ(passed(*cell, second), 4u);
    EXPECT_EQ(brought(*cell, second), 4u);
    EXPECT_EQ(get(*cell, first, OAE_WINDOW_COUNT_STRAY), 0u);
    EXPECT_EQ(get(*cell, second, OAE_WINDOW_COUNT_STRAY), 0u);
  }
}

TEST_F(TwoLinks, EachLinkHasItsOwnRegisters) {
  const auto write = [this](Of of, unsigned address, std::uint64_t data) {
    put(*a, of, address, data);
  };
  const auto read = [this](Of of, unsigned address) { return get(*a, of, address); };
  window::expect_own_registers(Of::left, Of::right, write, read, false);
}

// Nothing moves, and the clocks may stop until then.
TEST_F(TwoLinks, LimitsHoldWhileTheTimeGoesAround) {
  constexpr std::uint64_t around = std::uint64_t{1} << 32;
  tend(*a);
  tend(*b);
  rest();
  now = around - 200;
  for (Cable& cable : cables) cable.forth.cut();
  until([this] {
    return *b->left.phase == OAE_WINDOW_PHASE_DOWN && *b->right.phase == OAE_WINDOW_PHASE_DOWN;
  });
  EXPECT_GE(now, around + 100);
  EXPECT_LT(now, around + 200);
  for (Cable& cable : cables) cable.forth.join();
  tend_until_up();
  for (const unsigned port : {by_the_first, by_the_second}) {
    Host here = open(*a, port);
    Host there = open(*b, port);
    exchange(here, 1);
    rest();
    exchange(there, 2);
    EXPECT_EQ(exchange(there, 3), 1u);
  }
}

TEST_F(TwoLinks, OneThatIsDownLeavesThePortsOfTheOtherServed) {
  for (const unsigned down : {0u, 1u}) {
    Host waits = open(*a, down == 0 ? by_the_first : by_the_second);
    Host waits_there = open(*b, waits.port);
    Host here = open(*a, down == 0 ? by_the_second + 1 : by_the_first + 1);
    Host there = open(*b, here.port);
    put(*a, end_of(*a, down), OAE_WINDOW_CONTROL, 0);
    const Side& other = down == 0 ? b->right : b->left;
    until([&other] { return *other.phase == OAE_WINDOW_PHASE_DOWN; });
    exchange(waits, 7);
    for (unsigned number = 1; number <= 20; ++number) {
      EXPECT_EQ(exchange(here, number), number == 1 ? 0 : 100 + number - 1);
      rest();
      EXPECT_EQ(exchange(there, 100 + number), number == 1 ? 0 : number - 1);
      rest();
    }
    EXPECT_EQ(waiting(waits_there), 0u);
    take_up(*a, end_of(*a, down));
    take_up(*b, end_of(*b, down));
    until([this] { return is_up(); });
    rest();
    EXPECT_EQ(exchange(waits_there, 8), 0u);
    EXPECT_EQ(exchange(waits_there, 9), 7u);
  }
}

TEST_F(TwoLinks, StepsInTheOtherCellTakeTheLinkOfTheirPort) {
  for (const unsigned port : {by_the_first, by_the_second}) {
    Host here = open(*a, port);
    put(*b, Of::block, OAE_FIRMWARE_WORDS_AT(port),
        OAE_PUT(OAE_FIRMWARE_WORDS_FIRST, 8 * port) | OAE_PUT(OAE_FIRMWARE_WORDS_COUNT, 4));
    const std::uint64_t steps = OAE_PUT(OAE_WORDS_STEPS_INDEX_0, 8 * port + 1) |
                                OAE_PUT(OAE_WORDS_STEPS_OPERATION_0, OAE_WORD_OPERATION_ADD);
    for (unsigned n = 0; n < 3; ++n) {
      ASSERT_TRUE(ask(here, steps, port + 5));
      rest();
      EXPECT_EQ(collect(here), (Payload{OAE_FIRMWARE_WORD_OUTCOME_DONE_MASK, n * (port + 5)}));
    }
    EXPECT_EQ(word_of(*b, 8 * port + 1), 3 * (port + 5));
    EXPECT_EQ(word_of(*a, 8 * port + 1), 0u);
  }
}

// Its links are not bridged, and its firmware sends what it likes.
class StrangerByTwoLinks : public Cells {
 protected:
  StrangerByTwoLinks() {
    for (unsigned port = 0; port < ports; ++port) {
      put(*a, Of::block, OAE_FIRMWARE_JOIN_AT(port), 1);
    }
    take_up_with_stranger();
  }
  void serve(std::uint64_t by_the_left, std::uint64_t by_the_right) {
    put(*a, Of::left, OAE_WINDOW_PORTS, by_the_left);
    put(*a, Of::right, OAE_WINDOW_PORTS, by_the_right);
  }
  /// Writes the slot that is to be offered first to the ring of an end of `b`.
  void prepare(Of end, unsigned port, std::uint64_t number) {
    write(*b, get(*b, end, OAE_WINDOW_OFFERED) + 1, head_for(port), number, end);
  }
};

// Both ends send at the same clock, so both bridges bring their slots at the same one.
TEST_F(StrangerByTwoLinks, SlotsThatArriveTogetherAreBroughtOneAfterTheOther) {
  serve(ports_of(0), ports_of(1));
  Host first = open(*a, by_the_first);
  Host second = open(*a, by_the_second);
  greet(by_the_first, Of::right);
  greet(by_the_second, Of::left);
  prepare(Of::right, by_the_first, 7);
  prepare(Of::left, by_the_second, 9);
  rest();
  b->post_put(Of::right, OAE_WINDOW_OFFERED, 2);
  b->post_put(Of::left, OAE_WINDOW_OFFERED, 2);
  std::uint64_t left = 0;
  std::uint64_t right = 0;
  until([&] {
    if (a->top.left_brings_o) left = now;
    if (a->top.right_brings_o) right = now;
    return left != 0 && right != 0;
  });
  constexpr std::int64_t an_operation = 10;  // of the block, in clocks, at most
  const auto apart = std::abs(static_cast<std::int64_t>(left) - static_cast<std::int64_t>(right));
  EXPECT_GT(apart, 0);
  EXPECT_LE(apart, an_operation);
  for (Host* host : {&first, &second}) {
    EXPECT_EQ(waiting(*host), 1u);
    EXPECT_EQ(exchange(*host, 1), 0u);
    EXPECT_EQ(exchange(*host, 2), host == &first ? 7u : 9u);
  }
}

TEST_F(StrangerByTwoLinks, APortThatTheFirmwareNamesForBothIsTheLeftOnes) {
  serve(3, 6);
  Host host = open(*a, 1);
  greet(1, Of::left);
  EXPECT_FALSE(linked(host)) << "it came by the right link";
  greet(1, Of::right);
  greet(2, Of::left);
  exchange(host, 5);
  rest();
  EXPECT_EQ(get(*a, Of::left, OAE_WINDOW_COUNT_PASSED), 1u);
  EXPECT_EQ(get(*a, Of::right, OAE_WINDOW_COUNT_PASSED), 0u);
  send(*b, head_for(1), 7, Of::left);
  EXPECT_EQ(get(*a, Of::right, OAE_WINDOW_COUNT_STRAY), 1u);
  EXPECT_EQ(waiting(host), 0u);
  send(*b, head_for(1), 9, Of::right);
  EXPECT_EQ(waiting(host), 1u);
  send(*b, head_for(2), 11, Of::left);
  EXPECT_EQ(get(*a, Of::right, OAE_WINDOW_COUNT_STRAY), 1u);
  EXPECT_EQ(get(*a, Of::right, OAE_WINDOW_COUNT_BROUGHT), 1u);
  EXPECT_EQ(exchange(host, 6), 9u);
}

}  // namespace
}  // namespace bridge
