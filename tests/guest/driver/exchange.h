// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <utility>
#include <vector>

#include "oae_registers.h"
#include "tests/guest/driver/block.h"

extern "C" {
#include "guest/driver/oae_crc.h"
#include "guest/driver/oae_exchange.h"
}

namespace guest_test {

using Pairs = std::vector<std::pair<std::uint64_t, std::uint64_t>>;

/// The host's side of the swap, and a block whose accesses meet faults.
class Exchange : public testing::Test {
 protected:
  void SetUp() override {
    oae_crc_init();
    block.connect();
    exchange.page = block.page;
    exchange.stream = block.stream;
    exchange.buffer = block.buffer;
    begin();
  }

  void begin() { oae_exchange_begin(&exchange, block.epoch, block.sequence); }

  oae_outcome swap(std::uint64_t word, std::uint8_t flags = 0, unsigned reads = 3) {
    const u64 payload[6] = {word, 2, 3, 4, 5, 6};
    return took(word,
                oae_exchange_swap(&exchange, form, OAE_VERB_SWAP, flags, payload, reads, &answer));
  }

  oae_outcome settle(std::uint64_t word) {
    return took(word, oae_exchange_settle(&exchange, 1, &answer));
  }

  std::uint64_t status() const { return OAE_GET(answer.slot[0], OAE_SLOT_HEADER_STATUS); }

  /// Returns the accesses since the last call.
  std::vector<unsigned> accesses() {
    const std::vector<unsigned> all(block.trace().begin() + seen_, block.trace().end());
    seen_ = block.trace().size();
    return all;
  }

  Block block;
  oae_form form = OAE_PUSHED;
  oae_exchange exchange{};
  oae_answer answer{};
  Pairs host;  ///< the pairs that the host has committed

 private:
  oae_outcome took(std::uint64_t word, oae_outcome outcome) {
    if (outcome == OAE_COMMITTED) host.emplace_back(word, answer.slot[1]);
    return outcome;
  }

  std::size_t seen_ = 0;
};

}  // namespace guest_test
