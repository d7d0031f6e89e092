// SPDX-License-Identifier: Apache-2.0
// A block that is built with one port. The other tests have 64 ports, of which some are not in use.
#include <gtest/gtest.h>

#include "oae_registers.h"
#include "tests/rtl/block/fixture.h"

namespace {

TEST(SmallBlock, AWordCommandWaitsUntilAllWordsAreClear) {
  Fixture fixture(1);
  fixture.lose_power();
  fixture.post_put(OAE_FIRMWARE_WORD_OPERAND, 5);
  fixture.post_put(OAE_FIRMWARE_WORD_COMMAND,
                   OAE_PUT(OAE_FIRMWARE_WORD_COMMAND_ACCESS, OAE_WORD_ACCESS_WRITE) | 3);
  fixture.post_put(OAE_FIRMWARE_WORD_COMMAND,
                   OAE_PUT(OAE_FIRMWARE_WORD_COMMAND_ACCESS, OAE_WORD_ACCESS_READ) | 3);
  fixture.drain();
  EXPECT_EQ(fixture.get(OAE_FIRMWARE_WORD_RESULT), 5u);
}

TEST(SmallBlock, Swaps) {
  Fixture fixture(1);
  fixture.write(0, OAE_HOST_PORT_CONTROL_AT(0), 1);
  for (std::uint32_t sequence = 1; sequence < 10; ++sequence) {
    Header header;
    header.epoch = 1;
    header.sequence = sequence;
    const Slot offer = make_slot(header, 2 * sequence);
    const Slot answer = make_slot(header, 2 * sequence + 1);
    fixture.publish(0, answer);
    fixture.write_slot(0, offer);
    EXPECT_EQ(fixture.stream(0), answer);
    fixture.confirm(0, 1, sequence);
    for (unsigned i = 0; i < 8; ++i) {
      EXPECT_EQ(fixture.get(OAE_FIRMWARE_COMMITTED_AT(0) + 8 * i), offer[i]);
    }
    fixture.put(OAE_FIRMWARE_COMMAND_AT(0), OAE_FIRMWARE_COMMAND_TAKE_MASK);
  }
}

}  // namespace
