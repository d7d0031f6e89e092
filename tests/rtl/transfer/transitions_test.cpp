// SPDX-License-Identifier: Apache-2.0
// Compares the gates of the link's state machines with their table for every state and event.
#include <Voae_link_transitions.h>
#include <gtest/gtest.h>

#include "link_table.h"
#include "tests/rtl/coverage.h"

namespace {

namespace table = link_table;

class LinkTransitions : public testing::Test {
 protected:
  ~LinkTransitions() override {
    write_coverage(context_);
    Verilated::threadContextp(&context_);
  }

  VerilatedContext context_;
  Voae_link_transitions gates_{&context_};
};

TEST_F(LinkTransitions, PhaseIsThatOfTheTable) {
  for (unsigned state = 0; state < table::phase::states; ++state) {
    for (unsigned event = 0; event < table::phase::events; ++event) {
      gates_.phase = state;
      gates_.phase_event = event;
      gates_.eval();
      const auto& entry = table::phase::table[state][event];
      EXPECT_EQ(gates_.phase_next, static_cast<unsigned>(entry.next)) << state << ", " << event;
      EXPECT_EQ(gates_.phase_actions, entry.actions) << state << ", " << event;
    }
  }
}

TEST_F(LinkTransitions, SenderIsThatOfTheTable) {
  for (unsigned state = 0; state < table::sender::states; ++state) {
    for (unsigned event = 0; event < table::sender::events; ++event) {
      gates_.sender = state;
      gates_.sender_event = event;
      gates_.eval();
      const auto& entry = table::sender::table[state][event];
      EXPECT_EQ(gates_.sender_next, static_cast<unsigned>(entry.next)) << state << ", " << event;
      EXPECT_EQ(gates_.sender_actions, entry.actions) << state << ", " << event;
    }
  }
}

TEST_F(LinkTransitions, ReceiverIsThatOfTheTable) {
  for (unsigned state = 0; state < table::receiver::states; ++state) {
    for (unsigned event = 0; event < table::receiver::events; ++event) {
      gates_.receiver = state;
      gates_.receiver_event = event;
      gates_.eval();
      const auto& entry = table::receiver::table[state][event];
      EXPECT_EQ(gates_.receiver_next, static_cast<unsigned>(entry.next)) << state << ", " << event;
      EXPECT_EQ(gates_.receiver_actions, entry.actions) << state << ", " << event;
    }
  }
}

// The same script generates the input of SPIN from the same table. This test plays its steps.
TEST_F(LinkTransitions, EveryActionAndStateIsUsed) {
  unsigned used = 0;
  for (const auto& row : table::sender::table) {
    for (const auto& entry : row) used |= entry.actions;
  }
  EXPECT_EQ(used, (1u << 6) - 1);
}

}  // namespace
