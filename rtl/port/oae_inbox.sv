// SPDX-License-Identifier: Apache-2.0
// Decides whether a write of the host to its window belongs to a new offer, or repeats a part of
// the good one. Combinational.
module oae_inbox (
  input  oae_types::stage_t   stage,
  input  logic                write,
  input  oae_types::target_t  target,
  input  logic [511:0]        data,          // the bytes of the line
  input  logic [63:0]         enable,
  input  logic [511:0]        slot,          // the good offer, in stage COMPARE
  input  logic                open,
  input  oae_types::verdict_t verdict,
  input  logic                spent,
  input  logic [63:0]         arrived,       // bytes that have arrived since the last verdict
  output logic                repeats,       // it may repeat a part of the good offer
  output logic                offers,        // it belongs to an offer
  output logic [63:0]         arrived_after  //   of which these bytes have arrived
);

  logic [63:0] differs;                      // bytes of the line and of the good offer

  // After NOT_READY, only a new offer counts, even if it is the same.
  assign repeats = verdict == oae_types::GOOD && !spent;
  always_comb begin
    differs = '0;
    if (stage == oae_types::COMPARE)
      for (int unsigned i = 0; i < 64; i++)
        differs[i] = enable[i] && slot[8*i +: 8] != data[8*i +: 8];
  end
  assign offers = open && ((stage == oae_types::EXECUTE && write &&
                            target == oae_types::WINDOW && !repeats) ||
                           differs != '0);
  assign arrived_after = arrived | enable;

endmodule
