// SPDX-License-Identifier: Apache-2.0
// The register of a reflected CRC after BITS zero bits have been shifted in: a product with a constant matrix. A check over
// several words is the sum of the words, each shifted by as many bits as follow it, so that nothing waits for the word before.
module oae_link_shift #(
  parameter int unsigned      WIDTH = 64,
  parameter logic [WIDTH-1:0] POLYNOMIAL = 64'hc96c5795d7870f42,  // of CRC-64/XZ, reflected
  parameter int unsigned      BITS = 64
) (
  input  logic [WIDTH-1:0] state_i,
  output logic [WIDTH-1:0] state_o
);

  // What the register is in the end if only one of its bits is set in the beginning
  function automatic logic [WIDTH-1:0] column(input int unsigned bit_of_state);
    column = WIDTH'(1) << bit_of_state;
    for (int unsigned i = 0; i < BITS; i++)
      column = {1'b0, column[WIDTH-1:1]} ^ (column[0] ? POLYNOMIAL : '0);
  endfunction

  // Partial sums of eight terms keep the network flat.
  logic [WIDTH*WIDTH/8-1:0] partial;
  for (genvar i = 0; i < WIDTH / 8; i++) begin : gen_partial
    localparam logic [8*WIDTH-1:0] COLUMNS = {
      column(8*i + 7), column(8*i + 6), column(8*i + 5), column(8*i + 4),
      column(8*i + 3), column(8*i + 2), column(8*i + 1), column(8*i)};
    logic [WIDTH-1:0] sum;
    always_comb begin
      sum = '0;
      for (int unsigned j = 0; j < 8; j++) sum ^= COLUMNS[WIDTH*j +: WIDTH] & {WIDTH{state_i[8*i + j]}};
    end
    assign partial[WIDTH*i +: WIDTH] = sum;
  end

  always_comb begin
    state_o = '0;
    for (int unsigned i = 0; i < WIDTH / 8; i++) state_o ^= partial[WIDTH*i +: WIDTH];
  end

endmodule
