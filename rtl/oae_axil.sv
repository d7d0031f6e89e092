// SPDX-License-Identifier: Apache-2.0
// AXI4-Lite slave (AMBA AXI, IHI 0022, chapter B1). It reduces the five channels to one access at a
// time. A read and a write that wait together take turns.
module oae_axil (
  input  logic        clock,
  input  logic        reset,

  input  logic        awvalid,
  output logic        awready,
  input  logic [16:0] awaddr,
  input  logic [2:0]  awprot,
  input  logic        wvalid,
  output logic        wready,
  input  logic [63:0] wdata,
  input  logic [7:0]  wstrb,
  output logic        bvalid,
  input  logic        bready,
  output logic [1:0]  bresp,
  input  logic        arvalid,
  output logic        arready,
  input  logic [16:0] araddr,
  input  logic [2:0]  arprot,
  output logic        rvalid,
  input  logic        rready,
  output logic [63:0] rdata,
  output logic [1:0]  rresp,

  output logic        access_valid,
  input  logic        access_ready,
  output logic        access_write,
  output logic [13:0] access_word,    // address[16:3]
  output logic [63:0] access_data,
  output logic [7:0]  access_strobe,  // all ones for a read
  input  logic        access_done,    // for one clock, in which the next two are valid
  input  logic        access_error,
  input  logic [63:0] access_result,

  output logic        busy            // a response waits for its master
);

  localparam logic [1:0] OKAY = 2'b00;
  localparam logic [1:0] SLVERR = 2'b10;

  logic written;  // the last access was a write
  logic want_write;

  assign want_write = awvalid && wvalid;
  assign access_write = want_write && !(arvalid && written);
  assign access_valid = (want_write || arvalid) && !busy;
  assign access_word = access_write ? awaddr[16:3] : araddr[16:3];
  assign access_data = wdata;
  assign access_strobe = access_write ? wstrb : '1;
  assign awready = access_ready && access_valid && access_write;
  assign wready = awready;
  assign arready = access_ready && access_valid && !access_write;
  assign busy = bvalid || rvalid;

  always_ff @(posedge clock) begin
    if (reset) begin
      written <= 1'b0;
      bvalid <= 1'b0;
      bresp <= OKAY;
      rvalid <= 1'b0;
      rresp <= OKAY;
      rdata <= '0;
    end else begin
      if (access_valid && access_ready) written <= access_write;
      if (bready) bvalid <= 1'b0;
      if (rready) rvalid <= 1'b0;
      if (access_done && written) begin
        bvalid <= 1'b1;
        bresp <= access_error ? SLVERR : OKAY;
      end
      if (access_done && !written) begin
        rvalid <= 1'b1;
        rresp <= access_error ? SLVERR : OKAY;
        rdata <= access_result;
      end
    end
  end

  // An access is to whole words. Its protection bits are ignored.
  logic unused;
  assign unused = &{1'b0, awaddr[2:0], araddr[2:0], awprot, arprot};

`ifndef SYNTHESIS
  always_ff @(posedge clock)
    if (!reset) begin
      if (bvalid) assert (!rvalid) else $error("two responses at once");
      if (access_done) assert (!busy) else $error("a response overtakes the one before");
    end
`endif

endmodule
