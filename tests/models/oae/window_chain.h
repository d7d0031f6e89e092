// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "models/oae/relay.h"
#include "tests/models/oae/window_cell.h"

/// A cell in the middle, with its firmware.
class MiddleCell : public sc_core::sc_module, public vp::InterruptLineIf {
 public:
  MiddleCell(const sc_core::sc_module_name& name, const oae::RelayConfig& config,
             const std::string& trace_path)
      : sc_module(name), domain("domain") {
    if (!trace_path.empty()) trace.open(trace_path, {});
    relay = std::make_unique<oae::Relay>("relay", config, domain, trace, statistics);
    for (unsigned n = 0; n < oae::Relay::links; ++n) {
      firmware[n].socket.bind(relay->link(n).registers);
      relay->link(n).irq.bind(*this);
    }
  }

  /// What the firmware does once.
  void join(std::uint64_t ports = port_mask) {
    for (ipu::test::Initiator& link : firmware) {
      for (unsigned port = 0; port < 8; ++port) {
        if (ports >> port & 1) {
          link.write(OAE_WINDOW_ROUTE_AT(port),
                     OAE_WINDOW_ROUTE_ONWARD_MASK | OAE_PUT(OAE_WINDOW_ROUTE_LABEL, port));
        }
      }
      link.write(OAE_WINDOW_IRQ_ENABLE, OAE_WINDOW_EVENT_DOWN_MASK);
    }
    take_up();
  }
  void take_up() {
    for (ipu::test::Initiator& link : firmware) {
      link.write(OAE_WINDOW_CONTROL, OAE_WINDOW_CONTROL_UP_MASK);
    }
  }
  unsigned phase(unsigned n) {
    return OAE_GET(firmware[n].read(OAE_WINDOW_STATE), OAE_WINDOW_STATE_PHASE);
  }
  std::uint64_t counter(const std::string& name) const {
    return statistics.json()["counters"][std::string(relay->name()) + "." + name];
  }
  void set_line(unsigned number, bool level) override { lines.emplace_back(number, level); }

  vp::Domain domain;
  vp::Trace trace;
  vp::Statistics statistics;
  std::unique_ptr<oae::Relay> relay;
  ipu::test::Initiator firmware[oae::Relay::links]{ipu::test::Initiator("firmware0"),
                                                   ipu::test::Initiator("firmware1")};
  std::vector<std::pair<unsigned, bool>> lines;
};

/// A chain of `hops` links.
struct Chain {
  Chain(const std::string& prefix, unsigned hops, bool checked, double bit_error_rate = 0,
        const std::string& trace = {}) {
    const auto path = [&](const char* cell) { return trace.empty() ? trace : trace + cell; };
    first = std::make_unique<WindowCell>(prefix + "first", oae::WindowLinkConfig{0, bit_error_rate},
                                         checked, path(".first"));
    last = std::make_unique<WindowCell>(prefix + "last", oae::WindowLinkConfig{0, bit_error_rate},
                                        checked, path(".last"));
    oae::WindowLink* before = first->block->links()[0].get();
    for (unsigned n = 1; n < hops; ++n) {
      oae::RelayConfig config;
      config.checked = checked;
      config.links[0] = {0, bit_error_rate, 2 * n};
      config.links[1] = {1, bit_error_rate, 2 * n + 1};
      const std::string name = "middle" + std::to_string(n);
      middle.push_back(std::make_unique<MiddleCell>((prefix + name).c_str(), config,
                                                    path(("." + name).c_str())));
      oae::WindowLink::connect(*before, middle.back()->relay->link(0), metre);
      before = &middle.back()->relay->link(1);
    }
    oae::WindowLink::connect(*before, *last->block->links()[0], metre);
  }

  void join() {
    first->join();
    last->join();
    for (const auto& cell : middle) cell->join();
  }
  void take_up() {
    first->take_up();
    last->take_up();
    for (const auto& cell : middle) cell->take_up();
  }
  void bring_up() {
    join();
    Fixture::pass(hold_off + 5 * vp::us);
    EXPECT_EQ(first->phase(), unsigned{OAE_WINDOW_PHASE_UP});
    EXPECT_EQ(last->phase(), unsigned{OAE_WINDOW_PHASE_UP});
    for (const auto& cell : middle) {
      EXPECT_EQ(cell->phase(0), unsigned{OAE_WINDOW_PHASE_UP});
      EXPECT_EQ(cell->phase(1), unsigned{OAE_WINDOW_PHASE_UP});
    }
    first->open(5);
    last->open(5);
  }
  /// Both hosts swap in turn. Each is answered by what the other one has sent before.
  void exchange_both_ways(unsigned rounds) {
    for (; rounds > 0; --rounds) {
      ++sent;
      ASSERT_EQ(first->exchange(here, 2 * sent), sent == 1 ? 0 : 2 * (sent - 1) + 1);
      ASSERT_EQ(last->exchange(there, 2 * sent + 1), sent == 1 ? 0 : 2 * (sent - 1));
    }
  }
  /// Cuts both directions of the link behind a middle cell, or makes them whole again.
  void cut_behind(unsigned n, bool is_cut) {
    middle[n]->relay->link(1).cut(is_cut);
    (n + 1 < middle.size() ? middle[n + 1]->relay->link(0) : *last->block->links()[0]).cut(is_cut);
  }
  void close_traces() {
    first->trace.close();
    last->trace.close();
    for (const auto& cell : middle) cell->trace.close();
  }

  std::unique_ptr<WindowCell> first, last;
  std::vector<std::unique_ptr<MiddleCell>> middle;
  WindowHost here{5}, there{5};
  std::uint64_t sent = 0;
};
