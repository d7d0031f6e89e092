// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <type_traits>
#include <vector>

#include "models/rtl/design.h"

namespace oae {

/// Two libraries are made from the same RTL (rtl/CMakeLists.txt): a fast one, and one that checks
/// the assertions of the RTL and can write a waveform. They differ in nothing else, so that a model
/// has the same outputs and the same time with either. The pins are references, so that a model
/// does not know which library it has.

/// Which pins of a cell: those of its block, or of one of its ends of links.
struct OfBlock {};
struct OfLeft {};
struct OfRight {};

// The pins of a slave whose names begin with `bus`
#define OAE_AXI_PINS(top, bus)                                                                     \
  axi_awvalid(top.bus##awvalid_i), axi_awready(top.bus##awready_o), axi_awaddr(top.bus##awaddr_i), \
      axi_wvalid(top.bus##wvalid_i), axi_wdata(top.bus##wdata_i), axi_wstrb(top.bus##wstrb_i),     \
      axi_bvalid(top.bus##bvalid_o), axi_bready(top.bus##bready_i), axi_bresp(top.bus##bresp_o),   \
      axi_arvalid(top.bus##arvalid_i), axi_arready(top.bus##arready_o),                            \
      axi_araddr(top.bus##araddr_i), axi_rvalid(top.bus##rvalid_o), axi_rready(top.bus##rready_i), \
      axi_rdata(top.bus##rdata_o), axi_rresp(top.bus##rresp_o)

/// The pins of an AXI4-Lite slave of 64 bits.
struct AxiPins {
  template <typename Top>
  explicit AxiPins(Top& top)
      : axi_awvalid(top.axi_awvalid),
        axi_awready(top.axi_awready),
        axi_awaddr(top.axi_awaddr),
        axi_wvalid(top.axi_wvalid),
        axi_wdata(top.axi_wdata),
        axi_wstrb(top.axi_wstrb),
        axi_bvalid(top.axi_bvalid),
        axi_bready(top.axi_bready),
        axi_bresp(top.axi_bresp),
        axi_arvalid(top.axi_arvalid),
        axi_arready(top.axi_arready),
        axi_araddr(top.axi_araddr),
        axi_rvalid(top.axi_rvalid),
        axi_rready(top.axi_rready),
        axi_rdata(top.axi_rdata),
        axi_rresp(top.axi_rresp) {}
  template <typename Top>
  AxiPins(Top& top, OfBlock) : OAE_AXI_PINS(top, block_) {}
  template <typename Top>
  AxiPins(Top& top, OfLeft) : OAE_AXI_PINS(top, left_) {}
  template <typename Top>
  AxiPins(Top& top, OfRight) : OAE_AXI_PINS(top, right_) {}

  std::uint8_t& axi_awvalid;
  const std::uint8_t& axi_awready;
  std::uint32_t& axi_awaddr;
  std::uint8_t& axi_wvalid;
  std::uint64_t& axi_wdata;
  std::uint8_t& axi_wstrb;
  const std::uint8_t& axi_bvalid;
  std::uint8_t& axi_bready;
  const std::uint8_t& axi_bresp;
  std::uint8_t& axi_arvalid;
  const std::uint8_t& axi_arready;
  std::uint32_t& axi_araddr;
  const std::uint8_t& axi_rvalid;
  std::uint8_t& axi_rready;
  const std::uint64_t& axi_rdata;
  const std::uint8_t& axi_rresp;
};

/// A read of one word of 8 bytes from the block's registers.
struct RegisterRead {
  bool host;  // or the firmware
  unsigned bar;
  std::uint64_t word;  // address / 8
};

/// The answer of such a read.
struct RegisterAnswer {
  bool possible = false;  // the read has no effect, and this is its answer
  unsigned more = 0;      // clocks that it takes beyond the fewest
  bool error = false;     // of the firmware, where there is no register
  std::uint64_t value = 0;
};

/// A change of a journal's state. The states are those of enum OAE_PORT_STATE.
struct JournalChange {
  unsigned port;
  unsigned epoch;
  std::uint32_t sequence;
  unsigned from;
  unsigned to;
};

/// What became of a write.
struct WriteEffect {
  bool possible = false;  // it was executed
  unsigned more = 0;      // clocks that it takes beyond the fewest
  std::optional<JournalChange> change;
};

/// A write of bytes of a line of 64 bytes.
struct LineWrite {
  bool host;  // or the firmware
  unsigned bar;
  std::uint64_t line;         // address / 64
  const std::uint8_t* bytes;  // of the whole line
  std::uint64_t enable;       // a bit for each byte that is written
  unsigned word = 0;          // the only word of the line that the firmware writes
};

// The pins of an end whose names begin with `wire`
#define OAE_END_PINS(top, wire)                                                           \
  carrier_sent(top.wire##carrier_o), kind_sent(top.wire##kind_o),                         \
      data_sent(top.wire##data_o.data()), carrier_received(top.wire##carrier_i),          \
      kind_received(top.wire##kind_i), data_received(top.wire##data_i.data()),            \
      phase(top.wire##phase_o), sent(top.wire##sent_o), settled(top.wire##settled_o),     \
      expected(top.wire##expected_o), done(top.wire##done_o), passes(top.wire##passes_o), \
      strays(top.wire##strays_o)

/// An end of a link with a window, rtl/link/oae_link_end.sv, with two slices for each clock. A
/// bridge or a relay has its rings.
struct EndPins : AxiPins {
  template <typename Top>
  EndPins(Top& top, OfLeft of, const char* owner, const std::uint8_t& brings = never)
      : AxiPins(top, of),
        OAE_END_PINS(top, left_),
        irq(top.left_irq_o),
        brings(brings),
        owner(owner) {}
  template <typename Top>
  EndPins(Top& top, OfRight of, const char* owner, const std::uint8_t& brings = never)
      : AxiPins(top, of),
        OAE_END_PINS(top, right_),
        irq(top.right_irq_o),
        brings(brings),
        owner(owner) {}

  const std::uint8_t& carrier_sent;
  const std::uint8_t& kind_sent;
  const std::uint32_t* const data_sent;  // of 16 bytes, as that which is received
  std::uint8_t& carrier_received;
  std::uint8_t& kind_received;
  std::uint32_t* const data_received;
  const std::uint8_t& phase;
  const std::uint32_t& sent;
  const std::uint32_t& settled;
  const std::uint32_t& expected;
  const std::uint32_t& done;
  const std::uint8_t& passes;
  const std::uint8_t& strays;
  const std::uint8_t& irq;
  const std::uint8_t& brings;  // never, of a relay
  const char* const owner;     // of the rings: `bridge` or `relay`

 private:
  static constexpr std::uint8_t never = 0;
};

/// The block, rtl/block/oae_block.sv.
struct BlockRtl : rtl::Design, AxiPins {
  template <typename Top>
  explicit BlockRtl(Top& top)
      : AxiPins(top),
        reset(top.reset),
        now(top.now),
        ports(top.ports),
        clock_khz(top.clock_khz),
        request_valid(top.request_valid),
        request_ready(top.request_ready),
        request_reset(top.request_reset),
        request_write(top.request_write),
        request_bar(top.request_bar),
        request_line(top.request_line),
        request_data(top.request_data.data()),
        request_enable(top.request_enable),
        request_class(top.request_class),
        completion_valid(top.completion_valid),
        completion_ready(top.completion_ready),
        completion_data(top.completion_data.data()),
        dma_valid(top.dma_valid),
        dma_ready(top.dma_ready),
        dma_refused(top.dma_refused),
        dma_address(top.dma_address),
        dma_data(top.dma_data.data()),
        dma_class(top.dma_class),
        interrupt_valid(top.interrupt_valid),
        interrupt_ready(top.interrupt_ready),
        interrupt_vector(top.interrupt_vector),
        irq(top.irq),
        trace_valid(top.trace_valid),
        trace_port(top.trace_port),
        trace_epoch(top.trace_epoch),
        trace_sequence(top.trace_sequence),
        trace_from(top.trace_from),
        trace_to(top.trace_to),
        idle(top.idle),
        busy(top.busy),
        deadline_valid(top.deadline_valid),
        deadline(top.deadline) {}
  template <typename Top>
  BlockRtl(Top& top, OfBlock)
      : AxiPins(top, OfBlock{}),
        reset(top.rst_i),
        now(top.now_i),
        ports(top.ports_i),
        clock_khz(top.clock_khz_i),
        request_valid(top.request_valid_i),
        request_ready(top.request_ready_o),
        request_reset(top.request_reset_i),
        request_write(top.request_write_i),
        request_bar(top.request_bar_i),
        request_line(top.request_line_i),
        request_data(top.request_data_i.data()),
        request_enable(top.request_enable_i),
        request_class(top.request_class_i),
        completion_valid(top.completion_valid_o),
        completion_ready(top.completion_ready_i),
        completion_data(top.completion_data_o.data()),
        dma_valid(top.dma_valid_o),
        dma_ready(top.dma_ready_i),
        dma_refused(top.dma_refused_i),
        dma_address(top.dma_address_o),
        dma_data(top.dma_data_o.data()),
        dma_class(top.dma_class_o),
        interrupt_valid(top.interrupt_valid_o),
        interrupt_ready(top.interrupt_ready_i),
        interrupt_vector(top.interrupt_vector_o),
        irq(top.block_irq_o),
        trace_valid(top.trace_valid_o),
        trace_port(top.trace_port_o),
        trace_epoch(top.trace_epoch_o),
        trace_sequence(top.trace_sequence_o),
        trace_from(top.trace_from_o),
        trace_to(top.trace_to_o),
        idle(top.idle_o),
        busy(top.busy_o),
        deadline_valid(top.deadline_valid_o),
        deadline(top.deadline_o) {}

  /// Answers a read from the state of the block, without a clock. `edge` is the one that would
  /// execute the word. The checked library gives no answer, so that the read is clocked.
  virtual RegisterAnswer peek(const RegisterRead&, std::uint64_t /*edge*/) { return {}; }

  /// Executes a write without a clock if it changes nothing but a port's row, a slot and `irq`: a
  /// part of an offer of either side, the rest of a good offer of the host, the confirmation of a
  /// swap of slots, or a command of the firmware, unless another slot moves or the host is
  /// interrupted. `irq` has its new level at once. The checked library executes none.
  virtual WriteEffect execute(const LineWrite&) { return {}; }

  /// The ends of links that share the clock, if the block is that of a cell.
  std::vector<EndPins> ends;

  std::uint8_t& reset;
  std::uint64_t& now;
  std::uint8_t& ports;
  std::uint32_t& clock_khz;
  std::uint8_t& request_valid;
  const std::uint8_t& request_ready;
  std::uint8_t& request_reset;
  std::uint8_t& request_write;
  std::uint8_t& request_bar;
  std::uint16_t& request_line;
  std::uint32_t* const request_data;  // of 64 bytes, as all data of slots
  std::uint64_t& request_enable;
  std::uint8_t& request_class;
  const std::uint8_t& completion_valid;
  std::uint8_t& completion_ready;
  const std::uint32_t* const completion_data;
  const std::uint8_t& dma_valid;
  std::uint8_t& dma_ready;
  std::uint8_t& dma_refused;
  const std::uint64_t& dma_address;
  const std::uint32_t* const dma_data;
  const std::uint8_t& dma_class;
  const std::uint8_t& interrupt_valid;
  std::uint8_t& interrupt_ready;
  const std::uint16_t& interrupt_vector;
  const std::uint8_t& irq;
  const std::uint8_t& trace_valid;
  const std::uint8_t& trace_port;
  const std::uint8_t& trace_epoch;
  const std::uint32_t& trace_sequence;
  const std::uint8_t& trace_from;
  const std::uint8_t& trace_to;
  const std::uint8_t& idle;
  const std::uint8_t& busy;
  const std::uint8_t& deadline_valid;
  const std::uint64_t& deadline;
};

/// A cell, rtl/bridge/oae_cell.sv: a block, the ends of one or two links, and the bridges between
/// them.
template <unsigned links>
struct CellRtl : BlockRtl {
  template <typename Top>
  explicit CellRtl(Top& top) : BlockRtl(top, OfBlock{}) {
    static_assert(links == 1 || links == 2);
    ends.emplace_back(top, OfLeft{}, "bridge", top.left_brings_o);
    if constexpr (links == 2) ends.emplace_back(top, OfRight{}, "bridge", top.right_brings_o);
  }
};

/// A cell in the middle of a chain, rtl/relay/oae_relay_cell.sv: two ends of links and what passes
/// slots on between them.
struct RelayRtl : rtl::Design {
  template <typename Top>
  explicit RelayRtl(Top& top)
      : ends{{top, OfLeft{}, "relay"}, {top, OfRight{}, "relay"}},
        reset(top.rst_i),
        now(top.now_i),
        busy(top.busy_o),
        deadline_valid(top.deadline_valid_o),
        deadline(top.deadline_o) {}

  EndPins ends[2];
  std::uint8_t& reset;
  std::uint32_t& now;  // modulo 2^32, as is the deadline
  const std::uint8_t& busy;
  const std::uint8_t& deadline_valid;
  const std::uint32_t& deadline;
};

/// One end of a link, rtl/transfer/oae_link.sv, with eight slices for each clock.
struct LinkRtl : rtl::Design, AxiPins {
  template <typename Top>
  explicit LinkRtl(Top& top)
      : AxiPins(top),
        reset(top.reset),
        now(top.now),
        tx_valid(top.tx_valid),
        tx_ready(top.tx_ready),
        tx_kind(top.tx_kind),
        tx_data(top.tx_data.data()),
        rx_valid(top.rx_valid),
        rx_kind(top.rx_kind),
        rx_data(top.rx_data.data()),
        irq(top.irq),
        trace_phase(top.trace_phase),
        trace_sender(top.trace_sender),
        trace_sent(top.trace_sent),
        trace_receiver(top.trace_receiver),
        trace_expected(top.trace_expected),
        busy(top.busy),
        deadline_valid(top.deadline_valid),
        deadline(top.deadline) {}

  std::uint8_t& reset;
  std::uint64_t& now;
  const std::uint8_t& tx_valid;
  std::uint8_t& tx_ready;
  const std::uint16_t& tx_kind;
  const std::uint32_t* const tx_data;  // of 64 bytes, as that which is received
  std::uint8_t& rx_valid;
  std::uint16_t& rx_kind;
  std::uint32_t* const rx_data;
  const std::uint8_t& irq;
  const std::uint8_t& trace_phase;
  const std::uint8_t& trace_sender;
  const std::uint32_t& trace_sent;
  const std::uint8_t& trace_receiver;
  const std::uint32_t& trace_expected;
  const std::uint8_t& busy;
  const std::uint8_t& deadline_valid;
  const std::uint64_t& deadline;
};

/// Resets a design at an edge of its clock.
template <typename Rtl>
void reset(Rtl& design, std::uint64_t edge) {
  design.now = static_cast<std::decay_t<decltype(design.now)>>(edge);
  design.reset = 1;
  design.rise();
  design.reset = 0;
}

std::unique_ptr<BlockRtl> make_block_rtl(bool checked);
/// `links`: 1 or 2.
std::unique_ptr<BlockRtl> make_cell_rtl(unsigned links, bool checked);
std::unique_ptr<RelayRtl> make_relay_rtl(bool checked);
std::unique_ptr<LinkRtl> make_link_rtl(bool checked);

#undef OAE_AXI_PINS
#undef OAE_END_PINS

}  // namespace oae
