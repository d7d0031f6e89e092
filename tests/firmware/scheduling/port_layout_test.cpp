// SPDX-License-Identifier: Apache-2.0
// Events in the payloads of slots: nothing of a message is lost.
#include "firmware/scheduling/port_layout.h"

#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <limits>
#include <optional>
#include <random>
#include <vector>

namespace {

using Words = std::array<std::uint64_t, PORT_WORDS>;

constexpr std::uint64_t ones = ~std::uint64_t{0};

queue_entry empty(unsigned type) {
  queue_entry entry{};
  entry.message.header.type = static_cast<std::uint16_t>(type);
  entry.message.header.length = static_cast<std::uint16_t>(port_event_length(type));
  return entry;
}

std::optional<Words> pack(const queue_entry& entry, std::uint64_t time) {
  Words words;
  words.fill(0x5555'5555'5555'5555);
  if (!port_pack(&entry, time, words.data())) return std::nullopt;
  return words;
}

void expect_same(const queue_entry& entry, std::uint64_t time) {
  const auto words = pack(entry, time);
  ASSERT_TRUE(words) << entry.message.header.type;
  queue_entry got;
  std::memset(&got, 0xaa, sizeof got);
  EXPECT_EQ(port_unpack(words->data(), &got), time);
  EXPECT_EQ(std::memcmp(&got, &entry, sizeof got), 0) << entry.message.header.type;
}

std::vector<unsigned> all_types() {
  std::vector<unsigned> types;
  for (unsigned type = 0; type < 256; ++type) {
    if (port_event_length(type) != 0) types.push_back(type);
  }
  return types;
}

bool is_long(unsigned type) {
  return type == GHOST_PREEMPT || type == GHOST_YIELD || type == GHOST_NEW;
}

TEST(PortLayout, AllTypesOfMessagesCanBePacked) {
  EXPECT_EQ(all_types().size(), GHOST_TYPES + 2u);
  for (const unsigned type : all_types()) {
    for (const std::uint32_t sequence : {0u, 1u, 0x8000'0000u, ~0u}) {
      for (const std::uint64_t time : {std::uint64_t{0}, std::uint64_t{1} << 63, ones}) {
        queue_entry entry = empty(type);
        entry.message.header.sequence = sequence;
        expect_same(entry, time);
      }
    }
  }
}

TEST(PortLayout, ShortPayloadsAreKeptBitForBit) {
  std::mt19937_64 random(1);
  for (const unsigned type : all_types()) {
    if (is_long(type)) continue;
    const unsigned bits = 8 * (port_event_length(type) - sizeof(ghost_header));
    for (unsigned bit = 0; bit < bits; ++bit) {
      queue_entry entry = empty(type);
      entry.words[1 + bit / 64] = std::uint64_t{1} << bit % 64;
      expect_same(entry, bit);
    }
    for (unsigned turn = 0; turn < 100; ++turn) {
      queue_entry entry = empty(type);
      for (unsigned bit = 0; bit < bits; bit += 32) {
        entry.words[1 + bit / 64] |= (random() & 0xffff'ffff) << bit % 64;
      }
      expect_same(entry, random());
    }
  }
}

TEST(PortLayout, ATaskThatLeavesItsCpuIsKept) {
  for (const unsigned type : {GHOST_PREEMPT, GHOST_YIELD}) {
    for (const std::uint32_t cpu : {0u, 1u, 63u, 255u, 256u, 65535u}) {
      for (unsigned flags = 0; flags < 4; ++flags) {
        for (const std::uint64_t word : {std::uint64_t{0}, std::uint64_t{1} << 63, ones}) {
          queue_entry entry = empty(type);
          ghost_preempt& left = entry.message.preempt;
          left.gtid = word;
          left.runtime = ~word;
          left.cpu_sequence = word ^ 1;
          left.agent_data = word ^ 2;
          left.cpu = cpu;
          left.from_switchto = flags & 1;
          left.was_latched = flags >> 1;
          expect_same(entry, word);
        }
      }
    }
  }
}

TEST(PortLayout, ANewTaskIsKept) {
  for (const int nice : {-128, -20, -1, 0, 1, 19, 127}) {
    for (const std::uint16_t runnable : {0, 1}) {
      for (const std::uint64_t word : {std::uint64_t{0}, std::uint64_t{1} << 63, ones}) {
        queue_entry entry = empty(GHOST_NEW);
        ghost_new& task = entry.message.task_new;
        task.gtid = word;
        task.parent_gtid = ~word;
        task.runtime = word ^ 1;
        task.cpus = word ^ 2;
        task.nice = nice;
        task.runnable = runnable;
        expect_same(entry, ~word);
      }
    }
  }
}

TEST(PortLayout, WhatHasNoPlaceIsRefused) {
  const auto refuses = [](unsigned type, auto change) {
    queue_entry entry = empty(type);
    EXPECT_TRUE(pack(entry, 1));
    change(entry.message);
    return !pack(entry, 1);
  };
  for (const unsigned type : {GHOST_PREEMPT, GHOST_YIELD}) {
    EXPECT_TRUE(refuses(type, [](ghost_message& m) { m.preempt.cpu = 65536; }));
    EXPECT_TRUE(refuses(type, [](ghost_message& m) { m.preempt.from_switchto = 2; }));
    EXPECT_TRUE(refuses(type, [](ghost_message& m) { m.preempt.was_latched = 2; }));
    EXPECT_TRUE(refuses(type, [](ghost_message& m) { m.preempt.reserved = 1; }));
  }
  EXPECT_TRUE(refuses(GHOST_NEW, [](ghost_message& m) { m.task_new.nice = -129; }));
  EXPECT_TRUE(refuses(GHOST_NEW, [](ghost_message& m) { m.task_new.nice = 128; }));
  EXPECT_TRUE(refuses(GHOST_NEW, [](ghost_message& m) { m.task_new.runnable = 2; }));
  EXPECT_TRUE(refuses(GHOST_NEW, [](ghost_message& m) { m.task_new.reserved = 1; }));
  EXPECT_TRUE(refuses(GHOST_NEW, [](ghost_message& m) { m.task_new.region = 1; }));
  EXPECT_TRUE(refuses(GHOST_NEW, [](ghost_message& m) { m.task_new.word = 1; }));
  for (const unsigned type : all_types()) {
    EXPECT_TRUE(refuses(type, [](ghost_message& m) { m.header.length ^= 1; })) << type;
    EXPECT_TRUE(refuses(type, [](ghost_message& m) { m.header.type |= 0x100; })) << type;
  }
  for (unsigned type = 0; type < 256; ++type) {
    if (port_event_length(type) != 0) continue;
    queue_entry entry = empty(type);
    entry.message.header.length = sizeof(ghost_header);
    EXPECT_FALSE(pack(entry, 1)) << type;
  }
}

TEST(PortLayout, ANoteDoesNotChangeTheMessage) {
  for (const unsigned type : {GHOST_BLOCKED, GHOST_ON_CPU}) {
    for (const std::uint32_t note : {0u, 1u, 0x800000u, 0xffffffu, 0x1000005u}) {
      queue_entry before = empty(type), after{};
      before.message.header.sequence = 0xfedc'ba98;
      Words words;
      ASSERT_TRUE(port_pack(&before, 3, words.data()));
      port_event_note(words.data(), note);
      EXPECT_EQ(port_event_remainder(words.data()), note & 0xffffff);
      EXPECT_EQ(port_unpack(words.data(), &after), 3u);
      EXPECT_EQ(std::memcmp(&before, &after, sizeof(before.message)), 0);
    }
  }
  EXPECT_EQ(port_end_note(0), 1u);
  EXPECT_EQ(port_end_note(5), 11u);
  EXPECT_EQ(port_end_note(0x7fffff), 0xffffffu);
  EXPECT_EQ(port_end_note(0x800000), 1u);
}

TEST(PortLayout, AnythingCanBeUnpacked) {
  std::mt19937_64 random(2);
  for (unsigned turn = 0; turn < 100'000; ++turn) {
    Words words;
    for (auto& word : words) word = random();
    queue_entry entry;
    EXPECT_EQ(port_unpack(words.data(), &entry), words[1]);
    EXPECT_EQ(entry.message.header.length, port_event_length(words[0] & 0xff));
  }
}

TEST(PortLayout, EachCpuHasTwoPorts) {
  std::vector<unsigned> ports;
  for (unsigned cpu = 0; cpu < 32; ++cpu) {
    ports.push_back(port_of_decisions(0, cpu));
    ports.push_back(port_of_events(0, cpu));
  }
  for (unsigned i = 0; i < ports.size(); ++i) EXPECT_EQ(ports[i], i);
  EXPECT_EQ(port_of_decisions(5, 1), port_of_decisions(0, 1) + 5);
  EXPECT_EQ(port_of_events(5, 1), port_of_events(0, 1) + 5);
}

}  // namespace
