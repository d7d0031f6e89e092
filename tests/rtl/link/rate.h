// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "tests/rtl/link/pair.h"

namespace window {
constexpr double clock_ns = 1.28;
constexpr double frame_clocks = 8.0 / slices;

inline unsigned clocks_of(unsigned metres) {
  return static_cast<unsigned>(std::ceil(5 * metres / clock_ns));
}

/// A firmware that always offers all that the ring has, or takes what has come, or does both.
inline void work(End& end, bool offers, bool takes) {
  if (!end.idle()) return;
  if (offers) {
    end.post_get(OAE_WINDOW_SETTLED, [&end](std::uint64_t value) {
      end.post_put(OAE_WINDOW_OFFERED, static_cast<std::uint32_t>(value) + WINDOW_SLOTS - 1);
    });
  }
  if (takes) {
    end.post_get(OAE_WINDOW_RECEIVED,
                 [&end](std::uint64_t value) { end.post_put(OAE_WINDOW_TAKEN, value); });
  }
}

template <unsigned metres>
class Rate : public Pair {
 protected:
  Rate() : Pair(clocks_of(metres)) {
    to_a.record = to_b.record = false;
    bring_up();
  }

  /// Slots that were committed at b, and if they go both ways at a, too, in percent of those that
  /// each wire could carry. Of the two directions, the lesser counts.
  double use(bool both) {
    const auto run = [&](unsigned clocks) {
      for (unsigned i = 0; i < clocks; ++i) {
        work(*a, true, both);
        work(*b, both, true);
        clock();
      }
    };
    run(20 * clocks_of(metres) + 4000);
    const unsigned before = done(*b);
    const unsigned before_back = done(*a);
    constexpr unsigned span = 40'000;
    run(span);
    const unsigned forth = done(*b) - before;
    const unsigned back = done(*a) - before_back;
    const double use = 100 * (both ? std::min(forth, back) : forth) * frame_clocks / span;
    RecordProperty(fmt::format("percent_{}", both ? "both_ways" : "one_way"),
                   fmt::format("{:.2f}", use));
    return use;
  }
};

}  // namespace window
