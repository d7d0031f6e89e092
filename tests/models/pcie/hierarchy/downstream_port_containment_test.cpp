// SPDX-License-Identifier: Apache-2.0
// From an error to a link that is held down until software lets it go (PCIe 5.0, 6.2.11).
#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "tests/models/pcie/fixture.h"

namespace pcie {
namespace {

constexpr std::uint32_t link_training = PciExpress::LinkStatusBit::link_training;
constexpr std::uint32_t link_active = PciExpress::LinkStatusBit::link_active;

void pause(vp::Picoseconds span = 2 * vp::us) {
  sc_core::wait(vp::to_sc_time(span));
}

/// A fixture whose software listens to all errors and has armed containment.
class Containment : public testing::Test {
 protected:
  static Fixture::Config config() {
    Fixture::Config config;
    config.root_complex.ports[0].containment = true;
    config.root_complex.latency = 10 * vp::ns;
    config.root_complex.completion_timeout = 100 * vp::us;
    config.link.latency_down = 300 * vp::ns;
    config.link.latency_up = 200 * vp::ns;
    config.link.training = 50 * vp::us;
    return config;
  }

  std::uint32_t get(unsigned at, unsigned bytes = 2) {
    return fixture.config_read(Fixture::root_port, dpc + at, bytes);
  }
  void put(unsigned at, std::uint32_t value, unsigned bytes = 2) {
    fixture.config_write(Fixture::root_port, dpc + at, value, bytes);
  }
  std::uint32_t root_errors() {
    return fixture.config_read(Fixture::root_port, aer + AdvancedErrorReporting::root_error_status,
                               4);
  }
  std::uint32_t errors() {
    return fixture.config_read(Fixture::root_port,
                               aer + AdvancedErrorReporting::uncorrectable_status, 4);
  }
  std::uint32_t link_status() {
    return fixture.config_read(Fixture::root_port, express + PciExpress::link_status, 2) &
           (link_active | link_training);
  }

  void begin(std::uint32_t control = 0x0a) {  // also non-fatal, and an interrupt
    fixture.enumerate();
    dpc = fixture.find_extended_capability(Fixture::root_port, DownstreamPortContainment::id);
    aer = fixture.find_extended_capability(Fixture::root_port, AdvancedErrorReporting::id);
    express = fixture.find_capability(Fixture::root_port, PciExpress::id);
    for (const Id id : {Fixture::root_port, Fixture::device}) fixture.enable_errors(id);
    fixture.config_write(Fixture::root_port, Type1Header::bridge_control,
                         Type1Header::BridgeControlBit::serr_enable, 2);
    fixture.enable_msi(Fixture::root_port);
    fixture.config_write(Fixture::root_port, aer + AdvancedErrorReporting::root_error_command,
                         AdvancedErrorReporting::RootErrorCommandBit::all, 4);
    fixture.config_write(Fixture::root_port, aer + AdvancedErrorReporting::control, 0x100,
                         4);  // digests are checked
    put(DownstreamPortContainment::control, control);
  }
  // As a driver of containment does.
  void recover() {
    EXPECT_EQ(link_status(), 0u);
    put(DownstreamPortContainment::status, 8);
    EXPECT_EQ(link_status(), 0u);
    put(DownstreamPortContainment::status, 1);
    EXPECT_EQ(link_status(), link_training);
    while (link_status() != link_active) pause(1 * vp::us);
    EXPECT_EQ(fixture.config_read(Fixture::device, Header::command, 2), 0u) << "has been reset";
    fixture.config_write(Fixture::root_port, aer + AdvancedErrorReporting::uncorrectable_status,
                         ~0u, 4);
    fixture.enumerate();
    fixture.logic.memory[2][8] = 0x42;
    EXPECT_EQ(fixture.read(Fixture::bar2 + 8, 1), 0x42u);
    auto dma = fixture.logic.dma_read(0x1000, 4096);
    fixture.wait_for(*dma);
    EXPECT_TRUE(dma->is_response_ok());
  }
  // The n-th interrupt has arrived and is containment's. No access has reached the device.
  void expect_contained(std::uint32_t reason, Id source) {
    EXPECT_EQ(get(DownstreamPortContainment::status), 9u | reason);
    EXPECT_EQ(get(DownstreamPortContainment::source_id), source);
    EXPECT_EQ(fixture.memory.messages.size(), ++interrupts);
    EXPECT_EQ(fixture.config_read(Fixture::device, Header::vendor_id, 4), ~0u);
    EXPECT_EQ(fixture.read(Fixture::bar0, 4), ~0u);
    EXPECT_EQ(fixture.logic.dma_write(0x1000, {1})->get_response_status(),
              tlm::TLM_COMMAND_ERROR_RESPONSE);
    pause(10 * vp::ms);
    EXPECT_EQ(link_status(), 0u) << "as long as software wants";
    EXPECT_EQ(root_errors() & ~3u, 0u) << "no message of an uncorrectable error";
  }

  Fixture fixture{config()};
  unsigned dpc = 0, aer = 0, express = 0;
  std::size_t interrupts = 0;
};

TEST_F(Containment, AnErrorOfThePortIsLoggedAndContained) {
  fixture.run([&] {
    begin();
    for (const Error error : {Error::malformed_tlp, Error::poisoned_tlp, Error::ecrc}) {
      fixture.link.inject(Direction::up, {error, {}, 1});
      pause();
      expect_contained(0, 0);
      EXPECT_EQ(errors(), bit_of(error));
      recover();
    }
  });
}

TEST_F(Containment, AMessageOfTheDeviceIsContainedAndGoesNoFurther) {
  fixture.run([&] {
    begin();
    fixture.link.inject(Direction::down, {Error::malformed_tlp, {}, 1});
    pause();
    expect_contained(4, Fixture::device);
    recover();
    const unsigned control =
        fixture.find_capability(Fixture::device, PciExpress::id) + PciExpress::device_control;
    fixture.config_write(Fixture::device, control, 0x281f, 2);
    fixture.link.inject(Direction::down, {Error::poisoned_tlp, {}, 1});
    pause();
    expect_contained(2, Fixture::device);
    recover();
    EXPECT_EQ(errors(), 0u) << "the port has none of its own";
  });
}

TEST_F(Containment, NonFatalMessagesPassWhereOnlyFatalOnesTrigger) {
  fixture.run([&] {
    begin(0x09);
    fixture.link.inject(Direction::down, {Error::poisoned_tlp, {}, 1});
    pause();
    EXPECT_EQ(get(DownstreamPortContainment::status), 0u);
    EXPECT_EQ(link_status(), link_active);
    EXPECT_EQ(root_errors(), 0x24u) << "reported as ever";
    fixture.config_write(Fixture::root_port, aer + AdvancedErrorReporting::root_error_status, ~0u,
                         4);
    interrupts = 1;
    fixture.link.inject(Direction::down, {Error::malformed_tlp, {}, 1});
    pause();
    expect_contained(4, Fixture::device);
    recover();
  });
}

TEST_F(Containment, WhatIsMaskedCorrectableOrAdvisoryTriggersNothing) {
  fixture.run([&] {
    begin();
    fixture.config_write(Fixture::root_port, aer + AdvancedErrorReporting::uncorrectable_mask,
                         bit_of(Error::malformed_tlp), 4);
    for (const Error error : {Error::malformed_tlp, Error::bad_tlp, Error::unexpected_completion}) {
      fixture.link.inject(Direction::up, {error, {}, 1});
      pause();
    }
    EXPECT_EQ(get(DownstreamPortContainment::status), 0u);
    EXPECT_EQ(link_status(), link_active);
    put(DownstreamPortContainment::control, 0);
    fixture.config_write(Fixture::root_port, aer + AdvancedErrorReporting::uncorrectable_mask, 0,
                         4);
    fixture.link.inject(Direction::up, {Error::malformed_tlp, {}, 1});
    pause();
    EXPECT_EQ(get(DownstreamPortContainment::status), 0u) << "disabled";
    EXPECT_EQ(root_errors() & 0x40, 0x40u) << "so it is reported";
  });
}

TEST_F(Containment, BySoftware) {
  fixture.run([&] {
    begin();
    put(DownstreamPortContainment::control, 0x4a);
    EXPECT_EQ(link_status(), 0u) << "at once";
    pause();
    expect_contained(0x26, 0);
    put(DownstreamPortContainment::control, 0x4a);
    EXPECT_EQ(get(DownstreamPortContainment::status), 0x2fu) << "once";
    recover();
  });
}

TEST_F(Containment, ErrCorReportsItIfSoftwareAsks) {
  fixture.run([&] {
    begin(0x12);
    put(DownstreamPortContainment::control, 0x52);
    EXPECT_EQ(root_errors(), 1u);
    EXPECT_EQ(
        fixture.config_read(Fixture::root_port, aer + AdvancedErrorReporting::error_source, 2),
        Fixture::root_port);
    pause();
    EXPECT_EQ(fixture.memory.messages.size(), 1u) << "of the error, not of containment";
    recover();
  });
}

// What waits ends with the link; not as a timeout, which would be another error.
TEST_F(Containment, EndsWhatIsOutstanding) {
  fixture.memory.read_time = 500 * vp::ns;
  fixture.run([&] {
    for (vp::Picoseconds moment = 0; moment < 2 * vp::us; moment += 97 * vp::ns) {
      begin();
      fixture.logic.latency = 1 * vp::us;
      auto dma = fixture.logic.dma_read(0x1000, 4096);
      unsigned ended = 0;
      for (unsigned i = 0; i < 40; ++i) {
        fixture.spawn([&] {
          const std::uint64_t value = fixture.read(Fixture::bar0 + 4, 4);
          EXPECT_TRUE(value == 0 || value == ~0u);
          ++ended;
        });
      }
      pause(moment);
      put(DownstreamPortContainment::control, 0x4a);
      pause(1 * vp::us);
      EXPECT_EQ(ended, 40u);
      EXPECT_TRUE(dma->done);
      fixture.logic.latency = 0;
      recover();
    }
    EXPECT_EQ(fixture.counter("root_complex.port0.completion_timeouts"), 0u);
    EXPECT_EQ(fixture.counter("endpoint.pf0.unexpected_completions"), 0u);
  });
}

// TD of the header, as it was sent.
TEST_F(Containment, TheHeaderOfARequestShowsItsDigest) {
  fixture.run([&] {
    begin();
    const unsigned aer =
        fixture.find_extended_capability(Fixture::root_port, AdvancedErrorReporting::id);
    for (const bool digest : {false, true, false}) {
      fixture.config_write(Fixture::root_port, aer + AdvancedErrorReporting::control,
                           digest ? 1u << 6 : 0, 4);
      put(DownstreamPortContainment::pio_status, ~0u, 4);
      put(DownstreamPortContainment::pio_mask, 0, 4);
      fixture.read(0xc0050000, 4);
      EXPECT_EQ(get(DownstreamPortContainment::pio_status, 4), 1u << 16);
      EXPECT_EQ(get(DownstreamPortContainment::pio_header_log, 4),
                digest ? 0x00008001u : 0x00000001u);
      EXPECT_EQ(get(DownstreamPortContainment::pio_header_log + 8, 4), 0xc0050000u);
    }
  });
}

// Requests of processors that end badly (6.2.11.3).
TEST_F(Containment, RequestsOfProcessors) {
  fixture.run([&] {
    begin();
    fixture.read(0xc0050000, 4);  // in the window, of nobody
    EXPECT_EQ(get(DownstreamPortContainment::pio_status, 4), 1u << 16);
    EXPECT_EQ(get(DownstreamPortContainment::status), 0u) << "masked";
    put(DownstreamPortContainment::pio_status, ~0u, 4);
    put(DownstreamPortContainment::pio_mask, 0, 4);
    fixture.read(0xc0050000, 4);
    EXPECT_EQ(get(DownstreamPortContainment::pio_status, 4), 1u << 16);
    EXPECT_EQ(get(DownstreamPortContainment::status), 16u << 8) << "logged, but not severe";
    EXPECT_EQ(get(DownstreamPortContainment::pio_header_log, 4), 0x00000001u);
    EXPECT_EQ(get(DownstreamPortContainment::pio_header_log + 4, 4) >> 16, Fixture::root_port);
    EXPECT_EQ(get(DownstreamPortContainment::pio_header_log + 4, 4) & 0xff, 0x0fu);
    EXPECT_EQ(get(DownstreamPortContainment::pio_header_log + 8, 4), 0xc0050000u);
    put(DownstreamPortContainment::pio_status, ~0u, 4);
    put(DownstreamPortContainment::pio_severity, 1u << 17, 4);
    fixture.logic.answer = tlm::TLM_GENERIC_ERROR_RESPONSE;
    EXPECT_EQ(fixture.read(Fixture::bar0, 4), ~0u);
    fixture.logic.answer = tlm::TLM_OK_RESPONSE;
    EXPECT_EQ(get(DownstreamPortContainment::status), 17u << 8 | 9u | 6u);
    EXPECT_EQ(get(DownstreamPortContainment::pio_status, 4), 1u << 17);
    recover();
    put(DownstreamPortContainment::pio_status, ~0u, 4);
    put(DownstreamPortContainment::pio_severity, 1u << 18, 4);
    fixture.link.inject(Direction::up, {Error::completion_timeout, TlpType::CplD, 1});
    EXPECT_EQ(fixture.read(Fixture::bar0, 4), ~0u);
    EXPECT_EQ(get(DownstreamPortContainment::status), 18u << 8 | 9u | 6u);
    EXPECT_EQ(get(DownstreamPortContainment::pio_status, 4), 1u << 18);
    EXPECT_EQ(errors(), 0u) << "not left to AER";
    recover();
    put(DownstreamPortContainment::pio_status, ~0u, 4);
    put(DownstreamPortContainment::pio_mask, 7u << 16, 4);
    fixture.link.inject(Direction::up, {Error::completion_timeout, TlpType::CplD, 1});
    EXPECT_EQ(fixture.read(Fixture::bar0, 4), ~0u);
    EXPECT_EQ(errors(), bit_of(Error::completion_timeout)) << "masked: it is";
    EXPECT_EQ(get(DownstreamPortContainment::status) & 7, 1u);
    recover();
  });
}

// The timeout of a request whose thread was killed contains the port, which ends all requests: this
// one once.
TEST_F(Containment, AKilledReaderEndsOnce) {
  fixture.run([&] {
    for (unsigned round = 0; round < 3; ++round) {
      begin();
      fixture.logic.silent = true;
      auto reader = sc_core::sc_spawn([&] { fixture.read(Fixture::bar0, 8); });
      unsigned ended = 0;
      fixture.spawn([&] {
        pause(5 * vp::us);
        EXPECT_EQ(fixture.read(Fixture::bar0, 4), ~0u);
        ++ended;
      });
      pause(10 * vp::us);
      reader.kill();
      pause(100 * vp::us);
      EXPECT_EQ(ended, 1u) << "by the link, before its own timeout";
      EXPECT_EQ(get(DownstreamPortContainment::status) & 1, 1u);
      fixture.logic.silent = false;
      recover();
    }
    EXPECT_EQ(fixture.counter("root_complex.port0.completion_timeouts"), 3u);
  });
}

TEST_F(Containment, ACardThatGoesByErrorIsContainedToo) {
  fixture.run([&] {
    begin();
    fixture.root_complex.port(0).remove_card();
    pause();
    expect_contained(0, 0);
    EXPECT_EQ(errors(), bit_of(Error::surprise_down));
    put(DownstreamPortContainment::status, 9);
    EXPECT_EQ(link_status(), 0u) << "there is no card to train with";
    fixture.root_complex.port(0).insert_card();
    EXPECT_EQ(link_status(), link_training);
    fixture.root_complex.port(0).remove_card();
    EXPECT_EQ(get(DownstreamPortContainment::status), 0u) << "it was not up";
  });
}

TEST_F(Containment, AResetOfTheMachineEndsIt) {
  fixture.run([&] {
    begin();
    put(DownstreamPortContainment::control, 0x4a);
    fixture.root_complex.reset();
    pause(10 * vp::us);
    EXPECT_EQ(get(DownstreamPortContainment::control, 4), 0u);
    EXPECT_EQ(link_status(), link_active);
  });
}

TEST(NoContainment, UnlessThePortHasIt) {
  Fixture fixture;
  fixture.run([&] {
    fixture.enumerate();
    EXPECT_EQ(fixture.find_extended_capability(Fixture::root_port, DownstreamPortContainment::id),
              0u);
  });
}

}  // namespace
}  // namespace pcie
