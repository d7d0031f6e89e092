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

`ifdef FAST_MODEL
  // Byte by byte with a table, which a simulation does in less time than the sums below. The table has what each byte leaves
  // when it is shifted out.
  logic [63:0] left [256];
  initial
    for (int unsigned i = 0; i < 256; i++) begin
      left[i] = {56'd0, 8'(i)};
      for (int unsigned n = 0; n < 8; n++) left[i] = {1'b0, left[i][63:1]} ^ (left[i][0] ? POLYNOMIAL : 64'd0);
    end

  always_comb begin
    crc = '0;
    if (enable) begin
      crc = '1;
      for (int unsigned i = 0; i < BYTES; i++) crc = {8'd0, crc[63:8]} ^ left[crc[7:0] ^ data[8*i +: 8]];
      crc = ~crc;
    end
  end
`else
  localparam int unsigned BITS = 8 * BYTES;

  // The register is preset to ones, which is to invert the bits that meet it.
  localparam logic [BITS-1:0] PRESET = {{(BITS - 64){1'b0}}, {64{1'b1}}};

  // The bits of the data whose sum is bit n of the register at the end. A bit of the data is shifted out in the steps that
  // follow it: the last one in one step, the first one in as many as there are bits.
  function automatic logic [BITS-1:0] summed(input logic [5:0] n);
    logic [63:0] worth;
    worth = 64'd1;
    for (int unsigned i = 0; i < BITS; i++) begin
      worth = {1'b0, worth[63:1]} ^ (worth[0] ? POLYNOMIAL : 64'd0);
      summed[BITS - 1 - i] = worth[n];
    end
  endfunction

  function automatic logic [64*BITS-1:0] all_summed();
    for (int unsigned n = 0; n < 64; n++) all_summed[BITS*n +: BITS] = summed(6'(n));
  endfunction

  localparam logic [64*BITS-1:0] SUMMED = all_summed();

  // Each bit is a sum of its own, so that no bit waits for another one: a tree of gates instead of a chain.
  always_comb begin
    crc = '0;
    if (enable) for (int unsigned n = 0; n < 64; n++) crc[n] = ~^((data ^ PRESET) & SUMMED[BITS*n +: BITS]);
  end
`endif

endmodule
