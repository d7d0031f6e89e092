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
    ASSERT_EQ(clocks, answer.fetches ? 6u : 4u) << read.host << ' ' << read.bar << ' ' << read.word;
    traffic.skip_to(now);
    answered.insert({read.host, read.bar, read.word});
    values.insert(answer.value);
    with_both += reads_a_slot_of_two(*block, read, now);
  }
  EXPECT_GT(answered.size(), reads.size() * 9 / 10);
  EXPECT_GT(values.size(), 1000u);
  EXPECT_GT(with_both, 500u);
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
