// SPDX-License-Identifier: Apache-2.0
// Errors from where they are injected to the root port's interrupt.
#include <gtest/gtest.h>

#include "tests/models/pcie/fixture.h"

namespace pcie {
namespace {

class Faults : public testing::Test {
 protected:
  static Fixture::Config config() {
    Fixture::Config config;
    config.root_complex.completion_timeout = 100 * vp::us;
    config.endpoint.completion_timeout = 100 * vp::us;
    return config;
  }

  std::uint32_t get(Id id, unsigned at) {
    return fixture.config_read(
        id, fixture.find_extended_capability(id, AdvancedErrorReporting::id) + at, 4);
  }
  void put(Id id, unsigned at, std::uint32_t value) {
    fixture.config_write(id, fixture.find_extended_capability(id, AdvancedErrorReporting::id) + at,
                         value, 4);
  }
  std::uint32_t device_status(Id id) {
    return fixture.config_read(
               id, fixture.find_capability(id, PciExpress::id) + PciExpress::device_status, 2) &
           0xf;
  }

  // As an operating system does that listens to all errors.
  void prepare() {
    fixture.enumerate();
    for (const Id id : {Fixture::root_port, Fixture::device}) {
      const unsigned control =
          fixture.find_capability(id, PciExpress::id) + PciExpress::device_control;
      fixture.config_write(id, control, fixture.config_read(id, control, 2) | 0xf, 2);
      put(id, 0x14, 0);      // advisory non-fatal errors too
      put(id, 0x18, 0x140);  // digests
    }
    fixture.config_write(Fixture::root_port, Type1Header::bridge_control,
                         Type1Header::BridgeControlBit::serr_enable, 2);
    const unsigned msi = fixture.find_capability(Fixture::root_port, Msi::id);
    fixture.config_write(Fixture::root_port, msi + Msi::message_address, 0xfee01004, 4);
    fixture.config_write(Fixture::root_port, msi + Msi::message_data, 0x4123, 2);
    fixture.config_write(Fixture::root_port, msi + Msi::message_control, Msi::ControlBit::enable,
                         2);
    put(Fixture::root_port, 0x2c, 7);
  }

  struct Report {
    std::uint32_t status;
    std::uint32_t sources;
  };
  // Root error status and sources, cleared; an interrupt was sent if there was anything.
  Report collect() {
    const Report report{get(Fixture::root_port, 0x30), get(Fixture::root_port, 0x34)};
    put(Fixture::root_port, 0x30, ~0u);
    EXPECT_EQ(fixture.memory.messages.size(), report.status != 0 ? 1u : 0u);
    for (const auto& message : fixture.memory.messages) {
      EXPECT_EQ(message.address, 0xfee01004u);
      EXPECT_EQ(message.data, (std::vector<std::uint8_t>{0x23, 0x41, 0, 0}));
    }
    fixture.memory.messages.clear();
    return report;
  }
  void clear(Id id) {
    put(id, 0x04, ~0u);
    put(id, 0x10, ~0u);
    fixture.config_write(
        id, fixture.find_capability(id, PciExpress::id) + PciExpress::device_status, 0xf, 2);
  }
  static void pause() { sc_core::wait(1, sc_core::SC_MS); }

  Fixture fixture{config()};
};

// The severity that Root Error Status shows, derived by hand from 7.8.4.4 and 6.2.3.2.4.
unsigned expected_status(Error error) {
  switch (error) {
    case Error::data_link_protocol:
    case Error::surprise_down:
    case Error::receiver_overflow:
    case Error::malformed_tlp:
      return 0x54;
    case Error::unexpected_completion:
      return 0x01;
    default:
      return is_correctable(error) ? 0x01 : 0x24;
  }
}

TEST_F(Faults, EachErrorAtOnceAtBothEnds) {
  fixture.run([&] {
    prepare();
    for (const Direction direction : {Direction::down, Direction::up}) {
      const Id id = direction == Direction::down ? Fixture::device : Fixture::root_port;
      for (const Error error : all_errors) {
        const bool of_a_port_above = error == Error::surprise_down || error == Error::acs_violation;
        if (is_of_egress(error) || (of_a_port_above && direction == Direction::down)) {
          EXPECT_FALSE(fixture.link.inject(direction, {error, {}, 1}));
          continue;
        }
        EXPECT_TRUE(fixture.link.inject(direction, {error, {}, 1}));
        pause();
        const Report report = collect();
        EXPECT_EQ(report.status, expected_status(error)) << to_string(error);
        EXPECT_EQ(report.sources >> (report.status & 1 ? 0 : 16) & 0xffff, id) << to_string(error);
        EXPECT_EQ(get(id, is_correctable(error) ? 0x10 : 0x04), bit_of(error)) << to_string(error);
        clear(id);
        EXPECT_EQ(device_status(id), 0u);
        EXPECT_EQ(device_status(id == Fixture::device ? Fixture::root_port : Fixture::device), 0u);
      }
    }
    EXPECT_EQ(fixture.read(Fixture::bar0, 4), 0u) << "everything still works";
  });
}

TEST_F(Faults, StrikeTheNthPacketOfTheirType) {
  fixture.run([&] {
    prepare();
    for (unsigned number = 1; number <= 4; ++number) {
      EXPECT_TRUE(
          fixture.link.inject(Direction::down, {Error::unsupported_request, TlpType::MRd, number}));
      for (unsigned i = 1; i <= 5; ++i) {
        fixture.write(Fixture::bar0, 7, 4);  // is not counted
        EXPECT_EQ(fixture.read(Fixture::bar0 + 4 * i, 4), i == number ? 0xffffffffu : 0u);
      }
      EXPECT_EQ(collect().status, 0x01u) << "advisory: the reader has its all ones";
      EXPECT_EQ(get(Fixture::device, 0x04), 1u << 20);
      EXPECT_EQ(get(Fixture::device, 0x10), 1u << 13);
      EXPECT_EQ(get(Fixture::device, 0x1c), 0x00008001u);
      EXPECT_EQ(get(Fixture::device, 0x24), Fixture::bar0 + 4 * number);
      clear(Fixture::device);
    }
  });
}

TEST_F(Faults, TwoAtATimeStrikeOneAfterTheOther) {
  fixture.run([&] {
    prepare();
    const Fault fault{Error::completer_abort, TlpType::MRd, 1};
    EXPECT_TRUE(fixture.link.inject(Direction::down, fault));
    EXPECT_TRUE(fixture.link.inject(Direction::down, fault));
    EXPECT_EQ(fixture.read(Fixture::bar0, 4), 0xffffffffu);
    EXPECT_EQ(fixture.read(Fixture::bar0, 4), 0xffffffffu);
    EXPECT_EQ(fixture.read(Fixture::bar0, 4), 0u);
    EXPECT_EQ(get(Fixture::root_port, 0x30), 0x03u) << "more than one";
  });
}

TEST_F(Faults, ALostCompletionIsATimeoutOfTheRequester) {
  fixture.run([&] {
    prepare();
    EXPECT_TRUE(fixture.link.inject(Direction::up, {Error::completion_timeout, TlpType::CplD, 1}));
    const vp::Picoseconds start = vp::now();
    EXPECT_EQ(fixture.read(Fixture::bar0, 4), 0xffffffffu);
    EXPECT_GE(vp::now() - start, 100 * vp::us);
    const Report report = collect();
    EXPECT_EQ(report.status, 0x24u);
    EXPECT_EQ(report.sources >> 16, Fixture::root_port);
    EXPECT_EQ(get(Fixture::root_port, 0x04), 1u << 14);
    clear(Fixture::root_port);

    EXPECT_TRUE(fixture.link.inject(Direction::up, {Error::completion_timeout, TlpType::MRd, 1}));
    auto dma = fixture.logic.dma_read(0x1000, 16);
    fixture.wait_for(*dma);
    EXPECT_EQ(dma->get_response_status(), tlm::TLM_GENERIC_ERROR_RESPONSE);
    pause();
    EXPECT_EQ(collect().sources >> 16, Fixture::device);
    EXPECT_EQ(get(Fixture::device, 0x04), 1u << 14);
  });
}

TEST_F(Faults, ACompletionThatComesTwiceIsUnexpected) {
  fixture.run([&] {
    prepare();
    fixture.write(Fixture::bar0, 0x1234, 4);
    EXPECT_TRUE(
        fixture.link.inject(Direction::up, {Error::unexpected_completion, TlpType::CplD, 1}));
    EXPECT_EQ(fixture.read(Fixture::bar0, 4), 0x1234u) << "and the first is good";
    pause();
    EXPECT_EQ(collect().status, 0x01u);
    EXPECT_EQ(get(Fixture::root_port, 0x04), 1u << 16);
    EXPECT_EQ(get(Fixture::root_port, 0x1c), 0x4a008001u);
    EXPECT_EQ(get(Fixture::root_port, 0x20), std::uint32_t{Fixture::device} << 16 | 4);
  });
}

TEST_F(Faults, PoisonedDataIsNotUsed) {
  fixture.run([&] {
    prepare();
    EXPECT_TRUE(fixture.link.inject(Direction::down, {Error::poisoned_tlp, TlpType::MWr, 1}));
    fixture.write(Fixture::bar0, 0x1234, 4);
    EXPECT_EQ(fixture.read(Fixture::bar0, 4), 0u);
    EXPECT_EQ(collect().status, 0x24u);
    EXPECT_EQ(get(Fixture::device, 0x04), 1u << 12);
    EXPECT_EQ(get(Fixture::device, 0x1c), 0x4000c001u) << "EP is set, and TD";
    clear(Fixture::device);

    EXPECT_TRUE(fixture.link.inject(Direction::up, {Error::poisoned_tlp, TlpType::CplD, 1}));
    EXPECT_EQ(fixture.read(Fixture::bar0, 4), 0xffffffffu);
    EXPECT_EQ(collect().sources >> 16, Fixture::root_port);

    EXPECT_TRUE(fixture.link.inject(Direction::down, {Error::poisoned_tlp, TlpType::CfgWr0, 1}));
    fixture.config_write(Fixture::device, Header::interrupt_line, 0x5a, 1);
    EXPECT_EQ(fixture.config_read(Fixture::device, Header::interrupt_line, 1), 0u);
    pause();
    EXPECT_EQ(collect().sources >> 16, Fixture::device);

    EXPECT_TRUE(fixture.link.inject(Direction::up, {Error::poisoned_tlp, TlpType::MWr, 1}));
    fixture.logic.dma_write(0x1000, {1, 2, 3, 4});
    pause();
    EXPECT_TRUE(fixture.memory.writes.empty());
    EXPECT_EQ(collect().sources >> 16, Fixture::root_port);
  });
}

TEST_F(Faults, MalformedAndOverflowingPacketsAreDropped) {
  fixture.run([&] {
    prepare();
    for (const Error error : {Error::malformed_tlp, Error::ecrc, Error::receiver_overflow}) {
      EXPECT_TRUE(fixture.link.inject(Direction::down, {error, TlpType::MWr, 1}));
      fixture.write(Fixture::bar0, 0x1234, 4);
      EXPECT_EQ(fixture.read(Fixture::bar0, 4), 0u) << to_string(error);
      EXPECT_EQ(collect().status, expected_status(error)) << to_string(error);
      EXPECT_EQ(get(Fixture::device, 0x04), bit_of(error));
      EXPECT_EQ(get(Fixture::device, 0x24), has_tlp(error) ? Fixture::bar0 : 0u);
      clear(Fixture::device);
    }
  });
}

TEST_F(Faults, CorrectableErrorsLetThePacketThrough) {
  fixture.run([&] {
    prepare();
    unsigned value = 0;
    for (const Error error : all_errors) {
      if (!is_correctable(error)) continue;
      EXPECT_TRUE(fixture.link.inject(Direction::down, {error, TlpType::MWr, 1}));
      fixture.write(Fixture::bar0, ++value, 4);
      EXPECT_EQ(fixture.read(Fixture::bar0, 4), value);
      EXPECT_EQ(collect().status, 0x01u);
    }
  });
}

TEST_F(Faults, ImpossibleOnesAreRefused) {
  auto refused = [&](Error error, TlpType type, unsigned number = 1) {
    return !fixture.link.inject(Direction::up, {error, type, number});
  };
  EXPECT_TRUE(refused(Error::bad_tlp, TlpType::MRd, 0));
  EXPECT_TRUE(refused(Error::poisoned_tlp, TlpType::MRd));
  EXPECT_TRUE(refused(Error::poisoned_tlp, TlpType::Cpl));
  EXPECT_TRUE(refused(Error::unexpected_completion, TlpType::MWr));
  EXPECT_TRUE(refused(Error::completion_timeout, TlpType::MWr));
  EXPECT_TRUE(refused(Error::completion_timeout, TlpType::Msg));
  EXPECT_TRUE(refused(Error::unsupported_request, TlpType::CplD));
  EXPECT_TRUE(refused(Error::completer_abort, TlpType::Cpl));
  EXPECT_TRUE(refused(Error::acs_violation, TlpType::CplD));
}

TEST_F(Faults, BridgeControlHoldsMessagesBack) {
  fixture.run([&] {
    prepare();
    fixture.config_write(Fixture::root_port, Type1Header::bridge_control, 0, 2);
    fixture.link.inject(Direction::down, {Error::bad_tlp, {}, 1});
    fixture.link.inject(Direction::down, {Error::malformed_tlp, {}, 1});
    pause();
    EXPECT_EQ(collect().status, 0u);
    EXPECT_EQ(fixture.config_read(Fixture::root_port, Type1Header::secondary_status, 2) & 0x4000,
              0x4000u)
        << "received system error";
    EXPECT_EQ(device_status(Fixture::device), 5u);
  });
}

// 6.2.4.1.2: edges of the condition, not messages.
TEST_F(Faults, AnInterruptEachTimeThatThereIsSomethingNew) {
  fixture.run([&] {
    prepare();
    for (unsigned i = 0; i < 3; ++i) fixture.link.inject(Direction::down, {Error::bad_tlp, {}, 1});
    pause();
    EXPECT_EQ(fixture.memory.messages.size(), 1u);
    put(Fixture::root_port, 0x30, 0x02);
    EXPECT_EQ(fixture.memory.messages.size(), 1u) << "the second is not signalled yet";
    put(Fixture::root_port, 0x30, 0x01);
    fixture.link.inject(Direction::down, {Error::bad_tlp, {}, 1});
    pause();
    EXPECT_EQ(fixture.memory.messages.size(), 2u);
    put(Fixture::root_port, 0x2c, 0);
    put(Fixture::root_port, 0x2c, 1);
    pause();
    EXPECT_EQ(fixture.memory.messages.size(), 3u) << "enabled while an error stands";
    fixture.config_write(
        Fixture::root_port,
        fixture.find_capability(Fixture::root_port, Msi::id) + Msi::message_control, 0, 2);
    put(Fixture::root_port, 0x30, ~0u);
    fixture.link.inject(Direction::down, {Error::bad_tlp, {}, 1});
    pause();
    EXPECT_EQ(fixture.memory.messages.size(), 3u) << "MSI is off";
  });
}

// PCIe 6.0, 7.8.4.8: a port logs headers as they are on its link, whatever the channel's speed.
class FlitErrors : public testing::TestWithParam<unsigned> {};

TEST_P(FlitErrors, AreLoggedAsTheyAreInFlits) {
  Fixture::Config config;
  config.root_complex.ports[0].generation = config.endpoint.generation = 6;
  config.link.generation = GetParam();
  Fixture fixture(config);
  fixture.run([&] {
    fixture.enumerate();
    const Id port = Fixture::root_port;
    const unsigned aer = ConfigSpace::first_extended_capability;
    const unsigned express = fixture.find_capability(port, PciExpress::id);
    EXPECT_EQ(fixture.config_read(port, express + PciExpress::link_status_2, 2) >> 10 & 1, 1u);
    for (const Id id : {port, Fixture::device}) fixture.config_write(id, aer + 0x14, 0, 4);
    const auto logged = [&](Id id) {
      std::vector<std::uint32_t> words;
      const std::uint32_t control = fixture.config_read(id, aer + 0x18, 4);
      EXPECT_TRUE(control >> 18 & 1) << "in flit mode";
      for (unsigned i = 0; i < (control >> 19 & 0x1f); ++i) {
        words.push_back(fixture.config_read(id, aer + (i < 4 ? 0x1c + 4 * i : 0x38), 4));
      }
      return words;
    };
    auto read = fixture.logic.dma_read(Fixture::ecam + 1, 2);
    fixture.wait_for(*read);
    const auto at_port = logged(port);
    ASSERT_EQ(at_port.size(), 4u);
    EXPECT_EQ(at_port[0], 0x03010001u) << "MRd, OHC-A1";
    EXPECT_EQ(at_port[1] >> 16, 0x0100u);
    EXPECT_EQ(at_port[2], 0xe0000000u);
    EXPECT_EQ(at_port[3], 0x00000006u) << "bytes 1 and 2";
    fixture.logic.answer = tlm::TLM_ADDRESS_ERROR_RESPONSE;
    fixture.read(Fixture::bar2 + 2, 1);
    const auto at_device = logged(Fixture::device);
    ASSERT_EQ(at_device.size(), 5u);
    EXPECT_EQ(at_device[0], 0x20010001u);
    EXPECT_EQ(at_device[1] >> 16, 0x0008u);
    EXPECT_EQ(at_device[2], 0x40u);
    EXPECT_EQ(at_device[3], 0u);
    EXPECT_EQ(at_device[4], 0x00000004u);
  });
}

INSTANTIATE_TEST_SUITE_P(Channels, FlitErrors, testing::Values(1u, 5u, 6u));

// 6.2.4: all functions log the error, and one message reports it.
TEST(FunctionsErrors, OneMessageOfAllFunctions) {
  Fixture::Config config;
  config.endpoint.functions.resize(8);
  Fixture fixture(config);
  fixture.run([&] {
    fixture.enumerate();
    fixture.config_write(Fixture::root_port, Type1Header::bridge_control,
                         Type1Header::BridgeControlBit::serr_enable, 2);
    fixture.enable_errors(Fixture::root_port);
    for (unsigned i = 0; i < 8; ++i) fixture.enable_errors(make_id(1, 0, i));
    fixture.link.inject(Direction::down, {Error::bad_dllp, {}, 1});
    sc_core::wait(1, sc_core::SC_MS);
    for (unsigned i = 0; i < 8; ++i) {
      EXPECT_EQ(fixture.config_read(make_id(1, 0, i),
                                    ConfigSpace::first_extended_capability +
                                        AdvancedErrorReporting::correctable_status,
                                    4),
                1u << 7)
          << i;
    }
    EXPECT_EQ(fixture.link.count(Direction::up, TlpType::Msg).tlps, 1u);
    EXPECT_EQ(
        fixture.config_read(
            Fixture::root_port,
            ConfigSpace::first_extended_capability + AdvancedErrorReporting::root_error_status, 4),
        1u);
  });
}

}  // namespace
}  // namespace pcie
