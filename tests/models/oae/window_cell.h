// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tests/models/ipu/fixture.h"
#include "tests/models/oae/fixture.h"

inline constexpr std::uint64_t clock_hz = 781'250'000;  // 100 Gb/s
inline constexpr vp::Picoseconds clock_period = 1'280;
inline constexpr vp::Picoseconds hold_off = (vp::Picoseconds{2} << 20) * clock_period;
inline constexpr vp::Picoseconds metre = 5'000;
inline constexpr std::uint64_t port_mask = 0xf0;

inline oae::BlockConfig window_block(const std::vector<oae::WindowLinkConfig>& links,
                                     bool checked) {
  oae::BlockConfig config;
  config.clock_hz = clock_hz;
  config.checked = checked;
  config.links = links;
  return config;
}

/// What a host remembers of its port.
struct WindowHost {
  unsigned port;
  std::uint32_t sequence = 0;
  std::uint8_t attempt = 0;
};

/// A cell with one link or two, its host and its firmware.
class WindowCell : public Fixture {
 public:
  WindowCell(const std::string& name, const std::vector<oae::WindowLinkConfig>& configs,
             bool checked, const std::string& trace_path)
      : Fixture(window_block(configs, checked), trace_path, name.c_str()),
        link((name + "_firmware").c_str()) {
    link.socket.bind(block->links()[0]->registers);
    if (configs.size() == 2) {
      second.emplace((name + "_firmware1").c_str());
      second->socket.bind(block->links()[1]->registers);
    }
    for (const auto& each : block->links()) each->irq.bind(*this);
  }
  WindowCell(const std::string& name, const oae::WindowLinkConfig& config, bool checked,
             const std::string& trace_path)
      : WindowCell(name, std::vector<oae::WindowLinkConfig>{config}, checked, trace_path) {}

  /// What the firmware does once: it gives ports and rings to a bridge, and takes its link up.
  void join(unsigned n = 0, std::uint64_t ports = port_mask) {
    for (unsigned port = 0; port < 8; ++port) {
      if (ports >> port & 1) put(OAE_FIRMWARE_JOIN_AT(port), 1);
    }
    registers(n).write(OAE_WINDOW_PORTS, ports);
    take_up(n);
  }
  void take_up(unsigned n = 0) {
    registers(n).write(OAE_WINDOW_CONTROL,
                       OAE_WINDOW_CONTROL_UP_MASK | OAE_WINDOW_CONTROL_BRIDGED_MASK);
  }
  unsigned phase(unsigned n = 0) {
    return OAE_GET(registers(n).read(OAE_WINDOW_STATE), OAE_WINDOW_STATE_PHASE);
  }
  std::uint64_t counter(const std::string& name) const {
    return statistics.json()["counters"][std::string(block->name()) + "." + name];
  }

  /// Swaps and confirms. Returns what the answer brings, 0 for an empty slot, or nothing if there
  /// was no exchange.
  std::optional<std::uint64_t> swap(WindowHost& host, std::uint64_t number) {
    Header offer = header(1, host.sequence + 1);
    offer.attempt = host.attempt;
    Slot slot{offer.word(), number};
    for (unsigned i = 2; i < 7; ++i) slot[i] = number * i;
    seal(slot);
    write(2, page(host.port, OAE_PORT_WINDOW), slot.data(), 64);
    Slot answer{};
    EXPECT_EQ(read(2, page(host.port, OAE_PORT_WINDOW), answer.data(), 64), tlm::TLM_OK_RESPONSE);
    EXPECT_TRUE(sealed(answer));
    if (Header::of(answer[0]).status != OAE_STATUS_OK) {
      host.attempt = (host.attempt + 1) & 63;
      return std::nullopt;
    }
    for (unsigned i = 2; i < 7; ++i) EXPECT_EQ(answer[i], answer[1] * i);
    ++host.sequence;
    host.attempt = 0;
    const std::uint64_t word = confirmation(header(1, host.sequence).word());
    write(2, page(host.port, OAE_PORT_CONFIRM), &word, 8);
    return answer[1];
  }
  /// Swaps until an exchange takes place.
  std::uint64_t exchange(WindowHost& host, std::uint64_t number) {
    for (unsigned attempt = 0; attempt < 1'000; ++attempt) {
      if (const auto answer = swap(host, number)) return *answer;
      pass(200 * vp::ns);
    }
    ADD_FAILURE() << "no exchange of " << number;
    return 0;
  }

  ipu::test::Initiator link;  ///< by which the firmware accesses the registers of the first link
  std::optional<ipu::test::Initiator> second;  ///< and of the second one, if there is one

 private:
  ipu::test::Initiator& registers(unsigned n) { return n == 0 ? link : *second; }
};
