// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <vector>

/// The kind beside a slice on the pins (enum kind of rtl/registers/frame.yaml).
struct Slice {
  std::uint8_t kind = 0;
  std::uint64_t data = 0;
};

using Frame = std::array<std::uint64_t, 8>;

/// One direction of a link. Slices come out in the order in which they went in, `delay` slices
/// later, unless a fault is injected.
class LinkWire {
 public:
  explicit LinkWire(unsigned delay) : slices_(delay), delay_(delay) {}

  enum class Fault { lose, corrupt, duplicate, kind };

  void push(const Slice& slice);
  /// Puts a slice behind all those on the wire, without a fault and without a record of it.
  void insert(const Slice& slice) { put(slice); }
  Slice pop();

  /// Injects a fault into the n-th frame from now on, 0 being the next. It inverts `bit` of the 512
  /// bits, or changes the kind of slice `bit` / 64 to `bit` % 4.
  void fault(Fault fault, unsigned frame = 0, unsigned bit = 0);
  /// Inverts this one of the 64 bits of the next reflection.
  void corrupt_reflection(unsigned bit) { reflection_bit_ = bit, reflection_faulty_ = true; }
  /// Cuts the wire. The slices on it are lost, and no slice comes out until it is whole again.
  void cut();
  void join() { whole_ = true; }
  bool whole() const { return whole_; }
  std::size_t length() const { return slices_.size(); }
  /// Whether all that is on it is idle slices.
  bool idle() const { return busy_slices_ == 0; }
  bool faulty() const { return !faults_.empty(); }
  /// Ends all faults of frames.
  void forgive() { faults_.clear(); }

  /// All frames and reflections that went in, good or bad; reflections with their halves as sent.
  std::vector<Frame> frames;
  std::vector<std::uint64_t> reflections;
  std::uint64_t slices = 0;  ///< slices that were not idle
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
  std::size_t busy_slices_ = 0;  // of these, the ones that are not idle
  std::size_t delay_;
  std::vector<Planned> faults_;
  Frame frame_{};
  unsigned count_ = 8;  // number of slices of frame_; 8 between frames
  bool reflection_faulty_ = false;
  unsigned reflection_bit_ = 0;
  bool whole_ = true;
};
