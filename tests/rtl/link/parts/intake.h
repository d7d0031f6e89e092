// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Voae_link_intake.h>
#include <Voae_link_intake_relay.h>

#include <cstdint>
#include <initializer_list>

#include "oae_registers.h"
#include "tests/rtl/link/parts/part.h"

namespace window {

constexpr unsigned slots = 16;  // of its ring

/// The pins of an intake, on which need not be what a link brings there. What happens in a clock is
/// set before it, and what it shows in that clock is kept.
template <typename Top>
class Intake : public Part<Top> {
 protected:
  using Part<Top>::top_;

  Intake() {
    top_.rst_i = 1;
    clock();
    top_.rst_i = 0;
    top_.up_i = 1;
  }

  /// A clock, after which nothing happens any more
  void clock() {
    top_.clk_i = 0;
    top_.eval();
    jams = top_.jams_o;
    refused = top_.take_refused_o;
    commits = top_.commits_o;
    held = (top_.relay_o[2] >> 4 & 1) != 0;
    restarted = (top_.relay_o[2] >> 3 & 1) != 0;
    // What the relay makes of it
    const bool gives = (top_.relay_o[1] >> 1 & 1) != 0;
    const bool revokes = (top_.relay_o[0] & 1) != 0;
    if (gives) granted = top_.relay_o[1] << 31 | top_.relay_o[0] >> 1;
    granted = revokes ? 0 : granted - top_.relay_i[3];
    top_.clk_i = 1;
    top_.eval();
    top_.frame_good_i = top_.damaged_i = top_.return_valid_i = top_.return_taken_i = 0;
    top_.cut_i = top_.join_i = top_.take_i = top_.take_next_i = 0;
  }

  void set_frame(unsigned protocol, std::uint32_t number, unsigned generation,
                 std::uint16_t digest = 0) {
    top_.frame_good_i = 1;
    top_.protocol_i = protocol;
    top_.head_i = std::uint64_t{generation & 0xff} << 48 | std::uint64_t{number} << 16 | digest;
  }
  void slot(std::uint32_t number, unsigned generation = 0, std::uint16_t digest = 0) {
    set_frame(OAE_WIRE_PROTOCOL_SLOT, number, generation, digest);
    clock();
  }
  void slots_to(std::uint32_t last) {
    for (std::uint32_t number = top_.expected_o; number <= last; ++number) slot(number);
  }
  void restart(std::uint32_t kept, unsigned generation, std::uint16_t digest = 0) {
    set_frame(OAE_WIRE_PROTOCOL_RESTART, kept, generation, digest);
    clock();
  }
  void damage() {
    top_.damaged_i = 1;
    clock();
  }
  void set_return(std::uint32_t confirmed, bool ask = false) {
    top_.return_valid_i = 1;
    top_.return_i = (confirmed & 0xffff) | (ask ? 1u << 16 : 0);
  }
  /// A return, and the clock in which it counts
  void confirm(std::uint32_t confirmed) {
    set_return(confirmed);
    clock();
    clock();
  }
  void set_join(std::uint32_t settled, std::uint32_t confirmed) {
    top_.join_i = 1;
    top_.peer_i = std::uint64_t{confirmed} << 32 | settled;
  }
  void join(std::uint32_t settled, std::uint32_t confirmed) {
    set_join(settled, confirmed);
    clock();
  }
  /// The link goes down; the next clock still belongs to it.
  void cut() {
    top_.cut_i = 1;
    clock();
    top_.up_i = 0;
    clock();
  }
  void take(std::uint32_t index) {
    top_.take_i = 1;
    top_.take_index_i = index;
    clock();
  }
  /// A return leaves.
  void leave() {
    top_.return_taken_i = 1;
    clock();
  }

  unsigned said(unsigned low, unsigned width) const {
    const std::uint64_t pair = top_.return_o[low / 32] |
                               std::uint64_t{low / 32 < 2 ? top_.return_o[low / 32 + 1] : 0} << 32;
    return static_cast<unsigned>(pair >> low % 32 & ((std::uint64_t{1} << width) - 1));
  }
  unsigned answered() const { return said(0, 16); }
  unsigned done() const { return said(16, 16); }
  unsigned credit() const { return said(32, 16); }
  unsigned generation() const { return said(48, 8); }
  unsigned wanted() const { return said(56, 7); }
  unsigned digest() const { return said(63, 16); }
  bool next() {
    top_.eval();
    return (top_.arrival_o >> 1 & 1) != 0;
  }

  // In the last clock
  bool jams = false;
  std::uint32_t granted = 0;
  bool refused = false;
  bool held = false;       // a slot
  bool restarted = false;  // by a restart
  std::uint32_t commits = 0;
};

class OwnRing : public Intake<Voae_link_intake> {};

/// The digest of slots with these checks, in their order
inline std::uint16_t digest_of(std::initializer_list<std::uint16_t> checks) {
  std::uint16_t digest = 0;
  for (const std::uint16_t check : checks)
    digest = static_cast<std::uint16_t>((digest << 1 | digest >> 15) ^ check);
  return digest;
}

}  // namespace window
