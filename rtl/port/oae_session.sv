// SPDX-License-Identifier: Apache-2.0
// The session of a joined port with the port at the other end. Each of the two counts its own sessions, and tells the other one
// in a greeting. Whatever a port sends names the session that it is for, so that nothing of an earlier one counts.
//
// A port begins anew when it is joined or leaves, when its link says that another cell has lost its power (bridge/oae_bridge.sv),
// and when the other port says that it has begun anew or left. What it has passed on and was not used up is
// then lost: nobody can know whether the other host has had it. It is reported to the host by name, and no slot is passed on until
// the host has acknowledged that, so no name is lost.
//
// Two ports open a session as TCP opens a connection (RFC 9293, 3.5). A port that is not linked says so in a greeting, and the
// other one answers with the session of both. Only a greeting that names the present session of a port links it: the other
// port must have heard of that session. A greeting that names another session, and does not begin, is an answer which comes
// too late. Greetings and slots keep their order on the way, so what follows a greeting is of the session that it tells.
// Combinational; oae_row.sv applies it.
module oae_session (
  input  oae_types::stage_t  stage,
  input  oae_types::target_t target,
  input  logic [2:0]         word,
  input  logic               join_after,      // the bit `joined` after a write of the firmware
  /* verilator lint_off UNUSEDSIGNAL */       // the other parts of the row are not used
  input  oae_types::row_t    row,
  /* verilator lint_on UNUSEDSIGNAL */
  input  logic               arrived_greeting, // what arrives is a greeting: of a port
  input  logic               arrived_begins,   //   which is not linked,
  input  logic               arrived_leaves,   //   and which is not joined any more,
  input  logic [11:0]        arrived_session,  //   for this session of this port,
  input  logic [11:0]        arrived_peer,     //   and the session of the other one
  output logic               current,         // what arrives is for the present session
  output logic               meets,           // the port learns the session of the other one
  output logic               links,           // the other one knows the session of this one,
  output logic               unlinks,         //   or else does not know it any more
  output logic               parts,           // the port takes a new session
  output logic               greets,          // it has to tell its session
  output logic               renews,          // it begins anew
  output logic               loses            // what it has passed on is lost
);

  localparam logic [2:0] JOIN = 3'(oae_registers::FIRMWARE_JOIN >> 3);

  logic executes;
  logic named;                                // what arrives names the present session of this port
  logic greeted;                              // a greeting arrives that counts,
  logic ends;                                 //   and ends the present session
  logic changes;                              // the firmware joins the port, or takes it back
  logic renewed;                              // the bridge lets the port begin anew, joined or not
  logic withdraws;                            // a port begins anew that is joined, or was until now

  assign executes = stage == oae_types::EXECUTE;
  assign named = arrived_session == row.session;
  assign current = row.linked && named;       // They agree, unless the other cell breaks the rules (proof/README.md).

  assign greeted = executes && target == oae_types::BRIDGE_PUT && row.joined && arrived_greeting && (named || arrived_begins);
  assign ends = greeted && row.linked && arrived_peer != row.peer;
  assign changes = target == oae_types::FIRMWARE_PORT && word == JOIN && join_after != row.joined;
  assign renewed = target == oae_types::BRIDGE_RENEW;
  assign withdraws = executes && (changes || (renewed && row.joined));

  assign meets = greeted && !arrived_leaves;
  assign links = meets && named;
  assign unlinks = parts || ends;
  assign parts = (executes && (changes || renewed)) || (ends && arrived_leaves);
  assign greets = withdraws || (ends && arrived_leaves) || (meets && arrived_begins);
  assign renews = withdraws || ends;
  assign loses = renews && row.linked && (row.room != 2'd2 || row.away);

endmodule
