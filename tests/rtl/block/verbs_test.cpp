// SPDX-License-Identifier: Apache-2.0
// The verbs that the block answers itself: those on its words, and SEND.
#include <gtest/gtest.h>

#include <initializer_list>

#include "tests/rtl/block/block_fixture.h"

namespace {

class Verbs : public Block {
 protected:
  static constexpr unsigned other = 5;

  static Slot offer(std::uint8_t verb, std::uint32_t sequence,
                    std::initializer_list<std::uint64_t> payload, std::uint8_t flags = 0) {
    Header header;
    header.verb = verb;
    header.epoch = 1;
    header.sequence = sequence;
    header.flags = flags;
    Slot slot{header.word()};
    std::copy(payload.begin(), payload.end(), slot.begin() + 1);
    seal(slot);
    return slot;
  }
  static Slot cas(std::uint32_t sequence, std::uint64_t index, std::uint64_t compare,
                  std::uint64_t value) {
    return offer(OAE_VERB_CAS, sequence, {index, compare, value});
  }
  static Slot add(std::uint32_t sequence, std::uint64_t index, std::uint64_t operand,
                  std::uint8_t flags = 0) {
    return offer(OAE_VERB_FETCH_ADD, sequence, {index, operand}, flags);
  }
  /// The words that a port may use, as the firmware's register `words` holds them.
  static std::uint64_t range(std::uint64_t first, std::uint64_t count) {
    return OAE_PUT(OAE_FIRMWARE_WORDS_FIRST, first) | OAE_PUT(OAE_FIRMWARE_WORDS_COUNT, count);
  }
  static std::uint64_t step(unsigned place, std::uint64_t operation, std::uint64_t index) {
    return (operation << 12 | index) << 16 * place;
  }

  Slot ask(unsigned number, const Slot& slot) {
    fixture.write_slot(number, slot);
    return fixture.stream(number);
  }
  unsigned status_of(const Slot& slot) { return Header::of(slot[0]).status; }
  /// The port gets all words. A copy of the offer still does not take place, and the next attempt
  /// does.
  void expect_only_the_next_attempt(const Slot& offer) {
    fixture.put(OAE_FIRMWARE_WORDS_AT(port), range(0, 256));
    EXPECT_NE(status_of(ask(port, offer)), OAE_STATUS_OK);
    EXPECT_EQ(state(), std::uint64_t{OAE_PORT_STATE_IDLE});
    done(port, again(offer));
  }
  /// Makes a swap and confirms it.
  Slot done(unsigned number, const Slot& slot) {
    const Slot answer = ask(number, slot);
    EXPECT_EQ(status_of(answer), OAE_STATUS_OK);
    fixture.confirm(number, 1, Header::of(slot[0]).sequence);
    return answer;
  }

  std::uint64_t command(std::uint64_t access, std::uint64_t index, std::uint64_t operand = 0,
                        std::uint64_t compare = 0) {
    fixture.put(OAE_FIRMWARE_WORD_OPERAND, operand);
    fixture.put(OAE_FIRMWARE_WORD_COMPARE, compare);
    fixture.put(OAE_FIRMWARE_WORD_COMMAND,
                OAE_PUT(OAE_FIRMWARE_WORD_COMMAND_ACCESS, access) | index);
    return fixture.get(OAE_FIRMWARE_WORD_OUTCOME);
  }
  std::uint64_t word(unsigned index) {
    EXPECT_EQ(command(OAE_WORD_ACCESS_READ, index), OAE_FIRMWARE_WORD_OUTCOME_DONE_MASK) << index;
    return fixture.get(OAE_FIRMWARE_WORD_RESULT);
  }
  bool held(unsigned index) {
    return command(OAE_WORD_ACCESS_READ, index) == OAE_FIRMWARE_WORD_OUTCOME_BUSY_MASK;
  }
};

TEST_F(Verbs, AreAnnounced) {
  const std::uint64_t features = counter(OAE_HOST_FEATURES);
  EXPECT_EQ(OAE_GET(features, OAE_HOST_FEATURES_VERBS), 0xfeu);
  EXPECT_EQ(OAE_GET(features, OAE_HOST_FEATURES_WORDS), ReferenceWords::count);
}

TEST_F(Verbs, FetchAddIsDoneAtItsConfirmation) {
  open();
  const Slot answer = ask(port, add(1, 7, 5));
  EXPECT_EQ(answer, offer(OAE_VERB_FETCH_ADD, 1, {1, 0})) << "met, and what was there";
  EXPECT_EQ(state(), OAE_PORT_STATE_TENTATIVE);
  EXPECT_TRUE(held(7));
  EXPECT_FALSE(held(6));
  fixture.confirm(port, 1, 1);
  EXPECT_EQ(state(), OAE_PORT_STATE_COMMITTED);
  EXPECT_EQ(word(7), 5u);
  EXPECT_EQ(tentative(), Slot{}) << "nothing for the firmware";
  EXPECT_EQ(committed(), Slot{});
  EXPECT_EQ(counter(OAE_HOST_PORT_COMMITTED_AT(port)), 1u);
  EXPECT_EQ(done(port, add(2, 7, all))[2], 5u);
  EXPECT_EQ(word(7), 4u) << "modulo 2^64";
  fixture.confirm(port, 1, 2);
  EXPECT_EQ(word(7), 4u) << "once";
}

TEST_F(Verbs, CasWritesOnlyWhatItExpects) {
  open();
  EXPECT_EQ(done(port, cas(1, 255, 1, 9)), offer(OAE_VERB_CAS, 1, {0, 0, 0}));
  EXPECT_EQ(word(255), 0u);
  EXPECT_EQ(done(port, cas(2, 255, 0, 9)), offer(OAE_VERB_CAS, 2, {1, 0, 0}));
  EXPECT_EQ(word(255), 9u);
  EXPECT_EQ(done(port, cas(3, 255, 9, 10)), offer(OAE_VERB_CAS, 3, {1, 9, 9}));
  EXPECT_EQ(word(255), 10u);
  // A comparison that does not hold leaves no word held.
  ask(port, cas(4, 255, 0, 11));
  EXPECT_EQ(state(), OAE_PORT_STATE_TENTATIVE);
  EXPECT_EQ(command(OAE_WORD_ACCESS_WRITE, 255, 0), OAE_FIRMWARE_WORD_OUTCOME_DONE_MASK);
  fixture.confirm(port, 1, 4);
  EXPECT_EQ(word(255), 0u) << "though it would be met now";
}

TEST_F(Verbs, MultiDoesAllOrNothing) {
  open();
  const std::uint64_t steps =
      step(0, OAE_WORD_OPERATION_COMPARE, 1) | step(1, OAE_WORD_OPERATION_WRITE, 2) |
      step(2, OAE_WORD_OPERATION_ADD, 1) | step(3, OAE_WORD_OPERATION_READ, 3);
  EXPECT_EQ(done(port, offer(OAE_VERB_MULTI, 1, {steps, 0, 20, 10, 0})),
            offer(OAE_VERB_MULTI, 1, {1, 0, 0, 0, 0}));
  EXPECT_EQ(word(1), 10u);
  EXPECT_EQ(word(2), 20u);
  command(OAE_WORD_ACCESS_WRITE, 3, 30);
  EXPECT_EQ(done(port, offer(OAE_VERB_MULTI, 2, {steps, 0, 21, 11, 0})),
            offer(OAE_VERB_MULTI, 2, {0, 10, 20, 10, 30}))
      << "the compare was not met";
  EXPECT_EQ(word(1), 10u);
  EXPECT_EQ(word(2), 20u);
  // All steps see the words as they were.
  const std::uint64_t move =
      step(0, OAE_WORD_OPERATION_READ, 1) | step(1, OAE_WORD_OPERATION_WRITE, 1) |
      step(2, OAE_WORD_OPERATION_COMPARE, 1) | step(3, OAE_WORD_OPERATION_ADD, 2);
  EXPECT_EQ(done(port, offer(OAE_VERB_MULTI, 3, {move, 99, 1, 10, all})),
            offer(OAE_VERB_MULTI, 3, {1, 10, 10, 10, 20}));
  EXPECT_EQ(word(1), 1u);
  EXPECT_EQ(word(2), 19u);
  EXPECT_EQ(done(port, offer(OAE_VERB_MULTI, 4, {0, 1, 2, 3, 4})),
            offer(OAE_VERB_MULTI, 4, {1, 0, 0, 0, 0}))
      << "no step is well, too";
}

TEST_F(Verbs, HeldWordsAreBusyForEverybody) {
  open();
  open(other);
  done(port, add(1, 7, 5));
  ask(port, add(2, 7, 5));
  const Slot busy = ask(other, cas(1, 7, 5, 6));
  EXPECT_EQ(status_of(busy), OAE_STATUS_BUSY);
  EXPECT_EQ(Header::of(busy[0]).verb, OAE_VERB_CAS);
  EXPECT_EQ(Header::of(busy[0]).sequence, 1u);
  for (const unsigned access :
       {OAE_WORD_ACCESS_READ, OAE_WORD_ACCESS_WRITE, OAE_WORD_ACCESS_ADD, OAE_WORD_ACCESS_CAS}) {
    EXPECT_EQ(command(access, 7, 1, 5), OAE_FIRMWARE_WORD_OUTCOME_BUSY_MASK) << access;
    EXPECT_EQ(fixture.get(OAE_FIRMWARE_WORD_RESULT), 0u);
  }
  const std::uint64_t steps =
      step(0, OAE_WORD_OPERATION_ADD, 8) | step(3, OAE_WORD_OPERATION_READ, 7);
  EXPECT_EQ(status_of(ask(other, again(offer(OAE_VERB_MULTI, 1, {steps, 1})))), OAE_STATUS_BUSY);
  fixture.confirm(port, 1, 2);
  EXPECT_EQ(word(7), 10u);
  EXPECT_EQ(word(8), 0u) << "none of it was done";
  EXPECT_EQ(fixture.stream(other)[0], Header::of(fixture.stream(other)[0]).word());
  EXPECT_EQ(status_of(fixture.stream(other)), OAE_STATUS_BUSY) << "what was said stays";
  EXPECT_EQ(counter(OAE_HOST_PORT_NOT_READY_AT(other)), 2u);
  Slot third = again(again(offer(OAE_VERB_MULTI, 1, {steps, 1})));
  EXPECT_EQ(status_of(ask(other, third)), OAE_STATUS_OK);
  fixture.confirm(other, 1, 1);
  EXPECT_EQ(word(8), 1u);
}

TEST_F(Verbs, AReversalLetsGo) {
  open();
  ask(port, add(1, 7, 5));
  fixture.put(OAE_FIRMWARE_EVENT_AT(port), all);
  fixture.reverse(port, 1, 1);
  EXPECT_EQ(state(), OAE_PORT_STATE_REVERSED);
  EXPECT_EQ(word(7), 0u);
  EXPECT_EQ(done(port, add(2, 7, 5))[2], 0u);
  EXPECT_EQ(word(7), 5u);
  // A reversal of the next swap commits the one before.
  ask(port, add(3, 7, 1));
  fixture.reverse(port, 1, 4);
  EXPECT_EQ(state(), OAE_PORT_STATE_REVERSED);
  EXPECT_EQ(word(7), 6u);
  fixture.reverse(port, 1, 4);
  EXPECT_EQ(word(7), 6u);
}

TEST_F(Verbs, TheAnswerIsRetained) {
  open();
  done(port, add(1, 7, 5));
  const Slot answer = ask(port, add(2, 7, 5));
  EXPECT_EQ(fixture.stream(port), answer);
  EXPECT_EQ(fixture.answer(port), answer[0]);
  EXPECT_EQ(fixture.pushed_slot, answer) << "in both forms";
  fixture.confirm(port, 1, 2);
  EXPECT_EQ(ask(port, add(2, 7, 5)), answer) << "a repetition is no new one";
  EXPECT_EQ(word(7), 10u);
}

TEST_F(Verbs, MoreIsConfirmedByTheNext) {
  open();
  ask(port, add(1, 7, 5, OAE_FLAG_MORE));
  EXPECT_TRUE(held(7));
  EXPECT_EQ(ask(port, add(2, 7, 5, OAE_FLAG_MORE))[2], 5u) << "its own words are free by then";
  fixture.publish(port, slot(3, 103));
  fixture.write_slot(port, slot(3, 203));
  EXPECT_EQ(word(7), 10u);
  EXPECT_EQ(fixture.stream(port), slot(3, 103));
}

TEST_F(Verbs, ARefusedAnswerHoldsNothing) {
  open();
  fixture.publish(port, slot(1, 101));
  fixture.put(OAE_FIRMWARE_EVENT_AT(port), all);
  fixture.write_slot(port, add(1, 7, 5));
  EXPECT_EQ(Header::of(fixture.answer(port, true)).status, OAE_STATUS_NOT_READY);
  EXPECT_FALSE(held(7));
  EXPECT_EQ(state(), OAE_PORT_STATE_IDLE);
  EXPECT_TRUE(status() & OAE_FIRMWARE_STATUS_OFFERED_MASK) << "the firmware's offer stands";
  EXPECT_EQ(event(), 0u);
  fixture.write_slot(port, again(slot(1, 201)));
  EXPECT_EQ(fixture.answer(port), slot(1, 101)[0]) << "and is as it was";
  EXPECT_EQ(fixture.pushed_slot, slot(1, 101));
}

TEST_F(Verbs, PassAnOfferOfTheFirmware) {
  open();
  fixture.publish(port, slot(1, 101));
  fixture.put(OAE_FIRMWARE_EVENT_AT(port), all);
  done(port, add(1, 7, 5));
  EXPECT_EQ(event(), OAE_FIRMWARE_EVENT_PASSED_MASK);
  EXPECT_FALSE(status() & OAE_FIRMWARE_STATUS_OFFERED_MASK);
  EXPECT_EQ(OAE_GET(status(), OAE_FIRMWARE_STATUS_NEXT_SEQUENCE), 2u);
  fixture.put(OAE_FIRMWARE_EVENT_AT(port), OAE_FIRMWARE_EVENT_PASSED_MASK);
  EXPECT_EQ(event(), 0u);
  fixture.publish(port, slot(1, 101));
  EXPECT_EQ(event(), OAE_FIRMWARE_EVENT_BAD_OFFER_MASK);
  swap(2);
}

TEST_F(Verbs, OutliveAResetAndEndWithTheirPort) {
  open();
  ask(port, add(1, 7, 5));
  fixture.function_reset();
  EXPECT_TRUE(held(7));
  close();
  EXPECT_FALSE(held(7)) << "a close settles what is left";
  EXPECT_EQ(word(7), 5u);
}

// The owner of a port is alive, but neither confirms its swap nor reverses it.
TEST_F(Verbs, HoldWordsForALimitedTime) {
  const std::uint64_t limit = 100'000;
  EXPECT_EQ(fixture.get(OAE_FIRMWARE_HOLD_LIMIT), OAE_FIRMWARE_HOLD_LIMIT_RESET);
  fixture.put(OAE_FIRMWARE_HOLD_LIMIT, limit);
  EXPECT_EQ(fixture.get(OAE_FIRMWARE_HOLD_LIMIT), limit);
  open();
  open(other);
  const std::uint64_t begin = fixture.now;
  const Slot answer = ask(port, add(1, 7, 5));
  ASSERT_TRUE(fixture.top.deadline_valid);
  EXPECT_GT(fixture.top.deadline, begin + limit);
  EXPECT_EQ(status_of(ask(other, add(1, 7, 1))), OAE_STATUS_BUSY);
  EXPECT_TRUE(held(7));
  fixture.expire(port);
  EXPECT_EQ(state(), OAE_PORT_STATE_COMMITTED);
  EXPECT_EQ(word(7), 5u) << "it is done, and the word is free";
  EXPECT_FALSE(fixture.top.deadline_valid);
  EXPECT_EQ(fixture.stream(port), answer) << "its host learns that it took place";
  fixture.reverse(port, 1, 1);
  fixture.confirm(port, 1, 1);
  EXPECT_EQ(fixture.stream(port), answer) << "and that it is too late to reverse it";
  EXPECT_EQ(word(7), 5u);
  EXPECT_EQ(counter(OAE_HOST_PORT_COMMITTED_AT(port)), 1u);
  done(port, add(2, 7, 1));
}

TEST_F(Verbs, HoldNothingLongerThanALimitThatIsSetMeanwhile) {
  open();
  ask(port, add(1, 7, 5));
  fixture.sleep(1'000'000);
  const std::uint64_t before = fixture.top.deadline;
  fixture.put(OAE_FIRMWARE_HOLD_LIMIT, 1'500'000);
  ASSERT_TRUE(fixture.top.deadline_valid);
  EXPECT_LT(fixture.top.deadline, before);
  EXPECT_TRUE(held(7));
  fixture.expire(port);
  EXPECT_FALSE(held(7));
}

TEST_F(Verbs, WithoutALimitHoldTheirWords) {
  fixture.put(OAE_FIRMWARE_HOLD_LIMIT, 0);
  open();
  ask(port, add(1, 7, 5));
  EXPECT_FALSE(fixture.top.deadline_valid);
  fixture.sleep(std::uint64_t{1} << 40);
  fixture.drain();
  EXPECT_TRUE(held(7));
}

// Only what others may wait for is limited.
TEST_F(Verbs, ASwapThatHoldsNothingHasTime) {
  fixture.put(OAE_FIRMWARE_HOLD_LIMIT, 1'000);
  open();
  swap(1);
  EXPECT_FALSE(fixture.top.deadline_valid);
  fixture.confirm(port, 1, 1);
  ask(port, cas(2, 7, 1, 2));
  EXPECT_FALSE(fixture.top.deadline_valid) << "which was not met";
  fixture.sleep(1'000'000);
  fixture.drain();
  EXPECT_EQ(state(), OAE_PORT_STATE_TENTATIVE);
}

// Both deadlines of a port, whichever comes first.
TEST_F(Verbs, AskForTheirConfirmationBeforeTheyAreCommitted) {
  fixture.compare_signals = false;
  fixture.put(OAE_FIRMWARE_HOLD_LIMIT, 50'000);
  open();
  fixture.write(registers, OAE_HOST_PORT_TENTATIVE_LIMIT_AT(port), 20'000);
  fixture.write(registers, OAE_HOST_PORT_EVENT_AT(port),
                OAE_HOST_PORT_EVENT_CONFIRM_ENABLE_MASK | 9);
  ask(port, add(1, 7, 5));
  for (std::size_t requests = 1; requests <= 2; ++requests) {
    fixture.sleep(all);
    fixture.drain();
    EXPECT_EQ(fixture.signals.size(), requests);
    EXPECT_EQ(state(), OAE_PORT_STATE_TENTATIVE);
  }
  fixture.expire(port);
  EXPECT_EQ(state(), OAE_PORT_STATE_COMMITTED);
  EXPECT_EQ(fixture.signals.size(), 2u);
}

// A port that has words of its own, and one that has none.
TEST_F(Verbs, AreAboutTheWordsOfTheirPort) {
  EXPECT_EQ(fixture.get(OAE_FIRMWARE_WORDS_AT(port)), range(0, 256)) << "all, at first";
  EXPECT_EQ(fixture.read(pages, port * OAE_PORT_SIZE + OAE_PORT_WORDS), range(0, 256));
  open();
  open(other);
  std::uint32_t sequence = 0;
  for (const std::uint64_t first : {0, 1, 100, 255}) {
    for (const std::uint64_t count : {1, 2, 50, 256, 0x1fff}) {
      fixture.put(OAE_FIRMWARE_WORDS_AT(port), range(first, count));
      EXPECT_EQ(fixture.get(OAE_FIRMWARE_WORDS_AT(port)), range(first, count));
      EXPECT_EQ(fixture.read(pages, port * OAE_PORT_SIZE + OAE_PORT_WORDS), range(first, count))
          << "its host sees it";
      std::uint32_t tries = 0;
      ++sequence;
      for (const std::uint64_t index : {first - 1, first + count}) {
        if (index >= 256) continue;
        Slot cannot = add(sequence, index, 1);
        for (std::uint32_t i = 0; i < tries; ++i) cannot = again(cannot);
        ++tries;
        EXPECT_EQ(status_of(ask(port, cannot)), OAE_STATUS_BAD_VERB) << index;
        Slot none = offer(
            OAE_VERB_MULTI, sequence,
            {step(0, OAE_WORD_OPERATION_READ, first) | step(3, OAE_WORD_OPERATION_READ, index)});
        for (std::uint32_t i = 0; i < tries; ++i) none = again(none);
        ++tries;
        EXPECT_EQ(status_of(ask(port, none)), OAE_STATUS_BAD_VERB) << index;
      }
      Slot can = add(sequence, std::min<std::uint64_t>(first + count - 1, 255), 1);
      for (std::uint32_t i = 0; i < tries; ++i) can = again(can);
      done(port, can);
    }
  }
  done(other, add(1, 7, 1));
  fixture.put(OAE_FIRMWARE_WORDS_AT(other), range(0, 0));
  EXPECT_EQ(status_of(ask(other, add(2, 7, 1))), OAE_STATUS_BAD_VERB);
  EXPECT_EQ(status_of(ask(other, again(offer(OAE_VERB_MULTI, 2, {0})))), OAE_STATUS_OK)
      << "it names none";
  fixture.function_reset();
  EXPECT_EQ(fixture.get(OAE_FIRMWARE_WORDS_AT(other)), range(0, 0)) << "it is the firmware's";
}

// Between the copies, the firmware has taken the word from the port.
TEST_F(Verbs, ACopyOfAnOfferIsNotJudgedAgain) {
  open();
  fixture.write_slot(port, add(1, 7, 5));
  fixture.put(OAE_FIRMWARE_WORDS_AT(port), range(8, 8));
  EXPECT_EQ(status_of(ask(port, add(1, 7, 5))), OAE_STATUS_OK);
  fixture.confirm(port, 1, 1);
  EXPECT_EQ(word(7), 5u) << "neither are its steps";
}

// A word of the port that it had not yet when the offer was denied.
TEST_F(Verbs, NoCopyOfAnOfferThatWasDeniedAsABadVerbTakesPlace) {
  open();
  fixture.put(OAE_FIRMWARE_WORDS_AT(port), range(0, 1));
  const Slot denied = add(1, 5, 1);
  const Header denial = Header::of(ask(port, denied)[0]);
  EXPECT_EQ(denial.status, OAE_STATUS_BAD_VERB);
  EXPECT_EQ(denial.attempt, 1u) << "which is final, since this is the first attempt that counts";
  expect_only_the_next_attempt(denied);
}

// A reset discards an offer with a bad verb, of which the host will not hear more.
TEST_F(Verbs, NoCopyOfABadVerbThatAResetDiscardedTakesPlace) {
  open();
  fixture.put(OAE_FIRMWARE_WORDS_AT(port), range(0, 1));
  const Slot discarded = add(1, 5, 1);
  fixture.write_slot(port, discarded);
  fixture.function_reset();
  expect_only_the_next_attempt(discarded);
}

TEST_F(Verbs, SendConcernsNoWords) {
  open();
  open(other);
  ask(port, add(1, 7, 5));
  const Slot sent = offer(OAE_VERB_SEND, 1, {step(0, OAE_WORD_OPERATION_READ, 7)});
  EXPECT_EQ(status_of(ask(other, sent)), OAE_STATUS_OK);
}

TEST_F(Verbs, NoPortHasAWordThatThereIsNot) {
  open();
  fixture.put(OAE_FIRMWARE_WORDS_AT(port), OAE_PUT(OAE_FIRMWARE_WORDS_COUNT, 0x1fff));
  EXPECT_EQ(status_of(ask(port, add(1, 256, 1))), OAE_STATUS_BAD_VERB);
  EXPECT_EQ(status_of(ask(port, again(add(1, 0xfff, 1)))), OAE_STATUS_BAD_VERB);
  EXPECT_EQ(status_of(ask(port, again(again(add(1, 255, 1))))), OAE_STATUS_OK);
}

TEST_F(Verbs, BadStepsAreNoVerb) {
  open();
  std::uint32_t tries = 0;
  const auto bad = [&](Slot slot) {
    for (std::uint32_t i = 0; i < tries; ++i) slot = again(slot);
    EXPECT_EQ(status_of(ask(port, slot)), OAE_STATUS_BAD_VERB) << std::hex << slot[1];
    tries = (tries + 1) % 64;
  };
  for (const std::uint64_t index :
       {std::uint64_t{256}, std::uint64_t{0xfff}, std::uint64_t{0x1000}, std::uint64_t{1} << 63}) {
    bad(cas(1, index, 0, 1));
    bad(add(1, index, 1));
  }
  for (unsigned place = 0; place < 4; ++place) {
    for (const std::uint64_t operation : {5, 6, 7, 8, 9}) {
      bad(offer(OAE_VERB_MULTI, 1, {step(place, operation, 0)}));
    }
    bad(offer(OAE_VERB_MULTI, 1, {step(place, OAE_WORD_OPERATION_READ, 256)}));
    for (unsigned second = 0; second < place; ++second) {
      bad(offer(
          OAE_VERB_MULTI, 1,
          {step(place, OAE_WORD_OPERATION_WRITE, 3) | step(second, OAE_WORD_OPERATION_ADD, 3)}));
    }
  }
  EXPECT_EQ(state(), OAE_PORT_STATE_IDLE);
  for (unsigned index = 0; index < ReferenceWords::count; index += 17) EXPECT_FALSE(held(index));
}

TEST_F(Verbs, SendNeedsNoOffer) {
  open();
  const Slot sent = offer(OAE_VERB_SEND, 1, {1, 2, 3, 4, 5, 6});
  fixture.put(OAE_FIRMWARE_EVENT_AT(port), all);
  EXPECT_EQ(ask(port, sent), offer(OAE_VERB_SEND, 1, {}));
  EXPECT_EQ(event(), OAE_FIRMWARE_EVENT_EXCHANGED_MASK | OAE_FIRMWARE_EVENT_PASSED_MASK);
  EXPECT_EQ(tentative(), sent);
  EXPECT_EQ(committed(), Slot{});
  fixture.confirm(port, 1, 1);
  EXPECT_EQ(committed(), sent);
  EXPECT_EQ(status_of(ask(port, sent)), OAE_STATUS_OK) << "a repetition";
  take();
  EXPECT_EQ(tentative(), Slot{}) << "came once";
  EXPECT_EQ(committed(), Slot{});
  // There is room for two.
  done(port, offer(OAE_VERB_SEND, 2, {2}));
  done(port, offer(OAE_VERB_SEND, 3, {3}));
  EXPECT_EQ(status_of(ask(port, offer(OAE_VERB_SEND, 4, {4}))), OAE_STATUS_NOT_READY);
  EXPECT_EQ(status_of(ask(port, again(add(4, 1, 1)))), OAE_STATUS_NOT_READY) << "no journal";
  take();
  EXPECT_EQ(committed()[1], 3u);
  EXPECT_EQ(status_of(ask(port, again(again(offer(OAE_VERB_SEND, 4, {4}))))), OAE_STATUS_OK);
  fixture.reverse(port, 1, 4);
  take();
  EXPECT_EQ(committed(), Slot{});
}

TEST_F(Verbs, FirmwareDoesOneThingAtOnce) {
  EXPECT_EQ(command(OAE_WORD_ACCESS_WRITE, 9, 100), OAE_FIRMWARE_WORD_OUTCOME_DONE_MASK);
  EXPECT_EQ(fixture.get(OAE_FIRMWARE_WORD_RESULT), 0u);
  EXPECT_EQ(command(OAE_WORD_ACCESS_ADD, 9, 1), OAE_FIRMWARE_WORD_OUTCOME_DONE_MASK);
  EXPECT_EQ(fixture.get(OAE_FIRMWARE_WORD_RESULT), 100u);
  EXPECT_EQ(command(OAE_WORD_ACCESS_CAS, 9, 7, 100), 0u) << "not what it expects";
  EXPECT_EQ(fixture.get(OAE_FIRMWARE_WORD_RESULT), 101u);
  EXPECT_EQ(command(OAE_WORD_ACCESS_CAS, 9, 7, 101), OAE_FIRMWARE_WORD_OUTCOME_DONE_MASK);
  EXPECT_EQ(word(9), 7u);
  for (const unsigned access : {0, 5, 6, 7}) {
    EXPECT_EQ(command(access, 9), OAE_FIRMWARE_WORD_OUTCOME_BAD_MASK) << access;
  }
  for (const unsigned index : {256, 0xfff, 0x8000}) {
    EXPECT_EQ(command(OAE_WORD_ACCESS_READ, index), OAE_FIRMWARE_WORD_OUTCOME_BAD_MASK) << index;
    EXPECT_EQ(fixture.get(OAE_FIRMWARE_WORD_RESULT), 0u);
  }
  fixture.get(OAE_FIRMWARE_WORD_OUTCOME + 8);
  EXPECT_TRUE(fixture.error) << "no register";
}

TEST_F(Verbs, AnOperandStaysForTheNextCommand) {
  EXPECT_EQ(command(OAE_WORD_ACCESS_CAS, 9, 7, 0), OAE_FIRMWARE_WORD_OUTCOME_DONE_MASK);
  EXPECT_EQ(fixture.get(OAE_FIRMWARE_WORD_OPERAND), 7u);
  EXPECT_EQ(fixture.get(OAE_FIRMWARE_WORD_COMPARE), 0u);
  fixture.put(OAE_FIRMWARE_WORD_COMMAND,
              OAE_PUT(OAE_FIRMWARE_WORD_COMMAND_ACCESS, OAE_WORD_ACCESS_CAS) | 10);
  EXPECT_EQ(fixture.get(OAE_FIRMWARE_WORD_OUTCOME), OAE_FIRMWARE_WORD_OUTCOME_DONE_MASK);
  EXPECT_EQ(word(10), 7u);
}

TEST_F(Verbs, PowerUpClearsEveryWord) {
  for (const unsigned index : {0u, 1u, 100u, 255u}) command(OAE_WORD_ACCESS_WRITE, index, all);
  fixture.lose_power();
  for (unsigned index = 0; index < ReferenceWords::count; ++index) EXPECT_EQ(word(index), 0u);
}

}  // namespace
