// SPDX-License-Identifier: Apache-2.0
// How a joined port learns the session of the other one, and when the session ends.
#include <memory>
#include <utility>
#include <vector>

#include "tests/rtl/bridge/cells.h"

namespace bridge {
namespace {

constexpr unsigned port = 1;

// The rings are the firmware's until then.
TEST_F(Cells, AGreetingWaitsUntilTheLinkIsBridged) {
  join_all(*a);
  join_all(*b);
  for (const bool bridged : {false, true}) {
    take_up(*a, bridged);
    take_up(*b, bridged);
    until([this] { return is_up(); });
    rest();
    for (Cell* cell : {a.get(), b.get()}) {
      EXPECT_EQ(get(*cell, Of::left, OAE_WINDOW_OFFERED) != 0, bridged);
      EXPECT_EQ(linked(Host{cell, port}), bridged);
    }
  }
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
             OAE_PASSAGE_HEAD_GREETING_MASK | flags | OAE_PUT(OAE_PASSAGE_HEAD_SESSION, to),
         from);
  }
  /// The stranger's cell loses its power, and its link comes up again.
  void lose_power() {
    b = std::make_unique<Cell>(now);
    tend_until_up(false);
    rest();
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
}

TEST_F(StrangeGreeting, IsAnsweredIfItBegins) {
  const unsigned own = session(here);
  const unsigned before = received();
  constexpr std::uint64_t greeting = OAE_PUT(OAE_PASSAGE_HEAD_PORT, port) |
                                     OAE_PASSAGE_HEAD_ACCOUNT_MASK | OAE_PASSAGE_HEAD_GREETING_MASK;
  say(begins, own + 1, 9);
  EXPECT_FALSE(linked(here)) << "the other port does not know its session";
  EXPECT_EQ(peer(), 9u);
  EXPECT_EQ(session(here), own) << "nobody knows it yet";
  EXPECT_EQ(received(), before + 1);
  EXPECT_EQ(heard().first, greeting | begins | OAE_PUT(OAE_PASSAGE_HEAD_SESSION, 9));
  EXPECT_EQ(heard().second & OAE_PASSAGE_PAYLOAD_SESSION_MASK, own);
  exchange(here, 1);
  rest();
  EXPECT_EQ(received(), before + 1) << "no slot leaves before the other port knows that";
  say(0, own, 9);
  EXPECT_TRUE(linked(here));
  EXPECT_EQ(received(), before + 2);
  EXPECT_EQ(heard().first,
            OAE_PUT(OAE_PASSAGE_HEAD_PORT, port) | OAE_PUT(OAE_PASSAGE_HEAD_SESSION, 9));
  // It begins anew, and knows the session.
  say(begins, own, 10);
  EXPECT_TRUE(linked(here));
  EXPECT_EQ(peer(), 10u);
  EXPECT_EQ(session(here), own);
  EXPECT_EQ(lost(), 1u);
  EXPECT_EQ(received(), before + 3);
  EXPECT_EQ(heard().first, greeting | OAE_PUT(OAE_PASSAGE_HEAD_SESSION, 10));
  // It begins anew, and does not know the session.
  acknowledge(here);
  exchange(here, 2);
  rest();
  EXPECT_EQ(received(), before + 4);
  say(begins, own + 1, 11);
  EXPECT_FALSE(linked(here));
  EXPECT_EQ(peer(), 11u);
  EXPECT_EQ(session(here), own);
  EXPECT_EQ(lost(), 1u);
  EXPECT_EQ(received(), before + 5);
  EXPECT_EQ(heard().first, greeting | begins | OAE_PUT(OAE_PASSAGE_HEAD_SESSION, 11));
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
  EXPECT_EQ(received(), before + 1) << "the slot alone";
}

TEST_F(StrangeGreeting, ThatComesTooLateIsIgnored) {
  const unsigned before = received();
  say(0, session(here) + 1, 9);
  EXPECT_FALSE(linked(here));
  EXPECT_EQ(peer(), 0u);
  EXPECT_EQ(received(), before);
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
  put(*a, Of::block, OAE_FIRMWARE_JOIN_AT(2), 0);
  rest();
  unsigned before[ports];
  for (unsigned n = 0; n < ports; ++n) before[n] = session(Host{a.get(), n});
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
  EXPECT_EQ(session(Host{a.get(), 2}), before[2] + 2) << "but takes new sessions";
}

// The two ports have begun anew at the same time, so that each has answered an earlier session of
// the other one.
TEST_F(StrangeGreeting, AnAnswerToAnEarlierSessionEndsNothing) {
  const unsigned own = session(here);
  say(0, own, 9);
  exchange(here, 1);
  rest();
  const unsigned before = received();
  for (const unsigned other : {9u, 10u}) {
    say(0, own - 1, other);
    EXPECT_TRUE(linked(here));
    EXPECT_EQ(peer(), 9u);
    EXPECT_EQ(session(here), own);
    EXPECT_EQ(lost(), 0u);
    EXPECT_EQ(received(), before);
  }
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
  for (unsigned i = 0; i < 2; ++i) {
    say(begins, own + i, 9);
    EXPECT_TRUE(linked(here));
    exchange(here, i + 1);
    rest();
    before = received();
    say(leaves | begins, own, 10);
    EXPECT_FALSE(linked(here)) << "whether it knows the session or not";
    EXPECT_EQ(peer(), 9u);
    EXPECT_EQ(lost(), 1u);
    acknowledge(here);
    EXPECT_EQ(session(here), own + i + 1);
    EXPECT_EQ(received(), before + 1) << "it may come back, and has to know the new session";
  }
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
  send(*b, head_for(port) | OAE_PASSAGE_HEAD_GREETING_MASK | begins, 7);
  EXPECT_EQ(strays(), 1u);
  EXPECT_EQ(peer(), 0u);
  greet(port);
  const unsigned own = session(here);
  send(*b, head_for(port) | OAE_PASSAGE_HEAD_GREETING_MASK | begins, 7);
  EXPECT_EQ(session(here), own);
  EXPECT_EQ(peer(), 77u);
  EXPECT_EQ(waiting(here), 1u);
}

// The bridge has chosen the port for its result, and the block is with the host when the greeting
// comes.
TEST_F(StrangeGreeting, EndsWhatTheBridgeIsAboutToTake) {
  say(begins, session(here), 1);
  open(*a, 2);
  for (unsigned n = 2; n < 40; ++n) {
    const auto next = static_cast<std::uint32_t>(get(*b, Of::left, OAE_WINDOW_OFFERED));
    write(*b, next + 1, head_for(port) | OAE_PASSAGE_HEAD_STEPS_MASK, 0);
    write(*b, next + 2,
          head_for(port) | OAE_PASSAGE_HEAD_ACCOUNT_MASK | OAE_PASSAGE_HEAD_GREETING_MASK, n);
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

// Nothing is in doubt on the link, so nothing but the flag of its join frame says that its other
// end has lost its power.
TEST_F(StrangeGreeting, IsAwaitedByAllPortsAfterALossOfPower) {
  const Host last{a.get(), ports - 1};
  for (unsigned n = 0; n < ports - 1; ++n) greet(n);
  exchange(here, 1);
  rest();
  unsigned before[ports];
  for (unsigned n = 0; n < ports; ++n) before[n] = session(Host{a.get(), n});
  EXPECT_FALSE(linked(last));
  lose_power();
  EXPECT_EQ(lost(), 1u);
  EXPECT_EQ(received(), ports) << "a greeting of each";
  for (unsigned n = 0; n < ports; ++n) {
    const Host host{a.get(), n};
    EXPECT_FALSE(linked(host)) << "port " << n;
    EXPECT_EQ(session(host), before[n] + 1) << "port " << n;
  }
}

// The link alone goes down, and both of its ends keep their power.
TEST_F(StrangeGreeting, IsNotAwaitedAfterACut) {
  greet(port);
  exchange(here, 1);
  rest();
  const unsigned own = session(here);
  const unsigned before = received();
  put(*b, Of::left, OAE_WINDOW_CONTROL, 0);
  until([this] { return *a->left.phase == OAE_WINDOW_PHASE_DOWN; });
  take_up_with_stranger();
  EXPECT_TRUE(linked(here));
  EXPECT_EQ(session(here), own);
  EXPECT_EQ(lost(), 0u);
  EXPECT_EQ(received(), before);
}

// What waits in the ring for one life of the other cell must not reach the next one, whose ports
// count their sessions from the same number.
TEST_F(StrangeGreeting, NothingThatWaitsReachesALaterLife) {
  std::vector<Host> hosts;
  for (unsigned n = 0; n < ports; ++n) {
    greet(n);
    hosts.push_back(n == port ? here : open(*a, n));
  }
  put(*a, Of::left, OAE_WINDOW_CONTROL, 0);
  until([this] { return *b->left.phase == OAE_WINDOW_PHASE_DOWN; });
  for (Host& host : hosts) exchange(host, 1 + host.port);
  rest();
  EXPECT_EQ(
      get(*a, Of::left, OAE_WINDOW_OFFERED) - (get(*a, Of::left, OAE_WINDOW_SENT) & 0xffff'ffff),
      ports);
  for (unsigned life = 0; life < 3; ++life) {
    lose_power();
    EXPECT_EQ(received(), ports);
    for (unsigned n = 0; n < ports; ++n) {
      EXPECT_TRUE(get(*b, Of::left, OAE_WINDOW_RECEIVE_AT(n)) & OAE_PASSAGE_HEAD_GREETING_MASK)
          << "slot " << n;
    }
    for (const Host& host : hosts) {
      EXPECT_EQ(fate_of(host, OAE_HOST_PORT_LOST_AT(host.port)), life == 0 ? 1u : 0u);
      if (life == 0) acknowledge(host);
    }
  }
}

/// A slot of `here` that is on its way, in each of many clocks, while something happens to its link
class InEachClock : public StrangeGreeting {
 protected:
  static constexpr unsigned clocks = 80;

  /// A slot was used up at the other port.
  void use_up() {
    send(*b, head_for(port) | OAE_PASSAGE_HEAD_ACCOUNT_MASK | OAE_PUT(OAE_PASSAGE_HEAD_USES, 1), 0);
  }

  /// The slot is dropped in the bridge, or waits in its port.
  void meet_a_loss(unsigned clocks, unsigned greetings) {
    greet(port);
    ASSERT_TRUE(linked(here));
    const unsigned own = session(here);
    b = std::make_unique<Cell>(now);
    tend(*a);
    ASSERT_TRUE(swap(here, clocks + 1));
    until([this] { return *a->left.phase == OAE_WINDOW_PHASE_DOWN; });
    tend(*a);
    tend(*b, false);
    until([this] { return *b->left.phase != OAE_WINDOW_PHASE_DOWN; });
    clock(clocks);
    confirm(here);
    until([this] { return is_up(); });
    rest();
    EXPECT_EQ(session(here), own + 1);
    EXPECT_EQ(received(), greetings) << "and nothing else";
    const bool is_kept = status_of(here) & OAE_FIRMWARE_STATUS_COMMITTED_MASK;
    EXPECT_EQ(lost(), is_kept ? 0u : 1u);
    ++(is_kept ? kept : dropped);
    if (!is_kept) acknowledge(here);
    say(0, session(here), 77);
    EXPECT_EQ(received(), greetings + (is_kept ? 1 : 0));
    if (is_kept) use_up();
  }

  unsigned kept = 0;
  unsigned dropped = 0;
};

TEST_F(InEachClock, ALossFindsTheSlotWhereverItIs) {
  for (const bool alone : {false, true}) {
    if (alone) put(*a, Of::left, OAE_WINDOW_PORTS, std::uint64_t{1} << port);
    rest();
    for (unsigned n = 0; n < clocks; ++n) {
      SCOPED_TRACE(n);
      meet_a_loss(n, alone ? 1 : ports);
    }
    EXPECT_GT(dropped, alone ? 10u : 5u);
    EXPECT_GT(kept, alone ? 10u : 5u);
  }
}

// Another port is given to the link or taken from it.
TEST_F(InEachClock, APortThatBeginsAnewLeavesOthersAlone) {
  greet(port);
  std::uint64_t served = ~std::uint64_t{0};
  for (unsigned n = 0; n < clocks; ++n) {
    SCOPED_TRACE(n);
    ASSERT_TRUE(swap(here, n + 1, OAE_VERB_SEND));
    const unsigned before = received();
    confirm(here);
    clock(n);
    served ^= 4;
    a->post_put(Of::left, OAE_WINDOW_PORTS, served);
    rest();
    unsigned slots = 0;
    for (unsigned i = before; i < received(); ++i) {
      slots += !(get(*b, Of::left, OAE_WINDOW_RECEIVE_AT(i % 16)) & OAE_PASSAGE_HEAD_ACCOUNT_MASK);
    }
    EXPECT_EQ(slots, 1u);
    EXPECT_EQ(lost(), 0u);
    put(*b, Of::left, OAE_WINDOW_TAKEN, received());
    use_up();
  }
}

TEST_F(InEachClock, ASlotArrivesWhileAnotherPortBeginsAnew) {
  greet(port);
  exchange(here, 100);  // The first one is answered by an empty slot.
  rest();
  put(*b, Of::left, OAE_WINDOW_TAKEN, received());
  use_up();
  std::uint64_t served = ~std::uint64_t{0};
  for (unsigned n = 1; n <= clocks; ++n) {
    SCOPED_TRACE(n);
    const std::uint64_t next = get(*b, Of::left, OAE_WINDOW_OFFERED) + 1;
    write(*b, next, head_for(port), n);
    b->post_put(Of::left, OAE_WINDOW_OFFERED, next);
    clock(n);
    served ^= 4;
    a->post_put(Of::left, OAE_WINDOW_PORTS, served);
    rest();
    EXPECT_EQ(strays(), 0u);
    ASSERT_EQ(waiting(here), 1u);
    EXPECT_EQ(exchange(here, n), n);
    rest();
    put(*b, Of::left, OAE_WINDOW_TAKEN, received());
    use_up();
  }
}

}  // namespace
}  // namespace bridge
