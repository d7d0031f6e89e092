// SPDX-License-Identifier: Apache-2.0
// The registers of a link's end, and what is refused.
#include "tests/rtl/link/pair.h"

namespace window {
namespace {

class Registers : public Pair {
 protected:
  bool refused(End& end) {
    const bool was = (get(end, OAE_WINDOW_EVENT) & OAE_WINDOW_EVENT_REFUSED_MASK) != 0;
    put(end, OAE_WINDOW_EVENT, OAE_WINDOW_EVENT_REFUSED_MASK);
    return was;
  }
};

TEST_F(Registers, ResetValues) {
  const std::uint64_t id = get(*a, OAE_WINDOW_ID);
  EXPECT_EQ(id & 0xffffffff, 0x4c45414fu);
  EXPECT_EQ(OAE_GET(id, OAE_WINDOW_ID_VERSION), 2u);
  EXPECT_EQ(OAE_GET(id, OAE_WINDOW_ID_SLICES), slices);
  EXPECT_EQ(OAE_GET(id, OAE_WINDOW_ID_SLOTS), ring);
  EXPECT_EQ(get(*a, OAE_WINDOW_LIMITS), 0x800001000u);
  for (unsigned address = OAE_WINDOW_LIVENESS; address <= OAE_WINDOW_COUNT_STRAY; address += 8) {
    if (address == OAE_WINDOW_ALIVE) continue;  // has an age
    EXPECT_EQ(get(*a, address), 0u) << std::hex << address;
    EXPECT_FALSE(a->error);
  }
}

TEST_F(Registers, SettingsAreReadBackByteByByte) {
  for (const unsigned address : {OAE_WINDOW_LIVENESS, OAE_WINDOW_VERDICT}) {
    for (const unsigned first : {0xa5, 0x5a}) {
      put(*a, address, 0);
      for (unsigned byte = 0; byte < 4; ++byte) {
        put(*a, address, (first + byte) * 0x0101010101010101, 1u << byte);
        EXPECT_EQ(get(*a, address) >> 8 * byte & 0xff, first + byte);
      }
    }
  }
}

TEST_F(Registers, ASilenceHasALimitThatTheHoldOffOutlasts) {
  put(*a, OAE_WINDOW_LIMITS, 0x0300001234);
  EXPECT_EQ(get(*a, OAE_WINDOW_LIMITS), 0x0300001234u);
  put(*a, OAE_WINDOW_LIMITS, 0x56, 0x01);
  put(*a, OAE_WINDOW_LIMITS, 0x0700000000, 0x10);
  EXPECT_EQ(get(*a, OAE_WINDOW_LIMITS), 0x0700001256u);
  for (const unsigned bit : {13, 20, 31}) {
    put(*a, OAE_WINDOW_LIMITS, std::uint64_t{1} << bit | 5);
    EXPECT_EQ(get(*a, OAE_WINDOW_LIMITS), longest_silence) << bit;
  }
  put(*a, OAE_WINDOW_LIMITS, longest_silence - 1);
  EXPECT_EQ(get(*a, OAE_WINDOW_LIMITS), longest_silence - 1);
}

TEST_F(Registers, WhereThereIsNoRegisterIsAnError) {
  get(*a, OAE_WINDOW_COUNT_STRAY + 8);
  EXPECT_TRUE(a->error);
  get(*a, 0x1000);
  EXPECT_TRUE(a->error);
  put(*a, 0x7ff8, 1);
  EXPECT_TRUE(a->error);
  get(*a, OAE_WINDOW_SEND + 64 * ring);
  EXPECT_TRUE(a->error || ring * 64 < 4096 || ring == 512);
  get(*a, OAE_WINDOW_RECEIVE);
  EXPECT_FALSE(a->error);
  put(*a, OAE_WINDOW_SEND, 1);
  EXPECT_FALSE(a->error);
  get(*a, 0x1f000);
  EXPECT_TRUE(a->error);
}

TEST_F(Registers, IndicesOutOfRangeAreRefused) {
  put(*a, OAE_WINDOW_OFFERED, ring - 1);
  EXPECT_FALSE(refused(*a));
  put(*a, OAE_WINDOW_OFFERED, ring);
  EXPECT_TRUE(refused(*a));
  EXPECT_EQ(offered(*a), ring - 1);
  put(*a, OAE_WINDOW_OFFERED, 0xffffffff);
  EXPECT_TRUE(refused(*a));
  put(*a, OAE_WINDOW_OFFERED, 2);  // what is not sent may be taken back
  EXPECT_FALSE(refused(*a));
  bring_up();
  EXPECT_EQ(settled(*a), 2u);
  put(*a, OAE_WINDOW_OFFERED, 1);
  EXPECT_TRUE(refused(*a));
  put(*a, OAE_WINDOW_OFFERED, 2 + ring);
  EXPECT_TRUE(refused(*a));
  put(*b, OAE_WINDOW_TAKEN, 3);
  EXPECT_TRUE(refused(*b));
  put(*b, OAE_WINDOW_TAKEN, 0xffffffff);
  EXPECT_TRUE(refused(*b));
  put(*b, OAE_WINDOW_TAKEN, 1);
  put(*b, OAE_WINDOW_TAKEN, 2);
  EXPECT_FALSE(refused(*b));
  put(*b, OAE_WINDOW_TAKEN, 1);  // it only grows
  EXPECT_TRUE(refused(*b));
  EXPECT_EQ(get(*b, OAE_WINDOW_TAKEN), 2u);
}

TEST_F(Registers, TheInterruptFollowsTheEvents) {
  put(*a, OAE_WINDOW_IRQ_ENABLE, OAE_WINDOW_EVENT_UP_MASK | OAE_WINDOW_EVENT_SETTLED_MASK);
  EXPECT_EQ(a->top.irq_o, 0);
  bring_up();
  EXPECT_EQ(a->top.irq_o, 1);
  put(*a, OAE_WINDOW_EVENT, OAE_WINDOW_EVENT_UP_MASK);
  EXPECT_EQ(a->top.irq_o, 0);
  offer(*a, 1, 1);
  rest();
  EXPECT_EQ(a->top.irq_o, 1);
  EXPECT_EQ(get(*a, OAE_WINDOW_EVENT) & OAE_WINDOW_EVENT_SETTLED_MASK,
            unsigned{OAE_WINDOW_EVENT_SETTLED_MASK});
  put(*a, OAE_WINDOW_EVENT, 0xff);
  EXPECT_EQ(a->top.irq_o, 0);
}

TEST_F(Registers, UnknownCommandsDoNothing) {
  bring_up();
  offer(*a, 1, 1);
  rest();
  for (unsigned verb = 5; verb < 256; verb += 50) command(*a, verb);
  rest();
  EXPECT_EQ(settled(*a), 1u);
  EXPECT_TRUE(is_up());
}

}  // namespace
}  // namespace window
