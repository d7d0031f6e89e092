// SPDX-License-Identifier: Apache-2.0
#include "models/pcie/hierarchy/root_complex.h"

#include <gtest/gtest.h>

#include <numeric>

#include "models/pcie/config/capabilities/serial_number.h"
#include "models/pcie/protocol/configuration_error.h"
#include "tests/models/pcie/fixture.h"

namespace pcie {
namespace {

std::vector<std::uint8_t> pattern(unsigned bytes, unsigned seed = 1) {
  std::vector<std::uint8_t> data(bytes);
  for (unsigned i = 0; i < bytes; ++i) data[i] = (i + seed) * 37 >> 1;
  return data;
}

TEST(RootComplex, EnumerationFindsBridgePortAndDevice) {
  Fixture fixture;
  fixture.run([&] {
    EXPECT_EQ(fixture.config_read(make_id(0, 0, 0), Header::vendor_id, 4), 0x0a00f0aeu);
    EXPECT_EQ(fixture.config_read(make_id(0, 0, 0), Header::revision_id, 4) >> 8, 0x060000u);
    EXPECT_EQ(fixture.config_read(Fixture::root_port, Header::revision_id, 4) >> 8, 0x060400u);
    EXPECT_EQ(fixture.config_read(Fixture::root_port, Header::header_type, 1), 1u);
    EXPECT_EQ(fixture.config_read(Fixture::device, Header::vendor_id, 4), ~0u)
        << "no bus number yet";
    fixture.enumerate();
    EXPECT_EQ(fixture.config_read(Fixture::device, Header::vendor_id, 4), 0x0ae0f0aeu);
    EXPECT_EQ(fixture.config_read(Fixture::device, Header::revision_id, 4) >> 8, 0x120000u);
    for (const std::uint8_t id : {0x01, 0x10, 0x11}) {
      EXPECT_NE(fixture.find_capability(Fixture::device, id), 0u) << int{id};
    }
    EXPECT_NE(fixture.find_capability(Fixture::root_port, PciExpress::id), 0u);
    EXPECT_EQ(fixture.config_read(Fixture::device, ConfigSpace::first_extended_capability, 4),
              0x12c20001u)
        << "error reporting";
    const unsigned serial_number =
        fixture.find_extended_capability(Fixture::device, SerialNumber::id);
    EXPECT_EQ(fixture.config_read(Fixture::device, serial_number + SerialNumber::lower, 4),
              0x89abcdefu);
    EXPECT_EQ(fixture.config_read(Fixture::device, serial_number + SerialNumber::upper, 4),
              0x01234567u);
    EXPECT_EQ(fixture.config_read(Fixture::root_port, ConfigSpace::first_extended_capability, 4) &
                  0xfffff,
              0x20001u)
        << "error reporting";
  });
}

TEST(RootComplex, EveryAbsentFunctionIsAllOnes) {
  Fixture fixture;
  fixture.run([&] {
    fixture.enumerate();
    for (unsigned bus = 0; bus < 256; bus += bus < 3 ? 1 : 50) {
      for (unsigned device = 0; device < 32; ++device) {
        for (unsigned function = 0; function < 8; ++function) {
          const Id id = make_id(bus, device, function);
          const bool present =
              id == make_id(0, 0, 0) || id == Fixture::root_port || id == Fixture::device;
          EXPECT_EQ(fixture.config_read(id, Header::vendor_id, 4) != ~0u, present) << to_string(id);
          if (!present) fixture.config_write(id, Header::command, ~0u, 4);
        }
      }
    }
  });
}

TEST(RootComplex, ConfigAccessesOfEverySize) {
  Fixture fixture;
  fixture.run([&] {
    fixture.enumerate();
    const std::uint64_t at = Fixture::ecam + (std::uint64_t{Fixture::device} << 12);
    EXPECT_EQ(fixture.read(at + 0, 8), 0x001000060ae0f0aeull);
    EXPECT_EQ(fixture.read(at + 2, 4), 0x00060ae0ull) << "across two DW";
    EXPECT_EQ(fixture.read(at + 3, 1), 0x0aull);
    fixture.write(at + 0x3c, 0x5a, 1);
    EXPECT_EQ(fixture.read(at + 0x3c, 1), 0x5aull);
    fixture.write(at + 0x0c, 0x77, 4);
    EXPECT_EQ(fixture.read(at + 0x0c, 4), 0x77ull);
  });
}

class Sizes : public testing::TestWithParam<vp::Picoseconds> {};
INSTANTIATE_TEST_SUITE_P(Latencies, Sizes, testing::Values(0, 7 * vp::ns));

// Every length at every offset around DW, 64 bytes and 4 KiB, both ways, through a BAR of logic
// that answers at once or later.
TEST_P(Sizes, ReadsAndWritesOfAnySizeAnywhere) {
  Fixture fixture;
  fixture.logic.latency = GetParam();
  fixture.logic.keep_uses = false;
  fixture.run([&] {
    fixture.enumerate();
    unsigned seed = 0;
    for (const unsigned base : {0u, 64u, 128u, 4096u}) {
      for (unsigned offset = base < 66 ? 0 : base - 66; offset < base + 9; ++offset) {
        for (const unsigned bytes : {1, 2, 3, 4, 5, 7, 8, 9, 16, 31, 32, 33, 63, 64}) {
          auto& memory = fixture.logic.memory[2];
          std::fill(memory.begin(), memory.end(), 0xcc);
          const auto data = pattern(bytes, ++seed);
          fixture.write_bytes(Fixture::bar2 + offset, data);
          ASSERT_EQ(fixture.read_bytes(Fixture::bar2 + offset, bytes), data)
              << offset << " + " << bytes;
          for (unsigned i = 0; i < 0x2000; ++i) {
            const bool inside = i >= offset && i < offset + bytes;
            ASSERT_EQ(memory[i], inside ? data[i - offset] : 0xcc) << i;
          }
        }
      }
    }
  });
}

TEST(RootComplex, ByteEnablesOfTheProcessor) {
  Fixture fixture;
  fixture.run([&] {
    fixture.enumerate();
    auto& memory = fixture.logic.memory[0];
    for (unsigned mask = 0; mask < 256; ++mask) {
      std::uint8_t data[8] = {1, 2, 3, 4, 5, 6, 7, 8}, enables[8];
      for (unsigned i = 0; i < 8; ++i) enables[i] = mask >> i & 1 ? 0xff : 0;
      std::fill(memory.begin(), memory.begin() + 16, 0);
      tlm::tlm_generic_payload payload;
      payload.set_command(tlm::TLM_WRITE_COMMAND);
      payload.set_address(Fixture::bar0 + 3);
      payload.set_data_ptr(data);
      payload.set_data_length(8);
      payload.set_streaming_width(8);
      payload.set_byte_enable_ptr(enables);
      payload.set_byte_enable_length(8);
      EXPECT_EQ(fixture.access(payload), tlm::TLM_OK_RESPONSE);
      fixture.read(Fixture::bar0 + 0x100, 1);  // pushes the writes
      for (unsigned i = 0; i < 8; ++i) EXPECT_EQ(memory[3 + i], mask >> i & 1 ? data[i] : 0);
    }
  });
}

TEST(RootComplex, WhatIsNoAccess) {
  Fixture fixture;
  fixture.run([&] {
    std::uint8_t data[128];
    tlm::tlm_generic_payload payload;
    payload.set_data_ptr(data);
    auto response = [&](tlm::tlm_command command, std::uint64_t address, unsigned bytes,
                        unsigned width) {
      payload.set_command(command);
      payload.set_address(address);
      payload.set_data_length(bytes);
      payload.set_streaming_width(width);
      return fixture.access(payload);
    };
    using namespace tlm;
    EXPECT_EQ(response(TLM_READ_COMMAND, Fixture::bar0, 0, 0), TLM_BURST_ERROR_RESPONSE);
    EXPECT_EQ(response(TLM_READ_COMMAND, Fixture::bar0, 65, 65), TLM_BURST_ERROR_RESPONSE);
    EXPECT_EQ(response(TLM_READ_COMMAND, Fixture::bar0, 8, 4), TLM_BURST_ERROR_RESPONSE);
    EXPECT_EQ(response(TLM_IGNORE_COMMAND, Fixture::bar0, 4, 4), TLM_COMMAND_ERROR_RESPONSE);
    EXPECT_EQ(response(TLM_READ_COMMAND, 0, 4, 4), TLM_ADDRESS_ERROR_RESPONSE);
    EXPECT_EQ(response(TLM_READ_COMMAND, 0xbfffffff, 4, 4), TLM_ADDRESS_ERROR_RESPONSE);
    EXPECT_EQ(response(TLM_READ_COMMAND, 0xeffffffe, 4, 4), TLM_ADDRESS_ERROR_RESPONSE);
    EXPECT_EQ(response(TLM_READ_COMMAND, ~0ull, 4, 4), TLM_ADDRESS_ERROR_RESPONSE);
    EXPECT_EQ(response(TLM_READ_COMMAND, 0xeffffffc, 4, 4), TLM_OK_RESPONSE);
  });
}

TEST(RootComplex, MemorySpaceOfTheBridgeGates) {
  Fixture fixture;
  fixture.run([&] {
    fixture.enumerate();
    fixture.write(Fixture::bar0, 0x11223344, 4);
    EXPECT_EQ(fixture.read(Fixture::bar0, 4), 0x11223344u);
    fixture.config_write(Fixture::root_port, Header::command, Header::CommandBit::bus_master, 2);
    EXPECT_EQ(fixture.read(Fixture::bar0, 4), 0xffffffffu);
    EXPECT_EQ(fixture.read(Fixture::bar2, 8), ~0ull);
    fixture.write(Fixture::bar0, 0x55667788, 4);
    EXPECT_EQ(fixture.config_read(Fixture::device, Header::vendor_id, 4), 0x0ae0f0aeu)
        << "configuration is not gated";
    fixture.config_write(Fixture::root_port, Header::command, memory_and_master, 2);
    EXPECT_EQ(fixture.read(Fixture::bar0, 4), 0x11223344u);
    EXPECT_EQ(fixture.counter("root_complex.reads_all_ones"), 2u);
    EXPECT_EQ(fixture.counter("root_complex.writes_dropped"), 1u);
  });
}

TEST(RootComplex, WindowsOfTheBridgeGate) {
  Fixture fixture;
  fixture.run([&] {
    fixture.enumerate();
    fixture.logic.memory[4][0xffc] = 0x42;
    EXPECT_EQ(fixture.read(Fixture::bar4 + 0xffc, 4), 0x42u);
    fixture.config_write(Fixture::root_port, Type1Header::memory_base, 0xc000c000,
                         4);  // 1 MiB less
    EXPECT_EQ(fixture.read(Fixture::bar4 + 0xffc, 4), 0xffffffffu);
    EXPECT_EQ(fixture.read(Fixture::bar0, 4), 0u);
    fixture.config_write(Fixture::root_port, Type1Header::memory_base, 0xc000c010, 4);  // closed
    EXPECT_EQ(fixture.read(Fixture::bar0, 4), 0xffffffffu);
    EXPECT_EQ(fixture.read(Fixture::bar2, 4), 0u) << "the other window";
  });
}

TEST(RootComplex, BusMasterOfTheBridgeGates) {
  Fixture fixture;
  fixture.run([&] {
    fixture.enumerate();
    fixture.config_write(Fixture::root_port, Header::command, Header::CommandBit::memory_space, 2);
    auto write = fixture.logic.dma_write(0x1000, {1, 2, 3, 4});
    auto read = fixture.logic.dma_read(0x1000, 4);
    fixture.wait_for(*read);
    EXPECT_EQ(read->get_response_status(), tlm::TLM_ADDRESS_ERROR_RESPONSE) << "UR";
    EXPECT_TRUE(fixture.memory.writes.empty());
    EXPECT_EQ(fixture.counter("root_complex.port0.unsupported_requests"), 2u);
    fixture.config_write(Fixture::root_port, Header::command, memory_and_master, 2);
    read = fixture.logic.dma_read(0x1000, 4);
    fixture.wait_for(*read);
    EXPECT_TRUE(read->is_response_ok());
  });
}

TEST(RootComplex, D3hotOfTheBridgeClosesIt) {
  Fixture fixture;
  fixture.run([&] {
    fixture.enumerate();
    const unsigned power = fixture.find_capability(Fixture::root_port, PowerManagement::id);
    fixture.config_write(Fixture::root_port, power + PowerManagement::control, 3, 2);
    EXPECT_EQ(fixture.read(Fixture::bar0, 4), 0xffffffffu);
    const auto refused_write = fixture.logic.dma_write(0x1000, {1, 2, 3, 4});
    const auto refused_read = fixture.logic.dma_read(0x1000, 4);
    fixture.wait_for(*refused_read);
    EXPECT_EQ(refused_read->get_response_status(), tlm::TLM_ADDRESS_ERROR_RESPONSE);
    EXPECT_TRUE(fixture.memory.writes.empty());
    fixture.config_write(Fixture::root_port, power + PowerManagement::control, 0, 2);
    EXPECT_EQ(fixture.read(Fixture::bar0, 4), 0u);
    const auto write = fixture.logic.dma_write(0x1000, {1, 2, 3, 4});
    const auto read = fixture.logic.dma_read(0x1000, 4);
    fixture.wait_for(*read);
    EXPECT_TRUE(read->is_response_ok());
    EXPECT_EQ(fixture.memory.writes.size(), 1u);
  });
}

TEST(RootComplex, ErrorsOfTheDeviceAreAllOnes) {
  Fixture fixture;
  fixture.run([&] {
    fixture.enumerate();
    for (const auto answer : {tlm::TLM_ADDRESS_ERROR_RESPONSE, tlm::TLM_GENERIC_ERROR_RESPONSE}) {
      fixture.logic.answer = answer;
      EXPECT_EQ(fixture.read(Fixture::bar0, 8), ~0ull);
      fixture.write(Fixture::bar0, 1, 8);
      fixture.config_read(Fixture::device, Header::vendor_id, 4);  // pushes the write
    }
    fixture.logic.answer = tlm::TLM_OK_RESPONSE;
    EXPECT_EQ(fixture.read(Fixture::bar0, 8), 0u);
    EXPECT_EQ(fixture.link.count(Direction::up, TlpType::Cpl).tlps,
              2u + fixture.link.count(Direction::down, TlpType::CfgWr0).tlps);
  });
}

TEST(RootComplex, SilenceEndsInATimeout) {
  Fixture::Config config;
  config.root_complex.completion_timeout = 3 * vp::ms;
  Fixture fixture(config);
  fixture.logic.silent = true;
  vp::Picoseconds both_end = 0;
  fixture.spawn([&] {
    sc_core::wait(1, sc_core::SC_MS);
    const vp::Picoseconds start = vp::now();
    EXPECT_EQ(fixture.read(Fixture::bar0, 4), 0xffffffffu);
    EXPECT_EQ(vp::now() - start, 3 * vp::ms);
    both_end = vp::now();
  });
  fixture.run([&] {
    fixture.enumerate();
    const vp::Picoseconds start = vp::now();
    EXPECT_EQ(fixture.read(Fixture::bar0, 8), ~0ull);
    EXPECT_EQ(vp::now() - start, 3 * vp::ms);
    EXPECT_EQ(fixture.config_read(Fixture::device, Header::vendor_id, 2), 0xf0aeu)
        << "other accesses still work";
    EXPECT_EQ(fixture.counter("root_complex.port0.completion_timeouts"), 1u);
  });
  EXPECT_GT(both_end, 0);
  EXPECT_EQ(fixture.counter("root_complex.port0.completion_timeouts"), 2u);
}

TEST(RootComplex, ACompletionAfterItsTimeoutIsDropped) {
  Fixture::Config config;
  config.root_complex.completion_timeout = 100 * vp::us;
  Fixture fixture(config);
  fixture.run([&] {
    fixture.enumerate();
    fixture.logic.latency = 150 * vp::us;
    EXPECT_EQ(fixture.read(Fixture::bar0, 4), 0xffffffffu);
    fixture.logic.memory[0][8] = 0x42;
    fixture.logic.latency = 60 * vp::us;
    EXPECT_EQ(fixture.read(Fixture::bar0 + 8, 4), 0x42u) << "and not mistaken for another";
    EXPECT_EQ(fixture.counter("root_complex.port0.unexpected_completions"), 1u);
  });
}

TEST(RootComplex, AResetEndsWhatIsOutstanding) {
  Fixture fixture;
  constexpr vp::Picoseconds when = 20 * vp::us;
  unsigned ended = 0;
  fixture.run([&] {
    fixture.enumerate();
    fixture.logic.silent = true;
    for (unsigned i = 0; i < 3; ++i) {
      fixture.spawn([&] {
        EXPECT_EQ(fixture.read(Fixture::bar0, 8), ~std::uint64_t{0});
        EXPECT_EQ(vp::now(), when);
        ++ended;
      });
    }
    ASSERT_LT(vp::now(), when);
    sc_core::wait(vp::to_sc_time(when - vp::now()));
    fixture.root_complex.reset();
    sc_core::wait(vp::to_sc_time(200 * vp::ms));  // the device is ready again, no timeout comes
    EXPECT_EQ(ended, 3u);
    EXPECT_EQ(fixture.counter("root_complex.port0.completion_timeouts"), 0u);
    fixture.logic.silent = false;
    fixture.enumerate();
    fixture.logic.memory[0][0] = 0x5a;
    EXPECT_EQ(fixture.read(Fixture::bar0, 1), 0x5au) << "their tags are free";
  });
}

TEST(RootComplex, TheTimeoutCanBeDisabled) {
  Fixture::Config config;
  config.root_complex.completion_timeout = 100 * vp::us;
  Fixture fixture(config);
  fixture.run([&] {
    fixture.enumerate();
    const unsigned express = fixture.find_capability(Fixture::root_port, PciExpress::id);
    fixture.config_write(Fixture::root_port, express + PciExpress::device_control_2,
                         PciExpress::DeviceControl2Bit::timeout_disable, 2);
    fixture.logic.latency = 10 * vp::ms;
    EXPECT_EQ(fixture.read(Fixture::bar0, 4), 0u);
  });
}

// 40 processors and 32 tags: eight wait, all are answered, in turn.
TEST(RootComplex, ReadersWaitForATag) {
  Fixture fixture;
  fixture.logic.latency = 10 * vp::us;
  unsigned done = 0;
  fixture.run([&] {
    fixture.enumerate();
    for (unsigned i = 0; i < 40; ++i) {
      fixture.logic.memory[0][8 * i] = i;
      fixture.spawn([&, i] {
        EXPECT_EQ(fixture.read(Fixture::bar0 + 8 * i, 8), i);
        EXPECT_EQ(fixture.read(Fixture::bar0 + 8 * i, 8), i);
        ++done;
      });
    }
  });
  EXPECT_EQ(done, 40u);
  EXPECT_EQ(fixture.logic.most_outstanding, 32u);
}

TEST(RootComplex, ExtendedTagsLetMoreThrough) {
  Fixture::Config config;
  config.endpoint.functions[0].bar_reads = 300;
  Fixture fixture(config);
  fixture.logic.latency = 10 * vp::us;
  unsigned done = 0;
  fixture.run([&] {
    fixture.enumerate();
    const unsigned express = fixture.find_capability(Fixture::root_port, PciExpress::id);
    fixture.config_write(Fixture::root_port, express + PciExpress::device_control, 0x0100, 2);
    for (unsigned i = 0; i < 300; ++i) {
      fixture.logic.memory[0][8 * i] = i & 0xff;
      fixture.spawn([&, i] {
        EXPECT_EQ(fixture.read(Fixture::bar0 + 8 * i, 8), i & 0xff);
        ++done;
      });
    }
  });
  EXPECT_EQ(done, 300u);
  EXPECT_EQ(fixture.logic.most_outstanding, 256u);
}

// A thread that is killed while it waits for its answer, or for a tag, leaves nothing behind.
TEST(RootComplex, AKilledReaderDoesNoHarm) {
  Fixture fixture;
  fixture.logic.latency = 10 * vp::us;
  unsigned done = 0;
  fixture.run([&] {
    fixture.enumerate();
    for (unsigned round = 0; round < 10; ++round) {  // lost tags would run out
      std::vector<sc_core::sc_process_handle> readers;
      for (unsigned i = 0; i < 40; ++i) {
        readers.push_back(sc_core::sc_spawn([&] {
          fixture.read(Fixture::bar0, 8);
          ++done;
        }));
      }
      sc_core::wait(2, sc_core::SC_US);
      for (unsigned i = 0; i < 40; i += 2) readers[i].kill();
      sc_core::wait(100, sc_core::SC_US);
      EXPECT_EQ(done, 20 * (round + 1));
    }
    for (unsigned i = 0; i < 100; ++i) EXPECT_EQ(fixture.read(Fixture::bar0, 8), 0u);
  });
}

// A processor that has had a tag does not overtake one that still waits.
TEST(RootComplex, NobodyJumpsTheQueueForTags) {
  Fixture fixture;
  fixture.logic.latency = 10 * vp::us;
  vp::Picoseconds waited = 0;
  fixture.run([&] {
    fixture.enumerate();
    for (unsigned i = 0; i < 32; ++i) {
      fixture.spawn([&] {
        for (unsigned j = 0; j < 50; ++j) fixture.read(Fixture::bar0, 8);
      });
    }
    sc_core::wait(1, sc_core::SC_US);
    const vp::Picoseconds start = vp::now();
    fixture.read(Fixture::bar0, 8);
    waited = vp::now() - start;
  });
  EXPECT_LT(waited, 25 * vp::us);
}

// A device that answers first in another's name, then in its own.
struct Impostor : Port {
  explicit Impostor(vp::Domain& domain) : Port(domain, {5, 16, 0}) {}
  void receive(TlpPtr request) override {
    for (const bool right : {false, true}) {
      TlpPtr completion = Tlp::completion(*request, make_id(2, 0, 0), Status::success);
      completion->header.type = TlpType::CplD;
      completion->header.length = 1;
      std::fill_n(completion->data(), 4, right ? 0x11 : 0x66);
      if (!right) completion->header.requester ^= 8;
      send(std::move(completion));
    }
  }
  void trained(unsigned, unsigned) override {}
};

TEST(RootComplex, ACompletionForAnotherRequesterIsDropped) {
  Fixture::Config config;
  config.root_complex.ports.resize(2);
  Fixture fixture(config);
  Impostor impostor(fixture.card);
  Link link("second", {}, fixture.root_complex.port(1), impostor, fixture.trace,
            fixture.statistics);
  fixture.run([&] {
    const Id port = make_id(0, 2, 0);
    fixture.config_write(port, Type1Header::memory_base, 0xc200c200, 4);
    fixture.config_write(port, Header::command, memory_and_master, 2);
    EXPECT_EQ(fixture.read(0xc2000000, 4), 0x11111111u);
    EXPECT_EQ(fixture.counter("root_complex.port1.unexpected_completions"), 1u);
  });
}

TEST(RootComplex, ARetryIsRepeatedUntilTheDeviceIsReady) {
  Fixture::Config config;
  config.endpoint.functions[0].initialisation = 1 * vp::ms;
  Fixture fixture(config);
  fixture.run([&] {
    fixture.config_write(Fixture::root_port, Type1Header::primary_bus_number, 0x00010100, 4);
    EXPECT_EQ(fixture.config_read(Fixture::device, Header::vendor_id, 4), 0x0ae0f0aeu);
    EXPECT_GE(vp::now(), 1 * vp::ms);
    EXPECT_LT(vp::now(), 1 * vp::ms + 10 * vp::us);
  });
}

TEST(RootComplex, ARetryIsShownToSoftwareThatAsksForIt) {
  Fixture::Config config;
  config.endpoint.functions[0].initialisation = 1 * vp::ms;
  Fixture fixture(config);
  fixture.run([&] {
    fixture.config_write(Fixture::root_port, Type1Header::primary_bus_number, 0x00010100, 4);
    const unsigned express = fixture.find_capability(Fixture::root_port, PciExpress::id);
    EXPECT_EQ(fixture.config_read(Fixture::root_port, express + PciExpress::root_capabilities, 2),
              1u);
    fixture.config_write(Fixture::root_port, express + PciExpress::root_control,
                         PciExpress::RootControlBit::retry_visible, 2);
    EXPECT_EQ(fixture.config_read(Fixture::device, Header::vendor_id, 4), 0xffff0001u);
    EXPECT_EQ(fixture.config_read(Fixture::device, Header::vendor_id, 2), 0x0001u);
    sc_core::wait(1, sc_core::SC_MS);
    EXPECT_EQ(fixture.config_read(Fixture::device, Header::vendor_id, 4), 0x0ae0f0aeu);
  });
}

TEST(RootComplex, ARetryThatNeverEndsIsATimeout) {
  Fixture::Config config;
  config.endpoint.functions[0].initialisation = 10 * vp::s;
  config.link.latency_down = config.link.latency_up = 1 * vp::us;
  config.root_complex.completion_timeout = 1 * vp::ms;
  Fixture fixture(config);
  fixture.run([&] {
    fixture.config_write(Fixture::root_port, Type1Header::primary_bus_number, 0x00010100, 4);
    EXPECT_EQ(fixture.config_read(Fixture::device, Header::vendor_id, 4), ~0u);
    fixture.config_write(Fixture::device, Header::command, memory_and_master, 2);
    EXPECT_LT(vp::now(), 3 * vp::ms);
  });
}

// The device is at the end of the link; what is behind it, if its number says so, is asked by
// type 1 requests, which an endpoint refuses.
TEST(RootComplex, ConfigurationIsRoutedByBus) {
  Fixture fixture;
  fixture.run([&] {
    fixture.config_write(Fixture::root_port, Type1Header::primary_bus_number, 0x00050300, 4);
    EXPECT_EQ(fixture.config_read(make_id(3, 0, 0), Header::vendor_id, 4), 0x0ae0f0aeu);
    EXPECT_EQ(fixture.config_read(make_id(2, 0, 0), Header::vendor_id, 4), ~0u);
    EXPECT_EQ(fixture.config_read(make_id(6, 0, 0), Header::vendor_id, 4), ~0u);
    EXPECT_EQ(fixture.config_read(make_id(3, 1, 0), Header::vendor_id, 4), ~0u);
    EXPECT_EQ(fixture.link.count(Direction::down, TlpType::CfgRd0).tlps, 1u);
    EXPECT_EQ(fixture.config_read(make_id(5, 0, 0), Header::vendor_id, 4), ~0u);
    EXPECT_EQ(fixture.config_read(make_id(4, 7, 1), Header::vendor_id, 4), ~0u);
    EXPECT_EQ(fixture.link.count(Direction::down, TlpType::CfgRd1).tlps, 2u);
  });
}

TEST(RootComplex, DevicesReachMemoryButNotTheRootComplexItself) {
  Fixture fixture;
  fixture.run([&] {
    fixture.enumerate();
    for (const std::uint64_t address : {Fixture::bar0, Fixture::bar2, Fixture::ecam,
                                        std::uint64_t{0x10000000}, ~std::uint64_t{0} - 63}) {
      auto read = fixture.logic.dma_read(address, 64);
      fixture.wait_for(*read);
      EXPECT_EQ(read->get_response_status(), tlm::TLM_ADDRESS_ERROR_RESPONSE) << address;
      auto write = fixture.logic.dma_write(address, {1, 2, 3});
    }
    EXPECT_EQ(fixture.read(Fixture::bar0, 4), 0u);
    EXPECT_EQ(fixture.counter("root_complex.port0.unsupported_requests"), 10u);
    EXPECT_EQ(fixture.memory.refused, 4u) << "memory is asked for its own addresses only";
  });
}

TEST(RootComplex, IntxIsGatedAndSwizzled) {
  Fixture::Config config;
  config.endpoint.functions[0].interrupt_pin = 1;
  Fixture fixture(config);
  fixture.run([&] {
    fixture.enumerate();
    Function& function = fixture.endpoint.function(0);
    auto settle = [] { sc_core::wait(10, sc_core::SC_US); };
    function.set_intx(true);
    function.set_intx(true);
    settle();
    EXPECT_EQ(fixture.lines.changes, (Lines::Changes{{1, true}})) << "INTA of device 1";
    EXPECT_TRUE(fixture.config_read(Fixture::device, Header::status, 2) & 8) << "interrupt status";
    fixture.config_write(Fixture::device, Header::command,
                         memory_and_master | Header::CommandBit::interrupt_disable, 2);
    settle();
    EXPECT_EQ(fixture.lines.changes, (Lines::Changes{{1, true}, {1, false}}))
        << "disabled while it stands";
    function.set_intx(false);
    function.set_intx(true);
    settle();
    EXPECT_EQ(fixture.lines.changes.size(), 2u) << "disabled";
    fixture.config_write(Fixture::device, Header::command, memory_and_master, 2);
    settle();
    EXPECT_EQ(fixture.lines.changes.size(), 3u) << "enabled while it stands";
    function.set_intx(false);
    settle();
    EXPECT_EQ(fixture.lines.changes.size(), 4u);
    EXPECT_FALSE(fixture.config_read(Fixture::device, Header::status, 2) & 8);
  });
}

// While a processor waits, its domain announces when the wait ends.
TEST(RootComplex, AWaitIsAnAppointmentOfTheDomain) {
  Fixture::Config config;
  config.root_complex.latency = 100 * vp::ns;
  Fixture fixture(config);
  fixture.spawn([&] {
    sc_core::wait(10, sc_core::SC_NS);
    EXPECT_EQ(fixture.host.next_event(), 200 * vp::ns);
  });
  fixture.run([&] { fixture.config_read(Fixture::root_port, Header::vendor_id, 4); });
}

TEST(RootComplex, AnnotatedTimeIsSpentFirst) {
  Fixture fixture;
  fixture.run([&] {
    fixture.enumerate();
    const vp::Picoseconds start = vp::now();
    std::uint8_t data[4] = {};
    tlm::tlm_generic_payload payload;
    payload.set_command(tlm::TLM_WRITE_COMMAND);
    payload.set_address(Fixture::bar0);
    payload.set_data_ptr(data);
    payload.set_data_length(4);
    payload.set_streaming_width(4);
    sc_core::sc_time delay(3, sc_core::SC_US);
    fixture.processor->b_transport(payload, delay);
    EXPECT_EQ(vp::now() - start, 3 * vp::us);
    EXPECT_EQ(delay, sc_core::SC_ZERO_TIME);
  });
}

TEST(RootComplex, ImpossibleConfigurations) {
  vp::Domain domain("domain");
  auto make = [&domain](auto&& change) {
    vp::Statistics statistics;
    RootComplexConfig config;
    change(config);
    RootComplex complex("complex", config, domain, statistics);
  };
  using C = RootComplexConfig;
  EXPECT_THROW(make([](C& c) { c.ecam.size = 0; }), ConfigurationError);
  EXPECT_THROW(make([](C& c) { c.ecam.size = 0x20000000; }), ConfigurationError);
  EXPECT_THROW(make([](C& c) { c.memory32.base = 0xf0000000; }), ConfigurationError);
  EXPECT_THROW(make([](C& c) { c.memory32.base = 0xd0000000; }), ConfigurationError) << "overlap";
  EXPECT_THROW(make([](C& c) { c.memory64 = {~0ull - 10, 100}; }), ConfigurationError);
  EXPECT_THROW(make([](C& c) { c.tags = 33; }), ConfigurationError);
  EXPECT_THROW(make([](C& c) { c.latency = -1; }), ConfigurationError);
  EXPECT_THROW(make([](C& c) { c.completion_timeout = 0; }), ConfigurationError);
  EXPECT_THROW(make([](C& c) { c.read_boundary = 96; }), ConfigurationError);
  EXPECT_THROW(make([](C& c) { c.max_payload = 100; }), ConfigurationError);
  EXPECT_THROW(make([](C& c) { c.ports.resize(32); }), ConfigurationError);
}

TEST(RootComplex, AnEmptySlotIsAllOnes) {
  Fixture::Config config;
  config.root_complex.ports.resize(2);
  Fixture fixture(config);
  fixture.run([&] {
    fixture.enumerate();
    const Id empty = make_id(0, 2, 0);
    EXPECT_EQ(fixture.config_read(empty, Header::vendor_id, 4), 0x0a01f0aeu);
    const unsigned express = fixture.find_capability(empty, PciExpress::id);
    EXPECT_EQ(fixture.config_read(empty, express + PciExpress::slot_status, 2) & 0x40, 0u)
        << "no card is present";
    EXPECT_EQ(fixture.config_read(Fixture::root_port, express + PciExpress::slot_status, 2) & 0x40,
              0x40u);
    fixture.config_write(empty, Type1Header::primary_bus_number, 0x00020200, 4);
    fixture.config_write(empty, Type1Header::memory_base, 0xc200c200, 4);
    fixture.config_write(empty, Header::command, memory_and_master, 2);
    EXPECT_EQ(fixture.config_read(make_id(2, 0, 0), Header::vendor_id, 4), ~0u);
    EXPECT_EQ(fixture.read(0xc2000000, 4), 0xffffffffu);
    fixture.write(0xc2000000, 0, 4);
    EXPECT_EQ(fixture.counter("root_complex.port1.requests_without_link"), 3u);
  });
}

}  // namespace
}  // namespace pcie
