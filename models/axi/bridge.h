// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tlm_utils/passthrough_target_socket.h>
#include <tlm_utils/simple_initiator_socket.h>

#include <cstdint>
#include <memory>
#include <string>
#include <systemc>
#include <tlm>
#include <vector>

#include "models/axi/block.h"
#include "models/axi/faults.h"
#include "models/axi/read_port.h"
#include "models/axi/register_port.h"
#include "models/axi/write_port.h"
#include "models/pcie/endpoint/access.h"
#include "models/pcie/endpoint/function_config.h"
#include "models/rtl/clock_grid.h"
#include "vp/statistics/statistics.h"
#include "vp/time/domain.h"
#include "vp/trace/trace.h"

namespace axi {

struct BridgeConfig {
  std::uint64_t clock_hz = 100'000'000;  ///< 1 kHz to 10 GHz
  int seed = 1;                          ///< of the block's $random and $urandom, not 0
  std::string vcd;                       ///< waveform file; empty for none
};

/// Connects the pins of a verilated block with a PCIe function.
///
///     host --- function --- bar ------- RegisterPort --- AXI4-Lite slave --- block
///                           dma ------- WritePort ------ AXI4 master
///                                       ReadPort
///                           interrupt - WritePort ------ interrupt pins
///
/// The block's clock runs on a fixed grid (see rtl::ClockGrid). Everything that the block sees from
/// outside, ready signals too, is a register of the bridge, which changes after an edge. What
/// arrives exactly at the time of an edge is seen at the next edge. The clock stops only while the
/// block's idle pin is high and nothing is to be done at its pins. It goes on at the first edge of
/// the grid after something has arrived. Without an idle pin it always runs.
///
/// Before time 0 and at each reset of the function, the block is in reset for `reset_edges` edges.
class Bridge : public sc_core::sc_module {
 public:
  static constexpr unsigned reset_edges = 16;

  /// The function's requests to BAR 0. Protocol: models/pcie/endpoint/access.h.
  tlm_utils::passthrough_target_socket<Bridge> bar;
  tlm_utils::simple_initiator_socket<Bridge> dma;
  sc_core::sc_port<pcie::InterruptModesIf> interrupt;

  /// The function that such a block needs: BAR 0 for its registers, and BAR 2 for MSI-X if it has
  /// interrupt pins. `clock_hz` is that of the bridge.
  static pcie::FunctionConfig function_config(const BlockType& type, std::uint64_t clock_hz);

  /// Throws pcie::ConfigurationError for an impossible value, and for a waveform file that cannot
  /// be written.
  Bridge(const sc_core::sc_module_name& name, const BlockType& type, const BridgeConfig& config,
         vp::Domain& domain, vp::Trace& trace, vp::Statistics& statistics);

  /// Call this at each reset of the function.
  void reset();

  /// Number of clock edges since time 0, without those that did not take place.
  const std::uint64_t& clocks() const { return clocks_; }
  bool clock_stopped() const { return !running_; }

 private:
  tlm::tlm_sync_enum access(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                            sc_core::sc_time& delay);
  tlm::tlm_sync_enum answered(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                              sc_core::sc_time& delay);
  tlm::tlm_sync_enum send(tlm::tlm_generic_payload& payload);
  WritePort::Host write_host();
  ReadPort::Host read_host();

  void power_up();
  void start();
  void tick();
  bool may_stop() const;
  void settle();
  void rise();
  void sample_interrupts();
  bool interrupts_changed() const;
  void signal(unsigned vector);

  const BlockType& type_;
  const std::unique_ptr<Block> block_;
  const Pins& pins_;
  vp::Domain& domain_;
  const rtl::ClockGrid grid_;
  const std::uint64_t addresses_;  // bytes that the address pins of the registers reach
  vp::Trace& trace_;
  const bool waveform_;
  Faults faults_;

  RegisterPort registers_;
  WritePort writes_;
  ReadPort reads_;

  vp::Event clock_;
  vp::Event go_on_;
  bool running_ = false;
  std::uint64_t next_ = 1;                // the next edge that may take place
  unsigned reset_left_ = 0;               // edges
  vp::Picoseconds reset_at_ = 0;          // when the reset came
  std::vector<std::uint8_t> interrupts_;  // the pins at the last edge
  bool level_ = false;                    // whether one of them was high

  std::uint64_t clocks_ = 0;
  std::uint64_t interrupt_count_ = 0;
  std::uint64_t unreachable_ = 0;
};

}  // namespace axi
