// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "tests/models/ipu/fixture.h"
#include "tests/models/oae/fixture.h"

inline constexpr std::uint64_t clock_hz = 781'250'000;  // 100 Gb/s
inline constexpr vp::Picoseconds clock_period = 1'280;
inline constexpr vp::Picoseconds hold_off = (vp::Picoseconds{2} << 20) * clock_period;
inline constexpr vp::Picoseconds metre = 5'000;
inline constexpr std::uint64_t port_mask = 0xf0;

inline oae::BlockConfig window_block(const oae::WindowLinkConfig& link, bool checked) {
  oae::BlockConfig config;
  config.clock_hz = clock_hz;
  config.checked = checked;
  config.link = link;
  return config;
}

/// What a host remembers of its port.
struct WindowHost {
  unsigned port;
  std::uint32_t sequence = 0;
  std::uint8_t attempt = 0;
};

/// A cell with one link, its host and its firmware.
class WindowCell : public Fixture {
 public:
  WindowCell(const std::string& name, const oae::WindowLinkConfig& config, bool checked,
             const std::string& trace_path)
      : Fixture(window_block(config, checked), trace_path, name.c_str()),
        link((name + "_firmware").c_str()) {
    link.socket.bind(block->link()->registers);
    block->link()->irq.bind(*this);
  }

  /// What the firmware does once: it gives ports and rings to the bridge, and takes the link up.
  void join() {
    for (unsigned port = 0; port < 8; ++port) {
      if (port_mask >> port & 1) put(OAE_FIRMWARE_JOIN_AT(port), 1);
    }
    link.write(OAE_WINDOW_PORTS, port_mask);
    take_up();
  }
  void take_up() {
    link.write(OAE_WINDOW_CONTROL, OAE_WINDOW_CONTROL_UP_MASK | OAE_WINDOW_CONTROL_BRIDGED_MASK);
  }
  unsigned phase() { return OAE_GET(link.read(OAE_WINDOW_STATE), OAE_WINDOW_STATE_PHASE); }
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

  ipu::test::Initiator link;
};
