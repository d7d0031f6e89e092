// SPDX-License-Identifier: Apache-2.0
#include "models/pcie/config/capabilities/advanced_error_reporting.h"

#include <algorithm>

namespace pcie {
namespace {

using Aer = AdvancedErrorReporting;

constexpr std::uint32_t ecrc_capable =
    Aer::ControlBit::generation_capable | Aer::ControlBit::check_capable;
constexpr std::uint32_t ecrc_enable =
    Aer::ControlBit::generation_enable | Aer::ControlBit::check_enable;

// The longest header base that a port of this model sends, and one DW of orthogonal content.
constexpr std::uint32_t flit_log_words = 5;

std::uint32_t bits(bool correctable) {
  std::uint32_t found = 0;
  for (const Error error : all_errors) {
    if (is_correctable(error) == correctable) found |= bit_of(error);
  }
  return found;
}

// These defaults follow 7.8.4.3 and 7.8.4.4.
constexpr std::uint32_t masked_by_default = bit_of(Error::poisoned_egress_blocked);
constexpr std::uint32_t fatal_by_default =
    bit_of(Error::data_link_protocol) | bit_of(Error::surprise_down) |
    bit_of(Error::receiver_overflow) | bit_of(Error::malformed_tlp);

}  // namespace

AdvancedErrorReporting::AdvancedErrorReporting(ConfigSpace& space, PortType type,
                                               const AdvancedErrorReporting* physical, bool flits)
    : space_(space),
      governor_(physical != nullptr ? physical : this),
      flits_(flits),
      offset_(space.add_extended_capability(id, flits ? 3 : 2,
                                            flits                         ? header_log_5 + 4
                                            : type == PortType::root_port ? 0x38
                                                                          : 0x2c)),
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
  // A switch forwards digests without change: it neither generates nor checks any.
  const bool digests = root || type == PortType::endpoint;
  const std::uint32_t enable = digests && physical == nullptr ? ecrc_enable : 0;
  const std::uint32_t log_size = flits ? flit_log_words << ControlBit::header_log_size_shift : 0;
  space.define({offset_ + control, 4, (digests ? ecrc_capable : 0) | log_size, enable, 0,
                ControlBit::first_error_pointer | ControlBit::logged_in_flit |
                    ControlBit::logged_size | enable});
  for (unsigned i = 0; i < 4; ++i) space.define({offset_ + header_log + 4 * i, 4, 0, 0, 0, ~0u});
  if (flits) space.define({offset_ + header_log_5, 4, 0, 0, 0, ~0u});
  if (!root) return;
  space.define({offset_ + root_error_command, 4, 0, RootErrorCommandBit::all});
  // The vector of the interrupt, in bits 31:27, is 0.
  space.define(
      {offset_ + root_error_status, 4, 0, 0, RootErrorStatusBit::all, RootErrorStatusBit::all});
  space.define({offset_ + error_source, 4, 0, 0, 0, ~0u});
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

void AdvancedErrorReporting::log(Error error, const Tlp* tlp, bool in_flit) {
  const unsigned at = offset_ + (is_correctable(error) ? correctable_status : uncorrectable_status);
  const std::uint32_t before = space_.get(at, 4);
  space_.set(at, 4, before | bit_of(error));
  if (is_correctable(error)) return;
  // The pointer is valid while the bit at which it points is set.
  const unsigned first = space_.get(offset_ + control, 4) & ControlBit::first_error_pointer;
  logged_ = logged_ && (before >> first & 1);
  if (masked(error) || logged_) return;
  logged_ = true;
  space_.change(offset_ + control, 4, ControlBit::first_error_pointer,
                static_cast<std::uint32_t>(error));
  log_header(tlp, in_flit);
}

void AdvancedErrorReporting::log_header(const Tlp* tlp, bool in_flit) {
  FlitHeader header;
  if (tlp != nullptr && in_flit) {
    header = tlp->flit_header();
  } else if (tlp != nullptr) {
    const HeaderWords words = tlp->header_words();
    std::copy(words.begin(), words.end(), header.words.begin());
    header.size = tlp->header_bytes() / 4;
  }
  for (unsigned i = 0; i < 4; ++i) space_.set(offset_ + header_log + 4 * i, 4, header.words[i]);
  if (!flits_) return;
  space_.set(offset_ + header_log_5, 4, header.words[4]);
  space_.change(
      offset_ + control, 4, ControlBit::logged_in_flit | ControlBit::logged_size,
      (in_flit ? ControlBit::logged_in_flit : 0) | header.size << ControlBit::logged_size_shift);
}

void AdvancedErrorReporting::log_advisory() {
  space_.change(offset_ + correctable_status, 4, advisory_non_fatal, advisory_non_fatal);
}

void AdvancedErrorReporting::collect(Severity severity, Id source) {
  using Bit = RootErrorStatusBit;
  std::uint32_t status = space_.get(offset_ + root_error_status, 4);
  const bool correctable = severity == Severity::correctable;
  const std::uint32_t first = correctable ? Bit::correctable : Bit::uncorrectable;
  if (status & first) {
    status |= correctable ? Bit::multiple_correctable : Bit::multiple_uncorrectable;
  } else {
    status |= first | (severity == Severity::fatal ? Bit::first_uncorrectable_fatal : 0);
    space_.set(offset_ + (correctable ? error_source : uncorrectable_source), 2, source);
  }
  if (severity == Severity::non_fatal) status |= Bit::non_fatal;
  if (severity == Severity::fatal) status |= Bit::fatal;
  space_.set(offset_ + root_error_status, 4, status);
}

bool AdvancedErrorReporting::interrupting() const {
  const std::uint32_t status = space_.get(offset_ + root_error_status, 4);
  const std::uint32_t kinds =
      (status & RootErrorStatusBit::correctable ? RootErrorCommandBit::correctable : 0) |
      (status & RootErrorStatusBit::non_fatal ? RootErrorCommandBit::non_fatal : 0) |
      (status & RootErrorStatusBit::fatal ? RootErrorCommandBit::fatal : 0);
  return kinds & space_.get(offset_ + root_error_command, 4);
}

void AdvancedErrorReporting::on_root_write(const std::function<void()>& action) {
  for (const unsigned at : {root_error_command, root_error_status}) {
    space_.on_write(offset_ + at, 4, [action](std::uint32_t) { action(); });
  }
}

}  // namespace pcie
