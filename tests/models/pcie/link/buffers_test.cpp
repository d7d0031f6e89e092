// SPDX-License-Identifier: Apache-2.0
// The buffers at the ends of a link: what they hold back, and for how long.
#include <gtest/gtest.h>

#include "models/pcie/data_link/retry_buffer.h"
#include "models/pcie/link/buffer_sizes.h"
#include "models/pcie/link/credit_return.h"
#include "models/pcie/link/transmit_queue.h"

namespace pcie {
namespace {

TEST(TransmitQueue, HasRoomWhenPacketsHaveLeft) {
  TransmitQueue queue(300);
  EXPECT_EQ(queue.next_leaves(0), vp::never);
  EXPECT_TRUE(queue.has_room(0, 4096)) << "an empty queue takes any packet";
  queue.push(100, 110, 200);
  EXPECT_TRUE(queue.has_room(0, 100));
  EXPECT_FALSE(queue.has_room(0, 101));
  EXPECT_FALSE(queue.has_room(99, 101));
  EXPECT_EQ(queue.next_leaves(99), 100);
  EXPECT_TRUE(queue.has_room(100, 101)) << "it leaves the queue when it enters the wire";
  EXPECT_EQ(queue.end_of_packet(105), 110);
  queue.push(110, 240, 300);
  queue.push(250, 260, 20);
  EXPECT_EQ(queue.next_leaves(110), 250);
  for (const auto& [when, end] :
       {std::pair{110, 240}, {239, 240}, {240, 240}, {245, 245}, {250, 260}, {270, 270}}) {
    EXPECT_EQ(queue.end_of_packet(when), end);
  }
  queue.push(260, 270, 20);
  queue.clear();
  EXPECT_TRUE(queue.has_room(0, 300));
}

TEST(RetryBuffer, KeepsPacketsUntilTheyAreAcknowledged) {
  RetryBuffer buffer(300);
  EXPECT_EQ(buffer.room(7, 4096), 7) << "an empty buffer takes any packet";
  buffer.keep(200, 1000);
  EXPECT_EQ(buffer.room(7, 100), 7);
  buffer.keep(100, 1000);
  EXPECT_EQ(buffer.room(8, 1), 1000);
  buffer.keep(1, 1500);
  EXPECT_EQ(buffer.room(1001, 299), 1001);
  buffer.keep(299, 1600);
  EXPECT_EQ(buffer.room(1002, 300), 1600);
  buffer.keep(300, 1700);
  buffer.clear();
  EXPECT_EQ(buffer.room(1003, 300), 1003);
}

TEST(RetryBuffer, SaysThatAnAcknowledgementIsUnknown) {
  RetryBuffer buffer(300);
  buffer.keep(100, 500);
  buffer.keep(200, vp::never);
  EXPECT_EQ(buffer.room(1, 50), 500);
  EXPECT_EQ(buffer.room(1, 101), vp::never);
  buffer.acknowledge(900);
  EXPECT_EQ(buffer.room(1, 101), 900);
}

CreditAccount account(unsigned headers, unsigned data, unsigned scale = 1) {
  CreditConfig config;
  config.classes.fill({headers, data});
  config.scale = scale;
  return CreditAccount(config, 256);
}

TlpPtr write_of(unsigned bytes) {
  static const std::uint8_t data[256] = {};
  return Tlp::memory_write(0x1000, data, bytes);
}

TEST(CreditReturn, WaitsForMoreUntilTheLimit) {
  CreditReturn returns(account(20, 200));
  returns.set_limit(100);
  const TlpPtr write = write_of(64);
  for (unsigned i = 0; i < 8; ++i) returns.arrived(*write, 10);
  CreditReturn::Update update = returns.freed(CreditClass::posted, {1, 4}, 10);
  EXPECT_EQ(update.leaves, 110);
  EXPECT_EQ(update.replaces, vp::never);
  update = returns.freed(CreditClass::posted, {1, 4}, 110);
  EXPECT_EQ(update.leaves, 110);
  EXPECT_EQ(update.replaces, 110);
  EXPECT_EQ(update.credits.headers, 2u);
  EXPECT_EQ(update.credits.data, 8u);
  update = returns.freed(CreditClass::posted, {1, 4}, 111);
  EXPECT_EQ(update.leaves, 211);
  EXPECT_EQ(update.replaces, vp::never);
  EXPECT_EQ(update.credits.headers, 1u);
  // The classes have UpdateFCs of their own.
  EXPECT_EQ(returns.freed(CreditClass::non_posted, {1, 0}, 120).leaves, 220);
}

TEST(CreditReturn, DoesNotWaitIfTheSenderHasNoneLeft) {
  CreditReturn returns(account(2, 64));
  returns.set_limit(100);
  const TlpPtr write = write_of(64);
  returns.arrived(*write, 10);
  EXPECT_EQ(returns.freed(CreditClass::posted, {1, 4}, 11).leaves, 111);
  returns.arrived(*write, 12);
  const CreditReturn::Update update = returns.freed(CreditClass::posted, {1, 4}, 13);
  EXPECT_EQ(update.leaves, 13) << "both headers are in use";
  EXPECT_EQ(update.replaces, 111);
  EXPECT_EQ(update.credits.headers, 2u);
  EXPECT_EQ(update.credits.data, 8u);
}

TEST(CreditReturn, DoesNotWaitIfTheLargestPacketHasNoRoom) {
  for (const unsigned data : {16u + 3, 16u + 4}) {
    CreditReturn returns(account(0, data));
    returns.set_limit(100);
    returns.arrived(*write_of(64), 10);
    EXPECT_EQ(returns.freed(CreditClass::posted, {1, 4}, 11).leaves, data < 20 ? 11 : 111);
  }
}

// Scaled flow control (3.4.2): the DLLP has no bits for less than a unit.
TEST(CreditReturn, ReturnsWholeUnits) {
  CreditReturn returns(account(128, 16 * 2047, 16));  // in units of 4 and of 16
  returns.set_limit(100);
  const TlpPtr write = write_of(80);
  for (unsigned i = 0; i < 8; ++i) returns.arrived(*write, 10);
  for (unsigned i = 1; i <= 8; ++i) {
    const vp::Picoseconds when = 1'000 * i;
    const CreditReturn::Update update = returns.freed(CreditClass::posted, {1, 5}, when);
    // The 4th and the 8th header, and data at 20 and 40.
    const Credits due{i % 4 == 0 ? 4u : 0u, 5 * i / 16 > 5 * (i - 1) / 16 ? 16u : 0u};
    EXPECT_EQ(update.credits.headers, due.headers) << i;
    EXPECT_EQ(update.credits.data, due.data) << i;
    EXPECT_EQ(update.leaves, due.headers + due.data > 0 ? when + 100 : vp::never) << i;
    EXPECT_EQ(update.replaces, vp::never);
  }
}

// A sender that has none left gets them when a unit is whole.
TEST(CreditReturn, DoesNotWaitForMoreThanAUnit) {
  CreditReturn returns(account(144, 0, 4));  // in units of 4
  returns.set_limit(100);
  const TlpPtr write = write_of(64);
  for (unsigned i = 0; i < 144; ++i) returns.arrived(*write, 10);
  for (unsigned i = 1; i <= 3; ++i) {
    EXPECT_EQ(returns.freed(CreditClass::posted, {1, 4}, 20 + i).leaves, vp::never);
  }
  const CreditReturn::Update update = returns.freed(CreditClass::posted, {1, 4}, 24);
  EXPECT_EQ(update.leaves, 24);
  EXPECT_EQ(update.credits.headers, 4u);
}

// 1 us at 1 byte a nanosecond has headers for 41 writes of 24 bytes and two more, and data for
// three writes of 276 bytes and two more.
TEST(BufferSizes, CoverTheLoop) {
  const BufferLoop loop{{1000, 1}, 256, 1 * vp::us};
  EXPECT_EQ(buffer_for(loop), 1000u + 2 * 284);
  const CreditConfig credits = credits_for(loop, false);
  EXPECT_EQ(credits.scale, 1u);
  for (const Credits& each : credits.classes) {
    EXPECT_EQ(each.headers, 41u + 2);
    EXPECT_EQ(each.data, 5u * 16);
  }
}

TEST(BufferSizes, AreWhatCanBeAdvertised) {
  const BufferLoop loop{{1000, 64}, 512, 1 * vp::us};  // 2,666 + 2 headers
  const CreditConfig small = credits_for(loop, false), scaled = credits_for(loop, true);
  EXPECT_EQ(small.classes[0].headers, 127u);
  EXPECT_EQ(small.classes[0].data, 2047u);
  EXPECT_EQ(scaled.scale, 16u);
  EXPECT_EQ(scaled.classes[0].headers, 127u * 16);
  // The receiver may keep 3 units of data, since it returns 4 at a time.
  EXPECT_EQ(scaled.classes[0].data, (120u + 2) * 32 + 4);
  // 508 headers have a unit of 4, and with those that the receiver may keep one of 16.
  const CreditConfig between = credits_for({{1000, 12}, 4096, 1'012 * vp::ns}, true);
  EXPECT_EQ(between.classes[0].headers, 528u);
  for (const CreditConfig& one : {small, scaled}) CreditAccount(one, 512);
}

}  // namespace
}  // namespace pcie
