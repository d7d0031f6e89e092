// SPDX-License-Identifier: Apache-2.0
// Gives the block to the bridges of a cell, one operation at a time. If several wait, each has its turn. What the block says of
// the operation in work goes to the bridge that has asked for it, and to no other.
module oae_bridge_arbiter #(
  parameter int unsigned LINKS = 2            // bridges: 1 or 2
) (
  input  logic                 clk_i,
  input  logic                 rst_i,

  // The bridges (oae_bridge.sv), each with its part of every vector
  input  logic [LINKS-1:0]     valid_i,
  output logic [LINKS-1:0]     ready_o,
  input  logic [2*LINKS-1:0]   errand_i,      // enum oae_types::errand_t
  input  logic [6*LINKS-1:0]   port_i,
  input  logic [512*LINKS-1:0] data_i,
  output logic [LINKS-1:0]     hands_o,
  output logic [LINKS-1:0]     accepts_o,
  output logic [LINKS-1:0]     done_o,

  // The block (oae_ports.sv)
  output logic                 valid_o,
  input  logic                 ready_i,
  output logic [1:0]           errand_o,
  output logic [5:0]           port_o,
  output logic [511:0]         data_o,
  input  logic                 hands_i,
  input  logic                 accepts_i,
  input  logic                 done_i         // of any operation, also of the host or the firmware
);

  logic [LINKS-1:0] owner_q;                  // a bit for the bridge that had the last turn
  logic [LINKS-1:0] later;                    // those that wait and come after it,
  logic [LINKS-1:0] candidates;               //   or else all that wait
  logic [LINKS-1:0] chosen;                   // the first of them

  assign later = valid_i & ~(owner_q | (owner_q - LINKS'(1)));
  assign candidates = later == '0 ? valid_i : later;
  assign chosen = candidates & (~candidates + LINKS'(1));

  // The block is ready only for what waits.
  always_ff @(posedge clk_i) begin
    if (rst_i) owner_q <= LINKS'(1);
    else if (ready_i) owner_q <= chosen;
  end

  // ---- To the block ----

  assign valid_o = valid_i != '0;
  assign ready_o = chosen & {LINKS{ready_i}};
  always_comb begin
    errand_o = oae_types::TAKE;
    port_o = '0;
    data_o = '0;
    for (int unsigned i = 0; i < LINKS; i++)
      if (chosen[i]) begin
        errand_o = errand_i[2*i +: 2];
        port_o = port_i[6*i +: 6];
        data_o = data_i[512*i +: 512];
      end
  end

  // ---- And back: the owner stays until the block accepts another operation, which it does when this one has ended ----

  assign hands_o = owner_q & {LINKS{hands_i}};
  assign accepts_o = owner_q & {LINKS{accepts_i}};
  assign done_o = owner_q & {LINKS{done_i}};

`ifndef SYNTHESIS
  logic             working_q;                // the owner's operation has not ended
  logic [LINKS-1:0] waited_q;                 // these waited while another one had its turn
  always_ff @(posedge clk_i) begin
    if (rst_i) begin
      working_q <= 1'b0;
      waited_q <= '0;
    end else begin
      working_q <= ready_i || (working_q && !done_i);
      waited_q <= ready_i ? valid_i & ~chosen : waited_q & valid_i;
      assert ($onehot(owner_q)) else $error("an operation of no bridge, or of two");
      assert ($onehot0(ready_o) && (ready_o & ~valid_i) == '0) else $error("the turn of two, or of one that does not wait");
      assert (!ready_i || valid_o) else $error("the block is ready for nothing");
      assert (!(ready_i && working_q)) else $error("an operation before the last one has ended");
      assert (working_q || !(hands_i || accepts_i)) else $error("a slot that no bridge has asked for or brought");
      assert (!ready_i || (waited_q & valid_i & ~chosen) == '0) else $error("a bridge waits for a second turn of another one");
    end
  end
`endif

endmodule
