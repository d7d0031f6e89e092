// SPDX-License-Identifier: Apache-2.0
// States that a block reaches only after a long time, or with all its ports: times after years,
// sequences by the hundred thousand, every port at once, any address and number.
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "tests/rtl/block/block_fixture.h"

namespace {

constexpr unsigned port = 1;

Slot slot(std::uint32_t sequence, std::uint64_t seed) {
  Header header;
  header.epoch = 1;
  header.sequence = sequence;
  return make_slot(header, seed);
}

void open(Fixture& fixture, unsigned number, std::uint64_t buffer) {
  fixture.write(registers, OAE_HOST_PORT_ANSWER_ADDRESS_AT(number), buffer);
  fixture.write(registers, OAE_HOST_PORT_CONTROL_AT(number), 1);
}

void swap(Fixture& fixture, unsigned number, std::uint32_t sequence) {
  fixture.publish(number, slot(sequence, 100 + number));
  fixture.write_slot(number, slot(sequence, 200 + number));
  EXPECT_EQ(fixture.answer(number), slot(sequence, 0)[0]) << number;
}

/// The parameter is the clocks since power-up, until which the clock is stopped.
class AfterALongTime : public testing::TestWithParam<std::uint64_t> {};

TEST_P(AfterALongTime, AgesAndDeadlinesAreRight) {
  Fixture fixture(2);
  fixture.compare_signals = false;
  fixture.sleep(GetParam());
  fixture.put(OAE_FIRMWARE_LIVENESS, GetParam());
  for (const std::uint64_t age : {0x1234ull, 0x5555'5555ull, 0xaaaa'aaaaull, 0xffff'fff0ull}) {
    const std::uint64_t written = fixture.now;
    fixture.put(OAE_FIRMWARE_LIVENESS, age);
    fixture.sleep(age);
    const std::uint64_t liveness = fixture.read(registers, OAE_HOST_LIVENESS);
    EXPECT_EQ(liveness & 0xffff'ffff, age);
    EXPECT_GE(liveness >> 32, std::min<std::uint64_t>(age, 0xffff'ffff));
    EXPECT_LE(liveness >> 32, std::min<std::uint64_t>(fixture.now - written, 0xffff'ffff));
  }
  open(fixture, port, 0x40);
  fixture.write(registers, OAE_HOST_PORT_EVENT_AT(port),
                OAE_HOST_PORT_EVENT_CONFIRM_ENABLE_MASK | 9);
  std::uint32_t sequence = 0;
  for (const std::uint64_t limit : {0ull, 1ull, 0x5555'5555ull, 0xffff'ffffull}) {
    fixture.signals.clear();
    fixture.write(registers, OAE_HOST_PORT_TENTATIVE_LIMIT_AT(port), limit);
    const std::uint64_t before = fixture.now;
    swap(fixture, port, ++sequence);
    if (limit > 1) {
      ASSERT_TRUE(fixture.top.deadline_valid);
      EXPECT_GT(fixture.top.deadline, before + limit);
      EXPECT_LE(fixture.top.deadline, fixture.now + limit + 1);
      fixture.sleep(all);
      EXPECT_TRUE(fixture.signals.empty()) << limit;
    }
    fixture.drain();
    EXPECT_EQ(fixture.signals, std::vector<unsigned>{9}) << limit;
    fixture.confirm(port, 1, sequence);
    fixture.put(OAE_FIRMWARE_COMMAND_AT(port), OAE_FIRMWARE_COMMAND_TAKE_MASK);
    // The time of the next request passes, without one.
    while (fixture.top.deadline_valid) {
      fixture.sleep(all);
      fixture.drain();
    }
    EXPECT_EQ(fixture.signals.size(), 1u) << limit;
  }
}

INSTANTIATE_TEST_SUITE_P(Clocks, AfterALongTime,
                         testing::Values(0xffff'ff00, 0x1234'5678'9abc, 0x5555'5555'5555'5555,
                                         0x7fff'ffff'ffff'ff00, 0xaaaa'aaaa'aaaa'aaaa));

// Reversals use up a sequence with one write.
TEST(Limits, SequencesGoOnByTheHundredThousand) {
  Fixture fixture(2);
  open(fixture, port, 0x40);
  constexpr std::uint32_t last = 0x2'0001;
  for (std::uint32_t sequence = 1; sequence <= last; ++sequence) {
    const std::uint64_t word =
        reversal(OAE_PUT(OAE_PORT_REVERSE_EPOCH, 1) | OAE_PUT(OAE_PORT_REVERSE_SEQUENCE, sequence));
    fixture.post_write(pages, port * OAE_PORT_SIZE + OAE_PORT_REVERSE, &word, 8);
    if (sequence % 1024 != 0 && sequence != last) continue;
    fixture.drain();
    fixture.transitions.clear();
    fixture.reference.transitions.clear();
  }
  const std::uint64_t state = fixture.read(registers, OAE_HOST_PORT_STATE_AT(port));
  EXPECT_EQ(OAE_GET(state, OAE_HOST_PORT_STATE_SEQUENCE), last);
  fixture.confirm(port, 1, last + 0x1'0000);
  swap(fixture, port, last + 1);
  fixture.confirm(port, 1, last + 1);
  EXPECT_EQ(fixture.get(OAE_FIRMWARE_COMMITTED_AT(port)), slot(last + 1, 0)[0]);
}

TEST(Limits, ClocksOfAnyFrequency) {
  for (const std::uint32_t khz : {1u, 0x5555'5555u, 0xaaaa'aaaau, 0xffff'ffffu}) {
    Fixture fixture(1, 1, khz);
    EXPECT_EQ(fixture.read(registers, OAE_HOST_CLOCK), khz);
  }
}

TEST(Limits, EveryVerbThatThereIsNot) {
  Fixture fixture(1);
  open(fixture, 0, 0x40);
  for (unsigned verb = OAE_VERB_SEND + 1; verb < 256; ++verb) {
    Header header;
    header.verb = static_cast<std::uint8_t>(verb);
    header.epoch = 1;
    header.sequence = 1;
    header.attempt = verb % 64;
    fixture.write_slot(0, make_slot(header, verb));
    const Header answer = Header::of(fixture.stream(0)[0]);
    EXPECT_EQ(answer.verb, verb);
    EXPECT_EQ(answer.status, OAE_STATUS_BAD_VERB);
    EXPECT_EQ(answer.sequence, 1u);
  }
}

// Each word is held from the interaction to the confirmation, whatever happens to the others.
TEST(Limits, EveryWord) {
  Fixture fixture(1);
  open(fixture, 0, 0x40);
  const auto busy = [&fixture](unsigned word) {
    fixture.put(OAE_FIRMWARE_WORD_COMMAND,
                OAE_PUT(OAE_FIRMWARE_WORD_COMMAND_ACCESS, OAE_WORD_ACCESS_READ) | word);
    return fixture.get(OAE_FIRMWARE_WORD_OUTCOME) == OAE_FIRMWARE_WORD_OUTCOME_BUSY_MASK;
  };
  for (unsigned i = 0; i < 64; ++i) {
    Header header;
    header.verb = OAE_VERB_MULTI;
    header.epoch = 1;
    header.sequence = i + 1;
    Slot offer{header.word()};
    for (unsigned step = 0; step < 4; ++step) {
      const std::uint64_t word = 64 * step + i;
      offer[1] |= (std::uint64_t{OAE_WORD_OPERATION_WRITE} << 12 | word) << 16 * step;
      offer[2 + step] = ~word << 8;
    }
    seal(offer);
    fixture.write_slot(0, offer);
    fixture.stream(0);
    for (unsigned step = 0; step < 4; ++step) {
      EXPECT_TRUE(busy(64 * step + i));
      EXPECT_FALSE(busy((64 * step + i + 1) % 256));
    }
    fixture.confirm(0, 1, i + 1);
  }
  for (unsigned word = 0; word < 256; ++word) {
    EXPECT_FALSE(busy(word));
    EXPECT_EQ(fixture.get(OAE_FIRMWARE_WORD_RESULT), ~std::uint64_t{word} << 8);
  }
}

TEST(Limits, EveryPortAtOnce) {
  constexpr unsigned ports = 64;
  Fixture fixture(ports);
  fixture.compare_signals = false;
  for (unsigned i = 0; i < ports; ++i) {
    open(fixture, i, std::uint64_t{64} << i % 58);
    fixture.write(registers, OAE_HOST_PORT_EVENT_AT(i),
                  OAE_HOST_PORT_EVENT_CONFIRM_ENABLE_MASK | 0x400 << i % 6 | i);
    fixture.write(registers, OAE_HOST_PORT_TENTATIVE_LIMIT_AT(i), 1'000'000 + i);
  }
  // Every port has an event, and the line falls with the last one that is cleared.
  fixture.put(OAE_FIRMWARE_IRQ_ENABLE, all);
  EXPECT_EQ(fixture.get(OAE_FIRMWARE_IRQ_STATUS), all);
  for (unsigned i = 0; i < ports; ++i) {
    EXPECT_TRUE(fixture.top.irq);
    fixture.put(OAE_FIRMWARE_EVENT_AT(i), all);
    EXPECT_EQ(fixture.get(OAE_FIRMWARE_IRQ_STATUS), i == 63 ? 0 : all << (i + 1));
  }
  EXPECT_FALSE(fixture.top.irq);
  for (unsigned i = 0; i < ports; ++i) {
    swap(fixture, i, 1);
    EXPECT_EQ(fixture.pushed_address, std::uint64_t{64} << i % 58);
  }
  EXPECT_TRUE(fixture.signals.empty());
  while (fixture.signals.size() < ports && fixture.top.deadline_valid) {
    fixture.sleep(all);
    fixture.drain();
  }
  ASSERT_EQ(fixture.signals.size(), ports) << "each is asked for its confirmation";
  for (unsigned i = 0; i < ports; ++i) EXPECT_EQ(fixture.signals[i], 0x400u << i % 6 | i);
  for (unsigned i = 0; i < ports; ++i) fixture.confirm(i, 1, 1);
  for (unsigned i = 0; i < ports; ++i) {
    EXPECT_EQ(fixture.get(OAE_FIRMWARE_COMMITTED_AT(i) + 8), slot(1, 200 + i)[1]);
  }
  fixture.function_reset();
  for (unsigned i = 0; i < ports; ++i) {
    EXPECT_EQ(fixture.read(registers, OAE_HOST_PORT_ANSWER_ADDRESS_AT(i)), 0u);
    EXPECT_EQ(fixture.read(registers, OAE_HOST_PORT_TENTATIVE_LIMIT_AT(i)), 0xffff'ffffu);
  }
}

}  // namespace
