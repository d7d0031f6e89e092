// SPDX-License-Identifier: Apache-2.0
// Verdicts on slots that a test of a port does not reach: the ends of epochs and sequences.
#include <Voae_slot_check.h>
#include <gtest/gtest.h>

#include <cstring>

#include "oae_registers.h"
#include "tests/rtl/coverage.h"
#include "tests/rtl/slot.h"

namespace {

enum Verdict { none, good, bad, bad_verb };  // rtl/port/oae_types.sv

class SlotCheck : public testing::Test {
 protected:
  ~SlotCheck() override { write_coverage(context_); }

  void check(const Slot& slot, std::uint8_t epoch, std::uint32_t last, Verdict verdict = none) {
    std::memcpy(top_.slot.data(), slot.data(), 64);
    top_.enable = 1;
    top_.open = 1;
    top_.word_count = 256;
    top_.epoch = epoch;
    top_.sequence_last = last;
    top_.verdict = verdict;
    top_.eval();
  }
  static Slot slot(std::uint8_t epoch, std::uint32_t sequence, std::uint8_t verb = OAE_VERB_SWAP) {
    Header header;
    header.verb = verb;
    header.epoch = epoch;
    header.sequence = sequence;
    return make_slot(header, sequence);
  }

  VerilatedContext context_;
  Voae_slot_check top_{&context_};
};

TEST_F(SlotCheck, SequenceGoesAroundWithoutZero) {
  for (const std::uint32_t last :
       {0u, 1u, 0x7fff'ffffu, 0x8000'0000u, 0xffff'fffeu, 0xffff'ffffu}) {
    const std::uint32_t next = last == 0xffff'ffff ? 1 : last + 1;
    for (const std::uint32_t sequence : {next, last, next + 1, 0u, 1u, 0xffff'ffffu}) {
      check(slot(7, sequence), 7, last);
      const Verdict expected = sequence == next ? good : none;
      EXPECT_EQ(top_.host_verdict, expected) << last << " then " << sequence;
      EXPECT_EQ(top_.host_rejected, expected != good && (sequence != last || last == 0));
      EXPECT_EQ(top_.firmware_good, expected == good);
    }
  }
}

TEST_F(SlotCheck, EpochIsCompared) {
  for (const unsigned epoch : {0u, 1u, 127u, 128u, 255u}) {
    check(slot(static_cast<std::uint8_t>(epoch), 1), epoch, 0);
    EXPECT_EQ(top_.host_verdict, good);
    check(slot(static_cast<std::uint8_t>(epoch + 1), 1), epoch, 0);
    EXPECT_EQ(top_.host_verdict, none);
    EXPECT_TRUE(top_.host_rejected);
    EXPECT_FALSE(top_.firmware_good);
  }
}

TEST_F(SlotCheck, OnlyTheLastSwapOfThisEpochIsNoRejection) {
  check(slot(7, 5), 7, 5);
  EXPECT_FALSE(top_.host_rejected);
  check(slot(8, 5), 7, 5);
  EXPECT_TRUE(top_.host_rejected);
}

TEST_F(SlotCheck, EveryBitIsUnderTheCrc) {
  const Slot sound = slot(1, 2);
  for (unsigned bit = 0; bit < 512; ++bit) {
    Slot slot = sound;
    slot[bit / 64] ^= std::uint64_t{1} << bit % 64;
    check(slot, 1, 1);
    EXPECT_NE(top_.host_verdict, good) << bit;
    EXPECT_TRUE(top_.host_rejected) << bit;
    EXPECT_FALSE(top_.firmware_good) << bit;
  }
}

TEST_F(SlotCheck, VerbsAndStatus) {
  for (unsigned verb = 0; verb < 256; ++verb) {
    Slot offer = slot(1, 1, static_cast<std::uint8_t>(verb));
    offer[1] = 0;
    seal(offer);
    check(offer, 1, 0);
    const bool known = verb >= OAE_VERB_SWAP && verb <= OAE_VERB_SEND;
    EXPECT_EQ(top_.host_verdict, known ? good : bad_verb) << verb;
    EXPECT_EQ(top_.firmware_good, verb == OAE_VERB_SWAP) << verb;
    top_.joined = 1;
    top_.eval();
    const bool known_if_joined = known || verb == OAE_VERB_REMOTE || verb == OAE_VERB_RESULT;
    EXPECT_EQ(top_.host_verdict, known_if_joined ? good : bad_verb) << verb;
    EXPECT_EQ(top_.firmware_good, verb == OAE_VERB_SWAP) << verb;
    top_.joined = 0;
  }
  for (unsigned status = 1; status < 256; ++status) {
    Header header;
    header.epoch = 1;
    header.sequence = 1;
    header.status = static_cast<std::uint8_t>(status);
    check(make_slot(header, 1), 1, 0);
    EXPECT_EQ(top_.host_verdict, bad) << status;
    EXPECT_FALSE(top_.firmware_good) << status;
  }
  Slot ones;
  ones.fill(~std::uint64_t{0});
  check(ones, 255, 0xffff'fffe);
  EXPECT_NE(top_.host_verdict, good) << "all ones is never a slot";
}

TEST_F(SlotCheck, StepsAreStillWhileNotEnabled) {
  Slot offer = slot(1, 1, OAE_VERB_FETCH_ADD);
  offer[1] = 0x123;
  check(offer, 1, 0);
  const auto steps = [this](unsigned i) { return top_.steps[i]; };
  std::uint64_t seen = 0;
  for (unsigned i = 8; i < 10; ++i) seen |= steps(i);
  EXPECT_NE(seen, 0u);
  top_.enable = 0;
  top_.eval();
  for (unsigned i = 8; i < 10; ++i) EXPECT_EQ(steps(i), 0u);
}

TEST_F(SlotCheck, NotReadyNamesTheOfferOrNothing) {
  for (const Verdict verdict : {good, bad, bad_verb}) {
    check(slot(1, 6, OAE_VERB_SEND), 1, 5, verdict);
    const Header header = Header::of(top_.formed_header);
    EXPECT_EQ(header.verb, OAE_VERB_SEND);
    EXPECT_EQ(header.epoch, 1);
    EXPECT_EQ(header.flags, 0);
    EXPECT_EQ(header.sequence, 6u);
    EXPECT_EQ(header.status, verdict == bad_verb ? OAE_STATUS_BAD_VERB : OAE_STATUS_NOT_READY);
  }
  check(slot(1, 6), 1, 5, none);
  const Header nothing = Header::of(top_.formed_header);
  EXPECT_EQ(nothing.sequence, 0u) << "what lies in the inbox is no offer";
  EXPECT_EQ(nothing.verb, OAE_VERB_NONE);
  EXPECT_EQ(nothing.epoch, 1);
  EXPECT_EQ(top_.nothing_header, top_.formed_header);
}

}  // namespace
