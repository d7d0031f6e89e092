// SPDX-License-Identifier: Apache-2.0
#include "models/ipu/load_generator.h"

#include <tlm_utils/simple_target_socket.h>

#include <algorithm>

#include "oae_registers.h"
#include "tests/models/ipu/fixture.h"

namespace ipu {
namespace {

using test::advance;
using test::start;

constexpr std::uint64_t ring = 0x1000;
constexpr std::uint64_t entries = 8;
constexpr vp::Picoseconds interval = vp::us;

/// Host memory behind the function's `dma`, which may refuse writes or delay them.
struct Host : sc_core::sc_module {
  tlm_utils::simple_target_socket<Host> socket;
  std::vector<std::uint64_t> words = std::vector<std::uint64_t>(0x2000 / 8);
  bool refuses = false;
  bool delays = false;
  tlm::tlm_generic_payload* delayed = nullptr;
  std::vector<vp::Picoseconds> times;

  explicit Host(const sc_core::sc_module_name& name) : sc_module(name), socket("socket") {
    socket.register_nb_transport_fw(this, &Host::nb_transport_fw);
  }
  void accept(tlm::tlm_response_status status) {
    tlm::tlm_generic_payload& payload = *std::exchange(delayed, nullptr);
    if (status == tlm::TLM_OK_RESPONSE) take(payload);
    payload.set_response_status(status);
    tlm::tlm_phase phase = tlm::BEGIN_RESP;
    sc_core::sc_time delay;
    EXPECT_EQ(socket->nb_transport_bw(payload, phase, delay), tlm::TLM_COMPLETED);
  }

 private:
  void take(tlm::tlm_generic_payload& payload) {
    std::memcpy(&words.at(payload.get_address() / 8), payload.get_data_ptr(),
                payload.get_data_length());
    times.push_back(vp::now());
  }
  tlm::tlm_sync_enum nb_transport_fw(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                                     sc_core::sc_time&) {
    EXPECT_EQ(phase, tlm::BEGIN_REQ);
    EXPECT_EQ(delayed, nullptr) << "one write at a time";
    EXPECT_EQ(payload.get_data_length(), LoadGenerator::entry_size);
    if (delays) {
      delayed = &payload;
      return tlm::TLM_ACCEPTED;
    }
    if (!refuses) take(payload);
    payload.set_response_status(refuses ? tlm::TLM_COMMAND_ERROR_RESPONSE : tlm::TLM_OK_RESPONSE);
    return tlm::TLM_COMPLETED;
  }
};

struct LoadGeneratorTest : testing::Test {
  struct Request {
    vp::Picoseconds came;
    std::uint64_t kind;
    std::uint64_t number;
  };

  vp::Domain domain{"domain"};
  LoadGenerator generator{"generator", domain};
  Host host{"host"};
  test::FunctionPort function;

  LoadGeneratorTest() {
    function.socket.bind(generator.bar);
    generator.dma.bind(host.socket);
    start();
    set(OAE_LOAD_SEED, 1);
    set(OAE_LOAD_INTERVAL, interval);
    set(OAE_LOAD_RING, ring);
    set(OAE_LOAD_RING_SIZE, entries);
  }
  void set(std::uint64_t offset, std::uint64_t value) { function.write(0, offset, value); }
  std::uint64_t get(std::uint64_t offset) { return function.read(0, offset); }
  void run() { set(OAE_LOAD_CONTROL, 1); }
  bool runs() { return get(OAE_LOAD_CONTROL) == 1; }
  Request entry(std::uint64_t n) const {
    const std::uint64_t* words = &host.words[(ring + n * LoadGenerator::entry_size) / 8];
    return {static_cast<vp::Picoseconds>(words[0]), words[1], words[3]};
  }
};

TEST_F(LoadGeneratorTest, WritesEachRequestWhenItComes) {
  set(OAE_LOAD_COUNT, entries);
  set(OAE_LOAD_LONG_SHARE, 0x8000'0000);
  advance(123);
  const vp::Picoseconds started = vp::now();
  run();
  EXPECT_TRUE(runs());
  advance(vp::ms);
  EXPECT_FALSE(runs());
  ASSERT_EQ(host.times.size(), entries);
  PoissonProcess process(1, interval);
  vp::Picoseconds expected = started;
  for (unsigned n = 0; n < entries; ++n) {
    expected += process.next();
    EXPECT_EQ(entry(n).came, expected);
    EXPECT_EQ(host.times[n], expected);
    EXPECT_EQ(entry(n).kind, process.happens(0x8000'0000) ? 1u : 0u);
    EXPECT_EQ(entry(n).number, n + 1);
  }
  EXPECT_EQ(get(OAE_LOAD_GENERATED), entries);
  EXPECT_EQ(get(OAE_LOAD_DROPPED), 0u);
}

TEST_F(LoadGeneratorTest, MeasuresAnswersByKind) {
  set(OAE_LOAD_COUNT, 2);
  set(OAE_LOAD_WARM_UP, 1);
  run();
  advance(vp::ms);
  set(OAE_LOAD_ANSWER, 1);
  advance(77);
  set(OAE_LOAD_ANSWER, 2);
  EXPECT_EQ(generator.short_latency().summary().count, 1u) << "request 1 is not measured";
  EXPECT_EQ(generator.short_latency().summary().max, vp::now() - entry(1).came);
  EXPECT_EQ(generator.long_latency().summary().count, 0u);
  EXPECT_EQ(get(OAE_LOAD_ANSWERED), 2u);

  set(OAE_LOAD_COUNT, 1);
  set(OAE_LOAD_WARM_UP, 0);
  set(OAE_LOAD_LONG_SHARE, 0xffff'ffff);
  run();
  advance(vp::ms);
  EXPECT_EQ(get(OAE_LOAD_FIRST), 3u);
  set(OAE_LOAD_ANSWER, 3);
  EXPECT_EQ(generator.long_latency().summary().count, 1u);
  EXPECT_EQ(get(OAE_LOAD_ANSWERED), 1u) << "counted from the start";
}

TEST_F(LoadGeneratorTest, CountsAnswersThatAreLate) {
  constexpr std::uint64_t limit = 50'000;
  for (const std::uint64_t share : {0u, 0xffff'ffffu}) {
    set(OAE_LOAD_LONG_SHARE, share);
    set(OAE_LOAD_COUNT, 4);
    set(OAE_LOAD_WARM_UP, 1);
    set(OAE_LOAD_LIMIT, limit);
    run();
    const std::uint64_t first = get(OAE_LOAD_FIRST);
    while (get(OAE_LOAD_GENERATED) < 4) advance(1'000);
    const vp::Picoseconds last = entry(3).came;
    set(OAE_LOAD_ANSWER, first + 1);  // late: it came before, and another one has come since
    advance(last + static_cast<vp::Picoseconds>(limit) - vp::now());
    set(OAE_LOAD_ANSWER, first + 3);  // at the limit
    EXPECT_EQ(get(OAE_LOAD_LATE), 1u);
    advance(1);
    set(OAE_LOAD_ANSWER, first);  // not measured
    set(OAE_LOAD_ANSWER, first + 2);
    EXPECT_EQ(get(OAE_LOAD_LATE), 2u);
    EXPECT_EQ(get(OAE_LOAD_LATE_LONG), share ? 2u : 0u);
  }
  set(OAE_LOAD_LIMIT, 0);
  run();
  EXPECT_EQ(get(OAE_LOAD_LATE), 0u) << "counted from the start";
  advance(vp::ms);
  set(OAE_LOAD_ANSWER, get(OAE_LOAD_FIRST) + 1);
  EXPECT_EQ(get(OAE_LOAD_LATE), 0u) << "without a limit, no answer is late";
}

TEST_F(LoadGeneratorTest, LeavesOutWhatWarmsUpAfterEachStart) {
  for (unsigned start = 0; start < 3; ++start) {
    set(OAE_LOAD_COUNT, 4);
    set(OAE_LOAD_WARM_UP, start);
    const std::uint64_t before = generator.short_latency().summary().count;
    run();
    advance(vp::ms);
    for (unsigned n = 0; n < 4; ++n) set(OAE_LOAD_ANSWER, get(OAE_LOAD_FIRST) + n);
    EXPECT_EQ(get(OAE_LOAD_ANSWERED), 4u);
    EXPECT_EQ(generator.short_latency().summary().count, before + 4 - start);
  }
}

TEST_F(LoadGeneratorTest, AnAnswerHasAtLeastTheLowerHalf) {
  set(OAE_LOAD_COUNT, entries);
  run();
  advance(vp::ms);
  for (const unsigned length : {1u, 2u, 4u}) {
    function.write(0, OAE_LOAD_ANSWER + 4, 1, length);
    if (length < 4) function.write(0, OAE_LOAD_ANSWER, 1, length);
  }
  EXPECT_EQ(get(OAE_LOAD_ANSWERED), 0u);
  EXPECT_EQ(get(OAE_LOAD_UNKNOWN), 0u);
  function.write(0, OAE_LOAD_ANSWER, 1, 4);
  function.write(0, OAE_LOAD_ANSWER + 4, 0, 4);
  function.write(0, OAE_LOAD_ANSWER, 2, 8);
  EXPECT_EQ(get(OAE_LOAD_ANSWERED), 2u);
  EXPECT_EQ(get(OAE_LOAD_UNKNOWN), 0u);
}

TEST_F(LoadGeneratorTest, CountsLongRequestsApart) {
  constexpr std::uint64_t count = entries + 5;
  set(OAE_LOAD_COUNT, count);
  set(OAE_LOAD_LONG_SHARE, 0x8000'0000);
  run();
  advance(vp::ms);
  PoissonProcess process(1, interval);
  std::uint64_t all = 0, dropped = 0;
  for (unsigned n = 0; n < count; ++n) {
    process.next();
    const bool is_long = process.happens(0x8000'0000);
    all += is_long;
    dropped += is_long && n >= entries;
  }
  ASSERT_GT(dropped, 0u);
  ASSERT_LT(all, count);
  EXPECT_EQ(get(OAE_LOAD_GENERATED_LONG), all);
  EXPECT_EQ(get(OAE_LOAD_DROPPED_LONG), dropped);
  for (unsigned n = 0; n < entries; ++n) set(OAE_LOAD_ANSWER, n + 1);
  EXPECT_EQ(get(OAE_LOAD_ANSWERED_LONG), all - dropped);
}

TEST_F(LoadGeneratorTest, CountsAnswersToNoRequest) {
  set(OAE_LOAD_COUNT, 1);
  run();
  advance(vp::ms);
  for (std::uint64_t number : {std::uint64_t{0}, std::uint64_t{2}, std::uint64_t{65537},
                               std::uint64_t{1}, std::uint64_t{1}}) {
    set(OAE_LOAD_ANSWER, number);
  }
  EXPECT_EQ(get(OAE_LOAD_ANSWERED), 1u);
  EXPECT_EQ(get(OAE_LOAD_UNKNOWN), 4u);
}

TEST_F(LoadGeneratorTest, DropsWhatFindsTheRingFull) {
  set(OAE_LOAD_COUNT, entries + 3);
  run();
  advance(vp::ms);
  EXPECT_EQ(host.times.size(), entries);
  EXPECT_EQ(get(OAE_LOAD_GENERATED), entries + 3);
  EXPECT_EQ(get(OAE_LOAD_DROPPED), 3u);
}

TEST_F(LoadGeneratorTest, UsesEntriesAgainThatTheHostHasTaken) {
  run();
  while (get(OAE_LOAD_DROPPED) == 0) advance(interval / 16);
  const std::uint64_t next = get(OAE_LOAD_GENERATED) + 1;
  set(OAE_LOAD_TAKEN, 1);
  while (host.times.size() == entries) advance(interval / 16);
  EXPECT_EQ(entry(0).number, next) << "the dropped requests have no entries";
  EXPECT_EQ(entry(1).number, 2u);
  set(OAE_LOAD_TAKEN, 1000);  // more than there were
  const std::uint64_t dropped = get(OAE_LOAD_DROPPED);
  advance(20 * interval);
  EXPECT_GT(get(OAE_LOAD_DROPPED), dropped);
  EXPECT_EQ(host.times.size(), entries + 1);
}

TEST_F(LoadGeneratorTest, TimesDoNotDependOnTheHost) {
  set(OAE_LOAD_COUNT, 4);
  run();
  advance(vp::ms);
  const vp::Picoseconds first = entry(1).came - entry(0).came;
  host.delays = true;
  run();
  while (host.delayed == nullptr) advance(interval / 16);
  advance(vp::ms);
  EXPECT_FALSE(runs()) << "all requests have come";
  while (host.delayed != nullptr) host.accept(tlm::TLM_OK_RESPONSE);
  EXPECT_EQ(host.times.size(), 8u);
  EXPECT_EQ(entry(1).came - entry(0).came, first);
  EXPECT_EQ(entry(3).number, 8u);
}

TEST_F(LoadGeneratorTest, StopsWhenTheFunctionMayNotWrite) {
  host.refuses = true;
  run();
  advance(vp::ms);
  EXPECT_FALSE(runs());
  EXPECT_EQ(get(OAE_LOAD_STATUS), OAE_LOAD_STATUS_REFUSED_MASK);
  EXPECT_EQ(get(OAE_LOAD_GENERATED), 1u);
  EXPECT_EQ(get(OAE_LOAD_REFUSED), 1u);
  set(OAE_LOAD_ANSWER, 1);
  EXPECT_EQ(get(OAE_LOAD_UNKNOWN), 1u) << "the host has never seen it";
  host.refuses = false;
  run();
  EXPECT_EQ(get(OAE_LOAD_STATUS), 0u);
  advance(vp::ms);
  EXPECT_EQ(host.times.size(), entries);
}

TEST_F(LoadGeneratorTest, CountsWhatWaitedBehindARefusedWrite) {
  host.delays = true;
  set(OAE_LOAD_COUNT, entries + 2);
  run();
  advance(vp::ms);
  host.accept(tlm::TLM_OK_RESPONSE);
  ASSERT_NE(host.delayed, nullptr);
  host.accept(tlm::TLM_COMMAND_ERROR_RESPONSE);
  EXPECT_EQ(get(OAE_LOAD_GENERATED), entries + 2);
  EXPECT_EQ(get(OAE_LOAD_DROPPED), 2u);
  EXPECT_EQ(get(OAE_LOAD_REFUSED), entries - 1);
  EXPECT_EQ(host.times.size(), 1u);
}

TEST_F(LoadGeneratorTest, AnOldWriteDoesNotLookNew) {
  host.delays = true;
  set(OAE_LOAD_COUNT, 2);
  run();
  while (host.delayed == nullptr) advance(interval / 16);
  advance(vp::ms);
  run();  // while the first request of the last start is on its way
  const std::uint64_t first = get(OAE_LOAD_FIRST);
  host.accept(tlm::TLM_OK_RESPONSE);
  EXPECT_LT(entry(0).number, first);
  advance(vp::ms);
  while (host.delayed != nullptr) host.accept(tlm::TLM_OK_RESPONSE);
  EXPECT_EQ(entry(0).number, first);
  EXPECT_EQ(entry(1).number, first + 1);
}

TEST_F(LoadGeneratorTest, UsesTheRingThatItWasStartedWith) {
  host.delays = true;
  set(OAE_LOAD_COUNT, 3);
  run();
  advance(vp::ms);
  set(OAE_LOAD_RING, 0x40);
  set(OAE_LOAD_RING_SIZE, 0);
  run();  // It is refused, and the requests that came before are still written.
  EXPECT_EQ(get(OAE_LOAD_STATUS), OAE_LOAD_STATUS_INVALID_MASK);
  for (unsigned n = 0; n < 3; ++n) {
    ASSERT_NE(host.delayed, nullptr);
    host.accept(tlm::TLM_OK_RESPONSE);
    EXPECT_EQ(entry(n).number, n + 1);
  }
  EXPECT_EQ(host.delayed, nullptr);
}

TEST_F(LoadGeneratorTest, RefusesToStartWithoutSense) {
  const std::pair<std::uint64_t, std::uint64_t> bad[] = {
      {OAE_LOAD_INTERVAL, 0},        {OAE_LOAD_RING, ring + 32}, {OAE_LOAD_RING_SIZE, 0},
      {OAE_LOAD_RING_SIZE, 1},       {OAE_LOAD_RING_SIZE, 12},   {OAE_LOAD_RING_SIZE, 0x1'0002},
      {OAE_LOAD_RING_SIZE, 0x1'8000}};
  for (const auto& [offset, value] : bad) {
    const std::uint64_t good = get(offset);
    set(offset, value);
    run();
    EXPECT_FALSE(runs()) << offset << " " << value;
    EXPECT_EQ(get(OAE_LOAD_STATUS), OAE_LOAD_STATUS_INVALID_MASK) << offset << " " << value;
    set(offset, good);
  }
  set(OAE_LOAD_RING_SIZE, 0x1'0000);
  run();
  EXPECT_TRUE(runs());
}

TEST_F(LoadGeneratorTest, AStopEndsTheRequests) {
  run();
  advance(3 * interval);
  set(OAE_LOAD_CONTROL, 0);
  EXPECT_FALSE(runs());
  const std::uint64_t generated = get(OAE_LOAD_GENERATED);
  advance(vp::ms);
  EXPECT_EQ(get(OAE_LOAD_GENERATED), generated);
  run();
  advance(vp::ms);
  EXPECT_EQ(entry(0).number, generated + 1) << "numbers go on";
  EXPECT_EQ(get(OAE_LOAD_FIRST), generated + 1);
}

TEST_F(LoadGeneratorTest, AResetForgetsAWriteUnderWay) {
  host.delays = true;
  run();
  while (host.delayed == nullptr) advance(interval / 16);
  generator.reset();
  host.accept(tlm::TLM_GENERIC_ERROR_RESPONSE);
  for (std::uint64_t offset = 0; offset <= OAE_LOAD_ANSWERED_LONG; offset += 8) {
    EXPECT_EQ(get(offset), 0u) << offset;
  }
  host.delays = false;
  set(OAE_LOAD_INTERVAL, interval);
  set(OAE_LOAD_RING, ring);
  set(OAE_LOAD_RING_SIZE, entries);
  set(OAE_LOAD_COUNT, 2);
  run();
  advance(vp::ms);
  EXPECT_EQ(entry(0).number, 1u);
  EXPECT_EQ(entry(1).number, 2u);
  EXPECT_EQ(get(OAE_LOAD_STATUS), 0u);
}

TEST_F(LoadGeneratorTest, WritesOnlyWhatCanBeWritten) {
  for (std::uint64_t offset :
       {OAE_LOAD_STATUS, OAE_LOAD_GENERATED, OAE_LOAD_DROPPED, OAE_LOAD_ANSWERED, OAE_LOAD_UNKNOWN,
        OAE_LOAD_FIRST, OAE_LOAD_REFUSED, OAE_LOAD_GENERATED_LONG, OAE_LOAD_DROPPED_LONG,
        OAE_LOAD_ANSWERED_LONG, OAE_LOAD_LATE, OAE_LOAD_LATE_LONG}) {
    set(offset, 5);
    EXPECT_EQ(get(offset), 0u) << offset;
  }
  set(OAE_LOAD_INTERVAL, ~std::uint64_t{0});
  EXPECT_EQ(get(OAE_LOAD_INTERVAL), OAE_LOAD_INTERVAL_PICOSECONDS_MASK);
  set(OAE_LOAD_LIMIT, ~std::uint64_t{0});
  EXPECT_EQ(get(OAE_LOAD_LIMIT), OAE_LOAD_LIMIT_PICOSECONDS_MASK);
  EXPECT_EQ(function.request(tlm::TLM_READ_COMMAND, 0, OAE_LOAD_LATE_LONG + 8, 8),
            tlm::TLM_COMPLETED);
  EXPECT_EQ(function.payload.get_response_status(), tlm::TLM_ADDRESS_ERROR_RESPONSE);
  EXPECT_EQ(function.request(tlm::TLM_READ_COMMAND, 0, 0, 16), tlm::TLM_COMPLETED);
  EXPECT_EQ(function.payload.get_response_status(), tlm::TLM_GENERIC_ERROR_RESPONSE);
}

}  // namespace
}  // namespace ipu
