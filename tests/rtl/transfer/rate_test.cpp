// SPDX-License-Identifier: Apache-2.0
// Measures how long a transfer takes on a wire of 100 Gb/s, whose slice lasts 0.64 ns, and how much
// of the wire it uses. A wire delays by 5 ns for each metre, rounded to slices. The rest of the
// time is that of the link itself.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <string>

#include "tests/rtl/transfer/ends/pair.h"

namespace {

constexpr double slice_ns = 0.64;

unsigned slices_of(double metres) {
  return static_cast<unsigned>(std::lround(5 * metres / slice_ns));
}

template <int metres>
class LinkRate : public LinkPair {
 protected:
  // The delay is at least a clock, however short the wire is.
  LinkRate() : LinkPair(std::max(slices_of(metres), 8u)) { bring_up(); }

  struct Times {
    double begun;         ///< first slice 0 on the wire
    double reflected;     ///< its reflection is back
    double acknowledged;  ///< the reflection after its last slice is back
    double tentative;     ///< tentative at the other side
    double committed;     ///< committed at the other side
    double settled;       ///< settled at this side
  };

  /// Records the figures for a run with --gtest_output=xml.
  static void record(const std::map<std::string, double>& values) {
    for (const auto& [name, value] : values) RecordProperty(name, fmt::format("{:.1f}", value));
  }

  double ns() const { return static_cast<double>(now * slices) * slice_ns; }

  Times measure(unsigned beats, bool flow) {
    put(a, OAE_LINK_CONTROL, 1 | OAE_PUT(OAE_LINK_CONTROL_SLICE_ACK, 3));
    fill(a, slots(1u << 2 * beats, 1));
    Times times{};
    const std::size_t frames = to_b.frames.size();
    const std::uint64_t sent = to_b.slices;
    const unsigned before = b.top.trace_expected;
    a.post_put(OAE_LINK_COMMAND, (flow ? OAE_LINK_COMMAND_FLOW : OAE_LINK_COMMAND_PACKET) |
                                     OAE_PUT(OAE_LINK_COMMAND_BEATS, beats));
    const auto mark = [this](double& time, bool happened) {
      if (time == 0 && happened) time = ns();
    };
    const std::size_t reflections = to_a.reflections.size();
    while (times.settled == 0) {
      clock();
      mark(times.begun, to_b.slices > sent);
      mark(times.reflected, a.top.rx_kind != 0 && to_a.reflections.size() > reflections);
      mark(times.tentative, b.receiver() == OAE_LINK_STATE_TENTATIVE);
      mark(times.committed, b.top.trace_expected != before);
      mark(times.acknowledged, times.begun != 0 && all_reflected(beats));
      mark(times.settled, times.begun != 0 && a.sender() == OAE_LINK_STATE_IDLE);
      if (now > 1'000'000) break;
    }
    EXPECT_EQ(outcome(a), unsigned{OAE_OUTCOME_COMMITTED});
    EXPECT_EQ(to_b.frames.size() - frames, (1u << 2 * beats) + (flow ? 0 : 1));
    take(b);
    return times;
  }

  /// The last reflection on its way back shows that the last frame has arrived.
  bool all_reflected(unsigned beats) {
    if (to_a.reflections.empty()) return false;
    const std::uint64_t last = to_a.reflections.back();
    const unsigned number = OAE_GET(last, OAE_FRAME_HEADER_LIVENESS);
    return (last & 3) == 3 && number == (a.top.trace_sent & 0xff) && beats < 4;
  }

  /// Use of the wire to the other side by stop and wait, in percent.
  double use(unsigned beats, bool flow) {
    const Times times = measure(beats, flow);
    return 100 * (8u << 2 * beats) * slice_ns / (times.settled - times.begun);
  }
  /// The same, if the next transfer left with the acknowledgement of the last slice.
  double use_by_slices(unsigned beats) {
    const Times times = measure(beats, true);
    const double back = times.acknowledged + to_a_ns() - times.begun;
    return 100 * (8u << 2 * beats) * slice_ns / back;
  }
  double to_a_ns() const { return std::max(slices_of(metres), 8u) * slice_ns; }
};

using LinkRate1 = LinkRate<1>;
using LinkRate10 = LinkRate<10>;

TEST_F(LinkRate1, BeatsRecoverTheWire) {
  const double one = use(0, true);
  const double four = use(1, true);
  const double sixteen = use(2, true);
  const double sixty_four = use(3, true);
  record({{"beats_1", one}, {"beats_4", four}, {"beats_16", sixteen}, {"beats_64", sixty_four}});
  record({{"by_slices", use_by_slices(0)}});
  for (unsigned beats = 0; beats < 4; ++beats) {
    record({{"four_phases_" + std::to_string(1u << 2 * beats), use(beats, false)}});
  }
  EXPECT_GT(one, 6);
  EXPECT_GT(four, 2 * one);
  EXPECT_GT(sixteen, 50);
  EXPECT_GT(sixty_four, 80);
}

TEST_F(LinkRate10, BeatsRecoverTheWire) {
  const double one = use(0, true);
  const double sixty_four = use(3, true);
  record({{"beats_1", one}, {"beats_4", use(1, true)}, {"beats_16", use(2, true)}});
  record({{"beats_64", sixty_four}, {"by_slices", use_by_slices(0)}});
  for (unsigned beats = 0; beats < 4; ++beats) {
    record({{"four_phases_" + std::to_string(1u << 2 * beats), use(beats, false)}});
  }
  EXPECT_GT(one, 2.5);
  EXPECT_LT(one, 5);
  EXPECT_GT(sixty_four, 65);
}

TEST_F(LinkRate1, LatenciesMeetTheirTargets) {
  const Times four = measure(0, false);
  const Times flow = measure(0, true);
  record({{"reflection_ns", four.reflected - four.begun},
          {"tentative_ns", four.tentative - four.begun},
          {"committed_ns", four.committed - four.begun},
          {"settled_ns", four.settled - four.begun},
          {"flow_committed_ns", flow.committed - flow.begun},
          {"flow_settled_ns", flow.settled - flow.begun}});
  // Store and forward: from the first slice on the wire until the other side has the whole frame.
  EXPECT_LT(flow.committed - flow.begun, 100);
  // From sending to acknowledgement, within a rack.
  EXPECT_LT(four.settled - four.begun, 300);
}

}  // namespace
