// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tlm_utils/passthrough_target_socket.h>

#include <cstdint>
#include <memory>
#include <string>
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

struct LinkConfig {
  std::uint64_t rate = 100'000'000'000;  ///< bit/s, 1 Gb/s to 1.6 Tb/s
  unsigned irq_line = 0;                 ///< number of `irq` at its controller
  bool checked = false;                  ///< whether the assertions of the RTL are checked
  double bit_error_rate = 0;             ///< of what this end sends, 0 to 1e-3
  std::uint64_t seed = 1;                ///< of the bits that are wrong
};

/// One end of an OAE link: the SystemVerilog of rtl/transfer/oae_link.sv, verilated with eight
/// slices for each clock, with a TLM-2.0 socket and a wire on its pins. This class does not know
/// what the link does.
///
/// The clock runs at `rate` / 512 Hz on a fixed grid (see rtl::ClockGrid). It stops while the end
/// has nothing to do and the wire carries idle slices. The slices of an edge occupy the wire until
/// the next edge. The other end sees them at its first edge after they have arrived.
class Link : public sc_core::sc_module {
 public:
  /// The firmware's registers (rtl/registers/link.yaml), over AXI4-Lite. An access lies within an
  /// aligned word of 8 bytes. The caller's process waits for the response. SLVERR becomes
  /// TLM_ADDRESS_ERROR_RESPONSE.
  tlm_utils::passthrough_target_socket<Link> registers;
  /// To the firmware.
  vp::IrqOutput irq;

  /// Throws ConfigurationError.
  Link(const sc_core::sc_module_name& name, const LinkConfig& config, vp::Domain& domain,
       vp::Trace& trace, vp::Statistics& statistics);
  ~Link() override;

  /// Lays a wire between two ends of the same rate. `delay` is that of each direction in ps, at
  /// least
  /// 1. Call this once for each end, before the end of elaboration. Throws ConfigurationError.
  static void connect(Link& a, Link& b, vp::Picoseconds delay);
  /// Cuts the wire from this end, or makes it whole again. What is on a wire that is cut is lost,
  /// and nothing arrives until the wire is whole.
  void cut(bool is_cut);
  /// Damages one bit of the next clock cycle in which this end sends anything. `bit` is 0 to 511.
  /// If its slice is idle, the bit is damaged in the next slice that is not.
  void damage(unsigned bit);

  /// Takes the power from this end, which forgets everything: its carrier goes off, and what
  /// arrives is lost. Accesses that are in work end with an error, as do those that follow.
  void lose_power();
  /// Gives the power back: the end begins anew.
  void power_up();

  /// Number of clock edges that the end has seen.
  const std::uint64_t& clocks() const { return clocks_; }

 private:
  static constexpr unsigned slices = 8;  // per clock

  /// The slices that one edge puts on the wire.
  struct Group {
    vp::Picoseconds arrival;
    bool carrier;
    std::uint16_t kinds;
    std::uint64_t data[slices];

    bool idle() const { return kinds == 0; }
    bool idle(unsigned slice) const { return (kinds >> 2 * slice & 3) == 0; }
  };

  void b_transport(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay);
  void schedule();
  void tick();
  void present();
  void send();
  void show();

  const LinkConfig config_;
  vp::Domain& domain_;
  const rtl::ClockGrid grid_;
  vp::Trace& trace_;
  const std::unique_ptr<LinkRtl> rtl_;
  vp::Event clock_;
  bool powered_ = true;
  bool ticking_ = false;
  std::uint64_t next_ = 1;  // the first edge not yet run
  std::uint64_t due_ = 0;   // the edge that clock_ is set to

  WireEnd<Group> wire_;

  RegisterAccesses accesses_;  // those of the firmware

  unsigned phase_ = 0;  // the value that was traced last
  unsigned sender_ = 0;
  unsigned receiver_ = 0;

  std::uint64_t clocks_ = 0;
  std::uint64_t accesses_seen_ = 0;
};

}  // namespace oae
