// SPDX-License-Identifier: Apache-2.0
// What a host is told of the slots that have left its cell: that the other host has used them up,
// or that they are lost.
#include <cstdint>
#include <memory>
#include <ostream>
#include <vector>

#include "tests/rtl/bridge/cells.h"

namespace bridge {
namespace {

constexpr unsigned port = 1;

std::uint64_t name(std::uint8_t epoch, std::uint32_t sequence) {
  return OAE_PUT(OAE_HOST_PORT_DELIVERED_EPOCH, epoch) |
         OAE_PUT(OAE_HOST_PORT_DELIVERED_SEQUENCE, sequence);
}

/// What the registers say of the host's slots
struct Fate {
  std::uint64_t delivered = 0;
  unsigned lost = 0;
  bool remote = false;
  bool operator==(const Fate& other) const {
    return delivered == other.delivered && lost == other.lost && remote == other.remote;
  }
};

std::ostream& operator<<(std::ostream& out, const Fate& fate) {
  return out << "delivered " << (fate.delivered >> 32) << ", lost " << fate.lost << ", remote "
             << fate.remote;
}

class Fates : public Cells {
 protected:
  Fates() {
    bring_up();
    here = open(*a, port);
    there = open(*b, port);
  }
  Fate fate(const Host& host) {
    const std::uint64_t lost = fate_of(host, OAE_HOST_PORT_LOST_AT(port));
    const bool told =
        OAE_GET(fate_of(host, OAE_HOST_PORT_STATE_AT(port)), OAE_HOST_PORT_STATE_LOST) != 0;
    const Fate fate{fate_of(host, OAE_HOST_PORT_DELIVERED_AT(port)),
                    static_cast<unsigned>(OAE_GET(lost, OAE_HOST_PORT_LOST_SLOTS)),
                    OAE_GET(lost, OAE_HOST_PORT_LOST_REMOTE) != 0};
    EXPECT_EQ(told, fate.lost != 0 || fate.remote);
    EXPECT_EQ(lost & OAE_HOST_PORT_LOST_ACKNOWLEDGE_MASK, 0u);
    return fate;
  }
  Fate delivered(const Host& host, std::uint32_t sequence) { return {name(host.epoch, sequence)}; }
  std::uint64_t last(const Host& host) { return fate_of(host, OAE_HOST_PORT_LOST_LAST_AT(port)); }
  std::uint64_t first(const Host& host) { return fate_of(host, OAE_HOST_PORT_LOST_FIRST_AT(port)); }
  std::uint64_t remote(const Host& host) {
    return fate_of(host, OAE_HOST_PORT_LOST_REMOTE_AT(port));
  }
  void send_slot(Host& host, std::uint64_t number) {
    ASSERT_TRUE(swap(host, number, OAE_VERB_SEND)) << number;
    confirm(host);
    rest();
  }
  void join(Cell& cell, unsigned joined) {
    put(cell, Of::block, OAE_FIRMWARE_JOIN_AT(port), joined);
  }
  /// The power of `b` fails and comes back. Its firmware does what it did at first, and its host
  /// opens the port again.
  void lose_power() {
    b = std::make_unique<Cell>(now);
    until([this] { return b->top.idle_o; });
  }
  void restart() {
    join_all(*b);
    clock(hold_off);
    take_up(*a);
    take_up(*b);
    until([this] { return is_up(); });
    rest();
    there = open(*b, port);
  }
  static std::uint64_t add(unsigned word) {
    return OAE_PUT(OAE_WORDS_STEPS_INDEX_0, word) |
           OAE_PUT(OAE_WORDS_STEPS_OPERATION_0, OAE_WORD_OPERATION_ADD);
  }

  Host here;
  Host there;
};

TEST_F(Fates, ASlotIsDeliveredWhenTheOtherHostHasUsedItUp) {
  exchange(here, 1);
  rest();
  EXPECT_EQ(fate(here), Fate{}) << "it waits";
  exchange(there, 11);
  rest();
  EXPECT_EQ(fate(here), Fate{}) << "that has used up the empty slot";
  ASSERT_EQ(swap(there, 12), 1u);
  rest();
  EXPECT_EQ(fate(here), Fate{}) << "that is not confirmed";
  reverse(there);
  rest();
  EXPECT_EQ(fate(here), Fate{});
  EXPECT_EQ(exchange(there, 13), 1u);
  rest();
  EXPECT_EQ(fate(here), delivered(here, 1));
  EXPECT_EQ(fate(there), Fate{}) << "its own slots wait";
  EXPECT_EQ(fate_of(here, OAE_HOST_PORT_LOST_FIRST_AT(port) + 0x18), 0u) << "no register";
}

// Two of them are under way all the time, so the older one is named.
TEST_F(Fates, SlotsAreDeliveredInTheirOrder) {
  exchange(here, 1);
  send_slot(here, 2);
  exchange(there, 11);
  EXPECT_EQ(exchange(there, 12), 1u);
  rest();
  for (std::uint32_t number = 3; number < 10; ++number) {
    EXPECT_EQ(fate(here), delivered(here, number - 2));
    EXPECT_EQ(exchange(here, number), 8 + number);
    rest();
    EXPECT_EQ(room(here), 0u);
    EXPECT_EQ(exchange(there, 10 + number), number - 1);
    rest();
  }
}

// One account tells of both.
TEST_F(Fates, TwoSlotsAreDeliveredAtOnce) {
  send_slot(here, 1);
  send_slot(here, 2);
  send_slot(there, 11);
  send_slot(there, 12);  // so that the accounts wait for another slot
  exchange(there, 13);
  ASSERT_EQ(swap(there, 14, OAE_VERB_SWAP, OAE_FLAG_MORE), 1u);
  EXPECT_EQ(room(here), 0u);
  // The next one is confirmed before the bridge has had its turn.
  put(*b, Of::left, OAE_WINDOW_CONTROL, 0);
  confirm(there);
  rest();
  EXPECT_EQ(fate(here), Fate{});
  ASSERT_EQ(swap(there, 15), std::nullopt) << "no place for a third slot";
  take_up(*a);
  take_up(*b);
  until([this] { return is_up(); });
  rest();
  EXPECT_EQ(fate(here), delivered(here, 1));
  EXPECT_EQ(room(here), 1u);
}

TEST_F(Fates, SlotsAreLostIfTheOtherCellLosesItsPower) {
  send_slot(here, 1);
  exchange(there, 11);
  exchange(there, 12);
  rest();
  EXPECT_EQ(fate(here), delivered(here, 1));
  for (unsigned number = 2; number <= 5; ++number) send_slot(here, number);
  EXPECT_EQ(room(here), 0u);
  lose_power();
  rest();
  EXPECT_EQ(fate(here), delivered(here, 1)) << "the other cell may be back yet";
  restart();
  Fate lost = delivered(here, 1);
  lost.lost = 2;
  EXPECT_EQ(fate(here), lost);
  EXPECT_EQ(first(here), name(here.epoch, 2));
  EXPECT_EQ(last(here), name(here.epoch, 3));
  // What was still in the port waits until the host knows of that.
  EXPECT_TRUE(linked(here));
  EXPECT_EQ(waiting(there), 0u);
  EXPECT_EQ(exchange(there, 21), 0u);
  acknowledge(here);
  rest();
  EXPECT_EQ(fate(here), delivered(here, 1));
  EXPECT_EQ(waiting(there), 2u);
  EXPECT_EQ(exchange(there, 22), 4u);
  EXPECT_EQ(exchange(there, 23), 5u);
  rest();
  EXPECT_EQ(fate(here), delivered(here, 5));
  EXPECT_EQ(exchange(here, 6), 0u) << "the empty slot of the new session";
  rest();
  EXPECT_EQ(exchange(here, 7), 21u);
}

TEST_F(Fates, OneSlotThatIsLostIsNamed) {
  send_slot(here, 1);
  send_slot(here, 2);
  exchange(there, 11);
  exchange(there, 12);
  rest();
  lose_power();
  restart();
  Fate lost = delivered(here, 1);
  lost.lost = 1;
  EXPECT_EQ(fate(here), lost);
  EXPECT_EQ(last(here), name(here.epoch, 2));
}

// The slot is on the wire or confirmed when the power fails, so the link calls it lost.
TEST_F(Fates, WhateverWasOnItsWayIsLost) {
  for (unsigned delay = 0; delay < 90; delay += 3) {
    ASSERT_TRUE(swap(here, delay, OAE_VERB_SEND));
    confirm(here);
    clock(delay);
    lose_power();
    restart();
    EXPECT_EQ(fate(here).lost, 1u) << "after " << delay;
    EXPECT_EQ(last(here), name(here.epoch, here.sequence));
    acknowledge(here);
    rest();
    EXPECT_EQ(waiting(there), 0u) << "it is not passed on again";
    EXPECT_EQ(fate(here), Fate{});
    EXPECT_TRUE(linked(here));
    EXPECT_TRUE(linked(there));
  }
}

// Only the link knows: the other cell forgets what it has not yet committed, and its ports stay.
TEST_F(Fates, APortBeginsAnewIfItsLinkHasLostSlots) {
  // As a cell in the middle does that has lost what it had to pass on
  Host other = open(*a, 0);
  const unsigned before = session(here);
  const unsigned elsewhere = session(other);
  ASSERT_TRUE(swap(here, 1, OAE_VERB_SEND));
  bool cut = false;
  cables[0].forth.tamper = [&](std::vector<Group>& unit, bool) {
    if (cut) {
      for (Group& group : unit) group = {};
    }
  };
  cables[0].back.tamper = cables[0].forth.tamper;
  confirm(here);
  until([this] { return a->top.left_sent_o != a->top.left_settled_o; });
  until([this] { return b->top.left_done_o == a->top.left_sent_o; });
  cut = true;  // committed there, and not settled here
  put(*a, Of::left, OAE_WINDOW_CONTROL, 0);
  cables[0].forth.tamper = cables[0].back.tamper = nullptr;
  until([this] { return b->top.left_phase_o == OAE_WINDOW_PHASE_DOWN; });
  rest();
  EXPECT_NE(get(*a, Of::left, OAE_WINDOW_STATE) & OAE_WINDOW_STATE_IN_DOUBT_MASK, 0u);
  put(*a, Of::left, OAE_WINDOW_VERDICT, 0);  // whoever was asked does not know
  put(*a, Of::left, OAE_WINDOW_COMMAND, OAE_WINDOW_COMMAND_SETTLE);
  rest();
  EXPECT_EQ(get(*a, Of::left, OAE_WINDOW_COUNT_LOST), 1u);
  EXPECT_EQ(fate(here).lost, 1u);
  EXPECT_EQ(last(here), name(here.epoch, 1));
  EXPECT_EQ(session(here), before + 1);
  EXPECT_EQ(session(other), elsewhere + 1) << "an account of this port may have been lost";
  EXPECT_FALSE(linked(here));
  EXPECT_EQ(waiting(there), 1u);
  acknowledge(here);
  send_slot(here, 2);
  EXPECT_EQ(room(here), 2u) << "it passes nothing on before the other port has heard";
  take_up(*a);
  take_up(*b);
  until([this] { return is_up(); });
  rest();
  EXPECT_TRUE(linked(here));
  EXPECT_TRUE(linked(there));
  exchange(there, 11);
  EXPECT_EQ(exchange(there, 12), 2u) << "the lost slot is not given";
}

TEST_F(Fates, ASlotThatWaitsThereIsLostIfTheOtherPortLeaves) {
  send_slot(here, 1);
  send_slot(there, 11);
  join(*b, 0);
  rest();
  EXPECT_EQ(fate(here).lost, 1u);
  EXPECT_EQ(fate(there).lost, 1u);
  EXPECT_EQ(last(here), name(here.epoch, 1));
  EXPECT_EQ(last(there), name(there.epoch, 1));
  EXPECT_FALSE(linked(here));
  acknowledge(here);
  send_slot(here, 2);
  EXPECT_EQ(get(*a, Of::left, OAE_WINDOW_COUNT_PASSED), 1u);
  join(*b, 1);
  rest();
  EXPECT_TRUE(linked(here));
  EXPECT_EQ(waiting(there), 1u);
  acknowledge(there);
  EXPECT_EQ(exchange(there, 12), 0u);
  EXPECT_EQ(exchange(there, 13), 2u);
  rest();
  EXPECT_EQ(fate(here), delivered(here, 2));
}

TEST_F(Fates, ASlotThatWaitsThereIsLostIfThePortLeaves) {
  send_slot(here, 1);
  join(*a, 0);
  join(*a, 1);
  EXPECT_EQ(fate(here).lost, 1u);
  rest();
  EXPECT_EQ(waiting(there), 0u);
  acknowledge(here);
  send_slot(here, 2);
  exchange(there, 11);
  EXPECT_EQ(exchange(there, 12), 2u);
}

TEST_F(Fates, NothingIsLostIfNothingWasPassedOn) {
  join(*a, 0);
  join(*a, 1);
  rest();
  EXPECT_EQ(fate(here), Fate{});
  EXPECT_EQ(fate(there), Fate{});
  put(*a, Of::left, OAE_WINDOW_CONTROL, 0);
  lose_power();
  restart();
  EXPECT_EQ(fate(here), Fate{});
}

TEST_F(Fates, ARequestIsLostWithTheOtherCellsPower) {
  ASSERT_TRUE(ask(here, add(5), 7));
  lose_power();
  restart();
  Fate lost;
  lost.remote = true;
  EXPECT_EQ(fate(here), lost);
  EXPECT_EQ(remote(here), name(here.epoch, 1));
  EXPECT_FALSE(collect(here)) << "there is no result";
  ASSERT_TRUE(ask(here, add(5), 8)) << "another request may be made";
  rest();
  EXPECT_EQ(word_of(*b, 5), 0u) << "but waits";
  acknowledge(here);
  rest();
  EXPECT_EQ(fate(here), Fate{});
  EXPECT_EQ(collect(here), (Payload{OAE_FIRMWARE_WORD_OUTCOME_DONE_MASK, 0}));
  EXPECT_EQ(word_of(*b, 5), 8u);
}

// The result is on its way when the port joins again.
TEST_F(Fates, AResultOfAnEarlierSessionIsNotThatOfTheNextRequest) {
  std::uint64_t before = 0;
  unsigned lost = 0;
  for (unsigned delay = 0; delay < 160; delay += 5) {
    ASSERT_TRUE(ask(here, add(5), 1));
    clock(delay);
    join(*a, 0);
    join(*a, 1);
    rest();
    const std::uint64_t after = word_of(*b, 5);
    if (fate(here).remote) {
      ++lost;
      EXPECT_EQ(remote(here), name(here.epoch, here.sequence));
      acknowledge(here);
      ASSERT_LE(after, before + 1);
    } else {
      EXPECT_EQ(collect(here), (Payload{OAE_FIRMWARE_WORD_OUTCOME_DONE_MASK, before}));
    }
    ASSERT_TRUE(ask(here, add(5), 1)) << delay;
    rest();
    const std::uint64_t now_there = word_of(*b, 5);
    EXPECT_EQ(collect(here), (Payload{OAE_FIRMWARE_WORD_OUTCOME_DONE_MASK, now_there - 1}))
        << delay;
    before = now_there;
  }
  EXPECT_GT(lost, 5u);
}

TEST_F(Fates, AHostIsInterruptedWhenSlotsAreLost) {
  const auto enable = [this](std::uint64_t value) {
    a->post_write(0, OAE_HOST_PORT_EVENT_AT(port), &value, 8);
    rest();
  };
  const std::uint64_t mask = OAE_HOST_PORT_EVENT_LOST_ENABLE_MASK | 3;
  enable(mask);
  join(*a, 0);
  join(*a, 1);
  rest();
  EXPECT_EQ(a->interrupts, 0u) << "nothing is lost";
  send_slot(here, 1);
  join(*b, 0);
  rest();
  EXPECT_EQ(a->interrupts, 1u);
  enable(mask);
  EXPECT_EQ(a->interrupts, 2u) << "it has not acknowledged";
  acknowledge(here);
  enable(mask);
  EXPECT_EQ(a->interrupts, 2u);
  enable(3);
  join(*b, 1);
  rest();
  send_slot(here, 2);
  join(*a, 0);
  rest();
  EXPECT_EQ(a->interrupts, 2u) << "it does not want to know";
  const std::uint64_t address = OAE_HOST_PORT_EVENT_LOST_ENABLE_MASK;
  a->post_write(0, OAE_HOST_PORT_ANSWER_ADDRESS_AT(port), &address, 8);
  enable(3);
  EXPECT_EQ(a->interrupts, 2u);
  enable(mask);
  EXPECT_EQ(a->interrupts, 3u);
  join(*a, 1);
  rest();
  acknowledge(here);
  put(*a, Of::left, OAE_WINDOW_CONTROL, 0);  // so that it stays away
  ASSERT_TRUE(ask(here, add(5), 1));
  rest();
  join(*a, 0);
  rest();
  EXPECT_EQ(a->interrupts, 4u) << "for a request, too";
  enable(mask);
  EXPECT_EQ(a->interrupts, 5u);
  EXPECT_EQ(fate_of(here, OAE_HOST_PORT_EVENT_AT(port)), mask);
  a->post_reset();
  rest();
  EXPECT_EQ(fate_of(here, OAE_HOST_PORT_EVENT_AT(port)), 0u);
  EXPECT_TRUE(fate(here).remote) << "the journal does not change";
}

TEST_F(Fates, ANewEpochAcknowledges) {
  put(*a, Of::left, OAE_WINDOW_CONTROL, 0);  // so that the request stays away
  send_slot(here, 1);
  ASSERT_TRUE(ask(here, add(5), 1));
  rest();
  join(*a, 0);
  rest();
  EXPECT_EQ(fate(here).lost, 1u);
  EXPECT_TRUE(fate(here).remote);
  close(here);
  EXPECT_EQ(fate(here).lost, 1u);
  here = open(*a, port);
  EXPECT_EQ(fate(here), Fate{});
}

// The host that has sent it is gone, and the name says so.
TEST_F(Fates, ALossOfAnEarlierEpochIsNamedAsSuch) {
  const std::uint8_t epoch = here.epoch;
  put(*a, Of::left, OAE_WINDOW_CONTROL, 0);  // so that the request stays away
  send_slot(here, 1);
  ASSERT_TRUE(ask(here, add(5), 1));
  rest();
  close(here);
  here = open(*a, port);
  join(*a, 0);
  rest();
  EXPECT_EQ(fate(here).lost, 1u);
  EXPECT_EQ(last(here), name(epoch, 1));
  EXPECT_TRUE(fate(here).remote);
  EXPECT_EQ(remote(here), name(epoch, 2));
}

TEST_F(Fates, OnlyTheBitAcknowledges) {
  send_slot(here, 1);
  join(*a, 0);
  rest();
  const std::uint64_t others = ~OAE_HOST_PORT_LOST_ACKNOWLEDGE_MASK;
  const std::uint64_t mask = OAE_HOST_PORT_LOST_ACKNOWLEDGE_MASK;
  a->post_write(0, OAE_HOST_PORT_LOST_AT(port), &others, 8);
  a->post_write(0, OAE_HOST_PORT_DELIVERED_AT(port), &mask, 8);
  a->post_write(0, OAE_HOST_PORT_LOST_LAST_AT(port), &mask, 8);
  a->post_write(0, OAE_HOST_PORT_LOST_AT(port), &mask, 1);
  rest();
  EXPECT_EQ(fate(here).lost, 1u);
  acknowledge(here);
  EXPECT_EQ(fate(here).lost, 0u);
}

TEST_F(Fates, AProcessSeesItInThePageOfItsPort) {
  send_slot(here, 1);
  exchange(there, 11);
  exchange(there, 12);
  rest();
  std::uint64_t seen = 0;
  a->post_read(2, port * OAE_PORT_SIZE + OAE_PORT_WORDS,
               [&](const Slot& line) { seen = line[(OAE_PORT_DELIVERED % 64) / 8]; });
  until([this] { return a->idle(); });
  // A whole line was read, so this is an interaction as well, which has no offer.
  EXPECT_EQ(seen, name(here.epoch, 1));
}

}  // namespace
}  // namespace bridge
