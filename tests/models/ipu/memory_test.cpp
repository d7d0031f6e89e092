// SPDX-License-Identifier: Apache-2.0
#include "models/ipu/memory.h"

#include <array>

#include "tests/models/ipu/fixture.h"

namespace ipu {
namespace {

using test::start;

constexpr std::uint64_t size = 0x1000;

/// A storage that has to see each write.
struct WatchedStorage : PlainStorage {
  using PlainStorage::PlainStorage;
  bool direct_writes() const override { return false; }
  void write(std::uint64_t offset, const std::uint8_t* bytes, std::uint64_t length) override {
    PlainStorage::write(offset, bytes, length);
    written += length;
  }
  std::uint64_t written = 0;
};

struct HiddenStorage : PlainStorage {
  using PlainStorage::PlainStorage;
  std::uint8_t* bytes() override { return nullptr; }
};

template <typename Kept>
struct Fixture : testing::Test {
  Kept storage{size};
  Memory memory{"memory", storage, 40 * vp::ns};
  test::Initiator core;
  Fixture() { core.socket.bind(memory.socket); }

  bool direct(tlm::tlm_command command, std::uint64_t address, tlm::tlm_dmi& dmi) {
    tlm::tlm_generic_payload payload;
    payload.set_command(command);
    payload.set_address(address);
    return core.socket->get_direct_mem_ptr(payload, dmi);
  }
};
using MemoryTest = Fixture<PlainStorage>;
using WatchedMemoryTest = Fixture<WatchedStorage>;
using HiddenMemoryTest = Fixture<HiddenStorage>;

TEST_F(MemoryTest, SupportsAnyLengthAtAnyOffsetUpToTheEnd) {
  start();
  for (unsigned length : {1u, 2u, 3u, 8u, 63u, 64u}) {
    for (std::uint64_t offset : {0u, 1u, 7u, 63u, 0xfc0u, 0xfc1u, 0xff8u, 0xfffu, 0x1000u}) {
      std::array<std::uint8_t, 64> out;
      for (unsigned i = 0; i < length; ++i) out[i] = static_cast<std::uint8_t>(offset + 3 * i + 1);
      const bool fits = offset + length <= size;
      const auto expected = fits ? tlm::TLM_OK_RESPONSE : tlm::TLM_ADDRESS_ERROR_RESPONSE;
      EXPECT_EQ(core.access(tlm::TLM_WRITE_COMMAND, offset, out.data(), length), expected);
      std::array<std::uint8_t, 64> in{};
      EXPECT_EQ(core.access(tlm::TLM_READ_COMMAND, offset, in.data(), length), expected);
      if (fits) {
        EXPECT_EQ(std::memcmp(in.data(), out.data(), length), 0) << offset << ", " << length;
      }
    }
  }
  EXPECT_EQ(core.try_read(~std::uint64_t{0}), tlm::TLM_ADDRESS_ERROR_RESPONSE);
}

TEST_F(MemoryTest, AddsItsLatency) {
  start();
  core.delay = 5;
  core.read(0);
  EXPECT_EQ(core.delay, 5 + 40 * vp::ns);
}

TEST_F(MemoryTest, RefusesByteEnablesAndStreaming) {
  start();
  std::array<std::uint8_t, 8> data{};
  tlm::tlm_generic_payload payload;
  payload.set_write();
  payload.set_address(0);
  payload.set_data_ptr(data.data());
  payload.set_data_length(8);
  payload.set_streaming_width(4);
  EXPECT_EQ(core.access(payload), tlm::TLM_BURST_ERROR_RESPONSE);
  payload.set_streaming_width(8);
  payload.set_byte_enable_ptr(data.data());
  payload.set_byte_enable_length(8);
  EXPECT_EQ(core.access(payload), tlm::TLM_BYTE_ENABLE_ERROR_RESPONSE);
}

TEST_F(MemoryTest, GrantsDirectAccessToAllOfIt) {
  start();
  for (tlm::tlm_command command : {tlm::TLM_READ_COMMAND, tlm::TLM_WRITE_COMMAND}) {
    tlm::tlm_dmi dmi;
    ASSERT_TRUE(direct(command, 0x123, dmi));
    EXPECT_EQ(dmi.get_start_address(), 0u);
    EXPECT_EQ(dmi.get_end_address(), size - 1);
    EXPECT_EQ(dmi.get_dmi_ptr(), storage.bytes());
    EXPECT_TRUE(dmi.is_read_write_allowed());
    EXPECT_EQ(dmi.get_write_latency(), vp::to_sc_time(40 * vp::ns));
  }
  tlm::tlm_dmi dmi;
  EXPECT_FALSE(direct(tlm::TLM_READ_COMMAND, size, dmi));
}

TEST_F(MemoryTest, GivesADebuggerTheBytesThatExist) {
  start();
  std::array<std::uint8_t, 16> data{};
  storage.bytes()[size - 1] = 9;
  tlm::tlm_generic_payload payload;
  payload.set_read();
  payload.set_data_ptr(data.data());
  payload.set_data_length(16);
  payload.set_address(size - 4);
  EXPECT_EQ(core.socket->transport_dbg(payload), 4u);
  EXPECT_EQ(data[3], 9);
  payload.set_address(size);
  EXPECT_EQ(core.socket->transport_dbg(payload), 0u);
}

TEST_F(WatchedMemoryTest, SeesEachWriteAndGrantsDirectReadsOnly) {
  start();
  core.write(0x10, 0x55, 2);
  EXPECT_EQ(storage.written, 2u);
  tlm::tlm_dmi dmi;
  ASSERT_TRUE(direct(tlm::TLM_READ_COMMAND, 0, dmi));
  EXPECT_TRUE(dmi.is_read_allowed());
  EXPECT_FALSE(dmi.is_write_allowed());
  EXPECT_FALSE(direct(tlm::TLM_WRITE_COMMAND, 0, dmi));
}

TEST_F(HiddenMemoryTest, GrantsNoDirectAccess) {
  start();
  tlm::tlm_dmi dmi;
  EXPECT_FALSE(direct(tlm::TLM_READ_COMMAND, 0, dmi));
  EXPECT_TRUE(dmi.is_none_allowed());
}

}  // namespace
}  // namespace ipu
