// SPDX-License-Identifier: Apache-2.0
#include "tests/rtl/transfer/ends/wire.h"

#include <algorithm>

#include "oae_registers.h"

void LinkWire::fault(Fault fault, unsigned frame, unsigned bit) {
  faults_.push_back({fault, frame, bit});
}

const LinkWire::Planned* LinkWire::planned() const {
  const auto found = std::find_if(faults_.begin(), faults_.end(),
                                  [](const Planned& each) { return each.frame == 0; });
  return found == faults_.end() ? nullptr : &*found;
}

void LinkWire::push(const Slice& slice) {
  Slice out = slice;
  if (slice.kind != OAE_KIND_IDLE) ++slices;
  if (slice.kind == OAE_KIND_REFLECTION) {
    reflections.push_back(slice.data << 32 | slice.data >> 32);
    if (reflection_faulty_) out.data ^= std::uint64_t{1} << reflection_bit_;
    reflection_faulty_ = false;
    return put(out);
  }
  if (slice.kind == OAE_KIND_SLICE_0) {
    count_ = 0;
    // The fault of this frame has number 0 until its end.
  }
  if (slice.kind == OAE_KIND_IDLE || count_ == 8) {
    // Repeated frames have made the wire longer. Idle slices are dropped until it has its length
    // again.
    if (slice.kind == OAE_KIND_IDLE && slices_.size() > delay_) return;
    return put(out);
  }
  const Planned* plan = planned();
  frame_[count_] = slice.data;
  if (plan != nullptr) {
    if (plan->fault == Fault::lose) out = {};
    if (plan->fault == Fault::corrupt && plan->bit / 64 == count_) {
      out.data ^= std::uint64_t{1} << plan->bit % 64;
    }
    if (plan->fault == Fault::kind && plan->bit / 64 == count_) out.kind = plan->bit % 4;
  }
  put(out);
  if (++count_ < 8) return;
  frames.push_back(frame_);
  if (plan != nullptr && plan->fault == Fault::duplicate) {
    for (unsigned i = 0; i < 8; ++i) {
      const unsigned kind = i == 0 ? OAE_KIND_SLICE_0 : OAE_KIND_PAYLOAD;
      put({static_cast<std::uint8_t>(kind), frame_[i]});
    }
  }
  if (plan != nullptr) faults_.erase(faults_.begin() + (plan - faults_.data()));
  for (Planned& each : faults_) {
    if (each.frame > 0) --each.frame;
  }
}

void LinkWire::put(const Slice& slice) {
  slices_.push_back(whole_ ? slice : Slice{});
  if (slices_.back().kind != OAE_KIND_IDLE) ++busy_slices_;
}

Slice LinkWire::pop() {
  ++popped;
  const Slice slice = slices_.front();
  slices_.pop_front();
  if (slice.kind != OAE_KIND_IDLE) --busy_slices_;
  return slice;
}

void LinkWire::cut() {
  whole_ = false;
  slices_.assign(delay_, {});
  busy_slices_ = 0;
}
