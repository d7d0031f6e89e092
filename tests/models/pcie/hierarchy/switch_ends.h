// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <array>
#include <deque>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "models/pcie/hierarchy/switch.h"
#include "models/pcie/link/link.h"

namespace pcie {

/// The end of a link under a test's control: it sends arbitrary packets and keeps what it receives.
struct End : Port {
  using Port::drain;
  using Port::hold_link;
  using Port::release_link;
  using Port::send;
  std::deque<TlpPtr> received;
  std::deque<vp::Picoseconds> times;        // of these packets, unless take() removes them
  std::array<bool, credit_classes> full{};  // classes that stay in the receive buffer
  explicit End(vp::Domain& domain, const CreditConfig& credits = {}, unsigned generation = 5)
      : Port(domain, {generation, 16, 0, credits}) {}
  void receive(TlpPtr tlp) override {
    received.push_back(std::move(tlp));
    times.push_back(vp::now());
  }
  bool ready(const Tlp& tlp) const override {
    return !full[static_cast<unsigned>(credit_class(tlp.header.type))];
  }
  void trained(unsigned, unsigned) override {}
  void set_full(CreditClass of, bool value) {
    full[static_cast<unsigned>(of)] = value;
    if (!value) drain();
  }
  /// Takes one packet of a class that stays in the receive buffer.
  bool accept_one(CreditClass of) {
    full[static_cast<unsigned>(of)] = false;
    const bool any =
        deliver_one([of](const Tlp& tlp) { return credit_class(tlp.header.type) == of; });
    full[static_cast<unsigned>(of)] = true;
    return any;
  }
  /// Removes and returns the first packet received, or nullptr if there is none.
  TlpPtr take() {
    if (received.empty()) return nullptr;
    TlpPtr first = std::move(received.front());
    received.pop_front();
    times.pop_front();
    return first;
  }
};

/// A switch whose links all end in the test's hands. Its internal bus is 3, and below port `i` are
/// bus 4 + i and the MiB of addresses from bar(i) on.
///
///     root --- 02:00.0 --- 03:00.0 --- ends[0]
///                      `-- 03:01.0 --- ends[1] ...
struct SwitchEnds {
  static constexpr Id host_id = make_id(0, 2, 0), upstream_id = make_id(2, 0, 0);
  static constexpr Id port_id(unsigned i) { return make_id(3, i, 0); }
  static constexpr Id device_id(unsigned i) { return make_id(4 + i, 0, 0); }
  static constexpr std::uint64_t bar(unsigned i) { return 0xc1000000 + i * 0x100000; }

  static SwitchConfig with_ports(unsigned count) {
    SwitchConfig config;
    config.ports.resize(count);
    return config;
  }

  /// What is at the ends of the links, and the links. Those that are not given have default values.
  struct Beyond {
    CreditConfig below{};  ///< what each device advertises
    CreditConfig top{};    ///< what the host advertises
    LinkConfig above{};
    std::vector<LinkConfig> links{};
    unsigned generation = 5;  ///< of all ends
  };
  /// `below` is what the devices advertise.
  explicit SwitchEnds(const SwitchConfig& config = with_ports(3), const CreditConfig& below = {})
      : SwitchEnds(config, Beyond{below}) {}
  SwitchEnds(const SwitchConfig& config, const Beyond& beyond)
      : domain("domain"),
        sw("switch", config, domain, statistics),
        root(domain, beyond.top, beyond.generation),
        above("above", beyond.above, root, sw.upstream(), trace, statistics) {
    for (unsigned i = 0; i < config.ports.size(); ++i) {
      ends.push_back(std::make_unique<End>(domain, beyond.below, beyond.generation));
      links.push_back(
          std::make_unique<Link>(("link" + std::to_string(i)).c_str(),
                                 i < beyond.links.size() ? beyond.links[i] : LinkConfig{},
                                 sw.port(i), *ends[i], trace, statistics));
    }
    enumerate();
  }

  void run() { sc_core::sc_start(100, sc_core::SC_US); }

  std::uint32_t config_read(Id id, unsigned offset, unsigned bytes) {
    root.send(Tlp::config_read(id != upstream_id, id, offset, bytes));
    run();
    const TlpPtr completion = root.take();
    if (!completion || completion->header.type != TlpType::CplD) return ~0u;
    std::uint32_t value = 0;
    for (unsigned i = 0; i < bytes; ++i) {
      value |= std::uint32_t{completion->data()[(offset & 3) + i]} << 8 * i;
    }
    return value;
  }
  void config_write(Id id, unsigned offset, std::uint32_t value, unsigned bytes) {
    root.send(Tlp::config_write(id != upstream_id, id, offset, bytes, value));
    run();
    root.take();
  }
  unsigned find_capability(Id id, unsigned capability) {
    unsigned at = config_read(id, Header::capabilities_pointer, 1);
    while (at != 0 && config_read(id, at, 1) != capability) at = config_read(id, at + 1, 1);
    return at;
  }
  unsigned find_extended(Id id, unsigned capability) {
    unsigned at = 0x100;
    while (at != 0 && config_read(id, at, 2) != capability) at = config_read(id, at + 2, 2) >> 4;
    return at;
  }
  void enumerate() {
    const unsigned count = static_cast<unsigned>(ends.size());
    const auto bridge = [&](Id id, unsigned first, unsigned last, unsigned from, unsigned to) {
      config_write(id, Type1Header::primary_bus_number, bus_of(id) | first << 8 | last << 16, 4);
      config_write(id, Type1Header::memory_base,
                   static_cast<std::uint32_t>(bar(from) >> 16 | bar(to)), 4);
      config_write(id, Type1Header::prefetchable_memory_base, 0x0000fff0, 4);  // none
      config_write(id, Type1Header::bridge_control, Type1Header::BridgeControlBit::serr_enable, 2);
      config_write(id, Header::command,
                   Header::CommandBit::memory_space | Header::CommandBit::bus_master, 2);
    };
    bridge(upstream_id, 3, 3 + count, 0, count - 1);
    for (unsigned i = 0; i < count; ++i) bridge(port_id(i), 4 + i, 4 + i, i, i);
  }

  /// Uncorrectable errors that a port has logged, which are forgotten.
  std::uint32_t uncorrectable(Id id) { return take_status(id, 4); }
  std::uint32_t correctable(Id id) { return take_status(id, 0x10); }
  std::uint32_t take_status(Id id, unsigned offset) {
    const unsigned at = find_extended(id, AdvancedErrorReporting::id) + offset;
    const std::uint32_t found = config_read(id, at, 4);
    config_write(id, at, found, 4);
    return found;
  }
  HeaderWords logged(Id id) {
    const unsigned at =
        find_extended(id, AdvancedErrorReporting::id) + AdvancedErrorReporting::header_log;
    HeaderWords words;
    for (unsigned i = 0; i < words.size(); ++i) words[i] = config_read(id, at + 4 * i, 4);
    return words;
  }
  /// Enables the reporting of all errors, including advisory errors.
  void enable_errors(Id id) {
    config_write(
        id,
        find_extended(id, AdvancedErrorReporting::id) + AdvancedErrorReporting::correctable_mask, 0,
        4);
    const unsigned control = find_capability(id, PciExpress::id) + PciExpress::device_control;
    config_write(id, control, config_read(id, control, 2) | 0xf, 2);
  }
  std::uint64_t counted(const std::string& name) const {
    const nlohmann::json all = statistics.json();
    return all.at("counters").at(name);
  }

  // Requests of the device below port `from`.
  static TlpPtr write(unsigned from, std::uint64_t address) {
    const std::uint8_t data[8] = {1, 2, 3, 4, 5, 6, 7, 8};
    return of(from, Tlp::memory_write(address, data, sizeof data));
  }
  /// The completion that the device below port `from` sends to a requester.
  static TlpPtr completion(unsigned from, Id requester) {
    const TlpPtr request = Tlp::memory_read(0, 4);
    request->header.requester = requester;
    return Tlp::completion(*request, device_id(from), Status::success);
  }
  static TlpPtr read(unsigned from, std::uint64_t address) {
    return of(from, Tlp::memory_read(address, 8));
  }
  static TlpPtr of(unsigned from, TlpPtr request) {
    request->header.requester = device_id(from);
    request->header.tag = 0x15;
    return request;
  }

  vp::Domain domain;
  vp::Trace trace;
  vp::Statistics statistics;
  Switch sw;
  End root;
  Link above;
  std::vector<std::unique_ptr<End>> ends;
  std::vector<std::unique_ptr<Link>> links;
};

}  // namespace pcie
