// SPDX-License-Identifier: Apache-2.0
// The OAE block: swap ports between a host, behind PCIe, and firmware, behind AXI4-Lite.
//
// The clock may stop while `busy` is low and no request, access or operation of the bridge is pending, or while the only pending
// request is a read that waits for a DMA write. It must run again for the next request, when a DMA write is
// accepted or refused, or when `now` reaches `deadline`. `now` comes from a time base that counts the edges
// of this clock whether they reach the block or not.
//
// A request or an access is accepted by the next edge if it waits alone, `idle` is high, `busy` and `dma_valid`
// are low, and it is no reset. Of the outputs only the ready pins depend on inputs, and `busy` on `now`.
//
// A read by the firmware has no effect. Until a request, a write or a deadline has kept the block
// busy, repeated reads have the same answer after the same number of clocks.
module oae_block #(
  parameter int unsigned PORTS = 64     // ports that are built, 1 to 64
) (
  input  logic         clock,
  input  logic         reset,           // synchronous; only for power-up: the journals are lost
  input  logic [63:0]  now,             // block clocks since power-up

  // Straps
  input  logic [6:0]   ports,           // ports in use, 1 to PORTS
  input  logic [31:0]  clock_khz,

  // PCIe: requests for lines of 64 bytes, completed in order
  input  logic         request_valid,
  output logic         request_ready,
  input  logic         request_reset,   // a reset of the function; the other pins are ignored
  input  logic         request_write,
  input  logic [2:0]   request_bar,     // 0, 2 or 4
  input  logic [11:0]  request_line,    // address[17:6]
  input  logic [511:0] request_data,
  input  logic [63:0]  request_enable,  // bytes to write or read
  input  logic [9:0]   request_tag,
  input  logic [2:0]   request_class,   // traffic class
  output logic         completion_valid,
  input  logic         completion_ready,
  output logic [511:0] completion_data,
  output logic [9:0]   completion_tag,

  // PCIe: a slot to host memory; `refused` is sampled with `ready`
  output logic         dma_valid,
  input  logic         dma_ready,
  input  logic         dma_refused,
  output logic [63:0]  dma_address,
  output logic [511:0] dma_data,
  output logic [2:0]   dma_class,

  // PCIe: MSI-X
  output logic         interrupt_valid,
  input  logic         interrupt_ready,
  output logic [15:0]  interrupt_vector,

  // Firmware: AXI4-Lite slave, 64 bits, and an interrupt
  input  logic         axi_awvalid,
  output logic         axi_awready,
  input  logic [16:0]  axi_awaddr,
  input  logic [2:0]   axi_awprot,
  input  logic         axi_wvalid,
  output logic         axi_wready,
  input  logic [63:0]  axi_wdata,
  input  logic [7:0]   axi_wstrb,
  output logic         axi_bvalid,
  input  logic         axi_bready,
  output logic [1:0]   axi_bresp,
  input  logic         axi_arvalid,
  output logic         axi_arready,
  input  logic [16:0]  axi_araddr,
  input  logic [2:0]   axi_arprot,
  output logic         axi_rvalid,
  input  logic         axi_rready,
  output logic [63:0]  axi_rdata,
  output logic [1:0]   axi_rresp,
  output logic         irq,

  // The bridge, which passes slots between joined ports and links (oae_ports.sv)
  output logic [PORTS-1:0] bridge_pending,
  input  logic         bridge_valid,
  output logic         bridge_ready,
  input  logic [1:0]   bridge_errand,
  input  logic [5:0]   bridge_port,
  input  logic [511:0] bridge_data,
  output logic         bridge_hands,
  output logic [511:0] bridge_taken,
  output logic         bridge_accepts,
  output logic         bridge_done,

  // A change of a journal's state (enum port_state), for one clock
  output logic         trace_valid,
  output logic [5:0]   trace_port,
  output logic [7:0]   trace_epoch,
  output logic [31:0]  trace_sequence,
  output logic [7:0]   trace_from,
  output logic [7:0]   trace_to,

  // Clock gate
  output logic         idle,            // the next edge accepts requests and accesses
  output logic         busy,
  output logic         deadline_valid,
  output logic [63:0]  deadline
);

  if (PORTS < 1 || PORTS > 64) $error("PORTS must be 1 to 64");

  // The clock of the parts. In a fast model every change of the pin is an edge, so that an edge takes one
  // evaluation and not two.
  logic        edges;
`ifdef FAST_MODEL
  logic        level = 1'b0;      // of the pin, as the last edge has seen it
  always_ff @(posedge edges) level <= clock;
  assign edges = clock ^ level;
`else
  assign edges = clock;
`endif

  logic        access_valid;
  logic        access_ready;
  logic        access_write;
  logic [13:0] access_word;
  logic [63:0] access_data;
  logic [7:0]  access_strobe;
  logic        access_done;
  logic        access_error;
  logic [63:0] access_result;
  logic        axil_busy;
  logic        swap_busy;

  oae_axil axil (
    .clock(edges), .reset,
    .awvalid(axi_awvalid), .awready(axi_awready), .awaddr(axi_awaddr), .awprot(axi_awprot),
    .wvalid(axi_wvalid), .wready(axi_wready), .wdata(axi_wdata), .wstrb(axi_wstrb),
    .bvalid(axi_bvalid), .bready(axi_bready), .bresp(axi_bresp),
    .arvalid(axi_arvalid), .arready(axi_arready), .araddr(axi_araddr), .arprot(axi_arprot),
    .rvalid(axi_rvalid), .rready(axi_rready), .rdata(axi_rdata), .rresp(axi_rresp),
    .access_valid, .access_ready, .access_write, .access_word, .access_data, .access_strobe,
    .access_done, .access_error, .access_result,
    .busy(axil_busy));

  oae_ports #(.PORTS(PORTS)) swap (
    .clock(edges), .reset, .now, .ports, .clock_khz,
    .request_valid, .request_ready, .request_reset, .request_write, .request_bar, .request_line,
    .request_data, .request_enable, .request_tag, .request_class,
    .completion_valid, .completion_ready, .completion_data, .completion_tag,
    .access_valid, .access_ready, .access_write, .access_word, .access_data, .access_strobe,
    .access_done, .access_error, .access_result,
    .bridge_pending, .bridge_valid, .bridge_ready, .bridge_errand, .bridge_port, .bridge_data,
    .bridge_hands, .bridge_taken, .bridge_accepts, .bridge_done,
    .dma_valid, .dma_ready, .dma_refused, .dma_address, .dma_data, .dma_class,
    .interrupt_valid, .interrupt_ready, .interrupt_vector, .irq,
    .trace_valid, .trace_port, .trace_epoch, .trace_sequence, .trace_from, .trace_to,
    .idle, .busy(swap_busy), .deadline_valid, .deadline);

  assign busy = swap_busy || axil_busy;

`ifndef SYNTHESIS
  logic accesses;                 // an access waits
  assign accesses = axi_arvalid || (axi_awvalid && axi_wvalid);
  always_ff @(posedge edges)
    if (!reset && idle && !busy && !dma_valid && !bridge_valid) begin
      if (request_valid && !request_reset && !accesses)
        assert (request_ready) else $error("a request that waits alone is not accepted");
      if (accesses && !request_valid)
        assert (axi_arready || axi_awready) else $error("an access that waits alone is not accepted");
    end
`endif

endmodule
