// SPDX-License-Identifier: Apache-2.0
// The two libraries of the RTL: both do the same at every edge, and only one checks assertions.
#include "models/oae/rtl.h"

#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <random>
#include <set>
#include <stdexcept>
#include <tuple>
#include <vector>

#include "oae_registers.h"
#include "tests/models/oae/rtl_traffic.h"

namespace {

constexpr unsigned ports = RtlTraffic::ports;

std::unique_ptr<oae::BlockRtl> powered(bool checked) {
  auto block = oae::make_block_rtl(checked);
  block->ports = ports;
  block->clock_khz = 500'000;
  block->completion_ready = 1;
  block->dma_ready = 1;
  block->interrupt_ready = 1;
  block->axi_bready = 1;
  block->axi_rready = 1;
  block->reset = 1;
  do {
    block->rise();
    block->reset = 0;
  } while (block->busy);
  return block;
}

/// The values of all outputs.
std::vector<std::uint64_t> outputs(const oae::BlockRtl& block) {
  std::vector<std::uint64_t> values = {block.axi_awready,
                                       block.axi_bvalid,
                                       block.axi_bresp,
                                       block.axi_arready,
                                       block.axi_rvalid,
                                       block.axi_rdata,
                                       block.axi_rresp,
                                       block.request_ready,
                                       block.completion_valid,
                                       block.dma_valid,
                                       block.dma_address,
                                       block.dma_class,
                                       block.interrupt_valid,
                                       block.interrupt_vector,
                                       block.irq,
                                       block.trace_valid,
                                       block.trace_port,
                                       block.trace_epoch,
                                       block.trace_sequence,
                                       block.trace_from,
                                       block.trace_to,
                                       block.idle,
                                       block.busy,
                                       block.deadline_valid,
                                       block.deadline};
  values.insert(values.end(), block.completion_data, block.completion_data + 16);
  values.insert(values.end(), block.dma_data, block.dma_data + 16);
  return values;
}

TEST(Rtl, BothLibrariesDoTheSameAtEveryEdge) {
  unsigned exchanged = 0, committed = 0, reversed = 0, pushed = 0;
  for (unsigned seed = 1; seed <= 8; ++seed) {
    const auto checked = powered(true);
    const auto fast = powered(false);
    RtlTraffic to_checked(*checked, seed);
    RtlTraffic to_fast(*fast, seed);
    for (unsigned edge = 0; edge < 40'000; ++edge) {
      to_checked.drive();
      to_fast.drive();
      ASSERT_EQ(outputs(*fast), outputs(*checked)) << "before edge " << edge << ", seed " << seed;
      pushed += fast->dma_valid;
      to_checked.rise();
      to_fast.rise();
      ASSERT_EQ(outputs(*fast), outputs(*checked)) << "after edge " << edge << ", seed " << seed;
    }
    exchanged += to_fast.exchanged;
    committed += to_fast.committed;
    reversed += to_fast.reversed;
  }
  // The traffic must have reached these events.
  EXPECT_GT(exchanged, 1000u);
  EXPECT_GT(committed, 1000u);
  EXPECT_GT(reversed, 200u);
  EXPECT_GT(pushed, 1000u);
}

/// Reads a word by running its clocks, of which it returns the number.
unsigned clock_read(oae::BlockRtl& block, const oae::RegisterRead& read, std::uint64_t& now,
                    oae::RegisterAnswer& answer) {
  const unsigned word = read.word % 8;
  if (read.host) {
    block.request_valid = 1;
    block.request_write = block.request_reset = 0;
    block.request_bar = static_cast<std::uint8_t>(read.bar);
    block.request_line = static_cast<std::uint16_t>(read.word / 8);
    block.request_enable = std::uint64_t{0xff} << 8 * word;
  } else {
    block.axi_arvalid = 1;
    block.axi_araddr = static_cast<std::uint32_t>(8 * read.word);
  }
  block.completion_ready = block.dma_ready = block.interrupt_ready = 1;
  for (unsigned clocks = 1; clocks < 100; ++clocks) {
    block.now = ++now;
    block.settle();
    if (block.completion_valid || block.axi_rvalid) {
      answer.error = block.axi_rvalid && block.axi_rresp != 0;
      answer.value = block.axi_rdata;
      if (read.host) std::memcpy(&answer.value, block.completion_data + 2 * word, 8);
      block.rise();
      return clocks;
    }
    block.rise();
    block.request_valid = block.axi_arvalid = 0;
  }
  return 0;
}

/// Whether a read is one of a port's tentative or committed slot, while it has both.
bool reads_a_slot_of_two(oae::BlockRtl& block, const oae::RegisterRead& read, std::uint64_t now) {
  if (read.host || read.word < OAE_FIRMWARE_TENTATIVE_AT(0) / 8) return false;
  const std::uint64_t in_port = read.word % 32;
  if (in_port < OAE_FIRMWARE_TENTATIVE_AT(0) / 8 % 32) return false;
  const std::uint64_t of_status = read.word - in_port + OAE_FIRMWARE_STATUS_AT(0) / 8 % 32;
  const std::uint64_t status = block.peek({false, 0, of_status}, now + 2).value;
  return (status & OAE_FIRMWARE_STATUS_TENTATIVE_MASK) &&
         (status & OAE_FIRMWARE_STATUS_COMMITTED_MASK);
}

// Reads every word that there is, in states that random traffic has made, first without the clock
// and then with it.
TEST(Rtl, AnswersWithoutTheClockEqualThoseWithIt) {
  std::vector<oae::RegisterRead> reads;
  for (std::uint64_t word = 0; word < 8 * 80; ++word) reads.push_back({true, 0, word});
  for (unsigned port = 0; port <= ports; ++port) {
    for (std::uint64_t word = 0; word < 24; ++word) {
      reads.push_back({true, 2, port * OAE_PORT_SIZE / 8 + word});
      reads.push_back({true, 4, port * OAE_STREAM_SIZE / 8 + word});
    }
    for (std::uint64_t word = 0; word < 32; ++word) {
      reads.push_back({false, 0, OAE_FIRMWARE_OFFER_AT(port) / 8 + word});
    }
  }
  for (std::uint64_t word = 0; word < 32; ++word) reads.push_back({false, 0, word});
  // In which bank a slot of the firmware is depends on the swaps so far, so that these reads are as
  // frequent as all others.
  std::vector<oae::RegisterRead> slots;
  for (unsigned port = 0; port < ports; ++port) {
    for (std::uint64_t slice = 0; slice < 8; ++slice) {
      slots.push_back({false, 0, OAE_FIRMWARE_OFFER_AT(port) / 8 + slice});
      slots.push_back({false, 0, OAE_FIRMWARE_TENTATIVE_AT(port) / 8 + slice});
      slots.push_back({false, 0, OAE_FIRMWARE_COMMITTED_AT(port) / 8 + slice});
    }
  }

  const auto block = powered(false);
  RtlTraffic traffic(*block, 1);
  std::set<std::tuple<bool, unsigned, std::uint64_t>> answered;
  std::set<std::uint64_t> values;
  unsigned with_both = 0;
  std::mt19937 random(1);
  for (unsigned round = 0; round < 30'000; ++round) {
    for (unsigned edge = random() % 8; edge > 0; --edge) {
      traffic.drive();
      traffic.rise();
    }
    traffic.finish();
    const std::vector<oae::RegisterRead>& among = random() % 2 ? reads : slots;
    const oae::RegisterRead read = among[random() % among.size()];
    std::uint64_t now = traffic.now();
    if (block->deadline_valid && block->deadline < now + 10) continue;
    const oae::RegisterAnswer answer = block->peek(read, now + 2);
    const bool asks = read.host && read.bar != 0 && read.word % (OAE_PORT_SIZE / 8) < 8;
    const bool asks_for_push =
        read.host && read.bar == 2 && read.word % (OAE_PORT_SIZE / 8) == OAE_PORT_PUSHED_ANSWER / 8;
    const bool of_words = !read.host && read.word >= OAE_FIRMWARE_WORD_OPERAND / 8 &&
                          read.word <= OAE_FIRMWARE_WORD_OUTCOME / 8;
    const bool in_use = !read.host || read.word / (OAE_PORT_SIZE / 8) < ports;
    EXPECT_EQ(answer.possible, !((asks || asks_for_push) && in_use) && !of_words)
        << read.host << ' ' << read.bar << ' ' << read.word;
    if (!answer.possible) continue;
    oae::RegisterAnswer clocked;
    const unsigned clocks = clock_read(*block, read, now, clocked);
    ASSERT_EQ(answer.value, clocked.value) << read.host << ' ' << read.bar << ' ' << read.word;
    ASSERT_EQ(answer.error, clocked.error) << read.host << ' ' << read.bar << ' ' << read.word;
    ASSERT_EQ(clocks, 4 + answer.more) << read.host << ' ' << read.bar << ' ' << read.word;
    traffic.skip_to(now);
    answered.insert({read.host, read.bar, read.word});
    values.insert(answer.value);
    with_both += reads_a_slot_of_two(*block, read, now);
  }
  EXPECT_GT(answered.size(), reads.size() * 9 / 10);
  EXPECT_GT(values.size(), 1000u);
  EXPECT_GT(with_both, 500u);
}

/// Executes a write by running its clocks.
oae::WriteEffect clock_write(oae::BlockRtl& block, const oae::LineWrite& write,
                             std::uint64_t& now) {
  block.completion_ready = block.dma_ready = block.interrupt_ready = 1;
  if (write.host) {
    block.request_valid = block.request_write = 1;
    block.request_reset = 0;
    block.request_bar = static_cast<std::uint8_t>(write.bar);
    block.request_line = static_cast<std::uint16_t>(write.line);
    block.request_enable = write.enable;
    std::memcpy(block.request_data, write.bytes, 64);
  } else {
    unsigned word = 0;
    while (word < 7 && (write.enable >> 8 * word & 0xff) == 0) ++word;
    block.axi_awvalid = block.axi_wvalid = 1;
    block.axi_awaddr = static_cast<std::uint32_t>(64 * write.line + 8 * word);
    std::memcpy(&block.axi_wdata, write.bytes + 8 * word, 8);
    block.axi_wstrb = static_cast<std::uint8_t>(write.enable >> 8 * word);
  }
  const unsigned fewest = write.host ? 3 : 4;
  unsigned clocks = 0;
  oae::WriteEffect effect;
  do {
    block.now = ++now;
    block.settle();
    block.rise();
    block.request_valid = block.axi_awvalid = block.axi_wvalid = 0;
    if (block.trace_valid) {
      effect.change = {block.trace_port, block.trace_epoch, block.trace_sequence, block.trace_from,
                       block.trace_to};
    }
    ++clocks;
  } while (block.busy && clocks < 100);
  effect.more = clocks - fewest;
  return effect;
}

auto fields(const oae::JournalChange& change) {
  return std::make_tuple(change.port, change.epoch, change.sequence, change.from, change.to);
}

/// A block whose slots are filled without the clock, and one with the same traffic, all of which is
/// clocked.
struct Twins {
  explicit Twins(unsigned seed) : random(seed), to_fast(*fast, seed), to_checked(*checked, seed) {}

  unsigned one_of(unsigned count) { return static_cast<unsigned>(random() % count); }

  void run_traffic(unsigned edges) {
    for (unsigned edge = 0; edge < edges; ++edge) {
      to_fast.drive();
      to_checked.drive();
      to_fast.rise();
      to_checked.rise();
      ASSERT_EQ(outputs(*fast), outputs(*checked)) << "at " << to_fast.now();
    }
    to_fast.finish();
    to_checked.finish();
    ASSERT_EQ(to_fast.now(), to_checked.now());
  }

  /// Reads in both.
  void read(const oae::RegisterRead& read) {
    oae::RegisterAnswer answer, expected;
    std::uint64_t now = to_fast.now(), same = now;
    EXPECT_EQ(clock_read(*fast, read, now, answer), clock_read(*checked, read, same, expected));
    ASSERT_EQ(answer.value, expected.value) << read.host << ' ' << read.bar << ' ' << read.word;
    ASSERT_EQ(outputs(*fast), outputs(*checked));
    skip_to(now);
  }

  /// Writes in both, in the first one without the clock if that is possible.
  void write(const oae::LineWrite& write, bool in_use) {
    const bool command = !write.host && write.line % 4 != OAE_FIRMWARE_OFFER_AT(0) / 64 % 4;
    const bool due = fast->deadline_valid && fast->deadline < to_fast.now() + 10;
    const oae::WriteEffect effect = due ? oae::WriteEffect{} : fast->execute(write);
    const bool executed = effect.possible;
    if (executed) {
      const auto irq = fast->irq;  // has its new level at once, and keeps it
      fast->settle();
      EXPECT_EQ(fast->irq, irq);
    }
    std::uint64_t now = to_fast.now(), same = now;
    const oae::WriteEffect clocked = clock_write(*checked, write, now);
    if (executed) {
      EXPECT_TRUE(in_use) << write.host << ' ' << write.bar << ' ' << write.line;
      EXPECT_EQ(effect.more, clocked.more);
      ASSERT_EQ(effect.change.has_value(), clocked.change.has_value());
      if (effect.change) {
        EXPECT_EQ(fields(*effect.change), fields(*clocked.change));
      }
    } else {
      EXPECT_FALSE(in_use && !due && clocked.more == 0)
          << write.host << ' ' << write.bar << ' ' << write.line;
    }
    (command ? commands : fills[write.host]) += executed && effect.more != 2;
    judged[write.host] += executed && effect.more == 2;
    confirmed[effect.more == 1] += effect.change.has_value();
    if (!executed) clock_write(*fast, write, same);
    (command ? other_commands : others[write.host]) += in_use && !due && !executed;
    // From here on whose turn is next, and what is left on the pins, is the same again.
    const std::uint8_t zero[64] = {};
    const oae::LineWrite harmless{false, 0, OAE_FIRMWARE_WORD_OPERAND / 64, zero, 0xff};
    clock_write(*fast, harmless, same = now);
    clock_write(*checked, harmless, now);
    skip_to(now);
    ASSERT_EQ(outputs(*fast), outputs(*checked));
  }

  void write_anything() {
    std::uint64_t line[8];
    for (std::uint64_t& word : line) word = random();
    const unsigned port = one_of(ports + 1);
    const unsigned word = one_of(8);
    oae::LineWrite write{one_of(2) != 0, 2 + 2 * one_of(2), 0,
                         reinterpret_cast<const std::uint8_t*>(line), 0};
    const unsigned part = one_of(3);  // of the port's registers; the first are those of its slot
    if (write.host) {
      const unsigned size = write.bar == 2 ? OAE_PORT_SIZE : OAE_STREAM_SIZE;
      write.line = (port * size + part * 64) / 64;
      write.enable = one_of(4) == 0 ? random() : std::uint64_t{0xff} << 8 * word;
    } else {
      write.line = OAE_FIRMWARE_OFFER_AT(port) / 64 + part;
      write.enable = (one_of(4) == 0 ? 1 + random() % 0xff : 0xff) << 8 * word;
      write.word = word;
      if (part == 1) line[word] &= 0x7f07;
    }
    const std::uint64_t address = 64 * write.line + 8 * write.word;
    const bool command = !write.host && (address == OAE_FIRMWARE_COMMAND_AT(port) ||
                                         address == OAE_FIRMWARE_EVENT_AT(port));
    const bool confirms =
        write.host && part == 1 && write.enable == std::uint64_t{0xff} << OAE_PORT_CONFIRM % 64;
    this->write(write, port < ports && (part == 0 || ((command || confirms) && !joined(port))));
    if (port >= ports) return;
    if (!write.host) read({false, 0, OAE_FIRMWARE_OFFER_AT(port) / 8 + word});
    read({false, 0, OAE_FIRMWARE_STATUS_AT(port) / 8});
    read({true, 0, OAE_HOST_PORT_REJECTED_AT(port) / 8});
  }

  /// Both sides write their offers in pieces, the host in any order. It asks for the answer and
  /// confirms the swap.
  void swap() {
    const unsigned port = one_of(ports);
    const std::uint64_t state = state_of(port);
    Header header;
    header.epoch = static_cast<std::uint8_t>(OAE_GET(state, OAE_HOST_PORT_STATE_EPOCH));
    header.sequence = static_cast<std::uint32_t>(OAE_GET(state, OAE_HOST_PORT_STATE_SEQUENCE)) + 1;
    header.attempt = static_cast<std::uint8_t>(one_of(64));
    const Slot answer = make_slot(header, random());
    if (one_of(4) == 0) header.flags = OAE_FLAG_MORE;
    const bool of_words = one_of(4) == 0;
    if (of_words) header.verb = OAE_VERB_FETCH_ADD;
    Slot slot = make_slot(header, random());
    if (of_words) {
      slot[1] = one_of(4);  // a word
      seal(slot);
    }
    const unsigned first = one_of(8);
    for (unsigned i = 0; i < 8; ++i) {
      const unsigned word = (first + 3 * i) % 8;
      write_word(false, OAE_FIRMWARE_OFFER_AT(port) + 8 * i, answer[i], true);
      write_word(true, port * OAE_PORT_SIZE + 8 * word, slot[word], true);
    }
    write_word(false, OAE_FIRMWARE_COMMAND_AT(port),
               OAE_FIRMWARE_COMMAND_PUBLISH_MASK | (one_of(4) ? OAE_FIRMWARE_COMMAND_TAKE_MASK : 0),
               !joined(port));
    read({true, 2, (port * OAE_PORT_SIZE + OAE_PORT_PUSHED_ANSWER) / 8u});
    swapped += OAE_GET(state_of(port), OAE_HOST_PORT_STATE_SEQUENCE) == header.sequence;
    if (header.flags != 0 && one_of(2)) return;  // the next offer confirms it
    write_word(true, port * OAE_PORT_SIZE + OAE_PORT_CONFIRM,
               confirmation(OAE_PUT(OAE_PORT_CONFIRM_EPOCH, header.epoch) |
                            OAE_PUT(OAE_PORT_CONFIRM_SEQUENCE, header.sequence - !one_of(16))),
               !joined(port));
  }

  void write_word(bool host, std::uint64_t address, std::uint64_t value, bool unclocked) {
    std::uint64_t line[8];
    line[address % 64 / 8] = value;
    write({host, 2, address / 64, reinterpret_cast<const std::uint8_t*>(line),
           std::uint64_t{0xff} << address % 64, host ? 0 : static_cast<unsigned>(address % 64 / 8)},
          unclocked);
  }

  bool joined(unsigned port) {
    return fast->peek({false, 0, OAE_FIRMWARE_JOIN_AT(port) / 8}, to_fast.now() + 2).value & 1;
  }

  std::uint64_t state_of(unsigned port) {
    oae::RegisterAnswer answer;
    const oae::RegisterRead of_state{true, 0, OAE_HOST_PORT_STATE_AT(port) / 8};
    std::uint64_t now = to_fast.now(), same = now;
    clock_read(*fast, of_state, now, answer);
    clock_read(*checked, of_state, same, answer);
    skip_to(now);
    return answer.value;
  }

  void skip_to(std::uint64_t now) {
    to_fast.skip_to(now);
    to_checked.skip_to(now);
  }

  std::mt19937_64 random;
  const std::unique_ptr<oae::BlockRtl> fast = powered(false);
  const std::unique_ptr<oae::BlockRtl> checked = powered(true);
  RtlTraffic to_fast;
  RtlTraffic to_checked;
  unsigned fills[2] = {};       // of the firmware, and of the host
  unsigned others[2] = {};      // writes to slots that took more clocks
  unsigned judged[2] = {};      // offers of theirs, likewise
  unsigned confirmed[2] = {};   // swaps whose slot had to wait, and others, likewise
  unsigned commands = 0;        // without the clock
  unsigned other_commands = 0;  // that took more clocks
  unsigned swapped = 0;
};

TEST(Rtl, WritesWithoutTheClockEqualThoseWithIt) {
  Twins twins(1);
  for (unsigned round = 0; round < 12'000; ++round) {
    ASSERT_NO_FATAL_FAILURE(twins.run_traffic(twins.one_of(24)));
    ASSERT_NO_FATAL_FAILURE(twins.one_of(4) ? twins.write_anything() : twins.swap());
  }
  EXPECT_GT(twins.fills[false], 500u);
  EXPECT_GT(twins.fills[true], 5'000u);
  EXPECT_GT(twins.others[true], 500u);
  EXPECT_EQ(twins.others[false], 0u);
  EXPECT_GT(twins.judged[false], 500u);
  EXPECT_GT(twins.judged[true], 500u);
  EXPECT_GT(twins.confirmed[false], 50u);
  EXPECT_GT(twins.confirmed[true], 100u);
  EXPECT_GT(twins.commands, 100u);
  EXPECT_GT(twins.other_commands, 10u);
  EXPECT_GT(twins.swapped, 500u);
}

// Reads a register of port 3 of a board that has only two ports by the time of the last edge.
void lose_ports(oae::BlockRtl& block) {
  block.axi_araddr = OAE_FIRMWARE_STATUS_AT(3);
  block.axi_arvalid = 1;
  block.settle();
  ASSERT_TRUE(block.axi_arready);
  block.rise();
  block.axi_arvalid = 0;
  block.ports = 2;
  while (block.busy && !block.axi_rvalid) block.rise();
}

TEST(Rtl, TheCheckedLibraryThrowsAtAFailedAssertion) {
  const auto block = powered(true);
  EXPECT_THROW(lose_ports(*block), std::logic_error);
}

TEST(Rtl, TheFastLibraryHasNoAssertions) {
  const auto block = powered(false);
  lose_ports(*block);
  EXPECT_TRUE(block->axi_rvalid);
}

}  // namespace
