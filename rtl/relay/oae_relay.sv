// SPDX-License-Identifier: Apache-2.0
// One direction of a cell in the middle of a chain: the slots that come in by one link leave by another one, with the same
// commitment. A slot leaves as soon as its head has arrived, and its last slice waits for the verdict on all of it.
//
// The slots that the relay has passed on have a number on each link. Both numbers grow together, so that one pair stands for
// all of them: the last slot that the intake has committed, and `limit` on the other link. What follows is counted from there.
module oae_relay #(
  parameter int unsigned SLICES = 2,
  parameter int unsigned SLOTS = 128,          // of the ring by which they leave
  parameter int unsigned CUT_THROUGH = 1       // 0: a slot leaves when all of it has arrived
) (
  input  logic                 clk_i,
  input  logic                 rst_i,

  // The end by which they come
  input  oae_link_pkg::arrival_t  arrival_i,
  input  logic [64*SLICES-1:0] data_i,
  output oae_link_pkg::hold_t     hold_o,
  input  oae_link_pkg::inbound_t  inbound_i,
  output oae_link_pkg::onward_t   onward_o,
  input  logic [oae_link_pkg::ROUTE_BITS*oae_link_pkg::ROUTES-1:0] routes_i,
  output logic                 strays_o,       // a slot whose label has no route, for the counter

  // The end by which they leave
  input  oae_link_pkg::outbound_t outbound_i,
  input  oae_link_pkg::confirm_t  confirm_i,
  output oae_link_pkg::outward_t  outward_o,
  output oae_link_pkg::opening_t  opening_o,
  output logic                 offer_o,
  output logic                 write_o,
  output logic [2:0]           slice_o,
  output logic [64*SLICES-1:0] data_o
);

  localparam int unsigned LABEL = oae_registers::WIRE_HEAD_LABEL_SHIFT;
  localparam int unsigned ENTRY = oae_link_pkg::ROUTE_BITS;
  localparam int unsigned INDEX = $clog2(oae_link_pkg::ROUTES);

  logic [31:0]        limit_q;                 // on the link by which they leave: the last slot that the intake has committed,
  logic [31:0]        limit_d;
  logic [31:0]        grant_q;                 //   and the last one that may be confirmed
  logic               strange_q;               // in the clock before, the other side has turned out to be another life
  logic               open_q;                  // a slot is arriving, and goes on
  logic [2:0]         filled_q;
  logic [7:0]         label;
  oae_link_pkg::route_t route;
  logic               routed;
  logic               head;
  logic               opens;
  logic               fails;
  logic               closes;
  logic signed [31:0] gains;
  logic signed [31:0] answered;

  // ---- A slot arrives ----

  assign label = data_i[LABEL +: 8];
  assign route = routes_i[ENTRY*label[INDEX-1:0] +: ENTRY];
  assign routed = route.onward && label[7:INDEX] == '0;
  assign head = arrival_i.part && arrival_i.slice == '0 && arrival_i.next && !arrival_i.damaged;
  assign opens = head && routed && outbound_i.room;

  // It is over: it is held, or damage has been found, of its own or of anything beside it.
  assign fails = open_q && (arrival_i.damaged || inbound_i.discards || (inbound_i.ends && !inbound_i.accepts));
  assign closes = inbound_i.accepts || fails;

  // Nothing that is here goes on to a later life of the other side, not even a slot that was confirmed onward and then reversed
  // there, which this cell alone still has. All of it is dropped. The intake takes its number of it from the next join.
  assign limit_d = outbound_i.strange ? outbound_i.answered : limit_q + onward_o.confirms;

  always_ff @(posedge clk_i) begin
    if (rst_i) begin
      limit_q <= '0;
      grant_q <= '0;
      strange_q <= 1'b0;
      open_q <= 1'b0;
      strays_o <= 1'b0;
    end else begin
      limit_q <= limit_d;
      strange_q <= outbound_i.strange;
      if (inbound_i.revokes || outbound_i.strange) grant_q <= limit_d;
      else if (inbound_i.gives) grant_q <= limit_q + inbound_i.given;
      if (arrival_i.part && arrival_i.slice == '0) begin
        open_q <= opens && SLICES != 8;
      end else if (closes) open_q <= 1'b0;
      strays_o <= inbound_i.ends && hold_o.unrouted;
    end
    if (write_o) filled_q <= arrival_i.slice + 3'(SLICES);
  end

  // ---- It leaves, and what becomes of it there ----

  if (SLICES == 8) begin : gen_whole           // Its head is all of it.
    assign offer_o = inbound_i.accepts;        // only of a slot that opens
    assign write_o = offer_o;
    assign hold_o.holds = opens;
    assign hold_o.unrouted = head && !routed;
  end else begin : gen_parts
    assign offer_o = opens;
    assign write_o = opens || (open_q && arrival_i.slice != '0);
    assign hold_o.holds = open_q;
    logic stray_q;                             // the slot that arrives has no route
    always_ff @(posedge clk_i)
      if (arrival_i.part && arrival_i.slice == '0) stray_q <= head && !routed;
      else if (inbound_i.ends) stray_q <= 1'b0; // Frames that come while the link is down have no part.
    assign hold_o.unrouted = stray_q;
  end
  assign slice_o = arrival_i.slice;
  always_comb begin
    data_o = data_i;
    if (arrival_i.slice == '0) data_o[LABEL +: 8] = route.label;
  end

  assign opening_o.open = open_q;
  assign opening_o.filled = CUT_THROUGH != 0 ? filled_q : '0;
  assign opening_o.closes = closes;
  assign opening_o.spoils = fails;
  assign outward_o.retracts = fails || inbound_i.restarts || inbound_i.discards || strange_q;
  assign outward_o.number = inbound_i.discards || strange_q ? limit_q
                          : inbound_i.restarts ? limit_q + inbound_i.kept : outbound_i.offered - 32'd1;
  assign outward_o.grant = grant_q;

  assign gains = confirm_i.number - limit_q;
  assign answered = outbound_i.answered - limit_q;
  assign onward_o.confirms = confirm_i.leaves && gains > 0 ? gains : '0;
  assign onward_o.answered = answered > 0 ? answered : '0;
  assign onward_o.unsettled = limit_q - outbound_i.settled;
  // There is room for what has a place here and credit of the next side, so that no slot that is held waits for either. A link
  // that is not up has room for no more than it holds.
  logic [31:0] last;
  always_comb begin
    last = outbound_i.offered - 32'(open_q);
    if (outbound_i.up) begin
      last = outbound_i.settled + 32'(SLOTS - 1);
      if ($signed(outbound_i.credit - last) < 0) last = outbound_i.credit;
    end
  end
  assign onward_o.room = last - limit_q;
  assign hold_o.loses = outbound_i.loses;

`ifndef SYNTHESIS
  always_ff @(posedge clk_i)
    if (!rst_i) begin
      assert (outbound_i.offered - limit_q < 32'(SLOTS)) else $error("a slot that is committed was taken back");
      assert (!strange_q || (limit_q == outbound_i.settled && limit_q == outbound_i.answered))
        else $error("a slot of an earlier life goes on");
      assert (!outbound_i.strange || outbound_i.loses || outbound_i.offered == limit_q) else $error("slots are dropped that nobody calls lost");
      assert (limit_q - outbound_i.settled < 32'(SLOTS)) else $error("a slot is settled that is not committed");
      assert (!(offer_o && outward_o.retracts)) else $error("a slot is offered while others are taken back");
    end
`endif

endmodule
