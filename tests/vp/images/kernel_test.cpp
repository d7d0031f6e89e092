// SPDX-License-Identifier: Apache-2.0
#include "vp/images/kernel.h"

#include "tests/vp/images/samples.h"

using samples::put;
using testing::HasSubstr;
using namespace vp::images;

namespace {

std::string verdict(const std::string& file) {
  return samples::verdict(file, [](Bytes& bytes) { check_kernel(bytes); });
}

TEST(Kernel, SaysWhatItsHeaderSays) {
  const Kernel kernel = check_kernel(samples::bytes(samples::kernel()));
  EXPECT_EQ(kernel.protocol, 0x020f);
  EXPECT_EQ(kernel.init_size, 0x100000u);
  EXPECT_EQ(kernel.command_line_size, 2047u);
}

struct Corruption {
  std::size_t offset;
  std::uint64_t value;
  unsigned length;
  const char* found;
};

TEST(Kernel, EveryFieldCounts) {
  const Corruption table[] = {
      {0x1fe, 0xaa54, 2, "boot flag at 0x1fe is 0xaa54"},
      {0x1fe, 0x0055, 2, "boot flag"},
      {0x202, 0x53726448 ^ 1, 4, "no `HdrS`"},
      {0x206, 0x020b, 2, "boot protocol is 2.11"},
      {0x206, 0x0300, 2, "boot protocol is 3.00"},
      {0x206, 0, 2, "boot protocol is 0.00"},
      {0x211, 0, 1, "zImage"},
      {0x236, 0x7e, 2, "32-bit kernel"},
      {0x1f1, 2, 1, "cut off"},
      {0x1f1, 0, 1, "cut off"},
      {0x1f1, 255, 1, "cut off"},
      {0x1f4, 4096 / 16 + 1, 4, "cut off: it has 5120 bytes, but its header says 5136"},
      {0x1f4, 0xffffffff, 4, "cut off"},
      {0x1f4, 0, 4, "no code"},
      {0x248, 4096 - 0x200 + 1, 4, "payload"},
      {0x248, 0xffffffff, 4, "payload"},
      {0x24c, 4096 - 0x100 + 1, 4, "payload"},
      {0x24c, 0, 4, "payload"},
      {0x24c, 0xffffffff, 4, "payload"},
      {0x230, 0, 4, "alignment"},
      {0x230, 0x300000, 4, "alignment, 0x300000, is not a power of two"},
      {0x260, 4095, 4, "memory"},
      {0x260, 0, 4, "memory"},
  };
  for (const Corruption& each : table) {
    std::string file = samples::kernel();
    put(file, each.offset, each.value, each.length);
    EXPECT_THAT(verdict(file), HasSubstr(each.found)) << std::hex << each.offset;
  }
}

TEST(Kernel, BoundariesPass) {
  const Corruption table[] = {
      {0x206, 0x020c, 2, ""}, {0x206, 0x02ff, 2, ""}, {0x248, 4096 - 0x200, 4, ""},
      {0x260, 4096, 4, ""},   {0x230, 0x1000, 4, ""},
  };
  for (const Corruption& each : table) {
    std::string file = samples::kernel();
    put(file, each.offset, each.value, each.length);
    EXPECT_EQ(verdict(file), "") << std::hex << each.offset;
  }
  EXPECT_EQ(verdict(samples::kernel() + "signature"), "");
  std::string four(5 * 512 + 4096, '\0');
  four.replace(0, 1024, samples::kernel(), 0, 1024);
  put(four, 0x1f1, 0, 1);  // 0 sectors mean 4
  EXPECT_EQ(verdict(four), "");
}

TEST(Kernel, EveryLengthShorterIsRefused) {
  const std::string file = samples::kernel();
  for (std::size_t length = 1; length < file.size(); ++length)
    EXPECT_NE(verdict(file.substr(0, length)), "") << length;
}

TEST(Kernel, OtherFilesAreCalledWhatTheyAre) {
  EXPECT_THAT(verdict(samples::firmware()), HasSubstr("ELF file and not a bzImage"));
  EXPECT_THAT(verdict(samples::initramfs()), HasSubstr("a cpio archive and not a Linux kernel"));
  EXPECT_THAT(verdict("\x1f\x8b zipped"), HasSubstr("a gzip file"));
  EXPECT_THAT(verdict("x"), HasSubstr("too short"));
  std::string arm(0x100, '\0');
  arm.replace(0x38, 4, "ARM\x64");
  EXPECT_THAT(verdict(arm), HasSubstr("Linux kernel for Arm"));
}

}  // namespace
