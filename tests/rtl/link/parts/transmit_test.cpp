// SPDX-License-Identifier: Apache-2.0
// The way to the wire on its own, for what two ends cannot be brought to: all that may leave at
// once, pauses in the middle of frames, and a link that goes down in any clock.
#include <Voae_link_transmit.h>

#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include "oae_registers.h"
#include "tests/rtl/link/formats.h"
#include "tests/rtl/link/parts/part.h"

namespace window {
namespace {

constexpr unsigned return_every = WINDOW_RETURN_EVERY;
constexpr unsigned patience = WINDOW_PATIENCE;
constexpr unsigned idle_every = WINDOW_IDLE_EVERY;
constexpr unsigned latency = 4;     // clocks from the choice until it is on the wire
constexpr unsigned own = 0x1234;    // sessions
constexpr unsigned other = 0x5678;  // of the other side

class Transmit : public Part<Voae_link_transmit> {
 protected:
  Transmit() {
    top_.rst_i = 1;
    clock();
    top_.rst_i = 0;
    top_.own_session_i = own;
    top_.peer_session_i = other;
    top_.slot_number_i = 1;
    clock(latency);
    kinds.clear();
    busy.clear();
  }

  /// What is offered stays until it is taken, but for a return and slots, of which there is always
  /// another one.
  void clock(unsigned clocks = 1) {
    for (unsigned i = 0; i < clocks; ++i) {
      top_.clk_i = 0;
      top_.eval();
      note();
      const bool reads = top_.ring_read_o;
      const std::uint64_t word = word_of(top_.ring_slot_o, top_.ring_slice_o);
      const bool joins = top_.join_taken_o;
      const bool restarts = top_.restart_taken_o;
      const bool lives = top_.alive_taken_o;
      const bool slots = top_.slot_taken_o;
      returned = top_.return_taken_o;
      taken += joins ? "j" : "";
      taken += restarts ? "r" : "";
      taken += lives ? "a" : "";
      taken += slots ? "s" : "";
      top_.clk_i = 1;
      top_.eval();
      if (joins) top_.join_valid_i = 0;
      if (restarts) top_.restart_valid_i = 0;
      if (lives) top_.alive_valid_i = 0;
      if (slots) ++top_.slot_number_i;
      if (!reads) continue;
      for (unsigned n = 0; n < slices; ++n) {
        top_.ring_data_i[2 * n] = static_cast<std::uint32_t>(word + n);
        top_.ring_data_i[2 * n + 1] = static_cast<std::uint32_t>((word + n) >> 32);
      }
    }
  }
  /// Until all that has begun is on the wire
  void drain() { clock(8 / slices + latency + 2); }

  void end_of_slot(bool spoils) {
    top_.closed_i = 1;
    top_.spoils_i = spoils;
    clock();
    top_.closed_i = top_.spoils_i = 0;
    top_.slot_open_i = 0;
  }
  /// Lets one slot begin that has not arrived as a whole, of which the first group is there.
  void open_slot() {
    top_.slot_valid_i = 1;
    top_.slot_open_i = 1;
    top_.filled_i = slices;
    taken.clear();
    clock();
    ASSERT_EQ(taken, "s");
    top_.slot_valid_i = 0;
  }
  void rest_of_slot_arrives() {
    for (unsigned filled = 2 * slices; filled < 8; filled += slices) {
      top_.filled_i = filled;
      clock();
    }
    top_.filled_i = 0;
  }

  const Frame& last() {
    if (frames.empty()) throw std::runtime_error("no frame has left");
    return frames.back();
  }

  static std::uint64_t word_of(unsigned slot, unsigned slice) {
    return 0x0123'4567'89ab'cdef * (slot + 1) + 0x1000 * slice;
  }
  static bool good(const Frame& frame, std::uint32_t number) {
    return frame[7] == frame_check(frame, number, own, other);
  }
  static unsigned protocol(const Frame& frame) { return OAE_GET(frame[0], OAE_WIRE_HEAD_PROTOCOL); }
  static std::uint32_t number(const Frame& frame) {
    return OAE_GET(frame[0], OAE_WIRE_HEAD_NUMBER);
  }

  void set(WData* words, unsigned shift, unsigned bits, std::uint64_t value) {
    for (unsigned i = 0; i < bits; ++i) {
      const std::uint32_t mask = std::uint32_t{1} << (shift + i) % 32;
      WData& word = words[(shift + i) / 32];
      word = value >> i & 1 ? word | mask : word & ~mask;
    }
  }
  /// A join frame whose words all come from `seed`
  void set_join(std::uint32_t seed) {
    const std::uint32_t fields[] = {seed + 1, seed + 2};  // of the journal: done, first
    set(top_.join_i.data(), 0, 32, fields[0]);
    set(top_.join_i.data(), 32, 32, fields[1]);
    set(top_.join_i.data(), 64, 18, seed & 0x3ffff);                        // pending, known, anew
    set(top_.join_i.data(), 82, 32, seed + 3);                              // settled
    set(top_.join_i.data(), 114, 32, seed + 4);                             // confirmed
    set(top_.join_i.data(), 146, 32, seed + 5);                             // own
    set(top_.join_i.data(), 178, 34, std::uint64_t{3} << 32 | (seed + 6));  // other, agreed, met
  }
  void expect_join(const Frame& frame, std::uint32_t seed) {
    const auto pair = [](std::uint64_t high, std::uint64_t low) { return high << 32 | low; };
    EXPECT_EQ(protocol(frame), unsigned{OAE_WIRE_PROTOCOL_JOIN});
    EXPECT_EQ(frame[1], pair(seed + 6, seed + 5));
    EXPECT_EQ(frame[2], pair(seed + 4, seed + 3));
    EXPECT_EQ(frame[3], pair(seed + 2, seed + 1));
    EXPECT_EQ(frame[4], OAE_PUT(OAE_WIRE_FLAGS_PENDING, seed & 0xffff) | OAE_WIRE_FLAGS_MET_MASK |
                            OAE_WIRE_FLAGS_AGREED_MASK |
                            OAE_PUT(OAE_WIRE_FLAGS_ANEW, seed >> 17 & 1) | (seed >> 16 & 1));
    EXPECT_EQ(frame[5], 0u);
    EXPECT_EQ(frame[6], 0u);
    EXPECT_TRUE(good(frame, 0));
  }

  std::string taken;  // letters of what was taken
  bool returned = false;
  std::vector<unsigned> kinds;  // of each clock
  std::vector<bool> busy;
  std::vector<Frame> frames;
  std::vector<Return> returns;
  std::vector<std::uint64_t> checked;  // heads of slots that have left

 private:
  /// What is on the wire
  void note() {
    kinds.push_back(top_.kind_o);
    busy.push_back(top_.busy_o);
    if (top_.checked_o) checked.push_back(top_.checked_head_o);
    std::uint64_t words[slices];
    for (unsigned n = 0; n < slices; ++n) {
      words[n] = top_.data_o[2 * n] | std::uint64_t{top_.data_o[2 * n + 1]} << 32;
    }
    switch (top_.kind_o) {
      case OAE_WIRE_KIND_RETURN:
        returns.push_back({words[0], words[1]});
        break;
      case OAE_WIRE_KIND_HEAD:
      case OAE_WIRE_KIND_BODY:
        if (top_.kind_o == OAE_WIRE_KIND_HEAD) filled_ = 0;
        for (const std::uint64_t word : words) present_[filled_++ % 8] = word;
        if (filled_ == 8) frames.push_back(present_);
        break;
      default:;  // idle
    }
  }

  Frame present_{};
  unsigned filled_ = 0;
};

TEST_F(Transmit, WhatMayLeaveHasItsOrder) {
  set_join(0x89abcdef);
  top_.join_valid_i = top_.restart_valid_i = top_.alive_valid_i = top_.slot_valid_i = 1;
  top_.restart_i = std::uint64_t{7} << 48 | std::uint64_t{0xabcdef} << 16 | 0x5a5a;
  top_.alive_i = 0x12345678;
  top_.slot_generation_i = 7;
  top_.slot_number_i = 0x5003;
  clock(4 * 8 / slices);
  top_.slot_valid_i = 0;
  drain();
  EXPECT_EQ(taken, "jras");
  ASSERT_EQ(frames.size(), 4u);
  expect_join(frames[0], 0x89abcdef);
  EXPECT_EQ(number(frames[0]), 0u);

  EXPECT_EQ(protocol(frames[1]), unsigned{OAE_WIRE_PROTOCOL_RESTART});
  EXPECT_EQ(number(frames[1]), 0u);
  EXPECT_EQ(OAE_GET(frames[1][0], OAE_WIRE_HEAD_GENERATION), 7u);
  EXPECT_EQ(frames[1][5], std::uint64_t{0x5a5a} << 32 | 0xabcdef);
  EXPECT_TRUE(good(frames[1], 0));

  EXPECT_EQ(protocol(frames[2]), unsigned{OAE_WIRE_PROTOCOL_ALIVE});
  EXPECT_EQ(frames[2][0] >> 32, 0x12345678u);
  EXPECT_EQ(frames[2][5], 0u);
  EXPECT_TRUE(good(frames[2], 0));
  for (const unsigned n : {1, 2}) {
    for (const unsigned word : {1, 2, 3, 4, 6}) EXPECT_EQ(frames[n][word], 0u) << n << ' ' << word;
  }

  EXPECT_EQ(protocol(frames[3]), unsigned{OAE_WIRE_PROTOCOL_SLOT});
  EXPECT_EQ(number(frames[3]), 3u);
  EXPECT_EQ(OAE_GET(frames[3][0], OAE_WIRE_HEAD_GENERATION), 7u);
  EXPECT_EQ(frames[3][0] >> 24, word_of(3, 0) >> 24);
  for (unsigned slice = 1; slice < 7; ++slice) {
    EXPECT_EQ(frames[3][slice], word_of(3, slice / slices * slices) + slice % slices) << slice;
  }
  EXPECT_TRUE(good(frames[3], 0x5003));
  ASSERT_EQ(checked.size(), 1u);
  EXPECT_EQ(checked[0],
            std::uint64_t{7} << 48 | std::uint64_t{0x5003} << 16 | (frames[3][7] & 0xffff));
}

// Any of them, while a frame is leaving that has begun before
TEST_F(Transmit, AFrameIsTakenWhenItBegins) {
  for (unsigned which = 1; which < 16; ++which) {
    top_.alive_valid_i = 1;
    clock();
    taken.clear();
    top_.join_valid_i = which & 1;
    top_.restart_valid_i = which >> 1 & 1;
    top_.alive_valid_i = which >> 2 & 1;
    top_.slot_valid_i = which >> 3 & 1;
    std::string expected;
    for (unsigned n = 0; n < 4; ++n) {
      if ((which >> n & 1) == 0) continue;
      clock(8 / slices - 1);
      ASSERT_EQ(taken, expected) << which;
      clock();
      expected += "jras"[n];
      ASSERT_EQ(taken, expected) << which;
    }
    top_.slot_valid_i = 0;
    drain();
  }
}

// All of a slot's number counts for its check, and the low bits of both sessions.
TEST_F(Transmit, NumbersGoAroundAndSessionsDiffer) {
  constexpr std::uint32_t first = 0xffff'fffd;
  constexpr unsigned count = 5;
  top_.own_session_i = 0xedcb;
  top_.peer_session_i = 0xa987;
  top_.slot_number_i = first;
  top_.slot_generation_i = 0xff;
  top_.slot_valid_i = 1;
  clock(count * 8 / slices);
  top_.slot_valid_i = 0;
  top_.restart_i = std::uint64_t{0xff} << 48 | std::uint64_t{0xfedcba98} << 16 | 0xffff;
  top_.restart_valid_i = 1;
  drain();
  drain();
  ASSERT_EQ(frames.size(), count + 1);
  for (const std::uint32_t seed : {0x76543210u, 0xaaaaaaaau, 0x55555555u}) {
    set_join(seed);
    top_.join_valid_i = 1;
    drain();
    drain();
    expect_join(last(), seed);
    top_.alive_i = seed;
    top_.alive_valid_i = 1;
    drain();
    drain();
    EXPECT_EQ(last()[0] >> 32, seed);
  }
  for (unsigned n = 0; n < count; ++n) {
    EXPECT_EQ(number(frames[n]), (first + n) & 0xfff);
    EXPECT_EQ(OAE_GET(frames[n][0], OAE_WIRE_HEAD_GENERATION), 0xffu);
    EXPECT_EQ(frames[n][7], frame_check(frames[n], first + n, 0xedcb, 0xa987)) << n;
    EXPECT_EQ(checked[n] >> 16 & 0xffffffff, first + n);
  }
  EXPECT_EQ(frames[count][5], std::uint64_t{0xffff} << 32 | 0xfedcba98);
  EXPECT_EQ(frames[count][7], frame_check(frames[count], 0, 0xedcb, 0xa987));
}

// A frame says what was so when it began.
TEST_F(Transmit, WhatIsTakenMayChange) {
  set_join(0x10010);
  top_.join_valid_i = 1;
  clock();
  set_join(0x7fffffff);
  drain();
  top_.restart_i = std::uint64_t{1} << 48 | std::uint64_t{5} << 16 | 6;
  top_.restart_valid_i = 1;
  clock();
  top_.restart_i = 0;
  drain();
  top_.alive_i = 9;
  top_.alive_valid_i = 1;
  clock();
  top_.alive_i = 0;
  drain();
  top_.slot_generation_i = 3;
  top_.slot_valid_i = 1;
  clock();
  top_.slot_valid_i = 0;
  top_.slot_generation_i = 4;
  drain();
  ASSERT_EQ(frames.size(), 4u);
  expect_join(frames[0], 0x10010);
  EXPECT_EQ(frames[1][5], std::uint64_t{6} << 32 | 5);
  EXPECT_EQ(frames[2][0] >> 32, 9u);
  EXPECT_EQ(OAE_GET(frames[3][0], OAE_WIRE_HEAD_GENERATION), 3u);
  EXPECT_TRUE(good(frames[3], 1));
}

// Of frames that follow each other, a return takes the place of one group in so many, unless it is
// urgent.
TEST_F(Transmit, AReturnWaitsUnderLoad) {
  top_.slot_valid_i = 1;
  clock(3 * return_every);  // There is no return for longer than one would have to wait.
  top_.return_valid_i = 1;
  clock();
  EXPECT_TRUE(returned);
  for (unsigned round = 0; round < 3; ++round) {
    for (unsigned i = 0; i < return_every; ++i) {
      clock();
      ASSERT_FALSE(returned) << i;
    }
    clock();
    ASSERT_TRUE(returned);
  }
  clock(2);
  top_.return_urgent_i = 1;
  clock();
  EXPECT_TRUE(returned);
  top_.return_urgent_i = 0;
  top_.return_valid_i = 0;
  top_.slot_valid_i = 0;
  drain();
  EXPECT_EQ(returns.size(), 5u);
  ASSERT_EQ(frames.size(), taken.size());
  for (std::uint32_t n = 0; n < frames.size(); ++n) EXPECT_TRUE(good(frames[n], n + 1)) << n;
}

TEST_F(Transmit, WithoutFramesAReturnLeavesAtOnce) {
  set(top_.return_i.data(), 0, 64, 0x0a55'4444'3333'2222);  // answered, done, credit, generation
  set(top_.return_i.data(), 63, 33, std::uint64_t{1} << 32 | 0x7777'6666);
  top_.return_valid_i = 1;
  clock();
  EXPECT_TRUE(returned);
  top_.return_valid_i = 0;
  clock(latency);
  ASSERT_EQ(returns.size(), 1u);
  EXPECT_EQ(returns[0][0], 0x7777'4444'3333'2222u);
  EXPECT_EQ(returns[0][1] & 0xffffffff, std::uint64_t{0x6666} << 16 | 0x8a55);
  EXPECT_EQ(returns[0][1] >> 32, return_check(returns[0], own, other));
}

// One group in so many is idle, whatever leaves. Returns of any number move the place of the idle
// group to any place of a frame.
TEST_F(Transmit, OneGroupInSoManyIsIdle) {
  top_.return_urgent_i = 1;
  for (const bool slots : {true, false}) {
    for (unsigned extra = 0; extra < 8 / slices + 1; ++extra) {
      top_.return_valid_i = 0;
      top_.slot_valid_i = 0;
      drain();
      kinds.clear();
      top_.slot_valid_i = slots;
      top_.return_valid_i = 1;
      clock(slots ? extra : 4 * idle_every);
      top_.return_valid_i = 0;
      clock(slots ? 4 * idle_every - extra : 0);
      ASSERT_EQ(kinds.size(), 4 * idle_every);
      for (unsigned i = latency; i < kinds.size(); ++i) {
        const bool idle = (i - latency) % (idle_every + 1) == idle_every;
        ASSERT_EQ(kinds[i] == OAE_WIRE_KIND_IDLE, idle) << i << " after " << extra << " returns";
      }
    }
  }
  top_.return_valid_i = 0;
  drain();
  ASSERT_EQ(frames.size(), taken.size());
  for (std::uint32_t n = 0; n < frames.size(); ++n) ASSERT_TRUE(good(frames[n], n + 1)) << n;
  EXPECT_EQ(checked.size(), frames.size());
}

// A wire that has been idle needs no pause.
TEST_F(Transmit, APauseCountsAsTheIdleGroup) {
  top_.slot_valid_i = 1;
  clock(idle_every - 8 / slices);
  top_.slot_valid_i = 0;
  drain();
  kinds.clear();
  top_.slot_valid_i = 1;
  clock(idle_every);
  top_.slot_valid_i = 0;
  for (unsigned i = latency; i < kinds.size(); ++i) ASSERT_NE(kinds[i], OAE_WIRE_KIND_IDLE) << i;
}

TEST_F(Transmit, ASlotThatArrivesLeavesGroupByGroup) {
  for (const bool spoils : {false, true}) {
    open_slot();
    clock(2);
    rest_of_slot_arrives();
    clock(2);
    end_of_slot(spoils);
    drain();
    EXPECT_EQ(good(last(), number(last())), !spoils);
    EXPECT_EQ(last()[7] ^ frame_check(last(), number(last()), own, other),
              spoils ? ~std::uint64_t{0} : 0);
    EXPECT_FALSE(top_.starved_o);
  }
  ASSERT_EQ(frames.size(), 2u);
  // Of the 8 - slices that were there before the verdict, each group left as it came.
  EXPECT_EQ(checked.size(), 2u);
  top_.slot_valid_i = 1;
  clock();
  top_.slot_valid_i = 0;
  drain();
  EXPECT_TRUE(good(last(), 3)) << "the one before it was spoiled";
}

TEST_F(Transmit, NoGroupLeavesBeforeItHasArrived) {
  open_slot();
  for (unsigned group = 1; group < 8 / slices; ++group) {
    clock(patience - 1);
    unsigned sent = 0;
    for (const unsigned kind : kinds) sent += kind != OAE_WIRE_KIND_IDLE;
    EXPECT_EQ(sent, group);
    if (group + 1 == 8 / slices) break;
    top_.filled_i = (group + 1) * slices;
    clock();
  }
  EXPECT_FALSE(top_.starved_o);
  end_of_slot(false);
  drain();
  ASSERT_EQ(frames.size(), 1u);
  EXPECT_TRUE(good(frames[0], 1));
}

// Returns leave in the gaps of a frame, whose end remains alone with its check.
TEST_F(Transmit, ReturnsLeaveWhileAFrameWaits) {
  open_slot();
  top_.return_valid_i = 1;
  clock(patience - 1);
  top_.return_valid_i = 0;
  rest_of_slot_arrives();
  top_.return_valid_i = 1;
  clock(3);
  top_.return_valid_i = 0;
  end_of_slot(false);
  top_.return_valid_i = top_.return_urgent_i = 1;
  clock(2);  // before the last group
  top_.return_valid_i = 0;
  drain();
  EXPECT_EQ(returns.size(), patience - 1 + 3 + 2);
  const Return nothing{0, std::uint64_t{return_check({}, own, other)} << 32};
  for (const Return& each : returns) EXPECT_EQ(each, nothing);
  ASSERT_EQ(frames.size(), 1u);
  EXPECT_TRUE(good(frames[0], 1));
  EXPECT_EQ(checked, std::vector<std::uint64_t>{std::uint64_t{1} << 16 | (frames[0][7] & 0xffff)});
}

TEST_F(Transmit, AFrameThatStarvesEndsSpoiled) {
  open_slot();
  clock(patience);
  EXPECT_FALSE(top_.starved_o);
  clock();
  EXPECT_TRUE(top_.starved_o);
  drain();
  ASSERT_EQ(frames.size(), 1u);
  EXPECT_EQ(frames[0][7], ~frame_check(frames[0], 1, own, other));
  clock(2 * patience);
  EXPECT_TRUE(top_.starved_o) << "until its fate is known";
  end_of_slot(true);
  clock();
  EXPECT_FALSE(top_.starved_o);
  top_.slot_valid_i = 1;
  clock();
  top_.slot_valid_i = 0;
  drain();
  EXPECT_TRUE(good(last(), 2));
}

// The verdict comes in any clock about the one in which patience ends.
TEST_F(Transmit, AVerdictInTimeLeavesNothingStarved) {
  for (unsigned wait = 0; wait < patience + 3; ++wait) {
    open_slot();
    clock(wait);
    end_of_slot(false);
    for (unsigned i = 0; i < 2 * patience; ++i) {
      clock();
      ASSERT_FALSE(top_.starved_o) << wait;
    }
    EXPECT_EQ(good(last(), number(last())), wait < patience) << wait;
  }
}

TEST_F(Transmit, OnlyASlotThatArrivesWaits) {
  top_.slot_open_i = 1;
  top_.filled_i = slices;
  top_.alive_valid_i = 1;  // goes before the slot
  clock();
  EXPECT_EQ(taken, "a");
  drain();
  EXPECT_EQ(frames.size(), 1u);
  top_.slot_valid_i = 1;
  top_.closed_i = 1;  // in the clock in which it begins
  clock();
  top_.slot_valid_i = top_.closed_i = top_.slot_open_i = 0;
  drain();
  ASSERT_EQ(frames.size(), 2u);
  EXPECT_TRUE(good(frames[1], 1));
  top_.slot_valid_i = 1;
  clock();
  top_.slot_valid_i = 0;
  end_of_slot(true);  // of another one, while one leaves that has arrived
  drain();
  ASSERT_EQ(frames.size(), 3u);
  EXPECT_TRUE(good(frames[2], 2));
}

// The link goes down for one clock, at any distance from what leaves. After that nothing comes of
// what has begun.
TEST_F(Transmit, NothingLeavesOnceTheLinkIsDown) {
  for (const bool returns_only : {false, true}) {
    for (unsigned wait = 0; wait < latency + 8 / slices; ++wait) {
      top_.slot_valid_i = !returns_only;
      top_.return_valid_i = returns_only;
      clock();
      top_.slot_valid_i = top_.return_valid_i = 0;
      clock(wait);
      top_.clear_i = 1;
      clock();
      top_.clear_i = 0;
      kinds.clear();
      busy.clear();
      clock(2 * latency + 8 / slices);
      for (unsigned i = 0; i < kinds.size(); ++i) {
        ASSERT_EQ(kinds[i], OAE_WIRE_KIND_IDLE) << i << " after " << wait;
        ASSERT_FALSE(busy[i]) << i << " after " << wait;
      }
      frames.clear();
      top_.slot_valid_i = 1;
      clock();
      top_.slot_valid_i = 0;
      drain();
      ASSERT_EQ(frames.size(), 1u);
      ASSERT_TRUE(good(frames[0], top_.slot_number_i - 1)) << wait;
    }
  }
}

TEST_F(Transmit, ALinkThatIsDownForgetsASlotThatArrives) {
  open_slot();
  top_.clear_i = 1;
  clock();
  top_.clear_i = 0;
  for (unsigned i = 0; i < 2 * patience; ++i) {
    clock();
    ASSERT_FALSE(top_.starved_o) << i;
  }
}

// The clock must run from the choice until the wire shows it, and while a frame has begun.
TEST_F(Transmit, ItIsBusyWhileAnythingIsOnItsWay) {
  const auto expect_busy = [this](const char* what) {
    for (unsigned i = latency; i < kinds.size(); ++i) {
      if (kinds[i] == OAE_WIRE_KIND_IDLE) continue;
      for (unsigned n = 1; n < latency; ++n) EXPECT_TRUE(busy[i - n]) << what << ' ' << i - n;
    }
    EXPECT_FALSE(busy.back()) << what;
    kinds.assign(latency, OAE_WIRE_KIND_IDLE);
    busy.assign(latency, false);
  };
  drain();
  top_.return_valid_i = 1;
  clock();
  top_.return_valid_i = 0;
  drain();
  expect_busy("a return");
  top_.slot_valid_i = 1;
  clock();
  top_.slot_valid_i = 0;
  drain();
  expect_busy("a frame");
  open_slot();
  rest_of_slot_arrives();
  for (unsigned i = 0; i < patience; ++i) {
    clock();
    EXPECT_TRUE(busy.back()) << "a frame that waits";
  }
  end_of_slot(false);
  drain();
  expect_busy("its end");
}

}  // namespace
}  // namespace window
