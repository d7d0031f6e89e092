// SPDX-License-Identifier: Apache-2.0
// The interface to user space does not change: sizes, offsets and codes remain as published, and
// are equal for 32-bit and 64-bit programs.
#include <gtest/gtest.h>
#include <linux/oae.h>

#include <cstddef>

namespace {

TEST(Uapi, Sizes) {
  EXPECT_EQ(sizeof(oae_info), 80u);
  EXPECT_EQ(sizeof(oae_swap), 128u);
  EXPECT_EQ(sizeof(oae_stats), 88u);
  EXPECT_EQ(sizeof(oae_firmware_stats), 56u);
  EXPECT_EQ(sizeof(oae_answer_buffer), 80u);
  EXPECT_EQ(sizeof(oae_epoch), 24u);
  EXPECT_EQ(sizeof(oae_words), 16u);
  EXPECT_EQ(sizeof(oae_fate), 32u);
}

template <typename T>
void expect_head() {
  EXPECT_EQ(offsetof(T, size), 0u);
  EXPECT_EQ(offsetof(T, flags), 4u);
  EXPECT_EQ(sizeof(T::size) + sizeof(T::flags), 8u);
}

TEST(Uapi, EachStructureBeginsWithItsSizeAndFlags) {
  expect_head<oae_info>();
  expect_head<oae_swap>();
  expect_head<oae_stats>();
  expect_head<oae_firmware_stats>();
  expect_head<oae_epoch>();
  expect_head<oae_words>();
  expect_head<oae_fate>();
}

TEST(Uapi, Offsets) {
  EXPECT_EQ(offsetof(oae_info, version), 8u);
  EXPECT_EQ(offsetof(oae_info, oldest), 12u);
  EXPECT_EQ(offsetof(oae_info, features), 40u);
  EXPECT_EQ(offsetof(oae_info, pci_address), 48u);
  EXPECT_EQ(offsetof(oae_swap, timeout_ns), 8u);
  EXPECT_EQ(offsetof(oae_swap, offer), 16u);
  EXPECT_EQ(offsetof(oae_swap, answer), 64u);
  EXPECT_EQ(offsetof(oae_swap, verb), 112u);
  EXPECT_EQ(offsetof(oae_swap, form), 113u);
  EXPECT_EQ(offsetof(oae_swap, status), 114u);
  EXPECT_EQ(offsetof(oae_swap, epoch), 115u);
  EXPECT_EQ(offsetof(oae_swap, sequence), 116u);
  EXPECT_EQ(offsetof(oae_swap, tries), 120u);
  EXPECT_EQ(offsetof(oae_swap, reads), 124u);
  EXPECT_EQ(offsetof(oae_stats, sequence), 12u);
  EXPECT_EQ(offsetof(oae_stats, committed), 16u);
  EXPECT_EQ(offsetof(oae_stats, liveness), 40u);
  EXPECT_EQ(offsetof(oae_stats, doubts), 48u);
  EXPECT_EQ(offsetof(oae_stats, lost), 72u);
  EXPECT_EQ(offsetof(oae_stats, lost_remotes), 80u);
  EXPECT_EQ(offsetof(oae_firmware_stats, exchanged), 8u);
  EXPECT_EQ(offsetof(oae_answer_buffer, generation), 64u);
  EXPECT_EQ(offsetof(oae_answer_buffer, confirmation), 72u);
  EXPECT_EQ(offsetof(oae_epoch, generation), 8u);
  EXPECT_EQ(offsetof(oae_epoch, sequence), 16u);
  EXPECT_EQ(offsetof(oae_epoch, epoch), 20u);
  EXPECT_EQ(offsetof(oae_words, first), 8u);
  EXPECT_EQ(offsetof(oae_words, count), 12u);
  EXPECT_EQ(offsetof(oae_fate, timeout_ns), 8u);
  EXPECT_EQ(offsetof(oae_fate, sequence), 16u);
  EXPECT_EQ(offsetof(oae_fate, forgotten), 20u);
  EXPECT_EQ(offsetof(oae_fate, epoch), 24u);
  EXPECT_EQ(offsetof(oae_fate, fate), 25u);
  EXPECT_EQ(offsetof(oae_fate, reserved), 26u);
}

TEST(Uapi, PagesOfAMapping) {
  EXPECT_EQ(OAE_MAP_PORT, 0x0000);
  EXPECT_EQ(OAE_MAP_STREAM, 0x1000);
  EXPECT_EQ(OAE_MAP_ANSWER, 0x2000);
  EXPECT_EQ(OAE_MAP_SIZE, 0x1000);
}

// The size is in the structure, so that a structure may grow without another code.
TEST(Uapi, Codes) {
  EXPECT_EQ(OAE_IOC_INFO, 0xea10u);
  EXPECT_EQ(OAE_IOC_SWAP, 0xea11u);
  EXPECT_EQ(OAE_IOC_SETTLE, 0xea12u);
  EXPECT_EQ(OAE_IOC_STATS, 0xea13u);
  EXPECT_EQ(OAE_IOC_FIRMWARE_STATS, 0xea14u);
  EXPECT_EQ(OAE_IOC_BEGIN, 0xea15u);
  EXPECT_EQ(OAE_IOC_WORDS, 0xea16u);
  EXPECT_EQ(OAE_IOC_FATE, 0xea17u);
}

}  // namespace
