// SPDX-License-Identifier: Apache-2.0
#include "firmware/services/swap_service.h"

#include <gtest/gtest.h>

#include "tests/firmware/mmio_mock.h"
#include "tests/firmware/swap_block.h"

namespace {

constexpr std::uintptr_t base = 0x0c00'0000;
constexpr std::uint64_t every = ~std::uint64_t{0};  // port

struct Block : SwapBlock, MmioDevice {
  explicit Block(unsigned number) : SwapBlock(number), MmioDevice(base, OAE_FIRMWARE_SIZE) {}
  std::uint64_t read(std::uintptr_t offset) override { return SwapBlock::read(offset); }
  void write(std::uintptr_t offset, std::uint64_t value) override {
    SwapBlock::write(offset, value);
  }
};

struct SwapServiceTest : testing::Test {
  Block block{8};
  swap_service service;

  void init() { ASSERT_TRUE(swap_service_init(&service, base, nullptr)); }
  /// Serves until the block has no more events.
  void settle() {
    for (unsigned i = 0; swap_service_serve(&service, every); ++i)
      ASSERT_LT(i, 10u) << "never settles";
  }
};

TEST_F(SwapServiceTest, RefusesWhatIsNoBlock) {
  block.magic = 0;
  EXPECT_FALSE(swap_service_init(&service, base, nullptr));
  block.magic = OAE_GET(OAE_FIRMWARE_ID_RESET, OAE_FIRMWARE_ID_MAGIC);
  for (unsigned count : {0u, 65u, 255u}) {
    block.count = count;
    EXPECT_FALSE(swap_service_init(&service, base, nullptr)) << count;
  }
}

TEST_F(SwapServiceTest, EnablesThePortsThatThereAre) {
  for (unsigned count : {1u, 8u, 63u, 64u}) {
    block.count = count;
    init();
    EXPECT_EQ(block.irq_enable, ~std::uint64_t{0} >> (64 - count));
    EXPECT_EQ(service.count, count);
  }
  EXPECT_FALSE(block.liveness.empty()) << "a sign of life from the start";
}

std::uint64_t range(unsigned first, unsigned count) {
  return OAE_PUT(OAE_FIRMWARE_WORDS_FIRST, first) | OAE_PUT(OAE_FIRMWARE_WORDS_COUNT, count);
}

TEST_F(SwapServiceTest, GivesAllPortsAllWordsByDefault) {
  init();
  swap_service_share_words(&service, 0);
  for (unsigned n = 0; n < 8; ++n) EXPECT_EQ(block.ports[n].words, range(0, 256)) << n;
}

TEST_F(SwapServiceTest, GivesEachPortWordsOfItsOwnWhileThereAreAny) {
  init();
  swap_service_share_words(&service, 40);
  for (unsigned n = 0; n < 6; ++n) EXPECT_EQ(block.ports[n].words, range(40 * n, 40)) << n;
  EXPECT_EQ(block.ports[6].words, range(240, 16));
  EXPECT_EQ(OAE_GET(block.ports[7].words, OAE_FIRMWARE_WORDS_COUNT), 0u);
}

// The service acknowledges the event of it anyway.
TEST_F(SwapServiceTest, SeesWhatHappensAgainMeanwhile) {
  init();
  block.open(3);
  block.close(3);
  block.meanwhile = [&] { block.open(3); };
  settle();
  EXPECT_TRUE(block.ports[3].offered) << "opened twice";
  block.exchange(3, 1);
  block.reverse(3);
  settle();
  ASSERT_TRUE(block.ports[3].offered);
  block.ports[3].events |= OAE_FIRMWARE_EVENT_REVERSED_MASK;
  block.meanwhile = [&] {  // the next swap is reversed, and with it the offer
    ++block.ports[3].next;
    block.ports[3].offered = false;
    block.reverse(3);
  };
  settle();
  EXPECT_TRUE(block.ports[3].offered) << "reversed twice";
}

TEST_F(SwapServiceTest, OffersOnAnOpenPortOnly) {
  init();
  EXPECT_FALSE(swap_service_serve(&service, every));
  block.open(3);
  settle();
  for (unsigned n = 0; n < 8; ++n) EXPECT_EQ(block.ports[n].offered, n == 3) << n;
  const Slot& slot = block.ports[3].published.at(0);
  EXPECT_EQ(slot[0], header(1, 1));
  EXPECT_EQ(slot[1], 0u) << "committed";
  EXPECT_EQ(slot[2], 1u) << "sequence";
  EXPECT_EQ(slot[3], service.liveness);
  for (unsigned i : {4u, 5u, 6u}) EXPECT_EQ(slot[i], 0u) << i;
  block.close(3);
  settle();
  EXPECT_FALSE(block.ports[3].offered);
}

TEST_F(SwapServiceTest, TakesOverABlockWithOpenPorts) {
  block.open(0);
  block.open(7);
  block.ports[7].events = 0;  // another firmware has seen it
  init();
  EXPECT_TRUE(block.ports[0].offered);
  EXPECT_TRUE(block.ports[7].offered);
  EXPECT_EQ(block.irq_status(), 0u);
}

TEST_F(SwapServiceTest, SwapsInSequence) {
  init();
  block.open(2);
  settle();
  for (std::uint64_t i = 1; i <= 100; ++i) {
    block.exchange(2, 1000 + i);
    settle();
    EXPECT_TRUE(block.ports[2].offered) << "the next offer does not wait for the confirmation";
    block.confirm(2);
    settle();
    EXPECT_EQ(block.ports[2].taken, i);
    EXPECT_EQ(service.ports[2].exchanged, i);
    EXPECT_EQ(service.ports[2].committed, i);
    const Slot& next = block.ports[2].published.at(i);
    EXPECT_EQ(next[0], header(1, static_cast<std::uint32_t>(i + 1)));
    EXPECT_EQ(next[1], i - 1) << "made before the confirmation";
    EXPECT_EQ(next[2], i + 1);
    EXPECT_EQ(next[4], i == 1 ? 0 : 1000 + i - 1);
  }
  EXPECT_EQ(service.ports[2].bad_offers, 0u);
}

TEST_F(SwapServiceTest, TakesAndPublishesWhenBothCameAtOnce) {
  init();
  block.open(0);
  settle();
  block.exchange(0, 77);
  block.confirm(0);
  EXPECT_TRUE(swap_service_serve(&service, every));
  EXPECT_EQ(block.ports[0].taken, 1u);
  EXPECT_TRUE(block.ports[0].offered);
  EXPECT_EQ(block.ports[0].published.back()[1], 1u) << "the offer knows of the commit";
  EXPECT_EQ(block.ports[0].published.back()[4], 77u);
}

TEST_F(SwapServiceTest, AnEventThatComesAfterTheStatusIsServedNext) {
  init();
  block.open(0);
  settle();
  block.exchange(0, 77);
  block.meanwhile = [&] { block.confirm(0); };
  EXPECT_TRUE(swap_service_serve(&service, every));
  EXPECT_EQ(block.ports[0].events, OAE_FIRMWARE_EVENT_COMMITTED_MASK) << "not acknowledged unseen";
  settle();
  EXPECT_EQ(block.ports[0].taken, 1u);
  EXPECT_EQ(service.ports[0].committed, 1u);
}

TEST_F(SwapServiceTest, CountsReversals) {
  init();
  block.open(0);
  settle();
  block.exchange(0, 1);
  settle();
  block.reverse(0);
  settle();
  EXPECT_EQ(service.ports[0].reversed, 1u);
  EXPECT_EQ(service.ports[0].committed, 0u);
}

TEST_F(SwapServiceTest, OffersAnewWhenThePortIsOpenedInBetween) {
  init();
  block.open(5);
  // The port is opened again after the status was read, so the acknowledged event belongs to
  // another epoch.
  block.meanwhile = [&] { block.open(5); };
  settle();
  EXPECT_TRUE(block.ports[5].offered);
  EXPECT_EQ(block.ports[5].published.back()[0], header(2, 1));
}

TEST_F(SwapServiceTest, OffersAnewWhenAnOfferWasOvertaken) {
  init();
  block.open(5);
  block.ports[5].refuse = true;
  EXPECT_TRUE(swap_service_serve(&service, every));
  EXPECT_FALSE(block.ports[5].offered);
  block.ports[5].refuse = false;
  block.open(5);
  settle();
  EXPECT_TRUE(block.ports[5].offered);
  EXPECT_EQ(service.ports[5].bad_offers, 1u);
}

TEST_F(SwapServiceTest, OffersAtOnceOnAPortOpenedAfterARefusal) {
  init();
  block.ports[5].refuse = true;
  block.open(5);
  settle();
  block.ports[5].refuse = false;
  block.open(5);
  settle();
  EXPECT_TRUE(block.ports[5].offered);
}

TEST_F(SwapServiceTest, RepeatsARefusedOfferOnlyWhenAskedTo) {
  init();
  block.ports[1].refuse = true;
  block.open(1);
  settle();
  EXPECT_EQ(service.ports[1].bad_offers, 1u) << "no endless repetition";
  swap_service_retry(&service, every);
  settle();
  EXPECT_EQ(service.ports[1].bad_offers, 2u);
  block.ports[1].refuse = false;
  swap_service_retry(&service, every);
  settle();
  EXPECT_TRUE(block.ports[1].offered);
  EXPECT_EQ(service.ports[1].bad_offers, 2u);
}

TEST_F(SwapServiceTest, ServesEveryPortThatWaits) {
  block.count = 64;
  init();
  for (unsigned n = 0; n < 64; ++n) block.open(n);
  EXPECT_TRUE(swap_service_serve(&service, every));
  for (unsigned n = 0; n < 64; ++n) EXPECT_TRUE(block.ports[n].offered) << n;
}

// Each core serves its own ports.
TEST_F(SwapServiceTest, ServesThePortsThatItIsAskedTo) {
  block.count = 64;
  init();
  for (unsigned n = 0; n < 64; ++n) block.open(n);
  for (std::uint64_t ports : {std::uint64_t{1}, std::uint64_t{0x8000'0000'0000'0002}}) {
    EXPECT_TRUE(swap_service_serve(&service, ports));
    EXPECT_FALSE(swap_service_serve(&service, ports));
  }
  EXPECT_FALSE(swap_service_serve(&service, 0));
  for (unsigned n = 0; n < 64; ++n) EXPECT_EQ(block.ports[n].offered, n < 2 || n == 63) << n;
  block.ports[7].refuse = true;
  EXPECT_TRUE(swap_service_serve(&service, every));
  while (swap_service_serve(&service, every))
    ;
  block.ports[7].refuse = false;
  swap_service_retry(&service, every & ~(1u << 7));
  EXPECT_FALSE(block.ports[7].offered);
  swap_service_retry(&service, 1u << 7);
  EXPECT_TRUE(block.ports[7].offered);
}

TEST_F(SwapServiceTest, LeavesAPortToACoreThatBorrowsIt) {
  block.count = 64;
  init();
  for (const std::uint64_t ports :
       {std::uint64_t{1} << 3, std::uint64_t{1} << 63, every, std::uint64_t{6}}) {
    ASSERT_TRUE(swap_service_borrow(&service, ports));
    EXPECT_FALSE(swap_service_lends(&service));
    swap_service_retry(&service, every);
    EXPECT_TRUE(swap_service_lends(&service));
    EXPECT_EQ(block.irq_enable, ~ports);
    for (unsigned n = 0; n < 64; ++n) block.open(n);
    settle();
    swap_service_retry(&service, every);
    for (unsigned n = 0; n < 64; ++n) EXPECT_EQ(block.ports[n].offered, !(ports >> n & 1)) << n;
    // The other core has acknowledged all events.
    for (auto& port : block.ports) port.events = 0;
    ASSERT_TRUE(swap_service_borrow(&service, 0));
    settle();
    EXPECT_TRUE(swap_service_lends(&service));
    EXPECT_EQ(block.irq_enable, every);
    for (unsigned n = 0; n < 64; ++n) EXPECT_TRUE(block.ports[n].offered) << n;
  }
}

TEST_F(SwapServiceTest, LendsWhenEachCoreHasGivenItsPorts) {
  init();
  ASSERT_TRUE(swap_service_borrow(&service, 0x3c));
  swap_service_serve(&service, 0x0f);
  EXPECT_FALSE(swap_service_lends(&service));
  EXPECT_EQ(block.irq_enable, 0xf3u);
  swap_service_serve(&service, 0xf0);
  EXPECT_TRUE(swap_service_lends(&service));
  EXPECT_EQ(block.irq_enable, 0xc3u);
  ASSERT_TRUE(swap_service_borrow(&service, 0x81));
  swap_service_serve(&service, 0x0f);
  EXPECT_FALSE(swap_service_lends(&service));
  swap_service_serve(&service, 0xf0);
  EXPECT_TRUE(swap_service_lends(&service));
  EXPECT_EQ(block.irq_enable, 0x7eu);
}

TEST_F(SwapServiceTest, LendsOnlyWhatItHas) {
  init();
  EXPECT_FALSE(swap_service_borrow(&service, 0x100));
  EXPECT_FALSE(swap_service_borrow(&service, every));
  EXPECT_TRUE(swap_service_borrow(&service, 0xff));
  const swap_partner partner{0x10, 0, nullptr, nullptr, nullptr, nullptr};
  service.partner = &partner;
  EXPECT_FALSE(swap_service_borrow(&service, 0x30)) << "a joined port";
  EXPECT_TRUE(swap_service_borrow(&service, 0xef));
}

TEST_F(SwapServiceTest, LeavesBridgedPortsAlone) {
  const swap_partner partner{0, 0x30, nullptr, nullptr, nullptr, nullptr};
  block.open(4);
  block.open(3);
  ASSERT_TRUE(swap_service_init(&service, base, &partner));
  EXPECT_EQ(block.irq_enable, 0xcfu);
  block.open(5);
  settle();
  EXPECT_TRUE(block.ports[3].offered);
  for (const unsigned n : {4u, 5u}) {
    EXPECT_FALSE(block.ports[n].offered) << n;
    EXPECT_EQ(block.ports[n].events, OAE_FIRMWARE_EVENT_OPENED_MASK) << n;
  }
  EXPECT_FALSE(swap_service_borrow(&service, 0x18)) << "a bridged port";
  ASSERT_TRUE(swap_service_borrow(&service, 0x08));
  swap_service_serve(&service, every);
  EXPECT_EQ(block.irq_enable, 0xc7u);
}

// A partner with a payload for each swap, unless it has none at all.
struct Partner {
  bool empty = false;
  std::uint64_t payload[SWAP_PAYLOAD_WORDS] = {1};
  swap_partner partner{0x10,
                       0,
                       this,
                       [](void* self, unsigned) -> const std::uint64_t* {
                         const auto& own = *static_cast<Partner*>(self);
                         return own.empty ? nullptr : own.payload;
                       },
                       [](void* self, unsigned) { ++static_cast<Partner*>(self)->payload[0]; },
                       [](void*, unsigned, std::uintptr_t) { return true; }};
};

// The end of a swap of words is no event, whether it comes late or while the port is served.
TEST_F(SwapServiceTest, OffersAPartnersPayloadBehindASwapOfWords) {
  Partner partner;
  block.open(4);
  ASSERT_TRUE(swap_service_init(&service, base, &partner.partner));
  EXPECT_TRUE(block.ports[4].offered);
  for (const bool meanwhile : {false, true, false}) {
    block.use_words(4);
    if (meanwhile) block.meanwhile = [this] { block.confirm_words(4); };
    settle();
    if (!meanwhile) block.confirm_words(4);
    settle();
    ASSERT_TRUE(block.ports[4].offered);
    EXPECT_EQ(block.ports[4].published.back()[1], 1u);
  }
}

// Neither is it if the payload comes just then.
TEST_F(SwapServiceTest, OffersAPartnersPayloadWhenASwapOfWordsEndsMeanwhile) {
  Partner partner;
  partner.empty = true;
  block.open(4);
  ASSERT_TRUE(swap_service_init(&service, base, &partner.partner));
  block.use_words(4);
  settle();
  EXPECT_FALSE(block.ports[4].offered);
  partner.empty = false;
  block.meanwhile = [this] { block.confirm_words(4); };
  swap_service_serve_port(&service, 4);
  EXPECT_TRUE(block.ports[4].offered);
}

// A payload that is in a tentative swap may return, and one that was committed is used up.
TEST_F(SwapServiceTest, OffersAPartnersPayloadOnce) {
  Partner partner;
  block.open(4);
  ASSERT_TRUE(swap_service_init(&service, base, &partner.partner));
  for (const bool meanwhile : {false, true, false}) {
    const std::uint64_t payload = partner.payload[0];
    EXPECT_EQ(block.ports[4].published.back()[1], payload);
    block.exchange(4, 7);
    if (meanwhile) block.meanwhile = [this] { block.confirm(4); };
    settle();
    if (!meanwhile) {
      EXPECT_FALSE(block.ports[4].offered);
      block.confirm(4);
      settle();
    }
    EXPECT_TRUE(block.ports[4].offered);
    EXPECT_EQ(block.ports[4].published.back()[1], payload + 1);
  }
  EXPECT_EQ(block.ports[4].published.size(), 4u);
}

TEST_F(SwapServiceTest, GivesSignsOfLife) {
  init();
  const std::uint32_t first = block.liveness.back();
  swap_service_tick(&service, 1);
  swap_service_tick(&service, 3);
  EXPECT_EQ(block.liveness.back(), first + 4);
  service.liveness = 0xffff'ffff;
  swap_service_tick(&service, 1);
  EXPECT_EQ(block.liveness.back(), 0u) << "it wraps";
}

}  // namespace
