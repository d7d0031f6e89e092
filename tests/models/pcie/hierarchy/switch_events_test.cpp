// SPDX-License-Identifier: Apache-2.0
// Errors, interrupts, resets and hot-plug at the ports of a switch.
#include <gtest/gtest.h>

#include "tests/models/pcie/hierarchy/switch_ends.h"
#include "tests/models/pcie/hierarchy/switch_fixture.h"

namespace pcie {
namespace {

using vp::us;

TEST(Switch, PinsAreSwizzledAndCollected) {
  SwitchFixture::Config config;
  config.endpoint.functions.assign(4, config.endpoint.functions[0]);
  for (unsigned i = 0; i < 4; ++i) {
    config.endpoint.functions[i].bars.clear();
    config.endpoint.functions[i].msi_x = {};
    config.endpoint.functions[i].interrupt_pin = i + 1;
  }
  SwitchFixture fixture(config);
  fixture.run([&] {
    fixture.enumerate_switch();
    for (unsigned i = 0; i < devices; ++i) {
      for (unsigned pin = 0; pin < 4; ++pin) {
        const unsigned line = (pin + i + 2) % 4;  // the switch's own, then that of the root port
        Function& function = fixture.cards[i]->endpoint.function(pin);
        const unsigned before = fixture.lines.count(line);
        function.set_intx(true);
        settle();
        EXPECT_TRUE(fixture.lines.level(line)) << i << ' ' << pin;
        function.set_intx(false);
        settle();
        EXPECT_FALSE(fixture.lines.level(line));
        EXPECT_EQ(fixture.lines.count(line), before + 2);
      }
    }
    // Two on one line: INTB of device 0, INTA of device 1.
    Function& one = fixture.cards[0]->endpoint.function(1);
    Function& other = fixture.cards[1]->endpoint.function(0);
    const unsigned before = fixture.lines.count(3);
    one.set_intx(true);
    other.set_intx(true);
    settle();
    one.set_intx(false);
    settle();
    EXPECT_TRUE(fixture.lines.level(3));
    EXPECT_EQ(fixture.lines.count(3), before + 1);
    // A card that is gone asserts nothing.
    fixture.sw.port(1).remove_card();
    settle();
    EXPECT_FALSE(fixture.lines.level(3));
  });
}

TEST(Switch, ErrorsAreReportedAsTheirOwn) {
  SwitchFixture fixture;
  fixture.run([&] {
    fixture.enumerate_switch();
    for (const Id id : {root_id, upstream_id, port_id(0), port_id(1), port_id(2), device_id(0),
                        device_id(1), device_id(2)}) {
      fixture.enable_errors(id);
    }
    const auto source = [&](Link& link, Direction direction, Error error) {
      EXPECT_TRUE(link.inject(direction, {error, {}, 1}));
      settle();
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
    settle();
    EXPECT_EQ(fixture.collect().uncorrectable, root_id);
    EXPECT_TRUE(fixture.config_read(port_id(0), Type1Header::secondary_status, 2) & 1u << 15);
    fixture.above.inject(Direction::down, {Error::unsupported_request, TlpType::MRd, 1});
    EXPECT_EQ(fixture.read(bar(0), 4), ~0u);
    // A duplicate completion ends at its requester.
    fixture.cards[2]->link.inject(Direction::up, {Error::unexpected_completion, TlpType::CplD, 1});
    EXPECT_TRUE(fixture.works(2));
    settle();
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
      settle();
      fixture.config_write(id, Type1Header::bridge_control,
                           Type1Header::BridgeControlBit::serr_enable, 2);
      settle(30 * us);
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
    settle();
    pulse(root_id);
    EXPECT_TRUE(answered);
    fixture.cards[0]->logic.silent = false;
    EXPECT_TRUE(is_reset(upstream_id));
    fixture.enumerate_switch();
    for (unsigned i = 0; i < devices; ++i) EXPECT_TRUE(fixture.works(i));

    fixture.root_complex.reset();
    settle(30 * us);
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
    fixture.enable_msi(port_id(1));
    fixture.config_write(port_id(1), express + PciExpress::slot_control, 0x1028, 2);
    EXPECT_TRUE(fixture.sw.port(1).remove_card());
    EXPECT_FALSE(fixture.sw.port(1).remove_card());
    settle();
    EXPECT_EQ(fixture.memory.messages.size(), 1u);
    EXPECT_EQ(fixture.config_read(port_id(1), express + PciExpress::slot_status, 2), 0x108u)
        << "presence and link";
    EXPECT_EQ(fixture.config_read(device_id(1), Header::vendor_id, 4), ~0u);
    EXPECT_EQ(fixture.read(bar(1), 4), ~0u);
    fixture.write(bar(1), 1, 4);
    EXPECT_TRUE(fixture.works(0) && fixture.works(2));
    fixture.config_write(port_id(1), express + PciExpress::slot_status, 0x108, 2);
    EXPECT_TRUE(fixture.sw.port(1).insert_card());
    settle(30 * us);
    EXPECT_EQ(fixture.memory.messages.size(), 2u);
    fixture.enumerate_device(1);
    EXPECT_TRUE(fixture.works(1));
    // With the whole switch its cards are gone too.
    fixture.root_complex.port(1).remove_card();
    settle();
    for (unsigned i = 0; i < devices; ++i)
      EXPECT_EQ(fixture.config_read(device_id(i), Header::vendor_id, 4), ~0u);
    fixture.root_complex.port(1).insert_card();
    settle(30 * us);
    fixture.enumerate_switch();
    for (unsigned i = 0; i < devices; ++i) EXPECT_TRUE(fixture.works(i));
  });
}

// Port 1 signals that its card was removed, while the link above has no credits.
struct PortThatSignals : SwitchEnds {
  PortThatSignals() : SwitchEnds(with_surprise(), one_write()) {
    config_write(id, msi + Msi::message_address, 0xfee01000, 4);
    config_write(id, msi + Msi::message_data, 0x41, 2);
    config_write(id, msi + Msi::message_control, 1, 2);
    config_write(id, express + PciExpress::slot_status, 0x1ff, 2);
    config_write(id, express + PciExpress::slot_control, 0x1028, 2);
  }
  static SwitchConfig with_surprise() {
    SwitchConfig config = with_ports(2);
    config.ports[1].hot_plug = HotPlugSlotConfig::with({&HotPlugSlotConfig::surprise});
    return config;
  }
  static Beyond one_write() {
    Beyond beyond;
    beyond.top.classes[static_cast<unsigned>(CreditClass::posted)] = {1, 16};
    return beyond;
  }
  void fill() {
    root.set_full(CreditClass::posted, true);
    for (unsigned i = 0; i < 2; ++i) ends[0]->send(write(0, 0x1000 + 8 * i));
    run();
  }
  /// The addresses and first bytes of the writes that the host takes.
  std::vector<std::pair<std::uint64_t, unsigned>> taken() {
    root.set_full(CreditClass::posted, false);
    run();
    std::vector<std::pair<std::uint64_t, unsigned>> found;
    while (const TlpPtr tlp = root.take()) {
      if (tlp->header.type == TlpType::MWr) found.emplace_back(tlp->get_address(), tlp->data()[0]);
    }
    return found;
  }
  void set_power(std::uint32_t state) {
    config_write(id, power + PowerManagement::control, state, 2);
  }

  const Id id = port_id(1);
  const unsigned msi = find_capability(id, Msi::id), express = find_capability(id, PciExpress::id),
                 power = find_capability(id, PowerManagement::id);
};

using Disable = void (*)(PortThatSignals&);
class WaitingInterrupt : public testing::TestWithParam<std::pair<const char*, Disable>> {};

TEST_P(WaitingInterrupt, LeavesOnlyIfItIsStillEnabled) {
  PortThatSignals switched;
  switched.fill();
  EXPECT_TRUE(switched.sw.port(1).remove_card());
  switched.run();
  const Disable disable = GetParam().second;
  if (disable != nullptr) disable(switched);
  std::vector<std::pair<std::uint64_t, unsigned>> expected{{0x1000, 1}, {0x1008, 1}};
  if (disable == nullptr) expected.emplace_back(0xfee01000, 0x41);
  EXPECT_EQ(switched.taken(), expected);
}
INSTANTIATE_TEST_SUITE_P(
    Switch, WaitingInterrupt,
    testing::Values(std::pair("Nothing", Disable{}),
                    std::pair("MsiDisable", Disable([](PortThatSignals& switched) {
                                switched.config_write(switched.id,
                                                      switched.msi + Msi::message_control, 0, 2);
                              })),
                    std::pair("BusMasterDisable", Disable([](PortThatSignals& switched) {
                                switched.config_write(switched.id, Header::command,
                                                      Header::CommandBit::memory_space, 2);
                              })),
                    std::pair("D3hot", Disable([](PortThatSignals& switched) {
                                switched.set_power(PowerManagement::ControlBit::d3hot);
                              })),
                    std::pair("SecondaryBusReset", Disable([](PortThatSignals& switched) {
                                switched.config_write(
                                    SwitchEnds::upstream_id, Type1Header::bridge_control,
                                    Type1Header::BridgeControlBit::secondary_bus_reset, 2);
                              }))),
    [](const auto& info) { return info.param.first; });

// 5.3.1.4.1: a function in D3hot sends no requests. What it has to signal is signalled in D0.
TEST(Switch, APortInD3SignalsLater) {
  PortThatSignals switched;
  switched.set_power(PowerManagement::ControlBit::d3hot);
  EXPECT_TRUE(switched.sw.port(1).remove_card());
  switched.run();
  EXPECT_TRUE(switched.taken().empty());
  switched.root.set_full(CreditClass::posted, true);
  switched.set_power(PowerManagement::ControlBit::d0);
  EXPECT_EQ(switched.taken(),
            (std::vector<std::pair<std::uint64_t, unsigned>>{{0xfee01000, 0x41}}));
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
    settle();
    EXPECT_EQ(fixture.config_read(port_id(0), dpc + DownstreamPortContainment::status, 2) & 7, 5u)
        << "by a fatal message";
    EXPECT_EQ(fixture.config_read(port_id(0), dpc + DownstreamPortContainment::source_id, 2),
              device_id(0));
    EXPECT_EQ(fixture.collect().status, 0u) << "it went no further";
    EXPECT_EQ(fixture.config_read(device_id(0), Header::vendor_id, 4), ~0u);
    EXPECT_TRUE(fixture.works(1) && fixture.works(2));
    fixture.config_write(port_id(0), dpc + DownstreamPortContainment::status, 1, 2);
    settle(30 * us);
    fixture.enumerate_device(0);
    EXPECT_TRUE(fixture.works(0));
  });
}
}  // namespace
}  // namespace pcie
