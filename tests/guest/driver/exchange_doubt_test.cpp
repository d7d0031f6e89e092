// SPDX-License-Identifier: Apache-2.0
// Swaps that are in doubt, and how they are settled: by their answers, or as reversed.
#include "tests/guest/driver/exchange.h"

namespace guest_test {
namespace {

TEST_F(Exchange, AnAnswerOfAnotherEpochStaysInDoubt) {
  block.fault = [this](unsigned n) {
    if (n == 8) block.open();
    return Fault::NONE;
  };
  EXPECT_EQ(swap(1), OAE_IN_DOUBT);
  EXPECT_TRUE(exchange.doubt);
  begin();
  EXPECT_FALSE(exchange.doubt);
  block.fault = [](unsigned) { return Fault::NONE; };
  EXPECT_EQ(swap(2), OAE_COMMITTED);
}

// An undamaged answer of this epoch that belongs neither to this swap nor to the one before.
TEST_F(Exchange, AnAnswerOfAnyOtherSwapStaysInDoubt) {
  EXPECT_EQ(swap(1), OAE_COMMITTED);
  EXPECT_EQ(swap(2), OAE_COMMITTED);
  exchange.sequence = 7;
  EXPECT_EQ(swap(3), OAE_IN_DOUBT);
  EXPECT_TRUE(exchange.doubt);
  EXPECT_EQ(block.committed.size(), 2u);
}

TEST_F(Exchange, AnAnswerPushedEarlierDoesNotPass) {
  EXPECT_EQ(swap(1), OAE_COMMITTED);
  // Slice 0 of the next answer arrives, but its slot does not.
  block.fault = [](unsigned n) { return n == 18 ? Fault::PUSH_LOST : Fault::NONE; };
  EXPECT_EQ(swap(2), OAE_COMMITTED);
  EXPECT_EQ(answer.reads, 1u);
  EXPECT_EQ(block.committed, host);
}

TEST_F(Exchange, DoubtIsBounded) {
  block.fault = [](unsigned n) { return n >= 8 ? Fault::LOST : Fault::NONE; };
  EXPECT_EQ(swap(1, 0, 3), OAE_IN_DOUBT);
  EXPECT_EQ(accesses().size(), 8u + 1 + 3);
  EXPECT_TRUE(exchange.doubt);
  EXPECT_EQ(settle(1), OAE_IN_DOUBT);
  EXPECT_EQ(accesses().size(), 1u);
}

TEST_F(Exchange, DoubtIsAskedForOnceByACallerThatIsInterrupted) {
  static unsigned asked;
  asked = 0;
  exchange.is_interrupted = [] { return ++asked == 3; };
  block.fault = [](unsigned) { return Fault::LOST; };
  EXPECT_EQ(swap(5, 0, 16), OAE_IN_DOUBT);
  EXPECT_EQ(answer.reads, 3u) << "until the interruption came";
  exchange.is_interrupted = [] { return true; };
  accesses();
  EXPECT_EQ(oae_exchange_settle(&exchange, 16, &answer), OAE_IN_DOUBT);
  EXPECT_EQ(answer.reads, 1u);
  EXPECT_EQ(accesses().size(), 1u);
  block.fault = [](unsigned) { return Fault::NONE; };
  // The offer was lost, so the block denies it without having seen it. Only a reversal settles
  // that, by a read of its own.
  EXPECT_EQ(oae_exchange_settle(&exchange, 16, &answer), OAE_IN_DOUBT);
  EXPECT_EQ(answer.reads, 1u);
  EXPECT_EQ(oae_exchange_settle(&exchange, 16, &answer), OAE_REVERSED);
  EXPECT_EQ(answer.reads, 1u);
}

TEST_F(Exchange, SettlingKeepsWhatMoreSaid) {
  block.fault = [](unsigned n) { return n == 8 ? Fault::COMPLETION_LOST : Fault::NONE; };
  EXPECT_EQ(swap(1, OAE_FLAG_MORE, 0), OAE_IN_DOUBT);
  EXPECT_EQ(settle(1), OAE_COMMITTED);
  EXPECT_TRUE(block.committed.empty());
  EXPECT_EQ(swap(2), OAE_COMMITTED);
  EXPECT_EQ(block.committed, host);
}

// The block distinguishes refused offers from the accepted one, even if they arrive late.
TEST_F(Exchange, AttemptsAreNumbered) {
  block.firmware_offers = false;
  for (unsigned i = 0; i < 130; ++i) {
    EXPECT_EQ(exchange.attempt % 64, i % 64);
    EXPECT_EQ(swap(i), OAE_NOT_TAKEN);
  }
  block.firmware_offers = true;
  EXPECT_EQ(swap(1), OAE_COMMITTED);
  EXPECT_EQ(exchange.attempt, 0u);
  EXPECT_EQ(block.committed, host);
}

// A register has no CRC: no bit that is wrong in either state may lead to an epoch that is not the
// block's.
TEST_F(Exchange, AnEpochIsBegunOnlyIfBothStatesAgree) {
  const auto state = [](unsigned state, unsigned epoch, std::uint64_t sequence) {
    return OAE_PUT(OAE_HOST_PORT_STATE_STATE, state) | OAE_PUT(OAE_HOST_PORT_STATE_EPOCH, epoch) |
           OAE_PUT(OAE_HOST_PORT_STATE_SEQUENCE, sequence);
  };
  const std::uint64_t before = state(OAE_PORT_STATE_COMMITTED, 0xff, 17);
  const std::uint64_t after = state(OAE_PORT_STATE_IDLE, 0, 0);
  EXPECT_TRUE(oae_exchange_open(&exchange, before, after));
  // What another cell does has nothing to do with it.
  for (const std::uint64_t other :
       {OAE_HOST_PORT_STATE_OFFERED_MASK, OAE_HOST_PORT_STATE_LOST_MASK})
    EXPECT_TRUE(oae_exchange_open(&exchange, before, after | other));
  EXPECT_FALSE(oae_exchange_open(&exchange, before, before)) << "nothing was opened";
  EXPECT_FALSE(oae_exchange_open(&exchange, ~0ull, after));
  EXPECT_FALSE(oae_exchange_open(&exchange, before, ~0ull));
  for (unsigned bit = 0; bit < 64; ++bit) {
    const std::uint64_t wrong = std::uint64_t{1} << bit;
    if (wrong & (OAE_HOST_PORT_STATE_OFFERED_MASK | OAE_HOST_PORT_STATE_LOST_MASK)) continue;
    EXPECT_FALSE(oae_exchange_open(&exchange, before, after ^ wrong)) << bit;
    if (!oae_exchange_open(&exchange, before ^ wrong, after)) continue;
    EXPECT_EQ(exchange.epoch, 0u) << bit;
    EXPECT_EQ(exchange.sequence, 0u) << bit;
  }
}

// A card without history takes the epoch that the host names.
TEST_F(Exchange, AnEpochFollowsTheHostsOwnOnACardWithoutHistory) {
  const std::uint64_t before = OAE_PUT(OAE_HOST_PORT_STATE_STATE, OAE_PORT_STATE_HISTORY_LOST);
  const auto after = [](unsigned epoch) {
    return OAE_PUT(OAE_HOST_PORT_STATE_STATE, OAE_PORT_STATE_IDLE) |
           OAE_PUT(OAE_HOST_PORT_STATE_EPOCH, epoch);
  };
  oae_exchange_begin(&exchange, 41, 9);
  EXPECT_FALSE(oae_exchange_open(&exchange, before, after(1)));
  ASSERT_TRUE(oae_exchange_open(&exchange, before, after(42)));
  EXPECT_EQ(exchange.epoch, 42u);
  EXPECT_EQ(exchange.sequence, 0u);
}

TEST_F(Exchange, ASwapInDoubtIsReversed) {
  EXPECT_EQ(swap(1), OAE_COMMITTED);
  for (const Fault fault : {Fault::LOST, Fault::COMPLETION_LOST}) {  // not exchanged; exchanged
    block.fault = [=, read = block.accesses() + 8](unsigned n) {
      return n == read ? fault : Fault::NONE;
    };
    EXPECT_EQ(swap(2, 0, 0), OAE_IN_DOUBT);
    accesses();
    oae_exchange_reverse(&exchange);
    EXPECT_EQ(settle(2), OAE_REVERSED);
    EXPECT_EQ(accesses(), (std::vector<unsigned>{OAE_PORT_REVERSE, OAE_PORT_STATUS, OAE_PORT_STATUS,
                                                 OAE_PORT_PUSHED_ANSWER, OAE_PORT_CONFIRM}));
    EXPECT_EQ(status(), OAE_STATUS_REVERSED);
    EXPECT_FALSE(exchange.doubt);
    EXPECT_EQ(block.committed, host);
    EXPECT_EQ(exchange.sequence, block.sequence) << "its number is used up";
  }
  EXPECT_EQ(swap(3), OAE_COMMITTED);
  EXPECT_EQ(block.committed, host);
}

TEST_F(Exchange, OnceReversingNothingElseCounts) {
  block.fault = [](unsigned n) { return n == 8 ? Fault::COMPLETION_LOST : Fault::NONE; };
  EXPECT_EQ(swap(1, 0, 0), OAE_IN_DOUBT);
  oae_exchange_reverse(&exchange);
  // The reversal is lost, so the answer is still retained.
  block.fault = [](unsigned n) { return n == 9 ? Fault::LOST : Fault::NONE; };
  EXPECT_EQ(settle(1), OAE_IN_DOUBT);
  EXPECT_EQ(answer.slot[0] & 0xff, OAE_VERB_SWAP) << "it came";
  EXPECT_EQ(settle(1), OAE_REVERSED);
  EXPECT_TRUE(block.committed.empty());
}

// The block has committed the swap by itself, or since its port was closed.
TEST_F(Exchange, AReversalThatComesTooLateLeavesTheSwapCommitted) {
  EXPECT_EQ(swap(1), OAE_COMMITTED);
  for (const bool closes : {false, true}) {
    block.fault = [read = block.accesses() + 8](unsigned n) {
      return n == read ? Fault::COMPLETION_LOST : Fault::NONE;
    };
    EXPECT_EQ(swap(2, 0, 0), OAE_IN_DOUBT);
    closes ? block.close() : block.commit();
    oae_exchange_reverse(&exchange);
    EXPECT_EQ(settle(2), OAE_COMMITTED);
    EXPECT_FALSE(exchange.doubt);
    EXPECT_EQ(block.committed, host);
  }
  block.open();
  begin();
  EXPECT_EQ(swap(3), OAE_COMMITTED);
  EXPECT_EQ(block.committed, host);
}

// What the journal says counts only for an answer that is asked for later: a copy of the reversal
// may arrive between the two, and the port be closed after it.
TEST_F(Exchange, AReversalThatComesInTimeIsNotTakenForLate) {
  block.fault = [](unsigned n) { return n == 8 ? Fault::COMPLETION_LOST : Fault::NONE; };
  EXPECT_EQ(swap(1, 0, 0), OAE_IN_DOUBT);
  oae_exchange_reverse(&exchange);
  block.fault = [this](unsigned n) {
    if (n == 9) return Fault::LOST;  // the reversal
    if (n == 12) {
      oae_exchange_demand_reversal(&exchange);
      block.close();
    }
    return Fault::NONE;
  };
  EXPECT_EQ(settle(1), OAE_REVERSED);
  EXPECT_TRUE(block.committed.empty());
}

// A state has no CRC. One bit of it makes a tentative swap a committed one.
TEST_F(Exchange, ADamagedStateDoesNotMakeAReversalLate) {
  for (const unsigned damaged : {10u, 11u}) {
    block = Block();
    begin();
    block.fault = [=](unsigned n) {
      return n == 8         ? Fault::COMPLETION_LOST
             : n == 9       ? Fault::LOST
             : n == damaged ? Fault::STATE_DAMAGED
                            : Fault::NONE;
    };
    EXPECT_EQ(swap(1, 0, 0), OAE_IN_DOUBT);
    oae_exchange_reverse(&exchange);
    EXPECT_EQ(settle(1), OAE_IN_DOUBT);
    EXPECT_EQ(settle(1), OAE_REVERSED);
    EXPECT_TRUE(block.committed.empty());
  }
}

// The offer has not arrived, and never takes place, since the port was closed.
TEST_F(Exchange, OnAClosedPortASwapInDoubtDidNotTakePlace) {
  for (const bool first : {true, false}) {
    if (!first) EXPECT_EQ(swap(1), OAE_COMMITTED);
    block.fault = [from = block.accesses()](unsigned n) {
      return n < from + 9 ? Fault::LOST : Fault::NONE;
    };
    EXPECT_EQ(swap(2, 0, 0), OAE_IN_DOUBT);
    block.close();
    oae_outcome outcome = OAE_IN_DOUBT;
    for (unsigned i = 0; outcome == OAE_IN_DOUBT && i < 3; ++i) outcome = settle(2);
    EXPECT_EQ(outcome, OAE_NOT_TAKEN);
    EXPECT_EQ(status(), OAE_STATUS_NOT_READY) << "and not the answer to the swap before";
    if (!first) {
      EXPECT_EQ(answer.slot[1], 0u);
    }
    EXPECT_EQ(block.committed, host);
    block.open();
    begin();
  }
  EXPECT_EQ(swap(3), OAE_COMMITTED);
  EXPECT_EQ(block.committed, host);
}

TEST_F(Exchange, NothingIsReversedWithoutDoubt) {
  EXPECT_EQ(swap(1), OAE_COMMITTED);
  oae_exchange_reverse(&exchange);
  EXPECT_EQ(swap(2), OAE_COMMITTED);
  EXPECT_EQ(block.committed, host);
}

TEST_F(Exchange, ACardThatLostPowerSaysSo) {
  EXPECT_EQ(swap(1), OAE_COMMITTED);
  block.fault = [](unsigned n) { return n == 18 ? Fault::COMPLETION_LOST : Fault::NONE; };
  EXPECT_EQ(swap(2, 0, 0), OAE_IN_DOUBT);
  const Pairs before = host;
  block = Block();
  block.connect();
  block.history_lost = true;
  EXPECT_EQ(settle(2), OAE_LOST);
  EXPECT_EQ(status(), OAE_STATUS_HISTORY_LOST);
  EXPECT_FALSE(exchange.doubt);
  EXPECT_EQ(host, before);
}

}  // namespace
}  // namespace guest_test
