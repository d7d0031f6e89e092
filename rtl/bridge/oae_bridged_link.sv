// SPDX-License-Identifier: Apache-2.0
// An end of a link with a window, and the bridge that passes slots between it and the block of its cell.
module oae_bridged_link #(
  parameter int unsigned PORTS = 8,           // 1 to 64
  parameter int unsigned SLICES = 2,          // in a clock: 2, 4 or 8
  parameter int unsigned SLOTS = 128,         // of each ring
  parameter int unsigned LIMIT_BITS = 20
) (
  input  logic                 clk_i,
  input  logic                 rst_i,         // synchronous; only for power-up
  input  logic [31:0]          now_i,         // clocks since power-up, modulo 2^32

  // The firmware: the registers of the end, an AXI4-Lite slave, and its interrupt
  input  logic                 axi_awvalid_i,
  output logic                 axi_awready_o,
  input  logic [16:0]          axi_awaddr_i,
  input  logic [2:0]           axi_awprot_i,
  input  logic                 axi_wvalid_i,
  output logic                 axi_wready_o,
  input  logic [63:0]          axi_wdata_i,
  input  logic [7:0]           axi_wstrb_i,
  output logic                 axi_bvalid_o,
  input  logic                 axi_bready_i,
  output logic [1:0]           axi_bresp_o,
  input  logic                 axi_arvalid_i,
  output logic                 axi_arready_o,
  input  logic [16:0]          axi_araddr_i,
  input  logic [2:0]           axi_arprot_i,
  output logic                 axi_rvalid_o,
  input  logic                 axi_rready_i,
  output logic [63:0]          axi_rdata_o,
  output logic [1:0]           axi_rresp_o,
  output logic                 irq_o,

  // The wire, as in oae_link_end.sv
  output logic                 carrier_o,
  output logic [1:0]           kind_o,
  output logic [64*SLICES-1:0] data_o,
  input  logic                 carrier_i,
  input  logic [1:0]           kind_i,
  input  logic [64*SLICES-1:0] data_i,

  // Which ports' slots the link carries: those that its firmware names, but for those that another link has
  input  logic [63:0]          others_i,
  output logic [63:0]          ports_o,

  // The block, by way of oae_bridge_arbiter.sv
  input  logic [PORTS-1:0]     pending_i,
  output logic                 valid_o,
  input  logic                 ready_i,
  output logic [1:0]           errand_o,      // enum oae_types::errand_t
  output logic [5:0]           port_o,
  output logic [511:0]         slot_o,        // that arrives
  input  logic                 hands_i,
  input  logic [511:0]         taken_i,       // that is passed on
  input  logic                 accepts_i,
  input  logic                 done_i,

  // For a trace: the link, and the slots that pass the bridge
  output logic [7:0]           phase_o,
  output logic [31:0]          sent_o,
  output logic [31:0]          settled_o,
  output logic [31:0]          expected_o,
  output logic [31:0]          done_o,
  output logic                 passes_o,
  output logic                 brings_o,
  output logic                 strays_o,

  // Clock gate
  output logic                 busy_o,
  output logic                 deadline_valid_o,
  output logic [31:0]          deadline_o
);

  logic                 bridged;
  logic [63:0]          named;
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
  /* verilator lint_off UNUSEDSIGNAL */      // the rest is for a relay
  oae_link_pkg::outbound_t leaving;
  /* verilator lint_on UNUSEDSIGNAL */
  logic                 bridge_busy;
  logic                 link_busy;

  assign ports_o = named & ~others_i;

  oae_bridge #(.SLICES(SLICES), .PORTS(PORTS)) bridge (
    .clk_i, .rst_i, .bridged_i(bridged), .ports_i(ports_o), .send_room_i(send_room), .send_offer_o(send_offer),
    .send_write_o(send_write), .send_slice_o(send_slice), .send_data_o(send_data), .receive_valid_i(receive_valid),
    .receive_read_o(receive_read), .receive_slice_o(receive_slice), .receive_data_i(receive_data),
    .receive_take_o(receive_take), .loses_i(leaving.loses),
    .passes_o, .brings_o, .strays_o,
    .pending_i, .valid_o, .ready_i, .errand_o, .port_o, .data_o(slot_o), .hands_i, .taken_i, .accepts_i, .done_i, .busy_o(bridge_busy));

  oae_link_end #(.SLICES(SLICES), .SLOTS(SLOTS), .LIMIT_BITS(LIMIT_BITS)) link (
    .clk_i, .rst_i, .now_i, .carrier_o, .kind_o, .data_o, .carrier_i, .kind_i, .data_i,
    .axi_awvalid_i, .axi_awready_o, .axi_awaddr_i, .axi_awprot_i, .axi_wvalid_i, .axi_wready_o, .axi_wdata_i, .axi_wstrb_i,
    .axi_bvalid_o, .axi_bready_i, .axi_bresp_o,
    .axi_arvalid_i, .axi_arready_o, .axi_araddr_i, .axi_arprot_i,
    .axi_rvalid_o, .axi_rready_i, .axi_rdata_o, .axi_rresp_o,
    .irq_o,
    .bridged_o(bridged), .ports_o(named), .send_room_o(send_room), .send_offer_i(send_offer), .send_write_i(send_write),
    .send_slice_i(send_slice), .send_data_i(send_data), .receive_valid_o(receive_valid), .receive_read_i(receive_read),
    .receive_slice_i(receive_slice), .receive_data_o(receive_data), .receive_take_i(receive_take),
    .passes_i(passes_o), .brings_i(brings_o), .strays_i(strays_o),
    /* verilator lint_off PINCONNECTEMPTY */
    .arrival_o(), .arrival_data_o(), .hold_i('0), .inbound_o(), .onward_i('0), .routes_o(), .outward_i('0), .opening_i('0),
    .confirm_o(),
    /* verilator lint_on PINCONNECTEMPTY */
    .outbound_o(leaving), .phase_o, .sent_o, .settled_o, .expected_o, .done_o,
    .busy_o(link_busy), .deadline_valid_o, .deadline_o);

  assign busy_o = bridge_busy || link_busy;

endmodule
