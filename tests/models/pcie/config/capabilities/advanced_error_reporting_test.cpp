// SPDX-License-Identifier: Apache-2.0
#include "models/pcie/config/capabilities/advanced_error_reporting.h"

#include <gtest/gtest.h>

namespace pcie {
namespace {

constexpr std::uint32_t uncorrectable = 0x001fd010;
constexpr std::uint32_t surprise_down = 1u << 5;
constexpr std::uint32_t acs_violation = 1u << 21;
constexpr std::uint32_t atomic_egress_blocked = 1u << 24;
constexpr std::uint32_t poisoned_egress_blocked = 1u << 26;
constexpr std::uint32_t correctable = 0x31c1;  // advisory non-fatal among them

class AdvancedErrorReportingTest : public testing::TestWithParam<PortType> {
 protected:
  std::uint32_t get(unsigned at) const { return space.read(reporting.offset() + at, 4); }
  void put(unsigned at, std::uint32_t value) { space.write(reporting.offset() + at, 4, value); }
  unsigned pointer() const { return get(AdvancedErrorReporting::control) & 0x1f; }
  bool root() const { return GetParam() == PortType::root_port; }
  bool endpoint() const { return GetParam() == PortType::endpoint; }
  bool digests() const { return root() || endpoint(); }
  bool above() const { return is_above_link(GetParam()); }
  std::uint32_t known() const {
    return uncorrectable | (above() ? surprise_down | acs_violation | poisoned_egress_blocked : 0) |
           (endpoint() ? 0 : atomic_egress_blocked);
  }

  ConfigSpace space;
  AdvancedErrorReporting reporting{space, GetParam()};
};
INSTANTIATE_TEST_SUITE_P(Ports, AdvancedErrorReportingTest,
                         testing::Values(PortType::endpoint, PortType::root_port,
                                         PortType::upstream_port, PortType::downstream_port));

TEST_P(AdvancedErrorReportingTest, RegistersOutOfReset) {
  const std::uint32_t expected[] = {
      0x00020001,
      0,
      above() ? poisoned_egress_blocked : 0,
      0x00060010u | (above() ? surprise_down : 0),
      0,
      1u << 13,
      digests() ? 0xa0u : 0,
  };
  for (unsigned i = 0; i < 7; ++i) EXPECT_EQ(get(4 * i), expected[i]) << i;
  for (unsigned at = 0x1c; at < 0x38; at += 4) EXPECT_EQ(get(at), 0u) << at;
}

// Every bit that software can write, and no other.
TEST_P(AdvancedErrorReportingTest, WriteMasks) {
  for (unsigned at = 0; at < 0x38; at += 4) put(at, ~0u);
  EXPECT_EQ(get(0x00), 0x00020001u);
  EXPECT_EQ(get(AdvancedErrorReporting::uncorrectable_status), 0u);
  EXPECT_EQ(get(AdvancedErrorReporting::uncorrectable_mask), known());
  EXPECT_EQ(get(AdvancedErrorReporting::uncorrectable_severity), known());
  EXPECT_EQ(get(AdvancedErrorReporting::correctable_status), 0u);
  EXPECT_EQ(get(AdvancedErrorReporting::correctable_mask), correctable);
  EXPECT_EQ(get(AdvancedErrorReporting::control), digests() ? 0x1e0u : 0)
      << "ECRC generation and checking";
  for (unsigned at = 0x1c; at < 0x2c; at += 4) EXPECT_EQ(get(at), 0u) << at;
  EXPECT_EQ(get(AdvancedErrorReporting::root_error_command), root() ? 7u : 0u);
  EXPECT_EQ(get(AdvancedErrorReporting::root_error_status), 0u);
  EXPECT_EQ(get(AdvancedErrorReporting::error_source), 0u);
  for (unsigned at = 4; at < 0x38; at += 4) put(at, 0);
  for (unsigned at = 4; at < 0x38; at += 4)
    EXPECT_EQ(get(at), at == 0x18 && digests() ? 0xa0u : 0u) << at;
}

TEST_P(AdvancedErrorReportingTest, EachStatusBitIsSetAndClearedAlone) {
  for (const Error error : all_errors) {
    if (!reporting.knows(error)) continue;
    reporting.log(error, nullptr);
  }
  EXPECT_EQ(get(AdvancedErrorReporting::uncorrectable_status), known());
  EXPECT_EQ(get(AdvancedErrorReporting::correctable_status), correctable & ~(1u << 13));
  for (const Error error : all_errors) {
    if (!reporting.knows(error)) continue;
    const unsigned at = is_correctable(error) ? 0x10 : 0x04;
    const std::uint32_t before = get(at);
    put(at, bit_of(error));
    EXPECT_EQ(get(at), before & ~bit_of(error)) << to_string(error);
  }
}

TEST_P(AdvancedErrorReportingTest, OnlyPortsThatHaveThemKnowErrorsOfBridges) {
  for (const Error error : all_errors) {
    bool known = true;
    if (error == Error::atomic_egress_blocked) known = !endpoint();
    for (const Error one :
         {Error::surprise_down, Error::acs_violation, Error::poisoned_egress_blocked}) {
      if (error == one) known = above();
    }
    EXPECT_EQ(reporting.knows(error), known) << to_string(error);
  }
}

TEST_P(AdvancedErrorReportingTest, StickyThroughAllButAFundamentalReset) {
  const TlpPtr tlp = Tlp::memory_read(0x1234, 4);
  reporting.log(Error::unsupported_request, tlp.get());
  reporting.log(Error::bad_tlp, nullptr);
  for (const unsigned at : {0x08, 0x0c, 0x14}) put(at, 0x1000);
  put(AdvancedErrorReporting::control, 0x140);
  space.reset(Reset::hot);
  EXPECT_EQ(get(AdvancedErrorReporting::control) & ~0x1fu, digests() ? 0x1e0u : 0);
  EXPECT_EQ(get(AdvancedErrorReporting::uncorrectable_status), 1u << 20);
  EXPECT_EQ(get(AdvancedErrorReporting::correctable_status), 1u << 6);
  for (const unsigned at : {0x08, 0x0c, 0x14}) EXPECT_EQ(get(at), 0x1000u);
  EXPECT_EQ(pointer(), 20u);
  EXPECT_EQ(get(AdvancedErrorReporting::header_log + 8), 0x1234u);
  space.reset();
  for (const unsigned at : {0x04, 0x10, 0x24}) EXPECT_EQ(get(at), 0u);
  EXPECT_EQ(get(AdvancedErrorReporting::uncorrectable_mask), above() ? poisoned_egress_blocked : 0);
  EXPECT_EQ(get(AdvancedErrorReporting::control), digests() ? 0xa0u : 0);
  EXPECT_EQ(get(AdvancedErrorReporting::correctable_mask), 1u << 13);
}

TEST_P(AdvancedErrorReportingTest, TheFirstErrorHoldsTheLogUntilItIsCleared) {
  const TlpPtr first = Tlp::memory_read(0x1000, 4), second = Tlp::memory_read(0x2000, 4);
  reporting.log(Error::malformed_tlp, first.get());
  reporting.log(Error::unsupported_request, second.get());
  reporting.log(Error::malformed_tlp, second.get());
  EXPECT_EQ(pointer(), 18u);
  EXPECT_EQ(get(AdvancedErrorReporting::header_log + 8), 0x1000u);
  put(AdvancedErrorReporting::uncorrectable_status, 1u << 20);  // not the first
  reporting.log(Error::unsupported_request, second.get());
  EXPECT_EQ(get(AdvancedErrorReporting::header_log + 8), 0x1000u);
  put(AdvancedErrorReporting::uncorrectable_status, ~0u);
  EXPECT_EQ(pointer(), 18u) << "stays, invalid";
  reporting.log(Error::unsupported_request, second.get());
  EXPECT_EQ(pointer(), 20u);
  EXPECT_EQ(get(AdvancedErrorReporting::header_log + 8), 0x2000u);
}

TEST_P(AdvancedErrorReportingTest, MaskedErrorsLeaveTheLogFree) {
  const TlpPtr first = Tlp::memory_read(0x1000, 4), second = Tlp::memory_read(0x2000, 4);
  put(AdvancedErrorReporting::uncorrectable_mask, 1u << 20);
  reporting.log(Error::unsupported_request, first.get());
  EXPECT_EQ(get(AdvancedErrorReporting::uncorrectable_status), 1u << 20);
  EXPECT_EQ(pointer(), 0u);
  EXPECT_EQ(get(AdvancedErrorReporting::header_log + 8), 0u);
  reporting.log(Error::malformed_tlp, second.get());
  EXPECT_EQ(pointer(), 18u);
  EXPECT_EQ(get(AdvancedErrorReporting::header_log + 8), 0x2000u);
  // Cleared, masked and set again, what the pointer still points at is no entry of the log.
  put(AdvancedErrorReporting::uncorrectable_status, ~0u);
  put(AdvancedErrorReporting::uncorrectable_mask, 1u << 18);
  reporting.log(Error::malformed_tlp, second.get());
  reporting.log(Error::unsupported_request, first.get());
  EXPECT_EQ(pointer(), 20u);
  EXPECT_EQ(get(AdvancedErrorReporting::header_log + 8), 0x1000u);
}

// PCIe 6.0, 7.8.4.1, 7.8.4.7, 7.8.4.8.
class ErrorsInFlits : public testing::TestWithParam<PortType> {
 protected:
  std::uint32_t get(unsigned at) const { return space.read(reporting.offset() + at, 4); }
  unsigned size() const { return get(0x18) >> 19 & 0x1f; }
  bool in_flit() const { return get(0x18) >> 18 & 1; }
  void clear() { space.write(reporting.offset() + 0x04, 4, ~0u); }

  ConfigSpace space;
  AdvancedErrorReporting reporting{space, GetParam(), nullptr, true};
};
INSTANTIATE_TEST_SUITE_P(Ports, ErrorsInFlits,
                         testing::Values(PortType::endpoint, PortType::root_port,
                                         PortType::upstream_port, PortType::downstream_port));

TEST_P(ErrorsInFlits, TheLogHasFiveWords) {
  EXPECT_EQ(get(0), 0x00030001u) << "version 3";
  EXPECT_EQ(get(0x18) >> 13 & 0x1f, 5u);
  EXPECT_EQ(space.add_extended_capability(0x0b, 1, 4), reporting.offset() + 0x3c);
  const TlpPtr tlp = Tlp::memory_read(0x123456789002, 5);
  reporting.log(Error::unsupported_request, tlp.get(), true);
  EXPECT_TRUE(in_flit());
  EXPECT_EQ(size(), 5u);
  EXPECT_EQ(get(0x1c), 0x20010002u);
  EXPECT_EQ(get(0x20), 0u);
  EXPECT_EQ(get(0x24), 0x1234u);
  EXPECT_EQ(get(0x28), 0x56789000u);
  EXPECT_EQ(get(0x38), 0x0000007cu);
  space.write(reporting.offset() + 0x18, 4, 0);
  space.write(reporting.offset() + 0x38, 4, 0);
  space.reset(Reset::hot);
  EXPECT_EQ(size(), 5u) << "read-only and sticky";
  EXPECT_EQ(get(0x38), 0x0000007cu);
}

// The same port on a link that is not in flit mode.
TEST_P(ErrorsInFlits, HeadersOutsideOfFlitsAreAsBefore) {
  const TlpPtr flit = Tlp::memory_read(0x123456789002, 5), plain = Tlp::memory_read(0x1002, 1);
  reporting.log(Error::unsupported_request, flit.get(), true);
  clear();
  reporting.log(Error::unsupported_request, plain.get(), false);
  EXPECT_FALSE(in_flit());
  EXPECT_EQ(size(), 3u);
  EXPECT_EQ(get(0x1c), 0x00000001u);
  EXPECT_EQ(get(0x20), 0x00000004u);
  EXPECT_EQ(get(0x24), 0x1000u);
  EXPECT_EQ(get(0x28), 0u);
  EXPECT_EQ(get(0x38), 0u);
  clear();
  reporting.log(Error::completion_timeout, nullptr, true);
  EXPECT_EQ(size(), 0u) << "without a header";
}

TEST_P(AdvancedErrorReportingTest, SeverityFollowsItsRegister) {
  for (const Error error : all_errors) {
    if (is_correctable(error)) {
      put(AdvancedErrorReporting::uncorrectable_severity, ~0u);
      EXPECT_EQ(reporting.severity(error), Severity::correctable);
      continue;
    }
    if (!reporting.knows(error)) continue;
    put(AdvancedErrorReporting::uncorrectable_severity, bit_of(error));
    EXPECT_EQ(reporting.severity(error), Severity::fatal) << to_string(error);
    put(AdvancedErrorReporting::uncorrectable_severity, ~bit_of(error));
    EXPECT_EQ(reporting.severity(error), Severity::non_fatal) << to_string(error);
  }
}

class RootErrors : public testing::Test {
 protected:
  void collect(std::initializer_list<Severity> messages) {
    space.reset();
    Id source = 0x100;
    for (const Severity severity : messages) reporting.collect(severity, source++);
  }
  std::uint32_t status() const {
    return space.read(reporting.offset() + AdvancedErrorReporting::root_error_status, 4);
  }
  std::uint32_t sources() const {
    return space.read(reporting.offset() + AdvancedErrorReporting::error_source, 4);
  }

  static constexpr Severity cor = Severity::correctable, non_fatal = Severity::non_fatal,
                            fatal = Severity::fatal;
  ConfigSpace space;
  AdvancedErrorReporting reporting{space, PortType::root_port};
};

TEST_F(RootErrors, StatusAndSourceOfEachOrderOfMessages) {
  const struct {
    std::initializer_list<Severity> messages;
    std::uint32_t status, sources;
  } cases[] = {
      {{cor}, 0x01, 0x00000100},
      {{cor, cor}, 0x03, 0x00000100},
      {{non_fatal}, 0x24, 0x01000000},
      {{fatal}, 0x54, 0x01000000},
      {{non_fatal, fatal}, 0x6c, 0x01000000},
      {{fatal, non_fatal}, 0x7c, 0x01000000},
      {{fatal, fatal}, 0x5c, 0x01000000},
      {{non_fatal, non_fatal}, 0x2c, 0x01000000},
      {{cor, fatal, cor}, 0x57, 0x01010100},
  };
  for (const auto& one : cases) {
    collect(one.messages);
    EXPECT_EQ(status(), one.status);
    EXPECT_EQ(sources(), one.sources);
  }
  space.write(reporting.offset() + AdvancedErrorReporting::root_error_status, 4, 0x55);
  EXPECT_EQ(status(), 0x02u) << "cleared bit by bit";
}

TEST_F(RootErrors, InterruptsAreEnabledByKind) {
  for (unsigned command = 0; command < 8; ++command) {
    for (const Severity severity : {cor, non_fatal, fatal}) {
      collect({severity});
      space.write(reporting.offset() + AdvancedErrorReporting::root_error_command, 4, command);
      EXPECT_EQ(reporting.interrupting(), command >> static_cast<unsigned>(severity) & 1);
    }
    collect({});
    space.write(reporting.offset() + AdvancedErrorReporting::root_error_command, 4, command);
    EXPECT_FALSE(reporting.interrupting());
  }
}

}  // namespace
}  // namespace pcie
