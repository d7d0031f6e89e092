// SPDX-License-Identifier: Apache-2.0
// A queue between two clocks that need not know each other. Each side tells the other one its pointer as a Gray code, of which
// one bit changes at a time, so that a pointer that is read while it changes is the one before or the one after. An entry is
// written before its pointer is told, and is not written again before its reader has told that it has gone on.
//
// Both sides are reset together, for at least three clocks of the slower one.
module oae_clock_fifo #(
  parameter int unsigned WIDTH = 8,
  parameter int unsigned DEPTH = 8            // a power of two, at least 4
) (
  input  logic             write_clk_i,
  input  logic             write_rst_i,
  input  logic             write_valid_i,
  output logic             write_ready_o,
  input  logic [WIDTH-1:0] write_data_i,

  input  logic             read_clk_i,
  input  logic             read_rst_i,
  output logic             read_valid_o,
  input  logic             read_ready_i,
  output logic [WIDTH-1:0] read_data_o
);

  localparam int unsigned BITS = $clog2(DEPTH);

  if (DEPTH < 4 || (DEPTH & (DEPTH - 1)) != 0) $error("DEPTH must be a power of two, at least 4");

  logic [WIDTH-1:0] memory [DEPTH];

  function automatic logic [BITS:0] gray(input logic [BITS:0] number);
    gray = number ^ (number >> 1);
  endfunction

  logic [BITS:0] write_q;                     // entries written, modulo twice the depth
  logic [BITS:0] write_gray_q;
  logic [BITS:0] written;                     // as the reader sees it
  logic [BITS:0] read_q;
  logic [BITS:0] read_gray_q;
  logic [BITS:0] taken;                       // as the writer sees it
  logic [BITS:0] write_next;
  logic [BITS:0] read_next;
  logic          writes;
  logic          reads;

  oae_clock_sync #(.WIDTH(BITS + 1)) to_writer (.clk_i(write_clk_i), .rst_i(write_rst_i), .data_i(read_gray_q), .data_o(taken));
  oae_clock_sync #(.WIDTH(BITS + 1)) to_reader (.clk_i(read_clk_i), .rst_i(read_rst_i), .data_i(write_gray_q), .data_o(written));

  // Of two numbers that are DEPTH apart, the Gray codes differ in their two upper bits.
  assign write_ready_o = write_gray_q != {~taken[BITS:BITS-1], taken[BITS-2:0]};
  assign writes = write_valid_i && write_ready_o;
  assign write_next = write_q + (BITS + 1)'(writes);

  always_ff @(posedge write_clk_i) begin
    if (write_rst_i) begin
      write_q <= '0;
      write_gray_q <= '0;
    end else begin
      write_q <= write_next;
      write_gray_q <= gray(write_next);
    end
    if (writes) memory[write_q[BITS-1:0]] <= write_data_i;
  end

  assign read_valid_o = read_gray_q != written;
  assign reads = read_valid_o && read_ready_i;
  assign read_next = read_q + (BITS + 1)'(reads);
  assign read_data_o = memory[read_q[BITS-1:0]];

  always_ff @(posedge read_clk_i) begin
    if (read_rst_i) begin
      read_q <= '0;
      read_gray_q <= '0;
    end else begin
      read_q <= read_next;
      read_gray_q <= gray(read_next);
    end
  end

`ifndef SYNTHESIS
  function automatic logic [BITS:0] number(input logic [BITS:0] code);
    number = code;
    for (int unsigned i = 1; i <= BITS; i++) number ^= code >> i;
  endfunction

  always_ff @(posedge write_clk_i)
    if (!write_rst_i) begin
      assert ($onehot0(write_gray_q ^ gray(write_next))) else $error("more than one bit of the writer's pointer changes");
      assert (write_q - number(taken) <= (BITS + 1)'(DEPTH)) else $error("the queue holds more than it has places");
    end
  always_ff @(posedge read_clk_i)
    if (!read_rst_i) begin
      assert ($onehot0(read_gray_q ^ gray(read_next))) else $error("more than one bit of the reader's pointer changes");
      assert (number(written) - read_q <= (BITS + 1)'(DEPTH)) else $error("the reader is ahead of the writer");
    end
`endif

endmodule
