// SPDX-License-Identifier: Apache-2.0
// The registers of the copier. A register that does not exist, or that is read-only and is written, is answered SLVERR.
module copier_registers (
    input logic clk,
    input logic rst_n,

    input  logic        s_axi_awvalid,
    output logic        s_axi_awready,
    input  logic [11:0] s_axi_awaddr,
    input  logic        s_axi_wvalid,
    output logic        s_axi_wready,
    input  logic [31:0] s_axi_wdata,
    input  logic [ 3:0] s_axi_wstrb,
    output logic        s_axi_bvalid,
    input  logic        s_axi_bready,
    output logic [ 1:0] s_axi_bresp,
    input  logic        s_axi_arvalid,
    output logic        s_axi_arready,
    input  logic [11:0] s_axi_araddr,
    output logic        s_axi_rvalid,
    input  logic        s_axi_rready,
    output logic [31:0] s_axi_rdata,
    output logic [ 1:0] s_axi_rresp,

    output logic        start,        // for one clock
    output logic [63:0] source,
    output logic [63:0] destination,
    output logic [31:0] length,
    input  logic        busy,
    input  logic        finished,     // for one clock, at the end of a copy
    input  logic        failed,       // beside it: whether the copy has failed
    input  logic [31:0] copied,

    output logic [1:0] irq,
    output logic       answering  // a response is on the pins
);
  localparam logic [9:0] IDENTITY = 10'h0;
  localparam logic [9:0] CONTROL = 10'h1;
  localparam logic [9:0] STATUS = 10'h2;
  localparam logic [9:0] LENGTH = 10'h3;
  localparam logic [9:0] SOURCE = 10'h4;
  localparam logic [9:0] SOURCE_HIGH = 10'h5;
  localparam logic [9:0] DESTINATION = 10'h6;
  localparam logic [9:0] DESTINATION_HIGH = 10'h7;
  localparam logic [9:0] COPIED = 10'h8;
  localparam logic [31:0] COPY = 32'h434f5059;
  localparam logic [1:0] OKAY = 2'b00;
  localparam logic [1:0] SLVERR = 2'b10;

  wire [9:0] write_at = s_axi_awaddr[11:2];
  wire [9:0] read_at = s_axi_araddr[11:2];
  wire writes = s_axi_awvalid && s_axi_wvalid && !s_axi_bvalid;
  wire reads = s_axi_arvalid && !s_axi_rvalid;
  wire [31:0] mask = {{8{s_axi_wstrb[3]}}, {8{s_axi_wstrb[2]}}, {8{s_axi_wstrb[1]}}, {8{s_axi_wstrb[0]}}};
  wire [31:0] ones = s_axi_wdata & mask;

  function automatic logic [31:0] merged(input logic [31:0] old);
    return (old & ~mask) | ones;
  endfunction

  wire [1:0] ends = {finished && failed, finished && !failed};
  wire [1:0] clears = writes && write_at == STATUS ? ones[2:1] : 2'b0;
  logic [1:0] again;  // bits of `irq` that rise at the next clock; never without `answering`

  assign s_axi_awready = writes;
  assign s_axi_wready = writes;
  assign s_axi_arready = !s_axi_rvalid;
  assign answering = s_axi_bvalid || s_axi_rvalid;

  always_ff @(posedge clk) begin
    start <= 1'b0;
    if (s_axi_bready) s_axi_bvalid <= 1'b0;
    if (writes) begin
      s_axi_bvalid <= 1'b1;
      s_axi_bresp <= OKAY;
      case (write_at)
        CONTROL: start <= ones[0] && !busy && !start;
        STATUS: ;  // see below
        LENGTH: length <= merged(length);
        SOURCE: source[31:0] <= merged(source[31:0]);
        SOURCE_HIGH: source[63:32] <= merged(source[63:32]);
        DESTINATION: destination[31:0] <= merged(destination[31:0]);
        DESTINATION_HIGH: destination[63:32] <= merged(destination[63:32]);
        default: s_axi_bresp <= SLVERR;
      endcase
    end
    // The end of a copy counts even if it comes at the clock at which software clears the one before. Then the pin is low for
    // a clock, since an interrupt is an edge.
    irq <= ((irq | ends) & ~clears) | again;
    again <= ends & clears;

    if (s_axi_rready) s_axi_rvalid <= 1'b0;
    if (reads) begin
      s_axi_rvalid <= 1'b1;
      s_axi_rresp <= OKAY;
      case (read_at)
        IDENTITY: s_axi_rdata <= COPY;
        CONTROL: s_axi_rdata <= 32'b0;
        STATUS: s_axi_rdata <= {29'b0, irq, busy || start};
        LENGTH: s_axi_rdata <= length;
        SOURCE: s_axi_rdata <= source[31:0];
        SOURCE_HIGH: s_axi_rdata <= source[63:32];
        DESTINATION: s_axi_rdata <= destination[31:0];
        DESTINATION_HIGH: s_axi_rdata <= destination[63:32];
        COPIED: s_axi_rdata <= copied;
        default: begin
          s_axi_rdata <= 32'b0;
          s_axi_rresp <= SLVERR;
        end
      endcase
    end

    if (!rst_n) begin
      start <= 1'b0;
      s_axi_bvalid <= 1'b0;
      s_axi_rvalid <= 1'b0;
      irq <= 2'b0;
      again <= 2'b0;
      length <= 32'b0;
      source <= 64'b0;
      destination <= 64'b0;
    end
  end

  wire unused = &{s_axi_awaddr[1:0], s_axi_araddr[1:0]};
endmodule
