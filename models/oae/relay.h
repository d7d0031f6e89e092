// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <systemc>

#include "models/oae/rtl.h"
#include "models/oae/window_link.h"
#include "models/rtl/clock_grid.h"
#include "vp/statistics/statistics.h"
#include "vp/time/domain.h"
#include "vp/trace/trace.h"

namespace oae {

struct RelayConfig {
  std::uint64_t clock_hz = 781'250'000;  ///< 1 kHz to 10 GHz; the wires carry 128 bits in a clock
  bool checked = false;                  ///< whether the assertions of the RTL are checked
  WindowLinkConfig links[2];
};

/// The relay of a cell in the middle of a chain: the verilated rtl/relay/oae_relay_cell.sv, with
/// two ends of links. What comes in by one leaves by the other before all of it has arrived.
///
/// It has a clock of its own, on a fixed grid (see rtl::ClockGrid), which stops while there is
/// nothing to do. Each edge is run at its time.
class Relay : public sc_core::sc_module {
 public:
  static constexpr unsigned links = 2;

  /// Throws ConfigurationError.
  Relay(const sc_core::sc_module_name& name, const RelayConfig& config, vp::Domain& domain,
        vp::Trace& trace, vp::Statistics& statistics);
  ~Relay() override;

  /// Takes the power from the relay, which forgets everything: its carriers go off, and what
  /// arrives is lost. Accesses that are in work end with an error, as do those that follow.
  void lose_power();
  /// Gives the power back: the relay begins anew.
  void power_up();

  /// One of the two ends.
  WindowLink& link(unsigned n) { return *ends_[n]; }
  /// Number of clock edges that the relay has seen.
  const std::uint64_t& clocks() const { return clocks_; }

 private:
  void schedule();
  void tick();

  const rtl::ClockGrid grid_;
  const std::unique_ptr<RelayRtl> rtl_;
  vp::Event clock_;
  std::optional<WindowLink> ends_[links];

  bool powered_ = true;
  bool ticking_ = false;
  std::uint64_t next_ = 1;  // the first edge not yet run
  std::uint64_t due_ = 0;   // the edge that clock_ is set to; those before it are idle
  std::uint64_t clocks_ = 0;
};

}  // namespace oae
