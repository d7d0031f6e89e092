// SPDX-License-Identifier: Apache-2.0
// The transfer from the other side, and the committed transfers that the firmware has not taken
// yet.
//
// The frames of a transfer are written to the buffer as they arrive. The firmware learns of them
// only when the transfer is committed. The journal holds the number of the expected frame, the
// outcome of the transfer before it, and the frame at which its history begins. It says nothing
// about frames before that.
module oae_link_receiver #(
  parameter int unsigned FRAMES = 64
) (
  input  logic            clock,
  input  logic            reset,

  input  logic            up,
  input  logic            cut,           // the link is no longer up from the next edge on
  input  logic            agreed,        // the side joins
  input  logic [31:0]     peer_next,     // number of the next frame of the other side
  input  logic            peer_doubts,   // the transfer before it is in doubt there

  input  logic            head_valid,    // slice 0 of a frame, unchecked
  input  logic [63:0]     head,
  input  logic            frame_valid,
  input  logic [447:0]    frame,         // without its check
  input  logic            damaged,

  input  logic            take,          // the firmware takes a transfer
  input  logic [8:0]      read_word,     // a word of the committed transfer
  output logic [63:0]     read_data,

  output logic            send_valid,    // a frame without its check
  input  logic            send_ready,
  output logic [447:0]    send_frame,

  // To and from the table
  output oae_link_table::receiver_event_t receiver_event,
  output oae_link_table::receiver_state_t receiver,
  input  oae_link_table::receiver_state_t receiver_next,
  input  logic [oae_link_table::RECEIVER_ACTIONS-1:0] actions,

  output logic [31:0]     expected,
  output logic [7:0]      outcome,
  output logic            known,         // there is history,
  output logic [31:0]     first,         //   which begins with this frame
  output logic [1:0]      transfers,     // number of committed transfers that are not taken, 0 to 2
  output logic [1:0]      taken_beats,   // beats of the first of them
  output logic            taken_flow,
  output logic [31:0]     taken_number,
  output logic            busy
);

  localparam int unsigned ROW = $clog2(FRAMES);
  localparam int unsigned PROTOCOL = oae_registers::FRAME_HEADER_PROTOCOL_SHIFT;
  localparam int unsigned JAM = oae_registers::FRAME_HEADER_JAM_SHIFT;
  localparam int unsigned LIVENESS = oae_registers::FRAME_HEADER_LIVENESS_SHIFT;
  localparam int unsigned OPERAND = oae_registers::FRAME_HEADER_OPERAND_SHIFT;
  localparam int unsigned FLAGS = oae_registers::SLOT_HEADER_FLAGS_SHIFT;

  logic [6:0]  arrived;            // frames of the present transfer
  logic [1:0]  beats;              // beats according to its first frame
  logic        fits;
  logic        bank;               // the bank to which it is written
  logic [3:0]  bank_beats;         // beats of both banks
  logic [1:0]  bank_flow;
  logic [63:0] bank_number;
  logic        replies;            // a reply has to be sent
  logic        reply_done;         //   done or else answer,
  logic        reply_jam;          //   with jam
  logic [31:0] reply_number;

  function automatic logic [6:0] size_of(input logic [1:0] code);
    size_of = 7'd1 << {code, 1'b0};
  endfunction

  // ---- Arriving frames ----

  logic [63:0] header;
  logic        packet;
  logic [7:0]  due;                // low byte of the next frame's number
  logic        in_order;
  logic        ahead;
  logic        fits_now;
  logic        last_frame;
  logic [6:0]  size;
  logic [31:0] named;              // number of the transfer's last frame, which the event names
  logic        signal;
  logic        unsettled;          // the event names the present or the next transfer,
  logic        settled;            //   or the last settled one
  logic        head_in_order;

  function automatic logic is_packet(input logic [2:0] protocol);
    is_packet = protocol == oae_registers::PROTOCOL_PACKET ||
                protocol == oae_registers::PROTOCOL_FLOW;
  endfunction

  assign header = frame[63:0];
  assign packet = up && frame_valid && is_packet(header[PROTOCOL +: 3]);
  assign due = expected[7:0] + {1'b0, arrived};
  assign in_order = header[LIVENESS +: 8] == due;
  assign ahead = header[LIVENESS +: 8] - due < 8'd128;
  assign size = size_of(receiver == oae_link_table::RECEIVER_STATE_TENTATIVE ? beats : header[3:2]);
  assign fits_now = arrived != '0 ? fits : transfers != 2'd2 && size <= 7'(FRAMES);
  assign last_frame = arrived + 7'd1 == size;
  assign signal = up && frame_valid && header[PROTOCOL +: 3] == oae_registers::PROTOCOL_CONFIRM;
  assign unsettled = header[OPERAND +: 32] - expected < 32'd64;
  assign settled = header[OPERAND +: 32] + 32'd1 == expected;
  assign head_in_order = up && head_valid && is_packet(head[PROTOCOL +: 3]) &&
                         head[LIVENESS +: 8] == due;

  always_comb begin
    receiver_event = oae_link_table::RECEIVER_EVENT_NONE;
    named = expected + {25'd0, size} - 32'd1;
    if (cut) receiver_event = oae_link_table::RECEIVER_EVENT_CUT;
    else if (signal && settled) receiver_event = oae_link_table::RECEIVER_EVENT_ASKED;
    else if (signal && unsettled && header[JAM]) begin
      receiver_event = oae_link_table::RECEIVER_EVENT_JAMMED;
      named = header[OPERAND +: 32];
    end else if (signal && header[OPERAND +: 32] == named)
      receiver_event = oae_link_table::RECEIVER_EVENT_CONFIRMED;
    else if (packet && in_order && last_frame)
      receiver_event = !fits_now ? oae_link_table::RECEIVER_EVENT_FULL
          : header[PROTOCOL +: 3] == oae_registers::PROTOCOL_FLOW ? oae_link_table::RECEIVER_EVENT_WHOLE_FLOW
          : oae_link_table::RECEIVER_EVENT_WHOLE;
    else if (packet && in_order) receiver_event = oae_link_table::RECEIVER_EVENT_BEGUN;
    else if ((packet && ahead) || damaged) receiver_event = oae_link_table::RECEIVER_EVENT_BROKEN;
    else if (head_in_order) receiver_event = oae_link_table::RECEIVER_EVENT_BEGUN;
  end

  // ---- The slots that arrive, and those that the firmware reads ----

  logic [511:0] slot;
  logic [447:0] formed;           // without its CRC
  logic [63:0]  crc;
  logic         store;

  assign store = packet && in_order && fits_now;

  // The slot's header is the one that was sent, except for the fields that a link does not carry.
  always_comb begin
    formed = {frame[447:64], 64'd0};
    formed[oae_registers::SLOT_HEADER_VERB_SHIFT +: 8] =
        {4'd0, header[oae_registers::FRAME_HEADER_TRANSITION_SHIFT +: 4]};
    formed[oae_registers::SLOT_HEADER_EPOCH_SHIFT +: 8] =
        header[oae_registers::FRAME_HEADER_STATE_SHIFT +: 8];
    formed[FLAGS +: 2] = header[oae_registers::FRAME_HEADER_TRANSITION_SHIFT+4 +: 2];
    formed[oae_registers::SLOT_HEADER_SEQUENCE_SHIFT +: 32] = header[OPERAND +: 32];
  end

  oae_crc64 #(.BYTES(oae_registers::SLOT_CRC)) network (
    .enable(store), .data(formed), .crc(crc));

  logic [ROW:0] store_row;
  logic [ROW:0] read_row;
  logic         read_bank;
  assign read_bank = transfers == 2'd2 ? bank : !bank;
  assign store_row = {bank, arrived[ROW-1:0]};
  assign read_row = {read_bank, read_word[3 +: ROW]};

  oae_link_buffer #(.FRAMES(2 << ROW)) buffer (
    .clock, .write(store), .write_row(store_row), .write_data({crc, formed}), .write_enable('1),
    .row(read_row), .data(slot));

  assign taken_beats = transfers == '0 ? '0 : bank_beats[2*read_bank +: 2];
  assign taken_flow = transfers != '0 && bank_flow[read_bank];
  assign taken_number = transfers == '0 ? '0 : bank_number[32*read_bank +: 32];
  assign read_data = transfers != '0 && {1'b0, read_word[8:3]} < size_of(taken_beats)
      ? slot[64*read_word[2:0] +: 64] : '0;

  // ---- The reply ----

  always_comb begin
    send_frame = '0;
    send_frame[PROTOCOL +: 3] = reply_done ? oae_registers::PROTOCOL_DONE
                                           : oae_registers::PROTOCOL_ANSWER;
    send_frame[JAM] = reply_jam;
    send_frame[LIVENESS +: 8] = reply_number[7:0];
    send_frame[OPERAND +: 32] = reply_number;
  end
  assign send_valid = replies;     // only while the link is up
  assign busy = replies;

  always_ff @(posedge clock) begin
    if (reset) begin
      receiver <= oae_link_table::RECEIVER_STATE_IDLE;
      arrived <= '0;
      beats <= '0;
      fits <= 1'b0;
      bank <= 1'b0;
      bank_beats <= '0;
      bank_flow <= '0;
      bank_number <= '0;
      replies <= 1'b0;
      reply_done <= 1'b0;
      reply_jam <= 1'b0;
      reply_number <= '0;
      expected <= 32'd1;
      outcome <= oae_registers::OUTCOME_NONE;
      known <= 1'b0;
      first <= '0;
      transfers <= '0;
    end else begin
      receiver <= receiver_next;
      if (send_ready) replies <= 1'b0;
      if (packet && in_order) begin
        arrived <= arrived + 7'd1;
        beats <= header[3:2];
        fits <= fits_now;
      end
      if (receiver_next != oae_link_table::RECEIVER_STATE_REFLECTING) arrived <= '0;
      if (actions[oae_link_table::RECEIVER_ANSWER] || actions[oae_link_table::RECEIVER_DONE] || actions[oae_link_table::RECEIVER_REFUSE]) begin
        replies <= 1'b1;
        reply_done <= actions[oae_link_table::RECEIVER_DONE];
        reply_jam <= actions[oae_link_table::RECEIVER_REFUSE];
        reply_number <= named;
      end
      if (actions[oae_link_table::RECEIVER_REPORT]) begin
        replies <= 1'b1;
        reply_done <= outcome == oae_registers::OUTCOME_COMMITTED;
        reply_jam <= outcome != oae_registers::OUTCOME_COMMITTED;
        reply_number <= expected - 32'd1;
      end
      transfers <= transfers + {1'b0, actions[oae_link_table::RECEIVER_COMMIT]} - {1'b0, take && transfers != '0};
      if (actions[oae_link_table::RECEIVER_COMMIT]) begin
        expected <= named + 32'd1;
        outcome <= oae_registers::OUTCOME_COMMITTED;
        bank <= !bank;
        bank_beats[2*bank +: 2] <= receiver == oae_link_table::RECEIVER_STATE_TENTATIVE ? beats : header[3:2];
        bank_flow[bank] <= receiver != oae_link_table::RECEIVER_STATE_TENTATIVE;
        bank_number[32*bank +: 32] <= named;
      end
      if (actions[oae_link_table::RECEIVER_REVERSE]) begin
        expected <= named + 32'd1;
        outcome <= oae_registers::OUTCOME_REVERSED;
      end
      if (cut) replies <= 1'b0;
      if (agreed && peer_next != expected) begin
        expected <= peer_next;
        outcome <= oae_registers::OUTCOME_REVERSED;
      end
      // The fate of a transfer that the other side has in doubt remains known or unknown. If it has
      // none in doubt, history may begin here, and must if the other side has lost its power.
      if (agreed) known <= 1'b1;
      if (agreed && (!known || !peer_doubts)) first <= peer_next;
    end
  end

`ifndef SYNTHESIS
  always_ff @(posedge clock)
    if (!reset) begin
      if (actions[oae_link_table::RECEIVER_COMMIT])
        assert (transfers != 2'd2 || take) else $error("a commit without room");
      if (agreed) assert (receiver == oae_link_table::RECEIVER_STATE_IDLE) else $error("a transfer outlived the link");
      assert (arrived == '0 || receiver == oae_link_table::RECEIVER_STATE_REFLECTING)
        else $error("frames of no transfer");
      assert (up || !replies) else $error("a reply of a link that is not up");
      assert (up || receiver == oae_link_table::RECEIVER_STATE_IDLE) else $error("a transfer over a link that is not up");
    end
`endif

  logic unused;
  assign unused = &{1'b0, head[63:16], head[7], head[3:0], actions[oae_link_table::RECEIVER_DISCARD], header[31:16]};

endmodule
