// SPDX-License-Identifier: Apache-2.0
// What a joined port does for the bridge. The bridge passes its committed slots on to a port of another cell, and brings that
// port's slots, which wait here until they are offered to the host, in their order. A slot is used up when the swap that has
// given it to the host is committed, and not before: if that swap is reversed, the slot is offered again. The first swap is
// answered by an empty slot. Combinational; oae_row.sv applies it.
//
// The other port has room for two slots. Each slot that is passed on says how many slots of the other port were used up since
// the one before. Whatever a host does, no slot is therefore passed on that would find no room. A slot that has to wait for room
// does not keep back that account, since the other host may wait for it with all places of its port filled.
module oae_joined (
  input  oae_types::stage_t  stage,
  input  oae_types::target_t target,
  /* verilator lint_off UNUSEDSIGNAL */      // the other parts of the row are not used
  input  oae_types::row_t    row,
  /* verilator lint_on UNUSEDSIGNAL */
  input  logic [1:0]         arrived_uses,   // what the slot that arrives says,
  input  logic               arrived_account, //   and whether it says no more
  input  logic               commits,
  output logic               waits,          // the bridge has to take the committed slot, or the account
  output logic               passes,         // it takes one of them at this edge
  output logic               whole,          // there is room for the slot
  output logic               accepts,        // what arrives is for a joined port and finds a place, if it needs one
  output logic               stores,         // it is a slot, which is stored
  output logic [2:0]         place,          //   in this bank
  output logic [1:0]         room_after,
  output logic               draws,          // the next slot is to be offered,
  output logic [2:0]         head,           //   from this bank
  output logic               uses_up         // its swap is committed
);

  logic       at_hand;                       // there is a slot to offer
  logic [2:0] room_sum;

  assign whole = row.room != '0;
  assign waits = row.joined && row.committed && (whole || row.uses != '0);
  assign passes = stage == oae_types::EXECUTE && target == oae_types::BRIDGE_TAKE && waits;

  assign accepts = stage == oae_types::EXECUTE && target == oae_types::BRIDGE_PUT && row.joined &&
                   (arrived_account || row.waiting != 2'd2);
  assign stores = accepts && !arrived_account;
  assign place = {2'b11, row.first ^ row.waiting[0]};
  // The other cell may say anything.
  assign room_sum = {1'b0, row.room} + {1'b0, arrived_uses};
  assign room_after = room_sum > 3'd2 ? 2'd2 : room_sum[1:0];

  assign at_hand = row.primed || row.waiting != '0;
  assign draws = stage == oae_types::STORE && row.joined && row.open && !row.offered &&
                 row.state != oae_registers::PORT_STATE_TENTATIVE && at_hand;
  assign head = {2'b11, row.first};
  assign uses_up = commits && row.joined && row.carried;

endmodule
