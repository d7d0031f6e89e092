// SPDX-License-Identifier: Apache-2.0
// How many slots cross the link between two cells, by the ports at work and by how long a host is
// away
#include <fmt/core.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "tests/rtl/bridge/cells.h"

namespace bridge {
namespace {

constexpr unsigned pages = 2;  // BAR
constexpr unsigned warm_up = 10'000;
constexpr unsigned measured = 40'000;

/// A process of a host that swaps at one port for ever. It confirms a swap as its answer comes,
/// and offers the next slot `away` clocks later: the time of PCIe, of the root complex and of its
/// own instructions. It offers a slot that was refused again after the same time.
class Swapper {
 public:
  Swapper(const Host& host, unsigned away, unsigned begin)
      : host_(host), away_(away), next_(begin) {}

  void clock(std::uint64_t now) {
    now_ = now;
    if (asking_ || now < next_) return;
    asking_ = true;
    Header header;
    header.epoch = host_.epoch;
    header.sequence = host_.sequence + 1;
    header.attempt = host_.attempt;
    const Slot slot = make_slot(header, ++number_);
    const unsigned window = host_.port * OAE_PORT_SIZE + OAE_PORT_WINDOW;
    host_.cell->post_write(pages, window, slot.data(), 64);
    host_.cell->post_read(pages, window, [this](const Slot& answer) { end(answer); });
  }

  unsigned offers = 0;
  unsigned refused = 0;

 private:
  void end(const Slot& answer) {
    asking_ = false;
    next_ = now_ + away_;
    ++offers;
    if (Header::of(answer[0]).status != OAE_STATUS_OK) {
      host_.attempt = (host_.attempt + 1) & 63;
      ++refused;
      return;
    }
    ++host_.sequence;
    host_.attempt = 0;
    Header header;
    header.epoch = host_.epoch;
    header.sequence = host_.sequence;
    const std::uint64_t word = confirmation(header.word());
    host_.cell->post_write(pages, host_.port * OAE_PORT_SIZE + OAE_PORT_CONFIRM, &word, 8);
  }

  Host host_;
  unsigned away_;
  std::uint64_t next_;
  std::uint64_t now_ = 0;
  std::uint64_t number_ = 0;
  bool asking_ = false;
};

/// The share of all offers that were refused.
double refusals(const std::vector<std::unique_ptr<Swapper>>& swappers) {
  double offers = 0;
  double refused = 0;
  for (const auto& each : swappers) {
    offers += each->offers;
    refused += each->refused;
  }
  return refused / offers;
}

struct Case {
  unsigned ports;   // at work
  unsigned away;    // clocks
  double expected;  // clocks for each slot
};

// A port swaps each time that its host is back, after some clocks of the block. All ports share the
// block, which executes one operation after the other: of each slot the offer, the read and the
// confirmation, and what the bridge takes and brings.
constexpr double of_the_block = 27;
constexpr double for_an_answer = 12;
constexpr unsigned over_pcie = 512;  // 655 ns, a round trip of oae-mini

constexpr Case over_pcie_by(unsigned ports) {
  const double turn = (over_pcie + for_an_answer) / ports;
  return {ports, over_pcie, turn < of_the_block ? of_the_block : turn};
}

class Rate : public Cells, public testing::WithParamInterface<Case> {};

TEST_P(Rate, OfPorts) {
  const auto [at_work, away, expected] = GetParam();
  bring_up();
  std::vector<std::unique_ptr<Swapper>> swappers;
  for (unsigned port = 0; port < at_work; ++port) {
    for (Cell* cell : {a.get(), b.get()}) {
      // Processes are not in step.
      const unsigned begin = (away + 1) * port / at_work;
      swappers.push_back(std::make_unique<Swapper>(open(*cell, port), away, begin));
    }
  }
  const auto run = [&](unsigned clocks) {
    for (unsigned n = 0; n < clocks; ++n) {
      for (auto& each : swappers) each->clock(now);
      clock();
    }
  };
  run(warm_up);
  const std::uint64_t passed = get(*a, Of::left, OAE_WINDOW_COUNT_PASSED);
  const std::uint64_t brought = get(*a, Of::left, OAE_WINDOW_COUNT_BROUGHT);
  const std::uint64_t begun = now;
  run(measured);
  const auto clocks = static_cast<double>(now - begun);
  const auto out = static_cast<double>(get(*a, Of::left, OAE_WINDOW_COUNT_PASSED) - passed);
  const auto in = static_cast<double>(get(*a, Of::left, OAE_WINDOW_COUNT_BROUGHT) - brought);
  const double percent = 100 * out * 8 / window::slices / clocks;
  const double refused = refusals(swappers);
  fmt::print(
      "{} ports, away for {} clocks: {:.1f} % of each wire, {:.1f} clocks a slot, {:.2f} of the "
      "offers refused\n",
      at_work, away, percent, clocks / out, refused);
  RecordProperty("percent", fmt::format("{:.1f}", percent));
  EXPECT_NEAR(clocks / out, expected, 0.05 * expected);
  EXPECT_NEAR(out, in, 2 * at_work) << "a slot each way";
  if (away > 0) {
    EXPECT_LT(refused, 0.01) << "hosts that are away find a slot when they are back";
  }
}

// Of a host that is never away, a slot takes the way there and back.
INSTANTIATE_TEST_SUITE_P(OfHosts, Rate,
                         testing::Values(Case{1, 0, 80}, over_pcie_by(1), over_pcie_by(4),
                                         over_pcie_by(16), over_pcie_by(32), over_pcie_by(64)));

}  // namespace
}  // namespace bridge
