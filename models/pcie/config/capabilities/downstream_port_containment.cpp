// SPDX-License-Identifier: Apache-2.0
#include "models/pcie/config/capabilities/downstream_port_containment.h"

namespace pcie {
namespace {

using Control = DownstreamPortContainment::ControlBit;
using StatusBit = DownstreamPortContainment::StatusBit;

constexpr std::uint32_t log_words = 4;
constexpr std::uint32_t pio_errors = DownstreamPortContainment::pio_errors;

using RequestError = DownstreamPortContainment::RequestError;

// The RP PIO status bit of an error of `request`.
unsigned bit_of(RequestError error, const HeaderWords& request) {
  const bool memory = (request[0] >> 24 & 0x1f) == 0;  // Type is 0 for memory requests
  return static_cast<unsigned>(error) + (memory ? DownstreamPortContainment::pio_memory_shift : 0);
}

}  // namespace

DownstreamPortContainment::DownstreamPortContainment(ConfigSpace& space, bool root_port)
    : space_(space), offset_(space.add_extended_capability(id, 1, root_port ? 0x30 : 0x0c)) {
  const unsigned at = offset_;
  space.define({at + capability, 2,
                CapabilityBit::poisoned_egress_blocking | CapabilityBit::software_triggering |
                    (root_port ? CapabilityBit::root_port_extensions |
                                     log_words << CapabilityBit::log_size_shift
                               : 0)});
  space.define({at + control, 2, 0, Control::all, 0, Control::all});
  space.define({at + status, 2, 0, 0, StatusBit::triggered | StatusBit::interrupt, 0xffff});
  space.define({at + source_id, 2, 0, 0, 0, 0xffff});
  if (!root_port) return;
  space.define({at + pio_status, 4, 0, 0, pio_errors, pio_errors});
  space.define({at + pio_mask, 4, pio_errors, pio_errors, 0, pio_errors});
  space.define({at + pio_severity, 4, 0, pio_errors, 0, pio_errors});
  space.define({at + pio_system_error, 4});
  space.define({at + pio_exception, 4});
  for (unsigned i = 0; i < log_words; ++i) {
    space.define({at + pio_header_log + 4 * i, 4, 0, 0, 0, ~0u});
  }
}

bool DownstreamPortContainment::trigger(Reason reason, Id source) {
  const std::uint32_t trigger_enable = space_.get(offset_ + control, 2) & Control::trigger_enable;
  const bool enabled =
      trigger_enable == Control::trigger_fatal || trigger_enable == Control::trigger_non_fatal;
  if (triggered() || !enabled) return false;
  const bool interrupt = space_.any(offset_ + control, Control::interrupt_enable);
  const std::uint32_t others = space_.get(offset_ + status, 2) & ~StatusBit::reason;
  space_.set(offset_ + status, 2,
             others | StatusBit::triggered | static_cast<std::uint32_t>(reason) |
                 (interrupt ? StatusBit::interrupt : 0));
  space_.set(offset_ + source_id, 2, source);
  return true;
}

bool DownstreamPortContainment::trigger_by_message(Severity severity, Id source) {
  if (severity == Severity::fatal) return trigger(Reason::fatal_message, source);
  const std::uint32_t trigger_enable = space_.get(offset_ + control, 2) & Control::trigger_enable;
  return severity == Severity::non_fatal && trigger_enable == Control::trigger_non_fatal &&
         trigger(Reason::non_fatal_message, source);
}

bool DownstreamPortContainment::trigger_by_software() {
  const std::uint32_t value = space_.get(offset_ + control, 2);
  if (!(value & Control::software_trigger)) return false;
  space_.set(offset_ + control, 2, value & ~Control::software_trigger);  // it always reads 0
  return trigger(Reason::software);
}

bool DownstreamPortContainment::log(RequestError error, const HeaderWords& request) {
  const unsigned bit = bit_of(error, request);
  const std::uint32_t before = space_.get(offset_ + pio_status, 4);
  space_.set(offset_ + pio_status, 4, before | 1u << bit);
  if (space_.any(offset_ + pio_mask, 1u << bit)) return false;
  // The pointer is valid while the bit at which it points is set.
  const std::uint32_t first = space_.get(offset_ + status, 2) & StatusBit::first_error_pointer;
  logged_ = logged_ && before >> (first >> StatusBit::first_error_shift) & 1;
  if (logged_) return true;
  logged_ = true;
  space_.change(offset_ + status, 2, StatusBit::first_error_pointer,
                bit << StatusBit::first_error_shift);
  for (unsigned i = 0; i < log_words; ++i) {
    space_.set(offset_ + pio_header_log + 4 * i, 4, request[i]);
  }
  return true;
}

bool DownstreamPortContainment::severe(RequestError error, const HeaderWords& request) const {
  return space_.any(offset_ + pio_severity, 1u << bit_of(error, request));
}

void DownstreamPortContainment::on_write(const std::function<void()>& action) {
  for (const unsigned at : {control, status}) {
    space_.on_write(offset_ + at, 2, [action](std::uint32_t) { action(); });
  }
}

}  // namespace pcie
