// SPDX-License-Identifier: Apache-2.0
// The transfer to the other side: its slots, its frames and its fate.
//
// No frame of a transfer is sent twice. The sender may ask for its fate repeatedly by a jam, and
// the answer of the other side's journal settles the transfer.
module oae_link_sender #(
  parameter int unsigned FRAMES = 64     // most frames of a transfer: 4, 16 or 64
) (
  input  logic          clock,
  input  logic          reset,
  input  logic [63:0]   now,             // link clocks since power-up
  input  logic [63:0]   limit,           // clocks of silence that are tolerated
  input  logic [1:0]    slice_ack,       // reflections to request

  input  logic          up,
  input  logic          open,            // the other side is up as well
  input  logic          cut,             // the link is no longer up from the next edge on
  input  logic          agreed,          // the side joins by the other side's journal:
  input  logic [31:0]   peer_expected,
  input  logic [7:0]    peer_outcome,
  input  logic          peer_known,
  input  logic [31:0]   peer_first,

  input  logic          frame_valid,     // a good frame of the other side
  input  logic [63:0]   frame_head,
  input  logic          reflection_valid,
  input  logic [63:0]   reflection,

  input  logic          command_valid,   // a command of the firmware
  input  logic [7:0]    command_verb,
  input  logic [1:0]    command_beats,
  output logic          command_ready,
  output logic          command_refused, // only while valid and ready

  input  logic          write,           // writes a word of the send buffer
  input  logic [8:0]    write_word,
  input  logic [63:0]   write_data,
  input  logic [7:0]    write_strobe,

  output logic          send_valid,      // a frame without its check
  input  logic          send_ready,
  output logic [447:0]  send_frame,

  // To and from the table
  output oae_link_table::sender_event_t sender_event,
  output oae_link_table::sender_state_t sender,
  input  oae_link_table::sender_state_t sender_next,
  input  logic [oae_link_table::SENDER_ACTIONS-1:0] actions,

  output logic          bad_slot,        // the CRC of a slot to send was bad; for one clock
  output logic          mismatched,      // a reflection differs from the frame sent; for one clock
  output logic          silent,          //   or nothing arrived
  output logic [7:0]    outcome,
  output logic [7:0]    sent,            // frames
  output logic [15:0]   reported,        // slices that reflections have reported
  output logic [31:0]   next_number,
  output logic [31:0]   last,            // number of the transfer's last frame
  output logic          busy,
  output logic          deadline_valid,
  output logic [63:0]   deadline
);

  localparam int unsigned ROW = $clog2(FRAMES);
  localparam int unsigned CHECK = 8 * oae_registers::SLOT_CRC;
  localparam int unsigned PROTOCOL = oae_registers::FRAME_HEADER_PROTOCOL_SHIFT;
  localparam int unsigned JAM = oae_registers::FRAME_HEADER_JAM_SHIFT;
  localparam int unsigned LIVENESS = oae_registers::FRAME_HEADER_LIVENESS_SHIFT;
  localparam int unsigned OPERAND = oae_registers::FRAME_HEADER_OPERAND_SHIFT;
  localparam int unsigned FLAGS = oae_registers::SLOT_HEADER_FLAGS_SHIFT;

  logic [7:0]  first;              // low byte of its number
  logic [1:0]  beats;
  logic        flow;
  logic        launching;          // frames of the transfer still have to be sent,
  logic        signals;            //   or a confirm or a jam, but never both; the link is up then
  logic        jams;
  logic [63:0] since;              // when the other side last got a reason to answer

  function automatic logic [6:0] size_of(input logic [1:0] code);
    size_of = 7'd1 << {code, 1'b0};
  endfunction

  // ---- The next frame ----

  logic [511:0]   slot;
  logic [63:0]    slot_crc;
  logic           slot_good;
  logic [7:0]     number;          // low byte
  logic [63:0]    packet_head;
  logic [63:0]    signal_head;

  oae_link_buffer #(.FRAMES(FRAMES)) buffer (
    .clock, .write(write && sender == oae_link_table::SENDER_STATE_IDLE && 
      {1'b0, write_word[8:3]} < 7'(FRAMES)),
    .write_row(write_word[3 +: ROW]), .write_data({8{write_data}}),
    .write_enable({56'd0, write_strobe} << {write_word[2:0], 3'd0}),
    .row(sent[ROW-1:0]), .data(slot));

  oae_crc64 #(.BYTES(oae_registers::SLOT_CRC)) network (
    .enable(launching), .data(slot[CHECK-1:0]), .crc(slot_crc));

  assign slot_good = slot[CHECK +: 64] == slot_crc;
  assign bad_slot = launching && !slot_good;
  assign send_valid = signals || (launching && slot_good);
  assign number = first + sent;

  always_comb begin
    packet_head = '0;
    packet_head[1:0] = slice_ack;
    packet_head[3:2] = beats;
    packet_head[PROTOCOL +: 3] = flow ? oae_registers::PROTOCOL_FLOW : oae_registers::PROTOCOL_PACKET;
    packet_head[LIVENESS +: 8] = number;
    packet_head[oae_registers::FRAME_HEADER_STATE_SHIFT +: 8] =
        slot[oae_registers::SLOT_HEADER_EPOCH_SHIFT +: 8];
    packet_head[oae_registers::FRAME_HEADER_TRANSITION_SHIFT +: 8] =
        {2'b00, slot[FLAGS +: 2], slot[oae_registers::SLOT_HEADER_VERB_SHIFT +: 4]};
    packet_head[OPERAND +: 32] = slot[oae_registers::SLOT_HEADER_SEQUENCE_SHIFT +: 32];
    signal_head = '0;
    signal_head[PROTOCOL +: 3] = oae_registers::PROTOCOL_CONFIRM;
    signal_head[JAM] = jams;
    signal_head[LIVENESS +: 8] = last[7:0];
    signal_head[OPERAND +: 32] = last;
  end
  assign send_frame = signals ? {384'd0, signal_head} : {slot[447:64], packet_head};

  // ---- Reflections ----

  logic [63:0] heads [FRAMES];     // slices 0 that were sent
  logic [7:0]  index;
  logic        reflects_own;

  always_ff @(posedge clock)
    if (launching) heads[sent[ROW-1:0]] <= packet_head;

  assign index = reflection[LIVENESS +: 8] - first;
  assign reflects_own = index < sent && !reflection[JAM] &&
      {reflection[63:8], reflection[6:2]} == {heads[index[ROW-1:0]][63:8], heads[index[ROW-1:0]][6:2]};

  // ---- Events ----

  logic waits;
  logic sends;
  logic of_this;
  logic covered;                   // the other side's journal begins before the last frame

  assign covered = peer_known && $signed(last - peer_first) >= 0;
  assign waits = up && sender != oae_link_table::SENDER_STATE_IDLE;
  assign sends = launching || signals;
  assign silent = waits && !sends && now - since >= limit;
  assign mismatched = waits && reflection_valid && !reflects_own;
  assign of_this = up && frame_valid && frame_head[OPERAND +: 32] == last;

  always_comb begin
    sender_event = oae_link_table::SENDER_EVENT_NONE;
    command_ready = 1'b0;
    command_refused = 1'b0;
    if (cut) sender_event = oae_link_table::SENDER_EVENT_CUT;
    else if (agreed) begin
      if (!covered) sender_event = oae_link_table::SENDER_EVENT_FOUND_LOST;
      else if (peer_expected == last + 32'd1 && peer_outcome == oae_registers::OUTCOME_COMMITTED)
        sender_event = oae_link_table::SENDER_EVENT_FOUND_COMMITTED;
      else sender_event = oae_link_table::SENDER_EVENT_FOUND_REVERSED;
    end else if (of_this && frame_head[PROTOCOL +: 3] == oae_registers::PROTOCOL_ANSWER)
      sender_event = frame_head[JAM] ? oae_link_table::SENDER_EVENT_REFUSED : oae_link_table::SENDER_EVENT_ANSWERED;
    else if (of_this && frame_head[PROTOCOL +: 3] == oae_registers::PROTOCOL_DONE)
      sender_event = oae_link_table::SENDER_EVENT_DONE;
    else if (mismatched || silent || bad_slot) sender_event = oae_link_table::SENDER_EVENT_DOUBT;
    else begin
      command_ready = 1'b1;
      if (command_valid) case (command_verb)
        oae_registers::LINK_COMMAND_PACKET, oae_registers::LINK_COMMAND_FLOW:
          if (open && sender == oae_link_table::SENDER_STATE_IDLE && size_of(command_beats) <= 7'(FRAMES))
            sender_event = command_verb == oae_registers::LINK_COMMAND_FLOW ? oae_link_table::SENDER_EVENT_FLOW
                                                                            : oae_link_table::SENDER_EVENT_PACKET;
          else command_refused = 1'b1;
        oae_registers::LINK_COMMAND_WITHDRAW:
          if (sender == oae_link_table::SENDER_STATE_TENTATIVE) sender_event = oae_link_table::SENDER_EVENT_WITHDRAWN;
          else command_refused = 1'b1;
        // This is second-hand knowledge, so it counts only while the other side cannot be asked.
        oae_registers::LINK_COMMAND_SETTLE_COMMITTED, oae_registers::LINK_COMMAND_SETTLE_REVERSED,
        oae_registers::LINK_COMMAND_SETTLE_LOST:
          if (!up && sender == oae_link_table::SENDER_STATE_IN_DOUBT)
            case (command_verb)
              oae_registers::LINK_COMMAND_SETTLE_COMMITTED:
                sender_event = oae_link_table::SENDER_EVENT_FOUND_COMMITTED;
              oae_registers::LINK_COMMAND_SETTLE_REVERSED:
                sender_event = oae_link_table::SENDER_EVENT_FOUND_REVERSED;
              default: sender_event = oae_link_table::SENDER_EVENT_FOUND_LOST;
            endcase
          else command_refused = 1'b1;
        default: ;
      endcase
    end
  end

  always_ff @(posedge clock) begin
    if (reset) begin
      sender <= oae_link_table::SENDER_STATE_IDLE;
      first <= 8'd1;
      last <= '0;
      next_number <= 32'd1;
      beats <= '0;
      flow <= 1'b0;
      launching <= 1'b0;
      signals <= 1'b0;
      jams <= 1'b0;
      since <= '0;
      outcome <= oae_registers::OUTCOME_NONE;
      sent <= '0;
      reported <= '0;
    end else begin
      sender <= sender_next;
      if (send_valid && send_ready) begin
        since <= now;
        signals <= 1'b0;
        if (!signals) begin
          sent <= sent + 8'd1;
          if (sent + 8'd1 == {1'b0, size_of(beats)}) launching <= 1'b0;
        end
      end
      if (reflection_valid && reflects_own) begin
        since <= now;
        reported <= {5'd0, index, 3'd0} + (16'd1 << reflection[1:0]);
      end
      if (actions[oae_link_table::SENDER_LAUNCH]) begin
        first <= next_number[7:0];
        last <= next_number + {25'd0, size_of(command_beats)} - 32'd1;
        next_number <= next_number + {25'd0, size_of(command_beats)};
        beats <= command_beats;
        flow <= sender_event == oae_link_table::SENDER_EVENT_FLOW;
        launching <= 1'b1;
        outcome <= oae_registers::OUTCOME_NONE;
        sent <= '0;
        reported <= '0;
        since <= now;
      end
      if (actions[oae_link_table::SENDER_CONFIRM] || actions[oae_link_table::SENDER_JAM]) begin
        signals <= 1'b1;
        jams <= actions[oae_link_table::SENDER_JAM];
        launching <= 1'b0;
        since <= now;
      end
      if (actions[oae_link_table::SENDER_SETTLE_COMMITTED]) outcome <= oae_registers::OUTCOME_COMMITTED;
      if (actions[oae_link_table::SENDER_SETTLE_REVERSED]) outcome <= oae_registers::OUTCOME_REVERSED;
      if (actions[oae_link_table::SENDER_SETTLE_LOST]) outcome <= oae_registers::OUTCOME_LOST;
      if (cut || sender_next == oae_link_table::SENDER_STATE_IDLE) begin
        launching <= 1'b0;
        signals <= 1'b0;
      end
    end
  end

  assign busy = sends;              // the clock runs anyway while the deadline has passed
  assign deadline_valid = waits && !sends;
  assign deadline = since + limit;

`ifndef SYNTHESIS
  always_ff @(posedge clock)
    if (!reset) begin
      if (sender == oae_link_table::SENDER_STATE_REVERSING)
        assert (sender_event != oae_link_table::SENDER_EVENT_DONE) else $error("done without a third phase");
      if (sender_event == oae_link_table::SENDER_EVENT_ANSWERED && sender == oae_link_table::SENDER_STATE_TENTATIVE)
        assert (!launching) else $error("an answer to what has not left");
      if (launching || signals)
        assert (sender != oae_link_table::SENDER_STATE_IDLE) else $error("a frame of no transfer");
      assert (!(launching && signals)) else $error("a packet and a signal at once");
      assert (up || !sends) else $error("a frame of a link that is not up");
    end
`endif

endmodule
