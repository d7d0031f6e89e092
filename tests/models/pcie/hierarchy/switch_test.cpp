// SPDX-License-Identifier: Apache-2.0
// A root complex, a switch below its second port, and three devices below the switch.
#include "models/pcie/hierarchy/switch.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>

#include "models/pcie/protocol/configuration_error.h"
#include "tests/models/pcie/hierarchy/switch_fixture.h"

namespace pcie {
namespace {

using vp::ns;
using vp::us;

void pause(vp::Picoseconds span = 20 * us) {
  sc_core::wait(vp::to_sc_time(span));
}

TEST(Switch, SoftwareFindsItsPortsAndWhatIsBelow) {
  SwitchFixture fixture;
  fixture.run([&] {
    fixture.enumerate_switch();
    const auto port_type = [&](Id id) {
      return fixture.config_read(
                 id, fixture.find_capability(id, PciExpress::id) + PciExpress::capabilities, 2) >>
                 4 &
             0xf;
    };
    EXPECT_EQ(fixture.config_read(upstream_id, Header::vendor_id, 4), 0x0a02f0aeu);
    EXPECT_EQ(port_type(upstream_id), 5u);
    for (unsigned i = 0; i < devices; ++i) {
      EXPECT_EQ(fixture.config_read(port_id(i), Header::vendor_id, 4), 0x0a03f0aeu);
      EXPECT_EQ(fixture.config_read(port_id(i), Header::header_type, 1), 1u);
      EXPECT_EQ(port_type(port_id(i)), 6u);
      EXPECT_EQ(fixture.config_read(device_id(i), Header::vendor_id, 4), 0x0ae0f0aeu);
      EXPECT_TRUE(fixture.works(i)) << i;
      for (const std::uint8_t capability : {0x01, 0x05, 0x10}) {
        EXPECT_NE(fixture.find_capability(port_id(i), capability), 0u);
      }
      const unsigned express = fixture.find_capability(port_id(i), PciExpress::id);
      EXPECT_EQ(fixture.config_read(port_id(i), express + PciExpress::slot_capabilities, 4) >> 19,
                32 + i)
          << "hot-plug slot";
      EXPECT_TRUE(fixture.config_read(port_id(i), express + PciExpress::link_status, 2) & 1u << 13)
          << "link active";
    }
    // Neither functions, devices nor buses that are not there.
    const Id absent[] = {make_id(2, 0, 1),  make_id(3, 0, 1), make_id(3, devices, 0),
                         make_id(3, 31, 7), make_id(4, 1, 0), make_id(4, 31, 0)};
    for (const Id id : absent) {
      EXPECT_EQ(fixture.config_read(id, Header::vendor_id, 4), ~0u) << to_string(id);
      fixture.config_write(id, Header::command, 7, 2);
    }
    fixture.config_write(root_id, Type1Header::subordinate_bus_number, 9, 1);
    EXPECT_EQ(fixture.config_read(make_id(9, 0, 0), Header::vendor_id, 4), ~0u)
        << "beyond the switch";
    fixture.config_write(upstream_id, Type1Header::subordinate_bus_number, 9, 1);
    EXPECT_EQ(fixture.config_read(make_id(9, 0, 0), Header::vendor_id, 4), ~0u)
        << "behind none of its ports";
    EXPECT_EQ(fixture.uncorrectable(root_id), 0u);
  });
}

TEST(Switch, WindowsReachToTheirLastByte) {
  SwitchFixture fixture;
  fixture.run([&] {
    fixture.enumerate_switch();
    const auto reaches = [&](std::uint64_t address) {
      const std::uint64_t before = fixture.counted("fixture.switch.upstream.unsupported_requests");
      fixture.read(address, 1);
      return fixture.counted("fixture.switch.upstream.unsupported_requests") == before;
    };
    // The root port lets through more than the switch does.
    fixture.config_write(root_id, Type1Header::memory_base, 0xc1f0c000, 4);
    EXPECT_FALSE(reaches(window - 1));
    EXPECT_TRUE(reaches(window));
    EXPECT_TRUE(reaches(window + 3 * MiB - 1));
    EXPECT_FALSE(reaches(window + 3 * MiB));
    fixture.config_write(port_id(1), Type1Header::memory_base, 0x0000fff0, 4);  // closed
    EXPECT_TRUE(reaches(bar(1) - 1));
    EXPECT_FALSE(reaches(bar(1)));
    EXPECT_FALSE(reaches(bar(2) - 1));
    EXPECT_TRUE(reaches(bar(2)));
    EXPECT_TRUE(reaches(bar64(1))) << "the other window is open";
    // Memory Space and D3 close a port.
    for (const Id id : {upstream_id, port_id(0)}) {
      EXPECT_TRUE(fixture.works(0));
      fixture.config_write(id, Header::command, Header::CommandBit::bus_master, 2);
      EXPECT_FALSE(reaches(bar(0)));
      fixture.config_write(id, Header::command, memory_and_master, 2);
      EXPECT_TRUE(fixture.works(0));
      const unsigned power =
          fixture.find_capability(id, PowerManagement::id) + PowerManagement::control;
      fixture.config_write(id, power, 3, 2);
      EXPECT_FALSE(reaches(bar(0)));
      EXPECT_EQ(fixture.logic_of(0).dma_write(0x1000, {1})->get_response_status(),
                tlm::TLM_OK_RESPONSE)
          << "posted";
      pause();
      fixture.config_write(id, power, 0, 2);
      EXPECT_TRUE(fixture.works(0));
    }
    EXPECT_TRUE(fixture.memory.writes.empty());
  });
}

TEST(Switch, BusMasterGatesWhatComesFromBelow) {
  SwitchFixture fixture;
  fixture.run([&] {
    fixture.enumerate_switch();
    for (const Id id : {upstream_id, port_id(1)}) {
      fixture.config_write(id, Header::command, Header::CommandBit::memory_space, 2);
      auto read = fixture.logic_of(1).dma_read(0x1000, 64);
      fixture.wait_for(*read);
      EXPECT_EQ(read->get_response_status(), tlm::TLM_ADDRESS_ERROR_RESPONSE);
      EXPECT_TRUE(fixture.uncorrectable(id) == 0 || id == port_id(1)) << "advisory and masked";
      fixture.logic_of(1).dma_write(0x1000, {1});
      pause();
      EXPECT_EQ(fixture.uncorrectable(id), bit_of(Error::unsupported_request));
      fixture.config_write(id, Header::command, memory_and_master, 2);
      EXPECT_TRUE(fixture.works(1));
    }
    EXPECT_TRUE(fixture.memory.writes.empty());
  });
}

// The latency is that of the switch, half at each port, whichever way a packet goes.
TEST(Switch, ReadsTakeTheirTimeToThePicosecond) {
  SwitchFixture::Config config;
  config.sw.latency = 123'456;
  config.fixture.root_complex.latency = 50'001;
  config.endpoint.latency = 33'333;
  config.above.generation = config.wires.generation = 1;  // every byte takes whole picoseconds
  config.above.lanes = config.wires.lanes = 1;
  SwitchFixture fixture(config);
  fixture.run([&] {
    fixture.enumerate_switch();
    const LineRate& rate = fixture.above.rate();
    const auto wire = [&](std::uint64_t bytes) {
      return static_cast<vp::Picoseconds>((bytes * rate.picoseconds + rate.bytes - 1) / rate.bytes);
    };
    const vp::Picoseconds links = 2 * (150 + 130) * ns;
    vp::Picoseconds start = vp::now();
    fixture.read(bar(0), 4);
    EXPECT_EQ(vp::now() - start, 2 * 50'001 + 2 * 123'456 + 2 * 33'333 + links + 4 * wire(20) +
                                     2 * (wire(24) - wire(20)));
    start = vp::now();
    fixture.config_read(port_id(2), Header::vendor_id, 4);
    EXPECT_EQ(vp::now() - start, 2 * 50'001 + 123'456 + links / 2 + wire(20) + wire(24));
    start = vp::now();
    fixture.logic_of(0).dma_write(bar(1), {1, 2, 3, 4});
    fixture.logic_of(1).on_use = [&](const Logic::Use&) {
      EXPECT_EQ(vp::now() - start, 33'333 + 123'456 + 33'333 + (130 + 150) * ns + 2 * wire(24));
    };
    pause();
    EXPECT_EQ(fixture.logic_of(1).uses.size(), 1u);
  });
}

TEST(Switch, PeersReachEachOtherPastTheHost) {
  SwitchFixture fixture;
  fixture.run([&] {
    fixture.enumerate_switch();
    for (unsigned from = 0; from < devices; ++from) {
      for (unsigned to = 0; to < devices; ++to) {
        std::vector<std::uint8_t> data(700);
        for (unsigned i = 0; i < data.size(); ++i) data[i] = i * 7 + from * 3 + to;
        const std::uint64_t address = from % 2 ? bar64(to) + 0x123 : bar(to) + 0x123;
        const std::uint64_t passed = fixture.counted("fixture.above.up.MWr.tlps");
        auto write = fixture.logic_of(from).dma_write(address, data);
        auto read = fixture.logic_of(from).dma_read(address, data.size());
        fixture.wait_for(*read);
        if (from == to) {
          EXPECT_EQ(read->get_response_status(), tlm::TLM_ADDRESS_ERROR_RESPONSE);
          continue;
        }
        EXPECT_TRUE(read->is_response_ok());
        EXPECT_EQ(read->data, data);
        EXPECT_EQ(fixture.logic_of(to).uses.back().requester, device_id(from));
        EXPECT_EQ(fixture.counted("fixture.above.up.MWr.tlps"), passed);
      }
    }
    // A window of the switch that no port has does not lead up.
    fixture.config_write(port_id(2), Type1Header::memory_base, 0x0000fff0, 4);
    auto lost = fixture.logic_of(0).dma_read(bar(2), 4);
    fixture.wait_for(*lost);
    EXPECT_EQ(lost->get_response_status(), tlm::TLM_ADDRESS_ERROR_RESPONSE);
    EXPECT_EQ(fixture.counted("fixture.above.up.MRd.tlps"), 0u);
    fixture.config_write(port_id(2), Type1Header::memory_base, 0xc120c120, 4);
    // Without a link a read is refused at once.
    fixture.sw.port(2).remove_card();
    lost = fixture.logic_of(0).dma_read(bar(2), 4);
    fixture.wait_for(*lost);
    EXPECT_EQ(lost->get_response_status(), tlm::TLM_ADDRESS_ERROR_RESPONSE);
    EXPECT_EQ(fixture.memory.refused, 0u);
  });
}

TEST(Switch, PinsAreSwizzledAndCollected) {
  SwitchFixture::Config config;
  config.endpoint.functions.assign(4, config.endpoint.functions[0]);
  for (unsigned i = 0; i < 4; ++i) {
    config.endpoint.functions[i].bars.clear();
    config.endpoint.functions[i].msi_x = {};
    config.endpoint.functions[i].interrupt_pin = i + 1;
  }
  SwitchFixture fixture(config);
  Lines lines("lines");
  fixture.root_complex.interrupt.bind(lines);
  fixture.run([&] {
    fixture.enumerate_switch();
    for (unsigned i = 0; i < devices; ++i) {
      for (unsigned pin = 0; pin < 4; ++pin) {
        const unsigned line = (pin + i + 2) % 4;  // the switch's own, then that of the root port
        Function& function = fixture.cards[i]->endpoint.function(pin);
        const unsigned before = lines.count(line);
        function.set_intx(true);
        pause();
        EXPECT_TRUE(lines.level(line)) << i << ' ' << pin;
        function.set_intx(false);
        pause();
        EXPECT_FALSE(lines.level(line));
        EXPECT_EQ(lines.count(line), before + 2);
      }
    }
    // Two on one line: INTB of device 0, INTA of device 1.
    Function& one = fixture.cards[0]->endpoint.function(1);
    Function& other = fixture.cards[1]->endpoint.function(0);
    const unsigned before = lines.count(3);
    one.set_intx(true);
    other.set_intx(true);
    pause();
    one.set_intx(false);
    pause();
    EXPECT_TRUE(lines.level(3));
    EXPECT_EQ(lines.count(3), before + 1);
    // A card that is gone asserts nothing.
    fixture.sw.port(1).remove_card();
    pause();
    EXPECT_FALSE(lines.level(3));
  });
}

TEST(Switch, ErrorsAreToldOfAsTheirOwn) {
  SwitchFixture fixture;
  fixture.run([&] {
    fixture.enumerate_switch();
    for (const Id id : {root_id, upstream_id, port_id(0), port_id(1), port_id(2), device_id(0),
                        device_id(1), device_id(2)}) {
      fixture.enable_errors(id);
    }
    const auto source = [&](Link& link, Direction direction, Error error) {
      EXPECT_TRUE(link.inject(direction, {error, {}, 1}));
      pause();
      const auto found = fixture.collect();
      return found.status & 1u << 2 ? found.uncorrectable : Id{0};
    };
    Link& link = fixture.cards[1]->link;
    EXPECT_EQ(source(link, Direction::down, Error::malformed_tlp), device_id(1));
    EXPECT_EQ(source(link, Direction::up, Error::malformed_tlp), port_id(1));
    EXPECT_EQ(source(fixture.above, Direction::down, Error::malformed_tlp), upstream_id);
    EXPECT_EQ(source(fixture.above, Direction::up, Error::malformed_tlp), root_id);
    EXPECT_EQ(fixture.uncorrectable(port_id(1)), bit_of(Error::malformed_tlp));
    EXPECT_EQ(fixture.uncorrectable(port_id(0)), 0u);
    // SERR# Enable of each bridge on the way.
    for (const Id id : {port_id(1), upstream_id}) {
      fixture.config_write(id, Type1Header::bridge_control, 0, 2);
      EXPECT_EQ(source(link, Direction::down, Error::receiver_overflow), 0u);
      EXPECT_EQ(source(link, Direction::up, Error::receiver_overflow),
                id == upstream_id ? 0u : port_id(1));
      EXPECT_EQ(source(fixture.above, Direction::down, Error::receiver_overflow), upstream_id);
      fixture.config_write(id, Type1Header::bridge_control,
                           Type1Header::BridgeControlBit::serr_enable, 2);
    }
    EXPECT_EQ(source(link, Direction::down, Error::receiver_overflow), device_id(1));
    // A port answers a packet that it refuses, and forwards a poisoned packet.
    fixture.cards[0]->link.inject(Direction::up, {Error::unsupported_request, TlpType::MRd, 1});
    auto read = fixture.logic_of(0).dma_read(0x1000, 4);
    fixture.wait_for(*read);
    EXPECT_EQ(read->get_response_status(), tlm::TLM_ADDRESS_ERROR_RESPONSE);
    fixture.cards[0]->link.inject(Direction::up, {Error::poisoned_tlp, TlpType::MWr, 1});
    fixture.logic_of(0).dma_write(0x1000, {1, 2, 3, 4});
    pause();
    EXPECT_EQ(fixture.collect().uncorrectable, root_id);
    EXPECT_TRUE(fixture.config_read(port_id(0), Type1Header::secondary_status, 2) & 1u << 15);
    fixture.above.inject(Direction::down, {Error::unsupported_request, TlpType::MRd, 1});
    EXPECT_EQ(fixture.read(bar(0), 4), ~0u);
    // A duplicate completion ends at its requester.
    fixture.cards[2]->link.inject(Direction::up, {Error::unexpected_completion, TlpType::CplD, 1});
    EXPECT_TRUE(fixture.works(2));
    pause();
    EXPECT_EQ(fixture.counter("root_complex.port1.unexpected_completions"), 1u);
  });
}

TEST(Switch, AResetReachesWhatIsBelowIt) {
  SwitchFixture fixture;
  fixture.run([&] {
    fixture.enumerate_switch();
    const auto is_reset = [&](Id id) { return fixture.config_read(id, Header::command, 2) == 0; };
    const auto pulse = [&](Id id) {
      fixture.config_write(id, Type1Header::bridge_control,
                           Type1Header::BridgeControlBit::serr_enable |
                               Type1Header::BridgeControlBit::secondary_bus_reset,
                           2);
      pause();
      fixture.config_write(id, Type1Header::bridge_control,
                           Type1Header::BridgeControlBit::serr_enable, 2);
      pause(30 * us);
    };
    pulse(port_id(1));
    EXPECT_TRUE(is_reset(device_id(1)));
    EXPECT_FALSE(is_reset(port_id(1)));
    EXPECT_TRUE(fixture.works(0) && fixture.works(2)) << "the others have seen nothing";
    fixture.enumerate_device(1);
    EXPECT_TRUE(fixture.works(1));

    pulse(upstream_id);
    EXPECT_FALSE(is_reset(upstream_id));
    for (unsigned i = 0; i < devices; ++i) {
      EXPECT_TRUE(is_reset(port_id(i)));
      fixture.enumerate_port(i);
      EXPECT_TRUE(is_reset(device_id(i)));
      fixture.enumerate_device(i);
      EXPECT_TRUE(fixture.works(i));
    }

    fixture.cards[0]->logic.silent = true;
    bool answered = false;
    fixture.spawn([&] {
      EXPECT_EQ(fixture.read(bar(0), 4), ~0u) << "outstanding at the reset";
      answered = true;
    });
    pause();
    pulse(root_id);
    EXPECT_TRUE(answered);
    fixture.cards[0]->logic.silent = false;
    EXPECT_TRUE(is_reset(upstream_id));
    fixture.enumerate_switch();
    for (unsigned i = 0; i < devices; ++i) EXPECT_TRUE(fixture.works(i));

    fixture.root_complex.reset();
    pause(30 * us);
    fixture.enumerate_switch();
    for (unsigned i = 0; i < devices; ++i) EXPECT_TRUE(fixture.works(i));
  });
}

TEST(Switch, CardsComeAndGoBelowIt) {
  SwitchFixture::Config config;
  config.sw.ports[1].hot_plug = HotPlugSlotConfig::with({&HotPlugSlotConfig::surprise});
  SwitchFixture fixture(config);
  fixture.run([&] {
    fixture.enumerate_switch();
    const unsigned express = fixture.find_capability(port_id(1), PciExpress::id);
    const unsigned msi = fixture.find_capability(port_id(1), Msi::id);
    fixture.config_write(port_id(1), msi + Msi::message_address, 0xfee01000, 4);
    fixture.config_write(port_id(1), msi + Msi::message_control, Msi::ControlBit::enable, 2);
    fixture.config_write(port_id(1), express + PciExpress::slot_control, 0x1028, 2);
    EXPECT_TRUE(fixture.sw.port(1).remove_card());
    EXPECT_FALSE(fixture.sw.port(1).remove_card());
    pause();
    EXPECT_EQ(fixture.memory.messages.size(), 1u);
    EXPECT_EQ(fixture.config_read(port_id(1), express + PciExpress::slot_status, 2), 0x108u)
        << "presence and link";
    EXPECT_EQ(fixture.config_read(device_id(1), Header::vendor_id, 4), ~0u);
    EXPECT_EQ(fixture.read(bar(1), 4), ~0u);
    fixture.write(bar(1), 1, 4);
    EXPECT_TRUE(fixture.works(0) && fixture.works(2));
    fixture.config_write(port_id(1), express + PciExpress::slot_status, 0x108, 2);
    EXPECT_TRUE(fixture.sw.port(1).insert_card());
    pause(30 * us);
    EXPECT_EQ(fixture.memory.messages.size(), 2u);
    fixture.enumerate_device(1);
    EXPECT_TRUE(fixture.works(1));
    // With the whole switch its cards are gone too.
    fixture.root_complex.port(1).remove_card();
    pause();
    for (unsigned i = 0; i < devices; ++i)
      EXPECT_EQ(fixture.config_read(device_id(i), Header::vendor_id, 4), ~0u);
    fixture.root_complex.port(1).insert_card();
    pause(30 * us);
    fixture.enumerate_switch();
    for (unsigned i = 0; i < devices; ++i) EXPECT_TRUE(fixture.works(i));
  });
}

TEST(Switch, APortContainsWhatIsBelowIt) {
  SwitchFixture::Config config;
  for (auto& each : config.sw.ports) each.containment = true;
  SwitchFixture fixture(config);
  fixture.run([&] {
    fixture.enumerate_switch();
    const unsigned dpc = fixture.find_extended(port_id(0), DownstreamPortContainment::id);
    EXPECT_EQ(fixture.config_read(port_id(0), dpc + DownstreamPortContainment::capability, 2),
              0xc0u)
        << "no extensions of root ports";
    for (const Id id : {root_id, upstream_id, port_id(0), device_id(0)}) fixture.enable_errors(id);
    fixture.config_write(port_id(0), dpc + DownstreamPortContainment::control, 6,
                         2);  // non-fatal too, Unsupported Request
    fixture.cards[0]->link.inject(Direction::down, {Error::malformed_tlp, {}, 1});
    pause();
    EXPECT_EQ(fixture.config_read(port_id(0), dpc + DownstreamPortContainment::status, 2) & 7, 5u)
        << "by a fatal message";
    EXPECT_EQ(fixture.config_read(port_id(0), dpc + DownstreamPortContainment::source_id, 2),
              device_id(0));
    EXPECT_EQ(fixture.collect().status, 0u) << "it went no further";
    EXPECT_EQ(fixture.config_read(device_id(0), Header::vendor_id, 4), ~0u);
    EXPECT_TRUE(fixture.works(1) && fixture.works(2));
    fixture.config_write(port_id(0), dpc + DownstreamPortContainment::status, 1, 2);
    pause(30 * us);
    fixture.enumerate_device(0);
    EXPECT_TRUE(fixture.works(0));
  });
}

CreditConfig one_packet() {
  CreditConfig credits;
  for (unsigned of = 0; of < credit_classes; ++of) credits.classes[of] = {1, 16};
  return credits;
}

// A device that takes no writes holds up the way to it, and the store behind that.
TEST(Switch, AWriteThatIsNotTakenHoldsUpWhatIsBehind) {
  SwitchFixture::Config config;
  config.sw.credits = config.endpoint.credits = one_packet();
  config.endpoint.credits.classes[2] = {};
  SwitchFixture fixture(config);
  unsigned stored = 0;
  constexpr unsigned stores = 50;
  fixture.run([&] {
    fixture.enumerate_switch();
    fixture.logic_of(0).full = true;
    fixture.spawn([&] {
      for (; stored < stores; ++stored) fixture.write(bar(0) + 4 * stored, stored, 4);
    });
    pause(100 * us);
    // One at device logic, in either receive buffer, and at either port's link.
    EXPECT_EQ(stored, 5u);
    EXPECT_EQ(fixture.logic_of(0).uses.size(), 1u);
    // What goes up does not care.
    fixture.logic_of(1).dma_write(0x2000, {1, 2, 3, 4});
    pause();
    EXPECT_EQ(fixture.memory.writes.size(), 0u) << "it might go to the blocked port as well";
    fixture.logic_of(0).full = false;
    fixture.logic_of(0).accept();
    pause(100 * us);
    EXPECT_EQ(stored, stores);
    EXPECT_EQ(fixture.memory.writes.size(), 1u);
    for (unsigned i = 0; i < stores; ++i) EXPECT_EQ(fixture.read(bar(0) + 4 * i, 4), i);
  });
}

// Completions do not pass a write, and those that wait for it are not piled up in the switch.
TEST(Switch, CompletionsBehindAWriteWaitInTheReceiveBuffer) {
  SwitchFixture::Config config;
  config.sw.credits = one_packet();
  config.endpoint.credits.classes[0] = {1, 16};
  SwitchFixture fixture(config);
  fixture.run([&] {
    fixture.enumerate_switch();
    fixture.logic_of(0).full = true;
    for (unsigned i = 0; i < 3; ++i) fixture.write(bar(0) + 4 * i, i, 4);  // the last at the port
    pause();
    const auto read = fixture.logic_of(0).dma_read(0x1000, 4096);
    pause(100 * us);
    EXPECT_EQ(fixture.counted("fixture.above.down.CplD.tlps"), 2u) << "one of them in the buffer";
    EXPECT_EQ(fixture.counted("fixture.link0.down.CplD.tlps"), 0u);
    EXPECT_EQ(fixture.logic_of(0).uses.size(), 1u);
    fixture.logic_of(0).full = false;
    fixture.logic_of(0).accept();
    fixture.wait_for(*read);
    EXPECT_TRUE(read->is_response_ok());
    EXPECT_EQ(fixture.counted("fixture.link0.down.CplD.tlps"), 4096u / 128);
    EXPECT_EQ(fixture.logic_of(0).uses.size(), 3u);
  });
}

// Three devices write through a link with room for a packet, each as fast as it can.
TEST(Switch, DevicesTakeTurns) {
  SwitchFixture::Config config;
  config.fixture.root_complex.ports[1].credits.classes[0] = {1, 16};
  for (auto& port : config.sw.ports) port.credits.classes[0] = {1, 16};
  SwitchFixture fixture(config);
  constexpr unsigned count = 50;
  fixture.run([&] {
    fixture.enumerate_switch();
    for (unsigned i = 0; i < devices; ++i) {
      fixture.spawn([&fixture, i] {
        for (unsigned n = 0; n < count; ++n) {
          const auto write = fixture.logic_of(i).dma_write(0x1000 * (i + 1), {1, 2, 3, 4});
          fixture.wait_for(*write);
        }
      });
    }
  });
  ASSERT_EQ(fixture.memory.writes.size(), devices * count);
  for (std::size_t at = 2 * devices; at < fixture.memory.writes.size() - 4 * devices; ++at) {
    std::set<std::uint64_t> seen;
    for (unsigned i = 0; i < 2 * devices; ++i) seen.insert(fixture.memory.writes[at + i].address);
    EXPECT_EQ(seen.size(), devices) << at;
  }
}

class Credited : public testing::TestWithParam<unsigned> {};

// Whatever is advertised: host and devices use each other, all is delivered, and it ends.
TEST_P(Credited, NothingIsLostAndNothingLocks) {
  std::mt19937 random(GetParam());
  const auto below = [&](unsigned limit) { return static_cast<unsigned>(random() % limit); };
  const auto credits = [&](bool finite_completions, unsigned non_posted = 1) {
    CreditConfig found;
    for (unsigned of = 0; of < (finite_completions ? 3u : 2u); ++of) {
      const unsigned least = of == 1 ? non_posted : 16;  // 256 bytes
      const unsigned kind = below(4);
      if (kind == 0) continue;
      found.classes[of] = {1 + (kind > 1 ? below(20) : 0), least + (kind > 1 ? below(100) : 0)};
    }
    return found;
  };
  SwitchFixture::Config config;
  config.fixture.root_complex.ports[1].credits = credits(false, 2);  // the largest AtomicOp
  config.sw.credits = credits(true, 2);
  for (auto& each : config.sw.ports) each.credits = credits(true, 2);
  config.endpoint.credits = credits(false);
  config.nested = below(2) == 0;
  config.inner.credits = credits(true, 2);
  config.inner.ports[0].credits = credits(true, 2);
  config.above.generation = 1 + below(5);
  config.wires.latency_down = (1 + below(1000)) * ns;
  SwitchFixture fixture(config);
  fixture.memory.keep_writes = false;
  bool over = false;
  unsigned processors = devices, transferring = devices;
  fixture.run([&] {
    fixture.enumerate_switch();
    for (unsigned i = 0; i < devices; ++i) {
      Logic& logic = fixture.logic_of(i);
      logic.keep_uses = false;
      logic.latency = below(2) * 100 * ns;
      fixture.spawn([&] {
        while (!over || logic.holds_write()) {
          pause((1 + below(2000)) * ns);
          logic.full = !over && below(3) == 0;
          if (!logic.full) logic.accept();
        }
      });
      // A processor has the first 4 KiB of each device, its neighbours the next ones.
      fixture.spawn([&, i] {
        std::vector<std::uint8_t> expected(0x1000);
        for (unsigned n = 0; n < 60; ++n) {
          const unsigned bytes = 1 + below(64), at = below(0x1000 - 64);
          if (below(3) > 0) {
            const std::vector<std::uint8_t> data(bytes, static_cast<std::uint8_t>(n));
            std::copy(data.begin(), data.end(), expected.begin() + at);
            fixture.write_bytes(bar(i) + at, data);
          } else {
            const std::vector<std::uint8_t> part(expected.begin() + at,
                                                 expected.begin() + at + bytes);
            EXPECT_EQ(fixture.read_bytes(bar(i) + at, bytes), part);
          }
        }
        over = --processors + transferring == 0;
      });
      fixture.spawn([&, i] {
        for (unsigned n = 0; n < 30; ++n) {
          const unsigned bytes = 1 + below(2000), to = below(3);
          const std::uint64_t address =
              to == 0 ? 0x10000 + 0x4000 * i : bar((i + to) % devices) + 0x1000 * (1 + to);
          std::vector<std::uint8_t> data(bytes, static_cast<std::uint8_t>(16 * i + n));
          const auto write = fixture.logic_of(i).dma_write(address, data);
          fixture.wait_for(*write);  // only then has it its place
          const auto read = fixture.logic_of(i).dma_read(address, bytes);
          fixture.wait_for(*read);
          EXPECT_EQ(read->data, data) << i << ' ' << n << ' ' << to;
        }
        over = processors + --transferring == 0;
      });
    }
  });
  EXPECT_FALSE(sc_core::sc_pending_activity());
}

INSTANTIATE_TEST_SUITE_P(Switch, Credited, testing::Range(0u, 40u),
                         testing::PrintToStringParamName());

TEST(Switch, ASwitchBelowASwitch) {
  SwitchFixture::Config config;
  config.nested = true;
  SwitchFixture fixture(config);
  Lines lines("lines");
  fixture.root_complex.interrupt.bind(lines);
  const Id far = make_id(8, 0, 0), far_port = make_id(7, 0, 0);
  fixture.run([&] {
    fixture.enumerate_switch();
    EXPECT_EQ(fixture.config_read(far, Header::vendor_id, 4), 0x0ae0f0aeu);
    for (unsigned i = 0; i < devices; ++i) EXPECT_TRUE(fixture.works(i)) << i;
    // Peers, one of them two switches away.
    for (const auto& [from, to] : {std::pair(0u, 2u), std::pair(2u, 1u)}) {
      const std::vector<std::uint8_t> data(100, 0x30 + from);
      fixture.logic_of(from).dma_write(bar(to) + 0x100, data);
      const auto read = fixture.logic_of(from).dma_read(bar(to) + 0x100, 100);
      fixture.wait_for(*read);
      EXPECT_EQ(read->data, data);
    }
    EXPECT_EQ(fixture.counted("fixture.above.up.MWr.tlps"), 0u);
    for (const Id id : {root_id, far_port, far}) fixture.enable_errors(id);
    fixture.cards[2]->link.inject(Direction::down, {Error::malformed_tlp, {}, 1});
    pause();
    EXPECT_EQ(fixture.collect().uncorrectable, far);
    fixture.cards[2]->link.inject(Direction::up, {Error::malformed_tlp, {}, 1});
    pause();
    EXPECT_EQ(fixture.collect().uncorrectable, far_port);
    // What resets the outer one resets the inner one.
    fixture.config_write(upstream_id, Type1Header::bridge_control,
                         Type1Header::BridgeControlBit::serr_enable |
                             Type1Header::BridgeControlBit::secondary_bus_reset,
                         2);
    pause();
    fixture.config_write(upstream_id, Type1Header::bridge_control,
                         Type1Header::BridgeControlBit::serr_enable, 2);
    pause(50 * us);
    for (unsigned i = 0; i < devices; ++i) fixture.enumerate_port(i);
    EXPECT_EQ(fixture.config_read(far, Header::command, 2), 0u);
    for (unsigned i = 0; i < devices; ++i) fixture.enumerate_device(i);
    for (unsigned i = 0; i < devices; ++i) EXPECT_TRUE(fixture.works(i)) << i;
  });
}

class Written : public testing::TestWithParam<unsigned> {};

// Whatever software writes, and whatever happens at links and hot-plug slots meanwhile: after a
// fundamental reset all is as it was.
TEST_P(Written, AtRandomNothingIsStuckForGood) {
  std::mt19937 random(GetParam());
  const auto below = [&](unsigned limit) { return static_cast<unsigned>(random() % limit); };
  SwitchFixture::Config config;
  config.nested = GetParam() % 2 == 0;
  config.fixture.root_complex.completion_timeout = 100 * us;
  config.fixture.root_complex.peer_to_peer = GetParam() % 4 < 2;
  for (auto& each : config.sw.ports) {
    each.hot_plug = HotPlugSlotConfig::with(
        {&HotPlugSlotConfig::button, &HotPlugSlotConfig::indicators, &HotPlugSlotConfig::power});
    each.hot_plug.surprise = below(2) == 0;
    each.containment = true;
  }
  config.sw.credits = config.sw.ports[0].credits = one_packet();
  SwitchFixture fixture(config);
  const Id ids[] = {root_id,      upstream_id,  port_id(0),       port_id(1),      port_id(2),
                    device_id(0), device_id(2), make_id(7, 0, 0), make_id(3, 9, 1)};
  std::vector<std::unique_ptr<Logic::Dma>> transfers;
  fixture.run([&] {
    fixture.enumerate_switch();
    for (unsigned n = 0; n < 600; ++n) {
      const unsigned i = below(devices);
      switch (below(8)) {
        case 0:
        case 1:
        case 2: {
          // Registers of the header and capabilities rather than the emptiness behind them.
          const unsigned offset = 4 * (below(2) ? below(0x40) : below(0x90));
          const std::uint32_t value = below(2) ? random() : 1u << below(32);
          fixture.config_write(ids[below(std::size(ids))], offset, value, 4);
          break;
        }
        case 3:
          fixture.read(window + 4 * below(devices * MiB / 4), 4);
          break;
        case 4:
          fixture.write(window + 4 * below(devices * MiB / 4), random(), 4);
          break;
        case 5:
          transfers.push_back(below(2) ? fixture.logic_of(i).dma_read(bar(below(devices)), 256)
                                       : fixture.logic_of(i).dma_write(0x1000, {1, 2, 3, 4}));
          break;
        case 6:
          below(2) ? fixture.sw.port(i).remove_card() : fixture.sw.port(i).insert_card();
          break;
        case 7: {
          const Error error = all_errors[below(std::size(all_errors))];
          Link& link = below(3) == 0 ? fixture.above : fixture.cards[i]->link;
          link.inject(below(2) ? Direction::down : Direction::up, {error, {}, 1});
          break;
        }
      }
      if (below(4) == 0) pause(below(3000) * ns);
    }
    for (unsigned i = 0; i < devices; ++i) fixture.sw.port(i).insert_card();
    fixture.root_complex.reset();
    pause(60'000 * us);  // all that had a timeout
    for (const auto& transfer : transfers) EXPECT_TRUE(transfer->done);
    fixture.enumerate_switch();
    for (unsigned i = 0; i < devices; ++i) EXPECT_TRUE(fixture.works(i)) << i;
  });
  EXPECT_FALSE(sc_core::sc_pending_activity());
}

INSTANTIATE_TEST_SUITE_P(Switch, Written, testing::Range(0u, 40u),
                         testing::PrintToStringParamName());

TEST(Switch, WhatNoSwitchCanBeIsRefused) {
  vp::Domain domain("domain");
  vp::Statistics statistics;
  SwitchConfig odd;
  odd.latency = 1;
  EXPECT_THROW(Switch("odd", odd, domain, statistics), ConfigurationError);
  odd.latency = -2;
  EXPECT_THROW(Switch("negative", odd, domain, statistics), ConfigurationError);
  SwitchConfig none;
  none.ports.clear();
  EXPECT_THROW(Switch("none", none, domain, statistics), ConfigurationError);
  none.ports.resize(32);
  EXPECT_THROW(Switch("many", none, domain, statistics), ConfigurationError);
}

}  // namespace
}  // namespace pcie
