// SPDX-License-Identifier: Apache-2.0
// The session of a joined port with the port at the other end. Each of the two counts its own sessions, and tells the other one
// in a greeting. Whatever a port sends names the session that it is for, so that nothing of an earlier one counts.
//
// A port begins anew when it is joined or leaves, when its link has lost slots or its cell hears of another life of the other one
// (bridge/oae_bridge.sv), and when the other port says that it has begun anew or left. What it has passed on and was not used up is
// then lost: nobody can know whether the other host has had it. It is reported to the host by name, and no slot is passed on until
// the host has acknowledged that, so no name is lost.
//
// Greetings and slots keep their order on the way. So what follows a greeting is of the session that it tells, and a port that
// knows the other's session may send at once. A port that does not know it begins, and is answered. Combinational; oae_row.sv
// applies it.
module oae_session (
  input  oae_types::stage_t  stage,
  input  oae_types::target_t target,
  input  logic [2:0]         word,
  input  logic               join_after,      // the bit `joined` after a write of the firmware
  /* verilator lint_off UNUSEDSIGNAL */       // the other parts of the row are not used
  input  oae_types::row_t    row,
  /* verilator lint_on UNUSEDSIGNAL */
  input  logic               arrived_greeting, // what arrives is a greeting: of a port
  input  logic               arrived_begins,   //   which does not know the session of this one,
  input  logic               arrived_leaves,   //   or which is not joined any more,
  input  logic [11:0]        arrived_session,  //   for this session of this port,
  input  logic [11:0]        arrived_peer,     //   and the session of the other one
  output logic               current,         // what arrives is for the present session
  output logic               meets,           // the port learns the session of the other one,
  output logic               parts,           //   or takes a new one of its own, and does not know the other's any more
  output logic               greets,          // it has to tell its own
  output logic               renews,          // it begins anew
  output logic               loses            // what it has passed on is lost
);

  localparam logic [2:0] JOIN = 3'(oae_registers::FIRMWARE_JOIN >> 3);

  logic executes;
  logic greeted;                              // what arrives is a greeting,
  logic ends;                                 //   and ends the present session
  logic withdraws;                            // the firmware or the bridge lets the port begin anew

  assign executes = stage == oae_types::EXECUTE;
  assign current = row.linked && arrived_session == row.session;

  assign greeted = executes && target == oae_types::BRIDGE_PUT && row.joined && arrived_greeting;
  assign ends = greeted && row.linked && arrived_peer != row.peer;
  assign withdraws = executes &&
                     ((target == oae_types::FIRMWARE_PORT && word == JOIN && join_after != row.joined) ||
                      (target == oae_types::BRIDGE_RENEW && row.joined));

  assign meets = greeted && !arrived_leaves;
  assign parts = withdraws || (ends && arrived_leaves);
  assign greets = parts || (meets && arrived_begins);
  assign renews = withdraws || ends;
  assign loses = renews && row.linked && (row.room != 2'd2 || row.away);

endmodule
