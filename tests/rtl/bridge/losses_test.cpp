// SPDX-License-Identifier: Apache-2.0
// Hosts swap and send at random while one cell loses its power, ports leave and are joined again,
// links go down, and units on the wires are lost. Each slot of the cell that keeps its power is
// delivered, reported as lost by its name, or still where it can go on from, and no slot is called
// delivered that the other host has not got.
#include <algorithm>
#include <memory>
#include <random>
#include <set>
#include <vector>

#include "tests/rtl/bridge/cells.h"

namespace bridge {
namespace {

/// A host, and what it has committed
struct Party {
  Host host;
  std::uint64_t next = 1;
  bool in_doubt = false;  // a swap is not confirmed
  bool sends = false;     //   by SEND
  std::uint64_t offered = 0;
  std::uint64_t brought = 0;
  std::vector<std::uint64_t> sent;       // in all epochs
  std::vector<std::uint32_t> sequences;  // of the last of them: those of the present epoch
  std::vector<std::uint64_t> received;
  std::set<std::uint32_t> lost;  // reported to it
};

class Losses : public Cells, public testing::WithParamInterface<unsigned> {
 protected:
  unsigned below(unsigned n) { return static_cast<unsigned>(random() % n); }

  void settle(Party& party, bool commit) {
    if (!party.in_doubt) return;
    party.in_doubt = false;
    if (!commit) return reverse(party.host);
    confirm(party.host);
    party.sent.push_back(party.offered);
    party.sequences.push_back(party.host.sequence);
    if (!party.sends && party.brought != 0) party.received.push_back(party.brought);
  }

  void offer(Party& party) {
    settle(party, true);
    const bool sends = below(4) == 0;
    const auto answer = swap(party.host, party.next, sends ? OAE_VERB_SEND : OAE_VERB_SWAP);
    if (!answer) return;
    party.in_doubt = true;
    party.sends = sends;
    party.offered = party.next++;
    party.brought = *answer;
  }

  /// Reads what became of the slots of a host.
  void look(Party& party, const Party& other) {
    const unsigned port = party.host.port;
    const std::uint64_t delivered = fate_of(party.host, OAE_HOST_PORT_DELIVERED_AT(port));
    if (OAE_GET(delivered, OAE_HOST_PORT_DELIVERED_EPOCH) == party.host.epoch) {
      const auto sequence =
          static_cast<std::uint32_t>(OAE_GET(delivered, OAE_HOST_PORT_DELIVERED_SEQUENCE));
      const auto at = std::find(party.sequences.begin(), party.sequences.end(), sequence);
      ASSERT_NE(at, party.sequences.end());
      const std::uint64_t number = *(party.sent.end() - (party.sequences.end() - at));
      const auto& got = other.received;
      ASSERT_TRUE(std::find(got.begin(), got.end(), number) != got.end())
          << number << " was called delivered";
    }
    const std::uint64_t lost = fate_of(party.host, OAE_HOST_PORT_LOST_AT(port));
    const auto slots = OAE_GET(lost, OAE_HOST_PORT_LOST_SLOTS);
    const auto add = [&](unsigned address) {
      const std::uint64_t name = fate_of(party.host, address);
      const auto sequence =
          static_cast<std::uint32_t>(OAE_GET(name, OAE_HOST_PORT_LOST_LAST_SEQUENCE));
      EXPECT_TRUE(party.lost.insert(sequence).second) << "reported twice";
    };
    if (slots >= 1) add(OAE_HOST_PORT_LOST_LAST_AT(port));
    if (slots == 2) add(OAE_HOST_PORT_LOST_FIRST_AT(port));
    // A loss that comes after the read must not be acknowledged with nothing.
    if (slots != 0) acknowledge(party.host);
  }

  void lose_power() {
    ++failures;
    b = std::make_unique<Cell>(now);
    until([this] { return b->top.idle_o; });
    for (unsigned port = 0; port < ports; ++port) {
      there[port].in_doubt = false;
      there[port].host = open(*b, port);
      there[port].sequences.clear();
      there[port].lost.clear();
    }
    if (below(2) == 0) clock(below(3) * hold_off / 2);
    join_all(*b);
    tend(*b);
  }

  void run(unsigned steps) {
    for (unsigned step = 0; step < steps && !HasFatalFailure(); ++step) {
      const unsigned port = below(ports);
      Party& party = below(2) == 0 ? here[port] : there[port];
      switch (below(16)) {
        case 0:
        case 1:
        case 2:
        case 3:
        case 4:
        case 5:
          offer(party);
          break;
        case 6:
          settle(party, below(4) != 0);
          break;
        case 7:
        case 8:
          look(party, &party == &here[port] ? there[port] : here[port]);
          break;
        case 9:
          if (below(12) == 0) {
            put(*party.host.cell, Of::block, OAE_FIRMWARE_JOIN_AT(port), 0);
            clock(below(150));
            put(*party.host.cell, Of::block, OAE_FIRMWARE_JOIN_AT(port), 1);
          }
          break;
        case 10:
          if (below(40) == 0) lose_power();
          break;
        case 11:
          if (below(12) == 0) {
            Cell& cell = *party.host.cell;
            put(cell, end_of(cell, links == 1 ? 0 : below(links)), OAE_WINDOW_CONTROL, 0);
          }
          break;
        case 12:
          tend(*a);
          tend(*b);
          break;
        default:
          clock(below(200));
      }
    }
  }

  /// In their order, each once
  static void expect_in_order(const std::vector<std::uint64_t>& received, const Party& from) {
    EXPECT_TRUE(std::is_sorted(received.begin(), received.end()));
    EXPECT_EQ(std::adjacent_find(received.begin(), received.end()), received.end());
    EXPECT_TRUE(
        std::includes(from.sent.begin(), from.sent.end(), received.begin(), received.end()));
  }

  std::mt19937_64 random{GetParam() + 100};
  unsigned rate = 0;  // one unit of so many is lost
  unsigned failures = 0;
  Party here[ports];
  Party there[ports];
};

TEST_P(Losses, EachSlotIsDeliveredOrLostByName) {
  bring_up();
  for (Cable& cable : cables) {
    for (window::Wire* wire : {&cable.forth, &cable.back}) {
      wire->tamper = [this](std::vector<Group>& unit, bool) {
        if (rate == 0 || below(rate) != 0) return;
        for (Group& group : unit) group = {};
      };
    }
  }
  for (unsigned port = 0; port < ports; ++port) {
    here[port].host = open(*a, port);
    there[port].host = open(*b, port);
  }
  rate = GetParam() % 3 == 0 ? 0 : 5 + below(40);
  run(2000);
  lose_power();
  run(2000);
  rate = 0;
  tend_until_up();
  rest();
  std::size_t delivered = 0;
  std::size_t lost = 0;
  for (unsigned port = 0; port < ports; ++port) {
    settle(here[port], true);
    settle(there[port], true);
    rest();
    look(here[port], there[port]);
    rest();
    clock(2000);  // A link may still wait for the end of a silence.
    look(here[port], there[port]);
    EXPECT_TRUE(linked(here[port].host) && linked(there[port].host)) << "port " << port;
    expect_in_order(there[port].received, here[port]);
    expect_in_order(here[port].received, there[port]);
    // What is neither delivered nor lost is still in one of the two ports.
    const Party& party = here[port];
    const std::uint64_t last = fate_of(party.host, OAE_HOST_PORT_DELIVERED_AT(port)) >> 32;
    const std::uint64_t status = status_of(party.host);
    std::size_t open = 0;
    for (std::size_t i = 0; i < party.sent.size(); ++i) {
      const bool was_got = std::binary_search(there[port].received.begin(),
                                              there[port].received.end(), party.sent[i]);
      if (party.lost.count(party.sequences[i]) != 0) {
        ++lost;
      } else if (party.sequences[i] <= last) {
        ++delivered;
        EXPECT_TRUE(was_got) << party.sent[i] << " vanished";
      } else if (!was_got) {
        ++open;
      }
    }
    EXPECT_EQ(open, waiting(there[port].host) + OAE_GET(status, OAE_FIRMWARE_STATUS_COMMITTED) +
                        OAE_GET(status, OAE_FIRMWARE_STATUS_TENTATIVE))
        << "port " << port;
  }
  EXPECT_GT(failures, 0u);
  EXPECT_GT(delivered, 2u);
  EXPECT_GT(lost, 3u);
  RecordProperty("delivered", static_cast<int>(delivered));
  RecordProperty("lost", static_cast<int>(lost));
}

INSTANTIATE_TEST_SUITE_P(Seeds, Losses, testing::Range(0u, 12u));

}  // namespace
}  // namespace bridge
