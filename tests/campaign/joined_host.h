// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <random>
#include <vector>

#include "tests/campaign/cell.h"

extern "C" {
#include "guest/driver/oae_exchange.h"
}

/// The host at a joined port of a cell, with the driver's own exchange: what it has given, and what
/// it was given by the host at the other end. What it offers are words of which each is there once.
class JoinedHost {
 public:
  JoinedHost(Cell& cell, unsigned port);

  /// Opens its port anew, whatever went on there.
  void open();
  /// Swaps once, or sends to the firmware; with an access that is lost if `loses`.
  oae_outcome swap(std::uint64_t word, oae_form form = OAE_PUSHED,
                   std::uint8_t verb = OAE_VERB_SWAP, bool more = false, bool loses = false);
  bool doubts() const { return exchange_.doubt; }
  /// Asks for what is in doubt, or has it reversed.
  void settle(bool reverse);
  /// Its port has committed.
  void committed(std::uint64_t word, std::uint64_t answer);

  Cell& cell;
  const unsigned port;
  std::vector<std::uint64_t> given{0};  ///< an empty slot is the first
  std::vector<std::uint64_t> got{};

  // Of an access of the driver
  static std::uint64_t read(const volatile void* address);
  static void write(volatile void* address, std::uint64_t value);

 private:
  struct Place {
    unsigned bar;
    unsigned address;
  };
  Place place(const volatile void* address) const;

  static JoinedHost* current_;  // whose driver runs
  oae_exchange exchange_{};
  oae_answer answer_{};
  unsigned char page_[OAE_PORT_SIZE];
  unsigned char stream_[OAE_STREAM_SIZE];
  std::uint64_t memory_[8]{};
  bool loses_ = false;
};
