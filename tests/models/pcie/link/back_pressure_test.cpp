// SPDX-License-Identifier: Apache-2.0
// A receiver that does not drain its buffer stops the sender: the processor at its store, device
// logic at its write. Nothing is lost, overtaken or stuck.
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>

#include "tests/models/pcie/fixture.h"

namespace pcie {
namespace {

using vp::ns;
using vp::us;

CreditConfig posted(unsigned headers, unsigned data) {
  CreditConfig credits;
  credits.classes[0] = {headers, data};
  return credits;
}

Fixture::Config with_endpoint_credits(const CreditConfig& credits) {
  Fixture::Config config;
  config.endpoint.credits = credits;
  return config;
}

Fixture::Config with_root_port_credits(const CreditConfig& credits) {
  Fixture::Config config;
  config.root_complex.ports[0].credits = credits;
  return config;
}

class StoreOf : public testing::TestWithParam<unsigned> {};

// One is at device logic, `headers` in the receive buffer, one at the root port.
TEST_P(StoreOf, AProcessorStopsWhereThereIsNoRoom) {
  const unsigned headers = GetParam();
  Fixture fixture(with_endpoint_credits(posted(headers, 0)));
  unsigned stored = 0;
  constexpr unsigned stores = 200;
  fixture.run([&] {
    fixture.enumerate();
    fixture.logic.full = true;
    fixture.spawn([&] {
      for (; stored < stores; ++stored) fixture.write(Fixture::bar0 + 4 * stored, stored, 4);
    });
    pause(100 * us);
    EXPECT_EQ(stored, headers + 2);
    EXPECT_TRUE(fixture.logic.uses.size() == 1 && fixture.logic.holds_write());
    // One is taken: one more can be stored.
    fixture.logic.accept();
    pause(100 * us);
    EXPECT_EQ(stored, headers + 3);
    EXPECT_EQ(fixture.logic.uses.size(), 2u);
    fixture.logic.full = false;
    fixture.logic.accept();
    pause(100 * us);
    EXPECT_EQ(stored, stores);
    ASSERT_EQ(fixture.logic.uses.size(), stores);
    for (unsigned i = 0; i < stores; ++i) {
      EXPECT_EQ(fixture.logic.uses[i].offset, 4 * i);
      EXPECT_EQ(fixture.read(Fixture::bar0 + 4 * i, 4), i);
    }
  });
}

INSTANTIATE_TEST_SUITE_P(BackPressure, StoreOf, testing::Values(1, 2, 3, 8, 127),
                         testing::PrintToStringParamName());

TEST(BackPressure, ProcessorsKeepTheirTurns) {
  Fixture fixture(with_endpoint_credits(posted(1, 0)));
  std::vector<unsigned> order;
  fixture.run([&] {
    fixture.enumerate();
    fixture.logic.full = true;
    for (unsigned processor = 0; processor < 8; ++processor) {
      fixture.spawn([&, processor] {
        pause(processor * ns);
        fixture.write(Fixture::bar0 + 4 * processor, processor, 4);
        order.push_back(processor);
      });
    }
    pause(10 * us);
    EXPECT_EQ(order.size(), 3u);
    fixture.logic.full = false;
    fixture.logic.accept();
  });
  std::vector<unsigned> expected(8);
  std::iota(expected.begin(), expected.end(), 0u);
  EXPECT_EQ(order, expected);
  ASSERT_EQ(fixture.logic.uses.size(), 8u);
  for (unsigned i = 0; i < 8; ++i) EXPECT_EQ(fixture.logic.uses[i].offset, 4 * i);
}

TEST(BackPressure, NothingPassesAWriteThatIsNotTaken) {
  Fixture fixture;
  bool read = false, configured = false;
  fixture.run([&] {
    fixture.enumerate();
    fixture.logic.full = true;
    fixture.write(Fixture::bar0, 0x1234, 4);
    fixture.spawn([&] {
      EXPECT_EQ(fixture.read(Fixture::bar0, 4), 0x1234u);
      read = true;
    });
    fixture.spawn([&] {
      fixture.config_write(Fixture::device, Type0Header::bar(0),
                           static_cast<std::uint32_t>(Fixture::bar0), 4);
      configured = true;
    });
    pause(100 * us);
    EXPECT_FALSE(read || configured);
    fixture.logic.full = false;
    fixture.logic.accept();
  });
  EXPECT_TRUE(read && configured);
}

TEST(BackPressure, AWriteInPiecesGoesOnWhereItStopped) {
  Fixture fixture;
  std::vector<std::uint8_t> data(256);
  std::iota(data.begin(), data.end(), 1);
  fixture.run([&] {
    fixture.enumerate();
    fixture.logic.full = true;
    for (unsigned i = 0; i < 4; ++i) {
      const std::vector<std::uint8_t> line(data.begin() + 64 * i, data.begin() + 64 * (i + 1));
      fixture.write_bytes(Fixture::bar0 + 0x3e + 64 * i, line);  // two pieces each
    }
    for (unsigned piece = 1; piece <= 8; ++piece) {
      pause(10 * us);
      EXPECT_EQ(fixture.logic.uses.size(), piece);
      fixture.logic.accept();
    }
    pause(10 * us);
    EXPECT_EQ(fixture.logic.uses.size(), 8u);
    fixture.logic.full = false;
    for (unsigned i = 0; i < 256; ++i)
      EXPECT_EQ(fixture.read(Fixture::bar0 + 0x3e + i, 1), data[i]);
  });
}

// A refused TLP reports one error, whenever the refusal happens.
TEST(BackPressure, ALateRefusalIsAnErrorOfTheWholeWrite) {
  Fixture fixture;
  fixture.run([&] {
    fixture.enumerate();
    fixture.logic.full = true;
    fixture.write_bytes(Fixture::bar0 + 0x20, std::vector<std::uint8_t>(64, 1));
    fixture.logic.answer = tlm::TLM_ADDRESS_ERROR_RESPONSE;
    pause(10 * us);
    fixture.logic.accept();
    pause(10 * us);
    fixture.logic.accept();
    pause(10 * us);
    const unsigned status =
        fixture.find_capability(Fixture::device, PciExpress::id) + PciExpress::device_status;
    EXPECT_EQ(fixture.config_read(Fixture::device, status, 2) & 0xf, 0xau)
        << "non-fatal, and unsupported";
    EXPECT_EQ(fixture.counter("endpoint.pf0.refused"), 2u);
  });
}

// A read of the device stays behind its writes, also behind those that have no room yet.
TEST(BackPressure, AReadOfTheDeviceDoesNotPassItsWrites) {
  Fixture fixture(with_root_port_credits(posted(1, 16)));
  fixture.run([&] {
    fixture.enumerate();
    const std::vector<std::uint8_t> data(2048, 0x5a);
    const auto write = fixture.logic.dma_write(0x1000, data);
    EXPECT_FALSE(write->done);
    const auto read = fixture.logic.dma_read(0x1000, 2048);
    const auto later = fixture.logic.dma_write(0x1000, std::vector<std::uint8_t>(2048, 0xa5));
    fixture.wait_for(*read);
    EXPECT_EQ(read->data, data);
    fixture.wait_for(*later);
  });
}

// The time that a credit needs for its way around is what a write in turn has to wait.
TEST(BackPressure, DeviceLogicWaitsForCredits) {
  Fixture::Config config = with_root_port_credits(posted(2, 32));
  config.link.latency_up = 300 * ns;
  config.link.latency_down = 200 * ns;
  Fixture fixture(config);
  constexpr unsigned writes = 50, packets = 8;  // of 128 bytes, Max_Payload_Size after reset
  fixture.run([&] {
    fixture.enumerate();
    std::vector<std::unique_ptr<Logic::Dma>> all;
    for (unsigned i = 0; i < writes; ++i) {
      all.push_back(fixture.logic.dma_write(0x1000 * i, std::vector<std::uint8_t>(1024, i)));
      EXPECT_FALSE(all.back()->done);
    }
    const vp::Picoseconds begin = vp::now();
    for (unsigned i = 0; i < writes; ++i) {
      fixture.wait_for(*all[i]);
      EXPECT_TRUE(all[i]->is_response_ok());
      EXPECT_GE(all[i]->when, i > 0 ? all[i - 1]->when : begin);
    }
    // Two packets a round trip; the last two leave without waiting for their own credits.
    const vp::Picoseconds around =
        fixture.link.min_latency(Direction::up) + fixture.link.min_latency(Direction::down);
    const double rounds = static_cast<double>(vp::now() - begin) / static_cast<double>(around);
    EXPECT_GT(rounds, packets / 2 * writes - 2.0);
    EXPECT_LT(rounds, packets / 2 * writes * 1.01);
    pause(10 * us);
  });
  ASSERT_EQ(fixture.memory.writes.size(), packets * writes);
  for (unsigned i = 0; i < packets * writes; ++i) {
    EXPECT_EQ(fixture.memory.writes[i].address, 0x1000 * (i / packets) + 128 * (i % packets));
    EXPECT_EQ(fixture.memory.writes[i].data, std::vector<std::uint8_t>(128, i / packets));
  }
}

// Credits come back near the moment at which a packet leaves a queue that has room for one: the
// next packet leaves then, whichever comes first.
class CreditsAt : public testing::TestWithParam<vp::Picoseconds> {};

TEST_P(CreditsAt, DelayNoPacket) {
  Fixture::Config config;
  config.link = {4, 1, 300 * ns, 200 * ns};
  config.link.transmit_queue = 300;
  config.root_complex.latency = GetParam();
  config.root_complex.ports[0].credits = posted(64, 1024);
  config.endpoint.latency = 0;
  Fixture fixture(config);
  std::vector<std::unique_ptr<Logic::Dma>> all;
  fixture.run([&] {
    fixture.enumerate();
    fixture.set_sizes(256, 512);
    pause(10 * us);
    for (unsigned i = 0; i < 12; ++i) {
      all.push_back(fixture.logic.dma_write(0x1000 * i, std::vector<std::uint8_t>(256)));
    }
    pause(100 * us);
  });
  const auto& writes = fixture.memory.writes;
  ASSERT_EQ(writes.size(), 12u);
  // 256 bytes and 20 of header and framing in 128b/130b at 16 GT/s, and now and then a DLLP
  for (unsigned i = 1; i < 12; ++i) {
    EXPECT_GE(writes[i].when - writes[i - 1].when, 140 * ns) << i;
    EXPECT_LE(writes[i].when - writes[i - 1].when, 150 * ns) << i;
  }
}
INSTANTIATE_TEST_SUITE_P(BackPressure, CreditsAt, testing::Range<vp::Picoseconds>(81058, 81067));

// Interrupts that have to wait leave once each, behind the writes before them.
TEST(BackPressure, InterruptsWaitAsPendingBits) {
  Fixture fixture(with_root_port_credits(posted(1, 0)));
  fixture.run([&] {
    fixture.enumerate();
    for (unsigned vector = 0; vector < 4; ++vector) {
      fixture.write(Fixture::msi_x_table + 16 * vector, 0xfee00000, 4);
      fixture.write(Fixture::msi_x_table + 16 * vector + 8, 0x40 + vector, 4);
      fixture.write(Fixture::msi_x_table + 16 * vector + 12, 0, 4);
    }
    fixture.config_write(Fixture::device,
                         fixture.find_capability(Fixture::device, MsiX::id) + MsiX::message_control,
                         0x8000, 2);
    const auto write = fixture.logic.dma_write(0x1000, std::vector<std::uint8_t>(4096, 7));
    EXPECT_FALSE(write->done);
    for (unsigned time = 0; time < 3; ++time) {
      for (unsigned vector = 0; vector < 4; ++vector) fixture.endpoint.function(0).signal(vector);
    }
    EXPECT_EQ(fixture.memory.messages.size(), 0u);
    fixture.wait_for(*write);
    pause(20 * us);
    EXPECT_EQ(fixture.read(Fixture::msi_x_pending, 8), 0u);
  });
  ASSERT_EQ(fixture.memory.messages.size(), 4u) << "one for each vector";
  for (unsigned vector = 0; vector < 4; ++vector) {
    EXPECT_EQ(fixture.memory.messages[vector].data[0], 0x40 + vector);
    EXPECT_GT(fixture.memory.messages[vector].when, fixture.memory.writes.back().when);
  }
}

// An interrupt is behind the data that was written before it, and waits for none that follows,
// although device logic always has data that waits.
class InterruptBy : public testing::TestWithParam<InterruptMode> {
 protected:
  InterruptBy() {
    config.root_complex.ports[0].credits = posted(1, 0);
    config.endpoint.functions[0].interrupt_pin = 1;
  }
  void enumerate(Fixture& fixture) const {
    fixture.enumerate();
    fixture.write(Fixture::msi_x_table, 0xfee00000, 4);
    fixture.write(Fixture::msi_x_table + 12, 0, 4);
    fixture.config_write(Fixture::device,
                         fixture.find_capability(Fixture::device, MsiX::id) + MsiX::message_control,
                         pin ? 0 : 0x8000, 2);
  }
  /// Signals the interrupt of write `i`.
  void signal(Fixture& fixture, unsigned i) const {
    Function& function = fixture.endpoint.function(0);
    pin ? function.set_intx(i % 2 == 0) : function.signal(0);
  }
  /// Expects that interrupt `i` has come between writes `i` and `i + 1`, of so many packets each.
  static void expect_in_place(const Fixture& fixture, unsigned writes, unsigned packets) {
    std::vector<vp::Picoseconds> interrupts = fixture.lines.times;
    for (const auto& message : fixture.memory.messages) interrupts.push_back(message.when);
    const auto& data = fixture.memory.writes;
    ASSERT_EQ(data.size(), writes * packets);
    ASSERT_EQ(interrupts.size(), writes);
    for (unsigned i = 0; i < writes; ++i) {
      EXPECT_GT(interrupts[i], data[packets * (i + 1) - 1].when) << i;
      if (i + 1 == writes) break;
      EXPECT_LT(interrupts[i], data[packets * (i + 1)].when) << i;
    }
  }
  const bool pin = GetParam() == InterruptMode::intx;
  Fixture::Config config;
};

TEST_P(InterruptBy, KeepsItsPlaceAmongTheData) {
  Fixture fixture(config);
  constexpr unsigned writes = 6, packets = 8;  // of 128 bytes, Max_Payload_Size after reset
  fixture.run([&] {
    enumerate(fixture);
    std::vector<std::unique_ptr<Logic::Dma>> all;
    for (unsigned i = 0; i < writes; ++i) {
      all.push_back(fixture.logic.dma_write(0x1000 * i, std::vector<std::uint8_t>(1024, i)));
      EXPECT_FALSE(all.back()->done);
      signal(fixture, i);
    }
    for (const auto& write : all) fixture.wait_for(*write);
    pause(20 * us);
  });
  const std::vector<bool> alternating{true, false, true, false, true, false};
  EXPECT_EQ(fixture.lines.levels(), pin ? alternating : std::vector<bool>{});
  expect_in_place(fixture, writes, packets);
}

// Device logic goes on as soon as it hears that a write has left, when there is room for several.
TEST_P(InterruptBy, PrecedesWhatDeviceLogicWritesNext) {
  constexpr unsigned writes = 40;
  for (Credits& of : config.root_complex.ports[0].credits.classes) of = posted(4, 0).classes[0];
  Fixture fixture(config);
  std::vector<std::unique_ptr<Logic::Dma>> all;
  unsigned waited = 0;
  const auto go_on = [&] {
    while (all.size() < writes) {
      const unsigned i = static_cast<unsigned>(all.size());
      all.push_back(fixture.logic.dma_write(0x1000 * i, std::vector<std::uint8_t>(128, i)));
      signal(fixture, i);
      if (!all.back()->done) {
        ++waited;
        return;
      }
    }
  };
  fixture.logic.on_done = [&](const Logic::Dma&) { go_on(); };
  fixture.run([&] {
    enumerate(fixture);
    go_on();
    pause(100 * us);
  });
  EXPECT_GT(waited, 5u);
  EXPECT_LT(waited, writes - 5) << "others find room at once";
  expect_in_place(fixture, writes, 1);
}
INSTANTIATE_TEST_SUITE_P(BackPressure, InterruptBy,
                         testing::Values(InterruptMode::intx, InterruptMode::msi_x));

TEST(BackPressure, AResetTakesThePinBackAndForgetsWhatWaits) {
  Fixture::Config config = with_root_port_credits(posted(1, 0));
  config.endpoint.functions[0].interrupt_pin = 1;
  Fixture fixture(config);
  fixture.run([&] {
    fixture.enumerate();
    fixture.endpoint.function(0).set_intx(true);
    pause(10 * us);
    EXPECT_TRUE(fixture.lines.level(1));
    const auto write = fixture.logic.dma_write(0x1000, std::vector<std::uint8_t>(4096, 7));
    fixture.endpoint.function(0).set_intx(false);
    fixture.endpoint.function(0).set_intx(true);
    fixture.endpoint.function(0).reset(Reset::function);
    EXPECT_TRUE(write->done);
    pause(10 * us);
    EXPECT_EQ(fixture.lines.levels(), (std::vector<bool>{true, false}));
    fixture.enumerate();
    fixture.endpoint.function(0).set_intx(true);
    pause(10 * us);
    EXPECT_EQ(fixture.lines.levels(), (std::vector<bool>{true, false, true}));
  });
}

TEST(BackPressure, AResetEndsWhatWaits) {
  Fixture::Config config = with_endpoint_credits(posted(1, 0));
  config.root_complex.ports[0].credits = posted(1, 0);
  Fixture fixture(config);
  fixture.run([&] {
    fixture.enumerate();
    fixture.logic.full = true;
    unsigned stored = 0;
    fixture.spawn([&] {
      for (; stored < 10; ++stored) fixture.write(Fixture::bar0 + 4 * stored, stored, 4);
    });
    pause(10 * us);
    EXPECT_EQ(stored, 3u);
    const auto write = fixture.logic.dma_write(0x1000, std::vector<std::uint8_t>(4096, 7));
    EXPECT_FALSE(write->done);
    fixture.root_complex.reset();
    pause(100 * us);
    EXPECT_EQ(stored, 10u) << "a processor continues without a link";
    EXPECT_TRUE(write->done);
    EXPECT_EQ(write->get_response_status(), tlm::TLM_GENERIC_ERROR_RESPONSE);
    EXPECT_TRUE(fixture.logic.holds_write());
    fixture.logic.full = false;
    fixture.logic.accept();  // nobody is interested any more
    pause(10 * us);
    fixture.enumerate();
    const std::size_t uses = fixture.logic.uses.size();
    fixture.write(Fixture::bar0 + 0x100, 0xabcd, 4);
    EXPECT_EQ(fixture.read(Fixture::bar0 + 0x100, 4), 0xabcdu);
    EXPECT_EQ(fixture.logic.uses.size(), uses + 2);
    const auto again = fixture.logic.dma_write(0x2000, std::vector<std::uint8_t>(4096, 8));
    fixture.wait_for(*again);
    EXPECT_TRUE(again->is_response_ok());
  });
}

// Device logic that answers in the middle of a reset's aftermath holds nothing up.
TEST(BackPressure, AFunctionLevelResetForgetsTheWriteThatWaits) {
  Fixture fixture;
  fixture.run([&] {
    fixture.enumerate();
    fixture.logic.full = true;
    fixture.write(Fixture::bar0, 1, 4);
    pause(10 * us);
    fixture.endpoint.function(0).reset(Reset::function);
    EXPECT_TRUE(fixture.logic.holds_write()) << "device logic still has the payload";
    fixture.logic.full = false;
    fixture.logic.accept();
    pause(10 * us);
    fixture.enumerate();
    EXPECT_EQ(fixture.read(Fixture::bar0, 4), 1u);
  });
}

class Advertised : public testing::TestWithParam<unsigned> {};

// Whatever is advertised, between the least and infinity, all arrives, and it ends.
TEST_P(Advertised, NothingIsLostAndNothingLocks) {
  std::mt19937 random(GetParam());
  auto below = [&](unsigned limit) { return static_cast<unsigned>(random() % limit); };
  auto credits = [&] {
    CreditConfig found;
    found.scale = 1u << 2 * below(3);
    const unsigned most_headers = 127 * found.scale, most_data = 2047 * found.scale;
    // More than the counters can hold in a smaller unit is a multiple of 4 or 16.
    const auto whole = [](unsigned credits, unsigned most) {
      const unsigned unit = credits <= most ? 1 : credits <= 4 * most ? 4 : 16;
      return credits - credits % unit;
    };
    for (unsigned of = 0; of < 2; ++of) {
      const unsigned least = of == 0 ? 16 : 2;  // 256 bytes; a CAS of 128 bits
      const unsigned kind = below(3);
      found.classes[of].headers = kind == 0   ? 0
                                  : kind == 1 ? 1
                                              : whole(1 + below(most_headers), 127);
      found.classes[of].data = kind == 0   ? 0
                               : kind == 1 ? least
                                           : whole(least + below(most_data - least + 1), 2047);
    }
    return found;
  };
  Fixture::Config config;
  config.root_complex.ports[0].credits = credits();
  config.endpoint.credits = credits();
  config.link.generation = 1 + below(5);
  config.link.latency_down = (1 + below(1000)) * ns;
  config.link.latency_up = (1 + below(1000)) * ns;
  Fixture fixture(config);
  fixture.memory.keep_writes = false;
  fixture.logic.keep_uses = false;
  fixture.logic.latency = below(2) * 100 * ns;
  bool over = false;
  unsigned processors = 4;
  fixture.run([&] {
    fixture.enumerate();
    // Device logic has room at times.
    fixture.spawn([&] {
      while (!over || fixture.logic.holds_write()) {
        pause((1 + below(2000)) * ns);
        fixture.logic.full = !over && below(2) == 0;
        if (!fixture.logic.full) fixture.logic.accept();
      }
    });
    for (unsigned processor = 0; processor < 4; ++processor) {
      fixture.spawn([&, processor] {
        const std::uint64_t mine = 0x1000 * processor;
        std::vector<std::uint8_t> expected(0x1000);
        for (unsigned i = 0; i < 200; ++i) {
          const unsigned bytes = 1 + below(64), at = below(0x1000 - 64);
          if (below(3) > 0) {
            std::vector<std::uint8_t> data(bytes, static_cast<std::uint8_t>(i));
            std::copy(data.begin(), data.end(), expected.begin() + at);
            fixture.write_bytes(Fixture::bar0 + mine + at, data);
          } else {
            const std::vector<std::uint8_t> part(expected.begin() + at,
                                                 expected.begin() + at + bytes);
            EXPECT_EQ(fixture.read_bytes(Fixture::bar0 + mine + at, bytes), part);
          }
        }
        over = --processors == 0;
      });
    }
    std::vector<std::uint8_t> expected(0x10000);
    std::vector<std::unique_ptr<Logic::Dma>> transfers;
    for (unsigned i = 0; i < 100; ++i) {
      const unsigned bytes = 1 + below(4096), at = below(0x10000 - 4096);
      if (below(2) == 0) {
        std::vector<std::uint8_t> data(bytes, static_cast<std::uint8_t>(i));
        std::copy(data.begin(), data.end(), expected.begin() + at);
        transfers.push_back(fixture.logic.dma_write(0x80000 + at, data));
      } else {
        // A write has its place among others when it is done.
        for (const auto& transfer : transfers) fixture.wait_for(*transfer);
        const auto read = fixture.logic.dma_read(0x80000 + at, bytes);
        fixture.wait_for(*read);
        const std::vector<std::uint8_t> part(expected.begin() + at, expected.begin() + at + bytes);
        EXPECT_EQ(read->data, part);
      }
    }
    for (const auto& transfer : transfers) fixture.wait_for(*transfer);
  });
  EXPECT_FALSE(sc_core::sc_pending_activity());
}

INSTANTIATE_TEST_SUITE_P(BackPressure, Advertised, testing::Range(0u, 40u),
                         testing::PrintToStringParamName());

}  // namespace
}  // namespace pcie
