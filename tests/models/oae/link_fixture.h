// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "models/oae/link.h"
#include "oae_registers.h"
#include "tests/models/ipu/fixture.h"
#include "tests/rtl/slot.h"
#include "vp/interrupt_line.h"

/// One end of the link, with firmware that a script plays.
class LinkModelEnd : public sc_core::sc_module, public vp::InterruptLineIf {
 public:
  ipu::test::Initiator firmware{"firmware"};

  LinkModelEnd(const sc_core::sc_module_name& name, const oae::LinkConfig& config, vp::Trace& trace,
               vp::Statistics& statistics)
      : sc_module(name), domain("domain") {
    link = std::make_unique<oae::Link>("link", config, domain, trace, statistics);
    firmware.socket.bind(link->registers);
    link->irq.bind(*this);
  }

  void set_line(unsigned, bool level) override {
    irq = level;
    if (level) interrupted = vp::now();
  }

  void put(std::uint64_t address, std::uint64_t value) { firmware.write(address, value); }
  std::uint64_t get(std::uint64_t address) { return firmware.read(address); }
  unsigned phase() { return OAE_GET(get(OAE_LINK_STATE), OAE_LINK_STATE_PHASE); }
  void send(const Slot& slot, unsigned verb = OAE_LINK_COMMAND_PACKET) {
    for (unsigned i = 0; i < 8; ++i) put(OAE_LINK_SEND_AT(0) + 8 * i, slot[i]);
    put(OAE_LINK_COMMAND, verb);
  }
  unsigned outcome() { return OAE_GET(get(OAE_LINK_SENT), OAE_LINK_SENT_OUTCOME); }
  Slot receive() {
    Slot slot;
    for (unsigned i = 0; i < 8; ++i) slot[i] = get(OAE_LINK_RECEIVE_AT(0) + 8 * i);
    put(OAE_LINK_COMMAND, OAE_LINK_COMMAND_TAKE);
    return slot;
  }

  vp::Domain domain;
  std::unique_ptr<oae::Link> link;
  bool irq = false;
  vp::Picoseconds interrupted = 0;  ///< when irq rose last
};

/// Two ends with a wire between them, if the test lays one, and the script that plays the firmware
/// of both.
class LinkFixture {
 public:
  static constexpr vp::Picoseconds metre = 5'000;

  explicit LinkFixture(const oae::LinkConfig& config = {})
      : a("a", config, trace, statistics), b("b", config, trace, statistics) {}

  void connect(vp::Picoseconds delay = metre) { oae::Link::connect(*a.link, *b.link, delay); }
  void run(std::function<void()> script) {
    bool ended = false;
    sc_core::sc_spawn([&] {
      script();
      ended = true;
      sc_core::sc_stop();
    });
    sc_core::sc_start();
    EXPECT_TRUE(ended) << "the script is stuck";
  }
  static void pass(vp::Picoseconds span) { sc_core::wait(vp::to_sc_time(span)); }
  void bring_up() {
    a.put(OAE_LINK_CONTROL, 1);
    b.put(OAE_LINK_CONTROL, 1);
    pass(2 * vp::us);
    EXPECT_EQ(a.phase(), unsigned{OAE_LINK_STATE_IDLE});
    EXPECT_EQ(b.phase(), unsigned{OAE_LINK_STATE_IDLE});
  }
  std::uint64_t counter(const std::string& name) const {
    return statistics.json()["counters"][name];
  }
  static Slot slot(std::uint32_t sequence) {
    Header header;
    header.sequence = sequence;
    return make_slot(header, sequence);
  }

  vp::Trace trace;
  vp::Statistics statistics;
  LinkModelEnd a;
  LinkModelEnd b;
};
