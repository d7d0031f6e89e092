// SPDX-License-Identifier: Apache-2.0
// Reads of a register through root complex, link and endpoint, per second of wall time.
#include <chrono>
#include <cstdio>
#include <cstdlib>

#include "tests/models/pcie/fixture.h"

int sc_main(int argc, char** argv) {
  const unsigned count = argc > 1 ? std::strtoul(argv[1], nullptr, 0) : 1'000'000;
  pcie::Fixture::Config config;
  config.root_complex.latency = 100 * vp::ns;
  config.link.latency_down = config.link.latency_up = 100 * vp::ns;
  config.endpoint.latency = 50 * vp::ns;
  pcie::Fixture fixture(config);
  fixture.logic.keep_uses = false;
  double seconds = 0;
  vp::Picoseconds simulated = 0;
  std::uint64_t deltas = 0;
  fixture.run([&] {
    fixture.enumerate();
    std::uint64_t value = 0;
    tlm::tlm_generic_payload payload;
    payload.set_command(tlm::TLM_READ_COMMAND);
    payload.set_data_ptr(reinterpret_cast<std::uint8_t*>(&value));
    payload.set_data_length(8);
    payload.set_streaming_width(8);
    const auto start = std::chrono::steady_clock::now();
    simulated = vp::now();
    deltas = sc_core::sc_delta_count();
    for (unsigned i = 0; i < count; ++i) {
      payload.set_address(pcie::Fixture::bar0 + 8 * (i & 0xff));
      fixture.access(payload);
    }
    simulated = vp::now() - simulated;
    deltas = sc_core::sc_delta_count() - deltas;
    seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  });
  std::printf("%u reads: %.0f per second, %.1f ns simulated and %.2f delta cycles each\n", count,
              count / seconds, simulated / 1e3 / count, double(deltas) / count);
  return 0;
}
