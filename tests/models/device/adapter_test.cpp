// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <tlm_utils/simple_initiator_socket.h>
#include <tlm_utils/simple_target_socket.h>

#include <array>
#include <cstring>
#include <nlohmann/json.hpp>

#include "models/device/device.h"
#include "models/device/initiator_adapter.h"
#include "models/device/interrupt_adapter.h"
#include "models/device/target_adapter.h"
#include "tests/models/pcie/fixture.h"

namespace device {
namespace {

using testing::ElementsAre;

constexpr pcie::Id second_port = pcie::make_id(0, 2, 0);
constexpr pcie::Id below = pcie::make_id(2, 0, 0);
constexpr std::uint64_t bar = 0xc0200000;
constexpr std::uint64_t msi_x_table = 0x800;

/// A model that knows nothing of PCIe: memory behind a b_transport, which tests slow down, a
/// b_transport of its own towards other memory, and an interrupt output.
struct Plain : sc_core::sc_module {
  struct Use {
    bool write;
    std::uint64_t address;
    unsigned bytes;
    vp::Picoseconds when;
    bool operator==(const Use& other) const {
      return write == other.write && address == other.address && bytes == other.bytes;
    }
  };

  tlm_utils::simple_target_socket<Plain, 64> registers;
  tlm_utils::simple_initiator_socket<Plain, 64> memory;
  sc_core::sc_out<bool> irq;

  std::array<unsigned char, 0x1000> bytes{};
  std::vector<Use> uses;
  vp::Picoseconds waits = 0, annotates = 0;
  tlm::tlm_response_status answer = tlm::TLM_OK_RESPONSE;
  bool inside = false;

  explicit Plain(const sc_core::sc_module_name& name)
      : sc_module(name), registers("registers"), memory("memory"), irq("irq") {
    registers.register_b_transport(this, &Plain::b_transport);
  }

  void b_transport(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) {
    EXPECT_FALSE(inside) << "accesses must come one after the other";
    inside = true;
    uses.push_back(
        {payload.is_write(), payload.get_address(), payload.get_data_length(), vp::now()});
    EXPECT_EQ(payload.get_byte_enable_ptr(), nullptr);
    EXPECT_EQ(payload.get_streaming_width(), payload.get_data_length());
    if (waits > 0) sc_core::wait(vp::to_sc_time(waits));
    unsigned char* at = &bytes[payload.get_address()];
    if (payload.is_write())
      std::memcpy(at, payload.get_data_ptr(), payload.get_data_length());
    else
      std::memcpy(payload.get_data_ptr(), at, payload.get_data_length());
    delay += vp::to_sc_time(annotates);
    payload.set_dmi_allowed(true);
    payload.set_response_status(answer);
    inside = false;
  }

  tlm::tlm_response_status transfer(tlm::tlm_command command, std::uint64_t address,
                                    std::vector<unsigned char>& data,
                                    sc_core::sc_time delay = sc_core::SC_ZERO_TIME) {
    tlm::tlm_generic_payload payload;
    payload.set_command(command);
    payload.set_address(address);
    payload.set_data_ptr(data.data());
    payload.set_data_length(static_cast<unsigned>(data.size()));
    payload.set_streaming_width(static_cast<unsigned>(data.size()));
    memory->b_transport(payload, delay);
    EXPECT_EQ(delay, sc_core::SC_ZERO_TIME);
    return payload.get_response_status();
  }
};

struct PlainDevice : Device {
  PlainDevice(const sc_core::sc_module_name& name, const Site& site)
      : Device(name, site, {function_config()}),
        plain("plain"),
        registers("registers", endpoint.function(0), domain),
        memory("memory", endpoint.function(0)),
        interrupt("interrupt", endpoint.function(0)) {
    registers.socket.bind(plain.registers);
    plain.memory.bind(memory.socket);
    plain.irq.bind(interrupt.line);
    // The adapter has an action of its own.
    endpoint.function(0).on_reset([this] { ++resets; });
  }

  static pcie::FunctionConfig function_config() {
    pcie::FunctionConfig config;
    config.bars = {pcie::BarConfig::memory_32(0, 0x1000), pcie::BarConfig::memory_32(1, 0x1000)};
    config.msi_x = {1, 0, msi_x_table, 0, 0xc00};
    config.interrupt_pin = 1;
    return config;
  }

  unsigned resets = 0;
  Plain plain;
  TargetAdapter<64> registers;
  InitiatorAdapter<64> memory;
  InterruptAdapter interrupt;
};

/// A host with such a device below its second root port.
struct Host : pcie::Fixture {
  Host()
      : Fixture(with_two_ports()),
        device("device", Site{with_two_ports().endpoint, 0, trace, statistics}),
        device_link("host_device", with_two_ports().link, root_complex.port(1), device.endpoint,
                    trace, statistics) {
    memory.fill();
  }

  static Config with_two_ports() {
    Config config;
    config.root_complex.ports.resize(2);
    return config;
  }

  void begin() {
    config_write(second_port, pcie::Type1Header::primary_bus_number, 0x020200, 4);
    config_write(second_port, pcie::Type1Header::memory_base, 0xc020c020, 4);
    config_write(second_port, pcie::Header::command, pcie::memory_and_master, 2);
    config_write(below, pcie::Type0Header::bar(0), static_cast<std::uint32_t>(bar), 4);
    config_write(below, pcie::Type0Header::bar(1), static_cast<std::uint32_t>(bar + 0x1000), 4);
    config_write(below, pcie::Header::command, pcie::memory_and_master, 2);
  }
  void reset_function() {
    const unsigned express = find_capability(below, pcie::PciExpress::id);
    const unsigned control = express + pcie::PciExpress::device_control;
    config_write(
        below, control,
        config_read(below, control, 2) | pcie::PciExpress::DeviceControlBit::initiate_reset, 2);
    pcie::pause(1 * vp::ms);
    begin();
  }
  vp::Picoseconds time_of_read() {
    const vp::Picoseconds begin = vp::now();
    read(bar, 4);
    return vp::now() - begin;
  }

  std::uint64_t refused() {
    return statistics.json()
        .at("counters")
        .at(std::string(device.endpoint.function(0).name()) + ".refused")
        .get<std::uint64_t>();
  }

  PlainDevice device;
  pcie::Link device_link;
};

TEST(TargetAdapter, LeadsToThePlainTarget) {
  Host host;
  Plain& plain = host.device.plain;
  host.run([&] {
    host.begin();
    host.write(bar + 0x10, 0x11223344, 4);
    host.write(bar + 0x7f8, 0x5566778899aabbcc, 8);
    EXPECT_EQ(host.read(bar + 0x10, 4), 0x11223344u);
    EXPECT_EQ(host.read(bar + 0x11, 1), 0x33u);
    EXPECT_EQ(host.read(bar + 0x7f8, 8), 0x5566778899aabbccu);
  });
  EXPECT_THAT(plain.uses, ElementsAre(Plain::Use{true, 0x10, 4, 0}, Plain::Use{true, 0x7f8, 8, 0},
                                      Plain::Use{false, 0x10, 4, 0}, Plain::Use{false, 0x11, 1, 0},
                                      Plain::Use{false, 0x7f8, 8, 0}));
}

TEST(TargetAdapter, HonoursWaitsAndAnnotatedDelays) {
  Host host;
  Plain& plain = host.device.plain;
  host.run([&] {
    host.begin();
    const vp::Picoseconds before = host.time_of_read();
    plain.annotates = 300 * vp::ns;
    EXPECT_EQ(host.time_of_read(), before + 300 * vp::ns);
    plain.waits = 50 * vp::ns;
    EXPECT_EQ(host.time_of_read(), before + 350 * vp::ns);
    plain.annotates = 0;
    EXPECT_EQ(host.time_of_read(), before + 50 * vp::ns);
  });
}

// The next access begins when the one before it is over, and a read does not overtake a write.
TEST(TargetAdapter, AccessesComeOneAfterTheOther) {
  Host host;
  Plain& plain = host.device.plain;
  plain.annotates = 2 * vp::us;
  plain.waits = 1 * vp::us;
  host.run([&] {
    host.begin();
    host.write(bar, 1, 4);
    host.write(bar, 2, 4);
    EXPECT_EQ(host.read(bar, 4), 2u);
  });
  ASSERT_EQ(plain.uses.size(), 3u);
  EXPECT_EQ(plain.uses[1].when, plain.uses[0].when + 3 * vp::us);
  EXPECT_GE(plain.uses[2].when, plain.uses[1].when + 3 * vp::us);
}

TEST(TargetAdapter, SeveralReadsWaitTogether) {
  Host host;
  Plain& plain = host.device.plain;
  plain.annotates = 1 * vp::us;
  host.run([&] {
    host.begin();
    for (unsigned i = 0; i < 4; ++i) plain.bytes[8 * i] = static_cast<unsigned char>(i + 1);
    for (unsigned i = 0; i < 4; ++i)
      host.spawn([&host, i] { EXPECT_EQ(host.read(bar + 8 * i, 1), i + 1); });
  });
  ASSERT_EQ(plain.uses.size(), 4u);
  EXPECT_EQ(plain.uses[3].when, plain.uses[0].when + 3 * vp::us);
}

TEST(TargetAdapter, PassesErrorsOn) {
  Host host;
  const struct {
    tlm::tlm_response_status answer;
    std::uint64_t reads;
  } table[] = {{tlm::TLM_OK_RESPONSE, 0x77},
               {tlm::TLM_ADDRESS_ERROR_RESPONSE, 0xff},
               {tlm::TLM_GENERIC_ERROR_RESPONSE, 0xff},
               {tlm::TLM_INCOMPLETE_RESPONSE, 0xff}};
  Plain& plain = host.device.plain;
  plain.bytes[0] = 0x77;
  unsigned refused = 0;
  host.run([&] {
    host.begin();
    for (const auto& each : table) {
      plain.answer = each.answer;
      EXPECT_EQ(host.read(bar, 1), each.reads) << each.answer;
      refused += each.answer != tlm::TLM_OK_RESPONSE;
      EXPECT_EQ(host.refused(), refused) << each.answer;
    }
    plain.answer = tlm::TLM_OK_RESPONSE;
    EXPECT_EQ(host.read(bar + 0x1000, 1), 0xffu) << "another BAR";
  });
}

// The function answers what waits, and the target never sees it.
TEST(TargetAdapter, AResetDropsWhatWaits) {
  Host host;
  Plain& plain = host.device.plain;
  host.run([&] {
    host.begin();
    plain.waits = 100 * vp::us;
    for (const unsigned offset : {0u, 8u})
      host.spawn([&host, offset] { EXPECT_EQ(host.read(bar + offset, 1), 0xffu) << offset; });
    pcie::pause(10 * vp::us);
    ASSERT_EQ(plain.uses.size(), 1u) << "the target is at work on the first, and the other waits";
    host.reset_function();
    EXPECT_EQ(plain.uses.size(), 1u);
    EXPECT_EQ(host.device.resets, 1u);
    plain.waits = 0;
    host.write(bar, 3, 4);
    EXPECT_EQ(host.read(bar, 4), 3u);
  });
}

TEST(InitiatorAdapter, ReadsAndWritesHostMemory) {
  Host host;
  Plain& plain = host.device.plain;
  host.run([&] {
    host.begin();
    std::vector<unsigned char> data(10'000);
    EXPECT_EQ(plain.transfer(tlm::TLM_READ_COMMAND, 0x1234, data), tlm::TLM_OK_RESPONSE);
    EXPECT_EQ(data, host.memory.at(0x1234, 10'000));
    for (unsigned char& byte : data) byte = static_cast<unsigned char>(~byte);
    EXPECT_EQ(plain.transfer(tlm::TLM_WRITE_COMMAND, 0x20001, data), tlm::TLM_OK_RESPONSE);
    pcie::pause(100 * vp::us);
    EXPECT_EQ(host.memory.at(0x20001, 10'000), data);
  });
}

TEST(InitiatorAdapter, WaitsForTheDelayThatTheCallerAnnotates) {
  Host host;
  Plain& plain = host.device.plain;
  host.run([&] {
    host.begin();
    std::vector<unsigned char> data(64);
    const auto time = [&](vp::Picoseconds delay) {
      const vp::Picoseconds begin = vp::now();
      plain.transfer(tlm::TLM_READ_COMMAND, 0, data, vp::to_sc_time(delay));
      return vp::now() - begin;
    };
    const vp::Picoseconds without = time(0);
    EXPECT_GT(without, 0);
    EXPECT_EQ(time(700 * vp::ns), without + 700 * vp::ns);
  });
}

TEST(InitiatorAdapter, SeveralProcessesTransferAtATime) {
  Host host;
  Plain& plain = host.device.plain;
  host.run([&] {
    host.begin();
    for (unsigned i = 0; i < 4; ++i)
      host.spawn([&, i] {
        std::vector<unsigned char> data(5000);
        EXPECT_EQ(plain.transfer(tlm::TLM_READ_COMMAND, 0x2000 * i, data), tlm::TLM_OK_RESPONSE);
        EXPECT_EQ(data, host.memory.at(0x2000 * i, 5000)) << i;
      });
  });
}

TEST(InitiatorAdapter, RefusesWhatItCannotDo) {
  Host host;
  Plain& plain = host.device.plain;
  host.run([&] {
    std::vector<unsigned char> data(64), none;
    EXPECT_EQ(plain.transfer(tlm::TLM_READ_COMMAND, 0, data), tlm::TLM_COMMAND_ERROR_RESPONSE)
        << "Bus Master is disabled";
    host.begin();
    EXPECT_EQ(plain.transfer(tlm::TLM_IGNORE_COMMAND, 0, data), tlm::TLM_COMMAND_ERROR_RESPONSE);
    EXPECT_EQ(plain.transfer(tlm::TLM_READ_COMMAND, 0, none), tlm::TLM_BURST_ERROR_RESPONSE);
    tlm::tlm_generic_payload payload;
    unsigned char enable = TLM_BYTE_ENABLED;
    payload.set_command(tlm::TLM_WRITE_COMMAND);
    payload.set_data_ptr(data.data());
    payload.set_data_length(64);
    payload.set_streaming_width(64);
    payload.set_byte_enable_ptr(&enable);
    payload.set_byte_enable_length(1);
    sc_core::sc_time delay;
    plain.memory->b_transport(payload, delay);
    EXPECT_EQ(payload.get_response_status(), tlm::TLM_BYTE_ENABLE_ERROR_RESPONSE);
    payload.set_byte_enable_ptr(nullptr);
    payload.set_streaming_width(8);
    plain.memory->b_transport(payload, delay);
    EXPECT_EQ(payload.get_response_status(), tlm::TLM_BURST_ERROR_RESPONSE);
    EXPECT_EQ(plain.transfer(tlm::TLM_READ_COMMAND, 0x10'0000'0000, data),
              tlm::TLM_ADDRESS_ERROR_RESPONSE);
    EXPECT_EQ(plain.transfer(tlm::TLM_READ_COMMAND, 0x100, data), tlm::TLM_OK_RESPONSE);
  });
}

TEST(InterruptAdapter, SignalsEachRisingEdge) {
  Host host;
  Plain& plain = host.device.plain;
  host.run([&] {
    host.begin();
    const unsigned capability = host.find_capability(below, pcie::MsiX::id);
    host.write(bar + msi_x_table, 0xfee00000, 4);
    host.write(bar + msi_x_table + 4, 0, 4);
    host.write(bar + msi_x_table + 8, 0x41, 4);
    host.write(bar + msi_x_table + 12, 0, 4);
    host.config_write(below, capability + pcie::MsiX::message_control,
                      pcie::MsiX::ControlBit::enable, 2);
    for (const bool level : {true, true, false, true, false}) {
      host.device.interrupt.line.write(level);
      pcie::pause(10 * vp::us);
    }
  });
  ASSERT_EQ(host.memory.messages.size(), 2u);
  EXPECT_EQ(host.memory.messages[0].data[0], 0x41);
  EXPECT_TRUE(plain.uses.empty()) << "the function has the MSI-X table itself";
}

}  // namespace
}  // namespace device
