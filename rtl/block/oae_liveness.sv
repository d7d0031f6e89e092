// SPDX-License-Identifier: Apache-2.0
// The firmware's sign of life and its age. The age comes from the time base, which keeps counting
// while this clock is stopped.
module oae_liveness (
  input  logic        clock,
  input  logic        reset,
  input  logic [63:0] now,         // block clocks since power-up
  input  logic        write,
  input  logic [31:0] write_count,
  output logic [31:0] count,
  output logic [31:0] age          // clocks since the last write or power-up, saturating
);

  logic [63:0] written;            // time of the last write
  logic [63:0] span;

  assign span = now - written;
  assign age = |span[63:32] ? '1 : span[31:0];

  always_ff @(posedge clock) begin
    if (reset) begin
      count <= '0;
      written <= now;
    end else if (write) begin
      count <= write_count;
      written <= now;
    end
  end

endmodule
