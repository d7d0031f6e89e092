// SPDX-License-Identifier: Apache-2.0
// An end of a link with three clocks: that of the link, with which it sends; that which its receiver has recovered from the wire;
// and that of the firmware's bus. All resets are given together, for at least three clocks of the slowest one.
module oae_link_clocks #(
  parameter int unsigned SLICES = 2,          // in a clock: 2, 4 or 8
  parameter int unsigned SLOTS = 128,
  parameter int unsigned LIMIT_BITS = 20
) (
  // The link, and what it sends
  input  logic                 clk_i,
  input  logic                 rst_i,
  input  logic [31:0]          now_i,         // clocks since power-up, modulo 2^32
  output logic                 carrier_o,
  output logic [1:0]           kind_o,
  output logic [64*SLICES-1:0] data_o,

  // What it receives
  input  logic                 wire_clk_i,
  input  logic                 wire_rst_i,
  input  logic                 wire_carrier_i, // see oae_link_elastic.sv
  input  logic [1:0]           wire_kind_i,
  input  logic [64*SLICES-1:0] wire_data_i,
  output logic                 overflow_o,

  // The firmware: AXI4-Lite slave, 64 bits, and an interrupt
  input  logic                 axi_clk_i,
  input  logic                 axi_rst_i,
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

  // For a trace, with the link's clock
  output logic [7:0]           phase_o,
  output logic [31:0]          sent_o,
  output logic [31:0]          settled_o,
  output logic [31:0]          expected_o,
  output logic [31:0]          done_o
);

  logic                 carrier;
  logic [1:0]           kind;
  logic [64*SLICES-1:0] data;

  oae_link_elastic #(.SLICES(SLICES)) elastic (
    .wire_clk_i, .wire_rst_i, .wire_carrier_i, .wire_kind_i, .wire_data_i,
    .clk_i, .rst_i, .carrier_o(carrier), .kind_o(kind), .data_o(data), .overflow_o);

  logic        awvalid;
  logic        awready;
  logic [16:0] awaddr;
  logic [2:0]  awprot;
  logic        wvalid;
  logic        wready;
  logic [63:0] wdata;
  logic [7:0]  wstrb;
  logic        bvalid;
  logic        bready;
  logic [1:0]  bresp;
  logic        arvalid;
  logic        arready;
  logic [16:0] araddr;
  logic [2:0]  arprot;
  logic        rvalid;
  logic        rready;
  logic [63:0] rdata;
  logic [1:0]  rresp;
  logic        irq;
  logic        irq_q;                         // without the glitches of its gates

  oae_axil_crossing crossing (
    .clk_i(axi_clk_i), .rst_i(axi_rst_i),
    .awvalid_i(axi_awvalid_i), .awready_o(axi_awready_o), .awaddr_i(axi_awaddr_i), .awprot_i(axi_awprot_i),
    .wvalid_i(axi_wvalid_i), .wready_o(axi_wready_o), .wdata_i(axi_wdata_i), .wstrb_i(axi_wstrb_i),
    .bvalid_o(axi_bvalid_o), .bready_i(axi_bready_i), .bresp_o(axi_bresp_o),
    .arvalid_i(axi_arvalid_i), .arready_o(axi_arready_o), .araddr_i(axi_araddr_i), .arprot_i(axi_arprot_i),
    .rvalid_o(axi_rvalid_o), .rready_i(axi_rready_i), .rdata_o(axi_rdata_o), .rresp_o(axi_rresp_o),
    .sub_clk_i(clk_i), .sub_rst_i(rst_i),
    .sub_awvalid_o(awvalid), .sub_awready_i(awready), .sub_awaddr_o(awaddr), .sub_awprot_o(awprot),
    .sub_wvalid_o(wvalid), .sub_wready_i(wready), .sub_wdata_o(wdata), .sub_wstrb_o(wstrb),
    .sub_bvalid_i(bvalid), .sub_bready_o(bready), .sub_bresp_i(bresp),
    .sub_arvalid_o(arvalid), .sub_arready_i(arready), .sub_araddr_o(araddr), .sub_arprot_o(arprot),
    .sub_rvalid_i(rvalid), .sub_rready_o(rready), .sub_rdata_i(rdata), .sub_rresp_i(rresp));

  always_ff @(posedge clk_i) irq_q <= irq && !rst_i;
  oae_clock_sync interrupt (.clk_i(axi_clk_i), .rst_i(axi_rst_i), .data_i(irq_q), .data_o(irq_o));

  /* verilator lint_off PINCONNECTEMPTY */    // no bridge, and no clock gate
  oae_link_end #(.SLICES(SLICES), .SLOTS(SLOTS), .LIMIT_BITS(LIMIT_BITS)) link (
    .clk_i, .rst_i, .now_i, .carrier_o, .kind_o, .data_o, .carrier_i(carrier), .kind_i(kind), .data_i(data),
    .axi_awvalid_i(awvalid), .axi_awready_o(awready), .axi_awaddr_i(awaddr), .axi_awprot_i(awprot),
    .axi_wvalid_i(wvalid), .axi_wready_o(wready), .axi_wdata_i(wdata), .axi_wstrb_i(wstrb),
    .axi_bvalid_o(bvalid), .axi_bready_i(bready), .axi_bresp_o(bresp),
    .axi_arvalid_i(arvalid), .axi_arready_o(arready), .axi_araddr_i(araddr), .axi_arprot_i(arprot),
    .axi_rvalid_o(rvalid), .axi_rready_i(rready), .axi_rdata_o(rdata), .axi_rresp_o(rresp), .irq_o(irq),
    .bridged_o(), .ports_o(), .send_room_o(), .send_offer_i(1'b0), .send_write_i(1'b0), .send_slice_i(3'd0),
    .send_data_i('0), .receive_valid_o(), .receive_read_i(1'b0), .receive_slice_i(3'd0), .receive_data_o(),
    .receive_take_i(1'b0), .passes_i(1'b0), .brings_i(1'b0), .strays_i(1'b0),
    .arrival_o(), .arrival_data_o(), .hold_i('0), .inbound_o(), .onward_i('0), .routes_o(), .outward_i('0), .opening_i('0),
    .outbound_o(), .confirm_o(),
    .phase_o, .sent_o, .settled_o, .expected_o, .done_o, .busy_o(), .deadline_valid_o(), .deadline_o());
  /* verilator lint_on PINCONNECTEMPTY */

endmodule
