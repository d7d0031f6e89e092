// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <cstdint>
#include <functional>
#include <random>
#include <stdexcept>
#include <utility>

#include "models/rtl/clock_grid.h"
#include "vp/ring.h"
#include "vp/time/domain.h"

namespace oae {

/// Thrown for an impossible value, and for a waveform file that cannot be written.
struct ConfigurationError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Returns the frequency of a clock in Hz if it is 1 kHz to 10 GHz. Throws ConfigurationError.
std::uint64_t checked_clock(std::uint64_t hertz);

inline constexpr double max_bit_error_rate = 1e-3;

/// One end of the wire of an OAE link, with what is on its way to it.
///
/// A `Group` is what leaves at one edge of the clock. It has the members `arrival` in ps, `carrier`
/// and `data`, an array of slices of 64 bits, and the functions idle() and idle(slice), which say
/// whether it carries anything. The group occupies the wire until the next edge. The other end
/// sees it at its first edge after it has arrived. Groups that are idle are not sent, since the
/// other end assumes them.
template <typename Group>
class WireEnd {
 public:
  static constexpr unsigned slice_bits = 64;
  static constexpr unsigned slices = sizeof(Group::data) / sizeof(std::uint64_t);
  static constexpr unsigned bits = slices * slice_bits;  ///< of a group

  struct Counts {
    std::uint64_t sent = 0;
    std::uint64_t lost = 0;
    std::uint64_t damaged = 0;
  };

  /// `arrived` is called when something is on its way to this end. `error_rate` is that of each
  /// bit which this end sends, 0 to max_bit_error_rate.
  WireEnd(vp::Domain& domain, const rtl::ClockGrid& grid, const char* name,
          std::function<void()> arrived, double error_rate = 0, std::uint64_t seed = 1)
      : domain_(domain),
        grid_(grid),
        name_(name),
        arrived_(std::move(arrived)),
        error_rate_(error_rate),
        random_(seed) {
    if (!(error_rate >= 0 && error_rate <= max_bit_error_rate)) {
      throw ConfigurationError("a bit error rate is 0 to 1e-3");
    }
    if (error_rate_ > 0) good_ = draw();
  }

  /// Lays a wire between two ends. `delay` is that of each direction in ps, at least 1. Call this
  /// once for each end, before the end of elaboration. Throws ConfigurationError.
  static void connect(WireEnd& a, WireEnd& b, vp::Picoseconds delay) {
    if (a.peer_ != nullptr || b.peer_ != nullptr) {
      throw ConfigurationError("an end of a link has one wire");
    }
    if (delay < 1) throw ConfigurationError("a wire has a delay of 1 ps or more");
    for (auto [from, to] : {std::pair{&a, &b}, std::pair{&b, &a}}) {
      from->peer_ = to;
      from->delay_ = delay;
      // The effect of an edge or of a cut leaves with the next edge.
      if (&from->domain_ != &to->domain_) {
        to->domain_.add_peer(from->domain_, delay + from->grid_.time(1));
      }
    }
  }

  /// Whether an edge has to send a group of this carrier.
  bool differs(bool carrier) const { return carrier != carrier_sent_; }

  /// Sends what is on the pins before the edge.
  void send(std::uint64_t edge, Group group) {
    const bool changed = std::exchange(carrier_sent_, group.carrier) != group.carrier;
    if (peer_ == nullptr || (group.idle() && !changed)) return;
    if (cut_) {
      if (!group.idle()) ++counts_.lost;
      return;
    }
    // The last slice leaves at the next edge.
    group.arrival = grid_.time(edge + 1) + delay_;
    ++counts_.sent;
    if (!group.idle()) damage(group);
    peer_->arrive(group);
  }

  /// Cuts the wire from this end, or makes it whole again. What is on a wire that is cut is lost,
  /// and nothing arrives until the wire is whole. `carrier` is that of this end.
  void cut(bool is_cut, bool carrier) {
    if (peer_ == nullptr || is_cut == cut_) return;
    cut_ = is_cut;
    if (is_cut) {
      for (; !peer_->arriving_.empty(); peer_->arriving_.pop()) {
        if (!peer_->arriving_.front().idle()) ++counts_.lost;
      }
    }
    Group group{};
    group.arrival = vp::now() + grid_.time(1) + delay_;
    group.carrier = !is_cut && carrier;
    peer_->arrive(group);
  }

  /// Damages a bit of the next group that is sent. If its slice is idle, the bit is damaged in the
  /// next slice that is not.
  void damage(unsigned bit) { damages_.push(bit % bits); }

  bool waits() const { return !arriving_.empty(); }
  /// When the first group arrives that waits.
  vp::Picoseconds arrival() const { return arriving_.front().arrival; }
  /// What this end sees at an edge: the next group if it has arrived, or else an idle one.
  Group receive(vp::Picoseconds edge) {
    Group group{};
    if (waits() && arrival() < edge) {
      group = arriving_.pop();
      carrier_ = group.carrier;
    }
    group.carrier = carrier_;
    return group;
  }

  /// Loses what arrives before `when` at this end, which has had no power until then.
  void lose_arrivals(vp::Picoseconds when) {
    while (waits() && arrival() < when) {
      if (!arriving_.front().idle()) ++peer_->counts_.lost;
      carrier_ = arriving_.pop().carrier;
    }
  }

  const Counts& counts() const { return counts_; }

 private:
  void arrive(const Group& group) {
    if (&peer_->domain_ != &domain_) domain_.expect(group.arrival, name_);
    arriving_.push(group);
    arrived_();
  }

  void damage(Group& group) {
    const std::uint64_t before = counts_.damaged;
    if (!damages_.empty()) {
      const unsigned bit = damages_.pop();
      unsigned slice = bit / slice_bits;
      while (group.idle(slice)) slice = (slice + 1) % slices;
      flip(group, slice * slice_bits + bit % slice_bits);
      counts_.damaged = before + 1;
    }
    if (error_rate_ == 0) return;
    std::uint64_t left = bits;
    for (; good_ < left; good_ = draw()) {
      left -= good_ + 1;
      const auto bit = static_cast<unsigned>(bits - left - 1);
      if (group.idle(bit / slice_bits)) continue;
      flip(group, bit);
      counts_.damaged = before + 1;
    }
    good_ -= left;
  }

  static void flip(Group& group, unsigned bit) {
    group.data[bit / slice_bits] ^= std::uint64_t{1} << bit % slice_bits;
  }

  // The number of good bits before the next wrong one.
  std::uint64_t draw() {
    const double uniform = static_cast<double>(random_() >> 11) * 0x1p-53;
    const double good = std::floor(std::log1p(-uniform) / std::log1p(-error_rate_));
    return good < 0x1p62 ? static_cast<std::uint64_t>(good) : std::uint64_t{1} << 62;
  }

  vp::Domain& domain_;
  const rtl::ClockGrid& grid_;
  const char* const name_;
  const std::function<void()> arrived_;

  WireEnd* peer_ = nullptr;
  vp::Picoseconds delay_ = 0;
  bool carrier_sent_ = false;   // as the other end has last seen it
  bool cut_ = false;            // whether the wire from this end is cut
  bool carrier_ = false;        // of the other end, as it has arrived
  vp::Ring<unsigned> damages_;  // bits, one for each group that is to be damaged
  vp::Ring<Group> arriving_;    // in the order of their arrival

  const double error_rate_;
  std::mt19937_64 random_;
  std::uint64_t good_ = 0;  // bits that are sent before the next wrong one

  Counts counts_;
};

}  // namespace oae
