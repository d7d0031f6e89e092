// SPDX-License-Identifier: Apache-2.0
// What the driver remembers of slots that have left the cell and are lost.
#include <gtest/gtest.h>
#include <linux/oae.h>

#include <cstdint>
#include <vector>

extern "C" {
#include "guest/driver/oae_losses.h"
}

namespace {

constexpr __u8 present = 7;

/// A name as its register shows it.
std::uint64_t name(std::uint32_t sequence, __u8 epoch = present) {
  return OAE_PUT(OAE_HOST_PORT_LOST_LAST_EPOCH, std::uint64_t{epoch}) |
         OAE_PUT(OAE_HOST_PORT_LOST_LAST_SEQUENCE, std::uint64_t{sequence});
}

struct Losses : testing::Test {
  Losses() { oae_losses_begin(&losses, present, 0); }

  bool lose_one(std::uint64_t last) { return oae_losses_take(&losses, 1, last, before, before); }
  bool lose_two(std::uint64_t first, std::uint64_t last) {
    return oae_losses_take(&losses, 2, last, first, before);
  }
  bool lose_remote(std::uint64_t remote) {
    return oae_losses_take(&losses, OAE_HOST_PORT_LOST_REMOTE_MASK, before, before, remote);
  }

  unsigned fate(std::uint32_t sequence, std::uint64_t delivered) const {
    return oae_losses_fate(&losses, sequence, delivered);
  }

  /// Fetches all names.
  std::vector<std::uint32_t> fetched() {
    std::vector<std::uint32_t> names;
    while (const std::uint32_t next = oae_losses_next(&losses)) {
      names.push_back(next);
      oae_losses_fetched(&losses, next);
    }
    return names;
  }

  oae_losses losses{};
  const std::uint64_t before = name(1, present - 1);  // what a register shows that does not count
};

using Names = std::vector<std::uint32_t>;

TEST_F(Losses, NothingIsKnownOfASlotAtFirst) {
  EXPECT_EQ(fate(1, 0), OAE_FATE_PENDING);
  EXPECT_EQ(fate(1, name(9, present - 1)), OAE_FATE_PENDING) << "another epoch";
  EXPECT_EQ(fetched(), Names{});
}

TEST_F(Losses, ADeliveryIsThatOfAllSlotsBeforeIt) {
  EXPECT_EQ(fate(4, name(5)), OAE_FATE_DELIVERED);
  EXPECT_EQ(fate(5, name(5)), OAE_FATE_DELIVERED);
  EXPECT_EQ(fate(6, name(5)), OAE_FATE_PENDING);
}

TEST_F(Losses, ASlotIsLostThoughLaterOnesAreDelivered) {
  EXPECT_TRUE(lose_two(name(3), name(5)));
  EXPECT_EQ(losses.slots, 2u);
  EXPECT_EQ(losses.remotes, 0u);
  const unsigned fates[] = {OAE_FATE_DELIVERED, OAE_FATE_LOST, OAE_FATE_DELIVERED, OAE_FATE_LOST,
                            OAE_FATE_DELIVERED};
  for (std::uint32_t i = 0; i < 5; ++i) EXPECT_EQ(fate(i + 2, name(6)), fates[i]) << i + 2;
  EXPECT_EQ(fate(6, name(2)), OAE_FATE_PENDING);
  EXPECT_EQ(fetched(), (Names{3, 5}));
  EXPECT_EQ(fate(3, name(6)), OAE_FATE_LOST) << "it was fetched";
}

TEST_F(Losses, OnlyTheNamesThatCountAreTaken) {
  EXPECT_FALSE(oae_losses_take(&losses, 0, name(1), name(2), name(3)));
  EXPECT_TRUE(oae_losses_take(&losses, 1, name(4), name(2), name(3)));
  EXPECT_EQ(fetched(), Names{4});
  EXPECT_EQ(losses.remote, 0u);
  EXPECT_TRUE(oae_losses_take(&losses, OAE_HOST_PORT_LOST_REMOTE_MASK, name(5), name(6), name(7)));
  EXPECT_EQ(fetched(), Names{7});
  EXPECT_EQ(losses.remote, 7u);
  EXPECT_EQ(losses.slots, 1u);
  EXPECT_EQ(losses.remotes, 1u);
}

TEST_F(Losses, ARemoteHasItsPlaceAmongTheSlots) {
  const std::uint64_t all = 2 | OAE_HOST_PORT_LOST_REMOTE_MASK;
  EXPECT_TRUE(oae_losses_take(&losses, all, name(13), name(12), name(11)));
  EXPECT_TRUE(oae_losses_take(&losses, all, name(23), name(21), name(22)));
  EXPECT_TRUE(oae_losses_take(&losses, all, name(32), name(31), name(33)));
  EXPECT_EQ(fetched(), (Names{11, 12, 13, 21, 22, 23, 31, 32, 33}));
}

TEST_F(Losses, ALossIsTakenOnceThoughItsAcknowledgementIsLost) {
  EXPECT_TRUE(lose_two(name(1), name(2)));
  EXPECT_FALSE(lose_two(name(1), name(2)));
  EXPECT_TRUE(lose_remote(name(3)));
  EXPECT_FALSE(lose_remote(name(3)));
  EXPECT_TRUE(lose_one(name(4)));
  EXPECT_FALSE(lose_one(name(4)));
  EXPECT_EQ(fetched(), (Names{1, 2, 3, 4}));
  EXPECT_EQ(losses.slots, 3u);
  EXPECT_EQ(losses.remotes, 1u);
}

TEST_F(Losses, OfAnEarlierEpochAreCountedOnly) {
  EXPECT_TRUE(lose_two(name(8, present - 1), name(1)));
  EXPECT_TRUE(lose_remote(name(9, present - 1)));
  EXPECT_EQ(losses.slots, 2u);
  EXPECT_EQ(losses.remotes, 1u);
  EXPECT_EQ(losses.remote, 0u);
  EXPECT_EQ(fetched(), Names{1});
  EXPECT_EQ(fate(8, 0), OAE_FATE_PENDING);
}

TEST_F(Losses, AnEpochForgetsThoseOfTheOneBefore) {
  for (std::uint32_t i = 1; i <= OAE_LOSSES_MAX; ++i) EXPECT_TRUE(lose_one(name(i)));
  EXPECT_TRUE(lose_remote(name(30)));
  ASSERT_NE(losses.forgotten, 0u);
  oae_losses_begin(&losses, present + 1, name(40));
  EXPECT_EQ(fetched(), Names{});
  EXPECT_EQ(losses.remote, 0u);
  for (std::uint32_t i = 1; i < 50; ++i) EXPECT_EQ(fate(i, name(40)), OAE_FATE_PENDING);
  EXPECT_EQ(losses.slots, OAE_LOSSES_MAX) << "counters go on";
}

TEST_F(Losses, ADeliveryOfLongAgoIsNoneOfAnEpochOfTheSameNumber) {
  oae_losses_begin(&losses, present, name(40));
  EXPECT_EQ(fate(1, name(40)), OAE_FATE_PENDING);
  EXPECT_EQ(fate(1, name(1)), OAE_FATE_DELIVERED);
}

TEST_F(Losses, TheOldestOnesMakeRoom) {
  for (std::uint32_t i = 1; i <= OAE_LOSSES_MAX + 3; ++i) EXPECT_TRUE(lose_one(name(10 * i)));
  EXPECT_EQ(losses.forgotten, 30u);
  const std::uint64_t delivered = name(1000);
  for (std::uint32_t i = 1; i <= 30; ++i)
    EXPECT_EQ(fate(i, delivered), OAE_FATE_LOST) << "nobody knows more of " << i;
  EXPECT_EQ(fate(31, delivered), OAE_FATE_DELIVERED);
  EXPECT_EQ(fate(40, delivered), OAE_FATE_LOST);
  Names left;
  for (std::uint32_t i = 4; i <= OAE_LOSSES_MAX + 3; ++i) left.push_back(10 * i);
  EXPECT_EQ(fetched(), left);
}

TEST_F(Losses, TheOldestOnesMakeRoomAfterTheyWereFetched) {
  for (std::uint32_t i = 1; i <= OAE_LOSSES_MAX - 1; ++i) EXPECT_TRUE(lose_one(name(i)));
  fetched();
  for (std::uint32_t i = 101; i <= 103; ++i) EXPECT_TRUE(lose_one(name(i)));
  EXPECT_EQ(losses.forgotten, 2u);
  EXPECT_EQ(fetched(), (Names{101, 102, 103}));
}

TEST_F(Losses, ANameIsFetchedByThatName) {
  EXPECT_TRUE(lose_two(name(1), name(2)));
  oae_losses_fetched(&losses, 2);
  EXPECT_EQ(oae_losses_next(&losses), 1u) << "it is not the oldest one";
  oae_losses_fetched(&losses, 1);
  oae_losses_fetched(&losses, 1);  // as another thread may do
  EXPECT_EQ(oae_losses_next(&losses), 2u);
  oae_losses_fetched(&losses, 2);
  oae_losses_fetched(&losses, 0);
  EXPECT_EQ(oae_losses_next(&losses), 0u);
}

TEST_F(Losses, AnotherRemoteEndsTheLossOfTheLastOne) {
  EXPECT_TRUE(lose_remote(name(5)));
  oae_losses_request(&losses, 5);
  EXPECT_EQ(losses.remote, 5u) << "it was lost before its commitment was noticed";
  oae_losses_request(&losses, 6);
  EXPECT_EQ(losses.remote, 0u);
  EXPECT_EQ(fate(5, 0), OAE_FATE_LOST);
}

TEST_F(Losses, SequencesWrap) {
  const std::uint32_t end = ~std::uint32_t{0};
  EXPECT_EQ(fate(end, name(1)), OAE_FATE_DELIVERED);
  EXPECT_EQ(fate(1, name(end)), OAE_FATE_PENDING);
  EXPECT_TRUE(
      oae_losses_take(&losses, 2 | OAE_HOST_PORT_LOST_REMOTE_MASK, name(2), name(1), name(end)));
  EXPECT_EQ(fetched(), (Names{end, 1, 2}));
  for (std::uint32_t i = 3; i < 3 + OAE_LOSSES_MAX; ++i) EXPECT_TRUE(lose_one(name(i)));
  EXPECT_EQ(losses.forgotten, 2u);
  EXPECT_EQ(fate(end - 1, name(100)), OAE_FATE_LOST);
  EXPECT_EQ(fate(2, name(100)), OAE_FATE_LOST);
  EXPECT_EQ(fate(100, name(100)), OAE_FATE_DELIVERED);
}

}  // namespace
