// SPDX-License-Identifier: Apache-2.0
#include "models/pcie/link/fault_injection.h"

#include <algorithm>

#include "models/pcie/link/recovery.h"

namespace pcie {

bool is_possible(Direction direction, const Fault& fault) {
  // Surprise Down and ACS violations exist only in downstream ports, which receive what goes up.
  const bool port_alone =
      fault.error == Error::surprise_down || fault.error == Error::acs_violation;
  if (port_alone && direction == Direction::down) return false;
  if (is_of_egress(fault.error)) return false;
  if (fault.number < 1) return false;
  if (!fault.type) return true;
  const TlpPtr tlp = Tlp::make(*fault.type);
  switch (fault.error) {
    case Error::completion_timeout:
      return tlp->is_non_posted() || tlp->is_completion();
    case Error::unexpected_completion:
      return tlp->is_completion();
    case Error::poisoned_tlp:
      return tlp->has_data();
    case Error::unsupported_request:
    case Error::completer_abort:
    case Error::acs_violation:
      return !tlp->is_completion();
    default:
      return true;
  }
}

FaultInjection::FaultInjection(LinkMode& mode, Recovery& recovery, Port& from, Port& to)
    : mode_(mode), recovery_(recovery), from_(from), to_(to), effect_(to.domain(), [this] {
        take_effect();
      }) {}

void FaultInjection::schedule(const Scheduled& scheduled) {
  scheduled_.push(scheduled);
  if (!effect_.pending()) effect_.at(scheduled.when);
}

void FaultInjection::take_effect() {
  while (!scheduled_.empty() && scheduled_.front().when <= vp::now()) {
    const Scheduled scheduled = scheduled_.pop();
    if (scheduled.failed_lane) lose_lane(*scheduled.failed_lane);
    if (scheduled.failed_lane || !to_.link_up_) continue;
    detect(scheduled.error);
  }
  if (!scheduled_.empty()) effect_.at(scheduled_.front().when);
}

// Reports the error of a packet that does not exist.
void FaultInjection::detect(Error error) {
  if (error == Error::ecrc && !to_.checks_digests()) return;
  const std::uint8_t nothing[4] = {};
  TlpPtr tlp = Tlp::memory_write(0, nothing, 4);
  tlp->header.poisoned = error == Error::poisoned_tlp;
  tlp->header.ecrc = error == Error::ecrc;
  if (error == Error::unexpected_completion) {
    tlp = Tlp::completion(*Tlp::memory_read(0, 4), 0, Status::success);
  }
  to_.detected(error, has_tlp(error) ? tlp.get() : nullptr);
}

void FaultInjection::lose_lane(unsigned lane) {
  if (!mode_.lose(lane)) return;
  if (to_.link_up_) {
    to_.lane_failed(lane);
    to_.detected(Error::receiver_error, nullptr);
  }
  mode_.choose(mode_.generation());
  if (to_.link_up_ && from_.link_up_) {
    recovery_.enter(to_);
  } else if (!to_.link_up_ && !from_.link_up_) {
    recovery_.follow_mode();  // it may be training
  }
}

bool FaultInjection::apply(const TlpPtr& tlp) {
  // Every fault for this type counts the TLP. The first fault that reaches its number applies.
  auto chosen = awaited_.end();
  for (auto fault = awaited_.begin(); fault != awaited_.end(); ++fault) {
    if (*fault->type != tlp->header.type) continue;
    if (fault->number > 1) {
      --fault->number;
    } else if (chosen == awaited_.end()) {
      chosen = fault;
    }
  }
  if (chosen == awaited_.end()) return false;
  const Error error = chosen->error;
  awaited_.erase(chosen);
  switch (error) {
    case Error::completion_timeout:
      return true;
    case Error::unexpected_completion: {
      TlpPtr copy = Tlp::make(tlp->header.type);
      copy->header = tlp->header;
      copy->set_data_length(tlp->get_data_length());
      std::copy_n(tlp->data(), std::min(tlp->payload_bytes(), Tlp::max_bytes), copy->data());
      to_.receive(std::move(copy));
      return false;
    }
    case Error::poisoned_tlp:
      tlp->header.poisoned = true;
      return false;
    case Error::ecrc:
      if (!tlp->header.ecrc || !to_.checks_digests()) return false;
      [[fallthrough]];
    default:
      to_.detected(error, has_tlp(error) ? tlp.get() : nullptr);
      return has_tlp(error) || error == Error::receiver_overflow;
  }
}

}  // namespace pcie
