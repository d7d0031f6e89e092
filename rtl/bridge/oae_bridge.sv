// SPDX-License-Identifier: Apache-2.0
// Passes slots between the joined ports of a block and one link, without the firmware.
//
// Outwards: the committed slot of a port leaves the port and enters the send ring by one decision of the block (bridge_hands).
// Between the two it is here, for as many clocks as the ring takes to store it. Inwards: a slot leaves the receive ring when a
// port has stored it. Only the loss of power stops the bridge, and with it the block and the rings, so no slot is lost or comes
// twice whatever the firmware does.
//
// If the link says that another cell has lost its power, all ports of the link begin anew before the bridge does anything else for
// them, and the slot that is here is dropped, as the link has dropped what it had to send. So nothing that was meant for an earlier
// life of the other cell reaches a later one, and no number of a session needs to be another one in each life.
// A port that the firmware gives to the link or takes from it begins anew as well, since slots of that port may be on their way.
//
// Slice 0 of a slot in a ring is as in registers/passage.yaml. It may be an account without a slot.
module oae_bridge #(
  parameter int unsigned SLICES = 2,          // in a clock of the link: 2, 4 or 8
  parameter int unsigned PORTS = 64
) (
  input  logic                 clk_i,
  input  logic                 rst_i,

  // The link (oae_link_end.sv)
  input  logic                 bridged_i,
  input  logic [63:0]          ports_i,
  input  logic                 send_room_i,
  output logic                 send_offer_o,
  output logic                 send_write_o,
  output logic [2:0]           send_slice_o,
  output logic [64*SLICES-1:0] send_data_o,
  input  logic                 receive_valid_i,
  output logic                 receive_read_o,
  output logic [2:0]           receive_slice_o,
  input  logic [64*SLICES-1:0] receive_data_i,
  output logic                 receive_take_o,
  input  logic                 loses_i,       // another cell has lost its power, and with it what was sent
  output logic                 passes_o,      // a slot was offered to the link,
  output logic                 brings_o,      //   stored in a port,
  output logic                 strays_o,      //   or dropped, since no port takes it

  // The block (oae_ports.sv)
  input  logic [PORTS-1:0]     pending_i,
  output logic                 valid_o,
  input  logic                 ready_i,
  output logic [1:0]           errand_o,      // enum oae_types::errand_t
  output logic [5:0]           port_o,
  output logic [511:0]         data_o,
  input  logic                 hands_i,
  input  logic [511:0]         taken_i,
  input  logic                 accepts_i,
  input  logic                 done_i,

  output logic                 busy_o         // the clock must not stop
);

  localparam logic [2:0] LAST = 3'(8 - SLICES);
  localparam int unsigned PORT = oae_registers::PASSAGE_HEAD_PORT_SHIFT;
  localparam int unsigned ACCOUNT = oae_registers::PASSAGE_HEAD_ACCOUNT_SHIFT;
  localparam int unsigned GREETING = oae_registers::PASSAGE_HEAD_GREETING_SHIFT;

  typedef enum logic [1:0] {SEEK, TAKE, TAKEN, WRITE} out_t;
  typedef enum logic [2:0] {WAIT, READ, LATCH, PUT, PUTTING, RELEASE} in_t;

  // ---- From the ports to the link ----

  out_t         out_q;
  logic [5:0]   out_port_q;
  logic [511:0] out_slot_q;
  logic [2:0]   out_slice_q;
  logic [63:0]  eligible;
  logic [63:0]  later;                        // those behind the last port that had its turn
  logic [63:0]  candidates;
  logic [5:0]   next_port;

  assign eligible = 64'(pending_i) & ports_i & {64{bridged_i && send_room_i}};
  assign later = eligible & ~((64'd2 << out_port_q) - 64'd1);
  assign candidates = later == '0 ? eligible : later;
  always_comb begin
    next_port = '0;
    for (int unsigned i = 0; i < 64; i++)
      if (candidates[63-i]) next_port = 6'(63 - i);
  end

  always_ff @(posedge clk_i) begin
    if (rst_i) begin
      out_q <= SEEK;
      out_port_q <= '0;
      out_slice_q <= '0;
    end else unique case (out_q)
      SEEK: if (eligible != '0) begin
        out_q <= TAKE;
        out_port_q <= next_port;
      end
      TAKE: if (ready_i && errand_o == oae_types::TAKE) out_q <= TAKEN;
      TAKEN: begin
        if (hands_i) out_q <= drops ? SEEK : WRITE;
        else if (done_i) out_q <= SEEK;       // The port has begun anew.
      end
      default: begin
        out_slice_q <= out_slice_q + 3'(SLICES);  // wraps after the last
        if (out_slice_q == LAST) out_q <= SEEK;
      end
    endcase
  end

  always_ff @(posedge clk_i)
    if (hands_i) out_slot_q <= taken_i;

  assign send_write_o = out_q == WRITE;
  assign send_offer_o = send_write_o && out_slice_q == '0;
  assign send_slice_o = out_slice_q;
  assign send_data_o = out_slot_q[64*out_slice_q +: 64*SLICES];
  assign passes_o = send_offer_o && !out_slot_q[ACCOUNT];

  // ---- From the link to the ports ----

  in_t          in_q;
  logic [511:0] in_slot_q;
  logic [2:0]   in_slice_q;                   // what is read
  logic         reading_q;                    // data come in this clock,
  logic [2:0]   read_slice_q;                 //   from this slice on
  logic [7:0]   label;
  logic         has_port;
  logic         accepted_q;

  assign label = in_slot_q[PORT +: 8];
  assign has_port = label[7:6] == '0 && ports_i[label[5:0]];
  assign receive_read_o = (in_q == WAIT && bridged_i && receive_valid_i) || in_q == READ;
  assign receive_slice_o = in_slice_q;

  always_ff @(posedge clk_i) begin
    if (rst_i) begin
      in_q <= WAIT;
      in_slice_q <= '0;
      reading_q <= 1'b0;
      accepted_q <= 1'b0;
    end else begin
      reading_q <= receive_read_o;
      if (receive_read_o) in_slice_q <= in_slice_q + 3'(SLICES);  // wraps after the last
      unique case (in_q)
        WAIT: if (receive_read_o) in_q <= in_slice_q == LAST ? LATCH : READ;
        READ: if (in_slice_q == LAST) in_q <= LATCH;
        LATCH: in_q <= PUT;                   // The last group comes.
        PUT: begin
          accepted_q <= 1'b0;
          if (!has_port) in_q <= RELEASE;
          else if (ready_i && errand_o == oae_types::PUT) in_q <= PUTTING;
        end
        PUTTING: begin
          if (accepts_i) accepted_q <= 1'b1;
          if (done_i) in_q <= RELEASE;
        end
        default: in_q <= WAIT;
      endcase
    end
    read_slice_q <= in_slice_q;
    if (reading_q) in_slot_q[64*read_slice_q +: 64*SLICES] <= receive_data_i;
  end

  assign receive_take_o = in_q == RELEASE;
  assign brings_o = in_q == RELEASE && accepted_q && !in_slot_q[ACCOUNT];
  assign strays_o = in_q == RELEASE && !accepted_q && !(in_slot_q[ACCOUNT] && in_slot_q[GREETING]);

  // ---- Ports that begin anew ----

  logic [63:0] stale_q;                       // these have to,
  logic        renew_q;                       //   and one more, whose turn is next
  logic [5:0]  renew_port_q;
  logic [63:0] ports_q;                       // the ports of the link in the clock before
  logic        lost_q;                        // the link has lost slots, and not all ports have begun anew since
  logic        drops;                         // what a port has handed is of a session that has ended
  logic [5:0]  stale_port;                    // the first of those that have to
  logic        moves;                         // the next one gets its turn

  always_comb begin
    stale_port = '0;
    for (int unsigned i = 0; i < 64; i++)
      if (stale_q[63-i]) stale_port = 6'(63 - i);
  end

  // Nothing else has its turn before that.
  assign moves = !renew_q || ready_i;
  assign drops = loses_i || lost_q;

  always_ff @(posedge clk_i) begin
    if (rst_i) begin
      stale_q <= '0;
      renew_q <= 1'b0;
      renew_port_q <= '0;
      ports_q <= '0;
      lost_q <= 1'b0;
    end else begin
      stale_q <= (moves ? stale_q & (stale_q - 64'd1) : stale_q) | (ports_i ^ ports_q) |
                 (loses_i ? ports_i : '0);
      lost_q <= loses_i || (lost_q && (stale_q != '0 || renew_q));
      if (moves) renew_q <= stale_q != '0;
      if (moves) renew_port_q <= stale_port;
      ports_q <= ports_i;
    end
  end

  // ---- Operations of the block ----
  // The block accepts no operation before the last one has ended. What arrives has precedence, since it is read for longer than
  // it takes the block to store it.

  logic wants_take;
  logic wants_put;

  assign wants_take = out_q == TAKE;
  assign wants_put = in_q == PUT && has_port;
  assign valid_o = wants_take || wants_put || renew_q;
  assign errand_o = renew_q ? oae_types::RENEW : wants_put ? oae_types::PUT : oae_types::TAKE;
  assign port_o = renew_q ? renew_port_q : wants_put ? label[5:0] : out_port_q;
  assign data_o = in_slot_q;

  assign busy_o = out_q != SEEK || in_q != WAIT || eligible != '0 || receive_read_o || renew_q;

`ifndef SYNTHESIS
  always_ff @(posedge clk_i)
    if (!rst_i) begin
      assert (!hands_i || out_q == TAKEN) else $error("a slot that the bridge has not asked for");
      assert (!accepts_i || in_q == PUTTING) else $error("a slot was accepted that the bridge has not brought");
      assert (!(hands_i && accepts_i)) else $error("two operations at once");
      assert (!(send_offer_o && lost_q)) else $error("a slot of a session that has ended is offered");
      assert (!receive_take_o || receive_valid_i) else $error("the slot has left its ring before");
    end
`endif

endmodule
