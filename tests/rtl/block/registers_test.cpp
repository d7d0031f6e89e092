// SPDX-License-Identifier: Apache-2.0
// The registers of both sides.
#include <gtest/gtest.h>

#include "tests/rtl/block/block_fixture.h"

namespace {

TEST_F(Block, SaysWhatItIs) {
  const std::uint64_t id = fixture.read(registers, OAE_HOST_ID);
  EXPECT_EQ(OAE_GET(id, OAE_HOST_ID_MAGIC), 0x3145414fu);
  EXPECT_EQ(OAE_GET(id, OAE_HOST_ID_VERSION), 2u);
  EXPECT_EQ(OAE_GET(id, OAE_HOST_ID_PORTS), 8u);
  EXPECT_EQ(fixture.get(OAE_FIRMWARE_ID), id);
  EXPECT_EQ(fixture.read(registers, OAE_HOST_FEATURES), 0x100fe07u)
      << "pushed, streamed, fates; seven verbs, 256 words";
  EXPECT_EQ(fixture.read(registers, OAE_HOST_CLOCK), 500'000u);
  fixture.write(registers, OAE_HOST_ID, all);
  EXPECT_EQ(fixture.read(registers, OAE_HOST_ID), id);
}

TEST_F(Block, RegistersThatKeepWhatIsWritten) {
  const struct {
    unsigned offset;
    std::uint64_t reset;
    std::uint64_t kept;
  } kept[] = {
      {OAE_HOST_LIVENESS_LIMIT, 0xffff'ffff, 0xffff'ffff},
      {OAE_HOST_PORT_ANSWER_ADDRESS_AT(port), 0, ~std::uint64_t{63}},
      {OAE_HOST_PORT_EVENT_AT(port), 0, 0xf'ffff},
      {OAE_HOST_PORT_TENTATIVE_LIMIT_AT(port), 0xffff'ffff, 0xffff'ffff},
  };
  for (const auto& item : kept) {
    EXPECT_EQ(fixture.read(registers, item.offset), item.reset) << item.offset;
    fixture.write(registers, item.offset, 0);
    EXPECT_EQ(fixture.read(registers, item.offset), 0u) << item.offset;
    fixture.write(registers, item.offset, all);
    EXPECT_EQ(fixture.read(registers, item.offset), item.kept) << item.offset;
    // One byte at a time
    fixture.write(registers, item.offset, 0);
    std::uint64_t expected = 0;
    for (unsigned byte = 0; byte < 8; ++byte) {
      fixture.write(registers, item.offset + byte, 0xa5, 1);
      expected |= std::uint64_t{0xa5} << 8 * byte;
      EXPECT_EQ(fixture.read(registers, item.offset), expected & item.kept) << item.offset + byte;
    }
  }
}

TEST_F(Block, RegistersThatDoNot) {
  for (const unsigned offset : std::initializer_list<unsigned>{
           OAE_HOST_PORT_STATE_AT(port), OAE_HOST_PORT_COMMITTED_AT(port),
           OAE_HOST_PORT_NOT_READY_AT(port), OAE_HOST_PORT_REJECTED_AT(port), OAE_HOST_ID,
           OAE_HOST_FEATURES, OAE_HOST_CLOCK, OAE_HOST_PORT_DELIVERED_AT(port),
           OAE_HOST_PORT_LOST_AT(port), OAE_HOST_PORT_LOST_LAST_AT(port),
           OAE_HOST_PORT_LOST_FIRST_AT(port), OAE_HOST_PORT_LOST_REMOTE_AT(port)}) {
    const std::uint64_t before = fixture.read(registers, offset);
    fixture.write(registers, offset, ~before);
    EXPECT_EQ(fixture.read(registers, offset), before) << offset;
  }
}

TEST_F(Block, AddressesWithoutARegister) {
  // Offsets between and after the registers, and ports that are not in use. The fixture compares.
  for (const unsigned line : {1u, 63u, 65u, 127u, 64u + 16u, 64u + 127u, 192u, 255u}) {
    const Slot ones{all, all, all, all, all, all, all, all};
    fixture.post_write(registers, line * 64, ones.data(), 64);
    fixture.post_read(registers, line * 64, 64);
    fixture.drain();
  }
  for (const unsigned page : {0u, 7u, 8u, 63u}) {
    for (const unsigned line : {2u, 62u, 63u}) {
      const Slot ones{all, all, all, all, all, all, all, all};
      for (const unsigned bar : {pages, streams}) {
        fixture.post_write(bar, page * OAE_PORT_SIZE + line * 64, ones.data(), 64);
        EXPECT_EQ(fixture.read(bar, page * OAE_PORT_SIZE + line * 64), 0u);
      }
    }
  }
  EXPECT_EQ(fixture.read(pages, 8 * OAE_PORT_SIZE + OAE_PORT_PUSHED_ANSWER), 0u) << "port 8 of 8";
  EXPECT_EQ(fixture.stream(8), Slot{});
  EXPECT_EQ(fixture.pushes, 0u);
  for (const unsigned address : std::initializer_list<unsigned>{
           0x30u, 0x38u, 0x68u, 0x78u, 0xfff8u, OAE_FIRMWARE_OFFER_AT(0) + 0x70u,
           OAE_FIRMWARE_OFFER_AT(7) + 0x78u, OAE_FIRMWARE_OFFER_AT(8), OAE_FIRMWARE_OFFER_AT(63),
           OAE_FIRMWARE_OFFER_AT(64), OAE_FIRMWARE_SIZE - 8u}) {
    EXPECT_EQ(fixture.get(address), 0u);
    EXPECT_TRUE(fixture.error) << std::hex << address;
    fixture.put(address, all);
    EXPECT_TRUE(fixture.error) << std::hex << address;
  }
  fixture.get(OAE_FIRMWARE_OFFER_AT(7) + 0xf8);
  EXPECT_FALSE(fixture.error);
}

TEST_F(Block, ReadsAWholeLineOfRegisters) {
  open();
  fixture.write(registers, OAE_HOST_PORT_EVENT_AT(port), 5);
  fixture.read(registers, OAE_HOST_PORT_CONTROL_AT(port), 64);
  fixture.read(registers, OAE_HOST_ID, 64);
  fixture.read(registers, OAE_HOST_PORT_ANSWER_ADDRESS_AT(port) + 3, 42);
  // One read of all registers of a page includes the interaction.
  swap(1);
  const std::uint64_t pushes = fixture.pushes;
  fixture.read(pages, port * OAE_PORT_SIZE + OAE_PORT_PUSHED_ANSWER, 64);
  EXPECT_EQ(fixture.pushes, pushes + 1);
  fixture.read(pages, port * OAE_PORT_SIZE + OAE_PORT_CONFIRM, 16);
  EXPECT_EQ(fixture.pushes, pushes + 1) << "not asked for";
}

TEST_F(Block, FirmwareRegisters) {
  fixture.put(OAE_FIRMWARE_IRQ_ENABLE, 0x8123'4567'89ab'cdef);
  EXPECT_EQ(fixture.get(OAE_FIRMWARE_IRQ_ENABLE), 0x8123'4567'89ab'cdef);
  fixture.put(OAE_FIRMWARE_IRQ_ENABLE, 0, 0x0f);
  EXPECT_EQ(fixture.get(OAE_FIRMWARE_IRQ_ENABLE), 0x8123'4567'0000'0000);
  fixture.put(OAE_FIRMWARE_LIVENESS, 0x1'2345'6789);
  EXPECT_EQ(fixture.get(OAE_FIRMWARE_LIVENESS), 0x2345'6789u);
  fixture.put(OAE_FIRMWARE_OFFER_AT(port) + 0x38, 0x1122'3344'5566'7788, 0xa5);
  EXPECT_EQ(fixture.get(OAE_FIRMWARE_OFFER_AT(port) + 0x38), 0x1100'3300'0066'0088);
  EXPECT_EQ(fixture.get(OAE_FIRMWARE_OFFER_AT(port + 1) + 0x38), 0u);
  EXPECT_EQ(fixture.get(OAE_FIRMWARE_COMMAND_AT(port)), 0u);
}

TEST_F(Block, LivenessAgesAlsoWhileTheClockIsStopped) {
  fixture.put(OAE_FIRMWARE_LIVENESS, 42);
  const auto age = [&] {
    return OAE_GET(fixture.read(registers, OAE_HOST_LIVENESS), OAE_HOST_LIVENESS_AGE);
  };
  const std::uint64_t before = age();
  fixture.sleep(1'000'000);
  EXPECT_GE(age(), before + 1'000'000);
  EXPECT_LT(age(), before + 1'000'020);
  EXPECT_EQ(fixture.read(registers, OAE_HOST_LIVENESS) & 0xffff'ffff, 42u);
  fixture.sleep(0xffff'ffff);
  EXPECT_EQ(age(), 0xffff'ffffu) << "it saturates";
  fixture.sleep(0x1'0000'0000);
  EXPECT_EQ(age(), 0xffff'ffffu);
  fixture.put(OAE_FIRMWARE_LIVENESS, 42);
  EXPECT_LT(age(), 20u) << "a write of the same count is a sign of life too";
}

TEST_F(Block, InterruptFollowsEventsThatAreEnabled) {
  open(2);
  EXPECT_FALSE(fixture.top.irq);
  fixture.put(OAE_FIRMWARE_IRQ_ENABLE, ~std::uint64_t{4});
  EXPECT_FALSE(fixture.top.irq);
  EXPECT_EQ(fixture.get(OAE_FIRMWARE_IRQ_STATUS), 0u);
  EXPECT_EQ(fixture.get(OAE_FIRMWARE_EVENTS), 4u) << "enabled or not";
  fixture.put(OAE_FIRMWARE_EVENTS, ~std::uint64_t{0});
  EXPECT_EQ(fixture.get(OAE_FIRMWARE_EVENTS), 4u) << "read only";
  fixture.put(OAE_FIRMWARE_IRQ_ENABLE, 4);
  EXPECT_TRUE(fixture.top.irq);
  EXPECT_EQ(fixture.get(OAE_FIRMWARE_IRQ_STATUS), 4u);
  fixture.put(OAE_FIRMWARE_EVENT_AT(2), ~std::uint64_t{OAE_FIRMWARE_EVENT_OPENED_MASK});
  EXPECT_TRUE(fixture.top.irq) << "others were cleared";
  fixture.put(OAE_FIRMWARE_EVENT_AT(2), OAE_FIRMWARE_EVENT_OPENED_MASK, 0xfe);
  EXPECT_TRUE(fixture.top.irq) << "its byte was not written";
  fixture.put(OAE_FIRMWARE_EVENT_AT(2), OAE_FIRMWARE_EVENT_OPENED_MASK);
  EXPECT_FALSE(fixture.top.irq);
  EXPECT_EQ(fixture.get(OAE_FIRMWARE_EVENTS), 0u);
}

TEST_F(Block, OtherRegistersDoNotSetTheLimitOfLiveness) {
  fixture.write(registers, OAE_HOST_LIVENESS_LIMIT, 1234);
  for (unsigned address = 0; address < 64; address += 8) {
    if (address != OAE_HOST_LIVENESS_LIMIT) fixture.write(registers, address, 77);
  }
  EXPECT_EQ(fixture.read(registers, OAE_HOST_LIVENESS_LIMIT), 1234u);
}

TEST_F(Block, AReadOfTheHoldLimitLooksAtNoPort) {
  const auto clocks = [this](unsigned address) {
    const std::uint64_t begin = fixture.now;
    fixture.get(address);
    return fixture.now - begin;
  };
  EXPECT_EQ(clocks(OAE_FIRMWARE_HOLD_LIMIT), clocks(OAE_FIRMWARE_IRQ_ENABLE));
}

TEST_F(Block, OtherRegistersAcknowledgeNoEvents) {
  open();
  EXPECT_EQ(event(), OAE_FIRMWARE_EVENT_OPENED_MASK);
  fixture.put(OAE_FIRMWARE_WORDS_AT(port), all);
  fixture.put(OAE_FIRMWARE_STATUS_AT(port), all);
  fixture.put(OAE_FIRMWARE_OFFER_AT(port), all);
  EXPECT_EQ(event(), OAE_FIRMWARE_EVENT_OPENED_MASK);
}

TEST_F(Block, CommandAcknowledgesEvents) {
  open();
  fixture.publish(port, Slot{});  // refused
  const std::uint64_t opened = OAE_FIRMWARE_EVENT_OPENED_MASK;
  const std::uint64_t bad_offer = OAE_FIRMWARE_EVENT_BAD_OFFER_MASK;
  EXPECT_EQ(OAE_GET(status(), OAE_FIRMWARE_STATUS_EVENTS), opened | bad_offer);
  const std::uint64_t acknowledge = OAE_PUT(OAE_FIRMWARE_COMMAND_ACKNOWLEDGE, opened);
  fixture.put(OAE_FIRMWARE_COMMAND_AT(port), acknowledge, 0xfd);
  EXPECT_EQ(event(), opened | bad_offer) << "its byte was not written";
  fixture.put(OAE_FIRMWARE_COMMAND_AT(port), acknowledge);
  EXPECT_EQ(event(), bad_offer) << "others stay";
  fixture.put(OAE_FIRMWARE_COMMAND_AT(port), OAE_PUT(OAE_FIRMWARE_COMMAND_ACKNOWLEDGE, bad_offer) |
                                                 OAE_FIRMWARE_COMMAND_PUBLISH_MASK);
  EXPECT_EQ(event(), bad_offer) << "of the offer that was published with it";
  fixture.put(OAE_FIRMWARE_COMMAND_AT(port), OAE_PUT(OAE_FIRMWARE_COMMAND_ACKNOWLEDGE, bad_offer));
  EXPECT_EQ(status() & (OAE_FIRMWARE_STATUS_EVENTS_MASK | OAE_FIRMWARE_STATUS_OFFERED_MASK), 0u);
}

}  // namespace
