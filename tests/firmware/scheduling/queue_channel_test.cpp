// SPDX-License-Identifier: Apache-2.0
// The agent's side of the queues, against a kernel that writes words into the same memory.
#include "firmware/scheduling/queue_channel.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <numeric>
#include <random>
#include <vector>

namespace {

constexpr unsigned cpus = 3;
constexpr unsigned elements = QUEUE_ELEMENTS_MIN;

std::vector<unsigned> interrupts;
std::vector<std::uint64_t> pages;
/// What was pushed: its line, and what it says.
std::vector<std::pair<unsigned, queue_slot>> pushed;

void push(unsigned line, const std::uint64_t* words) {
  queue_slot slot;
  std::memcpy(&slot, words, sizeof(slot));
  pushed.emplace_back(line, slot);
}
std::uint64_t own_time;
unsigned signs_of_life;

struct Words {
  std::array<std::uint64_t, QUEUE_ELEMENT_WORDS> word{};
};

class QueueChannelTest : public testing::Test {
 protected:
  QueueChannelTest() {
    interrupts.clear();
    pages.clear();
    pushed.clear();
    own_time = 100;
    EXPECT_TRUE(queue_channel_init(&channel_, &device_, &control_));
    way_ = queue_channel_of_agent(&channel_);
  }

  std::uint64_t& at(unsigned cpu, unsigned offset) {
    return memory_[(queue_area(cpu, elements) + offset) / 8];
  }

  // The kernel's side: writes the next element of a ring.
  Words encoded(unsigned cpu, const queue_entry& entry, std::uint64_t time) {
    Words words;
    queue_encode(entry.words, time, queue_phase(head_[cpu], elements), words.word.data());
    return words;
  }

  void arrive(unsigned cpu, const Words& words, unsigned word) {
    at(cpu, QUEUE_RING + head_[cpu] % elements * QUEUE_ELEMENT_BYTES + 8 * word) = words.word[word];
  }

  void send(unsigned cpu, const queue_entry& entry, std::uint64_t time) {
    const Words words = encoded(cpu, entry, time);
    for (unsigned i = 0; i < QUEUE_ELEMENT_WORDS; ++i) arrive(cpu, words, i);
    ++head_[cpu];
  }

  void send_outcome(unsigned cpu, std::uint64_t number, ghost_state state, std::uint64_t time) {
    queue_entry entry{};
    entry.outcome = {{QUEUE_OUTCOME, sizeof(queue_outcome), 0}, number, state, 0, time, 0};
    send(cpu, entry, time);
  }

  bool receive(unsigned cpu) {
    // As an agent does, which looks at no other CPUs
    return way_.pending(way_.context) >> cpu & 1 &&
           way_.receive(way_.context, cpu, &message_, &time_);
  }

  static queue_entry message_of(unsigned type, std::uint64_t fill) {
    queue_entry entry{};
    entry.message.header.type = static_cast<std::uint16_t>(type);
    entry.message.header.length = static_cast<std::uint16_t>(ghost_length(type));
    entry.message.header.sequence = 0xfedc'ba98;
    std::fill_n(entry.message.payload, (ghost_length(type) - 1) / 8, fill);
    return entry;
  }

  std::vector<std::uint64_t> memory_ =
      std::vector<std::uint64_t>(queue_area(cpus, elements) / 8, 0x5555'5555'5555'5555);
  std::uint64_t head_[cpus] = {};
  queue_device device_{reinterpret_cast<std::uint8_t*>(memory_.data()),
                       reinterpret_cast<std::uint8_t*>(memory_.data()),
                       8 * memory_.size(),
                       [](unsigned vector) { interrupts.push_back(vector); },
                       [](std::uint64_t address) { pages.push_back(address); },
                       push,
                       [] { return own_time; },
                       [] { ++signs_of_life; }};
  queue_control control_{1, QUEUE_START, 0, 7, 0, cpus, elements, 0, 1, 5'000, 0, 0, 0};
  queue_channel channel_{};
  agent_channel way_{};
  ghost_message message_{};
  std::uint64_t time_ = 0;
};

TEST_F(QueueChannelTest, EachMessageArrivesAsItWasSent) {
  for (unsigned type = 0; type < 256; ++type) {
    if (ghost_length(type) == 0) continue;
    for (const std::uint64_t fill : {~std::uint64_t{0}, std::uint64_t{0}, std::uint64_t{1} << 63}) {
      const queue_entry sent = message_of(type, fill);
      ASSERT_FALSE(receive(1));
      send(1, sent, ~fill);
      ASSERT_TRUE(receive(1)) << type;
      EXPECT_EQ(std::memcmp(&message_, &sent.message, sizeof(message_)), 0) << type;
      EXPECT_EQ(time_, ~fill);
    }
  }
}

TEST_F(QueueChannelTest, SignsOfLifeComeWhileLongRingsAreEmptied) {
  std::vector<std::uint64_t> memory(queue_area(1, QUEUE_ELEMENTS_MAX) / 8, 1);
  device_.uncached = reinterpret_cast<std::uint8_t*>(memory.data());
  device_.size = 8 * memory.size();
  control_.host_cpus = 1;
  control_.elements = QUEUE_ELEMENTS_MAX;
  control_.cached = 0;
  signs_of_life = 0;
  ASSERT_TRUE(queue_channel_init(&channel_, &device_, &control_));
  EXPECT_EQ(signs_of_life, QUEUE_ELEMENTS_MAX / QUEUE_ELEMENTS_MIN);
  EXPECT_EQ(std::count(memory.begin() + (queue_area(0, 0) + QUEUE_RING) / 8, memory.end(), 0u),
            QUEUE_ELEMENTS_MAX * QUEUE_ELEMENT_WORDS);
}

TEST_F(QueueChannelTest, AnElementIsReadWhenItsLastWordHasArrived) {
  const queue_entry sent = message_of(GHOST_NEW, 0x0123'4567'89ab'cdef);
  std::mt19937 random(1);
  std::array<unsigned, QUEUE_ELEMENT_WORDS> order;
  std::iota(order.begin(), order.end(), 0);
  for (unsigned turn = 0; turn < 5 * elements; ++turn) {
    std::shuffle(order.begin(), order.end(), random);
    const Words words = encoded(2, sent, turn);
    for (const unsigned word : order) {
      ASSERT_FALSE(receive(2)) << turn;
      arrive(2, words, word);
    }
    ++head_[2];
    ASSERT_TRUE(receive(2)) << turn;
    EXPECT_EQ(std::memcmp(&message_, &sent.message, sizeof(message_)), 0);
    EXPECT_EQ(time_, turn);
  }
}

TEST_F(QueueChannelTest, RingsAreApart) {
  send(0, message_of(GHOST_DEAD, 1), 1);
  EXPECT_FALSE(receive(1));
  EXPECT_TRUE(receive(0));
  EXPECT_FALSE(receive(0));
}

TEST_F(QueueChannelTest, TheKernelLearnsWhatWasRead) {
  for (unsigned i = 0; i < 3 * elements; ++i) {
    send(0, message_of(GHOST_DEAD, i), i);
    ASSERT_TRUE(receive(0));
    // It may believe that a quarter of the ring is still to be read, but no more.
    EXPECT_LE(head_[0] - at(0, QUEUE_TAIL), elements / 4 - 1);
    EXPECT_LE(at(0, QUEUE_TAIL), head_[0]);
  }
}

TEST_F(QueueChannelTest, ALossIsKnownWhenItsMarkIsRead) {
  queue_entry mark{};
  mark.message.header = {QUEUE_LOST, sizeof(ghost_header), 0};
  send(1, mark, 1);
  send(1, message_of(GHOST_DEAD, 7), 2);
  EXPECT_FALSE(way_.lost(way_.context, 1));
  ASSERT_TRUE(receive(1));
  EXPECT_EQ(message_.gtid, 7u);
  EXPECT_TRUE(way_.lost(way_.context, 1));
  EXPECT_FALSE(way_.lost(way_.context, 0));
}

TEST_F(QueueChannelTest, ADecisionIsInTheSlotOfItsCpu) {
  const decision first{DECISION_RUN, 2, 0x1234'5678'9abc, 77, 4'000};
  way_.decide(way_.context, &first);
  queue_slot slot;
  std::memcpy(&slot, &at(2, QUEUE_SLOT), sizeof(slot));
  EXPECT_EQ(slot.version, 91u);
  EXPECT_EQ(slot.cpu, 2u);
  EXPECT_EQ(slot.state, GHOST_READY);
  EXPECT_EQ(slot.task_barrier, 77u);
  EXPECT_EQ(slot.gtid, 0x1234'5678'9abcu);
  EXPECT_EQ(slot.newest, 4'000u);
  EXPECT_EQ(slot.number, 1u);
  EXPECT_EQ(at(1, QUEUE_SLOT), 0u);
}

TEST_F(QueueChannelTest, ADecisionEndsByTheOutcomeWithItsNumber) {
  const decision decision{DECISION_RUN, 1, 5, 6, 7};
  ghost_state state;
  std::uint64_t time;
  for (std::uint64_t number = 1; number < 4; ++number) {
    way_.decide(way_.context, &decision);
    send_outcome(1, number - 1, GHOST_CPU_UNAVAIL, 1);
    send_outcome(1, number + 1, GHOST_CPU_UNAVAIL, 2);
    EXPECT_FALSE(receive(1));
    EXPECT_EQ(way_.ended(way_.context), 0u);
    send_outcome(1, number, GHOST_TARGET_STALE, 30 + number);
    EXPECT_FALSE(receive(1));
    ASSERT_EQ(way_.ended(way_.context), 2u);
    way_.outcome(way_.context, 1, &state, &time);
    EXPECT_EQ(state, GHOST_TARGET_STALE);
    EXPECT_EQ(time, 30 + number);
  }
}

TEST_F(QueueChannelTest, ADecisionIsAskedBackOnce) {
  const decision decision{DECISION_PRESTAGE, 1, 5, 6, 7};
  way_.decide(way_.context, &decision);
  way_.withdraw(way_.context, 1);
  way_.withdraw(way_.context, 1);
  EXPECT_EQ(interrupts, (std::vector<unsigned>{queue_vector(1, QUEUE_CALL_WITHDRAW)}));
  queue_slot slot;
  std::memcpy(&slot, &at(1, QUEUE_SLOT), sizeof(slot));
  EXPECT_EQ(slot.state, GHOST_ABORTED);
  EXPECT_EQ(slot.number, 1u);
  send_outcome(1, 1, GHOST_ABORTED, 3);
  EXPECT_FALSE(receive(1));
  way_.withdraw(way_.context, 1);  // It has ended.
  EXPECT_EQ(interrupts.size(), 1u);
}

TEST_F(QueueChannelTest, ADecisionCanBePushedIntoTheHostsPage) {
  EXPECT_EQ(pages, std::vector<std::uint64_t>{0});
  control_.slots = 0x1'2345'6000;
  ASSERT_TRUE(queue_channel_init(&channel_, &device_, &control_));
  EXPECT_EQ(pages.back(), control_.slots);
  const decision first{DECISION_PRESTAGE, 2, 0x1234'5678'9abc, 77, 4'000};
  way_.decide(way_.context, &first);
  ASSERT_EQ(pushed.size(), 1u);
  EXPECT_EQ(pushed[0].first, 2u);
  const queue_slot& slot = pushed[0].second;
  EXPECT_EQ(slot.version, 91u);
  EXPECT_EQ(slot.cpu, 2u);
  EXPECT_EQ(slot.state, GHOST_READY);
  EXPECT_EQ(slot.task_barrier, 77u);
  EXPECT_EQ(slot.gtid, 0x1234'5678'9abcu);
  EXPECT_EQ(slot.newest, 4'000u);
  EXPECT_EQ(slot.number, 1u);
  EXPECT_TRUE(interrupts.empty());
  way_.withdraw(way_.context, 2);
  way_.withdraw(way_.context, 2);
  ASSERT_EQ(pushed.size(), 2u);
  queue_slot marked = pushed[0].second;
  marked.state = GHOST_ABORTED;
  EXPECT_EQ(std::memcmp(&pushed[1].second, &marked, sizeof(marked)), 0);
  EXPECT_EQ(interrupts, std::vector<unsigned>{queue_vector(2, QUEUE_CALL_WITHDRAW)});
  for (unsigned word = 0; word < 8; ++word) EXPECT_EQ(at(2, QUEUE_SLOT + 8 * word), 0u);
}

TEST_F(QueueChannelTest, SlotsNeedAWholePageOfTheHost) {
  control_.slots = 0x1'2345'6040;
  EXPECT_FALSE(queue_channel_init(&channel_, &device_, &control_));
}

TEST_F(QueueChannelTest, AKickIsAnInterruptOfItsCpu) {
  EXPECT_TRUE(way_.kick(way_.context, 0b101, 0b100));
  EXPECT_EQ(interrupts, (std::vector<unsigned>{queue_vector(0, QUEUE_CALL_LOOK),
                                               queue_vector(2, QUEUE_CALL_PREEMPT)}));
}

TEST_F(QueueChannelTest, TheClockFollowsTheKernels) {
  EXPECT_EQ(way_.now(way_.context), 5'000u);
  own_time += 50;
  EXPECT_EQ(way_.now(way_.context), 5'050u);
  send(0, message_of(GHOST_DEAD, 1), 5'060);
  ASSERT_TRUE(receive(0));
  EXPECT_EQ(way_.now(way_.context), 5'060u);
  own_time += 20;
  EXPECT_EQ(way_.now(way_.context), 5'080u) << "what it was late by does not come back";
}

TEST_F(QueueChannelTest, QueuesThatDoNotFitAreRefused) {
  const auto init = [this](unsigned count, unsigned length) {
    control_.host_cpus = count;
    control_.elements = length;
    return queue_channel_init(&channel_, &device_, &control_);
  };
  EXPECT_TRUE(init(cpus, elements));
  EXPECT_FALSE(init(cpus + 1, elements));
  EXPECT_FALSE(init(cpus, 2 * elements));
  EXPECT_FALSE(init(cpus, elements + 1));
  EXPECT_FALSE(init(cpus, elements / 2));
  EXPECT_FALSE(init(~0u, elements));
  EXPECT_FALSE(init(1, 1u << 31));
  EXPECT_FALSE(init(1, 0));
}

TEST_F(QueueChannelTest, AnythingMayBeInARing) {
  std::mt19937_64 random(2);
  for (unsigned turn = 0; turn < 20'000; ++turn) {
    for (unsigned i = 0; i < 4; ++i) memory_[random() % memory_.size()] = random();
    for (unsigned cpu = 0; cpu < cpus; ++cpu) {
      for (unsigned i = 0; i < elements && receive(cpu); ++i) {
      }
    }
  }
}

}  // namespace
