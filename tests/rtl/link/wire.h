// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <vector>

namespace window {

constexpr unsigned slices = WINDOW_SLICES;  // in a clock

/// What the wire carries in a clock.
struct Group {
  std::uint8_t kind = 0;  // enum wire_kind of rtl/registers/wire.yaml
  std::array<std::uint64_t, slices> data{};
};

using Frame = std::array<std::uint64_t, 8>;
using Return = std::array<std::uint64_t, 2>;

/// One direction of a link. A group comes out `delay` clocks after it went in, unless a fault is
/// injected.
class Wire {
 public:
  /// A function that may change the groups of one unit, a frame or a return, before they go on the
  /// wire. It may remove or add groups.
  using Fault = std::function<void(std::vector<Group>&)>;

  explicit Wire(unsigned delay) : groups_(delay), delay_(delay) {}

  void push(const Group& group);
  /// The frame that goes onto the wire will not be complete.
  void end_frame();
  Group pop();

  void cut();
  void join() { whole_ = true; }
  bool whole() const { return whole_; }
  bool idle() const { return busy_ == 0 && held_.empty(); }

  /// Called with each unit as it goes onto the wire; `frame` says which it is.
  std::function<void(std::vector<Group>& unit, bool frame)> tamper;

  std::vector<Frame> frames;    ///< all frames that went in
  std::vector<Return> returns;  ///< and returns
  bool record = true;           ///< whether these are kept
  std::uint64_t groups = 0;     ///< that were not idle

  /// Inverts one bit of a unit, of any of its slices, or of its kinds.
  static void damage(std::vector<Group>& unit, unsigned bit);

 private:
  void put(const Group& group);

  std::deque<Group> groups_;
  std::size_t delay_;
  std::size_t busy_ = 0;
  std::vector<Group> held_;  // of a frame that is not complete
  bool whole_ = true;
};

}  // namespace window
