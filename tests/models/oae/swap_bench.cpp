// SPDX-License-Identifier: Apache-2.0
// Swaps per second of wall time through the sockets of the block, with the accesses that a firmware
// makes for each. Not a test: wall time is no property of the model.
#include <chrono>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <string>

#include "tests/models/oae/bench.h"

int sc_main(int argc, char** argv) {
  constexpr unsigned swaps = 20'000;
  oae::BlockConfig config;
  if (argc > 1) config.vcd = argv[1];
  Bench bench(config);
  double seconds = 0;
  bench.run({[&] {
    bench.open(0);
    const auto start = std::chrono::steady_clock::now();
    for (std::uint32_t n = 1; n <= swaps; ++n) {
      Header header;
      header.epoch = 1;
      header.sequence = n;
      const Slot slot = make_slot(header, n);
      bench.publish(0, slot);
      bench.write(2, OAE_PORT_WINDOW, slot.data(), 64);
      bench.read(2, OAE_PORT_PUSHED_ANSWER);
      bench.write(2, OAE_PORT_CONFIRM, slot[0]);
      bench.get(OAE_FIRMWARE_IRQ_STATUS);
      bench.get(OAE_FIRMWARE_EVENT_AT(0));
      bench.put(OAE_FIRMWARE_EVENT_AT(0), ~std::uint64_t{0});
      for (unsigned i = 0; i < 8; ++i) bench.get(OAE_FIRMWARE_COMMITTED_AT(0) + 8 * i);
      bench.put(OAE_FIRMWARE_COMMAND_AT(0), OAE_FIRMWARE_COMMAND_TAKE_MASK);
      bench.get(OAE_FIRMWARE_STATUS_AT(0));
    }
    seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  }});
  const std::uint64_t clocks = bench.block->clocks();
  std::printf("%.0f swaps/s, %.1f clocks a swap, %.0f ns a clock\n", swaps / seconds,
              static_cast<double>(clocks) / swaps, seconds * 1e9 / static_cast<double>(clocks));
  return bench.statistics.json()["counters"]["bench.oae.committed"] == swaps ? 0 : 1;
}
