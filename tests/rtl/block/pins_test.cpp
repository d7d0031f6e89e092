// SPDX-License-Identifier: Apache-2.0
// Bytes that a request does not enable, and requests that look like another: neither has an effect.
#include <gtest/gtest.h>

#include "tests/rtl/block/block_fixture.h"

namespace {

/// The pins of requests keep what they had where a request does not write (fixture.cpp).
class Pins : public Block {
 protected:
  static constexpr unsigned page = port * OAE_PORT_SIZE;

  std::uint64_t confirms() { return confirmation(slot(1, 0)[0]); }
};

TEST_F(Pins, AWriteBesideTheBitNeitherOpensNorCloses) {
  fixture.write(registers, OAE_HOST_PORT_CONTROL_AT(port), 1);
  fixture.write(registers, OAE_HOST_PORT_CONTROL_AT(port) + 1, 0, 1);
  EXPECT_EQ(state(), OAE_PORT_STATE_IDLE) << "while the pins would open";
  fixture.write(registers, OAE_HOST_PORT_CONTROL_AT(port), 0);
  fixture.write(registers, OAE_HOST_PORT_CONTROL_AT(port), 1);
  fixture.write(registers, OAE_HOST_PORT_CONTROL_AT(0), 0);
  fixture.write(registers, OAE_HOST_PORT_CONTROL_AT(port) + 1, 0, 1);
  EXPECT_EQ(state(), OAE_PORT_STATE_IDLE) << "while the pins would close";
}

TEST_F(Pins, AnOpenThatNamesNoEpochBeginsTheFirst) {
  fixture.write(registers, OAE_HOST_PORT_CONTROL_AT(port) + 1, 0x77, 1);
  fixture.write(registers, OAE_HOST_PORT_CONTROL_AT(port), 1, 1);
  EXPECT_EQ(OAE_GET(status(), OAE_FIRMWARE_STATUS_EPOCH), 1u);
}

TEST_F(Pins, AReadOfTheControlRegisterClosesNothing) {
  open();
  swap(1);
  fixture.write(registers, OAE_HOST_PORT_CONTROL_AT(0), 0);
  fixture.read(registers, OAE_HOST_PORT_CONTROL_AT(port));
  EXPECT_EQ(state(), OAE_PORT_STATE_TENTATIVE);
}

TEST_F(Pins, AReadOfARegisterConfirmsNothing) {
  open();
  swap(1);
  const std::uint64_t word = confirms();
  fixture.post_write(pages, page + OAE_PORT_CONFIRM, &word, 7);
  fixture.drain();
  EXPECT_EQ(state(), OAE_PORT_STATE_TENTATIVE) << "a byte of it is missing";
  fixture.post_write(pages, page + OAE_PORT_CONFIRM + 7, reinterpret_cast<const char*>(&word) + 7,
                     1);
  fixture.read(pages, page + OAE_PORT_CONFIRM);
  EXPECT_EQ(state(), OAE_PORT_STATE_TENTATIVE);
}

TEST_F(Pins, AConfirmationBelongsIntoItsRegister) {
  open();
  swap(1);
  const unsigned at = OAE_PORT_CONFIRM % 64;
  fixture.write(pages, page + OAE_PORT_WINDOW + at, confirms());
  fixture.write(registers, OAE_HOST_PORT_CONTROL_AT(port) + at, confirms());
  fixture.put(OAE_FIRMWARE_OFFER_AT(port) + at, confirms());
  fixture.put(OAE_FIRMWARE_COMMAND_AT(port) + at, confirms());
  EXPECT_EQ(state(), OAE_PORT_STATE_TENTATIVE);
  fixture.write(pages, page + OAE_PORT_CONFIRM, confirms());
  EXPECT_EQ(state(), OAE_PORT_STATE_COMMITTED);
}

TEST_F(Pins, AReadOfNoByteIsNoInteraction) {
  open();
  fixture.publish(port, slot(1, 10));
  fixture.write_slot(port, slot(1, 20));
  for (const unsigned bar : {pages, streams}) {
    fixture.post_read(bar, page, 0);
    fixture.drain();
    EXPECT_EQ(state(), OAE_PORT_STATE_IDLE);
  }
  EXPECT_EQ(fixture.answer(port), slot(1, 10)[0]);
}

}  // namespace
