// SPDX-License-Identifier: Apache-2.0
// Units as they are on the wire, with checks that are computed on their own, and units that are
// forged.
#include "tests/rtl/link/formats.h"

#include <map>
#include <string>

#include "tests/rtl/link/pair.h"

namespace window {
namespace {

class Formats : public Pair {
 protected:
  unsigned state_bit(End& end, unsigned shift) { return get(end, OAE_WINDOW_STATE) >> shift & 1; }
};

// "123456789" has the check values that the catalogue of parametrised CRC algorithms gives.
TEST(Checks, OfTheCatalogue) {
  const std::string text = "123456789";
  std::uint64_t crc64 = ~std::uint64_t{0};
  std::uint32_t crc32 = ~std::uint32_t{0};
  for (const char each : text) {
    crc64 ^= static_cast<std::uint8_t>(each);
    crc32 ^= static_cast<std::uint8_t>(each);
    for (unsigned bit = 0; bit < 8; ++bit) {
      crc64 = crc64 & 1 ? crc64 >> 1 ^ 0xc96c5795d7870f42 : crc64 >> 1;
      crc32 = crc32 & 1 ? crc32 >> 1 ^ 0x82f63b78 : crc32 >> 1;
    }
  }
  EXPECT_EQ(~crc64, 0x995dc9bbdf1939fa);  // CRC-64/XZ
  EXPECT_EQ(~crc32, 0xe3069283);          // CRC-32C
}

TEST_F(Formats, EveryUnitHasItsCheck) {
  bring_up();
  up(*a);
  // Sessions differ, so that it matters which one comes first.
  put(*a, OAE_WINDOW_CONTROL, 0);
  until([this] { return b->phase() == OAE_WINDOW_PHASE_DOWN; });
  put(*b, OAE_WINDOW_CONTROL, 0);
  up(*b);
  clock(100);
  put(*b, OAE_WINDOW_CONTROL, 0);
  bring_up();
  const std::uint64_t sessions = get(*a, OAE_WINDOW_SESSION);
  const auto own = static_cast<std::uint32_t>(sessions);
  const auto other = static_cast<std::uint32_t>(sessions >> 32);
  ASSERT_NE(own, other);
  const std::size_t frames = to_b.frames.size();
  const std::size_t returns = to_b.returns.size();
  constexpr unsigned count = ring < 40 ? ring - 1 : 40;
  offer(*a, count, 1);
  put(*a, OAE_WINDOW_LIVENESS, 0x12345678);
  offer(*b, 2, 1);
  rest();
  std::uint32_t number = 0;
  unsigned alive = 0;
  for (std::size_t i = frames; i < to_b.frames.size(); ++i) {
    const Frame& frame = to_b.frames[i];
    const unsigned protocol = OAE_GET(frame[0], OAE_WIRE_HEAD_PROTOCOL);
    if (protocol == OAE_WIRE_PROTOCOL_SLOT) {
      ++number;
      EXPECT_EQ(OAE_GET(frame[0], OAE_WIRE_HEAD_NUMBER), number);
      EXPECT_EQ(frame[1], number);  // as slot() makes it
    } else {
      ASSERT_EQ(protocol, unsigned{OAE_WIRE_PROTOCOL_ALIVE});
      EXPECT_EQ(frame[0] >> 32, 0x12345678u);
      ++alive;
    }
    EXPECT_EQ(frame[7], frame_check(frame, number, own, other)) << i;
  }
  EXPECT_EQ(number, count);
  EXPECT_EQ(alive, 1u);
  ASSERT_GT(to_b.returns.size(), returns);
  for (std::size_t i = returns; i < to_b.returns.size(); ++i) {
    const Return& sent = to_b.returns[i];
    EXPECT_EQ(sent[1] >> 32, return_check(sent, own, other));
  }
  const Return& last = to_b.returns.back();
  EXPECT_EQ(OAE_GET(last[0], OAE_RETURN_NUMBERS_CONFIRMED), count);
  EXPECT_EQ(OAE_GET(last[0], OAE_RETURN_NUMBERS_ANSWERED), 2u);
  EXPECT_EQ(OAE_GET(last[0], OAE_RETURN_NUMBERS_DONE), 2u);
  EXPECT_EQ(OAE_GET(last[0], OAE_RETURN_NUMBERS_CREDIT), ring);
  for (const Frame& frame : to_b.frames) {
    if (OAE_GET(frame[0], OAE_WIRE_HEAD_PROTOCOL) == OAE_WIRE_PROTOCOL_JOIN) {
      EXPECT_EQ(frame[7], frame_check(frame, 0, 0, 0));
    }
  }
}

// Damage that the check of a frame does not find is found by the digest: the other side holds what
// was not sent.
TEST_F(Formats, WhatWasNotSentIsNotConfirmed) {
  bring_up();
  unsigned forged = 0;
  to_b.tamper = [&](std::vector<Group>& unit, bool is_frame) {
    if (!is_frame) return;
    Frame frame = frame_of(unit);
    const std::uint32_t number = OAE_GET(frame[0], OAE_WIRE_HEAD_NUMBER);
    if (OAE_GET(frame[0], OAE_WIRE_HEAD_PROTOCOL) != OAE_WIRE_PROTOCOL_SLOT || number != 3) return;
    if (forged++ != 0) return;
    frame[4] ^= 0x8000;
    frame[7] = frame_check(frame, number, 1, 1);
    write(unit, frame);
  };
  offer(*a, 6, 1);
  rest();
  EXPECT_EQ(forged, 2u);
  EXPECT_EQ(settled(*a), 6u);
  EXPECT_GE(get(*a, OAE_WINDOW_COUNT_REVERSED), 4u - 2u);
  EXPECT_EQ(get(*b, OAE_WINDOW_COUNT_DAMAGED), 0u);
  const std::vector<Slot> taken = take(*b);
  ASSERT_EQ(taken.size(), 6u);
  for (unsigned i = 0; i < 6; ++i) EXPECT_EQ(taken[i], slot(1 + i));
}

// A good frame of another number is as bad as a damaged one.
TEST_F(Formats, AFrameOfAnotherNumberIsDamaged) {
  bring_up();
  unsigned forged = 0;
  to_b.tamper = [&](std::vector<Group>& unit, bool is_frame) {
    if (!is_frame) return;
    Frame frame = frame_of(unit);
    const std::uint32_t number = OAE_GET(frame[0], OAE_WIRE_HEAD_NUMBER);
    if (OAE_GET(frame[0], OAE_WIRE_HEAD_PROTOCOL) != OAE_WIRE_PROTOCOL_SLOT || number != 2) return;
    if (forged++ != 0) return;
    frame[7] = frame_check(frame, number + 4096, 1, 1);
    write(unit, frame);
  };
  offer(*a, 4, 1);
  rest();
  EXPECT_EQ(get(*b, OAE_WINDOW_COUNT_DAMAGED), 1u);
  EXPECT_EQ(get(*b, OAE_WINDOW_COUNT_JAMMED), 1u);
  EXPECT_EQ(settled(*a), 4u);
  EXPECT_EQ(take(*b).size(), 4u);
}

TEST_F(Formats, AUnitOfAnotherSessionIsDamaged) {
  bring_up();
  unsigned forged = 0;
  to_b.tamper = [&](std::vector<Group>& unit, bool is_frame) {
    if (is_frame) return;
    Return sent{unit[0].data[0], unit[0].data[1]};
    if (forged++ != 0) return;
    unit[0].data[1] = (sent[1] & 0xffffffff) | std::uint64_t{return_check(sent, 2, 1)} << 32;
  };
  offer(*b, 1, 1);
  rest();
  EXPECT_EQ(get(*b, OAE_WINDOW_COUNT_DAMAGED), 1u);
  until([this] { return settled(*b) == 1; });  // after a silence, since the answer was lost
}

// A confirmation of what this side does not hold breaks the rules: there is no way to go on.
TEST_F(Formats, AnImpossibleConfirmationTakesTheLinkDown) {
  bring_up();
  bool forged = false;
  to_b.tamper = [&](std::vector<Group>& unit, bool is_frame) {
    if (is_frame || forged) return;
    forged = true;
    Return sent{unit[0].data[0] | OAE_PUT(OAE_RETURN_NUMBERS_CONFIRMED, 5), unit[0].data[1]};
    unit[0].data[0] = sent[0];
    unit[0].data[1] = (sent[1] & 0xffffffff) | std::uint64_t{return_check(sent, 1, 1)} << 32;
  };
  offer(*b, 1, 1);
  until([this] { return b->phase() == OAE_WINDOW_PHASE_DOWN; });
  EXPECT_EQ(get(*b, OAE_WINDOW_STATE) >> OAE_WINDOW_STATE_REASON_SHIFT & 0xff,
            unsigned{OAE_WINDOW_DOWN_DEFECT});
  EXPECT_EQ(done(*b), 0u);
}

TEST_F(Formats, AnImpossibleRestartTakesTheLinkDown) {
  bring_up();
  offer(*a, 3, 1);
  rest();
  bool forged = false;
  to_b.tamper = [&](std::vector<Group>& unit, bool is_frame) {
    if (!is_frame || forged) return;
    forged = true;
    Frame frame{};
    frame[0] = OAE_WIRE_PROTOCOL_RESTART | OAE_PUT(OAE_WIRE_HEAD_GENERATION, 1);
    frame[5] = 2;  // which takes back a slot that is committed
    frame[7] = frame_check(frame, 0, 1, 1);
    write(unit, frame);
  };
  put(*a, OAE_WINDOW_LIVENESS, 1);
  until([this] { return b->phase() == OAE_WINDOW_PHASE_DOWN; });
  EXPECT_EQ(get(*b, OAE_WINDOW_STATE) >> OAE_WINDOW_STATE_REASON_SHIFT & 0xff,
            unsigned{OAE_WINDOW_DOWN_DEFECT});
}

/// The wires give the slots of `a` greater numbers, as if it had sent as many before. What `b` says
/// of them is about the numbers that `a` knows, so that both are right. Digests follow.
class Renumbered : public Formats {
 protected:
  static constexpr std::uint32_t before = 0xffff'fff0;

  Renumbered() {
    to_b.tamper = [this](std::vector<Group>& unit, bool is_frame) {
      is_frame ? raise_frame(unit) : raise_return(unit[0]);
    };
    to_a.tamper = [this](std::vector<Group>& unit, bool is_frame) {
      is_frame ? lower_frame(unit) : lower_return(unit[0]);
    };
  }

  unsigned dropped = 0;

 private:
  struct Digests {
    std::uint16_t lower = 0, raised = 0;
  };

  void raise_frame(std::vector<Group>& unit) {
    Frame frame = frame_of(unit);
    switch (OAE_GET(frame[0], OAE_WIRE_HEAD_PROTOCOL)) {
      case OAE_WIRE_PROTOCOL_JOIN: {
        const auto settled = static_cast<std::uint32_t>(frame[2]);
        const auto confirmed = static_cast<std::uint32_t>(frame[2] >> 32);
        frame[2] = pair(confirmed + before, settled + before);
        frame[7] = frame_check(frame, 0, 0, 0);
        if (static_cast<std::uint32_t>(frame[1]) != session_a_) digests_.clear();
        session_a_ = static_cast<std::uint32_t>(frame[1]);
        break;
      }
      case OAE_WIRE_PROTOCOL_SLOT: {
        const std::uint32_t number = OAE_GET(frame[0], OAE_WIRE_HEAD_NUMBER);
        if (number % 9 == 3 && number > dropped) {
          dropped = number;
          for (Group& group : unit) group = {};
          return;
        }
        const Digests last = digests_[number - 1];
        Digests& own = digests_[number];
        own.lower = next(last.lower, frame[7]);
        frame[0] &= ~OAE_PUT(OAE_WIRE_HEAD_NUMBER, 0xfff);
        frame[0] |= OAE_PUT(OAE_WIRE_HEAD_NUMBER, (number + before) & 0xfff);
        frame[7] = frame_check(frame, number + before, session_a_, session_b_);
        own.raised = next(last.raised, frame[7]);
        break;
      }
      case OAE_WIRE_PROTOCOL_RESTART: {
        const auto kept = static_cast<std::uint32_t>(frame[5]);
        EXPECT_EQ(OAE_GET(frame[5], OAE_WIRE_START_DIGEST), digests_[kept].lower);
        frame[5] = pair(digests_[kept].raised, kept + before);
        frame[7] = frame_check(frame, 0, session_a_, session_b_);
        break;
      }
      default:;
    }
    write(unit, frame);
  }
  void raise_return(Group& group) {
    const unsigned confirmed = OAE_GET(group.data[0], OAE_RETURN_NUMBERS_CONFIRMED);
    group.data[0] &= ~OAE_PUT(OAE_RETURN_NUMBERS_CONFIRMED, 0xffff);
    group.data[0] |= OAE_PUT(OAE_RETURN_NUMBERS_CONFIRMED, (confirmed + before) & 0xffff);
    set_check(group, session_a_, session_b_);
  }
  void lower_frame(std::vector<Group>& unit) {
    Frame frame = frame_of(unit);
    if (OAE_GET(frame[0], OAE_WIRE_HEAD_PROTOCOL) != OAE_WIRE_PROTOCOL_JOIN) return;
    session_b_ = static_cast<std::uint32_t>(frame[1]);
    if ((frame[4] & OAE_WIRE_FLAGS_KNOWN_MASK) == 0) return;
    const auto done = static_cast<std::uint32_t>(frame[3]);
    const auto first = static_cast<std::uint32_t>(frame[3] >> 32);
    frame[3] = pair(first - before, done - before);
    frame[7] = frame_check(frame, 0, 0, 0);
    write(unit, frame);
  }
  void lower_return(Group& group) {
    const std::uint64_t numbers = group.data[0];
    const auto lower = [](unsigned number) { return (number - before) & 0xffff; };
    const unsigned answered = lower(OAE_GET(numbers, OAE_RETURN_NUMBERS_ANSWERED));
    const unsigned done = lower(OAE_GET(numbers, OAE_RETURN_NUMBERS_DONE));
    const unsigned credit = lower(OAE_GET(numbers, OAE_RETURN_NUMBERS_CREDIT));
    group.data[0] = OAE_PUT(OAE_RETURN_NUMBERS_ANSWERED, answered) |
                    OAE_PUT(OAE_RETURN_NUMBERS_DONE, done) |
                    OAE_PUT(OAE_RETURN_NUMBERS_CREDIT, credit) |
                    (numbers & OAE_PUT(OAE_RETURN_NUMBERS_CONFIRMED, 0xffff));
    EXPECT_EQ(OAE_GET(group.data[1], OAE_RETURN_STATE_DIGEST), digests_[answered].raised);
    group.data[1] &= ~OAE_PUT(OAE_RETURN_STATE_DIGEST, 0xffff);
    group.data[1] |= OAE_PUT(OAE_RETURN_STATE_DIGEST, digests_[answered].lower);
    set_check(group, session_b_, session_a_);
  }

  static void set_check(Group& group, std::uint32_t from, std::uint32_t to) {
    const std::uint32_t check = return_check({group.data[0], group.data[1]}, from, to);
    group.data[1] = pair(check, static_cast<std::uint32_t>(group.data[1]));
  }
  static std::uint64_t pair(std::uint32_t high, std::uint32_t low) {
    return std::uint64_t{high} << 32 | low;
  }
  static std::uint16_t next(std::uint16_t digest, std::uint64_t check) {
    return static_cast<std::uint16_t>((digest << 1 | digest >> 15) ^ check);
  }

  std::uint32_t session_a_ = 0;
  std::uint32_t session_b_ = 0;
  std::map<std::uint32_t, Digests> digests_;  // of the slots up to each number that `a` knows
};

TEST_F(Renumbered, NumbersGoAround) {
  std::uint64_t seed = 1;
  const auto pass = [&](unsigned count) {
    offer(*a, count, seed);
    offer(*b, 1, 1000 + seed);
    rest();
    const std::vector<Slot> taken = take(*b);
    ASSERT_EQ(taken.size(), count);
    EXPECT_EQ(take(*a), std::vector<Slot>{slot(1000 + seed)});
    for (const Slot& each : taken) ASSERT_EQ(each, slot(seed++));
    EXPECT_EQ(settled(*a), seed - 1);
    EXPECT_EQ(done(*b), before + static_cast<std::uint32_t>(seed - 1));
  };
  bring_up();
  EXPECT_EQ(get(*b, OAE_WINDOW_JOURNAL), std::uint64_t{before + 1} << 32 | before);
  for (unsigned i = 0; i < 4; ++i) pass(9);
  EXPECT_EQ(dropped, 30u);
  EXPECT_EQ(get(*b, OAE_WINDOW_COUNT_JAMMED), 4u);
  EXPECT_EQ(get(*b, OAE_WINDOW_COUNT_DAMAGED), 0u);
  put(*a, OAE_WINDOW_CONTROL, 0);
  until([this] { return b->phase() == OAE_WINDOW_PHASE_DOWN; });
  bring_up();
  pass(8);
  EXPECT_EQ(get(*b, OAE_WINDOW_JOURNAL) >> 32, before + 37);
  EXPECT_EQ(get(*a, OAE_WINDOW_COUNT_LOST), 0u);
}

// Each bit of each unit, one at a time: nothing is lost, nothing is repeated, and nothing that is
// wrong arrives.
TEST_F(Formats, AnyDamagedBitIsFound) {
  set_limits(*a, 200, 9);
  set_limits(*b, 200, 9);
  bring_up();
  to_a.record = to_b.record = false;
  std::uint64_t seed = 1;
  for (unsigned bit = 0; bit < 512 + 2 * 8 / slices; bit += 3) {
    bool struck = false;
    to_b.tamper = [&](std::vector<Group>& unit, bool is_frame) {
      if (!is_frame || struck) return;
      struck = true;
      Wire::damage(unit, bit);
    };
    offer(*a, 3, seed);
    rest();
    const std::vector<Slot> taken = take(*b);
    ASSERT_TRUE(struck);
    ASSERT_EQ(taken.size(), 3u) << "bit " << bit;
    for (const Slot& each : taken) ASSERT_EQ(each, slot(seed++)) << "bit " << bit;
    if (!is_up()) bring_up();
  }
  EXPECT_EQ(get(*a, OAE_WINDOW_COUNT_DOWN), 0u);
}

TEST_F(Formats, AnyDamagedBitOfAReturnIsFound) {
  set_limits(*a, 200, 9);
  set_limits(*b, 200, 9);
  bring_up();
  to_a.record = to_b.record = false;
  std::uint64_t seed = 1;
  for (unsigned bit = 0; bit < 130; ++bit) {
    unsigned struck = 0;
    to_a.tamper = [&](std::vector<Group>& unit, bool is_frame) {
      if (is_frame || ++struck > 2) return;  // the answer, and what may come instead of it
      Wire::damage(unit, bit);
    };
    offer(*a, 2, seed);
    rest();
    const std::vector<Slot> taken = take(*b);
    ASSERT_EQ(taken.size(), 2u) << "bit " << bit;
    for (const Slot& each : taken) ASSERT_EQ(each, slot(seed++)) << "bit " << bit;
    ASSERT_EQ(settled(*a), seed - 1) << "bit " << bit;
  }
}

}  // namespace
}  // namespace window
