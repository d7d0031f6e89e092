// SPDX-License-Identifier: Apache-2.0
// How much of a wire's slots a link carries, how long one slot takes, and what bit errors cost.
#include "tests/rtl/link/rate.h"

#include <random>

namespace window {
namespace {

// Errors that strike each bit on its own, so that the distance between two of them is exponential.
// A bit is one of a slice, or of the two that name the kind of a group.
template <unsigned metres>
class ErrorRate : public Rate<metres> {
 protected:
  static constexpr unsigned group_bits = 64 * slices + 2;

  void strike(double errors_per_bit) {
    distance_ = std::exponential_distribution<double>(errors_per_bit);
    next_[0] = distance_(random_);
    next_[1] = distance_(random_);
    Wire* const wires[] = {&this->to_a, &this->to_b};
    for (unsigned i = 0; i < 2; ++i) {
      wires[i]->tamper = [this, i](std::vector<Group>& unit, bool) {
        const double bits = static_cast<double>(group_bits * unit.size());
        while (next_[i] < bits) {
          Wire::damage(unit, static_cast<unsigned>(next_[i]));
          next_[i] += distance_(random_);
          ++errors_;
        }
        next_[i] -= bits;
      };
    }
  }

  /// What a stream makes of the wire, in percent, by an account of its own. An error reverses all
  /// that leaves until the restart does: for a passage of the wire each way, and for the clocks
  /// that the two ends take, which are: of the frame that is damaged, half; 3 until the verdict, 1
  /// to act on it, 5 until the return is on the wire, 3 until it is read, 1 to act on it, half a
  /// frame that has begun, and the restart frame itself. What is damaged meanwhile costs nothing
  /// more.
  static double account(double errors_per_bit) {
    const double lost = 2.0 * clocks_of(metres) + frame_clocks / 2 + 3 + 1 + 5 + 3 + 2 +
                        frame_clocks / 2 + frame_clocks;
    const double between = 1 / (errors_per_bit * group_bits);
    const double without =
        100 * 32.0 / 33 * 1024 / 1025;  // a group of 33 is a return, and one of 1,025 is idle
    return without * between / (between + lost);
  }

  unsigned errors_ = 0;

 private:
  std::mt19937_64 random_{5};
  std::exponential_distribution<double> distance_;
  double next_[2] = {};
};

using ErrorRate10 = ErrorRate<10>;

TEST_F(ErrorRate10, GoodputIsAsComputed) {
  for (const double errors : {1e-9, 1e-7, 1e-5}) {
    strike(errors);
    double sum = 0;
    const unsigned rounds = errors > 1e-6 ? 8 : 1;
    for (unsigned i = 0; i < rounds; ++i) sum += use(false);
    RecordProperty(fmt::format("percent_at_{:.0e}", errors), fmt::format("{:.2f}", sum / rounds));
    RecordProperty(fmt::format("account_at_{:.0e}", errors),
                   fmt::format("{:.2f}", account(errors)));
    EXPECT_NEAR(sum / rounds, account(errors), errors > 1e-6 ? 2 : 0.5) << errors;
  }
  EXPECT_GT(errors_, 100u);
  EXPECT_EQ(get(*a, OAE_WINDOW_COUNT_LOST), 0u);
  EXPECT_EQ(get(*a, OAE_WINDOW_COUNT_DOWN), 0u);
}

using Rate1 = Rate<1>;
using Rate10 = Rate<10>;

TEST_F(Rate1, OneWay) {
  EXPECT_GE(use(false), 95);
}
TEST_F(Rate1, BothWays) {
  EXPECT_GE(use(true), 95);
}
TEST_F(Rate10, OneWay) {
  EXPECT_GE(use(false), 95);
}
TEST_F(Rate10, BothWays) {
  EXPECT_GE(use(true), 95);
}
/// From the edge at which the offer takes effect
TEST_F(Rate1, LatencyOfOneSlot) {
  for (unsigned i = 0; i < 7; ++i) a->post_put(OAE_WINDOW_SEND_AT(1) + 8 * i, i << 24);
  until([this] { return a->idle(); });
  a->post_put(OAE_WINDOW_OFFERED, 1);
  std::uint64_t sent = 0, held = 0, committed = 0, settled_at = 0;
  while (settled_at == 0) {
    clock();
    if (sent == 0 && a->top.sent_o == 1) sent = now;
    if (held == 0 && b->top.expected_o == 2) held = now;
    if (committed == 0 && b->top.done_o == 1) committed = now;
    if (settled_at == 0 && a->top.settled_o == 1) settled_at = now;
  }
  RecordProperty("held_ns", fmt::format("{:.2f}", (held - sent) * clock_ns));
  RecordProperty("committed_ns", fmt::format("{:.2f}", (committed - sent) * clock_ns));
  RecordProperty("settled_ns", fmt::format("{:.2f}", (settled_at - sent) * clock_ns));
  EXPECT_LT((committed - sent) * clock_ns, 100);
}

TEST_F(Rate10, SendToAcknowledgement) {
  for (unsigned i = 0; i < 7; ++i) a->post_put(OAE_WINDOW_SEND_AT(1) + 8 * i, i << 24);
  until([this] { return a->idle(); });
  a->post_put(OAE_WINDOW_OFFERED, 1);
  std::uint64_t sent = 0, settled_at = 0;
  while (settled_at == 0) {
    clock();
    if (sent == 0 && a->top.sent_o == 1) sent = now;
    if (settled_at == 0 && a->top.settled_o == 1) settled_at = now;
  }
  RecordProperty("settled_ns", fmt::format("{:.2f}", (settled_at - sent) * clock_ns));
  EXPECT_LT((settled_at - sent) * clock_ns, 300);
}

}  // namespace
}  // namespace window
