// SPDX-License-Identifier: Apache-2.0
// The slots that this side sends. They are numbered from 1 after power-up, and these numbers only grow:
//
//   settled <= confirmed <= answered <= sent <= offered
//
// The other side holds what is answered. A return that leaves confirms all of it; from then on, it can only be settled forward.
// On damage, silence or at the firmware's wish, all slots that are not answered are reversed: a new generation begins, and
// their numbers are given to the slots that are offered next. Every frame names its generation.
//
// A relay (rtl/relay) offers slots that it does not own. It says which ones may be confirmed, and takes others back, for which
// even slots that are answered are reversed.
module oae_link_window #(
  parameter int unsigned SLOTS = 128,         // of the ring, a power of two
  parameter bit          RELAY = 1'b0
) (
  input  logic         clk_i,
  input  logic         rst_i,
  input  logic [31:0]  now_i,

  input  logic         up_i,
  input  logic         down_i,
  input  logic         cut_i,                 // the link is no longer up or joined
  input  logic         join_i,                // the link joins:
  input  oae_link_pkg::journal_t     peer_i,                //   what the other side has received
  input  logic         was_up_i,              //   and whether this side was up before
  input  logic         bridged_i,             // what waits for the other side is for that one alone
  input  logic [31:0]  limit_i,               // clocks of silence that are tolerated

  // The firmware
  input  logic         again_i,
  input  logic         offer_i,
  input  logic [31:0]  offer_number_i,
  output logic         offer_refused_o,
  input  logic         offer_next_i,          // the bridge offers one slot more, for which there is a place
  /* verilator lint_off UNUSEDSIGNAL */       // without a relay
  input  oae_link_pkg::outward_t     relay_i,
  /* verilator lint_on UNUSEDSIGNAL */
  input  logic         withdraw_i,
  input  logic         resume_i,
  input  logic         drop_i,
  input  logic         settle_i,              // by another route
  input  oae_link_pkg::verdict_t     verdict_i,
  output logic         settle_refused_o,

  input  logic         return_valid_i,
  input  oae_link_pkg::answer_t      return_i,

  // To the wire
  output logic         slot_valid_o,
  output logic [7:0]   generation_o,
  input  logic         slot_taken_i,
  output logic         restart_valid_o,
  output oae_link_pkg::head_t        restart_o,
  input  logic         restart_taken_i,
  input  logic         checked_i,             // the check of a slot that leaves is known
  input  oae_link_pkg::head_t        checked_head_i,
  output logic         confirm_due_o,
  output logic         ask_o,
  input  logic         return_taken_i,        // it confirms what may be confirmed

  output logic [31:0]  offered_o,
  output logic [31:0]  sent_o,
  output logic [31:0]  answered_o,
  output logic [31:0]  confirm_o,             // what a return confirms
  output logic [31:0]  confirmed_o,
  output logic [31:0]  settled_o,
  output logic [31:0]  credit_o,
  output logic         held_o,
  output logic         restarting_o,
  output logic         in_doubt_o,

  // In the clock before
  output logic [31:0]  commits_o,             // slots that were committed,
  output logic [31:0]  reverses_o,            //   reversed,
  output logic [31:0]  loses_o,               //   or lost

  // For a relay, whose other link goes down in the clock after a loss: nothing may be said there of slots that are lost.
  output logic         lost_o,                // another cell has lost its power, which this side has learnt in the clock before
  output logic         strange_o,             // that, or the side has met another one that is anew
  output logic [31:0]  reported_o,            // settled, without these

  // In this clock
  output logic         silent_o,
  output logic         doubts_o,
  output logic         gains_o,               // the other side holds more, or has committed more

  output logic         busy_o,
  output logic         deadline_valid_o,
  output logic [31:0]  deadline_o
);

  localparam int unsigned ROW = $clog2(SLOTS);

  logic [31:0] offered_q, offered_d;
  logic [31:0] sent_q, sent_d;
  logic [31:0] answered_q, answered_d;
  logic [31:0] confirmed_q, confirmed_d;
  logic [31:0] settled_q, settled_d;
  logic [31:0] credit_q, credit_d;            // number of the last slot for which the other side has room
  logic [7:0]  generation_q, generation_d;
  logic        restart_q, restart_d;          // a restart frame has to leave
  logic        shown_q, shown_d;              // the other side has shown the present generation
  logic        held_q, held_d;
  logic        asked_q, asked_d;              // a silence has passed since the last progress
  logic        ask_q, ask_d;                  // a return has to ask
  logic        heard_q, heard_d;              // a return has come since then
  logic [31:0] since_q, since_d;              // the last progress, or the last silence
  logic        late_q;                        // that was as long ago as the limit says
  logic [15:0] digest_answered_q, digest_answered_d;
  logic [15:0] digest_sent_q, digest_sent_d;
  logic [15:0] digest_confirmed_q, digest_confirmed_d;
  logic        ungranted;                     // the relay does not let all be confirmed that is answered
  logic [31:0] confirm;

  // ---- A return: its numbers become whole in the clock in which it comes, and are compared in the next one ----

  logic [15:0]        digests [SLOTS];        // of the slots up to each number
  logic [15:0]        digest_q;
  logic               said_q;                 // a return has come in the clock before:
  logic [7:0]         said_generation_q;
  logic [6:0]         said_wanted_q;
  logic [15:0]        said_digest_q;
  logic [31:0]        said_answered_q;
  logic [31:0]        said_done_q;
  logic [31:0]        said_credit_q;
  logic [31:0]        said_answered;
  logic               same;                   // it is of the present generation,
  logic               agrees;                 //   and its digest is that of what was sent
  logic               moves;                  // it answers more
  logic               jams;                   // it wants another generation
  logic signed [31:0] settles;
  logic signed [31:0] answers;
  logic signed [31:0] credits;

  assign said_answered = answered_q + oae_link_pkg::ahead(return_i.answered, answered_q[15:0]);

  always_ff @(posedge clk_i) begin
    if (rst_i || cut_i) said_q <= 1'b0;
    else said_q <= return_valid_i;
    said_generation_q <= return_i.generation;
    said_wanted_q <= return_i.wanted;
    said_digest_q <= return_i.digest;
    said_answered_q <= said_answered;
    said_done_q <= settled_q + oae_link_pkg::ahead(return_i.done, settled_q[15:0]);
    said_credit_q <= credit_q + oae_link_pkg::ahead(return_i.credit, credit_q[15:0]);
    digest_q <= digests[said_answered[ROW-1:0]];
    if (checked_i)
      digests[checked_head_i.number[ROW-1:0]] <= oae_link_pkg::next_digest(digest_sent_q, checked_head_i.digest);
  end

  if (RELAY) begin : gen_grant
    logic signed [31:0] grants;
    assign grants = relay_i.grant - answered_q;
    assign ungranted = grants < 0;
    assign confirm = ungranted ? relay_i.grant : answered_q;
  end else begin : gen_no_grant
    assign ungranted = 1'b0;
    assign confirm = answered_q;
  end

  assign same = said_generation_q == generation_q;
  assign agrees = digest_q == said_digest_q;
  assign answers = said_answered_q - answered_q;
  assign moves = answers > 0 && answers <= sent_q - answered_q;
  assign jams = said_wanted_q == generation_q[6:0] + 7'd1;
  assign settles = said_done_q - settled_q;
  assign credits = said_credit_q - credit_q;

  // ---- The changes of a clock ----

  logic               reverse;                // what is not answered
  logic               waits;
  logic               lacks;                  // only credit is missing
  logic               doubt;
  logic               loses;
  logic               strange;                // the other side is anew,
  logic               meets;                  //   and has a past with this one that it does not know
  logic               strange_q;
  logic               forgets;                // what is offered was for an earlier life of the other side
  logic [31:0]        reversed_from;          // what was sent, before anything of it is reversed
  logic               progress;               // there is news from the other side
  logic               begins_anew;            // the time until the next silence
  logic               covered;
  logic               settled_by_peer;
  logic [31:0]        in_doubt;               // how many slots
  logic [31:0]        found;                  //   of these, the other side has committed
  logic [31:0]        pending;                //   of those behind them, will be settled by what it says later
  oae_link_pkg::verdict_t           verdict;
  logic signed [31:0] begins;
  logic signed [31:0] retracted;              // how many of the slots that were sent the relay takes back,
  logic signed [31:0] kept;                   //   and how many of those that are not answered it leaves

  assign lacks = settled_q == confirmed_q && answered_q == sent_q && (ungranted || confirmed_q == answered_q) && shown_q;
  // A relay that has no credit gives none, so that it asks before it is offered anything.
  assign waits = up_i && (!lacks || ((RELAY || offered_q != sent_q) && !held_q && sent_q == credit_q));
  assign silent_o = waits && late_q;
  assign doubt = silent_o && asked_q && !(lacks && heard_q);

  // Slots in doubt are settled by the other side's journal.
  assign begins = peer_i.first - settled_q - 32'd1;
  assign covered = peer_i.known && begins <= 0;
  always_comb begin
    verdict = verdict_i;
    if (join_i) begin
      verdict.known = covered;
      verdict.done = peer_i.done;
    end
  end
  assign pending = join_i ? 32'(peer_i.pending) : '0;
  assign in_doubt = confirmed_q - settled_q;
  assign found = verdict.done - settled_q;
  assign loses = settled_by_peer && (meets || !verdict.known || found > in_doubt || pending > in_doubt - found);
  assign strange = join_i && peer_i.anew;
  assign meets = strange && was_up_i;
  assign forgets = lost_q && bridged_i;
  assign settled_by_peer = join_i || (settle_i && !settle_refused_o);
  // Once this side has begun to come up, the other side may have read its numbers.
  assign settle_refused_o = settle_i && (!down_i || in_doubt == '0 || (verdict_i.known && found > in_doubt));
  assign offer_refused_o = offer_i && (offer_number_i - sent_q > 32'(SLOTS) ||
                                       offer_number_i - settled_q > 32'(SLOTS - 1));

  always_comb begin
    offered_d = offered_q;
    sent_d = sent_q;
    answered_d = answered_q;
    confirmed_d = confirmed_q;
    settled_d = settled_q;
    credit_d = credit_q;
    generation_d = generation_q;
    restart_d = restart_q && !restart_taken_i;
    shown_d = shown_q;
    held_d = held_q;
    asked_d = asked_q;
    ask_d = ask_q && !return_taken_i;
    heard_d = heard_q;
    since_d = since_q;
    digest_answered_d = digest_answered_q;
    digest_sent_d = digest_sent_q;
    digest_confirmed_d = digest_confirmed_q;
    gains_o = 1'b0;
    progress = 1'b0;
    reverse = 1'b0;

    if (offer_i && !offer_refused_o) offered_d = offer_number_i;
    if (offer_next_i) offered_d = offered_q + 32'd1;
    if (drop_i || forgets) offered_d = sent_q;
    if (drop_i || resume_i) held_d = 1'b0;
    if (slot_taken_i) sent_d = sent_q + 32'd1;
    if (return_taken_i) confirmed_d = confirm;
    if (return_taken_i && confirm != confirmed_q)
      digest_confirmed_d = digests[confirm[ROW-1:0]];
    if (checked_i && checked_head_i.generation == generation_q)
      digest_sent_d = oae_link_pkg::next_digest(digest_sent_q, checked_head_i.digest);

    if (said_q) begin
      heard_d = 1'b1;
      if (settles > 0 && settles <= confirmed_q - settled_q) begin
        settled_d = said_done_q;
        gains_o = 1'b1;
      end
      if (credits > 0) begin
        credit_d = said_credit_q;
        progress = sent_q == credit_q;
      end
      if (same) begin
        shown_d = 1'b1;
        progress = progress || !shown_q;
        if (moves && agrees) begin
          answered_d = said_answered_q;
          digest_answered_d = said_digest_q;
          gains_o = 1'b1;
        end
      end
      if ((same && moves && !agrees) || jams) reverse = 1'b1;
    end
    if ((withdraw_i || doubt) && shown_q && sent_q != answered_q) reverse = 1'b1;

    progress = progress || gains_o;

    retracted = '0;
    kept = '0;
    if (RELAY && relay_i.retracts) begin
      offered_d = relay_i.number;
      retracted = sent_q - relay_i.number;       // Nothing leaves in this clock.
      kept = relay_i.number - answered_d;
      if (retracted > 0) begin
        reverse = 1'b1;
        if (kept < 0) begin                      // The other side holds slots that are taken back.
          answered_d = confirmed_d;
          digest_answered_d = digest_confirmed_d;
        end
      end
    end

    // Whoever waits without progress asks; who has asked in vain doubts.
    if (silent_o) begin
      asked_d = 1'b1;
      ask_d = 1'b1;
      heard_d = 1'b0;
      if (!shown_q) restart_d = 1'b1;
    end
    if (progress) asked_d = 1'b0;
    begins_anew = progress || silent_o || !waits;
    if (begins_anew) since_d = now_i;

    reversed_from = sent_d;
    if (reverse) begin
      sent_d = answered_d;
      generation_d = generation_q + 8'd1;
      digest_sent_d = digest_answered_d;
      restart_d = 1'b1;
      shown_d = 1'b0;
    end
    if (cut_i) begin
      sent_d = confirmed_d;
      answered_d = confirmed_d;
    end
    if (settled_by_peer) begin
      settled_d = confirmed_q;
      if (!loses) begin
        settled_d = verdict.done;
        confirmed_d = verdict.done + pending;
        sent_d = verdict.done + pending;
        answered_d = verdict.done + pending;
      end
    end
    if (cut_i || join_i) begin
      generation_d = '0;
      restart_d = 1'b0;
      shown_d = 1'b1;
      asked_d = 1'b0;
      ask_d = 1'b0;
      digest_answered_d = '0;
      digest_sent_d = '0;
      digest_confirmed_d = '0;
    end
    if (join_i) credit_d = confirmed_d;
    if (!again_i && sent_d != reversed_from) held_d = 1'b1;
  end

  always_ff @(posedge clk_i) begin
    if (rst_i) begin
      offered_q <= '0;
      sent_q <= '0;
      answered_q <= '0;
      confirmed_q <= '0;
      settled_q <= '0;
      credit_q <= '0;
      generation_q <= '0;
      restart_q <= 1'b0;
      shown_q <= 1'b1;
      held_q <= 1'b0;
      asked_q <= 1'b0;
      ask_q <= 1'b0;
      heard_q <= 1'b0;
      since_q <= '0;
      late_q <= 1'b0;
      digest_answered_q <= '0;
      digest_sent_q <= '0;
      digest_confirmed_q <= '0;
    end else begin
      offered_q <= offered_d;
      sent_q <= sent_d;
      answered_q <= answered_d;
      confirmed_q <= confirmed_d;
      settled_q <= settled_d;
      credit_q <= credit_d;
      generation_q <= generation_d;
      restart_q <= restart_d;
      shown_q <= shown_d;
      held_q <= held_d;
      asked_q <= asked_d;
      ask_q <= ask_d;
      heard_q <= heard_d;
      since_q <= since_d;
      late_q <= !begins_anew && now_i - since_q >= limit_i;
      digest_answered_q <= digest_answered_d;
      digest_sent_q <= digest_sent_d;
      digest_confirmed_q <= digest_confirmed_d;
    end
  end

  // ---- What has happened, for the counters ----

  logic [31:0] settled_before_q;
  logic        lost_q;
  logic [31:0] reversed_from_q;

  always_ff @(posedge clk_i) begin
    if (rst_i) begin
      settled_before_q <= '0;
      lost_q <= 1'b0;
      strange_q <= 1'b0;
      reversed_from_q <= '0;
    end else begin
      settled_before_q <= settled_q;
      lost_q <= loses && (in_doubt != '0 || meets);
      strange_q <= strange;
      reversed_from_q <= reversed_from;
    end
  end

  assign commits_o = lost_q ? '0 : settled_q - settled_before_q;
  assign lost_o = lost_q;
  assign strange_o = strange_q || lost_q;
  assign reported_o = lost_q ? settled_before_q : settled_q;
  assign loses_o = lost_q ? settled_q - settled_before_q : '0;
  assign reverses_o = reversed_from_q - sent_q;

  // ---- What may be sent: as many slots as are offered, as the other side has room for, and as the ring has places ----

  logic [31:0] bound;
  logic [31:0] bound_q;                       // it may lag, since all of these only grow unless an offer is taken back
  logic        open_q;
  logic        takes_back;                    // an offer

  always_comb begin
    bound = offered_q;
    if (credit_q - settled_q < bound - settled_q) bound = credit_q;
  end

  always_ff @(posedge clk_i) begin
    bound_q <= bound;
    open_q <= up_i && !takes_back && !join_i && (!RELAY || shown_d);
  end
  // Nothing leaves in the clock in which an offer is taken back, nor in the next one, in which the bound does not know it yet. What is
  // forgotten needs no such rule, since there is no credit so soon after a join.
  assign takes_back = drop_i || (RELAY && relay_i.retracts) || (offer_i && $signed(offer_number_i[ROW+1:0] - offered_q[ROW+1:0]) < 0);
  // A relay may take back again what it has just offered. It waits for the other side, so that generations cannot go around.
  assign slot_valid_o = open_q && up_i && !held_q && !takes_back && sent_q != bound_q;

  assign generation_o = generation_q;
  assign restart_valid_o = restart_q;
  assign restart_o.generation = generation_q;
  // Slots of the new generation may have left before a restart that is repeated. What the other side holds under these numbers
  // was reversed.
  assign restart_o.number = answered_q;
  assign restart_o.digest = digest_answered_q;
  assign confirm_due_o = confirm != confirmed_q;  // only of a link that is up
  assign confirm_o = confirm;
  assign ask_o = ask_q;
  assign doubts_o = doubt;

  assign offered_o = offered_q;
  assign sent_o = sent_q;
  assign answered_o = answered_q;
  assign confirmed_o = confirmed_q;
  assign settled_o = settled_q;
  assign credit_o = credit_q;
  assign held_o = held_q;
  assign restarting_o = !shown_q;
  assign in_doubt_o = !up_i && settled_q != confirmed_q;

  assign busy_o = said_q || settled_before_q != settled_q || reversed_from_q != sent_q || late_q || restart_q || ask_q || confirm_due_o || slot_valid_o || bound != bound_q ||
                  (up_i && !open_q && (!RELAY || shown_q));
`ifdef SYNTHESIS
  assign deadline_valid_o = 1'b0;
  assign deadline_o = '0;
`else
  assign deadline_valid_o = waits;
  assign deadline_o = since_q + limit_i;
`endif

`ifndef SYNTHESIS
  always_ff @(posedge clk_i)
    if (!rst_i) begin
      assert (confirmed_q - settled_q <= 32'(SLOTS)) else $error("more slots confirmed than the ring has");
      assert (answered_q - settled_q >= confirmed_q - settled_q) else $error("confirmed without an answer");
      assert (sent_q - settled_q >= answered_q - settled_q) else $error("answered, and not sent");
      assert (offered_q - settled_q >= sent_q - settled_q) else $error("sent, and not offered");
      assert (offered_q - settled_q < 32'(SLOTS)) else $error("more slots offered than the ring has");
      assert (!offer_next_i || !(offer_i || drop_i)) else $error("the bridge and the firmware offer slots");
      assert (!RELAY || !relay_i.retracts || offered_d - confirmed_d <= 32'(SLOTS)) else $error("the relay takes back what is confirmed");
      assert (confirm - confirmed_q <= answered_q - confirmed_q) else $error("a return takes a confirmation back, or has no answer for it");
      assert (!restart_q || up_i) else $error("a restart of a link that is not up");
      assert (!confirm_due_o || up_i) else $error("a confirmation of a link that is not up");
    end
`endif

endmodule
