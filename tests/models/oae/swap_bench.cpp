// SPDX-License-Identifier: Apache-2.0
// Measures swaps per second of wall time through the sockets of the block, with the accesses that a
// firmware makes for each. This is a benchmark and not a test, since wall time depends on the
// machine.
#include <chrono>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <string>

#include "tests/models/oae/fixture.h"

int sc_main(int argc, char** argv) {
  constexpr unsigned swaps = 20'000;
  oae::BlockConfig config;
  if (argc > 1) config.vcd = argv[1];
  Fixture fixture(config);
  double seconds = 0;
  fixture.run({[&] {
    fixture.open(0);
    const auto start = std::chrono::steady_clock::now();
    for (std::uint32_t n = 1; n <= swaps; ++n) {
      Header header;
      header.epoch = 1;
      header.sequence = n;
      const Slot slot = make_slot(header, n);
      fixture.publish(0, slot);
      fixture.write(2, OAE_PORT_WINDOW, slot.data(), 64);
      fixture.read(2, OAE_PORT_PUSHED_ANSWER);
      fixture.write(2, OAE_PORT_CONFIRM, confirmation(slot[0]));
      fixture.get(OAE_FIRMWARE_IRQ_STATUS);
      fixture.get(OAE_FIRMWARE_EVENT_AT(0));
      fixture.put(OAE_FIRMWARE_EVENT_AT(0), ~std::uint64_t{0});
      for (unsigned i = 0; i < 8; ++i) fixture.get(OAE_FIRMWARE_COMMITTED_AT(0) + 8 * i);
      fixture.put(OAE_FIRMWARE_COMMAND_AT(0), OAE_FIRMWARE_COMMAND_TAKE_MASK);
      fixture.get(OAE_FIRMWARE_STATUS_AT(0));
    }
    seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  }});
  const std::uint64_t clocks = fixture.block->clocks();
  std::printf("%.0f swaps/s, %.1f clocks a swap, %.0f ns a clock\n", swaps / seconds,
              static_cast<double>(clocks) / swaps, seconds * 1e9 / static_cast<double>(clocks));
  return fixture.statistics.json()["counters"]["fixture.oae.committed"] == swaps ? 0 : 1;
}
