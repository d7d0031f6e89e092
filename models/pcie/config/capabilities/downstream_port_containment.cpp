// SPDX-License-Identifier: Apache-2.0
#include "models/pcie/config/capabilities/downstream_port_containment.h"

namespace pcie {
namespace {

constexpr unsigned capability = 0x04;
constexpr unsigned source_id = 0x0a;
constexpr unsigned pio_status = 0x0c;
constexpr unsigned pio_mask = 0x10;
constexpr unsigned pio_severity = 0x14;
constexpr unsigned pio_system_error = 0x18;
constexpr unsigned pio_exception = 0x1c;
constexpr unsigned header_log = 0x20;

constexpr std::uint32_t root_port_extensions = 1u << 5;
constexpr std::uint32_t poisoned_egress_blocking = 1u << 6;
constexpr std::uint32_t software_triggering = 1u << 7;
constexpr std::uint32_t log_words = 4;

// Control
constexpr std::uint32_t fatal_triggers = 1;
constexpr std::uint32_t non_fatal_triggers = 2;
constexpr std::uint32_t interrupt_enable = 1u << 3;
constexpr std::uint32_t software_trigger = 1u << 6;
constexpr std::uint32_t control_writable = 0x7f;

// Status
constexpr std::uint32_t trigger_status = 1u << 0;
constexpr std::uint32_t interrupt_status = 1u << 3;
constexpr std::uint32_t reasons = 3u << 1 | 3u << 5;
constexpr unsigned first_error = 8;
constexpr std::uint32_t first_error_pointer = 0x1fu << first_error;

// Of configuration and memory requests; there are no I/O requests.
constexpr std::uint32_t pio_errors = 7u << 0 | 7u << 16;

using RequestError = DownstreamPortContainment::RequestError;

unsigned bit_of(RequestError error, const HeaderWords& request) {
  const bool memory = (request[0] >> 24 & 0x1f) == 0;  // type, in formats of 3 and 4 DW
  return static_cast<unsigned>(error) + (memory ? 16 : 0);
}

}  // namespace

DownstreamPortContainment::DownstreamPortContainment(ConfigSpace& space, bool root_port)
    : space_(space), offset_(space.add_extended_capability(0x001d, 1, root_port ? 0x30 : 0x0c)) {
  const unsigned at = offset_;
  space.define({at + capability, 2,
                poisoned_egress_blocking | software_triggering |
                    (root_port ? root_port_extensions | log_words << 8 : 0)});
  space.define({at + control, 2, 0, control_writable, 0, control_writable});
  space.define({at + status, 2, 0, 0, trigger_status | interrupt_status, 0xffff});
  space.define({at + source_id, 2, 0, 0, 0, 0xffff});
  if (!root_port) return;
  space.define({at + pio_status, 4, 0, 0, pio_errors, pio_errors});
  space.define({at + pio_mask, 4, pio_errors, pio_errors, 0, pio_errors});
  space.define({at + pio_severity, 4, 0, pio_errors, 0, pio_errors});
  space.define({at + pio_system_error, 4});
  space.define({at + pio_exception, 4});
  for (unsigned i = 0; i < log_words; ++i) space.define({at + header_log + 4 * i, 4, 0, 0, 0, ~0u});
}

bool DownstreamPortContainment::trigger(Reason reason, Id source) {
  if (triggered() || (enabled() != fatal_triggers && enabled() != non_fatal_triggers)) return false;
  const bool interrupt = space_.get(offset_ + control, 2) & interrupt_enable;
  const std::uint32_t others = space_.get(offset_ + status, 2) & ~reasons;
  space_.set(offset_ + status, 2,
             others | trigger_status | static_cast<std::uint32_t>(reason) |
                 (interrupt ? interrupt_status : 0));
  space_.set(offset_ + source_id, 2, source);
  return true;
}

bool DownstreamPortContainment::trigger_by_message(Severity severity, Id source) {
  if (severity == Severity::fatal) return trigger(Reason::fatal_message, source);
  return severity == Severity::non_fatal && enabled() == non_fatal_triggers &&
         trigger(Reason::non_fatal_message, source);
}

bool DownstreamPortContainment::trigger_by_software() {
  const std::uint32_t value = space_.get(offset_ + control, 2);
  if (!(value & software_trigger)) return false;
  space_.set(offset_ + control, 2, value & ~software_trigger);  // it always reads 0
  return trigger(Reason::software);
}

bool DownstreamPortContainment::log(RequestError error, const HeaderWords& request) {
  const unsigned bit = bit_of(error, request);
  const std::uint32_t before = space_.get(offset_ + pio_status, 4);
  space_.set(offset_ + pio_status, 4, before | 1u << bit);
  if (space_.test(offset_ + pio_mask, bit)) return false;
  // The pointer is valid while the bit that it points at is set.
  const std::uint32_t pointers = space_.get(offset_ + status, 2);
  logged_ = logged_ && before >> ((pointers & first_error_pointer) >> first_error) & 1;
  if (logged_) return true;
  logged_ = true;
  space_.set(offset_ + status, 2, (pointers & ~first_error_pointer) | bit << first_error);
  for (unsigned i = 0; i < log_words; ++i) {
    space_.set(offset_ + header_log + 4 * i, 4, request[i]);
  }
  return true;
}

bool DownstreamPortContainment::severe(RequestError error, const HeaderWords& request) const {
  return space_.test(offset_ + pio_severity, bit_of(error, request));
}

void DownstreamPortContainment::on_write(const std::function<void()>& action) {
  for (const unsigned at : {control, status}) {
    space_.on_write(offset_ + at, 2, [action](std::uint32_t) { action(); });
  }
}

}  // namespace pcie
