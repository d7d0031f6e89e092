// SPDX-License-Identifier: Apache-2.0
// Which error messages of devices a bridge forwards (PCIe 5.0, 6.2.6, figure 6-3; 6.2.8.1).
#include <gtest/gtest.h>

#include "tests/models/pcie/hierarchy/switch_ends.h"
#include "tests/models/pcie/hierarchy/switch_fixture.h"

namespace pcie {
namespace {

constexpr unsigned system_error = 0x4000;  // signaled in Status, received in Secondary Status

// The three places that control a message, in numbers of the specification.
struct Controls {
  bool bridge_serr;   // Bridge Control, bit 1
  bool command_serr;  // Command, bit 8
  unsigned device;    // Device Control 3:0: ERR_COR, ERR_NONFATAL, ERR_FATAL, Unsupported Request

  static Controls of(unsigned number) {
    return {(number & 1) != 0, (number & 2) != 0, number >> 2};
  }
  static constexpr unsigned count = 1u << 6;

  bool forwards(unsigned code) const {
    if (!bridge_serr) return false;
    if (code == 0x30) return device & 1;
    return command_serr || device & (code == 0x31 ? 2 : 4);
  }
  bool signals(unsigned code) const { return bridge_serr && command_serr && code != 0x30; }
};

template <typename Access>
void set(Access& access, Id id, unsigned express, const Controls& controls) {
  access.config_write(id, 0x3e, controls.bridge_serr ? 2 : 0, 2);
  access.config_write(id, 0x04, 6 | (controls.command_serr ? 0x100 : 0), 2);
  access.config_write(id, express + PciExpress::device_control, controls.device, 2);
}
template <typename Access>
void expect_status(Access& access, Id id, bool signaled, bool received) {
  EXPECT_EQ(access.config_read(id, 0x06, 2) & system_error, signaled ? system_error : 0);
  EXPECT_EQ(access.config_read(id, 0x1e, 2) & system_error, received ? system_error : 0);
  access.config_write(id, 0x06, 0xf900, 2);
  access.config_write(id, 0x1e, 0xf900, 2);
}

TEST(ErrorMessages, AreForwardedByPortsOfASwitch) {
  SwitchEnds fixture;
  const Id ports[] = {SwitchEnds::port_id(1), SwitchEnds::upstream_id};
  const Controls open{true, true, 0xf};
  unsigned forwarded = 0;
  for (const Id tested : ports) {
    const Id other = tested == ports[0] ? ports[1] : ports[0];
    const unsigned express = fixture.find_capability(tested, PciExpress::id);
    set(fixture, other, fixture.find_capability(other, PciExpress::id), open);
    for (unsigned number = 0; number < Controls::count; ++number) {
      const Controls controls = Controls::of(number);
      set(fixture, tested, express, controls);
      for (const MessageCode code : {err_cor, err_nonfatal, err_fatal}) {
        fixture.ends[1]->send(Tlp::message(code, SwitchEnds::device_id(1)));
        fixture.run();
        const TlpPtr message = fixture.root.take();
        ASSERT_EQ(message != nullptr, controls.forwards(code)) << number << " " << code;
        if (message) {
          EXPECT_EQ(message->header.message_code, code);
          EXPECT_EQ(message->header.requester, SwitchEnds::device_id(1));
          ++forwarded;
        }
        const bool uncorrectable = code != err_cor;
        expect_status(fixture, tested, controls.signals(code), uncorrectable);
        // 6.2.8.1: the bridge has detected no error.
        EXPECT_EQ(fixture.config_read(tested, express + PciExpress::device_status, 2) & 0xf, 0u);
        const bool reached = tested == ports[1] || controls.forwards(code);
        expect_status(fixture, other, uncorrectable && reached, uncorrectable && reached);
      }
    }
  }
  EXPECT_EQ(forwarded, 2u * (16 + 24 + 24));
}

// 6.2.4.1.1: a message that the primary side would not send is not recorded.
TEST(ErrorMessages, AreRecordedByARootPort) {
  Fixture fixture;
  fixture.run([&] {
    fixture.enumerate();
    const Id id = Fixture::root_port, device = Fixture::device;
    const unsigned express = fixture.find_capability(id, PciExpress::id);
    const unsigned aer = fixture.find_extended_capability(id, AdvancedErrorReporting::id);
    const unsigned of_device = fixture.find_capability(device, PciExpress::id);
    fixture.config_write(device, of_device + PciExpress::device_control, 0xf, 2);
    const struct {
      Error error;
      unsigned code;
      std::uint32_t status;  // Root Error Status
    } cases[] = {
        {Error::bad_tlp, 0x30, 0x01},
        {Error::completion_timeout, 0x31, 0x24},
        {Error::malformed_tlp, 0x33, 0x54},
    };
    for (unsigned number = 0; number < Controls::count; ++number) {
      const Controls controls = Controls::of(number);
      set(fixture, id, express, controls);
      for (const auto& one : cases) {
        ASSERT_TRUE(fixture.link.inject(Direction::down, {one.error, {}, 1}));
        settle();
        const bool forwards = controls.forwards(one.code);
        ASSERT_EQ(fixture.config_read(id, aer + AdvancedErrorReporting::root_error_status, 4),
                  forwards ? one.status : 0)
            << number << " " << one.code;
        ASSERT_EQ(fixture.config_read(id, aer + AdvancedErrorReporting::error_source, 4),
                  !forwards          ? 0u
                  : one.code == 0x30 ? device
                                     : std::uint32_t{device} << 16);
        fixture.config_write(id, aer + AdvancedErrorReporting::root_error_status, 0x7f, 4);
        fixture.root_complex.port(0).config_space().set(aer + AdvancedErrorReporting::error_source,
                                                        4, 0);
        expect_status(fixture, id, controls.signals(one.code), one.code != 0x30);
      }
    }
  });
}

// 7.5.1.1.4: only a function that sends a message has signaled a system error.
TEST(ErrorMessages, OfSeveralFunctionsAreSignaledByOne) {
  Fixture::Config config;
  config.endpoint.functions.resize(3);
  Fixture fixture(config);
  fixture.run([&] {
    fixture.enumerate();
    for (const unsigned i : {1u, 2u}) {
      fixture.config_write(make_id(1, 0, i), Header::command, 0x100, 2);
    }
    ASSERT_TRUE(fixture.link.inject(Direction::down, {Error::malformed_tlp, {}, 1}));
    settle();
    EXPECT_EQ(fixture.link.count(Direction::up, TlpType::Msg).tlps, 1u);
    for (const unsigned i : {0u, 1u, 2u}) {
      EXPECT_EQ(fixture.config_read(make_id(1, 0, i), 0x06, 2) & system_error,
                i == 1 ? system_error : 0)
          << i << ": the first that may send it";
    }
  });
}

// 6.2.11: a port sends no message about an error that it contains.
TEST(ErrorMessages, AreNotSignaledIfTheErrorIsContained) {
  Fixture::Config config;
  config.root_complex.ports[0].containment = true;
  Fixture fixture(config);
  fixture.run([&] {
    fixture.enumerate();
    const Id id = Fixture::root_port;
    const unsigned dpc = fixture.find_extended_capability(id, DownstreamPortContainment::id);
    fixture.config_write(id, Header::command, memory_and_master | 0x100, 2);
    for (const bool contains : {true, false}) {
      fixture.config_write(id, dpc + DownstreamPortContainment::control, contains ? 1 : 0, 2);
      ASSERT_TRUE(fixture.link.inject(Direction::up, {Error::malformed_tlp, {}, 1}));
      settle();
      EXPECT_EQ(fixture.root_complex.port(0).link_up(), !contains);
      EXPECT_EQ(fixture.config_read(id, 0x06, 2) & system_error, contains ? 0 : system_error);
      fixture.config_write(id, dpc + DownstreamPortContainment::status, 1, 2);
      sc_core::wait(1, sc_core::SC_MS);
    }
  });
}

}  // namespace
}  // namespace pcie
