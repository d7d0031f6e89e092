// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <vector>

/// What is beside the slice on the pins (enum kind of rtl/registers/frame.yaml).
struct Slice {
  std::uint8_t kind = 0;
  std::uint64_t data = 0;
};

using Frame = std::array<std::uint64_t, 8>;

/// One direction of a link: slices come out in the order in which they went in, `delay` slices
/// later, unless a fault is asked for.
class LinkWire {
 public:
  explicit LinkWire(unsigned delay) : slices_(delay), delay_(delay) {}

  enum class Fault { lose, corrupt, duplicate, kind };

  void push(const Slice& slice);
  Slice pop();

  /// Happens to the n-th frame from now on, 0 being the next; `bit` of its 512 is turned over, or
  /// the kind of slice `bit` / 64 becomes that of `bit` % 4.
  void fault(Fault fault, unsigned frame = 0, unsigned bit = 0);
  /// The next reflection is turned over in this bit of its 64.
  void corrupt_reflection(unsigned bit) { reflection_bit_ = bit, reflection_faulty_ = true; }
  /// What is on the wire is gone, and nothing comes out until it is whole again.
  void cut();
  void join() { whole_ = true; }
  bool whole() const { return whole_; }
  bool faulty() const { return !faults_.empty(); }
  /// Nothing more happens to any frame.
  void forgive() { faults_.clear(); }

  /// Good or not, what has gone in: frames, and reflections with their halves as they were sent.
  std::vector<Frame> frames;
  std::vector<std::uint64_t> reflections;
  std::uint64_t slices = 0;  ///< that were not idle
  std::uint64_t popped = 0;

 private:
  struct Planned {
    Fault fault;
    unsigned frame;
    unsigned bit;
  };

  void put(const Slice& slice);
  const Planned* planned() const;

  std::deque<Slice> slices_;
  std::size_t delay_;
  std::vector<Planned> faults_;
  Frame frame_{};
  unsigned count_ = 8;  // slices of frame_; 8 between frames
  bool reflection_faulty_ = false;
  unsigned reflection_bit_ = 0;
  bool whole_ = true;
};
