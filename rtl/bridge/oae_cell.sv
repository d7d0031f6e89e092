// SPDX-License-Identifier: Apache-2.0
// A cell with one link: the swap ports of a host, an end of a link, and the bridge between them, with one clock. The firmware
// has a port to the block and one to the link.
module oae_cell #(
  parameter int unsigned PORTS = 8,           // 1 to 64
  parameter int unsigned SLICES = 2,          // in a clock: 2, 4 or 8
  parameter int unsigned SLOTS = 128,         // of each ring of the link
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

  // The firmware: AXI4-Lite slaves of the block and of the link, and their interrupts
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
  input  logic                 link_awvalid_i,
  output logic                 link_awready_o,
  input  logic [16:0]          link_awaddr_i,
  input  logic [2:0]           link_awprot_i,
  input  logic                 link_wvalid_i,
  output logic                 link_wready_o,
  input  logic [63:0]          link_wdata_i,
  input  logic [7:0]           link_wstrb_i,
  output logic                 link_bvalid_o,
  input  logic                 link_bready_i,
  output logic [1:0]           link_bresp_o,
  input  logic                 link_arvalid_i,
  output logic                 link_arready_o,
  input  logic [16:0]          link_araddr_i,
  input  logic [2:0]           link_arprot_i,
  output logic                 link_rvalid_o,
  input  logic                 link_rready_i,
  output logic [63:0]          link_rdata_o,
  output logic [1:0]           link_rresp_o,
  output logic                 link_irq_o,

  // The wire, as in oae_link_end.sv
  output logic                 carrier_o,
  output logic [1:0]           kind_o,
  output logic [64*SLICES-1:0] data_o,
  input  logic                 carrier_i,
  input  logic [1:0]           kind_i,
  input  logic [64*SLICES-1:0] data_i,

  // For a trace: a change of a journal's state (oae_block.sv), the link, and the slots that pass the bridge
  output logic                 trace_valid_o,
  output logic [5:0]           trace_port_o,
  output logic [7:0]           trace_epoch_o,
  output logic [31:0]          trace_sequence_o,
  output logic [7:0]           trace_from_o,
  output logic [7:0]           trace_to_o,
  output logic [7:0]           phase_o,
  output logic [31:0]          sent_o,
  output logic [31:0]          settled_o,
  output logic [31:0]          expected_o,
  output logic [31:0]          done_o,
  output logic                 passes_o,
  output logic                 brings_o,
  output logic                 strays_o,

  // Clock gate
  output logic                 idle_o,        // of the block
  output logic                 busy_o,
  output logic                 deadline_valid_o,
  output logic [63:0]          deadline_o
);

  logic [PORTS-1:0]     pending;
  logic                 valid;
  logic                 ready;
  logic                 write;
  logic [5:0]           port;
  logic [511:0]         data;
  logic                 hands;
  logic [511:0]         slot;
  logic [1:0]           uses;
  logic                 whole;
  logic                 replies;
  logic                 requests;
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
    .bridge_pending(pending), .bridge_valid(valid), .bridge_ready(ready), .bridge_write(write), .bridge_port(port),
    .bridge_data(data), .bridge_hands(hands), .bridge_slot(slot), .bridge_whole(whole), .bridge_replies(replies),
    .bridge_requests(requests), .bridge_uses(uses), .bridge_accepts(accepts), .bridge_done(done),
    .trace_valid(trace_valid_o), .trace_port(trace_port_o), .trace_epoch(trace_epoch_o), .trace_sequence(trace_sequence_o),
    .trace_from(trace_from_o), .trace_to(trace_to_o),
    .idle(idle_o), .busy(block_busy), .deadline_valid(block_waits), .deadline(block_deadline));

  logic                 bridged;
  logic [63:0]          joined;
  logic                 send_room;
  logic                 send_offer;
  logic                 send_write;
  logic [2:0]           send_slice;
  logic [64*SLICES-1:0] send_data;
  logic                 receive_valid;
  logic                 receive_read;
  logic [2:0]           receive_slice;
  logic [64*SLICES-1:0] receive_data;
  logic                 receive_take;
  logic                 bridge_busy;

  oae_bridge #(.SLICES(SLICES), .PORTS(PORTS)) bridge (
    .clk_i, .rst_i, .bridged_i(bridged), .ports_i(joined), .send_room_i(send_room), .send_offer_o(send_offer),
    .send_write_o(send_write), .send_slice_o(send_slice), .send_data_o(send_data), .receive_valid_i(receive_valid),
    .receive_read_o(receive_read), .receive_slice_o(receive_slice), .receive_data_i(receive_data),
    .receive_take_o(receive_take), .passes_o, .brings_o, .strays_o,
    .pending_i(pending), .valid_o(valid), .ready_i(ready), .write_o(write), .port_o(port), .data_o(data), .hands_i(hands),
    .slot_i(slot), .whole_i(whole), .replies_i(replies), .requests_i(requests), .uses_i(uses), .accepts_i(accepts),
    .done_i(done), .busy_o(bridge_busy));

  logic                 link_busy;
  logic                 link_waits;
  logic [31:0]          link_deadline;

  oae_link_end #(.SLICES(SLICES), .SLOTS(SLOTS), .LIMIT_BITS(LIMIT_BITS)) link (
    .clk_i, .rst_i, .now_i(now_i[31:0]), .carrier_o, .kind_o, .data_o, .carrier_i, .kind_i, .data_i,
    .axi_awvalid_i(link_awvalid_i), .axi_awready_o(link_awready_o), .axi_awaddr_i(link_awaddr_i), .axi_awprot_i(link_awprot_i),
    .axi_wvalid_i(link_wvalid_i), .axi_wready_o(link_wready_o), .axi_wdata_i(link_wdata_i), .axi_wstrb_i(link_wstrb_i),
    .axi_bvalid_o(link_bvalid_o), .axi_bready_i(link_bready_i), .axi_bresp_o(link_bresp_o),
    .axi_arvalid_i(link_arvalid_i), .axi_arready_o(link_arready_o), .axi_araddr_i(link_araddr_i), .axi_arprot_i(link_arprot_i),
    .axi_rvalid_o(link_rvalid_o), .axi_rready_i(link_rready_i), .axi_rdata_o(link_rdata_o), .axi_rresp_o(link_rresp_o),
    .irq_o(link_irq_o),
    .bridged_o(bridged), .ports_o(joined), .send_room_o(send_room), .send_offer_i(send_offer), .send_write_i(send_write),
    .send_slice_i(send_slice), .send_data_i(send_data), .receive_valid_o(receive_valid), .receive_read_i(receive_read),
    .receive_slice_i(receive_slice), .receive_data_o(receive_data), .receive_take_i(receive_take),
    .passes_i(passes_o), .brings_i(brings_o), .strays_i(strays_o),
    /* verilator lint_off PINCONNECTEMPTY */
    .arrival_o(), .arrival_data_o(), .hold_i('0), .inbound_o(), .onward_i('0), .routes_o(), .outward_i('0), .opening_i('0),
    .outbound_o(), .confirm_o(),
    /* verilator lint_on PINCONNECTEMPTY */
    .phase_o, .sent_o, .settled_o, .expected_o, .done_o,
    .busy_o(link_busy), .deadline_valid_o(link_waits), .deadline_o(link_deadline));

  // ---- Clock gate ----

  assign busy_o = block_busy || bridge_busy || link_busy;
  assign deadline_valid_o = block_waits || link_waits;
`ifdef SYNTHESIS
  assign deadline_o = '0;
`else
  // The link's deadline is less than 2^32 clocks ahead.
  logic [31:0] link_ahead;
  logic [63:0] link_deadline_whole;
  assign link_ahead = link_deadline - now_i[31:0];
  assign link_deadline_whole = now_i + {32'd0, link_ahead};
  assign deadline_o = !link_waits || (block_waits && block_deadline < link_deadline_whole) ? block_deadline
                                                                                           : link_deadline_whole;
`endif

endmodule
