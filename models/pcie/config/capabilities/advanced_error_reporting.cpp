// SPDX-License-Identifier: Apache-2.0
#include "models/pcie/config/capabilities/advanced_error_reporting.h"

namespace pcie {
namespace {

constexpr unsigned uncorrectable_status = 0x04;
constexpr unsigned uncorrectable_mask = 0x08;
constexpr unsigned uncorrectable_severity = 0x0c;
constexpr unsigned correctable_status = 0x10;
constexpr unsigned correctable_mask = 0x14;
constexpr unsigned control = 0x18;
constexpr unsigned header_log = 0x1c;
constexpr unsigned root_command = 0x2c;
constexpr unsigned root_status = 0x30;
constexpr unsigned sources = 0x34;

constexpr std::uint32_t advisory_non_fatal = 1u << 13;
constexpr std::uint32_t first_error_pointer = 0x1f;
// ECRC generation and checking, capable and enable
constexpr std::uint32_t ecrc_capable = 1u << 5 | 1u << 7;
constexpr std::uint32_t ecrc_enable = 1u << 6 | 1u << 8;

// Root error status
constexpr std::uint32_t correctable_received = 1u << 0;
constexpr std::uint32_t more_correctable_received = 1u << 1;
constexpr std::uint32_t uncorrectable_received = 1u << 2;
constexpr std::uint32_t more_uncorrectable_received = 1u << 3;
constexpr std::uint32_t first_is_fatal = 1u << 4;
constexpr std::uint32_t non_fatal_received = 1u << 5;
constexpr std::uint32_t fatal_received = 1u << 6;

std::uint32_t bits(bool correctable) {
  std::uint32_t found = 0;
  for (const Error error : all_errors) {
    if (is_correctable(error) == correctable) found |= bit_of(error);
  }
  return found;
}

// 7.8.4.3 and 7.8.4.4
constexpr std::uint32_t masked_by_default = bit_of(Error::poisoned_egress_blocked);
constexpr std::uint32_t fatal_by_default =
    bit_of(Error::data_link_protocol) | bit_of(Error::surprise_down) |
    bit_of(Error::receiver_overflow) | bit_of(Error::malformed_tlp);

}  // namespace

AdvancedErrorReporting::AdvancedErrorReporting(ConfigSpace& space, PortType type,
                                               const AdvancedErrorReporting* physical)
    : space_(space),
      governor_(physical != nullptr ? physical : this),
      offset_(space.add_extended_capability(0x0001, 2, type == PortType::root_port ? 0x38 : 0x2c)),
      uncorrectable_(bits(false)) {
  const bool root = type == PortType::root_port;
  if (!is_above_link(type)) {
    uncorrectable_ &= ~(bit_of(Error::surprise_down) | bit_of(Error::acs_violation) |
                        bit_of(Error::poisoned_egress_blocked));
  }
  if (type == PortType::endpoint) uncorrectable_ &= ~bit_of(Error::atomic_egress_blocked);
  const std::uint32_t all = uncorrectable_;
  const std::uint32_t correctable = bits(true) | advisory_non_fatal;
  space.define({offset_ + uncorrectable_status, 4, 0, 0, all, all});
  if (physical != nullptr) {
    for (const unsigned at : {uncorrectable_mask, uncorrectable_severity, correctable_mask}) {
      space.define({offset_ + at, 4});
    }
  } else {
    space.define({offset_ + uncorrectable_mask, 4, masked_by_default & all, all, 0, all});
    space.define({offset_ + uncorrectable_severity, 4, fatal_by_default & all, all, 0, all});
    space.define({offset_ + correctable_mask, 4, advisory_non_fatal, correctable, 0, correctable});
  }
  space.define({offset_ + correctable_status, 4, 0, 0, correctable, correctable});
  // A switch takes digests as they come: it neither makes nor checks any.
  const bool digests = root || type == PortType::endpoint;
  const std::uint32_t enable = digests && physical == nullptr ? ecrc_enable : 0;
  space.define(
      {offset_ + control, 4, digests ? ecrc_capable : 0, enable, 0, first_error_pointer | enable});
  for (unsigned i = 0; i < 4; ++i) space.define({offset_ + header_log + 4 * i, 4, 0, 0, 0, ~0u});
  if (!root) return;
  space.define({offset_ + root_command, 4, 0, 0x7});
  // 31:27, the vector of the interrupt, is 0.
  space.define({offset_ + root_status, 4, 0, 0, 0x7f, 0x7f});
  space.define({offset_ + sources, 4, 0, 0, 0, ~0u});
}

Severity AdvancedErrorReporting::severity(Error error) const {
  if (is_correctable(error)) return Severity::correctable;
  const bool fatal = governing(uncorrectable_severity) & bit_of(error);
  return fatal ? Severity::fatal : Severity::non_fatal;
}

bool AdvancedErrorReporting::masked(Error error) const {
  const unsigned mask = is_correctable(error) ? correctable_mask : uncorrectable_mask;
  return governing(mask) & bit_of(error);
}

void AdvancedErrorReporting::log(Error error, const Tlp* tlp) {
  const unsigned at = offset_ + (is_correctable(error) ? correctable_status : uncorrectable_status);
  const std::uint32_t before = space_.get(at, 4);
  space_.set(at, 4, before | bit_of(error));
  if (is_correctable(error)) return;
  // The pointer is valid while the bit that it points at is set.
  const unsigned first = space_.get(offset_ + control, 4) & first_error_pointer;
  logged_ = logged_ && (before >> first & 1);
  if (masked(error) || logged_) return;
  logged_ = true;
  space_.set(offset_ + control, 4,
             (space_.get(offset_ + control, 4) & ~first_error_pointer) |
                 static_cast<std::uint32_t>(error));
  const HeaderWords words = tlp != nullptr ? tlp->header_words() : HeaderWords{};
  for (unsigned i = 0; i < 4; ++i) space_.set(offset_ + header_log + 4 * i, 4, words[i]);
}

void AdvancedErrorReporting::log_advisory() {
  const std::uint32_t before = space_.get(offset_ + correctable_status, 4);
  space_.set(offset_ + correctable_status, 4, before | advisory_non_fatal);
}

void AdvancedErrorReporting::collect(Severity severity, Id source) {
  std::uint32_t status = space_.get(offset_ + root_status, 4);
  const bool correctable = severity == Severity::correctable;
  const std::uint32_t first = correctable ? correctable_received : uncorrectable_received;
  if (status & first) {
    status |= correctable ? more_correctable_received : more_uncorrectable_received;
  } else {
    status |= first | (severity == Severity::fatal ? first_is_fatal : 0);
    space_.set(offset_ + sources + (correctable ? 0 : 2), 2, source);
  }
  if (severity == Severity::non_fatal) status |= non_fatal_received;
  if (severity == Severity::fatal) status |= fatal_received;
  space_.set(offset_ + root_status, 4, status);
}

bool AdvancedErrorReporting::interrupting() const {
  const std::uint32_t status = space_.get(offset_ + root_status, 4);
  const std::uint32_t kinds = (status & correctable_received ? 1u << 0 : 0) |
                              (status & non_fatal_received ? 1u << 1 : 0) |
                              (status & fatal_received ? 1u << 2 : 0);
  return kinds & space_.get(offset_ + root_command, 4);
}

void AdvancedErrorReporting::on_root_write(const std::function<void()>& action) {
  for (const unsigned at : {root_command, root_status}) {
    space_.on_write(offset_ + at, 4, [action](std::uint32_t) { action(); });
  }
}

}  // namespace pcie
