// SPDX-License-Identifier: Apache-2.0
// CRC-64/XZ (ECMA-182 polynomial, reflected, preset and inverted) over BYTES bytes, in one clock.
// The first byte is data[7:0].
module oae_crc64 #(
  parameter int unsigned BYTES = 56
) (
  input  logic               enable,  // holds the network still while nobody looks at it
  input  logic [8*BYTES-1:0] data,
  output logic [63:0]        crc
);

  localparam logic [63:0] POLYNOMIAL = 64'hc96c5795d7870f42;

  // What bit n of a byte is worth once the whole byte has been shifted out: the register after the
  // 8 - n steps in which it takes part.
  function automatic logic [63:0] weight(input int unsigned n);
    weight = 64'd1;
    for (int unsigned i = n; i < 8; i++)
      weight = {1'b0, weight[63:1]} ^ (weight[0] ? POLYNOMIAL : 64'd0);
  endfunction

  localparam logic [511:0] WEIGHTS = {
    weight(7), weight(6), weight(5), weight(4), weight(3), weight(2), weight(1), weight(0)};

  // The terms of a byte do not wait for each other, in hardware nor in a simulator.
  function automatic logic [63:0] terms(input logic [7:0] first);
    terms = '0;
    for (int unsigned j = 0; j < 8; j++) terms ^= {64{first[j]}} & WEIGHTS[64*j +: 64];
  endfunction

  always_comb begin
    crc = '0;
    if (enable) begin
      crc = '1;
      for (int unsigned i = 0; i < BYTES; i++)
        crc = {8'd0, crc[63:8]} ^ terms(crc[7:0] ^ data[8*i +: 8]);
      crc = ~crc;
    end
  end

endmodule
