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
#include "tests/rtl/slot.h"

namespace {

constexpr unsigned ports = 4;

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

/// A host and a firmware that do at random what is possible. The same seed does the same.
class Traffic {
 public:
  Traffic(oae::BlockRtl& block, unsigned seed) : block_(block), random_(seed) {}

  /// Puts inputs on the pins for the next edge, and settles the outputs.
  void drive() {
    ++now_;
    if (!block_.request_valid && one_of(3) == 0) request();
    if (!block_.axi_awvalid && !block_.axi_arvalid && one_of(2) == 0) access();
    block_.dma_ready = one_of(4) != 0;
    block_.dma_refused = one_of(8) == 0;
    block_.completion_ready = one_of(4) != 0;
    block_.interrupt_ready = one_of(4) != 0;
    block_.now = now_;
    block_.settle();
  }
  void rise() {
    const bool requested = block_.request_valid && block_.request_ready;
    const bool accessed = block_.axi_awready || block_.axi_arready;
    block_.rise();
    if (requested) block_.request_valid = 0;
    if (accessed) block_.axi_awvalid = block_.axi_wvalid = block_.axi_arvalid = 0;
  }
  /// Runs clocks without new inputs until the block has nothing to do.
  void finish() {
    block_.completion_ready = block_.dma_ready = block_.interrupt_ready = 1;
    while (block_.request_valid || block_.axi_awvalid || block_.axi_arvalid || block_.busy ||
           block_.dma_valid) {
      block_.now = ++now_;
      block_.settle();
      rise();
    }
  }
  std::uint64_t now() const { return now_; }
  void skip_to(std::uint64_t now) { now_ = now; }

 private:
  unsigned one_of(unsigned count) { return static_cast<unsigned>(random_() % count); }

  Slot offer() {
    Header header;
    header.epoch = static_cast<std::uint8_t>(1 + one_of(2));
    header.sequence = 1 + one_of(3);
    header.attempt = one_of(3);
    header.verb = static_cast<std::uint8_t>(1 + one_of(5));
    Slot slot = make_slot(header, random_());
    if (one_of(8) == 0) slot[3] ^= 1;
    return slot;
  }

  void request() {
    static constexpr unsigned bars[] = {0, 2, 4};
    const unsigned port = one_of(ports + 1);
    Slot data;
    for (std::uint64_t& word : data) word = one_of(2) ? random_() : one_of(4);
    block_.request_valid = 1;
    block_.request_reset = one_of(200) == 0;
    block_.request_write = one_of(2) != 0;
    block_.request_bar = static_cast<std::uint8_t>(bars[one_of(3)]);
    block_.request_enable = one_of(4) ? ~std::uint64_t{0} >> 56 << 8 * one_of(8) : random_();
    block_.request_class = static_cast<std::uint8_t>(one_of(8));
    if (block_.request_bar == 0) {
      const unsigned line = one_of(4) ? OAE_HOST_PORT_CONTROL_AT(port) / 64 : one_of(2);
      block_.request_line = static_cast<std::uint16_t>(line);
    } else {
      block_.request_line = static_cast<std::uint16_t>(OAE_PORT_SIZE / 64 * port + one_of(2));
      if (block_.request_line % 2 == 0 && one_of(4) != 0) {
        data = offer();
        block_.request_enable = ~std::uint64_t{0};
      } else if (one_of(2)) {
        const std::uint64_t named = OAE_PUT(OAE_PORT_CONFIRM_EPOCH, 1 + one_of(2)) |
                                    OAE_PUT(OAE_PORT_CONFIRM_SEQUENCE, one_of(4));
        data[1] = confirmation(named);
        data[3] = reversal(named);
      }
    }
    std::memcpy(block_.request_data, data.data(), 64);
  }

  void access() {
    const unsigned port = one_of(ports + 1);
    const bool write = one_of(2) != 0;
    std::uint64_t address = OAE_FIRMWARE_OFFER_AT(port) + 8 * one_of(32);
    if (one_of(4) == 0) address = 8 * one_of(16);
    block_.axi_awvalid = block_.axi_wvalid = write;
    block_.axi_arvalid = !write;
    block_.axi_wdata = one_of(2) ? random_() : one_of(4);
    block_.axi_wstrb = 0xff;
    if (one_of(3) == 0) {
      // The offer of a port is written word by word, and then published.
      if (left_ == 8) slot_ = offer();
      address =
          left_ == 0 ? OAE_FIRMWARE_COMMAND_AT(0) : OAE_FIRMWARE_OFFER_AT(0) + 8 * (8 - left_);
      block_.axi_awvalid = block_.axi_wvalid = 1;
      block_.axi_arvalid = 0;
      block_.axi_wdata = left_ == 0 ? OAE_FIRMWARE_COMMAND_PUBLISH_MASK : slot_[8 - left_];
      left_ = left_ == 0 ? 8 : left_ - 1;
    }
    block_.axi_awaddr = block_.axi_araddr = static_cast<std::uint32_t>(address);
  }

  oae::BlockRtl& block_;
  std::mt19937_64 random_;
  std::uint64_t now_ = 0;
  Slot slot_{};
  unsigned left_ = 8;
};

TEST(Rtl, BothLibrariesDoTheSameAtEveryEdge) {
  unsigned exchanged = 0, reversed = 0, pushed = 0;
  for (unsigned seed = 1; seed <= 8; ++seed) {
    const auto checked = powered(true);
    const auto fast = powered(false);
    Traffic to_checked(*checked, seed);
    Traffic to_fast(*fast, seed);
    for (unsigned edge = 0; edge < 20'000; ++edge) {
      to_checked.drive();
      to_fast.drive();
      ASSERT_EQ(outputs(*fast), outputs(*checked)) << "before edge " << edge << ", seed " << seed;
      pushed += fast->dma_valid;
      to_checked.rise();
      to_fast.rise();
      ASSERT_EQ(outputs(*fast), outputs(*checked)) << "after edge " << edge << ", seed " << seed;
      exchanged += fast->trace_valid && fast->trace_to == OAE_PORT_STATE_TENTATIVE;
      reversed += fast->trace_valid && fast->trace_to == OAE_PORT_STATE_REVERSED;
    }
  }
  EXPECT_GT(exchanged, 0u);
  EXPECT_GT(reversed, 0u);
  EXPECT_GT(pushed, 0u);
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

  const auto block = powered(false);
  Traffic traffic(*block, 1);
  std::set<std::tuple<bool, unsigned, std::uint64_t>> answered;
  std::set<std::uint64_t> values;
  std::mt19937 random(1);
  for (unsigned round = 0; round < 30'000; ++round) {
    for (unsigned edge = random() % 8; edge > 0; --edge) {
      traffic.drive();
      traffic.rise();
    }
    traffic.finish();
    const oae::RegisterRead read = reads[random() % reads.size()];
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
  }
  EXPECT_GT(answered.size(), reads.size() * 9 / 10);
  EXPECT_GT(values.size(), 300u);
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
