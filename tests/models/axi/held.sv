// SPDX-License-Identifier: Apache-2.0
// The rule of every AXI channel: a valid signal stays until it is accepted, and so does what it announces (IHI 0022H,
// A3.2.1).
module held #(
    parameter int BITS = 1
) (
    input logic clk,
    input logic rst_n,
    input logic valid,
    input logic ready,
    input logic [BITS-1:0] payload
);
  logic waited;
  logic [BITS-1:0] announced;

  always_ff @(posedge clk) begin
    waited <= rst_n && valid && !ready;
    announced <= payload;
    if (rst_n && waited) begin
      assert (valid);
      assert (payload == announced);
    end
  end
endmodule
