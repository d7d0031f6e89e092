// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Voae_link_window.h>
#include <Voae_link_window_relay.h>

#include <cstdint>
#include <type_traits>

#include "tests/rtl/link/parts/part.h"

namespace window {

constexpr unsigned ring = 16;
constexpr unsigned limit = 20;

/// The slots that a side sends, on their own, for what two ends cannot be brought to, or show only
/// by chance. The tests play the other parts of the end.
template <typename Top>
class Window : public Part<Top> {
 protected:
  using Part<Top>::top_;

  static constexpr bool relay = std::is_same_v<Top, Voae_link_window_relay>;

  Window() {
    top_.again_i = 1;
    top_.down_i = 1;
    top_.limit_i = limit;
    top_.rst_i = 1;
    clock();
    top_.rst_i = 0;
    grant(1000);
    clock();
  }

  void clock(unsigned clocks = 1) {
    for (unsigned i = 0; i < clocks; ++i) {
      top_.now_i = ++now;
      top_.clk_i = 0;
      top_.eval();
      EXPECT_TRUE(!top_.silent_o || top_.deadline_valid_o) << "a silence that nobody waits for";
      silences += top_.silent_o;
      doubts += top_.doubts_o;
      gains += top_.gains_o;
      commits += top_.commits_o;
      reverses += top_.reverses_o;
      losses += top_.loses_o;
      lost += top_.lost_o;
      strange += top_.strange_o;
      refused += top_.offer_refused_o + top_.settle_refused_o;
      top_.clk_i = 1;
      top_.eval();
      top_.offer_i = top_.offer_next_i = top_.withdraw_i = top_.resume_i = top_.drop_i = 0;
      top_.settle_i = top_.return_valid_i = top_.slot_taken_i = top_.restart_taken_i = 0;
      top_.checked_i = top_.return_taken_i = top_.cut_i = top_.join_i = 0;
      top_.relay_i[2] = 0;
      top_.eval();
    }
  }

  void until(const unsigned& counter, unsigned value) {
    for (unsigned i = 0; counter < value; ++i) {
      ASSERT_LT(i, 10 * limit) << "nothing more happens";
      clock();
    }
  }

  // The other parts of the end

  /// The link joins with this journal of the other side, and is up in the next clock.
  void come_up(std::uint32_t done = 0, bool known = true, std::uint32_t first = 1,
               unsigned pending = 0, bool anew = false) {
    top_.down_i = 0;
    clock();
    join(done, known, first, pending, anew);
    top_.up_i = 1;
    clock(2);
  }
  void join(std::uint32_t done, bool known, std::uint32_t first, unsigned pending,
            bool anew = false) {
    top_.peer_i[0] = done;
    top_.peer_i[1] = first;
    top_.peer_i[2] = pending | (known ? 1u << 16 : 0) | (anew ? 1u << 17 : 0);
    top_.join_i = 1;
    clock();
  }
  void cut() {
    top_.cut_i = 1;
    clock();
    top_.up_i = 0;
    top_.down_i = 1;
    top_.eval();
  }
  void offer(std::uint32_t number) {
    if (relay) {
      for (std::uint32_t n = top_.offered_o; n != number; ++n) {
        top_.offer_next_i = 1;
        clock();
      }
      ASSERT_EQ(top_.offered_o, number);
    } else {
      top_.offer_i = 1;
      top_.offer_number_i = number;
      clock();
    }
    clock(2);
  }
  /// Slots leave, each with its check.
  void send(unsigned count) {
    for (unsigned i = 0; i < count; ++i) {
      for (unsigned wait = 0; wait < 3 && !top_.slot_valid_o; ++wait) clock();
      ASSERT_TRUE(top_.slot_valid_o);
      const std::uint64_t number = top_.sent_o + 1;
      const std::uint64_t generation = top_.generation_o;
      top_.slot_taken_i = 1;
      clock();
      top_.checked_i = 1;
      top_.checked_head_i = generation << 48 | number << 16 | check(number);
      clock();
    }
  }
  /// The link comes up, its other side has room for ten slots, and some are offered and leave.
  void begin(std::uint32_t offered, unsigned sent) {
    come_up();
    say(Answer().credit(10));
    offer(offered);
    send(sent);
  }
  void take_restart() {
    ASSERT_TRUE(top_.restart_valid_o);
    top_.restart_taken_i = 1;
    clock();
  }
  /// A return of this side leaves.
  void confirm() {
    top_.return_taken_i = 1;
    clock();
  }
  struct Answer {
    std::uint32_t fields[6] = {};
    Answer& set(unsigned field, std::uint32_t value) {
      fields[field] = value;
      return *this;
    }
    Answer& answered(std::uint32_t number) { return set(0, number); }
    Answer& done(std::uint32_t number) { return set(1, number); }
    Answer& credit(std::uint32_t number) { return set(2, number); }
    Answer& generation(std::uint32_t value) { return set(3, value); }
    Answer& wanted(std::uint32_t value) { return set(4, value); }
    Answer& digest(std::uint32_t value) { return set(5, value); }
  };
  /// A return of the other side comes.
  void come(const Answer& answer) {
    const auto& [answered, done, credit, generation, wanted, digest] = answer.fields;
    top_.return_i[0] = (answered & 0xffff) | done << 16;
    top_.return_i[1] = (credit & 0xffff) | generation << 16 | wanted << 24 | digest << 31;
    top_.return_i[2] = digest >> 1;
    top_.return_valid_i = 1;
    clock();
  }
  void say(const Answer& answer) {
    come(answer);
    clock();
  }
  void grant(std::uint32_t number) {
    top_.relay_i[0] = number;
    top_.eval();
  }
  void retract(std::uint32_t number) {
    top_.relay_i[1] = number;
    top_.relay_i[2] = 1;
    clock();
  }
  void give_verdict(bool known, std::uint32_t done) {
    top_.verdict_i = std::uint64_t{known} << 32 | done;
    top_.settle_i = 1;
    clock();
  }

  static unsigned check(std::uint64_t number) {
    return (number * number * 0x3579 + 0x1d1d) & 0xffff;
  }
  /// Of the slots after `before` up to that number
  static unsigned digest(std::uint32_t number, std::uint32_t before = 0) {
    unsigned value = 0;
    for (std::uint32_t n = before + 1; n <= number; ++n) {
      value = ((value << 1 | value >> 15) & 0xffff) ^ check(n);
    }
    return value;
  }
  bool waits() const { return top_.deadline_valid_o; }

  std::uint32_t now = 5000;
  unsigned silences = 0, doubts = 0, gains = 0, refused = 0;
  unsigned commits = 0, reverses = 0, losses = 0, lost = 0, strange = 0;
};

/// An end with rings, whose firmware offers slots
class Offered : public Window<Voae_link_window> {};
/// One of a relay, which offers and grants them
class Relayed : public Window<Voae_link_window_relay> {};

}  // namespace window
