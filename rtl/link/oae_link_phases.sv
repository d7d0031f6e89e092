// SPDX-License-Identifier: Apache-2.0
// The phases of a link's end. Whenever it begins to come up, it chooses a new session number. A join frame counts only if it
// names the session of the side that reads it, so that a frame from before this side stopped sending is ignored. By such a
// frame the side joins. The link is up when the side knows that the other side has joined as well: only then may it send a
// slot, so that the other side's journal covers every slot that may come into doubt.
//
// Sessions are counted from 1 after power-up. Until the other side has noticed that this one was away, it may take the new life
// for the old one. So the side holds off after power-up: it stays down, without a carrier, for longer than the other side can
// tolerate a silence. If the firmware wants it up meanwhile, it begins afterwards.
//
// A side is `anew` until it is up for the first time after power-up, or after it has lost its history. Its join frames say so. Since
// it is up only when the other side has joined, no side that has lost its power comes up before the other one knows.
module oae_link_phases #(
  parameter int unsigned HOLD_OFF = 32'd1 << 21  // clocks
) (
  input  logic        clk_i,
  input  logic        rst_i,
  input  logic [31:0] now_i,
  input  logic [31:0] limit_i,          // clocks of silence that are tolerated
  input  logic [7:0]  trouble_limit_i,

  input  logic        begins_i,         // the firmware takes the link up,
  input  logic        ends_i,           //   or down, for one clock
  input  logic        carrier_i,        // the other side is not down
  input  logic        doubts_i,
  input  logic        gains_i,
  input  logic        defect_i,
  input  logic        lost_i,           // the history of what this side has received

  input  logic        frame_good_i,
  input  logic [1:0]  protocol_i,
  input  oae_link_pkg::sessions_t   peer_i,           // of a join frame
  input  logic        return_valid_i,

  output logic        send_valid_o,     // a join frame has to leave
  input  logic        send_taken_i,
  output logic        known_session_o,  // both sessions are known: slots and returns can be checked
  output logic        agreed_o,         // flags of a join frame
  output logic        met_o,
  output logic        anew_o,

  output logic [7:0]  phase_o,          // enum window_phase
  output logic        holds_off_o,      // the power came on a short while ago
  output logic        down_o,
  output logic        up_o,             // what comes in this clock counts
  output logic        open_o,           // slots may be sent
  output logic        joins_o,          // by the frame of this clock
  output logic        cuts_o,
  output logic        rises_o,
  output logic        falls_o,
  output logic [7:0]  trouble_o,
  output logic [7:0]  reason_o,         // enum window_down
  output logic [31:0] session_o,
  output logic [31:0] peer_session_o,   // 0 before it is known

  output logic        busy_o,
  output logic        deadline_valid_o,
  output logic [31:0] deadline_o
);

  typedef enum logic [1:0] {DOWN, INITIALISING, JOINED, UP} phase_t;
  typedef enum logic [2:0] {NONE, BEGIN, AGREED, MET, RESTARTED, LOST} event_t;

  logic [31:0] powered_q;        // when the power came on
  logic        rested_q;         // that was as long ago as the hold-off takes
  logic        wanted_q;         // the firmware has taken the link up meanwhile
  phase_t      phase_q, phase_d;
  event_t      what;
  logic [31:0] session_q;
  logic [31:0] peer_session_q;
  logic        due_q;            // a join frame has to leave
  logic [31:0] sent_q;           // when the last one left
  logic [31:0] missing_q;        // the time since which nothing arrives
  logic        carried_q;        // something arrived in the clock before, which may be long ago
  logic        missed_q;         // that was as long ago as the limit says
  logic        late_q;           // so was the last join frame
  logic [7:0]  trouble_q;
  logic [7:0]  reason_q;
  logic        anew_q;           // it was not up since the power came on, or since its history was lost

  logic join_frame;
  logic to_this;
  logic of_that;
  logic live;
  logic joining;                 // a join frame that has no answer is repeated
  logic misses;
  logic troubled;
  logic repeats;
  logic opens;

  assign live = phase_q == JOINED || phase_q == UP;
  assign joining = phase_q == INITIALISING || phase_q == JOINED;
  assign join_frame = frame_good_i && protocol_i == 2'(oae_registers::WIRE_PROTOCOL_JOIN);
  assign to_this = peer_i.other == session_q;
  assign of_that = peer_i.own == peer_session_q;
  assign misses = live && !carrier_i && !carried_q && missed_q;
  assign troubled = phase_q == UP && trouble_q >= trouble_limit_i;
  assign repeats = joining && carrier_i && !due_q && late_q;

  always_comb begin
    what = NONE;
    if (ends_i || misses || troubled || (defect_i && live) || (lost_i && phase_q != DOWN)) what = LOST;
    else if (phase_q == DOWN) begin
      if ((begins_i || wanted_q) && rested_q) what = BEGIN;
    end else if (phase_q == INITIALISING) begin
      if (join_frame && to_this) what = peer_i.agreed ? MET : AGREED;
    end else if (join_frame && !(to_this && of_that)) what = RESTARTED;
    else if (phase_q == JOINED && ((frame_good_i && (!join_frame || peer_i.agreed)) || return_valid_i)) what = MET;
  end

  always_comb begin
    phase_d = phase_q;
    opens = 1'b0;
    joins_o = 1'b0;
    cuts_o = 1'b0;
    rises_o = 1'b0;
    falls_o = 1'b0;
    unique case (what)
      BEGIN: begin
        phase_d = INITIALISING;
        opens = 1'b1;
      end
      AGREED: begin
        phase_d = JOINED;
        joins_o = 1'b1;
      end
      MET: begin
        phase_d = UP;
        joins_o = phase_q == INITIALISING;
        rises_o = 1'b1;
      end
      RESTARTED: begin
        phase_d = INITIALISING;
        opens = 1'b1;
        cuts_o = 1'b1;
      end
      LOST: begin
        phase_d = DOWN;
        cuts_o = live;
        falls_o = phase_q != DOWN;
      end
      default: ;
    endcase
  end

  always_ff @(posedge clk_i) begin
    if (rst_i) begin
      powered_q <= now_i;
      rested_q <= 1'b0;
      wanted_q <= 1'b0;
      phase_q <= DOWN;
      session_q <= '0;
      peer_session_q <= '0;
      due_q <= 1'b0;
      sent_q <= '0;
      missing_q <= '0;
      carried_q <= 1'b0;
      missed_q <= 1'b0;
      late_q <= 1'b0;
      trouble_q <= '0;
      reason_q <= oae_registers::WINDOW_DOWN_NONE;
      anew_q <= 1'b1;
    end else begin
      anew_q <= lost_i || (anew_q && !rises_o);
      rested_q <= rested_q || now_i - powered_q >= HOLD_OFF;
      wanted_q <= (wanted_q || begins_i) && !rested_q && !ends_i;
      phase_q <= phase_d;
      carried_q <= carrier_i;
      missed_q <= !carried_q && now_i - missing_q >= limit_i;
      late_q <= !due_q && now_i - sent_q >= limit_i;
      if (carried_q) missing_q <= now_i;
      if (send_taken_i) begin
        due_q <= 1'b0;
        sent_q <= now_i;
      end
      if (repeats) due_q <= 1'b1;
      if (join_frame && phase_q != DOWN) begin
        if (!(live && peer_i.met)) due_q <= 1'b1;
        peer_session_q <= peer_i.own;
      end
      if (gains_i) trouble_q <= '0;
      else if (doubts_i) trouble_q <= trouble_q + 8'd1;  // the greatest limit takes the link down before it wraps
      if (opens) begin
        session_q <= session_q + 32'd1;
        due_q <= 1'b1;
        trouble_q <= '0;
        reason_q <= oae_registers::WINDOW_DOWN_NONE;
        if (phase_q == DOWN) peer_session_q <= '0;
      end
      if (falls_o) begin
        due_q <= 1'b0;
        reason_q <= ends_i ? oae_registers::WINDOW_DOWN_FIRMWARE
                  : misses ? oae_registers::WINDOW_DOWN_MISSING
                  : troubled ? oae_registers::WINDOW_DOWN_TROUBLE : oae_registers::WINDOW_DOWN_DEFECT;
      end
    end
  end

  always_comb begin
    unique case (phase_q)
      INITIALISING: phase_o = oae_registers::WINDOW_PHASE_INITIALISING;
      JOINED: phase_o = oae_registers::WINDOW_PHASE_JOINED;
      UP: phase_o = oae_registers::WINDOW_PHASE_UP;
      default: phase_o = oae_registers::WINDOW_PHASE_DOWN;
    endcase
  end

  assign send_valid_o = due_q && carrier_i;
  assign known_session_o = live;
  assign agreed_o = live;
  assign met_o = phase_q == UP;
  assign anew_o = anew_q;
  assign holds_off_o = !rested_q;
  assign down_o = phase_q == DOWN;
  assign up_o = phase_q == UP || what == MET;
  assign open_o = phase_q == UP;
  assign trouble_o = trouble_q;
  assign reason_o = reason_q;
  assign session_o = session_q;
  assign peer_session_o = peer_session_q;

  assign busy_o = send_valid_o || troubled || misses || repeats || (wanted_q && rested_q);
`ifdef SYNTHESIS
  assign deadline_valid_o = 1'b0;
  assign deadline_o = '0;
`else
  assign deadline_valid_o = !rested_q || (carrier_i ? joining : live);
  assign deadline_o = !rested_q ? powered_q + HOLD_OFF : (carrier_i ? sent_q : missing_q) + limit_i;
`endif

`ifndef SYNTHESIS
  always_ff @(posedge clk_i)
    if (!rst_i) begin
      assert (phase_q == DOWN || rested_q) else $error("a side has begun in its hold-off");
      assert (phase_q != UP || !anew_q) else $error("a side that is up is anew");
      assert (!due_q || phase_q != DOWN) else $error("a join frame of a side that is down");
      assert (!doubts_i || trouble_q != '1) else $error("more doubts than any limit tolerates");
    end
`endif

endmodule
