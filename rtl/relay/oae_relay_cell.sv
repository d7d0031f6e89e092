// SPDX-License-Identifier: Apache-2.0
// A cell in the middle of a chain: two ends of links, and a relay for each direction. What comes in by one link leaves by the
// other one. The firmware takes the links up and down, and writes which labels go on; the slots have no part in it.
module oae_relay_cell #(
  parameter int unsigned SLICES = 2,           // in a clock: 2, 4 or 8
  parameter int unsigned SLOTS = 128,          // of each ring, a power of two from 16 to 512
  parameter int unsigned LIMIT_BITS = 20,      // as in oae_link_end.sv
  parameter int unsigned CUT_THROUGH = 1       // 0: a slot leaves when all of it has arrived
) (
  input  logic                 clk_i,
  input  logic                 rst_i,          // synchronous; only for power-up, since it loses the journals
  input  logic [31:0]          now_i,          // clocks since power-up, modulo 2^32

  // The wires, as in oae_link_end.sv
  output logic                 left_carrier_o,
  output logic [1:0]           left_kind_o,
  output logic [64*SLICES-1:0] left_data_o,
  input  logic                 left_carrier_i,
  input  logic [1:0]           left_kind_i,
  input  logic [64*SLICES-1:0] left_data_i,
  output logic                 right_carrier_o,
  output logic [1:0]           right_kind_o,
  output logic [64*SLICES-1:0] right_data_o,
  input  logic                 right_carrier_i,
  input  logic [1:0]           right_kind_i,
  input  logic [64*SLICES-1:0] right_data_i,

  // The firmware: the registers of each end, AXI4-Lite slaves
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

  // For a trace
  output logic [7:0]           left_phase_o,
  output logic [31:0]          left_sent_o,
  output logic [31:0]          left_settled_o,
  output logic [31:0]          left_expected_o,
  output logic [31:0]          left_done_o,
  output logic                 left_passes_o,  // a slot was offered to this link,
  output logic                 left_strays_o,  //   or came by it with a label that has no route
  output logic [7:0]           right_phase_o,
  output logic [31:0]          right_sent_o,
  output logic [31:0]          right_settled_o,
  output logic [31:0]          right_expected_o,
  output logic [31:0]          right_done_o,
  output logic                 right_passes_o, // a slot was offered to this link,
  output logic                 right_strays_o, //   or came by it with a label that has no route

  // Clock gate
  output logic                 busy_o,
  output logic                 deadline_valid_o,
  output logic [31:0]          deadline_o
);

  oae_link_pkg::arrival_t  left_arrival;
  logic [64*SLICES-1:0] left_arrival_data;
  oae_link_pkg::hold_t     left_hold;
  oae_link_pkg::inbound_t  left_inbound;
  oae_link_pkg::onward_t   left_onward;
  logic [oae_link_pkg::ROUTE_BITS*oae_link_pkg::ROUTES-1:0] left_routes;
  oae_link_pkg::outward_t  left_outward;
  oae_link_pkg::opening_t  left_opening;
  oae_link_pkg::outbound_t left_outbound;
  oae_link_pkg::confirm_t  left_confirm;
  logic                 left_offer;
  logic                 left_write;
  logic [2:0]           left_slice;
  logic [64*SLICES-1:0] left_data;
  logic                 left_busy;
  logic                 left_waits;
  logic [31:0]          left_deadline;

  oae_link_pkg::arrival_t  right_arrival;
  logic [64*SLICES-1:0] right_arrival_data;
  oae_link_pkg::hold_t     right_hold;
  oae_link_pkg::inbound_t  right_inbound;
  oae_link_pkg::onward_t   right_onward;
  logic [oae_link_pkg::ROUTE_BITS*oae_link_pkg::ROUTES-1:0] right_routes;
  oae_link_pkg::outward_t  right_outward;
  oae_link_pkg::opening_t  right_opening;
  oae_link_pkg::outbound_t right_outbound;
  oae_link_pkg::confirm_t  right_confirm;
  logic                 right_offer;
  logic                 right_write;
  logic [2:0]           right_slice;
  logic [64*SLICES-1:0] right_data;
  logic                 right_busy;
  logic                 right_waits;
  logic [31:0]          right_deadline;

  /* verilator lint_off PINCONNECTEMPTY */   // of the bridge
  oae_link_end #(.SLICES(SLICES), .SLOTS(SLOTS), .LIMIT_BITS(LIMIT_BITS), .RELAY(1'b1)) left (
    .clk_i, .rst_i, .now_i, .carrier_o(left_carrier_o), .kind_o(left_kind_o), .data_o(left_data_o),
    .carrier_i(left_carrier_i), .kind_i(left_kind_i), .data_i(left_data_i),
    .axi_awvalid_i(left_awvalid_i), .axi_awready_o(left_awready_o), .axi_awaddr_i(left_awaddr_i), .axi_awprot_i(left_awprot_i),
    .axi_wvalid_i(left_wvalid_i), .axi_wready_o(left_wready_o), .axi_wdata_i(left_wdata_i), .axi_wstrb_i(left_wstrb_i),
    .axi_bvalid_o(left_bvalid_o), .axi_bready_i(left_bready_i), .axi_bresp_o(left_bresp_o),
    .axi_arvalid_i(left_arvalid_i), .axi_arready_o(left_arready_o), .axi_araddr_i(left_araddr_i), .axi_arprot_i(left_arprot_i),
    .axi_rvalid_o(left_rvalid_o), .axi_rready_i(left_rready_i), .axi_rdata_o(left_rdata_o), .axi_rresp_o(left_rresp_o),
    .irq_o(left_irq_o),
    .bridged_o(), .ports_o(), .send_room_o(), .send_offer_i(left_offer), .send_write_i(left_write), .send_slice_i(left_slice),
    .send_data_i(left_data), .receive_valid_o(), .receive_read_i(1'b0), .receive_slice_i('0), .receive_data_o(),
    .receive_take_i(1'b0), .passes_i(left_passes_o), .brings_i(1'b0), .strays_i(left_strays_o),
    .arrival_o(left_arrival), .arrival_data_o(left_arrival_data), .hold_i(left_hold), .inbound_o(left_inbound),
    .onward_i(left_onward), .routes_o(left_routes), .outward_i(left_outward), .opening_i(left_opening),
    .outbound_o(left_outbound), .confirm_o(left_confirm),
    .phase_o(left_phase_o), .sent_o(left_sent_o), .settled_o(left_settled_o), .expected_o(left_expected_o), .done_o(left_done_o),
    .busy_o(left_busy), .deadline_valid_o(left_waits), .deadline_o(left_deadline));

  oae_link_end #(.SLICES(SLICES), .SLOTS(SLOTS), .LIMIT_BITS(LIMIT_BITS), .RELAY(1'b1)) right (
    .clk_i, .rst_i, .now_i, .carrier_o(right_carrier_o), .kind_o(right_kind_o), .data_o(right_data_o),
    .carrier_i(right_carrier_i), .kind_i(right_kind_i), .data_i(right_data_i),
    .axi_awvalid_i(right_awvalid_i), .axi_awready_o(right_awready_o), .axi_awaddr_i(right_awaddr_i), .axi_awprot_i(right_awprot_i),
    .axi_wvalid_i(right_wvalid_i), .axi_wready_o(right_wready_o), .axi_wdata_i(right_wdata_i), .axi_wstrb_i(right_wstrb_i),
    .axi_bvalid_o(right_bvalid_o), .axi_bready_i(right_bready_i), .axi_bresp_o(right_bresp_o),
    .axi_arvalid_i(right_arvalid_i), .axi_arready_o(right_arready_o), .axi_araddr_i(right_araddr_i), .axi_arprot_i(right_arprot_i),
    .axi_rvalid_o(right_rvalid_o), .axi_rready_i(right_rready_i), .axi_rdata_o(right_rdata_o), .axi_rresp_o(right_rresp_o),
    .irq_o(right_irq_o),
    .bridged_o(), .ports_o(), .send_room_o(), .send_offer_i(right_offer), .send_write_i(right_write), .send_slice_i(right_slice),
    .send_data_i(right_data), .receive_valid_o(), .receive_read_i(1'b0), .receive_slice_i('0), .receive_data_o(),
    .receive_take_i(1'b0), .passes_i(right_passes_o), .brings_i(1'b0), .strays_i(right_strays_o),
    .arrival_o(right_arrival), .arrival_data_o(right_arrival_data), .hold_i(right_hold), .inbound_o(right_inbound),
    .onward_i(right_onward), .routes_o(right_routes), .outward_i(right_outward), .opening_i(right_opening),
    .outbound_o(right_outbound), .confirm_o(right_confirm),
    .phase_o(right_phase_o), .sent_o(right_sent_o), .settled_o(right_settled_o), .expected_o(right_expected_o), .done_o(right_done_o),
    .busy_o(right_busy), .deadline_valid_o(right_waits), .deadline_o(right_deadline));
  /* verilator lint_on PINCONNECTEMPTY */

  oae_relay #(.SLICES(SLICES), .SLOTS(SLOTS), .CUT_THROUGH(CUT_THROUGH)) left_to_right (
    .clk_i, .rst_i, .arrival_i(left_arrival), .data_i(left_arrival_data), .hold_o(left_hold), .inbound_i(left_inbound),
    .onward_o(left_onward), .routes_i(left_routes), .strays_o(left_strays_o), .outbound_i(right_outbound),
    .confirm_i(right_confirm), .outward_o(right_outward), .opening_o(right_opening),
    .offer_o(right_offer), .write_o(right_write), .slice_o(right_slice), .data_o(right_data));

  oae_relay #(.SLICES(SLICES), .SLOTS(SLOTS), .CUT_THROUGH(CUT_THROUGH)) right_to_left (
    .clk_i, .rst_i, .arrival_i(right_arrival), .data_i(right_arrival_data), .hold_o(right_hold), .inbound_i(right_inbound),
    .onward_o(right_onward), .routes_i(right_routes), .strays_o(right_strays_o), .outbound_i(left_outbound),
    .confirm_i(left_confirm), .outward_o(left_outward), .opening_o(left_opening),
    .offer_o(left_offer), .write_o(left_write), .slice_o(left_slice), .data_o(left_data));

  assign left_passes_o = left_offer;
  assign right_passes_o = right_offer;

  // ---- Clock gate ----

  assign busy_o = left_busy || right_busy;
  assign deadline_valid_o = left_waits || right_waits;
`ifdef SYNTHESIS
  assign deadline_o = '0;
`else
  assign deadline_o = !right_waits || (left_waits && left_deadline - now_i < right_deadline - now_i) ? left_deadline
                                                                                                   : right_deadline;
`endif

endmodule
