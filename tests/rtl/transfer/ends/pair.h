// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <random>
#include <vector>

#include "oae_registers.h"
#include "tests/rtl/transfer/ends/cable.h"

/// A cable, and the actions of firmware at its ends.
class LinkPair : public testing::Test, protected LinkCable {
 protected:
  static constexpr unsigned patience = 100'000;

  /// `delay` is the delay of each wire in slices.
  explicit LinkPair(unsigned delay = 32);

  void clock(unsigned clocks = 1);
  /// Runs until `done`, and fails if that takes too long. Returns the clocks that it took.
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
  /// Runs until nothing moves at the ends and on the wires, except for waits of a fixed time.
  void rest();
  /// Writes slots to the send buffer of `end`.
  void fill(LinkEnd& end, const std::vector<Slot>& slots);
  static Slot slot(std::uint32_t sequence, std::uint64_t seed, std::uint8_t flags = 0);
  static std::vector<Slot> slots(unsigned count, std::uint64_t seed);
  /// Fills the buffer, sends the transfer, and waits until it is settled. Returns its outcome.
  unsigned send(LinkEnd& end, const std::vector<Slot>& slots, bool flow = false);
  unsigned settled(LinkEnd& end);
  unsigned outcome(LinkEnd& end) { return get(end, OAE_LINK_SENT) & 0xff; }
  /// Takes the first committed transfer.
  LinkEnd::Received take(LinkEnd& end);
  unsigned transfers(LinkEnd& end) { return get(end, OAE_LINK_RECEIVED) & 3; }

  std::uint64_t now = 0;
  /// How often the ends of the wires hold a clock back, in percent.
  unsigned stall = 0;
  /// Whether a wire is held back in every clock.
  bool hold_to_a = false;
  bool hold_to_b = false;
  std::mt19937_64 random{1};

 private:
  unsigned delay_;
};
