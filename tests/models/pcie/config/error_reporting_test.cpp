// SPDX-License-Identifier: Apache-2.0
#include "models/pcie/config/error_reporting.h"

#include <gtest/gtest.h>

#include "models/pcie/config/header.h"

namespace pcie {
namespace {

// The settings of a case, and the results that the specification prescribes (6.2.5, figure 6-2).
struct Setting {
  Error error;
  bool posted, masked, advisory_masked, fatal, serr;
  unsigned enables;  // Device Control 3:0

  bool advisory() const {
    if (fatal || is_correctable(error)) return false;
    if (error == Error::unexpected_completion) return true;
    return !posted && (error == Error::unsupported_request || error == Error::completer_abort ||
                       error == Error::acs_violation || error == Error::atomic_egress_blocked);
  }
  bool cor_enabled() const { return enables & 1; }
  bool ur_enabled() const { return enables & 8; }
  bool is_ur() const { return error == Error::unsupported_request; }

  std::optional<Severity> message() const {
    if (is_correctable(error)) {
      if (masked || !cor_enabled()) return {};
      return Severity::correctable;
    }
    if (advisory()) {
      if (advisory_masked || !cor_enabled() || (is_ur() && !ur_enabled())) return {};
      return Severity::correctable;
    }
    if (masked) return {};
    if (is_ur() && !serr && !ur_enabled()) return {};
    if (!serr && !(enables & (fatal ? 4 : 2))) return {};
    return fatal ? Severity::fatal : Severity::non_fatal;
  }
  unsigned device_status() const {
    return (is_correctable(error) || advisory() ? 1 : fatal ? 4 : 2) | (is_ur() ? 8 : 0);
  }
};

// All errors, all masks, severities, enables, with and without SERR#.
TEST(ErrorReporting, FollowsTheFlowChart) {
  const TlpPtr read = Tlp::memory_read(0x1000, 4);
  const std::uint8_t bytes[4] = {};
  const TlpPtr write = Tlp::memory_write(0x2000, bytes, 4);
  unsigned reported = 0;
  for (const Error error : all_errors) {
    for (unsigned i = 0; i < 1u << 9; ++i) {
      const Setting setting{error,        (i & 1) != 0,  (i & 2) != 0, (i & 4) != 0,
                            (i & 8) != 0, (i & 16) != 0, i >> 5};
      ConfigSpace space;
      Header header(space, {}, 1, false, 0);
      PciExpress express(space, {PortType::root_port});
      ErrorReporting reporting(space, express, PortType::root_port);
      const unsigned at = reporting.advanced().offset();
      space.write(at + AdvancedErrorReporting::uncorrectable_mask, 4, setting.masked ? ~0u : 0);
      space.write(at + AdvancedErrorReporting::uncorrectable_severity, 4, setting.fatal ? ~0u : 0);
      space.write(at + AdvancedErrorReporting::correctable_mask, 4,
                  (setting.masked ? ~(1u << 13) : 0) | (setting.advisory_masked ? 1u << 13 : 0));
      space.write(Header::command, 2, setting.serr ? 1u << 8 : 0);
      space.write(express.offset() + PciExpress::device_control, 2, setting.enables);

      const Tlp* tlp = setting.posted ? write.get() : read.get();
      auto message = reporting.report(error, tlp);
      if (message && !reporting.sends_message(*message)) message.reset();
      ASSERT_EQ(message, setting.message()) << to_string(error) << " " << i;
      ASSERT_EQ(space.read(express.offset() + PciExpress::device_status, 2) & 0xf,
                setting.device_status());
      reported += message.has_value();

      const bool uncorrectable =
          !is_correctable(error) && !(setting.advisory() && setting.advisory_masked);
      ASSERT_EQ(space.read(at + AdvancedErrorReporting::uncorrectable_status, 4),
                uncorrectable ? bit_of(error) : 0u);
      ASSERT_EQ(space.read(at + AdvancedErrorReporting::correctable_status, 4),
                is_correctable(error) ? bit_of(error)
                : setting.advisory()  ? 1u << 13
                                      : 0u);
      const bool logged = uncorrectable && !setting.masked;
      ASSERT_EQ(space.read(at + AdvancedErrorReporting::control, 4) & 0x1f,
                logged ? static_cast<unsigned>(error) : 0u);
      ASSERT_EQ(space.read(at + AdvancedErrorReporting::header_log + 8, 4),
                logged ? tlp->get_address() : 0u);
      const bool system_error = setting.serr && message && *message != Severity::correctable;
      ASSERT_EQ(space.read(Header::status, 2) >> 14 & 1, system_error) << "signalled";
    }
  }
  EXPECT_GT(reported, 1000u);
}

TEST(ErrorReporting, WhatAFunctionCannotHaveIsIgnored) {
  ConfigSpace space;
  Header header(space, {}, 0, false, 0);
  PciExpress express(space, {});
  ErrorReporting reporting(space, express, PortType::endpoint);
  space.write(express.offset() + PciExpress::device_control, 2, 0xf);
  EXPECT_FALSE(reporting.report(Error::surprise_down, nullptr));
  EXPECT_EQ(space.read(express.offset() + PciExpress::device_status, 2), 0u);
}

TEST(ErrorReporting, StatusRegisterReportsPoisonAndAborts) {
  ConfigSpace space;
  Header header(space, {}, 0, false, 0);
  PciExpress express(space, {});
  ErrorReporting reporting(space, express, PortType::endpoint);
  reporting.report(Error::poisoned_tlp, nullptr);
  EXPECT_EQ(space.read(Header::status, 2) & 0xf900, 1u << 15);
  reporting.report(Error::completer_abort, nullptr);
  EXPECT_EQ(space.read(Header::status, 2) & 0xf900, 1u << 15 | 1u << 11);
}

}  // namespace
}  // namespace pcie
