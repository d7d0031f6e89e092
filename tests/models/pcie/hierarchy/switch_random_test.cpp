// SPDX-License-Identifier: Apache-2.0
// Random writes of software to a switch, and random events at its links.
#include <gtest/gtest.h>

#include <random>

#include "tests/models/pcie/hierarchy/switch_fixture.h"

namespace pcie {
namespace {

using vp::ns;
using vp::us;

class Written : public testing::TestWithParam<unsigned> {};

// Whatever software writes, and whatever happens at links and hot-plug slots meanwhile: after a
// fundamental reset all is as it was.
TEST_P(Written, AtRandomNothingIsStuckForGood) {
  std::mt19937 random(GetParam());
  const auto below = [&](unsigned limit) { return static_cast<unsigned>(random() % limit); };
  SwitchFixture::Config config;
  config.nested = GetParam() % 2 == 0;
  config.fixture.root_complex.completion_timeout = 100 * us;
  config.fixture.root_complex.peer_to_peer = GetParam() % 4 < 2;
  for (auto& each : config.sw.ports) {
    each.hot_plug = HotPlugSlotConfig::with(
        {&HotPlugSlotConfig::button, &HotPlugSlotConfig::indicators, &HotPlugSlotConfig::power});
    each.hot_plug.surprise = below(2) == 0;
    each.containment = true;
  }
  config.sw.credits = config.sw.ports[0].credits = one_packet();
  SwitchFixture fixture(config);
  const Id ids[] = {root_id,      upstream_id,  port_id(0),       port_id(1),      port_id(2),
                    device_id(0), device_id(2), make_id(7, 0, 0), make_id(3, 9, 1)};
  std::vector<std::unique_ptr<Logic::Dma>> transfers;
  fixture.run([&] {
    fixture.enumerate_switch();
    for (unsigned n = 0; n < 600; ++n) {
      const unsigned i = below(devices);
      switch (below(8)) {
        case 0:
        case 1:
        case 2: {
          // Registers of the header and capabilities rather than the emptiness behind them.
          const unsigned offset = 4 * (below(2) ? below(0x40) : below(0x90));
          const std::uint32_t value = below(2) ? random() : 1u << below(32);
          fixture.config_write(ids[below(std::size(ids))], offset, value, 4);
          break;
        }
        case 3:
          fixture.read(window + 4 * below(devices * MiB / 4), 4);
          break;
        case 4:
          fixture.write(window + 4 * below(devices * MiB / 4), random(), 4);
          break;
        case 5:
          transfers.push_back(below(2) ? fixture.logic_of(i).dma_read(bar(below(devices)), 256)
                                       : fixture.logic_of(i).dma_write(0x1000, {1, 2, 3, 4}));
          break;
        case 6:
          below(2) ? fixture.sw.port(i).remove_card() : fixture.sw.port(i).insert_card();
          break;
        case 7: {
          const Error error = all_errors[below(std::size(all_errors))];
          Link& link = below(3) == 0 ? fixture.above : fixture.cards[i]->link;
          link.inject(below(2) ? Direction::down : Direction::up, {error, {}, 1});
          break;
        }
      }
      if (below(4) == 0) settle(below(3000) * ns);
    }
    for (unsigned i = 0; i < devices; ++i) fixture.sw.port(i).insert_card();
    fixture.root_complex.reset();
    settle(60'000 * us);  // all that had a timeout
    for (const auto& transfer : transfers) EXPECT_TRUE(transfer->done);
    fixture.enumerate_switch();
    for (unsigned i = 0; i < devices; ++i) EXPECT_TRUE(fixture.works(i)) << i;
  });
  EXPECT_FALSE(sc_core::sc_pending_activity());
}

INSTANTIATE_TEST_SUITE_P(Switch, Written, testing::Range(0u, 40u),
                         testing::PrintToStringParamName());
}  // namespace
}  // namespace pcie
