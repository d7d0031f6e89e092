// SPDX-License-Identifier: Apache-2.0
// The host's side of the swap against a block whose accesses meet faults.
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "oae_registers.h"
#include "tests/guest/driver/block.h"

extern "C" {
#include "guest/driver/oae_crc.h"
#include "guest/driver/oae_exchange.h"
}

namespace guest_test {
namespace {

using Pairs = std::vector<std::pair<std::uint64_t, std::uint64_t>>;

class Exchange : public testing::Test {
 protected:
  void SetUp() override {
    oae_crc_init();
    block.connect();
    exchange.page = block.page;
    exchange.stream = block.stream;
    exchange.buffer = block.buffer;
    begin();
  }

  void begin() { oae_exchange_begin(&exchange, block.epoch, block.sequence); }

  oae_outcome swap(std::uint64_t word, std::uint8_t flags = 0, unsigned reads = 3) {
    const u64 payload[6] = {word, 2, 3, 4, 5, 6};
    return took(word,
                oae_exchange_swap(&exchange, form, OAE_VERB_SWAP, flags, payload, reads, &answer));
  }

  oae_outcome settle(std::uint64_t word) {
    return took(word, oae_exchange_settle(&exchange, 1, &answer));
  }

  std::uint64_t status() const { return OAE_GET(answer.slot[0], OAE_SLOT_HEADER_STATUS); }

  /// Returns the accesses since the last call.
  std::vector<unsigned> accesses() {
    const std::vector<unsigned> all(block.trace().begin() + seen_, block.trace().end());
    seen_ = block.trace().size();
    return all;
  }

  Block block;
  oae_form form = OAE_PUSHED;
  oae_exchange exchange{};
  oae_answer answer{};
  Pairs host;  ///< the pairs that the host has committed

 private:
  oae_outcome took(std::uint64_t word, oae_outcome outcome) {
    if (outcome == OAE_COMMITTED) host.emplace_back(word, answer.slot[1]);
    return outcome;
  }

  std::size_t seen_ = 0;
};

const std::vector<unsigned> eight_stores_one_read_confirm = {0x00, 0x08, 0x10, 0x18, 0x20,
                                                             0x28, 0x30, 0x38, 0x40, 0x48};

TEST_F(Exchange, EightStoresOneReadOneConfirmation) {
  EXPECT_EQ(swap(5), OAE_COMMITTED);
  EXPECT_EQ(accesses(), eight_stores_one_read_confirm);
  EXPECT_EQ(answer.reads, 0u);
  EXPECT_EQ(status(), unsigned{OAE_STATUS_OK});
  EXPECT_EQ(block.committed, (Pairs{{5, 1001}}));
  EXPECT_EQ(host, block.committed);
}

TEST_F(Exchange, AnswerIsTheFirmwaresSlot) {
  swap(5);
  EXPECT_EQ(answer.slot[1], 1001u);
  EXPECT_EQ(answer.slot[2], 1u);
  EXPECT_EQ(OAE_GET(answer.slot[0], OAE_SLOT_HEADER_EPOCH), block.epoch);
  EXPECT_EQ(OAE_GET(answer.slot[0], OAE_SLOT_HEADER_SEQUENCE), 1u);
}

TEST_F(Exchange, TimesAreTakenAroundStoresAndRead) {
  swap(5);
  // The clock ticks only when it is read: four times, in this order.
  EXPECT_EQ(answer.issued, answer.stored + 1);
  EXPECT_EQ(answer.answered, answer.stored + 2);
  EXPECT_EQ(answer.committed, answer.stored + 3);
}

TEST_F(Exchange, MoreLeavesTheConfirmationToTheNextOffer) {
  EXPECT_EQ(swap(1, OAE_FLAG_MORE), OAE_COMMITTED);
  EXPECT_EQ(accesses().size(), 9u);
  EXPECT_TRUE(block.committed.empty());
  EXPECT_EQ(swap(2), OAE_COMMITTED);
  EXPECT_EQ(block.committed, host);
  EXPECT_EQ(host.size(), 2u);
}

TEST_F(Exchange, CloseConfirmsWhatMoreHasLeft) {
  swap(1, OAE_FLAG_MORE);
  oae_exchange_confirm(&exchange);
  EXPECT_EQ(block.committed, host);
}

TEST_F(Exchange, NothingToConfirmBeforeTheFirstSwap) {
  oae_exchange_confirm(&exchange);
  EXPECT_TRUE(accesses().empty());
}

TEST_F(Exchange, NotReadyChangesNothingAndReportsTheAge) {
  block.firmware_offers = false;
  EXPECT_EQ(swap(1), OAE_NOT_TAKEN);
  EXPECT_EQ(status(), unsigned{OAE_STATUS_NOT_READY});
  EXPECT_EQ(answer.slot[1], 77u);
  EXPECT_EQ(answer.reads, 0u);
  EXPECT_FALSE(exchange.doubt);
  block.firmware_offers = true;
  EXPECT_EQ(swap(2), OAE_COMMITTED);
  EXPECT_EQ(block.committed, (Pairs{{2, 1001}}));
}

TEST_F(Exchange, NotReadyConfirmsTheSwapBeforeAgain) {
  block.fault = [](unsigned n) { return n == 9 ? Fault::LOST : Fault::NONE; };
  EXPECT_EQ(swap(1), OAE_COMMITTED);
  EXPECT_TRUE(block.committed.empty()) << "the confirmation was to be lost";
  EXPECT_EQ(swap(2), OAE_NOT_TAKEN) << "no room beside an unconfirmed swap";
  EXPECT_EQ(block.committed, host);
  EXPECT_EQ(swap(3), OAE_COMMITTED);
}

TEST_F(Exchange, WithoutBusMasterNothingTakesPlace) {
  block.bus_master = false;
  EXPECT_EQ(swap(1), OAE_NOT_TAKEN);
  EXPECT_EQ(answer.slot[1], 0u) << "nothing was pushed";
  block.bus_master = true;
  EXPECT_EQ(swap(2), OAE_COMMITTED);
  EXPECT_EQ(block.committed, host);
}

TEST_F(Exchange, ARefusedPushProvesNothingOfAnEarlierRead) {
  // The swap takes place and its answer is lost. Then the function may no longer write.
  block.fault = [](unsigned n) { return n == 8 ? Fault::COMPLETION_LOST : Fault::NONE; };
  EXPECT_EQ(swap(1, 0, 0), OAE_IN_DOUBT);
  block.bus_master = false;
  EXPECT_EQ(settle(1), OAE_IN_DOUBT);
  block.bus_master = true;
  EXPECT_EQ(settle(1), OAE_COMMITTED);
  EXPECT_EQ(block.committed, host);
}

TEST_F(Exchange, SequenceGoesRoundPastZero) {
  block.sequence = 0xfffffffe;
  begin();
  EXPECT_EQ(swap(1), OAE_COMMITTED);
  EXPECT_EQ(exchange.sequence, 0xffffffffu);
  EXPECT_EQ(swap(2), OAE_COMMITTED);
  EXPECT_EQ(exchange.sequence, 1u);
  EXPECT_EQ(swap(3), OAE_COMMITTED);
  EXPECT_EQ(block.committed, host);
}

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

class Streamed : public Exchange {
 protected:
  Streamed() { form = OAE_STREAMED; }
};

TEST_F(Streamed, EightStoresABarrierEightLoadsOneConfirmation) {
  EXPECT_EQ(swap(5), OAE_COMMITTED);
  EXPECT_EQ(accesses(),
            (std::vector<unsigned>{0x1000, 0x1008, 0x1010, 0x1018, 0x1020, 0x1028, 0x1030, 0x1038,
                                   Block::barrier, 0x1000, 0x1008, 0x1010, 0x1018, 0x1020, 0x1028,
                                   0x1030, 0x1038, 0x48}));
  EXPECT_EQ(answer.reads, 0u);
  EXPECT_EQ(answer.slot[1], 1001u);
  EXPECT_EQ(answer.slot[7], crc64_xz(answer.slot, 56));
  EXPECT_EQ(block.committed, (Pairs{{5, 1001}}));
  EXPECT_EQ(answer.issued, answer.stored + 1);
  EXPECT_EQ(answer.answered, answer.stored + 2);
  EXPECT_EQ(answer.committed, answer.stored + 3);
}

TEST_F(Streamed, NeedsNoBusMaster) {
  block.bus_master = false;
  EXPECT_EQ(swap(1), OAE_COMMITTED);
  EXPECT_EQ(swap(2, OAE_FLAG_MORE), OAE_COMMITTED);
  EXPECT_EQ(swap(3), OAE_COMMITTED);
  EXPECT_EQ(block.committed, host);
}

TEST_F(Streamed, NotReadyReportsTheAge) {
  block.firmware_offers = false;
  EXPECT_EQ(swap(1), OAE_NOT_TAKEN);
  EXPECT_EQ(status(), unsigned{OAE_STATUS_NOT_READY});
  EXPECT_EQ(answer.slot[1], 77u);
  EXPECT_EQ(answer.reads, 0u);
}

TEST_F(Streamed, NotReadyStaysWhenFirmwareOffersBetweenThePieces) {
  for (unsigned piece = 0; piece < 8; ++piece) {
    block.firmware_offers = false;
    const unsigned at = block.accesses() + 8 + piece;
    block.fault = [this, at](unsigned n) {
      if (n == at) block.firmware_offers = true;
      return Fault::NONE;
    };
    EXPECT_EQ(swap(1), piece == 0 ? OAE_COMMITTED : OAE_NOT_TAKEN);
    EXPECT_EQ(answer.reads, 0u) << "no doubt";
  }
  EXPECT_EQ(swap(2), OAE_COMMITTED);
  EXPECT_EQ(block.committed, host);
}

TEST_F(Streamed, ANothingThatIsNotWholeProvesNothing) {
  // Slice 0 alone says that nothing took place, as the answer of a block without Bus Master does.
  // The rest does not arrive.
  block.firmware_offers = false;
  block.fault = [](unsigned n) { return n > 8 ? Fault::COMPLETION_LOST : Fault::NONE; };
  EXPECT_EQ(swap(1, 0, 0), OAE_IN_DOUBT);
  block.fault = [](unsigned) { return Fault::NONE; };
  block.firmware_offers = true;
  EXPECT_EQ(settle(1), OAE_NOT_TAKEN) << "what was said stays";
  EXPECT_EQ(swap(2), OAE_COMMITTED);
  EXPECT_EQ(block.committed, host);
}

TEST_F(Streamed, DoubtIsSettledInItsForm) {
  block.fault = [](unsigned n) { return n == 10 ? Fault::COMPLETION_LOST : Fault::NONE; };
  EXPECT_EQ(swap(1, 0, 0), OAE_IN_DOUBT);
  accesses();
  EXPECT_EQ(settle(1), OAE_COMMITTED);
  EXPECT_EQ(accesses(), (std::vector<unsigned>{Block::barrier, 0x1000, 0x1008, 0x1010, 0x1018,
                                               0x1020, 0x1028, 0x1030, 0x1038, 0x48}));
  EXPECT_EQ(block.committed, host);
}

TEST_F(Streamed, TakesTurnsWithThePushedForm) {
  for (std::uint64_t word = 1; word <= 20; ++word) {
    form = word % 3 ? OAE_STREAMED : OAE_PUSHED;
    EXPECT_EQ(swap(word, word % 4 && word < 20 ? OAE_FLAG_MORE : 0), OAE_COMMITTED);
  }
  EXPECT_EQ(block.committed, host);
}

TEST_F(Streamed, AReadUnaskedDoesNotLetAPushedSwapBeDenied) {
  // The processor reads the write-combining page when the offer is there; then Bus Master is off.
  form = OAE_PUSHED;
  block.bus_master = false;
  block.fault = [this](unsigned n) {
    if (n == 8) block.read(block.stream);
    return Fault::NONE;
  };
  EXPECT_EQ(swap(1, 0, 1), OAE_IN_DOUBT);
  block.bus_master = true;
  EXPECT_EQ(settle(1), OAE_COMMITTED);
  EXPECT_EQ(block.committed, host);
}

TEST_F(Streamed, AReadUnaskedAfterNotReadySwapsNothing) {
  block.firmware_offers = false;
  EXPECT_EQ(swap(1), OAE_NOT_TAKEN);
  block.firmware_offers = true;
  block.read(block.stream + 0x38);
  EXPECT_EQ(swap(2), OAE_COMMITTED);
  EXPECT_EQ(block.committed, (Pairs{{2, 1001}}));
}

/// The form of the swaps of a sequence.
/// Swaps in a process that has mapped the port, while the pages are taken away.
class Mapped : public Exchange, public testing::WithParamInterface<std::tuple<oae_form, bool>> {
 protected:
  void SetUp() override {
    form = std::get<0>(GetParam());
    Exchange::SetUp();
    exchange.generation = &generation;
    give_back(1);
  }

  void take_away() {
    block.away = true;
    generation = ~0ull;
    exchange.buffer = block.memory.data();
  }

  void give_back(unsigned long long next) {
    block.away = false;
    generation = next;
    exchange.present = next;
    exchange.buffer = block.buffer;
  }

  /// The pages are away from access `first` of the next swap on.
  void take_away_at(unsigned first) {
    first += block.accesses();
    block.fault = [this, first](unsigned n) {
      if (n == first) take_away();
      return Fault::NONE;
    };
  }

  unsigned long long generation = 1;
};

TEST_P(Mapped, WhatStandsInForThePagesIsNoAnswer) {
  const bool reverse = std::get<1>(GetParam());
  const unsigned stores = 8, reads = form == OAE_STREAMED ? 8 : 1;
  for (unsigned first = 0; first <= stores + reads; ++first) {
    SCOPED_TRACE(first);
    take_away_at(first);
    const auto at_first = swap(first, 0, 0);
    // Only the confirmation follows the answer, and the next epoch does not need it.
    ASSERT_EQ(at_first, first == stores + reads ? OAE_COMMITTED : OAE_IN_DOUBT);
    for (int i = 0; i < 3 && exchange.doubt; ++i) ASSERT_EQ(settle(first), OAE_IN_DOUBT);
    give_back(generation + first + 3);
    if (exchange.doubt) {
      if (reverse) oae_exchange_reverse(&exchange);
      ASSERT_NE(settle(first), OAE_IN_DOUBT);
    }
    block.open();
    begin();
    ASSERT_EQ(block.committed, host);
    ASSERT_EQ(swap(99), OAE_COMMITTED);
    ASSERT_EQ(block.committed, host);
  }
}

TEST_P(Mapped, APageThatWasAwayForAMomentProvesNothing) {
  take_away_at(8);
  const auto taken = block.fault;
  block.fault = [&, back = block.accesses() + (form == OAE_STREAMED ? 15 : 8)](unsigned n) {
    taken(n);
    if (n == back) {
      block.away = false;
      generation = 2;
      exchange.buffer = block.buffer;
    }
    return Fault::NONE;
  };
  EXPECT_EQ(swap(1, 0, 0), OAE_IN_DOUBT) << "the answer is whole, but nobody knows";
  give_back(2);
  EXPECT_EQ(settle(1), OAE_COMMITTED);
  EXPECT_EQ(block.committed, host);
}

TEST_P(Mapped, TheKernelHasNoGeneration) {
  exchange.generation = nullptr;
  generation = 2;
  EXPECT_EQ(swap(1), OAE_COMMITTED);
}

INSTANTIATE_TEST_SUITE_P(Forms, Mapped,
                         testing::Combine(testing::Values(OAE_PUSHED, OAE_STREAMED),
                                          testing::Bool()));

enum class Forms { PUSHED, STREAMED, IN_TURNS };

/// How a swap in doubt is settled: by its answer, as reversed, or as reversed if another read of
/// its answer has failed.
enum class Settling { ASK, REVERSE, GIVE_UP };

/// Every pair of faults at every two accesses of a sequence of swaps. When all swaps are settled,
/// host and journal agree, nothing was repeated, and the port still works.
class Faults : public Exchange,
               public testing::WithParamInterface<std::tuple<Fault, Fault, bool, Forms, Settling>> {
 protected:
  void run(unsigned at_first, unsigned at_second) {
    const auto [first, second, more, forms, settling] = GetParam();
    block.fault = [=, first = first, second = second](unsigned n) {
      return n == at_first ? first : n == at_second ? second : Fault::NONE;
    };
    for (std::uint64_t word = 1; word <= 5; ++word) {
      const bool streamed = forms == Forms::STREAMED || (forms == Forms::IN_TURNS && word % 2);
      form = streamed ? OAE_STREAMED : OAE_PUSHED;
      oae_outcome outcome = swap(word, more && word < 5 ? OAE_FLAG_MORE : 0, 0);
      for (int i = 0; outcome == OAE_IN_DOUBT && i < 4; ++i) {
        if (settling == Settling::REVERSE || (settling == Settling::GIVE_UP && i == 1)) {
          oae_exchange_reverse(&exchange);
        }
        outcome = settle(word);
      }
      ASSERT_NE(outcome, OAE_IN_DOUBT) << "not settled after the faults";
    }
    block.fault = [](unsigned) { return Fault::NONE; };
    unsigned tries = 1;
    while (swap(6) != OAE_COMMITTED) ASSERT_LE(++tries, 2u) << "stuck";
    ASSERT_EQ(block.committed, host);
  }
};

TEST_P(Faults, HostAndJournalAgree) {
  // The accesses of three swaps
  const unsigned end = std::get<3>(GetParam()) == Forms::PUSHED ? 32 : 54;
  for (unsigned first = 0; first < end - 2; ++first) {
    for (unsigned second = first + 1; second < end; ++second) {
      SCOPED_TRACE(testing::Message() << "faults at accesses " << first << " and " << second);
      block = Block();
      host.clear();
      begin();
      run(first, second);
      if (HasFatalFailure()) return;
    }
  }
}

std::string fault_names(const testing::TestParamInfo<Faults::ParamType>& info) {
  static const char* const names[] = {
      "None",          "Lost", "CompletionLost", "PushLost", "PushDamaged", "SequenceDamaged",
      "StatusDamaged",
  };
  const auto [first, second, more, forms, settling] = info.param;
  return std::string(names[static_cast<int>(first)]) + "And" + names[static_cast<int>(second)] +
         (more ? "WithMore" : "") +
         (forms == Forms::PUSHED     ? ""
          : forms == Forms::STREAMED ? "Streamed"
                                     : "InTurns") +
         (settling == Settling::ASK       ? ""
          : settling == Settling::REVERSE ? "Reversed"
                                          : "GivenUp");
}

INSTANTIATE_TEST_SUITE_P(
    Pairs, Faults,
    testing::Combine(
        testing::Values(Fault::LOST, Fault::COMPLETION_LOST, Fault::PUSH_LOST, Fault::PUSH_DAMAGED,
                        Fault::SEQUENCE_DAMAGED, Fault::STATUS_DAMAGED),
        testing::Values(Fault::NONE, Fault::LOST, Fault::COMPLETION_LOST, Fault::PUSH_LOST,
                        Fault::PUSH_DAMAGED, Fault::SEQUENCE_DAMAGED, Fault::STATUS_DAMAGED),
        testing::Bool(), testing::Values(Forms::PUSHED, Forms::STREAMED, Forms::IN_TURNS),
        testing::Values(Settling::ASK, Settling::REVERSE, Settling::GIVE_UP)),
    fault_names);

}  // namespace
}  // namespace guest_test
