// SPDX-License-Identifier: Apache-2.0
// The registers on their own: what each word does and what it leaves alone, of an end with rings
// and of one of a relay.
#include <Voae_link_csr.h>
#include <Voae_link_csr_relay.h>

#include <cstdint>
#include <string>
#include <type_traits>
#include <vector>

#include "oae_registers.h"
#include "tests/rtl/link/parts/part.h"

namespace window {
namespace {

constexpr unsigned page = 4096;
constexpr unsigned size = 1 << 17;  // of the addresses

template <typename Top>
class Csr : public Part<Top> {
 protected:
  using Part<Top>::top_;

  static constexpr bool relay = std::is_same_v<Top, Voae_link_csr_relay>;

  struct Result {
    bool error;
    std::uint64_t value;
  };

  Csr() {
    top_.rst_i = 1;
    clock();
    top_.rst_i = 0;
    clock();
    happened.clear();
  }

  void clock() {
    top_.now_i = ++now;
    top_.clk_i = 0;
    top_.eval();
    const auto note = [this](bool happens, const char* what) { happened += happens ? what : ""; };
    note(top_.begins_o, "begins ");
    note(top_.ends_o, "ends ");
    note(top_.liveness_written_o, "alive ");
    note(top_.offer_o, "offer ");
    note(top_.take_o, "take ");
    note(top_.withdraw_o, "withdraw ");
    note(top_.resume_o, "resume ");
    note(top_.drop_o, "drop ");
    note(top_.settle_o, "settle ");
    note(top_.ring_write_o, "ring ");
    const bool reads = top_.ring_read_o;
    const std::uint64_t word = ring_word(top_.ring_slot_o, top_.ring_slice_o);
    top_.clk_i = 1;
    top_.eval();
    if (reads) top_.ring_data_i = word;
  }

  /// What is at the pins changes once the access is taken.
  Result access(bool write, unsigned address, std::uint64_t data, unsigned strobe = 0xff) {
    drive(write, address, data, strobe);
    top_.access_valid_i = 1;
    top_.eval();
    EXPECT_TRUE(top_.access_ready_o);
    clock();
    top_.access_valid_i = 0;
    drive(!write, size - 8, ~data, 0xff);
    for (unsigned i = 0; !top_.access_done_o; ++i) {
      EXPECT_TRUE(top_.busy_o);
      clock();
      if (i == 2) {
        ADD_FAILURE() << "no response to an access of " << std::hex << address;
        break;
      }
    }
    EXPECT_TRUE(top_.busy_o);
    const Result result{top_.access_error_o != 0, top_.access_result_o};
    clock();
    EXPECT_FALSE(top_.access_done_o);
    return result;
  }
  void put(unsigned address, std::uint64_t data, unsigned strobe = 0xff) {
    EXPECT_FALSE(access(true, address, data, strobe).error) << std::hex << address;
  }
  std::uint64_t get(unsigned address) {
    const Result result = access(false, address, ~std::uint64_t{0});
    EXPECT_FALSE(result.error) << std::hex << address;
    return result.value;
  }
  void drive(bool write, unsigned address, std::uint64_t data, unsigned strobe) {
    top_.access_write_i = write;
    top_.access_word_i = address / 8;
    top_.access_data_i = data;
    top_.access_strobe_i = strobe;
  }

  static std::uint64_t ring_word(unsigned slot, unsigned slice) {
    return 0x0fed'cba9'8765'4321 * (8 * slot + slice + 1);
  }
  static std::uint64_t data_of(unsigned address) { return 0x9e37'79b9'7f4a'7c15 * (address + 3); }
  static bool in(unsigned address, unsigned begin, unsigned bytes) {
    return address >= begin && address < begin + bytes;
  }
  static bool exists(unsigned address) {
    return address <= OAE_WINDOW_COUNT_STRAY || is_route(address) ||
           in(address, OAE_WINDOW_SEND, page) || in(address, OAE_WINDOW_RECEIVE, page);
  }
  static bool is_route(unsigned address) {
    return relay && in(address, OAE_WINDOW_ROUTE_AT(0), 16 * 8);
  }

  /// All that a write can change but the indices
  std::vector<std::uint64_t> settings() {
    std::vector<std::uint64_t> all{
        top_.again_o,         top_.bridged_o, top_.limit_o, top_.liveness_o,
        top_.trouble_limit_o, top_.verdict_o, top_.ports_o, top_.irq_o};
    for (unsigned i = 0; i < 16; ++i) all.push_back(route(i));
    return all;
  }
  unsigned route(unsigned n) {
    unsigned bits = 0;
    for (unsigned i = 0; i < 9; ++i) {
      const unsigned bit = 9 * n + i;
      bits |= (top_.routes_o[bit / 32] >> bit % 32 & 1) << i;
    }
    return bits;
  }

  std::uint32_t now = 1000;
  std::string happened;  // what has left for the other parts
};

using Ends = testing::Types<Voae_link_csr, Voae_link_csr_relay>;
TYPED_TEST_SUITE(Csr, Ends);

TYPED_TEST(Csr, EachWriteDoesWhatItsWordSays) {
  for (unsigned address = 0; address < size; address += 8) {
    this->happened.clear();
    const std::uint64_t data = this->data_of(address);
    ASSERT_EQ(this->access(true, address, data).error, !this->exists(address))
        << std::hex << address;
    std::string expected;
    switch (address) {
      case OAE_WINDOW_CONTROL:
        expected = data & OAE_WINDOW_CONTROL_UP_MASK ? "begins " : "ends ";
        break;
      case OAE_WINDOW_LIVENESS:
        expected = "alive ";
        break;
      case OAE_WINDOW_OFFERED:
        expected = "offer ";
        break;
      case OAE_WINDOW_TAKEN:
        expected = "take ";
        break;
      default:
        if (this->in(address, OAE_WINDOW_SEND, page)) expected = "ring ";
    }
    ASSERT_EQ(this->happened, expected) << std::hex << address;
  }
  this->put(OAE_WINDOW_CONTROL, 0);
  const auto low = [this](unsigned address) {
    return static_cast<std::uint32_t>(this->data_of(address));
  };
  EXPECT_EQ(this->top_.limit_o, (1u << 20) - 1);  // It is beyond the greatest one.
  EXPECT_EQ(this->top_.trouble_limit_o, this->data_of(OAE_WINDOW_LIMITS) >> 32 & 0xff);
  EXPECT_EQ(this->top_.liveness_o, low(OAE_WINDOW_LIVENESS));
  EXPECT_EQ(this->top_.verdict_o, this->data_of(OAE_WINDOW_VERDICT) & 0x1'ffff'ffff);
  EXPECT_EQ(this->top_.ports_o, this->data_of(OAE_WINDOW_PORTS));
  EXPECT_EQ(this->get(OAE_WINDOW_IRQ_ENABLE), low(OAE_WINDOW_IRQ_ENABLE) & 0xff);
  for (unsigned i = 0; i < 16; ++i) {
    const std::uint64_t data = this->data_of(OAE_WINDOW_ROUTE_AT(i));
    const unsigned expected = OAE_GET(data, OAE_WINDOW_ROUTE_LABEL) << 1 | (data & 1);
    EXPECT_EQ(this->route(i), this->relay ? expected : 0) << i;
    if (this->relay) EXPECT_EQ(this->get(OAE_WINDOW_ROUTE_AT(i)), data & 0xff01) << i;
  }
}

TYPED_TEST(Csr, EachSettingHasAllItsBits) {
  auto& top = this->top_;
  for (const std::uint64_t data : {std::uint64_t{0x5555'5555'5555'5555}, 0xaaaa'aaaa'aaaa'aaaa}) {
    for (const unsigned address : {OAE_WINDOW_LIVENESS, OAE_WINDOW_IRQ_ENABLE, OAE_WINDOW_VERDICT,
                                   OAE_WINDOW_PORTS, OAE_WINDOW_OFFERED}) {
      this->put(address, data);
    }
    this->put(OAE_WINDOW_LIMITS, data & 0xff'000f'ffff);
    EXPECT_EQ(top.liveness_o, data & 0xffff'ffff);
    EXPECT_EQ(top.verdict_o, data & 0x1'ffff'ffff);
    EXPECT_EQ(top.ports_o, data);
    EXPECT_EQ(top.limit_o, data & 0xf'ffff);
    EXPECT_EQ(top.trouble_limit_o, data & 0xff);
    EXPECT_EQ(this->get(OAE_WINDOW_IRQ_ENABLE), data & 0xff);
    EXPECT_EQ(this->get(OAE_WINDOW_VERDICT), data & 0x1'ffff'ffff);
    for (unsigned i = 0; this->relay && i < 16; ++i) {
      this->put(OAE_WINDOW_ROUTE_AT(i), data >> i % 2);
      EXPECT_EQ(this->get(OAE_WINDOW_ROUTE_AT(i)), data >> i % 2 & 0xff01) << i;
    }
  }
}

TYPED_TEST(Csr, ReadsChangeNothing) {
  for (unsigned i = 0; this->relay && i < 16; ++i) {
    this->put(OAE_WINDOW_ROUTE_AT(i), (0x20 + i) << 8 | 1);
  }
  this->top_.offered_i = 77;
  const auto before = this->settings();
  this->happened.clear();
  for (unsigned address = 0; address < size; address += 8) {
    for (const std::uint64_t data : {~std::uint64_t{0}, std::uint64_t{2}, std::uint64_t{4}}) {
      const auto result = this->access(false, address, data);
      ASSERT_EQ(result.error, !this->exists(address)) << std::hex << address;
      if (this->in(address, OAE_WINDOW_RECEIVE, page)) {
        const unsigned place = address % 1024 / 64;
        ASSERT_EQ(result.value, this->ring_word(place, address % 64 / 8)) << std::hex << address;
      }
      const bool silent = address > OAE_WINDOW_COUNT_STRAY || address == OAE_WINDOW_COMMAND;
      if (silent && !this->is_route(address) && !this->in(address, OAE_WINDOW_RECEIVE, page)) {
        ASSERT_EQ(result.value, 0u) << std::hex << address;
      }
    }
  }
  EXPECT_EQ(this->happened, "");
  EXPECT_EQ(this->settings(), before);
  EXPECT_EQ(this->get(OAE_WINDOW_OFFERED), 77u);
}

TYPED_TEST(Csr, WithoutAnAccessNothingHappens) {
  const auto before = this->settings();
  for (unsigned address = 0; address < size; address += 8) {
    for (const bool write : {false, true}) {
      this->drive(write, address, ~std::uint64_t{0}, 0xff);
      this->clock();
      ASSERT_FALSE(this->top_.access_done_o);
    }
  }
  EXPECT_EQ(this->happened, "");
  EXPECT_EQ(this->settings(), before);
}

TYPED_TEST(Csr, Commands) {
  const char* const names[] = {"", "withdraw ", "resume ", "drop ", "settle "};
  for (unsigned verb = 0; verb < 256; ++verb) {
    this->happened.clear();
    this->put(OAE_WINDOW_COMMAND, 0xffff'ff00 | verb);
    EXPECT_EQ(this->happened, verb < 5 ? names[verb] : "") << verb;
    this->happened.clear();
    this->put(OAE_WINDOW_COMMAND, verb, 0xfe);  // not the byte of the verb
    EXPECT_EQ(this->happened, "") << verb;
  }
}

TYPED_TEST(Csr, BytesThatAreNotWrittenChangeNothing) {
  this->put(OAE_WINDOW_CONTROL, OAE_WINDOW_CONTROL_UP_MASK);
  EXPECT_EQ(this->happened, "begins ");
  this->happened.clear();
  this->put(OAE_WINDOW_CONTROL, 0, 0xfe);
  EXPECT_EQ(this->happened, "");
  EXPECT_EQ(this->get(OAE_WINDOW_CONTROL), unsigned{OAE_WINDOW_CONTROL_UP_MASK});
  this->put(OAE_WINDOW_CONTROL, 0);
  EXPECT_EQ(this->happened, "ends ");
  this->happened.clear();
  this->put(OAE_WINDOW_CONTROL, OAE_WINDOW_CONTROL_UP_MASK, 0xfe);
  EXPECT_EQ(this->happened, "");
  this->put(OAE_WINDOW_LIVENESS, 5, 0xf0);
  EXPECT_EQ(this->happened, "");
  this->put(OAE_WINDOW_LIVENESS, 0x0700, 0x02);
  EXPECT_EQ(this->happened, "alive ");
  EXPECT_EQ(this->top_.liveness_o, 0x0700u);
}

TYPED_TEST(Csr, AgainIsForcedByABridgeAndByARelay) {
  EXPECT_EQ(this->top_.again_o, this->relay);
  this->put(OAE_WINDOW_CONTROL, OAE_WINDOW_CONTROL_AGAIN_MASK);
  EXPECT_TRUE(this->top_.again_o);
  EXPECT_EQ(this->get(OAE_WINDOW_CONTROL), unsigned{OAE_WINDOW_CONTROL_AGAIN_MASK});
  this->put(OAE_WINDOW_CONTROL, OAE_WINDOW_CONTROL_BRIDGED_MASK);
  EXPECT_TRUE(this->top_.again_o);
  EXPECT_EQ(this->top_.bridged_o, !this->relay);
  this->put(OAE_WINDOW_CONTROL, 0);
  EXPECT_EQ(this->top_.bridged_o, !this->relay) << "until power-up";
  EXPECT_TRUE(this->top_.again_o);
  EXPECT_EQ(this->get(OAE_WINDOW_CONTROL),
            this->relay ? 0 : unsigned{OAE_WINDOW_CONTROL_BRIDGED_MASK});
}

TYPED_TEST(Csr, AnEventStaysUntilItIsCleared) {
  this->put(OAE_WINDOW_IRQ_ENABLE, OAE_WINDOW_EVENT_REFUSED_MASK);
  this->top_.refused_i = 1;
  this->clock();
  this->top_.refused_i = 0;
  this->put(OAE_WINDOW_EVENT, 0xff, 0xfe);
  EXPECT_TRUE(this->top_.irq_o);
  this->put(OAE_WINDOW_OFFERED, 0xff);
  this->put(OAE_WINDOW_EVENT, OAE_WINDOW_EVENT_UP_MASK);
  this->access(false, OAE_WINDOW_EVENT, 0xff);
  EXPECT_TRUE(this->top_.irq_o);
  EXPECT_EQ(this->get(OAE_WINDOW_EVENT), unsigned{OAE_WINDOW_EVENT_REFUSED_MASK});
  this->put(OAE_WINDOW_EVENT, OAE_WINDOW_EVENT_REFUSED_MASK);
  EXPECT_FALSE(this->top_.irq_o);
  EXPECT_EQ(this->get(OAE_WINDOW_EVENT), 0u);
}

TYPED_TEST(Csr, TheAgeOfASignOfLifeSaturates) {
  const auto alive = [this](std::uint32_t count) {
    this->top_.alive_i = 1;
    this->top_.alive_count_i = count;
    this->clock();
    this->top_.alive_i = 0;
    this->top_.alive_count_i = ~count;
  };
  alive(5);
  std::uint32_t came = this->now;
  const auto expect = [this](std::uint32_t count, std::uint32_t age) {
    EXPECT_EQ(this->get(OAE_WINDOW_ALIVE), std::uint64_t{age} << 32 | count);
  };
  // A read sees the time of its own clock.
  expect(5, this->now + 1 - came);
  this->now = came + 0xffff'fff0;
  expect(5, 0xffff'fff1);
  this->now = came + 0xffff'fffe;
  expect(5, 0xffff'ffff);
  this->now = came + 20;
  expect(5, 0xffff'ffff);
  alive(6);
  came = this->now;
  expect(6, 1);
}

// What the other parts of the end say
TYPED_TEST(Csr, EachWordOfTheStateShowsItsPins) {
  auto& top = this->top_;
  const auto pair = [](std::uint64_t high, std::uint64_t low) { return high << 32 | low; };
  for (const std::uint32_t flip : {0u, ~0u}) {
    unsigned seed = 0;
    const auto next = [&] { return static_cast<std::uint32_t>(this->data_of(++seed)) ^ flip; };
    for (auto* const pin : {&top.offered_i, &top.sent_i, &top.answered_i, &top.confirmed_i,
                            &top.settled_i, &top.received_i, &top.taken_i, &top.done_i,
                            &top.first_i, &top.session_i, &top.peer_session_i}) {
      *pin = next();
    }
    for (auto* const pin : {&top.phase_i, &top.trouble_i, &top.reason_i}) *pin = next() & 0xff;
    const unsigned flags = next() & 0x3f;
    top.held_i = flags & 1;
    top.restarting_i = flags >> 1 & 1;
    top.jammed_i = flags >> 2 & 1;
    top.in_doubt_i = flags >> 3 & 1;
    top.holds_off_i = flags >> 4 & 1;
    top.known_i = flags >> 5;
    EXPECT_EQ(this->get(OAE_WINDOW_STATE),
              pair(top.reason_i << 8 | top.trouble_i, (flags & 0x1f) << 8 | top.phase_i));
    EXPECT_EQ(this->get(OAE_WINDOW_OFFERED), top.offered_i);
    EXPECT_EQ(this->get(OAE_WINDOW_SENT), pair(top.answered_i, top.sent_i));
    EXPECT_EQ(this->get(OAE_WINDOW_SETTLED), pair(top.confirmed_i, top.settled_i));
    EXPECT_EQ(this->get(OAE_WINDOW_RECEIVED), top.received_i);
    EXPECT_EQ(this->get(OAE_WINDOW_TAKEN), top.taken_i);
    EXPECT_EQ(this->get(OAE_WINDOW_JOURNAL), pair(top.first_i, top.done_i));
    EXPECT_EQ(this->get(OAE_WINDOW_HISTORY), top.known_i);
    EXPECT_EQ(this->get(OAE_WINDOW_SESSION), pair(top.peer_session_i, top.session_i));
  }
}

// Its carry is not lost between the halves.
TYPED_TEST(Csr, ACounterOfSlotsHasMoreThan32Bits) {
  constexpr unsigned clocks = 1 << 12;
  auto& top = this->top_;
  top.commits_i = top.reverses_i = top.loses_i = top.receives_i = ~0u;
  for (unsigned i = 0; i < clocks; ++i) this->clock();
  top.commits_i = top.reverses_i = top.loses_i = top.receives_i = 0;
  this->clock();
  for (const unsigned address : {OAE_WINDOW_COUNT_COMMITTED, OAE_WINDOW_COUNT_REVERSED,
                                 OAE_WINDOW_COUNT_LOST, OAE_WINDOW_COUNT_RECEIVED}) {
    EXPECT_EQ(this->get(address), std::uint64_t{clocks} * ~0u) << std::hex << address;
  }
}

// The counters follow one clock after what they count, for which the clock must run.
TYPED_TEST(Csr, ItIsBusyUntilAllIsCounted) {
  const auto pulse = [this](auto& pin, unsigned address, unsigned value) {
    this->clock();
    EXPECT_FALSE(this->top_.busy_o);
    pin = value;
    this->clock();
    pin = 0;
    this->top_.eval();
    EXPECT_TRUE(this->top_.busy_o) << std::hex << address;
    this->clock();
    EXPECT_FALSE(this->top_.busy_o) << std::hex << address;
    EXPECT_EQ(this->get(address), value) << std::hex << address;
  };
  pulse(this->top_.commits_i, OAE_WINDOW_COUNT_COMMITTED, 3);
  pulse(this->top_.reverses_i, OAE_WINDOW_COUNT_REVERSED, 4);
  pulse(this->top_.loses_i, OAE_WINDOW_COUNT_LOST, 5);
  pulse(this->top_.receives_i, OAE_WINDOW_COUNT_RECEIVED, 6);
  pulse(this->top_.damaged_i, OAE_WINDOW_COUNT_DAMAGED, 1);
  pulse(this->top_.jams_i, OAE_WINDOW_COUNT_JAMMED, 1);
  pulse(this->top_.silent_i, OAE_WINDOW_COUNT_SILENT, 1);
  pulse(this->top_.falls_i, OAE_WINDOW_COUNT_DOWN, 1);
}

// The next access waits at the pins while the one before is served.
TYPED_TEST(Csr, AccessesFollowEachOther) {
  const unsigned addresses[] = {OAE_WINDOW_LIMITS,         OAE_WINDOW_RECEIVE_AT(1),
                                OAE_WINDOW_LIMITS,         OAE_WINDOW_RECEIVE_AT(2) + 8,
                                OAE_WINDOW_RECEIVE_AT(3),  0x1000,
                                OAE_WINDOW_RECEIVE_AT(15), OAE_WINDOW_ID};
  const std::uint64_t values[] = {0x800001000,
                                  this->ring_word(1, 0),
                                  0x800001000,
                                  this->ring_word(2, 1),
                                  this->ring_word(3, 0),
                                  0,
                                  this->ring_word(15, 0),
                                  this->get(OAE_WINDOW_ID)};
  unsigned taken = 0;
  unsigned served = 0;
  this->top_.access_valid_i = 1;
  for (unsigned i = 0; i < 40 && served < 8; ++i) {
    this->drive(false, addresses[taken < 8 ? taken : 0], 0, 0xff);
    this->top_.access_valid_i = taken < 8;
    this->top_.eval();
    if (this->top_.access_ready_o) {
      EXPECT_EQ(taken, served) << "an access overtakes the one before";
    }
    if (this->top_.access_done_o) {
      EXPECT_FALSE(this->top_.access_ready_o);
      EXPECT_EQ(this->top_.access_error_o, addresses[served] == 0x1000) << served;
      EXPECT_EQ(this->top_.access_result_o, values[served]) << served;
      ++served;
    }
    if (this->top_.access_ready_o && taken < 8) ++taken;
    this->clock();
  }
  EXPECT_EQ(served, 8u);
}

}  // namespace
}  // namespace window
