// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tlm_utils/passthrough_target_socket.h>

#include <cstdint>
#include <functional>
#include <systemc>
#include <tlm>

#include "models/oae/register_access.h"
#include "models/oae/rtl.h"
#include "models/oae/wire.h"
#include "models/rtl/clock_grid.h"
#include "vp/irq_output.h"
#include "vp/statistics/statistics.h"
#include "vp/time/domain.h"
#include "vp/trace/trace.h"

namespace oae {

struct WindowLinkConfig {
  unsigned irq_line = 0;      ///< number of `irq` at its controller
  double bit_error_rate = 0;  ///< of what this end sends, 0 to 1e-3
  std::uint64_t seed = 1;     ///< of the bits that are wrong
};

/// An end of a link with a window: a socket and a wire on the pins of rtl/link/oae_link_end.sv. It
/// is a part of a larger model, which runs its clock: of a block with which a bridge joins it in
/// the RTL (rtl/bridge), or of a relay with two of them (rtl/relay). The wire carries 128 bits in
/// each clock.
class WindowLink : public sc_core::sc_module {
 public:
  static constexpr unsigned bits_per_clock = 128;
  static constexpr std::uint64_t no_edge = ~std::uint64_t{0};

  /// The firmware's registers (rtl/registers/window.yaml), over AXI4-Lite. An access lies within an
  /// aligned word of 8 bytes. The caller's process waits for the response. SLVERR becomes
  /// TLM_ADDRESS_ERROR_RESPONSE.
  tlm_utils::passthrough_target_socket<WindowLink> registers;
  /// To the firmware.
  vp::IrqOutput irq;

  /// `grid` is the clock. `changed` is called when there is a new input. Throws ConfigurationError.
  WindowLink(const sc_core::sc_module_name& name, const WindowLinkConfig& config, EndPins& pins,
             const rtl::ClockGrid& grid, std::function<void()> changed, vp::Domain& domain,
             vp::Trace& trace, vp::Statistics& statistics);

  /// Lays a wire between two ends whose clocks have the same rate. `delay` is that of each
  /// direction in ps, at least 1. Call this once for each end, before the end of elaboration.
  /// Throws ConfigurationError.
  static void connect(WindowLink& a, WindowLink& b, vp::Picoseconds delay);
  /// Cuts the wire from this end, or makes it whole again. What is on a wire that is cut is lost,
  /// and nothing arrives until the wire is whole.
  void cut(bool is_cut);
  /// Damages one bit of the next clock cycle in which this end sends anything. `bit` is counted
  /// modulo 128.
  void damage(unsigned bit);

  // For the model of the whole. The order at an edge is: present(), the low phase, sample(), the
  // rising edge, finish(). show() is called at the time of an edge that shows() something.

  /// Whether the next edge must take place because of this end.
  bool active() const {
    return pins_.kind_sent != 0 || wire_.differs(pins_.carrier_sent) || accesses_.in_work();
  }
  /// Whether neither this end nor anything on its way to it needs the clock.
  bool rests() const { return !active() && !wire_.waits() && !accesses_.waiting(); }
  /// The first edge that has an input for this end, or no_edge.
  std::uint64_t next_input() const;
  /// Puts on the pins what has arrived before the edge at `now`.
  void present(vp::Picoseconds now);
  /// Sends what is on the pins before this edge.
  void sample(std::uint64_t edge);
  void finish();
  bool shows() const;
  void show();
  /// The whole has lost its power and was reset at `edge`: the carrier goes off, and what is in
  /// work ends.
  void lose_power(std::uint64_t edge);
  /// The whole has power again and was reset at the edge at `now`. What has arrived before is lost.
  void power_up(vp::Picoseconds now);

 private:
  /// What one edge puts on the wire.
  struct Group {
    vp::Picoseconds arrival;
    bool carrier;
    std::uint8_t kind;
    std::uint64_t data[2];

    bool idle(unsigned = 0) const { return kind == 0; }
  };

  /// How far the slots of both directions are, as it was traced last.
  struct Progress {
    std::uint32_t sent = 0;
    std::uint32_t settled = 0;
    std::uint32_t expected = 0;
    std::uint32_t done = 0;

    bool operator==(const Progress& other) const {
      return sent == other.sent && settled == other.settled && expected == other.expected &&
             done == other.done;
    }
  };

  void b_transport(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay);
  Progress progress() const { return {pins_.sent, pins_.settled, pins_.expected, pins_.done}; }
  bool moves_slots() const { return pins_.passes || pins_.brings || pins_.strays; }

  EndPins& pins_;
  const rtl::ClockGrid& grid_;
  const std::function<void()> changed_;
  vp::Trace& trace_;
  WireEnd<Group> wire_;
  RegisterAccesses accesses_;  // those of the firmware

  bool powered_ = true;
  bool irq_level_ = false;
  unsigned phase_ = 0;
  Progress progress_;

  std::uint64_t accesses_seen_ = 0;
  std::uint64_t passed_ = 0;
  std::uint64_t brought_ = 0;
  std::uint64_t strays_ = 0;
};

}  // namespace oae
