// SPDX-License-Identifier: Apache-2.0
// The phase of the link. Whenever the link begins to come up, both sides choose a new session
// number. A journal counts only if it names the session of the side that reads it, so that a
// journal from before this side stopped sending is ignored. A valid journal makes the side join.
// The link is up when the side knows that the other side has joined as well. Only then may it send
// a transfer, so that the other side's journal covers every transfer that may come into doubt.
module oae_link_phase (
  input  logic         clock,
  input  logic         reset,
  input  logic [63:0]  now,             // link clocks since power-up
  input  logic [63:0]  limit,           // clocks of silence that are tolerated
  input  logic [7:0]   trouble_limit,

  input  logic         begins,          // the firmware takes the link up,
  input  logic         ends,            //   or down, for one clock
  input  logic         carrier,         // slices arrive in this clock
  input  logic         doubts,          // the sender doubts,
  input  logic         settles,         //   or has committed

  input  logic         frame_valid,     // a good frame of the other side
  /* verilator lint_off UNUSEDSIGNAL */ // some bits of an initialise frame have no meaning
  input  logic [511:0] frame,
  /* verilator lint_on UNUSEDSIGNAL */
  input  logic [31:0]  next_number,     // the journal to send
  input  logic [31:0]  expected,
  input  logic [7:0]   outcome,

  input  logic         known,           // it covers the frames from number `first` on
  input  logic [31:0]  first,
  input  logic         in_doubt,        // the sender is in doubt

  output logic         up,              // a frame in this clock counts
  output logic         agreed,          // the side joins by a journal:
  output logic [31:0]  peer_next,
  output logic [31:0]  peer_expected,
  output logic [7:0]   peer_outcome,
  output logic         peer_known,
  output logic [31:0]  peer_first,
  output logic         peer_doubts,

  output logic         send_valid,      // a frame without its check
  input  logic         send_ready,
  output logic [447:0] send_frame,

  // To and from the table
  output oae_link_table::phase_event_t phase_event,
  output oae_link_table::phase_state_t phase,
  input  oae_link_table::phase_state_t phase_next,
  input  logic [oae_link_table::PHASE_ACTIONS-1:0] actions,

  output logic [7:0]   trouble,
  output logic [7:0]   reason,          // why the link is down
  output logic [31:0]  session,
  output logic [31:0]  peer_session,    // 0 before it is known
  output logic         busy,
  output logic         deadline_valid,
  output logic [63:0]  deadline
);

  localparam int unsigned PROTOCOL = oae_registers::FRAME_HEADER_PROTOCOL_SHIFT;
  localparam int unsigned OWN = 8 * oae_registers::FRAME_SESSION +
                                oae_registers::FRAME_SESSION_OWN_SHIFT;
  localparam int unsigned OTHER = 8 * oae_registers::FRAME_SESSION +
                                  oae_registers::FRAME_SESSION_OTHER_SHIFT;
  localparam int unsigned NEXT = 8 * oae_registers::FRAME_JOURNAL +
                                 oae_registers::FRAME_JOURNAL_NEXT_SHIFT;
  localparam int unsigned EXPECTED = 8 * oae_registers::FRAME_JOURNAL +
                                     oae_registers::FRAME_JOURNAL_EXPECTED_SHIFT;
  localparam int unsigned OUTCOME = 8 * oae_registers::FRAME_HISTORY +
                                    oae_registers::FRAME_HISTORY_OUTCOME_SHIFT;
  localparam int unsigned KNOWN = 8 * oae_registers::FRAME_HISTORY +
                                  oae_registers::FRAME_HISTORY_KNOWN_SHIFT;
  localparam int unsigned AGREED = 8 * oae_registers::FRAME_HISTORY +
                                   oae_registers::FRAME_HISTORY_AGREED_SHIFT;
  localparam int unsigned MET = 8 * oae_registers::FRAME_HISTORY +
                                oae_registers::FRAME_HISTORY_MET_SHIFT;
  localparam int unsigned DOUBTS = 8 * oae_registers::FRAME_HISTORY +
                                   oae_registers::FRAME_HISTORY_DOUBTS_SHIFT;
  localparam int unsigned FIRST = 8 * oae_registers::FRAME_HISTORY +
                                  oae_registers::FRAME_HISTORY_FIRST_SHIFT;

  logic        journal_due;        // the journal has to be sent
  logic [63:0] journal_sent;       // when it was last sent
  logic [63:0] missing;            // the time since which nothing arrives
  logic        carried;            // slices arrived in the clock before, which may be long ago

  logic initialise;
  logic to_this;
  logic of_that;
  logic initialising;
  logic joined;
  logic idle;
  logic met;                       // the frame, if of this session, shows that the other side has joined
  logic misses;
  logic troubled;
  logic repeats;                   // the journal was sent without a reply

  assign initialising = phase == oae_link_table::PHASE_STATE_INITIALISING;
  assign joined = phase == oae_link_table::PHASE_STATE_JOINED;
  assign idle = phase == oae_link_table::PHASE_STATE_IDLE;
  assign initialise = frame_valid && frame[PROTOCOL +: 3] == oae_registers::PROTOCOL_INITIALISE;
  assign to_this = frame[OTHER +: 32] == session;
  assign of_that = frame[OWN +: 32] == peer_session;
  assign met = initialise ? frame[AGREED] : frame_valid;
  assign misses = (joined || idle) && !carrier && !carried && now - missing >= limit;
  assign troubled = idle && trouble >= trouble_limit;
  assign repeats = (initialising || joined) && carrier && !journal_due && now - journal_sent >= limit;

  always_comb begin
    phase_event = oae_link_table::PHASE_EVENT_NONE;
    if (ends || misses || troubled) phase_event = oae_link_table::PHASE_EVENT_LOST;
    else if (phase == oae_link_table::PHASE_STATE_DOWN) begin
      // A link that is not down has begun already, and another beginning must not hide a frame.
      if (begins) phase_event = oae_link_table::PHASE_EVENT_BEGIN;
    end else if (initialise && initialising && to_this)
      phase_event = frame[AGREED] ? oae_link_table::PHASE_EVENT_MET
                                  : oae_link_table::PHASE_EVENT_AGREED;
    else if (initialise && (joined || idle) && !(to_this && of_that))
      phase_event = oae_link_table::PHASE_EVENT_RESTARTED;
    else if (joined && met) phase_event = oae_link_table::PHASE_EVENT_MET;
  end

  assign up = idle || (joined && phase_event == oae_link_table::PHASE_EVENT_MET);

  assign agreed = actions[oae_link_table::PHASE_JOIN];
  assign peer_next = frame[NEXT +: 32];
  assign peer_expected = frame[EXPECTED +: 32];
  assign peer_outcome = frame[OUTCOME +: 8];
  assign peer_known = frame[KNOWN];
  assign peer_first = frame[FIRST +: 32];
  assign peer_doubts = frame[DOUBTS];

  always_comb begin
    send_frame = '0;
    send_frame[PROTOCOL +: 3] = oae_registers::PROTOCOL_INITIALISE;
    send_frame[OWN +: 32] = session;
    send_frame[OTHER +: 32] = peer_session;
    send_frame[NEXT +: 32] = next_number;
    send_frame[EXPECTED +: 32] = expected;
    send_frame[OUTCOME +: 8] = outcome;
    send_frame[KNOWN] = known;
    send_frame[AGREED] = joined || idle;
    send_frame[MET] = idle;
    send_frame[DOUBTS] = in_doubt;
    send_frame[FIRST +: 32] = first;
  end
  assign send_valid = journal_due && carrier;

  always_ff @(posedge clock) begin
    if (reset) begin
      phase <= oae_link_table::PHASE_STATE_DOWN;
      session <= '0;
      peer_session <= '0;
      journal_due <= 1'b0;
      journal_sent <= '0;
      missing <= '0;
      carried <= 1'b0;
      trouble <= '0;
      reason <= oae_registers::LINK_DOWN_NONE;
    end else begin
      phase <= phase_next;
      if (send_valid && send_ready) begin
        journal_due <= 1'b0;
        journal_sent <= now;
      end
      carried <= carrier;
      if (carried || !(joined || idle)) missing <= now;
      if (repeats) journal_due <= 1'b1;
      if (initialise && (initialising || ((joined || idle) && !frame[MET]))) journal_due <= 1'b1;
      if (initialise) peer_session <= frame[OWN +: 32];
      if (doubts) trouble <= trouble + 8'd1;       // the greatest limit takes the link down before it wraps
      if (settles) trouble <= '0;
      if (actions[oae_link_table::PHASE_OPEN]) begin
        session <= session + 32'd1;
        journal_due <= 1'b1;
        trouble <= '0;
        reason <= oae_registers::LINK_DOWN_NONE;
        if (phase == oae_link_table::PHASE_STATE_DOWN) peer_session <= '0;
      end
      if (phase_event == oae_link_table::PHASE_EVENT_LOST &&
          phase != oae_link_table::PHASE_STATE_DOWN) begin
        journal_due <= 1'b0;
        reason <= ends ? oae_registers::LINK_DOWN_FIRMWARE
                : misses ? oae_registers::LINK_DOWN_MISSING : oae_registers::LINK_DOWN_TROUBLE;
      end
    end
  end

  // The clock runs anyway while a deadline has passed and when the carrier changes. It also runs whenever
  // trouble may end the link: after a doubt for the jam, after a new limit for the access's response, and
  // when the link comes up for the sign of life.
  assign busy = send_valid;
  assign deadline_valid = ((joined || idle) && !carrier && !carried) ||
                          ((initialising || joined) && carrier && !journal_due);
  assign deadline = (carrier ? journal_sent : missing) + limit;

`ifndef SYNTHESIS
  always_ff @(posedge clock)
    if (!reset) begin
      assert (!journal_due || phase != oae_link_table::PHASE_STATE_DOWN)
        else $error("a journal of a side that is down");
      assert (!doubts || trouble != '1) else $error("more doubts than any limit tolerates");
    end
`endif

endmodule
