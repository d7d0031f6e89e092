// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "firmware/scheduling/port_channel.h"
#include "firmware/services/crc64.h"
#include "oae_registers.h"
#include "tests/firmware/scheduling/port_host.h"

/// A channel over ports that a host has opened, and an agent that does what a test tells it.
class PortChannel : public testing::Test {
 protected:
  static constexpr unsigned cpus = 3;
  static constexpr unsigned first = 1;

  PortChannel() {
    crc64_init();
    interrupts.clear();
    own_time = 100;
    task_waits = false;
    for (unsigned cpu = 0; cpu < cpus; ++cpu) open(cpu);
    EXPECT_TRUE(port_channel_init(&channel, &device, &control));
    way = port_channel_of_agent(&channel);
  }

  void open(unsigned cpu) {
    host.open(port_of_decisions(first, cpu));
    host.open(port_of_events(first, cpu));
  }

  // The host
  std::optional<port_offer> swap(unsigned cpu, const PortHost::Payload& given = {}) {
    return host.swap(port_of_decisions(first, cpu), given);
  }
  /// What a swap gives to bring a message, after so many sent events.
  static PortHost::Payload message_after(unsigned type, std::uint64_t gtid, std::uint32_t sent) {
    PortHost::Payload given;
    const queue_entry entry = entry_of(type, gtid);
    EXPECT_TRUE(port_pack(&entry, gtid, given.data()));
    port_event_note(given.data(), sent);
    return given;
  }
  static queue_entry entry_of(unsigned type, std::uint64_t gtid) {
    queue_entry entry{};
    entry.message.header.type = static_cast<std::uint16_t>(type);
    entry.message.header.length = static_cast<std::uint16_t>(ghost_length(type));
    entry.message.gtid = gtid;
    return entry;
  }
  bool send(unsigned cpu, unsigned type, std::uint64_t gtid) {
    return host.send(port_of_events(first, cpu), entry_of(type, gtid), gtid);
  }
  bool send_outcome(unsigned cpu, std::uint64_t number, ghost_state end, std::uint64_t when) {
    queue_entry entry{};
    entry.outcome = {{QUEUE_OUTCOME, sizeof(queue_outcome), 0}, number, end, 0, when, 0};
    return host.send(port_of_events(first, cpu), entry, when);
  }

  // The agent
  bool receive(unsigned cpu) {
    // As an agent does, which looks at no other CPUs
    return way.pending(way.context) >> cpu & 1 && way.receive(way.context, cpu, &message, &time);
  }
  void decide(const decision& decided) { way.decide(way.context, &decided); }
  void withdraw(unsigned cpu) { way.withdraw(way.context, cpu); }
  bool ended(unsigned cpu) {
    if (!(way.ended(way.context) >> cpu & 1)) return false;
    way.outcome(way.context, cpu, &state, &time);
    return true;
  }

  static inline std::vector<unsigned> interrupts;
  static inline std::uint64_t own_time;
  static inline bool task_waits;

  PortHost host;
  port_device device{PortHost::base, PortHost::ports,
                     [](unsigned vector) { interrupts.push_back(vector); }, [] { return own_time; },
                     [] { return task_waits; }};
  queue_control control{7, QUEUE_START, 0, 7, 0, cpus, 0, 0, 0, 5'000, 1, first, 0};
  port_channel channel{};
  agent_channel way{};
  ghost_message message{};
  ghost_state state{};
  std::uint64_t time = 0;
};
