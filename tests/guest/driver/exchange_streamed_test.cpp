// SPDX-License-Identifier: Apache-2.0
// Swaps whose answers come in the completion of the read.
#include "tests/guest/driver/exchange.h"

namespace guest_test {
namespace {

class Streamed : public Exchange {
 protected:
  Streamed() { form = OAE_STREAMED; }
};

TEST_F(Streamed, EightStoresABarrierEightLoadsOneConfirmation) {
  EXPECT_EQ(swap(5), OAE_COMMITTED);
  EXPECT_EQ(accesses(),
            (std::vector<unsigned>{0x1000, 0x1008, 0x1010, 0x1018, 0x1020, 0x1028, 0x1030, 0x1038,
                                   Block::barrier, 0x1000, 0x1008, 0x1010, 0x1018, 0x1020, 0x1028,
                                   0x1030, 0x1038, 0x48}));
  EXPECT_EQ(answer.reads, 0u);
  EXPECT_EQ(answer.slot[1], 1001u);
  EXPECT_EQ(answer.slot[7], crc64_xz(answer.slot, 56));
  EXPECT_EQ(block.committed, (Pairs{{5, 1001}}));
  EXPECT_EQ(answer.issued, answer.stored + 1);
  EXPECT_EQ(answer.answered, answer.stored + 2);
  EXPECT_EQ(answer.committed, answer.stored + 3);
}

TEST_F(Streamed, NeedsNoBusMaster) {
  block.bus_master = false;
  EXPECT_EQ(swap(1), OAE_COMMITTED);
  EXPECT_EQ(swap(2, OAE_FLAG_MORE), OAE_COMMITTED);
  EXPECT_EQ(swap(3), OAE_COMMITTED);
  EXPECT_EQ(block.committed, host);
}

TEST_F(Streamed, NotReadyReportsTheAge) {
  block.firmware_offers = false;
  EXPECT_EQ(swap(1), OAE_NOT_TAKEN);
  EXPECT_EQ(status(), unsigned{OAE_STATUS_NOT_READY});
  EXPECT_EQ(answer.slot[1], 77u);
  EXPECT_EQ(answer.reads, 0u);
}

TEST_F(Streamed, NotReadyStaysWhenFirmwareOffersBetweenThePieces) {
  for (unsigned piece = 0; piece < 8; ++piece) {
    block.firmware_offers = false;
    const unsigned at = block.accesses() + 8 + piece;
    block.fault = [this, at](unsigned n) {
      if (n == at) block.firmware_offers = true;
      return Fault::NONE;
    };
    EXPECT_EQ(swap(1), piece == 0 ? OAE_COMMITTED : OAE_NOT_TAKEN);
    EXPECT_EQ(answer.reads, 0u) << "no doubt";
  }
  EXPECT_EQ(swap(2), OAE_COMMITTED);
  EXPECT_EQ(block.committed, host);
}

TEST_F(Streamed, ANothingThatIsNotWholeProvesNothing) {
  // Slice 0 alone says that nothing took place, as the answer of a block without Bus Master does.
  // The rest does not arrive.
  block.firmware_offers = false;
  block.fault = [](unsigned n) { return n > 8 ? Fault::COMPLETION_LOST : Fault::NONE; };
  EXPECT_EQ(swap(1, 0, 0), OAE_IN_DOUBT);
  block.fault = [](unsigned) { return Fault::NONE; };
  block.firmware_offers = true;
  EXPECT_EQ(settle(1), OAE_NOT_TAKEN) << "what was said stays";
  EXPECT_EQ(swap(2), OAE_COMMITTED);
  EXPECT_EQ(block.committed, host);
}

TEST_F(Streamed, DoubtIsSettledInItsForm) {
  block.fault = [](unsigned n) { return n == 10 ? Fault::COMPLETION_LOST : Fault::NONE; };
  EXPECT_EQ(swap(1, 0, 0), OAE_IN_DOUBT);
  accesses();
  EXPECT_EQ(settle(1), OAE_COMMITTED);
  EXPECT_EQ(accesses(), (std::vector<unsigned>{Block::barrier, 0x1000, 0x1008, 0x1010, 0x1018,
                                               0x1020, 0x1028, 0x1030, 0x1038, 0x48}));
  EXPECT_EQ(block.committed, host);
}

TEST_F(Streamed, TakesTurnsWithThePushedForm) {
  for (std::uint64_t word = 1; word <= 20; ++word) {
    form = word % 3 ? OAE_STREAMED : OAE_PUSHED;
    EXPECT_EQ(swap(word, word % 4 && word < 20 ? OAE_FLAG_MORE : 0), OAE_COMMITTED);
  }
  EXPECT_EQ(block.committed, host);
}

TEST_F(Streamed, AReadUnaskedDoesNotLetAPushedSwapBeDenied) {
  // The processor reads the write-combining page when the offer is there; then Bus Master is off.
  form = OAE_PUSHED;
  block.bus_master = false;
  block.fault = [this](unsigned n) {
    if (n == 8) block.read(block.stream);
    return Fault::NONE;
  };
  EXPECT_EQ(swap(1, 0, 1), OAE_IN_DOUBT);
  block.bus_master = true;
  EXPECT_EQ(settle(1), OAE_COMMITTED);
  EXPECT_EQ(block.committed, host);
}

TEST_F(Streamed, AReadUnaskedAfterNotReadySwapsNothing) {
  block.firmware_offers = false;
  EXPECT_EQ(swap(1), OAE_NOT_TAKEN);
  block.firmware_offers = true;
  block.read(block.stream + 0x38);
  EXPECT_EQ(swap(2), OAE_COMMITTED);
  EXPECT_EQ(block.committed, (Pairs{{2, 1001}}));
}

}  // namespace
}  // namespace guest_test
