// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tlm_utils/passthrough_target_socket.h>
#include <tlm_utils/simple_initiator_socket.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <systemc>
#include <tlm>

#include "models/oae/clock_grid.h"
#include "models/oae/register_access.h"
#include "models/pcie/endpoint/access.h"
#include "vp/irq_output.h"
#include "vp/ring.h"
#include "vp/statistics/statistics.h"
#include "vp/time/domain.h"
#include "vp/trace/trace.h"

namespace oae {

/// An impossible value, or a waveform file that cannot be written.
struct ConfigurationError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

struct BlockConfig {
  unsigned ports = 8;                    ///< swap ports, 1 to 64
  std::uint64_t clock_hz = 500'000'000;  ///< 1 kHz to 10 GHz
  unsigned irq_line = 0;                 ///< number of `irq` at its controller
  std::string vcd;                       ///< waveform file, empty for none
};

/// The OAE block: the SystemVerilog of rtl/, verilated, with TLM-2.0 sockets on its pins. Knows
/// nothing of what the block does.
///
/// Its clock runs on a fixed grid, see ClockGrid, and stops while there is nothing to do. What
/// arrives at the very time of an edge is seen at the next one. Edges at which the block neither
/// looks at its inputs nor shows an output are run ahead of their time; nothing can tell.
class Block : public sc_core::sc_module {
 public:
  /// The function's requests to BAR 0 (offsets below 0x4000: rtl/registers/host.yaml), BAR 2
  /// (port.yaml) and BAR 4 (stream.yaml). Protocol: models/pcie/endpoint/access.h, within a
  /// multiple of 64 bytes; completed in order. While 32 wait, a write is not taken.
  tlm_utils::passthrough_target_socket<Block> bar;
  /// The firmware's registers (rtl/registers/firmware.yaml), over AXI4-Lite: within an aligned
  /// word of 8 bytes; may be ahead of the kernel's time, see vp::Decoupled. The caller's process
  /// waits for the response, or gets it with a delay. SLVERR is TLM_ADDRESS_ERROR_RESPONSE.
  tlm_utils::passthrough_target_socket<Block> registers;
  /// Slots to the host, 64 bytes each. Any response but TLM_OK_RESPONSE is a refusal.
  tlm_utils::simple_initiator_socket<Block> dma;
  /// MSI-X to the host.
  sc_core::sc_port<pcie::InterruptIf> interrupt;
  /// To the firmware.
  vp::IrqOutput irq;

  /// Throws ConfigurationError.
  Block(const sc_core::sc_module_name& name, const BlockConfig& config, vp::Domain& domain,
        vp::Trace& trace, vp::Statistics& statistics);
  ~Block() override;

  /// The host's function was reset, or lost its link: takes its place among the requests.
  void function_reset();

  /// Edges that the block has seen.
  const std::uint64_t& clocks() const { return clocks_; }
  bool clock_stopped() const { return !running_; }

 private:
  struct Pins;

  /// A request on its way to the pins.
  struct Request {
    tlm::tlm_generic_payload* payload;  // of a read, or of a write that waits
    vp::Picoseconds arrival;
    bool write;
    bool reset;  // of the function, and nothing else
    unsigned line;
    unsigned at;  // first byte within the line
    std::uint64_t enable;
    std::uint8_t data[64];
    std::uint8_t bar;
    std::uint8_t traffic_class;
  };

  tlm::tlm_sync_enum nb_transport_fw(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                                     sc_core::sc_time& delay);
  void b_transport(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay);

  void power_up();
  tlm::tlm_sync_enum slot_answered(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                                   sc_core::sc_time& delay);

  void schedule();
  std::uint64_t next_input() const;
  bool run_ahead(const RegisterAccess& access);
  void arm();
  void tick();
  void visible_edge();
  void settle();
  void rise();
  bool hidden() const;
  bool shows() const;
  void show();
  void present();
  void push(const Request& request);
  void take_write();
  void offer_slot();
  void send_slot();
  void complete();

  const BlockConfig config_;
  vp::Domain& domain_;
  const ClockGrid grid_;
  vp::Trace& trace_;
  std::unique_ptr<Pins> pins_;

  vp::Event clock_;
  bool running_ = false;  // an edge is due, and not only for a deadline
  bool ticking_ = false;
  bool ahead_ = false;      // the edge before next_ was run ahead and is to be shown at its time
  std::uint64_t next_ = 1;  // the first edge not yet run
  std::uint64_t due_ = 0;   // the edge that clock_ is set to, unless ahead_: those before are idle
  bool irq_level_ = false;
  std::uint64_t version_ = 0;  // changes with whatever but a read may change the next read's answer

  vp::Ring<Request> requests_;
  Request write_{};            // the one that there is no room for, if its payload is set
  Request read_{};             // the one that the block works on
  RegisterAccesses accesses_;  // of the firmware
  tlm::tlm_generic_payload slot_;
  std::uint8_t slot_data_[64] = {};
  bool slot_waits_ = false;     // for the way to the host
  bool slot_answered_ = false;  // it has left or was refused, which the next edge sees

  vp::Latency read_latency_;
  std::uint64_t clocks_ = 0;
  std::uint64_t requests_seen_ = 0;
  std::uint64_t accesses_seen_ = 0;
  std::uint64_t exchanged_ = 0;
  std::uint64_t committed_ = 0;
  std::uint64_t reversed_ = 0;
  std::uint64_t slots_written_ = 0;
  std::uint64_t slots_refused_ = 0;
  std::uint64_t interrupts_ = 0;
};

}  // namespace oae
