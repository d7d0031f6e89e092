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

  always_comb begin
    crc = '0;
    if (enable) begin
      crc = '1;
      for (int unsigned i = 0; i < BYTES; i++) begin
        crc[7:0] = crc[7:0] ^ data[8*i +: 8];
        for (int unsigned j = 0; j < 8; j++)
          crc = {1'b0, crc[63:1]} ^ (crc[0] ? POLYNOMIAL : 64'd0);
      end
      crc = ~crc;
    end
  end

endmodule
