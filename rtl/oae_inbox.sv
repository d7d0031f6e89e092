// SPDX-License-Identifier: Apache-2.0
// What a write of the host to its window is: bytes of an offer, or a part of the good one once more.
// Combinational.
module oae_inbox (
  input  oae_types::stage_t   stage,
  input  logic                write,
  input  oae_types::target_t  target,
  input  logic [511:0]        data,          // of the line
  input  logic [63:0]         enable,
  input  logic [511:0]        slot,          // the good offer, while COMPARE
  input  logic                open,
  input  oae_types::verdict_t verdict,
  input  logic                spent,
  input  logic [63:0]         arrived,       // bytes that were there
  output logic                repeats,       // it may be of the good offer, not of a new one
  output logic                offers,        // it is of an offer
  output logic [63:0]         arrived_after  //   of which these bytes are there
);

  logic differs;

  // What was answered NOT_READY is only made good by a new offer, though it be the same.
  assign repeats = verdict == oae_types::GOOD && !spent;
  always_comb begin
    differs = 1'b0;
    if (stage == oae_types::COMPARE)
      for (int unsigned i = 0; i < 64; i++)
        if (enable[i] && slot[8*i +: 8] != data[8*i +: 8]) differs = 1'b1;
  end
  assign offers = open && ((stage == oae_types::EXECUTE && write &&
                            target == oae_types::WINDOW && !repeats) ||
                           (stage == oae_types::COMPARE && differs));
  // The first byte after a verdict begins a new offer.
  assign arrived_after = (verdict == oae_types::NONE ? arrived : '0) | enable;

endmodule
