// SPDX-License-Identifier: Apache-2.0
#include "models/pcie/config/capabilities/downstream_port_containment.h"

#include <gtest/gtest.h>

namespace pcie {
namespace {

using Reason = DownstreamPortContainment::Reason;
using RequestError = DownstreamPortContainment::RequestError;

class ContainmentRegisters : public testing::Test {
 protected:
  std::uint32_t read(unsigned offset, unsigned bytes = 2) {
    return space.read(containment.offset() + offset, bytes);
  }
  void write(unsigned offset, std::uint32_t value, unsigned bytes = 2) {
    space.write(containment.offset() + offset, bytes, value);
  }
  ConfigSpace space;
  DownstreamPortContainment containment{space, true};
};

const HeaderWords memory_read{0x00000001, 0x0008010f, 0xc0000000, 0};
const HeaderWords long_memory_read{0x20000001, 0x0008020f, 0x40, 0x00001000};
const HeaderWords config_read{0x04000001, 0x0008030f, 0x01000010, 0};

TEST_F(ContainmentRegisters, CapabilityAndWhatSoftwareCanWrite) {
  EXPECT_EQ(read(0, 4), 0x0001001du);
  EXPECT_EQ(read(DownstreamPortContainment::capability), 0x04e0u)
      << "root port extensions, poisoned TLP egress blocking, software trigger, 4 DW";
  for (unsigned offset = 4; offset < 0x30; offset += 2) write(offset, 0xffff & ~0x40);
  EXPECT_EQ(read(DownstreamPortContainment::capability), 0x04e0u);
  EXPECT_EQ(read(DownstreamPortContainment::control), 0x003fu);
  EXPECT_EQ(read(DownstreamPortContainment::status, 4), 0u);
  EXPECT_EQ(read(DownstreamPortContainment::pio_status, 4), 0u);
  EXPECT_EQ(read(DownstreamPortContainment::pio_mask, 4), 0x00070007u);
  EXPECT_EQ(read(DownstreamPortContainment::pio_severity, 4), 0x00070007u);
  for (unsigned offset = 0x18; offset < 0x30; offset += 4) EXPECT_EQ(read(offset, 4), 0u);
}

// Each reason under each setting of the trigger: 0 off, 1 fatal, 2 also non-fatal, 3 reserved.
TEST_F(ContainmentRegisters, WhatTriggersIsSoftwaresChoice) {
  for (unsigned enable = 0; enable < 4; ++enable) {
    const bool on = enable == 1 || enable == 2;
    auto expect = [&](bool triggered, bool should, std::uint32_t reason, Id source) {
      EXPECT_EQ(triggered, should) << enable << ' ' << reason;
      EXPECT_EQ(containment.triggered(), should);
      if (should) {
        EXPECT_EQ(read(DownstreamPortContainment::status), 1u | reason);
        EXPECT_EQ(read(DownstreamPortContainment::source_id), source);
      }
      write(DownstreamPortContainment::status, 0xffff);
      EXPECT_FALSE(containment.triggered());
    };
    write(DownstreamPortContainment::control, enable);
    expect(containment.trigger(Reason::uncorrectable_error), on, 0, 0);
    expect(containment.trigger_by_message(Severity::fatal, 0x100), on, 4, 0x100);
    expect(containment.trigger_by_message(Severity::non_fatal, 0x108), enable == 2, 2, 0x108);
    expect(containment.trigger_by_message(Severity::correctable, 0x100), false, 0, 0);
    expect(containment.trigger(Reason::request), on, 6, 0);
    write(DownstreamPortContainment::control, enable | 0x40);
    EXPECT_EQ(read(DownstreamPortContainment::control), enable | 0x40)
        << "until the port has taken it";
    expect(containment.trigger_by_software(), on, 0x26, 0);
    EXPECT_EQ(read(DownstreamPortContainment::control), enable) << "reads zero";
    expect(containment.trigger_by_software(), false, 0, 0);
  }
}

TEST_F(ContainmentRegisters, TheFirstReasonStands) {
  write(DownstreamPortContainment::control, 2);
  EXPECT_TRUE(containment.trigger_by_message(Severity::non_fatal, 0x123));
  EXPECT_FALSE(containment.trigger(Reason::uncorrectable_error));
  EXPECT_FALSE(containment.trigger_by_message(Severity::fatal, 0x456));
  EXPECT_EQ(read(DownstreamPortContainment::status), 3u);
  EXPECT_EQ(read(DownstreamPortContainment::source_id), 0x123u);
  write(DownstreamPortContainment::status, 0xfffe);
  EXPECT_TRUE(containment.triggered()) << "only its own bit ends it";
}

TEST_F(ContainmentRegisters, InterruptStatusFollowsTheEnableAtTheTrigger) {
  write(DownstreamPortContainment::control, 1);
  containment.trigger(Reason::uncorrectable_error);
  EXPECT_EQ(read(DownstreamPortContainment::status), 1u);
  write(DownstreamPortContainment::control, 9);
  EXPECT_FALSE(containment.interrupting());
  write(DownstreamPortContainment::status, 1);
  containment.trigger(Reason::uncorrectable_error);
  EXPECT_EQ(read(DownstreamPortContainment::status), 9u);
  EXPECT_TRUE(containment.interrupting());
  write(DownstreamPortContainment::control, 1);
  EXPECT_FALSE(containment.interrupting());
  write(DownstreamPortContainment::control, 9);
  write(DownstreamPortContainment::status, 8);
  EXPECT_FALSE(containment.interrupting());
  EXPECT_TRUE(containment.triggered()) << "the kernel clears the one before the other";
}

TEST_F(ContainmentRegisters, RefusalsAreAbortsUnlessSoftwareWantsUnsupported) {
  EXPECT_EQ(containment.refusal(), Status::completer_abort);
  EXPECT_FALSE(containment.signals_correctable());
  write(DownstreamPortContainment::control, 4);
  EXPECT_EQ(containment.refusal(), Status::unsupported_request);
  write(DownstreamPortContainment::control, 0x10);
  EXPECT_TRUE(containment.signals_correctable());
}

TEST_F(ContainmentRegisters, RequestsAreLoggedByKindAndEnd) {
  const struct {
    const HeaderWords& request;
    unsigned first;
  } kinds[] = {{config_read, 0}, {memory_read, 16}, {long_memory_read, 16}};
  for (const auto& kind : kinds) {
    for (unsigned i = 0; i < 3; ++i) {
      EXPECT_FALSE(containment.log(static_cast<RequestError>(i), kind.request)) << "masked";
      EXPECT_EQ(read(DownstreamPortContainment::pio_status, 4), 1u << (kind.first + i));
      write(DownstreamPortContainment::pio_status, ~0u, 4);
      EXPECT_EQ(read(DownstreamPortContainment::pio_status, 4), 0u);
    }
  }
  for (unsigned i = 0; i < 4; ++i) EXPECT_EQ(read(0x20 + 4 * i, 4), 0u) << "nor logged";
}

TEST_F(ContainmentRegisters, TheLogIsOfTheFirstThatIsNotMasked) {
  write(DownstreamPortContainment::pio_mask, 0x00030007,
        4);  // all masked but timeouts of memory requests
  EXPECT_FALSE(containment.log(RequestError::unsupported, memory_read));
  EXPECT_TRUE(containment.log(RequestError::timeout, long_memory_read));
  EXPECT_EQ(read(DownstreamPortContainment::status) >> 8, 18u);
  write(DownstreamPortContainment::pio_mask, 0, 4);
  EXPECT_TRUE(containment.log(RequestError::aborted, config_read));
  for (unsigned i = 0; i < 4; ++i) EXPECT_EQ(read(0x20 + 4 * i, 4), long_memory_read[i]);
  EXPECT_EQ(read(DownstreamPortContainment::status) >> 8, 18u);
  EXPECT_EQ(read(DownstreamPortContainment::pio_status, 4), 1u << 16 | 1u << 18 | 1u << 1);
  write(DownstreamPortContainment::pio_status, 1u << 18, 4);
  EXPECT_TRUE(containment.log(RequestError::unsupported, config_read));
  EXPECT_EQ(read(DownstreamPortContainment::status) >> 8, 0u) << "free again";
  for (unsigned i = 0; i < 4; ++i) EXPECT_EQ(read(0x20 + 4 * i, 4), config_read[i]);
}

TEST_F(ContainmentRegisters, SeverityIsSoftwares) {
  EXPECT_FALSE(containment.severe(RequestError::timeout, memory_read));
  write(DownstreamPortContainment::pio_severity, 1u << 18, 4);
  EXPECT_TRUE(containment.severe(RequestError::timeout, memory_read));
  EXPECT_FALSE(containment.severe(RequestError::timeout, config_read));
  EXPECT_FALSE(containment.severe(RequestError::aborted, memory_read));
}

TEST_F(ContainmentRegisters, AHotResetKeepsItAndAFundamentalOneDoesNot) {
  write(DownstreamPortContainment::control, 9);
  write(DownstreamPortContainment::pio_severity, 7, 4);
  containment.trigger(Reason::uncorrectable_error);
  space.reset(Reset::hot);
  EXPECT_TRUE(containment.triggered());
  EXPECT_EQ(read(DownstreamPortContainment::control), 9u);
  EXPECT_EQ(read(DownstreamPortContainment::pio_severity, 4), 7u);
  space.reset(Reset::fundamental);
  EXPECT_FALSE(containment.triggered());
  EXPECT_EQ(read(DownstreamPortContainment::control), 0u);
  EXPECT_EQ(read(DownstreamPortContainment::pio_mask, 4), 0x00070007u);
}

}  // namespace
}  // namespace pcie
