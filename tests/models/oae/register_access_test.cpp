// SPDX-License-Identifier: Apache-2.0
// Which bytes of an access count.
#include "models/oae/register_access.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>

namespace oae {
namespace {

struct Access {
  explicit Access(std::size_t length) {
    for (std::size_t i = 0; i < data.size(); ++i) data[i] = static_cast<std::uint8_t>(i + 1);
    payload.set_address(0x100);
    payload.set_data_ptr(data.data());
    payload.set_data_length(static_cast<unsigned>(length));
    payload.set_streaming_width(static_cast<unsigned>(length));
  }
  template <std::size_t length>
  void enable(const std::array<std::uint8_t, length>& bytes) {
    for (std::size_t i = 0; i < length; ++i) {
      enables[i] = bytes[i] ? TLM_BYTE_ENABLED : TLM_BYTE_DISABLED;
    }
    payload.set_byte_enable_ptr(enables.data());
    payload.set_byte_enable_length(length);
  }

  std::array<std::uint8_t, 64> data;
  std::array<std::uint8_t, 64> enables;
  tlm::tlm_generic_payload payload;
};

TEST(RegisterAccess, WithoutByteEnablesAllBytesCount) {
  EXPECT_EQ(enabled_bytes(Access(64).payload), 0xffff'ffff'ffff'ffff);
  EXPECT_EQ(enabled_bytes(Access(8).payload), 0xffu);
  EXPECT_EQ(enabled_bytes(Access(1).payload), 1u);
}

TEST(RegisterAccess, ByteEnablesRepeat) {
  Access line(64);
  line.enable(std::array<std::uint8_t, 4>{1, 0, 0, 1});
  EXPECT_EQ(enabled_bytes(line.payload), 0x9999'9999'9999'9999);
  Access word(7);
  word.enable(std::array<std::uint8_t, 3>{0, 1, 1});
  EXPECT_EQ(enabled_bytes(word.payload), 0x36u);
}

TEST(RegisterAccess, AStrobeHasThePlaceOfTheBytesInTheWord) {
  Access access(3);
  access.payload.set_write();
  access.payload.set_address(0x104);
  access.enable(std::array<std::uint8_t, 3>{1, 0, 1});
  const RegisterAccess write(access.payload, 0);
  EXPECT_EQ(write.strobe, 0x50u);
  EXPECT_EQ(write.data & 0x00ff'00ff'0000'0000, 0x0003'0001'0000'0000u);
}

TEST(RegisterAccess, OnlyEnabledBytesAreAnswered) {
  Access access(5);
  access.payload.set_read();
  access.payload.set_address(0x102);
  access.enable(std::array<std::uint8_t, 5>{1, 1, 0, 0, 1});
  RegisterAccess read(access.payload, 0);
  read.data = 0x8877'6655'4433'2211;
  read.answer(access.payload);
  const std::array<std::uint8_t, 6> expected = {0x33, 0x44, 3, 4, 0x77, 6};
  EXPECT_TRUE(std::equal(expected.begin(), expected.end(), access.data.begin()));
}

}  // namespace
}  // namespace oae
