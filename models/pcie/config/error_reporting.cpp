// SPDX-License-Identifier: Apache-2.0
#include "models/pcie/config/error_reporting.h"

namespace pcie {
namespace {

constexpr std::uint32_t unsupported_detected = PciExpress::unsupported_request;

// 6.2.3.2.4: an error is advisory if the requester learns of it from a completion, if the packet's
// destination handles it, or if no request asked for the packet.
bool is_advisory(Error error, const Tlp* tlp, Place place) {
  if (place == Place::passing) return true;
  switch (error) {
    case Error::unsupported_request:
    case Error::completer_abort:
    case Error::acs_violation:
    case Error::atomic_egress_blocked:
      return tlp != nullptr && tlp->is_non_posted();
    case Error::unexpected_completion:
      return true;
    default:
      return false;
  }
}

}  // namespace

std::optional<Severity> ErrorReporting::report(Error error, const Tlp* tlp, Place place) {
  if (!advanced_.knows(error)) return {};
  if (error == Error::poisoned_tlp) conventional_.detected_parity_error(link_side_);
  // 6.12.4: an ACS violation is answered with Completer Abort.
  if (error == Error::completer_abort ||
      (error == Error::acs_violation && tlp != nullptr && tlp->is_non_posted())) {
    conventional_.signaled_target_abort(link_side_);
  }

  const Severity severity = advanced_.severity(error);
  if (severity == Severity::correctable) return report_correctable(error);
  if (severity == Severity::non_fatal && is_advisory(error, tlp, place))
    return report_advisory(error, tlp);
  return report_uncorrectable(error, tlp, severity);
}

bool ErrorReporting::is_uncorrectable(Error error, const Tlp* tlp, Place place) const {
  if (!advanced_.knows(error) || advanced_.masked(error)) return false;
  const Severity severity = advanced_.severity(error);
  return severity == Severity::fatal ||
         (severity == Severity::non_fatal && !is_advisory(error, tlp, place));
}

std::optional<Severity> ErrorReporting::report_correctable(Error error) {
  express_.detected(PciExpress::correctable_error);
  advanced_.log(error, nullptr);
  if (advanced_.masked(error)) return {};
  return Severity::correctable;
}

// This follows 6.2.4.3.
std::optional<Severity> ErrorReporting::report_advisory(Error error, const Tlp* tlp) {
  const bool unsupported = error == Error::unsupported_request;
  express_.detected(PciExpress::correctable_error | (unsupported ? unsupported_detected : 0));
  advanced_.log_advisory();
  if (advanced_.advisory_masked()) return {};
  advanced_.log(error, tlp, express_.flits());
  if (unsupported && !express_.reports(PciExpress::unsupported_request)) return {};
  return Severity::correctable;
}

std::optional<Severity> ErrorReporting::report_uncorrectable(Error error, const Tlp* tlp,
                                                             Severity severity) {
  const bool unsupported = error == Error::unsupported_request;
  const std::uint32_t kind =
      severity == Severity::fatal ? PciExpress::fatal_error : PciExpress::non_fatal_error;
  express_.detected(kind | (unsupported ? unsupported_detected : 0));
  advanced_.log(error, tlp, express_.flits());
  if (advanced_.masked(error)) return {};
  if (unsupported && !serr_enabled() && !express_.reports(PciExpress::unsupported_request)) {
    return {};
  }
  return severity;
}

// 7.5.1.1.3: SERR# Enable does not affect ERR_COR.
bool ErrorReporting::sends_message(Severity severity) {
  switch (severity) {
    case Severity::correctable:
      return express_.reports(PciExpress::correctable_error);
    case Severity::non_fatal:
    case Severity::fatal:
      break;
  }
  if (serr_enabled()) {
    conventional_.signaled_system_error();
    return true;
  }
  return express_.reports(severity == Severity::fatal ? PciExpress::fatal_error
                                                      : PciExpress::non_fatal_error);
}

}  // namespace pcie
