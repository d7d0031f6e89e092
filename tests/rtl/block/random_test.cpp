// SPDX-License-Identifier: Apache-2.0
// Random traffic on both sides of the block, compared with the reference block.
//
// OAE_VP_BLOCK_SEEDS is the number of seeds, each a test of 100,000 clocks; the default is eight.
// OAE_VP_BLOCK_FIRST_SEED is the first of them; the default is 1.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "oae_registers.h"
#include "tests/rtl/block/fixture.h"

namespace {

constexpr unsigned ports = 3;

/// The next action of each side, which is correct most of the time.
class Traffic {
 public:
  explicit Traffic(std::uint64_t seed) : fixture_(ports, seed) {
    for (unsigned i = 0; i < ports; ++i) {
      fixture_.write(0, OAE_HOST_PORT_ANSWER_ADDRESS_AT(i), 0x10'0000'0000 + 0x40 * i);
      fixture_.write(0, OAE_HOST_PORT_EVENT_AT(i), i + 1);
      fixture_.write(0, OAE_HOST_PORT_CONTROL_AT(i), 1);
    }
    fixture_.put(OAE_FIRMWARE_IRQ_ENABLE, ~std::uint64_t{0});
    fixture_.stall = pick(4) * 20;
  }

  void run(unsigned steps) {
    for (unsigned i = 0; i < steps && !testing::Test::HasFailure(); ++i) {
      if (fixture_.posted() < 12) chance(60) ? host() : firmware();
      if (chance(2)) fixture_.hold_slots = !fixture_.hold_slots;
      fixture_.clock();
      if (chance(1)) {
        fixture_.hold_slots = false;
        fixture_.drain();
        fixture_.sleep(pick(1000));
      }
    }
    fixture_.hold_slots = false;
    fixture_.drain();
  }

  Fixture& fixture() { return fixture_; }

 private:
  std::uint64_t pick(std::uint64_t n) { return fixture_.random() % n; }
  bool chance(unsigned percent) { return pick(100) < percent; }

  /// A header that is correct at this moment, or almost.
  Header header(const ReferencePort& port) {
    Header header;
    header.epoch = port.epoch();
    header.sequence = port.next();
    if (chance(30)) header.flags = pick(4);
    header.attempt = (port.attempt() + (chance(90) ? pick(3) : pick(64))) & 63;
    if (chance(85)) return header;
    switch (pick(5)) {
      case 0:
        header.sequence = port.last();
        break;
      case 1:
        header.sequence += pick(3) - 1;
        break;
      case 2:
        header.epoch += 1;
        break;
      case 3:
        header.verb = pick(8);
        break;
      default:
        header.status = pick(3);
        break;
    }
    return header;
  }

  Slot slot(const ReferencePort& port) {
    Slot slot = make_slot(header(port), fixture_.random());
    if (chance(5)) slot[pick(8)] ^= std::uint64_t{1} << pick(64);
    return slot;
  }

  const std::set<unsigned>& held() const { return fixture_.reference.words.held(); }

  /// One of a few words, so that ports meet; often one that is held, so that it is refused.
  std::uint64_t word() {
    if (!held().empty() && chance(50)) return *std::next(held().begin(), pick(held().size()));
    return chance(97) ? pick(3) : pick(0x1000);
  }

  /// An offer of the host. Some have another verb, and more have one while words are held.
  Slot host_slot(const ReferencePort& port) {
    Slot offer = slot(port);
    if (chance(held().empty() ? 60 : 30)) return offer;
    Header header = Header::of(offer[0]);
    header.verb = OAE_VERB_CAS + pick(4);
    offer[0] = header.word();
    if (header.verb == OAE_VERB_CAS || header.verb == OAE_VERB_FETCH_ADD) offer[1] = word();
    if (header.verb == OAE_VERB_MULTI) {
      offer[1] = 0;
      for (unsigned i = 0; i < 4; ++i) {
        offer[1] |= (pick(chance(98) ? 5 : 16) << 12 | word()) << 16 * i;
      }
    }
    for (unsigned i = 2; i < 6; ++i) {
      const unsigned at = header.verb == OAE_VERB_MULTI ? 16 * (i - 2) : 0;
      if (chance(70)) offer[i] = fixture_.reference.words.word(offer[1] >> at & 0xfff);
    }
    if (!chance(5)) seal(offer);
    return offer;
  }

  void host() {
    const unsigned number = pick(ports);
    const ReferencePort& port = fixture_.reference.ports[number];
    const unsigned page = number * OAE_PORT_SIZE;
    switch (pick(26)) {
      case 0:
        return offer_in_pieces(page, host_slot(port));
      case 20:
      case 21:
      case 22: {
        const Slot data = host_slot(port);
        fixture_.post_write(any_page(), page, data.data(), 64);
        return chance(50) ? stream_in_pieces(page) : fixture_.post_read(4, page, 64);
      }
      case 23:
        return chance(50) ? stream_in_pieces(page) : fixture_.post_read(any_page(), page, 64);
      case 1:
      case 2:
      case 3:
      case 4:
      case 5: {
        const Slot data = host_slot(port);
        fixture_.post_write(2, page, data.data(), 64);
        fixture_.post_read(2, page + OAE_PORT_PUSHED_ANSWER, 8, chance(12));
        return;
      }
      case 6:
      case 7:
        return fixture_.post_read(2, page + OAE_PORT_PUSHED_ANSWER, 8, chance(12));
      case 8:
      case 9:
      case 10:
      case 11:
      case 12:
      case 13: {
        std::uint64_t word = OAE_PUT(OAE_PORT_CONFIRM_EPOCH, port.epoch()) |
                             OAE_PUT(OAE_PORT_CONFIRM_SEQUENCE, port.last());
        if (chance(10)) word += std::uint64_t{1} << (chance(50) ? 8 : 32);
        word = confirmation(word);
        if (chance(5)) word ^= std::uint64_t{1} << pick(64);
        return fixture_.post_write(any_page(), page + OAE_PORT_CONFIRM, &word, chance(95) ? 8 : 4);
      }
      case 14:
        return fixture_.post_read(2, page + OAE_PORT_STATUS, 8);
      case 24: {
        std::uint64_t word =
            OAE_PUT(OAE_PORT_REVERSE_EPOCH, port.epoch()) |
            OAE_PUT(OAE_PORT_REVERSE_SEQUENCE, chance(50) ? port.last() : port.next());
        if (chance(10)) word += std::uint64_t{1} << (chance(50) ? 8 : 32);
        word = reversal(word);
        if (chance(5)) word ^= std::uint64_t{1} << pick(64);
        return fixture_.post_write(any_page(), page + OAE_PORT_REVERSE, &word, chance(95) ? 8 : 4);
      }
      case 25: {
        if (chance(98)) return;
        fixture_.post_reset();
        const std::uint64_t buffer = 0x10'0000'0000 + 0x40 * number;
        return fixture_.post_write(0, OAE_HOST_PORT_ANSWER_ADDRESS_AT(number), &buffer, 8);
      }
      case 15: {
        const std::uint64_t open = chance(50);
        if (chance(60)) return;
        fixture_.post_write(0, OAE_HOST_PORT_CONTROL_AT(number), &open, 8);
        return;
      }
      case 16: {
        const std::uint64_t armed =
            OAE_PUT(OAE_HOST_PORT_EVENT_OFFER_ARMED, 1) | (number + pick(3));
        return fixture_.post_write(0, OAE_HOST_PORT_EVENT_AT(number), &armed, 4);
      }
      case 17: {
        if (chance(80)) return;
        const std::uint64_t buffer = chance(50) ? 0 : fixture_.random();
        return fixture_.post_write(0, OAE_HOST_PORT_ANSWER_ADDRESS_AT(number), &buffer, 8);
      }
      case 18: {  // anything
        const unsigned address = pick(0x4000);
        const unsigned bytes = 1 + pick(64 - address % 64);
        return fixture_.post_read(0, address, bytes);
      }
      default: {
        const unsigned address = pick((ports + 1) * OAE_PORT_SIZE) & ~(chance(80) ? 0xf80u : 0u);
        const unsigned bytes = 1 + pick(64 - address % 64);
        return fixture_.post_read(any_page(), address, bytes, chance(5));
      }
    }
  }

  unsigned any_page() { return chance(50) ? 2 : 4; }

  /// The pieces of a line (offset and size) in random order.
  std::vector<std::pair<unsigned, unsigned>> pieces() {
    std::vector<unsigned> cuts{0};
    while (cuts.back() < 64) {
      cuts.push_back(std::min<unsigned>(64, cuts.back() + 1 + pick(chance(50) ? 8 : 30)));
    }
    std::vector<std::pair<unsigned, unsigned>> pieces;
    for (unsigned i = 0; i + 1 < cuts.size(); ++i) {
      pieces.emplace_back(cuts[i], cuts[i + 1] - cuts[i]);
    }
    std::shuffle(pieces.begin(), pieces.end(), fixture_.random);
    return pieces;
  }

  void offer_in_pieces(unsigned page, const Slot& slot) {
    const char* bytes = reinterpret_cast<const char*>(slot.data());
    auto order = pieces();
    if (chance(20)) order.pop_back();
    const unsigned bar = any_page();
    for (const auto& [at, size] : order) fixture_.post_write(bar, page + at, bytes + at, size);
  }

  void stream_in_pieces(unsigned page) {
    const unsigned bar = any_page();
    for (const auto& [at, size] : pieces()) fixture_.post_read(bar, page + at, size);
  }

  void firmware() {
    const unsigned number = pick(ports);
    const ReferencePort& port = fixture_.reference.ports[number];
    const unsigned base = OAE_FIRMWARE_OFFER_AT(number);
    constexpr unsigned command = 12;  // on a word
    switch (!held().empty() && chance(20) ? command : pick(14)) {
      case 13:
        if (chance(98)) return;
        if (chance(50)) return fixture_.post_put(OAE_FIRMWARE_HOLD_LIMIT, pick(3) * 2'000);
        return fixture_.post_put(OAE_FIRMWARE_WORDS_AT(number),
                                 OAE_PUT(OAE_FIRMWARE_WORDS_FIRST, chance(90) ? 0 : pick(3)) |
                                     OAE_PUT(OAE_FIRMWARE_WORDS_COUNT, chance(90) ? 256 : pick(4)));
      case command: {
        const std::uint64_t access = pick(chance(95) ? 5 : 16) << 12 | word();
        fixture_.post_put(OAE_FIRMWARE_WORD_OPERAND, fixture_.random(), pick(256));
        fixture_.post_put(OAE_FIRMWARE_WORD_COMPARE, fixture_.reference.words.word(access & 0xfff));
        fixture_.post_put(OAE_FIRMWARE_WORD_COMMAND, access);
        return fixture_.post_get(chance(50) ? OAE_FIRMWARE_WORD_RESULT : OAE_FIRMWARE_WORD_OUTCOME);
      }
      case 0:
      case 1:
      case 2:
      case 3:
      case 4: {
        const Slot data = slot(port);
        for (unsigned i = 0; i < 8; ++i) fixture_.post_put(base + 8 * i, data[i]);
        return fixture_.post_put(
            OAE_FIRMWARE_COMMAND_AT(number),
            OAE_FIRMWARE_COMMAND_PUBLISH_MASK | (chance(50) ? OAE_FIRMWARE_COMMAND_TAKE_MASK : 0) |
                (chance(50) ? OAE_PUT(OAE_FIRMWARE_COMMAND_ACKNOWLEDGE, pick(128)) : 0));
      }
      case 5:
      case 6:
        return fixture_.post_put(OAE_FIRMWARE_COMMAND_AT(number), OAE_FIRMWARE_COMMAND_TAKE_MASK);
      case 7:
        return fixture_.post_put(OAE_FIRMWARE_COMMAND_AT(number), pick(0x8000),
                                 chance(80) ? 0xff : pick(256));
      case 8:
        return fixture_.post_put(OAE_FIRMWARE_EVENT_AT(number), pick(128), pick(256));
      case 9:
        return fixture_.post_put(OAE_FIRMWARE_LIVENESS, fixture_.random());
      case 10:
        if (chance(10)) {
          return fixture_.post_put(OAE_FIRMWARE_IRQ_ENABLE, fixture_.random(), pick(256));
        }
        return fixture_.post_put(pick(OAE_FIRMWARE_SIZE), fixture_.random(), pick(256));
      default:
        return fixture_.post_get(chance(80) ? base + pick(256)
                                            : pick(chance(50) ? 0x40 : OAE_FIRMWARE_SIZE));
    }
  }

  Fixture fixture_;
};

unsigned asked(const char* variable, unsigned otherwise) {
  const char* const value = std::getenv(variable);
  return value != nullptr ? std::stoul(value) : otherwise;
}

class Random : public testing::TestWithParam<unsigned> {};

TEST_P(Random, AgreesWithTheReference) {
  Traffic traffic(GetParam());
  traffic.run(100'000);
  std::uint64_t committed = 0;
  const std::vector<Transition>& seen = traffic.fixture().transitions;
  const auto reversed = std::count_if(seen.begin(), seen.end(), [](const Transition& each) {
    return each.to == OAE_PORT_STATE_REVERSED;
  });
  std::uint64_t not_ready = 0;
  std::uint64_t rejected = 0;
  for (const ReferencePort& port : traffic.fixture().reference.ports) {
    committed += port.committed_count;
    not_ready += port.not_ready_count;
    rejected += port.rejected_count;
  }
  // The traffic must have reached these events.
  EXPECT_GT(committed, 25u);
  EXPECT_GT(not_ready, 25u);
  EXPECT_GT(rejected, 10u);
  EXPECT_GT(reversed, 10);
  EXPECT_GT(traffic.fixture().reference.words.refusals(), 10u);
  EXPECT_GT(traffic.fixture().reference.words.done(), 25u);
  EXPECT_GT(traffic.fixture().pushed, 10u);
  EXPECT_GT(traffic.fixture().streamed, 10u);
  EXPECT_GT(traffic.fixture().pushed_late, 10u);
  EXPECT_GT(traffic.fixture().refused_late, 5u);
  RecordProperty("committed", static_cast<int>(committed));
}

const unsigned first = asked("OAE_VP_BLOCK_FIRST_SEED", 1);
INSTANTIATE_TEST_SUITE_P(Seeds, Random,
                         testing::Range(first, first + asked("OAE_VP_BLOCK_SEEDS", 8)));

}  // namespace
