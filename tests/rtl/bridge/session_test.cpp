// SPDX-License-Identifier: Apache-2.0
// How a joined port learns the session of the other one, and when the session ends.
#include <utility>

#include "tests/rtl/bridge/cells.h"

namespace bridge {
namespace {

constexpr unsigned port = 1;

/// No link was up yet, so the cell has no number for its life.
TEST_F(Cells, NothingLeavesACellThatHasNoNumber) {
  put(*a, Of::block, OAE_FIRMWARE_JOIN_AT(port), 1);
  put(*a, Of::left, OAE_WINDOW_PORTS, ~std::uint64_t{0});
  take_up(*a);
  rest();
  EXPECT_EQ(get(*a, Of::left, OAE_WINDOW_OFFERED), 0u);
  take_up(*b, false);
  until([this] { return is_up(); });
  rest();
  EXPECT_EQ(get(*a, Of::left, OAE_WINDOW_OFFERED), 1u) << "its greeting";
}

// The other cell's firmware sends what it likes.
class StrangeGreeting : public Cells {
 protected:
  StrangeGreeting() {
    for (unsigned n = 0; n < ports; ++n) put(*a, Of::block, OAE_FIRMWARE_JOIN_AT(n), 1);
    put(*a, Of::left, OAE_WINDOW_PORTS, ~std::uint64_t{0});
    take_up_with_stranger();
    here = open(*a, port);
  }
  void say(std::uint64_t flags, unsigned to, unsigned from) {
    send(*b,
         OAE_PUT(OAE_PASSAGE_HEAD_PORT, port) | OAE_PASSAGE_HEAD_ACCOUNT_MASK |
             OAE_PASSAGE_HEAD_GREETING_MASK | flags | OAE_PUT(OAE_PASSAGE_HEAD_SESSION, to) |
             OAE_PUT(OAE_PASSAGE_HEAD_LIFE, life_of_a),
         from);
  }
  unsigned peer() { return OAE_GET(join_of(here), OAE_FIRMWARE_JOIN_PEER); }
  /// Slice 0 of the last slot that has come to the stranger, and the session in its slice 1
  std::pair<std::uint64_t, std::uint64_t> heard() {
    const std::uint64_t last = get(*b, Of::left, OAE_WINDOW_RECEIVED) - 1;
    constexpr std::uint64_t link = 0xffffff;  // the bits that belong to the link
    return {get(*b, Of::left, OAE_WINDOW_RECEIVE_AT(last % 16)) & ~link,
            get(*b, Of::left, OAE_WINDOW_RECEIVE_AT(last % 16) + 8)};
  }
  unsigned received() { return static_cast<unsigned>(get(*b, Of::left, OAE_WINDOW_RECEIVED)); }
  unsigned lost() {
    return static_cast<unsigned>(
        OAE_GET(fate_of(here, OAE_HOST_PORT_LOST_AT(port)), OAE_HOST_PORT_LOST_SLOTS));
  }
  static constexpr std::uint64_t begins = OAE_PASSAGE_HEAD_BEGINS_MASK;
  static constexpr std::uint64_t leaves = OAE_PASSAGE_HEAD_LEAVES_MASK;
  Host here;
};

TEST_F(StrangeGreeting, APortThatKnowsNoOtherSaysSo) {
  exchange(here, 1);
  rest();
  EXPECT_FALSE(linked(here));
  EXPECT_EQ(get(*a, Of::left, OAE_WINDOW_COUNT_PASSED), 0u);
  EXPECT_EQ(room(here), 2u);
  const unsigned before = received();
  put(*a, Of::block, OAE_FIRMWARE_JOIN_AT(port), 0);
  rest();
  EXPECT_EQ(received(), before + 1);
  EXPECT_EQ(heard().first & ~OAE_PASSAGE_HEAD_SESSION_MASK,
            OAE_PUT(OAE_PASSAGE_HEAD_PORT, port) | OAE_PASSAGE_HEAD_ACCOUNT_MASK |
                OAE_PASSAGE_HEAD_GREETING_MASK | begins | leaves);
  put(*a, Of::block, OAE_FIRMWARE_JOIN_AT(port), 1);
  rest();
  EXPECT_EQ(received(), before + 2);
  EXPECT_EQ(heard().first & (begins | leaves), begins);
  EXPECT_EQ(heard().second & OAE_PASSAGE_PAYLOAD_SESSION_MASK, session(here));
  EXPECT_EQ(OAE_GET(heard().second, OAE_PASSAGE_PAYLOAD_LIFE), life_of_a);
}

TEST_F(StrangeGreeting, IsAnsweredIfItBegins) {
  const unsigned own = session(here);
  const unsigned before = received();
  say(begins, 0, 9);
  EXPECT_TRUE(linked(here));
  EXPECT_EQ(peer(), 9u);
  EXPECT_EQ(session(here), own) << "nobody knows it yet";
  EXPECT_EQ(received(), before + 1);
  EXPECT_EQ(heard().first, OAE_PUT(OAE_PASSAGE_HEAD_PORT, port) | OAE_PASSAGE_HEAD_ACCOUNT_MASK |
                               OAE_PASSAGE_HEAD_GREETING_MASK |
                               OAE_PUT(OAE_PASSAGE_HEAD_SESSION, 9));
  EXPECT_EQ(heard().second & OAE_PASSAGE_PAYLOAD_SESSION_MASK, own);
  exchange(here, 1);
  rest();
  EXPECT_EQ(heard().first,
            OAE_PUT(OAE_PASSAGE_HEAD_PORT, port) | OAE_PUT(OAE_PASSAGE_HEAD_SESSION, 9));
  // It begins anew.
  say(begins, 0, 10);
  EXPECT_TRUE(linked(here));
  EXPECT_EQ(peer(), 10u);
  EXPECT_EQ(session(here), own);
  EXPECT_EQ(lost(), 1u);
  EXPECT_EQ(received(), before + 3);
}

TEST_F(StrangeGreeting, IsNotAnsweredIfItAnswers) {
  const unsigned before = received();
  say(0, session(here), 9);
  EXPECT_TRUE(linked(here));
  EXPECT_EQ(peer(), 9u);
  EXPECT_EQ(received(), before);
  exchange(here, 1);
  rest();
  say(0, session(here), 9);
  EXPECT_TRUE(linked(here));
  EXPECT_EQ(lost(), 0u) << "it has said the same before";
  EXPECT_EQ(room(here), 1u);
  // Another session of the other port, which knows the one of this port
  const unsigned own = session(here);
  say(0, own, 10);
  EXPECT_TRUE(linked(here));
  EXPECT_EQ(peer(), 10u);
  EXPECT_EQ(lost(), 1u);
  EXPECT_EQ(session(here), own);
  EXPECT_EQ(room(here), 2u);
}

TEST_F(StrangeGreeting, IsNoSlot) {
  say(0, session(here) + 1, 9);
  EXPECT_TRUE(linked(here));
  EXPECT_EQ(strays(), 0u);
}

TEST_F(StrangeGreeting, AnAccountOfNothingChangesNothing) {
  greet(port);
  const auto used = [this](unsigned uses) {
    send(*b, head_for(port) | OAE_PASSAGE_HEAD_ACCOUNT_MASK | OAE_PUT(OAE_PASSAGE_HEAD_USES, uses),
         0);
    return fate_of(here, OAE_HOST_PORT_DELIVERED_AT(port)) >> 32;
  };
  for (unsigned number = 1; number <= 2; ++number) {
    ASSERT_TRUE(swap(here, number, OAE_VERB_SEND));
    confirm(here);
    rest();
    EXPECT_EQ(used(1), number);
  }
  EXPECT_EQ(used(1), 2u);
  EXPECT_EQ(room(here), 2u);
  for (unsigned number = 3; number <= 4; ++number) {
    ASSERT_TRUE(swap(here, number, OAE_VERB_SEND));
    confirm(here);
    rest();
  }
  EXPECT_EQ(used(2), 4u) << "two at once";
}

// The clock does not stop before all of them have had their turn.
TEST_F(StrangeGreeting, AllPortsBeginAnewThatTheLinkLoses) {
  Host last = open(*a, ports - 1);
  greet(ports - 1);
  exchange(last, 1);
  rest();
  unsigned before[ports];
  for (unsigned n = 0; n < ports; ++n) before[n] = session(Host{a.get(), n});
  put(*a, Of::block, OAE_FIRMWARE_JOIN_AT(2), 0);
  rest();
  const unsigned greetings = received();
  a->post_put(Of::left, OAE_WINDOW_PORTS, 0);
  rest();
  EXPECT_EQ(fate_of(last, OAE_HOST_PORT_LOST_AT(ports - 1)), 1u);
  for (unsigned n = ports; n-- > 0;) {
    EXPECT_EQ(session(Host{a.get(), n}), before[n] + 1) << "port " << n;
  }
  put(*a, Of::left, OAE_WINDOW_PORTS, 4);
  rest();
  EXPECT_EQ(received(), greetings) << "a port that is not joined has nothing to say";
  EXPECT_EQ(session(Host{a.get(), 2}), before[2] + 1);
}

// The two ports have begun anew at the same time, so that each has answered an earlier session of
// the other one.
TEST_F(StrangeGreeting, TellsThePortANewSessionAtAnyTime) {
  say(begins, 0, 9);
  exchange(here, 1);
  rest();
  const unsigned own = session(here);
  const unsigned before = received();
  say(0, own - 1, 9);
  EXPECT_EQ(lost(), 0u) << "it is the same";
  say(0, own - 1, 10);
  EXPECT_EQ(peer(), 10u);
  EXPECT_EQ(session(here), own);
  EXPECT_EQ(lost(), 1u);
  EXPECT_EQ(received(), before) << "the other port has to know the session of this one by now";
}

TEST_F(StrangeGreeting, ThatLeavesEndsTheSession) {
  const unsigned own = session(here);
  unsigned before = received();
  say(leaves, 0, 9);
  EXPECT_EQ(received(), before) << "there is none";
  EXPECT_EQ(session(here), own);
  say(leaves | begins, own, 9);
  EXPECT_FALSE(linked(here));
  EXPECT_EQ(received(), before);
  say(begins, 0, 9);
  exchange(here, 1);
  rest();
  before = received();
  say(leaves | begins, own, 10);
  EXPECT_FALSE(linked(here));
  EXPECT_EQ(lost(), 1u);
  EXPECT_EQ(session(here), own + 1);
  EXPECT_EQ(received(), before + 1) << "it may come back, and has to know the new session";
}

TEST_F(StrangeGreeting, ToAPortThatIsNotJoinedIsIgnored) {
  put(*a, Of::block, OAE_FIRMWARE_JOIN_AT(port), 0);
  rest();
  const unsigned before = received();
  say(begins, session(here), 9);
  EXPECT_FALSE(linked(here));
  EXPECT_EQ(received(), before);
  EXPECT_EQ(strays(), 0u);
}

TEST_F(StrangeGreeting, WithASlotIsASlot) {
  greet(port);
  const unsigned own = session(here);
  send(*b, head_for(port) | OAE_PASSAGE_HEAD_GREETING_MASK | begins,
       OAE_PUT(OAE_PASSAGE_PAYLOAD_LIFE, 5) | 7);
  EXPECT_EQ(session(here), own) << "it tells no other life either";
  EXPECT_EQ(waiting(here), 1u);
}

// The bridge has chosen the port for its result, and the block is with the host when the greeting
// comes.
TEST_F(StrangeGreeting, EndsWhatTheBridgeIsAboutToTake) {
  say(begins, 0, 1);
  open(*a, 2);
  for (unsigned n = 2; n < 40; ++n) {
    const auto next = static_cast<std::uint32_t>(get(*b, Of::left, OAE_WINDOW_OFFERED));
    const auto write = [&](std::uint32_t number, std::uint64_t head, std::uint64_t first) {
      put(*b, Of::left, OAE_WINDOW_SEND_AT(number % 16), head);
      put(*b, Of::left, OAE_WINDOW_SEND_AT(number % 16) + 8, first);
    };
    write(next + 1, head_for(port) | OAE_PASSAGE_HEAD_STEPS_MASK, 0);
    write(next + 2, head_for(port) | OAE_PASSAGE_HEAD_ACCOUNT_MASK | OAE_PASSAGE_HEAD_GREETING_MASK,
          n);
    const unsigned before = received();
    b->post_put(Of::left, OAE_WINDOW_OFFERED, next + 2);
    clock(n % 16);
    for (unsigned i = 0; i < 30; ++i) {
      a->post_read(2, 2 * OAE_PORT_SIZE + OAE_PORT_WINDOW, [](const Slot&) {});
    }
    rest();
    EXPECT_EQ(peer(), n);
    EXPECT_LE(received(), before + 1) << "its result, if it was in time";
  }
}

TEST_F(StrangeGreeting, NothingCountsBeforeIt) {
  const std::uint64_t uses = OAE_PUT(OAE_PASSAGE_HEAD_USES, 1);
  send(*b, head_for(port) | uses, 7);
  EXPECT_EQ(waiting(here), 0u);
  EXPECT_EQ(strays(), 1u);
  greet(port);
  exchange(here, 1);
  rest();
  const std::uint64_t late = OAE_PUT(OAE_PASSAGE_HEAD_SESSION, session(here) - 1) |
                             OAE_PUT(OAE_PASSAGE_HEAD_LIFE, life_of_a) |
                             OAE_PUT(OAE_PASSAGE_HEAD_PORT, port) | uses;
  for (const std::uint64_t kind :
       {std::uint64_t{0}, std::uint64_t{OAE_PASSAGE_HEAD_ACCOUNT_MASK},
        std::uint64_t{OAE_PASSAGE_HEAD_STEPS_MASK}, std::uint64_t{OAE_PASSAGE_HEAD_RESULT_MASK}}) {
    send(*b, late | kind, 7);
  }
  EXPECT_EQ(strays(), 5u);
  EXPECT_EQ(waiting(here), 0u);
  EXPECT_EQ(room(here), 1u);
  EXPECT_EQ(fate_of(here, OAE_HOST_PORT_DELIVERED_AT(port)), 0u);
  EXPECT_EQ(status_of(here) & OAE_FIRMWARE_STATUS_COMMITTED_MASK, 0u);
}

// A life of the other cell that was not heard of yet ends the sessions of all ports of the link.
TEST_F(StrangeGreeting, OfAnotherLifeEndsAllSessions) {
  greet(port);
  greet(2);
  const Host other = open(*a, 2);
  const Host third = open(*a, 3);
  exchange(here, 1);
  rest();
  const unsigned own = session(here);
  const unsigned second = session(other);
  const unsigned unheard = session(third);
  const std::uint64_t life = OAE_PUT(OAE_PASSAGE_PAYLOAD_LIFE, 5);
  say(begins, 0, static_cast<unsigned>(life) | 77);
  EXPECT_EQ(lost(), 1u);
  EXPECT_EQ(session(here), own + 1);
  EXPECT_EQ(session(other), second + 1);
  EXPECT_EQ(session(third), unheard + 1);
  EXPECT_TRUE(linked(here)) << "it has greeted with that life";
  EXPECT_FALSE(linked(other));
  acknowledge(here);
  exchange(here, 2);
  rest();
  EXPECT_EQ(OAE_GET(heard().first, OAE_PASSAGE_HEAD_LIFE), 5u) << "what it is for";
  say(begins, 0, static_cast<unsigned>(life) | 77);
  EXPECT_EQ(session(here), own + 1) << "it is the same life";
  EXPECT_EQ(lost(), 0u);
}

TEST_F(StrangeGreeting, WhatIsForAnEarlierLifeOfThisCellIsDropped) {
  greet(port);
  exchange(here, 1);
  rest();
  const std::uint64_t another = OAE_PUT(OAE_PASSAGE_HEAD_LIFE, 1);
  const std::uint64_t uses = OAE_PUT(OAE_PASSAGE_HEAD_USES, 1);
  send(*b, head_for(port) ^ another, 7);
  send(*b, (head_for(port) ^ another) | uses | OAE_PASSAGE_HEAD_ACCOUNT_MASK, 7);
  EXPECT_EQ(strays(), 2u);
  EXPECT_EQ(waiting(here), 0u);
  EXPECT_EQ(room(here), 1u);
  // An answer for an earlier life says that the other cell lives anew, if it does, and nothing
  // more.
  send(*b,
       (head_for(port) ^ another) | OAE_PASSAGE_HEAD_ACCOUNT_MASK | OAE_PASSAGE_HEAD_GREETING_MASK,
       10);
  EXPECT_EQ(peer(), 77u);
  EXPECT_EQ(strays(), 2u);
  const unsigned own = session(here);
  send(*b,
       (head_for(port) ^ another) | OAE_PASSAGE_HEAD_ACCOUNT_MASK | OAE_PASSAGE_HEAD_GREETING_MASK,
       OAE_PUT(OAE_PASSAGE_PAYLOAD_LIFE, 5) | 10);
  EXPECT_EQ(session(here), own + 1);
  EXPECT_FALSE(linked(here));
  EXPECT_EQ(lost(), 1u);
  // A port that begins need not know it.
  send(*b,
       OAE_PUT(OAE_PASSAGE_HEAD_PORT, port) | OAE_PASSAGE_HEAD_ACCOUNT_MASK |
           OAE_PASSAGE_HEAD_GREETING_MASK | begins | another,
       OAE_PUT(OAE_PASSAGE_PAYLOAD_LIFE, 5) | 11);
  EXPECT_EQ(peer(), 11u);
}

}  // namespace
}  // namespace bridge
