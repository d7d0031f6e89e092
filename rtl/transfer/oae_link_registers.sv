// SPDX-License-Identifier: Apache-2.0
// The registers of a link, which link.yaml describes, and its interrupt.
module oae_link_registers #(
  parameter int unsigned SLICES = 8,
  parameter int unsigned FRAMES = 64
) (
  input  logic        clock,
  input  logic        reset,
  input  logic [63:0] now,

  input  logic        access_valid,
  output logic        access_ready,
  input  logic        access_write,
  input  logic [13:0] access_word,     // address[16:3]
  input  logic [63:0] access_data,
  input  logic [7:0]  access_strobe,   // all ones for a read
  output logic        access_done,     // for one clock, in which the next two are valid
  output logic        access_error,
  output logic [63:0] access_result,   // of a read
  output logic        irq,

  // Settings of the firmware, and its commands in this clock
  output logic [1:0]  slice_ack,
  output logic [63:0] limit,           // clocks
  output logic [7:0]  trouble_limit,
  output logic        begins,          // one clock after the write
  output logic        ends,
  output logic        command_valid,
  input  logic        command_ready,
  input  logic        command_refused, // only while valid and ready
  output logic [7:0]  command_verb,
  output logic [1:0]  command_beats,
  output logic        take,
  output logic        buffer_write,
  output logic [8:0]  buffer_word,
  output logic [31:0] liveness,
  output logic        liveness_written,
  input  logic [63:0] buffer_data,

  // The state that is visible
  input  logic [7:0]  phase,           // enum link_state
  input  logic [7:0]  sender,
  input  logic [7:0]  receiver,
  input  logic        carrier,
  input  logic [7:0]  trouble,
  input  logic [7:0]  reason,
  input  logic [7:0]  sent_outcome,
  input  logic [7:0]  sent,
  input  logic [15:0] reported,
  input  logic [31:0] sent_number,
  input  logic [1:0]  transfers,
  input  logic [1:0]  taken_beats,
  input  logic        taken_flow,
  input  logic [31:0] taken_number,
  input  logic [7:0]  journal_outcome,
  input  logic [31:0] expected,
  input  logic        history_known,
  input  logic [31:0] history_first,
  input  logic [31:0] session,
  input  logic [31:0] peer_session,

  // Events in this clock
  input  logic        comes_up,
  input  logic        goes_down,
  input  logic        settles_committed,
  input  logic        settles_reversed,
  input  logic        settles_lost,
  input  logic        comes_in_doubt,
  input  logic        receives,
  input  logic        reverses,
  input  logic        alive,
  input  logic [31:0] alive_count,
  input  logic        bad_slot,
  input  logic        damaged,
  input  logic        mismatched,
  input  logic        silent
);

  localparam int unsigned SHIFT = $clog2(SLICES);

  localparam logic [8:0] ID = 9'(oae_registers::LINK_ID >> 3);
  localparam logic [8:0] CONTROL = 9'(oae_registers::LINK_CONTROL >> 3);
  localparam logic [8:0] LIMITS = 9'(oae_registers::LINK_LIMITS >> 3);
  localparam logic [8:0] LIVENESS = 9'(oae_registers::LINK_LIVENESS >> 3);
  localparam logic [8:0] STATE = 9'(oae_registers::LINK_STATE >> 3);
  localparam logic [8:0] EVENT = 9'(oae_registers::LINK_EVENT >> 3);
  localparam logic [8:0] IRQ_ENABLE = 9'(oae_registers::LINK_IRQ_ENABLE >> 3);
  localparam logic [8:0] COMMAND = 9'(oae_registers::LINK_COMMAND >> 3);
  localparam logic [8:0] SENT = 9'(oae_registers::LINK_SENT >> 3);
  localparam logic [8:0] RECEIVED = 9'(oae_registers::LINK_RECEIVED >> 3);
  localparam logic [8:0] JOURNAL = 9'(oae_registers::LINK_JOURNAL >> 3);
  localparam logic [8:0] ALIVE = 9'(oae_registers::LINK_ALIVE >> 3);
  localparam logic [8:0] COMMITTED = 9'(oae_registers::LINK_COUNT_COMMITTED >> 3);
  localparam logic [8:0] REVERSED = 9'(oae_registers::LINK_COUNT_REVERSED >> 3);
  localparam logic [8:0] COUNT_RECEIVED = 9'(oae_registers::LINK_COUNT_RECEIVED >> 3);
  localparam logic [8:0] DAMAGED = 9'(oae_registers::LINK_COUNT_DAMAGED >> 3);
  localparam logic [8:0] MISMATCHED = 9'(oae_registers::LINK_COUNT_MISMATCHED >> 3);
  localparam logic [8:0] SILENT = 9'(oae_registers::LINK_COUNT_SILENT >> 3);
  localparam logic [8:0] DOWN = 9'(oae_registers::LINK_COUNT_DOWN >> 3);
  localparam logic [8:0] HISTORY = 9'(oae_registers::LINK_HISTORY >> 3);
  localparam logic [8:0] SESSION = 9'(oae_registers::LINK_SESSION >> 3);
  localparam logic [4:0] SEND_PAGE = 5'(oae_registers::LINK_SEND >> 12);
  localparam logic [4:0] RECEIVE_PAGE = 5'(oae_registers::LINK_RECEIVE >> 12);

  logic        up;
  logic        controlled;
  logic [31:0] silence;
  logic [7:0]  event_bits;
  logic [7:0]  event_enable;
  logic [63:0] alive_since;
  logic [31:0] alive_last;
  logic [63:0] count_committed;
  logic [63:0] count_reversed;
  logic [63:0] count_received;
  logic [63:0] count_damaged;
  logic [63:0] count_mismatched;
  logic [63:0] count_silent;
  logic [63:0] count_down;

  // ---- The access ----

  logic [4:0]  page;               // of 4 KiB
  logic [8:0]  word;
  logic        accepted;
  logic        writes;             // the access writes a register
  logic        known;
  logic [63:0] value;
  logic [63:0] mask;
  logic [63:0] merged;

  assign page = access_word[13:9];
  assign word = access_word[8:0];
  assign command_valid = access_valid && access_write && !access_done && page == '0 &&
                         word == COMMAND && access_strobe[0];
  assign access_ready = !access_done && (!command_valid || command_ready);
  assign accepted = access_valid && access_ready;
  assign writes = accepted && access_write && page == '0;
  assign known = page == '0 ? word <= SESSION : page == SEND_PAGE || page == RECEIVE_PAGE;
  assign buffer_word = word;
  assign buffer_write = accepted && access_write && page == SEND_PAGE;
  assign command_verb = access_data[oae_registers::LINK_COMMAND_VERB_SHIFT +: 8];
  assign command_beats = access_strobe[1] ? access_data[oae_registers::LINK_COMMAND_BEATS_SHIFT +: 2]
                                          : '0;
  assign take = command_valid && command_ready &&
                command_verb == oae_registers::LINK_COMMAND_TAKE;
  always_comb
    for (int unsigned i = 0; i < 8; i++) mask[8*i +: 8] = {8{access_strobe[i]}};
  assign merged = (value & ~mask) | (access_data & mask);

  assign begins = controlled && up;
  assign ends = controlled && !up;
  assign liveness_written = writes && word == LIVENESS && access_strobe[3:0] != '0;
  assign limit = {32'd0, silence >> SHIFT} + 64'd1;
  assign irq = |(event_bits & event_enable);

  // ---- Values of a read ----

  logic [63:0] age;
  assign age = now - alive_since;

  always_comb begin
    value = '0;
    if (access_valid && page == '0) case (word)
      ID: begin
        value = oae_registers::LINK_ID_RESET;
        value[oae_registers::LINK_ID_SLICES_SHIFT +: 4] = 4'(SLICES);
        value[oae_registers::LINK_ID_FRAMES_SHIFT +: 8] = 8'(FRAMES);
      end
      CONTROL: begin
        value[oae_registers::LINK_CONTROL_UP_SHIFT] = up;
        value[oae_registers::LINK_CONTROL_SLICE_ACK_SHIFT +: 2] = slice_ack;
      end
      LIMITS: begin
        value[oae_registers::LINK_LIMITS_SILENCE_SHIFT +: 32] = silence;
        value[oae_registers::LINK_LIMITS_TROUBLE_SHIFT +: 8] = trouble_limit;
      end
      LIVENESS: value[31:0] = liveness;
      STATE: begin
        value[oae_registers::LINK_STATE_PHASE_SHIFT +: 8] = phase;
        value[oae_registers::LINK_STATE_SENDER_SHIFT +: 8] = sender;
        value[oae_registers::LINK_STATE_RECEIVER_SHIFT +: 8] = receiver;
        value[oae_registers::LINK_STATE_CARRIER_SHIFT] = carrier;
        value[oae_registers::LINK_STATE_TROUBLE_SHIFT +: 8] = trouble;
        value[oae_registers::LINK_STATE_REASON_SHIFT +: 8] = reason;
      end
      EVENT: value[7:0] = event_bits;
      IRQ_ENABLE: value[7:0] = event_enable;
      SENT: begin
        value[oae_registers::LINK_SENT_OUTCOME_SHIFT +: 8] = sent_outcome;
        value[oae_registers::LINK_SENT_SENT_SHIFT +: 8] = sent;
        value[oae_registers::LINK_SENT_SLICES_SHIFT +: 16] = reported;
        value[oae_registers::LINK_SENT_NUMBER_SHIFT +: 32] = sent_number;
      end
      RECEIVED: begin
        value[oae_registers::LINK_RECEIVED_TRANSFERS_SHIFT +: 2] = transfers;
        value[oae_registers::LINK_RECEIVED_BEATS_SHIFT +: 2] = taken_beats;
        value[oae_registers::LINK_RECEIVED_FLOW_SHIFT] = taken_flow;
        value[oae_registers::LINK_RECEIVED_NUMBER_SHIFT +: 32] = taken_number;
      end
      JOURNAL: begin
        value[oae_registers::LINK_JOURNAL_OUTCOME_SHIFT +: 8] = journal_outcome;
        value[oae_registers::LINK_JOURNAL_NUMBER_SHIFT +: 32] = expected - 32'd1;
      end
      ALIVE: begin
        value[oae_registers::LINK_ALIVE_COUNT_SHIFT +: 32] = alive_last;
        value[oae_registers::LINK_ALIVE_AGE_SHIFT +: 32] = |age[63:32] ? '1 : age[31:0];
      end
      COMMITTED: value = count_committed;
      REVERSED: value = count_reversed;
      COUNT_RECEIVED: value = count_received;
      DAMAGED: value = count_damaged;
      MISMATCHED: value = count_mismatched;
      SILENT: value = count_silent;
      DOWN: value = count_down;
      HISTORY: begin
        value[oae_registers::LINK_HISTORY_KNOWN_SHIFT] = history_known;
        value[oae_registers::LINK_HISTORY_FIRST_SHIFT +: 32] = history_first;
      end
      SESSION: begin
        value[oae_registers::LINK_SESSION_OWN_SHIFT +: 32] = session;
        value[oae_registers::LINK_SESSION_OTHER_SHIFT +: 32] = peer_session;
      end
      default: ;
    endcase
  end

  // ---- Changes at a clock edge ----

  logic [7:0] happened;
  always_comb begin
    happened = '0;
    happened[oae_registers::LINK_EVENT_UP_SHIFT] = comes_up;
    happened[oae_registers::LINK_EVENT_DOWN_SHIFT] = goes_down;
    happened[oae_registers::LINK_EVENT_SETTLED_SHIFT] =
        settles_committed || settles_reversed || settles_lost;
    happened[oae_registers::LINK_EVENT_IN_DOUBT_SHIFT] = comes_in_doubt;
    happened[oae_registers::LINK_EVENT_RECEIVED_SHIFT] = receives;
    happened[oae_registers::LINK_EVENT_REVERSED_SHIFT] = reverses;
    happened[oae_registers::LINK_EVENT_ALIVE_SHIFT] = alive;
    happened[oae_registers::LINK_EVENT_REFUSED_SHIFT] = bad_slot || command_refused;
  end

  always_ff @(posedge clock) begin
    if (reset) begin
      access_done <= 1'b0;
      access_error <= 1'b0;
      access_result <= '0;
      up <= 1'b0;
      controlled <= 1'b0;
      slice_ack <= '0;
      silence <= oae_registers::LINK_LIMITS_RESET[31:0];
      trouble_limit <= oae_registers::LINK_LIMITS_RESET[39:32];
      liveness <= '0;
      event_bits <= '0;
      event_enable <= '0;
      alive_since <= now;
      alive_last <= '0;
      count_committed <= '0;
      count_reversed <= '0;
      count_received <= '0;
      count_damaged <= '0;
      count_mismatched <= '0;
      count_silent <= '0;
      count_down <= '0;
    end else begin
      access_done <= accepted;
      access_error <= !known;
      controlled <= writes && word == CONTROL && access_strobe[0];
      access_result <= page == RECEIVE_PAGE ? buffer_data : value;
      if (writes) case (word)
        CONTROL: begin
          up <= merged[oae_registers::LINK_CONTROL_UP_SHIFT];
          slice_ack <= merged[oae_registers::LINK_CONTROL_SLICE_ACK_SHIFT +: 2];
        end
        LIMITS: begin
          silence <= merged[oae_registers::LINK_LIMITS_SILENCE_SHIFT +: 32];
          trouble_limit <= merged[oae_registers::LINK_LIMITS_TROUBLE_SHIFT +: 8];
        end
        LIVENESS: liveness <= merged[31:0];
        IRQ_ENABLE: event_enable <= merged[7:0];
        default: ;
      endcase
      event_bits <= (event_bits &
          ~(writes && word == EVENT && access_strobe[0] ? access_data[7:0] : 8'd0)) | happened;
      if (alive) begin
        alive_last <= alive_count;
        alive_since <= now;
      end
      count_committed <= count_committed + {63'd0, settles_committed};
      count_reversed <= count_reversed + {63'd0, settles_reversed};
      count_received <= count_received + {63'd0, receives};
      count_damaged <= count_damaged + {63'd0, damaged};
      count_mismatched <= count_mismatched + {63'd0, mismatched};
      count_silent <= count_silent + {63'd0, silent};
      count_down <= count_down + {63'd0, goes_down};
    end
  end

endmodule
