// SPDX-License-Identifier: Apache-2.0
// Three firmwares as they are, with verilated links between any two of them, hosts at joined ports,
// and wires that lose, damage, repeat and are cut. Each slot that a host has committed comes to the
// other, once and in order, and none stays behind.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>
#include <deque>
#include <memory>
#include <random>
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
  /// Its transfer's fate is the other side's to tell.
  static bool of_the_other(const LinkEnd& end) { return end.sender() == OAE_LINK_STATE_COMMITTING; }
  std::array<std::unique_ptr<LinkCable>, cells> all;
  std::uint64_t now = 0;
  LinkCable* aim = nullptr;  ///< is cut with the next third phase
};

/// An end's registers: the access takes the clocks that it takes.
class LinkRegisters : public MmioDevice {
 public:
  LinkRegisters(std::uintptr_t base, LinkEnd& end, Cables& cables)
      : MmioDevice(base, OAE_LINK_SIZE), end_(end), cables_(cables) {}

  std::uint64_t read(std::uintptr_t offset) override {
    std::uint64_t result = 0;
    end_.post_get(static_cast<unsigned>(offset), [&](std::uint64_t value) { result = value; });
    finish();
    return result;
  }
  void write(std::uintptr_t offset, std::uint64_t value) override {
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
};

struct Cell : SwapBlock, MmioDevice {
  Cell(unsigned number, Cables& cables)
      : SwapBlock(joined_ports),
        MmioDevice(block_base + number * cell_size, OAE_FIRMWARE_SIZE),
        base(block_base + number * cell_size) {
    const unsigned before = (number + cells - 1) % cells;
    ends[0] = &cables.all[number]->a;
    ends[1] = &cables.all[before]->b;
    const link_place places[] = {{base + link_base, (number + 1) % cells, 3ull << 2 * number},
                                 {base + link_base + 0x1'0000, before, 3ull << 2 * before}};
    for (unsigned n = 0; n < 2; ++n) {
      registers[n] = std::make_unique<LinkRegisters>(places[n].base, *ends[n], cables);
    }
    link_service_init(&links, number, places, 2, &swaps, nullptr);
    EXPECT_TRUE(swap_service_init(&swaps, base, &links.partner));
    link_service_start(&links);
  }
  std::uint64_t read(std::uintptr_t offset) override { return SwapBlock::read(offset); }
  void write(std::uintptr_t offset, std::uint64_t value) override {
    SwapBlock::write(offset, value);
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
  std::array<LinkEnd*, 2> ends;
  std::array<std::unique_ptr<LinkRegisters>, 2> registers;
  swap_service swaps{};
  link_service links{};
};

/// A joined port of a cell: what its host has given, and what it was given by the other.
struct End {
  Cell* cell;
  unsigned port;
  std::vector<std::uint64_t> given{0};  // an empty slot is the first
  std::vector<std::uint64_t> got{};
  bool swaps = false;           // and not sends; then
  std::uint64_t tentative = 0;  // the host's word
  std::uint64_t answered = 0;   // and the other's
};

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

  /// A host does something.
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

  /// All that had been given when trouble ended has come.
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
      const link_port& port = end.cell->links.ports[end.port];
      const SwapBlock::Port& block = end.cell->ports[end.port];
      text += fmt::format(
          "port {} of cell {}: {} given, {} got; offered {}, tentative {}, committed {}; arrived "
          "{}, "
          "used {}, waits {}, has arrived {}\n",
          end.port, end.cell->links.cell, end.given.size(), end.got.size(), block.offered,
          block.tentative, block.committed, port.arrived, port.used, port.waits != 0,
          port.has_arrived);
    }
    for (const auto& cell : cell_) {
      for (unsigned n = 0; n < 2; ++n) {
        const struct link& link = cell->links.links[n];
        text += fmt::format(
            "link {} of cell {}: up {}, sends {}, port {}, {} messages, phase {}, sender {}, "
            "receiver "
            "{}, bad {}\n",
            n, cell->links.cell, link.up, static_cast<int>(link.sends), link.port, link.waiting,
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
  cables_.aim = nullptr;
  for (auto& cable : cables_.all) {
    cable->to_a.join();
    cable->to_b.join();
  }
  std::vector<std::size_t> given;
  for (const End& end : ends_) given.push_back(end.given.size());
  for (unsigned i = 0; !over(given) && !HasFailure(); ++i) {
    ASSERT_LT(i, patience) << "stuck\n" << state();
    step();
  }
  std::uint64_t by_others = 0;
  for (const auto& cell : cell_) {
    for (unsigned n = 0; n < 2; ++n) {
      by_others += cell->links.links[n].by_others;
      EXPECT_EQ(cell->links.links[n].lost, 0u);
    }
  }
  for (std::size_t i = 0; i < ends_.size(); ++i) {
    const auto& given = ends_[i].given;
    const auto& got = ends_[i ^ 1].got;
    ASSERT_LE(got.size(), given.size());
    for (std::size_t n = 0; n < got.size(); ++n)
      ASSERT_EQ(got[n], given[n]) << "port " << ends_[i].port;
    EXPECT_GT(got.size(), 50u) << "the traffic must be worth something";
  }
  EXPECT_GT(by_others, 0u) << "nobody had to be asked";
}

INSTANTIATE_TEST_SUITE_P(Seeds, Cells, testing::Range(1u, 9u));

}  // namespace
