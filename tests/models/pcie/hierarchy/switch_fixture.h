// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "models/pcie/hierarchy/switch.h"
#include "tests/models/pcie/fixture.h"

namespace pcie {

/// Waits until packets that are under way have arrived.
inline void settle(vp::Picoseconds span = 20 * vp::us) {
  sc_core::wait(vp::to_sc_time(span));
}

/// Credits for one packet of each class.
inline CreditConfig one_packet() {
  CreditConfig credits;
  for (unsigned of = 0; of < credit_classes; ++of) credits.classes[of] = {1, 16};
  return credits;
}

inline constexpr unsigned devices = 3;
inline constexpr Id root_id = make_id(0, 2, 0), upstream_id = make_id(2, 0, 0);
inline constexpr std::uint64_t MiB = 0x100000;
inline constexpr std::uint64_t window = 0xc1000000,
                               window64 = 0x4010000000;  // 1 MiB for each device

constexpr Id port_id(unsigned i) {
  return make_id(3, i, 0);
}
/// Of the device below port `i`, if there is no other switch.
constexpr Id device_id(unsigned i) {
  return make_id(4 + i, 0, 0);
}
constexpr std::uint64_t bar(unsigned i) {
  return window + i * MiB;
}
constexpr std::uint64_t bar64(unsigned i) {
  return window64 + i * MiB;
}

/// An endpoint with its logic, and the link to it.
struct Card {
  Card(unsigned i, const EndpointConfig& config, const LinkConfig& wire, Fixture& fixture,
       DownstreamPort& port)
      : domain(fmt("domain", i).c_str()),
        endpoint(fmt("endpoint", i).c_str(), config, domain, fixture.statistics),
        link(fmt("link", i).c_str(), wire, port, endpoint, fixture.trace, fixture.statistics),
        logic(fmt("logic", i).c_str(), domain) {
    endpoint.function(0).bar.bind(logic.bar);
    logic.dma.bind(endpoint.function(0).dma);
  }
  static std::string fmt(const char* name, unsigned i) { return name + std::to_string(i); }

  vp::Domain domain;
  Endpoint endpoint;
  Link link;
  Logic logic;
};

/// A fixture whose root complex has a second port, with a switch below it, and three devices below
/// the switch; of these the last may be below another switch.
///
///     root port 00:02.0 --- 02:00.0 --- 03:00.0 to 03:02.0 --- devices 04:00.0, 05:00.0, 06:00.0
///     nested:                           03:02.0 --- 06:00.0 --- 07:00.0 --- device 08:00.0
struct SwitchFixture : Fixture {
  struct Config {
    Fixture::Config fixture;
    SwitchConfig sw;
    LinkConfig above;
    EndpointConfig endpoint;
    LinkConfig wires;
    bool nested = false;
    SwitchConfig inner;  ///< the other switch
    Config() {
      fixture.root_complex.ports.resize(2);
      endpoint = fixture.endpoint;
      sw.latency = 100 * vp::ns;
      sw.ports.resize(devices);
      above.latency_down = wires.latency_down = 150 * vp::ns;
      above.latency_up = wires.latency_up = 130 * vp::ns;
    }
  };

  explicit SwitchFixture(const Config& config = Config(),
                         const sc_core::sc_module_name& name = "fixture")
      : Fixture(config.fixture, name),
        sw("switch", config.sw, host, statistics),
        above("above", config.above, root_complex.port(1), sw.upstream(), trace, statistics) {
    if (config.nested) {
      inner = std::make_unique<Switch>("inner", config.inner, host, statistics);
      between = std::make_unique<Link>("between", config.above, sw.port(devices - 1),
                                       inner->upstream(), trace, statistics);
    }
    for (unsigned i = 0; i < devices; ++i) {
      DownstreamPort& port = inner && i + 1 == devices ? inner->port(0) : sw.port(i);
      cards.push_back(std::make_unique<Card>(i, config.endpoint, config.wires, *this, port));
    }
  }

  Logic& logic_of(unsigned i) { return cards[i]->logic; }

  void enumerate_bridge(Id id, unsigned secondary, unsigned last, std::uint64_t base,
                        std::uint64_t base64, unsigned megabytes) {
    config_write(id, Type1Header::primary_bus_number, bus_of(id) | secondary << 8 | last << 16, 4);
    const auto range = [&](std::uint64_t from) {
      return static_cast<std::uint32_t>((from >> 16 & 0xfff0) |
                                        ((from + megabytes * MiB - 1) >> 16 & 0xfff0) << 16);
    };
    config_write(id, Type1Header::memory_base, range(base), 4);
    config_write(id, Type1Header::prefetchable_memory_base, range(base64), 4);
    config_write(id, Type1Header::prefetchable_base_upper, 0x40, 4);
    config_write(id, Type1Header::prefetchable_limit_upper, 0x40, 4);
    config_write(id, Type1Header::bridge_control, Type1Header::BridgeControlBit::serr_enable, 2);
    config_write(id, Header::command, memory_and_master, 2);
  }
  void enumerate_device(unsigned i) {
    const Id id = inner && i + 1 == devices ? make_id(8, 0, 0) : device_id(i);
    config_write(id, Type0Header::bar(0), static_cast<std::uint32_t>(bar(i)), 4);
    config_write(id, Type0Header::bar(1), 0, 4);
    config_write(id, Type0Header::bar(2), static_cast<std::uint32_t>(bar64(i)), 4);
    config_write(id, Type0Header::bar(3), static_cast<std::uint32_t>(bar64(i) >> 32), 4);
    config_write(id, Type0Header::bar(4), static_cast<std::uint32_t>(bar(i) + 0x80000), 4);
    config_write(id, Header::command, memory_and_master, 2);
  }
  void enumerate_port(unsigned i) {
    const unsigned bus = bus_of(device_id(i)), last = i + 1 == devices ? 8 : bus;
    enumerate_bridge(port_id(i), bus, last, bar(i), bar64(i), 1);
    if (inner && i + 1 == devices) {
      enumerate_bridge(make_id(bus, 0, 0), 7, 8, bar(i), bar64(i), 1);
      enumerate_bridge(make_id(7, 0, 0), 8, 8, bar(i), bar64(i), 1);
    }
  }
  void enumerate_switch() {
    enumerate_bridge(root_id, 2, 8, window, window64, devices);
    enumerate_bridge(upstream_id, 3, 8, window, window64, devices);
    for (unsigned i = 0; i < devices; ++i) {
      enumerate_port(i);
      enumerate_device(i);
    }
  }
  unsigned find_extended(Id id, unsigned capability) {
    const unsigned at = find_extended_capability(id, static_cast<std::uint16_t>(capability));
    EXPECT_NE(at, 0u) << "no capability " << capability;
    return at;
  }
  std::uint32_t uncorrectable(Id id) {
    return config_read(id,
                       find_extended(id, AdvancedErrorReporting::id) +
                           AdvancedErrorReporting::uncorrectable_status,
                       4);
  }
  /// Returns what the root port has collected, and clears it.
  struct Collected {
    std::uint32_t status;
    Id uncorrectable;
  };
  Collected collect() {
    const unsigned aer = find_extended(root_id, AdvancedErrorReporting::id);
    const Collected found{config_read(root_id, aer + AdvancedErrorReporting::root_error_status, 4),
                          static_cast<Id>(config_read(
                              root_id, aer + AdvancedErrorReporting::uncorrectable_source, 2))};
    config_write(root_id, aer + AdvancedErrorReporting::root_error_status, 0x7f, 4);
    return found;
  }
  bool works(unsigned i) {
    logic_of(i).memory[0][8] = 0x42;
    auto read = logic_of(i).dma_read(0x1000, 300);
    wait_for(*read);
    return Fixture::read(bar(i) + 8, 1) == 0x42 && read->is_response_ok();
  }
  std::uint64_t counted(const std::string& name) const {
    const nlohmann::json all = statistics.json();
    return all.at("counters").at(name);
  }

  Switch sw;
  Link above;
  std::unique_ptr<Switch> inner;
  std::unique_ptr<Link> between;
  std::vector<std::unique_ptr<Card>> cards;
};

}  // namespace pcie
