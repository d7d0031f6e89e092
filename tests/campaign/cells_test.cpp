// SPDX-License-Identifier: Apache-2.0
// Three cells with verilated blocks, a verilated link between any two of them, and their firmwares.
// Hosts at joined ports swap by the driver's exchange. Wires lose, damage and repeat frames and are
// cut. Firmwares are stopped at any point and start again, cells lose their power, and hosts lose
// answers and die. Each slot that a host has committed reaches the other host once and in order,
// except those that a cell without power has lost.
//
// OAE_VP_CELLS_SEEDS overrides the number of seeds of each test.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <iostream>
#include <memory>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

#include "oae_registers.h"
#include "tests/campaign/cables.h"
#include "tests/campaign/cell.h"
#include "tests/campaign/joined_host.h"

extern "C" {
#include "firmware/services/crc64.h"
#include "guest/driver/oae_crc.h"
}

namespace {

constexpr unsigned patience = 30'000;

/// The number of seeds of each test.
unsigned seeds(unsigned otherwise) {
  const char* const asked = std::getenv("OAE_VP_CELLS_SEEDS");
  return asked != nullptr ? std::stoul(asked) : otherwise;
}

/// The faults.
enum class Trouble { lose, damage, repeat, cut_one_way, cut_in_doubt, cut, restart, power };
constexpr unsigned troubles = 8;
constexpr const char* trouble_names[troubles] = {"frame lost",  "frame damaged", "frame repeated",
                                                 "cut one way", "cut in doubt",  "cut",
                                                 "restart",     "power lost"};

class Cells : public testing::TestWithParam<unsigned> {
 protected:
  Cells() : random_(GetParam()), cables_(8 + 8 * (GetParam() % 9)) {
    crc64_init();
    oae_crc_init();
    for (unsigned n = 0; n < cells; ++n) cell_[n] = std::make_unique<Cell>(n, cables_);
    hosts_.reserve(4 * cells);
    for (unsigned n = 0; n < cells; ++n) {
      for (unsigned port : {2 * n, 2 * n + 1}) {
        for (unsigned at : {n, (n + 1) % cells}) {
          host_[at][port] = hosts_.size();
          hosts_.emplace_back(*cell_[at], port).open();
        }
      }
    }
    for (auto& cell : cell_) {
      cell->on_commit = [this, n = cell->number](unsigned port, std::uint64_t word,
                                                 std::uint64_t answer) {
        hosts_[host_[n][port]].committed(word, answer);
      };
    }
  }

  std::uint64_t pick(std::uint64_t n) { return random_() % n; }
  bool chance(unsigned percent) { return pick(100) < percent; }

  /// Performs an action of a host.
  void act(JoinedHost& host) {
    if (host.doubts() && chance(90)) return host.settle(chance(40));
    if (chance(3)) return host.open();  // another owner
    const bool sends = chance(10);      // to the firmware
    host.swap(next_word_, chance(50) ? OAE_PUSHED : OAE_STREAMED,
              sends ? OAE_VERB_SEND : OAE_VERB_SWAP, chance(25), chance(5));
    next_word_ += 6;
  }
  /// Hosts go on while firmwares work.
  void interleave() {
    for (auto& cell : cell_) {
      cell->meanwhile = [this, n = cell->number] {
        if (pick(50) == 0)
          act(hosts_[host_[n][2 * (chance(50) ? n : (n + cells - 1) % cells) + pick(2)]]);
      };
    }
  }

  void count(Trouble trouble, bool in_a_transfer) {
    ++injected_[static_cast<unsigned>(trouble)];
    if (in_a_transfer) ++in_a_transfer_[static_cast<unsigned>(trouble)];
  }
  bool carries(const Cell& cell) const {
    return Cables::carries(*cables_.all[cell.number]) ||
           Cables::carries(*cables_.all[(cell.number + cells - 1) % cells]);
  }

  void trouble() {
    LinkCable& cable = *cables_.all[pick(cells)];
    LinkWire& wire = chance(50) ? cable.to_a : cable.to_b;
    const auto which = static_cast<Trouble>(pick(6));
    // Half of the faults wait for a transfer.
    for (unsigned i = chance(50) ? 200 : 0; i > 0 && !Cables::carries(cable); --i) cables_.clock();
    if (which != Trouble::cut_in_doubt)
      count(which, which < Trouble::cut_one_way || Cables::carries(cable));
    switch (which) {
      case Trouble::lose:
        return wire.fault(LinkWire::Fault::lose, pick(6));
      case Trouble::damage:
        return wire.fault(LinkWire::Fault::corrupt, pick(6), pick(512));
      case Trouble::repeat:
        return wire.fault(LinkWire::Fault::duplicate, pick(6));
      case Trouble::cut_one_way:
        return wire.cut();
      case Trouble::cut_in_doubt:
        cables_.aim = &cable;
        cables_.on_aimed_cut = [this] { count(Trouble::cut_in_doubt, true); };
        return;
      default:
        Cables::cut(cable);
    }
  }
  void join() {
    for (auto& cable : cables_.all) {
      if (chance(60)) Cables::join(*cable);
    }
  }
  void restart() {
    Cell& cell = *cell_[pick(cells)];
    count(Trouble::restart, carries(cell));
    cell.serve_until(1 + pick(120));
  }
  void lose_power(Cell& cell) {
    count(Trouble::power, carries(cell));
    cell.lose_power();
    for (JoinedHost& host : hosts_) {
      if (&host.cell == &cell) host.open();
    }
  }

  void step() {
    const unsigned clocks = pick(100);
    for (unsigned i = 0; i < clocks; ++i) cables_.clock();
    Cell& cell = *cell_[pick(cells)];
    cell.serve();
    if (chance(5)) cell.tick();
    if (chance(60)) act(hosts_[pick(hosts_.size())]);
  }

  void join_all() {
    cables_.aim = nullptr;
    for (auto& cable : cables_.all) {
      Cables::join(*cable);
      cable->to_a.forgive();
      cable->to_b.forgive();
    }
  }
  bool all_up() const {
    return std::all_of(cell_.begin(), cell_.end(), [](const auto& cell) { return cell->is_up(); });
  }
  template <typename Predicate>
  void until(Predicate done) {
    for (unsigned i = 0; !done() && !HasFailure(); ++i) {
      ASSERT_LT(i, patience) << "stuck\n" << state();
      step();
    }
  }
  std::uint64_t by_others() const {
    std::uint64_t sum = 0;
    for (const auto& cell : cell_) {
      for (unsigned n = 0; n < 2; ++n) sum += cell->links.links[n].by_others;
    }
    return sum;
  }
  LinkRegisters& registers_of(const LinkEnd& end) {
    for (auto& cell : cell_) {
      for (unsigned n = 0; n < 2; ++n) {
        if (cell->ends[n] == &end) return *cell->registers[n];
      }
    }
    throw std::logic_error("no such end");
  }

  /// Faults have ended, and all slots arrive.
  void come_to_rest() {
    join_all();
    for (auto& cell : cell_) cell->meanwhile = nullptr;
    std::vector<std::size_t> given;
    for (const JoinedHost& host : hosts_) given.push_back(host.given.size());
    until([&] { return over(given); });
  }
  /// Whether all slots from before the end of the faults have arrived.
  bool over(const std::vector<std::size_t>& given) const {
    for (std::size_t i = 0; i < hosts_.size(); ++i) {
      if (hosts_[i ^ 1].got.size() < given[i]) return false;
    }
    return true;
  }
  void expect_all_came(std::size_t least) {
    for (const auto& cell : cell_) {
      for (unsigned n = 0; n < 2; ++n) {
        EXPECT_EQ(cell->links.links[n].lost, 0u);
        EXPECT_EQ(cell->links.links[n].bad, 0u);
      }
    }
    for (std::size_t i = 0; i < hosts_.size(); ++i) {
      const auto& given = hosts_[i].given;
      const auto& got = hosts_[i ^ 1].got;
      ASSERT_LE(got.size(), given.size());
      for (std::size_t n = 0; n < got.size(); ++n) {
        ASSERT_EQ(got[n], given[n]) << "port " << hosts_[i].port;
      }
      EXPECT_GT(got.size(), least) << "the traffic must be worth something";
    }
  }
  ~Cells() override { std::cout << evidence(); }
  std::string evidence() const {
    std::string text;
    for (unsigned i = 0; i < troubles; ++i) {
      if (injected_[i] == 0) continue;
      text += fmt::format("{:16}{:6} injected{:6} in a transfer\n", trouble_names[i], injected_[i],
                          in_a_transfer_[i]);
    }
    return text;
  }
  /// One of these has been injected in the middle of a transfer.
  void expect_evidence(std::initializer_list<Trouble> asked) const {
    unsigned sum = 0;
    for (const Trouble trouble : asked) sum += in_a_transfer_[static_cast<unsigned>(trouble)];
    EXPECT_GT(sum, 0u) << "nothing was under way when it was injected";
  }

  std::string state() const {
    std::string text;
    for (const JoinedHost& host : hosts_) {
      const link_port_memory& port = host.cell.memory.ports[host.port];
      const ReferencePort& block = host.cell.port(host.port);
      text += fmt::format(
          "port {} of cell {}: {} given, {} got; offered {}, state {}, doubt {}; arrived {:x}, "
          "used {:x}, waits {}\n",
          host.port, host.cell.number, host.given.size(), host.got.size(), block.offered(),
          block.state(), host.doubts(), port.arrived, port.used,
          host.cell.links.waits[host.port] != 0);
    }
    for (const auto& cell : cell_) {
      for (unsigned n = 0; n < 2; ++n) {
        const struct link& link = cell->links.links[n];
        text += fmt::format(
            "link {} of cell {}: up {}, sends {}, port {}, {} messages, phase {}, sender {}, "
            "receiver {}, bad {}\n",
            n, cell->number, link.up, cell->memory.links[n].sends, cell->memory.links[n].port,
            link.waiting, cell->ends[n]->phase(), cell->ends[n]->sender(),
            cell->ends[n]->receiver(), link.bad);
      }
    }
    return text;
  }

  std::mt19937_64 random_;
  Cables cables_;
  std::array<std::unique_ptr<Cell>, cells> cell_;
  std::vector<JoinedHost> hosts_;  // the other end of i is i ^ 1
  std::array<std::array<std::size_t, joined_ports>, cells> host_{};
  std::uint64_t next_word_ = 1000;
  std::array<unsigned, troubles> injected_{};
  std::array<unsigned, troubles> in_a_transfer_{};
};

TEST_P(Cells, PassOnEachSlotOnce) {
  interleave();
  for (unsigned i = 0; i < 12'000 && !HasFailure(); ++i) {
    step();
    if (chance(2)) trouble();
    if (chance(3)) join();
  }
  EXPECT_GT(by_others(), 0u) << "nobody had to be asked";
  come_to_rest();
  expect_all_came(50);
  expect_evidence({Trouble::cut_one_way, Trouble::cut});
  expect_evidence({Trouble::cut_in_doubt});
}

// The same with firmwares that are stopped at any point.
TEST_P(Cells, PassOnEachSlotOnceWhateverRestarts) {
  interleave();
  for (unsigned i = 0; i < 12'000 && !HasFailure(); ++i) {
    step();
    if (chance(2)) trouble();
    if (chance(3)) join();
    if (chance(2)) restart();
  }
  come_to_rest();
  expect_all_came(50);
  expect_evidence({Trouble::restart});
}

// Restarts alone lose no slot, repeat none, and invent none.
TEST_P(Cells, RestartsAloneChangeNothing) {
  for (unsigned i = 0; i < 4'000 && !HasFailure(); ++i) {
    step();
    if (chance(4)) restart();
  }
  come_to_rest();
  expect_all_came(30);
  expect_evidence({Trouble::restart});
  EXPECT_TRUE(all_up());
}

// Slots are lost only with the power of a cell. No slot is invented or arrives twice.
TEST_P(Cells, LossOfPowerRepeatsNothing) {
  interleave();
  for (unsigned i = 0; i < 12'000 && !HasFailure(); ++i) {
    step();
    if (chance(2)) trouble();
    if (chance(3)) join();
    if (chance(1)) restart();
    if (pick(200) == 0) lose_power(*cell_[pick(cells)]);
  }
  join_all();
  until([this] { return all_up(); });
  for (std::size_t i = 0; i < hosts_.size(); ++i) {
    auto given = hosts_[i].given.begin();
    for (const std::uint64_t word : hosts_[i ^ 1].got) {
      if (word == 0) continue;  // the empty slot after a loss of power
      given = std::find(given, hosts_[i].given.end(), word);
      ASSERT_NE(given, hosts_[i].given.end())
          << word << ": never given, or twice, at port " << hosts_[i].port;
      ++given;
    }
    EXPECT_GT(hosts_[i].got.size(), 20u) << "the traffic must be worth something";
  }
  expect_evidence({Trouble::power});
}

INSTANTIATE_TEST_SUITE_P(Seeds, Cells, testing::Range(1u, 1 + seeds(8)));

// ---- One cut ----

class Cut : public Cells {
 protected:
  /// A host of cell 0 sends a slot to cell 1. The link is cut when cell 1 has committed it, so cell
  /// 0 is in doubt.
  void set_up_doubt() {
    serve_until([this] { return all_up(); });
    LinkCable& cable = *cables_.all[0];
    for (auto& cell : {cell_[0].get(), cell_[1].get()}) {
      serve_until([cell] { return cell->port(0).offered(); });
    }
    ASSERT_EQ(hosts_[host_[0][0]].swap(word), OAE_COMMITTED);
    cell_[0]->serve();
    for (unsigned i = 0; cable.b.top.trace_received != OAE_OUTCOME_COMMITTED; ++i) {
      ASSERT_LT(i, patience);
      cables_.clock();
    }
    Cables::cut(cable);
  }
  void serve_all() {
    for (unsigned i = 0; i < 20; ++i) cables_.clock();
    for (auto& cell : cell_) cell->serve();
  }
  template <typename Predicate>
  void serve_until(Predicate done) {
    for (unsigned i = 0; !done() && !HasFailure(); ++i) {
      ASSERT_LT(i, patience) << state();
      serve_all();
      if (i % 50 == 49) {
        for (auto& cell : cell_) cell->tick();
      }
    }
  }
  static constexpr std::uint64_t word = 77;
};

TEST_P(Cut, IsSettledThroughTheThirdCell) {
  set_up_doubt();
  serve_until([this] { return cell_[0]->links.links[0].by_others == 1; });
  serve_until([this] { return cell_[0]->taken[0] == 1; });
  EXPECT_EQ(cell_[0]->links.links[0].lost, 0u);
}

// The cell that has committed loses its power, and is asked before the link is back. It knows
// nothing, and must not answer that the transfer is reversed.
TEST_P(Cut, IsLostIfTheOtherCellLosesItsPower) {
  set_up_doubt();
  cell_[1]->lose_power();
  serve_until([this] { return cell_[0]->links.links[0].by_others == 1; });
  serve_until([this] { return cell_[0]->links.links[0].lost == 1; });
  EXPECT_EQ(cell_[0]->taken[0], 1u) << "it is not sent again";
  join_all();
  serve_until([this] { return all_up(); });
  for (unsigned i = 0; i < 200; ++i) serve_all();
  EXPECT_EQ(cables_.all[0]->b.top.trace_expected, cables_.all[0]->a.top.trace_sent + 1);
  EXPECT_EQ(cell_[1]->memory.ports[0].arrived & 0xffff, 1u)
      << "but for the empty slot nothing came";
}

// Each side goes down once with each cut, however soon the link is back and whatever question is
// asked.
TEST_P(Cut, TakesEachSideDownOnce) {
  until([this] { return all_up(); });
  constexpr unsigned cuts = 40;
  for (unsigned i = 0; i < cuts && !HasFailure(); ++i) {
    cables_.aim = cables_.all[0].get();
    for (unsigned k = 0; cables_.aim != nullptr; ++k) {
      ASSERT_LT(k, patience) << state();
      step();
    }
    LinkCable& cable = *cables_.all[0];
    const auto is_down = [](const LinkEnd& end) { return end.phase() != OAE_LINK_STATE_IDLE; };
    until([&] { return is_down(cable.a) || is_down(cable.b); });
    for (unsigned k = pick(200); k > 0; --k) step();
    join_all();
    until([this] { return all_up(); });
  }
  std::uint64_t downs = 0;
  for (LinkEnd* end : {&cables_.all[0]->a, &cables_.all[0]->b}) {
    downs += registers_of(*end).read(OAE_LINK_COUNT_DOWN);
  }
  EXPECT_LE(downs, 2 * cuts);
  EXPECT_GT(by_others(), 0u);
}

// A cell whose firmware takes no slots refuses transfers. The other one must not repeat them at
// once.
TEST_P(Cut, ARefusedTransferIsNotTriedAgainAtOnce) {
  serve_until([this] { return all_up(); });
  LinkCable& cable = *cables_.all[0];
  const std::uint64_t before = registers_of(cable.a).read(OAE_LINK_COUNT_REVERSED);
  const auto give = [this](unsigned port) {
    hosts_[host_[0][port]].swap(next_word_);
    next_word_ += 6;
  };
  // Cell 1 is stopped. More transfers arrive than the two for which it has room.
  for (unsigned i = 0; i < 2'000; ++i) {
    for (unsigned k = 0; k < 20; ++k) cables_.clock();
    give(0);
    give(1);
    cell_[0]->memory.ports[0].arrived += 1;
    cell_[0]->memory.ports[1].arrived += 1;
    cell_[0]->serve();
    swap_service_serve_port(&cell_[0]->swaps, 0);
    swap_service_serve_port(&cell_[0]->swaps, 1);
  }
  const std::uint64_t refused = registers_of(cable.a).read(OAE_LINK_COUNT_REVERSED) - before;
  EXPECT_GE(refused, 1u);
  EXPECT_LE(refused, unsigned{LINK_REVERSALS});
  // After a sign of life, and with room at the other side, it continues.
  cell_[1]->serve();
  cell_[0]->tick();
  const std::uint32_t number = cable.a.top.trace_sent;
  for (unsigned k = 0; k < 200; ++k) cables_.clock();
  cell_[0]->serve();
  EXPECT_GE(cable.a.top.trace_sent, number);
  EXPECT_EQ(registers_of(cable.a).read(OAE_LINK_COUNT_REVERSED) - before, refused);
}

INSTANTIATE_TEST_SUITE_P(Seeds, Cut, testing::Range(1u, 1 + seeds(4)));

}  // namespace
