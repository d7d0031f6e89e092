// SPDX-License-Identifier: Apache-2.0
// A memory of frames, 64 bytes wide. Writes have byte enables, and reads return a whole frame.
module oae_link_buffer #(
  parameter int unsigned FRAMES = 64
) (
  input  logic                      clock,
  input  logic                      write,
  input  logic [$clog2(FRAMES)-1:0] write_row,
  input  logic [511:0]              write_data,
  input  logic [63:0]               write_enable,
  input  logic [$clog2(FRAMES)-1:0] row,
  output logic [511:0]              data
);

  logic [511:0] memory [FRAMES];

  function automatic logic [511:0] merge(
      input logic [511:0] old_row, input logic [511:0] new_row, input logic [63:0] enable);
    merge = old_row;
    for (int unsigned i = 0; i < 64; i++)
      if (enable[i]) merge[8*i +: 8] = new_row[8*i +: 8];
  endfunction

  always_ff @(posedge clock)
    if (write) memory[write_row] <= merge(memory[write_row], write_data, write_enable);

  assign data = memory[row];

endmodule
