// SPDX-License-Identifier: Apache-2.0
#include "models/pcie/config/capabilities/msi_x.h"

#include <gtest/gtest.h>

#include <cstring>

#include "models/pcie/protocol/configuration_error.h"

namespace pcie {
namespace {

class MsiXTest : public testing::Test {
 protected:
  void control(std::uint32_t value) {
    space.write(msi_x.offset() + MsiX::message_control, 2, value);
  }
  void word(unsigned vector, unsigned index, std::uint32_t value) {
    std::uint8_t bytes[4];
    std::memcpy(bytes, &value, 4);
    msi_x.write_table(16 * vector + 4 * index, bytes, 4);
  }
  std::uint32_t word(unsigned vector, unsigned index) {
    std::uint32_t value = 0;
    msi_x.read_table(16 * vector + 4 * index, reinterpret_cast<std::uint8_t*>(&value), 4);
    return value;
  }
  bool pending(unsigned vector) {
    std::uint8_t byte = 0;
    msi_x.read_pending(vector / 8, &byte, 1);
    return byte >> vector % 8 & 1;
  }
  static constexpr std::uint32_t enable = MsiX::ControlBit::enable,
                                 function_mask = MsiX::ControlBit::function_mask;

  ConfigSpace space;
  bool allowed = true;
  std::vector<std::pair<std::uint64_t, std::uint32_t>> sent;
  MsiX msi_x{space, {70, 0, 0x8000, 2, 0xc000}, [this](std::uint64_t address, std::uint32_t data) {
               if (allowed) sent.push_back({address, data});
               return allowed;
             }};
};

TEST_F(MsiXTest, CapabilityHasSizeMinusOneAndPlaces) {
  EXPECT_EQ(space.read(msi_x.offset(), 1), 0x11u);
  EXPECT_EQ(space.read(msi_x.offset() + MsiX::message_control, 2), 69u);
  EXPECT_EQ(space.read(msi_x.offset() + MsiX::table, 4), 0x8000u);
  EXPECT_EQ(space.read(msi_x.offset() + MsiX::pending_bit_array, 4), 0xc002u);
  control(0xffff);
  EXPECT_EQ(space.read(msi_x.offset() + MsiX::message_control, 2), 0xc045u);
}

TEST_F(MsiXTest, VectorsComeMaskedOutOfReset) {
  control(enable);
  for (unsigned i = 0; i < 70; ++i) EXPECT_EQ(word(i, 3), 1u);
  EXPECT_TRUE(msi_x.signal(5));
  EXPECT_TRUE(sent.empty());
  EXPECT_TRUE(pending(5));
}

TEST_F(MsiXTest, MessageHasTheVectorsAddressAndData) {
  control(enable);
  word(69, 0, 0xfee01003);
  word(69, 1, 0x12);
  word(69, 2, 0x4041);
  word(69, 3, 0);
  EXPECT_EQ(word(69, 0), 0xfee01000u) << "low two bits are fixed";
  EXPECT_TRUE(msi_x.signal(69));
  ASSERT_EQ(sent.size(), 1u);
  EXPECT_EQ(sent[0].first, 0x12fee01000u);
  EXPECT_EQ(sent[0].second, 0x4041u);
  EXPECT_FALSE(pending(69));
}

TEST_F(MsiXTest, PendingIsSentOnceWhenUnmasked) {
  control(enable);
  msi_x.signal(3);
  msi_x.signal(3);
  EXPECT_TRUE(pending(3));
  word(3, 3, 0);
  EXPECT_EQ(sent.size(), 1u);
  EXPECT_FALSE(pending(3));
  word(3, 3, 1);
  word(3, 3, 0);
  EXPECT_EQ(sent.size(), 1u);
}

TEST_F(MsiXTest, FunctionMaskHoldsAll) {
  control(enable | function_mask);
  for (const unsigned vector : {0u, 63u, 64u, 69u}) {
    word(vector, 3, 0);
    msi_x.signal(vector);
    EXPECT_TRUE(pending(vector));
  }
  EXPECT_TRUE(sent.empty());
  control(enable);
  EXPECT_EQ(sent.size(), 4u);
  for (unsigned vector = 0; vector < 70; ++vector) EXPECT_FALSE(pending(vector));
}

TEST_F(MsiXTest, WhatMayNotBeSentStaysPending) {
  control(enable);
  word(0, 3, 0);
  allowed = false;
  msi_x.signal(0);
  EXPECT_TRUE(pending(0));
  allowed = true;
  msi_x.flush();
  EXPECT_EQ(sent.size(), 1u);
  EXPECT_FALSE(pending(0));
}

TEST_F(MsiXTest, DisabledOrAbsentVectorsAreIgnored) {
  word(0, 3, 0);
  EXPECT_FALSE(msi_x.signal(0));
  control(enable);
  EXPECT_TRUE(sent.empty());
  EXPECT_FALSE(msi_x.signal(70));
  EXPECT_FALSE(msi_x.signal(~0u));
  EXPECT_TRUE(sent.empty());
}

TEST_F(MsiXTest, AccessesOfAnySizeAndBeyondTheEnd) {
  std::uint8_t bytes[64];
  std::memset(bytes, 0xff, sizeof(bytes));
  msi_x.write_table(70 * 16 - 8, bytes, 64);
  msi_x.write_table(~0ull, bytes, 64);
  EXPECT_EQ(word(69, 2), ~0u);
  EXPECT_EQ(word(69, 3), 1u) << "reserved bits stay zero";
  EXPECT_EQ(word(70, 0), 0u);
  msi_x.read_pending(8, bytes, 64);
  EXPECT_EQ(bytes[63], 0);
  const std::uint8_t byte = 0x77;
  msi_x.write_table(16 + 9, &byte, 1);
  EXPECT_EQ(word(1, 2), 0x7700u);
}

// Table size against count, not against its logarithm.
TEST(MsiX, EveryCountIsPossible) {
  for (const unsigned vectors : {1u, 2u, 3u, 31u, 32u, 33u, 1024u, 2047u, 2048u}) {
    ConfigSpace space;
    MsiX msi_x(space, {vectors, 0, 0, 1, 0}, [](std::uint64_t, std::uint32_t) { return true; });
    space.write(msi_x.offset() + MsiX::message_control, 2, 0x8000);
    EXPECT_EQ((space.read(msi_x.offset() + MsiX::message_control, 2) & 0x7ff) + 1, vectors);
    EXPECT_TRUE(msi_x.signal(vectors - 1));
    EXPECT_FALSE(msi_x.signal(vectors));
    EXPECT_EQ(msi_x.table_bytes(), 16u * vectors);
    EXPECT_GE(msi_x.pending_bytes() * 8, vectors);
  }
}

TEST(MsiX, ImpossibleValues) {
  auto make = [](MsiXConfig config) {
    ConfigSpace space;
    MsiX msi_x(space, config, nullptr);
  };
  EXPECT_THROW(make({0, 0, 0, 0, 0x800}), ConfigurationError);
  EXPECT_THROW(make({2049, 0, 0, 1, 0}), ConfigurationError);
  EXPECT_THROW(make({1, 0, 4, 1, 0}), ConfigurationError);
  EXPECT_THROW(make({1, 6, 0, 1, 0}), ConfigurationError);
}

}  // namespace
}  // namespace pcie
