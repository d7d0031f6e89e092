// SPDX-License-Identifier: Apache-2.0
// Swaps of a process that has the port mapped.
#include <tuple>

#include "tests/guest/driver/exchange.h"

namespace guest_test {
namespace {

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

}  // namespace
}  // namespace guest_test
