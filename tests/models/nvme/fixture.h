// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <cstring>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <vector>

#include "models/nvme/controller.h"
#include "tests/models/pcie/fixture.h"

namespace nvme::test {

using pcie::pause;

/// The 16 words of a command.
using Words = std::array<std::uint32_t, 16>;

struct Completion {
  std::uint32_t result = 0;
  std::uint16_t head = 0;
  std::uint16_t queue = 0;
  std::uint16_t id = 0;
  std::uint16_t code = 0xffff;  ///< type and code of the status; 0xffff if nothing has come
  bool more = false;
  bool final = false;  ///< Do Not Retry
};

inline Words command(unsigned opcode, std::uint32_t name_space = 0, std::uint64_t prp1 = 0,
                     std::uint64_t prp2 = 0) {
  Words words{};
  words[0] = opcode;
  words[1] = name_space;
  words[6] = static_cast<std::uint32_t>(prp1);
  words[7] = static_cast<std::uint32_t>(prp1 >> 32);
  words[8] = static_cast<std::uint32_t>(prp2);
  words[9] = static_cast<std::uint32_t>(prp2 >> 32);
  return words;
}
inline Words with(Words words, std::map<unsigned, std::uint32_t> values) {
  for (const auto& [word, value] : values) words[word] = value;
  return words;
}

constexpr unsigned flush = 0, write = 1, read = 2, compare = 5, write_zeroes = 8, trim = 9;
constexpr std::uint32_t fua = 1u << 30;
constexpr std::uint64_t data = 0x100000;  // host memory for data

inline Words io(unsigned opcode, std::uint64_t block, unsigned blocks, std::uint64_t prp1 = data,
                std::uint64_t prp2 = 0, std::uint32_t name_space = 1) {
  return with(command(opcode, name_space, prp1, prp2),
              {{10, static_cast<std::uint32_t>(block)},
               {11, static_cast<std::uint32_t>(block >> 32)},
               {12, blocks - 1}});
}

/// Short latencies, a medium of 1 GB/s, and two blank disks with blocks of 512 and 4096 bytes.
inline ControllerConfig small_config() {
  ControllerConfig config;
  config.namespaces.resize(2);
  config.namespaces[0].size = 1 << 20;
  config.namespaces[1].size = 1 << 20;
  config.namespaces[1].block_size = 4096;
  config.read_latency = 10 * vp::us;
  config.write_latency = 5 * vp::us;
  config.admin_latency = 1 * vp::us;
  config.bytes_per_second = 1'000'000'000;
  config.ready_time = 10 * vp::us;
  config.queue_pairs = 4;
  config.queue_entries = 64;
  config.commands = 16;
  config.max_transfer = 1 << 17;
  config.serial_number = "S1";
  return config;
}

/// A host with the driver's part of a controller behind function 1 of the endpoint.
class Host : public pcie::Fixture {
 public:
  static constexpr pcie::Id function_id = pcie::make_id(1, 0, 1);
  static constexpr std::uint64_t bar = 0xc0180000;
  static constexpr std::uint64_t messages = 0xfee00000;
  static constexpr unsigned cc = 0x14, csts = 0x1c, aqa = 0x24, asq = 0x28, acq = 0x30;
  static constexpr std::uint32_t enabled = 0x00460001;  // EN, entries of 64 and 16 bytes

  /// With a slow link of one lane of 2.5 GT/s, writes have to wait for room.
  explicit Host(const ControllerConfig& config = small_config(), bool slow_link = false)
      : Fixture(with_function(config, slow_link)),
        controller("nvme", config, card, trace, statistics) {
    pcie::Function& function = endpoint.function(1);
    function.bar.bind(controller.bar);
    controller.host.dma.bind(function.dma);
    controller.interrupt.bind(function);
    function.on_reset([this] { controller.reset(); });
    memory.bytes.resize(0x400000);
    memory.keep_writes = false;
  }

  /// Sets up the function and its vectors, without the controller.
  void find() {
    enumerate();
    config_write(function_id, pcie::Type0Header::bar(0), static_cast<std::uint32_t>(bar), 4);
    config_write(function_id, pcie::Type0Header::bar(1), 0, 4);
    config_write(function_id, pcie::Header::command, pcie::memory_and_master, 2);
  }
  void enable_msi_x(unsigned vectors = 5) {
    config_write(function_id,
                 find_capability(function_id, pcie::MsiX::id) + pcie::MsiX::message_control,
                 pcie::MsiX::ControlBit::enable, 2);
    for (unsigned i = 0; i < vectors; ++i) {
      Fixture::write(bar + 0x2000 + 16 * i, messages, 8);
      Fixture::write(bar + 0x2008 + 16 * i, i, 4);
      Fixture::write(bar + 0x200c + 16 * i, 0, 4);
    }
  }
  std::uint64_t get(unsigned offset, unsigned bytes = 4) {
    return Fixture::read(bar + offset, bytes);
  }
  void put(unsigned offset, std::uint64_t value, unsigned bytes = 4) {
    Fixture::write(bar + offset, value, bytes);
  }

  /// Enables the controller with admin queues of so many entries, and waits until it is ready.
  void enable(unsigned entries = 16, std::uint32_t configuration = enabled) {
    queues_.clear();
    queues_[0] = {0x1000, 0x2000, entries, entries};
    std::fill(&memory.bytes[0x1000], &memory.bytes[0x3000], 0);
    put(aqa, (entries - 1) | (entries - 1) << 16);
    put(asq, 0x1000, 8);
    put(acq, 0x2000, 8);
    put(cc, configuration);
    wait_for_status(1, 1);
  }
  void disable() {
    put(cc, 0);
    wait_for_status(1, 0);
  }
  void wait_for_status(std::uint32_t mask, std::uint32_t value) {
    for (int i = 0; i < 10'000; ++i) {
      if ((get(csts) & mask) == value) return;
      pause(1 * vp::us);
    }
    ADD_FAILURE() << "CSTS is " << get(csts);
  }
  /// Makes everything ready for I/O on queue 1.
  void begin(unsigned entries = 16) {
    find();
    enable_msi_x();
    enable();
    create(1, entries);
  }
  /// Creates an I/O queue pair, with its own number as its vector.
  void create(unsigned queue, unsigned entries = 16, bool interrupts = true) {
    const std::uint64_t submission = 0x10000 + queue * 0x4000,
                        completion = 0x80000 + queue * 0x1000;
    std::fill(&memory.bytes[completion], &memory.bytes[completion + 0x1000], 0);
    EXPECT_EQ(admin(with(command(5, 0, completion), {{10, queue | (entries - 1) << 16},
                                                     {11, 1u | interrupts << 1 | queue << 16}}))
                  .code,
              0u);
    EXPECT_EQ(admin(with(command(1, 0, submission),
                         {{10, queue | (entries - 1) << 16}, {11, 1u | queue << 16}}))
                  .code,
              0u);
    queues_[queue] = {submission, completion, entries, entries};
  }

  /// Puts a command into a submission queue and returns its ID. ring() tells the controller.
  std::uint16_t submit(unsigned queue, Words words) {
    Queue& to = queues_.at(queue);
    words[0] |= std::uint32_t{next_id_} << 16;
    return submit_as_is(to, words);
  }
  void ring(unsigned queue) { put(0x1000 + 8 * queue, queues_.at(queue).tail); }

  /// The next completion if there is one. The queue's head moves on; acknowledge() tells the
  /// controller.
  std::optional<Completion> poll(unsigned queue) {
    Queue& from = queues_.at(queue);
    std::uint32_t entry[4];
    std::memcpy(entry, &memory.bytes[from.completion + 16 * from.head], sizeof(entry));
    if ((entry[3] >> 16 & 1) != from.phase) return std::nullopt;
    if (++from.head == from.completion_entries) {
      from.head = 0;
      from.phase ^= 1;
    }
    Completion completion;
    completion.result = entry[0];
    completion.head = static_cast<std::uint16_t>(entry[2]);
    completion.queue = static_cast<std::uint16_t>(entry[2] >> 16);
    completion.id = static_cast<std::uint16_t>(entry[3]);
    completion.code = entry[3] >> 17 & 0x7ff;
    completion.more = entry[3] >> 30 & 1;
    completion.final = entry[3] >> 31;
    return completion;
  }
  void acknowledge(unsigned queue) { put(0x1004 + 8 * queue, queues_.at(queue).head); }
  /// Waits for a completion, up to 100 ms.
  Completion wait_for(unsigned queue) {
    for (int i = 0; i < 100'000; ++i) {
      if (const auto completion = poll(queue)) {
        acknowledge(queue);
        return *completion;
      }
      pause(1 * vp::us);
    }
    ADD_FAILURE() << "no completion in queue " << queue;
    return {};
  }
  Completion run_command(unsigned queue, const Words& words) {
    const std::uint16_t id = submit(queue, words);
    ring(queue);
    const Completion completion = wait_for(queue);
    if (completion.code != 0xffff) {
      EXPECT_EQ(completion.id, id);
      EXPECT_EQ(completion.queue, queue);
    }
    return completion;
  }
  Completion admin(const Words& words) { return run_command(0, words); }
  Completion perform(const Words& words) { return run_command(1, words); }

  std::uint8_t* at(std::uint64_t address) { return &memory.bytes[address]; }
  std::vector<std::uint8_t> bytes(std::uint64_t address, std::size_t count) {
    return {at(address), at(address) + count};
  }
  /// Fills memory with bytes that depend on `seed`.
  void pattern(std::uint64_t address, std::size_t count, unsigned seed) {
    for (std::size_t i = 0; i < count; ++i) {
      *at(address + i) = static_cast<std::uint8_t>((i + seed * 7919) * 2654435761u >> 13 | 1);
    }
  }
  void put64(std::uint64_t address, std::uint64_t value) { std::memcpy(at(address), &value, 8); }
  template <typename Value>
  Value value(std::uint64_t address) {
    Value found;
    std::memcpy(&found, at(address), sizeof(found));
    return found;
  }
  std::uint64_t counter_of(const std::string& name) const {
    return statistics.json().at("counters").at("nvme." + name);
  }
  void reset_function() {
    const unsigned express = find_capability(function_id, pcie::PciExpress::id);
    config_write(function_id, express + pcie::PciExpress::device_control, 0x8000, 2);
  }

  struct Queue {
    std::uint64_t submission, completion;
    unsigned submission_entries, completion_entries;
    unsigned tail = 0, head = 0, phase = 1;
  };
  Queue& queue(unsigned number) { return queues_.at(number); }
  std::uint16_t submit_as_is(Queue& to, const Words& words) {
    std::memcpy(at(to.submission + 64 * to.tail), words.data(), 64);
    to.tail = (to.tail + 1) % to.submission_entries;
    ++next_id_;
    return static_cast<std::uint16_t>(words[0] >> 16);
  }

  Controller controller;

 private:
  static Config with_function(const ControllerConfig& controller_config, bool slow_link) {
    Config config;
    if (slow_link) {
      config.link.generation = 1;
      config.link.lanes = 1;
      config.link.transmit_queue = 0;
    }
    pcie::FunctionConfig function = Controller::function_config(controller_config);
    function.reset_time = 1 * vp::us;
    config.endpoint.functions.push_back(function);
    config.endpoint.completion_timeout = 100 * vp::us;
    return config;
  }

  std::map<unsigned, Queue> queues_;
  std::uint16_t next_id_ = 1;
};

}  // namespace nvme::test
