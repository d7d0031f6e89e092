// SPDX-License-Identifier: Apache-2.0
// A cell that is the end of one link or of two: the swap ports of a host, and for each link its end and a bridge between it and
// the ports, with one clock. Each link carries other ports. The firmware has a port to the block and one to each link.
module oae_cell #(
  parameter int unsigned LINKS = 1,           // 1 or 2. With one, it is the left link, and no pin of the right one is used
  parameter int unsigned PORTS = 8,           // 1 to 64
  parameter int unsigned SLICES = 2,          // in a clock: 2, 4 or 8
  parameter int unsigned SLOTS = 128,         // of each ring of a link
  parameter int unsigned LIMIT_BITS = 20
) (
  input  logic                 clk_i,
  input  logic                 rst_i,         // synchronous; only for power-up
  input  logic [63:0]          now_i,         // clocks since power-up
  input  logic [6:0]           ports_i,       // ports in use
  input  logic [31:0]          clock_khz_i,

  // The host, as in oae_block.sv
  input  logic                 request_valid_i,
  output logic                 request_ready_o,
  input  logic                 request_reset_i,
  input  logic                 request_write_i,
  input  logic [2:0]           request_bar_i,
  input  logic [11:0]          request_line_i,
  input  logic [511:0]         request_data_i,
  input  logic [63:0]          request_enable_i,
  input  logic [9:0]           request_tag_i,
  input  logic [2:0]           request_class_i,
  output logic                 completion_valid_o,
  input  logic                 completion_ready_i,
  output logic [511:0]         completion_data_o,
  output logic [9:0]           completion_tag_o,
  output logic                 dma_valid_o,
  input  logic                 dma_ready_i,
  input  logic                 dma_refused_i,
  output logic [63:0]          dma_address_o,
  output logic [511:0]         dma_data_o,
  output logic [2:0]           dma_class_o,
  output logic                 interrupt_valid_o,
  input  logic                 interrupt_ready_i,
  output logic [15:0]          interrupt_vector_o,

  // The firmware: AXI4-Lite slaves of the block and of the links, and their interrupts
  input  logic                 block_awvalid_i,
  output logic                 block_awready_o,
  input  logic [16:0]          block_awaddr_i,
  input  logic [2:0]           block_awprot_i,
  input  logic                 block_wvalid_i,
  output logic                 block_wready_o,
  input  logic [63:0]          block_wdata_i,
  input  logic [7:0]           block_wstrb_i,
  output logic                 block_bvalid_o,
  input  logic                 block_bready_i,
  output logic [1:0]           block_bresp_o,
  input  logic                 block_arvalid_i,
  output logic                 block_arready_o,
  input  logic [16:0]          block_araddr_i,
  input  logic [2:0]           block_arprot_i,
  output logic                 block_rvalid_o,
  input  logic                 block_rready_i,
  output logic [63:0]          block_rdata_o,
  output logic [1:0]           block_rresp_o,
  output logic                 block_irq_o,
  input  logic                 left_awvalid_i,
  output logic                 left_awready_o,
  input  logic [16:0]          left_awaddr_i,
  input  logic [2:0]           left_awprot_i,
  input  logic                 left_wvalid_i,
  output logic                 left_wready_o,
  input  logic [63:0]          left_wdata_i,
  input  logic [7:0]           left_wstrb_i,
  output logic                 left_bvalid_o,
  input  logic                 left_bready_i,
  output logic [1:0]           left_bresp_o,
  input  logic                 left_arvalid_i,
  output logic                 left_arready_o,
  input  logic [16:0]          left_araddr_i,
  input  logic [2:0]           left_arprot_i,
  output logic                 left_rvalid_o,
  input  logic                 left_rready_i,
  output logic [63:0]          left_rdata_o,
  output logic [1:0]           left_rresp_o,
  output logic                 left_irq_o,
  /* verilator lint_off UNUSEDSIGNAL */      // with one link
  input  logic                 right_awvalid_i,
  output logic                 right_awready_o,
  input  logic [16:0]          right_awaddr_i,
  input  logic [2:0]           right_awprot_i,
  input  logic                 right_wvalid_i,
  output logic                 right_wready_o,
  input  logic [63:0]          right_wdata_i,
  input  logic [7:0]           right_wstrb_i,
  output logic                 right_bvalid_o,
  input  logic                 right_bready_i,
  output logic [1:0]           right_bresp_o,
  input  logic                 right_arvalid_i,
  output logic                 right_arready_o,
  input  logic [16:0]          right_araddr_i,
  input  logic [2:0]           right_arprot_i,
  output logic                 right_rvalid_o,
  input  logic                 right_rready_i,
  output logic [63:0]          right_rdata_o,
  output logic [1:0]           right_rresp_o,
  output logic                 right_irq_o,
  /* verilator lint_on UNUSEDSIGNAL */

  // The wires, as in oae_link_end.sv
  output logic                 left_carrier_o,
  output logic [1:0]           left_kind_o,
  output logic [64*SLICES-1:0] left_data_o,
  input  logic                 left_carrier_i,
  input  logic [1:0]           left_kind_i,
  input  logic [64*SLICES-1:0] left_data_i,
  /* verilator lint_off UNUSEDSIGNAL */      // with one link
  output logic                 right_carrier_o,
  output logic [1:0]           right_kind_o,
  output logic [64*SLICES-1:0] right_data_o,
  input  logic                 right_carrier_i,
  input  logic [1:0]           right_kind_i,
  input  logic [64*SLICES-1:0] right_data_i,
  /* verilator lint_on UNUSEDSIGNAL */

  // For a trace: a change of a journal's state (oae_block.sv), the links, and the slots that pass the bridges
  output logic                 trace_valid_o,
  output logic [5:0]           trace_port_o,
  output logic [7:0]           trace_epoch_o,
  output logic [31:0]          trace_sequence_o,
  output logic [7:0]           trace_from_o,
  output logic [7:0]           trace_to_o,
  output logic [7:0]           left_phase_o,
  output logic [31:0]          left_sent_o,
  output logic [31:0]          left_settled_o,
  output logic [31:0]          left_expected_o,
  output logic [31:0]          left_done_o,
  output logic                 left_passes_o,
  output logic                 left_brings_o,
  output logic                 left_strays_o,
  output logic [7:0]           right_phase_o,
  output logic [31:0]          right_sent_o,
  output logic [31:0]          right_settled_o,
  output logic [31:0]          right_expected_o,
  output logic [31:0]          right_done_o,
  output logic                 right_passes_o,
  output logic                 right_brings_o,
  output logic                 right_strays_o,

  // Clock gate
  output logic                 idle_o,        // of the block
  output logic                 busy_o,
  output logic                 deadline_valid_o,
  output logic [63:0]          deadline_o
);

  logic [PORTS-1:0]     pending;
  logic                 valid;
  logic                 ready;
  logic [1:0]           errand;
  logic [5:0]           port;
  logic [511:0]         data;
  logic                 hands;
  logic [511:0]         taken;
  logic                 accepts;
  logic                 done;
  logic                 block_busy;
  logic                 block_waits;
  logic [63:0]          block_deadline;

  oae_block #(.PORTS(PORTS)) block (
    .clock(clk_i), .reset(rst_i), .now(now_i), .ports(ports_i), .clock_khz(clock_khz_i),
    .request_valid(request_valid_i), .request_ready(request_ready_o), .request_reset(request_reset_i),
    .request_write(request_write_i), .request_bar(request_bar_i), .request_line(request_line_i),
    .request_data(request_data_i), .request_enable(request_enable_i), .request_tag(request_tag_i),
    .request_class(request_class_i), .completion_valid(completion_valid_o), .completion_ready(completion_ready_i),
    .completion_data(completion_data_o), .completion_tag(completion_tag_o),
    .dma_valid(dma_valid_o), .dma_ready(dma_ready_i), .dma_refused(dma_refused_i), .dma_address(dma_address_o),
    .dma_data(dma_data_o), .dma_class(dma_class_o),
    .interrupt_valid(interrupt_valid_o), .interrupt_ready(interrupt_ready_i), .interrupt_vector(interrupt_vector_o),
    .axi_awvalid(block_awvalid_i), .axi_awready(block_awready_o), .axi_awaddr(block_awaddr_i), .axi_awprot(block_awprot_i),
    .axi_wvalid(block_wvalid_i), .axi_wready(block_wready_o), .axi_wdata(block_wdata_i), .axi_wstrb(block_wstrb_i),
    .axi_bvalid(block_bvalid_o), .axi_bready(block_bready_i), .axi_bresp(block_bresp_o),
    .axi_arvalid(block_arvalid_i), .axi_arready(block_arready_o), .axi_araddr(block_araddr_i), .axi_arprot(block_arprot_i),
    .axi_rvalid(block_rvalid_o), .axi_rready(block_rready_i), .axi_rdata(block_rdata_o), .axi_rresp(block_rresp_o),
    .irq(block_irq_o),
    .bridge_pending(pending), .bridge_valid(valid), .bridge_ready(ready), .bridge_errand(errand), .bridge_port(port),
    .bridge_data(data), .bridge_hands(hands), .bridge_taken(taken), .bridge_accepts(accepts), .bridge_done(done),
    .trace_valid(trace_valid_o), .trace_port(trace_port_o), .trace_epoch(trace_epoch_o), .trace_sequence(trace_sequence_o),
    .trace_from(trace_from_o), .trace_to(trace_to_o),
    .idle(idle_o), .busy(block_busy), .deadline_valid(block_waits), .deadline(block_deadline));

  // ---- The links, and what their bridges ask of the block ----

  logic [LINKS-1:0]     valids;
  logic [LINKS-1:0]     readies;
  logic [2*LINKS-1:0]   errands;
  logic [6*LINKS-1:0]   serves;
  logic [512*LINKS-1:0] arrivals;
  logic [LINKS-1:0]     handed;
  logic [LINKS-1:0]     accepted;
  logic [LINKS-1:0]     ended;
  logic [LINKS-1:0]     busies;
  logic                 left_waits;
  logic [31:0]          left_deadline;
  logic                 right_waits;
  logic [31:0]          right_deadline;
  /* verilator lint_off UNUSEDSIGNAL */      // with one link
  logic [63:0]          left_ports;
  /* verilator lint_on UNUSEDSIGNAL */

  oae_bridge_arbiter #(.LINKS(LINKS)) arbiter (
    .clk_i, .rst_i, .valid_i(valids), .ready_o(readies), .errand_i(errands), .port_i(serves), .data_i(arrivals),
    .hands_o(handed), .accepts_o(accepted), .done_o(ended), .valid_o(valid), .ready_i(ready), .errand_o(errand), .port_o(port),
    .data_o(data), .hands_i(hands), .accepts_i(accepts), .done_i(done));

  oae_bridged_link #(.PORTS(PORTS), .SLICES(SLICES), .SLOTS(SLOTS), .LIMIT_BITS(LIMIT_BITS)) left (
    .clk_i, .rst_i, .now_i(now_i[31:0]),
    .axi_awvalid_i(left_awvalid_i), .axi_awready_o(left_awready_o), .axi_awaddr_i(left_awaddr_i), .axi_awprot_i(left_awprot_i),
    .axi_wvalid_i(left_wvalid_i), .axi_wready_o(left_wready_o), .axi_wdata_i(left_wdata_i), .axi_wstrb_i(left_wstrb_i),
    .axi_bvalid_o(left_bvalid_o), .axi_bready_i(left_bready_i), .axi_bresp_o(left_bresp_o),
    .axi_arvalid_i(left_arvalid_i), .axi_arready_o(left_arready_o), .axi_araddr_i(left_araddr_i), .axi_arprot_i(left_arprot_i),
    .axi_rvalid_o(left_rvalid_o), .axi_rready_i(left_rready_i), .axi_rdata_o(left_rdata_o), .axi_rresp_o(left_rresp_o),
    .irq_o(left_irq_o),
    .carrier_o(left_carrier_o), .kind_o(left_kind_o), .data_o(left_data_o),
    .carrier_i(left_carrier_i), .kind_i(left_kind_i), .data_i(left_data_i),
    .others_i('0), .ports_o(left_ports),
    .pending_i(pending), .valid_o(valids[0]), .ready_i(readies[0]), .errand_o(errands[2*0 +: 2]), .port_o(serves[6*0 +: 6]),
    .slot_o(arrivals[512*0 +: 512]), .hands_i(handed[0]), .taken_i(taken), .accepts_i(accepted[0]), .done_i(ended[0]),
    .phase_o(left_phase_o), .sent_o(left_sent_o), .settled_o(left_settled_o), .expected_o(left_expected_o),
    .done_o(left_done_o), .passes_o(left_passes_o), .brings_o(left_brings_o), .strays_o(left_strays_o),
    .busy_o(busies[0]), .deadline_valid_o(left_waits), .deadline_o(left_deadline));

  // A port that the firmware names for both links is the left one's.
  if (LINKS == 2) begin : gen_right
    oae_bridged_link #(.PORTS(PORTS), .SLICES(SLICES), .SLOTS(SLOTS), .LIMIT_BITS(LIMIT_BITS)) right (
      .clk_i, .rst_i, .now_i(now_i[31:0]),
      .axi_awvalid_i(right_awvalid_i), .axi_awready_o(right_awready_o),
      .axi_awaddr_i(right_awaddr_i), .axi_awprot_i(right_awprot_i),
      .axi_wvalid_i(right_wvalid_i), .axi_wready_o(right_wready_o), .axi_wdata_i(right_wdata_i), .axi_wstrb_i(right_wstrb_i),
      .axi_bvalid_o(right_bvalid_o), .axi_bready_i(right_bready_i), .axi_bresp_o(right_bresp_o),
      .axi_arvalid_i(right_arvalid_i), .axi_arready_o(right_arready_o),
      .axi_araddr_i(right_araddr_i), .axi_arprot_i(right_arprot_i),
      .axi_rvalid_o(right_rvalid_o), .axi_rready_i(right_rready_i),
      .axi_rdata_o(right_rdata_o), .axi_rresp_o(right_rresp_o),
      .irq_o(right_irq_o),
      .carrier_o(right_carrier_o), .kind_o(right_kind_o), .data_o(right_data_o),
      .carrier_i(right_carrier_i), .kind_i(right_kind_i), .data_i(right_data_i),
      .others_i(left_ports),
      /* verilator lint_off PINCONNECTEMPTY */
      .ports_o(),
      /* verilator lint_on PINCONNECTEMPTY */
      .pending_i(pending), .valid_o(valids[1]), .ready_i(readies[1]), .errand_o(errands[2*1 +: 2]), .port_o(serves[6*1 +: 6]),
      .slot_o(arrivals[512*1 +: 512]), .hands_i(handed[1]), .taken_i(taken), .accepts_i(accepted[1]), .done_i(ended[1]),
      .phase_o(right_phase_o), .sent_o(right_sent_o), .settled_o(right_settled_o), .expected_o(right_expected_o),
      .done_o(right_done_o), .passes_o(right_passes_o), .brings_o(right_brings_o), .strays_o(right_strays_o),
      .busy_o(busies[1]), .deadline_valid_o(right_waits), .deadline_o(right_deadline));
  end else begin : gen_no_right
    assign right_carrier_o = '0;
    assign right_kind_o = '0;
    assign right_data_o = '0;
    assign right_awready_o = '0;
    assign right_wready_o = '0;
    assign right_bvalid_o = '0;
    assign right_bresp_o = '0;
    assign right_arready_o = '0;
    assign right_rvalid_o = '0;
    assign right_rdata_o = '0;
    assign right_rresp_o = '0;
    assign right_irq_o = '0;
    assign right_phase_o = '0;
    assign right_sent_o = '0;
    assign right_settled_o = '0;
    assign right_expected_o = '0;
    assign right_done_o = '0;
    assign right_passes_o = '0;
    assign right_brings_o = '0;
    assign right_strays_o = '0;
    assign right_waits = 1'b0;
    assign right_deadline = '0;
  end

  // ---- Clock gate ----

  assign busy_o = block_busy || busies != '0;
  assign deadline_valid_o = block_waits || left_waits || right_waits;
`ifdef SYNTHESIS
  assign deadline_o = '0;
`else
  // A link's deadline is less than 2^32 clocks ahead.
  logic [31:0] left_ahead;
  logic [31:0] right_ahead;
  logic [63:0] links_deadline;
  assign left_ahead = left_deadline - now_i[31:0];
  assign right_ahead = right_deadline - now_i[31:0];
  assign links_deadline = now_i + {32'd0, !left_waits || (right_waits && right_ahead < left_ahead) ? right_ahead
                                                                                                   : left_ahead};
  assign deadline_o = !(left_waits || right_waits) || (block_waits && block_deadline < links_deadline) ? block_deadline
                                                                                                   : links_deadline;
`endif

endmodule
