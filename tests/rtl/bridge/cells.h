// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "oae_registers.h"
#include "tests/rtl/bridge/cell.h"
#include "tests/rtl/link/cable.h"

namespace bridge {

using window::Cable;

constexpr double clock_ns = 1.28;
constexpr unsigned ports = BRIDGE_PORTS;

using Payload = std::array<std::uint64_t, OAE_SLOT_PAYLOAD_COUNT>;

/// A host's side of a port: what its driver remembers.
struct Host {
  Cell* cell = nullptr;
  unsigned port = 0;
  std::uint8_t epoch = 0;
  std::uint32_t sequence = 0;  // of the last swap
  std::uint8_t attempt = 0;    // of the next offer
};

/// Two cells, the cables between them, and the actions of hosts and firmware. With two links, the
/// cells are a ring: a cable from the left end of `a` to the right one of `b`, and one from the
/// right end of `a` to the left one of `b`. Each of them carries half of the ports.
class Cells : public testing::Test {
 protected:
  using Of = Cell::Of;
  static constexpr unsigned patience = 100'000;
  static constexpr unsigned metre = 4;  // clocks
  static constexpr unsigned hold_off = 2u << WINDOW_LIMIT_BITS;

  Cells();

  void clock(unsigned clocks = 1);
  /// Runs until `done`, and fails if that takes too long.
  template <typename Predicate>
  void until(Predicate done) {
    for (unsigned i = 0; !done(); ++i) {
      if (i == patience) FAIL() << "nothing more happens";
      clock();
    }
  }
  /// Runs until nothing moves, except for waits of a fixed time.
  void rest();

  void put(Cell& cell, Of of, unsigned address, std::uint64_t data);
  std::uint64_t get(Cell& cell, Of of, unsigned address);
  /// Writes a slot to a place in the send ring of a link that is not bridged.
  void write(Cell& cell, std::uint64_t place, std::uint64_t head, std::uint64_t number,
             Of end = Of::left);
  /// Writes a slot to the ring of a link that is not bridged, and offers it.
  void send(Cell& cell, std::uint64_t head, std::uint64_t number, Of end = Of::left);
  /// The end of a cable at a cell
  Of end_of(const Cell& cell, unsigned cable) const {
    return links == 2 && (cable == 0) != (&cell == a.get()) ? Of::right : Of::left;
  }
  /// The ports that a cable carries, a bit for each
  static std::uint64_t ports_of(unsigned cable) {
    const std::uint64_t all = ~std::uint64_t{0} >> (64 - ports);
    return links == 1 ? all : cable == 0 ? all >> ports / 2 : all & all << ports / 2;
  }
  /// Joins all ports of a cell, and gives each to its link.
  void join_all(Cell& cell);
  /// Joins all ports, and takes the links up.
  void bring_up();
  /// What a firmware may do again and again: sets short limits, and takes the links up.
  void tend(Cell& cell, bool bridged = true);
  void tend_until_up(bool b_bridged = true);
  void take_up(Cell& cell, bool bridged = true);
  void take_up(Cell& cell, Of end, bool bridged = true);
  /// Takes the links up. Those of `b` are not bridged, and its firmware may send what it likes.
  void take_up_with_stranger();
  /// Takes the link of `a` down, and lets a port that has no other part in the test greet until the
  /// send ring is full.
  void fill_ring(unsigned port);
  /// A port of a stranger tells its session, and learns that of the same port of `a`.
  void greet(unsigned port, Of end = Of::left, std::uint16_t session = 77);
  /// Slice 0 of what is for the present session of a port of `a`
  std::uint64_t head_for(unsigned port);
  bool is_up() const;
  /// What has come to `a` by its left end and found no place.
  std::uint64_t strays() { return get(*a, Of::left, OAE_WINDOW_COUNT_STRAY); }

  Host open(Cell& cell, unsigned port);
  void close(Host& host);
  /// Offers a slot with this number and reads the answer. Returns the number that the answer
  /// brings, 0 for an empty slot, or nothing if no exchange took place.
  std::optional<std::uint64_t> swap(Host& host, std::uint64_t number,
                                    std::uint8_t verb = OAE_VERB_SWAP, std::uint8_t flags = 0);
  /// The same with any payload; returns the answer's payload.
  std::optional<Payload> offer(Host& host, std::uint8_t verb, const Payload& payload,
                               std::uint8_t flags = 0);
  /// Asks for steps in the other cell. Returns whether that was committed.
  bool ask(Host& host, std::uint64_t steps, std::uint64_t operand_0 = 0,
           std::uint64_t operand_1 = 0);
  /// The result of the steps, if it is here, which is used up.
  std::optional<Payload> collect(Host& host);
  /// What a register of the host about the fate of its slots holds
  std::uint64_t fate_of(const Host& host, unsigned address);
  void acknowledge(const Host& host);  ///< a loss
  void confirm(Host& host);
  void reverse(Host& host);
  /// Swaps and confirms, which has to succeed.
  std::uint64_t exchange(Host& host, std::uint64_t number);

  /// The firmware's access to a word; returns what it was before.
  std::uint64_t access(Cell& cell, unsigned word, unsigned what, std::uint64_t operand = 0);
  std::uint64_t word_of(Cell& cell, unsigned word) {
    return access(cell, word, OAE_WORD_ACCESS_READ);
  }
  unsigned waiting(const Host& host) { return OAE_GET(join_of(host), OAE_FIRMWARE_JOIN_WAITING); }
  unsigned room(const Host& host) { return OAE_GET(join_of(host), OAE_FIRMWARE_JOIN_ROOM); }
  std::uint64_t join_of(const Host& host) {
    return get(*host.cell, Of::block, OAE_FIRMWARE_JOIN_AT(host.port));
  }
  unsigned session(const Host& host) { return OAE_GET(join_of(host), OAE_FIRMWARE_JOIN_SESSION); }
  bool linked(const Host& host) { return OAE_GET(join_of(host), OAE_FIRMWARE_JOIN_LINKED) != 0; }
  std::uint64_t status_of(const Host& host) {
    return get(*host.cell, Of::block, OAE_FIRMWARE_STATUS_AT(host.port));
  }

  std::unique_ptr<Cell> a = std::make_unique<Cell>(0);
  std::unique_ptr<Cell> b = std::make_unique<Cell>(0);
  std::vector<Cable> cables = std::vector<Cable>(links, Cable(metre));
  std::uint64_t now = hold_off;
};

}  // namespace bridge
