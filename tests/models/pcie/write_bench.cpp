// SPDX-License-Identifier: Apache-2.0
// A DMA stream of 4 KiB writes to host memory: engine, function, link, root complex and memory, in
// payload per second of wall time, beside a plain copy of the same bytes.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "models/ipu/dma_engine.h"
#include "models/ipu/memory.h"
#include "oae_registers.h"
#include "tests/models/pcie/fixture.h"
#include "vp/interrupt_line.h"

namespace {

constexpr unsigned bytes = 1 << 20;  // of one copy; as much as the fixture has host memory
constexpr unsigned piece = 4096;

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

// An engine of 400 Gb/s, which the link keeps up with.
struct Streamer : sc_core::sc_module, vp::InterruptLineIf {
  ipu::PlainStorage storage{bytes};
  ipu::Memory memory{"memory", storage, 0};
  ipu::DmaEngine engine;
  tlm_utils::simple_initiator_socket<Streamer> core{"core"};

  Streamer(const sc_core::sc_module_name& name, pcie::Fixture& fixture)
      : sc_module(name), engine("engine", fixture.card, {0, 50'000'000'000, 16}, 0) {
    for (unsigned i = 0; i < bytes; ++i) storage.bytes()[i] = static_cast<std::uint8_t>(i * 7);
    core.bind(engine.socket);
    engine.memory.bind(memory.socket);
    engine.host.bind(fixture.endpoint.function(0).dma);
    engine.irq.bind(*this);
  }

  void set_line(unsigned, bool) override {}
  std::uint64_t access(tlm::tlm_command command, std::uint64_t offset, std::uint64_t value) {
    tlm::tlm_generic_payload payload;
    sc_core::sc_time delay;
    payload.set_command(command);
    payload.set_address(offset);
    payload.set_data_ptr(reinterpret_cast<std::uint8_t*>(&value));
    payload.set_data_length(8);
    payload.set_streaming_width(8);
    core->b_transport(payload, delay);
    return value;
  }
  void copy() {
    access(tlm::TLM_WRITE_COMMAND, OAE_DMA_SOURCE, 0);
    access(tlm::TLM_WRITE_COMMAND, OAE_DMA_DESTINATION, 0);
    access(tlm::TLM_WRITE_COMMAND, OAE_DMA_LENGTH, bytes);
    access(tlm::TLM_WRITE_COMMAND, OAE_DMA_CONTROL,
           OAE_DMA_CONTROL_START_MASK | OAE_DMA_CONTROL_DESTINATION_HOST_MASK);
    while (access(tlm::TLM_READ_COMMAND, OAE_DMA_CONTROL, 0) & OAE_DMA_CONTROL_START_MASK) {
      sc_core::wait(1, sc_core::SC_US);
    }
  }
};

}  // namespace

int sc_main(int argc, char** argv) {
  const unsigned copies = argc > 1 ? std::strtoul(argv[1], nullptr, 0) : 1000;
  pcie::Fixture::Config config;
  config.root_complex.ram = {0, bytes};
  config.root_complex.latency = 100 * vp::ns;
  config.link.latency_down = config.link.latency_up = 100 * vp::ns;
  config.endpoint.latency = 50 * vp::ns;
  pcie::Fixture fixture(config);
  fixture.memory.keep_writes = false;
  Streamer streamer("streamer", fixture);
  double seconds = 0;
  fixture.run([&] {
    fixture.enumerate();
    fixture.set_sizes(256, 512);
    streamer.copy();  // all that is allocated once is
    std::fill(fixture.memory.bytes.begin(), fixture.memory.bytes.end(), 0);
    const auto start = std::chrono::steady_clock::now();
    for (unsigned i = 0; i < copies; ++i) streamer.copy();
    sc_core::wait(10, sc_core::SC_US);  // the last has arrived
    seconds = seconds_since(start);
  });
  if (!std::equal(fixture.memory.bytes.begin(), fixture.memory.bytes.end(),
                  streamer.storage.bytes())) {
    std::printf("the bytes did not arrive\n");
    return 1;
  }
  const auto start = std::chrono::steady_clock::now();
  for (unsigned i = 0; i < copies; ++i) {
    for (unsigned at = 0; at < bytes; at += piece) {
      std::memcpy(&fixture.memory.bytes[at], streamer.storage.bytes() + at, piece);
    }
    asm volatile("" : : "r"(fixture.memory.bytes.data()) : "memory");
  }
  const double plain = seconds_since(start);
  const double gigabits = 8e-9 * bytes * copies;
  std::printf("%u copies of %u bytes: %.2f Gb/s, a plain copy %.0f Gb/s\n", copies, bytes,
              gigabits / seconds, gigabits / plain);
  return 0;
}
