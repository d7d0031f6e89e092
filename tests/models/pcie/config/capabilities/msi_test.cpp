// SPDX-License-Identifier: Apache-2.0
#include "models/pcie/config/capabilities/msi.h"

#include <gtest/gtest.h>

#include <utility>
#include <vector>

#include "models/pcie/protocol/configuration_error.h"

namespace pcie {
namespace {

constexpr std::uint64_t address = 0x12fee01234;
constexpr std::uint32_t data = 0x4a7f;
constexpr std::uint32_t enable = Msi::ControlBit::enable,
                        extended_enable = Msi::ControlBit::extended_data_enable;

// The power of two that holds so many vectors, as software reads it.
unsigned power_of(unsigned vectors) {
  unsigned power = 0;
  while (1u << power < vectors) ++power;
  return power;
}

struct Device {
  explicit Device(const MsiConfig& config)
      : msi(space, config, [this](std::uint64_t to, std::uint32_t value) {
          if (allowed) sent.push_back({to, value});
          return allowed;
        }) {
    write(Msi::message_address, 4, static_cast<std::uint32_t>(address));
    write(Msi::message_upper_address, 4, address >> 32);
    write(Msi::message_data, 2, data);
  }
  std::uint32_t read(unsigned at, unsigned bytes) { return space.read(msi.offset() + at, bytes); }
  void write(unsigned at, unsigned bytes, std::uint32_t value) {
    space.write(msi.offset() + at, bytes, value);
    msi.flush();
  }
  void grant(unsigned power) { write(Msi::message_control, 2, enable | power << 4); }
  void mask(std::uint32_t vectors) { write(Msi::mask_bits, 4, vectors); }
  std::uint32_t pending() { return read(Msi::pending_bits, 4); }

  ConfigSpace space;
  bool allowed = true;
  std::vector<std::pair<std::uint64_t, std::uint32_t>> sent;
  Msi msi;
};

TEST(Msi, CapabilityOfEveryCountAndForm) {
  for (unsigned vectors = 1; vectors <= 32; ++vectors) {
    for (const bool maskable : {false, true}) {
      for (const bool extended : {false, true}) {
        Device device({vectors, maskable, extended});
        EXPECT_EQ(device.read(0, 1), 0x05u);
        const std::uint32_t able =
            power_of(vectors) << 1 | 1u << 7 | (maskable ? 1u << 8 : 0) | (extended ? 1u << 9 : 0);
        EXPECT_EQ(device.read(Msi::message_control, 2), able) << vectors;
        device.write(Msi::message_control, 2, 0xffff);
        EXPECT_EQ(device.read(Msi::message_control, 2),
                  able | 0x71 | (extended ? extended_enable : 0));
        device.write(Msi::message_address, 4, ~0u);
        EXPECT_EQ(device.read(Msi::message_address, 4), ~3u) << "a message is DW aligned";
        device.write(Msi::message_data, 4, ~0u);
        EXPECT_EQ(device.read(Msi::message_data, 4), extended ? ~0u : 0xffffu);
        const std::uint64_t bits = maskable ? (1ull << (1u << power_of(vectors))) - 1 : 0;
        device.write(Msi::mask_bits, 4, ~0u);
        EXPECT_EQ(device.read(Msi::mask_bits, 4), bits) << vectors;
        device.write(Msi::pending_bits, 4, ~0u);
        EXPECT_EQ(device.read(Msi::pending_bits, 4), 0u) << "pending bits are read-only";
      }
    }
  }
}

// The vector takes the place of as many low bits of the data as were granted, and no others go out.
TEST(Msi, EveryVectorOfEveryCountUnderEveryGrant) {
  for (unsigned vectors = 1; vectors <= 32; ++vectors) {
    for (unsigned power = 0; power < 8; ++power) {
      Device device({vectors});
      device.grant(power);
      const unsigned granted = 1u << std::min(power, power_of(vectors));
      EXPECT_EQ(device.msi.granted(), granted);
      for (unsigned vector = 0; vector < 40; ++vector) {
        device.sent.clear();
        const bool exists = vector < vectors && vector < granted;
        EXPECT_EQ(device.msi.signal(vector), exists) << vector << " of " << vectors;
        ASSERT_EQ(device.sent.size(), exists ? 1u : 0u);
        if (!exists) continue;
        EXPECT_EQ(device.sent[0].first, address);
        EXPECT_EQ(device.sent[0].second, data / granted * granted + vector);
      }
      EXPECT_FALSE(device.msi.signal(~0u));
      EXPECT_EQ(device.pending(), 0u);
    }
  }
}

TEST(Msi, DisabledSendsNothingAndKeepsNothing) {
  Device device({32});
  device.write(Msi::message_control, 2, 5u << 4);
  for (unsigned vector = 0; vector < 32; ++vector) EXPECT_FALSE(device.msi.signal(vector));
  device.grant(5);
  EXPECT_TRUE(device.sent.empty());
  EXPECT_EQ(device.pending(), 0u);
}

TEST(Msi, MaskedVectorsWaitAndAreSentOnce) {
  Device device({32});
  device.grant(5);
  for (unsigned masked = 0; masked < 32; ++masked) {
    device.sent.clear();
    device.mask(1u << masked);
    for (unsigned vector = 0; vector < 32; ++vector) {
      EXPECT_TRUE(device.msi.signal(vector));
      EXPECT_TRUE(device.msi.signal(vector));
    }
    EXPECT_EQ(device.sent.size(), 62u);
    EXPECT_EQ(device.pending(), 1u << masked);
    device.mask(~(1u << masked));
    ASSERT_EQ(device.sent.size(), 63u) << "once, and no other";
    EXPECT_EQ(device.sent.back().second, (data & ~31u) + masked);
    EXPECT_EQ(device.pending(), 0u);
    device.mask(0);
    EXPECT_EQ(device.sent.size(), 63u);
  }
}

TEST(Msi, PendingVectorsGoInOrderOnceTheyMay) {
  Device device({32});
  device.grant(5);
  device.mask(~0u);
  for (const unsigned vector : {31u, 0u, 7u, 16u}) device.msi.signal(vector);
  EXPECT_EQ(device.pending(), 1u << 31 | 1u | 1u << 7 | 1u << 16);
  device.allowed = false;
  device.mask(0);
  EXPECT_EQ(device.pending(), 1u << 31 | 1u | 1u << 7 | 1u << 16) << "Bus Master is off";
  device.allowed = true;
  device.grant(3);
  EXPECT_EQ(device.sent.size(), 2u) << "vectors 0 and 7 are granted";
  EXPECT_EQ(device.pending(), 1u << 31 | 1u << 16);
  device.write(Msi::message_control, 2, 5u << 4);
  EXPECT_EQ(device.sent.size(), 2u) << "disabled";
  device.grant(5);
  ASSERT_EQ(device.sent.size(), 4u);
  EXPECT_EQ(device.sent[2].second & 31, 16u);
  EXPECT_EQ(device.sent[3].second & 31, 31u);
}

TEST(Msi, WithoutMasksWhatMayNotBeSentWaitsUnseen) {
  MsiConfig config;
  config.vectors = 4;
  config.maskable = false;
  Device device(config);
  device.grant(2);
  device.mask(~0u);
  EXPECT_TRUE(device.msi.signal(3));
  EXPECT_EQ(device.sent.size(), 1u) << "there is no mask";
  device.allowed = false;
  EXPECT_TRUE(device.msi.signal(2));
  EXPECT_EQ(device.read(Msi::pending_bits, 4), 0u);
  device.allowed = true;
  device.msi.flush();
  ASSERT_EQ(device.sent.size(), 2u);
  EXPECT_EQ(device.sent[1].second & 3, 2u);
}

TEST(Msi, ExtendedDataIsSentOnlyOnceEnabled) {
  MsiConfig config;
  config.vectors = 32;
  config.extended_data = true;
  Device device(config);
  device.write(Msi::extended_message_data, 2, 0xbeef);
  device.grant(5);
  device.msi.signal(9);
  device.write(Msi::message_control, 2, enable | extended_enable | 5u << 4);
  device.msi.signal(9);
  ASSERT_EQ(device.sent.size(), 2u);
  EXPECT_EQ(device.sent[0].second, (data & ~31u) + 9);
  EXPECT_EQ(device.sent[1].second, 0xbeef0000u + (data & ~31u) + 9);
}

TEST(Msi, ResetForgetsWhatIsPending) {
  Device device({32});
  device.grant(5);
  device.mask(~0u);
  device.msi.signal(4);
  device.space.reset(Reset::function);
  device.msi.reset();
  EXPECT_EQ(device.pending(), 0u);
  EXPECT_FALSE(device.msi.enabled());
  device.grant(5);
  EXPECT_TRUE(device.sent.empty());
}

TEST(Msi, ImpossibleValues) {
  for (const unsigned vectors : {0u, 33u, ~0u}) {
    EXPECT_THROW(Device({vectors}), ConfigurationError) << vectors;
  }
}

}  // namespace
}  // namespace pcie
