// SPDX-License-Identifier: Apache-2.0
// What an access costs the simulator: no allocation, few scheduler rounds, none when idle.
#include <gtest/gtest.h>

#include <cstdlib>
#include <new>

#include "tests/models/pcie/hierarchy/switch_fixture.h"

namespace {
std::uint64_t allocations = 0, kept = 0;  // kept: those that are not free yet
}

void* operator new(std::size_t bytes) {
  ++allocations;
  ++kept;
  if (void* memory = std::malloc(bytes)) return memory;
  throw std::bad_alloc();
}
void operator delete(void* memory) noexcept {
  if (memory != nullptr) --kept;
  std::free(memory);
}
void operator delete(void* memory, std::size_t) noexcept {
  if (memory != nullptr) --kept;
  std::free(memory);
}

namespace pcie {
namespace {

/// The payload carries the value.
template <typename Value>
void carry(Value& value, tlm::tlm_generic_payload& payload) {
  payload.set_data_ptr(reinterpret_cast<std::uint8_t*>(&value));
  payload.set_data_length(sizeof(value));
  payload.set_streaming_width(sizeof(value));
}

TEST(Cost, AReadAllocatesNothingAndTakesTwoRounds) {
  Fixture::Config config;
  config.root_complex.latency = config.endpoint.latency = 50 * vp::ns;
  Fixture fixture(config);
  fixture.logic.keep_uses = false;
  fixture.run([&] {
    fixture.enumerate();
    for (const vp::Picoseconds latency : {vp::Picoseconds{0}, 30 * vp::ns}) {
      fixture.logic.latency = latency;
      std::uint64_t value = 0;
      tlm::tlm_generic_payload payload;
      payload.set_command(tlm::TLM_READ_COMMAND);
      payload.set_address(Fixture::bar0);
      carry(value, payload);
      for (unsigned i = 0; i < 1000; ++i) fixture.access(payload);
      const std::uint64_t start = allocations;
      const std::uint64_t rounds = sc_core::sc_delta_count();
      for (unsigned i = 0; i < 5000; ++i) fixture.access(payload);
      // The latency statistics allocate once in some thousand samples, and so does the queue of the
      // fixture's device, whose waiting reads cost one more round.
      EXPECT_LE(allocations - start, 200u);
      EXPECT_LE(sc_core::sc_delta_count() - rounds, latency == 0 ? 10'000u : 15'000u);
    }
  });
}

// The stores are as slow as the link: 24 bytes of 4 ns each, and the SKP ordered sets.
TEST(Cost, AMillionStoresToASlowLinkKeepNothing) {
  Fixture::Config config;
  config.link.generation = config.link.lanes = 1;
  config.endpoint.credits.by_link = config.root_complex.ports[0].credits.by_link = true;
  Fixture fixture(config);
  fixture.logic.keep_uses = false;
  fixture.run([&] {
    fixture.enumerate();
    std::uint32_t value = 0;
    tlm::tlm_generic_payload payload;
    payload.set_command(tlm::TLM_WRITE_COMMAND);
    payload.set_address(Fixture::bar0);
    carry(value, payload);
    constexpr unsigned stores = 1'000'000;
    std::uint64_t start = 0;
    vp::Picoseconds begin = 0;
    for (unsigned i = 0; i < stores + 1000; ++i) {
      if (i == 1000) {
        start = kept;
        begin = vp::now();
      }
      fixture.access(payload);
    }
    EXPECT_LE(kept, start + 10);
    EXPECT_NEAR(static_cast<double>(vp::now() - begin), 1e6 * 96'250, 1e6 * 963);
  });
}

TEST(Cost, PostedWritesAndDmaAllocateNothing) {
  Fixture fixture;
  fixture.logic.keep_uses = false;
  fixture.memory.keep_writes = false;
  fixture.run([&] {
    fixture.enumerate();
    std::uint64_t value = 0;
    tlm::tlm_generic_payload payload;
    carry(value, payload);
    auto dma = fixture.logic.dma_write(0x1000, std::vector<std::uint8_t>(2048));
    std::uint64_t start = 0;
    for (unsigned i = 0; i < 2000; ++i) {
      if (i == 1000) start = allocations;
      payload.set_command(tlm::TLM_WRITE_COMMAND);
      for (unsigned j = 0; j < 16; ++j) {
        payload.set_address(Fixture::bar2 + 8 * j);
        fixture.access(payload);
      }
      dma->done = false;
      dma->set_command(i % 2 ? tlm::TLM_READ_COMMAND : tlm::TLM_WRITE_COMMAND);
      fixture.logic.start(*dma);
      fixture.wait_for(*dma);
      payload.set_command(tlm::TLM_READ_COMMAND);
      fixture.access(payload);
    }
    EXPECT_LE(allocations - start, 10u) << "in 18,000 accesses: the statistics'";
  });
}

TEST(Cost, NothingIsScheduledWhenAllIsDone) {
  Fixture fixture;
  fixture.run([&] {
    fixture.enumerate();
    fixture.read(Fixture::bar0, 8);
    auto read = fixture.logic.dma_read(0x1000, 4096);
    fixture.wait_for(*read);
    EXPECT_EQ(fixture.host.next_event(), vp::never);
    EXPECT_EQ(fixture.card.next_event(), vp::never);
  });
}

TEST(Cost, ThroughASwitchNothingIsAllocated) {
  SwitchFixture fixture;
  for (const auto& card : fixture.cards) card->logic.keep_uses = false;
  fixture.run([&] {
    fixture.enumerate_switch();
    std::uint64_t value = 0;
    tlm::tlm_generic_payload read, write;
    for (tlm::tlm_generic_payload* each : {&read, &write}) {
      each->set_data_ptr(reinterpret_cast<std::uint8_t*>(&value));
      each->set_data_length(8);
      each->set_streaming_width(8);
      each->set_address(bar(1));
    }
    read.set_command(tlm::TLM_READ_COMMAND);
    write.set_command(tlm::TLM_WRITE_COMMAND);
    const auto peer = fixture.logic_of(0).dma_write(bar(1) + 0x100, std::vector<std::uint8_t>(64));
    const auto use = [&] {
      fixture.access(write);
      fixture.logic_of(0).start(*peer);
      fixture.access(read);
    };
    for (unsigned i = 0; i < 1000; ++i) use();
    const std::uint64_t start = allocations;
    const std::uint64_t rounds = sc_core::sc_delta_count();
    for (unsigned i = 0; i < 2000; ++i) use();
    EXPECT_LE(allocations - start, 100u) << "by the latency statistics";
    // Two links for each of six ways: an appointment each.
    EXPECT_LE(sc_core::sc_delta_count() - rounds, 2000u * 12);
  });
}

}  // namespace
}  // namespace pcie
