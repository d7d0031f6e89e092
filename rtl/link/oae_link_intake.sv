// SPDX-License-Identifier: Apache-2.0
// The slots from the other side. Those up to `done` are committed and wait in the ring for their consumer; those after it, up
// to the one before `expected`, are tentative. A frame that is damaged or missing makes this side want a new generation, and
// ignore all slots until a restart frame says which ones it keeps.
//
// With a relay (rtl/relay), the slots go on over another link, and this side says of them what that link's next side says: it
// answers those that are answered there, and has done those that are settled there. A confirmation of the other side is passed
// on, and a slot is committed when it has left on that link.
module oae_link_intake #(
  parameter int unsigned SLOTS = 128,          // of the ring, a power of two
  parameter bit          RELAY = 1'b0
) (
  input  logic         clk_i,
  input  logic         rst_i,

  input  logic         up_i,                   // frames count
  input  logic         cut_i,
  input  logic         join_i,
  input  oae_link_pkg::sent_t        peer_i,

  input  logic         frame_good_i,
  input  logic         damaged_i,
  input  logic [1:0]   protocol_i,
  input  oae_link_pkg::head_t        head_i,
  input  logic         return_valid_i,
  input  oae_link_pkg::request_t     return_i,

  input  logic         take_i,                 // the consumer's index
  input  logic [31:0]  take_index_i,
  output logic         take_refused_o,
  input  logic         take_next_i,            // the bridge has taken one slot more
  /* verilator lint_off UNUSEDSIGNAL */        // a return has fewer bits, and may come without a relay
  input  oae_link_pkg::onward_t      relay_i,
  /* verilator lint_on UNUSEDSIGNAL */
  input  oae_link_pkg::hold_t        hold_i,
  output oae_link_pkg::arrival_t     arrival_o, // but for the group
  output oae_link_pkg::inbound_t     relay_o,

  output logic         room_o,                 // the ring has room for the frame that comes
  output logic [$clog2(SLOTS)-1:0] row_o,      // its place

  output logic [31:0]  expected_o,
  output logic [31:0]  done_o,
  output logic         known_o,
  output logic [31:0]  first_o,
  output logic [31:0]  received_o,             // the producer's index
  output logic [31:0]  taken_o,
  output oae_link_pkg::answer_t      return_o,
  output logic         due_o,                  // a return has to leave
  output logic         urgent_o,
  output logic         busy_o,
  input  logic         return_taken_i,

  output logic         jammed_o,
  output logic         jams_o,                 // in this clock
  output logic [31:0]  commits_o,
  output logic         defect_o                // the other side has broken a rule, in the clock before
);

  localparam int unsigned ROW = $clog2(SLOTS);

  logic [31:0] expected_q, expected_d;
  logic [31:0] done_q, done_d;
  logic        known_q, known_d;
  logic [31:0] first_q, first_d;               // number with which the journal begins
  logic [7:0]  generation_q, generation_d;
  logic [7:0]  wanted_q, wanted_d;
  logic [15:0] digest_q, digest_d;
  logic [31:0] received_q, received_d;
  logic [31:0] taken_q, taken_d;
  logic [31:0] place_q, place_d;               // index of the slot that is expected
  logic        due_q, due_d;
  logic        urgent_q, urgent_d;
  logic        discards_q;                     // the link was cut in the clock before
  logic [31:0] granted_q, granted_d;           // with a relay: the last slot that the other side confirms

  logic               said_q;                  // a return has come in the clock before
  logic [31:0]        said_confirmed_q;
  logic               slot;
  logic               restart;
  logic               jammed;
  logic               next;                    // the frame is the slot that is expected
  logic signed [7:0]  newer;                   // how far the frame's generation is ahead of the present one,
  logic signed [7:0]  newer_wanted;            //   and of the one that is wanted
  logic signed [31:0] confirms;
  logic [31:0]        kept;                    // of the tentative slots, by a restart; more than there are, if it takes back what is committed
  logic signed [31:0] begins;
  logic               keeps;
  logic signed [31:0] granted;                 // so many slots may be confirmed onward,
  logic               gives;                   //   and more from now on
  logic               restarts;
  logic               accepts;
  logic               defect;
  logic [15:0]        answered;                // what a return says
  logic [15:0]        settled;
  logic [15:0]        room;
  logic [15:0]        digest;
  logic               changed;                 // since the clock before

  assign slot = up_i && frame_good_i && protocol_i == 2'(oae_registers::WIRE_PROTOCOL_SLOT);
  assign restart = up_i && frame_good_i && protocol_i == 2'(oae_registers::WIRE_PROTOCOL_RESTART);
  assign jammed = wanted_q != generation_q;
  assign newer = head_i.generation - generation_q;
  assign newer_wanted = head_i.generation - wanted_q;
  assign next = head_i.number == expected_q && (RELAY ? hold_i.holds : room_o);
  assign confirms = said_confirmed_q - done_q;
  assign kept = head_i.number - done_q;
  assign accepts = slot && newer == '0 && !jammed && next;
  assign restarts = restart && newer > 0 && kept < expected_q - done_q && !(RELAY && kept < granted);
  assign room_o = place_q - taken_q < 32'(SLOTS);
  assign row_o = place_q[ROW-1:0];
  assign take_refused_o = take_i && take_index_i - taken_q > received_q - taken_q;

  // What the other side has in doubt stays known or unknown. If it has nothing in doubt, the journal may begin anew.
  assign begins = first_q - peer_i.settled - 32'd1;
  assign keeps = peer_i.settled != peer_i.confirmed && known_q && begins <= 0;

  always_comb begin
    expected_d = expected_q;
    done_d = done_q;
    known_d = known_q;
    first_d = first_q;
    generation_d = generation_q;
    wanted_d = wanted_q;
    digest_d = digest_q;
    received_d = received_q;
    taken_d = taken_q;
    place_d = place_q;
    due_d = due_q && !return_taken_i;
    urgent_d = urgent_q && !return_taken_i;
    jams_o = 1'b0;
    commits_o = '0;
    granted_d = granted_q;
    gives = 1'b0;
    defect = 1'b0;

    if (take_i && !take_refused_o) begin
      taken_d = take_index_i;
      due_d = 1'b1;
    end
    if (take_next_i) begin
      taken_d = taken_q + 32'd1;
      due_d = 1'b1;
    end

    if (accepts) begin
      expected_d = expected_q + 32'd1;
      place_d = place_q + 32'd1;
      digest_d = oae_link_pkg::next_digest(digest_q, head_i.digest);
      due_d = due_d || !RELAY;
    end else if (slot && newer == '0 && !jammed) begin
      jams_o = 1'b1;                           // a slot before it is missing
      wanted_d = generation_q + 8'd1;
      if (RELAY && hold_i.unrouted) defect = 1'b1;
    end else if (slot && newer_wanted >= 0) begin
      jams_o = 1'b1;                           // the restart of its generation is missing
      wanted_d = head_i.generation + 8'd1;
    end else if (up_i && damaged_i && !jammed) begin
      jams_o = 1'b1;
      wanted_d = generation_q + 8'd1;
    end else if (restart && newer > 0) begin
      if (!restarts) defect = 1'b1;
      else begin
        generation_d = head_i.generation;
        wanted_d = head_i.generation;
        digest_d = head_i.digest;
        expected_d = head_i.number + 32'd1;
        place_d = received_q + kept;
        due_d = 1'b1;
      end
    end
    if (jams_o) begin
      due_d = 1'b1;
      urgent_d = 1'b1;
    end

    if (up_i && return_valid_i && return_i.ask) due_d = 1'b1;
    if (said_q && confirms > 0) begin
      if (confirms >= expected_q - done_q) defect = 1'b1;
      else if (!RELAY) begin
        done_d = said_confirmed_q;
        received_d = received_q + confirms;
        commits_o = confirms;
        due_d = 1'b1;
      end else if (confirms > granted) begin
        granted_d = said_confirmed_q;
        gives = 1'b1;
      end
    end
    if (RELAY) begin
      done_d = done_q + relay_i.confirms;
      received_d = received_q + relay_i.confirms;
      taken_d = received_d;
      commits_o = relay_i.confirms;
      if (changed) due_d = 1'b1;
    end

    if (cut_i) begin
      due_d = 1'b0;
      urgent_d = 1'b0;
      granted_d = done_d;                      // What is not confirmed onward is reversed.
    end
    if (discards_q) begin                      // what the cut has left tentative
      expected_d = done_q + 32'd1;
      place_d = received_q;
    end
    if (join_i) begin
      if (!keeps) begin
        done_d = peer_i.confirmed;
        expected_d = peer_i.confirmed + 32'd1;
        first_d = peer_i.confirmed + 32'd1;
        known_d = 1'b1;
      end
      generation_d = '0;
      wanted_d = '0;
      digest_d = '0;
      granted_d = done_d;
      due_d = 1'b1;
    end
    if (RELAY && hold_i.loses) known_d = 1'b0; // The fate of what the other side has confirmed cannot be known here.
  end

  always_ff @(posedge clk_i) begin
    if (rst_i || cut_i || join_i) said_q <= 1'b0;
    else said_q <= up_i && return_valid_i;
    said_confirmed_q <= done_q + oae_link_pkg::ahead(return_i.confirmed, done_q[15:0]);
  end

  always_ff @(posedge clk_i) begin
    if (rst_i) begin
      expected_q <= 32'd1;
      done_q <= '0;
      known_q <= 1'b0;
      first_q <= '0;
      generation_q <= '0;
      wanted_q <= '0;
      digest_q <= '0;
      received_q <= '0;
      taken_q <= '0;
      place_q <= '0;
      due_q <= 1'b0;
      urgent_q <= 1'b0;
      granted_q <= '0;
      discards_q <= 1'b0;
      defect_o <= 1'b0;
    end else begin
      expected_q <= expected_d;
      done_q <= done_d;
      known_q <= known_d;
      first_q <= first_d;
      generation_q <= generation_d;
      wanted_q <= wanted_d;
      digest_q <= digest_d;
      received_q <= received_d;
      taken_q <= taken_d;
      place_q <= place_d;
      due_q <= due_d;
      urgent_q <= urgent_d;
      granted_q <= granted_d;
      discards_q <= cut_i;
      defect_o <= defect;
    end
  end

  assign granted = granted_q - done_q;

  // What a return says of the slots
  if (RELAY) begin : gen_relay
    logic [15:0] digests [SLOTS];              // of the slots up to each number
    logic [47:0] said_before_q;
    assign answered = done_q[15:0] + relay_i.answered[15:0];
    assign settled = done_q[15:0] - relay_i.unsettled[15:0];
    assign room = done_q[15:0] + relay_i.room[15:0];
    assign digest = digests[answered[ROW-1:0]];
    assign changed = {answered, settled, room} != said_before_q;
    always_ff @(posedge clk_i) begin
      if (accepts || join_i) digests[expected_d[ROW-1:0] - ROW'(1)] <= digest_d;
      said_before_q <= {answered, settled, room};
    end
  end else begin : gen_ring
    assign answered = expected_q[15:0] - 16'd1;
    assign settled = done_q[15:0];
    assign room = done_q[15:0] + 16'(SLOTS) - (received_q[15:0] - taken_q[15:0]);
    assign digest = digest_q;
    assign changed = 1'b0;
  end
  assign return_o.answered = answered;
  assign return_o.done = settled;
  assign return_o.credit = room;
  assign return_o.generation = generation_q;
  assign return_o.wanted = wanted_q[6:0];
  assign return_o.digest = digest;

  always_comb begin
    arrival_o = '0;
    arrival_o.next = protocol_i == 2'(oae_registers::WIRE_PROTOCOL_SLOT) && newer == '0 && !jammed && head_i.number == expected_q;
    arrival_o.damaged = damaged_i;
    relay_o.ends = frame_good_i;
    relay_o.accepts = accepts;
    relay_o.restarts = restarts;
    relay_o.kept = kept;
    relay_o.discards = discards_q;
    relay_o.gives = gives;
    relay_o.given = confirms;
    relay_o.revokes = cut_i;
  end

  assign expected_o = expected_q;
  assign done_o = done_q;
  assign known_o = known_q;
  assign first_o = first_q;
  assign received_o = received_q;
  assign taken_o = taken_q;
  assign due_o = due_q;
  assign urgent_o = urgent_q;
  assign jammed_o = jammed;
  assign busy_o = said_q || discards_q || changed || defect_o;

`ifndef SYNTHESIS
  always_ff @(posedge clk_i)
    if (!rst_i) begin
      assert (!RELAY || (granted >= 0 && granted < expected_q - done_q)) else $error("a confirmation of a slot that is not held");
      assert (!RELAY || relay_i.confirms <= granted) else $error("a slot is confirmed onward that the other side has not confirmed");
      assert (!RELAY || relay_i.answered <= expected_q - done_q - 32'd1) else $error("a slot is answered that is not held");
      assert (place_q - received_q == expected_q - done_q - 32'd1) else $error("number and place do not agree");
      assert (place_q - taken_q <= 32'(SLOTS)) else $error("more slots than the ring has");
      assert (received_q - taken_q <= place_q - taken_q) else $error("a slot is taken before it is committed");
      assert (up_i || discards_q || expected_q == done_q + 32'd1) else $error("a tentative slot of a link that is not up");
      assert (!take_next_i || (received_q != taken_q && !take_i)) else $error("the bridge has taken a slot that was not there");
      assert (!(slot && return_valid_i)) else $error("two units in one clock");
    end
`endif

endmodule
