// SPDX-License-Identifier: Apache-2.0
#include "tests/rtl/link/wire.h"

#include <cstddef>

#include "oae_registers.h"

namespace window {

// A fault changes a unit as a whole, so that a frame that may be changed goes on the wire when its
// last group has come. The wire is that much shorter, so the time is the same.
void Wire::push(const Group& group) {
  constexpr unsigned parts = 8 / slices;
  if (group.kind != OAE_WIRE_KIND_IDLE) ++groups;
  if (group.kind == OAE_WIRE_KIND_RETURN) {
    std::vector<Group> unit{group};
    if (record) returns.push_back({group.data[0], group.data[1]});
    if (tamper) tamper(unit, false);
    for (const Group& each : unit) put(each);
    return;
  }
  if (group.kind == OAE_WIRE_KIND_IDLE) {
    // Added groups have made the wire longer. Idle ones are dropped until it has its length again.
    if (groups_.size() <= delay_) put(group);
    return;
  }
  if (group.kind == OAE_WIRE_KIND_HEAD) end_frame();
  held_.push_back(group);
  if (held_.size() < parts) {
    if (!tamper) put(group);
    return;
  }
  if (record) {
    Frame frame{};
    for (unsigned i = 0; i < 8; ++i) frame[i] = held_[i / slices].data[i % slices];
    frames.push_back(frame);
  }
  if (tamper) {
    tamper(held_, true);
    for (const Group& each : held_) put(each);
  } else {
    put(group);
  }
  held_.clear();
}

void Wire::end_frame() {
  for (const Group& each : held_) {
    if (tamper) put(each);
  }
  held_.clear();
}

void Wire::put(const Group& group) {
  groups_.push_back(whole_ ? group : Group{});
  if (groups_.back().kind != OAE_WIRE_KIND_IDLE) ++busy_;
}

Group Wire::pop() {
  if (groups_.empty()) return {};
  const Group group = groups_.front();
  groups_.pop_front();
  if (group.kind != OAE_WIRE_KIND_IDLE) --busy_;
  // While a frame is held back, the wire is shorter than it should be.
  while (groups_.size() < delay_ && held_.empty()) groups_.push_back({});
  return group;
}

void Wire::cut() {
  whole_ = false;
  groups_.assign(delay_, {});
  busy_ = 0;
}

void Wire::damage(std::vector<Group>& unit, unsigned bit) {
  const unsigned bits = 64 * slices + 2;
  Group& group = unit[bit / bits % unit.size()];
  const unsigned within = bit % bits;
  if (within < 2) {
    group.kind ^= 1u << within;
  } else {
    group.data[(within - 2) / 64] ^= std::uint64_t{1} << (within - 2) % 64;
  }
}

}  // namespace window
