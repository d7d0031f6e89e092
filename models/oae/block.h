// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tlm_utils/passthrough_target_socket.h>
#include <tlm_utils/simple_initiator_socket.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <systemc>
#include <tlm>
#include <variant>
#include <vector>

#include "models/oae/register_access.h"
#include "models/oae/request_queue.h"
#include "models/oae/rtl.h"
#include "models/oae/window_link.h"
#include "models/oae/wire.h"
#include "models/pcie/endpoint/access.h"
#include "models/rtl/clock_grid.h"
#include "vp/irq_output.h"
#include "vp/statistics/statistics.h"
#include "vp/time/domain.h"
#include "vp/trace/trace.h"

namespace oae {

struct BlockConfig {
  unsigned ports = 8;                    ///< swap ports, 1 to 64
  std::uint64_t clock_hz = 500'000'000;  ///< 1 kHz to 10 GHz
  unsigned irq_line = 0;                 ///< number of `irq` at its controller
  std::string vcd;                       ///< waveform file; empty for none
  bool checked = false;  ///< whether the assertions of the RTL are checked, as with a waveform
  /// The ends of links, at most 2, which bridges join with the ports. Each wire carries 128 bits in
  /// a clock.
  std::vector<WindowLinkConfig> links = {};
};

/// The OAE block: the verilated SystemVerilog of rtl/ with TLM-2.0 sockets on its pins. This class
/// does not know what the block does.
///
/// Its clock runs on a fixed grid (see rtl::ClockGrid) and stops while there is nothing to do. An
/// input that arrives exactly at the time of an edge is seen at the next edge. Edges at which the
/// block neither reads its inputs nor changes an output are run ahead of their time, which no other
/// model can notice.
///
/// If it has links, it is the cell of rtl/bridge, and their ends have the block's clock. Each edge
/// at which a wire, a link or a bridge may do something is then run at its time.
class Block : public sc_core::sc_module {
 public:
  static constexpr unsigned max_links = 2;

  /// The function's requests to BAR 0 (offsets below 0x4000: rtl/registers/host.yaml), BAR 2
  /// (port.yaml) and BAR 4 (stream.yaml), each within a multiple of 64 bytes. Protocol:
  /// models/pcie/endpoint/access.h. They complete in order. While 32 wait, a write is not accepted.
  tlm_utils::passthrough_target_socket<Block> bar;
  /// The firmware's registers (rtl/registers/firmware.yaml), over AXI4-Lite. An access lies within
  /// an aligned word of 8 bytes and may be ahead of the kernel's time (see vp::Decoupled). The
  /// caller's process waits for the response, or gets it with a delay. SLVERR becomes
  /// TLM_ADDRESS_ERROR_RESPONSE.
  tlm_utils::passthrough_target_socket<Block> registers;
  /// Writes slots of 64 bytes to the host. Any response but TLM_OK_RESPONSE is a refusal.
  tlm_utils::simple_initiator_socket<Block> dma;
  /// MSI-X to the host.
  sc_core::sc_port<pcie::InterruptIf> interrupt;
  /// To the firmware.
  vp::IrqOutput irq;

  /// Throws ConfigurationError.
  Block(const sc_core::sc_module_name& name, const BlockConfig& config, vp::Domain& domain,
        vp::Trace& trace, vp::Statistics& statistics);
  ~Block() override;

  /// Call this when the host's function was reset or lost its link. The reset is queued behind the
  /// requests that came before.
  void function_reset();

  /// Takes the power from the block and its links, which forget everything. The links' carriers go
  /// off, and what arrives is lost. Accesses that are in work end with an error, as do those that
  /// follow. The function must have ended all writes of the block.
  void lose_power();
  /// Gives the power back: the block begins anew, and clears its journals.
  void power_up();

  /// Number of clock edges that the block has seen.
  const std::uint64_t& clocks() const { return clocks_; }
  bool clock_stopped() const { return !running_; }
  /// The ends of its links, in the order of the configuration.
  const std::vector<std::unique_ptr<WindowLink>>& links() const { return links_; }

 private:
  tlm::tlm_sync_enum nb_transport_fw(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                                     sc_core::sc_time& delay);
  void b_transport(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay);

  void end_requests();
  void respond(tlm::tlm_generic_payload& payload);
  tlm::tlm_sync_enum slot_answered(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                                   sc_core::sc_time& delay);

  void add_links(vp::Statistics& statistics);

  void schedule();
  std::uint64_t next_input() const;
  bool links_rest() const;
  bool run_ahead(const RegisterAccess& access);
  bool quiet() const;
  bool peek(const RegisterAccess& access, vp::Picoseconds horizon);
  bool peek();
  WriteEffect write_unclocked(const RegisterAccess& access);
  bool write_unclocked(const Request& request);
  void execute_peeked(std::uint64_t edges);
  void arm();
  void tick();
  void visible_edge();
  void settle();
  void rise();
  bool hidden() const;
  bool shows() const;
  void look();
  void show();
  void show(const JournalChange& change);
  void present();
  void put(const Request& request);
  void push(const Request& request);
  void accept_write();
  void offer_slot();
  void send_slot();
  void complete();

  const BlockConfig config_;
  vp::Domain& domain_;
  const rtl::ClockGrid grid_;
  vp::Trace& trace_;
  const bool waveform_;
  const bool checked_;
  const std::unique_ptr<BlockRtl> rtl_;

  vp::Event clock_;
  bool powered_ = true;
  bool running_ = false;  // an edge is due for more than a deadline
  bool ticking_ = false;
  bool ahead_ = false;       // an edge was run ahead, and its outputs are still to be shown
  std::uint64_t shown_ = 0;  // that edge
  std::uint64_t next_ = 1;   // the first edge not yet run
  std::uint64_t due_ =
      0;  // unless ahead_, the edge that clock_ is set to; those before it are idle
  // What a write without the clock of the RTL has changed, and the edge at which its interrupt is
  // shown, which is a later one than shown_, or 0
  std::optional<JournalChange> change_;
  std::uint64_t irq_edge_ = 0;
  bool irq_level_ = false;
  std::uint64_t version_ = 0;  // changes with all that may change the next read's answer

  std::vector<std::unique_ptr<WindowLink>> links_;

  RequestQueue requests_;
  std::size_t presented_ = 0;  // the place of the request on the pins, if there is one
  Request write_{};            // the write without room in the queue, if its payload is set
  Request read_{};             // the read that the block works on, if its payload is set
  RegisterAccesses accesses_;  // those of the firmware

  // A read that was answered without the clock of the RTL, or a write whose effect the RTL has had
  // without it
  struct Peeked {
    std::variant<Request, RegisterAccess> operation;  // of the host, or of the firmware
    std::uint64_t edge;                               // at which it would have been accepted
    std::uint64_t edges;
  };
  std::optional<Peeked> peeked_;  // the last one, until the RTL accepts another operation
  bool completing_ = false;       // peeked_ is read_, which is to be completed at next_

  tlm::tlm_generic_payload slot_;
  std::uint8_t slot_data_[64] = {};
  bool slot_waits_ = false;  // until an edge sees that the PCIe function has accepted or refused it
  std::optional<vp::Picoseconds> slot_answered_;  // when it was accepted or refused

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
