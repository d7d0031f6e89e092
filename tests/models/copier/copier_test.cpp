// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include <random>

#include "models/device/kind.h"
#include "tests/models/pcie/fixture.h"

namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr unsigned length = 0x0c, source = 0x10, destination = 0x18, control = 0x04, status = 0x08,
                   copied = 0x20;
constexpr unsigned busy = 1, done = 2, failed = 4;

/// A host with a copier below its second root port: from the host's load to the pins of the block
/// and back, over a link.
class Host : public pcie::Fixture {
 public:
  static constexpr std::uint64_t registers = 0xc0200000;
  static constexpr std::uint64_t table = 0xc0210000;
  static constexpr std::uint64_t messages = 0xfee00000;
  static constexpr pcie::Id function = pcie::make_id(2, 0, 0);

  Host() : Fixture(with_two_ports()) {
    const device::Kind* kind = device::find_kind("copier");
    vp::config::Reading reading;
    const auto description =
        kind->read(vp::config::parse_yaml(vp::config::argument_source(
                       "a.yaml", "{name: copier, kind: copier, clock: 333MHz}")),
                   "devices[0]", reading);
    EXPECT_TRUE(reading.report().empty());
    const Config config = with_two_ports();
    device = kind->build(*description, {config.endpoint, 7, trace, statistics});
    link_to_copier.emplace("host_copier", config.link, root_complex.port(1), device->endpoint,
                           trace, statistics);
    memory.fill();
  }

  void find() {
    enumerate();
    const pcie::Id port = pcie::make_id(0, 2, 0);
    config_write(port, pcie::Type1Header::primary_bus_number, 0x020200, 4);
    config_write(port, 0x20, 0xc020c020, 4);  // memory from 0xc0200000 to 0xc02fffff
    config_write(port, pcie::Header::command, pcie::memory_and_master, 2);
    config_write(function, pcie::Type0Header::bar(0), static_cast<std::uint32_t>(registers), 4);
    config_write(function, pcie::Type0Header::bar(1), 0, 4);
    config_write(function, pcie::Type0Header::bar(2), static_cast<std::uint32_t>(table), 4);
    config_write(function, pcie::Header::command, pcie::memory_and_master, 2);
    config_write(function, find_capability(function, pcie::MsiX::id) + pcie::MsiX::message_control,
                 pcie::MsiX::ControlBit::enable, 2);
    for (unsigned vector = 0; vector < 2; ++vector) {
      write(table + 16 * vector, messages, 8);
      write(table + 16 * vector + 8, 0x40 + vector, 4);
      write(table + 16 * vector + 12, 0, 4);
    }
  }
  void start(std::uint64_t from, std::uint64_t to, unsigned bytes) {
    write(registers + length, bytes, 4);
    write(registers + source, from, 8);
    write(registers + destination, to, 8);
    write(registers + control, 1, 4);
  }
  /// Waits for the end, and returns the status.
  unsigned wait_for_end() {
    for (int i = 0; i < 10'000; ++i) {
      const auto value = static_cast<unsigned>(read(registers + status, 4));
      if ((value & busy) == 0) {
        write(registers + status, done | failed, 4);
        return value;
      }
      pcie::pause(1 * vp::us);
    }
    ADD_FAILURE() << "the copy does not end";
    return 0;
  }
  std::vector<std::uint8_t> vectors() const {
    std::vector<std::uint8_t> found;
    for (const auto& message : memory.messages) found.push_back(message.data[0]);
    return found;
  }

  std::unique_ptr<device::Device> device;
  std::optional<pcie::Link> link_to_copier;

 private:
  static Config with_two_ports() {
    Config config;
    config.root_complex.ports.resize(2);
    config.endpoint.completion_timeout = 100 * vp::us;
    return config;
  }
};

TEST(Copier, CopiesFromAnyAddressToAnyOther) {
  Host host;
  host.run([&] {
    host.find();
    std::vector<std::uint8_t> expected = host.memory.bytes;
    std::mt19937 random(5);
    for (int i = 0; i < 30; ++i) {
      const unsigned bytes = 1 + random() % 300;
      const std::uint64_t from = 0x1000 - 150 + random() % 200;  // often across 4 KiB
      const std::uint64_t to = 0x9000 - 150 + random() % 200;
      host.start(from, to, bytes);
      ASSERT_EQ(host.wait_for_end(), done);
      EXPECT_EQ(host.read(Host::registers + copied, 4), bytes);
      std::copy_n(expected.begin() + static_cast<std::ptrdiff_t>(from), bytes,
                  expected.begin() + static_cast<std::ptrdiff_t>(to));
      ASSERT_EQ(host.memory.bytes, expected) << from << " " << to << " " << bytes;
    }
    EXPECT_EQ(host.vectors(), std::vector<std::uint8_t>(30, 0x40));
  });
}

// The host sees all of the data when the interrupt arrives.
TEST(Copier, InterruptsAfterItsData) {
  Host host;
  host.run([&] {
    host.find();
    host.start(0x1003, 0x9005, 1000);
    host.wait_for_end();
    ASSERT_EQ(host.memory.messages.size(), 1u);
    const auto last = host.memory.writes.back();
    EXPECT_EQ(last.address + last.data.size(), 0x9005u + 1000);
    EXPECT_LT(last.when, host.memory.messages[0].when);
  });
}

TEST(Copier, FailsWhereThereIsNoMemory) {
  Host host;
  host.run([&] {
    host.find();
    host.start(std::uint64_t{1} << 50, 0x9000, 100);
    EXPECT_EQ(host.wait_for_end(), failed);
    EXPECT_EQ(host.read(Host::registers + copied, 4), 0u);
    host.start(0x1000, 0x9000, 100);
    EXPECT_EQ(host.wait_for_end(), done);
    EXPECT_THAT(host.vectors(), ElementsAre(0x41, 0x40));
  });
}

TEST(Copier, FailsWithoutBusMaster) {
  Host host;
  host.run([&] {
    host.find();
    host.config_write(Host::function, pcie::Header::command, pcie::Header::CommandBit::memory_space,
                      2);
    host.start(0x1000, 0x9000, 8);
    EXPECT_EQ(host.wait_for_end(), failed);
  });
}

// A copy may end at any clock around that at which software clears the end of the one before. If
// its end is in the register afterwards, the host has got an interrupt of its own for it.
TEST(Copier, InterruptsAgainAtTheClockOfAClear) {
  Host host;
  host.run([&] {
    host.find();
    unsigned before = 0, after = 0;
    for (vp::Picoseconds delay = 0; delay < 60 * vp::ns; delay += 1 * vp::ns) {
      host.start(0x1000, 0x9000, 0);
      pcie::pause(5 * vp::us);
      host.memory.messages.clear();
      host.write(Host::registers + control, 1, 4);
      pcie::pause(delay);
      host.write(Host::registers + status, done, 4);
      pcie::pause(5 * vp::us);
      const bool kept = (host.read(Host::registers + status, 4) & done) != 0;
      EXPECT_EQ(host.memory.messages.size(), kept ? 1u : 0u) << delay;
      ++(kept ? before : after);
      host.write(Host::registers + status, done, 4);
      pcie::pause(5 * vp::us);
    }
    // The delays reach from one side of the end to the other.
    EXPECT_GT(before, 0u);
    EXPECT_GT(after, 0u);
  });
}

TEST(Copier, OfNothingIsDoneAtOnce) {
  Host host;
  host.run([&] {
    host.find();
    host.start(0x1000, 0x9000, 0);
    EXPECT_EQ(host.wait_for_end(), done);
    EXPECT_THAT(host.memory.writes, IsEmpty());
  });
}

TEST(Copier, IsResetWithItsFunction) {
  Host host;
  host.run([&] {
    host.find();
    host.start(0x1000, 0x9000, 100'000);
    pcie::pause(20 * vp::us);
    const unsigned express = host.find_capability(Host::function, pcie::PciExpress::id);
    host.config_write(Host::function, express + pcie::PciExpress::device_control, 0x8000, 2);
    pcie::pause(1 * vp::us);
    host.find();
    EXPECT_EQ(host.read(Host::registers + status, 4), 0u);
    EXPECT_EQ(host.read(Host::registers + length, 4), 0u);
    host.start(0x1000, 0x9000, 100);
    EXPECT_EQ(host.wait_for_end(), done);
  });
}

TEST(Copier, DrivesIntxWithoutMessages) {
  Host host;
  host.run([&] {
    host.find();
    host.config_write(
        Host::function,
        host.find_capability(Host::function, pcie::MsiX::id) + pcie::MsiX::message_control, 0, 2);
    host.start(0x1000, 0x9000, 8);
    pcie::pause(20 * vp::us);
    EXPECT_THAT(host.lines.levels(), ElementsAre(true));
    EXPECT_EQ(host.wait_for_end(), done);
    pcie::pause(20 * vp::us);
    EXPECT_THAT(host.lines.levels(), ElementsAre(true, false));
    EXPECT_THAT(host.memory.messages, IsEmpty());
  });
}

}  // namespace
