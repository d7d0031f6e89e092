// SPDX-License-Identifier: Apache-2.0
// Bits from another clock, each on its own: two flip-flops in a row, so that the first one has a clock's time to become stable.
// Bits that change together may arrive one clock apart.
module oae_clock_sync #(
  parameter int unsigned WIDTH = 1
) (
  input  logic             clk_i,
  input  logic             rst_i,
  input  logic [WIDTH-1:0] data_i,   // from flip-flops of the other clock
  output logic [WIDTH-1:0] data_o
);

  (* keep *) logic [WIDTH-1:0] first_q;

  always_ff @(posedge clk_i) begin
    if (rst_i) begin
      first_q <= '0;
      data_o <= '0;
    end else begin
      first_q <= data_i;
      data_o <= first_q;
    end
  end

endmodule
