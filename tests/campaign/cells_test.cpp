// SPDX-License-Identifier: Apache-2.0
// Three firmwares as they are, with verilated links between any two of them, hosts at joined ports,
// and wires that lose, damage, repeat and are cut. Firmwares are stopped at any point and start
// again, and cells lose their power. Each slot that a host has committed reaches the other host
// once and in order, except those that a cell without power has lost.
//
// OAE_VP_CELLS_SEEDS overrides the number of seeds of each test.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <memory>
#include <random>
#include <stdexcept>
#include <string>

#include "firmware/crc64.h"
#include "firmware/link_service.h"
#include "oae_registers.h"
#include "tests/firmware/mmio_mock.h"
#include "tests/firmware/swap_block.h"
#include "tests/rtl/link_cable.h"

namespace {

constexpr unsigned cells = 3;
constexpr unsigned joined_ports = 6;
constexpr std::uintptr_t block_base = 0x0100'0000;
constexpr std::uintptr_t cell_size = 0x0100'0000;
constexpr std::uintptr_t link_base = 0x10'0000;
constexpr unsigned patience = 30'000;

/// Cable i is between cells i and (i + 1) % 3, and joins ports 2 i and 2 i + 1 of both.
struct Cables {
  explicit Cables(unsigned delay) {
    for (auto& cable : all) cable = std::make_unique<LinkCable>(delay);
  }
  void clock() {
    ++now;
    for (auto& cable : all) {
      cable->settle(now);
      cable->rise();
    }
    if (aim != nullptr && (of_the_other(aim->a) || of_the_other(aim->b))) {
      aim->to_a.cut();
      aim->to_b.cut();
      aim = nullptr;
    }
  }
  /// Only the other side knows the fate of its transfer.
  static bool of_the_other(const LinkEnd& end) { return end.sender() == OAE_LINK_STATE_COMMITTING; }
  std::array<std::unique_ptr<LinkCable>, cells> all;
  std::uint64_t now = 0;
  LinkCable* aim = nullptr;  ///< the cable that is cut with the next third phase
};

/// Thrown to stop the firmware of a cell in the middle of its work.
struct Stopped {};

/// Stops the firmware at a later access, if requested.
struct Stop {
  void access() {
    if (in != 0 && --in == 0) throw Stopped{};
  }
  unsigned in = 0;  ///< accesses until the stop; 0: none
};

/// The registers of an end. An access takes its clocks.
class LinkRegisters : public MmioDevice {
 public:
  LinkRegisters(std::uintptr_t base, LinkEnd& end, Cables& cables, Stop& stop)
      : MmioDevice(base, OAE_LINK_SIZE), end_(end), cables_(cables), stop_(stop) {}

  std::uint64_t read(std::uintptr_t offset) override {
    stop_.access();
    std::uint64_t result = 0;
    end_.post_get(static_cast<unsigned>(offset), [&](std::uint64_t value) { result = value; });
    finish();
    return result;
  }
  void write(std::uintptr_t offset, std::uint64_t value) override {
    stop_.access();
    end_.post_put(static_cast<unsigned>(offset), value);
    finish();
  }

 private:
  void finish() {
    while (!end_.idle()) cables_.clock();
    EXPECT_FALSE(end_.error);
  }
  LinkEnd& end_;
  Cables& cables_;
  Stop& stop_;
};

struct Cell : SwapBlock, MmioDevice {
  Cell(unsigned number, Cables& cables)
      : SwapBlock(joined_ports),
        MmioDevice(block_base + number * cell_size, OAE_FIRMWARE_SIZE),
        base(block_base + number * cell_size),
        number(number),
        cables(cables) {
    const unsigned before = (number + cells - 1) % cells;
    ends[0] = &cables.all[number]->a;
    ends[1] = &cables.all[before]->b;
    places[0] = {base + link_base, (number + 1) % cells, 3ull << 2 * number};
    places[1] = {base + link_base + 0x1'0000, before, 3ull << 2 * before};
    for (unsigned n = 0; n < 2; ++n) {
      registers[n] = std::make_unique<LinkRegisters>(places[n].base, *ends[n], cables, stop);
    }
    std::memset(&memory, 0xa5, sizeof memory);
    start();
  }
  /// Restarts the firmware, which keeps only its memory.
  void start() {
    stop.in = 0;
    std::memset(&swaps, 0, sizeof swaps);
    std::memset(&links, 0, sizeof links);
    link_service_init(&links, number, places.data(), 2, &swaps, &memory, nullptr);
    EXPECT_TRUE(swap_service_init(&swaps, base, &links.partner));
    link_service_start(&links);
  }
  /// Removes the power, and with it the state of block, links and memory.
  void lose_power() {
    for (SwapBlock::Port& port : ports) port = {};
    std::memset(&memory, 0x5a, sizeof memory);
    for (LinkEnd* end : ends) end->top.reset = 1;
    for (unsigned i = 0; i < 200; ++i) cables.clock();
    for (LinkEnd* end : ends) end->top.reset = 0;
    start();
  }
  std::uint64_t read(std::uintptr_t offset) override {
    stop.access();
    return SwapBlock::read(offset);
  }
  void write(std::uintptr_t offset, std::uint64_t value) override {
    stop.access();
    SwapBlock::write(offset, value);
  }
  /// Serves. The access of this number, if it occurs, stops the firmware, which then starts again.
  void serve_until(unsigned access) {
    stop.in = access;
    try {
      serve();
      tick();
    } catch (const Stopped&) {
    }
    start();
  }
  void serve() {
    swap_service_serve(&swaps, ~std::uint64_t{0});
    for (unsigned n = 0; n < 2; ++n) {
      if (ends[n]->top.irq) link_service_serve(&links, n);
    }
  }
  void tick() {
    swap_service_tick(&swaps, 1);
    swap_service_retry(&swaps, ~std::uint64_t{0});
    link_service_tick(&links);
  }

  const std::uintptr_t base;
  const unsigned number;
  Cables& cables;
  Stop stop;
  std::array<link_place, 2> places{};
  link_service_memory memory;
  std::array<LinkEnd*, 2> ends;
  std::array<std::unique_ptr<LinkRegisters>, 2> registers;
  swap_service swaps{};
  link_service links{};
};

/// A joined port of a cell: the slots that its host has sent and received.
struct End {
  Cell* cell;
  unsigned port;
  std::vector<std::uint64_t> given{0};  // the first slot is empty
  std::vector<std::uint64_t> got{};
  bool swaps = false;           // the host swaps instead of sending; then
  std::uint64_t tentative = 0;  // the word of the host's slot
  std::uint64_t answered = 0;   // the word of the answer
};

/// The number of seeds of each test.
unsigned seeds(unsigned otherwise) {
  const char* const asked = std::getenv("OAE_VP_CELLS_SEEDS");
  return asked != nullptr ? std::stoul(asked) : otherwise;
}

class Cells : public testing::TestWithParam<unsigned> {
 protected:
  Cells() : random_(GetParam()), cables_(8 + 8 * (GetParam() % 9)) {
    crc64_init();
    for (unsigned n = 0; n < cells; ++n) {
      cell_[n] = std::make_unique<Cell>(n, cables_);
    }
    for (unsigned n = 0; n < cells; ++n) {
      for (unsigned port : {2 * n, 2 * n + 1}) {
        for (unsigned at : {n, (n + 1) % cells}) {
          ends_.push_back({cell_[at].get(), port});
          cell_[at]->open(port);
        }
      }
    }
  }

  std::uint64_t pick(std::uint64_t n) { return random_() % n; }
  bool chance(unsigned percent) { return pick(100) < percent; }

  /// Performs an action of a host.
  void host(End& end) {
    SwapBlock::Port& port = end.cell->ports[end.port];
    if (port.tentative) {
      if (chance(10)) {
        end.cell->reverse(end.port);
      } else if (!port.committed && chance(70)) {
        end.cell->confirm(end.port);
        if (!end.swaps) return;
        end.given.push_back(end.tentative);
        end.got.push_back(end.answered);
      }
      return;
    }
    if (chance(3)) return end.cell->open(end.port);  // another owner
    const std::uint64_t word = next_word_++;
    end.swaps = port.offered && chance(90);
    if (end.swaps) {
      end.answered = port.published.back()[1];
      EXPECT_EQ(port.published.back()[6], end.answered ? end.answered + 5 : 0);
      end.cell->exchange(end.port, word);
    } else if (chance(10)) {
      end.cell->send(end.port, word);  // for the firmware
    } else {
      return;
    }
    for (unsigned i = 1; i < 7; ++i) port.tentative_slot[i] = word + i - 1;
    end.tentative = word;
  }

  void trouble() {
    LinkCable& cable = *cables_.all[pick(cells)];
    LinkWire& wire = chance(50) ? cable.to_a : cable.to_b;
    switch (pick(6)) {
      case 0:
        return wire.fault(LinkWire::Fault::lose, pick(6));
      case 1:
        return wire.fault(LinkWire::Fault::corrupt, pick(6), pick(512));
      case 2:
        return wire.fault(LinkWire::Fault::duplicate, pick(6));
      case 3:
        return wire.cut();
      case 4:
        cables_.aim = &cable;
        return;
      default:
        cable.to_a.cut();
        cable.to_b.cut();
    }
  }
  void join() {
    for (auto& cable : cables_.all) {
      if (!chance(60)) continue;
      cable->to_a.join();
      cable->to_b.join();
    }
  }

  void step() {
    const unsigned clocks = pick(100);
    for (unsigned i = 0; i < clocks; ++i) cables_.clock();
    Cell& cell = *cell_[pick(cells)];
    cell.serve();
    if (chance(5)) cell.tick();
    if (chance(60)) host(ends_[pick(ends_.size())]);
  }

  void join_all() {
    cables_.aim = nullptr;
    for (auto& cable : cables_.all) {
      cable->to_a.join();
      cable->to_b.join();
      cable->to_a.forgive();
      cable->to_b.forgive();
    }
  }
  bool all_up() const {
    for (const auto& cell : cell_) {
      for (const LinkEnd* end : cell->ends) {
        if (end->phase() != OAE_LINK_STATE_IDLE) return false;
      }
    }
    return true;
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
  void lose_power(unsigned n) {
    for (End& end : ends_) {
      if (end.cell == cell_[n].get()) end.tentative = 0;
    }
    cell_[n]->lose_power();
    for (End& end : ends_) {
      if (end.cell == cell_[n].get()) cell_[n]->open(end.port);
    }
  }
  /// Faults have ended, and all slots arrive.
  void come_to_rest() {
    join_all();
    std::vector<std::size_t> given;
    for (const End& end : ends_) given.push_back(end.given.size());
    until([&] { return over(given); });
  }
  void expect_all_came(std::size_t least) {
    for (const auto& cell : cell_) {
      for (unsigned n = 0; n < 2; ++n) {
        EXPECT_EQ(cell->links.links[n].lost, 0u);
        EXPECT_EQ(cell->links.links[n].bad, 0u);
      }
    }
    for (std::size_t i = 0; i < ends_.size(); ++i) {
      const auto& given = ends_[i].given;
      const auto& got = ends_[i ^ 1].got;
      ASSERT_LE(got.size(), given.size());
      for (std::size_t n = 0; n < got.size(); ++n)
        ASSERT_EQ(got[n], given[n]) << "port " << ends_[i].port;
      EXPECT_GT(got.size(), least) << "the traffic must be worth something";
    }
  }

  /// Whether all slots from before the end of the faults have arrived.
  bool over(const std::vector<std::size_t>& given) const {
    for (std::size_t i = 0; i < ends_.size(); ++i) {
      if (ends_[i ^ 1].got.size() < given[i]) return false;
    }
    return true;
  }

  std::string state() const {
    std::string text;
    for (std::size_t i = 0; i < ends_.size(); ++i) {
      const End& end = ends_[i];
      const link_port_memory& port = end.cell->memory.ports[end.port];
      const SwapBlock::Port& block = end.cell->ports[end.port];
      text += fmt::format(
          "port {} of cell {}: {} given, {} got; offered {}, tentative {}, committed {}; arrived "
          "{:x}, used {:x}, waits {}\n",
          end.port, end.cell->links.cell, end.given.size(), end.got.size(), block.offered,
          block.tentative, block.committed, port.arrived, port.used,
          end.cell->links.waits[end.port] != 0);
    }
    for (const auto& cell : cell_) {
      for (unsigned n = 0; n < 2; ++n) {
        const struct link& link = cell->links.links[n];
        text += fmt::format(
            "link {} of cell {}: up {}, sends {}, port {}, {} messages, phase {}, sender {}, "
            "receiver "
            "{}, bad {}\n",
            n, cell->links.cell, link.up, cell->memory.links[n].sends, cell->memory.links[n].port, link.waiting,
            cell->ends[n]->phase(), cell->ends[n]->sender(), cell->ends[n]->receiver(), link.bad);
      }
    }
    return text;
  }

  std::mt19937_64 random_;
  Cables cables_;
  std::array<std::unique_ptr<Cell>, cells> cell_;
  std::vector<End> ends_;  // the other end of i is i ^ 1
  std::uint64_t next_word_ = 1000;
};

TEST_P(Cells, PassOnEachSlotOnce) {
  for (unsigned i = 0; i < 12'000 && !HasFailure(); ++i) {
    step();
    if (chance(2)) trouble();
    if (chance(3)) join();
  }
  EXPECT_GT(by_others(), 0u) << "nobody had to be asked";
  come_to_rest();
  expect_all_came(50);
}

// The same with firmwares that are stopped at any point.
TEST_P(Cells, PassOnEachSlotOnceWhateverRestarts) {
  for (unsigned i = 0; i < 12'000 && !HasFailure(); ++i) {
    step();
    if (chance(2)) trouble();
    if (chance(3)) join();
    if (chance(2)) cell_[pick(cells)]->serve_until(1 + pick(60));
  }
  come_to_rest();
  expect_all_came(50);
}

// Restarts alone lose no slot, repeat none, and invent none.
TEST_P(Cells, RestartsAloneChangeNothing) {
  for (unsigned i = 0; i < 4'000 && !HasFailure(); ++i) {
    step();
    if (chance(4)) cell_[pick(cells)]->serve_until(1 + pick(60));
  }
  come_to_rest();
  expect_all_came(30);
  for (const auto& cell : cell_) {
    for (const LinkEnd* end : cell->ends) EXPECT_EQ(end->phase(), unsigned{OAE_LINK_STATE_IDLE});
  }
}

// Slots are lost only with the power of a cell. No slot is invented or arrives twice.
TEST_P(Cells, LossOfPowerRepeatsNothing) {
  for (unsigned i = 0; i < 12'000 && !HasFailure(); ++i) {
    step();
    if (chance(2)) trouble();
    if (chance(3)) join();
    if (chance(1)) cell_[pick(cells)]->serve_until(1 + pick(60));
    if (pick(300) == 0) lose_power(pick(cells));
  }
  join_all();
  until([this] { return all_up(); });
  for (std::size_t i = 0; i < ends_.size(); ++i) {
    auto given = ends_[i].given.begin();
    for (const std::uint64_t word : ends_[i ^ 1].got) {
      if (word == 0) continue;  // the empty slot after a loss of power
      given = std::find(given, ends_[i].given.end(), word);
      ASSERT_NE(given, ends_[i].given.end()) << word << ": never given, or twice, at port " << ends_[i].port;
      ++given;
    }
    EXPECT_GT(ends_[i].got.size(), 20u) << "the traffic must be worth something";
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, Cells, testing::Range(1u, 1 + seeds(12)));

// ---- One cut ----

class Cut : public Cells {
 protected:
  /// A host of cell 0 sends a slot to cell 1. The link is cut when cell 1 has committed it, so cell
  /// 0 is in doubt.
  void set_up_doubt() {
    serve_until([this] { return all_up(); });
    LinkCable& cable = *cables_.all[0];
    for (End* end : {&ends_[0], &ends_[1]}) {
      serve_until([end] { return end->cell->ports[0].offered; });
    }
    end_ = &ends_[0];
    end_->cell->exchange(0, word);
    for (unsigned i = 1; i < 7; ++i) end_->cell->ports[0].tentative_slot[i] = word + i - 1;
    end_->cell->confirm(0);
    end_->cell->serve();
    for (unsigned i = 0; cable.b.top.trace_received != OAE_OUTCOME_COMMITTED; ++i) {
      ASSERT_LT(i, patience);
      cables_.clock();
    }
    cut();
  }
  void cut() {
    cables_.all[0]->to_a.cut();
    cables_.all[0]->to_b.cut();
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
  End* end_ = nullptr;
};

TEST_P(Cut, IsSettledThroughTheThirdCell) {
  set_up_doubt();
  serve_until([this] { return cell_[0]->links.links[0].by_others == 1; });
  serve_until([this] { return cell_[0]->ports[0].taken == 1; });
  EXPECT_EQ(cell_[0]->links.links[0].lost, 0u);
}

// The cell that has committed loses its power, and is asked before the link is back. It knows
// nothing, and must not answer that the transfer is reversed.
TEST_P(Cut, IsLostIfTheOtherCellLosesItsPower) {
  set_up_doubt();
  cell_[1]->lose_power();
  serve_until([this] { return cell_[0]->links.links[0].by_others == 1; });
  serve_until([this] { return cell_[0]->links.links[0].lost == 1; });
  EXPECT_EQ(end_->cell->ports[0].taken, 1u) << "it is not sent again";
  join_all();
  serve_until([this] { return all_up(); });
  for (unsigned i = 0; i < 200; ++i) serve_all();
  EXPECT_EQ(cables_.all[0]->b.top.trace_expected, cables_.all[0]->a.top.trace_sent + 1);
  EXPECT_EQ(cell_[1]->memory.ports[0].arrived & 0xffff, 1u) << "but for the empty slot nothing came";
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
    SwapBlock& block = *cell_[0];
    if (block.ports[port].offered && !block.ports[port].tentative) {
      block.exchange(port, next_word_++);
      for (unsigned i = 1; i < 7; ++i) {
        block.ports[port].tentative_slot[i] = block.ports[port].tentative_slot[1] + i - 1;
      }
    }
    if (block.ports[port].tentative && !block.ports[port].committed) block.confirm(port);
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
