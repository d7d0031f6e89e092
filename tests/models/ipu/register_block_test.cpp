// SPDX-License-Identifier: Apache-2.0
#include "models/ipu/register_block.h"

#include "tests/models/ipu/fixture.h"

namespace ipu {
namespace {

using test::start;

/// Two registers, at offset 0 and at the width.
class TwoRegisters : public RegisterBlock {
 public:
  TwoRegisters(const char* name, unsigned width) : RegisterBlock(name, width), width_(width) {}
  std::uint64_t words[2] = {};
  vp::Picoseconds delay = -1;

 private:
  std::optional<std::uint64_t> read(std::uint64_t offset) override {
    EXPECT_EQ(offset % width_, 0u);
    if (offset > width_) return std::nullopt;
    return words[offset / width_];
  }
  bool write(std::uint64_t offset, std::uint64_t value, std::uint64_t mask,
             vp::Picoseconds when) override {
    EXPECT_EQ(offset % width_, 0u);
    EXPECT_EQ(value & ~mask, 0u) << "no bits beyond the bytes written";
    if (offset > width_) return false;
    words[offset / width_] = merge(words[offset / width_], value, mask);
    delay = when;
    return true;
  }
  const unsigned width_;
};

struct RegisterBlockTest : testing::TestWithParam<unsigned> {
  unsigned width = GetParam();
  TwoRegisters block{"block", width};
  test::Initiator core;
  RegisterBlockTest() { core.socket.bind(block.socket); }
};

TEST_P(RegisterBlockTest, SupportsAlignedPowersOfTwoUpToItsWidth) {
  start();
  for (unsigned length = 0; length <= 17; ++length) {
    for (std::uint64_t offset = 0; offset < 3 * width; ++offset) {
      const bool shape = (length == 1 || length == 2 || length == 4 || length == 8) &&
                         length <= width && offset % length == 0;
      const auto expected = !shape               ? tlm::TLM_BURST_ERROR_RESPONSE
                            : offset < 2 * width ? tlm::TLM_OK_RESPONSE
                                                 : tlm::TLM_ADDRESS_ERROR_RESPONSE;
      EXPECT_EQ(core.try_read(offset, length), expected) << offset << ", " << length;
      EXPECT_EQ(core.try_write(offset, length), expected) << offset << ", " << length;
    }
  }
  EXPECT_EQ(core.try_read(~std::uint64_t{0}, 1), tlm::TLM_ADDRESS_ERROR_RESPONSE);
}

TEST_P(RegisterBlockTest, PutsBytesInTheirPlace) {
  start();
  const std::uint64_t ones = ~std::uint64_t{0} >> (64 - 8 * width);
  for (unsigned length : {1u, 2u, 4u, 8u}) {
    if (length > width) continue;
    for (unsigned offset = 0; offset < 2 * width; offset += length) {
      block.words[0] = block.words[1] = ones;
      core.write(offset, 0x8070605040302010, length);
      for (unsigned byte = 0; byte < 2 * width; ++byte) {
        const bool written = byte >= offset && byte < offset + length;
        EXPECT_EQ(core.read(byte, 1), written ? 0x10 * (byte - offset + 1) : 0xff);
      }
      EXPECT_EQ(core.read(offset, length), 0x8070605040302010 & (~0ull >> (64 - 8 * length)));
    }
  }
}

TEST_P(RegisterBlockTest, RefusesByteEnablesAndStreaming) {
  start();
  std::uint32_t data = 0;
  tlm::tlm_generic_payload payload;
  payload.set_write();
  payload.set_address(0);
  payload.set_data_ptr(reinterpret_cast<unsigned char*>(&data));
  payload.set_data_length(4);
  payload.set_streaming_width(2);
  EXPECT_EQ(core.access(payload), tlm::TLM_BURST_ERROR_RESPONSE);
  payload.set_streaming_width(4);
  payload.set_byte_enable_ptr(reinterpret_cast<unsigned char*>(&data));
  payload.set_byte_enable_length(4);
  EXPECT_EQ(core.access(payload), tlm::TLM_BYTE_ENABLE_ERROR_RESPONSE);
}

TEST_P(RegisterBlockTest, PassesTheAnnotatedDelayOn) {
  start();
  core.delay = 123;
  core.write(0, 1, 4);
  EXPECT_EQ(block.delay, 123);
  EXPECT_EQ(core.delay, 123);
}

INSTANTIATE_TEST_SUITE_P(Width, RegisterBlockTest, testing::Values(4u, 8u));

}  // namespace
}  // namespace ipu
