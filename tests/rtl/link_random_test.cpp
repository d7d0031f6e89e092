// SPDX-License-Identifier: Apache-2.0
// Random transfers both ways over wires that lose, corrupt, duplicate and are cut, and what must
// hold whatever happens: agreement, no invention, no repetition, reversal, a bounded answer,
// progress.
#include <gtest/gtest.h>

#include <map>
#include <optional>

#include "tests/rtl/link_pair.h"

namespace {

/// What the firmware of one side knows: what it has sent, in order, with the outcomes that it was
/// told, and what it has received.
struct Ledger {
  struct Sent {
    std::vector<Slot> slots;
    bool flow;
    unsigned outcome = OAE_OUTCOME_NONE;
  };
  std::vector<Sent> sent;
  std::vector<LinkEnd::Received> received;
};

class LinkRandom : public LinkPair, public testing::WithParamInterface<unsigned> {
 protected:
  LinkRandom() : LinkPair(8 + 8 * (GetParam() % 9)) {
    random.seed(GetParam());
    stall = pick(3) * 20;
    for (LinkEnd* end : {&a, &b}) {
      put(*end, OAE_LINK_LIMITS,
          OAE_PUT(OAE_LINK_LIMITS_SILENCE, 1000) | OAE_PUT(OAE_LINK_LIMITS_TROUBLE, 1 + pick(6)));
    }
    up();
  }

  std::uint64_t pick(std::uint64_t n) { return random() % n; }
  bool chance(unsigned percent) { return pick(100) < percent; }

  void up() {
    to_a.join();
    to_b.join();
    for (LinkEnd* end : {&a, &b}) {
      put(*end, OAE_LINK_CONTROL, 1 | OAE_PUT(OAE_LINK_CONTROL_SLICE_ACK, pick(4)));
    }
    until([this] { return a.phase() == OAE_LINK_STATE_IDLE && b.phase() == OAE_LINK_STATE_IDLE; });
  }

  void begin(LinkEnd& end, Ledger& ledger) {
    const unsigned beats = chance(90) ? pick(2) : pick(4);
    Ledger::Sent sent{{}, chance(30)};
    for (unsigned i = 0; i < 1u << 2 * beats; ++i) {
      sent.slots.push_back(slot(ledger.sent.size() + 1, random(), pick(4)));
    }
    fill(end, sent.slots);
    ledger.sent.push_back(sent);
    end.post_put(OAE_LINK_COMMAND, (sent.flow ? OAE_LINK_COMMAND_FLOW : OAE_LINK_COMMAND_PACKET) |
                                       OAE_PUT(OAE_LINK_COMMAND_BEATS, beats));
    begun_[&end] = true;
  }

  /// Once the transfer is settled, its outcome is the ledger's.
  void look(LinkEnd& end, Ledger& ledger) {
    if (!begun_[&end] || !end.idle() || end.sender() != OAE_LINK_STATE_IDLE) return;
    const std::uint64_t events = get(end, OAE_LINK_EVENT);
    put(end, OAE_LINK_EVENT, events);
    if (events & OAE_LINK_EVENT_REFUSED_MASK && !(events & OAE_LINK_EVENT_SETTLED_MASK)) {
      ledger.sent.pop_back();  // the link was not up
    } else {
      ledger.sent.back().outcome = outcome(end);
      EXPECT_NE(ledger.sent.back().outcome, unsigned{OAE_OUTCOME_NONE});
      EXPECT_NE(ledger.sent.back().outcome, unsigned{OAE_OUTCOME_LOST});
    }
    begun_[&end] = false;
  }

  void collect(LinkEnd& end, Ledger& ledger) {
    while (transfers(end) != 0) ledger.received.push_back(take(end));
  }

  /// What one has committed is what the other has received, in order, once each.
  static void compare(const Ledger& sender, const Ledger& receiver) {
    std::size_t n = 0;
    for (const Ledger::Sent& sent : sender.sent) {
      if (sent.outcome != OAE_OUTCOME_COMMITTED) continue;
      ASSERT_LT(n, receiver.received.size()) << "committed on one side only";
      EXPECT_EQ(receiver.received[n].slots, sent.slots);
      EXPECT_EQ(receiver.received[n].flow, sent.flow);
      ++n;
    }
    EXPECT_EQ(n, receiver.received.size()) << "an invention, or a repetition";
  }

  void trouble() {
    LinkWire& wire = chance(50) ? to_a : to_b;
    switch (pick(14)) {
      case 0:
      case 1:
      case 2:
        return wire.fault(LinkWire::Fault::lose, pick(6));
      case 3:
      case 4:
      case 5:
        return wire.fault(LinkWire::Fault::corrupt, pick(6), pick(512));
      case 6:
      case 7:
      case 8:
        return wire.fault(LinkWire::Fault::duplicate, pick(6));
      case 9:
        return wire.fault(LinkWire::Fault::kind, pick(6), pick(512));
      case 10:
        return wire.corrupt_reflection(pick(64));
      case 11:
        if (chance(70)) return;
        wire.cut();
        clock(pick(3000));
        return;
      case 12:
        if (chance(70)) return;
        to_a.cut();
        to_b.cut();
        return;
      default:
        if (chance(70)) return;
        return (chance(50) ? a : b).post_put(OAE_LINK_CONTROL, chance(50));
    }
  }

  /// Nothing more goes wrong: every transfer is settled, and the next ones are committed.
  void recover(Ledger& of_a, Ledger& of_b) {
    until([this] { return a.idle() && b.idle(); });
    // A side that the other has left is down within the limit, if it was not restarted.
    clock(3000);
    up();
    until(
        [this] { return a.sender() == OAE_LINK_STATE_IDLE && b.sender() == OAE_LINK_STATE_IDLE; });
    look(a, of_a);
    look(b, of_b);
    collect(a, of_a);
    collect(b, of_b);
    compare(of_a, of_b);
    compare(of_b, of_a);
  }

  std::map<LinkEnd*, bool> begun_;
};

TEST_P(LinkRandom, HoldsWhatTheLinkPromises) {
  Ledger of_a;
  Ledger of_b;
  const unsigned rounds = 30;
  for (unsigned round = 0; round < rounds && !HasFailure(); ++round) {
    for (unsigned step = 0; step < 60 && !HasFailure(); ++step) {
      if (chance(20)) trouble();
      if (!begun_[&a] && a.idle() && chance(70)) begin(a, of_a);
      if (!begun_[&b] && b.idle() && chance(50)) begin(b, of_b);
      clock(pick(120));
      look(a, of_a);
      look(b, of_b);
      if (chance(60)) collect(a, of_a);
      if (chance(60)) collect(b, of_b);
      if (chance(15) && (a.phase() == OAE_LINK_STATE_DOWN || b.phase() == OAE_LINK_STATE_DOWN)) {
        to_a.join();
        to_b.join();
        a.post_put(OAE_LINK_CONTROL, 1);
        b.post_put(OAE_LINK_CONTROL, 1);
      }
    }
    recover(of_a, of_b);
  }
  std::map<unsigned, unsigned> outcomes;
  for (const Ledger* ledger : {&of_a, &of_b}) {
    for (const Ledger::Sent& sent : ledger->sent) ++outcomes[sent.outcome];
  }
  // The traffic must be worth something.
  EXPECT_GT(outcomes[OAE_OUTCOME_COMMITTED], 100u);
  EXPECT_GT(outcomes[OAE_OUTCOME_REVERSED], 30u);
  EXPECT_GT(get(a, OAE_LINK_COUNT_DOWN) + get(b, OAE_LINK_COUNT_DOWN), 4u);
}

INSTANTIATE_TEST_SUITE_P(Seeds, LinkRandom, testing::Range(1u, 9u));

}  // namespace
