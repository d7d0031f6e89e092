// SPDX-License-Identifier: Apache-2.0
// What the parts of a link's end tell each other.
package oae_link_pkg;

  localparam int unsigned NUMBER_LOW = 12;  // bits of a number in a frame; a return has 16

  localparam logic [31:0] CRC32C = 32'h82f63b78;         // CRC-32C (RFC 3385), reflected

  // What a return says of the slots that its side has received (registers/return.yaml)
  typedef struct packed {
    logic [15:0] digest;
    logic [6:0]  wanted;
    logic [7:0]  generation;
    logic [15:0] credit;
    logic [15:0] done;
    logic [15:0] answered;
  } answer_t;

  // What it says for those that its side has sent
  typedef struct packed {
    logic        ask;
    logic [15:0] confirmed;
  } request_t;

  typedef struct packed {
    request_t request;
    answer_t  answer;
  } return_t;

  // A join frame (registers/wire.yaml): the sessions that its side knows,
  typedef struct packed {
    logic        met;
    logic        agreed;
    logic [31:0] other;
    logic [31:0] own;
  } sessions_t;

  // the slots that it has sent,
  typedef struct packed {
    logic [31:0] confirmed;
    logic [31:0] settled;
  } sent_t;

  // and those that it has received
  typedef struct packed {
    logic        anew;       // its side was not up since its power came on, or since it has lost what was to go on
    logic        known;
    logic [15:0] pending;
    logic [31:0] first;
    logic [31:0] done;
  } journal_t;

  typedef struct packed {
    sessions_t sessions;
    sent_t     sent;
    journal_t  journal;
  } join_t;

  // A restart frame, and the head of a slot frame
  typedef struct packed {
    logic [7:0]  generation;
    logic [31:0] number;     // of the slot, or the last one that the restart keeps
    logic [15:0] digest;     // of the slots up to that number; of a slot, the low bits of its check
  } head_t;

  // The other side's part of a settlement: its journal, or what another route has brought of it
  typedef struct packed {
    logic        known;      // it covers the slots in doubt
    logic [31:0] done;
  } verdict_t;

  // Between an end and the relay that passes on what comes in by it (rtl/relay). Counts are relative to the last slot that the
  // intake has committed.
  typedef struct packed {
    logic        part;       // a group of a frame comes
    logic [2:0]  slice;      //   with this first slice, which is 0 without a group,
    logic        next;       //   of the slot that is expected, as far as its head can be trusted
    logic        damaged;
  } arrival_t;

  typedef struct packed {
    logic        holds;      // the slot that comes is on its way onward
    logic        unrouted;   //   or its label is not in the table
    logic        loses;      // slots that were confirmed onward are lost
  } hold_t;

  typedef struct packed {
    logic        ends;       // the last group of a frame without damage comes,
    logic        accepts;    //   and the slot is held
    logic        restarts;   // the other side keeps so many of the tentative slots
    logic [31:0] kept;
    logic        discards;   // the link was cut in the clock before: it keeps none
    logic        gives;      // from now on, so many slots may be confirmed onward,
    logic [31:0] given;
    logic        revokes;    //   or none
  } inbound_t;

  typedef struct packed {
    logic [31:0] confirms;   // so many slots are confirmed onward in this clock
    logic [31:0] answered;   // so many more are answered there
    logic [31:0] unsettled;  // so many of those that are confirmed are not settled there
    logic [31:0] room;       // there is room for so many more than are confirmed
  } onward_t;

  // Between the relay and the end by which the slots leave
  typedef struct packed {
    logic        retracts;   // what is offered after `number` is taken back, whatever of it has left, unless it is confirmed
    logic [31:0] number;
    logic [31:0] grant;      // slots up to this one may be confirmed
  } outward_t;

  typedef struct packed {
    logic        open;       // the last slot that is offered has not arrived as a whole:
    logic [2:0]  filled;     //   its slices before this one have
    logic        closes;     // it has now,
    logic        spoils;     //   or is damaged
  } opening_t;

  typedef struct packed {
    logic        up;
    logic        room;       // for a slot more
    logic        loses;      // another cell has lost its power: what was sent is lost
    logic        strange;    // that, or the link has joined with a side that is anew
    logic [31:0] offered;
    logic [31:0] answered;
    logic [31:0] settled;
    logic [31:0] credit;     // the last slot for which the other side has room
  } outbound_t;

  typedef struct packed {
    logic        leaves;     // a return leaves, which confirms slots up to this one
    logic [31:0] number;
  } confirm_t;

  localparam int unsigned ROUTES = 16;       // labels of the table

  localparam int unsigned ROUTE_BITS = 9;

  // What becomes of a slot with a label
  typedef struct packed {
    logic [7:0]  label;      // of the slot from there on
    logic        onward;
  } route_t;

  // The frame's seed, which is added to slice 6 for the check: a frame of another number or of another session is a damaged one.
  function automatic logic [63:0] seed(input logic [31:0] number, input logic [15:0] from, input logic [15:0] to);
    seed = {from, to, number};
  endfunction

  // How far the first number is ahead of the second, of which these are the low bits; negative if it is behind
  function automatic logic signed [31:0] ahead(input logic [15:0] low, input logic [15:0] number_low);
    logic signed [15:0] distance;
    distance = low - number_low;
    ahead = 32'(distance);
  endfunction

  function automatic logic [15:0] next_digest(input logic [15:0] digest, input logic [15:0] check);
    next_digest = {digest[14:0], digest[15]} ^ check;
  endfunction

endpackage
