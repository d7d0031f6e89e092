// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fmt/format.h>

#include <cmath>

#include "tests/rtl/link/pair.h"

namespace window {
constexpr double clock_ns = 1.28;
constexpr double frame_clocks = 8.0 / slices;

inline unsigned clocks_of(unsigned metres) {
  return static_cast<unsigned>(std::ceil(5 * metres / clock_ns));
}

/// A firmware that always offers all that the ring has, and one that takes what has come.
class Stream {
 public:
  void work(End& from, End& to) {
    if (from.idle()) {
      from.post_get(OAE_WINDOW_SETTLED, [&from](std::uint64_t value) {
        from.post_put(OAE_WINDOW_OFFERED, static_cast<std::uint32_t>(value) + WINDOW_SLOTS - 1);
      });
    }
    if (to.idle()) {
      to.post_get(OAE_WINDOW_RECEIVED,
                  [&to](std::uint64_t value) { to.post_put(OAE_WINDOW_TAKEN, value); });
    }
  }
};

template <unsigned metres>
class Rate : public Pair {
 protected:
  Rate() : Pair(clocks_of(metres)) {
    to_a.record = to_b.record = false;
    bring_up();
  }

  /// Slots that were committed at b, in percent of those that the wire could carry.
  double use(bool both) {
    Stream to;
    Stream back;
    const auto run = [&](unsigned clocks) {
      for (unsigned i = 0; i < clocks; ++i) {
        to.work(*a, *b);
        if (both) back.work(*b, *a);
        clock();
      }
    };
    run(20 * clocks_of(metres) + 4000);
    const unsigned before = done(*b);
    constexpr unsigned span = 40'000;
    run(span);
    const double use = 100 * (done(*b) - before) * frame_clocks / span;
    RecordProperty(fmt::format("percent_{}", both ? "both_ways" : "one_way"),
                   fmt::format("{:.2f}", use));
    return use;
  }
};

}  // namespace window
