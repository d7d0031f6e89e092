// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>

#include "models/rtl/design.h"

namespace oae {

/// Two libraries are made from the same RTL (rtl/CMakeLists.txt): a fast one, and one that checks
/// the assertions of the RTL and can write a waveform. They differ in nothing else, so that a model
/// has the same outputs and the same time with either. The pins are references, so that a model
/// does not know which library it has.

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
  bool fetches = false;   // it reads a slot, which takes two clocks more
  bool error = false;     // of the firmware, where there is no register
  std::uint64_t value = 0;
};

/// The block, rtl/oae_block.sv.
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

  /// Answers a read from the state of the block, without a clock. `edge` is the one that would
  /// execute the word. The checked library gives no answer, so that the read is clocked.
  virtual RegisterAnswer peek(const RegisterRead&, std::uint64_t /*edge*/) { return {}; }

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

/// One end of a link, rtl/oae_link.sv, with eight slices for each clock.
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

std::unique_ptr<BlockRtl> make_block_rtl(bool checked);
std::unique_ptr<LinkRtl> make_link_rtl(bool checked);

}  // namespace oae
