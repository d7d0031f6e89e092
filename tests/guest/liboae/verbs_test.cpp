// SPDX-License-Identifier: Apache-2.0
// The steps in the payload of a swap, and their outcome in its answer.
#include <gtest/gtest.h>

#include <cerrno>
#include <cstring>
#include <vector>

#include "guest/liboae/oae.h"
#include "tests/rtl/block/reference/words.h"

namespace {

using Steps = std::vector<oae_step>;

oae_step step(unsigned operation, unsigned word, std::uint64_t operand = 0) {
  return {static_cast<std::uint8_t>(operation), word, operand, 0};
}

oae_swap offered(const Steps& steps, int expected = 0) {
  oae_swap swap{};
  EXPECT_EQ(oae_swap_set_steps(&swap, steps.data(), static_cast<unsigned>(steps.size())), expected);
  return swap;
}

/// A step as the block reads it.
ReferenceWords::Steps understood(const oae_swap& swap) {
  Header header;
  header.verb = swap.verb;
  Slot slot{header.word()};
  std::memcpy(&slot[1], swap.offer, sizeof(swap.offer));
  return ReferenceWords::steps(slot).value();
}

void expect_understood(const Steps& steps) {
  const ReferenceWords::Steps seen = understood(offered(steps));
  for (std::size_t i = 0; i < seen.size(); ++i) {
    EXPECT_EQ(seen[i].operation, i < steps.size() ? steps[i].operation : 0u) << i;
    if (i >= steps.size()) continue;
    EXPECT_EQ(seen[i].index, steps[i].word) << i;
    EXPECT_EQ(seen[i].operand, steps[i].operand) << i;
  }
}

TEST(Verbs, AreTheShortestOnesThereAre) {
  EXPECT_EQ(offered({step(OAE_STEP_ADD, 3, 5)}).verb, OAE_SWAP_VERB_FETCH_ADD);
  EXPECT_EQ(offered({step(OAE_STEP_COMPARE, 3, 5), step(OAE_STEP_WRITE, 3, 6)}).verb,
            OAE_SWAP_VERB_CAS);
  for (const Steps& steps :
       {Steps{step(OAE_STEP_READ, 3)}, Steps{step(OAE_STEP_WRITE, 3)},
        Steps{step(OAE_STEP_COMPARE, 3)}, Steps{step(OAE_STEP_ADD, 3), step(OAE_STEP_ADD, 4)},
        Steps{step(OAE_STEP_COMPARE, 3), step(OAE_STEP_WRITE, 4)},
        Steps{step(OAE_STEP_WRITE, 3), step(OAE_STEP_COMPARE, 3)},
        Steps{step(OAE_STEP_COMPARE, 3), step(OAE_STEP_WRITE, 3), step(OAE_STEP_READ, 0)}}) {
    EXPECT_EQ(offered(steps).verb, OAE_SWAP_VERB_MULTI);
  }
}

TEST(Verbs, AreUnderstoodByTheBlock) {
  expect_understood({step(OAE_STEP_ADD, 255, ~0ull)});
  expect_understood({step(OAE_STEP_COMPARE, 255, 1), step(OAE_STEP_WRITE, 255, 2)});
  expect_understood({step(OAE_STEP_READ, 0)});
  expect_understood({step(OAE_STEP_WRITE, 1, 10), step(OAE_STEP_ADD, 2, 20),
                     step(OAE_STEP_COMPARE, 255, 30), step(OAE_STEP_READ, 2, 40)});
}

TEST(Verbs, OfAnotherCellHaveThePayloadOfMulti) {
  for (const Steps& steps : {Steps{step(OAE_STEP_ADD, 255, ~0ull)},
                             Steps{step(OAE_STEP_COMPARE, 255, 1), step(OAE_STEP_WRITE, 255, 2)},
                             Steps{step(OAE_STEP_WRITE, 1, 10), step(OAE_STEP_ADD, 2, 20),
                                   step(OAE_STEP_COMPARE, 255, 30), step(OAE_STEP_READ, 2, 40)}}) {
    const auto count = static_cast<unsigned>(steps.size());
    oae_swap swap{};
    ASSERT_EQ(oae_swap_set_remote_steps(&swap, steps.data(), count), 0);
    EXPECT_EQ(swap.verb, OAE_SWAP_VERB_REMOTE);
    swap.verb = OAE_SWAP_VERB_MULTI;  // The other cell takes it for that.
    const ReferenceWords::Steps seen = understood(swap);
    for (unsigned i = 0; i < count; ++i) {
      EXPECT_EQ(seen[i].operation, steps[i].operation) << i;
      EXPECT_EQ(seen[i].index, steps[i].word) << i;
      EXPECT_EQ(seen[i].operand, steps[i].operand) << i;
    }
  }
  oae_swap swap{};
  EXPECT_EQ(oae_swap_set_remote_steps(&swap, nullptr, 0), -EINVAL);
}

TEST(Verbs, ResultsOfAnotherCell) {
  Steps steps{step(OAE_STEP_READ, 0), step(OAE_STEP_ADD, 1)};
  oae_swap swap{};
  swap.verb = OAE_SWAP_VERB_RESULT;
  for (unsigned i = 1; i < 5; ++i) swap.answer[i] = 10 * i;
  const std::pair<std::uint64_t, int> results[] = {
      {OAE_RESULT_DONE, 1}, {0, 0}, {OAE_RESULT_BUSY, -EBUSY}, {OAE_RESULT_BAD, -EINVAL}};
  for (const auto& [said, expected] : results) {
    swap.answer[0] = said;
    EXPECT_EQ(oae_swap_get_result(&swap, steps.data(), 2), expected) << said;
  }
  EXPECT_EQ(steps[0].found, 10u);
  EXPECT_EQ(steps[1].found, 20u);
  swap.status = OAE_SWAP_STATUS_NOT_READY;
  swap.answer[0] = OAE_RESULT_BUSY;
  EXPECT_EQ(oae_swap_get_result(&swap, steps.data(), 2), -EAGAIN) << "it has no result";
}

TEST(Verbs, WhatIsNoStepIsRefused) {
  offered({}, -EINVAL);
  offered(Steps(5, step(OAE_STEP_READ, 0)), -EINVAL);
  offered({step(0, 0)}, -EINVAL);
  offered({step(5, 0)}, -EINVAL);
  offered({step(OAE_STEP_READ, 0), step(OAE_STEP_READ, 0x1000)}, -EINVAL);
  offered({step(OAE_STEP_READ, 0xfff)});
}

TEST(Verbs, OutcomesOfASwap) {
  Steps steps{step(OAE_STEP_READ, 0), step(OAE_STEP_ADD, 1)};
  oae_swap swap{};
  swap.verb = OAE_SWAP_VERB_MULTI;
  swap.answer[0] = 1;
  for (unsigned i = 1; i < 5; ++i) swap.answer[i] = 10 * i;
  EXPECT_EQ(oae_swap_get_steps(&swap, steps.data(), 2), 1);
  EXPECT_EQ(steps[0].found, 10u);
  EXPECT_EQ(steps[1].found, 20u);
  swap.answer[0] = 0;
  EXPECT_EQ(oae_swap_get_steps(&swap, steps.data(), 2), 0);
  swap.verb = OAE_SWAP_VERB_CAS;
  EXPECT_EQ(oae_swap_get_steps(&swap, steps.data(), 2), 0);
  EXPECT_EQ(steps[1].found, 10u) << "it is one word";
  const std::pair<unsigned, int> others[] = {
      {OAE_SWAP_STATUS_NOT_READY, -EAGAIN},    {OAE_SWAP_STATUS_BUSY, -EBUSY},
      {OAE_SWAP_STATUS_HISTORY_LOST, -ENODEV}, {OAE_SWAP_STATUS_REVERSED, -ECANCELED},
      {OAE_SWAP_STATUS_BAD_VERB, -EINVAL},     {99, -ENODEV}};
  for (const auto& [status, error] : others) {
    swap.status = static_cast<std::uint8_t>(status);
    EXPECT_EQ(oae_swap_get_steps(&swap, steps.data(), 2), error) << status;
  }
}

}  // namespace
