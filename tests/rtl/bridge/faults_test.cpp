// SPDX-License-Identifier: Apache-2.0
// Hosts swap and use each other's words at random at both ends, reverse and close, while units on
// the wires are lost, damaged and repeated, the link goes down, and firmwares that have restarted
// repeat all that they ever do. Each host gets the slots that the other has committed, once and in
// their order, and its steps take effect once.
#include <algorithm>
#include <random>
#include <vector>

#include "tests/rtl/bridge/cells.h"

namespace bridge {
namespace {

/// A host, and what it has committed.
struct Party {
  Host host;
  std::uint64_t next = 1;
  bool in_doubt = false;  // a swap is not confirmed,
  std::uint8_t verb = 0;  //   of this verb,
  std::uint64_t offered = 0;
  std::uint64_t brought = 0;
  std::uint64_t requests = 0;  // each adds 1 to a word of the other cell that is this host's alone,
  std::uint64_t results = 0;   //   and this many of their results came
  std::vector<std::uint64_t> sent;
  std::vector<std::uint64_t> received;
};

class Faults : public Cells, public testing::WithParamInterface<unsigned> {
 protected:
  unsigned below(unsigned n) { return static_cast<unsigned>(random() % n); }

  void strike(window::Wire& wire) {
    wire.tamper = [this](std::vector<Group>& unit, bool) {
      if (rate == 0 || below(rate) != 0) return;
      switch (below(4)) {
        case 0:
          for (Group& group : unit) group = {};
          break;
        case 1: {  // comes twice
          const std::vector<Group> copy = unit;
          unit.insert(unit.end(), copy.begin(), copy.end());
          break;
        }
        default:
          window::Wire::damage(unit, below(1 << 12));
      }
    };
  }

  void settle(Party& party, bool commit) {
    if (!party.in_doubt) return;
    if (commit) {
      confirm(party.host);
      if (party.verb == OAE_VERB_REMOTE) ++party.requests;
      if (party.verb == OAE_VERB_RESULT) ++party.results;
      if (party.verb == OAE_VERB_SWAP || party.verb == OAE_VERB_SEND) {
        party.sent.push_back(party.offered);
      }
      if (party.verb == OAE_VERB_SWAP) party.received.push_back(party.brought);
    } else {
      reverse(party.host);
    }
    party.in_doubt = false;
  }

  void offer(Party& party, bool send) {
    settle(party, true);
    const auto answer = swap(party.host, party.next, send ? OAE_VERB_SEND : OAE_VERB_SWAP);
    if (!answer) return;
    party.in_doubt = true;
    party.verb = send ? OAE_VERB_SEND : OAE_VERB_SWAP;
    party.offered = party.next++;
    party.brought = *answer;
  }

  static unsigned word(const Party& party) { return 100 + party.host.port; }

  void request(Party& party) {
    settle(party, true);
    const std::uint64_t steps = OAE_PUT(OAE_WORDS_STEPS_INDEX_0, word(party)) |
                                OAE_PUT(OAE_WORDS_STEPS_OPERATION_0, OAE_WORD_OPERATION_ADD);
    if (!Cells::offer(party.host, OAE_VERB_REMOTE, {steps, 1})) return;
    party.in_doubt = true;
    party.verb = OAE_VERB_REMOTE;
  }

  /// Whichever results were dropped with their epoch, this is that of the last request.
  void look(Party& party) {
    settle(party, true);
    const auto result = Cells::offer(party.host, OAE_VERB_RESULT, {});
    if (!result) return;
    EXPECT_EQ(*result, (Payload{OAE_FIRMWARE_WORD_OUTCOME_DONE_MASK, party.requests - 1}));
    party.in_doubt = true;
    party.verb = OAE_VERB_RESULT;
  }

  void reopen(Party& party) {
    settle(party, true);
    close(party.host);
    party.host = open(*party.host.cell, party.host.port);
  }

  /// What a firmware writes that does not know what it has done before
  void restart(Cell& cell) {
    const unsigned port = below(ports);
    put(cell, Of::block, OAE_FIRMWARE_JOIN_AT(port), 1);
    put(cell, Of::block, OAE_FIRMWARE_COMMAND_AT(port), below(8));
    put(cell, Of::block, OAE_FIRMWARE_OFFER_AT(port) + 8 * below(8), random());
    const Of end = any_end(cell);
    put(cell, end, OAE_WINDOW_OFFERED, below(20));
    put(cell, end, OAE_WINDOW_TAKEN, below(20));
    put(cell, end, OAE_WINDOW_SEND_AT(below(16)) + 8 * below(8), random());
    get(cell, end, OAE_WINDOW_RECEIVE_AT(below(16)));
    put(cell, end, OAE_WINDOW_COMMAND, below(4));
    tend(cell);
  }

  Of any_end(const Cell& cell) { return end_of(cell, links == 1 ? 0 : below(links)); }

  void run(unsigned steps) {
    for (unsigned step = 0; step < steps && !HasFatalFailure(); ++step) {
      Party& party = parties[below(2)][below(ports)];
      switch (below(18)) {
        case 0:
        case 1:
        case 2:
        case 3:
        case 4:
          offer(party, below(6) == 0);
          break;
        case 5:
        case 6:
          settle(party, below(4) != 0);
          break;
        case 7:
          if (below(4) == 0) reopen(party);
          break;
        case 8:
          restart(*party.host.cell);
          break;
        case 9:
          if (below(10) == 0) {
            Cell& cell = *party.host.cell;
            put(cell, any_end(cell), OAE_WINDOW_CONTROL, 0);
          }
          break;
        case 10:
          tend(*a);
          tend(*b);
          break;
        case 11:
        case 12:
          request(party);
          break;
        case 13:
        case 14:
        case 15:
          look(party);
          break;
        default:
          clock(below(200));
      }
    }
  }

  /// Of each slot that a host has committed it is known where it is.
  void check(Party& from, Party& to) {
    std::vector<std::uint64_t> arrived = to.received;
    if (!arrived.empty()) {
      EXPECT_EQ(arrived.front(), 0u);
      arrived.erase(arrived.begin());
    }
    ASSERT_LE(arrived.size(), from.sent.size());
    EXPECT_TRUE(std::equal(arrived.begin(), arrived.end(), from.sent.begin()));
    const std::uint64_t status = status_of(from.host);
    // A request may wait behind a slot that has no room.
    const std::uint64_t done = word_of(*to.host.cell, word(from));
    ASSERT_LE(done, from.requests);
    const std::uint64_t held = OAE_GET(status, OAE_FIRMWARE_STATUS_COMMITTED) +
                               OAE_GET(status, OAE_FIRMWARE_STATUS_TENTATIVE) -
                               (from.requests - done);
    EXPECT_EQ(from.sent.size(), arrived.size() + waiting(to.host) + held);
  }

  std::mt19937_64 random{GetParam() + 1};
  unsigned rate = 0;  // one unit of so many has a fault
  Party parties[2][ports];
};

TEST_P(Faults, EachSlotReachesTheOtherHostOnce) {
  bring_up();
  for (Cable& cable : cables) {
    strike(cable.back);
    strike(cable.forth);
  }
  for (unsigned port = 0; port < ports; ++port) {
    parties[0][port].host = open(*a, port);
    parties[1][port].host = open(*b, port);
  }
  rate = GetParam() % 4 == 3 ? 0 : 5 + below(40);
  run(3000);
  rate = 0;
  tend_until_up();
  for (auto& side : parties) {
    for (Party& party : side) settle(party, true);
  }
  rest();
  std::size_t exchanged = 0;
  std::uint64_t results = 0;
  for (unsigned port = 0; port < ports; ++port) {
    check(parties[0][port], parties[1][port]);
    check(parties[1][port], parties[0][port]);
    exchanged += parties[0][port].received.size() + parties[1][port].received.size();
    results += parties[0][port].results + parties[1][port].results;
  }
  EXPECT_GT(exchanged, 40u);
  EXPECT_GE(results, 2 * ports) << "as many as there are hosts of ports";
  std::uint64_t reversed = 0;
  for (unsigned cable = 0; cable < links; ++cable) {
    const auto count = [&](Cell& cell, unsigned counter) {
      return get(cell, end_of(cell, cable), counter);
    };
    for (Cell* cell : {a.get(), b.get()}) {
      EXPECT_EQ(count(*cell, OAE_WINDOW_COUNT_LOST), 0u);
      EXPECT_EQ(count(*cell, OAE_WINDOW_COUNT_STRAY), 0u);
      EXPECT_GT(count(*cell, OAE_WINDOW_COUNT_PASSED), 10u);
    }
    EXPECT_EQ(count(*a, OAE_WINDOW_COUNT_PASSED), count(*b, OAE_WINDOW_COUNT_BROUGHT));
    EXPECT_EQ(count(*b, OAE_WINDOW_COUNT_PASSED), count(*a, OAE_WINDOW_COUNT_BROUGHT));
    reversed += count(*a, OAE_WINDOW_COUNT_REVERSED);
  }
  RecordProperty("exchanged", static_cast<int>(exchanged));
  RecordProperty("reversed", static_cast<int>(reversed));
}

INSTANTIATE_TEST_SUITE_P(Seeds, Faults, testing::Range(0u, 12u));

}  // namespace
}  // namespace bridge
