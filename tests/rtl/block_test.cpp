// SPDX-License-Identifier: Apache-2.0
// Every register, and every step of a swap, with what the design says of it. The bench compares
// each result with the reference block besides.
#include <gtest/gtest.h>

#include <functional>
#include <vector>

#include "oae_registers.h"
#include "tests/rtl/bench.h"

namespace {

// BARs
constexpr unsigned registers = 0;
constexpr unsigned pages = 2;
constexpr unsigned streams = 4;
constexpr std::uint64_t all = ~std::uint64_t{0};

class Block : public testing::Test {
 protected:
  static constexpr unsigned port = 3;
  static constexpr std::uint64_t cell = 0x89ab'cdef'0123'4540;

  void open(unsigned number = port) {
    bench.write(registers, OAE_HOST_PORT_CELL_AT(number), cell);
    bench.write(registers, OAE_HOST_PORT_CONTROL_AT(number), 1);
  }
  void close() { bench.write(registers, OAE_HOST_PORT_CONTROL_AT(port), 0); }

  static Slot slot(std::uint32_t sequence, std::uint64_t seed, std::uint8_t flags = 0,
                   std::uint8_t epoch = 1) {
    Header header;
    header.epoch = epoch;
    header.sequence = sequence;
    header.flags = flags;
    return make_slot(header, seed);
  }
  /// One swap up to its answer.
  void swap(std::uint32_t sequence, std::uint8_t flags = 0) {
    bench.publish(port, slot(sequence, 100 + sequence));
    bench.write_slot(port, slot(sequence, 200 + sequence, flags));
    EXPECT_EQ(bench.answer(port), slot(sequence, 100 + sequence)[0]);
  }
  std::uint64_t state() { return bench.read(pages, port * OAE_PORT_SIZE + OAE_PORT_STATUS) & 0xff; }
  std::uint64_t status() { return bench.get(OAE_FIRMWARE_STATUS_AT(port)); }
  std::uint64_t event() { return bench.get(OAE_FIRMWARE_EVENT_AT(port)); }
  void take() { bench.put(OAE_FIRMWARE_COMMAND_AT(port), OAE_FIRMWARE_COMMAND_TAKE_MASK); }
  Slot committed() { return slots(OAE_FIRMWARE_COMMITTED_AT(port)); }
  Slot tentative() { return slots(OAE_FIRMWARE_TENTATIVE_AT(port)); }
  Slot slots(unsigned address) {
    Slot slot;
    for (unsigned i = 0; i < 8; ++i) slot[i] = bench.get(address + 8 * i);
    return slot;
  }
  std::uint64_t counter(unsigned address) { return bench.read(registers, address); }

  Bench bench{8};
};

// Registers of the host

TEST_F(Block, SaysWhatItIs) {
  const std::uint64_t id = bench.read(registers, OAE_HOST_ID);
  EXPECT_EQ(OAE_GET(id, OAE_HOST_ID_MAGIC), 0x3145414fu);
  EXPECT_EQ(OAE_GET(id, OAE_HOST_ID_VERSION), 1u);
  EXPECT_EQ(OAE_GET(id, OAE_HOST_ID_PORTS), 8u);
  EXPECT_EQ(bench.get(OAE_FIRMWARE_ID), id);
  EXPECT_EQ(bench.read(registers, OAE_HOST_FEATURES), 0x203u) << "pushed, streamed; SWAP alone";
  EXPECT_EQ(bench.read(registers, OAE_HOST_CLOCK), 500'000u);
  bench.write(registers, OAE_HOST_ID, all);
  EXPECT_EQ(bench.read(registers, OAE_HOST_ID), id);
}

TEST_F(Block, RegistersThatKeepWhatIsWritten) {
  const struct {
    unsigned offset;
    std::uint64_t reset;
    std::uint64_t kept;
  } kept[] = {
      {OAE_HOST_LIVENESS_LIMIT, 0xffff'ffff, 0xffff'ffff},
      {OAE_HOST_PORT_CELL_AT(port), 0, ~std::uint64_t{63}},
      {OAE_HOST_PORT_EVENT_AT(port), 0, 0x7'ffff},
      {OAE_HOST_PORT_TENTATIVE_LIMIT_AT(port), 0xffff'ffff, 0xffff'ffff},
  };
  for (const auto& item : kept) {
    // The one-shot is taken for what it is.
    const std::uint64_t mask = item.kept == 0x7'ffff ? 0x3'ffff : item.kept;
    EXPECT_EQ(bench.read(registers, item.offset), item.reset) << item.offset;
    bench.write(registers, item.offset, 0);
    EXPECT_EQ(bench.read(registers, item.offset), 0u) << item.offset;
    bench.write(registers, item.offset, all);
    EXPECT_EQ(bench.read(registers, item.offset), mask) << item.offset;
    // One byte at a time
    bench.write(registers, item.offset, 0);
    std::uint64_t expected = 0;
    for (unsigned byte = 0; byte < 8; ++byte) {
      bench.write(registers, item.offset + byte, 0xa5, 1);
      expected |= std::uint64_t{0xa5} << 8 * byte;
      EXPECT_EQ(bench.read(registers, item.offset), expected & mask) << item.offset + byte;
    }
  }
}

TEST_F(Block, RegistersThatDoNot) {
  for (const unsigned offset : std::initializer_list<unsigned>{
           OAE_HOST_PORT_STATE_AT(port), OAE_HOST_PORT_COMMITTED_AT(port),
           OAE_HOST_PORT_NOT_READY_AT(port), OAE_HOST_PORT_REJECTED_AT(port), OAE_HOST_ID,
           OAE_HOST_FEATURES, OAE_HOST_CLOCK}) {
    const std::uint64_t before = bench.read(registers, offset);
    bench.write(registers, offset, ~before);
    EXPECT_EQ(bench.read(registers, offset), before) << offset;
  }
}

TEST_F(Block, AddressesWithoutARegister) {
  // Between and behind the registers, and of ports that are not in use; the bench compares.
  for (const unsigned line : {1u, 63u, 65u, 127u, 64u + 16u, 64u + 127u, 192u, 255u}) {
    const Slot ones{all, all, all, all, all, all, all, all};
    bench.post_write(registers, line * 64, ones.data(), 64);
    bench.post_read(registers, line * 64, 64);
    bench.drain();
  }
  for (const unsigned page : {0u, 7u, 8u, 63u}) {
    for (const unsigned line : {2u, 62u, 63u}) {
      const Slot ones{all, all, all, all, all, all, all, all};
      for (const unsigned bar : {pages, streams}) {
        bench.post_write(bar, page * OAE_PORT_SIZE + line * 64, ones.data(), 64);
        EXPECT_EQ(bench.read(bar, page * OAE_PORT_SIZE + line * 64), 0u);
      }
    }
  }
  EXPECT_EQ(bench.read(pages, 8 * OAE_PORT_SIZE + OAE_PORT_PUSHED_ANSWER), 0u) << "port 8 of 8";
  EXPECT_EQ(bench.stream(8), Slot{});
  EXPECT_EQ(bench.cells, 0u);
  for (const unsigned address : std::initializer_list<unsigned>{
           0x20u, 0x38u, 0x40u, 0xfff8u, OAE_FIRMWARE_OFFER_AT(0) + 0x58u,
           OAE_FIRMWARE_OFFER_AT(7) + 0x78u, OAE_FIRMWARE_OFFER_AT(8), OAE_FIRMWARE_OFFER_AT(63),
           OAE_FIRMWARE_OFFER_AT(64), OAE_FIRMWARE_SIZE - 8u}) {
    EXPECT_EQ(bench.get(address), 0u);
    EXPECT_TRUE(bench.error) << std::hex << address;
    bench.put(address, all);
    EXPECT_TRUE(bench.error) << std::hex << address;
  }
  bench.get(OAE_FIRMWARE_OFFER_AT(7) + 0xf8);
  EXPECT_FALSE(bench.error);
}

TEST_F(Block, ReadsAWholeLineOfRegisters) {
  open();
  bench.write(registers, OAE_HOST_PORT_EVENT_AT(port), 5);
  bench.read(registers, OAE_HOST_PORT_CONTROL_AT(port), 64);
  bench.read(registers, OAE_HOST_ID, 64);
  bench.read(registers, OAE_HOST_PORT_CELL_AT(port) + 3, 42);
  // All of a page's registers in one read: the interaction is one of them.
  swap(1);
  const std::uint64_t cells = bench.cells;
  bench.read(pages, port * OAE_PORT_SIZE + OAE_PORT_PUSHED_ANSWER, 64);
  EXPECT_EQ(bench.cells, cells + 1);
  bench.read(pages, port * OAE_PORT_SIZE + OAE_PORT_CONFIRM, 16);
  EXPECT_EQ(bench.cells, cells + 1) << "not asked for";
}

// Registers of the firmware

TEST_F(Block, FirmwareRegisters) {
  bench.put(OAE_FIRMWARE_IRQ_ENABLE, 0x8123'4567'89ab'cdef);
  EXPECT_EQ(bench.get(OAE_FIRMWARE_IRQ_ENABLE), 0x8123'4567'89ab'cdef);
  bench.put(OAE_FIRMWARE_IRQ_ENABLE, 0, 0x0f);
  EXPECT_EQ(bench.get(OAE_FIRMWARE_IRQ_ENABLE), 0x8123'4567'0000'0000);
  bench.put(OAE_FIRMWARE_LIVENESS, 0x1'2345'6789);
  EXPECT_EQ(bench.get(OAE_FIRMWARE_LIVENESS), 0x2345'6789u);
  bench.put(OAE_FIRMWARE_OFFER_AT(port) + 0x38, 0x1122'3344'5566'7788, 0xa5);
  EXPECT_EQ(bench.get(OAE_FIRMWARE_OFFER_AT(port) + 0x38), 0x1100'3300'0066'0088);
  EXPECT_EQ(bench.get(OAE_FIRMWARE_OFFER_AT(port + 1) + 0x38), 0u);
  EXPECT_EQ(bench.get(OAE_FIRMWARE_COMMAND_AT(port)), 0u);
}

TEST_F(Block, LivenessAgesAlsoWhileTheClockIsStopped) {
  bench.put(OAE_FIRMWARE_LIVENESS, 42);
  const auto age = [&] {
    return OAE_GET(bench.read(registers, OAE_HOST_LIVENESS), OAE_HOST_LIVENESS_AGE);
  };
  const std::uint64_t before = age();
  bench.sleep(1'000'000);
  EXPECT_GE(age(), before + 1'000'000);
  EXPECT_LT(age(), before + 1'000'020);
  EXPECT_EQ(bench.read(registers, OAE_HOST_LIVENESS) & 0xffff'ffff, 42u);
  bench.sleep(0xffff'ffff);
  EXPECT_EQ(age(), 0xffff'ffffu) << "it saturates";
  bench.sleep(0x1'0000'0000);
  EXPECT_EQ(age(), 0xffff'ffffu);
  bench.put(OAE_FIRMWARE_LIVENESS, 42);
  EXPECT_LT(age(), 20u) << "a write of the same count is a sign of life too";
}

TEST_F(Block, InterruptFollowsEventsThatAreEnabled) {
  open(2);
  EXPECT_FALSE(bench.top.irq);
  bench.put(OAE_FIRMWARE_IRQ_ENABLE, ~std::uint64_t{4});
  EXPECT_FALSE(bench.top.irq);
  EXPECT_EQ(bench.get(OAE_FIRMWARE_IRQ_STATUS), 0u);
  bench.put(OAE_FIRMWARE_IRQ_ENABLE, 4);
  EXPECT_TRUE(bench.top.irq);
  EXPECT_EQ(bench.get(OAE_FIRMWARE_IRQ_STATUS), 4u);
  bench.put(OAE_FIRMWARE_EVENT_AT(2), ~std::uint64_t{OAE_FIRMWARE_EVENT_OPENED_MASK});
  EXPECT_TRUE(bench.top.irq) << "others were cleared";
  bench.put(OAE_FIRMWARE_EVENT_AT(2), OAE_FIRMWARE_EVENT_OPENED_MASK, 0xfe);
  EXPECT_TRUE(bench.top.irq) << "its byte was not written";
  bench.put(OAE_FIRMWARE_EVENT_AT(2), OAE_FIRMWARE_EVENT_OPENED_MASK);
  EXPECT_FALSE(bench.top.irq);
}

TEST_F(Block, CommandAcknowledgesEvents) {
  open();
  bench.publish(port, Slot{});  // refused
  const std::uint64_t opened = OAE_FIRMWARE_EVENT_OPENED_MASK;
  const std::uint64_t bad_offer = OAE_FIRMWARE_EVENT_BAD_OFFER_MASK;
  EXPECT_EQ(OAE_GET(status(), OAE_FIRMWARE_STATUS_EVENTS), opened | bad_offer);
  const std::uint64_t acknowledge = OAE_PUT(OAE_FIRMWARE_COMMAND_ACKNOWLEDGE, opened);
  bench.put(OAE_FIRMWARE_COMMAND_AT(port), acknowledge, 0xfd);
  EXPECT_EQ(event(), opened | bad_offer) << "its byte was not written";
  bench.put(OAE_FIRMWARE_COMMAND_AT(port), acknowledge);
  EXPECT_EQ(event(), bad_offer) << "others stay";
  bench.put(OAE_FIRMWARE_COMMAND_AT(port), OAE_PUT(OAE_FIRMWARE_COMMAND_ACKNOWLEDGE, bad_offer) |
                                               OAE_FIRMWARE_COMMAND_PUBLISH_MASK);
  EXPECT_EQ(event(), bad_offer) << "of the offer that was published with it";
  bench.put(OAE_FIRMWARE_COMMAND_AT(port), OAE_PUT(OAE_FIRMWARE_COMMAND_ACKNOWLEDGE, bad_offer));
  EXPECT_EQ(status() & (OAE_FIRMWARE_STATUS_EVENTS_MASK | OAE_FIRMWARE_STATUS_OFFERED_MASK), 0u);
}

// The swap

TEST_F(Block, SwapsOnce) {
  EXPECT_EQ(state(), OAE_PORT_STATE_CLOSED);
  open();
  EXPECT_EQ(state(), OAE_PORT_STATE_IDLE);
  EXPECT_EQ(event(), OAE_FIRMWARE_EVENT_OPENED_MASK);
  bench.put(OAE_FIRMWARE_EVENT_AT(port), all);

  bench.publish(port, slot(1, 10));
  EXPECT_TRUE(status() & OAE_FIRMWARE_STATUS_OFFERED_MASK);
  EXPECT_EQ(OAE_GET(status(), OAE_FIRMWARE_STATUS_NEXT_SEQUENCE), 1u);
  bench.write_slot(port, slot(1, 20));
  EXPECT_EQ(state(), OAE_PORT_STATE_IDLE) << "writing is not swapping";

  EXPECT_EQ(bench.answer(port), slot(1, 10)[0]);
  EXPECT_EQ(bench.cell, slot(1, 10));
  EXPECT_EQ(bench.cell_address, cell);
  EXPECT_EQ(bench.latency, 5u);
  EXPECT_EQ(state(), OAE_PORT_STATE_TENTATIVE);
  EXPECT_EQ(event(), OAE_FIRMWARE_EVENT_EXCHANGED_MASK);
  EXPECT_EQ(tentative(), slot(1, 20));
  EXPECT_EQ(committed(), Slot{});
  EXPECT_FALSE(status() & OAE_FIRMWARE_STATUS_OFFERED_MASK);
  EXPECT_EQ(OAE_GET(status(), OAE_FIRMWARE_STATUS_NEXT_SEQUENCE), 2u);

  bench.confirm(port, 1, 1);
  EXPECT_EQ(state(), OAE_PORT_STATE_COMMITTED);
  EXPECT_EQ(event(), OAE_FIRMWARE_EVENT_EXCHANGED_MASK | OAE_FIRMWARE_EVENT_COMMITTED_MASK);
  EXPECT_EQ(committed(), slot(1, 20));
  EXPECT_EQ(tentative(), Slot{});
  EXPECT_EQ(counter(OAE_HOST_PORT_COMMITTED_AT(port)), 1u);
  take();
  EXPECT_EQ(committed(), Slot{});
}

TEST_F(Block, RepeatingTheReadChangesNothing) {
  open();
  swap(1);
  const Slot answer = bench.cell;
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(bench.answer(port), answer[0]);
    EXPECT_EQ(bench.cell, answer);
  }
  bench.publish(port, slot(2, 11));
  bench.write_slot(port, slot(1, 20));
  EXPECT_EQ(bench.answer(port), answer[0]) << "an offer of the same swap is none";
  bench.confirm(port, 1, 1);
  EXPECT_EQ(bench.answer(port), answer[0]) << "also when committed";
  close();
  EXPECT_EQ(bench.answer(port), answer[0]) << "also when closed";
  EXPECT_EQ(counter(OAE_HOST_PORT_COMMITTED_AT(port)), 1u);
  EXPECT_EQ(counter(OAE_HOST_PORT_REJECTED_AT(port)), 0u);
  EXPECT_EQ(counter(OAE_HOST_PORT_NOT_READY_AT(port)), 0u);
}

TEST_F(Block, DamagedRepetitionDoesNotDenyTheSwap) {
  open();
  swap(1);
  bench.publish(port, slot(2, 12));
  std::uint64_t rejected = 0;
  for (unsigned bit = 0; bit < 512; ++bit) {
    Slot damaged = slot(1, 20);
    damaged[bit / 64] ^= std::uint64_t{1} << bit % 64;
    bench.write_slot(port, damaged);
    EXPECT_EQ(bench.answer(port), slot(1, 101)[0]) << "it did take place; bit " << bit;
    EXPECT_EQ(counter(OAE_HOST_PORT_REJECTED_AT(port)), ++rejected);
  }
  Slot damaged = slot(3, 20);  // may be a repetition of the first
  bench.write_slot(port, damaged);
  EXPECT_EQ(bench.answer(port), slot(1, 101)[0]);
  EXPECT_EQ(state(), OAE_PORT_STATE_TENTATIVE);
}

TEST_F(Block, NotReadyWithoutTheOtherSide) {
  open();
  bench.put(OAE_FIRMWARE_LIVENESS, 1);
  bench.sleep(1000);
  bench.write_slot(port, slot(1, 20));
  const Header answer = Header::of(bench.answer(port));
  EXPECT_EQ(answer.status, OAE_STATUS_NOT_READY);
  EXPECT_EQ(answer.sequence, 1u);
  EXPECT_EQ(answer.verb, OAE_VERB_SWAP);
  EXPECT_EQ(Header::of(bench.cell[0]).word(), answer.word());
  EXPECT_GE(bench.cell[1], 1000u);
  EXPECT_TRUE(sealed(bench.cell));
  EXPECT_EQ(bench.latency, 7u);
  EXPECT_EQ(counter(OAE_HOST_PORT_NOT_READY_AT(port)), 1u);
}

TEST_F(Block, NotReadyIsRetainedUntilTheOfferIsMadeAnew) {
  for (const bool streamed : {false, true}) {
    SCOPED_TRACE(streamed ? "streamed" : "pushed");
    open();
    const std::uint8_t epoch = OAE_GET(status(), OAE_FIRMWARE_STATUS_EPOCH);
    bench.write_slot(port, slot(1, 20, 0, epoch));
    const auto ask = [&] {
      if (streamed) return bench.stream(port);
      bench.answer(port);
      return bench.cell;
    };
    const Slot refusal = ask();
    EXPECT_EQ(Header::of(refusal[0]).status, OAE_STATUS_NOT_READY);
    bench.publish(port, slot(1, 10, 0, epoch));
    bench.sleep(1000);
    bench.put(OAE_FIRMWARE_LIVENESS, 1);
    // The host was told that the swap does not take place. Whoever reads then, it must not.
    EXPECT_EQ(bench.stream(port), refusal) << "the age is that of the answer";
    bench.answer(port);
    EXPECT_EQ(bench.cell, refusal);
    EXPECT_EQ(state(), OAE_PORT_STATE_IDLE);
    EXPECT_EQ(counter(OAE_HOST_PORT_NOT_READY_AT(port)), 1u + streamed) << "it is one answer";
    bench.write_slot(port, slot(1, 21, 0, epoch));
    EXPECT_EQ(ask(), slot(1, 10, 0, epoch));
    EXPECT_EQ(tentative(), slot(1, 21, 0, epoch));
    bench.confirm(port, epoch, 1);
    take();
    close();
  }
}

TEST_F(Block, NotReadyWithoutAHostOffer) {
  open();
  bench.publish(port, slot(1, 10));
  const Header answer = Header::of(bench.answer(port));
  EXPECT_EQ(answer.status, OAE_STATUS_NOT_READY);
  EXPECT_EQ(answer.sequence, 0u);
  EXPECT_EQ(answer.verb, OAE_VERB_NONE);
  EXPECT_EQ(answer.epoch, 1);
  EXPECT_TRUE(status() & OAE_FIRMWARE_STATUS_OFFERED_MASK) << "it stays";
}

TEST_F(Block, NotReadyWithoutRoom) {
  open();
  swap(1);
  bench.publish(port, slot(2, 12));
  bench.write_slot(port, slot(2, 22));
  EXPECT_EQ(Header::of(bench.answer(port)).status, OAE_STATUS_NOT_READY) << "one is tentative";
  bench.confirm(port, 1, 1);
  bench.write_slot(port, slot(2, 22));
  EXPECT_EQ(bench.answer(port), slot(2, 12)[0]) << "committed one, tentative one";
  bench.confirm(port, 1, 2);
  EXPECT_EQ(committed(), slot(1, 201)) << "not yet taken";
  EXPECT_EQ(tentative(), slot(2, 22)) << "confirmed, and waits";
  EXPECT_EQ(counter(OAE_HOST_PORT_COMMITTED_AT(port)), 2u);
  bench.publish(port, slot(3, 13));
  bench.write_slot(port, slot(3, 23));
  EXPECT_EQ(Header::of(bench.answer(port)).status, OAE_STATUS_NOT_READY);
  bench.put(OAE_FIRMWARE_EVENT_AT(port), all);
  take();
  EXPECT_EQ(event(), OAE_FIRMWARE_EVENT_COMMITTED_MASK) << "the next has moved up";
  EXPECT_EQ(committed(), slot(2, 22));
  bench.write_slot(port, slot(3, 23));
  EXPECT_EQ(bench.answer(port), slot(3, 13)[0]);
}

TEST_F(Block, OffersArriveInAnyOrderAndSize) {
  open();
  const char* bytes;
  for (const unsigned size : {1u, 2u, 4u, 8u, 16u, 32u, 64u}) {
    const std::uint32_t sequence = bench.reference.ports[port].next();
    const Slot offer = slot(sequence, 20 + size);
    bytes = reinterpret_cast<const char*>(offer.data());
    bench.publish(port, slot(sequence, 10 + size));
    for (unsigned at = 64; at > 0; at -= size) {
      EXPECT_NE(OAE_GET(bench.answer(port), OAE_SLOT_HEADER_SEQUENCE), sequence) << "incomplete";
      bench.post_write(pages, port * OAE_PORT_SIZE + at - size, bytes + at - size, size);
      if (at == 64) {  // once more is no harm
        bench.post_write(pages, port * OAE_PORT_SIZE + at - size, bytes + at - size, size);
      }
    }
    bench.drain();
    EXPECT_EQ(OAE_GET(bench.answer(port), OAE_SLOT_HEADER_SEQUENCE), sequence) << size;
    EXPECT_EQ(tentative(), offer);
    bench.confirm(port, 1, sequence);
    take();
  }
}

TEST_F(Block, AnOfferBegunAnewIsANewOne) {
  open();
  bench.publish(port, slot(1, 10));
  bench.write_slot(port, slot(1, 20));
  const Slot other = slot(1, 21);
  bench.write(pages, port * OAE_PORT_SIZE + 8, other[1]);
  EXPECT_EQ(OAE_GET(bench.answer(port), OAE_SLOT_HEADER_SEQUENCE), 0u)
      << "seven slices are missing";
  for (const unsigned i : {0u, 2u, 3u, 4u, 5u, 6u, 7u}) {
    bench.write(pages, port * OAE_PORT_SIZE + 8 * i, other[i]);
  }
  bench.answer(port);
  EXPECT_EQ(tentative(), other);
}

// Each slice in turn, so that the next offer is whole before all of it was written again.
TEST_F(Block, AnOfferOfWhichASliceWasLostIsMadeGoodByTheNext) {
  open();
  for (unsigned lost = 0; lost < 8; ++lost) {
    for (const bool ready : {false, true}) {
      const std::uint32_t sequence = bench.reference.ports[port].next();
      const Slot offer = slot(sequence, 20 + lost);
      const auto write = [&](unsigned but) {
        for (unsigned i = 0; i < 8; ++i) {
          if (i != but) bench.write(pages, port * OAE_PORT_SIZE + 8 * i, offer[i]);
        }
      };
      if (ready) bench.publish(port, slot(sequence, 10 + lost));
      write(lost);
      EXPECT_NE(OAE_GET(bench.answer(port), OAE_SLOT_HEADER_SEQUENCE), sequence) << "incomplete";
      write(8);
      if (!ready) {
        EXPECT_EQ(Header::of(bench.answer(port)).status, OAE_STATUS_NOT_READY) << lost;
        bench.publish(port, slot(sequence, 10 + lost));
        EXPECT_EQ(Header::of(bench.answer(port)).status, OAE_STATUS_NOT_READY) << "and stays so";
        write(8);
      }
      EXPECT_EQ(bench.answer(port), slot(sequence, 10 + lost)[0]) << lost;
      EXPECT_EQ(tentative(), offer);
      bench.confirm(port, 1, sequence);
      take();
    }
  }
}

TEST_F(Block, BadOffersAreCountedAndAnswered) {
  open();
  bench.publish(port, slot(1, 10));
  Header header = Header::of(slot(1, 20)[0]);
  std::uint64_t rejected = 0;
  const auto offer = [&](const Slot& slot) {
    bench.write_slot(port, slot);
    EXPECT_EQ(counter(OAE_HOST_PORT_REJECTED_AT(port)), ++rejected);
    return Header::of(bench.answer(port));
  };
  Slot damaged = slot(1, 20);
  damaged[7] ^= 1;
  EXPECT_EQ(offer(damaged).status, OAE_STATUS_NOT_READY);
  EXPECT_EQ(offer(slot(2, 20)).sequence, 0u) << "not the next: no new offer";
  EXPECT_EQ(offer(slot(0, 20)).sequence, 0u);
  EXPECT_EQ(offer(slot(1, 20, 0, 2)).epoch, 1) << "the port's epoch, not the offer's";
  header.status = OAE_STATUS_BUSY;
  EXPECT_EQ(offer(make_slot(header, 1)).status, OAE_STATUS_NOT_READY);
  header.status = 0;
  const std::uint64_t not_ready = counter(OAE_HOST_PORT_NOT_READY_AT(port));
  EXPECT_EQ(not_ready, rejected);
  header.verb = OAE_VERB_CAS;
  const Header bad_verb = offer(make_slot(header, 1));
  EXPECT_EQ(bad_verb.status, OAE_STATUS_BAD_VERB);
  EXPECT_EQ(bad_verb.sequence, 1u);
  EXPECT_EQ(counter(OAE_HOST_PORT_NOT_READY_AT(port)), not_ready);
  EXPECT_EQ(state(), OAE_PORT_STATE_IDLE);
  bench.write_slot(port, slot(1, 20));
  EXPECT_EQ(bench.answer(port), slot(1, 10)[0]) << "and a good one is good";
}

TEST_F(Block, OnlyTheRightConfirmationCommits) {
  open();
  bench.confirm(port, 1, 0);
  swap(1);
  const unsigned page = port * OAE_PORT_SIZE;
  const std::uint64_t right = slot(1, 0)[0];
  bench.confirm(port, 1, 2);
  bench.confirm(port, 1, 0);
  bench.confirm(port, 2, 1);
  bench.confirm(port, 0, 1);
  bench.write(pages, page + OAE_PORT_CONFIRM, right, 4);
  bench.write(pages, page + OAE_PORT_CONFIRM + 4, right >> 32, 4);
  bench.confirm(port + 1, 1, 1);
  EXPECT_EQ(state(), OAE_PORT_STATE_TENTATIVE);
  bench.write(pages, page + OAE_PORT_CONFIRM, right | 0xffff'00ff);
  EXPECT_EQ(state(), OAE_PORT_STATE_COMMITTED) << "the rest of the word does not matter";
  bench.confirm(port, 1, 1);
  EXPECT_EQ(counter(OAE_HOST_PORT_COMMITTED_AT(port)), 1u) << "once";
}

TEST_F(Block, TheNextOfferConfirmsWhereMoreWasSaid) {
  open();
  swap(1, OAE_FLAG_MORE);
  Slot damaged = slot(2, 22);
  damaged[2] ^= 1;
  bench.write_slot(port, damaged);
  bench.write_slot(port, slot(3, 22));
  bench.write_slot(port, slot(1, 22));
  EXPECT_EQ(state(), OAE_PORT_STATE_TENTATIVE) << "no valid next offer yet";
  const Slot next = slot(2, 22);
  bench.post_write(pages, port * OAE_PORT_SIZE, next.data(), 56);
  bench.drain();
  EXPECT_EQ(state(), OAE_PORT_STATE_TENTATIVE) << "its last slice is missing";
  bench.post_write(pages, port * OAE_PORT_SIZE + 56, &next[7], 8);
  bench.drain();
  EXPECT_EQ(state(), OAE_PORT_STATE_COMMITTED);
  EXPECT_EQ(committed(), slot(1, 201, OAE_FLAG_MORE));
  EXPECT_EQ(Header::of(bench.answer(port)).status, OAE_STATUS_NOT_READY);
  EXPECT_EQ(counter(OAE_HOST_PORT_COMMITTED_AT(port)), 1u) << "also when it is not ready itself";
}

TEST_F(Block, TheNextOfferAloneDoesNot) {
  open();
  swap(1, OAE_FLAG_EARLY);
  bench.write_slot(port, slot(2, 22));
  EXPECT_EQ(state(), OAE_PORT_STATE_TENTATIVE);
}

// Open and close

TEST_F(Block, OpenBeginsAnEpochAndRollsForward) {
  open();
  swap(1);
  bench.write(registers, OAE_HOST_PORT_CONTROL_AT(port), 1);
  EXPECT_EQ(state(), OAE_PORT_STATE_TENTATIVE) << "open already";
  bench.publish(port, slot(2, 12));
  bench.put(OAE_FIRMWARE_EVENT_AT(port), all);
  close();
  EXPECT_EQ(state(), OAE_PORT_STATE_TENTATIVE) << "it outlives the close";
  EXPECT_EQ(event(), OAE_FIRMWARE_EVENT_CLOSED_MASK);
  EXPECT_FALSE(status() & OAE_FIRMWARE_STATUS_OFFERED_MASK) << "the offer is discarded";
  EXPECT_FALSE(status() & OAE_FIRMWARE_STATUS_OPEN_MASK);
  open();
  EXPECT_EQ(state(), OAE_PORT_STATE_IDLE);
  EXPECT_EQ(committed(), slot(1, 201)) << "rolled forward";
  EXPECT_EQ(event(), OAE_FIRMWARE_EVENT_CLOSED_MASK | OAE_FIRMWARE_EVENT_OPENED_MASK |
                         OAE_FIRMWARE_EVENT_COMMITTED_MASK);
  EXPECT_EQ(OAE_GET(status(), OAE_FIRMWARE_STATUS_EPOCH), 2u);
  EXPECT_EQ(OAE_GET(status(), OAE_FIRMWARE_STATUS_NEXT_SEQUENCE), 1u);
  EXPECT_EQ(OAE_GET(bench.answer(port), OAE_SLOT_HEADER_SEQUENCE), 0u) << "nothing is retained";
  bench.publish(port, slot(1, 13, 0, 2));
  bench.write_slot(port, slot(1, 23, 0, 2));
  EXPECT_EQ(bench.answer(port), slot(1, 13, 0, 2)[0]);
}

TEST_F(Block, ConfirmsAlsoWhileClosed) {
  open();
  swap(1);
  close();
  bench.confirm(port, 1, 1);
  EXPECT_EQ(state(), OAE_PORT_STATE_COMMITTED);
  EXPECT_EQ(committed(), slot(1, 201));
}

TEST_F(Block, ClosedPortTakesNoOffer) {
  bench.publish(port, slot(1, 10, 0, 0));
  EXPECT_EQ(event(), OAE_FIRMWARE_EVENT_BAD_OFFER_MASK);
  bench.write_slot(port, slot(1, 20, 0, 0));
  EXPECT_EQ(counter(OAE_HOST_PORT_REJECTED_AT(port)), 0u) << "it is not even looked at";
  open();
  bench.write(pages, port * OAE_PORT_SIZE, 1);
  close();
  open();
  const Slot rest = slot(1, 20, 0, 2);
  bench.post_write(pages, port * OAE_PORT_SIZE + 8, &rest[1], 56);
  bench.drain();
  EXPECT_EQ(bench.reference.ports[port].rejected_count, 0u);
  EXPECT_EQ(OAE_GET(bench.answer(port), OAE_SLOT_HEADER_SEQUENCE), 0u) << "a slice was discarded";
}

TEST_F(Block, EpochGoesAround) {
  for (unsigned i = 1; i <= 257; ++i) {
    open();
    EXPECT_EQ(OAE_GET(status(), OAE_FIRMWARE_STATUS_EPOCH), i % 256);
    close();
  }
}

// Firmware's commands

TEST_F(Block, PublishChecksTheOffer) {
  open();
  bench.put(OAE_FIRMWARE_EVENT_AT(port), all);
  const auto refused = [&](const Slot& slot) {
    bench.publish(port, slot);
    const bool bad = event() == OAE_FIRMWARE_EVENT_BAD_OFFER_MASK &&
                     !(status() & OAE_FIRMWARE_STATUS_OFFERED_MASK);
    bench.put(OAE_FIRMWARE_EVENT_AT(port), all);
    return bad;
  };
  Slot damaged = slot(1, 10);
  damaged[0] ^= 1ull << 24;
  EXPECT_TRUE(refused(damaged));
  EXPECT_TRUE(refused(slot(2, 10)));
  EXPECT_TRUE(refused(slot(0, 10)));
  EXPECT_TRUE(refused(slot(1, 10, 0, 0)));
  Header header = Header::of(slot(1, 10)[0]);
  header.status = OAE_STATUS_NOT_READY;
  EXPECT_TRUE(refused(make_slot(header, 1)));
  header.status = 0;
  header.verb = OAE_VERB_SEND;
  EXPECT_TRUE(refused(make_slot(header, 1)));
  EXPECT_FALSE(refused(slot(1, 10)));
}

TEST_F(Block, AStandingOfferIsNotWrittenOver) {
  open();
  bench.publish(port, slot(1, 10));
  bench.publish(port, slot(1, 11));
  EXPECT_FALSE(event() & OAE_FIRMWARE_EVENT_BAD_OFFER_MASK) << "ignored";
  EXPECT_EQ(slots(OAE_FIRMWARE_OFFER_AT(port)), slot(1, 10));
  bench.put(OAE_FIRMWARE_COMMAND_AT(port), OAE_FIRMWARE_COMMAND_WITHDRAW_MASK, 0xfe);
  EXPECT_TRUE(status() & OAE_FIRMWARE_STATUS_OFFERED_MASK) << "its byte was not written";
  bench.put(OAE_FIRMWARE_COMMAND_AT(port), OAE_FIRMWARE_COMMAND_WITHDRAW_MASK);
  EXPECT_FALSE(status() & OAE_FIRMWARE_STATUS_OFFERED_MASK);
  bench.write_slot(port, slot(1, 20));
  EXPECT_EQ(Header::of(bench.answer(port)).status, OAE_STATUS_NOT_READY);
  bench.publish(port, slot(1, 11));
  bench.put(OAE_FIRMWARE_COMMAND_AT(port),
            OAE_FIRMWARE_COMMAND_WITHDRAW_MASK | OAE_FIRMWARE_COMMAND_PUBLISH_MASK);
  bench.write_slot(port, slot(1, 20));
  EXPECT_EQ(bench.answer(port), slot(1, 11)[0]) << "taken back and published in one";
}

TEST_F(Block, RetainedAnswerIsNotWrittenOver) {
  open();
  swap(1);
  for (unsigned i = 0; i < 8; ++i) bench.put(OAE_FIRMWARE_OFFER_AT(port) + 8 * i, all);
  EXPECT_EQ(bench.answer(port), slot(1, 101)[0]);
  EXPECT_EQ(bench.cell, slot(1, 101));
  for (unsigned i = 0; i < 8; ++i) bench.write(pages, port * OAE_PORT_SIZE + 8 * i, all);
  EXPECT_EQ(tentative(), slot(1, 201));
}

// Where the answer goes

TEST_F(Block, NothingTakesPlaceWithoutACell) {
  open();
  bench.write(registers, OAE_HOST_PORT_CELL_AT(port), 63);
  bench.publish(port, slot(1, 10));
  bench.write_slot(port, slot(1, 20));
  const Header answer = Header::of(bench.answer(port));
  EXPECT_EQ(answer.status, OAE_STATUS_NOT_READY);
  EXPECT_EQ(answer.sequence, 0u);
  EXPECT_EQ(state(), OAE_PORT_STATE_IDLE);
  EXPECT_EQ(bench.cells, 0u);
}

TEST_F(Block, NothingTakesPlaceWithoutBusMaster) {
  open();
  bench.publish(port, slot(1, 10));
  bench.write_slot(port, slot(1, 20));
  const Header answer = Header::of(bench.answer(port, true));
  EXPECT_EQ(answer.status, OAE_STATUS_NOT_READY);
  EXPECT_EQ(answer.sequence, 0u) << "it names no swap";
  EXPECT_EQ(state(), OAE_PORT_STATE_IDLE);
  EXPECT_EQ(counter(OAE_HOST_PORT_NOT_READY_AT(port)), 1u);
  const Header again = Header::of(bench.answer(port));
  EXPECT_EQ(again.status, OAE_STATUS_NOT_READY) << "it was denied, and that stays";
  EXPECT_EQ(again.sequence, 1u);
  EXPECT_EQ(counter(OAE_HOST_PORT_NOT_READY_AT(port)), 1u);
  bench.write_slot(port, slot(1, 21));
  EXPECT_EQ(bench.answer(port), slot(1, 10)[0]) << "the firmware's offer stayed";
  EXPECT_EQ(bench.answer(port, true), slot(1, 10)[0]) << "what took place is not denied";
  EXPECT_EQ(bench.cells, 2u) << "nor pushed";
  EXPECT_EQ(counter(OAE_HOST_PORT_NOT_READY_AT(port)), 1u);
  EXPECT_EQ(bench.answer(port), slot(1, 10)[0]);
}

// A processor may have read the window unasked, before the host reads the pushed answer.
TEST_F(Block, WhatWasStreamedIsNotDeniedWithoutBusMaster) {
  open();
  bench.publish(port, slot(1, 10));
  bench.write_slot(port, slot(1, 20));
  bench.stream(port);
  EXPECT_EQ(bench.answer(port, true), slot(1, 10)[0]);
  bench.write(registers, OAE_HOST_PORT_CELL_AT(port), 0);
  EXPECT_EQ(bench.answer(port), slot(1, 10)[0]);
  EXPECT_EQ(bench.cells, 0u);
}

// The streamed answer

TEST_F(Block, StreamsTheAnswerInOneRead) {
  open();
  bench.write(registers, OAE_HOST_PORT_CELL_AT(port), 0);
  bench.publish(port, slot(1, 10));
  const Slot offer = slot(1, 20);
  bench.post_write(streams, port * OAE_STREAM_SIZE + OAE_STREAM_WINDOW, offer.data(), 64);
  EXPECT_EQ(bench.stream(port), slot(1, 10)) << "without a cell";
  EXPECT_EQ(bench.latency, 5u);
  EXPECT_EQ(bench.cells, 0u) << "nothing is written to memory";
  EXPECT_EQ(bench.reference.ports[port].state(), unsigned{OAE_PORT_STATE_TENTATIVE});
  EXPECT_EQ(tentative(), offer);
  bench.write(streams, port * OAE_STREAM_SIZE + OAE_STREAM_CONFIRM, slot(1, 0)[0]);
  EXPECT_EQ(committed(), offer);
  EXPECT_EQ(bench.read(streams, port * OAE_STREAM_SIZE + OAE_STREAM_STATUS),
            slot(1, 0)[0] >> 32 << 32 | 1 << 8 | OAE_PORT_STATE_COMMITTED);
  EXPECT_EQ(bench.stream(port), slot(1, 10)) << "also when committed";
}

// Whatever byte is read first, in whatever size: that read is the interaction.
TEST_F(Block, AnyReadOfTheWindowIsTheInteraction) {
  open();
  std::uint32_t sequence = 0;
  for (const unsigned bar : {pages, streams}) {
    for (unsigned at = 0; at < 64; at += 7) {
      for (const unsigned size : {1u, 2u, 8u, 16u}) {
        if (at + size > 64) continue;
        ++sequence;
        bench.publish(port, slot(sequence, 10));
        bench.write_slot(port, slot(sequence, 20));
        bench.read(bar, port * OAE_PORT_SIZE + at, size);
        EXPECT_EQ(tentative(), slot(sequence, 20)) << at << ", " << size;
        EXPECT_EQ(bench.stream(port), slot(sequence, 10));
        bench.confirm(port, 1, sequence);
        take();
      }
    }
  }
  EXPECT_EQ(bench.cells, 0u);
  EXPECT_EQ(counter(OAE_HOST_PORT_COMMITTED_AT(port)), sequence);
}

TEST_F(Block, ReadsOfTheStreamedPageDoNothingElse) {
  open();
  bench.publish(port, slot(1, 10));
  bench.write_slot(port, slot(1, 20));
  for (unsigned at = 64; at < OAE_STREAM_SIZE; at += 64) {
    bench.read(streams, port * OAE_STREAM_SIZE + at, 64);
  }
  EXPECT_EQ(bench.cells, 0u) << "nothing there is pushed";
  EXPECT_EQ(state(), OAE_PORT_STATE_IDLE);
  EXPECT_EQ(counter(OAE_HOST_PORT_NOT_READY_AT(port)), 0u);
  EXPECT_EQ(bench.stream(port), slot(1, 10));
}

// A slot that is read in pieces is one slot, whatever the firmware does between them.
TEST_F(Block, PiecesAreOfOneSlot) {
  open();
  const auto pieces = [&](const std::vector<std::function<void()>>& between) {
    Slot slot{};
    for (unsigned i = 0; i < 8; ++i) {
      slot[7 - i] = bench.read(streams, port * OAE_STREAM_SIZE + 8 * (7 - i));
      if (i < between.size()) between[i]();
    }
    EXPECT_TRUE(sealed(slot));
    return slot;
  };
  const auto liveness = [&] { bench.put(OAE_FIRMWARE_LIVENESS, 1); };
  // NOT_READY before there is any offer, then of an offer, although firmware offers meanwhile
  EXPECT_EQ(Header::of(pieces({liveness})[0]).sequence, 0u);
  bench.write_slot(port, slot(1, 20));
  const Slot refusal = pieces({[&] { bench.publish(port, slot(1, 10)); }, liveness});
  EXPECT_EQ(Header::of(refusal[0]).status, OAE_STATUS_NOT_READY);
  EXPECT_EQ(Header::of(refusal[0]).sequence, 1u);
  EXPECT_EQ(counter(OAE_HOST_PORT_NOT_READY_AT(port)), 2u) << "one each, whatever the pieces";
  // The exchange, although firmware makes its next offer and the host confirms
  bench.write_slot(port, slot(1, 20));
  EXPECT_EQ(pieces({[&] { bench.publish(port, slot(2, 11)); }, [&] { bench.confirm(port, 1, 1); },
                    [&] { take(); }}),
            slot(1, 10));
}

TEST_F(Block, BadOffersAreStreamedTheirNotReady) {
  open();
  bench.publish(port, slot(1, 10));
  Slot damaged = slot(1, 20);
  damaged[3] ^= 1;
  bench.write_slot(port, damaged);
  const Slot answer = bench.stream(port);
  EXPECT_TRUE(sealed(answer));
  EXPECT_EQ(Header::of(answer[0]).status, OAE_STATUS_NOT_READY);
  EXPECT_EQ(Header::of(answer[0]).sequence, 1u);
  Header header = Header::of(slot(1, 20)[0]);
  header.verb = OAE_VERB_CAS;
  bench.write_slot(port, make_slot(header, 1));
  EXPECT_EQ(Header::of(bench.stream(port)[0]).status, OAE_STATUS_BAD_VERB);
  EXPECT_EQ(bench.latency, 7u);
  bench.write_slot(port, slot(1, 20));
  EXPECT_EQ(bench.stream(port), slot(1, 10));
}

TEST_F(Block, OfferMadeThroughEitherPageIsAnsweredThroughEither) {
  open();
  std::uint32_t sequence = 0;
  for (const unsigned bar : {pages, streams}) {
    for (const bool streamed : {false, true}) {
      ++sequence;
      bench.publish(port, slot(sequence, 10));
      const Slot offer = slot(sequence, 20);
      const unsigned cells = bench.cells;
      bench.post_write(bar, port * OAE_PORT_SIZE, offer.data(), 64);
      EXPECT_EQ(streamed ? bench.stream(port)[0] : bench.answer(port), slot(sequence, 10)[0]);
      EXPECT_EQ(bench.cells, cells + !streamed);
      // Retained for the other form too
      EXPECT_EQ(streamed ? bench.answer(port) : bench.stream(port)[0], slot(sequence, 10)[0]);
      bench.confirm(port, 1, sequence);
      take();
    }
  }
}

TEST_F(Block, StreamedAnswerOfAClosedPort) {
  EXPECT_EQ(Header::of(bench.stream(port)[0]).status, OAE_STATUS_NOT_READY);
  open();
  swap(1);
  close();
  EXPECT_EQ(bench.stream(port), slot(1, 101)) << "retained for whoever is in doubt";
  open();
  const Header header = Header::of(bench.stream(port)[0]);
  EXPECT_EQ(header.status, OAE_STATUS_NOT_READY);
  EXPECT_EQ(header.epoch, 2);
}

// Interrupts of the host

TEST_F(Block, SignalsOnceWhenAnOfferStands) {
  open();
  const unsigned settings = OAE_HOST_PORT_EVENT_AT(port);
  bench.write(registers, settings, OAE_HOST_PORT_EVENT_OFFER_ARMED_MASK | 0x1234);
  EXPECT_TRUE(bench.signals.empty());
  EXPECT_EQ(bench.read(registers, settings), OAE_HOST_PORT_EVENT_OFFER_ARMED_MASK | 0x1234);
  bench.publish(port, slot(2, 10));
  EXPECT_TRUE(bench.signals.empty()) << "a bad offer does not stand";
  bench.publish(port, slot(1, 10));
  EXPECT_EQ(bench.signals, std::vector<unsigned>{0x1234});
  EXPECT_EQ(bench.read(registers, settings), 0x1234u) << "one shot";
  bench.write(registers, settings, OAE_HOST_PORT_EVENT_OFFER_ARMED_MASK | 0x1235);
  EXPECT_EQ(bench.signals, (std::vector<unsigned>{0x1234, 0x1235})) << "at once";
  EXPECT_EQ(bench.read(registers, settings), 0x1235u);
}

TEST_F(Block, AsksForTheConfirmation) {
  bench.compare_signals = false;
  open();
  const std::uint64_t limit = 10'000;
  bench.write(registers, OAE_HOST_PORT_TENTATIVE_LIMIT_AT(port), limit);
  swap(1);
  EXPECT_FALSE(bench.top.deadline_valid) << "nobody asked to be asked";
  bench.confirm(port, 1, 1);
  bench.write(registers, OAE_HOST_PORT_EVENT_AT(port),
              OAE_HOST_PORT_EVENT_CONFIRM_ENABLE_MASK | 77);
  swap(2);
  ASSERT_TRUE(bench.top.deadline_valid);
  const std::uint64_t deadline = bench.top.deadline;
  EXPECT_GT(deadline, bench.now);
  EXPECT_LE(deadline, bench.now + limit + 1);
  bench.sleep(all);
  EXPECT_EQ(bench.now, deadline - 1);
  EXPECT_TRUE(bench.signals.empty());
  bench.drain();
  EXPECT_EQ(bench.signals, std::vector<unsigned>{77});
  EXPECT_EQ(state(), OAE_PORT_STATE_TENTATIVE);
  for (int i = 0; i < 3; ++i) {
    bench.sleep(2 * limit);
    bench.drain();
  }
  EXPECT_EQ(bench.signals.size(), 1u) << "once a swap";
  EXPECT_FALSE(bench.top.deadline_valid);
  bench.write(registers, OAE_HOST_PORT_TENTATIVE_LIMIT_AT(port), limit);
  bench.drain();
  EXPECT_EQ(bench.signals.size(), 2u) << "a new limit asks anew";
}

TEST_F(Block, DoesNotAskForWhatIsConfirmed) {
  bench.compare_signals = false;
  for (const unsigned number : {0u, 3u, 7u}) {
    open(number);
    bench.write(registers, OAE_HOST_PORT_TENTATIVE_LIMIT_AT(number), 1'000 + 100 * number);
    bench.write(registers, OAE_HOST_PORT_EVENT_AT(number),
                OAE_HOST_PORT_EVENT_CONFIRM_ENABLE_MASK | number);
    bench.publish(number, slot(1, 10));
    bench.write_slot(number, slot(1, 20));
    bench.answer(number);
  }
  bench.confirm(0, 1, 1);
  for (int i = 0; i < 5; ++i) {
    bench.sleep(all);
    bench.drain();
  }
  EXPECT_EQ(bench.signals, (std::vector<unsigned>{3, 7})) << "each in its time";
}

TEST_F(Block, AsksAtOnceWhereItIsLateAlready) {
  bench.compare_signals = false;
  open();
  swap(1);
  bench.sleep(1'000);
  bench.write(registers, OAE_HOST_PORT_TENTATIVE_LIMIT_AT(port), 0);
  bench.write(registers, OAE_HOST_PORT_EVENT_AT(port), OAE_HOST_PORT_EVENT_CONFIRM_ENABLE_MASK | 5);
  bench.drain();
  EXPECT_EQ(bench.signals, std::vector<unsigned>{5});
}

// Ports and time

TEST(Ports, AsManyAsTheStrapSays) {
  for (const unsigned count : {1u, 2u, 63u, 64u}) {
    Bench bench(count);
    EXPECT_EQ(OAE_GET(bench.read(registers, OAE_HOST_ID), OAE_HOST_ID_PORTS), count);
    const unsigned last = count - 1;
    bench.write(registers, OAE_HOST_PORT_CELL_AT(last), 0x40);
    bench.write(registers, OAE_HOST_PORT_CONTROL_AT(last), 1);
    bench.put(OAE_FIRMWARE_IRQ_ENABLE, all);
    EXPECT_EQ(bench.get(OAE_FIRMWARE_IRQ_STATUS), std::uint64_t{1} << last);
    Header header;
    header.epoch = 1;
    header.sequence = 1;
    bench.publish(last, make_slot(header, 1));
    bench.write_slot(last, make_slot(header, 2));
    EXPECT_EQ(bench.answer(last), header.word());
    EXPECT_EQ(bench.get(OAE_FIRMWARE_TENTATIVE_AT(last) + 8), make_slot(header, 2)[1]);
    if (count == 64) continue;
    bench.write(registers, OAE_HOST_PORT_CONTROL_AT(count), 1);
    EXPECT_EQ(bench.read(registers, OAE_HOST_PORT_CONTROL_AT(count)), 0u);
    bench.get(OAE_FIRMWARE_STATUS_AT(count));
    EXPECT_TRUE(bench.error);
  }
}

TEST(Ports, DoNotTouchEachOther) {
  Bench bench(64);
  for (unsigned i = 0; i < 64; ++i) {
    bench.write(registers, OAE_HOST_PORT_CELL_AT(i), 64 * (i + 1));
    for (unsigned j = 0; j < i % 3; ++j) {
      bench.write(registers, OAE_HOST_PORT_CONTROL_AT(i), 0);
      bench.write(registers, OAE_HOST_PORT_CONTROL_AT(i), 1);
    }
    bench.put(OAE_FIRMWARE_OFFER_AT(i), i);
  }
  for (unsigned i = 0; i < 64; ++i) {
    EXPECT_EQ(bench.read(registers, OAE_HOST_PORT_CELL_AT(i)), 64 * (i + 1));
    EXPECT_EQ(OAE_GET(bench.read(registers, OAE_HOST_PORT_STATE_AT(i)), OAE_HOST_PORT_STATE_EPOCH),
              i % 3);
    EXPECT_EQ(bench.get(OAE_FIRMWARE_OFFER_AT(i)), i);
  }
}

// However busy the firmware is, a read is answered within this many clocks.
TEST(Latency, IsBounded) {
  Bench bench(8);
  bench.write(registers, OAE_HOST_PORT_CELL_AT(0), 0x40);
  bench.write(registers, OAE_HOST_PORT_CONTROL_AT(0), 1);
  std::uint64_t worst = 0;
  for (std::uint32_t n = 1; n < 200; ++n) {
    Header header;
    header.epoch = 1;
    header.sequence = n;
    for (unsigned i = 0; i < 8; ++i) {
      bench.post_put(OAE_FIRMWARE_OFFER_AT(0) + 8 * i, make_slot(header, n)[i]);
    }
    bench.post_put(OAE_FIRMWARE_COMMAND_AT(0), 3);
    for (int i = 0; i < 40; ++i) bench.post_get(OAE_FIRMWARE_COMMITTED_AT(0) + 8 * (i % 8));
    for (unsigned i = 0; i < n % 97; ++i) bench.clock();
    const Slot slot = make_slot(header, n);
    bench.post_write(pages, OAE_PORT_WINDOW, slot.data(), 64);
    bench.post_read(pages, OAE_PORT_PUSHED_ANSWER, 8);
    const std::uint64_t start = bench.now;
    const unsigned cells = bench.cells;
    while (bench.cells == cells) bench.clock();
    worst = std::max(worst, bench.now - start);
    bench.post_write(pages, OAE_PORT_CONFIRM, slot.data(), 8);
    bench.drain();
  }
  EXPECT_LE(worst, 24u) << "write, read and a turn of the firmware before each";
}

}  // namespace
