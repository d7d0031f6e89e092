// SPDX-License-Identifier: Apache-2.0
#include "models/ipu/dma_engine.h"

#include <tlm_utils/simple_target_socket.h>

#include <algorithm>
#include <deque>

#include "models/ipu/memory.h"
#include "models/ipu/noc.h"
#include "oae_registers.h"
#include "tests/models/ipu/fixture.h"

namespace ipu {
namespace {

using test::advance;
using test::start;

constexpr unsigned line = 3;
constexpr std::uint64_t memory_base = 0x8000'0000;
constexpr std::uint64_t memory_size = 0x10000;
constexpr std::uint64_t trap_base = 0x0c00'0000;
constexpr std::uint64_t host_base = 0x1'0000'0000;
constexpr std::uint64_t host_size = 0x10000;
constexpr vp::Picoseconds engine_latency = 100 * vp::ns;
constexpr vp::Picoseconds memory_latency = 40 * vp::ns;
constexpr vp::Picoseconds link_latency = 500 * vp::ns;
constexpr std::uint64_t bytes_per_second = 16'000'000'000;
constexpr std::uint64_t start_bit = OAE_DMA_CONTROL_START_MASK;
constexpr std::uint64_t from_host = OAE_DMA_CONTROL_SOURCE_HOST_MASK;
constexpr std::uint64_t to_host = OAE_DMA_CONTROL_DESTINATION_HOST_MASK;
constexpr std::uint64_t irq_enable = OAE_DMA_CONTROL_IRQ_ENABLE_MASK;
constexpr std::uint64_t done = OAE_DMA_STATUS_DONE_MASK;
constexpr std::uint64_t error = OAE_DMA_STATUS_ERROR_MASK;

/// Host memory behind a function. It answers reads after the round trip of a link.
struct Host : sc_core::sc_module {
  tlm_utils::simple_target_socket<Host> socket;
  PlainStorage storage{host_size};
  bool at_once = false;      // reads complete in the call
  bool inside_call = false;  // reads are answered by nb_transport_bw within the call
  bool full = false;         // writes have to wait as long as reads
  bool last_first = false;   // of the reads that wait, the last is answered first
  std::uint64_t refuse = ~std::uint64_t{0};  // requests that contain this address fail
  unsigned piece = 4096;                     // the largest that may come
  std::vector<std::pair<std::uint64_t, unsigned>> requests;
  std::size_t most_waiting = 0;

  Host(const sc_core::sc_module_name& name, vp::Domain& domain)
      : sc_module(name), socket("socket"), answer_(domain, [this] { answer(); }) {
    socket.register_nb_transport_fw(this, &Host::nb_transport_fw);
  }

 private:
  tlm::tlm_sync_enum nb_transport_fw(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                                     sc_core::sc_time&) {
    EXPECT_EQ(phase, tlm::BEGIN_REQ);
    EXPECT_NE(payload.get_extension<pcie::Access>(), nullptr);
    const std::uint64_t address = payload.get_address();
    const unsigned length = payload.get_data_length();
    EXPECT_GE(length, 1u);
    EXPECT_LE(address % piece + length, piece) << "a piece crosses a multiple of its size";
    requests.push_back({address, length});
    if ((payload.is_write() && !full) || at_once) {
      carry_out(payload);
      return tlm::TLM_COMPLETED;
    }
    waiting_.push_back({&payload, vp::now() + link_latency});
    most_waiting = std::max(most_waiting, waiting_.size());
    if (inside_call) {
      answer();
    } else if (!answer_.pending()) {
      answer_.at(waiting_.front().second);
    }
    return tlm::TLM_ACCEPTED;
  }
  void carry_out(tlm::tlm_generic_payload& payload) {
    const std::uint64_t offset = payload.get_address() - host_base;
    const unsigned length = payload.get_data_length();
    const bool refused = refuse >= payload.get_address() && refuse < payload.get_address() + length;
    if (offset >= host_size || refused) {
      payload.set_response_status(tlm::TLM_ADDRESS_ERROR_RESPONSE);
      return;
    }
    if (payload.is_read()) {
      storage.read(offset, payload.get_data_ptr(), length);
    } else {
      storage.write(offset, payload.get_data_ptr(), length);
    }
    payload.set_response_status(tlm::TLM_OK_RESPONSE);
  }
  void answer() {
    if (last_first) std::swap(waiting_.front().first, waiting_.back().first);
    tlm::tlm_generic_payload& payload = *waiting_.front().first;
    waiting_.pop_front();
    if (!waiting_.empty()) answer_.at(std::max(vp::now(), waiting_.front().second));
    carry_out(payload);
    tlm::tlm_phase phase = tlm::BEGIN_RESP;
    sc_core::sc_time delay;
    EXPECT_EQ(socket->nb_transport_bw(payload, phase, delay), tlm::TLM_COMPLETED);
  }

  std::deque<std::pair<tlm::tlm_generic_payload*, vp::Picoseconds>> waiting_;
  vp::Event answer_;
};

/// A target that must not be reached from outside a thread.
struct Trap : sc_core::sc_module {
  tlm_utils::simple_target_socket<Trap> socket;
  explicit Trap(const sc_core::sc_module_name& name) : sc_module(name), socket("socket") {
    socket.register_b_transport(this, &Trap::b_transport);
  }
  void b_transport(tlm::tlm_generic_payload&, sc_core::sc_time&) { ADD_FAILURE() << "reached"; }
};

struct DmaEngineTest : testing::Test {
  vp::Domain domain{"domain"};
  test::Lines lines;
  Noc noc{"noc", 0};
  PlainStorage storage{memory_size};
  Memory memory{"memory", storage, memory_latency};
  Trap trap{"trap"};
  Host host{"host", domain};
  DmaEngine engine;
  test::Initiator core;

  explicit DmaEngineTest(unsigned piece = DmaEngine::most_of_piece)
      : engine("engine", domain, {engine_latency, bytes_per_second, 4, piece}, line) {
    host.piece = piece;
    noc.connect(memory_base, memory_size, memory.socket);
    noc.connect(trap_base, 0x1000, trap.socket);
    engine.memory.bind(noc.in);
    engine.host.bind(host.socket);
    engine.irq.bind(lines);
    core.socket.bind(engine.socket);
    start();
    for (std::uint64_t i = 0; i < memory_size; ++i) {
      storage.bytes()[i] = static_cast<std::uint8_t>(i * 7 + (i >> 8));
    }
    for (std::uint64_t i = 0; i < host_size; ++i) {
      host.storage.bytes()[i] = static_cast<std::uint8_t>(i * 11 + (i >> 7) + 1);
    }
  }

  void copy(std::uint64_t source, std::uint64_t destination, std::uint64_t length,
            std::uint64_t control) {
    core.write(OAE_DMA_SOURCE, source);
    core.write(OAE_DMA_DESTINATION, destination);
    core.write(OAE_DMA_LENGTH, length);
    core.write(OAE_DMA_CONTROL, control | start_bit);
  }
  /// Runs until the copy is done, and returns how long it took.
  vp::Picoseconds run() {
    const vp::Picoseconds began = vp::now();
    while (domain.next_event() != vp::never) advance(domain.next_event() - vp::now());
    EXPECT_EQ(core.read(OAE_DMA_STATUS) & done, done);
    EXPECT_EQ(core.read(OAE_DMA_CONTROL) & start_bit, 0u);
    return vp::now() - began;
  }
};

vp::Picoseconds passing(std::uint64_t bytes) {
  return static_cast<vp::Picoseconds>(bytes * vp::s / bytes_per_second);
}

TEST_F(DmaEngineTest, CopiesEveryLengthAndOffsetAroundPieceBoundaries) {
  for (std::uint64_t length : {1u, 2u, 7u, 64u, 4095u, 4096u, 4097u, 8191u, 20000u}) {
    for (std::uint64_t source : {0x0u, 0x1u, 0xfffu, 0x1000u}) {
      for (std::uint64_t destination : {0x2u, 0xff0u, 0x1000u}) {
        for (std::uint64_t direction : {from_host, to_host}) {
          const bool out = direction == to_host;
          PlainStorage& from = out ? storage : host.storage;
          PlainStorage& to = out ? host.storage : storage;
          std::vector<std::uint8_t> expected(to.bytes(), to.bytes() + memory_size);
          std::copy_n(from.bytes() + source, length, expected.begin() + destination);
          copy((out ? memory_base : host_base) + source,
               (out ? host_base : memory_base) + destination, length, direction);
          run();
          EXPECT_EQ(core.read(OAE_DMA_STATUS), done);
          EXPECT_TRUE(std::equal(expected.begin(), expected.end(), to.bytes()))
              << length << " from " << source << " to " << destination << " out " << out;
        }
      }
    }
  }
}

struct DmaEngineOfLines : DmaEngineTest {
  DmaEngineOfLines() : DmaEngineTest(64) {}
};

TEST_F(DmaEngineOfLines, CopiesInPiecesOfItsSize) {
  copy(memory_base + 0x10, host_base + 0x130, 200, to_host);
  run();
  EXPECT_TRUE(std::equal(storage.bytes() + 0x10, storage.bytes() + 0x10 + 200,
                         host.storage.bytes() + 0x130));
  using Requests = std::vector<std::pair<std::uint64_t, unsigned>>;
  EXPECT_EQ(host.requests, (Requests{{host_base + 0x130, 16},
                                     {host_base + 0x140, 32},
                                     {host_base + 0x160, 32},
                                     {host_base + 0x180, 32},
                                     {host_base + 0x1a0, 32},
                                     {host_base + 0x1c0, 32},
                                     {host_base + 0x1e0, 24}}));
  host.requests.clear();
  copy(memory_base, host_base, 0x1000, to_host);
  // A piece is requested when the fourth before it has been delivered.
  EXPECT_EQ(run(), engine_latency + 15 * (memory_latency + passing(64)) + memory_latency +
                       passing(4 * 64));
  EXPECT_EQ(host.requests.size(), 64u);
}

TEST_F(DmaEngineTest, CopiesWithinOneMemory) {
  copy(memory_base, memory_base + 0x8000, 5000, 0);
  run();
  EXPECT_TRUE(std::equal(storage.bytes(), storage.bytes() + 5000, storage.bytes() + 0x8000));
  copy(host_base, host_base + 0x8000, 5000, from_host | to_host);
  run();
  EXPECT_TRUE(
      std::equal(host.storage.bytes(), host.storage.bytes() + 5000, host.storage.bytes() + 0x8000));
  EXPECT_EQ(engine.copies(), 2u);
  EXPECT_EQ(engine.bytes(), 10000u);
}

TEST_F(DmaEngineTest, TakesTheTimesOfStartSourcePassageAndDestination) {
  copy(memory_base, host_base, 64, to_host);
  EXPECT_EQ(run(), engine_latency + memory_latency + passing(64));
  copy(host_base, memory_base, 4096, from_host);
  EXPECT_EQ(run(), engine_latency + link_latency + passing(4096) + memory_latency);
  core.delay = 30 * vp::ns;
  core.write(OAE_DMA_LENGTH, 0);
  core.write(OAE_DMA_CONTROL, start_bit);
  EXPECT_EQ(run(), 30 * vp::ns + engine_latency) << "nothing to copy";
}

TEST_F(DmaEngineTest, RequestsAheadAndPassesAtItsRate) {
  copy(host_base, memory_base, 0x10000, from_host);
  const vp::Picoseconds expected =
      engine_latency + link_latency + passing(0x10000) + memory_latency;
  EXPECT_EQ(run(), expected) << "the round trip is hidden behind the pieces asked for";
  EXPECT_EQ(host.most_waiting, 4u);
}

// A full host accepts one piece at a time.
TEST_F(DmaEngineTest, PausesWhileTheHostHasNoRoom) {
  host.full = true;
  for (std::uint64_t length : {16u, 4096u, 20000u}) {
    const std::uint64_t pieces = (length + 4095) / 4096;
    copy(memory_base, host_base, length, to_host);
    EXPECT_EQ(run(), engine_latency + memory_latency + passing(length) +
                         static_cast<vp::Picoseconds>(pieces) * link_latency);
    EXPECT_TRUE(std::equal(storage.bytes(), storage.bytes() + length, host.storage.bytes()));
    EXPECT_EQ(core.read(OAE_DMA_STATUS), done);
  }
  EXPECT_EQ(host.most_waiting, 1u);
}

TEST_F(DmaEngineTest, EndsIfADelayedWriteFails) {
  host.full = true;
  host.refuse = host_base + 0x1800;
  copy(memory_base, host_base, 0x10000, to_host);
  run();
  EXPECT_EQ(core.read(OAE_DMA_STATUS), done | OAE_DMA_STATUS_ERROR_MASK);
  EXPECT_TRUE(std::equal(storage.bytes(), storage.bytes() + 0x1000, host.storage.bytes()));
  EXPECT_EQ(engine.errors(), 1u);
  EXPECT_EQ(engine.bytes(), 0x1000u);
}

TEST_F(DmaEngineTest, AcceptsAnswersWithinTheCall) {
  host.at_once = true;
  copy(host_base, memory_base, 20000, from_host);
  run();
  EXPECT_TRUE(std::equal(storage.bytes(), storage.bytes() + 20000, host.storage.bytes()));
  host.at_once = false;
  host.inside_call = true;
  copy(host_base + 0x2345, memory_base, 20000, from_host);
  run();
  EXPECT_TRUE(std::equal(storage.bytes(), storage.bytes() + 20000, host.storage.bytes() + 0x2345));
}

TEST_F(DmaEngineTest, AcceptsAnswersInAnyOrder) {
  host.last_first = true;
  for (const std::uint64_t length : {4097u, 20000u, 50001u}) {
    copy(host_base + 0x123, memory_base + 0x10, length, from_host);
    run();
    EXPECT_TRUE(std::equal(storage.bytes() + 0x10, storage.bytes() + 0x10 + length,
                           host.storage.bytes() + 0x123));
    EXPECT_EQ(core.read(OAE_DMA_STATUS), done);
  }
  EXPECT_EQ(host.most_waiting, 4u);
}

TEST_F(DmaEngineTest, InterruptsAtTheEndIfEnabled) {
  copy(memory_base, host_base, 64, to_host);
  run();
  EXPECT_FALSE(lines.level[line]);
  core.write(OAE_DMA_CONTROL, irq_enable);
  EXPECT_TRUE(lines.level[line]);
  core.write(OAE_DMA_STATUS, done);
  EXPECT_FALSE(lines.level[line]);
  copy(memory_base, host_base, 64, to_host | irq_enable);
  EXPECT_FALSE(lines.level[line]);
  run();
  EXPECT_TRUE(lines.level[line]);
  core.write(OAE_DMA_STATUS, error);
  EXPECT_TRUE(lines.level[line]) << "another bit";
  copy(memory_base, host_base, 64, to_host | irq_enable);
  EXPECT_FALSE(lines.level[line]) << "a start clears the status";
  run();
}

TEST_F(DmaEngineTest, EndsWithAnErrorWhereThereIsNoMemory) {
  const std::vector<std::pair<std::uint64_t, std::uint64_t>> nowhere = {
      {0, 1},
      {memory_base + memory_size, 1},
      {memory_base + memory_size - 8, 9},
      {~std::uint64_t{0}, 1},
      {~std::uint64_t{0} - 1, 4096},
      {trap_base, 8},
  };
  unsigned errors = 0;
  for (auto [address, length] : nowhere) {
    copy(address, host_base, length, to_host);
    run();
    EXPECT_EQ(core.read(OAE_DMA_STATUS), done | error) << std::hex << address;
    copy(host_base, address, length, from_host);
    run();
    EXPECT_EQ(core.read(OAE_DMA_STATUS), done | error) << std::hex << address;
    errors += 2;
  }
  EXPECT_EQ(engine.errors(), errors);
  copy(memory_base, host_base, 64, to_host);
  run();
  EXPECT_EQ(core.read(OAE_DMA_STATUS), done) << "the next copy is not concerned";
}

TEST_F(DmaEngineTest, EndsWithAnErrorIfTheHostAnswersOne) {
  const std::vector<std::uint8_t> old(storage.bytes(), storage.bytes() + memory_size);
  host.refuse = host_base + 0x2000;
  copy(host_base, memory_base, 0x8000, from_host | irq_enable);
  run();
  EXPECT_EQ(core.read(OAE_DMA_STATUS), done | error);
  EXPECT_TRUE(lines.level[line]);
  EXPECT_TRUE(std::equal(storage.bytes(), storage.bytes() + 0x2000, host.storage.bytes()))
      << "what came before stands";
  EXPECT_TRUE(
      std::equal(storage.bytes() + 0x2000, storage.bytes() + memory_size, old.begin() + 0x2000))
      << "nothing after it is written";
  EXPECT_LT(host.requests.size(), 8u) << "nothing more is asked for";
  host.requests.clear();
  copy(memory_base, host_base, 0x8000, to_host);
  run();
  EXPECT_EQ(core.read(OAE_DMA_STATUS), done | error);
  EXPECT_EQ(host.requests.size(), 3u) << "a refused write is the last";
}

TEST_F(DmaEngineTest, WritesToItsRegistersDoNotChangeARunningCopy) {
  copy(memory_base, host_base, 0x4000, to_host);
  EXPECT_EQ(core.read(OAE_DMA_CONTROL), start_bit | to_host);
  core.write(OAE_DMA_SOURCE, 0);
  core.write(OAE_DMA_DESTINATION, 0);
  core.write(OAE_DMA_LENGTH, 1);
  core.write(OAE_DMA_CONTROL, start_bit | from_host);
  core.write(OAE_DMA_CONTROL, 0);
  EXPECT_EQ(core.read(OAE_DMA_CONTROL), start_bit);
  run();
  EXPECT_EQ(core.read(OAE_DMA_STATUS), done);
  EXPECT_TRUE(std::equal(storage.bytes(), storage.bytes() + 0x4000, host.storage.bytes()));
  EXPECT_EQ(engine.copies(), 1u);
}

TEST_F(DmaEngineTest, KeepsOnlyTheFieldsOfItsRegisters) {
  core.write(OAE_DMA_LENGTH, ~std::uint64_t{0});
  EXPECT_EQ(core.read(OAE_DMA_LENGTH), 0xffff'ffffu);
  core.write(OAE_DMA_CONTROL, ~start_bit);
  EXPECT_EQ(core.read(OAE_DMA_CONTROL), from_host | to_host | irq_enable);
  core.write(OAE_DMA_STATUS, ~std::uint64_t{0});
  EXPECT_EQ(core.read(OAE_DMA_STATUS), 0u);
  EXPECT_EQ(core.try_read(OAE_DMA_STATUS + 8), tlm::TLM_ADDRESS_ERROR_RESPONSE);
  EXPECT_EQ(core.try_write(OAE_DMA_STATUS + 8), tlm::TLM_ADDRESS_ERROR_RESPONSE);
}

}  // namespace
}  // namespace ipu
