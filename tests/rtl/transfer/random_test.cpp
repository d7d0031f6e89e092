// SPDX-License-Identifier: Apache-2.0
// Random transfers both ways over wires that lose, corrupt, duplicate and are cut, between sides
// that lose their power and ask through a third cell, and what must hold whatever happens:
// agreement, no invention, no repetition, reversal, a bounded answer, progress.
//
// Each of the four tests has every fourth seed. OAE_VP_LINK_SEEDS is the number of its seeds; the
// default is three. OAE_VP_LINK_FIRST_SEED is the number of seeds that it passes over first; the
// default is none. A seed has 30 runs of 60 steps. Each run ends with both sides up and all
// transfers settled.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <string>

#include "tests/rtl/transfer/ends/pair.h"

namespace {

/// The knowledge of the firmware of one side: the transfers that it has sent, in order and with
/// their outcomes, and those that it has received.
struct Ledger {
  struct Sent {
    std::vector<Slot> slots;
    bool flow;
    unsigned outcome = OAE_OUTCOME_NONE;
    bool may_be_lost = false;  // the receiver lost its power before its firmware took it
    bool received = false;
  };
  /// The fate of a transfer whose sender has lost its power, for which nobody asks.
  static constexpr unsigned gone = 0x100;
  std::vector<Sent> sent;
  std::vector<LinkEnd::Received> received;
};

constexpr unsigned groups = 4;

class LinkRandom : public LinkPair {
 public:
  /// Events that have occurred.
  struct Sum {
    std::map<unsigned, unsigned> outcomes;  // by outcome, the transfers
    std::map<unsigned, unsigned> verdicts;  // by command, the verdicts of the third cell
    unsigned power_losses = 0;
  };

  explicit LinkRandom(unsigned seed) : LinkPair(8 + 8 * (seed % 9)) {
    random.seed(seed);
    stall = pick(3) * 20;
    for (LinkEnd* end : {&a, &b}) limit(*end);
    up();
  }
  void run(Sum& sum);

 private:
  void TestBody() override {}

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
    // A side that has not noticed the other side's loss of power sends transfers that are lost.
    const auto left = session_left_.find(&end);
    sent.may_be_lost =
        left != session_left_.end() && (get(end, OAE_LINK_SESSION) & 0xffff'ffff) == left->second;
    for (unsigned i = 0; i < 1u << 2 * beats; ++i) {
      sent.slots.push_back(slot(ledger.sent.size() + 1, random(), pick(4)));
    }
    fill(end, sent.slots);
    ledger.sent.push_back(sent);
    end.post_put(OAE_LINK_COMMAND, (sent.flow ? OAE_LINK_COMMAND_FLOW : OAE_LINK_COMMAND_PACKET) |
                                       OAE_PUT(OAE_LINK_COMMAND_BEATS, beats));
    begun_[&end] = true;
  }

  /// Records the outcome of the transfer when it is settled.
  void look(LinkEnd& end, Ledger& ledger) {
    if (!begun_[&end] || !end.idle() || end.sender() != OAE_LINK_STATE_IDLE) return;
    const std::uint64_t events = get(end, OAE_LINK_EVENT);
    put(end, OAE_LINK_EVENT, events);
    if (events & OAE_LINK_EVENT_REFUSED_MASK && !(events & OAE_LINK_EVENT_SETTLED_MASK)) {
      ledger.sent.pop_back();  // the link was not up
    } else {
      ledger.sent.back().outcome = outcome(end);
      EXPECT_NE(ledger.sent.back().outcome, unsigned{OAE_OUTCOME_NONE});
      if (!ledger.sent.back().may_be_lost) {
        EXPECT_NE(ledger.sent.back().outcome, unsigned{OAE_OUTCOME_LOST});
      }
    }
    begun_[&end] = false;
  }

  void collect(LinkEnd& end, Ledger& ledger) {
    while (transfers(end) != 0) ledger.received.push_back(take(end));
  }

  /// Checks that the other side has received transfers that were sent and not reversed, in order
  /// and once.
  static void match(Ledger& sender, const Ledger& receiver) {
    auto sent = sender.sent.begin();
    for (const LinkEnd::Received& received : receiver.received) {
      const auto of_it = [&](const Ledger::Sent& each) { return each.slots == received.slots; };
      sent = std::find_if(sent, sender.sent.end(), of_it);
      ASSERT_NE(sent, sender.sent.end()) << "an invention, a repetition, or not in order";
      EXPECT_EQ(received.flow, sent->flow);
      EXPECT_NE(sent->outcome, unsigned{OAE_OUTCOME_REVERSED});
      sent->received = true;
      ++sent;
    }
  }

  /// Checks as well that it has received all committed transfers.
  static void compare(Ledger& sender, const Ledger& receiver) {
    match(sender, receiver);
    for (const Ledger::Sent& each : sender.sent) {
      if (each.outcome != OAE_OUTCOME_COMMITTED || each.may_be_lost) continue;
      EXPECT_TRUE(each.received) << "committed on one side only";
    }
  }

  /// The side is without power for longer than the delay of the wires.
  void lose_power(LinkEnd& end, Ledger& own, Ledger& other) {
    until([&end] { return end.idle(); });
    if (begun_[&end]) {
      own.sent.back().outcome = Ledger::gone;
      begun_[&end] = false;
    }
    match(other, own);
    if (begun_[&end == &a ? &b : &a]) other.sent.back().may_be_lost = true;
    for (Ledger::Sent& each : other.sent) {
      if (!each.received) each.may_be_lost = true;
    }
    LinkEnd& left = &end == &a ? b : a;
    session_left_[&left] = get(left, OAE_LINK_SESSION) & 0xffff'ffff;
    end.top.reset = 1;
    clock(40 + pick(100));
    end.top.reset = 0;
    limit(end);
    ++sum_.power_losses;
  }

  void limit(LinkEnd& end) {
    put(end, OAE_LINK_LIMITS,
        OAE_PUT(OAE_LINK_LIMITS_SILENCE, 1000) | OAE_PUT(OAE_LINK_LIMITS_TROUBLE, 1 + pick(6)));
  }

  static bool waits(const LinkEnd& end) {
    return end.sender() == OAE_LINK_STATE_COMMITTING || end.sender() == OAE_LINK_STATE_IN_DOUBT;
  }

  bool up(const LinkEnd& end) {
    return end.phase() == OAE_LINK_STATE_IDLE || end.phase() == OAE_LINK_STATE_JOINED;
  }

  /// The firmwares' questions through a third cell, step by step among all other events.
  void ask(LinkEnd& asks, LinkEnd& other) {
    if (asks.sender() != OAE_LINK_STATE_IN_DOUBT || up(asks)) return;
    const std::uint32_t number = get(asks, OAE_LINK_SENT) >> 32;
    clock(pick(100));
    if (up(other)) return;
    clock(pick(100));
    const std::uint64_t journal = get(other, OAE_LINK_JOURNAL);
    const std::uint64_t history = get(other, OAE_LINK_HISTORY);
    const auto from = static_cast<std::int32_t>(number - (history >> 32));
    const auto past = static_cast<std::int32_t>(number - (journal >> 32));
    unsigned verdict = OAE_LINK_COMMAND_SETTLE_REVERSED;
    if (!(history & OAE_LINK_HISTORY_KNOWN_MASK) || from < 0) {
      verdict = OAE_LINK_COMMAND_SETTLE_LOST;
    } else if (past < 0) {
      return;
    } else if (past == 0 && (journal & 0xff) == OAE_OUTCOME_COMMITTED) {
      verdict = OAE_LINK_COMMAND_SETTLE_COMMITTED;
    }
    clock(pick(100));
    if (asks.sender() != OAE_LINK_STATE_IN_DOUBT || up(asks)) return;
    command(asks, verdict);
    ++sum_.verdicts[verdict];
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

  /// Faults have ended: every transfer is settled, and the next ones are committed.
  void recover(Ledger& of_a, Ledger& of_b) {
    until([this] { return a.idle() && b.idle(); });
    // A side that gets no more answers goes down within the limit, if it was not restarted.
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
  Sum sum_;
  std::map<LinkEnd*, std::uint64_t> session_left_;  // when the other side lost its power
};

void LinkRandom::run(Sum& sum) {
  sum_ = sum;
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
      if (chance(10)) ask(a, b);
      if (chance(10)) ask(b, a);
      // Power is lost at any time, and more often while the other side waits for an answer.
      if (pick(waits(b) ? 60 : 600) == 0) lose_power(a, of_a, of_b);
      if (pick(waits(a) ? 60 : 600) == 0) lose_power(b, of_b, of_a);
      if (chance(15) && (a.phase() == OAE_LINK_STATE_DOWN || b.phase() == OAE_LINK_STATE_DOWN)) {
        to_a.join();
        to_b.join();
        a.post_put(OAE_LINK_CONTROL, 1);
        b.post_put(OAE_LINK_CONTROL, 1);
      }
    }
    recover(of_a, of_b);
  }
  for (const Ledger* ledger : {&of_a, &of_b}) {
    for (const Ledger::Sent& sent : ledger->sent) ++sum_.outcomes[sent.outcome];
  }
  sum = sum_;
}

unsigned asked(const char* variable, unsigned otherwise) {
  const char* const value = std::getenv(variable);
  return value != nullptr ? std::stoul(value) : otherwise;
}

/// Several seeds in sequence, which together reach rare events.
class LinkRandomSeeds : public testing::TestWithParam<unsigned> {};

TEST_P(LinkRandomSeeds, HoldWhatTheLinkPromises) {
  const unsigned seeds = asked("OAE_VP_LINK_SEEDS", 3);
  const unsigned first = asked("OAE_VP_LINK_FIRST_SEED", 0);
  LinkRandom::Sum sum;
  for (unsigned each = first; each < first + seeds && !HasFailure(); ++each) {
    const unsigned seed = GetParam() + groups * each;
    SCOPED_TRACE("seed " + std::to_string(seed));
    LinkRandom(seed).run(sum);
  }
  EXPECT_GT(sum.outcomes[OAE_OUTCOME_COMMITTED], 100 * seeds);
  EXPECT_GT(sum.outcomes[OAE_OUTCOME_REVERSED], 15 * seeds);
  EXPECT_GT(sum.outcomes[OAE_OUTCOME_LOST], 0u);
  EXPECT_GT(sum.power_losses, seeds);
  EXPECT_GT(sum.verdicts[OAE_LINK_COMMAND_SETTLE_COMMITTED], 0u);
  EXPECT_GT(sum.verdicts[OAE_LINK_COMMAND_SETTLE_REVERSED], 0u);
}

INSTANTIATE_TEST_SUITE_P(Seeds, LinkRandomSeeds, testing::Range(1u, 1 + groups));

}  // namespace
