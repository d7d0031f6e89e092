// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <random>
#include <vector>

#include "oae_registers.h"
#include "tests/rtl/link_cable.h"

/// A cable, and what firmware does at its ends.
class LinkPair : public testing::Test, protected LinkCable {
 protected:
  static constexpr unsigned patience = 100'000;

  /// `delay` in slices, each way.
  explicit LinkPair(unsigned delay = 32);

  void clock(unsigned clocks = 1);
  /// Clocks until `done`; a failure if that takes too long.
  template <typename Predicate>
  void until(Predicate done) {
    for (unsigned i = 0; !done(); ++i) {
      if (i == patience) FAIL() << "nothing more happens";
      clock();
    }
  }
  void put(LinkEnd& end, unsigned address, std::uint64_t data, unsigned strobe = 0xff);
  std::uint64_t get(LinkEnd& end, unsigned address);
  void command(LinkEnd& end, unsigned verb, unsigned beats = 0);

  void bring_up();
  /// Until nothing moves, on the wires either, but for what waits for a time.
  void rest();
  /// Writes slots to the send buffer of `end`.
  void fill(LinkEnd& end, const std::vector<Slot>& slots);
  static Slot slot(std::uint32_t sequence, std::uint64_t seed, std::uint8_t flags = 0);
  static std::vector<Slot> slots(unsigned count, std::uint64_t seed);
  /// Fills and sends, and waits until the transfer is settled: its outcome.
  unsigned send(LinkEnd& end, const std::vector<Slot>& slots, bool flow = false);
  unsigned settled(LinkEnd& end);
  unsigned outcome(LinkEnd& end) { return get(end, OAE_LINK_SENT) & 0xff; }
  /// Takes the first committed transfer.
  LinkEnd::Received take(LinkEnd& end);
  unsigned transfers(LinkEnd& end) { return get(end, OAE_LINK_RECEIVED) & 3; }

  std::uint64_t now = 0;
  /// How often the wires' ends hold a clock back, in percent.
  unsigned stall = 0;
  std::mt19937_64 random{1};

 private:
  unsigned delay_;
};
