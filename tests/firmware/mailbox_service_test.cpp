// SPDX-License-Identifier: Apache-2.0
#include "firmware/services/mailbox_service.h"

#include <gtest/gtest.h>

#include <array>

#include "oae_registers.h"
#include "tests/firmware/mmio_mock.h"

namespace {

constexpr std::uintptr_t base = 0x0a00'0000;
constexpr std::uint64_t none = 0x5555'5555'5555'5555;

struct Mailbox : MmioDevice {
  Mailbox() : MmioDevice(base, OAE_MAILBOX_SIZE) { reply.fill(none); }
  std::array<std::uint64_t, 8> request{};
  std::array<std::uint64_t, 8> reply;
  bool requested = false;
  unsigned rings = 0;

 private:
  std::uint64_t read(std::uintptr_t offset) override {
    if (offset < OAE_MAILBOX_REPLY) return request[offset / 8];
    EXPECT_EQ(offset, std::uintptr_t{OAE_MAILBOX_STATUS});
    return OAE_PUT(OAE_MAILBOX_STATUS_REQUESTED, requested);
  }
  void write(std::uintptr_t offset, std::uint64_t value) override {
    if (offset == OAE_MAILBOX_DOORBELL) {
      EXPECT_EQ(value, OAE_MAILBOX_DOORBELL_RING_MASK);
      requested = false;
      ++rings;
      return;
    }
    ASSERT_GE(offset, std::uintptr_t{OAE_MAILBOX_REPLY});
    ASSERT_LT(offset, std::uintptr_t{OAE_MAILBOX_DOORBELL});
    EXPECT_EQ(rings, 0u) << "the reply must stand before the bell rings";
    reply[(offset - OAE_MAILBOX_REPLY) / 8] = value;
  }
};

struct MailboxServiceTest : testing::Test {
  Mailbox mailbox;
  swap_service swaps{};

  void ask(std::array<std::uint64_t, 8> request, bool polling = false) {
    mailbox.request = request;
    mailbox.requested = true;
    mailbox_serve(base, &swaps, polling);
    EXPECT_EQ(mailbox.rings, 1u);
  }
};

TEST_F(MailboxServiceTest, DoesNothingWithoutARequest) {
  mailbox_serve(base, &swaps, false);
  EXPECT_EQ(mailbox.rings, 0u);
  EXPECT_EQ(mailbox.reply[0], none);
}

TEST_F(MailboxServiceTest, Echoes) {
  ask({OAE_MAILBOX_COMMAND_ECHO, 1, 2, 3, 4, 5, 6, ~std::uint64_t{0}});
  EXPECT_EQ(mailbox.reply, (std::array<std::uint64_t, 8>{OAE_MAILBOX_RESULT_OK, 1, 2, 3, 4, 5, 6,
                                                         ~std::uint64_t{0}}));
}

TEST_F(MailboxServiceTest, AnswersThePortStatistics) {
  swaps.count = 8;
  swaps.liveness = 99;
  swaps.ports[7].exchanged = 11;
  swaps.ports[7].committed = 10;
  swaps.ports[7].reversed = 1;
  swaps.ports[7].bad_offers = 2;
  ask({OAE_MAILBOX_COMMAND_PORT_STATISTICS, 7}, true);
  EXPECT_EQ(mailbox.reply,
            (std::array<std::uint64_t, 8>{OAE_MAILBOX_RESULT_OK, 11, 10, 1, 2, 99, 1, 0}));
}

TEST_F(MailboxServiceTest, RefusesAPortThatDoesNotExist) {
  swaps.count = 8;
  for (std::uint64_t port : {std::uint64_t{8}, std::uint64_t{1} << 32, ~std::uint64_t{0}}) {
    mailbox.rings = 0;
    ask({OAE_MAILBOX_COMMAND_PORT_STATISTICS, port});
    EXPECT_EQ(mailbox.reply, (std::array<std::uint64_t, 8>{OAE_MAILBOX_RESULT_BAD_ARGUMENT}));
  }
}

TEST_F(MailboxServiceTest, AnswersItsVersion) {
  ask({OAE_MAILBOX_COMMAND_VERSION});
  EXPECT_EQ(mailbox.reply[0], std::uint64_t{OAE_MAILBOX_RESULT_OK});
  EXPECT_EQ(mailbox.reply[1], (std::uint64_t{FIRMWARE_VERSION_MAJOR} << 32 |
                               FIRMWARE_VERSION_MINOR << 16 | FIRMWARE_VERSION_PATCH));
}

TEST_F(MailboxServiceTest, RefusesUnknownCommands) {
  for (std::uint64_t command : {std::uint64_t{OAE_MAILBOX_COMMAND_NONE}, std::uint64_t{4},
                                std::uint64_t{1} << 32 | OAE_MAILBOX_COMMAND_ECHO}) {
    mailbox.rings = 0;
    ask({command, 1, 2});
    EXPECT_EQ(mailbox.reply, (std::array<std::uint64_t, 8>{OAE_MAILBOX_RESULT_UNKNOWN_COMMAND}));
  }
}

}  // namespace
