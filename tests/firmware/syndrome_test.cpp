// SPDX-License-Identifier: Apache-2.0
#include "firmware/fault/syndrome.h"

#include <gtest/gtest.h>

#include <string>

namespace {

// Values of ESR_EL1 as cores report them.
TEST(Syndrome, NamesWhatHappened) {
  EXPECT_STREQ(syndrome_class(0x96000006), "data abort");
  EXPECT_STREQ(syndrome_class(0x92000006), "data abort");
  EXPECT_STREQ(syndrome_class(0x8600000f), "instruction abort");
  EXPECT_STREQ(syndrome_class(0x02000000), "unknown instruction");
  EXPECT_STREQ(syndrome_class(0xf2000001), "BRK instruction");
  EXPECT_STREQ(syndrome_class(0x56000000), "supervisor call");
  EXPECT_STREQ(syndrome_class(0xbe000000), "SError");
  EXPECT_STREQ(syndrome_class(0x8a000000), "misaligned PC");
  EXPECT_STREQ(syndrome_class(0x9a000000), "misaligned SP");
}

TEST(Syndrome, DescribesAccessAndStatusOfAborts) {
  EXPECT_TRUE(syndrome_is_abort(0x96000006));
  EXPECT_TRUE(syndrome_is_abort(0x8600000f));
  EXPECT_FALSE(syndrome_is_abort(0x02000000));
  EXPECT_FALSE(syndrome_is_abort(0xbe000000));
  EXPECT_STREQ(syndrome_access(0x96000006), "read");
  EXPECT_STREQ(syndrome_access(0x96000046), "write");
  EXPECT_STREQ(syndrome_access(0x86000046), "fetch");
  EXPECT_STREQ(syndrome_status(0x96000006), "translation fault, level 2");
  EXPECT_STREQ(syndrome_status(0x9600004f), "permission fault");
  EXPECT_STREQ(syndrome_status(0x96000010), "external abort");
  EXPECT_STREQ(syndrome_status(0x96000021), "alignment fault");
}

TEST(Syndrome, HasAWordForEverything) {
  for (std::uint64_t value = 0; value < 64; ++value) {
    EXPECT_NE(std::string(syndrome_class(value << 26)), "");
    EXPECT_NE(std::string(syndrome_status(value)), "");
  }
}

}  // namespace
