// SPDX-License-Identifier: Apache-2.0
// Registers, queues, interrupts and the life of an NVMe controller (NVMe 1.4, 3, 4, 7 and 9).
#include "models/nvme/controller.h"

#include <gtest/gtest.h>

#include <random>

#include "tests/models/nvme/fixture.h"

namespace nvme::test {
namespace {

constexpr std::uint32_t ready = 1, fatal = 2, shut_down = 8;

TEST(NvmeController, RegistersSayWhatItCanDo) {
  Host host;
  host.run([&] {
    host.find();
    // MQES 63, CQR, TO 500 ms, NVM command set, pages from 4 to 64 KiB.
    const std::uint64_t capabilities =
        63 | 1u << 16 | 1u << 24 | std::uint64_t{1} << 37 | std::uint64_t{4} << 52;
    EXPECT_EQ(host.get(0, 8), capabilities);
    EXPECT_EQ(host.get(4), capabilities >> 32);
    EXPECT_EQ(host.get(6, 2), capabilities >> 48);
    EXPECT_EQ(host.get(8), 0x00010400u);
    for (unsigned offset = 0x0c; offset < 0x1000; offset += offset < 0x60 ? 4 : 0x5c) {
      EXPECT_EQ(host.get(offset), 0u) << offset;
    }
    EXPECT_EQ(host.get(0x1000), 0u);
    EXPECT_EQ(host.get(0x2ffc), 0u);
    EXPECT_EQ(host.config_read(Host::function_id, pcie::Header::revision_id, 4) >> 8, 0x010802u);
  });
}

TEST(NvmeController, WritesTakeEffectInWholeWords) {
  Host host;
  host.run([&] {
    host.find();
    host.put(Host::aqa, ~0u);
    EXPECT_EQ(host.get(Host::aqa), 0x0fff0fffu);
    host.put(Host::asq, ~std::uint64_t{0}, 8);
    EXPECT_EQ(host.get(Host::asq, 8), 0xfffffffffffff000);
    host.put(Host::acq, 0x12345fff);
    host.put(Host::acq + 4, 0x9abcdef0);
    EXPECT_EQ(host.get(Host::acq, 8), 0x9abcdef012345000);
    // 3.1: an access of another size is undefined, and this controller ignores it.
    host.put(Host::aqa, 0, 1);
    host.put(Host::aqa, 0, 2);
    host.put(Host::aqa + 2, 0, 4);
    host.put(Host::aqa + 1, 0, 2);
    EXPECT_EQ(host.get(Host::aqa), 0x0fff0fffu);
    host.put(0, 0, 8);
    host.put(8, 0, 4);
    host.put(Host::csts, ~0u);
    EXPECT_EQ(host.get(8), 0x00010400u);
    EXPECT_EQ(host.get(Host::csts), 0u);
    host.put(0x0c, 0x5);
    host.put(0x10, 0x4);
    EXPECT_EQ(host.get(0x0c), 1u);
    EXPECT_EQ(host.get(0x10), 1u);
    host.put(0x1008, 3);
    EXPECT_EQ(host.get(Host::csts), 0u) << "a doorbell means nothing yet";
  });
}

TEST(NvmeController, IsReadyWhenItsTimeHasCome) {
  Host host;
  host.run([&] {
    host.find();
    host.put(Host::aqa, 0x000f000f);
    host.put(Host::asq, 0x1000, 8);
    host.put(Host::acq, 0x2000, 8);
    host.put(Host::cc, 1);
    const vp::Picoseconds start = vp::now();
    EXPECT_EQ(host.get(Host::csts), 0u);
    while (host.get(Host::csts) != ready) pause(100 * vp::ns);
    EXPECT_GE(vp::now() - start, 9 * vp::us);
    EXPECT_LE(vp::now() - start, 12 * vp::us);
    host.put(Host::cc, 0);
    EXPECT_EQ(host.get(Host::csts), 0u);
    EXPECT_EQ(host.get(Host::aqa), 0x000f000fu) << "7.3.2: these registers stay";
    EXPECT_EQ(host.get(Host::acq, 8), 0x2000u);
  });
}

TEST(NvmeController, ImpossibleConfigurationsAreFatal) {
  Host host;
  host.run([&] {
    host.find();
    struct Case {
      std::uint32_t configuration, attributes;
      std::uint64_t submission, completion;
    };
    for (const Case& one :
         {Case{1 | 1 << 4, 0x000f000f, 0x1000, 0x2000},
          Case{1 | 1 << 11, 0x000f000f, 0x1000, 0x2000},
          Case{1 | 5 << 7, 0x000f000f, 0x1000, 0x2000}, Case{1, 0x000f0000, 0x1000, 0x2000},
          Case{1, 0x0000000f, 0x1000, 0x2000}, Case{1 | 1 << 7, 0x000f000f, 0x1000, 0x2000},
          Case{1 | 1 << 7, 0x000f000f, 0x2000, 0x1000}}) {
      host.put(Host::aqa, one.attributes);
      host.put(Host::asq, one.submission, 8);
      host.put(Host::acq, one.completion, 8);
      host.put(Host::cc, one.configuration);
      pause(100 * vp::us);
      EXPECT_EQ(host.get(Host::csts), fatal) << one.configuration;
      host.put(Host::cc, 0);
      EXPECT_EQ(host.get(Host::csts), 0u);
    }
    host.enable();
    EXPECT_EQ(host.get(Host::csts), ready);
  });
}

// 7.6.2: what was cached becomes durable, and the medium takes its time for it.
TEST(NvmeController, ShutdownFlushesTheCache) {
  ControllerConfig config = small_config();
  config.namespaces[0].cache = 256 * 512;
  Host host(config);
  host.run([&] {
    for (const std::uint32_t kind : {1u << 14, 2u << 14}) {
      host.begin();
      host.pattern(data, 8192, kind);
      EXPECT_EQ(host.perform(io(write, 0, 16, data, data + 4096)).code, 0u);
      const vp::Picoseconds start = vp::now();
      host.put(Host::cc, Host::enabled | kind);
      EXPECT_EQ(host.get(Host::csts), ready | 4);
      while (host.get(Host::csts) != (ready | shut_down)) pause(100 * vp::ns);
      EXPECT_NEAR(static_cast<double>(vp::now() - start), 8192.0 * vp::ns, 1500.0 * vp::ns);
      host.submit(1, io(read, 0, 1));
      host.ring(1);
      pause(100 * vp::us);
      EXPECT_FALSE(host.poll(1)) << "nothing is fetched after that";
      EXPECT_EQ(host.controller.lose_power(), 0u);
      host.reset_function();
      pause(10 * vp::us);
      EXPECT_EQ(host.counter_of("blocks_written_back"), kind >> 14 == 1 ? 16u : 32u);
    }
    host.begin();
    host.put(Host::cc, 0);
    host.put(Host::cc, 1u << 14);
    EXPECT_EQ(host.get(Host::csts), shut_down) << "also while it is disabled";
  });
}

// What a controller reset or a reset of the function ends leaves no trace in memory afterwards,
// at whatever moment it comes.
TEST(NvmeController, NothingOfAnOldLifeArrives) {
  Host host;
  host.run([&] {
    for (const bool of_function : {false, true}) {
      for (vp::Picoseconds span = 0; span < 90 * vp::us; span += 3100 * vp::ns) {
        host.begin();
        for (unsigned i = 0; i < 8; ++i) {
          host.submit(1, io(i % 2 ? write : read, 16 * i, 16, data + 0x4000 * i,
                            data + 0x4000 * i + 0x1000));
        }
        host.submit(0, command(12));
        host.ring(0);
        host.ring(1);
        pause(span);
        if (of_function) {
          host.reset_function();
        } else {
          host.disable();
        }
        const std::size_t interrupts = host.memory.messages.size();
        std::memset(host.at(0x1000), 0xa5, 0x3ff000 - 0x1000);
        const auto before = host.memory.bytes;
        pause(300 * vp::us);
        ASSERT_TRUE(host.memory.bytes == before) << span;
        EXPECT_EQ(host.memory.messages.size(), interrupts);
        if (of_function) {
          host.find();
          for (const unsigned at : {Host::cc, Host::csts, Host::aqa, Host::asq, Host::acq}) {
            EXPECT_EQ(host.get(at), 0u);
          }
        }
      }
    }
    host.begin();
    EXPECT_EQ(host.perform(io(read, 0, 1)).code, 0u);
  });
}

// 7.3.2: writes that the function has accepted still reach memory, and CSTS.RDY waits for them.
TEST(NvmeController, IsDisabledAfterItsLastWrite) {
  Host host(small_config(), true);
  host.run([&] {
    host.begin();
    for (unsigned i = 0; i < 31; ++i) host.put64(0x30000 + 8 * i, data + 0x1000 * (i + 1));
    host.submit(1, io(read, 0, 256, data, 0x30000));
    host.ring(1);
    pause(300 * vp::us);
    const vp::Picoseconds start = vp::now();
    host.put(Host::cc, 0);
    EXPECT_EQ(host.get(Host::csts), ready) << "writes wait for the link";
    host.wait_for_status(1, 0);
    EXPECT_GT(vp::now() - start, 100 * vp::us);
    std::memset(host.at(data), 0xa5, 1 << 17);
    const auto before = host.memory.bytes;
    pause(5 * vp::ms);
    EXPECT_TRUE(host.memory.bytes == before);
    host.begin();
    EXPECT_EQ(host.perform(io(read, 0, 1)).code, 0u);
  });
}

TEST(NvmeController, QueuesOfAnOldLifeAreGone) {
  Host host;
  host.run([&] {
    host.begin();
    host.admin(with(command(9), {{10, 8}, {11, 0x0305}}));
    host.disable();
    host.enable();
    EXPECT_EQ(host.admin(with(command(0), {{10, 1}})).code, 0x101u) << "the queue";
    EXPECT_EQ(host.admin(with(command(10), {{10, 8}})).result, 0u) << "the feature";
    host.create(1);
    EXPECT_EQ(host.perform(io(read, 0, 1)).code, 0u);
  });
}

// 5.2, figure 146. The events wait for a request, one of a type at a time.
TEST(NvmeController, InvalidDoorbellsAreEvents) {
  Host host;
  host.run([&] {
    host.begin(8);
    host.put(0x1008, 8);  // beyond the queue
    host.put(0x100c, 1);  // more than it holds
    host.put(0x1010, 1);  // no such queue
    host.put(0x1ffc, 1);  // nor this one
    EXPECT_FALSE(host.poll(0));
    const std::uint16_t first = host.submit(0, command(12)), second = host.submit(0, command(12));
    host.ring(0);
    Completion event = host.wait_for(0);
    EXPECT_EQ(event.id, first);
    EXPECT_EQ(event.code, 0u);
    EXPECT_EQ(event.result, 0x00010100u) << "invalid value, log 1";
    pause(50 * vp::us);
    EXPECT_FALSE(host.poll(0)) << "an event of this type is not cleared yet";
    // 5.14: RAE keeps it, and the newest entry is the first.
    const Words log = with(command(2, 0, data), {{10, 1 | 1u << 15 | 63u << 16}});
    EXPECT_EQ(host.admin(log).code, 0u);
    EXPECT_EQ(host.value<std::uint64_t>(data), 4u);
    EXPECT_EQ(host.value<std::uint16_t>(data + 8), 511u) << "the queue";
    EXPECT_EQ(host.value<std::uint16_t>(data + 10), 0xffffu) << "no command";
    EXPECT_EQ(host.value<std::uint16_t>(data + 64 + 8), 2u);
    EXPECT_FALSE(host.poll(0));
    EXPECT_EQ(host.admin(with(log, {{10, 1 | 63u << 16}})).code, 0u);
    host.put(0x1010, 1);
    event = host.wait_for(0);
    EXPECT_EQ(event.id, second);
    EXPECT_EQ(event.result, 0x00010000u) << "invalid register";
    EXPECT_EQ(host.perform(io(read, 0, 1)).code, 0u) << "and queue 1 is as it was";
  });
}

// 9.5: without its queues the controller cannot say what is wrong.
TEST(NvmeController, QueuesThatCannotBeReachedAreFatal) {
  Host host;
  host.run([&] {
    for (unsigned kind = 0; kind < 4; ++kind) {
      host.begin();
      host.submit(1, io(read, 0, 1));
      switch (kind) {
        case 0:
          host.link.inject(pcie::Direction::down,
                           {pcie::Error::poisoned_tlp, pcie::TlpType::CplD, 1});
          break;
        case 1:
          host.link.inject(pcie::Direction::up,
                           {pcie::Error::unsupported_request, pcie::TlpType::MRd, 1});
          break;
        case 2:
          host.link.inject(pcie::Direction::up,
                           {pcie::Error::completion_timeout, pcie::TlpType::MRd, 1});
          break;
        default:
          break;
      }
      host.ring(1);
      if (kind == 3) {  // the entry of the completion cannot leave
        pause(5 * vp::us);
        host.config_write(Host::function_id, pcie::Header::command,
                          pcie::Header::CommandBit::memory_space, 2);
      }
      host.wait_for_status(ready | fatal, ready | fatal);
      EXPECT_FALSE(host.poll(1)) << kind;
      host.config_write(Host::function_id, pcie::Header::command, pcie::memory_and_master, 2);
      host.submit(0, command(6, 0, data));
      host.ring(0);
      pause(100 * vp::us);
      EXPECT_FALSE(host.poll(0)) << "it has stopped";
      host.disable();
      EXPECT_EQ(host.get(Host::csts), 0u);
    }
    EXPECT_EQ(host.counter_of("fatal_errors"), 4u);
    host.begin();
    EXPECT_EQ(host.perform(io(read, 0, 1)).code, 0u);
  });
}

// 4.6: entries, heads and phase tags over several passes, with every queue size from the smallest.
TEST(NvmeController, QueuesWrap) {
  Host host;
  host.run([&] {
    host.find();
    host.enable_msi_x();
    host.enable();
    unsigned queue = 1;
    for (const unsigned entries : {2u, 3u, 5u, 64u}) {
      host.create(queue, entries);
      for (unsigned i = 1; i <= 3 * entries + 1; ++i) {
        const Completion completion = host.run_command(queue, io(read, 0, 1));
        ASSERT_EQ(completion.code, 0u);
        EXPECT_EQ(completion.head, i % entries);
      }
      ++queue;
    }
  });
}

// A completion queue that the host does not read fills up, and no entry is overwritten.
TEST(NvmeController, AFullCompletionQueueIsNeverOverrun) {
  Host host;
  host.run([&] {
    host.find();
    host.enable_msi_x();
    host.enable();
    host.create(1, 16);
    host.create(2, 4);  // its completions have 3 places
    std::vector<std::uint16_t> ids;
    for (unsigned round = 0; round < 2; ++round) {
      for (unsigned i = 0; i < 3; ++i) ids.push_back(host.submit(2, io(read, i, 1)));
      host.ring(2);
      pause(50 * vp::us);
      EXPECT_EQ(host.counter_of("reads"), 3u) << "the others have no place for their completions";
    }
    EXPECT_EQ(host.perform(io(read, 0, 1)).code, 0u) << "other queues go on";
    unsigned seen = 0;
    for (unsigned i = 0; i < 1000 && seen < 6; ++i) {
      const auto completion = host.poll(2);
      if (completion) {
        EXPECT_EQ(completion->id, ids[seen++]);
        host.acknowledge(2);
      }
      pause(1 * vp::us);
    }
    EXPECT_EQ(seen, 6u);
  });
}

// 4.13.1: each queue has its turn, with as many commands as a burst has.
TEST(NvmeController, QueuesAreServedInTurn) {
  ControllerConfig config = small_config();
  config.commands = 1;
  Host host(config);
  host.run([&] {
    host.find();
    host.enable_msi_x();
    host.enable();
    host.create(1, 16);
    host.create(2, 16);
    EXPECT_EQ(host.admin(with(command(9), {{10, 1}, {11, 0}})).code, 0u) << "bursts of 1";
    for (unsigned i = 0; i < 10; ++i) host.submit(1, io(read, i, 1));
    host.ring(1);
    pause(1 * vp::us);
    for (unsigned i = 0; i < 3; ++i) host.submit(2, io(read, i, 1));
    host.ring(2);
    unsigned first = 0, second = 0;
    while (second < 3) {
      if (host.poll(1)) ++first;
      if (host.poll(2)) ++second;
      pause(500 * vp::ns);
    }
    EXPECT_GE(first, 3u);
    EXPECT_LE(first, 4u) << "and the second queue has not waited for all of the first";
  });
}

TEST(NvmeController, EachQueueHasItsVector) {
  Host host;
  host.run([&] {
    host.begin();
    host.create(2);
    host.create(3, 16, false);
    host.memory.messages.clear();
    for (const unsigned queue : {2u, 1u, 3u, 0u}) {
      host.run_command(queue, queue == 0 ? command(6, 1, data) : io(read, 0, 1));
    }
    pause(10 * vp::us);
    ASSERT_EQ(host.memory.messages.size(), 3u) << "queue 3 has no interrupts";
    EXPECT_EQ(host.memory.messages[0].data[0], 2);
    EXPECT_EQ(host.memory.messages[1].data[0], 1);
    EXPECT_EQ(host.memory.messages[2].data[0], 0);
  });
}

// An interrupt follows its entry, and the entry follows the data.
TEST(NvmeController, DataPrecedeTheEntryAndThatTheInterrupt) {
  Host host;
  host.memory.keep_writes = true;
  host.run([&] {
    host.begin();
    host.memory.writes.clear();
    host.memory.messages.clear();
    host.perform(io(read, 0, 16, data, data + 0x1000));
    pause(10 * vp::us);
    ASSERT_GE(host.memory.writes.size(), 3u);
    EXPECT_EQ(host.memory.writes.back().address, 0x81000u);
    for (std::size_t i = 0; i + 1 < host.memory.writes.size(); ++i) {
      EXPECT_GE(host.memory.writes[i].address, data);
    }
    ASSERT_EQ(host.memory.messages.size(), 1u);
    EXPECT_GE(host.memory.messages[0].when, host.memory.writes.back().when);
  });
}

// 5.21.1.8: an interrupt for so many entries, or after the time.
TEST(NvmeController, InterruptsAreCoalesced) {
  Host host;
  host.run([&] {
    host.begin();
    host.create(2);
    EXPECT_EQ(host.admin(with(command(9), {{10, 8}, {11, 3 | 2 << 8}})).code, 0u);
    EXPECT_EQ(host.admin(with(command(9), {{10, 9}, {11, 2 | 1 << 16}})).code, 0u);
    EXPECT_EQ(host.admin(with(command(10), {{10, 9}, {11, 2}})).result, 2u | 1 << 16);
    pause(10 * vp::us);
    host.memory.messages.clear();
    for (unsigned i = 0; i < 4; ++i) host.submit(1, io(read, i, 1));
    host.ring(1);
    pause(60 * vp::us);
    EXPECT_EQ(host.memory.messages.size(), 1u) << "one for four";
    const vp::Picoseconds start = vp::now();
    host.submit(1, io(read, 0, 1));
    host.ring(1);
    pause(400 * vp::us);
    ASSERT_EQ(host.memory.messages.size(), 2u);
    EXPECT_GE(host.memory.messages[1].when - start, 210 * vp::us) << "after 200 us";
    EXPECT_LE(host.memory.messages[1].when - start, 220 * vp::us);
    for (unsigned i = 0; i < 3; ++i) host.submit(2, io(read, i, 1));
    host.ring(2);
    pause(60 * vp::us);
    EXPECT_EQ(host.memory.messages.size(), 5u) << "vector 2 is not coalesced";
    host.admin(command(6, 1, data));
    pause(10 * vp::us);
    EXPECT_EQ(host.memory.messages.size(), 6u) << "nor is the admin queue";
  });
}

// 7.5.1.1: the pin follows the entries that the host has not taken, and the mask.
TEST(NvmeController, ThePinIsALevel) {
  Host host;
  host.run([&] {
    host.find();
    host.enable();
    EXPECT_TRUE(host.lines.changes.empty());
    host.submit(0, command(6, 1, data));
    host.submit(0, command(6, 1, data));
    host.ring(0);
    pause(50 * vp::us);
    EXPECT_EQ(host.lines.levels(), (std::vector<bool>{true}));
    host.put(0x0c, 1);
    pause(5 * vp::us);
    EXPECT_EQ(host.lines.levels(), (std::vector<bool>{true, false})) << "masked";
    host.put(0x10, 1);
    pause(5 * vp::us);
    EXPECT_EQ(host.lines.levels(), (std::vector<bool>{true, false, true}));
    EXPECT_TRUE(host.poll(0));
    host.acknowledge(0);
    pause(5 * vp::us);
    EXPECT_EQ(host.lines.levels().size(), 3u) << "another entry is left";
    EXPECT_TRUE(host.poll(0));
    host.acknowledge(0);
    pause(5 * vp::us);
    EXPECT_EQ(host.lines.levels(), (std::vector<bool>{true, false, true, false}));
    host.submit(0, command(6, 1, data));
    host.ring(0);
    pause(50 * vp::us);
    EXPECT_TRUE(host.lines.levels().back());
    host.disable();
    pause(5 * vp::us);
    EXPECT_FALSE(host.lines.levels().back()) << "a reset takes it back";
    EXPECT_TRUE(host.memory.messages.empty());
  });
}

TEST(NvmeController, MessagesOfMsiWaitWhileMasked) {
  Host host;
  host.run([&] {
    host.find();
    const unsigned at = host.find_capability(Host::function_id, pcie::Msi::id);
    host.config_write(Host::function_id, at + pcie::Msi::message_address, Host::messages, 4);
    host.config_write(Host::function_id, at + pcie::Msi::message_data, 0x40, 2);
    host.config_write(Host::function_id, at + pcie::Msi::message_control, 1 | 1 << 4, 2);
    host.enable();
    host.create(1);  // with the second of two vectors
    EXPECT_EQ(host.admin(with(command(5, 0, 0x90000), {{10, 2 | 7 << 16}, {11, 3 | 2 << 16}})).code,
              0x108u)
        << "there is no third";
    host.memory.messages.clear();
    host.put(0x0c, 2);
    host.submit(1, io(read, 0, 1));
    host.ring(1);
    pause(50 * vp::us);
    EXPECT_TRUE(host.memory.messages.empty());
    host.put(0x10, 2);
    pause(5 * vp::us);
    ASSERT_EQ(host.memory.messages.size(), 1u);
    EXPECT_EQ(host.memory.messages[0].data[0], 0x41);
    EXPECT_TRUE(host.lines.changes.empty());
  });
}

// Any words in any queue, any doorbells and registers, at any time. Afterwards all works.
TEST(NvmeController, AnySoftwareIsSurvived) {
  ControllerConfig config = small_config();
  config.namespaces[0].cache = 4096;
  Host host(config);
  host.run([&] {
    std::mt19937 random(1);
    const auto any = [&random](unsigned count) { return random() % count; };
    for (unsigned round = 0; round < 12; ++round) {
      host.begin(64);
      for (unsigned i = 0; i < 120; ++i) {
        Words words{};
        for (auto& word : words) word = any(3) ? 0 : random();
        words[0] = any(8) ? any(14) : random();
        words[0] &= any(4) ? 0xffffu & ~0xc300u : ~0u;
        words[1] = any(4) ? any(4) : random();
        words[6] = any(8) ? static_cast<std::uint32_t>(data) + any(0x200000) / 4 * 4 : random();
        words[7] = any(16) ? 0 : random();
        words[8] = any(4) ? static_cast<std::uint32_t>(data) + any(0x200) * 0x1000 : random();
        words[9] = any(16) ? 0 : random();
        words[10] = any(4) ? any(2100) : random();
        words[11] = any(4) ? any(4) : random();
        words[12] = any(4) ? any(300) : random();
        const unsigned queue = any(3) ? 1 : 0;
        host.submit(queue, words);
        if (any(2)) host.ring(queue);
        if (any(6) == 0) host.put(0x1000 + 4 * any(16), any(2) ? any(70) : random());
        if (any(3) == 0) {
          while (host.poll(queue)) continue;
          host.acknowledge(queue);
        }
        if (any(60) == 0) host.put(4 * any(16), random());
        if (any(40) == 0) host.put(Host::cc, any(2) ? Host::enabled : random());
        if (any(200) == 0) host.controller.lose_power();
        if (any(4) == 0) pause(any(40) * vp::us);
      }
      host.config_write(Host::function_id, pcie::Header::command, pcie::memory_and_master, 2);
      host.reset_function();
      pause(300 * vp::us);
    }
    host.begin();
    host.pattern(data, 4096, 1);
    EXPECT_EQ(host.perform(io(write, 0, 8)).code, 0u);
    EXPECT_EQ(host.perform(io(read, 0, 8, data + 0x1000)).code, 0u);
    EXPECT_EQ(host.bytes(data, 4096), host.bytes(data + 0x1000, 4096));
  });
}

TEST(NvmeController, ImpossibleConfigurations) {
  vp::Domain domain("domain");
  vp::Trace trace;
  vp::Statistics statistics;
  const auto refused = [&](const std::function<void(ControllerConfig&)>& change) {
    ControllerConfig config = small_config();
    change(config);
    EXPECT_THROW(
        Controller(sc_core::sc_gen_unique_name("controller"), config, domain, trace, statistics),
        ConfigurationError);
  };
  refused([](ControllerConfig& config) { config.namespaces.clear(); });
  refused([](ControllerConfig& config) { config.namespaces.resize(257); });
  refused([](ControllerConfig& config) { config.namespaces[1].size = 0; });
  refused([](ControllerConfig& config) { config.read_latency = -1; });
  refused([](ControllerConfig& config) { config.write_latency = -1; });
  refused([](ControllerConfig& config) { config.admin_latency = -1; });
  refused([](ControllerConfig& config) { config.bytes_per_second = 0; });
  refused([](ControllerConfig& config) { config.ready_time = 127 * vp::s + 1; });
  for (const unsigned pairs : {0u, 256u}) {
    refused([pairs](ControllerConfig& config) { config.queue_pairs = pairs; });
  }
  for (const unsigned entries : {1u, 65537u}) {
    refused([entries](ControllerConfig& config) { config.queue_entries = entries; });
  }
  for (const unsigned commands : {0u, 4097u}) {
    refused([commands](ControllerConfig& config) { config.commands = commands; });
  }
  for (const unsigned bytes : {0u, 4096u, 12288u, 1u << 24}) {
    refused([bytes](ControllerConfig& config) { config.max_transfer = bytes; });
  }
  for (const unsigned temperature : {0u, 65536u}) {
    refused([temperature](ControllerConfig& config) { config.temperature = temperature; });
  }
  for (const char* text : {"", "123456789012345678901", "a\n"}) {
    refused([text](ControllerConfig& config) { config.serial_number = text; });
  }
  refused([](ControllerConfig& config) { config.model_number = std::string(41, 'a'); });
}

}  // namespace
}  // namespace nvme::test
