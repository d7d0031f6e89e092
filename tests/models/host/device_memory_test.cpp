// SPDX-License-Identifier: Apache-2.0
#include "models/host/device_memory.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <tlm_utils/simple_target_socket.h>

#include <cstring>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>

#include "vp/time/time.h"

namespace host {
namespace {

using Operation = vp::ProcessorAccess::Operation;
using testing::ElementsAre;
using testing::IsEmpty;
using vp::ns;

constexpr auto uc = vp::MemoryType::uncacheable;
constexpr auto wc = vp::MemoryType::write_combining;
constexpr auto wt = vp::MemoryType::write_through;
constexpr auto wp = vp::MemoryType::write_protected;
constexpr auto wb = vp::MemoryType::write_back;
constexpr vp::Picoseconds latency = 750 * ns;

/// A device. It accepts writes at once. A read takes `latency` and returns what was written before
/// it.
struct Target : sc_core::sc_module {
  tlm_utils::simple_target_socket<Target> socket{"socket"};
  std::vector<std::string> seen;  // "time/ns r|w address/bytes"
  std::map<std::uint64_t, std::uint8_t> bytes;
  bool refuses = false;

  explicit Target(const sc_core::sc_module_name& name) : sc_module(name) {
    socket.register_b_transport(this, &Target::b_transport);
    socket.register_transport_dbg(this, &Target::transport_dbg);
  }
  void b_transport(tlm::tlm_generic_payload& payload, sc_core::sc_time&) {
    const std::uint64_t address = payload.get_address();
    const unsigned length = payload.get_data_length();
    seen.push_back(fmt::format("{} {} {:x}/{}", vp::now() / ns, payload.is_read() ? 'r' : 'w',
                               address, length));
    EXPECT_LE(offset_in_line(address) + length, line_size);
    std::array<std::uint8_t, line_size> data;
    for (unsigned i = 0; i < length; ++i) data[i] = bytes[address + i];
    if (payload.is_read()) {
      wait(vp::to_sc_time(latency));
      std::memcpy(payload.get_data_ptr(), data.data(), length);
    } else {
      for (unsigned i = 0; i < length; ++i) bytes[address + i] = payload.get_data_ptr()[i];
    }
    payload.set_response_status(refuses ? tlm::TLM_ADDRESS_ERROR_RESPONSE : tlm::TLM_OK_RESPONSE);
  }
  unsigned transport_dbg(tlm::tlm_generic_payload& payload) { return payload.get_data_length(); }
};

/// A processor that runs a script.
struct Processor : sc_core::sc_module {
  tlm_utils::simple_initiator_socket<Processor> socket{"socket"};
  vp::ProcessorAccess attributes;
  tlm::tlm_generic_payload payload;
  std::function<void()> script = [] {};
  bool ended = false;

  explicit Processor(const sc_core::sc_module_name& name) : sc_module(name) {
    payload.set_extension(&attributes);
    sc_core::sc_spawn([this] {
      script();
      ended = true;
    });
  }
  bool transport(Operation operation, vp::MemoryType type, tlm::tlm_command command,
                 std::uint64_t address, void* data, unsigned length) {
    attributes.operation = operation;
    attributes.type = type;
    payload.set_command(command);
    payload.set_address(address);
    payload.set_data_ptr(static_cast<unsigned char*>(data));
    payload.set_data_length(length);
    payload.set_streaming_width(length);
    payload.set_response_status(tlm::TLM_INCOMPLETE_RESPONSE);
    sc_core::sc_time delay;
    socket->b_transport(payload, delay);
    EXPECT_EQ(delay, sc_core::SC_ZERO_TIME);
    return payload.is_response_ok();
  }
  void store(vp::MemoryType type, std::uint64_t address, std::uint64_t value = 0,
             unsigned length = 8) {
    EXPECT_TRUE(
        transport(Operation::access, type, tlm::TLM_WRITE_COMMAND, address, &value, length));
  }
  std::uint64_t load(vp::MemoryType type, std::uint64_t address, unsigned length = 8) {
    std::uint64_t value = 0;
    EXPECT_TRUE(transport(Operation::access, type, tlm::TLM_READ_COMMAND, address, &value, length));
    return value;
  }
  void act(Operation operation, vp::MemoryType type = uc, std::uint64_t address = 0,
           unsigned length = 0) {
    EXPECT_TRUE(transport(operation, type, tlm::TLM_IGNORE_COMMAND, address, nullptr, length));
  }
  void drain() { act(Operation::drain); }
  /// movntdqa: the hook of the processor, and the loads of 8 bytes that follow.
  std::vector<std::uint64_t> stream(std::uint64_t address, unsigned length = 16,
                                    vp::MemoryType type = wc) {
    act(Operation::stream, type, address, length);
    std::vector<std::uint64_t> words;
    for (unsigned i = 0; i < length; i += 8) words.push_back(load(type, address + i));
    return words;
  }
  bool holding() const { return attributes.holding; }
};

struct DeviceMemoryTest : testing::Test {
  vp::Statistics statistics;
  std::unique_ptr<DeviceMemory> memory;
  Target target{"target"};
  Processor cpu{"cpu"}, other{"other"};

  /// Runs both scripts to the end.
  void run(unsigned buffers = 10) {
    memory = std::make_unique<DeviceMemory>("memory", DeviceMemoryConfig{buffers}, statistics);
    cpu.socket.bind(memory->processor);
    other.socket.bind(memory->processor);
    memory->out.bind(target.socket);
    sc_core::sc_start();
    EXPECT_TRUE(cpu.ended && other.ended) << "somebody waits for ever";
  }
  static void pause(vp::Picoseconds span) { sc_core::wait(vp::to_sc_time(span)); }
  static vp::Picoseconds time_of(const std::function<void()>& work) {
    const vp::Picoseconds start = vp::now();
    work();
    return vp::now() - start;
  }
  /// Returns what the target has seen since the last call.
  std::vector<std::string> seen() { return std::exchange(target.seen, {}); }
  std::uint64_t counter(const std::string& name) const {
    return statistics.json()["counters"]["memory." + name].get<std::uint64_t>();
  }
};

TEST_F(DeviceMemoryTest, UncacheableAccessesPassUnchanged) {
  cpu.script = [&] {
    cpu.store(uc, 0x1004, 0x55, 4);
    EXPECT_EQ(time_of([&] { EXPECT_EQ(cpu.load(uc, 0x1004, 4), 0x55u); }), latency);
    EXPECT_EQ(time_of([&] { cpu.load(uc, 0x1004, 4); }), latency) << "nothing is kept";
    EXPECT_FALSE(cpu.holding());
    EXPECT_THAT(seen(), ElementsAre("0 w 1004/4", "0 r 1004/4", "750 r 1004/4"));
  };
  run();
}

TEST_F(DeviceMemoryTest, AccessesWithoutAttributesPassUnchanged) {
  cpu.script = [&] {
    cpu.payload.clear_extension(&cpu.attributes);
    cpu.store(wt, 0x1000);
    cpu.load(wt, 0x1000);
    EXPECT_THAT(seen(), ElementsAre("0 w 1000/8", "0 r 1000/8"));
    cpu.payload.set_extension(&cpu.attributes);
  };
  run();
}

TEST_F(DeviceMemoryTest, TheProcessorSeesTheErrorResponse) {
  cpu.script = [&] {
    target.refuses = true;
    std::uint64_t value = 0;
    for (const auto type : {uc, wc, wt, wb}) {
      EXPECT_FALSE(
          cpu.transport(Operation::access, type, tlm::TLM_READ_COMMAND, 0x1000, &value, 8));
    }
    seen();
    target.refuses = false;
    cpu.load(wt, 0x1000);
    EXPECT_EQ(seen().size(), 1u) << "a line that was refused is not held";
  };
  run();
}

TEST_F(DeviceMemoryTest, EightStoresAreOneWrite) {
  cpu.script = [&] {
    for (unsigned i = 0; i < 8; ++i) {
      EXPECT_THAT(target.seen, IsEmpty());
      cpu.store(wc, 0x2000 + 8 * i, i + 1);
      EXPECT_EQ(cpu.holding(), i < 7);
    }
    EXPECT_THAT(seen(), ElementsAre("0 w 2000/64"));
    EXPECT_EQ(target.bytes[0x2038], 8);
    EXPECT_EQ(counter("combined_writes"), 1u);
    EXPECT_EQ(counter("partial_writes"), 0u);
  };
  run();
}

TEST_F(DeviceMemoryTest, DrainAndUncacheableAccessesWriteOutFirst) {
  cpu.script = [&] {
    const std::function<void()> causes[] = {
        [&] { cpu.drain(); },
        [&] { cpu.store(uc, 0x9000); },
        [&] { cpu.load(uc, 0x9000); },
    };
    const char* own[] = {"", "0 w 9000/8", "0 r 9000/8"};
    for (unsigned i = 0; i < 3; ++i) {
      cpu.store(wc, 0x2048);
      cpu.store(wc, 0x2000, 0, 4);
      EXPECT_TRUE(cpu.holding());
      causes[i]();
      EXPECT_FALSE(cpu.holding());
      std::vector<std::string> expected = {"0 w 2048/8", "0 w 2000/4"};
      if (i > 0) expected.emplace_back(own[i]);
      EXPECT_EQ(seen(), expected) << i;
    }
    EXPECT_EQ(counter("partial_writes"), 6u);
  };
  run();
}

TEST_F(DeviceMemoryTest, CachedAccessesAndFlushesDoNotDrain) {
  cpu.script = [&] {
    cpu.store(wc, 0x2000);
    cpu.store(wt, 0x3000);
    cpu.load(wb, 0x4000);
    cpu.act(Operation::prefetch, wt, 0x5000);
    cpu.act(Operation::flush, wt, 0x5000);
    EXPECT_TRUE(cpu.holding());
    EXPECT_THAT(seen(), ElementsAre("0 w 3000/8", "0 r 4000/64", "750 r 5000/64"));
  };
  run();
}

TEST_F(DeviceMemoryTest, BuffersAreEachProcessorsOwn) {
  cpu.script = [&] {
    cpu.store(wc, 0x2000);
    pause(20 * ns);
    cpu.drain();
    EXPECT_THAT(seen(), ElementsAre("20 w 2000/8"));
  };
  other.script = [&] {
    pause(10 * ns);
    other.store(wc, 0x2008);
    other.store(wc, 0x2010);
    EXPECT_TRUE(other.holding());
    pause(20 * ns);
    other.drain();
    EXPECT_THAT(seen(), ElementsAre("30 w 2008/8", "30 w 2010/8"));
  };
  run();
}

TEST_F(DeviceMemoryTest, OneLineMoreThanThereAreBuffersEvicts) {
  cpu.script = [&] {
    for (unsigned i = 0; i < 10; ++i) cpu.store(wc, 0x2000 + 64 * i);
    EXPECT_THAT(target.seen, IsEmpty());
    cpu.store(wc, 0x4000);
    EXPECT_THAT(seen(), ElementsAre("0 w 2000/8"));
  };
  run();
}

TEST_F(DeviceMemoryTest, WithoutBuffersCombiningIsUncacheable) {
  cpu.script = [&] {
    cpu.store(wc, 0x2000, 7);
    EXPECT_EQ(cpu.stream(0x2000, 16), (std::vector<std::uint64_t>{7, 0}));
    EXPECT_FALSE(cpu.holding());
    EXPECT_THAT(seen(), ElementsAre("0 w 2000/8", "0 r 2000/8", "750 r 2008/8"));
  };
  run(0);
}

TEST_F(DeviceMemoryTest, CombiningLoadsReadWhatTheirProcessorWrote) {
  cpu.script = [&] {
    cpu.store(wc, 0x2000, 0x11);
    cpu.store(wc, 0x2040, 0x22);
    EXPECT_EQ(cpu.load(wc, 0x2000), 0x11u);
    EXPECT_THAT(seen(), ElementsAre("0 w 2000/8", "0 r 2000/8")) << "of its own line only";
    EXPECT_EQ(cpu.load(wc, 0x2000), 0x11u);
    EXPECT_THAT(seen(), ElementsAre("750 r 2000/8")) << "not kept";
  };
  run();
}

TEST_F(DeviceMemoryTest, StreamingLoadsReadALineOnce) {
  cpu.script = [&] {
    for (unsigned i = 0; i < 64; ++i) target.bytes[0x2000 + i] = static_cast<std::uint8_t>(i / 8);
    for (unsigned i = 0; i < 4; ++i) {
      const std::uint64_t low = 0x0101010101010101 * (2 * i),
                          high = 0x0101010101010101 * (2 * i + 1);
      EXPECT_EQ(cpu.stream(0x2000 + 16 * i), (std::vector<std::uint64_t>{low, high}));
      EXPECT_EQ(cpu.holding(), i < 3);
    }
    EXPECT_THAT(seen(), ElementsAre("0 r 2000/64"));
    EXPECT_EQ(vp::now(), latency);
    EXPECT_EQ(counter("streamed_lines"), 1u);
    cpu.stream(0x2000, 32);
    cpu.stream(0x2020, 32);
    EXPECT_THAT(seen(), ElementsAre("750 r 2000/64")) << "a pair of the wider kind";
  };
  run();
}

TEST_F(DeviceMemoryTest, StreamedBytesAreUsedOnce) {
  cpu.script = [&] {
    cpu.stream(0x2000);
    target.bytes[0x2000] = 9;
    EXPECT_EQ(cpu.stream(0x2000).front(), 9u) << "another read returns the new value";
    EXPECT_THAT(seen(), ElementsAre("0 r 2000/64", "750 r 2000/64"));
  };
  run();
}

TEST_F(DeviceMemoryTest, DrainingDropsTheStreamedLine) {
  cpu.script = [&] {
    const std::function<void()> causes[] = {
        [&] { cpu.drain(); },
        [&] { cpu.store(uc, 0x9000); },
        [&] { cpu.store(wc, 0x2038); },
        [&] { cpu.stream(0x3000); },
    };
    for (const auto& cause : causes) {
      cpu.drain();
      cpu.stream(0x2000);
      EXPECT_EQ(time_of([&] { cpu.stream(0x2010); }), 0);
      cause();
      EXPECT_EQ(time_of([&] { cpu.stream(0x2020); }), latency);
    }
  };
  run();
}

TEST_F(DeviceMemoryTest, OrdinaryLoadsDoNotUseStreamedBytes) {
  cpu.script = [&] {
    cpu.stream(0x2000);
    seen();
    EXPECT_EQ(time_of([&] { cpu.load(wc, 0x2010); }), latency);
    EXPECT_THAT(seen(), ElementsAre("750 r 2010/8"));
    EXPECT_TRUE(cpu.holding());
    EXPECT_EQ(time_of([&] { cpu.stream(0x2010); }), 0) << "they are still there";
  };
  run();
}

TEST_F(DeviceMemoryTest, StreamingFollowsStoresToItsLine) {
  cpu.script = [&] {
    cpu.store(wc, 0x2000, 5);
    EXPECT_EQ(cpu.stream(0x2000).front(), 5u);
    EXPECT_THAT(seen(), ElementsAre("0 w 2000/8", "0 r 2000/64"));
  };
  run();
}

TEST_F(DeviceMemoryTest, StreamingOfOtherTypesIsAnOrdinaryLoad) {
  cpu.script = [&] {
    cpu.stream(0x2000, 16, wt);
    EXPECT_THAT(seen(), ElementsAre("0 r 2000/64"));
    EXPECT_FALSE(cpu.holding());
    cpu.stream(0x2000, 16, wt);
    EXPECT_THAT(seen(), IsEmpty());
    cpu.stream(0x3000, 16, uc);
    EXPECT_THAT(seen(), ElementsAre("750 r 3000/8", "1500 r 3008/8"));
  };
  run();
}

TEST_F(DeviceMemoryTest, CachedLoadsReadALineOnce) {
  cpu.script = [&] {
    vp::Picoseconds start = 0;
    std::uint64_t address = 0x2000;
    for (const auto type : {wt, wp, wb}) {
      for (unsigned i = 0; i < 64; ++i) target.bytes[address + i] = static_cast<std::uint8_t>(i);
      EXPECT_EQ(time_of([&] { EXPECT_EQ(cpu.load(type, address + 17, 1), 17u); }), latency);
      for (unsigned i = 0; i < 64; ++i) EXPECT_EQ(cpu.load(type, address + i, 1), i);
      EXPECT_EQ(vp::now() - start, latency);
      EXPECT_EQ(seen().size(), 1u);
      EXPECT_FALSE(cpu.holding());
      start = vp::now();
      address += 64;
    }
    EXPECT_EQ(counter("lines_filled"), 3u);
    EXPECT_EQ(counter("line_hits"), 3u * 64);
  };
  run();
}

TEST_F(DeviceMemoryTest, FlushMakesTheNextLoadRead) {
  cpu.script = [&] {
    cpu.load(wt, 0x2000);
    target.bytes[0x2000] = 3;
    EXPECT_EQ(cpu.load(wt, 0x2000), 0u) << "a device takes no part in coherence";
    cpu.act(Operation::flush, wt, 0x203f);
    EXPECT_EQ(time_of([&] { EXPECT_EQ(cpu.load(wt, 0x2000), 3u); }), latency);
    cpu.act(Operation::flush, wt, 0x2040);
    EXPECT_EQ(time_of([&] { cpu.load(wt, 0x2000); }), 0) << "another line";
  };
  run();
}

TEST_F(DeviceMemoryTest, AllProcessorsShareTheLines) {
  cpu.script = [&] {
    cpu.load(wt, 0x2000);
    pause(100 * ns);
    EXPECT_EQ(time_of([&] { EXPECT_EQ(cpu.load(wt, 0x2000), 6u); }), latency);
  };
  other.script = [&] {
    pause(latency + 10 * ns);
    EXPECT_EQ(time_of([&] { other.load(wt, 0x2008); }), 0);
    target.bytes[0x2000] = 6;
    other.act(Operation::flush, wt, 0x2000);
  };
  run();
}

TEST_F(DeviceMemoryTest, StoresPassAndUpdateTheLine) {
  cpu.script = [&] {
    for (const auto type : {wt, wb}) {
      cpu.load(type, 0x2000);
      seen();
      EXPECT_EQ(time_of([&] { cpu.store(type, 0x2008, 0x77, 2); }), 0);
      EXPECT_EQ(seen().size(), 1u) << "not gathered";
      EXPECT_EQ(time_of([&] { EXPECT_EQ(cpu.load(type, 0x2008), 0x77u); }), 0);
      cpu.store(type, 0x3000);
      EXPECT_EQ(seen().size(), 1u);
      EXPECT_EQ(time_of([&] { cpu.load(type, 0x3000); }), latency) << "a store reads no line";
      cpu.act(Operation::flush, type, 0x2000);
      cpu.act(Operation::flush, type, 0x3000);
    }
    cpu.load(wp, 0x2000);
    cpu.store(wp, 0x2008, 0x66, 2);
    EXPECT_EQ(time_of([&] { EXPECT_EQ(cpu.load(wp, 0x2008), 0x66u); }), latency);
  };
  run();
}

// A load that comes `waited` after the prefetch waits for the rest of the read.
TEST_F(DeviceMemoryTest, PrefetchHidesTheRead) {
  cpu.script = [&] {
    std::uint64_t address = 0x2000;
    for (const vp::Picoseconds waited :
         {0 * ns, 1 * ns, 400 * ns, latency - 1, latency, latency + 1, 2 * latency}) {
      for (const auto type : {wt, wp, wb}) {
        target.bytes[address + 8] = 0x42;
        EXPECT_EQ(time_of([&] { cpu.act(Operation::prefetch, type, address + 1); }), 0);
        EXPECT_EQ(seen().size(), 1u) << "on its way at once";
        if (waited > 0) pause(waited);
        EXPECT_EQ(time_of([&] { EXPECT_EQ(cpu.load(type, address + 8), 0x42u); }),
                  std::max(vp::Picoseconds{0}, latency - waited));
        EXPECT_THAT(seen(), IsEmpty());
        address += 64;
      }
    }
  };
  run();
}

TEST_F(DeviceMemoryTest, APrefetchOfALineThatIsHeldOrReadDoesNothing) {
  cpu.script = [&] {
    for (const auto type : {uc, wc}) cpu.act(Operation::prefetch, type, 0x2000);
    EXPECT_THAT(seen(), IsEmpty());
    cpu.act(Operation::prefetch, wt, 0x2000);
    cpu.act(Operation::prefetch, wt, 0x2010);
    EXPECT_EQ(seen().size(), 1u);
    pause(latency);
    cpu.act(Operation::prefetch, wt, 0x2020);
    EXPECT_THAT(seen(), IsEmpty());
    EXPECT_EQ(counter("prefetches"), 1u);
  };
  run();
}

TEST_F(DeviceMemoryTest, ParallelReadsAreLimited) {
  cpu.script = [&] {
    for (unsigned i = 0; i < DeviceMemory::lines_read; ++i) {
      EXPECT_EQ(time_of([&] { cpu.act(Operation::prefetch, wt, 0x2000 + 64 * i); }), 0);
    }
    EXPECT_EQ(time_of([&] { cpu.act(Operation::prefetch, wt, 0x4000); }), latency);
    EXPECT_EQ(time_of([&] { cpu.load(wt, 0x4000); }), latency);
    for (unsigned i = 0; i < DeviceMemory::lines_read; ++i) {
      EXPECT_EQ(time_of([&] { cpu.load(wt, 0x2000 + 64 * i); }), 0);
    }
  };
  run();
}

TEST_F(DeviceMemoryTest, ALoadWaitsUntilItCanRead) {
  cpu.script = [&] {
    for (unsigned i = 0; i < DeviceMemory::lines_read; ++i) {
      cpu.act(Operation::prefetch, wt, 0x2000 + 64 * i);
    }
    EXPECT_EQ(time_of([&] { cpu.load(wt, 0x4000); }), 2 * latency);
  };
  run();
}

TEST_F(DeviceMemoryTest, ALineThatIsFlushedOrWrittenOnItsWayIsReadAgain) {
  cpu.script = [&] {
    target.bytes[0x2000] = 1;
    cpu.act(Operation::prefetch, wt, 0x2000);
    pause(100 * ns);
    target.bytes[0x2000] = 2;
    cpu.act(Operation::flush, wt, 0x2000);
    EXPECT_EQ(cpu.load(wt, 0x2000), 2u);

    cpu.act(Operation::prefetch, wt, 0x3000);
    pause(100 * ns);
    cpu.store(wt, 0x3000, 5);
    EXPECT_EQ(cpu.load(wt, 0x3000), 5u) << "its own store";
    EXPECT_EQ(time_of([&] { cpu.load(wt, 0x3000); }), 0);
  };
  run();
}

TEST_F(DeviceMemoryTest, AWaitingLoadSeesTheStoreOfAnotherProcessor) {
  cpu.script = [&] { EXPECT_EQ(cpu.load(wt, 0x2000), 8u); };
  other.script = [&] {
    pause(10 * ns);
    other.store(wt, 0x2000, 8);
  };
  run();
}

TEST_F(DeviceMemoryTest, TwoLoadsOfALineReadItOnce) {
  cpu.script = [&] { EXPECT_EQ(time_of([&] { cpu.load(wt, 0x2000); }), latency); };
  other.script = [&] {
    pause(100 * ns);
    EXPECT_EQ(time_of([&] { other.load(wt, 0x2020); }), latency - 100 * ns);
    EXPECT_EQ(seen().size(), 1u);
  };
  run();
}

TEST_F(DeviceMemoryTest, TheLineThatWasUsedLongestAgoIsReplaced) {
  cpu.script = [&] {
    for (unsigned i = 0; i < DeviceMemory::lines_held; ++i) cpu.load(wt, 0x10000 + 64 * i);
    cpu.load(wt, 0x10000);
    cpu.load(wt, 0x20000);
    EXPECT_EQ(time_of([&] { cpu.load(wt, 0x10000); }), 0);
    EXPECT_EQ(time_of([&] { cpu.load(wt, 0x10040); }), latency);
  };
  run();
}

TEST_F(DeviceMemoryTest, ResetDropsEverything) {
  cpu.script = [&] {
    cpu.store(wc, 0x2000);
    cpu.stream(0x6000);
    cpu.load(wt, 0x3000);
    cpu.act(Operation::prefetch, wt, 0x4000);
    memory->reset();
    seen();
    cpu.drain();
    EXPECT_THAT(seen(), IsEmpty());
    EXPECT_FALSE(cpu.holding());
    EXPECT_EQ(time_of([&] { cpu.stream(0x6010); }), latency);
    for (const std::uint64_t address : {0x3000u, 0x4000u}) {
      EXPECT_EQ(time_of([&] { cpu.load(wt, address); }), latency) << std::hex << address;
    }
  };
  run();
}

TEST_F(DeviceMemoryTest, DebuggersSeeTheDevice) {
  cpu.script = [&] {
    std::uint64_t value = 0;
    cpu.payload.set_data_ptr(reinterpret_cast<unsigned char*>(&value));
    cpu.payload.set_data_length(8);
    EXPECT_EQ(cpu.socket->transport_dbg(cpu.payload), 8u);
    EXPECT_THAT(seen(), IsEmpty());
  };
  run();
}

}  // namespace
}  // namespace host
