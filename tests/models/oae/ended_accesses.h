// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <systemc>
#include <tlm>

#include "vp/time/domain.h"

/// What becomes of accesses of cores when power is lost: each is answered before that, or ends at
/// that time.
struct EndedAccesses {
  vp::Picoseconds lost = vp::never;  ///< when power was lost, or `never` while it is there
  unsigned answered = 0;
  unsigned ended = 0;

  void note(tlm::tlm_response_status status) {
    if (status == tlm::TLM_OK_RESPONSE) {
      EXPECT_LE(vp::now(), lost);
      ++answered;
    } else {
      EXPECT_EQ(status, tlm::TLM_ADDRESS_ERROR_RESPONSE);
      EXPECT_EQ(vp::now(), lost);
      ++ended;
    }
  }
};

/// An end of a link, or a larger part that has one, whose power a test takes.
struct PoweredPart {
  std::function<tlm::tlm_response_status()> access;  ///< of the firmware
  const std::uint64_t& clocks;
  vp::Domain& domain;
  std::function<void()> lose_power, power_up;
  vp::Picoseconds period;  ///< of its clock
};

/// Has two accesses at once end with a loss at any quarter of 16 clocks, and looks that those that
/// follow are refused until power is back.
inline void expect_accesses_to_end(const PoweredPart& part) {
  const auto pass = [](vp::Picoseconds span) { sc_core::wait(vp::to_sc_time(span)); };
  EndedAccesses accesses;
  for (vp::Picoseconds moment = 0; moment < 16 * part.period; moment += part.period / 4) {
    accesses.lost = vp::never;
    unsigned left = 2;
    pass(vp::us - vp::now() % vp::us);
    for (unsigned core = 0; core < 2; ++core) {
      sc_core::sc_spawn([&] {
        accesses.note(part.access());
        --left;
      });
    }
    pass(moment);
    part.lose_power();
    accesses.lost = vp::now();
    const std::uint64_t clocks = part.clocks;
    EXPECT_EQ(part.access(), tlm::TLM_GENERIC_ERROR_RESPONSE);
    EXPECT_EQ(vp::now(), accesses.lost) << "at once";
    pass(vp::us);
    ASSERT_EQ(left, 0u) << moment;
    EXPECT_EQ(part.clocks, clocks);
    EXPECT_EQ(part.domain.next_event(), vp::never);
    part.power_up();
    EXPECT_EQ(part.access(), tlm::TLM_OK_RESPONSE);
  }
  EXPECT_EQ(accesses.answered + accesses.ended, 2u * 64);
  EXPECT_GT(accesses.answered, 30u);
  EXPECT_GT(accesses.ended, 30u);
}
