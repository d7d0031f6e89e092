// SPDX-License-Identifier: Apache-2.0
#include "models/ipu/mailbox.h"

#include "oae_registers.h"
#include "tests/models/ipu/fixture.h"

namespace ipu {
namespace {

using test::advance;
using test::start;

constexpr unsigned line = 2;
constexpr std::uint64_t requested = OAE_MAILBOX_STATUS_REQUESTED_MASK;
constexpr std::uint64_t replied = OAE_MAILBOX_STATUS_REPLIED_MASK;
constexpr std::uint64_t enable = OAE_MAILBOX_VECTOR_ENABLE_MASK;

struct MailboxTest : testing::Test {
  vp::Domain domain{"domain"};
  test::Lines lines;
  test::Interrupts interrupts;
  Mailbox mailbox{"mailbox", domain, line};
  test::Initiator firmware{"firmware"};
  test::FunctionPort function;

  MailboxTest() {
    firmware.socket.bind(mailbox.socket);
    function.socket.bind(mailbox.host);
    mailbox.irq.bind(lines);
    mailbox.interrupt.bind(interrupts);
    start();
  }
  std::uint64_t host_read(std::uint64_t offset) { return function.read(0, offset); }
  void host_write(std::uint64_t offset, std::uint64_t value) { function.write(0, offset, value); }
};

TEST_F(MailboxTest, CarriesARequestAndItsReply) {
  for (unsigned i = 0; i < 8; ++i) host_write(OAE_MAILBOX_REQUEST_AT(i), 0x100 + i);
  EXPECT_FALSE(lines.level[line]);
  host_write(OAE_MAILBOX_DOORBELL, 1);
  EXPECT_TRUE(lines.level[line]);
  EXPECT_EQ(firmware.read(OAE_MAILBOX_STATUS), requested);
  for (unsigned i = 0; i < 8; ++i) {
    EXPECT_EQ(firmware.read(OAE_MAILBOX_REQUEST_AT(i)), 0x100 + i);
    firmware.write(OAE_MAILBOX_REPLY_AT(i), 0x200 + i);
  }
  EXPECT_EQ(host_read(OAE_MAILBOX_STATUS), requested);
  firmware.write(OAE_MAILBOX_DOORBELL, 1);
  EXPECT_FALSE(lines.level[line]);
  EXPECT_EQ(host_read(OAE_MAILBOX_STATUS), replied);
  for (unsigned i = 0; i < 8; ++i) EXPECT_EQ(host_read(OAE_MAILBOX_REPLY_AT(i)), 0x200 + i);
  host_write(OAE_MAILBOX_DOORBELL, 1);
  EXPECT_EQ(host_read(OAE_MAILBOX_STATUS), requested) << "the next request";
  EXPECT_EQ(mailbox.requests(), 2u);
  advance(vp::us);
  EXPECT_TRUE(interrupts.signals.empty()) << "not enabled";
}

TEST_F(MailboxTest, SignalsTheReplyWhenTheWriteHasArrived) {
  host_write(OAE_MAILBOX_VECTOR, enable | 5);
  host_write(OAE_MAILBOX_DOORBELL, 1);
  advance(vp::us);
  EXPECT_TRUE(interrupts.signals.empty());
  firmware.delay = 30 * vp::ns;
  const vp::Picoseconds rung = vp::now();
  firmware.write(OAE_MAILBOX_DOORBELL, 1);
  advance(vp::us);
  ASSERT_EQ(interrupts.signals.size(), 1u);
  EXPECT_EQ(interrupts.signals[0], std::make_pair(5u, rung + 30 * vp::ns));
}

TEST_F(MailboxTest, IsReadAheadOfTimeAndWrittenInTime) {
  test::Ahead core;
  firmware.decoupled = &core;
  host_write(OAE_MAILBOX_DOORBELL, 1);
  const vp::Picoseconds before = vp::now();
  core.ahead = firmware.delay = 700;
  EXPECT_EQ(firmware.read(OAE_MAILBOX_STATUS), requested);
  EXPECT_EQ(vp::now(), before);
  core.ahead = firmware.delay = 700;
  firmware.write(OAE_MAILBOX_DOORBELL, 1);
  EXPECT_EQ(vp::now(), before + 700) << "the line falls at the time of the write";
  EXPECT_FALSE(lines.level[line]);
}

TEST_F(MailboxTest, AReadStaysValidUntilAWrite) {
  test::Ahead core;
  firmware.decoupled = &core;
  const auto version = [&](std::uint64_t address) {
    core.ahead = firmware.delay = 700;
    core.repeatable = {};
    firmware.read(address);
    EXPECT_EQ(core.repeatable.clock, 0);
    return core.repeatable.version == nullptr ? 0 : *core.repeatable.version;
  };
  const std::uint64_t first = version(OAE_MAILBOX_STATUS);
  ASSERT_NE(core.repeatable.version, nullptr);
  EXPECT_EQ(version(OAE_MAILBOX_REQUEST), first) << "reading changes nothing";
  host_write(OAE_MAILBOX_REQUEST, 1);
  const std::uint64_t second = version(OAE_MAILBOX_STATUS);
  EXPECT_NE(second, first);
  core.ahead = firmware.delay = 700;
  firmware.write(OAE_MAILBOX_REPLY, 1);
  const std::uint64_t third = version(OAE_MAILBOX_STATUS);
  EXPECT_NE(third, second);
  mailbox.reset();
  EXPECT_NE(version(OAE_MAILBOX_STATUS), third);
}

TEST_F(MailboxTest, IgnoresAReplyWithoutARequest) {
  host_write(OAE_MAILBOX_VECTOR, enable);
  firmware.write(OAE_MAILBOX_DOORBELL, 1);
  advance(vp::us);
  EXPECT_EQ(host_read(OAE_MAILBOX_STATUS), 0u);
  EXPECT_TRUE(interrupts.signals.empty());
}

TEST_F(MailboxTest, RingsOnlyForTheRingBit) {
  host_write(OAE_MAILBOX_DOORBELL, ~std::uint64_t{1});
  EXPECT_EQ(host_read(OAE_MAILBOX_STATUS), 0u);
  function.write(0, OAE_MAILBOX_DOORBELL + 4, 1, 4);
  EXPECT_EQ(host_read(OAE_MAILBOX_STATUS), 0u);
  function.write(0, OAE_MAILBOX_DOORBELL, 1, 1);
  EXPECT_EQ(host_read(OAE_MAILBOX_STATUS), requested);
  EXPECT_EQ(host_read(OAE_MAILBOX_DOORBELL), 0u);
}

TEST_F(MailboxTest, KeepsOnlyTheFieldsOfItsRegisters) {
  host_write(OAE_MAILBOX_VECTOR, ~std::uint64_t{0});
  EXPECT_EQ(host_read(OAE_MAILBOX_VECTOR), enable | 0xffff);
  host_write(OAE_MAILBOX_STATUS, ~std::uint64_t{0});
  EXPECT_EQ(host_read(OAE_MAILBOX_STATUS), 0u);
}

TEST_F(MailboxTest, AnswersHolesWithErrorsOnBothSides) {
  for (std::uint64_t offset : {0x98u, 0xff8u, 0x1000u}) {
    EXPECT_EQ(firmware.try_read(offset), tlm::TLM_ADDRESS_ERROR_RESPONSE);
    EXPECT_EQ(firmware.try_write(offset), tlm::TLM_ADDRESS_ERROR_RESPONSE);
    for (tlm::tlm_command command : {tlm::TLM_READ_COMMAND, tlm::TLM_WRITE_COMMAND}) {
      EXPECT_EQ(function.request(command, 0, offset, 8), tlm::TLM_COMPLETED);
      EXPECT_EQ(function.payload.get_response_status(), tlm::TLM_ADDRESS_ERROR_RESPONSE);
    }
  }
  EXPECT_EQ(function.request(tlm::TLM_READ_COMMAND, 0, 0, 64), tlm::TLM_COMPLETED);
  EXPECT_EQ(function.payload.get_response_status(), tlm::TLM_GENERIC_ERROR_RESPONSE);
}

TEST_F(MailboxTest, ResetClearsEverything) {
  host_write(OAE_MAILBOX_VECTOR, enable | 1);
  host_write(OAE_MAILBOX_REQUEST, 7);
  firmware.write(OAE_MAILBOX_REPLY, 7);
  host_write(OAE_MAILBOX_DOORBELL, 1);
  firmware.delay = 30 * vp::ns;
  firmware.write(OAE_MAILBOX_DOORBELL, 1);
  host_write(OAE_MAILBOX_DOORBELL, 1);
  mailbox.reset();
  advance(vp::us);
  EXPECT_TRUE(interrupts.signals.empty());
  EXPECT_FALSE(lines.level[line]);
  for (std::uint64_t offset = 0; offset <= OAE_MAILBOX_VECTOR; offset += 8) {
    EXPECT_EQ(host_read(offset), 0u) << offset;
  }
}

}  // namespace
}  // namespace ipu
