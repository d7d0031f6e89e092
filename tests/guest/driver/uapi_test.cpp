// SPDX-License-Identifier: Apache-2.0
// The interface to user space does not change: sizes, offsets and codes as once published, the
// same for 32- and 64-bit programs.
#include <gtest/gtest.h>
#include <linux/oae.h>

#include <cstddef>

namespace {

TEST(Uapi, Sizes) {
  EXPECT_EQ(sizeof(oae_info), 64u);
  EXPECT_EQ(sizeof(oae_swap), 152u);
  EXPECT_EQ(sizeof(oae_stats), 64u);
  EXPECT_EQ(sizeof(oae_firmware_stats), 48u);
  EXPECT_EQ(sizeof(oae_read_bench), 16u);
  EXPECT_EQ(sizeof(oae_cell), 80u);
  EXPECT_EQ(sizeof(oae_epoch), 16u);
}

TEST(Uapi, Offsets) {
  EXPECT_EQ(offsetof(oae_info, features), 24u);
  EXPECT_EQ(offsetof(oae_info, pci_address), 32u);
  EXPECT_EQ(offsetof(oae_swap, answer), 48u);
  EXPECT_EQ(offsetof(oae_swap, verb), 96u);
  EXPECT_EQ(offsetof(oae_swap, sequence), 100u);
  EXPECT_EQ(offsetof(oae_swap, timeout_ns), 104u);
  EXPECT_EQ(offsetof(oae_swap, store_ns), 112u);
  EXPECT_EQ(offsetof(oae_swap, tries), 136u);
  EXPECT_EQ(offsetof(oae_swap, form), 144u);
  EXPECT_EQ(offsetof(oae_swap, reserved), 145u);
  EXPECT_EQ(offsetof(oae_stats, sequence), 4u);
  EXPECT_EQ(offsetof(oae_stats, committed), 8u);
  EXPECT_EQ(offsetof(oae_stats, liveness), 32u);
  EXPECT_EQ(offsetof(oae_read_bench, count), 8u);
  EXPECT_EQ(offsetof(oae_cell, generation), 64u);
  EXPECT_EQ(offsetof(oae_cell, confirmation), 72u);
  EXPECT_EQ(offsetof(oae_epoch, sequence), 8u);
  EXPECT_EQ(offsetof(oae_epoch, epoch), 12u);
}

TEST(Uapi, PagesOfAMapping) {
  EXPECT_EQ(OAE_MAP_PORT, 0x0000);
  EXPECT_EQ(OAE_MAP_STREAM, 0x1000);
  EXPECT_EQ(OAE_MAP_CELL, 0x2000);
  EXPECT_EQ(OAE_MAP_SIZE, 0x1000);
}

TEST(Uapi, Codes) {
  EXPECT_EQ(OAE_IOC_INFO, 0x8040ea00u);
  EXPECT_EQ(OAE_IOC_SWAP, 0xc098ea01u);
  EXPECT_EQ(OAE_IOC_SETTLE, 0x8098ea02u);
  EXPECT_EQ(OAE_IOC_STATS, 0x8040ea03u);
  EXPECT_EQ(OAE_IOC_FIRMWARE_STATS, 0x8030ea04u);
  EXPECT_EQ(OAE_IOC_READ_BENCH, 0x4010ea05u);
  EXPECT_EQ(OAE_IOC_REVERSE, 0x8098ea06u);
  EXPECT_EQ(OAE_IOC_BEGIN, 0x8010ea07u);
}

}  // namespace
