// SPDX-License-Identifier: Apache-2.0
// A block in plain Verilog that has registers of 32 bits and interrupt pins which it drives by them. Bit n of the register
// at 0 is pin n. There are 12 address bits, no master, and no idle pin.
module registers_only (
    input clk,
    input rst_n,
    input s_axi_awvalid,
    output s_axi_awready,
    input [11:0] s_axi_awaddr,
    input s_axi_wvalid,
    output s_axi_wready,
    input [31:0] s_axi_wdata,
    input [3:0] s_axi_wstrb,
    output reg s_axi_bvalid,
    input s_axi_bready,
    output [1:0] s_axi_bresp,
    input s_axi_arvalid,
    output s_axi_arready,
    input [11:0] s_axi_araddr,
    output reg s_axi_rvalid,
    input s_axi_rready,
    output reg [31:0] s_axi_rdata,
    output [1:0] s_axi_rresp,
    output reg [69:0] irq
);
  wire writes = s_axi_awvalid && s_axi_wvalid && !s_axi_bvalid;
  assign s_axi_awready = writes;
  assign s_axi_wready = writes;
  assign s_axi_arready = !s_axi_rvalid;
  assign s_axi_bresp = 2'b00;
  assign s_axi_rresp = 2'b00;

  always @(posedge clk) begin
    if (s_axi_bready) s_axi_bvalid <= 1'b0;
    if (s_axi_rready) s_axi_rvalid <= 1'b0;
    if (writes) begin
      s_axi_bvalid <= 1'b1;
      if (s_axi_awaddr == 12'h0) irq[31:0] <= s_axi_wdata;
      if (s_axi_awaddr == 12'h4) irq[63:32] <= s_axi_wdata;
      if (s_axi_awaddr == 12'h8) irq[69:64] <= s_axi_wdata[5:0];
    end
    if (s_axi_arvalid && !s_axi_rvalid) begin
      s_axi_rvalid <= 1'b1;
      s_axi_rdata <= {20'b0, s_axi_araddr};
    end
    if (!rst_n) begin
      s_axi_bvalid <= 1'b0;
      s_axi_rvalid <= 1'b0;
      irq <= 70'b0;
    end
  end
endmodule
