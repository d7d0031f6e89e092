// SPDX-License-Identifier: Apache-2.0
// What takes a block long to come to, or all its ports: times after years, sequences by the
// hundred thousand, every port at once, any address and number.
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "tests/rtl/block_fixture.h"

namespace {

constexpr unsigned port = 1;

Slot slot(std::uint32_t sequence, std::uint64_t seed) {
  Header header;
  header.epoch = 1;
  header.sequence = sequence;
  return make_slot(header, seed);
}

void open(Bench& bench, unsigned number, std::uint64_t cell) {
  bench.write(registers, OAE_HOST_PORT_CELL_AT(number), cell);
  bench.write(registers, OAE_HOST_PORT_CONTROL_AT(number), 1);
}

void swap(Bench& bench, unsigned number, std::uint32_t sequence) {
  bench.publish(number, slot(sequence, 100 + number));
  bench.write_slot(number, slot(sequence, 200 + number));
  EXPECT_EQ(bench.answer(number), slot(sequence, 0)[0]) << number;
}

/// By clocks since power-up, with the clock stopped until then.
class AfterALongTime : public testing::TestWithParam<std::uint64_t> {};

TEST_P(AfterALongTime, AgesAndDeadlinesAreRight) {
  Bench bench(2);
  bench.compare_signals = false;
  bench.sleep(GetParam());
  bench.put(OAE_FIRMWARE_LIVENESS, GetParam());
  for (const std::uint64_t age : {0x1234ull, 0x5555'5555ull, 0xaaaa'aaaaull, 0xffff'fff0ull}) {
    const std::uint64_t written = bench.now;
    bench.put(OAE_FIRMWARE_LIVENESS, age);
    bench.sleep(age);
    const std::uint64_t told = bench.read(registers, OAE_HOST_LIVENESS);
    EXPECT_EQ(told & 0xffff'ffff, age);
    EXPECT_GE(told >> 32, std::min<std::uint64_t>(age, 0xffff'ffff));
    EXPECT_LE(told >> 32, std::min<std::uint64_t>(bench.now - written, 0xffff'ffff));
  }
  open(bench, port, 0x40);
  bench.write(registers, OAE_HOST_PORT_EVENT_AT(port), OAE_HOST_PORT_EVENT_CONFIRM_ENABLE_MASK | 9);
  std::uint32_t sequence = 0;
  for (const std::uint64_t limit : {0ull, 1ull, 0x5555'5555ull, 0xffff'ffffull}) {
    bench.signals.clear();
    bench.write(registers, OAE_HOST_PORT_TENTATIVE_LIMIT_AT(port), limit);
    const std::uint64_t before = bench.now;
    swap(bench, port, ++sequence);
    if (limit > 1) {
      ASSERT_TRUE(bench.top.deadline_valid);
      EXPECT_GT(bench.top.deadline, before + limit);
      EXPECT_LE(bench.top.deadline, bench.now + limit + 1);
      bench.sleep(all);
      EXPECT_TRUE(bench.signals.empty()) << limit;
    }
    bench.drain();
    EXPECT_EQ(bench.signals, std::vector<unsigned>{9}) << limit;
    bench.confirm(port, 1, sequence);
    bench.put(OAE_FIRMWARE_COMMAND_AT(port), OAE_FIRMWARE_COMMAND_TAKE_MASK);
  }
}

INSTANTIATE_TEST_SUITE_P(Clocks, AfterALongTime,
                         testing::Values(0xffff'ff00, 0x1234'5678'9abc, 0x5555'5555'5555'5555,
                                         0x7fff'ffff'ffff'ff00, 0xaaaa'aaaa'aaaa'aaaa));

// By reversals, since they use up a sequence with one write.
TEST(Limits, SequencesGoOnByTheHundredThousand) {
  Bench bench(2);
  open(bench, port, 0x40);
  constexpr std::uint32_t last = 0x2'0001;
  for (std::uint32_t sequence = 1; sequence <= last; ++sequence) {
    const std::uint64_t word =
        OAE_PUT(OAE_PORT_REVERSE_EPOCH, 1) | OAE_PUT(OAE_PORT_REVERSE_SEQUENCE, sequence);
    bench.post_write(pages, port * OAE_PORT_SIZE + OAE_PORT_REVERSE, &word, 8);
    if (sequence % 1024 != 0 && sequence != last) continue;
    bench.drain();
    bench.transitions.clear();
    bench.reference.transitions.clear();
  }
  const std::uint64_t state = bench.read(registers, OAE_HOST_PORT_STATE_AT(port));
  EXPECT_EQ(OAE_GET(state, OAE_HOST_PORT_STATE_SEQUENCE), last);
  bench.confirm(port, 1, last + 0x1'0000);
  swap(bench, port, last + 1);
  bench.confirm(port, 1, last + 1);
  EXPECT_EQ(bench.get(OAE_FIRMWARE_COMMITTED_AT(port)), slot(last + 1, 0)[0]);
}

TEST(Limits, ClocksOfAnyFrequency) {
  for (const std::uint32_t khz : {1u, 0x5555'5555u, 0xaaaa'aaaau, 0xffff'ffffu}) {
    Bench bench(1, 1, khz);
    EXPECT_EQ(bench.read(registers, OAE_HOST_CLOCK), khz);
  }
}

TEST(Limits, EveryVerbThatThereIsNot) {
  Bench bench(1);
  open(bench, 0, 0x40);
  for (unsigned verb = OAE_VERB_SEND + 1; verb < 256; ++verb) {
    Header header;
    header.verb = static_cast<std::uint8_t>(verb);
    header.epoch = 1;
    header.sequence = 1;
    bench.write_slot(0, make_slot(header, verb));
    const Header answer = Header::of(bench.stream(0)[0]);
    EXPECT_EQ(answer.verb, verb);
    EXPECT_EQ(answer.status, OAE_STATUS_BAD_VERB);
    EXPECT_EQ(answer.sequence, 1u);
  }
}

// Each word is held from the interaction to the confirmation, whatever is asked of the others.
TEST(Limits, EveryWord) {
  Bench bench(1);
  open(bench, 0, 0x40);
  const auto busy = [&bench](unsigned word) {
    bench.put(OAE_FIRMWARE_WORD_COMMAND,
              OAE_PUT(OAE_FIRMWARE_WORD_COMMAND_ACCESS, OAE_WORD_ACCESS_READ) | word);
    return bench.get(OAE_FIRMWARE_WORD_OUTCOME) == OAE_FIRMWARE_WORD_OUTCOME_BUSY_MASK;
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
    bench.write_slot(0, offer);
    bench.stream(0);
    for (unsigned step = 0; step < 4; ++step) {
      EXPECT_TRUE(busy(64 * step + i));
      EXPECT_FALSE(busy((64 * step + i + 1) % 256));
    }
    bench.confirm(0, 1, i + 1);
  }
  for (unsigned word = 0; word < 256; ++word) {
    EXPECT_FALSE(busy(word));
    EXPECT_EQ(bench.get(OAE_FIRMWARE_WORD_RESULT), ~std::uint64_t{word} << 8);
  }
}

TEST(Limits, EveryPortAtOnce) {
  constexpr unsigned ports = 64;
  Bench bench(ports);
  bench.compare_signals = false;
  for (unsigned i = 0; i < ports; ++i) {
    open(bench, i, std::uint64_t{64} << i % 58);
    bench.write(registers, OAE_HOST_PORT_EVENT_AT(i),
                OAE_HOST_PORT_EVENT_CONFIRM_ENABLE_MASK | 0x400 << i % 6 | i);
    bench.write(registers, OAE_HOST_PORT_TENTATIVE_LIMIT_AT(i), 1'000'000 + i);
  }
  // Every port has an event, and the line follows the last that is not cleared.
  bench.put(OAE_FIRMWARE_IRQ_ENABLE, all);
  EXPECT_EQ(bench.get(OAE_FIRMWARE_IRQ_STATUS), all);
  for (unsigned i = 0; i < ports; ++i) {
    EXPECT_TRUE(bench.top.irq);
    bench.put(OAE_FIRMWARE_EVENT_AT(i), all);
    EXPECT_EQ(bench.get(OAE_FIRMWARE_IRQ_STATUS), i == 63 ? 0 : all << (i + 1));
  }
  EXPECT_FALSE(bench.top.irq);
  for (unsigned i = 0; i < ports; ++i) {
    swap(bench, i, 1);
    EXPECT_EQ(bench.cell_address, std::uint64_t{64} << i % 58);
  }
  EXPECT_TRUE(bench.signals.empty());
  while (bench.signals.size() < ports && bench.top.deadline_valid) {
    bench.sleep(all);
    bench.drain();
  }
  ASSERT_EQ(bench.signals.size(), ports) << "each is asked for its confirmation";
  for (unsigned i = 0; i < ports; ++i) EXPECT_EQ(bench.signals[i], 0x400u << i % 6 | i);
  for (unsigned i = 0; i < ports; ++i) bench.confirm(i, 1, 1);
  for (unsigned i = 0; i < ports; ++i) {
    EXPECT_EQ(bench.get(OAE_FIRMWARE_COMMITTED_AT(i) + 8), slot(1, 200 + i)[1]);
  }
  bench.function_reset();
  for (unsigned i = 0; i < ports; ++i) {
    EXPECT_EQ(bench.read(registers, OAE_HOST_PORT_CELL_AT(i)), 0u);
    EXPECT_EQ(bench.read(registers, OAE_HOST_PORT_TENTATIVE_LIMIT_AT(i)), 0xffff'ffffu);
  }
}

}  // namespace
