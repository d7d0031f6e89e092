// SPDX-License-Identifier: Apache-2.0
// Verbs on the words of another cell: their steps take effect there once, and the result comes
// back.
#include "tests/rtl/bridge/cells.h"

namespace bridge {
namespace {

constexpr std::uint64_t done = OAE_FIRMWARE_WORD_OUTCOME_DONE_MASK;
constexpr std::uint64_t busy = OAE_FIRMWARE_WORD_OUTCOME_BUSY_MASK;
constexpr std::uint64_t bad = OAE_FIRMWARE_WORD_OUTCOME_BAD_MASK;

constexpr std::uint64_t step(unsigned place, unsigned operation, unsigned word) {
  return (std::uint64_t{operation} << 12 | word) << 16 * place;
}
constexpr std::uint64_t add(unsigned word) {
  return step(0, OAE_WORD_OPERATION_ADD, word);
}
constexpr std::uint64_t cas(unsigned word) {
  return step(0, OAE_WORD_OPERATION_COMPARE, word) | step(1, OAE_WORD_OPERATION_WRITE, word);
}

/// What tests of these verbs do.
class Words : public Cells {
 protected:
  /// Asks for steps and waits for their result, which has to come.
  Payload perform(Host& host, std::uint64_t steps, std::uint64_t operand_0 = 0,
                  std::uint64_t operand_1 = 0) {
    EXPECT_TRUE(ask(host, steps, operand_0, operand_1));
    rest();
    const std::optional<Payload> result = collect(host);
    EXPECT_TRUE(result);
    return result.value_or(Payload{});
  }
  std::uint64_t state_of(Host& host) {
    std::uint64_t state = 0;
    host.cell->post_read(0, OAE_HOST_PORT_STATE_AT(host.port) & ~63u,
                         [&state](const Slot& line) { state = line[2]; });
    until([&host] { return host.cell->idle(); });
    return state;
  }
  /// Slice 0 of the answer that a host reads.
  std::uint64_t seen(Host& host) {
    std::uint64_t header = 0;
    host.cell->post_read(2, host.port * OAE_PORT_SIZE + OAE_PORT_WINDOW,
                         [&header](const Slot& line) { header = line[0]; });
    until([&host] { return host.cell->idle(); });
    return header;
  }
  bool has_result(Host& host) { return state_of(host) & OAE_HOST_PORT_STATE_RESULT_MASK; }
};

class Remote : public Words {
 protected:
  Remote() { bring_up(); }
};

TEST_F(Remote, FetchAddAddsThereAndReturnsTheOldValue) {
  Host here = open(*a, 1);
  EXPECT_EQ(perform(here, add(5), 7), (Payload{done, 0}));
  EXPECT_EQ(perform(here, add(5), 10), (Payload{done, 7}));
  EXPECT_EQ(word_of(*b, 5), 17u);
  EXPECT_EQ(word_of(*a, 5), 0u) << "the other cell's word";
  EXPECT_EQ(get(*b, Of::left, OAE_WINDOW_COUNT_STRAY), 0u);
}

TEST_F(Remote, CasWritesOnlyWhatItExpects) {
  Host here = open(*a, 1);
  EXPECT_EQ(perform(here, cas(9), 0, 5), (Payload{done, 0, 0}));
  EXPECT_EQ(perform(here, cas(9), 0, 6), (Payload{0, 5, 5}));
  EXPECT_EQ(word_of(*b, 9), 5u);
  EXPECT_EQ(perform(here, cas(9), 5, 6), (Payload{done, 5, 5}));
  EXPECT_EQ(word_of(*b, 9), 6u);
}

TEST_F(Remote, MultiDoesAllOrNothing) {
  Host here = open(*a, 2);
  const std::uint64_t all =
      step(0, OAE_WORD_OPERATION_ADD, 1) | step(1, OAE_WORD_OPERATION_WRITE, 2) |
      step(2, OAE_WORD_OPERATION_READ, 2) | step(3, OAE_WORD_OPERATION_COMPARE, 3);
  access(*b, 1, OAE_WORD_ACCESS_WRITE, 100);
  access(*b, 2, OAE_WORD_ACCESS_WRITE, 200);
  EXPECT_EQ(perform(here, all, 11, 12), (Payload{done, 100, 200, 200, 0}));
  EXPECT_EQ(word_of(*b, 1), 111u);
  EXPECT_EQ(word_of(*b, 2), 12u);
  access(*b, 3, OAE_WORD_ACCESS_WRITE, 1);
  EXPECT_EQ(perform(here, all, 11, 13), (Payload{0, 111, 12, 12, 1}));
  EXPECT_EQ(word_of(*b, 1), 111u);
  EXPECT_EQ(word_of(*b, 2), 12u);
}

TEST_F(Remote, TheOtherHostNeedNotTakePart) {
  Host here = open(*a, 1);
  perform(here, add(5), 7);
  EXPECT_EQ(word_of(*b, 5), 7u) << "its port is closed";
}

// Both hosts ask at once, over the same port.
TEST_F(Remote, BothHostsMayAskAtOnce) {
  Host here = open(*a, 3);
  Host there = open(*b, 3);
  for (std::uint64_t round = 0; round < 20; ++round) {
    ASSERT_TRUE(ask(here, add(1), 1));
    ASSERT_TRUE(ask(there, add(2), 2));
    rest();
    EXPECT_EQ(collect(here), (Payload{done, round}));
    EXPECT_EQ(collect(there), (Payload{done, 2 * round}));
  }
}

// A request and the result of the other host's wait in one port.
TEST_F(Remote, ARequestAndAResultMayLeaveTogether) {
  Host here = open(*a, 3);
  Host there = open(*b, 3);
  std::uint64_t round = 0;
  for (unsigned delay = 0; delay < 120; ++delay, ++round) {
    ASSERT_TRUE(offer(here, OAE_VERB_REMOTE, {add(1), 1}));
    ASSERT_TRUE(ask(there, add(2), 2));
    clock(delay);
    confirm(here);
    rest();
    ASSERT_EQ(collect(here), (Payload{done, round})) << "after " << delay;
    ASSERT_EQ(collect(there), (Payload{done, 2 * round})) << "after " << delay;
  }
}

TEST_F(Remote, AllPortsMayAskAtOnce) {
  Host here[ports];
  for (unsigned port = 0; port < ports; ++port) here[port] = open(*a, port);
  for (Host& host : here) ASSERT_TRUE(ask(host, add(1), 1));
  rest();
  std::uint64_t seen = 0;
  for (Host& host : here) {
    const std::optional<Payload> result = collect(host);
    ASSERT_TRUE(result);
    seen |= std::uint64_t{1} << (*result)[1];
  }
  EXPECT_EQ(seen, (1u << ports) - 1) << "each has found another value";
}

TEST_F(Remote, APortMayUseNoWordsThatItWasNotGivenThere) {
  Host here = open(*a, 1);
  Host other = open(*a, 2);
  put(*b, Of::block, OAE_FIRMWARE_WORDS_AT(1),
      OAE_PUT(OAE_FIRMWARE_WORDS_FIRST, 8) | OAE_PUT(OAE_FIRMWARE_WORDS_COUNT, 2));
  put(*a, Of::block, OAE_FIRMWARE_WORDS_AT(1), 0);
  for (unsigned word = 6; word < 12; ++word) {
    access(*b, word, OAE_WORD_ACCESS_WRITE, 100 + word);
    const bool given = word == 8 || word == 9;
    EXPECT_EQ(perform(here, add(word), 1), (given ? Payload{done, 100 + word} : Payload{bad}))
        << word;
    EXPECT_EQ(word_of(*b, word), 100 + word + (given ? 1 : 0));
  }
  EXPECT_EQ(perform(other, add(7), 1), (Payload{done, 107})) << "another port has others";
  EXPECT_EQ(perform(here, add(8) | step(1, OAE_WORD_OPERATION_READ, 7), 1), Payload{bad});
  EXPECT_EQ(word_of(*b, 8), 109u);
}

TEST_F(Remote, ImpossibleStepsDoNothing) {
  Host here = open(*a, 1);
  EXPECT_EQ(perform(here, add(256), 1), Payload{bad});
  EXPECT_EQ(perform(here, step(0, 5, 1), 1), Payload{bad});
  EXPECT_EQ(perform(here, add(1) | step(1, OAE_WORD_OPERATION_WRITE, 1), 1), Payload{bad});
  EXPECT_EQ(word_of(*b, 1), 0u);
  EXPECT_EQ(perform(here, 0), Payload{done}) << "no steps are no mistake";
}

TEST_F(Remote, HeldWordsAreBusy) {
  Host here = open(*a, 1);
  Host there = open(*b, 2);
  access(*b, 4, OAE_WORD_ACCESS_WRITE, 50);
  ASSERT_TRUE(offer(there, OAE_VERB_FETCH_ADD, {4, 1}));
  EXPECT_EQ(perform(here, add(4), 10), Payload{busy});
  EXPECT_EQ(perform(here, add(3), 10), (Payload{done, 0})) << "another word";
  confirm(there);
  EXPECT_EQ(perform(here, add(4), 10), (Payload{done, 51}));
  EXPECT_EQ(word_of(*b, 4), 61u);
}

// The host of the port that the steps arrive at has an offer there, which is not the slot that is
// served.
TEST_F(Remote, StepsDoNotTouchTheOfferOfTheHostThere) {
  Host here = open(*a, 1);
  Host there = open(*b, 1);
  const Header header{OAE_VERB_SEND, there.epoch, 0, 0, 0, 1};
  Slot slot{header.word(), 5};
  seal(slot);
  b->post_write(2, OAE_PORT_SIZE + OAE_PORT_WINDOW, slot.data(), 64);
  perform(here, add(4), 10);
  EXPECT_EQ(seen(there), header.word());
}

TEST_F(Remote, StepsThatAreBusyDoNotChangeADenialOfTheHostThere) {
  Host here = open(*a, 1);
  Host there = open(*b, 1);
  Host holder = open(*b, 2);
  ASSERT_TRUE(offer(holder, OAE_VERB_FETCH_ADD, {4, 1}));
  EXPECT_FALSE(collect(there));
  EXPECT_EQ(perform(here, add(4), 10), Payload{busy});
  EXPECT_EQ(Header::of(seen(there)).status, OAE_STATUS_NOT_READY);
}

TEST_F(Remote, AReversedRequestIsNotMade) {
  Host here = open(*a, 1);
  ASSERT_TRUE(offer(here, OAE_VERB_REMOTE, {add(5), 7}));
  rest();
  EXPECT_EQ(word_of(*b, 5), 0u) << "not before its confirmation";
  reverse(here);
  rest();
  EXPECT_EQ(word_of(*b, 5), 0u);
  EXPECT_FALSE(collect(here));
  EXPECT_EQ(perform(here, add(5), 8), (Payload{done, 0}));
}

TEST_F(Remote, AReversedResultStays) {
  Host here = open(*a, 1);
  ASSERT_TRUE(ask(here, add(5), 7));
  rest();
  ASSERT_EQ(offer(here, OAE_VERB_RESULT, {}), (Payload{done, 0}));
  reverse(here);
  EXPECT_TRUE(has_result(here));
  EXPECT_EQ(collect(here), (Payload{done, 0}));
  EXPECT_FALSE(has_result(here));
  EXPECT_FALSE(collect(here)) << "it is used up";
  EXPECT_EQ(word_of(*b, 5), 7u);
}

TEST_F(Remote, OneRequestOfAPortIsOnItsWay) {
  Host here = open(*a, 1);
  ASSERT_TRUE(ask(here, add(5), 7));
  EXPECT_FALSE(ask(here, add(5), 7));
  rest();
  EXPECT_FALSE(ask(here, add(5), 7)) << "the result has the only place";
  EXPECT_EQ(collect(here), (Payload{done, 0}));
  EXPECT_EQ(perform(here, add(5), 1), (Payload{done, 7}));
}

TEST_F(Remote, RequestsAndResultsTakeNoPlaceOfSlots) {
  Host here = open(*a, 1);
  Host there = open(*b, 1);
  for (unsigned number = 1; number <= 2; ++number) {
    ASSERT_TRUE(swap(here, number, OAE_VERB_SEND));
    confirm(here);
    rest();
    ASSERT_TRUE(swap(there, 10 + number, OAE_VERB_SEND));
    confirm(there);
    rest();
  }
  EXPECT_EQ(room(here), 0u);
  EXPECT_EQ(perform(here, add(5), 7), (Payload{done, 0})) << "with all places filled";
  EXPECT_EQ(room(here), 0u);
  EXPECT_EQ(waiting(here), 2u);
  EXPECT_EQ(waiting(there), 2u);
  EXPECT_EQ(exchange(here, 3), 0u);
  EXPECT_EQ(exchange(here, 4), 11u) << "no result was offered as a slot";
}

// A request may overtake no slot of its host.
TEST_F(Remote, ARequestFollowsTheSlotsBeforeIt) {
  Host here = open(*a, 1);
  for (unsigned number = 1; number <= 3; ++number) {
    ASSERT_TRUE(swap(here, number, OAE_VERB_SEND));
    confirm(here);
    rest();
  }
  ASSERT_TRUE(ask(here, add(5), 7)) << "the third slot waits for room";
  rest();
  EXPECT_EQ(word_of(*b, 5), 0u);
  Host there = open(*b, 1);
  exchange(there, 11);
  exchange(there, 12);
  rest();
  EXPECT_EQ(word_of(*b, 5), 7u);
  EXPECT_EQ(collect(here), (Payload{done, 0}));
}

TEST_F(Remote, AResultOfAnotherEpochIsDropped) {
  Host here = open(*a, 1);
  ASSERT_TRUE(ask(here, add(5), 7));
  rest();
  close(here);
  here = open(*a, 1);
  EXPECT_FALSE(has_result(here)) << "it was here";
  EXPECT_FALSE(collect(here));
  // It is still on its way.
  put(*a, Of::left, OAE_WINDOW_CONTROL, 0);
  until([this] { return b->top.left_phase_o == OAE_WINDOW_PHASE_DOWN; });
  ASSERT_TRUE(ask(here, add(5), 7));
  close(here);
  here = open(*a, 1);
  EXPECT_FALSE(ask(here, add(5), 7)) << "its place is not free yet";
  take_up(*a);
  take_up(*b);
  until([this] { return is_up(); });
  rest();
  EXPECT_EQ(word_of(*b, 5), 14u) << "it was committed";
  EXPECT_FALSE(has_result(here));
  EXPECT_EQ(perform(here, add(5), 7), (Payload{done, 14}));
}

TEST_F(Remote, TheEpochOfAnEarlierRequestForsakesNoLaterOne) {
  Host here = open(*a, 1);
  perform(here, add(5), 7);
  close(here);
  here = open(*a, 1);
  EXPECT_EQ(perform(here, add(5), 7), (Payload{done, 7}));
}

TEST_F(Remote, AHostThatWaitsForAResultIsInterruptedOnce) {
  Host here = open(*a, 1);
  Host there = open(*b, 1);
  const auto set = [&](unsigned address, std::uint64_t value) {
    a->post_write(0, address, &value, 8);
    rest();
  };
  const auto arm = [&](std::uint64_t armed) { set(OAE_HOST_PORT_EVENT_AT(1), armed | 3); };
  ASSERT_TRUE(ask(here, add(5), 7));
  rest();
  arm(0);
  set(OAE_HOST_PORT_ANSWER_ADDRESS_AT(1), OAE_HOST_PORT_EVENT_RESULT_ARMED_MASK);
  set(OAE_HOST_PORT_ANSWER_ADDRESS_AT(1), 0);
  EXPECT_EQ(a->interrupts, 0u) << "it does not wait";
  arm(OAE_HOST_PORT_EVENT_RESULT_ARMED_MASK);
  EXPECT_EQ(a->interrupts, 1u) << "at once, since the result is here";
  ASSERT_TRUE(collect(here));
  perform(here, add(5), 7);
  EXPECT_EQ(a->interrupts, 1u) << "one shot";
  arm(OAE_HOST_PORT_EVENT_RESULT_ARMED_MASK);
  ASSERT_TRUE(swap(there, 11, OAE_VERB_SEND));
  confirm(there);
  rest();
  EXPECT_EQ(a->interrupts, 1u) << "neither for an offer nor for a slot";
  ASSERT_TRUE(ask(here, add(5), 7));
  rest();
  EXPECT_EQ(a->interrupts, 2u);
  ASSERT_TRUE(collect(here));
  perform(here, add(5), 7);
  EXPECT_EQ(a->interrupts, 2u) << "one shot";
  // The result of another epoch is none.
  put(*a, Of::left, OAE_WINDOW_CONTROL, 0);
  ASSERT_TRUE(ask(here, add(5), 7));
  close(here);
  here = open(*a, 1);
  arm(OAE_HOST_PORT_EVENT_RESULT_ARMED_MASK);
  until([this] { return b->top.left_phase_o == OAE_WINDOW_PHASE_DOWN; });
  take_up(*a);
  take_up(*b);
  until([this] { return is_up(); });
  rest();
  EXPECT_EQ(a->interrupts, 2u);
  perform(here, add(5), 7);
  EXPECT_EQ(a->interrupts, 3u) << "it waits still";
  arm(OAE_HOST_PORT_EVENT_OFFER_ARMED_MASK);
  EXPECT_EQ(a->interrupts, 4u) << "for the offer";
  perform(here, add(5), 7);
  EXPECT_EQ(a->interrupts, 4u) << "it has waited for the offer only";
}

TEST_F(Remote, AResetOfTheFunctionForgetsWhatTheHostWaitsFor) {
  Host here = open(*a, 1);
  const std::uint64_t event = OAE_HOST_PORT_EVENT_RESULT_ARMED_MASK | 3;
  a->post_write(0, OAE_HOST_PORT_EVENT_AT(1), &event, 8);
  a->post_reset();
  rest();
  ASSERT_TRUE(ask(here, add(5), 7));
  rest();
  EXPECT_EQ(a->interrupts, 0u);
  EXPECT_TRUE(has_result(here)) << "the journal does not change";
}

TEST_F(Remote, TheFirmwareIsToldOfNoSlotForIt) {
  Host here = open(*a, 1);
  ASSERT_TRUE(ask(here, add(5), 7));
  rest();
  put(*a, Of::block, OAE_FIRMWARE_EVENT_AT(1), ~std::uint64_t{0});
  ASSERT_TRUE(collect(here));
  EXPECT_EQ(get(*a, Of::block, OAE_FIRMWARE_EVENT_AT(1)), OAE_FIRMWARE_EVENT_PASSED_MASK);
}

TEST_F(Remote, ARestartedFirmwareChangesNothing) {
  Host here = open(*a, 1);
  for (unsigned delay = 0; delay < 60; delay += 3) {
    ASSERT_TRUE(ask(here, add(5), 1));
    clock(delay);
    for (Cell* cell : {a.get(), b.get()}) {
      put(*cell, Of::block, OAE_FIRMWARE_JOIN_AT(1), 1);
      put(*cell, Of::block, OAE_FIRMWARE_COMMAND_AT(1),
          OAE_FIRMWARE_COMMAND_PUBLISH_MASK | OAE_FIRMWARE_COMMAND_TAKE_MASK |
              OAE_FIRMWARE_COMMAND_WITHDRAW_MASK);
      put(*cell, Of::left, OAE_WINDOW_COMMAND, OAE_WINDOW_COMMAND_DROP);
      put(*cell, Of::left, OAE_WINDOW_TAKEN, 3);
    }
    rest();
    EXPECT_EQ(collect(here), (Payload{done, delay / 3}));
  }
  EXPECT_EQ(word_of(*b, 5), 20u);
}

TEST_F(Remote, APortThatIsNotJoinedHasNoOtherCell) {
  put(*a, Of::block, OAE_FIRMWARE_JOIN_AT(1), 0);
  Host here = open(*a, 1);
  std::uint8_t attempt = 0;
  for (const std::uint8_t verb : {OAE_VERB_REMOTE, OAE_VERB_RESULT}) {
    const Header header{verb, here.epoch, 0, 0, attempt++, 1};
    Slot slot{header.word(), add(5), 1};
    seal(slot);
    Slot answer{};
    a->post_write(2, OAE_PORT_SIZE, slot.data(), 64);
    a->post_read(2, OAE_PORT_SIZE, [&answer](const Slot& line) { answer = line; });
    until([this] { return a->idle(); });
    EXPECT_EQ(Header::of(answer[0]).status, OAE_STATUS_BAD_VERB) << unsigned{verb};
  }
}

// The offer was judged while the port was joined.
TEST_F(Remote, APortThatLeavesItsPartnerTakesNoMoreRequests) {
  Host here = open(*a, 1);
  const Header header{OAE_VERB_REMOTE, here.epoch, 0, 0, 0, 1};
  Slot slot{header.word(), add(5), 1};
  seal(slot);
  Slot answer{};
  a->post_write(2, OAE_PORT_SIZE, slot.data(), 64);
  rest();
  put(*a, Of::block, OAE_FIRMWARE_JOIN_AT(1), 0);
  a->post_read(2, OAE_PORT_SIZE, [&answer](const Slot& line) { answer = line; });
  until([this] { return a->idle(); });
  EXPECT_EQ(Header::of(answer[0]).status, OAE_STATUS_NOT_READY);
}

TEST_F(Remote, APortThatJoinsAgainKeepsWhatIsInIt) {
  Host here = open(*a, 1);
  const auto join = [&](Cell& cell) {
    put(cell, Of::block, OAE_FIRMWARE_JOIN_AT(1), 0);
    put(cell, Of::block, OAE_FIRMWARE_JOIN_AT(1), 1);
  };
  ASSERT_TRUE(ask(here, add(5), 1));
  rest();
  join(*a);
  EXPECT_EQ(collect(here), (Payload{done, 0})) << "it is here already";
  rest();
  EXPECT_EQ(perform(here, add(5), 1), (Payload{done, 1}));
  // What waits in its port is passed on after that, too.
  put(*a, Of::left, OAE_WINDOW_PORTS, 0);
  ASSERT_TRUE(ask(here, add(5), 1));
  join(*a);
  put(*a, Of::left, OAE_WINDOW_PORTS, 0xf);
  rest();
  EXPECT_EQ(collect(here), (Payload{done, 2}));
  // So is what waits behind another slot.
  put(*a, Of::left, OAE_WINDOW_PORTS, 0);
  ASSERT_TRUE(swap(here, 1, OAE_VERB_SEND));
  confirm(here);
  ASSERT_TRUE(ask(here, add(5), 1));
  join(*a);
  put(*a, Of::left, OAE_WINDOW_PORTS, 0xf);
  rest();
  EXPECT_EQ(collect(here), (Payload{done, 3}));
  // Slots that wait there are no requests.
  ASSERT_TRUE(ask(here, add(5), 1));
  rest();
  put(*a, Of::left, OAE_WINDOW_PORTS, 0);
  rest();
  acknowledge(here);  // the slot that nobody has used up there
  for (unsigned number = 1; number <= 2; ++number) {
    ASSERT_TRUE(swap(here, number, OAE_VERB_SEND));
    confirm(here);
  }
  join(*a);
  put(*a, Of::left, OAE_WINDOW_PORTS, 0xf);
  rest();
  EXPECT_EQ(collect(here), (Payload{done, 4}));
  EXPECT_EQ(perform(here, add(5), 1), (Payload{done, 5}));
}

TEST_F(Remote, RequestsAndResultsWaitWhileTheLinkIsDown) {
  Host here = open(*a, 0);
  put(*a, Of::left, OAE_WINDOW_CONTROL, 0);
  until([this] { return b->top.left_phase_o == OAE_WINDOW_PHASE_DOWN; });
  ASSERT_TRUE(ask(here, add(5), 7));
  rest();
  EXPECT_EQ(word_of(*b, 5), 0u);
  take_up(*a);
  take_up(*b);
  until([this] { return is_up(); });
  rest();
  EXPECT_EQ(collect(here), (Payload{done, 0}));
}

// Its link is not bridged, and its firmware sends what it likes.
class StrangeRequest : public Words {
 protected:
  std::uint64_t head(bool steps, bool result) {
    return head_for(1) | OAE_PUT(OAE_PASSAGE_HEAD_STEPS, steps) |
           OAE_PUT(OAE_PASSAGE_HEAD_RESULT, result);
  }
  StrangeRequest() {
    for (unsigned port = 0; port < ports; ++port) put(*a, Of::block, OAE_FIRMWARE_JOIN_AT(port), 1);
    put(*a, Of::left, OAE_WINDOW_PORTS, ~std::uint64_t{0});
    take_up_with_stranger();
    greet(1);
  }
};

TEST_F(StrangeRequest, AResultThatNobodyAskedForIsStray) {
  Host here = open(*a, 1);
  send(*b, head(false, true), 9);
  EXPECT_EQ(strays(), 1u);
  EXPECT_FALSE(has_result(here));
  send(*b, head(true, true), add(4));
  EXPECT_EQ(word_of(*a, 4), 2 * add(4)) << "it is a request";
  EXPECT_FALSE(has_result(here));
  ASSERT_TRUE(ask(here, add(5), 7));
  rest();
  send(*b, head(false, true), 9);
  send(*b, head(false, true), 8);
  EXPECT_EQ(strays(), 2u) << "there is one place";
  EXPECT_EQ(collect(here), (Payload{9, 18, 27, 36, 45, 54}));
  EXPECT_EQ(waiting(here), 0u);
}

TEST_F(StrangeRequest, AnAccountIsNoRequest) {
  const std::uint64_t received = get(*b, Of::left, OAE_WINDOW_RECEIVED);
  send(*b, head(true, false) | OAE_PASSAGE_HEAD_ACCOUNT_MASK, add(5));
  EXPECT_EQ(word_of(*a, 5), 0u);
  EXPECT_EQ(get(*b, Of::left, OAE_WINDOW_RECEIVED), received) << "there is no result";
}

// The rings of the link are full, so that the result stays in its port.
TEST_F(StrangeRequest, ASecondRequestWhileAResultWaitsIsStray) {
  for (unsigned n = 0; n < 32; ++n) {
    put(*a, Of::block, OAE_FIRMWARE_JOIN_AT(2), n % 2);
    rest();
  }
  send(*b, head(true, false), add(5));
  EXPECT_EQ(word_of(*a, 5), 2 * add(5)) << "what send() gives the first operand";
  EXPECT_EQ(strays(), 0u);
  send(*b, head(true, false), add(5));
  EXPECT_EQ(word_of(*a, 5), 2 * add(5));
  EXPECT_EQ(strays(), 1u);
}

}  // namespace
}  // namespace bridge
