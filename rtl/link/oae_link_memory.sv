// SPDX-License-Identifier: Apache-2.0
// A synchronous memory with one port to write words of 64 bits of a row, and one to read rows.
module oae_link_memory #(
  parameter int unsigned ROWS = 256,
  parameter int unsigned WORDS = 2   // of a row
) (
  input  logic                    clk_i,
  input  logic [WORDS-1:0]        write_i,
  input  logic [$clog2(ROWS)-1:0] write_row_i,
  input  logic [64*WORDS-1:0]     write_data_i,
  input  logic                    read_i,
  input  logic [$clog2(ROWS)-1:0] read_row_i,
  output logic [64*WORDS-1:0]     read_data_o  // one clock after read_i, and until the next one
);

  for (genvar i = 0; i < WORDS; i++) begin : gen_word
    logic [63:0] memory [ROWS];
    logic [63:0] data_q;

    always_ff @(posedge clk_i) begin
      if (write_i[i]) memory[write_row_i] <= write_data_i[64*i +: 64];
      if (read_i) data_q <= memory[read_row_i];
    end
    assign read_data_o[64*i +: 64] = data_q;
  end

endmodule
