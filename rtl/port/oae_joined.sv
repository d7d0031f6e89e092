// SPDX-License-Identifier: Apache-2.0
// What a joined port does for the bridge. The bridge passes its committed slots on to a port of another cell, and brings that
// port's slots, which wait here until they are offered to the host, in their order. A slot is used up when the swap that has
// given it to the host is committed, and not before: if that swap is reversed, the slot is offered again. The first swap is
// answered by an empty slot. Combinational; oae_row.sv applies it.
//
// The other port has room for two slots. Each slot that is passed on says how many slots of the other port were used up since
// the one before. Whatever a host does, no slot is therefore passed on that would find no room. A slot that has to wait for room
// does not keep back that account, since the other host may wait for it with all places of its port filled.
//
// A REMOTE takes none of these places. Its steps are applied where it arrives, with the words of that port, and their result has a place
// there until the bridge takes it, and one here until the host has it. There is one REMOTE of a port at a time. A result for an
// epoch that has ended is dropped when it arrives, since the host has forgotten that it asked.
//
// All of this is within a session of the two ports (oae_session.sv). Without one, or with a loss that the host does not know of,
// the port's slots wait.
module oae_joined (
  input  oae_types::stage_t  stage,
  input  oae_types::target_t target,
  /* verilator lint_off UNUSEDSIGNAL */      // the other parts of the row are not used
  input  oae_types::row_t    row,
  /* verilator lint_on UNUSEDSIGNAL */
  input  logic [1:0]         arrived_uses,   // what the slot that arrives says,
  input  logic               arrived_account, //   whether it says no more,
  input  logic               arrived_greeting, //  it is a greeting,
  input  logic               arrived_steps,  //   it is a REMOTE,
  input  logic               arrived_result, //   or the result of one,
  input  logic               current,        //   and whether it is for the present session (oae_session.sv)
  input  logic               commits,
  output logic               waits,          // the bridge has to take a greeting, a slot, or the account
  output logic               passes,         // it takes one of them at this edge,
  output logic               greeting,       //   which is a greeting,
  output logic               whole,          //   or a slot:
  output logic               replies,        //   the result of a REMOTE of the other port,
  output logic               requests,       //   or a REMOTE of the host; else a slot that needs room there
  output logic               accepts,        // what arrives is for a joined port and finds a place, if it needs one
  output logic               counts,         // it is an account, alone or with a slot,
  output logic               delivers,       //   by which slots were used up:
  output logic               all_of_them,    //     all that were passed on, or the older one
  output logic               stores,         // it is a slot, which is stored
  output logic [3:0]         place,          //   in this bank;
  output logic               serves,         //   a REMOTE, whose steps are to be applied,
  output logic               answers,        //   the result of the last one here,
  output logic               queues,         //   or a slot for the host
  output logic [1:0]         room_after,
  output logic               draws,          // the next slot is to be offered,
  output logic [3:0]         head,           //   from this bank
  output logic               uses_up         // its swap is committed
);

  logic       at_hand;                       // there is a slot to offer
  logic [2:0] room_sum;
  logic       has_place;                     // what arrives
  logic       arrives;
  logic       reported;                      // the host knows of all that is lost

  // The room for a result was kept by whoever has asked for it, and a REMOTE is not stored for a host.
  assign reported = row.lost_slots == '0 && !row.lost_remote;
  assign greeting = row.greets;
  assign replies = row.replies;
  assign requests = !row.replies && row.requests;
  assign whole = replies || (reported && (row.requests || row.room != '0));
  assign waits = greeting || (row.linked && (replies || (row.committed && (whole || row.uses != '0))));
  assign passes = stage == oae_types::EXECUTE && target == oae_types::BRIDGE_TAKE && waits;

  assign arrives = stage == oae_types::EXECUTE && target == oae_types::BRIDGE_PUT;
  assign counts = arrives && current;
  assign delivers = counts && arrived_uses != '0 && row.room != 2'd2;
  assign all_of_them = row.room[0] || arrived_uses[1];
  assign accepts = (arrives && arrived_greeting) || (counts && (arrived_account || has_place));
  always_comb begin
    place = {3'b011, row.first ^ row.waiting[0]};
    has_place = row.waiting != 2'd2;
    if (arrived_steps) begin
      place = oae_types::REPLY_BANK;
      has_place = !row.replies;
    end else if (arrived_result) begin
      place = oae_types::RESULT_BANK;
      has_place = row.away;
    end
  end
  assign stores = counts && !arrived_account && has_place;
  assign serves = stores && arrived_steps;
  assign answers = stores && !arrived_steps && arrived_result;
  assign queues = stores && !arrived_steps && !arrived_result;
  // The other cell may say anything.
  assign room_sum = {1'b0, row.room} + {1'b0, arrived_uses};
  assign room_after = room_sum > 3'd2 ? 2'd2 : room_sum[1:0];

  assign at_hand = row.primed || row.waiting != '0;
  assign draws = stage == oae_types::STORE && row.joined && row.open && !row.offered &&
                 row.state != oae_registers::PORT_STATE_TENTATIVE && at_hand;
  assign head = {3'b011, row.first};
  assign uses_up = commits && row.joined && row.carried;

endmodule
