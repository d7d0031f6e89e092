// SPDX-License-Identifier: Apache-2.0
#include "models/pcie/protocol/flow_control.h"

#include <gtest/gtest.h>

#include <random>

#include "models/pcie/config/header.h"
#include "models/pcie/protocol/configuration_error.h"

namespace pcie {
namespace {

const std::vector<std::uint8_t> data(4096);

CreditConfig posted(unsigned headers, unsigned units, unsigned scale = 1) {
  CreditConfig config;
  config.classes[static_cast<unsigned>(CreditClass::posted)] = {headers, units};
  config.scale = scale;
  return config;
}

TlpPtr write(unsigned bytes) {
  return Tlp::memory_write(0x1000, data.data(), bytes);
}

// PCIe 5.0, table 2-36: a unit of data is 4 DW.
TEST(FlowControl, WhatAPacketTakes) {
  for (const auto& [bytes, units] :
       {std::pair{1u, 1u}, {16u, 1u}, {17u, 2u}, {32u, 2u}, {4096u, 256u}}) {
    const Credits credits = Credits::of(*write(bytes));
    EXPECT_EQ(credits.headers, 1u);
    EXPECT_EQ(credits.data, units) << bytes;
  }
  EXPECT_EQ(Credits::of(*Tlp::memory_read(0x1000, 4096)).data, 0u);
  EXPECT_EQ(Credits::of(*Tlp::config_write(false, Header::vendor_id, 0, 4, 0)).data, 1u);
  EXPECT_EQ(Credits::of(*Tlp::message(assert_inta, 0)).data, 0u);
}

TEST(FlowControl, ClassesOfAllTypes) {
  for (unsigned i = 0; i < tlp_types; ++i) {
    const auto type = static_cast<TlpType>(i);
    const bool posted = type == TlpType::MWr || type == TlpType::Msg;
    const bool completion = type == TlpType::Cpl || type == TlpType::CplD;
    EXPECT_EQ(credit_class(type), posted       ? CreditClass::posted
                                  : completion ? CreditClass::completion
                                               : CreditClass::non_posted);
  }
}

TEST(FlowControl, NoneAdvertisedIsInfinite) {
  CreditAccount account(posted(0, 0), 4096);
  const TlpPtr tlp = write(4096);
  for (unsigned i = 0; i < 10'000; ++i) {
    ASSERT_TRUE(account.enough_for(*tlp));
    account.consume(*tlp);
  }
  EXPECT_EQ(account.available(CreditClass::posted).headers, ~0u);
}

TEST(FlowControl, StopsAtTheLastCreditOfEitherKind) {
  CreditAccount headers(posted(3, 100), 128);
  for (unsigned i = 0; i < 3; ++i) {
    ASSERT_TRUE(headers.enough_for(*write(1)));
    headers.consume(*write(1));
  }
  EXPECT_FALSE(headers.enough_for(*write(1)));
  EXPECT_TRUE(headers.enough_for(*Tlp::memory_read(0, 4))) << "classes do not share";
  headers.restore(CreditClass::posted, {1, 0});
  EXPECT_TRUE(headers.enough_for(*write(1)));

  CreditAccount units(posted(100, 16), 256);
  units.consume(*write(128));
  EXPECT_TRUE(units.enough_for(*write(128)));
  EXPECT_FALSE(units.enough_for(*write(129)));
  EXPECT_EQ(units.available(CreditClass::posted).data, 8u);
  units.restore(CreditClass::posted, {0, 8});
  EXPECT_TRUE(units.enough_for(*write(256)));
  EXPECT_FALSE(units.enough_for(*write(257)));
}

// The counters of the DLLPs wrap around, and the account stays right however long it is used.
TEST(FlowControl, AgreesWithASumWhateverIsAdvertised) {
  std::mt19937 random(1);
  for (const unsigned scale : {1u, 4u, 16u}) {
    for (const unsigned headers : {1u, 2u, 127u, 127u * scale}) {
      for (const unsigned units : {1u, 16u, 256u, 2047u, 2047u * scale}) {
        CreditAccount account(posted(headers, units, scale), 16);
        std::int64_t free_headers = headers;
        std::int64_t free_units = units;
        for (unsigned i = 0; i < 20'000; ++i) {
          const TlpPtr tlp = write(1 + random() % 4096);
          const Credits needed = Credits::of(*tlp);
          const bool enough = needed.headers <= free_headers && needed.data <= free_units;
          ASSERT_EQ(account.enough_for(*tlp), enough) << headers << ' ' << units << ' ' << scale;
          if (enough) {
            account.consume(*tlp);
            free_headers -= needed.headers;
            free_units -= needed.data;
          } else {
            const Credits more{static_cast<unsigned>(random() % (headers - free_headers + 1)),
                               static_cast<unsigned>(random() % (units - free_units + 1))};
            account.restore(CreditClass::posted, more);
            free_headers += more.headers;
            free_units += more.data;
          }
          ASSERT_EQ(account.available(CreditClass::posted).headers, free_headers);
          ASSERT_EQ(account.available(CreditClass::posted).data, free_units);
        }
      }
    }
  }
}

TEST(FlowControl, ImpossibleAdvertisements) {
  EXPECT_THROW(CreditAccount(posted(128, 1), 16), ConfigurationError);
  // A counter has the smallest unit that suffices, and no bits for less than that.
  CreditAccount(posted(127, 2047, 16), 16);
  for (const auto& [headers, unit] : {std::pair{128u, 4u}, {508u, 4u}, {512u, 16u}, {2032u, 16u}}) {
    EXPECT_EQ(CreditAccount(posted(headers, 1, 16), 16).unit(CreditClass::posted).headers, unit);
    EXPECT_THROW(CreditAccount(posted(headers + 1, 1, 16), 16), ConfigurationError);
  }
  EXPECT_EQ(CreditAccount(posted(1, 2048, 16), 16).unit(CreditClass::posted).data, 4u);
  EXPECT_THROW(CreditAccount(posted(1, 2050, 16), 16), ConfigurationError);
  EXPECT_THROW(CreditAccount(posted(1, 2048), 16), ConfigurationError);
  EXPECT_THROW(CreditAccount(posted(127 * 4 + 1, 1, 4), 16), ConfigurationError);
  EXPECT_THROW(CreditAccount(posted(1, 2047 * 16 + 1, 16), 16), ConfigurationError);
  EXPECT_THROW(CreditAccount(posted(1, 1, 2), 16), ConfigurationError);
  EXPECT_NO_THROW(CreditAccount(posted(127 * 16, 2047 * 16, 16), 16));
  EXPECT_THROW(CreditAccount(posted(1, 15), 256), ConfigurationError) << "less than a packet";
  EXPECT_NO_THROW(CreditAccount(posted(1, 16), 256));
}

}  // namespace
}  // namespace pcie
