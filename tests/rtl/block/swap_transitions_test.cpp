// SPDX-License-Identifier: Apache-2.0
// Compares the journal of a port with its table for every state and event. The fixture compares
// block and reference at each step, so the table describes both. SPIN reads the same table.
#include <gtest/gtest.h>

#include "swap_table.h"
#include "tests/rtl/block/block_fixture.h"

namespace {

namespace journal = swap_table::journal;
using journal::Event;
using journal::State;

class SwapTransitions : public Block {
 protected:
  /// A swap that holds a word, up to its answer.
  void hold() {
    Header header;
    header.verb = OAE_VERB_FETCH_ADD;
    header.epoch = 1;
    header.sequence = 1;
    Slot offer{header.word(), 7, 1};
    seal(offer);
    fixture.write_slot(port, offer);
    fixture.answer(port);
  }

  void bring_to(State state, Event event = Event::none) {
    switch (state) {
      case State::history_lost:
        return;
      case State::closed:
        open();
        return close();
      case State::idle:
        return open();
      case State::tentative:
        open();
        return event == Event::expire ? hold() : swap(1);
      case State::committed:
        bring_to(State::tentative);
        return fixture.confirm(port, 1, 1);
      case State::reversed:
        bring_to(State::tentative);
        return fixture.reverse(port, 1, 1);
    }
  }

  void meet(Event event) {
    const Journal now = look();
    const std::uint32_t next = now.sequence + 1;
    switch (event) {
      case Event::none:
        return;
      case Event::open:
        return open();
      case Event::close:
        return close();
      case Event::exchange:
        fixture.publish(port, slot(next, 100, 0, now.epoch));
        fixture.write_slot(port, slot(next, 200, 0, now.epoch));
        fixture.answer(port);
        return;
      case Event::confirm:
        return fixture.confirm(port, now.epoch, now.sequence);
      case Event::reverse_last:
        return fixture.reverse(port, now.epoch, now.sequence);
      case Event::reverse_next:
        return fixture.reverse(port, now.epoch, next);
      case Event::expire:
        if (fixture.top.deadline_valid) fixture.expire(port);
        return;
    }
  }

  struct Journal {
    State state;
    std::uint8_t epoch;
    std::uint32_t sequence;
    std::uint64_t committed;
    bool tentative;
  };
  Journal look() {
    const std::uint64_t word = counter(OAE_HOST_PORT_STATE_AT(port));
    const bool tentative = status() & OAE_FIRMWARE_STATUS_TENTATIVE_MASK;
    return {state_of(OAE_GET(word, OAE_HOST_PORT_STATE_STATE)),
            static_cast<std::uint8_t>(OAE_GET(word, OAE_HOST_PORT_STATE_EPOCH)),
            static_cast<std::uint32_t>(OAE_GET(word, OAE_HOST_PORT_STATE_SEQUENCE)),
            counter(OAE_HOST_PORT_COMMITTED_AT(port)), tentative};
  }

 private:
  static State state_of(std::uint64_t state) {
    switch (state) {
      case OAE_PORT_STATE_CLOSED:
        return State::closed;
      case OAE_PORT_STATE_IDLE:
        return State::idle;
      case OAE_PORT_STATE_TENTATIVE:
        return State::tentative;
      case OAE_PORT_STATE_COMMITTED:
        return State::committed;
      case OAE_PORT_STATE_REVERSED:
        return State::reversed;
      default:
        return State::history_lost;
    }
  }
};

class SwapTransition : public SwapTransitions,
                       public testing::WithParamInterface<std::tuple<unsigned, unsigned>> {};

TEST_P(SwapTransition, IsThatOfTheTable) {
  const auto [state, event] = GetParam();
  const journal::Entry expected = journal::table[state][event];
  bring_to(static_cast<State>(state), static_cast<Event>(event));
  const Journal before = look();
  ASSERT_EQ(static_cast<unsigned>(before.state), state);
  meet(static_cast<Event>(event));
  const Journal after = look();
  EXPECT_EQ(after.state, expected.next);
  const bool begins = expected.actions & journal::begin_epoch;
  EXPECT_EQ(after.epoch, before.epoch + begins);
  EXPECT_EQ(after.sequence,
            begins ? 0 : before.sequence + ((expected.actions & journal::count) ? 1 : 0));
  EXPECT_EQ(after.committed, before.committed + ((expected.actions & journal::commit) ? 1 : 0));
  // A slot disappears only if it is committed or discarded.
  const bool gone = expected.actions & (journal::commit | journal::discard);
  const bool comes = expected.next == State::tentative && before.state != State::tentative;
  EXPECT_EQ(after.tentative, comes || (before.tentative && !gone));
}

INSTANTIATE_TEST_SUITE_P(All, SwapTransition,
                         testing::Combine(testing::Range(0u, journal::states),
                                          testing::Range(0u, journal::events)));

}  // namespace
