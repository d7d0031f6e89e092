// SPDX-License-Identifier: Apache-2.0
// AXI4-Lite between a manager and a subordinate with clocks of their own: a queue for each channel.
module oae_axil_crossing #(
  parameter int unsigned ADDRESS = 17
) (
  // From the manager
  input  logic               clk_i,
  input  logic               rst_i,
  input  logic               awvalid_i,
  output logic               awready_o,
  input  logic [ADDRESS-1:0] awaddr_i,
  input  logic [2:0]         awprot_i,
  input  logic               wvalid_i,
  output logic               wready_o,
  input  logic [63:0]        wdata_i,
  input  logic [7:0]         wstrb_i,
  output logic               bvalid_o,
  input  logic               bready_i,
  output logic [1:0]         bresp_o,
  input  logic               arvalid_i,
  output logic               arready_o,
  input  logic [ADDRESS-1:0] araddr_i,
  input  logic [2:0]         arprot_i,
  output logic               rvalid_o,
  input  logic               rready_i,
  output logic [63:0]        rdata_o,
  output logic [1:0]         rresp_o,

  // To the subordinate
  input  logic               sub_clk_i,
  input  logic               sub_rst_i,
  output logic               sub_awvalid_o,
  input  logic               sub_awready_i,
  output logic [ADDRESS-1:0] sub_awaddr_o,
  output logic [2:0]         sub_awprot_o,
  output logic               sub_wvalid_o,
  input  logic               sub_wready_i,
  output logic [63:0]        sub_wdata_o,
  output logic [7:0]         sub_wstrb_o,
  input  logic               sub_bvalid_i,
  output logic               sub_bready_o,
  input  logic [1:0]         sub_bresp_i,
  output logic               sub_arvalid_o,
  input  logic               sub_arready_i,
  output logic [ADDRESS-1:0] sub_araddr_o,
  output logic [2:0]         sub_arprot_o,
  input  logic               sub_rvalid_i,
  output logic               sub_rready_o,
  input  logic [63:0]        sub_rdata_i,
  input  logic [1:0]         sub_rresp_i
);

  oae_clock_fifo #(.WIDTH(ADDRESS + 3), .DEPTH(4)) aw (
    .write_clk_i(clk_i), .write_rst_i(rst_i), .write_valid_i(awvalid_i), .write_ready_o(awready_o),
    .write_data_i({awprot_i, awaddr_i}),
    .read_clk_i(sub_clk_i), .read_rst_i(sub_rst_i), .read_valid_o(sub_awvalid_o), .read_ready_i(sub_awready_i),
    .read_data_o({sub_awprot_o, sub_awaddr_o}));

  oae_clock_fifo #(.WIDTH(72), .DEPTH(4)) w (
    .write_clk_i(clk_i), .write_rst_i(rst_i), .write_valid_i(wvalid_i), .write_ready_o(wready_o),
    .write_data_i({wstrb_i, wdata_i}),
    .read_clk_i(sub_clk_i), .read_rst_i(sub_rst_i), .read_valid_o(sub_wvalid_o), .read_ready_i(sub_wready_i),
    .read_data_o({sub_wstrb_o, sub_wdata_o}));

  oae_clock_fifo #(.WIDTH(2), .DEPTH(4)) b (
    .write_clk_i(sub_clk_i), .write_rst_i(sub_rst_i), .write_valid_i(sub_bvalid_i), .write_ready_o(sub_bready_o),
    .write_data_i(sub_bresp_i),
    .read_clk_i(clk_i), .read_rst_i(rst_i), .read_valid_o(bvalid_o), .read_ready_i(bready_i), .read_data_o(bresp_o));

  oae_clock_fifo #(.WIDTH(ADDRESS + 3), .DEPTH(4)) ar (
    .write_clk_i(clk_i), .write_rst_i(rst_i), .write_valid_i(arvalid_i), .write_ready_o(arready_o),
    .write_data_i({arprot_i, araddr_i}),
    .read_clk_i(sub_clk_i), .read_rst_i(sub_rst_i), .read_valid_o(sub_arvalid_o), .read_ready_i(sub_arready_i),
    .read_data_o({sub_arprot_o, sub_araddr_o}));

  oae_clock_fifo #(.WIDTH(66), .DEPTH(4)) r (
    .write_clk_i(sub_clk_i), .write_rst_i(sub_rst_i), .write_valid_i(sub_rvalid_i), .write_ready_o(sub_rready_o),
    .write_data_i({sub_rresp_i, sub_rdata_i}),
    .read_clk_i(clk_i), .read_rst_i(rst_i), .read_valid_o(rvalid_o), .read_ready_i(rready_i), .read_data_o({rresp_o, rdata_o}));

endmodule
